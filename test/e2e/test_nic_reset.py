#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A receiver that is killed and started again: the sender's QPs give up, and come back when their flow is reset.

Two quench-nic of two polling lcores on TAP interfaces that a Linux bridge joins.
"""
import atexit
import os
import signal

from harness import BUILD, Program, check, check_equal, finish, privileged, run, skip, work_dir
from telemetry import Telemetry, eal, prefix, wait_answers

BRIDGE = f"q{os.getpid() % 100000}b"
TAPS = [f"q{os.getpid() % 100000}t{i}" for i in (0, 1)]
MESSAGES = 30


def config(me, peer, requester):
    return f"""
[nic]
mac = 02:00:00:00:00:0{me}
ip = 10.78.0.{me}
link_speed_bps = 50M
# 67 ms, three retries
local_ack_timeout = 14
retry_cnt = 3
[flow a]
peer_mac = 02:00:00:00:00:0{peer}
peer_ip = 10.78.0.{peer}
qp_count = 6
requester = {"on" if requester else "off"}
messages = {MESSAGES}
message_bytes = 64KB
"""


def start(work, name, text, tap, *more):
    file_prefix = prefix(name)
    return Program(work, "nic", name, text, eal(file_prefix, f"net_tap0,iface={tap}", lcores=3), "--idle-sleep", 50,
                   "--stats-interval", 0, *more), file_prefix


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
    receiver.wait_started()
    link(TAPS[1], "master", BRIDGE)
    # Nothing is sent before the bridge has both.
    text = config(1, 2, True) + "stopped = on\n"
    sender, sender_prefix = start(work, "sender", text, TAPS[0], "--stay")
    wait_answers(sender, sender_prefix)
    link(TAPS[0], "master", BRIDGE)
    t = Telemetry(sender_prefix)
    t.ask("/quench/set,flow a.stopped=off")

    def flow(key):
        return t.ask("/quench/flows")[key][0]

    sender.wait_until("some messages", lambda: flow("messages") >= 12)
    receiver.stop(signal.SIGKILL)
    sender.wait_until("all QPs give up", lambda: flow("qps_failed") == 6)
    before = {key: flow(key) for key in ("messages", "wire_bytes", "retransmitted_packets")}
    check("messages are missing", before["messages"] < 6 * MESSAGES, before)

    receiver, receiver_prefix = start(work, "again", config(2, 1, False), TAPS[1])
    wait_answers(receiver, receiver_prefix)
    link(TAPS[1], "master", BRIDGE)
    check_equal("a flow that is not there", "there is no flow x" in t.ask("/quench/reset,x").get("error", ""), True)
    done = run(BUILD / "app/quenchctl/quenchctl", "-f", sender_prefix, "reset", "flow", "a")
    check("quenchctl resets the flow", done.returncode == 0 and "qps_failed" in done.stdout, (done.stdout, done.stderr))
    sender.wait_until("all messages completed", lambda: "all messages completed" in sender.err())
    after = {key: flow(key) for key in ("messages", "wire_bytes", "retransmitted_packets", "qps_failed")}
    check_equal("messages, QPs in error", (after["messages"], after["qps_failed"]), (6 * MESSAGES, 0))
    check("no counter went back", all(after[key] >= before[key] for key in before), (before, after))
    check_equal("who asks for the QPs sees no error", t.all("/quench/qps")["error"], [0] * 6)
    for program in (sender, receiver):
        check_equal(f"exit code of the {program.name}", program.stop(), 0)
    r = receiver.json()
    got = sum(q["rx_messages"] for q in r["qps"])
    check("the new receiver has what was not completed before", got == 6 * MESSAGES - before["messages"], got)
    finish()


main()
