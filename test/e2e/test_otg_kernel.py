#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg on interfaces of the kernel: jumbo frames, an MTU that does not fit, and frames that the interface refuses."""
import atexit
import os

from harness import check, check_equal, finish, work_dir
from namespaces import need, privileged
from otg_bed import Otg, device, flow, raw_flow, tx_port, value

ENDS = [f"qk{os.getpid() % 10**6}{end}" for end in "ab"]
PORTS = [{"name": "p", "location": "a"}, {"name": "q", "location": "b"}]
FRAMES = 40  # all flows of a configuration fit into a ring: what a program without CPU cannot read waits there
HEADERS = [("ethernet", {"dst": value("02:00:00:00:00:02"), "src": value("02:00:00:00:00:01")}), ("ipv4", {}), ("udp", {})]


def veth_pair():
    privileged("ip", "link", "add", ENDS[0], "type", "veth", "peer", "name", ENDS[1])
    atexit.register(privileged, "ip", "link", "delete", ENDS[0])
    for end in ENDS:
        privileged("ethtool", "-K", end, "tx", "off", "tso", "off", "gso", "off", "gro", "off")
        privileged("sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1")
        privileged("ip", "link", "set", end, "up")


def set_mtu(mtu):
    for end in ENDS:
        privileged("ip", "link", "set", end, "mtu", mtu)


def raw(size, frames=FRAMES):
    return {**raw_flow(f"{size}", "p", *HEADERS, rx="q", size=size, rate={"choice": "pps", "pps": 1000},
                       duration={"choice": "fixed_packets", "fixed_packets": {"packets": frames}}), "metrics": {"enable": True, "loss": True}}


def start(work, ring=""):
    return Otg(work, {name: f"net_af_packet{n},iface={end}{ring}" for n, (name, end) in enumerate(zip("ab", ENDS))})


def check_jumbo(ring):
    """Configurations of small and of jumbo frames, one after the other, with the same ports."""
    otg = start(work_dir(), ring)
    for sizes in ([64], [64, 1518, 9000], [1518]):
        check_equal(f"{sizes}: set_config warns of nothing", otg.set_config({"ports": PORTS, "flows": [raw(size) for size in sizes]}), {"warnings": []})
        otg.traffic("start")
        otg.wait(f"the arrival of {sizes}", lambda n=len(sizes): [row["frames_rx"] for row in otg.metrics("flow")] == [FRAMES] * n)
        check_equal(f"{sizes}: whole", [(row["bytes_rx"], row["loss"]) for row in otg.metrics("flow")], [(size * FRAMES, 0) for size in sizes])
    check_equal("quench-otg ends well", otg.stop(), 0)


def check_mtu(otg):
    """What the interface does not take is refused by name; what it may not take, the reply says."""
    status, reply = otg.ask("POST", "/config", {"ports": PORTS, "flows": [raw(1518), raw(9000)]})
    check("a raw flow above the MTU is refused", (status, reply["errors"]) == (400, [
        f"flows[1].size: 9000 bytes: expected at most 1518, by the MTU of {ENDS[0]}, the interface of port 'p'"]), (status, reply))
    devices = [device(n + 1, name, {2 - n: [(f"qp{n}", 33, {})]}, mtu=9000) for n, name in enumerate("pq")]
    for one in devices:
        one["rocev2"]["ipv4_interfaces"][0]["ib_mtu"] = 4096
    warnings = otg.set_config({"ports": PORTS, "devices": devices, "stateful_flows": {"rocev2": [{"tx_ports": [tx_port("p", [flow("f", "qp0", "qp1")])]}]}})["warnings"]
    for name, end in zip("ab", ENDS):
        check(f"port {name}: the reply has the warning of its quench-nic", any(
            line.startswith(f"port {name}: ") and f"{end} has an MTU of 1500" in line for line in warnings), warnings)


def check_refused_frames(otg):
    """An interface that is down takes frames, and does not send them: they are no frames of the port."""
    otg.set_config({"ports": PORTS, "flows": [raw(1000)]})
    otg.traffic("start")
    otg.wait("all frames", lambda: otg.raw("1000")["frames_rx"] == FRAMES)
    check_equal("sent and received", [(row["frames_tx"], row["frames_rx"]) for row in otg.metrics("port")], [(FRAMES, 0), (0, FRAMES)])
    privileged("ip", "link", "set", ENDS[0], "down")
    otg.traffic("start")
    # Until the port sees that its link is down, the interface refuses frames; then the flow waits for the link.
    otg.wait("a flow that ends, or waits for a link", lambda: otg.raw("1000")["transmit"] == "stopped" or otg.metrics("port")[0]["link"] == "down")
    rows = {row["name"]: row for row in otg.metrics("port")}
    check_equal("frames that the interface refused were not sent", (rows["p"]["frames_tx"], rows["p"]["bytes_tx"], rows["q"]["frames_rx"]), (0, 0, 0))
    check_equal("and none arrives", otg.raw("1000")["frames_rx"], 0)
    privileged("ip", "link", "set", ENDS[0], "up")


def main():
    need("ip", "ethtool", "sysctl")
    veth_pair()
    set_mtu(9000)
    check_jumbo("")
    check_jumbo(",framesz=9216,blocksz=36864,framecnt=128")
    set_mtu(1500)
    otg = start(work_dir())
    check_mtu(otg)
    check_refused_frames(otg)
    check_equal("quench-otg ends well", otg.stop(), 0)
    finish()


main()
