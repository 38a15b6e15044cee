#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the CCL test plan of sonic-mgmt, config/ccl/, with four ranks on ports: a ring, the incast of an all-to-all from three ranks to one,
and an all-to-all with a ring after it. All criteria of the files hold."""

from harness import check_equal, finish, work_dir
from run_bed import test_run, verdict_of
from scripts import ROOT

# A rank waits for an ACK for longer than programs that share cores keep it waiting.
SMALL = {"fabric.hosts": 4, "fabric.link_rate_bps": "200M", "switch.max_frame_bytes": 1600, "nic.local_ack_timeout": 24}
CASES = {
    "01-ring": {"job ring.bytes": "400KB", "job ring.chunk_bytes": "25KB", "job ring.mtu_bytes": 1024, "job ring.iterations": 4},
    "04-all-to-all-m-to-n": {"job mton.matrix": "m-to-n-4.txt", "job mton.chunk_bytes": "25KB", "job mton.mtu_bytes": 1024, "job mton.iterations": 4},
    "10-all-to-all-then-ring": {"job both.stages": "all_to_all staggered 200KB, all_reduce ring 200KB", "job both.chunk_bytes": "25KB",
                                "job both.mtu_bytes": 1024, "job both.iterations": 4},
}


def main():
    work = work_dir()
    for case, settings in CASES.items():
        # As long as the machine needs for all iterations.
        for seconds in (1, 4, 30, 120):
            given = {**SMALL, **settings, "fabric.duration_ns": f"{seconds}s"}
            done = test_run(work, ROOT / "config" / "ccl" / f"{case}.ini", "--on", "ports", "--out", case,
                            *(word for key, value in given.items() for word in ("--set", f"{key}={value}")))
            verdict = verdict_of(work / case)
            measured = {criterion["name"]: criterion["measured"] for criterion in verdict["criteria"]}
            if measured["all-iterations"] == 0:
                break
        check_equal(f"{case}: all criteria hold", (done.returncode, [one for one in verdict["criteria"] if one["verdict"] != "pass"]), (0, []))
    finish()


main()
