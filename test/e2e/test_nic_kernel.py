#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-nic and the Linux kernel as neighbours, and scapy as the judge of what is answered.

The kernel resolves us and pings us over IPv4 and IPv6; we resolve it, knowing its addresses only, and when it moves
to another MAC address we follow. Then a capture with scapy's questions goes in, and its answers are taken apart.
"""
import re
import time
import warnings

import desk
from ctl import Ctl
from frames import read_pcap, write_pcap
from harness import PATIENCE_S, Program, check, check_equal, eal, finish, until, work_dir
from namespaces import Host, need

warnings.filterwarnings("ignore")
from scapy.all import (ARP, ICMP, UDP, Dot1Q, Ether, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6ND_NA,  # noqa: E402
                       ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, IP, IPv6, Raw, raw)

MAC, IP4, IP6 = "02:00:00:00:00:01", "10.79.0.1", "fd79::1"
PEER_MAC, PEER4, PEER6, MOVED_MAC = "02:00:00:00:00:02", "10.79.0.2", "fd79::2", "02:00:00:00:00:22"


def flow(name, ip, more=""):
    return f"[flow {name}]\npeer_ip = {ip}\npeer_qpn = 17\nmessage_bytes = 1KB\nmessages = 1\n{more}"


def config(*flows):
    return f"""
[nic]
mac = {MAC}
ip = {IP4}
ip6 = {IP6}
link_speed_bps = 1G
local_ack_timeout = 16
retry_cnt = 0
neigh_retrans_time_ns = 200ms
neigh_reachable_time_ns = 300ms
""" + "".join(flows)


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            return check(what, False, "waited in vain")
        time.sleep(0.05)
    return check(what, True)


def with_the_kernel(work):
    host = Host(0, PEER4, PEER_MAC)
    host.must("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0", "net.ipv6.conf.eth0.disable_ipv6=0",
              "net.ipv6.conf.eth0.accept_dad=0")
    host.must("ip", "address", "add", PEER6 + "/64", "dev", "eth0", "nodad")
    before = host.counters()
    file_prefix = desk.prefix("nic")
    nic = Program(work, "nic", "nic", config(flow("v4", PEER4), flow("v6", PEER6)),
                  desk.eal(file_prefix, f"net_af_packet0,iface={host.device}"), "--idle-sleep", 50, "--stay")
    nic.wait_started()
    ctl = Ctl(work, "-f", file_prefix)
    # The kernel has no RoCE: our WRITEs reach its UDP, which has no such port. So our answers were right.
    wait_for("our frames reach the kernel's UDP over IPv4", lambda: host.counters()["UdpNoPorts"] > before["UdpNoPorts"])
    wait_for("and over IPv6", lambda: host.counters().get("Udp6NoPorts", 0) > before.get("Udp6NoPorts", 0))
    for version, address in ((4, IP4), (6, IP6)):
        received, said = host.ping(address, f"-{version}")
        check(f"the kernel pings us over IPv{version}", received == 5, said)
        received, said = host.ping(address, f"-{version}", "-s", 1400, count=2)
        check(f"with long frames over IPv{version}", received == 2, said)
        known = host.must("ip", f"-{version}", "neigh", "show", address)
        check(f"and has our MAC address, IPv{version}", MAC in known, known)
    # The host gets another card. Neither side tells the other; our questions find out.
    host.must("ip", "link", "set", "eth0", "arp", "off")
    host.must("ip", "link", "set", "eth0", "address", MOVED_MAC)
    host.must("ip", "link", "set", "eth0", "arp", "on")
    # Several times the time that an answer holds: three lost probes of the old address, then all are asked.
    until(lambda: "1 received" in host("ping", "-c", 1, "-W", 1, IP4).stdout)
    wait_for("a new address was noticed", lambda: ctl.json("show counters")["neigh_changed"] >= 1)
    # The kernel has no RoCE and answers no WRITE: our QPs have given up.
    check_equal("exit code", nic.stop(), 1)
    c = nic.json()["counters"]
    print("#", {k: n for k, n in c.items() if n})
    check_equal("peers whose address was learnt", c["neigh_learnt"], 2)
    check("the host's own messages with it made us ask the old one first", c["neigh_contested"] >= 1, c["neigh_contested"])
    check("peers were asked again", c["neigh_requests_sent"] > 2)
    check("questions were answered", c["neigh_requests_answered"] >= 1)
    check("echo requests were answered", c["echo_requests_answered"] >= 14)
    check_equal("malformed neighbour messages", c["drop_neigh_malformed"], 0)


def with_scapy(work):
    asked = [
        Ether(src=PEER_MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=PEER_MAC, psrc=PEER4, pdst=IP4),
        Ether(src=PEER_MAC, dst="ff:ff:ff:ff:ff:ff") / Dot1Q(vlan=9, prio=5) /
        ARP(op=1, hwsrc=PEER_MAC, psrc="0.0.0.0", pdst=IP4),
        Ether(src=PEER_MAC, dst="33:33:ff:00:00:01") / IPv6(src=PEER6, dst="ff02::1:ff00:1", hlim=255) /
        ICMPv6ND_NS(tgt=IP6) / ICMPv6NDOptSrcLLAddr(lladdr=PEER_MAC),
        Ether(src=PEER_MAC, dst="33:33:ff:00:00:01") / IPv6(src="::", dst="ff02::1:ff00:1", hlim=255) /
        ICMPv6ND_NS(tgt=IP6),
        Ether(src=PEER_MAC, dst=MAC) / IP(src=PEER4, dst=IP4, ttl=3) / ICMP(id=7, seq=8) / Raw(b"0123456789" * 5),
        Ether(src=PEER_MAC, dst=MAC) / IPv6(src=PEER6, dst=IP6, hlim=3) /
        ICMPv6EchoRequest(id=7, seq=9, data=b"odd number of bytes"),
        # none of these: another's address, a router's hop, a spoilt checksum
        Ether(src=PEER_MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=PEER_MAC, psrc=PEER4, pdst="10.79.0.3"),
        Ether(src=PEER_MAC, dst="33:33:ff:00:00:01") / IPv6(src=PEER6, dst="ff02::1:ff00:1", hlim=254) /
        ICMPv6ND_NS(tgt=IP6) / ICMPv6NDOptSrcLLAddr(lladdr=PEER_MAC),
        Ether(src=PEER_MAC, dst=MAC) / IP(src=PEER4, dst=IP4) / ICMP(id=7, seq=8, chksum=1) / Raw(b"0123456789" * 5),
    ]
    write_pcap(work / "asked.pcap", [raw(p) for p in asked])
    nic = Program(work, "nic", "judged", config(flow("v4", PEER4, "requester = off\n"), flow("v6", PEER6, "requester = off\n"),
                                                flow("far", "10.79.0.99", "tagged = on\nvlan_id = 9\n")),
                  eal(f"net_pcap0,rx_pcap={work}/asked.pcap,tx_pcap={work}/out.pcap"), "--idle-sleep", 50,
                  "--duration", 0.5)
    check_equal("exit code with a capture", nic.wait_end(), 0)
    out = [Ether(f) for f in read_pcap(work / "out.pcap")]
    # scapy computes what is deleted: the same bytes mean that lengths and checksums are right.
    for p in out:
        fresh = p.copy()
        for layer, fields in ((IP, ("len", "chksum")), (ICMP, ("chksum",)), (IPv6, ("plen",)), (UDP, ("len", "chksum")),
                              (ICMPv6ND_NS, ("cksum",)), (ICMPv6ND_NA, ("cksum",)), (ICMPv6EchoReply, ("cksum",))):
            if layer in fresh:
                for field in fields:
                    setattr(fresh[layer], field, None)
        check(f"scapy builds the same bytes: {p.summary()}", raw(fresh) == raw(p))
    check("frames are long enough", all(len(p) >= 60 for p in out))
    check("all are from our MAC address", all(p.src == MAC for p in out))
    replies = [p for p in out if ARP in p and p[ARP].op == 2]
    check_equal("ARP replies", [(p.dst, p[ARP].hwsrc, p[ARP].psrc, p[ARP].hwdst, p[ARP].pdst) for p in replies],
                [(PEER_MAC, MAC, IP4, PEER_MAC, PEER4), (PEER_MAC, MAC, IP4, PEER_MAC, "0.0.0.0")])
    check_equal("the second on its VLAN", [Dot1Q in p and p[Dot1Q].vlan for p in replies], [False, 9])
    adverts = [p for p in out if ICMPv6ND_NA in p]
    check_equal("advertisements", [(p.dst, p[IPv6].src, p[IPv6].dst, p[IPv6].hlim, p[ICMPv6ND_NA].tgt, p[ICMPv6ND_NA].S,
                                    p[ICMPv6ND_NA].O, p[ICMPv6NDOptDstLLAddr].lladdr) for p in adverts],
                [(PEER_MAC, IP6, PEER6, 255, IP6, 1, 1, MAC), ("33:33:00:00:00:01", IP6, "ff02::1", 255, IP6, 0, 1, MAC)])
    pongs = [p for p in out if ICMP in p]
    check_equal("echo replies", [(p.dst, p[IP].src, p[IP].dst, p[ICMP].type, p[ICMP].id, p[ICMP].seq, raw(p[Raw]))
                                 for p in pongs], [(PEER_MAC, IP4, PEER4, 0, 7, 8, b"0123456789" * 5)])
    pongs = [p for p in out if ICMPv6EchoReply in p]
    check_equal("IPv6 echo replies", [(p.dst, p[IPv6].src, p[IPv6].dst, p[ICMPv6EchoReply].seq, p[ICMPv6EchoReply].data)
                                      for p in pongs], [(PEER_MAC, IP6, PEER6, 9, b"odd number of bytes")])
    asks = [p for p in out if ARP in p and p[ARP].op == 1]
    far = [p for p in asks if p[ARP].pdst == "10.79.0.99"]
    check("we ask for a peer on its VLAN, of all", far and all(
        p.dst == "ff:ff:ff:ff:ff:ff" and p[Dot1Q].vlan == 9 and p[ARP].hwsrc == MAC and p[ARP].psrc == IP4 for p in far))
    solicitations = [p for p in out if ICMPv6ND_NS in p]
    check("and for one over IPv6, of it or its group", solicitations and all(
        p[ICMPv6ND_NS].tgt == PEER6 and p[ICMPv6NDOptSrcLLAddr].lladdr == MAC and
        (p.dst, p[IPv6].dst) in ((PEER_MAC, PEER6), ("33:33:ff:00:00:02", "ff02::1:ff00:2")) for p in solicitations))
    check("no data leaves without an address", not any(UDP in p for p in out))
    check("the peers that asked are known, the other is said to be missing",
          re.search(r"1 of 3 peers.* unknown", nic.err()), nic.err())


def main():
    need("ip", "ethtool", "nstat", "ping", "sysctl")
    work = work_dir()
    with_scapy(work)
    with_the_kernel(work)
    finish()


main()
