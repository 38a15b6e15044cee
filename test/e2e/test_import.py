#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl import: what it writes is what the programs read, and its exit code says if it was all."""
import os
import pathlib
import subprocess

from harness import BUILD, check, check_equal, finish, run, work_dir

CTL = BUILD / "app/ctl/quenchctl"
FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "imports"
# fixture, dialect, role, exit code, words of a line on standard error
TABLE = [
    ("nxos-rocev2.txt", "nxos", "switch", 0, "changed or assumed: "),
    ("nxos-leaf.txt", "nxos", "switch", 3, "nxos-leaf.txt:2: hostname leaf-1: no counterpart"),
]


def accepted(role, ini):
    done = run(BUILD / "app" / role / f"quench-{role}", "--config", ini, "--check-config")
    check(f"{ini.name} passes --check-config", done.returncode == 0, done.stderr)
    return done.stdout


def check_imports(work):
    for name, dialect, role, code, words in TABLE:
        ini = work / f"{name}.ini"
        first = run(CTL, "import", dialect, FIXTURES / name)
        second = run(CTL, "--output", ini, "import", dialect, FIXTURES / name)
        check_equal(f"{name}: exit code", [first.returncode, second.returncode], [code, code])
        check(f"{name}: standard error", words in first.stderr, first.stderr)
        check(f"{name}: standard output and --output hold the same", ini.exists() and ini.read_text() == first.stdout)
        lost = [line for line in first.stderr.splitlines() if "not carried over: " in line]
        comments = [line for line in first.stdout.splitlines() if line.startswith("#   ")]
        for line in lost:
            text = line.split(f"{name}:", 1)[1].strip()
            check(f"{name}: in the INI too: {text}", any(text in c for c in comments))
        accepted(role, ini)
        piped = run(CTL, "import", dialect, "-", input=(FIXTURES / name).read_text())
        check_equal(f"{name}: from standard input", piped.stdout.splitlines()[4:], first.stdout.splitlines()[4:])


def refused(what, code, words, *command):
    done = run(CTL, *command)
    check(f"{what} is refused in one line", done.returncode == code and done.stdout == "" and
          len(done.stderr.splitlines()) == 1 and all(w in done.stderr for w in words), done)


def check_refusals(work):
    bad = work / "bad.txt"
    bad.write_text("policy-map type queuing Q\n  class type queuing c-out-8q-q3\n    bandwidth percent 101\n"
                   "system qos\n  service-policy type queuing output Q\ninterface Ethernet1/1\n")
    refused("a value out of range", 2, (f"{bad}:3: bandwidth percent 101: expected", "0 to 100"), "import", "nxos", bad)
    other = work / "other.txt"
    other.write_text("set class-of-service interfaces et-0/0/0 scheduler-map X\n")
    refused("another dialect", 2, (str(other), "expected a running-config of NX-OS"), "import", "nxos", other)
    refused("a missing file", 2, ("none.txt", "No such file"), "import", "nxos", work / "none.txt")
    refused("a folder", 2, (str(work), "Is a directory"), "import", "nxos", work)
    refused("an unknown dialect", 2, ("junos", "nxos"), "import", "junos", bad)
    refused("no file", 2, ("FILE",), "import", "nxos")
    refused("--output of a show", 2, ("--output", "import"), "--output", bad, "show", "info")
    kept = work / "kept.ini"
    kept.write_text("was here\n")
    refused("what is refused leaves the output alone", 2, ("expected",), "-o", kept, "import", "nxos", bad)
    check_equal("the output is what it was", kept.read_text(), "was here\n")
    done = run(CTL, "-o", work / "none" / "x.ini", "import", "nxos", FIXTURES / "nxos-rocev2.txt")
    check("a folder that is not there", done.returncode == 1 and "cannot be written" in done.stderr, done.stderr)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([CTL, "import", "nxos", FIXTURES / "nxos-leaf.txt"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        check("a full disk", done.returncode == 1 and "No space left" in done.stderr, done)


def main():
    work = work_dir()
    check_imports(work)
    check_refusals(work)
    finish()


main()
