#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The frame of scripts/experiments: runs are what was asked for, and a figure outside of its tolerance is a failure."""
import dataclasses
import pathlib
import subprocess
import sys
import tempfile

from expect import ROOT, expect, finish
from experiments import EXPERIMENTS, FIGURES, ORDER, frame, page  # noqa: E402
from experiments.equal_flows import EqualFlows  # noqa: E402


def full_size():
    """--full has settings of its own, which prevail, and may have variants of its own."""
    small, large = frame.Variant("s", {"a.x": 1, "a.y": 2}, 5), frame.Variant("l")
    e = frame.Experiment("n", "", "", "", "", (small,), None, {}, full={"a.x": 9})
    expect(e.chosen(False) == (small,) and e.chosen(True) == (frame.Variant("s", {"a.x": 9, "a.y": 2}, 5),), "settings")
    expect(dataclasses.replace(e, full_variants=(large,)).chosen(True) == (frame.Variant("l", {"a.x": 9}),), "variants")
    expect(frame.options(e, small)[:-1] == ["--seed", "5", "--set", "a.x=1", "--set", "a.y=2"], "options")


def tolerances():
    for low, high, measured, holds in ((1, 2, 1, True), (1, 2, 2, True), (1, 2, 0.99, False), (1, 2, 2.01, False),
                                       (None, 2, -5, True), (1, None, 1e9, True), (0, 0, 0, True), (0, 0, 1, False),
                                       (1, 2, float("nan"), False)):
        expect(frame.Check("x", measured, low, high).holds() == holds, f"{measured} in {low} to {high}")
    expect("outside" in page.check_table([frame.Check("x", 3, 1, 2)]), "the page says what is outside")


def verdicts():
    """Shape decides whether a figure differs, and numbers whether it agrees; without numbers, it agrees in shape at most."""
    def verdict(*rows):
        figure = frame.Figure("Figure 1", "", "", "", tuple(frame.Row("", "", lambda runs, v=value: v, 1, 2, shape=shape) for value, shape in rows), (), "")
        return figure.judge(figure.compare({}))
    good, bad = 1.5, 3
    for rows, wanted in ((((good, False), (good, True)), frame.AGREES), (((good, False),), frame.AGREES), (((good, True),), frame.IN_SHAPE),
                         (((bad, False), (good, True)), frame.IN_SHAPE), (((bad, False), (good, False)), frame.IN_SHAPE),
                         (((good, False), (bad, True)), frame.DIFFERS), (((float("nan"), True),), frame.DIFFERS)):
        expect(verdict(*rows) == wanted, f"{rows}: {verdict(*rows)}, expected {wanted}")


def figures():
    """Each figure has an experiment and its plots, and a reason unless it agrees; none is missing from the order, or there twice."""
    expect([figure.number for figure in FIGURES] == list(ORDER), f"{[figure.number for figure in FIGURES]}")
    for figure in FIGURES:
        experiment = EXPERIMENTS.get(figure.experiment)
        expect(experiment is not None and set(figure.plots) <= experiment.plots.keys(), f"{figure.number}: {figure.experiment}, {figure.plots}")
        expect(figure.verdict in frame.VERDICTS and (figure.verdict == frame.AGREES or figure.because), f"{figure.number}: a verdict, and a reason")
        expect(all(row.low is not None or row.high is not None for row in figure.rows) and figure.rows, f"{figure.number}: bounds")


def equal_flows():
    """Queues of CoNEXT 2016 with its packets; margins have the signs of the curves, with marks as packets are sent and as they leave."""
    for n, published_kb in ((2, 20.2), (10, 125), (64, 1181)):
        found = EqualFlows(n, 1000, 1000).fixed_queue_kb()
        expect(abs(found / published_kb - 1) < 0.03, f"{n} flows: {found} KB, published {published_kb}")
    for n, departing, stable in ((2, False, True), (10, False, False), (64, False, True), (2, True, True), (64, True, False)):
        margin = EqualFlows(n).margin(85e-6, departing)
        queue = EqualFlows(n).queue_kb(85e-6, departing, 0.15, 5e-6)[20_000:]
        expect((margin > 0) == stable, f"{n} flows, departing {departing}: margin {margin}")
        expect((queue.max() - queue.min() < 0.2 * queue.mean()) == stable, f"{n} flows, departing {departing}: {queue.min()} to {queue.max()} KB")


def usage():
    for args, code in ((["nobody"], 2), (["--lab", "/nowhere", *list(EXPERIMENTS)[:1]], 2)):
        done = subprocess.run([ROOT / "scripts" / "experiments", *args], stderr=subprocess.PIPE, check=False)
        expect(done.returncode == code, f"{args}: exit code {done.returncode}")


def failing_run():
    """A lab that fails is one line and code 1; nothing is drawn of what is not there."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([ROOT / "scripts" / "experiments", "--lab", "/bin/false", "--out", folder, next(iter(EXPERIMENTS))],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        expect((done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), f"{done}")
        expect(not (pathlib.Path(folder) / "experiments.html").exists(), "a page without runs")


full_size()
tolerances()
verdicts()
figures()
equal_flows()
usage()
failing_run()
finish()
