#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A receiver that is killed and started again: the sender's QPs give up, and come back when their flow is reset.

Two quench-nic of two polling lcores on TAP interfaces that a Linux bridge joins.
"""
import signal

from harness import BUILD, check, check_equal, finish, run, work_dir
from taps import TAPS, join, need_bridge, start
from desk import Desk

MESSAGES = 30
# 67 ms, three retries.
KEYS = {"local_ack_timeout": 14, "retry_cnt": 3}
FLOW = {"qp_count": 6, "messages": MESSAGES}


def main():
    need_bridge()
    work = work_dir()
    receiver, _ = start(work, "receiver", 2, KEYS, **FLOW)
    join(TAPS[1])
    # Nothing is sent before the bridge has both.
    sender, sender_prefix = start(work, "sender", 1, KEYS, "--stay", stopped="on", **FLOW)
    join(TAPS[0])
    t = Desk(sender_prefix)
    t.set("flow a.stopped=off")

    def flow(key):
        return t.rows("flows")[0][key]

    sender.wait_until("some messages", lambda: flow("messages") >= 12)
    receiver.stop(signal.SIGKILL)
    sender.wait_until("all QPs give up", lambda: flow("qps_failed") == 6)
    before = {key: flow(key) for key in ("messages", "wire_bytes", "retransmitted_packets")}
    check("messages are missing", before["messages"] < 6 * MESSAGES, before)

    receiver, _ = start(work, "again", 2, KEYS, **FLOW)
    join(TAPS[1])
    check_equal("a flow that is not there", "there is no flow x" in t.refusal("reset", flow="x"), True)
    done = run(BUILD / "app/quenchctl/quenchctl", "-f", sender_prefix, "reset", "a")
    check("quenchctl resets the flow", done.returncode == 0 and "qps_failed" in done.stdout, (done.stdout, done.stderr))
    sender.wait_until("all messages completed", lambda: "all messages completed" in sender.err())
    after = {key: flow(key) for key in ("messages", "wire_bytes", "retransmitted_packets", "qps_failed")}
    check_equal("messages, QPs in error", (after["messages"], after["qps_failed"]), (6 * MESSAGES, 0))
    check("no counter went back", all(after[key] >= before[key] for key in before), (before, after))
    check_equal("who asks for the QPs sees no error", t.column("qps", "error"), [0] * 6)
    for program in (sender, receiver):
        check_equal(f"exit code of the {program.name}", program.stop(), 0)
    r = receiver.json()
    got = sum(q["rx_messages"] for q in r["qps"])
    check("the new receiver has what was not completed before", got == 6 * MESSAGES - before["messages"], got)
    finish()


main()
