#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Imported scenarios of the HPCC family beside a model of their simulator (ns3_model.py): 4:1 at 40 Gb/s, cables of 1 us.

    test_hpcc_model.py QUENCH_LAB CONFIG_DIR CASE

The model gives DCQCN a mean queue of 118.6 KB in the scenario of patterns_hpcc_beside, where ns-3 itself has 120.6 KB.
"""
import os
import pathlib
import subprocess

from ns3_model import Incast, Setup
from scenarios import expect, in_folder, results

IMPORT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "import-hpcc"
KEYS = {"ENABLE_QCN": 1, "PACKET_PAYLOAD_SIZE": 1024, "TOPOLOGY_FILE": "t.txt", "FLOW_FILE": "f.txt", "ALPHA_RESUME_INTERVAL": 1, "RATE_DECREASE_INTERVAL": 4,
        "CLAMP_TARGET_RATE": 0, "RP_TIMER": 300, "EWMA_GAIN": 0.00390625, "FAST_RECOVERY_TIMES": 1, "MIN_RATE": "100Mb/s", "DCTCP_RATE_AI": "1000Mb/s",
        "RATE_AI": "8Mb/s", "RATE_HAI": "80Mb/s", "MULTI_RATE": 0, "L2_ACK_INTERVAL": 1, "BUFFER_SIZE": 32, "HAS_WIN": 0,
        "KMIN_MAP": "1 40000000000 160", "KMAX_MAP": "1 40000000000 640", "PMAX_MAP": "1 40000000000 0.2"}


def lab(program, folder, from_ms, end_ms, code=0, **keys):
    """@return mean and longest queue in bytes, and use of the link"""
    files = {"c.txt": "".join(f"{key} {value}\n" for key, value in {**KEYS, "SIMULATOR_STOP_TIME": end_ms / 1000, **keys}.items()),
             "t.txt": "6 1 5\n5\n" + "".join(f"{h} 5 40Gbps 1us 0\n" for h in range(5)),
             "f.txt": "4\n" + "".join(f"{h} 4 3 {10000 + h} 1000000000000 0\n" for h in range(4))}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(["/usr/bin/python3", IMPORT, folder / "c.txt", folder / "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "QUENCH_BUILD": str(pathlib.Path(program).resolve().parents[2])})
    expect(done.returncode == code, f"{keys}: {done.returncode} {done.stderr}")
    b = results(program, folder / "out" / "scenario.ini", "--set", f"fabric.measure_from_ns={from_ms}ms")["bottleneck"]
    return b["queue_mean_bytes"], b["queue_max_bytes"], b["link_use"]


def model(from_ms, end_ms, cc, **setup):
    return Incast(Setup(cc, **setup)).run(from_ms * 1e6, end_ms * 1e6)


def beside(what, ours, theirs, tolerance, use=0.01):
    print(f"{what}: lab {ours[0]:.0f} bytes, {100 * ours[2]:.1f} %; model {theirs[0]:.0f} bytes, {100 * theirs[2]:.1f} %")
    expect(abs(ours[0] - theirs[0]) <= tolerance * theirs[0] and abs(ours[2] - theirs[2]) <= use, f"{what}: lab {ours}, model {theirs}")


def dctcp(program, folder):
    """Each ACK echoes its mark: with N = 50 us the mean is 2.3 MB."""
    beside("DCTCP", lab(program, folder, 5, 15, CC_MODE=8), model(5, 15, "dctcp"), 0.1)


def timely(program, folder):
    """As in the paper. The simulator counts round trips below T_low for the fast rise too, so that its cuts are deeper: the import says so."""
    ours = lab(program, folder, 5, 15, CC_MODE=7, RATE_AI="16Mb/s")
    theirs = {low: model(5, 15, "timely", ai_bps=16e6, low_counts=low) for low in (False, True)}
    beside("TIMELY", ours, theirs[False], 0.15, use=0.02)
    expect(theirs[True][0] > 1.1 * theirs[False][0] and theirs[True][2] < theirs[False][2] - 0.02, f"the rules do not differ: {theirs}")


def hpcc(program, folder):
    """A queue near zero at 95 % use: less than a packet in the mean."""
    ours = lab(program, folder, 2, 8, CC_MODE=3, HAS_WIN=1, VAR_WIN=1, RATE_AI="50Mb/s", MI_THRESH=0)
    beside("HPCC", ours, model(2, 8, "hpcc", ai_bps=50e6, max_stage=0, window=True, var_win=True), 0.3)
    expect(ours[1] < 10_000, f"{ours}")


def windows(program, folder):
    """DCQCN without pauses, and marks from 20 KB on: a window that follows the rate holds the queue near the first mark."""
    curve = {"KMIN_MAP": "1 40000000000 20", "KMAX_MAP": "1 40000000000 80"}
    means = {}
    for what, keys, setup in (("none", {}, {}), ("fixed", {"HAS_WIN": 1}, {"window": True}),
                              ("follows", {"HAS_WIN": 1, "VAR_WIN": 1}, {"window": True, "var_win": True})):
        ours = lab(program, folder, 10, 20, CC_MODE=1, ENABLE_QBB=0, **keys, **curve)
        beside(f"window: {what}", ours, model(10, 20, "dcqcn", kmin=20e3, kmax=80e3, **setup), 0.15)
        means[what] = ours[0]
    expect(means["follows"] > 1.5 * means["fixed"], f"{means}")


if __name__ == "__main__":
    in_folder(dctcp, timely, hpcc, windows)
