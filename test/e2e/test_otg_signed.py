#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Signed raw flows of quench-otg through a quench-switch that changes them: counts, loss, latency and times of frames whose tags, ECN and padding differ
from those that were sent."""
import time

from configs import memif, port, section
from harness import Program, check, check_equal, check_ledger, finish, work_dir
from otg_bed import Otg, raw_flow, value
from desk import Desk, eal, prefix

# Port 0 is untagged in VLAN 10, port 1 tagged. Queue 3 marks every frame that waits with another one.
DUT = section("switch", buffer_bytes="4MB", max_frame_bytes=1600, vlan_filtering="on", wred_queues=3, shaper_burst_ns="2ms") + section(
    "wred", green_min_threshold_bytes=0, green_max_threshold_bytes=0, green_drop_probability="100%") + section(
    "buffer_profile egress_lossy", dynamic="off", static_th_bytes="100KB") + section(
    "qos_map", dscp_to_tc_map="26:3, *:0", tc_to_priority_group_map="*:0", pfc_enable="none") + section("port", link_speed_bps="1G") + port(
    0, access_vlan=10) + port(1, access_vlan=0, tagged_vlans=10)
LEFT, RIGHT = "02:00:00:00:00:01", "02:00:00:00:00:02"
FRAMES, QUEUE = 300, 0


def signed(name, tx, rx, *headers, size=200, frames=FRAMES, pps=2000):
    one = raw_flow(name, tx, *headers, rx=rx, size=size, rate={"choice": "pps", "pps": pps}, duration={"choice": "fixed_packets", "fixed_packets": {"packets": frames}})
    return {**one, "metrics": {"enable": True, "loss": True, "timestamps": True, "latency": {"enable": True, "mode": "cut_through"}}}


def ip(dscp=0, ecn=0):
    return "ipv4", {"src": value("10.0.0.1"), "dst": value("10.0.0.2"), "priority": {"choice": "dscp", "dscp": {"phb": value(dscp), "ecn": value(ecn)}}}


RIGHTWARDS = "ethernet", {"dst": value(RIGHT), "src": value(LEFT)}
LEFTWARDS = "ethernet", {"dst": value(LEFT), "src": value(RIGHT)}
UDP, TAG = ("udp", {"src_port": value(1), "dst_port": value(2)}), ("vlan", {"id": value(10)})
FLOWS = [
    signed("to tagged", "p", "q", RIGHTWARDS, ip(), UDP, size=64),
    signed("to untagged", "q", "p", LEFTWARDS, TAG, ip(), UDP, size=68),
    signed("padded", "q", "p", LEFTWARDS, TAG, ip(), UDP, size=66),
    signed("marked", "p", "q", RIGHTWARDS, ip(26, 2), UDP, size=1000, frames=60),
    signed("held", "p", "q", RIGHTWARDS, ip(), UDP, size=1000, frames=50),
    signed("lost", "p", "q", RIGHTWARDS, ip(), UDP, size=1000),
]


class Bed:
    def __init__(self):
        work = work_dir()
        name = prefix("switch")
        self.switch = Program(work, "switch", "switch", DUT, eal(name, *(memif("server", n, work, n) for n in range(2))), "--idle-sleep", 50)
        self.switch.wait_started()
        self.desk = Desk(name)
        self.otg = Otg(work, {"a": memif("client", 0, work), "b": memif("client", 1, work)})
        check_equal("set_config warns of nothing", self.otg.set_config({"ports": [{"name": "p", "location": "a"}, {"name": "q", "location": "b"}], "flows": FLOWS}),
                    {"warnings": []})
        # The tester's links are up; the switch sees its own a little later, and drops what comes before.
        self.otg.wait("the switch's links", lambda: all(row["link"] == "up" for row in self.desk.rows("ports")))

    def hold(self, on):
        """Port 1 sends nothing, and goes on."""
        self.desk.set(f"port 1.tx_disabled={'on' if on else 'off'}")

    def drops(self):
        return sum(self.desk.call("port", port=0)["drops"].values()) + sum(self.desk.call("port", port=1)["drops"].values())

    def queue(self, number, key):
        return self.desk.rows("queues", port=1)[number][key]

    def send(self, name):
        self.otg.traffic("start", name)
        self.otg.wait(f"the end of {name}", lambda: self.otg.raw(name)["transmit"] == "stopped")


def check_whole(bed, name):
    bed.send(name)
    bed.otg.wait(f"the arrival of {name}", lambda: bed.otg.raw(name)["frames_rx"] == FRAMES)
    row = bed.otg.raw(name)
    check_equal(f"{name}: all arrive", (row["frames_tx"], row["frames_rx"], row["loss"]), (FRAMES, FRAMES, 0))
    return row


def check_changed(bed):
    row = check_whole(bed, "to tagged")
    check_equal("with a tag, frames are longer", row["bytes_rx"], 68 * FRAMES)
    row = check_whole(bed, "to untagged")
    check_equal("without it, shorter", row["bytes_rx"], 64 * FRAMES)
    row = check_whole(bed, "padded")
    check_equal("or as short as frames may be", row["bytes_rx"], 64 * FRAMES)
    before = bed.queue(3, "ecn_marked_packets")
    bed.hold(True)  # so that a queue forms, in which frames are marked
    bed.otg.traffic("start", "marked")
    bed.otg.wait("a queue", lambda: bed.queue(3, "queue_bytes") > 10_000)
    bed.hold(False)
    bed.otg.wait("the arrival of marked", lambda: bed.otg.raw("marked")["frames_rx"] == 60)
    check("some were marked on their way", bed.queue(3, "ecn_marked_packets") > before, bed.queue(3, "ecn_marked_packets"))
    check_equal("marked: nothing is lost", bed.otg.raw("marked")["loss"], 0)


def check_latency(bed):
    """All frames wait in the switch, for at least as long as another flow takes, and no longer than this test sees them."""
    bed.hold(True)
    sent_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    bed.send("held")
    bed.otg.wait("50 frames in the queue", lambda: bed.queue(QUEUE, "queue_bytes") >= 50 * 1000)
    waits_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    check_whole(bed, "to untagged")
    released_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    bed.hold(False)
    bed.otg.wait("their arrival", lambda: bed.otg.raw("held")["frames_rx"] == 50)
    seen_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    row = bed.otg.raw("held")
    latency, times = row["latency"], row["timestamps"]
    bounds = released_ns - waits_ns, latency["minimum_ns"], latency["average_ns"], latency["maximum_ns"], seen_ns - sent_ns
    check("latency is the time in the switch", list(bounds) == sorted(bounds), bounds)
    check("the first frames waited longest", latency["maximum_ns"] > latency["minimum_ns"], latency)
    check("times are those of arrivals", times["last_timestamp_ns"] - times["first_timestamp_ns"] <= seen_ns - released_ns, (times, released_ns, seen_ns))


def check_loss(bed):
    """The queue has a limit: what the switch drops is what the flow misses."""
    before = bed.drops()
    bed.hold(True)
    bed.send("lost")
    bed.otg.wait("all frames at the switch", lambda: bed.queue(QUEUE, "queue_bytes") // 1000 + bed.drops() - before >= FRAMES - 10)
    bed.hold(False)
    bed.otg.wait("an empty queue", lambda: bed.queue(QUEUE, "queue_bytes") == 0)
    bed.otg.wait("the arrival of the rest", lambda: bed.otg.raw("lost")["frames_rx"] == FRAMES - (bed.drops() - before))
    row, dropped = bed.otg.raw("lost"), bed.drops() - before
    check("some are lost, and some are not", 0 < dropped < FRAMES, dropped)
    check_equal("frames that arrived, and their share", (row["frames_rx"], round(row["loss"], 6)), (FRAMES - dropped, round(100 * dropped / FRAMES, 6)))


def main():
    bed = Bed()
    check_changed(bed)
    check_latency(bed)
    check_loss(bed)
    check_equal("quench-otg ends well", bed.otg.stop(), 0)
    check_equal("the switch ends well", bed.switch.stop(), 0)
    check_ledger("switch", bed.switch.json())
    finish()


main()
