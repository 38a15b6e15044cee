#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/tor-demo: its output, a second run beside it, Ctrl-C, and that nothing is left."""
import pathlib
import re
import signal
import subprocess

import alone
from harness import BUILD, PATIENCE_S, check, check_equal, finish, run, work_dir
from namespaces import need

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "tor-demo"


def left():
    """What the demo made and has not removed."""
    return re.findall(r"\btor-(?:a|b|port-[ab])\b", run("ip", "netns", "list").stdout + run("ip", "-o", "link").stdout)


def check_output(work):
    done = run(SCRIPT, "--programs", BUILD, "--seconds", 2, cwd=work)
    check_equal("exit code", done.returncode, 0)
    check("ping loses nothing", "3 received" in done.stdout, done.stdout + done.stderr)
    marked = re.search(r"^ +1 +3 +50KB.* (\d+) +[\d.]+% +\d+$", done.stdout, re.M)
    check("port 1 marks", marked is not None and int(marked[1]) > 0, done.stdout)
    check_equal("nothing is left", left(), [])


def check_stranger(work):
    """A namespace of this name that the script did not make is not removed."""
    run("ip", "netns", "add", "tor-b")
    done = run(SCRIPT, "--programs", BUILD, cwd=work)
    check_equal("somebody's namespace: refused", done.returncode, 1)
    check("... with its name", "namespace tor-b exists" in done.stderr, done.stderr)
    check_equal("... and left alone", left(), ["tor-b"])
    run("ip", "netns", "del", "tor-b")


def check_interrupted(work):
    with subprocess.Popen([SCRIPT, "--programs", BUILD, "--seconds", "1", "--stay"], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as demo:
        said = ""
        while "Until Ctrl-C" not in said and (line := demo.stdout.readline()):
            said += line
        check("it stays", "Until Ctrl-C" in said, said)
        second = run(SCRIPT, "--programs", BUILD, cwd=work)
        check_equal("another one is refused", (second.returncode, second.stderr), (1, "tor-demo: another tor-demo is running\n"))
        demo.send_signal(signal.SIGINT)
        check_equal("Ctrl-C", demo.wait(PATIENCE_S), 130)
    check_equal("nothing is left after it", left(), [])


def main():
    # Where its lock is, and the names of namespaces: a demo and a test of it may run beside this one.
    alone.folder("/run")
    need("ip", "nsenter", "ethtool", "iperf3", "ping", "ss")
    work = work_dir()
    check_stranger(work)
    check_output(work)
    check_interrupted(work)
    finish()


main()
