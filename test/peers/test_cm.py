#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Connections by RDMA CM between quench-nic and librdmacm on the kernel's soft-RoCE, in a guest: ucmatose of rdmacm-utils, unmodified.

ucmatose's server sends first, its client answers each message, and the server disconnects.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
from harness import PATIENCE_S, Program, check, check_equal, eal, finish  # noqa: E402
from soft_roce import GUEST4, GUEST6, IP4, IP6, MAC, SoftRoce, soft_roce  # noqa: E402

NIC = f"[nic]\nmac = {MAC}\nip = {IP4}\nip6 = {IP6}\nlink_speed_bps = 100M\nlocal_ack_timeout = 16\ncm_response_timeout = 17\n"


class Case(SoftRoce):
    """A quench-nic with one pattern, and ucmatose."""

    runs = 0

    def nic(self, flow, *options, mtu=4096):
        self.runs += 1
        program = Program(self.work, "nic", f"nic{self.runs}", f"{NIC}[flow f]\nverb = send\nmtu_bytes = {mtu}\n{flow}\n",
                          eal(self.device()), "--idle-sleep", 50, *options)
        program.wait_started()
        return program

    def server(self, options):
        self.must(f"rm -f /tmp/log; (ucmatose {options} >/tmp/log 2>&1; echo ended $? >>/tmp/log) & usleep 500000")

    def end(self):
        return self.must("i=0; while ! grep -q ended /tmp/log && [ $i -lt 400 ]; do usleep 50000; i=$((i+1)); done; cat /tmp/log")


def check_both(case, name, count, size, connections=1, version=4):
    """quench connects, then ucmatose does. Every message arrives, and both end well."""
    check_from_quench(case, name, count, size, connections, version)
    check_from_kernel(case, name, count, size, connections, version)


def check_from_quench(case, name, count, size, connections, version):
    far = GUEST4 if version == 4 else GUEST6
    work = f"message_bytes = {size}\nmessages = {count}"
    case.server(f"-b {far} -c {connections} -C {count} -S {size}")
    nic = case.nic(f"connect = cm\npeer_ip = {far}\nqp_count = {connections}\n{work}")
    nic.wait_end()
    got, said = nic.json(), case.end()
    check_equal(f"{name}, from quench: ucmatose ends well", re.findall(r"ended (\d+)", said), ["0"])
    check_equal(f"{name}, from quench: flows and messages", (sum(f["messages"] for f in got["flows"]), sum(f["qps_failed"] for f in got["flows"])), (count * connections, 0))
    check_equal(f"{name}, from quench: connections", got["counters"]["cm_connected"], connections)
    check_equal(f"{name}, from quench: answered", got["counters"]["rx_send_requests"], count * connections)


def check_from_kernel(case, name, count, size, connections, version):
    own = IP4 if version == 4 else IP6
    work = f"message_bytes = {size}\nmessages = {count}"
    nic = case.nic(f"connect = listen\npeer_ip = {'0.0.0.0' if version == 4 else '::'}\n{work}", "--stay")
    said = case.guest.run(f"ucmatose -s {own} -c {connections} -C {count} -S {size}", PATIENCE_S)
    nic.stop()
    got = nic.json()
    check_equal(f"{name}, from the kernel: ucmatose ends well", (said.returncode, "test complete" in said.output), (0, True))
    check_equal(f"{name}, from the kernel: flows and messages", (sum(f["messages"] for f in got["flows"]), sum(f["qps_failed"] for f in got["flows"])), (count * connections, 0))
    # A peer whose packets are lost may not have said all when quench disconnects.
    if "loss" not in name and "delay" not in name:
        check_equal(f"{name}, from the kernel: answered", got["counters"]["rx_send_requests"], count * connections)


def check_refusals(case):
    nic = case.nic(f"connect = cm\npeer_ip = {GUEST4}\ncm_port = 7999\nmessages = 1\nmessage_bytes = 100")
    nic.wait_until("the refusal is said", lambda: "refused by the peer, reason 8" in nic.err())
    nic.stop()
    nic = case.nic("connect = listen\npeer_ip = 0.0.0.0\ncm_port = 7999", "--stay")
    said = case.guest.run(f"ucmatose -s {IP4} -C 1 -S 100", PATIENCE_S).output
    nic.stop()
    check("a port that nobody listens at: REJ", "reject" in said.lower() or "RDMA_CM_EVENT_REJECTED" in said or "event: 8" in said, said)
    check_equal("a port that nobody listens at: counted", nic.json()["counters"]["cm_rejects_sent"], 1)
    nic = case.nic("connect = listen\npeer_ip = 0.0.0.0", "--stay", mtu=1024)
    case.guest.run(f"ucmatose -s {IP4} -C 1 -S 100", PATIENCE_S)
    nic.stop()
    check_equal("an MTU that is too large: refused", nic.json()["counters"]["cm_rejects_sent"], 1)
    nic = case.nic("connect = listen\npeer_ip = 10.9.0.77", "--stay")
    case.guest.run(f"ucmatose -s {IP4} -C 1 -S 100", PATIENCE_S)
    nic.stop()
    check_equal("a peer that may not connect: refused", nic.json()["counters"]["cm_rejects_sent"], 1)


def check_killed(case):
    """The peer is killed in the middle: its kernel says so, and quench connects again when it is back."""
    case.server(f"-b {GUEST4} -c 1 -C 500 -S 1000")
    nic = case.nic(f"connect = cm\npeer_ip = {GUEST4}\nmessage_bytes = 1000\nmessages = 500\nrate_cap_bps = 500K")
    nic.wait_until("connected", lambda: "established" in nic.err())
    case.must("killall -9 ucmatose")
    nic.wait_until("the end is said", lambda: f"f@1 with {GUEST4}, port 7471: ended by the peer" in nic.err())
    case.server(f"-b {GUEST4} -c 1 -C 500 -S 1000")
    nic.wait_until("connected again", lambda: nic.err().count("established") == 2)
    nic.stop()
    case.must("killall -9 ucmatose; true")


def check_rping(case):
    """Another program connects, and posts its first message: what would answer it is no part of quench-nic."""
    nic = case.nic("connect = listen\npeer_ip = 0.0.0.0\ncm_port = 7174\nrequester = off", "--stay")
    case.must(f"rping -c -a {IP4} -p 7174 -C 1 >/tmp/log 2>&1 & sleep 1")
    nic.wait_until("rping is connected", lambda: "established" in nic.err())
    case.must("killall rping; true")
    nic.wait_until("rping has left", lambda: "ended by the peer" in nic.err())
    nic.stop()
    got = nic.json()["counters"]
    check_equal("rping: connections, its message", (got["cm_connected"], got["rx_send_requests"]), (1, 1))


def check_loss(case):
    """The guest's messages are lost, doubled and late: the connection comes about, and every message arrives."""
    for how in ("loss 20%", "duplicate 30%", "delay 30ms 20ms"):
        case.must(f"/bin/tc qdisc replace dev eth0 root netem limit 10000 {how}")
        # ucmatose's server disconnects, whether its last ACK has arrived or is lost.
        (check_from_kernel if "loss" in how else check_both)(case, f"with {how}", 20, 1000, 2, 4)
    case.must("/bin/tc qdisc del dev eth0 root")


def main():
    with soft_roce(Case) as case:
        check_both(case, "one connection", 10, 100)
        check_both(case, "eight connections", 20, 5000, 8)
        check_both(case, "IPv6", 10, 1000, version=6)
        check_refusals(case)
        check_killed(case)
        check_rping(case)
        check_loss(case)
    finish()


main()
