# SPDX-License-Identifier: BSD-3-Clause
"""Figure 11-7 of "Congestion Avoidance in AI Fabric": ECN, PFC and recovery, at the times t1 to t8."""
import numpy as np

from experiments import stages
from experiments.frame import NOT_IN_THIS_RUN, Check, Experiment, Variant
from experiments.measures import dropped
from experiments.stages import INCREASES, Stage, held_bytes, thresholds
from report.plots import COLOURS, GREY, WIDTH, plt

QUEUE = ("Rail-1", "0", "3")  # egress queue 3 of interface 1, to h1
INGRESS = ("Rail-1", "2", "3")  # interface 3, from Spine-A
SPINE_QUEUE = ("Spine-A", "1", "3")  # to Rail-1
SPINE_INGRESS = ("Spine-A", "0", "3")  # from Rail-A
FRAME_BYTES = 4200
TITLES = {"alone": "behind Spine-A alone", "both": "behind Spine-A and on interface 2"}


def find(run):
    """The Stages, in the order of the document."""
    queue, ingress, spine = run.queues[QUEUE], run.groups[INGRESS], run.queues[SPINE_QUEUE]
    wred_min, limit = run.results["bottleneck"]["wred_min_bytes"], ingress["limit_bytes"]
    clock, changes = stages.clock(run), stages.trace(run)
    holds_spine, spine_held = stages.held(run, *INGRESS[:2]), stages.held(run, *SPINE_QUEUE[:2], "rx_paused")
    xoff = stages.begin_after(holds_spine)
    xon = stages.end_after(holds_spine, xoff)
    stopped = stages.begin_after(spine_held, xoff)
    still = np.append(False, ~stages.grows(spine, "tx_bytes")[1:])
    return [
        Stage("t1 (1)", "queue of interface 1 crosses WRED min", stages.first(queue, queue["queue_bytes"] > wred_min)),
        Stage("t2 (2)", "first packet marked", stages.first(queue, queue["ecn_marked_packets"] > 0)),
        Stage("t3 (3)", "first CNP", stages.first(clock, stages.total(run, "cnp_sent") > 0)),
        Stage("t4 (4)", "first rate cut", stages.first_change(changes, {"cut"})),
        Stage("t4 (6)", "ingress of interface 3 at XOFF", stages.first(ingress, held_bytes(ingress) > limit - FRAME_BYTES)),
        Stage("t5 (7)", "Rail-1 sends XOFF to Spine-A", xoff),
        Stage("t5 (8)", "Spine-A sends nothing more to Rail-1", stages.first(spine, still, stopped)),
        Stage("t6 (9)", "Spine-A's queue to Rail-1 above WRED min", stages.first(spine, spine["queue_bytes"] > wred_min, xoff)),
        Stage("t6 (10)", "Spine-A's ingress from Rail-A at XOFF", stages.begin_after(stages.held(run, *SPINE_INGRESS[:2]), xoff)),
        Stage("t7 (11)", "queue of interface 1 below WRED min", stages.first(queue, queue["queue_bytes"] < wred_min, xoff)),
        Stage("t8 (13)", "ingress of interface 3 below XON, Rail-1 sends XON", xon),
        Stage("t8 (14)", "Spine-A sends again", stages.first(spine, stages.grows(spine, "tx_bytes"), stages.end_after(spine_held, stopped))),
    ]


def recovery(run):
    """Stages of the recovery."""
    queue, clock = run.queues[QUEUE], stages.clock(run)
    last_cnp = stages.last(clock, np.diff(stages.total(run, "cnp_sent"), prepend=0) > 0)
    return [
        Stage("last XON", "last PFC frame of any switch", (run.results["last_pause_ns"] or np.nan) / 1e3),
        Stage("last CE", "last packet marked", stages.last(queue, stages.grows(queue, "ecn_marked_packets"))),
        Stage("last CNP", "last CNP", last_cnp),
        Stage("climb", "rates rise, no CNP from here on", stages.first_change(stages.trace(run), INCREASES, last_cnp)),
    ]


def in_order(found, name):
    """The stages in the order of the run, which for 'both' is not that of the document; the findings say why."""
    if name == "alone":
        return found
    by_mark = {stage.mark: stage for stage in found}
    return [*found[:9], by_mark["t8 (13)"], by_mark["t8 (14)"], by_mark["t7 (11)"]]


def check_run(name, run):
    found = find(run)
    checks = stages.checks(f"{name}: ", in_order(found, name)) + stages.checks(f"{name}: ", recovery(run)[1:])
    at_us = {stage.mark: stage.at_us for stage in found}
    cut, xoff, xon = at_us["t4 (4)"], at_us["t5 (7)"], at_us["t8 (13)"]
    spine_at_xoff = stages.at(run.groups[SPINE_INGRESS], "shared_bytes", at_us["t6 (9)"])
    queue = run.queues[QUEUE]
    rates = stages.total(run, "rp_rate_bps", "GPU") / 1e9
    clock = stages.clock(run)
    climb = recovery(run)[-1].at_us
    return checks + [
        Check(f"{name}: (5), queue at the first cut", stages.at(queue, "queue_bytes", np.ceil(cut)) / 1e3,
              run.results["bottleneck"]["wred_min_bytes"] / 1e3, unit="KB", stated="still congested"),
        Check(f"{name}: Spine-A's ingress when its queue crosses WRED min", spine_at_xoff / 1e3,
              run.results["bottleneck"]["wred_min_bytes"] / 1e3, unit="KB", stated="queue first, then ingress"),
        Check(f"{name}: increases of GPUs' rates while Spine-A is paused", sum(
            change.flow.startswith("GPU") and xoff <= change.at_us <= xon and bool(change.reasons & INCREASES) for change in stages.trace(run)),
              1, unit="increases", stated="-"),
        Check(f"{name}: last PFC frame", recovery(run)[0].at_us, 0, 1500, "us", "no more pauses in the end"),
        Check(f"{name}: rates of the GPUs at the end over those at the last CNP",
              rates[-1] / stages.value_at(clock, rates, climb - 1), 1.5, unit="times", stated="slowly increase"),
        Check(f"{name}: dropped", dropped(run), 0, 0, "packets", "lossless"),
    ]


def check(runs):
    return [each for name, run in runs.items() for each in check_run(name, run)]


def spans_of(run):
    """{label: [(begin, end)]} of the bars."""
    queue, clock = run.queues[QUEUE], stages.clock(run)
    cnps = np.diff(stages.total(run, "cnp_sent"), prepend=0) > 0
    return {
        "CE marks": stages.episodes(queue, stages.grows(queue, "ecn_marked_packets")),
        "CNPs": [(end - 1, end) for end in stages.us(clock)[cnps]],
        "Rail-1 holds Spine-A": stages.held(run, *INGRESS[:2]),
        "Spine-A holds Rail-A": stages.held(run, *SPINE_INGRESS[:2]),
    }


def draw_of(name):
    def draw(runs):
        run = runs[name]
        figure, (rail, spine, rates, bars) = plt.subplots(4, 1, figsize=(WIDTH, 8.6), sharex=True, height_ratios=(1.5, 1.1, 1.1, 0.9))
        queue, ingress = run.queues[QUEUE], run.groups[INGRESS]
        rail.plot(stages.us(queue), queue["queue_bytes"] / 1e3, color=COLOURS[0], label="egress queue 3 of interface 1")
        rail.plot(stages.us(ingress), held_bytes(ingress) / 1e3, color=COLOURS[1], ls="--", label="ingress of interface 3")
        thresholds(rail, {"WRED min": run.results["bottleneck"]["wred_min_bytes"] / 1e3, "WRED max": run.results["bottleneck"]["wred_max_bytes"] / 1e3,
                          "XOFF": ingress["limit_bytes"].max() / 1e3})
        rail.set_ylabel("Rail-1 (KB)")
        far, group = run.queues[SPINE_QUEUE], run.groups[SPINE_INGRESS]
        spine.plot(stages.us(far), far["queue_bytes"] / 1e3, color=COLOURS[0], label="egress queue 3 to Rail-1")
        spine.plot(stages.us(group), held_bytes(group) / 1e3, color=COLOURS[1], ls="--", label="ingress from Rail-A")
        thresholds(spine, {"XOFF": group["limit_bytes"].max() / 1e3})
        spine.set_ylabel("Spine-A (KB)")
        for colour, (flow, series) in zip(COLOURS[2:], run.flows.items()):
            if series["wire_rate_bps"].max() > 0:
                rates.plot(stages.us(series), series["rp_rate_bps"] / 1e9, color=colour, lw=1, label=flow)
        rates.set_yscale("log")
        rates.set_ylabel("rate (Gb/s)")
        for row, (what, spans) in enumerate(spans_of(run).items()):
            bars.broken_barh([(begin, end - begin) for begin, end in spans], (row - 0.35, 0.7), color=COLOURS[row])
        bars.set_yticks(range(4), spans_of(run), fontsize=9)
        bars.invert_yaxis()
        bars.set_xscale("log")
        bars.set_xlim(1, run.results["duration_ns"] / 1e3)
        bars.set_xlabel("time (us, logarithmic)")
        found = find(run) + recovery(run)
        for axes in (rail, spine, rates, bars):
            for at_us, _ in stages.merged(found):
                axes.axvline(at_us, color=GREY, lw=0.5, alpha=0.6)
        for axes in (rail, spine, rates):
            axes.legend(fontsize=8.5, loc="upper left", framealpha=0.9)
        stages.label(rail, found)
        rail.set_title(f"Senders {TITLES[name]}", pad=78)
        return figure
    return draw


EXPERIMENTS = (Experiment(
    name="ecn-pfc-timeline",
    title="ECN, PFC and recovery: t1 to t8",
    source="Congestion Avoidance in AI Fabric, Part III, Figure 11-7",
    statement="Queue 3 of Rail-1's interface 1 crosses WRED min (t1), packets are marked (t2), CNPs arrive (t3) and rates are cut "
              "(t4). But the ingress buffer for Spine-A fills up to XOFF (t5). Then Spine-A's queue to Rail-1 fills, and after it "
              "Spine-A's ingress buffer (t6). The queue falls below WRED min (t7). The ingress buffer falls below XON, and Spine-A "
              "sends again (t8). At the end, there are no CNPs, rates rise, and no pause is needed.",
    scaled="Four GPUs at 100 Gb/s under Rail-A with two QPs each, and 400 Gb/s between the switches. WRED is as in the article's "
           "Example 11-3, and xON < WRED min < WRED max < xOFF. The article states no rates and no times. Samples of 1 us; the "
           "times of cuts are from the trace. --full changes nothing.",
    variants=(Variant("alone", {"flow near.start_ns": NOT_IN_THIS_RUN}), Variant("both")),
    check=check,
    plots={name: (draw_of(name), "All times are measured in the run, from samples of queues, priority groups and pauses, and from the trace of rates.")
           for name in TITLES},
    findings="In the run 'alone', the order is that of the article. In the run 'both', XON (t8) precedes the fall of the queue below "
             "WRED min (t7): when all packets of interface 3 have left, packets of interface 2 are still in the queue. In a shared "
             "buffer, the queue and the ingress of Spine-A hold the same bytes, so the ingress is as full as the queue at (9) and "
             "does not fill later; (10) is the time of its XOFF. Packets of interface 3 leave all the time, so (12) is not a single "
             "moment. There are two pauses: after XON, the backlog of Spine-A and Rail-A arrives at 400 Gb/s and fills Rail-1's "
             "ingress once more. Some rates rise while Spine-A is paused: with 7 % at WRED max, marks are rare while the queue "
             "drains, and some QPs get none for 55 us. The rates recover slowly, because the paper's R_AI of 40 Mb/s is meant for 40 "
             "Gb/s, and because cuts continue until the backlog has left."),)
