# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that change during a run: the queue compared with the fixed points of the fluid model."""
import numpy as np

from experiments.frame import NOT_IN_THIS_RUN, Check, Experiment, Variant
from experiments.measures import dropped
from quench.fluid import means
from report.plots import COLOURS, MODEL, WIDTH, plt

SETTLED_MS = 30  # after a change, or after the start
END_MS = 400
# (begin in ms, parameters in force, variant that has their fixed point)
PHASES = ((0, "the file's", "file"), (100, "Kmin 50 KB, Kmax 400 KB", "thresholds"), (200, "the file's again", "file"), (300, "R_AI 10 Mb/s", "calm"))
ENDS = (100, 200, 300, END_MS)


def fixed(name, **settings):
    """A short run without events, of which only the fixed point of the model is used."""
    none = {f"event {event}.at_ns": NOT_IN_THIS_RUN for event in ("thresholds", "calm")}
    return Variant(name, {"fabric.duration_ns": "1ms", **none, **{key.replace("_", ".", 1): value for key, value in settings.items()}})


def point(runs, name):
    """queue*, in bytes"""
    return runs[name].results["fluid"]["queues"][0]["fixed_point"]["queue_bytes"]


def live(runs):
    return [run for name, run in runs.items() if name.startswith("seed")]


def phase_means(runs):
    """Mean of the queue in each phase after it has settled, over all seeds, in bytes"""
    found = []
    for (begin, _, _), end in zip(PHASES, ENDS):
        found.append(np.mean([means(run.bottleneck(), "queue_bytes", 1.0)[begin + SETTLED_MS:end] for run in live(runs)]))
    return found


def check(runs):
    measured = phase_means(runs)
    checks = [Check(f"queue from {begin + SETTLED_MS} to {end} ms, {what}: difference from the fixed point", 100 * (mean / point(runs, name) - 1), -20, 10, "%",
                    f"{point(runs, name) / 1e3:.1f} KB")
              for (begin, what, name), end, mean in zip(PHASES, ENDS, measured)]
    return checks + [
        Check("the first equilibrium again: third phase compared with the first", 100 * (measured[2] / measured[0] - 1), -15, 15, "%"),
        Check("packets dropped by the changes", sum(dropped(run) for run in live(runs)), 0, 0),
        Check("packets resent", sum(f["retransmitted_packets"] for run in live(runs) for f in run.results["flows"]), 0, 0),
    ]


def draw(runs):
    figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
    each = np.array([means(run.bottleneck(), "queue_bytes", 1.0) for run in live(runs)]) / 1e3
    axes.plot(np.arange(each.shape[1]) + 0.5, each.mean(axis=0), color=COLOURS[0], lw=0.8, label=f"packets, mean of {len(each)} seeds")
    for i, ((begin, what, name), end) in enumerate(zip(PHASES, ENDS)):
        at = point(runs, name) / 1e3
        axes.plot((begin, end), (at, at), **MODEL, label="" if i else "fluid model's fixed point")
        axes.text((begin + end) / 2, 205, what, ha="center", fontsize="small")
    axes.set_xlim(0, END_MS)
    axes.set_ylim(0, 220)
    axes.set_xlabel("time (ms)")
    axes.set_ylabel("queue (KB)")
    axes.legend(frameon=False, loc="upper right", bbox_to_anchor=(1, 0.92))
    return figure


EXPERIMENTS = (Experiment(
    name="live-parameters",
    title="Parameters that change under load",
    source="The fluid model of SIGCOMM 2015, section 5, and CoNEXT 2016",
    statement="When the marking thresholds or the additive increase change, the queue moves to another fixed point. When they change "
              "back, it returns.",
    scaled="Four senders at 40 Gb/s send to one receiver. Kmin and Kmax change at 100 ms and are restored at 200 ms; R_AI changes "
           "at 300 ms. The changes use the code that changes a running program. Two seeds; with --full, eight.",
    variants=(*(Variant(f"seed-{seed}", seed=seed) for seed in (1, 2)), fixed("file"), fixed("thresholds", wred_Kmin="50KB", wred_Kmax="400KB"),
              fixed("calm", rp_R_AI="10M")),
    full_variants=(*(Variant(f"seed-{seed}", seed=seed) for seed in range(1, 9)), fixed("file"),
                   fixed("thresholds", wred_Kmin="50KB", wred_Kmax="400KB"), fixed("calm", rp_R_AI="10M")),
    check=check,
    plots={"queue": (draw, "Queue to the receiver, means of 1 ms. The first values are cut off.")},
    findings="The queue in the packet simulation is 4 to 13 % shorter than the model's, both before and after each change. "
             "doc/lab.md gives the reasons.",
    scenario="live-parameters.ini",
),)
