# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, sections 2.2 and 3.2: what PFC does to flows on the testbed, and what DCQCN makes of it."""
import numpy as np

from experimenting.frame import Check, Experiment, Variant
from experimenting.measures import dropped, transfers_gbps
from reporting.plots import COLOURS, GREY, WIDTH, plt

SENDERS = ("H1", "H2", "H3", "H4")
MESSAGE_BYTES = 4e6
PAYLOAD = 1024 / 1106  # of the wire's bytes
FAIR_GBPS = 10 * PAYLOAD


def shares(runs):
    """{sender: throughput of its transfers in all runs}"""
    return {name: np.concatenate([transfers_gbps(run, name, MESSAGE_BYTES) for run in runs]) for name in SENDERS}


def uplinks_used(run):
    """Uplinks of T4 by which H1 to H3 come."""
    return sum(port["peer"] == "T4" and port["link_use"] > 0.05 for port in run.results["ports"])


def check_unfairness(runs):
    one = [run for run in runs.values() if uplinks_used(run) == 1]
    two = [run for run in runs.values() if uplinks_used(run) == 2]
    checks = [Check("runs where ECMP has H1 to H3 on one uplink of T4", len(one), 1, unit="runs"),
              Check("runs with two uplinks", len(two), 1, unit="runs")]
    if not one or not two:
        return checks
    together, apart = shares(one), shares(two)
    others = max(together[name].max() for name in SENDERS[:3])
    return checks + [
        Check("one uplink: H4's least transfer over the most of H1 to H3", together["H4"].min() / others, 1.0001,
              unit="times", stated="above 1"),
        Check("one uplink: H4's median", np.median(together["H4"]), 0.95 * 20 * PAYLOAD, 20, "Gb/s", "up to 20"),
        Check("two uplinks: H4's median over the mean of H1 to H3",
              np.median(apart["H4"]) / np.mean([apart[name].mean() for name in SENDERS[:3]]), 1.2, unit="times", stated="above 1"),
        Check("dropped", sum(dropped(run) for run in runs.values()), 0, 0, "packets", "lossless"),
    ]


def draw_shares(runs):
    """Figure 3(b) or 8: least, median and most of each sender."""
    figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
    groups = [("one uplink of T4", [r for r in runs.values() if uplinks_used(r) == 1]),
              ("two uplinks", [r for r in runs.values() if uplinks_used(r) == 2]), ("all runs", list(runs.values()))]
    groups = [(label, chosen) for label, chosen in groups if chosen]
    width = 0.8 / len(groups)
    for i, (label, chosen) in enumerate(groups):
        rates = shares(chosen)
        median = np.array([np.median(rates[name]) for name in SENDERS])
        low, high = (np.array([f(rates[name]) for name in SENDERS]) for f in (np.min, np.max))
        x = np.arange(len(SENDERS)) + (i - (len(groups) - 1) / 2) * width
        axes.bar(x, median, width * 0.9, color=COLOURS[i], alpha=0.75, label=f"{label} ({len(chosen)} runs)")
        axes.errorbar(x, median, (median - low, high - median), fmt="none", color="black", capsize=4, lw=1)
    axes.axhline(FAIR_GBPS, color=GREY, ls="--", lw=1)
    axes.text(3.5, FAIR_GBPS, " fair", color=GREY, va="center")
    axes.set_xlim(-0.5, 3.5)
    axes.set_xticks(range(len(SENDERS)), SENDERS)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("throughput (Gb/s)")
    axes.set_title("Transfers of 4 MB: median, least and most", pad=28)
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=9)
    return figure


def ecmp(seeds):
    return tuple(Variant(f"ecmp-{seed}", {"router.ecmp_hash_seed": seed}) for seed in seeds)


FIG3 = Experiment(
    name="fig3-unfairness",
    title="Figure 3: PFC alone is unfair",
    source="SIGCOMM 2015, section 2.2, Figure 3",
    statement="Four hosts write to R under T4. T4 pauses ports, not flows: H4 has its port for itself, H1 to H3 share those of "
              "T4's uplinks. H4 gets up to 20 Gb/s, and its slowest transfer is faster than the fastest of H1 to H3.",
    scaled="The paper's 1000 transfers are 20 choices of ECMP of 40 ms each with --full; the test makes 8 choices of 30 ms. "
           "ECMP is chosen by the seed of the routers' hash.",
    variants=ecmp((0, 2, 3, 6, 7, 9, 10, 11)),
    full_variants=ecmp(range(20)),
    full={"fabric.duration_ns": "45ms"},
    check=check_unfairness,
    plots={"shares": (draw_shares, "Bar: median of all transfers of a sender; line: least and most. By how many uplinks ECMP "
                                   "gives to H1 to H3; the paper's Figure 3(b) is all runs together.")},
    findings="With two uplinks three ports share R's link, and whoever of H1 to H3 has an uplink for itself gets as much as H4: "
             "13.3 Gb/s. That H4's least is above the most of the others is so with one uplink only; the paper does not say "
             "which choices of ECMP its transfers met. Shares are PFC's only while senders have more to send than the "
             "switch can hold: with one 4 MB message at a time and 12 MB for one priority, T4 holds whole messages, hosts "
             "wait for ACKs, and H4 gets 13.4 beside 9.3 Gb/s.")

EXPERIMENTS = (FIG3,)
