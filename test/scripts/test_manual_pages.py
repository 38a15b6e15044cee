#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages have what --help and --help-config of the programs have, and man finds no fault in them."""
import pathlib
import re
import shutil
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
PAGES = BUILD / "share"
faults = []


def check(what, holds):
    if not holds:
        faults.append(what)


def output(path, option):
    return subprocess.run([path, option], capture_output=True, text=True, check=True).stdout


def roff(text):
    return text.replace("-", r"\-")


def check_program(path, page):
    text = page.read_text(encoding="utf-8")
    for head in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
        check(f"{page.name}: {head}", f'.SH "{head}"' in text)
    for option in re.findall(r"(?m)^ +(?:-\w, )?(--[\w-]+)", output(path, "--help")):
        check(f"{page.name}: {option}", re.search(rf"(?m)^\.TP\n.*\\fB{re.escape(roff(option))}\\fR", text))


def check_ini(path, page):
    text = page.read_text(encoding="utf-8")
    keys = re.findall(r"(?m)^\| `([^`]+)`", output(path, "--help-config"))
    check(f"{page.name}: has keys", len(keys) > 10)
    shown = re.findall(r"(?m)^\.TP\n\\fB(.*)\\fR$", text)
    check(f"{page.name}: the keys of --help-config in their order", shown == [roff(key) for key in keys])
    for title in re.findall(r"(?m)^## (.*)", output(path, "--help-config")):
        check(f"{page.name}: {title}", f'.SH "{roff(title)}"' in text)


for name in ("lab", "switch", "nic", "probe"):
    program = BUILD / f"app/quench-{name}/quench-{name}"
    check_program(program, PAGES / f"quench-{name}.1")
    check_ini(program, PAGES / f"quench-{name}.ini.5")
check_program(BUILD / "app/quenchctl/quenchctl", PAGES / "quenchctl.1")
check_program(PAGES / "quench-prepare", PAGES / "quench-prepare.8")
for path in sorted(PAGES.glob("*.[158]")):
    check(f"{path.name}: SYNOPSIS", '.SH "SYNOPSIS"\n.' in path.read_text(encoding="utf-8") or path.suffix == ".5")
    if shutil.which("man"):
        said = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, env={"LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80", "PATH": "/usr/bin:/bin"}, check=False)
        check(f"man {path.name}: {said.stderr}", said.returncode == 0 and not said.stderr)
sys.exit("\n".join(faults) or 0)
