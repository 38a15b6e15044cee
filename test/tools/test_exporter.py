#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics: names, units and values of keys, and programs that hang, end, lie or have one name."""
import os
import socket
import tempfile
import time
import unittest

from fake import PATIENCE_S, Program
from quench import desk
from quenchctl.metrics import exporter
from quenchctl.metrics.collect import Place, key_of, value_of

MEANINGS = {"counters": [("run", "suppressed_lines"), ("port", "rx_bytes"), ("device", "ipackets"), ("pfc", "rx_prioN_pause"), ("nic", "tx_packets"),
                         ("drop", "drop_malformed_packets"), ("rp", "rp_cnp_handled"), ("flow", "messages"), ("qp", "tx_packets")],
            "gauges": [("run", "elapsed_ns"), ("nic", "qps"), ("port", "link"), ("qp", "rate_bps")]}


def answer(method, params, **changed):
    if method in MEANINGS:
        return {"rows": [{"object": thing, "name": name, "help": f"of {thing}"} for thing, name in MEANINGS[method]]}
    qps = [{"local_qpn": 17 + i, "flow": 'a"\\\n', "tx_packets": i, "rate_bps": 8} for i in range(5)]
    return {"info": {"program": "quench-nic", "version": "0.2.0", "commit": "1234abcd", "elapsed_ns": 10**9, "qps": 5, "suppressed_lines": 0}, "mempools": {"rows": []},
            "port": {"port": 0, "device": "net_ring0", "rx_bytes": 7, "link": "up", "device_stats": {"ipackets": 1}, "rx_prio3_pause": 9},
            "nic": {"tx_packets": 3, "drop_malformed_packets": 2, "rp_cnp_handled": 4}, "flows": {"rows": [{"flow": 'a"\\\n', "messages": -1}]},
            "jobs": {"code": -32601, "message": "no such method"},  # a program from before an upgrade
            "qps": {"rows": qps[:params.get("count", 0)]}}[method] | changed.get(method, {})


class Values(unittest.TestCase):
    def test_the_last_word_of_a_key_says_the_unit(self):
        for thing, name, more, family, unit in (
                ("port", "rx_bytes", "", "quench_port_rx_bytes", "bytes"), ("port", "link_down_ns", "", "quench_port_link_down_seconds", "seconds"),
                ("rp", "rp_cnp_handled", "", "quench_rp_cnp_handled", ""), ("pfc", "rx_prioN_pause_duration_us", "", "quench_pfc_rx_pause_duration_seconds", "seconds"),
                ("wred", "green_drop_probability_ppm", "", "quench_wred_green_drop_probability_ratio", "ratio"), ("ledger", "in", "_bytes", "quench_ledger_in_bytes", "bytes"),
                ("interface", "in_octets", "", "quench_interface_in_bytes", "bytes"), ("port", "link_speed_bps", "", "quench_port_link_speed_bytes_per_second", "bytes_per_second")):
            key = key_of(Place(thing, "", more=more), name, "", False)
            self.assertEqual((key.family, key.unit), (family, unit))

    def test_values_are_in_the_base_unit_and_some_are_none(self):
        counter, gauge, time = (key_of(Place("x", ""), name, "", name != "g") for name in ("c", "g", "t_ns"))
        self.assertEqual([value_of(gauge, v) for v in (True, False, "up", "stormed", "down", -1, 0.5, None, [], {})], [1, 0, 1, 1, 0, -1, 0.5, None, None, None])
        self.assertEqual([value_of(counter, -1), value_of(time, 1500000000), value_of(time, 10**15 + 1)], [None, 1.5, 1000000.000000001])


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.environ["RUNTIME_DIRECTORY"] = self.folder.name
        self.programs = []
        self.was = exporter.LEAST_AGE_S, exporter.WAIT_S, exporter.READING_S
        exporter.LEAST_AGE_S, exporter.WAIT_S, exporter.READING_S = 0.0, PATIENCE_S, 1.0

    def tearDown(self):
        exporter.LEAST_AGE_S, exporter.WAIT_S, exporter.READING_S = self.was
        for program in self.programs:
            program.end()
        self.folder.cleanup()

    def start(self, prefix="a", how=answer):
        self.programs.append(Program(self.folder.name, prefix, how))
        return self.programs[-1]

    def text(self, kind="openmetrics", made=None, **options):
        made = made or exporter.Exporter(None, None, options.get("flows", 9), options.get("qps", 2), serves=True)
        return made.text(kind)[0].decode()

    def test_a_program_is_read_with_its_labels(self):
        self.start()
        text = self.text()
        mine = 'prefix="a",program="quench-nic"'  # labels are in the order of the alphabet
        for line in (f"quench_up{{{mine}}} 1.0", f'quench_build_info{{commit="1234abcd",{mine},version="0.2.0"}} 1.0', f'quench_port_rx_bytes_total{{device="net_ring0",port="0",{mine}}} 7.0', f"quench_run_elapsed_seconds{{{mine}}} 1.0",
                     'quench_pfc_rx_pause_total{port="0",prefix="a",prio="3",program="quench-nic"} 9.0', f'quench_drop_packets_total{{{mine},reason="malformed_packets"}} 2.0',
                     f"quench_rp_cnp_handled_total{{{mine}}} 4.0", f'quench_qp_tx_packets_total{{flow="a\\"\\\\\\n",{mine},qpn="18"}} 1.0',
                     f'quench_port_link{{device="net_ring0",port="0",{mine}}} 1.0'):
            self.assertIn(line, text)
        self.assertEqual(text.count("quench_qp_tx_packets_total{"), 2)
        self.assertNotIn("quench_flow_messages_total{", text)  # below 0: parsers would refuse all
        self.assertTrue(text.endswith("# EOF\n"))
        families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
        self.assertEqual(len(families), len(set(families)))
        self.assertNotIn("# EOF", self.text("text"))

    def test_a_program_that_hangs_or_ends_costs_its_own_metrics_alone(self):
        for method in ("info", "counters", "port", "qps"):
            for how in (lambda m, p, at=method: None if m == at else answer(m, p), lambda m, p, at=method: {}[m] if m == at else answer(m, p),
                        lambda m, p, at=method: b"[]" if m == at else answer(m, p), lambda m, p, at=method: {"code": -32601, "message": "no"} if m == at else answer(m, p)):
                self.start("good")
                self.start("bad", how)
                text = self.text()
                self.assertIn('quench_up{prefix="good",program="quench-nic"} 1.0', text)
                self.assertNotIn('_port_rx_bytes_total{device="net_ring0",port="0",prefix="bad"', text)
                for program in self.programs:
                    program.end()
                self.programs = []

    def test_a_program_that_was_killed_is_down_until_it_is_read_again(self):
        path = self.start().path
        made = exporter.Exporter(None, None, 9, 2, serves=True)
        self.assertIn('quench_up{prefix="a",program="quench-nic"} 1.0', self.text(made=made))
        self.programs.pop().end()
        with socket.socket(socket.AF_UNIX) as left_behind:
            left_behind.bind(path)
        self.until(made, lambda text: 'quench_up{prefix="a",program="quench-nic"} 0.0' in text and "quench_port" not in text)
        os.unlink(path)
        self.start()
        self.until(made, lambda text: 'quench_up{prefix="a",program="quench-nic"} 1.0' in text)

    def test_a_program_that_was_stopped_has_no_metrics_until_it_runs_again(self):
        self.start()
        made = exporter.Exporter(None, None, 9, 2, serves=True)
        self.assertIn('quench_up{prefix="a",program="quench-nic"} 1.0', self.text(made=made))
        self.programs.pop().end()
        self.until(made, lambda text: "quench_up{" not in text and "quench_port" not in text)
        self.start()
        self.until(made, lambda text: 'quench_up{prefix="a",program="quench-nic"} 1.0' in text)

    def until(self, made, holds):
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            made.sources[0].next_s = 0.0
            if holds(self.text(made=made)):
                return
        self.fail("the exporter does not get there")

    def test_a_family_that_is_a_counter_and_a_gauge_is_left_out_and_counted(self):
        def other(method, params):
            found = answer(method, params)
            if method in MEANINGS:
                found["rows"] = [row for row in found["rows"] if row["name"] != "rx_bytes"]
                if method == "gauges":
                    found["rows"].append({"object": "port", "name": "rx_bytes", "help": "another"})
            return found
        self.start("a")
        self.start("b", other)
        self.assertIn("quench_exporter_clashes 1.0", self.text())

    def test_names_of_programs_are_unique_and_utf_8(self):
        made = exporter.Exporter("/x/dpdk/a/quench.sock", None, 0, 0, serves=True)
        self.assertEqual(made.name("/y/dpdk/a/quench.sock"), "/y/dpdk/a/quench.sock")
        self.assertEqual(exporter.clean("a\udcff"), "a?")
        self.assertEqual(desk.name_of("/x/dpdk/a/quench.sock:1"), "a:1")


if __name__ == "__main__":
    unittest.main()
