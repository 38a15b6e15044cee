#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The acceptance suite over real devices: buffer, maps, scheduler, marks, pauses and watchdog, frame by frame.

What virtual time proves packet by packet (acceptance/), the program does on net_pcap ports. Only counts and the order of
frames are looked at; the times that the device gives to what it sends are compared with each other, never with a clock.
"""
import itertools
import time

from frames import CE, ECT0, NOT_ECT, ecn_of, pause_frame, pfc_frame, roce
from harness import PATIENCE_S, check, check_equal, finish, work_dir
from on_devices import DATA_BYTES, RECEIVER, SENDER, Run, data, dscp_of

LIMIT, HEADROOM, XON_BELOW, LOSSY_LIMIT, OFFERED = 10, 5, 3, 7, 30
FOREVER = 65535  # quanta: half a minute at 1 Mb/s
# A second and a half: far longer than a machine stands still before it reads the other captures.
A_WHILE = {"1M": 3000, "10M": 30000}

LIMITS = f"""
[switch]
buffer_bytes = 1MB
max_frame_bytes = 1600
shaper_burst_ns = 1
wred_queues = none
[qos_map]
dscp_to_tc_map = 26:3, 0:2, *:0
tc_to_priority_group_map = 2:2, 3:3, *:0
pfc_enable = 2-3
[pg 2]
buffer_profile = open
[buffer_profile open]
dynamic = off
[queue 2]
buffer_profile = short
[buffer_profile short]
dynamic = off
static_th_bytes = {LOSSY_LIMIT * DATA_BYTES}
[buffer_profile lossless]
dynamic = off
static_th_bytes = {LIMIT * DATA_BYTES}
xon_offset_bytes = {XON_BELOW * DATA_BYTES}
xoff_bytes = {HEADROOM * DATA_BYTES}
[port]
link_speed_bps = 1M
"""

# Room for all that a capture holds; each test says what is different.
ROOMY = """
[switch]
buffer_bytes = 8MB
max_frame_bytes = 1600
shaper_burst_ns = 1
{switch}
[buffer_profile lossless]
xoff_bytes = 100KB
[buffer_profile open]
dynamic = off
[port]
link_speed_bps = {speed}
{port}
"""


def roomy(switch="wred_queues = none", speed="1M", port="", more=""):
    return ROOMY.format(switch=switch, speed=speed, port=port) + more


def hold(quanta, *prios):
    return pfc_frame(RECEIVER, sum(1 << p for p in prios), [quanta if p in prios else 0 for p in range(8)])


def limits(work):
    """XOFF limit, headroom edge, watermarks, lossy queue limit."""
    run = Run(work, "limits", LIMITS, [hold(FOREVER, 2, 3)], data(OFFERED) + data(OFFERED, dscp=0))
    yield
    run.end("no more frames", run.program.quiet)
    receiver, sender = run.ports
    check_equal("limits: the receiver got nothing", run.sent(), [])
    check_equal("limits: XOFF for priority 3, once, of the longest time", [(e, t[3]) for _, e, t in run.pauses(1)],
                [(8, 65535)])
    pg, queue = sender["pgs"][3], receiver["queues"][3]
    check_equal("limits: PG shared watermark", pg["shared_watermark_bytes"], LIMIT * DATA_BYTES)
    check_equal("limits: PG headroom watermark", pg["headroom_watermark_bytes"], HEADROOM * DATA_BYTES)
    check_equal("limits: queue watermark", queue["watermark_bytes"], (LIMIT + HEADROOM) * DATA_BYTES)
    check_equal("limits: limited queue's watermark", receiver["queues"][2]["watermark_bytes"], LOSSY_LIMIT * DATA_BYTES)
    check_equal("limits: first drop after the headroom, and after the queue's limit", run.drops(),
                {"no_headroom 1": OFFERED - LIMIT - HEADROOM, "queue_limit 0": OFFERED - LOSSY_LIMIT})
    check_equal("limits: what is queued", run.result["ledger"]["queued"], (LIMIT + HEADROOM + LOSSY_LIMIT) * DATA_BYTES)


def xon_limit(work):
    """XON comes with the departure that brings the group below its mark, not before and not later."""
    run = Run(work, "xon", LIMITS, [hold(A_WHILE["1M"], 3)], data(LIMIT + HEADROOM))
    yield
    run.end("an empty buffer", run.emptied)
    sent, pauses = run.sent(), run.pauses(1)
    check_equal("xon: all arrive in order", [f for _, f in sent], data(LIMIT + HEADROOM))
    if not check_equal("xon: XOFF, then XON", [t[3] for _, _, t in pauses], [65535, 0]):
        return
    departures = sum(t <= pauses[1][0] for t, _ in sent)
    check_equal("xon: XON after departure m", departures, HEADROOM + XON_BELOW)
    check("xon: XOFF before the first departure", pauses[0][0] < sent[0][0])
    check_equal("xon: no drop", run.drops(), {})


def maps(work):
    """Each DSCP to its traffic class, from there to its queue and its priority group; IPv4 and IPv6."""
    to_queue = [7, 6, 5, 4, 3, 2, 1, 0]
    to_pg = [1, 0, 3, 2, 5, 4, 7, 6]
    to_tc = [dscp // 8 * 5 % 8 for dscp in range(64)]
    words = "[qos_map]\npfc_enable = none\ndscp_to_tc_map = "
    words += ", ".join(f"{first}-{first + 7}:{to_tc[first]}" for first in range(0, 64, 8)) + "\n"
    for key, of in (("tc_to_queue_map", to_queue), ("tc_to_priority_group_map", to_pg)):
        words += f"{key} = " + ", ".join(f"{i}:{of[i]}" for i in range(8)) + "\n"
    # DSCP d comes d + 1 times, so that no two maps give the same counts.
    frames = [f for dscp in range(64) for f in data(dscp + 1, dscp=dscp, frame_bytes=100)]
    frames += [roce(SENDER, RECEIVER, "fd00::1", "fd00::f0", 0xC002, dscp, dscp, ECT0, bytes(16)) for dscp in range(64)]
    run = Run(work, "maps", roomy(speed="1G") + words, [], frames)
    yield
    run.end("all frames", lambda: run.emptied() and run.program.quiet())
    per_tc = [sum(dscp + 2 for dscp in range(64) if to_tc[dscp] == tc) for tc in range(8)]
    check_equal("maps: DSCP to queue", [q["tx_packets"] for q in run.ports[0]["queues"]],
                [per_tc[to_queue.index(q)] for q in range(8)])
    check_equal("maps: DSCP to priority group", [pg["rx_packets"] for pg in run.ports[1]["pgs"]],
                [per_tc[to_pg.index(pg)] for pg in range(8)])
    check_equal("maps: each came out once", sorted(f for _, f in run.sent()), sorted(frames))


def dwrr_shares(work):
    """Strict first, then bytes by weight whatever the sizes of frames, while all have some."""
    weights, sizes, counts = {0: 10, 1: 25, 2: 65}, {0: 200, 1: 1086, 2: 600}, {0: 300, 1: 120, 2: 500}
    words = "[scheduler]\nstrict_queues = 7\ndwrr_weight = " + ", ".join(f"{q}:{w}" for q, w in weights.items()) + ", *:10\n"
    words += "[qos_map]\ndscp_to_tc_map = 0:0, 1:1, 2:2, 48:7, *:3\n"
    frames = [f for q in weights for f in data(counts[q], dscp=q, frame_bytes=sizes[q])] + data(5, dscp=48)
    run = Run(work, "dwrr", roomy(speed="10M", port="pfc_asymmetric = on") + words, [hold(A_WHILE["10M"], *range(8))], frames)
    yield
    run.end("an empty buffer", run.emptied)
    order = [dscp_of(f) for _, f in run.sent()]
    check_equal("dwrr: the strict queue leaves first", order[:5], [48] * 5)
    check_equal("dwrr: everything leaves", len(order), len(frames))
    order = order[5:]
    # Until a queue has no more.
    window = order[:min(len(order) - order[::-1].index(q) for q in weights)]
    wire = {q: window.count(q) * (sizes[q] + 20) for q in weights}
    for q, weight in weights.items():
        share, due = wire[q] / sum(wire.values()), weight / sum(weights.values())
        print(f"# dwrr: queue {q} got {share:.4f}, due {due:.4f}")
        check(f"dwrr: share of queue {q} within 5 %", abs(share - due) <= 0.05 * due, (share, due, len(window)))


MARKS = """
[wred]
wred_green_enable = on
ecn = ecn_all
green_min_threshold_bytes = {low}
green_max_threshold_bytes = {high}
green_drop_probability_ppm = {ppm}
"""
ROOM_FOR_ALL = "[pg 3]\nbuffer_profile = generous\n[buffer_profile generous]\ndynamic = off\nxoff_bytes = 2MB\n"


def cut_off(work, at):
    """Min = max, probability 1: marks by the length that the frame leaves behind, or that it finds before it."""
    n, threshold = 40, 12
    words = MARKS.format(low=threshold * DATA_BYTES, high=threshold * DATA_BYTES, ppm=1000000)
    run = Run(work, at, roomy(f"wred_queues = 3\nmark_at = {at}", "10M") + words, [hold(A_WHILE["10M"], 3)],
              data(n) + data(1, ecn=NOT_ECT))
    yield
    run.end("an empty buffer", run.emptied)
    ecn = [ecn_of(f) for _, f in run.sent()]
    # Behind frame i are n - i others, the Not-ECT one among them; before it are i.
    expected = [CE if (n - i if at == "dequeue" else i) > threshold else ECT0 for i in range(n)] + [NOT_ECT]
    check_equal(f"marks at {at}: those that see more than the threshold, and never Not-ECT", ecn, expected)
    check_equal(f"marks at {at}: counted", run.ports[0]["queues"][3]["ecn_marked_packets"], expected.count(CE))


def marking_curve(work):
    """The share of marks at each queue length is the curve's, within what chance allows."""
    n, low, high, p_max = 1500, 200, 1200, 0.5
    words = MARKS.format(low=low * DATA_BYTES, high=high * DATA_BYTES, ppm=int(p_max * 1e6))
    run, end = None, time.monotonic() + PATIENCE_S
    # 670 ms of pause: all are there before the first one leaves, unless this machine stands still for that long.
    for attempt in itertools.count():
        run = Run(work, f"curve{attempt}", roomy("wred_queues = 3", "50M") + words + ROOM_FOR_ALL, [hold(FOREVER, 3)], data(n))
        if attempt == 0:
            yield
        run.end("an empty buffer", run.emptied)
        if run.ports[0]["queues"][3]["watermark_bytes"] == n * DATA_BYTES or time.monotonic() > end:
            break
    marked = [ecn_of(f) == CE for _, f in run.sent()]
    check_equal("curve: all wait, and all arrive", (run.ports[0]["queues"][3]["watermark_bytes"], len(marked)),
                (n * DATA_BYTES, n))
    behind = {n - 1 - i: hit for i, hit in enumerate(marked)}
    check("curve: nothing up to min", not any(hit for length, hit in behind.items() if length <= low))
    check("curve: all above max", all(hit for length, hit in behind.items() if length > high))
    for begin in range(low, high, 200):
        lengths = range(begin + 1, begin + 201)
        expected = [p_max * (length - low) / (high - low) for length in lengths]
        sigma = sum(p * (1 - p) for p in expected) ** 0.5
        hits = sum(behind[length] for length in lengths)
        print(f"# curve: {begin} to {begin + 200} frames: {hits} of 200 marked, expected {sum(expected):.1f}")
        check(f"curve: from {begin} frames on", abs(hits - sum(expected)) <= 4 * sigma, (hits, sum(expected), sigma))


def pauses(work):
    """A pause holds its lossless queue and no other; one for a lossy priority, or for all, holds nothing under PFC."""
    run = Run(work, "pauses", roomy(), [hold(FOREVER, 3), hold(FOREVER, 0), pause_frame(RECEIVER, FOREVER)],
              data(5) + data(5, dscp=0))
    yield
    run.end("no more frames", run.program.quiet)
    check_equal("pauses: only the lossy frames left", [f for _, f in run.sent()], data(5, dscp=0))
    port = run.ports[0]
    check_equal("pauses: counted by priority", [port[f"rx_prio{p}_pause"] for p in range(8)], [1, 0, 0, 1, 0, 0, 0, 0])
    check_equal("pauses: the global one is counted", port["rx_global_pause_frames"], 1)
    check_equal("pauses: five frames wait", run.result["ledger"]["queued"], 5 * DATA_BYTES)


def global_pause(work):
    """802.3x: all queues are held, PFC is not obeyed, and the end of the pause lets all go."""
    run = Run(work, "global", roomy(port="flow_control = pause"), [hold(FOREVER, 3), pause_frame(RECEIVER, A_WHILE["1M"])],
              data(5) + data(5, dscp=0))
    yield
    run.program.wait_until("ten frames wait", lambda: any(f" queued {10 * DATA_BYTES / 1000:.1f} kB" in line for line in run.lines()))
    run.end("an empty buffer", run.emptied)
    check_equal("global: all arrive", sorted(f for _, f in run.sent()), sorted(data(5) + data(5, dscp=0)))
    port = run.ports[0]
    check_equal("global: one pause, over by itself", (port["rx_global_pause_frames"], port["rx_global_pause_transition"]), (1, 1))
    check_equal("global: it held for what its quanta say", port["rx_global_pause_duration_us"], A_WHILE["1M"] * 512)


def watchdog(work, action):
    """Detected, acted upon, restored: by one storm of a second and a half."""
    words = f"[pfcwd]\npfcwd = sonic\naction = {action}\ndetection_time_ns = 200ms\nrestoration_time_ns = 200ms\n" \
            "poll_interval_ns = 50ms\n"
    # One poll may send all ten: a starved program polls a few times a second, and the storm ends by the clock.
    quick = roomy(speed="10M").replace("shaper_burst_ns = 1\n", "shaper_burst_ns = 10ms\n")
    run = Run(work, f"watchdog_{action}", quick + words, [hold(A_WHILE["10M"], 3)], data(10))
    yield
    run.end("the storm is over", lambda: "storm restored on port 0, queue index 3" in run.program.err() and
            run.emptied() and run.program.quiet())
    what = f"watchdog, {action}"
    check(f"{what}: said", "detected PFC storm on port 0, queue index 3" in run.program.err())
    wd = next(w for w in run.ports[0]["pfcwd"] if w["queue"] == 3)
    check_equal(f"{what}: detected and restored once",
                (wd["deadlock_detected"], wd["deadlock_restored"], wd["status"]), (1, 1, "operational"))
    check_equal(f"{what}: no port but 0 has a storm", [w["deadlock_detected"] for w in run.ports[1]["pfcwd"]], [0])
    drops, left = (10, 0) if action == "drop" else (0, 10)
    check_equal(f"{what}: frames that arrive", len(run.sent()), left)
    check_equal(f"{what}: frames dropped", run.drops(), {"pfc_watchdog 0": drops} if drops else {})
    check_equal(f"{what}: dropped in the storm", wd["tx_dropped_packets"], drops)
    # With alert the storm is over with the first look that finds no pause: what left before it is counted.
    check(f"{what}: sent in the storm", wd["tx_packets"] == {"drop": 0, "forward": 10}.get(action, wd["tx_packets"]),
          wd["tx_packets"])


def main():
    work = work_dir()
    tests = [limits(work), xon_limit(work), maps(work), dwrr_shares(work), cut_off(work, "dequeue"),
             cut_off(work, "enqueue"), marking_curve(work), pauses(work), global_pause(work),
             *(watchdog(work, action) for action in ("drop", "forward", "alert"))]
    for test in tests:
        next(test)
    for test in tests:
        next(test, None)
    finish()


main()
