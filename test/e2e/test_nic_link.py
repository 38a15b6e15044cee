#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A link that goes down and comes back: quench-nic says it, waits, and goes on without a QP in error.

Two quench-nic of two polling lcores on TAP interfaces that a Linux bridge joins. The outage lasts longer than all
retries of a QP would.
"""
import re
import time

from harness import check, check_equal, finish, work_dir
from taps import TAPS, join, link, need_bridge, start
from desk import Desk

OUTAGE_S = 1
# 67 ms and seven retries: 0.54 s, which a busy machine may take for its programs.
KEYS = {"local_ack_timeout": 14}


def main():
    need_bridge()
    work = work_dir()
    receiver, _ = start(work, "receiver", 2, KEYS, qp_count=8, messages=8)
    # Nothing is sent before the bridge has both.
    sender, sender_prefix = start(work, "sender", 1, KEYS, "--stay", qp_count=8, messages=8, stopped="on")
    for tap in TAPS:
        join(tap)
    Desk(sender_prefix).set("flow a.stopped=off")
    sender.wait_until("data", lambda: any(not re.search("tx +0 pps", line) for line in sender.out().splitlines()))
    link(TAPS[0], "down")
    sender.wait_until("the line that says so", lambda: "link is down" in sender.err())
    time.sleep(OUTAGE_S)  # lasts: the outage
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
