#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory of quench-lab at its peak: three-tier fat trees whose hosts all send at line rate."""
import json
import os
import pathlib
import subprocess

BUILD = pathlib.Path(__file__).resolve().parents[2]
SCENARIO = "@SCENARIO@"
TREES = (4, 8, 12, 16)  # k: k^3 / 4 hosts, 5 k^2 / 4 switches


def peak_bytes(k):
    run = subprocess.Popen([BUILD / "app/lab/quench-lab", "--quiet", "--no-progress", "--json", "/dev/null", "--set", f"fabric.fat_tree_k={k}",
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
    for k in TREES[:-1]:
        figure(f"memory, {k ** 3 // 4} hosts, {5 * k * k // 4} switches", used[k] / 1e9, "GB")
    figure("memory, 1,024 hosts, 320 switches", used[16] / 1e9, "GB", "wanted, at most", 1)
    # Straight lines have one slope, whatever they begin with.
    below, above = ((used[b] - used[a]) / ((b ** 3 - a ** 3) / 4) for a, b in ((8, 12), (12, 16)))
    figure("memory of a further host, from 432 on", above / 1e3, "KB", "from 128 on; linear: as much", round(below / 1e3, 3))


main()
