#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One seed, one digest: gcc and clang, any number of threads, any number of workers of a sweep."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

BUILD = pathlib.Path(__file__).resolve().parents[2]
ROOT = pathlib.Path("@ROOT@")
LAB = BUILD / "app/quench-lab/quench-lab"
SMOKE = "QUENCH_BENCH_SMOKE" in os.environ
WORKERS = (1, 2) if SMOKE else (1, 2, 3, 6)


def figure(name, value, tried):
    print(json.dumps({"name": name, "value": value, "unit": "", "peer": "tried", "peer_value": tried, "ratio": value / tried}), flush=True)


def same(*args):
    """How many of how many scenarios have one digest."""
    done = subprocess.run([ROOT / "scripts/same-digest", *(["--first", "1"] if SMOKE else []), *args], stdout=subprocess.PIPE, check=False, text=True)
    return [int(n) for n in re.search(r"^(\d+) of (\d+) ", done.stdout, re.MULTILINE).groups()]


def built_with(compiler, folder):
    env = {**os.environ, "CC": compiler}
    for command in (["meson", "setup", folder, ROOT], ["ninja", "-C", folder, "app/quench-lab/quench-lab"]):
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=env)
    return pathlib.Path(folder) / "app/quench-lab/quench-lab"


def sweep(folder, workers):
    subprocess.run([ROOT / "scripts/sweep", ROOT / "config/paper-sweep.ini", "--lab", LAB, "--out", folder, "--workers", str(workers),
                    "--set", "rp.g=1/16,1/256", "--seeds", "1" if SMOKE else "1-3", "--duration", "100us" if SMOKE else "3ms", "--set", "flow others.start_ns=0"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return (pathlib.Path(folder) / "sweep.csv").read_bytes()


def main():
    figure("scenarios with one digest, one and two threads", *same("--threads", "1,2", LAB))
    with tempfile.TemporaryDirectory(prefix="quench-bench-") as work:
        if shutil.which("clang") and not SMOKE:
            figure("scenarios with one digest, gcc and clang, 1 to 8 threads", *same("--threads", "1,2,3,4,8", LAB, built_with("clang", f"{work}/clang")))
        tables = [sweep(f"{work}/sweep{n}", n) for n in WORKERS]
        figure(f"sweeps with the table of one worker: {', '.join(map(str, WORKERS))} workers", tables.count(tables[0]), len(tables))


main()
