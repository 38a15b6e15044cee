#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A port of quench-switch loses its link while frames wait for it and others come: all are counted, none stays in the buffer.

Two hosts of the Linux kernel on veth. One pauses its port, so that what the other sends waits; then its interface goes
down, and comes back.
"""
import time

from configs import two_ports
from frames import ECT0, pfc_frame, roce
from harness import CORES, PATIENCE_S, Program, check, check_equal, check_ledger, finish, work_dir
from namespaces import Host, need
from desk import Desk, eal, prefix

FRAMES, LIMIT, BYTES, OUTAGE_S = 30, 10, 1086, 0.3

CONFIG = f"""
[switch]
buffer_bytes = 4MB
max_frame_bytes = 1600
wred_queues = none
[buffer_profile lossless]
dynamic = off
static_th_bytes = {LIMIT * BYTES}
xoff_bytes = 1MB
""" + two_ports(link_speed_bps="1M")


def outage(work, a, b, lcores):
    print(f"# lcores: {lcores}")
    file_prefix = prefix("link")
    options = eal(file_prefix, *(f"net_af_packet{i},iface={host.device},blocksz=4096,framesz=2048,framecnt=512,qdisc_bypass=1"
                    for i, host in enumerate((a, b))))[2:] + ["--lcores", lcores]
    switch = Program(work, "switch", "switch", CONFIG, options, "--idle-sleep", 200, "--stats-interval", 0.1)
    switch.wait_started()

    def passes():
        return "1 received" in a("ping", "-c", 1, "-W", 1, b.address).stdout

    def queued():
        lines = [line for line in switch.out().splitlines() if " queued " in line]
        if not lines:
            return 0
        value, unit = lines[-1].split(" queued ")[1].split()[:2]
        return float(value) * {"B": 1, "kB": 1000}[unit]

    switch.wait_until("a ping through it", passes)
    b.send([pfc_frame(b.mac, 0x08, [0, 0, 0, 65535, 0, 0, 0, 0])])
    a.send([roce(a.mac, b.mac, a.address, b.address, 0xC001, psn, 26, ECT0, bytes(1024)) for psn in range(FRAMES)])
    switch.wait_until("all frames wait", lambda: queued() >= round(FRAMES * BYTES, -2))
    # Traffic of another class goes on, before, while and after the link is gone.
    others = a.start("ping", "-q", "-i", "0.005", "-W", "1", b.address)
    b.must("ip", "link", "set", "eth0", "down")
    switch.wait_until("the line that says so", lambda: "link down" in switch.err() or "link is down" in switch.err())
    switch.wait_until("an empty buffer", lambda: queued() == 0)
    time.sleep(OUTAGE_S)  # lasts: the outage
    b.must("ip", "link", "set", "eth0", "up")
    switch.wait_until("the line that says so", lambda: "link up" in switch.err() or "link is up" in switch.err())
    end = time.monotonic() + PATIENCE_S
    while not passes() and time.monotonic() < end:
        pass
    check("frames pass again", passes())
    # Nothing of the pause is left: the host that sent it has been away.
    before = b.counters()["UdpNoPorts"]
    a.send([roce(a.mac, b.mac, a.address, b.address, 0xC002, psn, 26, ECT0, bytes(1024)) for psn in range(5)])
    while b.counters()["UdpNoPorts"] < before + 5 and time.monotonic() < end:
        time.sleep(0.05)
    check_equal("lossless frames pass again", b.counters()["UdpNoPorts"] - before, 5)
    others.terminate()
    others.communicate()
    switch.wait_quiet()
    addresses = Desk(file_prefix).call("fdb")
    check_equal("exit code after SIGTERM", switch.stop(), 0)

    result = switch.json()
    ports = result["ports"]
    queue, drops = ports[1]["queues"][3], ports[1]["drops"]
    check_equal("the frames that waited are dropped, and counted for their queue", queue["drop_packets"], FRAMES)
    check("pings of the outage are too", drops["link_down"] > FRAMES, drops)
    # In an outage that lasts, a host asks for its peer by broadcast.
    kinds = {reason for p in ports for reason, n in p["drops"].items() if n}
    check("no drop of another kind", kinds == {"link_down"}, (kinds, [p["drops"] for p in ports], result["fdb"], addresses))
    check_equal("the queue held them all", queue["watermark_bytes"], FRAMES * BYTES)
    check_equal("the sender was paused, and let go", ports[0]["tx_prio3_pause_transition"], 1)
    check_equal("outages seen", [p["link_down_events_phy"] for p in ports], [0, 1])
    check("the outage was measured", ports[1]["link_down_ns"] > OUTAGE_S * 0.5e9, ports[1]["link_down_ns"])
    check_equal("nothing is left in the buffer", (result["buffer_used_bytes"], result["ledger"]["queued"],
                                                  any(p["used_bytes"] for p in result["pools"])), (0, 0, False))
    check_ledger("switch", result)


def main():
    need("ip", "ethtool", "sysctl", "ping")
    work = work_dir()
    a, b = (Host(i, f"10.77.0.{i + 1}", f"02:00:00:00:00:0{i + 1}") for i in range(2))
    # One lcore does everything; one polls and the other looks at links; each port has one of its own.
    outage(work, a, b, f"0@{CORES[0]}")
    outage(work, a, b, f"0@{CORES[0]},1@{CORES[-1]}")
    outage(work, a, b, f"0@{CORES[0]},1@{CORES[0]},2@{CORES[-1]}")
    finish()


main()
