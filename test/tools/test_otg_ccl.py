#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg --draft ccl-490: what a configuration with ccl gives the quench-nic of each port, and what is said of a job that failed."""
import pathlib
import tempfile
import unittest

import fake  # noqa: F401  finds the tools
import fake_otg
from otg import ccl, plan, tester
from quench.desk import Failed

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


class WithJobs(fake_otg.Nothing):
    """It has ended three iterations of its job."""

    why_failed = None

    def call(self, method, **params):
        if method == "reset":
            self.why_failed = None
            return {}
        if method != "jobs":
            return super().call(method, **params)
        return {"rows": [{"name": "ccl-0", "state": "failed" if self.why_failed else "running", "why": self.why_failed, "iterations_ended": 3,
                          "out_of_sequence": 0, "jct_mean_ns": 2e6, "jct_min_ns": 1e6, "jct_max_ns": 3e6, "bound_ns": 1e6,
                          "algorithm_bandwidth_bps": 8e8, "bus_bandwidth_bps": 8e8}]}


class Failures(unittest.TestCase):
    WHY = "rank 1: its QP to rank 0 gave up (send 100000b to 0 tag 0)"

    def setUp(self):
        ccl.know()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.nics = {name: WithJobs(name, lambda text: None) for name in LOCATIONS}
        outlets = {name: tester.Outlet(location, lambda name=name: self.nics[name]) for name, location in LOCATIONS.items()}
        self.tester = ccl.CclTester(outlets, pathlib.Path(folder.name))
        self.tester.set_config(configuration())
        self.addCleanup(self.tester.close)

    def put(self, state):
        return self.tester.set_state({"choice": "traffic", "traffic": {"choice": "ccl", "ccl": {"state": state}}})

    def iterations(self, *names):
        return [row["iteration_count"] for row in self.tester.metrics({"choice": "ccl", "ccl": {"communicator_names": list(names)}})["ccl_metrics"]]

    def test_metrics_of_a_job_that_failed_say_why(self):
        self.put("start")
        self.assertEqual(self.iterations("ring"), [3])
        self.nics["b"].why_failed = self.WHY
        with self.assertRaises(Failed) as failed:
            self.iterations("ring")
        self.assertEqual(str(failed.exception), f"ring has failed: port p2: {self.WHY}")

    def test_a_stop_says_why_and_metrics_are_back(self):
        self.put("start")
        self.nics["b"].why_failed = self.WHY
        self.assertEqual(self.put("stop"), [f"ring has failed: port p2: {self.WHY}"])
        self.assertEqual(self.iterations("ring"), [3])

    def test_the_next_start_forgets_it(self):
        self.put("start")
        self.nics["a"].why_failed = self.WHY
        self.assertEqual(self.put("start"), [])
        self.assertEqual(self.iterations("ring"), [3])


if __name__ == "__main__":
    unittest.main()
