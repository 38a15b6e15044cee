# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, Figure 10: throughput of the fluid model and of the packet simulation."""
import numpy as np

from experiments.frame import AGREES, Check, Experiment, Figure, Row, Variant
from quench.fluid import means
from report.plots import COLOURS, GREY, MODEL, WIDTH, plt

START_MS = 20  # until then, the packet simulation's rates are lower than the model's


def rates(run, flows):
    """{flow: means of 1 ms, as a share of the link}"""
    return {name: means(series, "wire_rate_bps", 1.0) / run.results["link_speed_bps"] for name, series in flows.items()}


def model(runs):
    """Rate of one flow: both flows have the same, with any seed."""
    run = next(iter(runs.values()))
    return next(iter(rates(run, run.fluid.flows).values()))


def packets(runs):
    """Rates of the packet simulation: a row for each flow of each run."""
    return np.array([rate for run in runs.values() for rate in rates(run, run.flows).values()])


def apart(a, b):
    """Root mean square of the differences, in % of the link."""
    return 100 * np.sqrt(np.mean((a - b) ** 2))


def check(runs):
    curve, each = model(runs), packets(runs)
    mean = each.mean(axis=0)
    return [
        Check("a single flow: difference from the model, mean of all flows", np.mean([apart(rate, curve) for rate in each]), None, 8, "% of the link", "close match"),
        Check("mean of all flows: difference from the model, 0.1 s", apart(mean, curve), None, 5, "% of the link", "close match"),
        Check(f"mean of all flows: difference from the model, from {START_MS} ms on", apart(mean[START_MS:], curve[START_MS:]), None, 1, "% of the link", "close match"),
        Check("rate of a flow, mean over the second half", 100 * mean[len(mean) // 2:].mean(), 48.5, 51.5, "% of the link", "a fair share"),
    ]


def draw(runs):
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(WIDTH, 5.6), sharex=True, height_ratios=(1.4, 1))
    curve, each = model(runs), packets(runs)
    at = np.arange(len(curve)) + 0.5
    for i, rate in enumerate(each):
        top.plot(at, 40 * rate, color=GREY, lw=0.5, alpha=0.6, label="" if i else "packets, each flow")
    top.plot(at, 40 * each.mean(axis=0), color=COLOURS[0], lw=1.6, label=f"packets, mean of {len(each)} flows")
    top.plot(at, 40 * curve, **MODEL, label="fluid model")
    top.set_ylim(0, 42)
    top.set_ylabel("throughput of a flow (Gb/s)")
    top.set_title("Two flows over one link of 40 Gb/s")
    top.legend(frameon=False, loc="lower right", ncols=3)
    run = next(iter(runs.values()))
    queue, fluid = run.bottleneck(), run.fluid.queue(run.results["bottleneck"])
    bottom.plot(queue.ms(), queue["queue_bytes"] / 1e3, color=COLOURS[0], lw=0.6, label="packets, one run")
    bottom.plot(fluid.ms(), fluid["queue_bytes"] / 1e3, **MODEL, label="fluid model")
    bottom.set_ylim(0, 130)
    bottom.set_ylabel("queue (KB)")
    bottom.set_xlabel("time (ms)")
    bottom.legend(frameon=False)
    return figure


EXPERIMENTS = (Experiment(
    name="fig10-model",
    title="Figure 10: the fluid model and the packet simulation",
    source="SIGCOMM 2015, section 5.1 and Figure 10",
    statement="The fluid model's throughput over the first 0.1 s matches that of the hardware.",
    scaled="As published: two senders, 0.1 s and the testbed's parameters, but with the lab's packet simulation instead of the "
           "hardware. Four seeds; with --full, sixteen.",
    variants=tuple(Variant(f"seed-{seed}", seed=seed) for seed in range(1, 5)),
    full_variants=tuple(Variant(f"seed-{seed}", seed=seed) for seed in range(1, 17)),
    check=check,
    plots={"throughput": (draw, "Means of 1 ms. The queue is sampled every 100 us; its first peak of 0.5 MB is cut off.")},
    findings="At the start, a CNP every 50 us halves the rate in the packet simulation, while the model reduces it by e^(-1/2) in "
             "the same time. So the packet simulation's rates fall lower and recover later. The rate of a single flow deviates from "
             "the model by 5 to 11 % of the link, because its cuts come at random times.",
),)


def distance(runs, from_ms=0):
    return apart(packets(runs).mean(axis=0)[from_ms:], model(runs)[from_ms:])


FIGURES = (Figure(
    number="Figure 10",
    title="Fluid model and implementation",
    statement="The throughput of the fluid model over 0.1 s closely matches that of the implementation.",
    experiment="fig10-model",
    rows=(
        Row("mean of all flows, whole run: difference from the model", "close match", distance, None, 5, "% of the link", shape=True),
        Row(f"mean of all flows, from {START_MS} ms on: difference from the model", "close match", lambda runs: distance(runs, START_MS), None, 1, "% of the link", shape=True),
        Row("rate of a flow, mean over the second half", "half of the link", lambda runs: 100 * packets(runs).mean(axis=0)[len(model(runs)) // 2:].mean(), 48.5, 51.5, "% of the link"),
    ),
    plots=("throughput",),
    verdict=AGREES,
),)
