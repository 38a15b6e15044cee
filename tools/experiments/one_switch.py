# SPDX-License-Identifier: BSD-3-Clause
"""One switch of "Understanding DCQCN": the stages of a queue between WRED min, WRED max, XON and XOFF."""
import numpy as np

from experiments import stages
from experiments.frame import Check, Experiment, Variant
from experiments.measures import dropped
from experiments.stages import INCREASES, Stage
from report.plots import COLOURS, WIDTH, plt

QUEUE = ("s1", "8", "3")  # Eth 1/9
NICS = {"NIC h1": "0", "NIC h2": "1", "NIC h3": "2"}  # flow: port
RESET_US = 55  # rp_time_reset of the scenario
TITLES = {"ecn": "ECN alone is enough", "pfc": "four QPs each: PFC as well", "late-xon": "XON far below WRED min"}
# The queue must be unmarked for more than N + T at the end of a pause: 105 us at 400 Gb/s are 5.3 MB.
LATE_XON = {"flow NIC.qp_count": 8, "wred.Kmin": "6MB", "wred.Kmax": "8MB", "buffer_profile lossless.static_th_bytes": "4MB",
            "buffer_profile lossless.xon_bytes": "50KB", "buffer_profile lossless.xon_offset_bytes": "3950KB"}


def wred(run):
    """WRED min and max."""
    return run.results["bottleneck"]["wred_min_bytes"], run.results["bottleneck"]["wred_max_bytes"]


def marked(run):
    """[packets that left the queue, marked packets among them] for queue lengths below WRED min, between, and above WRED max."""
    low, high = wred(run)
    found = {"below": [0, 0], "between": [0, 0], "above": [0, 0]}
    for part in run.results["bottleneck"]["mark_accuracy"]:
        end = part["up_to_bytes"]
        group = found["above" if end is None or end > high else "between" if end > low else "below"]
        group[0] += part["packets"]
        group[1] += part["marked"]
    return found


def cnps(run):
    """Did NIC 9 send CNPs in the interval that ends at each sample?"""
    return np.diff(stages.total(run, "cnp_sent"), prepend=0) > 0


def crossings(run):
    """Times at which the queue is first above WRED min, above WRED max, and below WRED min again."""
    queue, (low, high) = run.queues[QUEUE], wred(run)
    above = stages.first(queue, queue["queue_bytes"] > low)
    top = stages.first(queue, queue["queue_bytes"] > high, above)
    return above, top, stages.first(queue, queue["queue_bytes"] < low, top)


def pauses(run):
    """Pauses of each NIC by the switch."""
    return {flow: stages.held(run, "s1", port) for flow, port in NICS.items()}


def ecn_stages(run):
    queue, clock = run.queues[QUEUE], stages.clock(run)
    above, top, below = crossings(run)
    changes = stages.trace(run)
    last_cnp = stages.last(clock, cnps(run))
    return [
        Stage("below WRED min", "first packets in the queue", stages.first(queue, queue["queue_bytes"] > 0)),
        Stage("above WRED min", "queue crosses WRED min", above),
        Stage("some are marked", "first mark", stages.first(queue, queue["ecn_marked_packets"] > 0)),
        Stage("CNPs to their senders", "first CNP", stages.first(clock, cnps(run))),
        Stage("slows down", "first rate cut", stages.first_change(changes, {"cut"})),
        Stage("above WRED max", "queue crosses WRED max", top),
        Stage("return", "queue below WRED min again", below),
        Stage("CNPs end", "last CNP", last_cnp),
        Stage("ramp up", "first increase after it", stages.first_change(changes, INCREASES, last_cnp)),
    ]


# np.max and np.min, unlike Python's, are NEVER when one NIC has no such time.
def pfc_stages(run):
    queue = run.queues[QUEUE]
    _, top, _ = crossings(run)
    xoff = np.max([stages.begin_after(spans) for spans in pauses(run).values()])
    held = np.max([stages.begin_after(stages.held(run, flow.split()[1], 0, "rx_paused")) for flow in NICS])
    falls = stages.first(queue, np.diff(queue["queue_bytes"], prepend=0) < 0, xoff)
    xon = np.min([stages.end_after(spans, xoff) for spans in pauses(run).values()])
    resumed = np.min([stages.end_after(stages.held(run, flow.split()[1], 0, "rx_paused"), held) for flow in NICS])
    last_xon = np.max([stages.last_end(spans) for spans in pauses(run).values()])
    return [
        Stage("above WRED max", "queue crosses WRED max", top),
        Stage("xOFF exceeded", "XOFF to all three NICs", xoff),
        Stage("NICs pause", "all three are held", held),
        Stage("queue empties", "queue falls", falls),
        Stage("below xON", "first XON", xon),
        Stage("resume", "first NIC sends again", resumed),
        Stage("-", "last XON", last_xon),
        Stage("below WRED min", "queue below WRED min", stages.first(queue, queue["queue_bytes"] < wred(run)[0], last_xon)),
    ]


def late_stages(run):
    clock = stages.clock(run)
    xoff = np.max([stages.begin_after(spans) for spans in pauses(run).values()])
    xon = np.min([stages.end_after(spans, xoff) for spans in pauses(run).values()])
    queue = run.queues[QUEUE]
    return [
        Stage("NICs pause", "XOFF to all three NICs", xoff),
        Stage("-", "queue below WRED min, NICs still held", stages.first(queue, queue["queue_bytes"] < wred(run)[0], xoff)),
        Stage("CNPs stop", "last CNP of the pause", stages.last(clock, cnps(run) & (stages.us(clock) <= xon))),
        Stage("below xON", "first XON", xon),
    ]


def check_ecn(run):
    queue, clock, share = run.queues[QUEUE], stages.clock(run), marked(run)
    _, _, below = crossings(run)
    got = np.array([run.flows[flow]["cnp_sent"] > 0 for flow in NICS])
    ce = np.array([run.flows[flow]["ce_packets"] > 0 for flow in NICS])
    at_us = stages.us(clock)
    changes = stages.trace(run)
    first_cuts = [stages.first_change([change for change in changes if change.flow == flow], {"cut"}) for flow in NICS]
    rates = stages.total(run, "rp_rate_bps")
    last_cnp = stages.last(clock, cnps(run))
    return stages.checks("ECN: ", ecn_stages(run)) + [
        Check("ECN: marked while the queue was below WRED min", share["below"][1], 0, 0, "packets", "none"),
        Check("ECN: marked between WRED min and max", 100 * share["between"][1] / max(1, share["between"][0]), 1, 99, "% of packets", "some"),
        Check("ECN: marked above WRED max", 100 * share["above"][1] / max(1, share["above"][0]), 100, 100, "% of packets", "all"),
        Check("ECN: time between the first cuts of the first and the last NIC", max(first_cuts) - min(first_cuts), 0.1, unit="us",
              stated="only senders of marked packets"),
        Check("ECN: NICs that got a CNP without a marked packet", np.sum((got & ~ce).any(axis=1)), 0, 0, "NICs", "none"),
        Check("ECN: NICs that have got CNPs when the queue is below WRED min again", stages.value_at(clock, got.sum(axis=0), below), 3, 3, "NICs",
              "all, above WRED max"),
        Check("ECN: marks after the queue is below WRED min again",
              queue["ecn_marked_packets"][-1] - stages.at(queue, "ecn_marked_packets", below), 0, 0, "packets", "none"),
        Check("ECN: rates at the end over those at the last CNP", rates[-1] / stages.value_at(clock, rates, last_cnp + 1), 1.2, unit="times", stated="ramp up"),
        Check("ECN: pause frames", run.results["pause_frames_after_measure"], 0, 0, "frames", "xOFF not exceeded"),
    ]


def check_pfc(run):
    queue = run.queues[QUEUE]
    found = {stage.what: stage.at_us for stage in pfc_stages(run)}
    last_xon, below = found["last XON"], found["queue below WRED min"]
    _, high = wred(run)
    draining = (stages.us(queue) > last_xon) & (stages.us(queue) <= below)
    full = draining & (queue["queue_bytes"] > high)
    frame_bytes = run.results["ports"][8]["tx_bytes"] / run.results["ports"][8]["tx_packets"]
    return stages.checks("PFC: ", pfc_stages(run)) + [
        Check("PFC: queue at the first XON", stages.at(queue, "queue_bytes", found["first XON"]) / 1e3, high / 1e3, unit="KB",
              stated="xON above WRED max"),
        Check("PFC: marks from the last XON until the queue is below WRED min", queue.growth("ecn_marked_packets")[draining].sum(), 100,
              unit="packets", stated="still marked"),
        Check("PFC: the same while the queue is above WRED max", 100 * queue.growth("ecn_marked_packets")[full].sum() * frame_bytes / max(1, queue.growth("tx_bytes")[full].sum()),
              95, 105, "% of packets", "all"),
        Check("PFC: marks after the queue is below WRED min", queue["ecn_marked_packets"][-1] - stages.at(queue, "ecn_marked_packets", below), 0, 0, "packets", "none"),
        Check("PFC: QPs whose rate rose while NICs were paused", len(stages.risen_in_pauses(run, pauses(run), RESET_US)), 0, 0,
              "QPs", "rates rise"),
        Check("PFC: dropped", dropped(run), 0, 0, "packets", "lossless"),
    ]


def check_late(run):
    found = {stage.what: stage.at_us for stage in late_stages(run)}
    rates, clock = stages.total(run, "rp_rate_bps"), stages.clock(run)
    last_cnp, xon = found["last CNP of the pause"], found["first XON"]
    return stages.checks("XON late: ", late_stages(run)) + [
        Check("XON late: from the last CNP to XON", xon - last_cnp, RESET_US, unit="us", stated="CNPs stop while paused"),
        Check("XON late: QPs whose rate rose while NICs were paused", len(stages.risen_in_pauses(run, pauses(run), RESET_US)), 24, 24, "QPs", "rates rise while paused"),
        Check("XON late: rates after XON over those at the last CNP", stages.value_at(clock, rates, xon + 2) / stages.value_at(clock, rates, last_cnp + 1),
              1.2, unit="times", stated="rates rise while paused"),
        Check("XON late: dropped", dropped(run), 0, 0, "packets", "lossless"),
    ]


def check(runs):
    return check_ecn(runs["ecn"]) + check_pfc(runs["pfc"]) + check_late(runs["late-xon"])


FIND = {"ecn": ecn_stages, "pfc": pfc_stages, "late-xon": late_stages}


def draw_of(name):
    def draw(runs):
        run = runs[name]
        figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(WIDTH, 6.6), sharex=True, height_ratios=(1.7, 0.8, 1))
        queue, clock = run.queues[QUEUE], stages.clock(run)
        low, high = wred(run)
        top.plot(stages.us(queue), queue["queue_bytes"] / 1e6, color=COLOURS[0])
        lines = {"WRED min": low / 1e6, "WRED max": high / 1e6}
        if name != "ecn":
            found = {stage.what: stage.at_us for stage in FIND[name](run)}
            lines |= {"XOFF": stages.at(queue, "queue_bytes", found["XOFF to all three NICs"]) / 1e6,
                      "XON": stages.at(queue, "queue_bytes", found["first XON"]) / 1e6}
        stages.thresholds(top, lines)
        for axes in (top, bottom):
            for begin, end in pauses(run)["NIC h1"]:
                axes.axvspan(begin, end, color=COLOURS[3], alpha=0.25, lw=0)
        top.set_ylabel("queue to NIC 9 (MB)")
        top.set_title(TITLES[name] + (" (shaded: NIC 1 is paused)" if name != "ecn" else ""), pad=14 * len(FIND[name](run)) + 6)
        for i, stage in enumerate(FIND[name](run)):
            for axes in (top, middle, bottom):
                axes.axvline(stage.at_us, color=COLOURS[6], lw=0.6, alpha=0.7)
            top.annotate(f"{i + 1}", (stage.at_us, 1), xycoords=top.get_xaxis_transform(), xytext=(0, 14 * (len(FIND[name](run)) - i) - 10),
                         textcoords="offset points", ha="left", fontsize=8.5, annotation_clip=False,
                         arrowprops={"arrowstyle": "-", "color": COLOURS[6], "lw": 0.6, "alpha": 0.7, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0)})
            top.annotate(stage.what, (stage.at_us, 1), xycoords=top.get_xaxis_transform(), xytext=(9, 14 * (len(FIND[name](run)) - i) - 10),
                         textcoords="offset points", fontsize=8.5, annotation_clip=False)
        middle.fill_between(stages.us(queue), queue.growth("ecn_marked_packets"), step="pre", color=COLOURS[0], lw=0)
        middle.set_ylabel("marks\nper us")
        sent = cnps(run)
        middle.plot(stages.us(clock)[sent], np.full(sent.sum(), middle.get_ylim()[1] * 0.9), "|", color=COLOURS[1], ms=8, label="CNPs")
        middle.legend(fontsize=8.5, loc="upper right")
        for colour, flow in zip(COLOURS, NICS):
            series = run.flows[flow]
            bottom.plot(stages.us(series), series["rp_rate_bps"] / 1e9, color=colour, lw=1, label=flow)
        bottom.set_yscale("log")
        bottom.set_ylabel("rate (Gb/s)")
        bottom.legend(fontsize=8.5, loc="upper right")
        bottom.set_xlabel("time (us)")
        bottom.set_xlim(0, run.results["duration_ns"] / 1e3)
        return figure
    return draw


CAPTIONS = {
    "ecn": "One QP from each NIC. First no packet is marked, then some, then all, then none.",
    "pfc": "Four QPs from each NIC, 1.6 Tb/s at the start. The lines XOFF and XON show the queue length when these frames were sent.",
    "late-xon": "Eight QPs from each NIC, WRED min 6 MB, WRED max 8 MB, XOFF 12 MB, XON 0.15 MB of the queue.",
}

EXPERIMENTS = (Experiment(
    name="dcqcn-one-switch",
    title="One switch: a queue between its thresholds",
    source="Understanding Data Center Quantized Congestion Notification (DCQCN), NICs 1 to 3 into NIC 9",
    statement="Below WRED min, nothing is marked. Between min and max, some packets are marked, and their senders get CNPs and slow "
              "down. Above max, all packets are marked. When the queue is below min again, marks and CNPs end and rates ramp up. "
              "Above xOFF, the switch pauses the NICs; below xON, they resume. After xON, packets are marked until the queue is below "
              "WRED min. While senders are paused, CNPs stop and rates rise.",
    scaled="400 Gb/s for 0.6 ms, with samples of 1 us, every change of a rate from the trace, and marks by queue length from the "
           "switch's counters. The guide states no thresholds, numbers of QPs or times. --full changes nothing.",
    variants=(Variant("ecn"), Variant("pfc", {"flow NIC.qp_count": 4}), Variant("late-xon", LATE_XON)),
    check=check,
    plots={name: (draw_of(name), caption) for name, caption in CAPTIONS.items()},
    findings="With the guide's order of thresholds, CNPs do not stop while NICs are paused. If xON is above WRED max, every packet "
             "that drains during a pause is marked, as the guide itself says of the packets after it, and no rate rises (second "
             "run). CNPs stop if the queue falls below WRED min while the NICs are still paused. A rate then rises if this lasts "
             "longer than the CNP interval (50 us) plus the timer (55 us). At 400 Gb/s, XON must therefore be 5.3 MB below WRED min "
             "(third run). Rates also rise if marks between WRED min and max are rare (ecn-pfc-timeline). A NIC updates a paused QP "
             "only when the QP may send again. By then, the timer has expired during the pause, so the rate is higher at once."),)
