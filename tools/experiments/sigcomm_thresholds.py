# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, section 4: ECN must come before PFC, and PFC before loss."""
import numpy as np

from experiments.frame import AGREES, Check, Experiment, Figure, Row, Variant
from experiments.measures import dropped
from report.plots import COLOURS, WIDTH, plt

T_PFC_BYTES = 24475  # (12 MB - 8 x 32 x 22.4 KB) / (8 x 32)
STATIC = {"buffer_profile lossless.dynamic": "off", "buffer_profile lossless.static_th_bytes": T_PFC_BYTES}
AFTER = {**STATIC, "wred.Kmin": f"{5 * T_PFC_BYTES}", "wred.Kmax": "320KB"}
# All hosts of the switch start at line rate, each on four QPs: the largest burst of the experiment.
BURST = {"flow H.src": "1-20", "flow H.qp_count": 4, "flow H.message_bytes": "1MB", "fabric.duration_ns": "12ms",
         "fabric.measure_from_ns": "6ms", "fabric.sample_ns": "10us"}
# Without PFC no headroom is needed: all 12 MB of the paper are shared.
NO_PFC = {"switch.pfc_generate": "off", "nic.flow_control": "off", "switch.buffer_bytes": "12MB"}
ZOOM = {"fabric.duration_ns": "4ms", "fabric.measure_from_ns": "2ms", "fabric.sample_ns": "2us"}
ZOOM_MS = (3.6, 4.0)


def window_ms(run):
    return (run.results["duration_ns"] - run.results["measure_from_ns"]) / 1e6


def pauses_per_ms(run):
    return run.results["pause_frames_after_measure"] / window_ms(run)


def first_ms(run, groups, column):
    """Time of the first sample in which a cumulative column is above 0; infinite: never."""
    return min((series.ms()[series[column] > 0][0] for series in groups if series[column][-1] > 0), default=np.inf)


def cycle_us(run):
    """Mean time from one XOFF to the next at a sender."""
    cycles = [p["rx_pause_transition"] for p in run.results["pfc_counters"] if p["node"] != "s1"]
    return run.results["duration_ns"] / 1e3 * len(cycles) / max(1, sum(cycles))


def held_share(run):
    """Share of the time during which PFC paused a sender, mean over the senders."""
    return np.mean([p["rx_pause_duration_us"] for p in run.results["pfc_counters"] if p["node"] != "s1"]) / (
        run.results["duration_ns"] / 1e3)


def last_resent_ms(run):
    """Time of the last sample in which a packet was resent; 0: never."""
    return max((series.ms()[series.growth("retransmitted_packets") > 0].max(initial=0) for series in run.flows.values()))


def check(runs):
    right, static, after, zoom, start, no_pfc = (
        runs[name] for name in ("right", "static", "ecn-after-pfc", "ecn-after-pfc-zoom", "start", "start-no-pfc"))
    marked = first_ms(start, start.queues.values(), "ecn_marked_packets")
    paused = first_ms(start, start.pauses.values(), "tx_pause")
    return [
        Check("right: pause frames, whole run", sum(p["tx_pause"] for p in right.results["pfc_counters"]), 0, 0, "frames",
              "none in steady state"),
        Check("right: packets marked", right.results["bottleneck"]["ecn_marked_packets"], 1, unit="packets", stated="ECN acts"),
        Check("static PFC threshold: pause frames in steady state", pauses_per_ms(static), 5, unit="per ms",
              stated="PFC before ECN"),
        Check("ECN after PFC: pause frames in steady state", pauses_per_ms(after), 200, unit="per ms", stated="PFC before ECN"),
        Check("ECN after PFC: time for which a sender is paused", 100 * held_share(after), 20, unit="% of the time"),
        Check("ECN after PFC: time between two XOFF of a sender", cycle_us(zoom), 5, 100, "us"),
        Check("all start at once: time from the first mark to the first pause", paused - marked, 0.01, unit="ms", stated="ECN first"),
        Check("all start at once: last pause", start.results["last_pause_ns"] / 1e6, None, 2, "ms", "pauses at the start only"),
        Check("all start at once: lost", dropped(start), 0, 0, "packets", "lossless"),
        Check("the same without PFC: lost", dropped(no_pfc), 100, unit="packets", stated="loss at the start"),
        Check("the same without PFC: last packet resent", last_resent_ms(no_pfc), 0.1, 6, "ms", "at the start"),
    ]


def draw_pauses(runs):
    """Queue and pause frames over time for the three settings."""
    names = ("right", "static", "ecn-after-pfc")
    figure, panels = plt.subplots(2, 3, figsize=(WIDTH, 4.4), sharex=True, sharey="row")
    for (top, bottom), name in zip(panels.T, names):
        run = runs[name]
        queue = run.bottleneck()
        top.plot(queue.ms(), queue["queue_bytes"] / 1e3, color=COLOURS[0], lw=0.7)
        top.set_title(name)
        senders = [series for series in run.pauses.values() if series["tx_pause"][-1] > 0]
        edges = np.arange(0, run.results["duration_ns"] / 1e6 + 0.5, 1)
        total = sum(np.interp(edges, np.append(0, s.ms()), np.append(0, s["tx_pause"])) for s in senders) if senders else edges * 0
        bottom.stairs(np.diff(total), edges, fill=True, color=COLOURS[3], alpha=0.7)
        bottom.set_xlabel("time (ms)")
        if not senders:
            bottom.text(0.5, 0.5, "no pause", transform=bottom.transAxes, ha="center")
    panels[0][0].set_ylim(0, 400)
    panels[0][0].set_ylabel("queue (KB)")
    panels[1][0].set_ylabel("PFC frames per ms")
    return figure


def draw_oscillation(runs):
    """XOFF and XON of each sender, and the queue."""
    run = runs["ecn-after-pfc-zoom"]
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(WIDTH, 4.2), sharex=True, height_ratios=(1, 1.2))
    queue = run.bottleneck()
    top.plot(queue.ms(), queue["queue_bytes"] / 1e3, color=COLOURS[0], lw=0.8)
    top.set_ylabel("queue (KB)")
    shown = queue["queue_bytes"][queue.ms() > ZOOM_MS[0]] / 1e3
    top.set_ylim(shown.min() - 10, shown.max() + 10)
    top.set_title("ECN after PFC: eight senders, stop and go")
    held = {node: series for (node, _, _), series in run.pauses.items() if node != "s1"}
    for row, series in enumerate(held.values()):
        at = series.ms()
        bottom.fill_between(at, row - 0.4, row + 0.4, where=series["rx_paused"] > 0, step="pre", color=COLOURS[3], lw=0)
    bottom.set_yticks(range(len(held)), held, fontsize=9)
    bottom.set_ylabel("paused by PFC")
    bottom.set_xlim(*ZOOM_MS)
    bottom.set_xlabel("time (ms)")
    return figure


def draw_start(runs):
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(WIDTH, 4.2), sharex=True)
    for i, (name, label) in enumerate((("start", "PFC"), ("start-no-pfc", "no PFC"))):
        run = runs[name]
        queue = run.bottleneck()
        top.plot(np.append(0, queue.ms()), np.append(0, queue["queue_bytes"]) / 1e6, color=COLOURS[i], label=label)
        longest = max((s.ms() for s in run.flows.values()), key=len)
        resent = sum(np.interp(longest, s.ms(), s["retransmitted_packets"]) for s in run.flows.values())
        bottom.plot(longest, resent, color=COLOURS[i])
    top.set_ylabel("queue (MB)")
    top.set_title("80 QPs of 20 hosts start at line rate")
    top.legend(frameon=False)
    bottom.set_ylabel("resent packets")
    bottom.set_xlabel("time (ms)")
    bottom.set_xlim(0, 5)
    return figure


EXPERIMENTS = (Experiment(
    name="sec4-thresholds",
    title="Section 4: ECN before PFC, PFC before loss",
    source="SIGCOMM 2015, sections 3.3 and 4",
    statement="The PFC threshold must be high enough for ECN to act first, and low enough for no packet to be lost. A static "
              "threshold may be at most 24.47 KB, which leaves less than a packet for ECN. A dynamic threshold with beta = 8 leaves "
              "21.75 KB. PFC is needed nevertheless, because flows start at line rate.",
    scaled="As in the paper, except for fewer ports: their headroom is subtracted from the buffer. The incast is 8:1 and takes 40 "
           "ms. In the runs 'start', all 20 hosts send on four QPs each. In the runs 'ecn-after-pfc', Kmin is five times the static "
           "PFC threshold. --full changes nothing.",
    variants=(Variant("right"), Variant("static", STATIC), Variant("ecn-after-pfc", AFTER), Variant("ecn-after-pfc-zoom", {**AFTER, **ZOOM}),
              Variant("start", BURST), Variant("start-no-pfc", {**BURST, **NO_PFC})),
    check=check,
    plots={"pauses": (draw_pauses, "Left: thresholds of section 4. Middle: static PFC threshold of 24.47 KB. Right: the same, with marking from 122 KB on."),
           "oscillation": (draw_oscillation, "Samples of 2 us. A sender is paused when its port has reached 24.47 KB, and released two frames below."),
           "start": (draw_start, "With PFC, pauses limit the queue. Without PFC, the buffer of 12 MB overflows, "
                                 "and go-back-N resends packets.")},
    findings="With one QP on each of 20 hosts, the queue at the start reaches 4.5 MB of the 12 MB; with two QPs, it reaches 9.4 MB. "
             "CNPs arrive before the buffer is full. It takes four QPs per host to lose packets without PFC. The senders detect "
             "these losses when the queue has drained, and resend the packets some ms later, at the rates that they have then.",
),)

FIGURES = (Figure(
    number="Section 4",
    title="ECN before PFC, PFC before loss",
    statement="With the right thresholds, marks precede pauses, and there are no pauses in steady state. A static PFC threshold pauses first. Without PFC, packets are lost "
              "when flows start at line rate.",
    experiment="sec4-thresholds",
    rows=(
        Row("right thresholds: PFC frames in steady state", "none", lambda runs: pauses_per_ms(runs["right"]), 0, 0, "per ms"),
        Row("right thresholds, 80 QPs start: lost", "none", lambda runs: dropped(runs["start"]), 0, 0, "packets"),
        Row("right thresholds, 80 QPs start: first mark before the first pause by", "ECN first",
            lambda runs: 1e3 * (first_ms(runs["start"], runs["start"].pauses.values(), "tx_pause") - first_ms(runs["start"], runs["start"].queues.values(), "ecn_marked_packets")),
            1, unit="us", shape=True),
        Row("PFC threshold of 24.47 KB, late marks: PFC frames in steady state", "PFC before ECN", lambda runs: pauses_per_ms(runs["ecn-after-pfc"]), 200, unit="per ms", shape=True),
        Row("without PFC, 80 QPs start: lost", "loss", lambda runs: dropped(runs["start-no-pfc"]), 100, unit="packets", shape=True),
    ),
    plots=("pauses", "start"),
    verdict=AGREES,
),)
