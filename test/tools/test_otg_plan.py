#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg's answer to a configuration with many mistakes: a line for each, all at once, and none for what follows from another."""
import copy
import pathlib
import sys
import tempfile
import unittest

import fake  # noqa: F401  finds the tools
from otg import command, plan, schema

LOCATIONS = {name: plan.Location(name) for name in ("a", "b")}


def host(number, port, peer, qpns):
    name = f"host{number}"
    return {"name": name,
            "ethernets": [{"name": f"{name}.eth", "mac": f"02:00:00:00:00:{number:02x}", "connection": {"choice": "port_name", "port_name": port},
                           "ipv4_addresses": [{"name": f"{name}.ip", "address": f"10.0.0.{number}", "gateway": "10.0.0.254"}]}],
            "rocev2": {"ipv4_interfaces": [{"ipv4_name": f"{name}.ip", "ib_mtu": 1024, "peers": [
                {"name": f"{name}-peer", "destination_ip_address": f"10.0.0.{peer}", "qps": [
                    {"qp_name": f"{name}.{n}", "connection_type": {"reliable_connection": {"source_qp_number": n}}} for n in qpns]}]}]}}


def configuration():
    header = {"choice": "ethernet", "ethernet": {name: {"choice": "value", "value": f"02:00:00:00:00:0{n}"} for n, name in ((2, "dst"), (1, "src"))}}
    return {
        "ports": [{"name": "tx", "location": "a"}, {"name": "rx", "location": "b"}],
        "layer1": [{"name": "l1", "port_names": ["tx", "rx"], "speed": "speed_1_gbps"}],
        "captures": [{"name": "c", "port_names": ["rx"]}],
        "devices": [host(1, "tx", 2, (17, 18)), host(2, "rx", 1, (17, 18))],
        "flows": [{"name": f"raw{n}", "tx_rx": {"choice": "port", "port": {"tx_name": "tx", "rx_name": "rx"}}, "packet": [header]} for n in range(2)],
        "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [{"port_name": "tx", "transmit_type": {"target_line_rate": {"flows": [
            {"name": f"f{n}", "tx_endpoint": f"host1.{n}", "rx_endpoint": f"host2.{n}", "rocev2_verb": {"choice": "write"}} for n in (17, 18)]}}}]}]},
        "options": {"protocol_options": {"auto_start_all": True}},
    }


def errors(config, locations=LOCATIONS):
    try:
        plan.plan(config, locations)
    except schema.Refused as refused:
        return refused.errors
    return []


def at(config, path):
    """The object of a path, and the last key."""
    *keys, last = path
    for key in keys:
        config = config[key]
    return config, last


QP = ("rocev2", "ipv4_interfaces", 0, "peers", 0, "qps", 0, "connection_type", "reliable_connection")
ROCE_FLOW = ("stateful_flows", "rocev2", 0, "tx_ports", 0, "transmit_type", "target_line_rate", "flows", 1)
ANYTHING = object()
# One mistake each, in any stage: where, what, and the path of its only line.
MISTAKES = (
    (("ports", 0, "location"), "nowhere", "ports[0].location"),
    (("ports", 0, "location"), 7, "ports[0].location"),
    (("ports", 1, "name"), ANYTHING, "ports[1].name"),
    (("layer1", 0, "speed"), "speed_3_gbps", "layer1[0].speed"),
    (("captures", 0, "packet_size"), 3, "captures[0].packet_size"),
    (("devices", 0, "bgp"), {"router_id": "1.1.1.1"}, "devices[0].bgp"),
    (("devices", 0, "no_such"), 1, "devices[0].no_such"),
    (("devices", 0, "ethernets", 0, "mac"), "x", "devices[0].ethernets[0].mac"),
    (("devices", 0, "ethernets", 0, "mac"), ANYTHING, "devices[0].ethernets[0].mac"),
    (("devices", 0, "ethernets", 0, "connection"), {"lag_name": "l"}, "devices[0].ethernets[0].connection.lag_name"),
    (("devices", 1, "ethernets", 0, "ipv4_addresses", 0, "address"), "10.0.0", "devices[1].ethernets[0].ipv4_addresses[0].address"),
    (("devices", 1, "rocev2", "ipv4_interfaces", 0, "ib_mtu"), "big", "devices[1].rocev2.ipv4_interfaces[0].ib_mtu"),
    (("devices", 1, *QP, "source_qp_number"), 1 << 25, "devices[1].rocev2.ipv4_interfaces[0].peers[0].qps[0].connection_type.reliable_connection.source_qp_number"),
    (("devices", 1, *QP, "dscp"), 64, "devices[1].rocev2.ipv4_interfaces[0].peers[0].qps[0].connection_type.reliable_connection.dscp"),
    (("flows", 0, "rate"), {"choice": "percentage", "percentage": 101}, "flows[0].rate.percentage"),
    (("flows", 0, "tx_rx", "port", "tx_name"), "none", "flows[0].tx_rx.port.tx_name"),
    (("flows", 0, "size"), {"fixed": 63}, "flows[0].size.fixed"),
    ((*ROCE_FLOW, "rx_endpoint"), "none", "stateful_flows.rocev2[0].tx_ports[0].transmit_type.target_line_rate.flows[1].rx_endpoint"),
    ((*ROCE_FLOW, "message_size"), -1, "stateful_flows.rocev2[0].tx_ports[0].transmit_type.target_line_rate.flows[1].message_size"),
    (("stateful_flows", "rocev2", 0, "tx_ports", 0, "port_name"), "none", "stateful_flows.rocev2[0].tx_ports[0].port_name"),
    (("options", "protocol_options", "auto_start_all"), "yes", "options.protocol_options.auto_start_all"),
)


def mistaken(*mistakes):
    config = configuration()
    for path, value, _ in mistakes:
        found, last = at(config, path)
        if value is ANYTHING:
            del found[last]
        else:
            found[last] = copy.deepcopy(value)
    return config


class Mistakes(unittest.TestCase):
    def test_without_a_mistake_there_is_no_line(self):
        self.assertEqual(errors(configuration()), [])

    def test_each_has_one_line(self):
        for mistake in MISTAKES:
            found = errors(mistaken(mistake))
            self.assertEqual([line.split(": ")[0] for line in found], [mistake[2]], found)

    def test_those_of_all_stages_come_at_once(self):
        for of in ((0, 5, 14, 17), (1, 10, 16, 19), (3, 4, 6, 9, 12, 15, 20), (8, 13, 18), (7, 11), (2, 12)):
            chosen = [MISTAKES[n] for n in of]
            found = errors(mistaken(*chosen))
            self.assertEqual(sorted(line.split(": ")[0] for line in found), sorted(path for *_, path in chosen), found)

    def test_a_hundred_are_listed_and_the_rest_is_not_looked_at(self):
        for count in (100, 1 << 20):
            config = {"flows": [{}] * count}
            found = errors(config)
            self.assertEqual((len(found), found[-1]), (101, "more mistakes are not listed"))
        many = configuration()
        many["flows"] = [{**many["flows"][0], "name": f"f{n}", "size": {"fixed": 63}} for n in range(5000)]
        self.assertEqual(len(errors(many)), 101)

    def test_who_refers_to_what_is_refused_makes_no_mistake(self):
        config = configuration()
        config["lags"] = [{"name": "lag", "ports": [{"port_name": "tx"}]}]
        config["flows"][0]["tx_rx"]["port"]["tx_name"] = "lag"
        config["captures"][0]["port_names"] = ["lag"]
        self.assertEqual([line.split(": ")[0] for line in errors(config)], ["lags"])

    def test_numbers_beyond_all_bounds(self):
        config = configuration()
        for value in (float("inf"), float("-inf"), float("nan"), 10**400, -10**400):
            config["flows"][0]["duration"] = {"choice": "fixed_seconds", "fixed_seconds": {"seconds": value}}
            self.assertEqual([line.split(": ")[0] for line in errors(config)], ["flows[0].duration.fixed_seconds.seconds"], value)
            config["flows"][0]["duration"] = {"choice": "fixed_packets", "fixed_packets": {"packets": value}}
            self.assertEqual([line.split(": ")[0] for line in errors(config)], ["flows[0].duration.fixed_packets.packets"], value)


class LatePolls(unittest.TestCase):
    """A port that is polled late catches up: with a burst of two frames, streams lose most of their rate without a word."""

    BURSTS = {"shaper_burst_ns": "2ms", "qp_burst_bytes": "64KB"}

    def bursts(self, device, base):
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
            file.write(base)
            file.flush()
            settings = command.Settings(pathlib.Path("quench-nic"), pathlib.Path("."), "", False, [], [], "", file)
            location = command.outlet("a", {"device": device, "base": file.name}, 0, settings).location
        nic = plan.plan(configuration(), {**LOCATIONS, "a": location}).ports["tx"].sections["nic"]
        return {key: nic.get(key) for key in self.BURSTS}

    def test_bursts_make_up_for_them(self):
        self.assertEqual(self.bursts("net_memif0", ""), self.BURSTS)

    def test_the_base_takes_precedence(self):
        self.assertEqual(self.bursts("net_memif0", "[nic]\nqp_burst_bytes = 2048B\n"), {**self.BURSTS, "qp_burst_bytes": "2048B"})

    def test_a_hardware_nic_has_those_of_quench_nic(self):
        self.assertEqual(self.bursts("0000:01:00.0", ""), {key: None for key in self.BURSTS})


def many_hosts(count, *, named, raws):
    """A device for each end of each flow. named: flows of RoCEv2 name both of their QPs; raws: there are raw flows in place of them"""
    def end(port, n):
        name, ip, peer = f"{port}{n}", *(f"10.{octet}.{n // 250}.{n % 250 + 1}" for octet in ((0, 1) if port == "tx" else (1, 0)))
        return {"name": f"{name}.device",
                "ethernets": [{"name": f"{name}.eth", "mac": f"02:00:00:{'01' if port == 'tx' else '02'}:{n >> 8:02x}:{n & 255:02x}",
                               "connection": {"choice": "port_name", "port_name": port},
                               "ipv4_addresses": [{"name": f"{name}.ip", "address": ip, "gateway": peer, "prefix": 8}]}],
                "rocev2": {"ipv4_interfaces": [] if raws else [{"ipv4_name": f"{name}.ip", "ib_mtu": 1024, "peers": [
                    {"name": f"{name}.peer", "destination_ip_address": peer, "qps": [
                        {"qp_name": name, "connection_type": {"reliable_connection": {"source_qp_number": 100 + n}}}]}]}]}}

    flows = [{"name": f"f{n}", "tx_endpoint": f"tx{n}", **({"rx_endpoint": f"rx{n}"} if named else {})} for n in range(count)]
    made = {**configuration(), "devices": [end(port, n) for port in ("tx", "rx") for n in range(count)], "flows": [], "captures": [], "stateful_flows": {"choice": "rocev2", "rocev2": [
        {"tx_ports": [{"port_name": "tx", "transmit_type": {"target_line_rate": {"flows": flows}}}]}]}}
    if raws:
        made["flows"] = [{"name": f"f{n}", "tx_rx": {"choice": "device", "device": {"tx_names": [f"tx{n}.ip"], "rx_names": [f"rx{n}.ip"]}}} for n in range(count)]
        del made["stateful_flows"]
    return made


def work(config):
    """Steps of the interpreter until it is planned."""
    steps = 0

    def trace(frame, event, _):
        nonlocal steps
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        steps += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        plan.plan(config, LOCATIONS)
    finally:
        sys.settrace(before)
    return steps


class Cost(unittest.TestCase):
    def test_twice_as_many_devices_and_flows_take_twice_as_much_work(self):
        for shape in ({"named": True, "raws": False}, {"named": False, "raws": False}, {"named": False, "raws": True}):
            half, whole = (work(many_hosts(count, **shape)) for count in (100, 200))
            self.assertLess(whole, 2.1 * half, shape)


if __name__ == "__main__":
    unittest.main()
