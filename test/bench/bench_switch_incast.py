#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The lossless class under 8:1 incast at line rate, 10^9 bytes, DCQCN off, in virtual time."""
import json
import os
import pathlib
import subprocess

BUILD = pathlib.Path(__file__).resolve().parents[2]
SCENARIO = "@SCENARIO@"
BUSY_NS = 85_000_000  # the last of the data leaves after 86.4 ms
# Only to see that it runs.
WHOLE = ("--duration", "1ms") if "QUENCH_BENCH_SMOKE" in os.environ else ()


def run(*options):
    done = subprocess.run([BUILD / "app/quench-lab/quench-lab", "--quiet", "--no-progress", "--json", "-", *options, SCENARIO],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def figure(name, value, unit):
    print(json.dumps({"name": f"8:1 incast, 10^9 bytes, PFC only: {name}", "value": value, "unit": unit}), flush=True)


def main():
    busy, whole = run("--duration", f"{BUSY_NS}ns", *WHOLE), run(*WHOLE)
    ledger = whole["ledger"]
    came = ledger["in"] + ledger["copies"] + ledger["generated"]
    went = ledger["queued"] + ledger["sent"] + ledger["dropped"] + ledger["consumed"]
    figure("frames dropped", sum(d["packets"] for d in whole["drops"]), "frames")
    figure("bytes that the ledger misses", abs(came - went), "bytes")
    figure("bytes left in the buffer", whole["buffer_used_bytes"], "bytes")
    figure("messages that arrived", sum(f["messages_completed"] for f in whole["flows"]), "")
    figure("use of the congested link", busy["bottleneck"]["link_use"], "")


main()
