# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, sections 3.1, 5.2, 6.1 and 6.3: the queue of incasts. Figure 12 (g), Figure 14 (the parameters), K:1, Figure 19 (DCTCP)."""
import re

import numpy as np

from experiments.frame import AGREES, IN_SHAPE, Check, Experiment, Figure, Row, Variant
from experiments.sigcomm_parameters import flows
from report.plots import COLOURS, GREY, MODEL, WIDTH, plt

SCENARIO = "paper-sweep.ini"
LINK_GBPS = 40
DEGREES = (2, 4, 8, 16, 20)
WEIGHTS = (16, 256)  # 1 / g
INCASTS = (2, 16)
KB = 1e3


def bottleneck(run, key):
    return run.results["bottleneck"][key]


def measured(run, series):
    """Queue in KB at the samples of the measured time."""
    return series["queue_bytes"][series["time_ns"] > run.results["measure_from_ns"]] / KB


def queue(run):
    return measured(run, run.bottleneck())


def model(run):
    return run.fluid.queue(run.results["bottleneck"])


def empty(run):
    """Share of the samples in which at most the packet being sent is in the port, in %."""
    return 100 * np.mean(queue(run) < 1.2)


# Figure 12

def weight(n, k):
    return f"{n}to1-g-1_{k}"


def check_weight(runs):
    checks = []
    for n in INCASTS:
        large, small = (runs[weight(n, k)] for k in WEIGHTS)
        checks += [
            Check(f"{n}:1: time with an empty queue, g = 1/256 minus g = 1/16", empty(small) - empty(large), None, -2, "% of the time", "a small g: a calm queue"),
            Check(f"{n}:1: use of the link, g = 1/256 minus g = 1/16", 100 * (bottleneck(small, "link_use") - bottleneck(large, "link_use")), 0.2, unit="% of the link"),
        ]
    large, small = (runs[weight(16, k)] for k in WEIGHTS)
    return checks + [
        Check("16:1: 99th percentile of the queue, g = 1/256 minus g = 1/16", (bottleneck(small, "queue_p99_bytes") - bottleneck(large, "queue_p99_bytes")) / KB, None, -5, "KB"),
        Check("16:1: standard deviation of the model's queue, g = 1/256 over g = 1/16", spread(small) / spread(large), None, 0.9, "times"),
    ]


def spread(run):
    return measured(run, model(run)).std()


def draw_weight(runs):
    figure, panels = plt.subplots(2, 2, figsize=(WIDTH, 4.8), sharex=True, sharey=True)
    for row, n in zip(panels, INCASTS):
        for axes, k in zip(row, WEIGHTS):
            run = runs[weight(n, k)]
            packets, fluid = run.bottleneck(), model(run)
            axes.plot(packets.ms(), packets["queue_bytes"] / KB, color=COLOURS[0], lw=0.6, label="packets")
            axes.plot(fluid.ms(), fluid["queue_bytes"] / KB, **MODEL, label="fluid model")
            axes.set_title(f"{n}:1, g = 1/{k}")
            axes.set_xlim(75, 150)
            axes.set_ylim(0, 260)
        row[0].set_ylabel("queue (KB)")
    for axes in panels[-1]:
        axes.set_xlabel("time (ms)")
    panels[0][1].legend(frameon=False)
    return figure


# K:1

def total(run):
    """Wire rate of the receiver's link, in Gb/s."""
    return LINK_GBPS * bottleneck(run, "link_use")


def degrees(runs):
    """{senders: runs of all seeds}"""
    found = {}
    for name, run in runs.items():
        if name.startswith("senders-"):
            found.setdefault(int(name.split("-")[1]), []).append(run)
    return dict(sorted(found.items()))


def over_seeds(runs, figure):
    """{senders: mean over the seeds}"""
    return {n: float(np.mean([figure(run) for run in each])) for n, each in degrees(runs).items()}


def mean_queue(run):
    return bottleneck(run, "queue_mean_bytes") / KB


def p99_queue(run):
    return bottleneck(run, "queue_p99_bytes") / KB


def check_incast(runs):
    totals = over_seeds(runs, total)
    return [
        Check("2 to 8 senders: lowest total", min(rate for n, rate in totals.items() if n <= 8), 39, 40, "Gb/s", "above 39"),
        Check("16 and 20 senders: lowest total", min(rate for n, rate in totals.items() if n > 8), 38, 40, "Gb/s", "above 39"),
        Check("longest mean queue", max(over_seeds(runs, mean_queue).values()), None, 100, "KB", "below 100"),
        Check("longest 99th percentile of the queue", max(over_seeds(runs, p99_queue).values()), 150, 260, "KB", "below 100"),
        Check("20 senders, K = 10 us: 99th percentile of the queue over that with K = 55 us", late(runs, p99_queue), 1.1, unit="times", stated="K must be larger than N"),
        Check("20 senders, K = 10 us: mean queue over that with K = 55 us", late(runs, mean_queue), 1.2, unit="times", stated="K must be larger than N"),
    ]


def late(runs, figure):
    """Figure with an alpha timer below the CNP interval, over the one above it."""
    return figure(runs["alpha-timer-10us"]) / figure(degrees(runs)[20][0])


def draw_incast(runs):
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(WIDTH, 4.8), sharex=True)
    totals = over_seeds(runs, total)
    top.plot(totals.keys(), totals.values(), "o-", color=COLOURS[0], ms=4, clip_on=False)
    top.axhline(39, color=GREY, ls="--", lw=1)
    top.set_ylim(36, 40)
    top.set_ylabel("total (Gb/s)")
    top.set_title("K senders, one receiver. Dashed: published bounds")
    for label, of, style in (("mean", mean_queue, "o-"), ("99th percentile", p99_queue, "s:")):
        found = over_seeds(runs, of)
        bottom.plot(found.keys(), found.values(), style, color=COLOURS[0], ms=4, label=label)
    bottom.axhline(100, color=GREY, ls="--", lw=1)
    bottom.set_ylim(0, 260)
    bottom.set_ylabel("queue (KB)")
    bottom.set_xlabel("senders")
    bottom.set_xticks(list(totals))
    bottom.set_xmargin(0.03)
    bottom.legend(frameon=False, loc="center right")
    return figure


# Figure 14

PRODUCTION = (
    # what, section and key, published, the key's text in units of the published value
    ("Kmin", ("wred", "green_min_threshold_bytes"), 5, "KB"),
    ("Kmax", ("wred", "green_max_threshold_bytes"), 200, "KB"),
    ("Pmax", ("wred", "green_drop_probability_ppm"), 1, "%"),
    ("timer T", ("rp", "rp_time_reset_us"), 55, "us"),
    ("byte counter B", ("rp", "rp_byte_reset_bytes"), 10, "MB"),
    ("1 / g", ("rp", "rp_dce_tcp_g"), 256, ""),
    ("alpha timer K", ("rp", "rp_dce_tcp_rtt_us"), 55, "us"),
    ("CNP interval N", ("np", "np_min_time_between_cnps_us"), 50, "us"),
    ("fast recovery steps F", ("rp", "rp_threshold"), 5, ""),
    ("additive increase R_AI", ("rp", "rp_ai_rate_bps"), 40, "M"),
)


def default(key, unit):
    """Value in force of a key that the scenario does not set."""
    def figure(runs):
        text = runs["defaults"].config[key]
        number, found = re.fullmatch(r"(\d+)(\D*)", text).groups()
        if key[1] == "rp_dce_tcp_g":  # the weight of the old alpha, in 1/1024
            return 1 / (1 - int(number) / 1024)
        return float(number) if found == unit else float("nan")
    return figure


def check_defaults(runs):
    return [Check(what, default(key, unit)(runs), published, published, unit, f"{published} {unit}".strip()) for what, key, published, unit in PRODUCTION] + [
        Check("8:1: use of the link", 100 * bottleneck(runs["defaults"], "link_use"), 97, 100, "%")]


def draw_defaults(runs):
    figure, axes = plt.subplots(figsize=(WIDTH, 3))
    run = runs["defaults"]
    axes.plot(run.bottleneck().ms(), run.bottleneck()["queue_bytes"] / KB, color=COLOURS[0], lw=0.7, label="packets")
    axes.plot(model(run).ms(), model(run)["queue_bytes"] / KB, **MODEL, label="fluid model")
    axes.set_ylim(0, 260)
    axes.set_xlabel("time (ms)")
    axes.set_ylabel("queue (KB)")
    axes.set_title("8:1 with these parameters")
    axes.legend(frameon=False)
    return figure


# Figure 19

TWENTY = {"flow first.src": "1-19", "flow others.src": "20", "flow others.start_ns": "0", "fabric.sample_ns": "50us"}
DCTCP = {"nic.cc": "dctcp", "nic.ack_every": "1", "np.N": "0", "wred.Kmin": "160KB", "wred.Kmax": "160KB", "wred.Pmax": "100%", "dctcp.g": "1/16",
         "dctcp.dctcp_ai_rate_bps": "40M"}
ALGORITHMS = {"dcqcn": ("DCQCN", 76.6), "dctcp": ("DCTCP", 162.9)}  # published 90th percentiles, KB


def p90(run):
    return float(np.percentile(queue(run), 90))


def check_algorithms(runs):
    return [
        Check("DCQCN: 90th percentile of the queue", p90(runs["dcqcn"]), 120, 220, "KB", "76.6"),
        Check("DCTCP: 90th percentile of the queue", p90(runs["dctcp"]), 250, 500, "KB", "162.9"),
        Check("DCQCN over DCTCP", p90(runs["dcqcn"]) / p90(runs["dctcp"]), None, 0.8, "times", "0.47"),
        Check("DCQCN: median of the queue", np.median(queue(runs["dcqcn"])), None, 76.6, "KB"),
    ]


def draw_algorithms(runs):
    figure, axes = plt.subplots(figsize=(WIDTH, 3.8))
    for i, (name, (label, published)) in enumerate(ALGORITHMS.items()):
        held = np.sort(queue(runs[name]))
        axes.plot(held, np.linspace(0, 100, len(held)), color=COLOURS[i], label=label)
        axes.plot(published, 90, "X", color=COLOURS[i], ms=8, label=f"{label}, published 90th percentile")
    axes.axhline(90, color="black", lw=0.8, ls="--")
    axes.set_xlim(0, 600)
    axes.set_ylim(0, 100)
    axes.set_xlabel("queue (KB)")
    axes.set_ylabel("samples (%)")
    axes.set_title("Queue of a 20:1 incast")
    axes.legend(frameon=False, loc="lower right")
    return figure


EXPERIMENTS = (
    Experiment(
        name="fig12-g",
        title="Figure 12: a small g calms the queue",
        source="SIGCOMM 2015, section 5.2, Figure 12",
        statement="With g = 1/256 instead of 1/16, the queue of a 2:1 and of a 16:1 incast is calmer.",
        scaled="The incasts of sec5-parameters: 40 Gb/s, 150 ms, measured in the second half. --full changes nothing.",
        scenario=SCENARIO,
        variants=tuple(Variant(weight(n, k), flows(n, {"rp.g": f"1/{k}"})) for n in INCASTS for k in WEIGHTS),
        check=check_weight,
        plots={"queue": (draw_weight, "The second half of each run.")},
        findings="A cut takes half of alpha off the rate. With g = 1/16, alpha is large soon after a few CNPs, cuts are deep, and the queue runs empty "
                 "more often: the link is used less. The largest queue hardly depends on g.",
    ),
    Experiment(
        name="incast-k-to-1",
        title="K:1 incasts, and an alpha timer that is too short",
        source="SIGCOMM 2015, section 6.1; section 3.1 for the alpha timer",
        statement="For all K up to 20, the total is above 39 Gb/s and the queue below 100 KB. The alpha timer K must be larger than the CNP interval N.",
        scaled="150 ms, measured in the second half. One seed; with --full, three.",
        scenario=SCENARIO,
        variants=(*(Variant(f"senders-{n}-seed-1", flows(n)) for n in DEGREES), Variant("alpha-timer-10us", flows(20, {"rp.K": "10us"}))),
        full_variants=(*(Variant(f"senders-{n}-seed-{seed}", flows(n), seed) for n in range(2, 21, 2) for seed in (1, 2, 3)),
                       Variant("alpha-timer-10us", flows(20, {"rp.K": "10us"}))),
        check=check_incast,
        plots={"incast": (draw_incast, "Rates on the wire.")},
        findings="From 14 senders on, the paper's own equations have no queue on the marking slope: p* is above Pmax = 1 %. The queue then oscillates about "
                 "Kmax = 200 KB, which costs up to 3 % of the link.",
    ),
    Experiment(
        name="fig14-production",
        title="Figure 14: the parameters in production are the defaults",
        source="SIGCOMM 2015, Figure 14; CoNEXT 2016, section 3",
        statement="The parameters with which the authors deploy DCQCN.",
        scaled="An 8:1 incast of 100 ms whose scenario sets none of these keys. --full changes nothing.",
        scenario="experiments/fig14-defaults.ini",
        variants=(Variant("defaults"),),
        check=check_defaults,
        plots={"queue": (draw_defaults, "The first peak is cut off.")},
    ),
    Experiment(
        name="fig19-queue",
        title="Figure 19: the queue with DCQCN and with DCTCP",
        source="SIGCOMM 2015, section 6.3, Figure 19",
        statement="With a 20:1 incast, the 90th percentile of the queue is 76.6 KB with DCQCN and 162.9 KB with DCTCP.",
        scaled="150 ms, measured in the second half, sampled every 50 us. DCTCP marks above 160 KB. --full changes nothing.",
        scenario=SCENARIO,
        variants=(Variant("dcqcn", TWENTY), Variant("dctcp", {**TWENTY, **DCTCP})),
        check=check_algorithms,
        plots={"distribution": (draw_algorithms, "Cumulative distributions. Crosses: published 90th percentiles.")},
        findings="DCTCP is a rate here, without the ACK clock of a window: its senders overshoot K by up to 40 MB/s for each round trip. With DCQCN, more "
                 "than half of the samples are below the published 90th percentile, but 20 flows also reach Kmax = 200 KB again and again.",
    ),
)

FIGURES = (
    Figure(
        number="Section 3.1",
        title="K must be larger than the CNP interval",
        statement="The alpha timer K must be larger than the CNP generation timer N.",
        experiment="incast-k-to-1",
        rows=(
            Row("20:1, K = 10 us, N = 50 us: mean queue over that with K = 55 us", "K > N", lambda runs: late(runs, mean_queue), 1.1, unit="times", shape=True),
            Row("20:1, K = 10 us, N = 50 us: 99th percentile over that with K = 55 us", "K > N", lambda runs: late(runs, p99_queue), 1.1, unit="times", shape=True),
        ),
        plots=(),
        verdict=IN_SHAPE,
        because="The paper states the rule without a figure. With K below N, alpha decays between two CNPs, and cuts are too small. --check-config "
                "warns when K is not above N.",
    ),
    Figure(
        number="Figure 12",
        title="A small g calms the queue",
        statement="Queue of 2:1 and 16:1 over time, with g = 1/16 and 1/256: calmer with 1/256.",
        experiment="fig12-g",
        rows=tuple(Row(f"{n}:1: {what}, g = 1/256 minus g = 1/16", published, lambda runs, n=n, of=of: of(runs[weight(n, 256)]) - of(runs[weight(n, 16)]), low, high, unit,
                       shape=True, recalled=published != "-")
                   for n in INCASTS for what, published, of, low, high, unit in (
                       ("time with an empty queue", "calmer", empty, None, 0, "% of the time"),
                       ("use of the link", "-", lambda run: 100 * bottleneck(run, "link_use"), 0, None, "%"))) +
             (Row("16:1: 99th percentile of the queue, g = 1/256 minus g = 1/16", "calmer", lambda runs: p99_queue(runs[weight(16, 256)]) - p99_queue(runs[weight(16, 16)]), None, 0, "KB", shape=True, recalled=True),
              Row("16:1, model: standard deviation, g = 1/256 over g = 1/16", "calmer", lambda runs: spread(runs[weight(16, 256)]) / spread(runs[weight(16, 16)]), None, 1, "times", shape=True, recalled=True)),
        plots=("queue",),
        verdict=IN_SHAPE,
        because="The paper prints curves without figures. The difference shows at the low end of our queue, which runs empty more often with the large g.",
    ),
    Figure(
        number="Figure 14",
        title="Parameters in production",
        statement="The parameters with which DCQCN is deployed.",
        experiment="fig14-production",
        rows=tuple(Row(what, f"{published} {unit}".strip().replace("40 M", "40 Mb/s"), default(key, unit), published, published, unit.replace("M", "Mb/s") if unit == "M" else unit)
                   for what, key, published, unit in PRODUCTION),
        plots=("queue",),
        verdict=AGREES,
    ),
    Figure(
        number="Section 6.1",
        title="K:1 incasts",
        statement="For all K up to 20, the total throughput is above 39 Gb/s, and the queue is below 100 KB.",
        experiment="incast-k-to-1",
        rows=(
            Row("lowest total of K = 2 to 8", "above 39 Gb/s", lambda runs: min(rate for n, rate in over_seeds(runs, total).items() if n <= 8), 39, unit="Gb/s", recalled=True),
            Row("lowest total of all K", "above 39 Gb/s", lambda runs: min(over_seeds(runs, total).values()), 39, unit="Gb/s", recalled=True),
            Row("longest mean queue of all K", "below 100 KB", lambda runs: max(over_seeds(runs, mean_queue).values()), None, 100, "KB", recalled=True),
            Row("longest 99th percentile of all K", "below 100 KB", lambda runs: max(over_seeds(runs, p99_queue).values()), None, 100, "KB", recalled=True),
        ),
        plots=("incast",),
        verdict=IN_SHAPE,
        because="With Pmax = 1 % (choice of the paper), its own equations have no queue on the slope from 14 senders on. Our queue then oscillates about Kmax = 200 KB, "
                "and 3 % of the link is lost. The paper's NICs may answer marks more often than the equations say.",
    ),
    Figure(
        number="Figure 19",
        title="Queue of 20:1, DCQCN and DCTCP",
        statement="Cumulative distribution of the queue of a 20:1 incast. 90th percentiles: 76.6 KB with DCQCN, 162.9 KB with DCTCP.",
        experiment="fig19-queue",
        rows=(
            *(Row(f"{label}: 90th percentile of the queue", f"{published} KB", lambda runs, name=name: p90(runs[name]), 0.8 * published, 1.2 * published, "KB", recalled=True)
              for name, (label, published) in ALGORITHMS.items()),
            Row("DCQCN over DCTCP, 90th percentiles", "0.47", lambda runs: p90(runs["dcqcn"]) / p90(runs["dctcp"]), None, 0.8, "times", shape=True, recalled=True),
        ),
        plots=("distribution",),
        verdict=IN_SHAPE,
        because="Our DCTCP is a rate, not a window (choice of ours), so that nothing but marks stops the queue's growth. Our DCQCN reaches Kmax with 20 flows, as the paper's "
                "equations say (see K:1).",
    ),
)
