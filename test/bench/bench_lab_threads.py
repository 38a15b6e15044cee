#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-lab on several threads beside one thread, or two: seconds of runs in turns, start-up included.

QUENCH_BENCH_LAB_BEFORE: an older quench-lab, which runs 4:1 beside this one.
"""
import json
import os
import pathlib
import statistics
import subprocess
import time

BUILD = pathlib.Path(__file__).resolve().parents[2]
CONFIG = pathlib.Path("@CONFIG@")
LAB = BUILD / "app/quench-lab/quench-lab"
SMOKE = "QUENCH_BENCH_SMOKE" in os.environ
CORES = len(os.sched_getaffinity(0))
ROUNDS, LONG_ROUNDS = (1, 1) if SMOKE else (9, 5)


def seconds(scenario, duration, threads, lab=LAB):
    # An older quench-lab has no --threads, and one thread.
    options = [] if lab != LAB else ["--threads", str(threads)]
    begin = time.monotonic()
    subprocess.run([lab, "--quiet", "--no-progress", "--json", "/dev/null", *options, "--duration", "10us" if SMOKE else duration,
                    CONFIG / scenario], check=True)
    return time.monotonic() - begin


def print_pairs(name, spent, peer, peer_spent):
    """How many times as fast as the peer."""
    ratios = sorted(b / a for a, b in zip(spent, peer_spent))
    n = len(ratios)
    print(json.dumps({"name": name, "value": statistics.median(spent), "unit": "s", "peer": peer,
                      "peer_value": statistics.median(peer_spent), "ratio": ratios[n // 2],
                      "ratio_low": ratios[n // 4], "ratio_high": ratios[n - 1 - n // 4]}), flush=True)


def compare_threads(what, scenario, duration, rounds, numbers, peers):
    """peers: with how many threads a number of them is compared."""
    spent = {n: [] for n in numbers}
    for _ in range(rounds):
        for n in numbers:
            spent[n].append(seconds(scenario, duration, n))
    for n, peer in peers.items():
        print_pairs(f"lab, {what}, {n} threads on {CORES} cores", spent[n], f"{peer} thread{'s' * (peer > 1)}", spent[peer])


def compare_before(before):
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(seconds("incast-4to1.ini", "100ms", 1, before))
        ours.append(seconds("incast-4to1.ini", "100ms", 1))
    print_pairs("lab, 4:1 at 40G, one thread", ours, "the older quench-lab", theirs)


def main():
    if before := os.environ.get("QUENCH_BENCH_LAB_BEFORE"):
        compare_before(before)
    if CORES < 2:
        print("more threads: not measured, there is one core")
        return
    compare_threads("256 hosts", "leaf-spine-256.ini", "3ms", ROUNDS, (1, 2, 3, 8), {2: 1, 3: 2, 8: 2})
    compare_threads("1,024 hosts", "fat-tree-1024.ini", "200us", LONG_ROUNDS, (1, 2), {2: 1})


main()
