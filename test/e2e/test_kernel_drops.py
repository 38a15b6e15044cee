#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Frames that the kernel drops because the ring of net_af_packet is full: each program shows them as drops of its port, and no frame
is missing from the sum."""
import signal

from configs import flow, nic, two_ports
from ctl import Ctl
from harness import Program, check, check_equal, finish, halt, work_dir
from namespaces import Host, need
from desk import eal, prefix

FRAMES, RING = 400, 64
# An EtherType for experiments (802.1Q table 9-2 has 88-B5), to an address that nobody has.
FRAME = bytes.fromhex("02000000009902000000000188b5") + bytes(50)


def af_packet(number, host):
    return f"net_af_packet{number},iface={host.device},blocksz=4096,framesz=2048,framecnt={RING},qdisc_bypass=1"


def overflow(program, host):
    """Send more frames than the ring holds while the program stands still."""
    halt(program.process)
    host.send([FRAME] * FRAMES)
    program.process.send_signal(signal.SIGCONT)


def main():
    need("ip", "ethtool", "sysctl")
    work = work_dir()
    hosts = [Host(i, f"10.77.0.{i + 1}", f"02:00:00:00:00:0{i + 1}") for i in range(2)]

    name = prefix("switch")
    switch = Program(work, "switch", "switch", two_ports(link_speed_bps="1G"), eal(name, *map(af_packet, range(2), hosts)),
                     "--idle-sleep", 50)
    switch.wait_started()
    ctl = Ctl(work, "-f", name)
    overflow(switch, hosts[0])
    switch.wait_until("frames arrived", lambda: ctl.json("show interfaces 0")["rx_packets"] >= RING)
    port = ctl.json("show interfaces 0")
    lost = port["drops"]["device_missed"]
    check_equal("switch: frames that arrived and frames that the kernel dropped", port["rx_packets"] + lost, FRAMES)
    check("most were dropped", lost >= FRAMES - 2 * RING, lost)
    check_equal("the device's counter has them, too", port["device_stats"]["imissed"], lost)
    check("show drops", ["0", "device_missed", str(lost)] in ctl.table("show drops"), ctl.text("show drops"))
    check("metrics", f'reason="device_missed"}} {lost}' in "".join(
        line + "\n" for line in ctl.text("show metrics").splitlines() if 'drop_packets' in line and 'port="0"' in line))
    gaps = [port[f"poll_gap_{q}_ns"] for q in ("p50", "p99", "max")]
    check("times between polls", 0 < gaps[0] <= gaps[1] <= gaps[2], gaps)
    check_equal("show polls", [row[:2] for row in ctl.table("show polls")[1:]], [["0", "net_af_packet0"], ["1", "net_af_packet1"]])
    check_equal("exit code after SIGTERM", switch.stop(), 0)
    check_equal("the final report", [p["drops"]["device_missed"] for p in switch.json()["ports"]], [lost, 0])

    name = prefix("nic")
    sink = Program(work, "nic", "nic", nic(9) + flow("none", 1, requester="off", peer_qpn=17), eal(name, af_packet(0, hosts[0])),
                   "--idle-sleep", 50, "--stay")
    sink.wait_started()
    ctl = Ctl(work, "-f", name)
    overflow(sink, hosts[0])
    sink.wait_until("frames arrived", lambda: ctl.json("show counters")["rx_packets"] >= RING)
    counters = ctl.json("show counters")
    lost = counters["drop_device_missed"]
    check_equal("NIC: frames that arrived and frames that the kernel dropped", counters["rx_packets"] + lost, FRAMES)
    check("show drops", ["drop_device_missed", str(lost)] in ctl.table("show drops"), ctl.text("show drops"))
    check("metrics", f'reason="device_missed"}} {lost}' in ctl.text("show metrics"))
    check_equal("exit code after SIGTERM", sink.stop(), 0)
    check_equal("the final report", sink.json()["counters"]["drop_device_missed"], lost)
    finish()


main()
