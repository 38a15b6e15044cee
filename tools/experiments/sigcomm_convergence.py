# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, Figures 11 and 13: do two flows come to equal rates? Byte counter, timer and marking one after the other, model and packets."""
import numpy as np

from experiments.frame import IN_SHAPE, Check, Experiment, Figure, Row, Variant
from quench.fluid import means
from report.plots import COLOURS, MODEL, WIDTH, plt

SCENARIO = "experiments/two-rates.ini"
QCN = {"rp.T": "1500us", "rp.B": "150KB"}
CUT_OFF = {"wred.Kmin": "40KB", "wred.Kmax": "40KB"}
BOTH_MS = 10  # the second flow starts
SETTLED_MS = 60


def byte_counter(text):
    return {"rp.T": "1500us", "rp.B": text, **CUT_OFF}


def timer(text):
    return {"rp.T": text, "rp.B": "10MB", **CUT_OFF}


def kmax(text):
    return {**QCN, "wred.Kmax": text}


def pmax(text):
    return {**QCN, "wred.Pmax": text}


# {group: (settings of a value, label, values from the strawman's on, values of --full)}
GROUPS = {
    "B": (byte_counter, "byte counter B", ("150KB", "500KB", "2MB", "10MB"),
          ("150KB", "300KB", "500KB", "1MB", "2MB", "3MB", "5MB", "10MB")),
    "T": (timer, "timer T", ("1500us", "500us", "150us", "55us"),
          ("1500us", "1000us", "700us", "500us", "300us", "150us", "100us", "55us")),
    "Kmax": (kmax, "Kmax", ("40KB", "80KB", "120KB", "200KB"),
             ("40KB", "60KB", "80KB", "100KB", "120KB", "150KB", "200KB", "400KB")),
    "Pmax": (pmax, "Pmax", ("100%", "50%", "10%", "1%"),
             ("100%", "70%", "50%", "30%", "10%", "5%", "2%", "1%")),
}
CASES = {"strawman": {**QCN, **CUT_OFF}, "timer": dict(CUT_OFF), "red": QCN, "both": {}}
LABELS = {"strawman": "strawman", "timer": "fast timer, slow byte counter", "red": "marking on a slope", "both": "both"}


def name(group, value):
    return f"{group}-{value.rstrip('%')}"


def sweeps(full):
    return tuple(Variant(name(group, value), settings(value)) for group, (settings, _, short, long) in GROUPS.items() for value in (long if full else short))


def values(runs, group):
    """Values of a group that have runs, from the strawman's on."""
    return [value for value in GROUPS[group][3] if name(group, value) in runs]


def apart(flows):
    """Difference of the two rates in Gb/s, means of 1 ms, from the start of the second flow on."""
    first, second = (means(series, "wire_rate_bps", 1.0) / 1e9 for start in ("first", "second") for flow, series in flows.items() if flow.startswith(start))
    n = min(len(first), len(second))
    return np.abs(first[:n] - second[:n])[BOTH_MS:]


def packets(run):
    return apart(run.flows)


def model(run):
    return apart(run.fluid.flows)


def settled(differences):
    return float(differences[SETTLED_MS - BOTH_MS:].mean())


def gain(group, of):
    """Difference at the last value, divided by that at the first."""
    def figure(runs):
        first, *_, last = (settled(of(runs[name(group, value)])) for value in values(runs, group))
        return last / first
    return figure


def check_sweeps(runs):
    # Model: deterministic. Packets: one run each; marks are random.
    model_most, packets_most = {"B": 0.8, "T": 0.3, "Kmax": 1.05, "Pmax": 1.5}, {"T": 0.3, "B": 1.1}
    return [Check(f"{group}: difference of the rates at {values(runs, group)[-1]} over that at {values(runs, group)[0]}, {what}",
                  gain(group, of)(runs), None, most[group], stated="converges" if group in ("B", "T") else "-")
            for what, of, most in (("model", model, model_most), ("packets", packets, packets_most)) for group in GROUPS if group in most] + [
        Check("strawman: difference of the rates, model", settled(model(runs[name("B", "150KB")])), 30, unit="Gb/s", stated="does not converge"),
        Check("strawman: difference of the rates, packets", settled(packets(runs[name("B", "150KB")])), 20, unit="Gb/s", stated="does not converge"),
        Check("B, T at the strawman's, marking on a slope: difference of the rates, model", settled(model(runs[name("Kmax", "200KB")])), None, 15, "Gb/s"),
        Check("B, T at the strawman's, marking on a slope: difference of the rates, packets", settled(packets(runs[name("Kmax", "200KB")])), None, 20, "Gb/s"),
    ]


def draw_sweeps(runs):
    """Difference over time (across) and parameter (up), model beside packets."""
    figure, panels = plt.subplots(len(GROUPS), 2, figsize=(WIDTH, 9.2), sharex=True, sharey="row")
    mesh = None
    for row, (group, (_, label, _, _)) in zip(panels, GROUPS.items()):
        shown = values(runs, group)
        for axes, of, what in zip(row, (model, packets), ("fluid model", "packets")):
            surface = np.array([of(runs[name(group, value)]) for value in shown])
            mesh = axes.pcolormesh(np.arange(surface.shape[1] + 1), np.arange(len(shown) + 1), surface, cmap="magma_r", vmin=0, vmax=40, rasterized=True)
            axes.set_title(f"{label}, {what}", fontsize=10)
            axes.set_yticks(np.arange(len(shown)) + 0.5, shown, fontsize=9)
            axes.grid(False)
    for axes in panels[-1]:
        axes.set_xlabel("time since the second flow's start (ms)")
    figure.colorbar(mesh, ax=panels, label="difference of the two rates (Gb/s)", aspect=50, pad=0.01)
    return figure


def check_cases(runs):
    far = {case: settled(packets(runs[case])) for case in CASES}
    return [
        Check("strawman: difference of the rates", far["strawman"], 20, unit="Gb/s", stated="does not converge"),
        Check("fast timer: difference of the rates", far["timer"], None, 6, "Gb/s", "converges"),
        Check("marking on a slope: difference of the rates", far["red"], None, 20, "Gb/s", "converges"),
        Check("both: difference of the rates", far["both"], None, 6, "Gb/s", "converges"),
        Check("both: difference of the rates, model", settled(model(runs["both"])), None, 0.5, "Gb/s", "converges"),
        Check("strawman: difference of the rates, model", settled(model(runs["strawman"])), 30, unit="Gb/s", stated="does not converge"),
    ]


def draw_cases(runs):
    figure, panels = plt.subplots(2, 2, figsize=(WIDTH, 5.4), sharex=True, sharey=True)
    for axes, (case, label) in zip(panels.flat, LABELS.items()):
        run = runs[case]
        for i, start in enumerate(("first", "second")):
            for flows, style in ((run.flows, {"color": COLOURS[i], "lw": 1, "label": f"{start} flow, packets"}),
                                 (run.fluid.flows, {**MODEL, "ls": ("-", "--")[i], "label": f"{start} flow, model"})):
                series = next(series for flow, series in flows.items() if flow.startswith(start))
                rate = means(series, "wire_rate_bps", 1.0) / 1e9
                axes.plot(np.arange(len(rate)) + 0.5, rate, **style)
        axes.set_title(label, fontsize=10.5)
        axes.set_ylim(0, 42)
    for axes in panels[:, 0]:
        axes.set_ylabel("rate (Gb/s)")
    for axes in panels[-1]:
        axes.set_xlabel("time (ms)")
    panels[0][1].legend(frameon=False, fontsize=8.5, ncols=2, loc="upper right")
    return figure


SET_UP = ("Two senders, one receiver, 40 Gb/s. The first flow has the link to itself; the second starts at 5 Gb/s after 10 ms. "
          "Differences are means from 60 to 110 ms.")

EXPERIMENTS = (
    Experiment(
        name="fig11-sweeps",
        title="Figure 11: which parameters let two flows converge",
        source="SIGCOMM 2015, section 5.2, Figure 11",
        statement="In the fluid model, two flows do not converge with the strawman: QCN's byte counter (150 KB) and timer (1.5 ms), and marking by "
                  "a cut-off at 40 KB. A slow byte counter, a fast timer and marking on a slope let them converge.",
        scaled=f"{SET_UP} Four values of each parameter; with --full, eight.",
        scenario=SCENARIO,
        variants=sweeps(False),
        full_variants=sweeps(True),
        check=check_sweeps,
        plots={"surface": (draw_sweeps, "Dark: the two rates are far apart. B: T = 1.5 ms, cut-off at 40 KB. T: B = 10 MB, cut-off at 40 KB. Kmax, Pmax: B and T "
                                        "of the strawman, a slope from 5 KB to Kmax (Pmax = 1 %), or to 200 KB. The bottom row of each panel is the strawman's value, or the steepest slope.")},
        findings="In the packet simulation, the byte counter alone changes little: with T = 1.5 ms, 100 ms are too short for a flow that was cut "
                 "to a fraction of its rate. In the model, the slope's length matters as much as its height: with Kmax from 40 to 400 KB and Pmax = 1 %, "
                 "its differences are equal, because p* is the same.",
    ),
    Experiment(
        name="fig13-convergence",
        title="Figure 13: convergence with four settings",
        source="SIGCOMM 2015, section 5.2, Figure 13",
        statement="With the strawman, two flows do not converge. With a fast timer, or with marking on a slope, they do; best with both.",
        scaled=f"{SET_UP} --full changes nothing.",
        scenario=SCENARIO,
        variants=tuple(Variant(case, settings) for case, settings in CASES.items()),
        check=check_cases,
        plots={"rates": (draw_cases, "Means of 1 ms. Strawman: B = 150 KB, T = 1.5 ms, cut-off at 40 KB. Fast timer: B = 10 MB, T = 55 us. Slope: from 5 to 200 KB, 1 %.")},
        findings="The byte counter serves the faster flow more often. With the strawman, it decides: the difference grows in the model, until the "
                 "second flow has nothing, and stays at three quarters of the link in the packet simulation.",
    ),
)

FIGURES = (
    Figure(
        number="Figure 11",
        title="Parameters that let two flows converge",
        statement="Surfaces of the difference of two flows' rates over time and one parameter, in the fluid model. The flows converge with a slow "
                  "byte counter, a fast timer, a long slope (Kmax) and a flat one (Pmax).",
        experiment="fig11-sweeps",
        rows=(
            Row("strawman: difference after 50 ms, model", "does not converge", lambda runs: settled(model(runs["B-150KB"])), 30, unit="Gb/s", shape=True, recalled=True),
            Row("B from 150 KB to 10 MB: difference, model", "falls", gain("B", model), None, 0.95, "times", shape=True, recalled=True),
            Row("T from 1.5 ms to 55 us: difference, model", "falls", gain("T", model), None, 0.95, "times", shape=True, recalled=True),
            Row("T from 1.5 ms to 55 us: difference, packets", "falls", gain("T", packets), None, 0.95, "times", shape=True, recalled=True),
            Row("cut-off, then a slope to 200 KB: difference, model", "falls",
                lambda runs: settled(model(runs["Kmax-200KB"])) / settled(model(runs["B-150KB"])), None, 0.95, "times", shape=True, recalled=True),
            Row("cut-off, then a slope to 200 KB: difference, packets", "falls",
                lambda runs: settled(packets(runs["Kmax-200KB"])) / settled(packets(runs["B-150KB"])), None, 0.95, "times", shape=True, recalled=True),
        ),
        plots=("surface",),
        verdict=IN_SHAPE,
        because="The paper prints surfaces without figures. The start is ours: the second flow begins at 5 Gb/s, 10 ms after the first. When it "
                "does, each CNP halves a rate in the packet simulation, while the model is smooth (see Figure 10): so the packets' differences fall faster at first.",
    ),
    Figure(
        number="Figure 13",
        title="Convergence with four settings",
        statement="Throughput of two flows over time: strawman, fast timer, marking on a slope, both. All but the strawman converge.",
        experiment="fig13-convergence",
        rows=(
            Row("strawman: difference of the rates", "does not converge", lambda runs: settled(packets(runs["strawman"])), 20, unit="Gb/s", shape=True, recalled=True),
            Row("fast timer: difference of the rates", "converges", lambda runs: settled(packets(runs["timer"])), None, 6, "Gb/s", shape=True, recalled=True),
            Row("slope: difference of the rates", "converges", lambda runs: settled(packets(runs["red"])), None, 20, "Gb/s", shape=True, recalled=True),
            Row("both: difference of the rates", "converges", lambda runs: settled(packets(runs["both"])), None, 6, "Gb/s", shape=True, recalled=True),
        ),
        plots=("rates",),
        verdict=IN_SHAPE,
        because="The paper prints curves without figures. With the slope alone, the two rates come nearer, but still differ by 9 Gb/s on average: "
                "the byte counter of 150 KB raises the faster flow more often.",
    ),
)
