#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What top and web make of two snapshots: lines, pictures, events, histories."""
import unittest

import fake  # noqa: F401  finds the tools
from quenchctl.command import short
from quenchctl.snapshot import Snapshot, Two
from quenchctl.top.view import Style, View, add, bar, number, time
from quenchctl.web.events import GOES_ON_MS, MOST, Events
from quenchctl.web.picture import Picture
from quenchctl.web.programs import MOST_SERIES, POINTS, History

NAME = "Ethernet10/1/breakout-lane4"


def switch(at_s, frames=0, drops=0, headroom=0, link="up", storms=(0, 0), name=None, device="net_ring0", shutdown=False):
    port = {"port": 0} | ({"port_name": name} if name else {})
    return Snapshot("quench-switch", {
        "info": {"elapsed_ns": at_s * 10**9, "version": "1"},
        "ports": {"rows": [port | {"device": device, "link": link, "shutdown": shutdown, "link_speed_bps": 10**9, "shaper_rate_bps": 5 * 10**8, "rx_packets": frames,
                                   "rx_bytes": 1000 * frames, "tx_packets": frames, "tx_bytes": 1000 * frames, "rx_pause_frames": frames, "tx_pause_frames": 0}]},
        "ecn": {"rows": [port | {"queue": 3, "queue_bytes": 500, "tx_packets": frames, "tx_bytes": 1000 * frames, "drop_packets": drops, "ecn_marked_packets": frames,
                                 "green_min_threshold_bytes": 1000, "green_max_threshold_bytes": 4000}]},
        "drops": {"rows": [port | {"mmu": drops, "mtu": 0}]}, "pfc": {"rows": []}, "buffer": {"buffer_bytes": 1000, "buffer_used_bytes": 100},
        "pfcwd": {"rows": [port | {"prio": 3, "queue": 3, "status": "stormed" if storms[0] > storms[1] else "operational", "action": "drop",
                                   "deadlock_detected": storms[0], "deadlock_restored": storms[1]}]},
        "pg": {"rows": [port | {"pg": 3, "shared_bytes": 700, "headroom_bytes": headroom, "shared_limit_bytes": 1000, "shared_xon_bytes": 900, "watermark_bytes": 800,
                                "drop_packets": 0}]}})


def nic(at_s, wire=0, resent=0, rtt=(0, 0), flow="write", gone=False, cap=0):
    return Snapshot("quench-nic", {
        "info": {"elapsed_ns": at_s * 10**9, "version": "1"}, "port": {"device": "net_ring0", "link": "up", "link_speed_bps": 10**9},
        "nic": {"rx_packets": 0, "rx_bytes": 0, "tx_packets": wire // 1000, "tx_bytes": wire, "rx_pause_frames": 0, "retransmitted_packets": resent, "drop_malformed": resent},
        "rp": {"rp_cnp_handled": 0, "rp_cnp_ignored": 0}, "np": {"np_cnp_sent": 0},
        "flows": {"rows": [{"flow": flow, "qps": 4, "wire_bytes": wire, "payload_bytes": wire, "messages": 0, "cnps_handled": 0, "rate_cuts": 0,
                            "retransmitted_packets": resent, "rx_pause_duration_us": 0, "rtt_p50_ns": 0, "rtt_samples": rtt[0], "rtt_mean_ns": rtt[1],
                            "configured_rate_bps": cap, "gone": gone}]}})


def lines(two, columns=0, **options):
    view = View(columns, **options)
    add(view, two)
    return view


class Top(unittest.TestCase):
    def test_numbers_have_three_digits_and_a_prefix(self):
        for value, text in ((0, "0"), (0.5, "0.5"), (999, "999"), (999.94, "999.9"), (999.95, "1.00K"), (12345, "12.35K"), (99949, "99.95K"), (99951, "100.0K"), (1e18, "1000.0P")):
            self.assertEqual(number(value), text)

    def test_times_have_a_unit_of_their_own(self):
        for ns, text in ((5, "5ns"), (999, "999ns"), (999.6, "1.00us"), (14810, "14.8us"), (14.81e6, "14.8ms"), (999.4e6, "999ms"), (1.5e9, "1.50s")):
            self.assertEqual(time(ns), text)

    def test_a_name_keeps_its_end_when_it_is_shortened(self):
        self.assertEqual(short(NAME, 27), NAME)
        self.assertEqual(short(NAME, 22), "Eth10/1/breakout-lane4")
        self.assertEqual(short(NAME, 12), "Eth1~t-lane4")

    def test_a_bar_shows_what_is_little_and_ends_at_its_width(self):
        self.assertEqual(bar(0, 100, 10), "..........")
        self.assertEqual(bar(1, 100, 10), "=.........")
        self.assertEqual(bar(1000, 100, 10), "==========")
        self.assertEqual(bar(50, 100, 10, (("m", 20), ("M", 100))), "==m==.....")
        self.assertEqual(bar(5, 0, 4), "=...")

    def test_rates_are_the_rise_between_two_readings(self):
        two = Two(switch(3, 2000), switch(1, 0))
        # 1000 frames a second of 1000 bytes with their preamble and gap; the output is shaped to half the speed.
        line = next(text for _, text in lines(two).lines if "net_ring0" in text)
        self.assertRegex(line, r"^   0 net_ring0 +up   500M/1G   8\.16M   8\.16M +1% +2% +1\.00K +0 +0 +1\.00K +1\.00K$")
        first = next(text for _, text in lines(Two(switch(1, 500), None)).lines if "net_ring0" in text)
        self.assertRegex(first, r"up   500M/1G +0 +0 +0% +0% ")

    def test_lines_fit_the_columns_or_say_how_many_they_need(self):
        for named in (None, NAME, "a" * 60):
            two = Two(switch(2, 1000, name=named, device="net_af_packet0"), switch(1, name=named, device="net_af_packet0"))
            full = lines(two, 300)
            widest = max(len(text) for _, text in full.lines)
            self.assertLessEqual(widest, full.full)
            narrow = lines(two, 80)
            self.assertEqual(narrow.full, full.full)
            # Names of devices are not cut.
            self.assertLessEqual(max(len(text) for _, text in narrow.lines), 80 if named else 82)

    def test_the_longest_queue_comes_first(self):
        now, before = switch(2, 1000), switch(1)
        for taken, lengths in ((now, (0, 5000, 900)), (before, (0, 0, 0))):
            row = taken.replies["ecn"]["rows"][0]
            taken.replies["ecn"]["rows"] = [row | {"queue": queue, "queue_bytes": used} for queue, used in enumerate(lengths)]
        found = [(style, text.split()[1]) for style, text in lines(Two(now, before)).lines if "m" in text and "M" in text and "port" not in text]
        self.assertEqual([queue for _, queue in found], ["1", "2", "0"])

    def test_wide_terminals_have_queues_beside_ports(self):
        two = Two(switch(2, 1000), switch(1))
        narrow, wide = lines(two, 160), lines(two, 200)
        self.assertEqual((narrow.beside, narrow.height()), ([], len(narrow.lines)))
        self.assertEqual(wide.lines + wide.beside, narrow.lines)
        heading = wide.row(wide.beside_row)
        self.assertEqual([text.split()[:2] for _, _, text in heading], [["port", "device"], ["port", "queue"]])
        self.assertLessEqual(max(at + len(text) for i in range(wide.height()) for at, _, text in wide.row(i)), 200)
        self.assertLess(wide.height(), narrow.height())

    def test_marks_and_pauses_are_busy(self):
        def styles(now):
            return [style for style, _ in lines(Two(now, switch(1))).lines]
        self.assertNotIn(Style.BUSY, styles(switch(2)))
        self.assertEqual(styles(switch(2, 1000)).count(Style.BUSY), 2)  # the port and the queue

    def test_a_flow_with_a_long_name_fits_80_columns(self):
        view = lines(Two(nic(2, 10**6, flow="f" * 50), None), 80)
        self.assertLessEqual(max(len(text) for _, text in view.lines), 80)
        self.assertEqual(view.full, 118)

    def test_drops_headroom_and_storms_are_alarms(self):
        def alarms(now):
            return [text for style, text in lines(Two(now, switch(1))).lines if style is Style.ALARM]
        self.assertEqual(alarms(switch(2)), [])
        self.assertEqual(len(alarms(switch(2, drops=1))), 2)  # the port and the queue
        self.assertEqual(len(alarms(switch(2, headroom=1))), 1)
        self.assertEqual(len(alarms(switch(2, link="down"))), 1)
        self.assertEqual(alarms(switch(2, storms=(1, 0))), ["STORM: port 0, priority 3, queue 3: drop; 1 storm"])
        self.assertIn(Style.ALARM, [style for style, _ in lines(Two(nic(2, resent=1), nic(1))).lines])

    def test_a_port_that_is_shut_down_says_so_and_is_no_alarm(self):
        for link in ("up", "down"):
            style, line = next((style, text) for style, text in lines(Two(switch(2, link=link, shutdown=True), switch(1))).lines if "net_ring0" in text)
            self.assertIn(" shut ", line)
            self.assertIs(style, Style.QUIET)

    def test_idle_lines_can_be_hidden(self):
        self.assertNotIn("write", [text.split()[0] for _, text in lines(Two(nic(2), nic(1)), hide_quiet=True).lines])
        self.assertIn("write", [text.split()[0] for _, text in lines(Two(nic(2, 1), nic(1)), hide_quiet=True).lines])

    def test_what_a_program_says_cannot_steer_the_terminal(self):
        self.assertIn("?[2Jwrite", [text.split()[0] for _, text in lines(Two(nic(2, flow="\x1b[2Jwrite"), None)).lines])


class Web(unittest.TestCase):
    def test_a_switch_has_rates_thresholds_and_totals(self):
        picture = Picture(Two(switch(3, 2000, drops=4, headroom=1), switch(1)))
        tiles = {tile["label"]: tile for tile in picture.tiles}
        self.assertEqual(tiles["drops"], {"kind": "drop", "label": "drops", "rate": 2.0, "total": 4})
        self.assertEqual((tiles["ECN marks"]["rate"], tiles["pauses received"]["total"]), (1000.0, 2000))
        self.assertEqual(picture.ports[0]["rx"], 8.16e6)
        queue, group = picture.bars
        self.assertEqual([mark["at"] for mark in queue["marks"]], [1000, 4000])
        self.assertEqual((group["key"], group["value"], group["alarm"], [mark["name"] for mark in group["marks"]]), ("port 0 group 3", 701, True, ["XON", "XOFF"]))
        self.assertEqual(picture.charts["depth"], {"port 0 queue 3": 500, "port 0 group 3": 701})
        # Pauses are far fewer than marks: on one axis, they would lie flat.
        self.assertEqual((picture.charts["marks"], list(picture.charts["pauses"])), ({"port 0": 1000.0}, ["port 0"]))

    def test_a_port_that_is_shut_down_is_not_one_without_a_link(self):
        def states(**port):
            return [[p["down"], p["shutdown"]] for p in Picture(Two(switch(3, **port), None)).ports]
        self.assertEqual(states(link="down"), [[True, False]])
        self.assertEqual(states(link="down", shutdown=True), [[False, True]])
        self.assertEqual(states(shutdown=True), [[False, True]])

    def test_a_lossy_group_has_no_xoff(self):
        snapshot = switch(3, 2000, headroom=1)
        for row in snapshot.rows("pg"):
            row["lossless"] = False
        group = Picture(Two(snapshot, switch(1))).bars[-1]
        self.assertEqual([(mark["name"], mark["kind"]) for mark in group["marks"]], [("limit", "limit")])

    def test_the_buffer_holds_no_less_than_what_is_shown_beside_it(self):
        for used, queue, group, shown in ((100, 500, 700, 700), (0, 500, 0, 500), (900, 500, 700, 900)):
            snapshot = switch(3)
            snapshot.replies["buffer"]["buffer_used_bytes"] = used
            snapshot.rows("ecn")[0]["queue_bytes"], snapshot.rows("pg")[0]["shared_bytes"] = queue, group
            self.assertEqual([tile["value"] for tile in Picture(Two(snapshot, None)).tiles if tile["label"] == "buffer in use"], [shown])
            self.assertTrue(lines(Two(snapshot, None)).lines[0][1].endswith(f" {shown} of 1.00K bytes"))

    def test_without_an_earlier_snapshot_rates_are_0_and_totals_are_there(self):
        picture = Picture(Two(switch(3, 2000), None))
        self.assertEqual((picture.ports[0]["rx"], next(t for t in picture.tiles if t["label"] == "ECN marks")), (0, {"kind": "plain", "label": "ECN marks", "rate": 0.0, "total": 2000}))

    def test_a_round_trip_time_is_the_mean_since_the_snapshot_before(self):
        self.assertEqual(Picture(Two(nic(2, rtt=(30, 4000)), nic(1, rtt=(10, 2000)))).charts["rtt"], {"write": 5e-6})
        for before in (nic(1, rtt=(30, 4000)), nic(1, rtt=(40, 4000)), None):
            self.assertEqual(Picture(Two(nic(2, rtt=(30, 4000)), before)).charts["rtt"], {})

    def test_a_flow_that_was_removed_is_not_in_the_picture(self):
        self.assertEqual(Picture(Two(nic(2, gone=True), None)).bars, [])
        self.assertEqual([mark["at"] for mark in Picture(Two(nic(2, cap=7), None)).bars[0]["marks"]], [7])

    def test_links_and_storms_are_told_once_each(self):
        events = Events()
        steps = [switch(1), switch(2, link="down"), switch(3, link="down", storms=(1, 0)), switch(4, storms=(1, 1)), switch(5, storms=(1, 1))]
        for before, now in zip(steps, steps[1:]):
            events.between(0, Two(now, before))
        self.assertEqual([event["text"] for event in events.all], ["port 0: link down", "port 0, priority 3: storm of pauses", "port 0: link up", "port 0, priority 3: storm is over"])

    def test_drops_that_go_on_are_one_event_that_grows(self):
        events = Events()
        for at in range(1, 4):
            events.between(at, Two(switch(at + 1, drops=2 * at), switch(at, drops=2 * at - 2)))
        events.between(4 + GOES_ON_MS, Two(switch(9, drops=7), switch(8, drops=6)))
        self.assertEqual([event["text"] for event in events.all], ["6 packets dropped at port 0: mmu", "1 packets dropped at port 0: mmu"])

    def test_the_last_events_are_kept(self):
        events = Events()
        for i in range(MOST + 5):
            events.add(i, False, str(i))
        self.assertEqual((len(events.all), events.all[0]["text"]), (MOST, "5"))

    def test_a_viewer_gets_only_the_points_that_it_does_not_have(self):
        history = History()
        for number, charts in enumerate(({"rates": {"a": 1.0}}, {}, {"rates": {"a": 2.0, "b": 3.0}}), 1):
            history.add(number, 10 * number, charts)
        self.assertEqual(history.since(0), {"at_ms": [10, 20, 30], "charts": {"rates": {"a": [1.0, None, 2.0], "b": [None, None, 3.0]}}})
        self.assertEqual(history.since(2), {"at_ms": [30], "charts": {"rates": {"a": [2.0], "b": [3.0]}}})
        self.assertEqual(history.since(3), {"at_ms": [], "charts": {}})

    def test_history_has_bounds(self):
        history = History()
        for number in range(POINTS + 7):
            history.add(number + 1, number, {"rates": {str(i): 0.0 for i in range(MOST_SERIES + 1 if number == POINTS else 1)}})
        found = history.since(0)
        self.assertEqual((len(found["at_ms"]), found["at_ms"][0], len(found["charts"]["rates"])), (POINTS, 7, MOST_SERIES))


if __name__ == "__main__":
    unittest.main()
