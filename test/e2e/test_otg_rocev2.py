#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""RoCEv2 as suites configure it: flows named as their QPs, without rx_endpoint, with SEND with immediate, long retries and packets of sizes of
their own; neighbours before any flow; links that go down and come up while flows send.

Over net_memif, whose link ends with its quench-nic, and over net_af_packet on a veth pair, whose interface goes down.
"""
import atexit
import os

from configs import memif
from harness import check, check_equal, finish, work_dir
from namespaces import need, privileged
from otg_bed import Otg, device

VERBS = ("send_with_immediate", "write_with_immediate", "read")
GATEWAY = "10.0.0.254"


def configuration(flows=True):
    """Device 2 only receives: it has an interface for RoCEv2, and neither QPs nor the sender's address."""
    qps = [(f"qp {verb}", 33 + n, {"dscp": 26, "ecn": "ect_0"}) for n, verb in enumerate(VERBS)]
    devices = [device(1, "tx", {2: qps}, mtu=9100), device(2, "rx", {1: []}, mtu=9100)]
    for one in devices:
        one["rocev2"]["ipv4_interfaces"][0]["ib_mtu"] = 1500
    devices[1]["rocev2"]["ipv4_interfaces"][0]["peers"][0]["destination_ip_address"] = "0.0.0.0"
    rocev2 = {"connection_type": {"reliable_connection": {"retransmission_timeout_value": 60, "retransmission_retry_count": 254}}}
    config = {
        "ports": [{"name": "tx", "location": "a"}, {"name": "rx", "location": "b"}], "devices": devices,
        "options": {"per_port_options": [{"port_name": name, "protocols": [{"choice": "rocev2", "rocev2": rocev2}]} for name in ("tx", "rx")]}}
    if flows:
        config["stateful_flows"] = {"rocev2": [{"tx_ports": [{"port_name": "tx", "transmit_type": {"target_line_rate": {"value": 10, "flows": [
            {"name": f"qp {verb}", "tx_endpoint": f"qp {verb}", "message_size": 16, "message_size_unit": "kb", "rocev2_verb": {"choice": verb, **(
                {verb: {"immediate_data": "bb"}} if "immediate" in verb else {})}} for verb in VERBS]}}}]}]}
    return config


def neighbours(otg):
    rows = otg.good("POST", "/monitor/states", {"choice": "ipv4_neighbors"})["ipv4_neighbors"]
    return sorted((row["ethernet_name"], row["ipv4_address"], row.get("link_layer_address", "")) for row in rows)


def control(otg, choice, what, **request):
    otg.good("POST", "/control/state", {"choice": choice, choice: {"choice": what, what: request}})


def completed(otg):
    return [row["message_complete_rx"] for row in otg.metrics("rocev2_flow")]


def go_on(otg, what):
    """Messages of each flow are complete that were not when this was called."""
    before = completed(otg)
    otg.wait(what, lambda: all(now > then for now, then in zip(completed(otg), before)))


def link(otg, state, *ports):
    control(otg, "port", "link", state=state, port_names=list(ports))


def links(otg):
    return [row["link"] for row in otg.metrics("port")]


def check_neighbours(otg):
    """As a suite waits for ARP: with devices that are each other's gateways, and no flow."""
    config = configuration(flows=False)
    for n, one in enumerate(config["devices"]):
        del one["rocev2"]
        one["ethernets"][0]["ipv4_addresses"][0]["gateway"] = f"10.0.0.{2 - n}"
    otg.set_config(config)
    found = [("host1.eth", "10.0.0.2", "02:00:00:00:00:02"), ("host2.eth", "10.0.0.1", "02:00:00:00:00:01")]
    otg.wait("neighbours without flows", lambda: neighbours(otg) == found)
    control(otg, "protocol", "all", state="stop")
    check_equal("protocols that are stopped have no neighbours", [mac for _, _, mac in neighbours(otg)], ["", ""])
    control(otg, "protocol", "all", state="start")
    otg.wait("neighbours again", lambda: neighbours(otg) == found)


def check_flows(otg):
    warnings = otg.set_config(configuration())["warnings"]
    check("set_config names the size of packets", len(warnings) == 2 and all("ib_mtu: 1500: packets carry 1024 bytes" in line for line in warnings), warnings)
    control(otg, "traffic", "flow_transmit", state="start")
    otg.wait("messages of all flows", lambda: all(count > 10 for count in completed(otg)))
    otg.wait("neighbours of flows", lambda: neighbours(otg) == [
        ("host1.eth", "10.0.0.2", "02:00:00:00:00:02"), ("host1.eth", GATEWAY, ""), ("host2.eth", GATEWAY, "")])
    for row in otg.metrics("rocev2_flow"):
        check(f"{row['flow_name']}: round trips", 0 < row["min_latency"] <= row["avg_latency"] <= row["max_latency"], row)
        check_equal(f"{row['flow_name']}: QPs, and failures", (row["src_qp"], row["dest_qp"], row["message_fail"]), (row["src_qp"], row["src_qp"], 0))


def check_links(otg, other):
    """other: what the link of the other end is meanwhile"""
    for port, state in (("tx", ["down", other]), ("rx", [other, "down"])):
        link(otg, "down", port)
        otg.wait(f"{port}: both links", lambda wanted=state: links(otg) == wanted)
        link(otg, "up", port)
        otg.wait(f"{port}: links up", lambda: links(otg) == ["up", "up"])
        go_on(otg, f"{port}: flows after its link was down")
        check_equal(f"{port}: no QP gave up", [(row["qp_down"], row["qp_up"]) for row in otg.metrics("rocev2_ipv4")], [(0, 3)] * 2)


def memif_wire(work):
    (work / "memif").mkdir()
    otg = Otg(work / "memif", {"a": memif("client", 0, work), "b": memif("server", 0, work)})
    check_neighbours(otg)
    check_flows(otg)
    check_links(otg, "down")
    check_equal("quench-otg ends well", otg.stop(), 0)


def veth_pair(work):
    (work / "veth").mkdir()
    ends = [f"qr{os.getpid() % 10**6}{end}" for end in "ab"]
    privileged("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
    for end in ends:  # else set_config warns of it
        privileged("ethtool", "-K", end, "tx", "off", "tso", "off", "gso", "off")
    atexit.register(privileged, "ip", "link", "delete", ends[0])
    for end in ends:
        privileged("ip", "link", "set", end, "up")
    otg = Otg(work / "veth", {name: f"net_af_packet{n},iface={end}" for n, (name, end) in enumerate(zip("ab", ends))})
    check_flows(otg)
    check_links(otg, "down")
    check_equal("quench-otg ends well", otg.stop(), 0)


def main():
    need("ip", "ethtool")
    work = work_dir()
    memif_wire(work)
    veth_pair(work)
    finish()


main()
