# SPDX-License-Identifier: BSD-3-Clause
"""Statements of vendors' guides about congestion in RoCEv2 networks."""
import numpy as np

from experiments.frame import Check, Experiment, Variant
from experiments.measures import dropped, flow
from report.plots import COLOURS, GREY, WIDTH, plt

DCQCN = {"nic.cc": "dcqcn", "wred.wred_green_enable": "on", "wred.Kmin": "5KB", "wred.Kmax": "200KB", "wred.Pmax": "1%"}
SAMPLES_IN_A_MS = 10
LABELS = {"pfc": "PFC only", "dcqcn": "DCQCN"}


def share(run, section):
    """Wire rate of a flow, in % of the link speed."""
    return 100 * flow(run, section)["wire_rate_bps"] / run.results["link_speed_bps"]


def trunk_pauses(run):
    """XOFF frames of switch one to switch two in the measured window."""
    series = run.pauses.get(("one", "7", "3"))
    if series is None:
        return 0
    return series["tx_pause"][-1] - np.interp(run.results["measure_from_ns"], series["time_ns"], series["tx_pause"])


def mean_by_ms(values):
    """Means of the samples of each millisecond, which hide the short pauses of PFC."""
    whole = len(values) // SAMPLES_IN_A_MS * SAMPLES_IN_A_MS
    return np.mean(np.reshape(values[:whole], (-1, SAMPLES_IN_A_MS)), axis=1)


def check(runs):
    pfc, dcqcn = runs["pfc"], runs["dcqcn"]
    return [
        Check("PFC only: F", share(pfc, "F"), 16, 20, "% of the link", "20"),
        Check("PFC only: X", share(pfc, "X"), 16, 20, "% of the link", "20 instead of 80"),
        Check("PFC only: pause frames on the link between the switches", trunk_pauses(pfc), 100, unit="frames", stated="pauses"),
        Check("DCQCN: X", share(dcqcn, "X"), 75, 84, "% of the link", "80"),
        Check("DCQCN: pause frames on the link between the switches", trunk_pauses(dcqcn), 0, 0, "frames", "none"),
        Check("dropped", sum(dropped(run) for run in runs.values()), 0, 0, "packets", "lossless"),
    ]


def draw(runs):
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.6), sharey=True)
    for axes, (name, run) in zip(panels, runs.items()):
        link = run.results["link_speed_bps"]
        groups = {section: [flow(run, section)["name"]] for section in ("X", "F")}
        groups["A to E, mean"] = [key for key in run.flows if key.startswith("A-E ")]
        for (label, names), colour in zip(groups.items(), (*COLOURS[:2], GREY)):
            rates = mean_by_ms(np.mean([run.flows[name]["wire_rate_bps"] for name in names], axis=0))
            axes.plot(mean_by_ms(run.flows[names[0]].ms()), 100 * rates / link, color=colour, label=label)
        axes.axhline(20, color=GREY, ls=":", lw=1)
        axes.axhline(80, color=GREY, ls=":", lw=1)
        axes.set_ylim(0, 105)
        axes.set_title(LABELS[name])
        axes.set_xlabel("time (ms)")
    panels[0].set_ylabel("wire rate (% of the link)")
    panels[0].legend(frameon=False)
    return figure


EXPERIMENTS = (Experiment(
    name="congestion-spreading",
    title="Congestion spreading",
    source="Mellanox, Understanding RoCEv2 Congestion Management, section 1",
    statement="Hosts A to E on one switch and F on the next switch send to G. F gets 20 % of the link between the switches. X, which "
              "sends to Y, shares no congested port with them, but also gets only 20 %, because PFC pauses the whole link and not a "
              "flow. Congestion control slows A to F down at their NICs, and X gets the remaining 80 %.",
    scaled="A run takes 40 ms and is measured from 20 ms on; with --full it takes 400 ms. X and F always have enough data to fill "
           "the link.",
    variants=(Variant("pfc"), Variant("dcqcn", DCQCN)),
    full={"fabric.duration_ns": "400ms"},
    check=check,
    plots={"rates": (draw, "Means of 1 ms. Dotted lines: the 20 and 80 % of the document.")},
    findings="Six ports share G, so F's share is a sixth (16.7 %) instead of the document's 20 %. X shares F's queue and gets the "
             "same rate. With DCQCN, X could get at most 83.3 %. It gets less, because its own link to the other switch is then full "
             "and marks its packets."),)
