#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The lab beside another simulation of the same rules, and both beside the fluid model.

    test_packets.py QUENCH_LAB CONFIG_DIR FLOWS SEEDS

SEEDS: of the lab. The other simulation, which takes longer, runs half as many. The mean queue of one window of 0.5 s varies from seed
to seed by 2 % (2 flows) to 1.5 % (8).
"""
import concurrent.futures
import json
import subprocess
import sys

import plain_dcqcn

# What the two may be apart, and how far the lab may be from the fluid model's fixed point. From 10 flows on the packets
# reach Kmax and hold half of the model's queue (doc/lab.md); the other simulation says the same.
APART = 0.05
BESIDE_MODEL = {2: (-0.15, 0.15), 4: (-0.15, 0.15), 8: (-0.20, 0.20), 10: (-0.55, -0.40)}


def lab_run(lab, config, n, seed):
    sets = {"fabric.hosts": n + 1, "flow incast.src": f"1-{n}", "flow incast.dst": n + 1, "fabric.duration_ns": "600ms"}
    done = subprocess.run([lab, "--quiet", "--no-progress", "--json", "-", "--seed", str(seed),
                           *(word for key, value in sets.items() for word in ("--set", f"{key}={value}")),
                           config + "/incast-4to1.ini"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def mean(values):
    return sum(values) / len(values)


def main(lab, config, n, seeds):
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        runs = pool.map(lab_run, *zip(*((lab, config, n, seed) for seed in range(1, seeds + 1))))
        plain = pool.map(plain_dcqcn.simulate, *zip(*((n, seed, 0.6, 0.1) for seed in range(1, seeds // 2 + 1))))
        runs, plain = list(runs), list(plain)
    queue = mean([r["bottleneck"]["queue_mean_bytes"] for r in runs])
    use = mean([r["bottleneck"]["link_use"] for r in runs])
    other, other_use = mean([p["queue_bytes"] for p in plain]), mean([p["link_use"] for p in plain])
    model = runs[0]["fluid"]["queues"][0]["fixed_point"]["queue_bytes"]
    rates = [f["wire_rate_bps"] * n / 40e9 for r in runs for f in r["flows"]]
    print(f"N {n}: mean queue {queue / 1e3:.1f} KB, other simulation {other / 1e3:.1f} KB ({queue / other - 1:+.1%}), "
          f"model {model / 1e3:.1f} KB ({queue / model - 1:+.1%}); link use {use:.4f} and {other_use:.4f}; "
          f"rates {min(rates):.3f} to {max(rates):.3f} of the model's")
    low, high = BESIDE_MODEL[n]
    checks = {"the other simulation's queue": abs(queue / other - 1) <= APART,
              "the other simulation's use of the link": abs(use - other_use) <= 0.003,
              "the fluid model's queue": low <= queue / model - 1 <= high,
              "each flow's share": 0.85 <= min(rates) and max(rates) <= 1.15}
    for what, holds in checks.items():
        if not holds:
            print(f"FAILED: {what}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
