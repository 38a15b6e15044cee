#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A link that goes down and comes back: quench-nic says it, waits, and goes on without a QP in error.

Two quench-nic of two polling lcores on TAP interfaces that a Linux bridge joins. The outage lasts longer than all
retries of a QP would.
"""
import atexit
import os
import time

from harness import Program, check, check_equal, finish, privileged, run, skip, work_dir
from telemetry import Telemetry, eal, prefix, wait_answers

OUTAGE_S = 1
BRIDGE = f"q{os.getpid() % 100000}b"
TAPS = [f"q{os.getpid() % 100000}t{i}" for i in (0, 1)]


def config(me, peer, requester):
    return f"""
[nic]
mac = 02:00:00:00:00:0{me}
ip = 10.79.0.{me}
link_speed_bps = 50M
# 67 ms and seven retries: 0.54 s, which a busy machine may take for its programs
local_ack_timeout = 14
[flow a]
peer_mac = 02:00:00:00:00:0{peer}
peer_ip = 10.79.0.{peer}
qp_count = 8
requester = {"on" if requester else "off"}
messages = 8
message_bytes = 64KB
"""


def start(work, name, text, tap, *more):
    file_prefix = prefix(name)
    program = Program(work, "nic", name, text, eal(file_prefix, f"net_tap0,iface={tap}", lcores=3), "--idle-sleep", 50,
                      "--stats-interval", 0.1, *more)
    wait_answers(program, file_prefix)
    return program, file_prefix


def link(device, *what):
    privileged("ip", "link", "set", device, *what)


def main():
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        skip("TAP interfaces need root and /dev/net/tun")
    privileged("ip", "link", "add", BRIDGE, "type", "bridge")
    atexit.register(run, "ip", "link", "del", BRIDGE)
    link(BRIDGE, "up")
    work = work_dir()
    receiver, _ = start(work, "receiver", config(2, 1, False), TAPS[1])
    # Nothing is sent before the bridge has both.
    sender, sender_prefix = start(work, "sender", config(1, 2, True) + "stopped = on\n", TAPS[0], "--stay")
    for tap in TAPS:
        link(tap, "master", BRIDGE)
    Telemetry(sender_prefix).ask("/quench/set,flow a.stopped=off")
    sender.wait_until("data", lambda: any("tx          0 pps" not in line for line in sender.out().splitlines()))
    link(TAPS[0], "down")
    sender.wait_until("the line that says so", lambda: "link is down" in sender.err())
    time.sleep(OUTAGE_S)
    link(TAPS[0], "up")
    sender.wait_until("all messages completed", lambda: "all messages completed" in sender.err())
    for program in (sender, receiver):
        check_equal(f"exit code of the {program.name}", program.stop(), 0)
    s, r = sender.json(), receiver.json()
    check_equal("messages", (sum(q["tx_messages"] for q in s["qps"]), sum(q["rx_messages"] for q in r["qps"])), (64, 64))
    check_equal("QPs in error", s["counters"]["qp_errors"], 0)
    check_equal("outages seen", s["port"]["link_down_events_phy"], 1)
    check("the outage was measured", s["port"]["link_down_ns"] > OUTAGE_S * 0.9e9, s["port"]["link_down_ns"])
    check("and its end was said", "link is up" in sender.err(), sender.err())
    check_equal("the receiver's link stayed up", r["port"]["link_down_events_phy"], 0)
    finish()


main()
