#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""export sonic: what goes to SONiC's tables and back is the same switch, but for the keys that the report names."""
import json
import re
import tempfile
import unittest

from case import Case, map_of, program
from convert.command import DIALECTS
from convert.log import Log, Refused

POOL = "[pool]\nbacking_frame_bytes = 2048\n"


class Export(Case):
    DIALECT = "sonic"

    def exported(self, ini, n_lost):
        """@return the tables"""
        self.log = Log("in")
        text = DIALECTS["export", "sonic"](ini, self.log)
        self.assertEqual(len(self.log.lost), n_lost, self.log.lost)
        return text

    def back(self, ini, n_lost=0):
        """Export an INI, and import the tables again: self.sections. @return the tables"""
        text = self.exported(ini, n_lost)
        lost = self.log
        self.taken(text, 0)
        self.log = lost
        return text

    def test_what_came_from_sonic_goes_back_the_same(self):
        for name in ("sonic-tor.json", "sonic-brackets.json", "real/sonic-spectrum-32x100.json"):
            self.take(self.fixture(name))
            ini, first = self.ini, self.sections
            tables = self.back(ini)
            self.assertEqual(self.sections, first, name)
            self.assertEqual(self.exported(self.ini, 0), tables, name)

    def test_a_key_that_the_ini_leaves_out_is_not_lost(self):
        for pool, n_lost in (("", 0), ("[pool]\nbacking_frame_bytes = 512\n", 1)):
            self.exported("[port 0]\nlink_speed_bps = 25G\n" + pool, n_lost)

    def test_a_curve_without_a_name_gets_one(self):
        self.back("[switch]\nwred_queues = 3-4\n[port]\nlink_speed_bps = 25G\n[port 0]\n[queue 4]\nwred_profile = none\n" + POOL)
        self.keys("wred AZURE_LOSSLESS", green_max_threshold_bytes="200KB")
        self.assertEqual([self.queue(0, q, "wred_profile") for q in (3, 4)], ["AZURE_LOSSLESS", "default"])
        self.keys("port 0", link_speed_bps="25G")

    def test_ports_that_differ_come_back_the_same(self):
        tables = self.back(
            "[switch]\nwred_queues = none\n[port]\nlink_speed_bps = 25G\n[port 0]\n[port 1]\npfc_enable = 3-4\n"
            "tc_to_priority_group_map = 3:3, 4:4, 7:7, *:0\ntc_to_queue_map = 5:3, 7:7, 3:3, 4:4, *:0\npfc_priority_to_queue_map = 4:4, 3:3, *:0\n"
            "[port 2]\ndwrr_weight = 3:80, *:10\nstrict_queues = 6-7\n[port 3]\ndwrr_weight = 3:80, *:10\nstrict_queues = 6-7\n"
            "[port 4]\ndwrr_weight = 3:80, *:10\n[port 5]\ndscp_to_tc_map = 8:3, *:1\n" + POOL)
        self.assertIn("AZURE_Ethernet4", tables)
        first = self.sections
        self.assertEqual([self.port(i, "pfc_enable") for i in (1, 0)], ["3-4", "3"])
        self.assertEqual(self.map(1, "tc_to_queue_map")(5), 3)
        self.assertEqual(self.port(3, "strict_queues"), "6-7")
        self.assertEqual(self.map(4, "dwrr_weight")(3), 80)
        self.assertEqual(map_of(self.port(5, "dscp_to_tc_map"))(8), 3)
        self.back(self.ini)
        self.assertEqual(self.sections, first)

    def test_ports_go_by_the_same_watchdog_times(self):
        """Times of [pfcwd] that no port goes by have no place in the tables, and are of no effect."""
        self.back("[pfcwd]\npfcwd = sonic\n[port]\nlink_speed_bps = 25G\n[port 0]\npfcwd = off\n[port 1]\npfcwd_action = alert\n"
                  "pfcwd_detection_time_ns = 300ms\n[port 2]\npfcwd_restoration_time_ns = 900ms\n" + POOL)
        self.assertEqual([self.sections[f"port {i}"]["pfcwd"] for i in range(3)], ["off", "on", "on"])
        self.keys("pfcwd", action="alert", detection_time_ns="300ms", restoration_time_ns="400ms")
        self.keys("port 2", pfcwd_action="drop", pfcwd_detection_time_ns="200ms", pfcwd_restoration_time_ns="900ms")

    def test_what_sonic_has_words_for_is_carried(self):
        self.back("[switch]\nvlan_filtering = on\nfdb_ageing_s = 300\nbuffer_bytes = 40MB\n[router]\nrouter_mac = 02:5a:00:00:00:fe\n"
                  "ecmp_hash_seed = 10\n[lldp]\nlldp = on\nlldp_tx_interval_ns = 20s\nlldp_tx_hold = 3\n[port 0]\nlink_speed_bps = 25G\naccess_vlan = 10\n"
                  "shaper_rate_bps = 10G\nstorm_control_broadcast_bps = 10M\nstorm_control_multicast_bps = 15M\n"
                  "storm_control_unknown_unicast_bps = 20M\n[port 1]\nlink_speed_bps = 25G\naccess_vlan = 10\n[interface vlan 10]\nip = 10.0.10.1/24\n"
                  "[fdb server]\nmac = 00:11:22:33:44:55\nvlan = 10\nport = 0\n[neighbor 10.0.10.7]\nmac = 00:11:22:33:44:55\n"
                  "[wred w]\ngreen_min_threshold_bytes = 1MB\ngreen_max_threshold_bytes = 2MB\necn_green_min_threshold_bytes = 100KB\n"
                  "ecn_green_max_threshold_bytes = 400KB\n" + POOL)
        self.keys("switch", fdb_ageing_s="300")
        self.keys("router", ecmp_hash_seed="10")
        self.keys("lldp", lldp="on", lldp_tx_interval_ns="20s", lldp_tx_hold="3")
        self.keys("port 0", shaper_rate_bps="10G", storm_control_broadcast_bps="10M", storm_control_multicast_bps="15M",
                  storm_control_unknown_unicast_bps="20M")
        self.keys("fdb 001122334455_10", port="Ethernet0")
        self.keys("neighbor 10.0.10.7", mac="00:11:22:33:44:55")
        self.keys("wred w", ecn_green_min_threshold_bytes="100KB", ecn_green_max_threshold_bytes="400KB")

    def test_what_sonic_has_no_words_for_is_named(self):
        """One key each."""
        for section, key, more in (
                ("switch", "mark_at = enqueue", ""), ("pfc", "pfc_xoff_quanta = 1000", ""), ("port 0", "tx_disabled = on", ""),
                ("port 0", "link_speed_bps = 1500K", ""), ("port 0", "storm_control_broadcast_bps = 1500", ""), ("tc 3", "mtu_bytes = 4096B", ""),
                ("port 0", "flow_control = pause", ""), ("wred w", "wred_weight = 3", ""), ("wred w", "nonect_drop_in_lossless = on", ""),
                ("wred w", "green_drop_probability_ppm = 1500ppm", ""), ("pfcwd", "pfcwd = nxos", ""),
                ("queue 3", "marking = step", ""), ("queue 3", "max_rate_bps = 1001", ""),
                ("fdb 020000000001_0", "mac = 02:00:00:00:00:01", "port = 0\n"), ("pool", "backing_frame_bytes = 512B", "")):
            ports = "" if section == "port 0" else "[port 0]\n"
            with self.subTest(key=key):
                self.log = Log("in")
                DIALECTS["export", "sonic"](f"[{section}]\n{key}\n{more}{ports}[port]\nlink_speed_bps = 10G\n{'' if section == 'pool' else POOL}", self.log)
                self.lost(f"[{section}] {key}: no counterpart in SONiC's tables")

    def test_a_switch_that_no_table_holds_is_refused(self):
        # An mtu of 42 is less than the reader takes.
        with self.assertRaises(Refused) as caught:
            DIALECTS["export", "sonic"]("[switch]\nmax_frame_bytes = 64\n[port 0]\nlink_speed_bps = 10G\n", Log("in"))
        self.assertIn("in: makes tables that SONiC cannot have: ", str(caught.exception))
        with self.assertRaises(Refused) as caught:
            DIALECTS["export", "sonic"]("[port 0]\nlink_speed_bps = 1X\n", Log("in"))
        self.assertIn("in:2: [port 0] link_speed_bps = 1X: expected", str(caught.exception))

    def test_auto_headroom_is_the_number_in_force(self):
        """As the switch itself says it, for links, cables and sizes of the buffer."""
        for text in ("[port 0]\nlink_speed_bps = 100G\n", "[port]\nlink_speed_bps = 400G\n[port 0]\n[port 1]\ncable_length_m = 300\n",
                     "[switch]\nbuffer_bytes = 1MB\n[qos_map]\npfc_enable = 3-4\ntc_to_priority_group_map = 3:3, 4:4, *:0\n[port]\n"
                     "link_speed_bps = 100G\n[port 0]\n[port 1]\n[port 2]\n", "[switch]\nmax_frame_bytes = 1522\n[port 0]\nlink_speed_bps = 1G\n"):
            tables = json.loads(self.exported(text + POOL, 0))
            with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
                file.write(text)
                file.flush()
                said = program.run("quench-switch", "--config", file.name, "--thresholds").stdout
            # The table's last column but one, "xoff (KB)", by port.
            rows = [line.split() for line in said.splitlines() if re.match(r"  \d[\d-]* +\d+ Gb/s", line)]
            most = max(round(1000 * float(row[11])) for row in rows)
            self.assertEqual(int(tables["BUFFER_PROFILE"]["ingress_lossless_profile"]["xoff"]), most, text)


if __name__ == "__main__":
    unittest.main()
