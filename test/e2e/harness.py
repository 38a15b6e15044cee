# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share: running our programs, counting checks, and leaving nothing behind.

A test prints one line per check and ends with finish(). Exit code 77 means skipped: a prerequisite is missing, and the last
line names it. A test that ran into an error has failed.
Programs are stopped, namespaces and folders removed on every way out.
"""
import atexit
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import alone  # noqa: F401  # pylint: disable=unused-import

BUILD = pathlib.Path(os.environ.get("QUENCH_BUILD", "build")).resolve()
CORES = sorted(os.sched_getaffinity(0))
# Generous: only a hang meets it. Nothing is measured against the clock.
PATIENCE_S = 300
LONG_S = 30  # of a wait that the log should name

_failed = 0
_running = []


def check(what, good, detail=""):
    """One finding; the test goes on."""
    global _failed
    _failed += not good
    print(f"{'ok' if good else 'NOT OK'} - {what}{'' if good or detail == '' else f': {detail}'}", flush=True)
    return good


def check_equal(what, got, expected):
    return check(what, got == expected, f"got {got}, expected {expected}")


def check_ledger(name, result):
    """The bytes of a switch, in its final JSON: each that came or was made went somewhere."""
    ledger = result["ledger"]
    return check_equal(f"{name}: every byte is accounted for", ledger["in"] + ledger["copies"] + ledger["generated"],
                       ledger["queued"] + ledger["sent"] + ledger["dropped"] + ledger["consumed"])


def skip(reason):
    """End the test for want of a named prerequisite. A check that failed before counts nevertheless."""
    if _failed:
        print(f"{_failed} checks failed; the rest was not run: {reason}")
        sys.exit(1)
    print(f"SKIP: {reason}")
    sys.exit(77)


def finish():
    print(f"{_failed} checks failed" if _failed else "all checks hold")
    sys.exit(1 if _failed else 0)


def work_dir():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="quench-e2e-"))
    if not os.environ.get("QUENCH_KEEP"):
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def run(*command, **kw):
    """Run to its end; returns the completed process with text output."""
    kw.setdefault("timeout", PATIENCE_S)
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **kw)


def until(condition, patience_s=PATIENCE_S):
    """Ask condition() again and again until it holds, or patience ends. @return its last value"""
    end = time.monotonic() + patience_s
    while not (good := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return good


def halt(process):
    """SIGSTOP to a child, and the wait until all its threads stand: on a busy machine they go on for a while after the signal."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)


def lacks_privilege(said):
    """Whether a command failed with EPERM, EACCES or EROFS: root of a container may lack a capability, or write access to /sys."""
    return re.search(r"operation not permitted|permission denied|read-only file system", said, re.I) is not None


def privileged(*command):
    """Run a command that needs more than root's name. Without the privilege the test is skipped; any other error fails it."""
    done = run(*command, env={**os.environ, "LC_ALL": "C"})
    if done.returncode == 0:
        return
    said = (done.stderr or done.stdout).strip()
    said = f"{' '.join(map(str, command))}: {said or f'exit code {done.returncode}'}"
    if lacks_privilege(said):
        skip(said)
    sys.exit(said)


def eal(*devices, core=0, memory=64, huge=False):
    """EAL options that need neither hugepages nor PCI."""
    options = ["-l", CORES[core % len(CORES)], "--no-pci", "--log-level=error", "--no-telemetry"]
    options += ["--file-prefix", f"q{os.getpid()}{core}"] if huge else ["--no-huge", "--no-shconf"]
    options += ["-m", memory]
    for device in devices:
        options += ["--vdev", device]
    return [str(o) for o in options]


def path_of(role):
    """Of the program of a role: nic, switch or lab."""
    return BUILD / "app" / f"quench-{role}" / f"quench-{role}"


class Program:
    """quench-nic or quench-switch, running."""

    def __init__(self, folder, role, name, config, eal_options, *options, before=()):
        self.name = name
        self.dir = folder
        self.json_path = folder / f"{name}.json"
        config_path = folder / f"{name}.ini"
        config_path.write_text(config)
        self.out_path, self.err_path = folder / f"{name}.out", folder / f"{name}.err"
        self.command = [*before, str(path_of(role)), *eal_options, "--", "--config",
                        str(config_path), "--json", str(self.json_path), *map(str, options)]
        with open(self.out_path, "w") as out, open(self.err_path, "w") as err:
            self.process = subprocess.Popen(self.command, stdout=out, stderr=err, cwd=folder)
        _running.append(self)

    def out(self):
        return self.out_path.read_text()

    def err(self):
        return self.err_path.read_text()

    def complain(self, why):
        sys.exit(f"{self.name} {why}\n  {' '.join(self.command)}\n{self.err()}\n{self.out()[-2000:]}")

    def wait_until(self, what, condition):
        """Wait until condition() holds; the program must not end before."""
        def holds():
            if condition():
                return True
            if self.process.poll() is not None:
                self.complain(f"ended with {self.process.returncode} before {what}")
            return False

        begin_s = time.monotonic()
        if not until(holds):
            self.complain(f"does not get to: {what}")
        waited_s = time.monotonic() - begin_s
        if waited_s > LONG_S:
            print(f"waited {waited_s:.0f} s for {self.name}: {what}")

    def wait_started(self):
        """Then its socket answers."""
        self.wait_until("running", self.is_running)

    def is_running(self):
        return ": running: " in self.err()

    def quiet(self, lines=3):
        """The last statistics lines show no frame, after some that did."""
        seen = [[float(x) for x in re.findall(r"([\d.]+) [kMG]?pps", line)] for line in self.out().splitlines()
                if "pps" in line]
        return any(map(any, seen)) and len(seen) > lines and not any(map(any, seen[-lines:]))

    def wait_quiet(self):
        self.wait_until("no more frames", self.quiet)

    def wait_end(self):
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.complain("does not end")

    def stop(self, with_signal=signal.SIGTERM):
        self.process.send_signal(with_signal)
        return self.wait_end()

    def json(self):
        return json.loads(self.json_path.read_text())


@atexit.register
def _kill_all():
    for program in _running:
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait()


def die_cleanly(signal_number, _frame):
    sys.exit(128 + signal_number)


signal.signal(signal.SIGTERM, die_cleanly)
