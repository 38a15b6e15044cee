#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Linux kernel as the hosts of two subnets, routed by quench-switch: ARP, ND, echo, TTL, TCP, both IP versions.

The kernels are the judges: they resolve the router, drop what has a wrong checksum, and see how many hops are left.
"""
import json

from harness import PATIENCE_S, Program, check, check_equal, check_ledger, eal, finish, until, work_dir
from namespaces import Host, need

ROUTER_MAC = "02:5a:00:00:00:fe"
CONFIG = f"""
[switch]
buffer_bytes = 4MB
max_frame_bytes = 1600
vlan_filtering = on

[router]
router_mac = {ROUTER_MAC}
neigh_retrans_time_ns = 100ms

[interface vlan 10]
ip = 10.78.1.254/24
ip6 = fd78:1::fe/64

[interface port 1]
ip = 10.78.2.254/24
ip6 = fd78:2::fe/64

[port]
link_speed_bps = 1G

[port 0]
mac = 02:5a:00:00:00:00
access_vlan = 10

[port 1]
mac = 02:5a:00:00:00:01
"""
TRANSFER = 20_000_000


def make_host(number, subnet):
    host = Host(number, f"10.78.{subnet}.1", f"02:00:00:00:00:0{subnet}")
    host.must("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0")
    host.must("sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=0")
    host.must("ip", "address", "add", f"fd78:{subnet}::1/64", "dev", "eth0", "nodad")
    host.must("ip", "route", "add", "default", "via", f"10.78.{subnet}.254")
    host.must("ip", "-6", "route", "add", "default", "via", f"fd78:{subnet}::fe")
    host.address6 = f"fd78:{subnet}::1"
    return host


def check_ping(what, host, to, *options, wanted=5, count=5):
    received, said = host.ping(to, *options, count=count)
    check(what, received == wanted, said)
    return said


def main():
    need("ip", "ethtool", "iperf3", "ping", "sysctl")
    work = work_dir()
    client, server = make_host(0, 1), make_host(1, 2)
    switch = Program(work, "switch", "switch", CONFIG, eal(
        *(f"net_af_packet{i},iface={host.device},blocksz=4096,framesz=2048,framecnt=512,qdisc_bypass=1"
          for i, host in enumerate((client, server)))), "--idle-sleep", 50)
    switch.wait_started()

    for gateway in ("10.78.1.254", "fd78:1::fe", "10.78.2.254", "fd78:2::fe"):
        check_ping(f"the router answers at {gateway}", client, gateway)
    # The router has to ask for the server first, and drops what comes meanwhile: however long the answer takes here.
    for to in (server.address, server.address6):
        # ping waits a second for its last request only if none before it was answered.
        until(lambda to=to: client("ping", "-c", 2, "-i", 0.2, "-W", 1, to).returncode == 0)
        out = check_ping(f"{to} is reached through the router", client, to)
        check("a hop less came back", "ttl=63" in out, out)
        check_ping("long packets are routed whole", client, to, "-s", 1400)
        out = check_ping("with one hop nobody gets there", client, to, "-t", 1, "-W", 0.3, wanted=0, count=2)
        own, words = ("10.78.1.254", "Time to live exceeded") if "." in to else ("fd78:1::fe", "Time exceeded: Hop limit")
        check("and the router says so", f"From {own} icmp_seq=1 {words}" in out, out)
        check_ping("with two the server is reached", client, to, "-t", 2)
    neighbours = client.must("ip", "neighbour", "show", "dev", "eth0")
    for gateway in ("10.78.1.254", "fd78:1::fe"):
        check(f"the kernel has resolved {gateway}", any(line.startswith(gateway + " ") and ROUTER_MAC in line
              for line in neighbours.splitlines()), neighbours)

    for version, to in (("-4", server.address), ("-6", server.address6)):
        listener = server.start("iperf3", "-s", "-1")
        until(lambda: ":5201" in server("ss", "-tlnH").stdout)
        transfer = client("iperf3", version, "-c", to, "-n", TRANSFER, "-J")
        listener.wait(PATIENCE_S)
        check_equal(f"iperf3 {version}", transfer.returncode, 0)
        check("iperf3 sent everything", json.loads(transfer.stdout)["end"]["sum_sent"]["bytes"] >= TRANSFER)

    check_equal("exit code after SIGTERM", switch.stop(), 0)
    result = switch.json()
    router = result["router"]
    print(f"# {router}")
    check("both servers were asked for", router["neigh_requests_sent"] >= 2)
    check("questions were answered", router["neigh_requests_answered"] >= 2)
    check_equal("echo requests to the router", router["echo_requests_answered"], 20)
    check("all that TCP sent was routed", router["routed_packets"] > 2 * TRANSFER / 1500)
    drops = {reason: sum(port["drops"][reason] for port in result["ports"]) for reason in result["ports"][0]["drops"]}
    check_equal("drops for want of hops", drops["ttl"], 4)
    check("while the router asked, and no more, frames were dropped", 2 <= drops["unresolved_next_hop"] <= 12, drops)
    check_equal("malformed frames", drops["malformed"], 0)
    check_ledger("switch", result)
    finish()


main()
