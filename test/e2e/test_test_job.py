#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test-run with jobs: config/test-job.ini in the lab and on ports."""

from harness import check, check_equal, finish, work_dir
from run_bed import cases, test_run, verdict_of
from scripts import ROOT

FILE = ROOT / "config" / "test-job.ini"


FILES = """
[fabric]
topology = star
hosts = 2
link_rate_bps = 200M
duration_ns = {seconds}s

[job tree]
goal = of the job/a tree.goal
iterations = 2

[job experts]
collective = all_to_all_v
matrix = ../matrix.txt
iterations = 2

[flow sizes]
src = 1
dst = 2
messages = 1
message_size = cdf
message_cdf = sizes.cdf

[criterion all-iterations]
value = iterations
at_least = 4
"""


def files_beside(work):
    """Files that a scenario names, in its folder, below it and above it, in the lab and on ports; what is wrong in one names it."""
    folder = work / "tests"
    (folder / "of the job").mkdir(parents=True)
    goal = folder / "of the job" / "a tree.goal"
    goal.write_text("num_ranks 2\nrank 0 {\nsend 8000b to 1\n}\nrank 1 {\nrecv 8000b from 0\n}\n")
    (work / "matrix.txt").write_text("0 5000\n3000 0\n")
    (folder / "sizes.cdf").write_text("1000 0\n2000 100\n")
    for seconds in (1, 10, 60):
        (folder / "files.ini").write_text(FILES.format(seconds=seconds))
        done = test_run(work, "tests/files.ini", "--on", "both", "--out", "files")
        if done.returncode != 1:
            break
    check("files beside the scenario: passed", done.returncode == 0, (done.returncode, done.stdout, done.stderr))
    goal.write_text("num_ranks 2\nrank 0 {\n}\n")
    done = test_run(work, "tests/files.ini", "--out", "files")
    check("a wrong one is named", done.returncode == 2 and done.stderr.count("\n") == 1 and
          "tests/of the job/a tree.goal:4: expected each of the 2 ranks" in done.stderr and "/tests/" not in done.stderr, done.stderr)


def main():
    work = work_dir()
    # As long as the machine needs for all iterations.
    for seconds in (6, 30, 120):
        done = test_run(work, FILE, "--on", "both", "--out", "out", "--set", f"fabric.duration_ns={seconds}s")
        verdict = verdict_of(work / "out")
        measured = {(c["place"], c["name"]): c["measured"] for c in verdict["criteria"]}
        if measured["ports", "all-iterations"] == 40:
            break
    check_equal("exit code", done.returncode, 0)
    check_equal("iterations in the lab and on ports", (measured["lab", "all-iterations"], measured["ports", "all-iterations"]), (40, 40))
    check("on ports no iteration is faster than the lab's bound", measured["ports", "ring"] >= 26e6, measured)
    check_equal("cases", sorted(cases(work / "out")), sorted(measured))
    files_beside(work)
    finish()


main()
