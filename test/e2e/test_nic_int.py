#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-nic says once that no switch adds in-band telemetry, if its algorithm needs it, and says nothing otherwise."""
from configs import flow_to_itself, nic
from harness import Program, check, check_equal, eal, finish, work_dir


def main():
    work = work_dir()
    for cc, lines in (("hpcc", 1), ("swift", 0)):
        config = nic(1, link_speed_bps="1G", first_qpn=100, cc=cc) + flow_to_itself("write", 2, message_bytes=10000, messages=200)
        program = Program(work, "nic", cc, config, eal("net_ring0"), "--stats-interval", 0, "--idle-sleep", 1000, "--stay")
        program.wait_until("all messages completed", lambda p=program: "all messages completed" in p.err())
        if lines > 0:
            program.wait_until("the line", lambda p=program: "event=int_missing" in p.err())
        check_equal(f"{cc}: exit code", program.stop(), 0)
        said = [line for line in program.err().splitlines() if "in-band telemetry" in line]
        check_equal(f"{cc}: lines", len(said), lines)
        check(f"{cc}: the line", all(line.startswith("quench-nic: warning: cc = hpcc: no ACK has in-band telemetry") for line in said), said)
    finish()


main()
