# SPDX-License-Identifier: BSD-3-Clause
"""SIGCOMM 2015, section 7: packets lost without congestion, and go-back-N."""
import numpy as np

from experiments.frame import IN_SHAPE, Check, Experiment, Figure, Row, Variant
from experiments.measures import flow
from report.plots import COLOURS, GREY, WIDTH, plt

FRAME_NS = 1106 * 8 / 40
TIMEOUTS = (5, 8)  # local_ack_timeout: 131 us and 1.05 ms
LOSSES = (1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
REFERENCE = "no-loss"


def timeout_ns(code):
    return 4096 * 2**code  # InfiniBand 9.7.6.1.3


def name(loss, code):
    return f"loss-{loss:.0e}-timeout-{code}"


def variant(loss, code):
    return Variant(name(loss, code), {"link faulty.frame_loss_ppb": round(loss * 1e9), "nic.local_ack_timeout": code})


def goodput(run):
    return flow(run, "W")["goodput_bps"]


def share(runs, loss, code):
    """Goodput divided by the goodput without loss."""
    return goodput(runs[name(loss, code)]) / goodput(runs[REFERENCE])


def frames_resent(runs):
    """Frames that one loss costs: all that are sent until the NAK arrives. The frame after the lost one causes the NAK."""
    return flow(runs[REFERENCE], "W")["rtt_mean_ns"] / FRAME_NS + 1


def expected(runs, loss, code):
    """A loss costs frames_resent(). If the NAK or the first resent frame is lost too, both ends wait for the timeout."""
    return 1 / (1 + loss * frames_resent(runs) + 2 * loss**2 * timeout_ns(code) / FRAME_NS)


def noise(runs, loss, code):
    """Two standard deviations of the share, because a run has few losses and timeouts."""
    results = runs[REFERENCE].results
    frames = (results["duration_ns"] - results["measure_from_ns"]) / FRAME_NS * expected(runs, loss, code)
    spent = np.hypot(np.sqrt(loss * frames) * frames_resent(runs), np.sqrt(2 * loss**2 * frames) * timeout_ns(code) / FRAME_NS)
    return 2 * expected(runs, loss, code)**2 * spent / frames


def check(runs):
    checks = []
    for code in TIMEOUTS:
        for loss in LOSSES:
            middle, margin = expected(runs, loss, code), noise(runs, loss, code) + 0.01
            checks.append(Check(f"loss of {loss:g}, timeout {timeout_ns(code) / 1e6:.2f} ms: goodput", 100 * share(runs, loss, code),
                                max(0, 100 * (middle - margin)), 100 * (middle + margin), "% of the goodput without loss", f"{100 * middle:.1f}"))
    checks.append(Check("rate cuts (loss is not congestion)", sum(flow(run, "W")["rate_cuts"] for run in runs.values()), 0, 0, "cuts"))
    return checks


def draw(runs):
    figure, axes = plt.subplots(figsize=(WIDTH, 3.8))
    curve = np.geomspace(LOSSES[0], LOSSES[-1], 100)
    for i, code in enumerate(TIMEOUTS):
        axes.plot(curve, [100 * expected(runs, loss, code) for loss in curve], color=COLOURS[i], lw=1)
        axes.plot(LOSSES, [100 * share(runs, loss, code) for loss in LOSSES], "o", color=COLOURS[i],
                  label=f"timeout {timeout_ns(code) / 1e6:.2f} ms")
    axes.plot(curve, 100 / (1 + curve * frames_resent(runs)), color=GREY, ls="--", lw=1, label="resent frames alone")
    axes.set_xscale("log")
    axes.set_xmargin(0.03)
    axes.set_ylim(0, 105)
    axes.set_xlabel("share of frames lost at random")
    axes.set_ylabel("goodput (% of the goodput without loss)")
    axes.set_title("One flow at 40 Gb/s over a faulty cable, go-back-N")
    axes.legend(frameon=False)
    return figure


EXPERIMENTS = (Experiment(
    name="sec7-loss",
    title="Section 7: loss without congestion",
    source="SIGCOMM 2015, section 7; the figures expected follow from go-back-N",
    statement="NICs recover by go-back-N, which is sufficient while few packets are lost. A loss costs the frames of a round trip. If "
              "the NAK or the first resent frame is lost too, the loss costs the timeout. So the goodput is 1 / (1 + p N + 2 p^2 T / "
              "t) of the goodput without loss, where p is the loss rate, N the number of frames in a round trip plus one, T the "
              "timeout and t the time of a frame.",
    scaled="One flow for 60 ms; with --full, 600 ms. One cable loses frames in both directions. The tolerance is two standard "
           "deviations of the goodput in one run, plus 1 %.",
    variants=(Variant(REFERENCE), *(variant(loss, code) for code in TIMEOUTS for loss in LOSSES)),
    full={"fabric.duration_ns": "600ms"},
    check=check,
    plots={"goodput": (draw, "Points: quench-lab. Lines: the formula. Dashed: without its last term, as if no NAK and no resent frame were lost.")},
    findings="As InfiniBand specifies, a responder sends only one NAK for a gap. By the formula, timeouts "
             "therefore cost more than resent frames if p exceeds N t / (2 T): 0.2 % with 1.05 ms. The NICs' default, local_ack_timeout = 14, is a timeout of 67 ms. At a loss "
             "rate of 1 %, a flow then waits nearly all of the time."),)

FIGURES = (Figure(
    number="Section 7",
    title="Loss without congestion",
    statement="Go-back-N is sufficient while few packets are lost.",
    experiment="sec7-loss",
    rows=(
        Row("one frame of 100,000 lost: goodput", "sufficient", lambda runs: 100 * share(runs, 1e-5, TIMEOUTS[0]), 99, unit="% of that without loss", shape=True),
        Row("one frame of 1,000 lost: goodput", "sufficient", lambda runs: 100 * share(runs, 1e-3, TIMEOUTS[0]), 95, unit="% of that without loss", shape=True),
        Row("one frame of 33 lost: goodput", "-", lambda runs: 100 * share(runs, 3e-2, TIMEOUTS[0]), None, 60, "% of that without loss", shape=True),
    ),
    plots=("goodput",),
    verdict=IN_SHAPE,
    because="The paper gives no figure. The curve is what the rules of go-back-N give.",
),)
