#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test-run with jobs: config/test-job.ini in the lab and on ports."""
import json

from harness import check, check_equal, finish, work_dir
from run_bed import cases, test_run
from scripts import ROOT

FILE = ROOT / "config" / "test-job.ini"


def main():
    work = work_dir()
    # As long as the machine needs for all iterations.
    for seconds in (6, 30, 120):
        done = test_run(work, FILE, "--on", "both", "--out", "out", "--set", f"fabric.duration_ns={seconds}s")
        verdict = json.loads((work / "out" / "verdict.json").read_text())
        measured = {(c["place"], c["name"]): c["measured"] for c in verdict["criteria"]}
        if measured["ports", "all-iterations"] == 40:
            break
    check_equal("exit code", done.returncode, 0)
    check_equal("iterations in the lab and on ports", (measured["lab", "all-iterations"], measured["ports", "all-iterations"]), (40, 40))
    check("on ports no iteration is faster than the lab's bound", measured["ports", "ring"] >= 26e6, measured)
    check_equal("cases", sorted(cases(work / "out")), sorted(measured))
    finish()


main()
