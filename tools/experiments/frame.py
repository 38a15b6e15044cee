# SPDX-License-Identifier: BSD-3-Clause
"""What an experiment is: runs of one scenario, what a document says of them, and what they must show."""
import dataclasses
import pathlib
import subprocess
from collections.abc import Callable

from report import data, fluid

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "config"
NOT_IN_THIS_RUN = "3600s"  # start_ns of a flow that a variant leaves out


@dataclasses.dataclass(frozen=True)
class Check:
    """One figure against its tolerance. None: no bound on that side."""
    what: str
    measured: float
    low: float | None = None
    high: float | None = None
    unit: str = ""
    stated: str = "-"  # by the document, for the reader

    def holds(self):
        return (self.low is None or self.measured >= self.low) and (self.high is None or self.measured <= self.high)

    def tolerance(self):
        low, high = ("" if bound is None else f"{bound:.4g}" for bound in (self.low, self.high))
        if low == high:
            return f"{low} {self.unit}".strip()
        text = f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"
        return f"{text} {self.unit}".strip()


@dataclasses.dataclass(frozen=True)
class Variant:
    """One run. Settings are {"section.key": value} over those of the scenario."""
    name: str
    settings: dict = dataclasses.field(default_factory=dict)
    seed: int = 1


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    source: str
    statement: str  # of the source, in our words
    scaled: str  # what differs from the source's set-up, and what --full does
    variants: tuple  # of Variant, for the test
    check: Callable  # (runs) -> [Check]; runs: {variant's name: report.data.Run}
    plots: dict  # {name: (function of runs that gives a matplotlib figure, caption)}
    full: dict = dataclasses.field(default_factory=dict)  # settings with --full, over each variant's
    full_variants: tuple = ()  # with --full, instead of variants
    findings: str = ""  # where and why measured and stated differ; HTML is escaped
    scenario: str = ""  # file of config/; "": experiments/NAME.ini

    def path(self):
        return SCENARIOS / (self.scenario or f"experiments/{self.name}.ini")

    def chosen(self, full):
        if not full:
            return self.variants
        return tuple(Variant(v.name, {**v.settings, **self.full}, v.seed) for v in self.full_variants or self.variants)


class Failed(Exception):
    """One line: a run that did not end well."""


def command(experiment, variant):
    """Options and scenario of quench-lab."""
    sets = [option for place, value in variant.settings.items() for option in ("--set", f"{place}={value}")]
    return ["--seed", str(variant.seed), *sets, experiment.path()]


def read_run(folder):
    """All that report.py would draw of it."""
    run = data.Run(folder)
    run.folder = folder
    run.fluid = fluid.Fluid(folder, run.results)
    return run


running = set()  # processes of all threads


def stop_all():
    for process in tuple(running):
        process.terminate()


def run_variant(lab, experiment, variant, folder):
    """Run into folder/VARIANT. @return a data.Run"""
    with subprocess.Popen([lab, "--quiet", "--no-progress", "--out", folder / variant.name, *command(experiment, variant)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        running.add(process)
        try:
            _, errors = process.communicate()
        finally:
            running.discard(process)
    if process.returncode:
        raise Failed(f"{experiment.name}, {variant.name}: {errors.strip() or f'exit code {process.returncode}'}")
    return read_run(folder / variant.name)
