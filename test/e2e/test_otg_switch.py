#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ten tests that switches get from testers, by the Open Traffic Generator API: quench-switch is the device under test.

They follow the test plans of sonic-mgmt (docs/testplan: PFC pause on lossless and on lossy priorities, global pause, headroom, PFC watchdog, ECN
accuracy and ECN at the egress, oversubscription) and its tests of RoCEv2 (tests/snappi_tests). Ports "tx" and "tx2" send to port "rx". A receiver
that no longer drains what it got is the storm of pauses. Links have 100 Mb/s, so that a pause lasts for a third of a second: no process on a busy
machine misses its refresh. Verdicts are counts and ratios of the API and of the switch, never times.
"""
from configs import memif, port, section
from harness import Program, check, check_equal, check_ledger, finish, until, work_dir
from otg_bed import Otg, device, flow, pfc, raw_flow, settings, tx_port, value
from ctl import controller
from desk import Desk, eal, prefix

LINK, EGRESS = "100M", "20M"
DSCP = {0: 0, 3: 26, 4: 32}  # by priority
MAPS = section("qos_map", dscp_to_tc_map="24:3, 26:3, 32:4, 48:7, *:0", tc_to_priority_group_map="3:3, 4:4, 7:7, *:0", pfc_enable="3,4")
DUT = f"""
[switch]
buffer_bytes = 8MB
wred_queues = 3,4
max_frame_bytes = 1600
shaper_burst_ns = 2ms
[wred]
green_min_threshold_bytes = 2MB
green_max_threshold_bytes = 2MB
green_drop_probability = 100%
[pfcwd]
pfcwd = off
detection_time_ns = 200ms
restoration_time_ns = 2s
poll_interval_ns = 50ms
[buffer_profile lossless]
dynamic = off
static_th_bytes = 1MB
xon_bytes = 900KB
xoff_bytes = 500KB
[buffer_profile egress_lossy]
dynamic = off
static_th_bytes = 1MB
""" + MAPS + section("port", link_speed_bps=LINK) + port(0) + port(1) + port(2)
TX, TX2, RX = range(3)
# The receiver takes frames and drains none; a priority with PFC is paused from its first frame on.
STUCK = section("receiver", drain_rate_bps="0.001K", xoff_bytes="0.001KB", xon_bytes=0, buffer_bytes="2GiB")
# Its NIC ends the storm by itself, as NICs with a limit on pauses do.
STORM = STUCK + section("receiver", device_stall_minor_watermark_ns=0, device_stall_critical_watermark_ns="ENDS").split("\n", 1)[1]
LINK_PAUSE = {"flow_control": {"choice": "ieee_802_3x"}}
NO_DCQCN = {"enable_dcqcn": False}
# Timers are longer than a CNP takes on a busy machine, 100 ms: else rates are back at the link's before it comes.
DCQCN = {"minimum_rate_limmit": 1, "additive_increment_rate": 0.2, "hyper_increment_rate": 1, "rate_increment_threshold": 5, "rate_increment_time": 100_000,
         "rate_reduction_time_period": 5000, "alpha_update_period": 50_000, "initial_rate_after_first_cnp": 50, "maximum_rate_decrement_at_time": 50}


class Switch:
    """The device under test: counts of it, and live changes."""

    def __init__(self, work, more):
        self.prefix = prefix(work.name[-4:])
        self.program = Program(work, "switch", "switch", DUT + more, eal(self.prefix, *(memif("server", n, work, n) for n in range(3))), "--idle-sleep", 500)
        self.program.wait_started()
        self.desk = Desk(self.prefix)
        self.ctl = controller(self.prefix)

    def set(self, *changes):
        done = self.ctl("set", *changes)
        said = [line for line in done.stderr.splitlines() if not line.startswith("quenchctl: warning: ")]
        check_equal(f"the switch takes {' '.join(changes)}", (done.returncode, said), (0, []))

    def hold(self, on):
        """The egress port sends no data, and goes on to send it. It does so when this returns."""
        until(lambda: self.desk.set(f"port {RX}.tx_disabled={'on' if on else 'off'}")["in_force"])

    def port(self, number, key):
        return self.desk.call("port", port=number)[key]

    def queue(self, key, queue=3):
        return self.desk.rows("queues", port=RX)[queue][key]

    def clear(self):
        self.desk.call("clear_watermark", kind="queue")

    def watchdog(self, prio):
        return next(row for row in self.desk.rows("pfcwd") if (row["port"], row["prio"]) == (RX, prio))

    def drops(self):
        """By reason, over all ports; those of ports whose NIC is not there do not count."""
        found = {}
        for number in range(3):
            for reason, n in self.desk.call("port", port=number)["drops"].items():
                if n and reason != "link_down":
                    found[reason] = found.get(reason, 0) + n
        return found


def since(now, before):
    return {key: n - before.get(key, 0) for key, n in now.items() if n != before.get(key, 0)}


class Bed:
    """The switch, and quench-otg with its NICs around it."""

    def __init__(self, more=""):
        """more: keys of the switch's port to the receiver"""
        work = work_dir()
        self.switch = Switch(work, more)
        receivers = {"drains": "", "stuck": STUCK, "storm": STORM.replace("ENDS", "1500ms"), "blip": STORM.replace("ENDS", "1ms")}
        places = {"a": memif("client", 0, work), "c": memif("client", 1, work), **{name: memif("client", 2, work) for name in receivers}}
        self.otg = Otg(work, places, speed=LINK, bases={name: MAPS + receivers.get(name, "") for name in places})

    def configure(self, flows, receiver="drains", pauses=None, dcqcn=None, percents=(98, 98), kilobytes=64, raws=(), lossless=()):
        """flows: {name: (port that sends, priority)}; pauses: layer 1 of the receiver; raws: raw flows; lossless: ports whose frames are never lost."""
        ports = ["tx", "tx2"] if any(sender == "tx2" for sender, _ in flows.values()) else ["tx"]
        hosts = {name: n + 1 for n, name in enumerate(ports)}
        qps = {name: {3: []} for name in ports}
        answers = {hosts[name]: [] for name in ports}
        for n, (name, (sender, prio)) in enumerate(flows.items()):
            qps[sender][3].append((f"t {name}", 100 + n, {"dscp": DSCP[prio]}))
            answers[hosts[sender]].append((f"r {name}", 300 + n, {"dscp": DSCP[prio]}))
        layer1 = [{**pfc(ports), "name": "senders"}]
        layer1.append({**(pauses or pfc(["rx"])), "name": "receiver", "port_names": ["rx"]})
        config = {
            "ports": [{"name": name, "location": place} for name, place in zip([*ports, "rx"], [*"ac"[:len(ports)], receiver])],
            "layer1": layer1,
            "devices": [*(device(hosts[name], name, qps[name]) for name in ports), device(3, "rx", answers)],
            "options": {"per_port_options": [settings(name, name not in lossless, **(dcqcn or NO_DCQCN)) for name in [*ports, "rx"]]},
            "flows": list(raws),
            "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [
                tx_port(name, [flow(f, f"t {f}", f"r {f}", kilobytes) for f, (sender, _) in flows.items() if sender == name], percent)
                for name, percent in zip(ports, percents)]}]},
        }
        check_equal("set_config warns of nothing", self.otg.set_config(config), {"warnings": []})
        self.before = self.switch.drops()

    def row(self, name):
        return self.otg.flow(name)

    def received(self, name):
        return self.row(name)["data_frames_rx"]

    def wait_more(self, name, frames):
        start = self.received(name)
        self.otg.wait(f"{frames} more frames of {name}", lambda: self.received(name) >= start + frames)

    def wait_full(self, least):
        """The window of the senders is full: the queue no longer grows."""
        seen = [-1]

        def same():
            before, seen[0] = seen[0], self.switch.queue("queue_bytes")
            return seen[0] == before and before > least
        self.otg.wait("a queue that does not grow", same)

    def finish(self):
        """Stop, wait until all that began is complete, and compare both ends."""
        self.otg.traffic("stop")
        self.otg.wait_quiet()
        rows = {row["flow_name"]: row for row in self.otg.metrics("rocev2_flow")}
        for name, row in rows.items():
            check_equal(f"{name}: every message arrived", row["message_complete_rx"], row["message_tx"])
        return rows

    def check_no_loss(self):
        check_equal("the switch dropped nothing", since(self.switch.drops(), self.before), {})

    def off(self, **classes):
        """PFC of the receiver for these priorities only."""
        return pfc(["rx"], **{f"pfc_class_{n}": n if f"pfc_class_{n}" in classes else None for n in range(8)})


def is_blocked(bed, blocked, free):
    """None of a flow passes while many frames of another do."""
    for name in blocked:
        bed.otg.wait(f"{name} begins", lambda name=name: bed.row(name)["data_frames_tx"] > 0)
    bed.wait_more(free, 50)
    before = {name: bed.received(name) for name in blocked}
    bed.wait_more(free, 1000)
    for name in blocked:
        check_equal(f"no frame of {name} passes while 1000 frames of {free} do", bed.received(name), before[name])


def pfc_pause_on_a_lossless_priority(bed):
    """The paused priority stops, at the switch and then at the sender, without loss; the background does not notice."""
    bed.configure({"test": ("tx", 3), "background": ("tx", 0)}, "stuck", bed.off(pfc_class_3=3))
    before = bed.switch.port(RX, "rx_prio3_pause")
    bed.otg.traffic("start")
    bed.otg.wait("a pause", lambda: bed.switch.port(RX, "rx_prio3_pause") > before)
    is_blocked(bed, ["test"], "background")
    check("the storm goes on", bed.switch.port(RX, "rx_prio3_pause") > before + 1)
    row = bed.row("test")
    check("what was sent is in the switch", row["data_frames_tx"] * 1100 < 8e6 and bed.switch.queue("queue_bytes") > 0, row)
    bed.check_no_loss()


def pfc_pause_by_raw_frames(bed):
    """A storm of PFC frames of a raw flow stops the priority of their vector, as long as it lasts."""
    storm = raw_flow("storm", "rx", ("pfcpause", {"src": value("00:00:fa:ce:fa:ce"), "class_enable_vector": value(1 << 3), "pause_class_3": value(0xFFFF)}),
                     rate={"choice": "pps", "pps": 30})
    bed.configure({"test": ("tx", 3), "background": ("tx", 0)}, raws=[storm])
    before = bed.switch.port(RX, "rx_prio3_pause")
    bed.otg.traffic("start", "test", "background")
    bed.wait_more("test", 200)
    bed.otg.traffic("start", "storm")
    bed.otg.wait("pauses", lambda: bed.switch.port(RX, "rx_prio3_pause") > before + 2)
    is_blocked(bed, ["test"], "background")
    check("the raw flow is started, and its frames are counted", bed.otg.raw("storm")["transmit"] == "started" and bed.otg.raw("storm")["frames_tx"] > 2)
    bed.otg.traffic("stop", "storm")
    bed.wait_more("test", 500)
    sent = bed.otg.raw("storm")
    check_equal("it is stopped, and each frame arrived", (sent["transmit"], sent["frames_tx"], sent["bytes_tx"]),
                ("stopped", bed.switch.port(RX, "rx_prio3_pause") - before, 64 * sent["frames_tx"]))
    bed.finish()
    bed.check_no_loss()


def pfc_pause_on_a_lossy_priority(bed):
    """PFC frames for a priority without PFC stop nothing."""
    bed.configure({"test": ("tx", 0), "background": ("tx", 3)}, "stuck", bed.off(pfc_class_0=0), percents=(50,), lossless=["tx"])
    before = bed.switch.port(RX, "rx_prio0_pause")
    bed.otg.traffic("start")
    bed.otg.wait("a pause", lambda: bed.switch.port(RX, "rx_prio0_pause") > before)
    bed.wait_more("test", 1000)
    bed.wait_more("background", 200)
    rows = bed.finish()
    check("the pauses were for priority 0", bed.switch.port(RX, "rx_prio0_pause") > before)
    check_equal("no frame is lost", [row["frame_delta"] + row["data_frames_retransmitted"] for row in rows.values()], [0, 0])
    bed.check_no_loss()


def pfc_watchdog(bed):
    """A long storm is detected, its traffic dropped, and the queue restored; a short one is not detected."""
    bed.switch.set("pfcwd.pfcwd=sonic")
    bed.configure({"test": ("tx", 3), "background": ("tx", 0)}, "storm", bed.off(pfc_class_3=3))
    old = bed.switch.watchdog(3)
    bed.otg.traffic("start")
    bed.otg.wait("a detected storm", lambda: bed.switch.watchdog(3)["deadlock_detected"] > old["deadlock_detected"])
    bed.otg.wait("its end", lambda: bed.switch.watchdog(3)["deadlock_restored"] > old["deadlock_restored"])
    drops = since(bed.switch.drops(), bed.before)
    check("frames of the storm were dropped, and no others", drops.keys() == {"pfc_watchdog"}, drops)
    now = bed.switch.watchdog(3)
    check_equal("one storm", now["deadlock_detected"] - old["deadlock_detected"], 1)
    check("its drops are counted", now["tx_dropped_packets"] + now["rx_dropped_packets"] > old["tx_dropped_packets"] + old["rx_dropped_packets"], now)
    bed.wait_more("test", 500)
    rows = bed.finish()
    check("what the watchdog dropped was sent again", rows["test"]["data_frames_retransmitted"] > 0, rows["test"])
    check_equal("the background lost nothing", rows["background"]["data_frames_retransmitted"], 0)
    # The storm's pauses may come too late for one storm, where the NIC gets no CPU.
    again = bed.switch.watchdog(3)["deadlock_detected"] - now["deadlock_detected"]
    later = since(bed.switch.drops(), bed.before)
    check("nothing is dropped after the end", later == drops or (again == 1 and later.keys() == {"pfc_watchdog"}), (again, drops, later))

    bed.switch.set("pfcwd.detection_time_ns=30s")
    bed.configure({"test": ("tx", 3), "background": ("tx", 0)}, "blip", bed.off(pfc_class_3=3), lossless=["tx"])
    old = bed.switch.watchdog(3)
    pauses = bed.switch.port(RX, "rx_prio3_pause")
    bed.otg.traffic("start")
    bed.wait_more("test", 500)
    rows = bed.finish()
    check("there was a pause", bed.switch.port(RX, "rx_prio3_pause") > pauses)
    check_equal("a short one is no storm", bed.switch.watchdog(3)["deadlock_detected"], old["deadlock_detected"])
    check_equal("and nothing was sent again", rows["test"]["data_frames_retransmitted"], 0)
    bed.check_no_loss()
    bed.switch.set("pfcwd.pfcwd=off", "pfcwd.detection_time_ns=200ms")


def ecn_marks_at_dequeue(bed):
    """A known queue leaves a blocked port: those frames are marked that leave more than the threshold in the queue, and none before it is released."""
    threshold = 250_000
    bed.switch.set(f"wred.Kmin={threshold}", f"wred.Kmax={threshold}", "wred.Pmax=100%")
    bed.switch.hold(True)
    bed.configure({"test": ("tx", 3)})
    old = bed.switch.queue("ecn_marked_packets")
    bed.otg.traffic("start")
    bed.wait_full(threshold)
    bed.otg.traffic("stop")
    bed.wait_full(threshold)
    frames, queued = bed.row("test")["data_frames_tx"], bed.switch.queue("queue_bytes")
    check_equal("frames that wait are not marked", (bed.switch.queue("ecn_marked_packets") - old, bed.received("test")), (0, 0))
    sent = bed.switch.queue("tx_packets")
    bed.switch.hold(False)
    rows = bed.finish()
    marked = bed.switch.queue("ecn_marked_packets") - old
    print(f"# {frames} frames of {queued} bytes in the queue, {marked} marked")
    left = bed.switch.queue("tx_packets") - sent - frames
    # The messages that began are complete: their rest came after the release, while the queue was above the threshold, or below.
    expected = (queued - threshold) * frames // queued
    check("marks are those of the curve", expected - 2 <= marked <= expected + 2 + left, (expected, marked, left))
    check_equal("the receiver got each mark", rows["test"]["ecn_ce_rx"], marked)
    check_equal("and answered with CNPs that arrived", rows["test"]["cnp_rx"], rows["test"]["cnp_tx"])
    check("not all were marked, and some were", 0 < marked < rows["test"]["data_frames_rx"], marked)
    bed.check_no_loss()
    bed.switch.set("wred.Kmin=2MB", "wred.Kmax=2MB")


def cnp_back_off(bed):
    """CNPs cut the rate: the queue of a bottleneck stays shorter than without them, and the bottleneck stays full."""
    longest = {}
    for dcqcn in (NO_DCQCN, DCQCN):
        bed.switch.set("wred.Kmin=20KB", "wred.Kmax=200KB", "wred.Pmax=100%", f"port {RX}.shaper_rate_bps={EGRESS}")
        bed.configure({"test": ("tx", 3)}, dcqcn=dcqcn)
        bed.otg.traffic("start")
        bed.wait_more("test", 1500)
        bed.switch.clear()
        bed.wait_more("test", 700)
        longest[dcqcn is DCQCN] = bed.switch.queue("watermark_bytes")
        rows = bed.finish()
        check("marks became CNPs", 0 < rows["test"]["cnp_rx"] == rows["test"]["cnp_tx"] <= rows["test"]["ecn_ce_rx"], rows)
        if dcqcn is DCQCN:
            qp = Desk(f"{bed.otg.prefix}-a").call("qp", qpn=100)
            check("the rate was cut, and recovered", qp["rate_cuts"] > 0 and qp["rate_bps"] > qp["min_rate_bps"], qp)
        bed.check_no_loss()
    print(f"# longest queue with CNPs {longest[True]}, without {longest[False]}")
    check("the queue is shorter", longest[True] < 0.7 * longest[False], longest)
    bed.switch.set("wred.Kmin=2MB", "wred.Kmax=2MB", f"port {RX}.shaper_rate_bps=0")


def incast(bed):
    """Two senders, one receiver. Without DCQCN, PFC holds the senders; with it, CNPs do, and there are fewer pauses."""
    pauses = {}
    bed.switch.set("wred.Kmin=20KB", "wred.Kmax=150KB", "wred.Pmax=100%", f"port {RX}.shaper_rate_bps={EGRESS}",
                   "buffer_profile lossless.static_th_bytes=200KB", "buffer_profile lossless.xon_bytes=150KB")
    for dcqcn in (NO_DCQCN, DCQCN):
        bed.configure({"one": ("tx", 3), "two": ("tx2", 3)}, dcqcn=dcqcn, lossless=["tx", "tx2"])
        bed.otg.traffic("start")
        bed.wait_more("one", 500)
        bed.wait_more("two", 500)
        old = sum(bed.switch.port(n, "tx_prio3_pause_transition") for n in (TX, TX2))
        got = bed.switch.queue("tx_packets")
        bed.wait_more("one", 500)
        bed.wait_more("two", 500)
        new = sum(bed.switch.port(n, "tx_prio3_pause_transition") for n in (TX, TX2))
        pauses[dcqcn is DCQCN] = 1000 * (new - old) / (bed.switch.queue("tx_packets") - got)
        rows = bed.finish()
        check_equal("nothing is sent again", [row["data_frames_retransmitted"] for row in rows.values()], [0, 0])
        check("CNPs go to both", all(row["cnp_rx"] > 0 for row in rows.values()), rows)
        bed.check_no_loss()
    print(f"# pauses for 1000 frames with DCQCN {pauses[True]:.2f}, without {pauses[False]:.2f}")
    check("without DCQCN, PFC holds the senders", pauses[False] > 0, pauses)
    check("with DCQCN, there are fewer pauses", pauses[True] < pauses[False] / 2, pauses)
    bed.switch.set("wred.Kmin=2MB", "wred.Kmax=2MB", f"port {RX}.shaper_rate_bps=0", "buffer_profile lossless.static_th_bytes=1MB",
                   "buffer_profile lossless.xon_bytes=900KB")


def check_shares(bed):
    """Of a port whose queues 3 and 0 wait all the time: queue 3 has six times the weight. A sender that has no CPU leaves queue 3 empty, so both are filled before."""
    bed.switch.hold(True)
    bed.wait_full(150_000)
    before = bed.switch.desk.rows("queues", port=RX)
    bed.switch.set(f"port {RX}.shaper_rate_bps=1M")
    bed.switch.hold(False)
    bed.otg.wait("frames of queue 3", lambda: bed.switch.queue("tx_packets") - before[3]["tx_packets"] >= 110)
    # Rows are read one after another: nothing moves meanwhile.
    bed.switch.hold(True)
    now = bed.switch.desk.rows("queues", port=RX)
    bed.switch.hold(False)

    def sent(queue, key="tx_packets"):
        return now[queue][key] - before[queue][key]
    check("both queues waited all the time", sent(3, "tx_bytes") < before[3]["queue_bytes"] and now[0]["queue_bytes"] > 0, (before[3], now[3], now[0]))
    # To within a turn of each queue (8 and 1.4 frames) at the begin and at the end, and requests for addresses, which queue 0 carries too.
    check("they share the port by their weights", abs(sent(3) / 6 - sent(0)) <= 4, (sent(3), sent(0), sent(3, "tx_bytes"), sent(0, "tx_bytes")))
    bed.switch.set(f"port {RX}.shaper_rate_bps={EGRESS}")


def pfc_under_congestion(bed):
    """Lossless and lossy traffic oversubscribe a port: PFC holds the one without loss, the other loses frames and gets no pause."""
    bed.switch.set(f"port {RX}.shaper_rate_bps={EGRESS}", "buffer_profile lossless.static_th_bytes=200KB", "buffer_profile lossless.xon_bytes=150KB",
                   "buffer_profile egress_lossy.static_th_bytes=100KB")
    bed.configure({"lossless": ("tx", 3), "lossy": ("tx2", 0)}, lossless=["tx"])
    old = {(n, prio): bed.switch.port(n, f"tx_prio{prio}_pause") for n in (TX, TX2) for prio in (0, 3)}
    bed.otg.traffic("start")
    bed.wait_more("lossless", 1500)
    bed.wait_more("lossy", 100)
    check_shares(bed)
    bed.otg.traffic("stop")
    bed.otg.wait("all lossless messages", lambda: bed.row("lossless")["message_tx"] == bed.row("lossless")["message_complete_rx"] and
                 bed.row("lossless")["frame_delta"] == 0)
    rows = {row["flow_name"]: row for row in bed.otg.metrics("rocev2_flow")}
    new = {(n, prio): bed.switch.port(n, f"tx_prio{prio}_pause") - old[n, prio] for n, prio in old}
    drops = since(bed.switch.drops(), bed.before)
    check("the lossless sender is paused", new[TX, 3] > 0, new)
    check_equal("nobody else is", [n for key, n in new.items() if key != (TX, 3)], [0, 0, 0])
    check("the lossy queue is at its limit", drops.keys() == {"queue_limit"}, drops)
    check_equal("no lossless frame is sent again", rows["lossless"]["data_frames_retransmitted"], 0)
    check("lossy frames are", rows["lossy"]["data_frames_retransmitted"] > 0, rows["lossy"])
    bed.switch.set(f"port {RX}.shaper_rate_bps=0", "buffer_profile lossless.static_th_bytes=1MB", "buffer_profile lossless.xon_bytes=900KB",
                   "buffer_profile egress_lossy.static_th_bytes=1MB")


def headroom(bed):
    """Frames that arrive after XOFF fit into the headroom; with less than a frame of it they are lost."""
    bed.switch.set(f"port {RX}.shaper_rate_bps={EGRESS}", "buffer_profile lossless.static_th_bytes=100KB", "buffer_profile lossless.xon_bytes=80KB",
                   "buffer_profile lossless.xoff_bytes=500KB")
    bed.configure({"test": ("tx", 3)})
    old = bed.switch.port(TX, "tx_prio3_pause_transition")
    bed.otg.traffic("start")
    bed.otg.wait("ten pauses", lambda: bed.switch.port(TX, "tx_prio3_pause_transition") > old + 10)
    bed.finish()
    bed.check_no_loss()
    bed.switch.set("buffer_profile lossless.xoff_bytes=100")
    bed.otg.traffic("start")
    bed.otg.wait("a frame that is lost", lambda: since(bed.switch.drops(), bed.before).keys() == {"no_headroom"})
    bed.otg.wait("and sent again", lambda: bed.row("test")["data_frames_retransmitted"] > 0)
    bed.switch.set(f"port {RX}.shaper_rate_bps=0", "buffer_profile lossless.static_th_bytes=1MB", "buffer_profile lossless.xon_bytes=900KB",
                   "buffer_profile lossless.xoff_bytes=500KB")


def global_pause(bed):
    """A port with PFC ignores 802.3x pauses."""
    bed.configure({"test": ("tx", 3), "background": ("tx", 0)}, "stuck", LINK_PAUSE, lossless=["tx"])
    old = bed.switch.port(RX, "rx_global_pause_frames")
    bed.otg.traffic("start")
    bed.otg.wait("a pause", lambda: bed.switch.port(RX, "rx_global_pause_frames") > old)
    bed.wait_more("test", 1000)
    bed.wait_more("background", 200)
    rows = bed.finish()
    check_equal("all that was sent arrives", [row["frame_delta"] + row["data_frames_retransmitted"] for row in rows.values()], [0, 0])
    bed.check_no_loss()


def global_pause_with_link_pause(bed):
    """A port with link pause obeys them, for all priorities."""
    flows = {"test": ("tx", 3), "background": ("tx", 0)}
    bed.configure(flows, "stuck", LINK_PAUSE)
    bed.otg.traffic("start")
    bed.wait_full(0)

    def held():
        before = [bed.received(name) for name in flows]
        seen = bed.switch.port(RX, "rx_global_pause_frames")
        bed.otg.wait("more pauses", lambda: bed.switch.port(RX, "rx_global_pause_frames") > seen + 2)
        return [bed.received(name) for name in flows] == before

    # A pause lasts 33 ms: the tester of a busy machine may be late with one.
    check("nothing is sent from a pause to the third after it", until(held))


def two_priorities(bed):
    """A pause of one lossless priority leaves the other alone; both together stop both."""
    flows = {"three": ("tx", 3), "four": ("tx", 4), "background": ("tx", 0)}
    bed.configure(flows, "stuck", bed.off(pfc_class_3=3))
    bed.otg.traffic("start")
    is_blocked(bed, ["three"], "four")
    bed.check_no_loss()
    bed.configure(flows, "stuck", bed.off(pfc_class_3=3, pfc_class_4=4))
    bed.otg.traffic("start")
    is_blocked(bed, ["three", "four"], "background")
    bed.check_no_loss()


def run(bed, *tests):
    for test in tests:
        print(f"# {test.__name__}", flush=True)
        test(bed)
    check_equal("quench-otg ends well", bed.otg.stop(), 0)
    check_equal("the switch ends well", bed.switch.program.stop(), 0)
    check_ledger("switch", bed.switch.program.json())


run(Bed(), pfc_pause_on_a_lossless_priority, pfc_pause_by_raw_frames, pfc_pause_on_a_lossy_priority, pfc_watchdog, ecn_marks_at_dequeue, cnp_back_off, incast,
    pfc_under_congestion, headroom, global_pause, two_priorities)
run(Bed("flow_control = pause\n"), global_pause_with_link_pause)
finish()
