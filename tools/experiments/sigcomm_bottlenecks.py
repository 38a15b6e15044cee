# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, Figure 20: a flow over two bottlenecks, with marking by a cut-off and on a slope."""
import numpy as np

from experiments.frame import IN_SHAPE, Check, Experiment, Figure, Row, Variant
from experiments.measures import flow
from quench.fluid import means
from report.plots import COLOURS, GREY, MODEL, WIDTH, plt

FLOWS = ("f1", "f2", "f3")  # f2 passes both links
FAIR_GBPS = 20  # max-min
MARKING = {"slope": "slope: 5 to 200 KB, 1 %", "cut-off": "cut-off at 40 KB"}
CUT_OFF = {"wred.Kmin": "40KB", "wred.Kmax": "40KB"}


def seeds(runs, marking):
    return [run for name, run in runs.items() if name.startswith(f"{marking}-seed")]


def rate(runs, marking, name):
    """Wire rate in Gb/s, mean over the seeds."""
    return float(np.mean([flow(run, name)["wire_rate_bps"] for run in seeds(runs, marking)])) / 1e9


def fixed_gbps(runs, name):
    (model,) = (f for f in seeds(runs, "slope")[0].fluid.results["flows"] if f["name"].split()[0] == name)
    return model["fixed_point"]["rate_bps"] / 1e9


def check(runs):
    return [
        Check("slope: f2", rate(runs, "slope", "f2"), 13, 17, "Gb/s", f"{fixed_gbps(runs, 'f2'):.1f} (model)"),
        Check("cut-off: f2", rate(runs, "cut-off", "f2"), 5, 10, "Gb/s", "less than with the slope"),
        Check("slope: f1 and f3 over f2", (rate(runs, "slope", "f1") + rate(runs, "slope", "f3")) / 2 / rate(runs, "slope", "f2"), 1.4, 2, "times"),
        Check("cut-off: f1 and f3 over f2", (rate(runs, "cut-off", "f1") + rate(runs, "cut-off", "f3")) / 2 / rate(runs, "cut-off", "f2"), 3, unit="times"),
        Check("slope: the first link is full", rate(runs, "slope", "f1") + rate(runs, "slope", "f2"), 39, 40.1, "Gb/s"),
        Check("cut-off: the first link is full", rate(runs, "cut-off", "f1") + rate(runs, "cut-off", "f2"), 39, 40.1, "Gb/s"),
    ]


def draw(runs):
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.8), sharey=True)
    for axes, (marking, label) in zip(panels, (("cut-off", MARKING["cut-off"]), ("slope", MARKING["slope"]))):
        run = seeds(runs, marking)[0]
        for i, name in enumerate(FLOWS):
            series = next(series for flow_name, series in run.flows.items() if flow_name.startswith(name))
            rates = means(series, "wire_rate_bps", 1.0) / 1e9
            axes.plot(np.arange(len(rates)) + 0.5, rates, color=COLOURS[i], lw=0.9, label=name + (" (both links)" if name == "f2" else ""))
            if marking == "slope":
                axes.plot((150, 200), (fixed_gbps(runs, name),) * 2, **MODEL)
        axes.axhline(FAIR_GBPS, color=GREY, ls="--", lw=1)
        axes.set_title(label)
        axes.set_ylim(0, 40)
        axes.set_xlabel("time (ms)")
    panels[0].set_ylabel("rate (Gb/s)")
    panels[0].legend(frameon=False, loc="center right")
    return figure


EXPERIMENTS = (Experiment(
    name="fig20-parking-lot",
    title="Figure 20: a flow over two bottlenecks",
    source="SIGCOMM 2015, Figure 20",
    statement="A flow that passes two full links gets less than the flows that pass one. With marking by a cut-off, the difference is larger than with "
              "marking on a slope.",
    scaled="Three switches in a row, a flow over both links and one on each, 200 ms, measured from 100 ms on. Two seeds; with --full, eight.",
    variants=tuple(Variant(f"{marking}-seed-{seed}", CUT_OFF if marking == "cut-off" else {}, seed) for marking in MARKING for seed in (1, 2)),
    full_variants=tuple(Variant(f"{marking}-seed-{seed}", CUT_OFF if marking == "cut-off" else {}, seed) for marking in MARKING for seed in range(1, 9)),
    check=check,
    plots={"rates": (draw, "Means of 1 ms, one seed. Dashed: max-min fair share. Black: fixed point of the fluid model.")},
    findings="DCQCN is not max-min fair over two bottlenecks. The marks of both links add up, so that f2 is cut more often: the model's fixed point gives "
             "it 14.7 Gb/s. With the cut-off, f2 sees nearly every burst of marks of either link, and gets half of that; its rate still falls at the end of the run.",
),)

FIGURES = (Figure(
    number="Figure 20",
    title="A flow over two bottlenecks",
    statement="Parking lot: a flow over two full links gets less than a fair share of 20 Gb/s. Marking on a slope mitigates the unfairness of the cut-off.",
    experiment="fig20-parking-lot",
    rows=(
        Row("cut-off: f2, of a fair share", "below 1", lambda runs: rate(runs, "cut-off", "f2") / FAIR_GBPS, None, 0.9, shape=True, recalled=True),
        Row("slope: f2, of a fair share", "below 1, nearer", lambda runs: rate(runs, "slope", "f2") / FAIR_GBPS, None, 1, shape=True, recalled=True),
        Row("f2 with the slope, over f2 with the cut-off", "above 1", lambda runs: rate(runs, "slope", "f2") / rate(runs, "cut-off", "f2"), 1.2, unit="times", shape=True, recalled=True),
    ),
    plots=("rates",),
    verdict=IN_SHAPE,
    because="The paper's figures of each flow were not in the text that we have. The remaining difference from 20 Gb/s is that of the paper's equations: 14.7 Gb/s.",
),)
