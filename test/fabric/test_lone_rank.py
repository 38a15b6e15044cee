#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank whose exchange has failed ends the others, which may wait for it: test_lone_rank.py QUENCH_LAB CONFIG_DIR PLUGIN

The plug-in (lone_rank.c) makes quench-lab rank 1 of two, without MPI.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from scenarios import expect, failures

LAB, CONFIG, PLUGIN = map(pathlib.Path, sys.argv[1:])
SHORT = ("--quiet", "--no-progress", "--duration", "100us", "--set", "fabric.measure_from_ns=0")


def run(folder, *options, exchanges):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_", "PMI_"))}
    return subprocess.run([folder / LAB.name, *SHORT, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env={**env, "OMPI_COMM_WORLD_SIZE": "2", "LONE_EXCHANGES": str(exchanges)})


with tempfile.TemporaryDirectory(prefix="quench-lone-") as name:
    place = pathlib.Path(name)
    shutil.copy(LAB, place / LAB.name)
    shutil.copy(PLUGIN, place / "quench-lab-mpi.so")
    # While all ranks agree on the scenario, in three exchanges; then on who watches; and in the run.
    for more, exchanges in (((), 0), ((), 1), ((), 2), (("--explain", "incast h1"), 3), ((), 3), ((), 4)):
        done = run(place, *more, CONFIG / "incast-4to1.ini", exchanges=exchanges)
        expect(done.returncode == 1 and "lone rank: ends the others\n" in done.stderr and done.stderr.count("\n") == 2,
               f"{more}, {exchanges}: it leaves ranks that wait for it, or says too much", (done.returncode, done.stderr))
    # A configuration that all ranks refuse: nobody waits.
    done = run(place, "--fast-forward", CONFIG / "incast-4to1.ini", exchanges=3)
    expect(done.returncode == 2 and "lone rank: leaves them\n" in done.stderr, "it ends ranks that end", (done.returncode, done.stderr))
sys.exit(1 if failures else 0)
