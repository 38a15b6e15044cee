#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Half a million QPs on four polling lcores from a few lines: start, interrupt, start again, and a disk that is full."""
import signal

from configs import flow, nic
from harness import CORES, Program, check, check_equal, eal, finish, path_of, run, work_dir

QPS = 500_000
CONFIG = nic(1, link_speed_bps="100G", max_qps=QPS) + flow("a", 2, qp_count=QPS, messages=0, raw="on")
# EAL and the pools of four lcores; for each lcore 3.5 MB for 4096 flows and neighbours to come, and 2 MB more of the 8 MB of
# its timing wheel's slots, which a busy machine touches; 256 bytes for each QP, and 32 for its place among the lcores.
MOST_RESIDENT_KB = 175_000 + 4 * (3500 + 2000) + QPS * 288 // 1000


def four():
    lcores = ",".join(f"{i}@{CORES[i % len(CORES)]}" for i in range(5))
    return ["--lcores", lcores] + eal("net_null0,no-rx=1")[2:]


def start(work, name, *options):
    program = Program(work, "nic", name, CONFIG, four(), "--idle-sleep", 200, "--stats-interval", 0.1, *options)
    program.wait_started()
    return program


def resident_kb(program):
    with open(f"/proc/{program.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def interrupted(work, name):
    nic = start(work, name, "--csv", work / "csv")
    nic.wait_until("a line of statistics", lambda: "pps" in nic.out())
    widest = max(nic.out().splitlines(), key=len)
    check(f"{name}: live lines fit 120 columns", len(widest) <= 120, widest)
    check(f"{name}: resident memory", resident_kb(nic) <= MOST_RESIDENT_KB, resident_kb(nic))
    check_equal(f"{name}: exit code after Ctrl-C", nic.stop(signal.SIGINT), 0)
    r = nic.json()
    check_equal(f"{name}: lcores and QPs", (r["lcores"], sum(f["qps"] for f in r["flows"])), (4, QPS))
    check(f"{name}: frames were sent", r["counters"]["tx_packets"] > 0)


def full_disk(work):
    nic = start(work, "full", "--json", "/dev/full")
    check_equal("full disk: exit code", nic.stop(signal.SIGINT), 1)
    said = [line for line in nic.err().splitlines() if "/dev/full" in line]
    check("full disk: one line says so", len(said) == 1 and "No space left" in said[0], nic.err())


def main():
    work = work_dir()
    interrupted(work, "first")
    interrupted(work, "second")
    full_disk(work)
    path = work / "check.ini"
    path.write_text(CONFIG)
    done = run(path_of("nic"), "--check-config", "--config", path)
    check("--check-config prints what is in force, not each QP",
          done.returncode == 0 and f"qp_count = {QPS}" in done.stdout and len(done.stdout) < 20_000, len(done.stdout))
    path.write_text(CONFIG.replace(f"max_qps = {QPS}\n", ""))
    done = run(path_of("nic"), "--check-config", "--config", path)
    check("more QPs than max_qps are refused with a line", done.returncode == 2 and "max_qps" in done.stderr,
          (done.returncode, done.stderr))
    finish()


main()
