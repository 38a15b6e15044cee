# SPDX-License-Identifier: BSD-3-Clause
"""An experiment: runs of one scenario, the statement of a document about them, and checks of the results."""
import dataclasses
import pathlib
from collections.abc import Callable

import quench
from report.html import digits

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "config"
NOT_IN_THIS_RUN = "3600s"  # start_ns of a flow that a variant leaves out


@dataclasses.dataclass(frozen=True)
class Check:
    """One figure and its tolerance. None: no bound on that side."""
    what: str
    measured: float
    low: float | None = None
    high: float | None = None
    unit: str = ""
    stated: str = "-"  # by the document; only printed

    def holds(self):
        return (self.low is None or self.measured >= self.low) and (self.high is None or self.measured <= self.high)

    def tolerance(self):
        low, high = ("" if bound is None else digits(bound) for bound in (self.low, self.high))
        if low == high:
            return f"exactly {low} {self.unit}".strip()
        text = f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"
        return f"{text} {self.unit}".strip()


@dataclasses.dataclass(frozen=True)
class Variant:
    """One run. settings, {"section.key": value}, override those of the scenario."""
    name: str
    settings: dict = dataclasses.field(default_factory=dict)
    seed: int = 1


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    source: str
    statement: str  # of the source, paraphrased
    scaled: str  # differences from the source's set-up, and the effect of --full
    variants: tuple  # of Variant, for the test
    check: Callable  # (runs) -> [Check]; runs: {variant's name: quench.Run}
    plots: dict  # {name: (function of runs that gives a matplotlib figure, caption)}
    full: dict = dataclasses.field(default_factory=dict)  # with --full: settings that override those of each variant
    full_variants: tuple = ()  # with --full: replace variants
    findings: str = ""  # where and why the result differs from the statement; plain text
    refuted: bool = False  # the statement does not hold here; the checks are guards
    scenario: str = ""  # file of config/; "": experiments/NAME.ini

    def path(self):
        return SCENARIOS / (self.scenario or f"experiments/{self.name}.ini")

    def chosen(self, full):
        if not full:
            return self.variants
        return tuple(Variant(v.name, {**v.settings, **self.full}, v.seed) for v in self.full_variants or self.variants)


AGREES, IN_SHAPE, DIFFERS = "agrees", "agrees in shape", "differs"
VERDICTS = (AGREES, IN_SHAPE, DIFFERS)  # from best to worst


@dataclasses.dataclass(frozen=True)
class Row:
    """A published number or statement, and the lab's figure. The figure agrees with it from low to high; None: no bound on that side."""
    what: str
    published: str
    ours: Callable  # (runs) -> number
    low: float | None = None
    high: float | None = None
    unit: str = ""
    shape: bool = False  # a statement about an order or a tendency, not a number
    recalled: bool = False  # we know it from the publication, but found no text of that part to check it against

    def compare(self, runs):
        return Check(self.what, float(self.ours(runs)), self.low, self.high, self.unit, self.published)


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure or statement of the paper beside what an experiment measured."""
    number: str  # as the paper counts, such as Figure 8
    title: str
    statement: str  # of the paper, in our words
    experiment: str  # whose runs are used
    rows: tuple  # of Row
    plots: tuple  # names of plots of the experiment
    verdict: str  # expected; a run that gives another one fails
    because: str = ""  # which choice, of the paper or of ours, makes the difference

    def compare(self, runs):
        """@return [(Row, Check)]"""
        return [(row, row.compare(runs)) for row in self.rows]

    def judge(self, compared):
        """Without a published number, or with one that is not met, figures agree in shape at most."""
        if not all(check.holds() for row, check in compared if row.shape):
            return DIFFERS
        numbers = [check.holds() for row, check in compared if not row.shape]
        return AGREES if numbers and all(numbers) else IN_SHAPE


class Failed(Exception):
    """A run failed; the text is one line."""


def options(experiment, variant):
    """Options and scenario of quench-lab."""
    return quench.lab.options(experiment.path(), variant.settings, seed=variant.seed)


running = set()  # runs of all threads


def stop_all():
    for started in tuple(running):
        started.stop()


def run_variant(lab, experiment, variant, folder):
    """Run into folder/VARIANT. @return a quench.Run"""
    started = quench.start(experiment.path(), variant.settings, seed=variant.seed, threads=1, out=folder / variant.name, lab=lab)
    running.add(started)
    try:
        return started.wait()
    except quench.Failed as error:
        raise Failed(f"{experiment.name}, {variant.name}: {error}") from error
    finally:
        running.discard(started)
