#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg --draft ccl-490: what a configuration with ccl gives the quench-nic of each port."""
import unittest

import fake  # noqa: F401  finds the tools
from otg import ccl, plan

LOCATIONS = {name: plan.Location(name) for name in ("a", "b")}
ANSWERS = ("local_ack_timeout", "retry_cnt")


def host(number, port):
    name = f"host{number}"
    return {"name": name,
            "ethernets": [{"name": f"{name}.eth", "mac": f"02:00:00:00:00:{number:02x}", "connection": {"choice": "port_name", "port_name": port},
                           "ipv4_addresses": [{"name": f"{name}.ip", "address": f"10.0.0.{number}", "gateway": "10.0.0.254"}]}]}


def configuration(*settings):
    """settings: of ports"""
    ring = {"name": "ring", "device_names": ["host1", "host2"], "generation": {"data_size": 200, "data_size_unit": "kilobyte"}}
    return {"ports": [{"name": "p1", "location": "a"}, {"name": "p2", "location": "b"}], "devices": [host(1, "p1"), host(2, "p2")],
            **({"options": {"per_port_options": list(settings)}} if settings else {}),
            "ccl": {"name": "job", "stages": [{"name": "only", "communicators": [ring], "duration": {
                "choice": "fixed_iterations", "fixed_iterations": {"count": 5, "interval_ms": 0}}}]}}


def nics(config):
    """The section [nic] of each port."""
    planned = plan.plan({key: value for key, value in config.items() if key != "ccl"}, LOCATIONS)
    ccl.Planner(planned, config, config["ccl"]).add()
    return {name: port.sections["nic"] for name, port in planned.ports.items()}


class Retransmissions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ccl.know()

    def test_a_port_without_settings_has_those_of_quench_nic(self):
        for nic in nics(configuration()).values():
            self.assertFalse(set(ANSWERS) & nic.keys(), nic)

    def test_a_port_with_settings_has_them(self):
        times = {"retransmission_timeout_value": 4000, "retransmission_retry_count": 5}
        found = nics(configuration({"port_name": "p2", "protocols": [
            {"choice": "rocev2", "rocev2": {"connection_type": {"reliable_connection": times}}}]}))
        self.assertEqual([found["p2"].get(key) for key in ANSWERS], ["20", "5"])
        self.assertFalse(set(ANSWERS) & found["p1"].keys(), found["p1"])


if __name__ == "__main__":
    unittest.main()
