# SPDX-License-Identifier: BSD-3-Clause
"""Jobs with each congestion control: completion times of a mixture of experts and of a ring, and of two jobs that share spines."""
from experiments.frame import NOT_IN_THIS_RUN, Check, Experiment, Variant
from experiments.measures import dropped
from report.plots import COLOURS, WIDTH, plt

JOBS = ("moe", "ring", "experts", "neighbour")
# JCT divided by its bound, from low to high; the seed draws ECMP's choices.
MOE = {"none": (2.06, 2.52), "dcqcn": (6.1, 7.5), "dctcp": (2.02, 2.48), "timely": (2.04, 2.5), "hpcc": (3.6, 4.5), "swift": (2.2, 2.7)}
RING = {"none": (2, 2.1), "dcqcn": (6.9, 8.4), "dctcp": (2.25, 2.75), "timely": (18, 22.5), "hpcc": (2.2, 2.4), "swift": (2.5, 2.8)}
SHARED = {"shared-none": ("PFC alone", 2.2, 2.6), "shared-dcqcn": ("DCQCN", 5.8, 7.1), "shared-fast": ("DCQCN with R_AI 1 Gb/s", 3.2, 4.0)}
SHAPES = {"moe": "mixture of experts", "ring": "ring"}
NAMES = {"none": "PFC alone", "dcqcn": "DCQCN", "dctcp": "DCTCP", "timely": "TIMELY", "hpcc": "HPCC", "swift": "Swift"}


def settings(cc, *jobs):
    echo = {"np.np_ecn_echo": "on"} if cc == "dctcp" else {}
    return {"nic.cc": cc, **echo, **{f"job {job}.start_ns": NOT_IN_THIS_RUN for job in JOBS if job not in jobs}}


def job(run, name):
    return next(j for j in run.results["jobs"] if j["name"] == name)


def jct_us(run, name):
    return job(run, name)["jct_mean_ns"] / 1e3


def of_bound(run, name):
    return job(run, name)["jct_mean_ns"] / job(run, name)["bound_ns"]


def pauses(run):
    return run.results["pause_frames_after_measure"]


def check(runs):
    found = []
    for cc, name in NAMES.items():
        for shape, words in SHAPES.items():
            run = runs[f"{shape}-{cc}"]
            done = job(run, shape)
            found.append(Check(f"{name}, {words}: iterations that ended", done["iterations_ended"], done["iterations"], done["iterations"]))
    found += [Check(f"{NAMES[cc]}, {SHAPES['moe']}: JCT, divided by its bound", of_bound(runs[f"moe-{cc}"], "moe"), *MOE[cc]) for cc in NAMES]
    found += [Check(f"{NAMES[cc]}, {SHAPES['ring']}: JCT, divided by its bound", of_bound(runs[f"ring-{cc}"], "ring"), *RING[cc]) for cc in NAMES]
    alone = jct_us(runs["neighbour-alone"], "neighbour")
    found += [Check(f"{what}: JCT of the neighbour, divided by that alone", jct_us(runs[name], "neighbour") / alone, low, high)
              for name, (what, low, high) in SHARED.items()]
    found.append(Check("pause frames beside the neighbour: PFC alone, divided by DCQCN", pauses(runs["shared-none"]) / pauses(runs["shared-dcqcn"]), 10))
    found.append(Check("packets that switches dropped", sum(dropped(run) for run in runs.values()), 0, 0))
    return found


def draw(runs):
    figure, axes = plt.subplots(figsize=(WIDTH, 3.4))
    for i, (cc, name) in enumerate(NAMES.items()):
        for x, shape in enumerate(SHAPES):
            value = of_bound(runs[f"{shape}-{cc}"], shape)
            axes.bar(x + (i - 2.5) * 0.14, value, 0.13, color=COLOURS[i % len(COLOURS)], label=None if x else name)
            axes.annotate(f"{value:.2f}", (x + (i - 2.5) * 0.14, value), ha="center", va="bottom", fontsize=8)
    axes.set_xticks(range(len(SHAPES)), SHAPES.values())
    axes.margins(x=0.03)
    axes.set_ylabel("JCT, divided by its bound")
    axes.grid(axis="x", visible=False)
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), fontsize=8.5, ncols=len(NAMES))
    return figure


EXPERIMENTS = (Experiment(
    name="jobs-cc",
    title="Jobs with each congestion control",
    source="Understanding Data Center Quantized Congestion Notification (DCQCN); sonic-mgmt's test plan for collectives",
    statement="PFC is a fail-safe: for the lowest job completion times, ECN should act first.",
    scaled="Sixteen hosts at 100 Gb/s under four leaves, with 50 Gb/s from each leaf to each of two spines, so that a leaf's hosts can send four times "
           "what its uplinks carry. Neither source states sizes: a rank of the mixture of experts sends 1 MB and gets it back, a ring adds up 4 MB. "
           "The neighbour is a ring of 2 MB beside an all-to-all of 8 MB on other hosts of the same leaves. Each algorithm has its defaults. "
           "--full changes nothing.",
    variants=(*(Variant(f"{shape}-{cc}", settings(cc, shape)) for cc in NAMES for shape in ("moe", "ring")),
              Variant("neighbour-alone", settings("none", "neighbour")), Variant("shared-none", settings("none", "experts", "neighbour")),
              Variant("shared-dcqcn", settings("dcqcn", "experts", "neighbour")),
              Variant("shared-fast", {**settings("dcqcn", "experts", "neighbour"), "rp.R_AI": "1G"})),
    check=check,
    plots={"jct": (draw, "Job completion times. The bound is that of the hosts' links.")},
    findings="The statement does not hold for these jobs. DCQCN sends a twentieth of the pause frames, but both jobs take longer than with PFC alone: "
             "an iteration lasts a few milliseconds, and a rate that was cut needs longer to recover, while the spines are idle. A faster additive "
             "increase halves the neighbour's delay. TIMELY cuts the ring's rates by its gradient and then adds 10 Mb/s for each round trip. In the "
             "mixture of experts, TIMELY and DCTCP hardly react before the messages have ended. It holds for flows that cross no congested link "
             "(dcqcn-cascade).",
    refuted=True,
    scenario="experiments/jobs-cc.ini",
),)
