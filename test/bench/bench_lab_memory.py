#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory of quench-lab at its peak: three-tier fat trees whose hosts all send at line rate."""
import json
import os
import pathlib
import subprocess

BUILD = pathlib.Path(__file__).resolve().parents[2]
SCENARIO = "@SCENARIO@"
TREES = (2, 4, 6, 8) if "QUENCH_BENCH_SMOKE" in os.environ else (4, 8, 12, 16)  # k: k^3 / 4 hosts, 5 k^2 / 4 switches


def peak_bytes(k):
    run = subprocess.Popen([BUILD / "app/quench-lab/quench-lab", "--quiet", "--no-progress", "--json", "/dev/null", "--set", f"fabric.fat_tree_k={k}",
                            "--set", f"fabric.hosts={k ** 3 // 4}", SCENARIO])
    _, status, used = os.wait4(run.pid, 0)
    if status != 0:
        raise SystemExit(f"quench-lab failed with k = {k}")
    return used.ru_maxrss * 1024


def figure(name, value, unit, peer=None, peer_value=None):
    print(json.dumps({"name": name, "value": round(value, 3), "unit": unit, "peer": peer, "peer_value": peer_value,
                      "ratio": value / peer_value if peer_value else None}), flush=True)


def main():
    used = {k: peak_bytes(k) for k in TREES}
    for k in TREES:
        figure(f"memory, {k ** 3 // 4:,} hosts, {5 * k * k // 4} switches", used[k] / 1e9, "GB")
    # Straight lines have one slope, whatever they begin with.
    middle = TREES[1:]
    below, above = ((used[b] - used[a]) / ((b ** 3 - a ** 3) / 4) for a, b in zip(middle, middle[1:]))
    hosts = [k ** 3 // 4 for k in middle]
    figure(f"memory of a further host, from {hosts[1]} on", above / 1e3, "KB", f"from {hosts[0]} on; linear: as much", round(below / 1e3, 3))


main()
