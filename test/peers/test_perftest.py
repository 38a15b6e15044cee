#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Debian's ib_send_bw, ib_write_bw and ib_read_bw, unmodified, on the kernel's soft-RoCE in a guest, against quenchctl connect and listen perftest.

Without a guest: test/e2e/test_perftest.py.
"""
import json
import os
import re
import subprocess
import sys
import pathlib
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
from ctl import BUSY  # noqa: E402
from harness import BUILD, PATIENCE_S, Program, check, check_equal, eal, finish  # noqa: E402
from soft_roce import GUEST4, HOST4, IP4, IP6, MAC, SoftRoce, soft_roce  # noqa: E402

PREFIX = f"perftest{os.getpid()}"


class Both(SoftRoce):
    """The guest's program and quenchctl, one of them waiting for the other."""

    def ctl(self, *words):
        return [str(BUILD / "app/quenchctl/quenchctl"), "-f", PREFIX, "--json", *map(str, words)]

    def to_guest(self, verb, options, *words):
        """perftest waits, quench connects. @return (quenchctl's result, what perftest printed)"""
        self.must(f"rm -f /tmp/log; (ib_{verb}_bw -d rxe0 {options} >/tmp/log 2>&1; echo ended $? >>/tmp/log) &")
        # Its output waits in a buffer. It listens when its port is there, in state 0A.
        self.must("while ! grep -q ':4853 .* 0A ' /proc/net/tcp && ! grep -q ended /tmp/log; do usleep 20000; done")
        done = subprocess.run(self.ctl("connect", "perftest", GUEST4, f"verb={verb}", *words), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        said = self.must("i=0; while ! grep -q ended /tmp/log && [ $i -lt 200 ]; do usleep 50000; i=$((i+1)); done; cat /tmp/log")
        return done, said

    def from_guest(self, verb, options, *words):
        """quench waits, perftest connects."""
        # pylint: disable-next=consider-using-with
        waiting = subprocess.Popen(self.ctl("listen", "perftest", f"verb={verb}", *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = waiting.stderr.readline()
        if "waiting" not in line:
            raise RuntimeError(line)
        said = self.guest.run(f"ib_{verb}_bw -d rxe0 {options} {HOST4}", PATIENCE_S).output
        out, err = waiting.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(waiting.args, waiting.returncode, out, err), said


def reported(run, *args):
    """
    run(*args), again if quench-nic had no CPU for seconds, or perftest could not measure its clock. perftest compares cycles with the time of day, and ends without a report where its
    machine stood still between two readings: get_clock.c, r^2 < 0.9.
    """
    end = time.monotonic() + PATIENCE_S
    while True:
        done, said = run(*args)
        if ("Can't produce a report" not in said and not BUSY.search(done.stderr)) or time.monotonic() > end:
            return done, said


def printed(said):
    """perftest's line of results: (bytes, messages of all QPs, average)"""
    rows = re.findall(r"^ (\d+)\s+(\d+)\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", said, re.M)
    return (int(rows[-1][0]), int(rows[-1][1]), float(rows[-1][2])) if rows else said


def result_of(done, name):
    check(f"{name}: quenchctl ends well", done.returncode == 0, done.stderr)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def rows(both):
    done = subprocess.run(both.ctl("show", "flows"), capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return json.loads(done.stdout).get("rows", [])


def check_run(both, verb, size, n, qps=1, options="", words=()):
    """One run in each direction: both sides count the same messages and bytes, and name the same rate."""
    said_options = f"-s {size} -n {n} -q {qps} {options}"
    name = f"ib_{verb}_bw {said_options}".strip()
    done, said = reported(both.to_guest, verb, said_options, f"message_bytes={size}", f"messages={n}", f"qp_count={qps}", *words)
    got = result_of(done, f"quench to {name}")
    check_equal(f"quench to {name}: perftest ends well", re.findall(r"ended (\d+)", said), ["0"])
    check_equal(f"quench to {name}: messages and bytes", (got.get("messages"), got.get("payload_bytes")), (n * qps, n * qps * size))
    theirs = printed(said)
    # perftest prints the client's report for WRITE and READ, and what it measured itself for SEND.
    check(f"quench to {name}: perftest's report", isinstance(theirs, tuple) and theirs[0] == size and theirs[1] == n * qps, (theirs, done.stderr))
    if verb != "send" and isinstance(theirs, tuple) and got:
        check(f"quench to {name}: and its rate is ours", abs(theirs[2] - got["average_mib_per_s"]) <= 0.0051, (theirs, got))
    done, said = reported(both.from_guest, verb, said_options, f"qp_count={qps}", *words)
    got = result_of(done, f"{name} to quench")
    theirs = printed(said)
    check(f"{name} to quench: perftest's report", isinstance(theirs, tuple) and theirs[0] == size and theirs[1] == n * qps, (theirs, done.stderr))
    check_equal(f"{name} to quench: messages and bytes", (got.get("messages"), got.get("payload_bytes")), (n * qps, n * qps * size))
    if verb != "send" and isinstance(theirs, tuple) and got:
        check(f"{name} to quench: and its rate is ours", abs(theirs[2] - got["average_mib_per_s"]) <= 0.0051, (theirs, got))


def check_duration(both, verb):
    """Both send for a time."""
    done, said = reported(both.to_guest, verb, "-D 2 -s 4096", "duration_ns=2s", "message_bytes=4096")
    got = result_of(done, f"{verb} for 2 s from quench")
    check(f"{verb} for 2 s from quench: messages arrive", got.get("messages", 0) > 0 and isinstance(printed(said), tuple), (got, said[-300:]))
    done, said = reported(both.from_guest, verb, "-D 2 -s 4096")
    got = result_of(done, f"{verb} for 2 s to quench")
    check(f"{verb} for 2 s to quench: messages arrive", got.get("messages", 0) > 0 and isinstance(printed(said), tuple), (got, said[-300:]))


def check_killed(both):
    """perftest is killed in the middle: one line, and no flow stays."""
    both.must("rm -f /tmp/log; ib_write_bw -d rxe0 -n 1000000 >/tmp/log 2>&1 &")
    both.must("while ! grep -q ':4853 .* 0A ' /proc/net/tcp; do usleep 20000; done")
    # pylint: disable-next=consider-using-with
    one = subprocess.Popen(both.ctl("connect", "perftest", GUEST4, "verb=write", "messages=1000000"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + PATIENCE_S
    while not any(row["messages"] > 0 for row in rows(both) if not row["gone"]) and time.monotonic() < end:
        time.sleep(0.05)
    both.must("killall -9 ib_write_bw")
    _, err = one.communicate(timeout=PATIENCE_S)
    check("perftest killed: said in one line", one.returncode == 1 and len(err.splitlines()) == 1 and "ended the connection" in err, err)


def main():
    with soft_roce(Both, host=True) as both:
        options = [o for o in eal(both.device()) if o not in ("--no-telemetry", "--no-shconf")]
        nic = Program(both.work, "nic", "nic", f"[nic]\nmac = {MAC}\nip = {IP4}\nip6 = {IP6}\nlink_speed_bps = 100M\nlocal_ack_timeout = 16\n",
                      [*options, "--file-prefix", PREFIX], "--idle-sleep", 50)
        nic.wait_started()
        for verb in ("send", "write", "read"):
            check_run(both, verb, 4096, 100)
            check_run(both, verb, 65536, 20, qps=4)
            check_run(both, verb, 1, 10, options="-m 4096", words=("mtu_bytes=256",))
            check_run(both, verb, 100000, 10, options=f"-x {both.gids[6]}", words=("gid=ipv6",))
            check_duration(both, verb)
        check_killed(both)
        check_equal("no flow is left", [row["flow"] for row in rows(both) if not row["gone"]], [])
        nic.stop()
    finish()


main()
