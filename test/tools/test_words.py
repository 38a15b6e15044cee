#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What quenchctl reads of its command line, and the words and numbers that it prints."""
import contextlib
import io
import os
import random
import tempfile
import unittest
from unittest import mock

import fake  # noqa: F401  finds the tools
from quenchctl import main
from quenchctl.command import NIC, SWITCH, BadUsage, beginning_with, find, is_param
from quenchctl.show import baseline, cells, port_texts, route, times
from quenchctl.table import COMMANDS


def printed(function, *args):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function(*args)
    return out.getvalue()


class CommandLine(unittest.TestCase):
    def test_each_command_is_found_by_its_words_and_needs_no_more(self):
        for command in COMMANDS:
            given = [word.strip("[].").replace("KEY=VALUE", "a=b").replace("NAME=VALUE", "a=b") if is_param(word) else word for word in command.words.split()]
            found, _ = find(COMMANDS, given, command.program)
            self.assertIs(found, command)
            self.assertTrue(callable(main.function(command.run)))

    def test_a_missing_word_is_named(self):
        for given, expected in (("explain queue 1", "explain queue 1: expected after \"explain queue 1\" QUEUE"),
                                ("clear nothing", "clear nothing: expected after \"clear\" one of: ")):
            with self.assertRaises(BadUsage) as said:
                find(COMMANDS, given.split(), SWITCH)
            self.assertTrue(str(said.exception).startswith(expected), said.exception)

    def test_a_flow_of_show_route_is_whole(self):
        flow = ["10.9.1.1", "10.0.0.1", "49152", "4791", "udp"]
        self.assertEqual(route.question(flow[:1]), {"destination": "10.9.1.1"})
        self.assertEqual(route.question(flow), {"destination": "10.9.1.1", "source": "10.0.0.1", "source_port": 49152, "destination_port": 4791, "protocol": 17})
        for n, missing in ((2, "SOURCE_PORT"), (3, "DESTINATION_PORT"), (4, "PROTOCOL")):
            with self.assertRaisesRegex(BadUsage, f"^{flow[n - 1]}: expected {missing} after it"):
                route.question(flow[:n])

    def test_the_dead_next_hop_that_frames_take_is_not_avoided(self):
        hop = {"nexthop": "10.0.0.1", "interface": "vlan 1", "mac": "", "state": "failed", "port": None, "out_packets": 0, "dead": True}
        for chosen, several, said in ((False, True, "; dead: it is avoided"), (True, True, "; dead: frames to it are dropped"),
                                      (True, False, "; dead: frames to it are dropped")):
            self.assertTrue(route.hop_text({**hop, "chosen": chosen}, several).endswith(said))

    def test_a_table_names_the_first_of_many_next_hops(self):
        hops = [f"10.0.0.{i}" for i in range(1, 257)]
        self.assertEqual(route.hops_in_short(""), "")
        self.assertEqual(route.hops_in_short("blackhole"), "blackhole")
        self.assertEqual(route.hops_in_short(",".join(hops[:16])), ",".join(hops[:16]))
        self.assertEqual(route.hops_in_short(", ".join(hops[:17])), "10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, ... (17)")
        self.assertEqual(route.hops_in_short(",".join(hops)), "10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, ... (256)")

    def test_a_flow_label_is_not_asked_for_twice(self):
        way = {"hops": [{}, {}], "hash": None}
        self.assertIn("show route ADDRESS SOURCE", route.why_text(way, False))
        self.assertIn("by the flow label of the frame", route.why_text(way, True))

    def test_abbreviations(self):
        for given, program, expected in (("sh int", None, "show interfaces"), ("sh int 3", SWITCH, "show interfaces PORT"), ("cl pri water sh 1", None, "clear priority-group watermark shared [PORT]"),
                                         ("show buffer_pool watermark", None, "show buffer-pool watermark"), ("sh q c", SWITCH, "show queue counters [PORT]"),
                                         ("set a.b=c", SWITCH, "set SECTION.KEY=VALUE..."), ("set pf b on", SWITCH, "set pfcwd big-red-switch ON|OFF"), ("sh c", NIC, None)):
            if expected is None:
                with self.assertRaises(BadUsage):
                    find(COMMANDS, given.split(), program)
            else:
                self.assertEqual(find(COMMANDS, given.split(), program)[0].words, expected)

    def test_refusals_are_one_line(self):
        rnd = random.Random(5)
        known = sorted({word for command in COMMANDS for word in command.words.split()})
        for _ in range(300):
            given = [rnd.choice([*known, "", "x", "=", "a=b", "\x1b[2J", "é"]) for _ in range(rnd.randrange(5))]
            for function in (lambda g: find(COMMANDS, g, rnd.choice((None, SWITCH, NIC))), lambda g: beginning_with(COMMANDS, g)):
                with contextlib.suppress(BadUsage):
                    function(given)

    def test_options(self):
        options, given = main.split(["-fx", "-jw0.1", "show", "--all", "--cou", "5", "info", "--", "-a"])
        self.assertEqual((options, given), ([("file-prefix", "x"), ("json", None), ("watch", "0.1"), ("all", None), ("count", "5")], ["show", "info", "-a"]))
        self.assertEqual(main.split(["--watch", "show"]), ([("watch", None)], ["show"]))
        for wrong in (["-x"], ["--c"], ["--json=1"], ["-f"], ["--nonsense"], ["--control-file=x"]):
            with self.assertRaises(BadUsage):
                main.split(wrong)
        for wrong in ([("watch", "nan")], [("watch", "0")], [("qps", "-1")], [("flows", "1025")], [("qp", "1 2")], [("socket", "a"), ("file-prefix", "b")]):
            with self.assertRaises(BadUsage):
                main.read_options(wrong)


class Tables(unittest.TestCase):
    def test_long_words_fit_a_terminal(self):
        """32 ports with the longest names: 120 columns."""
        ports = [["port", *(f"to-leaf-of-the-second-row-port-{i:02}"[:31 - 2] + f"{i:02}" for i in range(32))], ["device", *(f"net_af_packet{i}" for i in range(32))],
                 *([title, *(value for _ in range(32))] for title, value in (
                     ("link", "down"), ("speed", "400G"), ("rx_packets", "123456789012"), ("rx_bytes", "123.456TB"), ("tx_packets", "123456789012"),
                     ("tx_bytes", "123.456TB"), ("rx_pause", "12345678"), ("tx_pause", "12345678"), ("macs", "1024")))]
        whole = [list(column) for column in ports]

        def width(columns):
            return sum(max(map(len, column)) for column in columns) + 2 * (len(columns) - 1)
        cells.fit(ports, [0, 1, 2], 120)
        self.assertGreater(width(whole), 120)
        self.assertLessEqual(width(ports), 120)
        self.assertEqual(ports[2:], whole[2:])
        self.assertEqual(len(set(ports[0])), 33)
        cells.fit(whole, [0, 1, 2], 200)
        self.assertEqual(whole[0][1], "to-leaf-of-the-second-row-por00")

    def test_words_that_would_be_one_stay(self):
        same = [["port", "a-very-long-name-1-of-this-switch", "a-very-long-name-2-of-this-switch"]]
        cells.fit(same, [0], 20)
        self.assertEqual(same[0][1], "a-very-long-name-1-of-this-switch")

    def test_units(self):
        for key, value, text in (("link_speed_bps", 40_000_000_000, "40G"), ("rate_bps", 999, "999"), ("start_ns", 17_432_000, "17.432ms"), ("age_ns", 5, "5ns"),
                                 ("green_drop_probability_ppm", 10_000, "1%"), ("green_min_threshold_bytes", 5000, "5KB"), ("green_min_threshold_bytes", 12_345, "12.345KB"),
                                 ("marked_pct", 12.345, "12.35%"), ("alpha", 0.0227, "0.0227"), ("done", True, "yes"), ("lasts", False, "no"), ("pfc_ours", 0x18, "3,4"), ("pfc_peer", 0, "none"), ("queue_bytes", 999, "999B"),
                                 ("tx_bytes", 1_234_567, "1.235MB"), ("x", None, "-"), ("x", "", "-"),
                                 ("name", "a\x1b[2J\n\x9bb", "a?[2J??b")):
            self.assertEqual(cells.text(key, value), text)

    def test_what_is_wrong_is_red_and_names_are_not(self):
        def red(part):
            return cells.paint([part], heading=False) != [part]

        self.assertEqual([part for part in ("down", "down   ", "stormed (drop)", "up", "downlink1", "stormedge") if red(part)], ["down", "down   ", "stormed (drop)"])

    def test_rows_are_aligned(self):
        text = printed(cells.rows, [{"port": 0, "port_name": "Ethernet1/1", "n": 5}, {"port": 1, "n": 1234}], "port n=count")
        self.assertEqual(text.splitlines(), ["port         count", "Ethernet1/1      5", "1             1234"])
        self.assertEqual(printed(cells.rows, [], "port n"), "port  n\n(none)\n")
        self.assertEqual(printed(cells.members, {"a": 1, "drops": {"mtu": 2}, "rows": []}, None), f"{'a':<34} 1\n{'drops mtu':<34} 2\n")

    def test_names_of_ports(self):
        names = {0: "eth0", 3: "to-spine"}
        for text, expected in (("port 3", "port to-spine"), ("interface port 0", "interface port eth0"), ("queue 3|1", "queue to-spine|1"), ("pg 1|2", "pg 1|2"),
                               ("port 7", "port 7"), ("0-4,7", "eth0,1-2,to-spine,4,7"), ("3", "to-spine"), ("vlan 10", "vlan 10"), ("", ""), ("1-2", "1-2"), ("3-", "3-")):
            self.assertEqual(port_texts.named(names, text), expected)

    def test_times(self):
        self.assertEqual([times.time_text(ns) for ns in (812, 8_830, 90_700, 999_499, 1_250_000_000, 5_000_000_000_000)],
                         ["812 ns", "8.83 us", "90.7 us", "999 us", "1.25 s", "5000 s"])
        buckets = [{"at_most": n, "count": 1} for n in range(1, 1001)]
        self.assertEqual([times.quantile(buckets, pct) for pct in (50, 99, 99.9, 100)], [500, 990, 999, 1000])
        self.assertLessEqual(len(times.lines(buckets)), times.MOST_LINES)
        self.assertEqual(sum(n for _, n in times.lines(buckets)), 1000)


class Baseline(unittest.TestCase):
    def test_counters_count_from_what_was_kept_and_gauges_do_not(self):
        desk = mock.Mock(pid=os.getpid())
        with tempfile.TemporaryDirectory() as home, mock.patch.dict(os.environ, {"XDG_CACHE_HOME": home}):
            self.assertIsNone(baseline.load(desk))
            then = {"rows": [{"port": 1, "rx_packets": 5, "link_speed_bps": 9, "drops": {"mtu": 2}}]}
            baseline.keep(desk, {"ports": then}, ["rx_packets"], 100)
            baseline.keep(desk, {"times,a": {"rows": [{"measure": "rtt_ns", "at_most": 8, "count": 3}]}}, ["rx_packets"], 100)
            kept = baseline.load(desk)
            now = {"rows": [{"port": 0, "rx_packets": 7}, {"port": 1, "rx_packets": 7, "link_speed_bps": 9, "drops": {"mtu": 3}}]}
            baseline.subtract(kept, "ports", now)
            self.assertEqual(now["rows"], [{"port": 0, "rx_packets": 7}, {"port": 1, "rx_packets": 2, "link_speed_bps": 9, "drops": {"mtu": 1}}])
            now = {"rows": [{"measure": "rtt_ns", "at_most": 8, "count": 4}]}
            baseline.subtract(kept, "times,a", now)
            self.assertEqual(now["rows"][0]["count"], 1)
            with mock.patch("quenchctl.show.baseline.start_of", return_value=1):  # another process with this number
                self.assertIsNone(baseline.load(desk))


if __name__ == "__main__":
    unittest.main()
