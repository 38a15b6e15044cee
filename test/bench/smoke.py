#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A benchmark still runs, and prints each of its figures once: smoke.py PROGRAM. No figure's size is looked at."""
import math
import os
import pathlib
import subprocess
import sys

import figures

SKIPPED = 77


def main(program):
    name = pathlib.Path(program).name.removeprefix("bench_")
    done = subprocess.run([program], stdout=subprocess.PIPE, check=False, text=True, env={**os.environ, "QUENCH_BENCH_SMOKE": "1"})
    if done.returncode == SKIPPED:
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"{program}: exit code {done.returncode}")
    rows = figures.read_table(figures.TABLE.read_text(encoding="utf-8")).get(name)
    if rows is None:
        sys.exit(f"figures.txt: no section [{name}] with the figures that it is to print")
    try:
        found = figures.judge(figures.read_output(done.stdout), rows)
    except ValueError as error:
        sys.exit(str(error))
    for f in found:
        values = [f["value"]] + [f[key] for key in ("peer_value", "ratio", "ratio_low", "ratio_high") if f[key] is not None]
        if not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
            sys.exit(f"not a number: {f}")
        # A peer may not be installed, or not run here.
        if f["wanted"] is not None and f["holds"] is None and not (f["peer"] or "").startswith("none: "):
            sys.exit(f"wanted, but not measured: {f}")


main(*sys.argv[1:])
