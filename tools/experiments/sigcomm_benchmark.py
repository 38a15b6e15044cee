# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, abstract and section 6: user traffic during the rebuild of a disk, with and without DCQCN, PFC and the right thresholds."""
import random

import numpy as np

from experiments.frame import DIFFERS, IN_SHAPE, NOT_IN_THIS_RUN, Check, Experiment, Figure, Row, Variant
from experiments.measures import dropped
from report.plots import COLOURS, WIDTH, plt

HOSTS = 20
LOW, HIGH = 2, 10  # degree of a rebuild: number of hosts that it reads from
FEW, MANY = 5, 80  # pairs; 16 times as many
SOME = 20  # pairs of the runs over the degree
PAYLOAD = 1024 / 1106  # of the wire's bytes
NO_PFC = {"switch.pfc_generate": "off", "nic.flow_control": "off", "switch.buffer_bytes": "12MB"}  # needs no headroom: all is shared
MODES = {
    "pfc": {"nic.cc": "none", "wred.wred_green_enable": "off"},
    "pfc_repeats": {"nic.cc": "none", "wred.wred_green_enable": "off", "pfc.pfc_refresh_pct": 1},
    "dcqcn": {},
    "lossy": NO_PFC,
    "lossy_small": {**NO_PFC, "switch.buffer_bytes": "400KB"},
    # section 4: the static PFC threshold, and marking from five times as much on, so that pauses come first
    "late_marks": {"buffer_profile lossless.dynamic": "off", "buffer_profile lossless.static_th_bytes": 24475, "wred.Kmin": "122375", "wred.Kmax": "320KB"},
}
LABELS = {"pfc": "PFC alone", "pfc_repeats": "PFC alone, XOFF every 8 us", "dcqcn": "DCQCN", "lossy": "DCQCN without PFC", "lossy_small": "DCQCN without PFC, buffer of 400 KB", "late_marks": "DCQCN, wrong thresholds"}
SPINES = ("S1", "S2")
SPINE_PORTS = 8  # of both
SWITCHES = (*SPINES, *(f"{tier}{i}" for tier in "TL" for i in range(1, 5)))
PAPER_MS = 120e3  # length of the paper's runs, as we recall it


def traffic(degree, pairs, seed):
    """Settings of a run: random pairs in which each host is a source, and a destination, equally often."""
    rng = random.Random(seed)
    order = rng.sample(range(1, HOSTS + 1), HOSTS)
    steps = rng.sample(range(1, HOSTS), -(-pairs // HOSTS))
    sources = {}
    for pair in range(pairs):
        source, step = pair % HOSTS, steps[pair // HOSTS]
        sources.setdefault(order[(source + step) % HOSTS], []).append(order[source])
    rebuild = rng.sample(range(1, HOSTS + 1), degree + 1)
    settings = {"router.ecmp_hash_seed": seed, "flow rebuild.dst": rebuild[0], "flow rebuild.src": ",".join(map(str, rebuild[1:]))}
    for host in range(1, HOSTS + 1):
        if host in sources:
            settings[f"flow u{host}.src"] = ",".join(map(str, sources[host]))
        else:
            settings[f"flow u{host}.start_ns"] = NOT_IN_THIS_RUN
    return settings


def variants(cases):
    """Variants of cases, a list of (mode, degree, pairs, seeds)."""
    return tuple(Variant(f"{mode}-{degree}-{pairs}-{seed}", {**MODES[mode], **traffic(degree, pairs, seed)}, seed)
                 for mode, degree, pairs, seeds in cases for seed in seeds)


class Result:
    """Results of one case, over all its seeds."""

    def __init__(self):
        self.user, self.rebuild, self.pauses = [], [], []  # Gb/s of each pair, of each flow of the rebuild; PFC frames per ms
        self.spines = {spine: [] for spine in SPINES}  # PFC frames that a spine received, per ms of the whole run
        self.spines_paused = []  # share of the run for which a port of the spines was paused, in %, mean of the ports
        self.lost = 0

    def low(self):
        return np.percentile(self.user, 10)

    def rebuild_low(self):
        return np.percentile(self.rebuild, 10)


def collect(runs):
    """{(mode, degree, pairs): Result}"""
    found = {}
    for name, run in runs.items():
        mode, degree, pairs, seed = (word if word in MODES else int(word) for word in name.split("-"))
        result = found.setdefault((mode, degree, pairs), Result())
        present = {place.removesuffix(".src") for place in traffic(degree, pairs, seed) if place.endswith(".src")}
        for flow in run.results["flows"]:
            section = flow["name"].split()[0]
            if f"flow {section}" in present:
                (result.rebuild if section == "rebuild" else result.user).append(flow["goodput_bps"] / 1e9)
        result.pauses.append(run.results["pause_frames_after_measure"] * 1e6 /
                             (run.results["duration_ns"] - run.results["measure_from_ns"]))
        for spine, received in result.spines.items():
            received.append(sum(port["rx_pause"] for port in run.results["pfc_counters"] if port["node"] == spine) * 1e6 / run.results["duration_ns"])
        paused_us = sum(port["rx_pause_duration_us"] for port in run.results["pfc_counters"] if port["node"] in SPINES)
        result.spines_paused.append(1e5 * paused_us / run.results["duration_ns"] / SPINE_PORTS)
        result.lost += dropped(run)
    return found


def times_as_many(found, degree):
    """Largest number of pairs that DCQCN serves as well as PFC alone serves 5 pairs, divided by 5. Within 20 %, because the 5 pairs are
    chosen at random."""
    enough = 0.8 * found["pfc", degree, FEW].low()
    return max((pairs for (mode, d, pairs), r in found.items() if mode == "dcqcn" and d == degree and r.low() >= enough), default=0) / FEW


def check(runs):
    found = collect(runs)
    few, many = found["pfc", HIGH, FEW], found["dcqcn", HIGH, MANY]
    return [
        Check("degree 2: 10th percentile of 5 pairs, PFC alone", found["pfc", LOW, FEW].low(), 1.5, 4.5, "Gb/s"),
        Check("degree 2: 10th percentile of 80 pairs, DCQCN", found["dcqcn", LOW, MANY].low(), 1.5, 4.5, "Gb/s", "the same"),
        Check("degree 2: pairs that DCQCN serves as well", times_as_many(found, LOW), 16, unit="times as many", stated="up to 16"),
        Check("degree 10: 10th percentile of 5 pairs, PFC alone", few.low(), None, 0.5, "Gb/s"),
        Check("degree 10: 10th percentile of 80 pairs, DCQCN", many.low(), 1.5, unit="Gb/s"),
        Check("degree 10: pairs that DCQCN serves as well", times_as_many(found, HIGH), 16, unit="times as many", stated="up to 16"),
        Check("degree 2: 10th percentile of the rebuild's flows, 80 pairs, DCQCN", found["dcqcn", LOW, MANY].rebuild_low(), 1, unit="Gb/s"),
        Check("degree 10: 10th percentile of the rebuild's flows, 80 pairs, DCQCN", many.rebuild_low(), 0.8, unit="Gb/s"),
        Check("degree 10: PFC frames, 5 pairs, PFC alone", np.mean(few.pauses), 100, unit="per ms"),
        Check("degree 10: PFC frames, 80 pairs, DCQCN", np.mean(many.pauses), 0, 1, "per ms"),
        Check("lost", sum(dropped(run) for run in runs.values()), 0, 0, "packets"),
    ]


def label(mode, pairs):
    return f"{LABELS[mode]}, {pairs} pairs"


def draw_share(axes, rates, **style):
    """Cumulative distribution."""
    axes.step(np.append(0, np.sort(rates)), np.linspace(0, 100, len(rates) + 1), where="post", **style)


def draw_distribution(runs):
    """Cumulative distributions of the throughput of pairs (solid) and of the rebuild's flows (dotted)."""
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 4.2), sharey=True)
    for axes, degree in zip(panels, (LOW, HIGH)):
        cases = {key: r for key, r in collect(runs).items() if key[1] == degree and key[2] in (FEW, MANY)}
        for (mode, _, pairs), result in cases.items():
            draw_share(axes, result.user, color=COLOURS[mode == "dcqcn"], label=f"users: {label(mode, pairs)}")
            draw_share(axes, result.rebuild, color=COLOURS[mode == "dcqcn"], ls=":", label=f"rebuild: {label(mode, pairs)}")
        axes.axhline(10, color="black", lw=0.8, ls="--")
        axes.set_ylim(0, 100)
        axes.set_xlim(0, 40)
        axes.set_xlabel("throughput (Gb/s)")
        axes.set_title(f"During a rebuild of degree {degree}")
        axes.legend(frameon=False, loc="lower right", fontsize=9)
    panels[0].set_ylabel("pairs, or flows of the rebuild (%)")
    return figure


def draw_low(runs):
    """10th percentile against the degree of the rebuild."""
    figure, axes = plt.subplots(figsize=(WIDTH, 3.4))
    found = collect(runs)
    for mode, pairs in dict.fromkeys((mode, pairs) for mode, _, pairs in found):
        points = sorted((degree, r.low()) for (m, degree, p), r in found.items() if (m, p) == (mode, pairs))
        axes.plot(*zip(*points), "o-" if mode == "dcqcn" else "s-", color=COLOURS[mode == "dcqcn"], alpha=1 if pairs in (FEW, MANY) else 0.5)
        axes.annotate(label(mode, pairs), points[-1], xytext=(8, 0), textcoords="offset points", va="center", annotation_clip=False)
    axes.set_xlim(LOW - 0.5, HIGH + 2.5)
    axes.set_xticks(sorted({degree for _, degree, _ in found}))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("hosts that a rebuild reads from")
    axes.set_ylabel("10th percentile (Gb/s)")
    axes.set_title("Throughput of user pairs")
    return figure

def by_degree(runs, mode):
    """[(degree, Result)] of the runs with SOME pairs"""
    return sorted((degree, result) for (m, degree, pairs), result in collect(runs).items() if m == mode and pairs == SOME)


def at(runs, mode, degree):
    return collect(runs)[mode, degree, SOME]


def fair_rebuild(degree):
    """Payload rate in Gb/s of a flow of the rebuild, if it shares the receiver's link equally with the others and with the one pair that ends there."""
    return 40 * PAYLOAD / (degree + 1)


def spine_frames(runs, mode, degree):
    """PFC frames that both spines would receive in two minutes, in millions."""
    return sum(np.mean(received) for received in at(runs, mode, degree).spines.values()) * PAPER_MS / 1e6


def grows(runs, mode):
    """PFC frames at the spines with degree 10, over those with degree 2."""
    return spine_frames(runs, mode, HIGH) / spine_frames(runs, mode, LOW)


def paused_grows(runs):
    return np.mean(at(runs, "pfc", HIGH).spines_paused) / np.mean(at(runs, "pfc", LOW).spines_paused)


def check_degree(runs):
    calm = [result for _, result in by_degree(runs, "dcqcn")]
    return [
        Check("degree 10, PFC alone: PFC frames at both spines in two minutes", spine_frames(runs, "pfc", HIGH), 1, 100, "million", "millions"),
        Check("DCQCN: PFC frames at both spines, all degrees", sum(sum(received) for r in calm for received in r.spines.values()), 0, 1, "per ms", "few"),
        Check("PFC alone: time for which ports of the spines are paused, degree 10 over degree 2", paused_grows(runs), 1.5, unit="times"),
        Check("PFC alone, XOFF repeated every 8 us: frames at the spines, degree 10 over degree 2", grows(runs, "pfc_repeats"), 1, unit="times", stated="grows"),
        Check("degree 2, PFC alone: 10th percentile of the pairs", at(runs, "pfc", LOW).low(), 0.5, 4, "Gb/s"),
        Check("degree 10, PFC alone: 10th percentile of the pairs", at(runs, "pfc", HIGH).low(), None, 0.5, "Gb/s", "collapses"),
        Check("degree 10, DCQCN: 10th percentile of the pairs", at(runs, "dcqcn", HIGH).low(), 4, unit="Gb/s", stated="holds"),
        Check("degree 10, PFC alone: 10th percentile of the rebuild's flows", at(runs, "pfc", HIGH).rebuild_low() / fair_rebuild(HIGH), None, 0.5, "of a fair share"),
        Check("degree 10, DCQCN: 10th percentile of the rebuild's flows", at(runs, "dcqcn", HIGH).rebuild_low() / fair_rebuild(HIGH), 0.5, 1, "of a fair share"),
        Check("degree 10, DCQCN: median of the rebuild's flows", np.median(at(runs, "dcqcn", HIGH).rebuild) / fair_rebuild(HIGH), 0.7, 1.1, "of a fair share"),
        Check("lost", sum(dropped(run) for run in runs.values()), 0, 0, "packets"),
    ]


def draw_spines(runs):
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 3.4))
    for axes, spine in zip(panels, SPINES):
        for i, mode in enumerate(("pfc", "dcqcn", "pfc_repeats")):
            points = [(degree, np.mean(result.spines[spine])) for degree, result in by_degree(runs, mode)]
            axes.plot(*zip(*points), "o-" if mode == "dcqcn" else "s-", color=COLOURS[i], label=LABELS[mode], clip_on=False)
        axes.set_title(f"Spine {spine}: frames", fontsize=10.5)
    panels[0].set_ylabel("PFC frames received per ms")
    for i, mode in enumerate(("pfc", "dcqcn")):
        points = [(degree, np.mean(result.spines_paused)) for degree, result in by_degree(runs, mode)]
        panels[2].plot(*zip(*points), "o-" if mode == "dcqcn" else "s-", color=COLOURS[i], clip_on=False)
    panels[2].set_title("Both: time", fontsize=10.5)
    panels[2].set_ylabel("ports are paused (% of the time)")
    for axes in panels:
        axes.set_xticks([degree for degree, _ in by_degree(runs, "pfc")])
        axes.set_xmargin(0.05)
        axes.set_ylim(bottom=0)
    top = max(axes.get_ylim()[1] for axes in panels[:2])
    for axes in panels[:2]:
        axes.set_ylim(0, top)
    panels[1].set_xlabel("hosts that the rebuild reads from")
    panels[2].legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=7.5, loc=(0.02, 0.08))
    return figure


def draw_degrees(runs):
    """Median and 10th percentile of pairs and of the rebuild's flows."""
    figure, panels = plt.subplots(2, 2, figsize=(WIDTH, 5.6), sharex=True)
    for row, (what, rates) in zip(panels, (("user pairs", lambda r: r.user), ("flows of the rebuild", lambda r: r.rebuild))):
        for axes, (name, percent) in zip(row, (("median", 50), ("10th percentile", 10))):
            for i, mode in enumerate(("pfc", "dcqcn")):
                points = [(degree, np.percentile(rates(result), percent)) for degree, result in by_degree(runs, mode)]
                axes.plot(*zip(*points), "s-" if mode == "pfc" else "o-", color=COLOURS[i], label=LABELS[mode], clip_on=False)
            axes.set_title(f"{what}: {name}")
            axes.set_xticks([degree for degree, _ in by_degree(runs, "pfc")])
            axes.set_xmargin(0.05)
            axes.set_ylim(bottom=0)
        row[0].set_ylabel("throughput (Gb/s)")
    degrees = np.array([degree for degree, _ in by_degree(runs, "pfc")])
    for axes in panels[1]:
        axes.plot(degrees, fair_rebuild(degrees), color="black", ls="--", lw=0.8, label="fair share of the receiver's link")
        axes.set_xlabel("hosts that the rebuild reads from")
    panels[1][0].legend(frameon=False, fontsize=9)
    return figure


DEGREE = 8  # of the rebuild in the runs about PFC and thresholds


def found_at(runs, mode):
    return collect(runs)[mode, DEGREE, SOME]


def fullest_mb(runs, mode):
    """Most bytes in a switch, of any switch at any time, in MB."""
    return max(counter.value for name, run in runs.items() if name.startswith(f"{mode}-") for counter in run.counters()
               if counter.node in SWITCHES and counter.name == "ingress_lossless_pool/watermark_bytes") / 1e6


def check_thresholds(runs):
    return [
        Check("PFC alone: 10th percentile of the pairs", found_at(runs, "pfc").low(), None, 0.5, "Gb/s"),
        Check("DCQCN: 10th percentile of the pairs", found_at(runs, "dcqcn").low(), 3, unit="Gb/s"),
        Check("wrong thresholds: 10th percentile of the pairs, of that with the right ones", found_at(runs, "late_marks").low() / found_at(runs, "dcqcn").low(), None, 0.8, stated="much less"),
        Check("wrong thresholds: PFC frames per ms", np.mean(found_at(runs, "late_marks").pauses), 100, unit="per ms", stated="PFC before ECN"),
        Check("DCQCN: PFC frames per ms", np.mean(found_at(runs, "dcqcn").pauses), 0, 1, "per ms"),
        Check("without PFC, 12 MB: lost", found_at(runs, "lossy").lost, 0, 0, "packets"),
        Check("without PFC, 12 MB: most bytes in a switch", fullest_mb(runs, "lossy"), None, 6, "MB"),
        Check("without PFC, 400 KB: lost", found_at(runs, "lossy_small").lost, 1000, unit="packets"),
        Check("without PFC, 400 KB: 10th percentile of the pairs", found_at(runs, "lossy_small").low(), None, 0.1, "Gb/s"),
    ]


def draw_thresholds(runs):
    figure, panels = plt.subplots(2, 1, figsize=(WIDTH, 4.6), sharex=True)
    modes = [mode for mode in LABELS if (mode, DEGREE, SOME) in collect(runs)]
    for axes, what, rates in zip(panels, ("user pairs", "flows of the rebuild"), (lambda r: r.user, lambda r: r.rebuild)):
        for i, mode in enumerate(modes):
            result = found_at(runs, mode)
            axes.barh(i, np.percentile(rates(result), 10), 0.6, color=COLOURS[0], alpha=0.6, label="" if i else "10th percentile")
            axes.plot(np.median(rates(result)), i, "o", color=COLOURS[1], ms=5, label="" if i else "median", clip_on=False)
        axes.set_yticks(range(len(modes)), [LABELS[mode] for mode in modes], fontsize=9)
        axes.set_ylim(len(modes) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.grid(axis="y", visible=False)
        axes.set_title(what)
    panels[0].legend(frameon=False)
    panels[1].set_xlabel("throughput (Gb/s)")
    return figure


TRAFFIC = ("The testbed, its traffic and its lengths are those of benchmark-traffic, with 20 pairs.")

BENCHMARK = Experiment(
    name="benchmark-traffic",
    title="Benchmark traffic: 16 times as many users",
    source="SIGCOMM 2015, abstract and section 1",
    statement="With traffic as in the authors' data centers (users, and rebuilds of disks), DCQCN can handle up to 16 times as much "
              "user traffic.",
    scaled="The testbed with five hosts under each ToR. Rebuild: two or ten hosts continuously write 4 MB messages to one host. "
           "Users: pairs of hosts, one message after the other, with the sizes of config/storage.cdf, because the paper's traces "
           "are not public. A run starts for 10 ms and is measured for 20 ms, instead of minutes. Seeds choose hosts, pairs and "
           "ECMP paths. With 5 pairs there are 8 seeds (rebuild from 2 hosts) or 4 (from 10), because 5 pairs are few; with 80 "
           "pairs, three or one. --full: rebuilds from 2 to 10 hosts, DCQCN also with 160 and 380 pairs, 10 seeds for 5 pairs and 5 seeds "
           "for 80, measured for 150 ms after 50 ms.",
    variants=variants((("pfc", LOW, FEW, range(1, 9)), ("pfc", HIGH, FEW, range(1, 5)), ("dcqcn", LOW, MANY, (1, 2, 3)),
                       ("dcqcn", HIGH, MANY, (1,)))),
    full_variants=variants([("pfc", degree, FEW, range(1, 11)) for degree in range(LOW, HIGH + 1, 2)] +
                           [("dcqcn", degree, MANY, range(1, 6)) for degree in range(LOW, HIGH + 1, 2)] +
                           [("dcqcn", degree, pairs, (1, 2)) for degree in (LOW, HIGH) for pairs in (160, 380)]),
    full={"fabric.duration_ns": "200ms", "fabric.measure_from_ns": "50ms"},
    check=check,
    plots={"distribution": (draw_distribution, "Payload rate of each pair (solid) and of each flow of the rebuild (dotted) in each run. Dashed: 10th percentile."),
           "degree": (draw_low, "Each point combines all runs with the same mode, degree and number of pairs.")},
    findings="The paper's factor depends on its traces. Here, the factor is 16 if a rebuild reads from two hosts. If it reads from "
             "ten hosts, PFC pauses nine tenths of the uplinks all the time, round trips take 5 to 20 ms, and the slowest of 5 pairs "
             "get nearly nothing. DCQCN then serves even 380 pairs, all that 20 hosts can form, better (0.7 Gb/s) than PFC alone "
             "serves 5.",
)

BY_DEGREE = Experiment(
    name="fig16-degree",
    title="Figures 15 and 16: pauses and throughput against the degree of a rebuild",
    source="SIGCOMM 2015, section 6.2, Figures 15 and 16",
    statement="Without DCQCN, spines receive the more PAUSE frames, and users get the less, the more hosts a rebuild reads from. With DCQCN, there "
              "are few pauses, users keep their throughput, and the rebuild's flows are near their fair shares.",
    scaled=f"{TRAFFIC} Three degrees, PFC alone with three seeds, DCQCN with one; with --full, five degrees with five seeds, measured for 150 ms.",
    scenario="experiments/benchmark-traffic.ini",
    variants=variants([("pfc", degree, SOME, (1, 2, 3)) for degree in (LOW, 6, HIGH)] + [("pfc_repeats", degree, SOME, (1, 2, 3)) for degree in (LOW, HIGH)] +
                      [("dcqcn", degree, SOME, (1,)) for degree in (LOW, 6, HIGH)]),
    full_variants=variants([(mode, degree, SOME, range(1, 6)) for mode in ("pfc", "pfc_repeats", "dcqcn") for degree in range(LOW, HIGH + 1, 2)]),
    full={"fabric.duration_ns": "200ms", "fabric.measure_from_ns": "50ms"},
    check=check_degree,
    plots={"spines": (draw_spines, "XOFF and XON frames that the ports of a spine received, and the time for which the ports of both were paused, over the whole run."),
           "throughput": (draw_degrees, "Payload rates. Dashed: the link of the rebuild's receiver, divided equally among the rebuild's flows and the one pair that ends there.")},
    findings="The time for which ports of the spines are paused grows with the degree, the number of frames does not: a pause lasts three times as long with degree 10 as with "
             "degree 2, and our switches send one XOFF for it. If they repeat XOFF every 8 us while it lasts (pfc_refresh_pct = 1), the frames grow with the degree too. "
             "The ECMP choice of a seed changes the numbers more than the degree does. Users with an offered load of 2 or 4 Gb/s instead of a message always ready change nothing of this.",
)

THRESHOLDS = Experiment(
    name="fig18-pfc-thresholds",
    title="Figure 18: DCQCN needs PFC, and thresholds in the right order",
    source="SIGCOMM 2015, section 6.2, Figure 18",
    statement="With the benchmark traffic, DCQCN without PFC and DCQCN with wrong thresholds are both much worse than DCQCN. Without PFC, the 10th "
              "percentile is about 0, because packets are lost when flows start.",
    scaled=f"{TRAFFIC} The rebuild reads from eight hosts. One seed; with --full, five, measured for 150 ms.",
    scenario="experiments/benchmark-traffic.ini",
    variants=variants([(mode, DEGREE, SOME, (1,)) for mode in MODES]),
    full_variants=variants([(mode, DEGREE, SOME, range(1, 6)) for mode in MODES]),
    full={"fabric.duration_ns": "200ms", "fabric.measure_from_ns": "50ms"},
    check=check_thresholds,
    plots={"configurations": (draw_thresholds, "Payload rates. Wrong thresholds: a static PFC threshold of 24.5 KB, and marking from 122 KB on.")},
    findings="Without PFC, this traffic fills at most 1.9 MB of a switch's 12 MB, so nothing is lost; with 3 MB the result is the same. Loss begins with 1.5 MB (533 packets, users' 10th "
             "percentile 4.9 Gb/s). With 400 KB, go-back-N resends more than it delivers, and nobody gets anything. A start at line rate for each message (qp_per_message) loses "
             "nothing with 3 MB either. 80 QPs that start at once do fill 12 MB (Section 4).",
)

EXPERIMENTS = (BENCHMARK, BY_DEGREE, THRESHOLDS)

FIGURES = (
    Figure(
        number="Figure 15",
        title="PAUSE frames at the spines",
        statement="PAUSE messages that S1 and S2 receive, against the degree of the rebuild: millions without DCQCN, hundreds with it.",
        experiment="fig16-degree",
        rows=(
            Row("degree 10, PFC alone: frames at S1 and S2 in two minutes", "millions", lambda runs: spine_frames(runs, "pfc", HIGH), 1, 100, "million", shape=True, recalled=True),
            Row("degree 10, DCQCN: frames at S1 and S2 in two minutes", "hundreds", lambda runs: spine_frames(runs, "dcqcn", HIGH), None, 0.01, "million", shape=True, recalled=True),
            Row("PFC alone, XOFF repeated every 8 us: frames at degree 10 over those at degree 2", "grows", lambda runs: grows(runs, "pfc_repeats"), 1, unit="times", shape=True, recalled=True),
            Row("PFC alone, one XOFF for each pause: the same", "grows", lambda runs: grows(runs, "pfc"), 1, unit="times", recalled=True),
            Row("PFC alone: time for which ports of the spines are paused, degree 10 over degree 2", "-", paused_grows, 1, unit="times"),
        ),
        plots=("spines",),
        verdict=IN_SHAPE,
        because="With the degree, ports of the spines are paused for longer, not more often. Our switches send one XOFF for a pause of less than 0.4 ms (choice of ours: half of the "
                "largest pause time), so that the number of frames does not follow. With XOFF repeated while it lasts, it does. How often the paper's switches repeat XOFF is not known.",
    ),
    Figure(
        number="Figure 16",
        title="Users and rebuild against the degree",
        statement="Median and 10th percentile of user pairs and of the rebuild's flows. Without DCQCN, users collapse as the degree grows. With "
                  "DCQCN, they hold, and the rebuild is near its fair share.",
        experiment="fig16-degree",
        rows=(
            Row("users, degree 10 over degree 2, PFC alone: 10th percentile", "collapses", lambda runs: at(runs, "pfc", HIGH).low() / at(runs, "pfc", LOW).low(), None, 0.2, "times", shape=True, recalled=True),
            Row("users, degree 10 over degree 2, DCQCN: 10th percentile", "holds", lambda runs: at(runs, "dcqcn", HIGH).low() / at(runs, "dcqcn", LOW).low(), 0.8, unit="times", shape=True, recalled=True),
            Row("users, degree 10 over degree 2, DCQCN: median", "holds", lambda runs: np.median(at(runs, "dcqcn", HIGH).user) / np.median(at(runs, "dcqcn", LOW).user), 0.8, unit="times", shape=True, recalled=True),
            Row("rebuild, degree 10, PFC alone: 10th percentile over the fair share", "far below", lambda runs: at(runs, "pfc", HIGH).rebuild_low() / fair_rebuild(HIGH), None, 0.5, shape=True, recalled=True),
            Row("rebuild, degree 10, DCQCN: 10th percentile over the fair share", "near 1", lambda runs: at(runs, "dcqcn", HIGH).rebuild_low() / fair_rebuild(HIGH), 0.75, 1.05, shape=True, recalled=True),
            Row("rebuild, degree 10, DCQCN: median over the fair share", "near 1", lambda runs: np.median(at(runs, "dcqcn", HIGH).rebuild) / fair_rebuild(HIGH), 0.85, 1.05, shape=True, recalled=True),
        ),
        plots=("throughput",),
        verdict=IN_SHAPE,
        because="The paper's traces are not public: message sizes are ours (config/storage.cdf). One of our pairs ends at the rebuild's receiver, so a fair "
                "share is an eleventh of its link, not a tenth.",
    ),
    Figure(
        number="Figure 17",
        title="16 times as many users",
        statement="Cumulative distributions: users and rebuild get as much with 80 pairs and DCQCN as with 5 pairs and PFC alone: 16 times as many users.",
        experiment="benchmark-traffic",
        rows=(
            Row("degree 2: pairs that DCQCN serves as well as PFC alone serves 5", "up to 16", lambda runs: times_as_many(collect(runs), LOW), 16, unit="times as many"),
            Row("degree 10: the same", "up to 16", lambda runs: times_as_many(collect(runs), HIGH), 16, unit="times as many"),
            Row("degree 2, users: 10th percentile, 80 pairs with DCQCN over 5 without", "about 1", lambda runs: collect(runs)["dcqcn", LOW, MANY].low() / collect(runs)["pfc", LOW, FEW].low(), 0.5, 2, "times", recalled=True),
            Row("degree 10, users: 10th percentile, 80 pairs with DCQCN over 5 without", "about 1", lambda runs: collect(runs)["dcqcn", HIGH, MANY].low() / collect(runs)["pfc", HIGH, FEW].low(), 0.5, 2, "times", recalled=True),
            Row("degree 10, rebuild: 10th percentile, 80 pairs with DCQCN over 5 without", "about 1", lambda runs: collect(runs)["dcqcn", HIGH, MANY].rebuild_low() / collect(runs)["pfc", HIGH, FEW].rebuild_low(), 0.5, 2, "times", recalled=True),
            Row("degree 10: 10th percentile with DCQCN above that without", "yes", lambda runs: collect(runs)["dcqcn", HIGH, MANY].low() - collect(runs)["pfc", HIGH, FEW].low(), 0, unit="Gb/s more", shape=True),
        ),
        plots=("distribution",),
        verdict=IN_SHAPE,
        because="With a rebuild from 2 hosts the factor is the paper's. With 10, DCQCN gains more than published, because our rebuild never pauses (choice of "
                "ours) and the slowest of 5 pairs then get nearly nothing without DCQCN.",
    ),
    Figure(
        number="Figure 18",
        title="The need for PFC and for right thresholds",
        statement="10th percentiles with the benchmark traffic: without PFC about 0, with wrong thresholds much less than with DCQCN and the right ones.",
        experiment="fig18-pfc-thresholds",
        rows=(
            Row("users, PFC alone over DCQCN: 10th percentile", "much less", lambda runs: found_at(runs, "pfc").low() / found_at(runs, "dcqcn").low(), None, 0.5, shape=True, recalled=True),
            Row("users, wrong thresholds over DCQCN: 10th percentile", "much less", lambda runs: found_at(runs, "late_marks").low() / found_at(runs, "dcqcn").low(), None, 0.8, shape=True, recalled=True),
            Row("users, without PFC (12 MB for the class) over DCQCN: 10th percentile", "about 0", lambda runs: found_at(runs, "lossy").low() / found_at(runs, "dcqcn").low(), None, 0.1, shape=True, recalled=True),
            Row("users, without PFC (400 KB for the class) over DCQCN: 10th percentile", "about 0", lambda runs: found_at(runs, "lossy_small").low() / found_at(runs, "dcqcn").low(), None, 0.1, shape=True, recalled=True),
            Row("rebuild, without PFC (400 KB for the class): 10th percentile", "about 0", lambda runs: found_at(runs, "lossy_small").rebuild_low(), None, 0.1, "Gb/s", shape=True, recalled=True),
        ),
        plots=("configurations",),
        verdict=DIFFERS,
        because="Our traffic fills at most 1.9 MB of a switch's 12 MB, so that nothing is lost without PFC; neither does it with 3 MB, nor if each message starts at line rate. Loss "
                "begins with 1.5 MB, and with 400 KB we see the paper's result. Two things that we do not know decide: how much of the 12 MB a lossy class may use, and how many flows of the "
                "paper's traces start at once (80 do fill 12 MB, see Section 4). A third is ours: go-back-N. NICs of that time resent the whole message after a loss (SIGCOMM 2016, "
                "\"RDMA over Commodity Ethernet at Scale\": no goodput with one packet of 256 lost).",
    ),
)
