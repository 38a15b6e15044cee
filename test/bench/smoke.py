#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A benchmark still runs, and prints each of its figures once: smoke.py PROGRAM. No figure's size is looked at."""
import fnmatch
import json
import math
import os
import pathlib
import subprocess
import sys

FIGURES = pathlib.Path(__file__).with_name("figures.txt")
SKIPPED = 77


def wanted_of(name):
    """Lines of the section [name]: a pattern and whether the machine may lack what it measures."""
    section, found = None, []
    for line in FIGURES.read_text(encoding="ascii").splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif line and not line.startswith("#") and section == name:
            found.append((line.removeprefix("? "), line.startswith("? ")))
    if not found:
        sys.exit(f"{FIGURES.name}: no section [{name}] with the figures that it is to print")
    return found


def check_names(names, wanted):
    """Each pattern in its turn; in place of one that may lack, the next."""
    for pattern, may_lack in wanted:
        # A bracket in a name is a bracket.
        if names and fnmatch.fnmatchcase(names[0], pattern.replace("[", "[[]")):
            names = names[1:]
        elif not may_lack:
            sys.exit(f"expected the figure '{pattern}', found {names[:1]}")
    if names:
        sys.exit(f"not in {FIGURES.name}: {names}")


def main(program):
    name = pathlib.Path(program).name.removeprefix("bench_")
    done = subprocess.run([program], stdout=subprocess.PIPE, check=False, text=True, env={**os.environ, "QUENCH_BENCH_SMOKE": "1"})
    if done.returncode == SKIPPED:
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"{program}: exit code {done.returncode}")
    figures = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    check_names([f["name"] for f in figures], wanted_of(name))
    for f in figures:
        values = [f["value"]] + [f[key] for key in ("peer_value", "ratio") if f[key] is not None]
        if not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
            sys.exit(f"not a number: {f}")


main(*sys.argv[1:])
