# SPDX-License-Identifier: BSD-3-Clause
"""Start quench-lab, with settings as a dict."""
from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Sequence

from places import program

from .data import Run
from .desk import Failed
from .programs import Settings, text

LAB = program("quench-lab")

Path = str | pathlib.Path


def options(scenario: Path, settings: Settings | None = None, *, seed: int | None = None, duration: str | None = None) -> list[str]:
    """The options of quench-lab that determine the results, and the scenario."""
    found = [] if seed is None else ["--seed", str(seed)]
    for key, value in (settings or {}).items():
        found += ["--set", f"{key}={text(value)}"]
    return [*found, *([] if duration is None else ["--duration", duration]), str(scenario)]


class Started:
    """A quench-lab that runs."""

    def __init__(self, command: Sequence[str], out: Path) -> None:
        self.out = pathlib.Path(out)
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failed(f"{self.out.parent}: {error.strerror}") from error
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}: build quench-lab, or give lab") from error

    def stop(self) -> None:
        self.process.terminate()

    def communicate(self) -> str:
        """Wait until it ends, or end it at an exception, such as of Ctrl-C. @return its errors"""
        with self.process:  # waits, whatever happens
            try:
                return self.process.communicate()[1]
            except BaseException:
                self.stop()
                raise

    def wait(self) -> Run:
        """The results, once the run has ended."""
        errors = self.communicate()
        if self.process.returncode:
            raise Failed(errors.strip() or f"quench-lab: exit code {self.process.returncode}")
        return Run(self.out)


def start(scenario: Path, settings: Settings | None = None, *, out: Path, seed: int | None = None, duration: str | None = None,
          threads: int | None = None, trace: str | None = None, lab: Path = LAB) -> Started:
    """Start a run that writes its files into out. Several may run at a time."""
    more = ([] if threads is None else ["--threads", str(threads)]) + ([] if trace is None else ["--trace", trace])
    return Started([str(lab), "--quiet", "--no-progress", *more, "--out", str(out),
                    *options(scenario, settings, seed=seed, duration=duration)], out)


def run(scenario: Path, settings: Settings | None = None, *, out: Path, seed: int | None = None, duration: str | None = None,
        threads: int | None = None, trace: str | None = None, lab: Path = LAB) -> Run:
    """Run a scenario. settings override keys of the file; seed and duration ("20ms") those of the file; trace names flows for Run.trace().

    quench.run("config/incast-4to1.ini", {"wred.Kmax": "100KB"}, out="quench-100KB").results["jain_index"]
    """
    return start(scenario, settings, out=out, seed=seed, duration=duration, threads=threads, trace=trace, lab=lab).wait()
