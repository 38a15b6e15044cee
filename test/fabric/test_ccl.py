#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The cases of the CCL test plan of sonic-mgmt, config/ccl/, with more ranks than in the files: all criteria hold.

    test_ccl.py QUENCH_LAB CONFIG_DIR CASE
"""
import os
import pathlib
import sys

from scenarios import expect, in_folder

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
CASES = 11
ITERATIONS = 2  # of the 20 or 10 of the files: an iteration is like the one before


def more_ranks(name, ranks):
    """What makes a file one of that many ranks."""
    settings = [f"fabric.hosts={ranks}"]
    if "m-to-n" in name:
        # As much buffer for each port: the switch marks before it pauses, and pauses nevertheless.
        settings += [f"job mton.matrix=m-to-n-{ranks}.txt", f"switch.buffer_bytes={1500 * ranks}KB"]
    if "-beside-" in name:
        first = "ring" if "-ring-" in name else "hda"
        settings += [f"job {first}.ranks=1-{ranks // 2}", f"job mtom.ranks={ranks // 2 + 1}-{ranks}"]
    return settings


def jobs_of(text):
    return [line[5:-1] for line in text.splitlines() if line.startswith("[job ")]


def findings(path, folder, settings):
    """Of the criteria of a test file in the lab."""
    from testrun import criteria, in_lab, sections

    file = sections.read(path)
    settings = [*settings, *(f"job {name}.iterations={ITERATIONS}" for name in jobs_of(file.scenario)), "fabric.fluid_ns=0"]
    (folder / path.stem).mkdir()
    scenario = in_lab.prepare(file, folder / path.stem, [word for setting in settings for word in ("--set", setting)])
    wanted = criteria.read(file, in_lab.flow_names(in_lab.effective(scenario)), ("lab",))
    in_lab.run(scenario, folder / "out" / path.stem)
    return criteria.judge(wanted, "lab", in_lab.measured(folder / "out" / path.stem))


def said(found):
    return ", ".join(f"{f.criterion.name}: {f.criterion.quantity} {f.shown()} instead of {f.criterion.expected()}" for f in found if not f.holds)


def all_cases(program, folder, ranks):
    config = config_of(program)
    paths = sorted(config.glob("*.ini"))
    expect([path.name[:2] for path in paths] == [f"{number:02}" for number in range(1, CASES + 1)], f"{paths}")
    for path in paths:
        # P2P traffic lasts as long as the run, and longer than the job.
        duration = f"fabric.duration_ns={'3ms' if 'p2p' in path.name else '100ms'}"
        found = findings(path, folder, [*more_ranks(path.name, ranks), duration])
        expect(all(finding.holds for finding in found), f"{path.name} with {ranks} ranks: {said(found)}")


def config_of(program):
    """The folder of the files. tools/ finds the program by the build folder."""
    os.environ["QUENCH_BUILD"] = str(pathlib.Path(program).parents[2])
    return pathlib.Path(sys.argv[2]) / "ccl"


def ranks_16(program, folder):
    all_cases(program, folder, 16)


def ranks_64(program, folder):
    all_cases(program, folder, 64)


def incast(program, folder):
    """The criteria of a case without congestion find one: all P2P traffic to one rank."""
    found = findings(config_of(program) / "05-ring-p2p.ini", folder,
                     ["flow p2p.pattern=to_dst", "flow p2p.src=2-8", "flow p2p.dst=1", "flow p2p.load=30%", "fabric.duration_ns=3ms"])
    failed = {finding.criterion.name for finding in found if not finding.holds}
    expect({"jct", "pauses", "ecn-marks", "cnps"} <= failed and "loss" not in failed, f"failed: {failed}")


if __name__ == "__main__":
    in_folder(ranks_16, ranks_64, incast)
