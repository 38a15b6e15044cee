#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""RoCEv2 of a configuration of the API, as quench-nics get it: ends that are derived, sizes of packets, neighbours and their numbers."""
import ipaddress
import time
import unittest

import fake_otg
from otg import plan, run

LOCATIONS = {name: plan.Location(name, 10**10) for name in "ab"}


def end(number, to, qps=(), mtu=1500, ib_mtu=1024, gateway="10.0.0.254", **interface):
    """Host `number`. qps: numbers; to: address of its peer, None: without a peer"""
    peers = [] if to is None else [{"name": f"peer{number}", "destination_ip_address": to, "qps": [
        {"qp_name": f"qp{number}.{qpn}", "connection_type": {"reliable_connection": {"source_qp_number": qpn}}} for qpn in qps]}]
    return {"name": f"host{number}", "ethernets": [{
        "name": f"eth{number}", "mac": f"02:00:00:00:00:{number:02x}", "mtu": mtu, "connection": {"choice": "port_name", "port_name": "pa" if number == 1 else "pb"},
        "ipv4_addresses": [{"name": f"ip{number}", "address": f"10.0.0.{number}", "gateway": gateway}], **interface}],
        "rocev2": {"ipv4_interfaces": [{"ipv4_name": f"ip{number}", "ib_mtu": ib_mtu, "peers": peers}]}}


def configuration(*devices, flows=(17,), retries=3, verb="write", **flow):
    return {
        "ports": [{"name": "pa", "location": "a"}, {"name": "pb", "location": "b"}], "devices": list(devices),
        "options": {"per_port_options": [{"port_name": "pa", "protocols": [{"choice": "rocev2", "rocev2": {"connection_type": {
            "reliable_connection": {"retransmission_retry_count": retries}}}}]}]},
        "stateful_flows": {"rocev2": [{"tx_ports": [{"port_name": "pa", "transmit_type": {"target_line_rate": {"flows": [
            {"name": f"qp1.{qpn}", "tx_endpoint": f"qp1.{qpn}", "rocev2_verb": {"choice": verb}, **flow} for qpn in flows]}}}]}] if flows else []}}


def planned(config):
    return plan.plan(config, LOCATIONS)


def sections(text):
    """{name: {key: value}}"""
    found = {}
    for line in text.splitlines():
        if line.startswith("["):
            found[line[1:-1]] = last = {}
        elif line:
            key, _, value = line.partition(" = ")
            last[key] = value
    return found


def refusal(config):
    try:
        planned(config)
    except plan.Refused as refused:
        return refused.errors
    return []


class Rocev2(unittest.TestCase):
    def text(self, config, port):
        made = planned(config)
        return sections(made.text_of(made.ports[port]))

    def test_the_receiver_is_at_the_address_of_the_peer(self):
        for name, receiver in (("its QPs", end(2, "10.0.0.1", (40, 41))), ("its QPs, of any peer", end(2, "0.0.0.0", (40, 41))),
                               ("no QPs", end(2, "10.0.0.1")), ("no peer", end(2, None))):
            text = self.text(configuration(end(1, "10.0.0.2", (17, 18)), receiver, flows=(18, 17)), "pb")
            numbers = {flow: (text[f"flow qp1.{flow}.rx"]["local_qpn"], text[f"flow qp1.{flow}.rx"]["peer_qpn"]) for flow in (17, 18)}
            there = name.startswith("its")
            self.assertEqual(numbers, {17: ("40" if there else "17", "17"), 18: ("41" if there else "18", "18")}, name)
            self.assertEqual(text["flow qp1.17.rx"]["peer_ip"], "10.0.0.1", name)

    def test_a_number_that_is_taken_is_not_derived(self):
        receiver = end(2, None)
        receiver["rocev2"]["ipv4_interfaces"][0]["peers"] = [{"name": "other", "destination_ip_address": "10.0.0.9", "qps": [
            {"qp_name": "other.17", "connection_type": {"reliable_connection": {"source_qp_number": 17}}}]}]
        self.assertEqual(self.text(configuration(end(1, "10.0.0.2", (17,)), receiver), "pb")["flow qp1.17.rx"]["local_qpn"], "18")

    def test_where_both_ends_of_a_pair_send_each_flow_has_an_end_of_its_own(self):
        config = configuration(end(1, "10.0.0.2", (17,)), end(2, "10.0.0.1", (17,)))
        config["stateful_flows"]["rocev2"].append({"tx_ports": [{"port_name": "pb", "transmit_type": {"target_line_rate": {"flows": [
            {"name": "qp2.17", "tx_endpoint": "qp2.17", "rocev2_verb": {"choice": "write"}}]}}}]})
        for port, sends, answers in (("pa", "qp1.17", "qp2.17.rx"), ("pb", "qp2.17", "qp1.17.rx")):
            text = self.text(config, port)
            self.assertEqual([text[f"flow {name}"].get(key) for name in (sends, answers) for key in ("local_qpn", "peer_qpn", "requester")],
                             ["17", "18", None, "18", "17", "off"], port)

    def test_who_only_receives_sends_nothing(self):
        config = configuration(end(1, "10.0.0.2", (17,)), end(2, "0.0.0.0", (40,)))
        config["stateful_flows"]["rocev2"].append({"tx_ports": [{"port_name": "pb", "transmit_type": {"target_line_rate": {"flows": [
            {"name": "qp2.40", "tx_endpoint": "qp2.40", "rocev2_verb": {"choice": "write"}}]}}}]})
        made = planned(config)
        self.assertEqual(list(made.flows), ["qp1.17"])
        self.assertRegex(made.warnings[0], r"flow 'qp2\.40' sends nothing: the peer of 'qp2\.40' is at 0\.0\.0\.0")
        self.assertEqual(self.text(config, "pb")["flow qp1.17.rx"]["local_qpn"], "40")

    def test_a_port_may_be_the_receiver(self):
        config = configuration(end(1, "10.0.0.2", (17,)), end(2, None), rx_endpoint="pb")
        self.assertIn("flow qp1.17.rx", self.text(config, "pb"))
        errors = refusal(configuration(end(1, "10.0.0.2", (17,)), end(2, None), rx_endpoint="pa"))
        self.assertEqual(len(errors), 1)
        self.assertRegex(errors[0], r"rx_endpoint: 'pa': .* no interface of port 'pa' has 10\.0\.0\.2")
        self.assertRegex(refusal(configuration(end(1, "10.0.0.3", (17,)), end(2, None)))[0], r"rx_endpoint: missing: .* no interface of the configuration has 10\.0\.0\.3")

    def test_retries_and_immediate_data_are_those_of_the_schema(self):
        config = configuration(end(1, "10.0.0.2", (17,)), end(2, None), retries=254)
        flow = config["stateful_flows"]["rocev2"][0]["tx_ports"][0]["transmit_type"]["target_line_rate"]["flows"][0]
        flow["rocev2_verb"] = {"choice": "send_with_immediate", "send_with_immediate": {"immediate_data": "bb"}}
        text = self.text(config, "pa")
        self.assertEqual((text["nic"]["retry_cnt"], text["flow qp1.17"]["verb"], text["flow qp1.17"]["imm_data"]), ("254", "send_imm", "187"))
        self.assertNotIn("rkey", text["flow qp1.17"])

    def test_sizes_of_packets(self):
        for ib_mtu, mtu, used in ((4096, 9000, "4096"), (1500, 9100, "1024"), (4200, 9100, "4096"), (4352, 9100, "4352"), (9100, 9100, "8960"), (9100, 5000, "4864"),
                                  (14000, 14000, "8960"), (9100, 1500, "1024")):
            made = planned(configuration(end(1, "10.0.0.2", (17,), mtu, ib_mtu), end(2, None, mtu=mtu)))
            self.assertEqual(sections(made.text_of(made.ports["pa"]))["flow qp1.17"]["mtu_bytes"], used, (ib_mtu, mtu))
            self.assertEqual(len(made.warnings), 0 if used == str(ib_mtu) else 1, made.warnings)
        for ib_mtu, mtu in ((4096, 1500), (0, 9100), (255, 9100)):
            self.assertRegex(refusal(configuration(end(1, "10.0.0.2", (17,), mtu, ib_mtu), end(2, None)))[0], r"ib_mtu: \d+: ")

    def test_gateways_and_peers_are_asked_for_without_flows(self):
        made = planned(configuration(end(1, "10.0.0.2", (17,)), end(2, None), flows=()))
        text = sections(made.text_of(made.ports["pa"]))
        self.assertEqual([text[f"flow neighbour.{n}"]["peer_ip"] for n in (1, 2)], ["10.0.0.254", "10.0.0.2"])
        self.assertTrue(all(text[f"flow neighbour.{n}"]["requester"] == "off" for n in (1, 2)))
        made.protocols = False
        self.assertNotIn("neighbour", made.text_of(made.ports["pa"]))

    def test_who_is_known_is_not_asked_for(self):
        for gateway in ("10.0.0.1", "0.0.0.0", "10.0.0.3"):
            other = end(3, None, gateway="10.0.0.1")
            other["ethernets"][0]["connection"]["port_name"] = "pa"
            made = planned(configuration(end(1, "10.0.0.2", (17,), gateway=gateway), end(2, None), other))
            asked = [(str(one.address.ip), str(one.ip)) for one in made.ports["pa"].neighbours if one.section]
            self.assertEqual(asked, [("10.0.0.1", "10.0.0.2")], gateway)
        config = configuration(end(1, None), flows=())
        config["devices"][0]["ethernets"][0]["ipv4_addresses"][0]["gateway_mac"] = {"choice": "value", "value": "02:00:00:00:00:99"}
        self.assertEqual([(one.mac, one.section) for one in planned(config).ports["pa"].neighbours], [("02:00:00:00:00:99", "")])

    def test_numbers_of_neighbours_are_those_of_no_flow(self):
        for qpns in ((17, 18), (2**24 - 2, 2**24 - 1), (20, 30)):
            made = planned(configuration(end(1, "10.0.0.2", qpns), end(2, None), flows=qpns))
            nic = made.ports["pa"].sections["nic"]
            first, n = int(nic["first_qpn"]), int(nic["max_qps"])
            numbers = [one.qpn for one in made.ports["pa"].neighbours] + list(qpns)
            self.assertEqual(len(set(numbers)), 4, numbers)
            self.assertTrue(all(first <= qpn < first + n <= 2**24 for qpn in numbers), (numbers, nic))

    def test_addresses_are_of_one_version(self):
        made = planned(configuration(end(1, "10.0.0.2", (17,), ipv6_addresses=[{"name": "six", "address": "fd00::1", "gateway": "fd00::fe"}]), end(2, None)))
        found = {(one.address.ip.version, one.ip) for one in made.ports["pa"].neighbours}
        self.assertEqual(found, {(4, ipaddress.ip_address("10.0.0.254")), (4, ipaddress.ip_address("10.0.0.2")), (6, ipaddress.ip_address("fd00::fe"))})


class LatePolls(unittest.TestCase):
    def test_a_port_that_polled_late_for_a_tenth_of_the_time_has_a_line(self):
        for late_s, lines in ((0.05, 0), (0.9, 0), (3.0, 1)):
            made = run.Run({}, planned(configuration(end(1, "10.0.0.2", (17,)), end(2, "10.0.0.1", (17,)))))
            made.generators = {name: fake_otg.Nothing(name, lambda text: None) for name in ("pa", "pb")}
            flows = list(made.plan.flows.values())
            for generator in made.generators.values():
                generator.start("")
                generator.late_ns = 77 * 10**9  # before the start: not of these flows
            made.clear(flows, [])
            made.started_s[flows[0].name] = time.monotonic() - 10
            made.generators["pb"].late_ns += round(late_s * 1e9)
            made.note_late(flows)
            self.assertEqual([line.split(":")[0] for line in made.behind.values()], ["port 'pb'"] * lines, late_s)
            made.clear(flows, [])
            self.assertEqual(made.behind, {})


if __name__ == "__main__":
    unittest.main()
