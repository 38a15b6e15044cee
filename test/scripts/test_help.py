#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every script of developers says with --help what it is for, and refuses an option that it does not know, before it does anything."""
import os
import pathlib
import subprocess
import sys

# The build itself makes manual pages of the help of these.
FOR_USERS = {"report.py", "compare", "sweep", "experiments", "plot", "import-hpcc", "probe-nic", "loop", "tor-demo", "otg", "test-run", "quench-prepare"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))
from harness import check, finish  # noqa: E402


def main():
    for script in sorted((ROOT / "scripts").iterdir()):
        if script.name in FOR_USERS or script.is_dir() or not os.access(script, os.X_OK):
            continue
        done = subprocess.run([script, "--help"], capture_output=True, text=True, check=False)
        check(f"{script.name} --help: says it", done.returncode == 0 and done.stdout.strip() and not done.stderr, done)
        done = subprocess.run([script, "--bogus"], capture_output=True, text=True, check=False)
        # Python's argparse names what is missing first.
        said = done.stderr.splitlines()[-1] if done.stderr else ""
        check(f"{script.name} --bogus: refused", done.returncode == 2 and ("--bogus" in said or "required" in said) and not done.stdout, done)
    finish()


main()
