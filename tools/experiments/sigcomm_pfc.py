# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, sections 2.2 and 3.2: flows on the testbed with PFC alone, and with DCQCN."""
import itertools

import numpy as np

from experiments.frame import AGREES, IN_SHAPE, NOT_IN_THIS_RUN, Check, Experiment, Figure, Row, Variant
from experiments.measures import dropped, flow, transfers_gbps
from report.plots import COLOURS, GREY, WIDTH, plt

SENDERS = ("H1", "H2", "H3", "H4")
MESSAGE_BYTES = 4e6
PAYLOAD = 1024 / 1106  # of the wire's bytes
FAIR_GBPS = 10 * PAYLOAD


def shares(runs):
    """{sender: throughput of its transfers in all runs}"""
    return {name: np.concatenate([transfers_gbps(run, name, MESSAGE_BYTES) for run in runs]) for name in SENDERS}


def uplinks_used(run):
    """Number of T4's uplinks that the flows of H1 to H3 use."""
    return sum(port["peer"] == "T4" and port["link_use"] > 0.05 for port in run.results["ports"])


def check_unfairness(runs):
    one = [run for run in runs.values() if uplinks_used(run) == 1]
    two = [run for run in runs.values() if uplinks_used(run) == 2]
    checks = [Check("runs in which ECMP puts H1 to H3 on one uplink of T4", len(one), 1, unit="runs"),
              Check("runs with two uplinks", len(two), 1, unit="runs")]
    if not one or not two:
        return checks
    together, apart = shares(one), shares(two)
    others = max(together[name].max() for name in SENDERS[:3])
    return checks + [
        Check("one uplink: H4's slowest transfer over the fastest of H1 to H3", together["H4"].min() / others, 1.0001,
              unit="times", stated="above 1"),
        Check("one uplink: H4's median", np.median(together["H4"]), 0.95 * 20 * PAYLOAD, 20, "Gb/s", "up to 20"),
        Check("two uplinks: H4's median over the mean of H1 to H3",
              np.median(apart["H4"]) / np.mean([apart[name].mean() for name in SENDERS[:3]]), 1.2, unit="times", stated="above 1"),
        Check("dropped", sum(dropped(run) for run in runs.values()), 0, 0, "packets", "lossless"),
    ]


def draw_shares(runs):
    """Figure 3(b) or 8: minimum, median and maximum of each sender."""
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
    axes.text(3.5, FAIR_GBPS, f" fair: {FAIR_GBPS:.2f}", color=GREY, va="center")
    axes.set_xlim(-0.5, 3.5)
    axes.set_xticks(range(len(SENDERS)), SENDERS)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("payload (Gb/s)")
    axes.set_title("Transfers of 4 MB: median, minimum and maximum", pad=28)
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=9)
    return figure


def ecmp(seeds):
    return tuple(Variant(f"ecmp-{seed}", {"router.ecmp_hash_seed": seed}) for seed in seeds)


FIG3 = Experiment(
    name="fig3-unfairness",
    title="Figure 3: PFC alone is unfair",
    source="SIGCOMM 2015, section 2.2, Figure 3",
    statement="Four hosts write to R under T4. T4 pauses ports, not flows. H4 has a port of its own, while H1 to H3 share some of "
              "T4's uplinks. H4 gets up to 20 Gb/s, and its slowest transfer is faster than the fastest transfer of H1 to H3.",
    scaled="Instead of the paper's 1000 transfers: 20 choices of ECMP paths of 40 ms each with --full, and 8 choices of 30 ms in "
           "the test. The seed of the routers' hash chooses the paths.",
    variants=ecmp((0, 2, 3, 6, 7, 9, 10, 11)),
    full_variants=ecmp(range(20)),
    full={"fabric.duration_ns": "45ms"},
    check=check_unfairness,
    plots={"shares": (draw_shares, "Bar: median of all transfers of a sender. Line: minimum to maximum. Colours: number of uplinks "
                                   "that H1 to H3 use; the paper's Figure 3(b) combines all runs.")},
    findings="With two uplinks, three ports share R's link. The host among H1 to H3 that has an uplink to itself then gets as much "
             "as H4: 13.3 Gb/s. H4's slowest transfer is faster than all others only if H1 to H3 share one uplink. The paper does "
             "not say which ECMP choices its transfers had. PFC determines the shares only while senders have more data than the "
             "switch can hold. With one 4 MB message at a time and 12 MB for one priority, T4 holds whole messages, hosts wait for "
             "ACKs, and H4 gets 13.4 Gb/s while the others get 9.3.")


def check_fairness(runs):
    rates = shares(runs.values())
    medians = [np.median(each) for each in rates.values()]
    together = np.concatenate(list(rates.values()))
    return [
        Check("slowest sender's median", min(medians), 0.9 * FAIR_GBPS, unit="Gb/s", stated="equal shares"),
        Check("fastest sender's median", max(medians), None, 1.1 * FAIR_GBPS, "Gb/s", "equal shares"),
        Check("spread of all transfers (standard deviation over mean)", together.std() / together.mean(), None, 0.15, stated="little"),
        Check("largest difference of a sender's mean wire rate from 10 Gb/s", 100 * max(abs(f["wire_rate_bps"] / 10e9 - 1) for run in runs.values() for f in run.results["flows"]),
              None, 20, "%", "little"),
        Check("Jain's index, minimum of the runs", min(run.results["jain_index"] for run in runs.values()), 0.98),
        no_pause(runs),
    ]


def no_pause(runs):
    return Check("pause frames in the measured window", sum(run.results["pause_frames_after_measure"] for run in runs.values()),
                 0, 0, "frames")


FIG8 = Experiment(
    name="fig8-fairness",
    title="Figure 8: DCQCN shares fairly",
    source="SIGCOMM 2015, section 3.2, Figure 8",
    statement="Figure 3 with DCQCN: the four flows get equal shares of R's link, with little variance.",
    scaled="Several choices of ECMP paths, each simulated for 100 ms and measured from 40 ms on: 4 in the test, 20 with --full.",
    variants=ecmp((0, 2, 3, 11)),
    full_variants=ecmp(range(20)),
    check=check_fairness,
    plots={"shares": (draw_shares, "Like the plot of Figure 3, but with DCQCN.")},
    findings="The paper gives no figure for its variance. Here, a transfer of 4 MB takes 3.4 ms, not much longer than one "
             "oscillation of DCQCN's rate, so single transfers get 7 to 12 Gb/s of payload. Over 60 ms, each sender's wire rate is within "
             "12 % of the fair 10 Gb/s.",
)


def victim_runs(counts, seeds):
    """Each run is one of the paper's transfers of the victim, with its own choice of ECMP paths."""
    absent = {0: ("H31", "H32"), 1: ("H32",), 2: ()}
    return tuple(Variant(f"senders-{count}-ecmp-{seed}", {"router.ecmp_hash_seed": seed,
                                                          **{f"flow {name}.start_ns": NOT_IN_THIS_RUN for name in absent[count]}})
                 for count in counts for seed in seeds)


def victims(runs):
    """{senders under T3: the victim's throughput in each run}"""
    found = {}
    for name, run in runs.items():
        found.setdefault(int(name.split("-")[1]), []).append(flow(run, "VS")["wire_rate_bps"] / 1e9)
    return dict(sorted(found.items()))


def sharers(run):
    """Rates of those of H11 to H14 that share VS's uplink of T1: their rates and VS's add up to what an uplink sent."""
    rates = {name: flow(run, name)["wire_rate_bps"] for name in ("VS", "H11", "H12", "H13", "H14")}
    sent = [port["link_use"] * port["link_speed_bps"] for port in run.results["ports"] if port["node"] == "T1" and port["peer"].startswith("L")]
    sets = [chosen for n in range(5) for chosen in itertools.combinations(("H11", "H12", "H13", "H14"), n)]
    best = min(sets, key=lambda chosen: min(abs(uplink - rates["VS"] - sum(rates[name] for name in chosen)) for uplink in sent))
    return [rates[name] for name in best]


def fair_gbps(sharing, count):
    """VS's max-min fair share: an equal part of the uplink, or more if the others are limited by their part of R's link."""
    return max(40 / (sharing + 1), 40 - sharing * 40 / (4 + count))


def check_victim_pfc(runs):
    beside = [flow(run, "VS")["wire_rate_bps"] / rate for run in runs.values() for rate in sharers(run)]
    medians = {count: np.median(each) for count, each in victims(runs).items()}
    return [
        Check("victim's median, no sender under T3", medians[0], 9, 11, "Gb/s", "10"),
        Check("victim's median, two senders under T3", medians[2], 4, 7, "Gb/s", "4.5"),
        Check("two senders: median divided by the median without senders", medians[2] / medians[0], None, 0.7, stated="0.45"),
        Check("the victim's rate over that of a host on its uplink, median of all pairs", np.median(beside), 0.99, 1.01, "times", "hurt by their pauses"),
        Check("dropped", sum(dropped(run) for run in runs.values()), 0, 0, "packets", "lossless"),
    ]


def check_victim_dcqcn(runs):
    fair = [flow(run, "VS")["wire_rate_bps"] / 1e9 / fair_gbps(len(sharers(run)), int(name.split("-")[1])) for name, run in runs.items() if sharers(run)]
    medians = {count: np.median(each) for count, each in victims(runs).items()}
    return [
        Check("victim's median, no sender under T3", medians[0], 15, unit="Gb/s", stated="20 would be fair"),
        Check("two senders: median divided by the median without senders (DCQCN)", medians[2] / medians[0], 1, stated="1"),
        Check("the victim's rate over its max-min fair share, median of the runs with a shared uplink", np.median(fair), 0.95, 1.15, "times"),
        no_pause(runs),
    ]


def draw_victim(runs):
    """Figure 4(b) or 9, with a point for each choice of ECMP paths."""
    figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
    rates = victims(runs)
    for count, each in rates.items():
        axes.bar(count, np.median(each), 0.5, color=COLOURS[0], alpha=0.5)
        axes.plot(count + np.linspace(-0.2, 0.2, len(each)), np.sort(each), "o", color=COLOURS[1], ms=4)
        axes.annotate(f"median {np.median(each):.1f}", (count + 0.27, np.median(each)), va="center")
    axes.set_xticks(list(rates))
    axes.set_xlim(min(rates) - 0.5, max(rates) + 0.6)
    axes.set_ylim(0, 41)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("senders under T3")
    axes.set_ylabel("throughput (Gb/s)")
    axes.set_title("The victim, VS to VR")
    return figure


FIG4 = Experiment(
    name="fig4-victim",
    title="Figure 4: PFC alone has victims",
    source="SIGCOMM 2015, section 2.2, Figure 4",
    statement="H11 to H14 under T1 write to R under T4. VS under T1 writes to VR under T2. With the median choice of ECMP paths, VS "
              "could have 20 Gb/s. But pauses spread from T4 over leaves and spines to T1, and VS gets 10 Gb/s. With two more senders "
              "under T3, it gets 4.5 Gb/s.",
    scaled="The paper's median is over 250 transfers of 250 MB. Here, each transfer is a run with its own choice of ECMP paths, "
           "measured for 16 ms. The test makes 9 choices without senders under T3 and 9 with two. --full makes 100 choices of 100 "
           "ms with none, one and two.",
    variants=victim_runs((0, 2), range(9)),
    full_variants=victim_runs((0, 1, 2), range(100)),
    full={"fabric.duration_ns": "110ms", "fabric.measure_from_ns": "10ms"},
    check=check_victim_pfc,
    plots={"victim": (draw_victim, "Bar: median wire rate. Points: choices of ECMP paths.")},
    findings="VS gets the same rate as those of H11 to H14 that share its uplink. This rate is R's link divided among the ports on "
             "the way: 3.3, 4, 5, 6.7, 8, 10 Gb/s or more, depending on the ECMP choice, and no value in between. With two senders, "
             "the median of 100 choices is 6.7, and resamplings give 5.0 to 6.7. The paper calls one choice the median one: two of "
             "H11 to H14 are on VS's uplink. For such choices, the median is 5.0, and resamplings of as many choices give 4.0 to "
             "6.7. The paper's 4.5 is in this range. The paper does not say which choices its transfers had.",
)

FIG9 = Experiment(
    name="fig9-victim",
    title="Figure 9: DCQCN has no victims",
    source="SIGCOMM 2015, section 3.2, Figure 9",
    statement="Figure 4 with DCQCN: the victim's throughput does not change when senders are added under T3.",
    scaled="Each transfer is a run with its own choice of ECMP paths, measured for 30 ms after 30 ms. The test makes 5 choices "
           "without senders under T3 and 5 with two; in these choices, none to four of H11 to H14 are on VS's uplink. --full makes "
           "40 choices with none, one and two senders, measured for 100 ms.",
    variants=victim_runs((0, 2), (14, 0, 4, 1, 2)),
    full_variants=victim_runs((0, 1, 2), range(40)),
    full={"fabric.duration_ns": "130ms"},
    check=check_victim_dcqcn,
    plots={"victim": (draw_victim, "Bar: median wire rate. Points: choices of ECMP paths.")},
    findings="When senders are added, the victim gets more and not the same. Each of H11 to H14 then has a sixth of R's link instead "
             "of a fourth, and leaves more of T1's uplinks to VS. The victim gets its max-min fair share, 20 and 26.7 Gb/s in the "
             "median case. Its rate could stay the same only if H11 to H14 kept more than a fair share of R's link. The paper shows "
             "bars without figures.",
)

EXPERIMENTS = (FIG3, FIG4, FIG8, FIG9)


def on_uplinks(runs, n):
    return [run for run in runs.values() if uplinks_used(run) == n]


def wire_gbps(runs, name):
    """Median over the runs of a flow's wire rate."""
    return float(np.median([flow(run, name)["wire_rate_bps"] for run in runs])) / 1e9


def lead(runs):
    """H4's slowest transfer over the fastest of H1 to H3."""
    rates = shares(runs)
    return rates["H4"].min() / max(rates[name].max() for name in SENDERS[:3])


def median_lead(runs):
    rates = shares(runs.values())
    return np.median(rates["H4"]) / max(np.median(rates[name]) for name in SENDERS[:3])


def victim(runs, count):
    return float(np.median(victims(runs)[count]))


FIGURES = (
    Figure(
        number="Figure 3",
        title="PFC alone is unfair",
        statement="H4 has a port of its own at T4, H1 to H3 share uplinks. With PFC alone, H4 gets up to 20 Gb/s, and its slowest transfer is faster than the "
                  "fastest transfer of H1 to H3.",
        experiment="fig3-unfairness",
        rows=(
            Row("H4, H1 to H3 on one uplink of T4", "up to 20 Gb/s", lambda runs: wire_gbps(on_uplinks(runs, 1), "H4"), 19, 20.1, "Gb/s"),
            Row("H4's slowest transfer over the others' fastest, one uplink", "above 1", lambda runs: lead(on_uplinks(runs, 1)), 1.0001, unit="times"),
            Row("H4's slowest transfer over the others' fastest, all ECMP choices", "above 1", lambda runs: lead(list(runs.values())), 1.0001, unit="times"),
            Row("H4's median over the largest median of the others, all ECMP choices", "above 1", median_lead, 1.0001, unit="times", shape=True),
        ),
        plots=("shares",),
        verdict=IN_SHAPE,
        because="ECMP. If H1 to H3 use two uplinks, the one that has an uplink to itself gets as much as H4, a third of R's link. The paper does not publish the choices of "
                "its transfers.",
    ),
    Figure(
        number="Figure 4",
        title="PFC alone has victims",
        statement="VS does not send to R, but shares T1 with H11 to H14. Its median is 10 Gb/s instead of 20, and 4.5 Gb/s with two more senders under T3.",
        experiment="fig4-victim",
        rows=(
            Row("victim's median, no sender under T3", "10 Gb/s", lambda runs: victim(runs, 0), 9, 11, "Gb/s"),
            Row("victim's median, two senders under T3", "4.5 Gb/s", lambda runs: victim(runs, 2), 4.05, 4.95, "Gb/s"),
            Row("two senders over none", "0.45", lambda runs: victim(runs, 2) / victim(runs, 0), None, 0.7, shape=True),
        ),
        plots=("victim",),
        verdict=IN_SHAPE,
        because="ECMP. The victim gets 4.0, 5.0, 6.7 Gb/s or another part of R's link, as the paths are chosen; the paper does not publish its choices. With two of H11 "
                "to H14 on the victim's uplink, as the paper explains its median, 100 choices have a median of 5.0.",
    ),
    Figure(
        number="Figure 8",
        title="DCQCN shares fairly",
        statement="Figure 3 with DCQCN: four equal shares, with little variance.",
        experiment="fig8-fairness",
        rows=(
            Row("largest difference of a sender's rate from a quarter of the link", "equal shares",
                lambda runs: 100 * max(abs(f["wire_rate_bps"] / 10e9 - 1) for run in runs.values() for f in run.results["flows"]), None, 15, "%"),
            Row("standard deviation of all transfers over their mean", "little",
                lambda runs: (lambda rates: rates.std() / rates.mean())(np.concatenate(list(shares(runs.values()).values()))), None, 0.15, shape=True),
        ),
        plots=("shares",),
        verdict=AGREES,
    ),
    Figure(
        number="Figure 9",
        title="DCQCN has no victims",
        statement="Figure 4 with DCQCN: senders under T3 do not change the victim's median.",
        experiment="fig9-victim",
        rows=(
            Row("victim's median with two senders over that with none", "1", lambda runs: victim(runs, 2) / victim(runs, 0), 0.9, 1.1),
            Row("victim's median with two senders over that with none", "does not fall", lambda runs: victim(runs, 2) / victim(runs, 0), 0.95, shape=True),
            Row("victim's median with two senders, DCQCN", "above PFC alone (4.5 Gb/s)", lambda runs: victim(runs, 2), 9, unit="Gb/s", shape=True),
        ),
        plots=("victim",),
        verdict=IN_SHAPE,
        because="The victim gets its max-min fair share, which rises: with more senders, each of H11 to H14 has a sixth of R's link instead of a fourth, and leaves more of "
                "T1's uplinks. The paper prints bars without figures.",
    ),
)
