#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Completions, from the shells themselves: bash, and zsh and fish where they are installed."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

SHARE = pathlib.Path(sys.argv[1]) / "share"
faults = []


def check_equal(what, got, expected):
    if got != expected:
        faults.append(f"{what}: {got}, expected {expected}")


def run(shell, *args, cwd=None, env=None):
    done = subprocess.run([shell, *args], capture_output=True, text=True, cwd=cwd, env={**os.environ, **(env or {})}, check=False)
    check_equal(f"{shell} {args}: complains", done.stderr, "")
    return sorted(set(done.stdout.split()))


def bash(line, **more):
    """The words that may follow a line."""
    words = shlex.split(line + " ''" if line.endswith(" ") else line)
    function = "_" + words[0].replace("-", "_")
    return run("bash", "-c", f"source {SHARE / words[0]}.bash; COMP_WORDS=({' '.join(map(shlex.quote, words))}); "
               f"COMP_CWORD={len(words) - 1}; {function}; printf '%s\\n' \"${{COMPREPLY[@]}}\"", **more)


def fish(line, **more):
    program = line.split()[0]
    # A tab precedes the description.
    return run("fish", "--no-config", "-c", f"source {SHARE / program}.fish; complete -C {shlex.quote(line)} | string replace -r '\\t.*' ''", **more)


def zsh(line, **more):
    """The words of commands alone: what _arguments makes of options needs a terminal."""
    program, *words = shlex.split(line + " ''" if line.endswith(" ") else line)
    # _arguments is to define the functions and to do nothing.
    return run("zsh", "-f", "-c", f"_arguments() {{ }}; compadd() {{ print -l -- \"$@\"; }}; _files() {{ print FILE; }}; source {SHARE}/_{program}; "
               f"words=({' '.join(map(shlex.quote, words))}); CURRENT={len(words)}; _{program.replace('-', '_')}_words", **more)


def check_commands(complete, first):
    """quenchctl: first says whether the shell itself takes what fits of the word begun."""
    check_equal(f"{complete.__name__}: first words", {"clear", "explain", "import", "set", "show", "top", "web"} - set(complete("quenchctl ")), set())
    if first:
        check_equal(f"{complete.__name__}: show q", complete("quenchctl show q"), ["qp", "queue"])
        check_equal(f"{complete.__name__}: nothing fits", complete("quenchctl show zz"), [])
        check_equal(f"{complete.__name__}: after options", complete("quenchctl -f x -j --listen [::1]:1 show queue "), ["counters", "watermark", "wredcounters"])
        check_equal(f"{complete.__name__}: an option", complete("quenchctl --js"), ["--json"])
    check_equal(f"{complete.__name__}: on and off", complete("quenchctl set interface tx-disabled 3 "), ["off", "on"])
    check_equal(f"{complete.__name__}: on and off, or nothing", complete("quenchctl trace qp 100 "), ["off", "on"])
    check_equal(f"{complete.__name__}: ID is the user's", complete("quenchctl trace qp "), [])
    check_equal(f"{complete.__name__}: no more words", complete("quenchctl show info "), [])


def check_files(complete, work):
    # Beside what programs and shells leave in their runtime folder.
    work = work / "files"
    work.mkdir(exist_ok=True)
    for name in ("a.ini", "b.ini"):
        (work / name).touch()
    (work / "folder").mkdir(exist_ok=True)
    name = complete.__name__
    check_equal(f"{name}: a file to reload", complete("quenchctl reload a", cwd=work), ["a.ini"])
    check_equal(f"{name}: a scenario", complete("quench-lab a", cwd=work), ["a.ini"])
    check_equal(f"{name}: a configuration", complete("quench-switch -c b", cwd=work), ["b.ini"])
    check_equal(f"{name}: a folder", [w.rstrip("/") for w in complete("quench-lab --out ", cwd=work)], ["folder"])
    check_equal(f"{name}: a number", complete("quench-lab --seed ", cwd=work), [])
    check_equal(f"{name}: an option", complete("quench-nic --json-"), ["--json-qps"])


def check_names(complete, work):
    """-f: programs that run, not folders that others left."""
    base = work / "dpdk"
    name = f"qe-completion-{os.getpid()}-"
    for which in ("runs", "left"):
        (base / (name + which)).mkdir(parents=True)
    try:
        (base / (name + "runs") / "quench.sock").touch()
        check_equal(f"{complete.__name__}: names of programs", complete(f"quenchctl -f {name}", env={"RUNTIME_DIRECTORY": str(work)}), [name + "runs"])
    finally:
        for which in ("runs", "left"):
            shutil.rmtree(base / (name + which))


def main():
    for shell, pattern in (("bash", "*.bash"), ("zsh", "_*"), ("fish", "*.fish")):
        paths = sorted(map(str, SHARE.glob(pattern)))
        check_equal(f"{shell}: files", len(paths) >= 6, True)
        for path in paths if shutil.which(shell) else []:
            run(shell, "-n", path)
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        # fish keeps a history.
        os.environ.update(HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home)
        for complete in (bash, *([fish] if shutil.which("fish") else [])):
            check_commands(complete, True)
            check_files(complete, work)
            check_names(complete, work)
        if shutil.which("zsh"):
            check_commands(zsh, False)
            check_equal("zsh: a file to reload", zsh("quenchctl reload "), ["FILE"])
    sys.exit("\n".join(faults) or 0)


main()
