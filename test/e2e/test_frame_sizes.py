#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Linux hosts with ping, arping, tracepath and iperf3 through switches, with sizes around every limit.

The limits: the hosts' MTU, framesz of net_af_packet, the buffers of net_memif (bsize), max_frame_bytes (also of net_pcap), and the
data room that follows from it. A datagram arrives whole, or the frame is a drop with a name.
"""
import re

from configs import memif, port, section
from ctl import Ctl
from frames import read_pcap, write_pcap
from harness import PATIENCE_S, Program, check, check_equal, finish, until, work_dir
from namespaces import Host, need
from desk import eal, prefix

ETHERNET, IPV4, ICMP = 14, 20, 8
# What the kernel puts before a frame in a slot, and one byte, by which a whole frame is told from a cut one.
SLOT = 67
SMALL_RING = "blocksz=4096,framesz=2048,framecnt=512"
JUMBO_RING = "blocksz=36864,framesz=9216,framecnt=128"


def af_packet(number, host, *ring):
    """Without a ring: that of the program's own choice."""
    return ",".join([f"net_af_packet{number}", f"iface={host.device}", *ring, "qdisc_bypass=1"])


def config(n_ports, frame_bytes):
    return section("switch", buffer_bytes="8MB", max_frame_bytes=frame_bytes) + section(
        "port", link_speed_bps="1G") + "".join(port(i) for i in range(n_ports))


class Switch(Program):
    def __init__(self, work, name, frame_bytes, *devices):
        file_prefix = prefix(name)
        super().__init__(work, "switch", name, config(len(devices), frame_bytes), eal(file_prefix, *devices),
                         "--idle-sleep", 50)
        self.wait_started()
        self.ctl = Ctl(work, "-f", file_prefix)

    def drops(self, number):
        return {name: n for name, n in self.ctl.json(f"show interfaces {number}")["drops"].items() if n}

    def ends(self):
        """@return drops by name, of all ports."""
        check_equal("exit code after SIGTERM", self.stop(), 0)
        return {name for p in self.json()["ports"] for name, n in p["drops"].items() if n}


def arrives(what, host, to, sizes, *options, wanted=True):
    """Pings whose IP datagram has so many bytes."""
    for size in sizes:
        received, said = host.ping(to, "-s", size - IPV4 - ICMP, *options, count=1)
        check(f"{what}: a datagram of {size} bytes {'arrives' if wanted else 'does not arrive'}",
              (received == 1) == wanted, said)


def around(limit):
    return limit - 1, limit, limit + 1


def other_programs(client, server):
    done = client("arping", "-c", 3, "-w", 10, "-I", "eth0", server.address)
    check("arping gets replies", "Received 3 response" in done.stdout, done.stdout + done.stderr)
    done = client("tracepath", "-n", server.address)
    check("tracepath finds the MTU, and nobody between", re.search(r"Resume: pmtu 1500 hops 1 ", done.stdout), done.stdout)
    listener = server.start("iperf3", "-s", "-1")
    until(lambda: re.search(r":5201\b", server("ss", "-tlnH").stdout))
    done = client("iperf3", "-c", server.address, "-u", "-l", 4000, "-b", "2M", "-n", 400_000, "-J")
    listener.wait(PATIENCE_S)
    lost = re.findall(r'"lost_packets":\s*(\d+)', done.stdout)
    check("iperf3 loses no datagram of three fragments", done.returncode == 0 and lost and lost[-1] == "0", done.stdout[-600:])


def ethernet(work, hosts):
    """MTU 1500: what is longer comes in fragments, which the switch must get as they were sent."""
    switch = Switch(work, "ethernet", 1518, *(af_packet(i, host, SMALL_RING) for i, host in enumerate(hosts)))
    client, server = hosts
    arrives("MTU 1500", client, server.address, [28, 46, 47, 100])
    arrives("MTU 1500", client, server.address, (*around(1500), *around(2048 - SLOT - ETHERNET), *around(2980), 9000, 60000))
    arrives("MTU 1500, no fragments", client, server.address, around(1500)[:2], "-M", "do")
    arrives("MTU 1500, no fragments", client, server.address, [1501], "-M", "do", wanted=False)
    other_programs(client, server)
    # Not what the kernel's ring lost while the switch had no CPU.
    check_equal("MTU 1500: nothing was dropped", switch.ends() - {"device_missed"}, set())


def cut(work, hosts):
    """The MTU grows while the switch runs: frames that no longer fit are dropped under a name, never forwarded cut."""
    switch = Switch(work, "cut", 9238, *(af_packet(i, host, SMALL_RING) for i, host in enumerate(hosts)))
    for host in hosts:
        host.must("ip", "link", "set", host.device, "mtu", 9000, outside=True)
        host.must("ip", "link", "set", "eth0", "mtu", 9000)
    client, server = hosts
    whole = 2048 - SLOT - ETHERNET
    # The switch sees the MTU when it looks at the link; until then it is device_mtu.
    until(lambda: client.ping(server.address, "-s", whole - IPV4 - ICMP, "-M", "do", count=1)[0] == 1)
    arrives("framesz 2048", client, server.address, (whole - 1, whole), "-M", "do")
    check("framesz 2048: none was cut", "device_cut" not in switch.drops(0), switch.drops(0))
    arrives("framesz 2048", client, server.address, (whole + 1, whole + 2, 4000, 9000), "-M", "do", "-W", 1, wanted=False)
    check_equal("framesz 2048: each frame that was cut has its name", switch.drops(0).get("device_cut"), 4)
    check_equal("framesz 2048: and nothing else was dropped", switch.ends() - {"device_missed", "device_mtu"}, {"device_cut"})


def mixed(work, hosts):
    """A sender with MTU 9000 before a port with 1500: the kernel there would drop long frames, and count none."""
    client, server = hosts
    for host, mtu in ((client, 9000), (server, 1500)):
        host.must("ip", "link", "set", host.device, "mtu", mtu, outside=True)
        host.must("ip", "link", "set", "eth0", "mtu", mtu)
    switch = Switch(work, "mixed", 9018, *(af_packet(i, host, ring) for i, (host, ring) in enumerate(
        zip(hosts, (JUMBO_RING, SMALL_RING)))))
    check("MTU 9000 to 1500: a warning at the start", "has an MTU of 1500" in switch.err(), switch.err())
    arrives("MTU 9000 to 1500", client, server.address, (1499, 1500), "-M", "do")
    arrives("MTU 9000 to 1500", client, server.address, (1501, 1505, 2100, 9000), "-M", "do", "-W", 1, wanted=False)
    check_equal("MTU 9000 to 1500: each drop has its name", switch.drops(1), {"device_mtu": 4})
    check_equal("MTU 9000 to 1500: and nothing else was dropped", switch.ends() - {"device_missed"}, {"device_mtu"})
    for host in hosts:
        host.must("ip", "link", "set", host.device, "mtu", 9000, outside=True)
        host.must("ip", "link", "set", "eth0", "mtu", 9000)


def captures(work):
    """net_pcap: what fits max_frame_bytes leaves as it came; one byte more is oversize, as a name for each says."""
    most = 9018 - 4
    sizes = [60, 61, 1513, 1514, 1515, 2047, 2048, 2049, 2176, 9000, most - 1, most, most + 1, most + 2, 12000]
    frames = [bytes.fromhex("02000000009902000000000188b5") + bytes(i % 251 for i in range(size - ETHERNET)) for size in sizes]
    write_pcap(work / "sizes.pcap", frames)
    devices = (f"net_pcap0,rx_pcap={work}/sizes.pcap,tx_pcap={work}/none.pcap",
               f"net_pcap1,rx_pcap={work}/empty.pcap,tx_pcap={work}/out.pcap")
    write_pcap(work / "empty.pcap", [])
    switch = Switch(work, "captures", 9018, *devices)
    switch.wait_until("all frames are read", lambda: switch.ctl.json("show interfaces 0")["rx_packets"] == len(frames))
    check_equal("captures: longer ones are oversize", switch.drops(0), {"oversize": sum(size > most for size in sizes)})
    check_equal("captures: nothing else was dropped", switch.ends(), {"oversize"})
    check("captures: the others leave as they came", read_pcap(work / "out.pcap") == [f for f in frames if len(f) <= most])


def refused(work, what, hosts, ring, *expected):
    done = Program(work, "switch", what, config(2, 9018), eal(
        prefix(what), *(af_packet(i, host, ring) for i, host in enumerate(hosts))))
    code = done.wait_end()
    lines = [line for line in done.err().splitlines() if "warning" not in line]
    check(f"{what}: refused in one line", code == 2 and len(lines) == 1 and all(e in lines[0] for e in expected), (code, done.err()))


def jumbo(work, hosts):
    """Slots of the programs' own choice, over two switches and net_memif between them."""
    joint = [memif(role, 0, work) for role in ("server", "client")]
    switches = [Switch(work, f"jumbo{i}", 9018, af_packet(0, host), joint[i]) for i, host in enumerate(hosts)]
    for switch in switches:
        switch.wait_until("the joint is up", lambda s=switch: s.ctl.json("show interfaces 1")["link"] == "up")
    client, server = hosts
    limits = [around(n) for n in (1500, 2048 - ETHERNET, 4096 - ETHERNET, 9000 - 1)]
    arrives("MTU 9000", client, server.address, sorted(size for limit in limits for size in limit), "-M", "do")
    arrives("MTU 9000, in fragments", client, server.address, (9001, 20000, 60000))
    for switch in switches:
        check_equal("MTU 9000: nothing was dropped", switch.ends() - {"device_missed"}, set())


def small(work, hosts):
    """Frames of the usual size on interfaces with MTU 9000, in slots of the program's choice, and in those for jumbo frames: mbufs follow the slots."""
    client, server = hosts
    for what, rings in (("own slots", ((), ())), ("jumbo slots", ((JUMBO_RING,), (JUMBO_RING,))), ("mixed slots", ((), (JUMBO_RING,)))):
        switch = Switch(work, what.replace(" ", "-"), 1518, *(af_packet(i, host, *ring) for i, (host, ring) in enumerate(zip(hosts, rings))))
        arrives(what, client, server.address, (100, 1499, 1500), "-M", "do")
        arrives(what, client, server.address, (1501, 3000, 9000), "-M", "do", "-W", 1, wanted=False)
        check_equal(f"{what}: each drop has its name", sum(n for name, n in switch.drops(0).items() if name in ("oversize", "device_cut")), 3)
        check_equal(f"{what}: and nothing else was dropped", switch.ends() - {"device_missed", "oversize", "device_cut"}, set())


def main():
    need("ip", "ethtool", "sysctl", "ping", "arping", "tracepath", "iperf3", "ss")
    work = work_dir()
    captures(work)
    hosts = [Host(i, f"10.79.0.{i + 1}", f"02:00:00:00:00:0{i + 1}") for i in range(2)]
    ethernet(work, hosts)
    cut(work, hosts)
    refused(work, "framesz", hosts, SMALL_RING, "framesz = 2048", "framesz=9216,blocksz=36864", "MTU of 9000")
    refused(work, "qpairs", hosts, SMALL_RING + ",qpairs=2", "qpairs = 2: expected 1")
    refused(work, "blocksz", hosts, "blocksz=16384,framesz=9216,framecnt=128", "blocksz = 16384", "framesz = 9216")
    refused(work, "most", hosts, "blocksz=65536,framesz=32768,framecnt=64", "framesz = 32768: expected at most 16384")
    jumbo(work, hosts)
    small(work, hosts)
    mixed(work, hosts)
    finish()


main()
