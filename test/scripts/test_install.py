#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What meson install puts somewhere works there, and each file of it is in one of the Debian packages."""
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD, ROOT = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).resolve().parents[2]
faults = []


def check(what, holds):
    if not holds:
        faults.append(what)


def check_packages(installed):
    """installed: paths below the prefix. Build options give Debian other folders for units and for zsh, and no module for MPI."""
    installed = {path for path in installed if not path.endswith(("/quench-lab-mpi.so", "/quench-lab-mpich.so"))}
    for package in ("quench", "quench-lab", "quench-tools", "quenchctl"):
        lists = (ROOT / f"share/debian/{package}.install").read_text(encoding="utf-8").split()
        patterns = [line.removeprefix("usr/").replace("vendor-completions", "site-functions") for line in lists if line.startswith("usr/")]
        for pattern in patterns:
            found = {path for path in installed if fnmatch.fnmatchcase(path, pattern) or path.startswith(pattern + "/")}
            check(f"{package}.install: no {pattern}", found)
            installed = installed - found
    check(f"in no package, or share/debian/*.install has a file twice: {sorted(installed)}", not installed)


def check_programs(prefix, work):
    def run(*command):
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, env={**os.environ, "PATH": f"{prefix}/bin:/usr/bin:/bin"}, check=False)
        check(f"{command}: {done.returncode}, {done.stderr}", done.returncode == 0)
        return done.stdout

    scenario = prefix / "share/quench/config/incast-4to1.ini"
    run("quench-lab", "--quiet", "--no-progress", "--duration", "1ms", "--set", "fabric.measure_from_ns=0", "--out", "run", scenario)
    run("quench-report", "run")
    check("quench-report: no report.html", (work / "run/report.html").exists())
    commands = run("quench-sweep", scenario, "--set", "wred.Kmax=100KB,200KB", "--print-commands")
    check(f"quench-sweep: another quench-lab: {commands}", commands.count(f"{prefix}/bin/quench-lab ") == 2)
    run("quenchctl", "-o", "tor.ini", "import", "sonic", ROOT / "test/imports/sonic-tor.json")
    run("quench-switch", "--config", "tor.ini", "--check-config")
    check("quench-experiments: lists none", "fig8-fairness" in run("quench-experiments", "--list"))
    version = run("quench-lab", "--version").removeprefix("quench-lab ").strip()
    check("quenchctl: another version", run("quenchctl", "--version") == f"quenchctl {version}\n")
    check("quench-loop: another name", run("quench-loop", "--help").startswith("usage: quench-loop"))


def main():
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root], check=True)
        prefix, = (path.parent.parent for path in root.glob("**/bin/quench-lab"))
        check_packages({str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_symlink() or not path.is_dir()})
        check_programs(prefix, root)
    sys.exit("\n".join(faults) or 0)


main()
