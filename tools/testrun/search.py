# SPDX-License-Identifier: BSD-3-Clause
"""A search for the highest or lowest value of a key at which all criteria hold, by bisection.

RFC 2544 section 26.1 searches the highest rate without loss so; RFC 8239 sections 3 and 6 ask for the buffer and the incast of a switch. The
criteria are to hold up to a value and not beyond it; if there are several such values in the range, a bisection finds one of them.
"""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from decimal import Decimal

from .criteria import Finding
from .sections import Section, TestFile

KEYS = ("set", "from", "to", "step", "find", "trials", "at_least", "at_most")
MOST_TRIALS = 100
NUMBER = re.compile(r"(\d+(?:\.\d+)?) ?([A-Za-z%]*)")
PLACEHOLDER = "{}"


@dataclasses.dataclass
class Search:
    """A [search]. Values are first + i step, i from 0 to last."""

    template: str
    first: Decimal
    step: Decimal
    last: int
    unit: str
    highest: bool
    trials: int
    at_least: Decimal | None
    at_most: Decimal | None

    def value(self, i: int) -> Decimal:
        return self.first + i * self.step

    def text(self, i: int) -> str:
        return f"{self.value(i):f}{self.unit}"

    def options(self, i: int) -> list[str]:
        """Of quench-lab."""
        return [word for setting in self.template.replace(PLACEHOLDER, self.text(i)).split(",") for word in ("--set", setting.strip())]

    def expected(self) -> str:
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{word} {bound:f}{self.unit}" for word, bound in bounds if bound is not None)


@dataclasses.dataclass
class Trial:
    """All runs with a value; the findings are those of the first run that fails, or of the last."""

    i: int
    findings: list[Finding]

    @property
    def holds(self) -> bool:
        return all(finding.holds is not False for finding in self.findings)

    def failed(self) -> list[str]:
        return [finding.criterion.name for finding in self.findings if finding.holds is False]


@dataclasses.dataclass
class Found:
    """trials in their order. last_pass is None if nothing passes, first_fail if everything does."""

    trials: list[Trial]
    last_pass: Trial | None
    first_fail: Trial | None


def read(file: TestFile) -> Search | None:
    """None: the file has no search. @raise BadFile"""
    sections = file.of_kind("search")
    if not sections:
        return None
    section = sections[0]
    if section.name != "search":
        file.refuse(section, "", "[search]")
    file.check_keys(section, KEYS)
    template = section.get("set")
    if PLACEHOLDER not in template or "=" not in template:
        file.refuse(section, "set", f"SECTION.KEY={PLACEHOLDER}, with {PLACEHOLDER} for the value, such as flow a.load_bps={PLACEHOLDER}")
    first, unit = number(file, section, "from", None)
    to, _ = number(file, section, "to", unit)
    step, _ = number(file, section, "step", unit)
    if to <= first:
        file.refuse(section, "to", f"more than {section.get('from')}, the value of from")
    if not 0 < step <= to - first:
        file.refuse(section, "step", f"more than 0, and at most {to - first:f}{unit}, the width of the range")
    find = section.get("find")
    if find not in ("highest", "lowest"):
        file.refuse(section, "find", "highest or lowest: the value to find at which all criteria hold")
    trials = section.get("trials", "1")
    if not trials.isdigit() or not 1 <= int(trials) <= MOST_TRIALS:
        file.refuse(section, "trials", f"a number from 1 to {MOST_TRIALS}")
    bounds = {key: number(file, section, key, unit)[0] for key in ("at_least", "at_most") if key in section.keys}
    return Search(template, first, step, int((to - first) / step), unit, find == "highest", int(trials), bounds.get("at_least"), bounds.get("at_most"))


def number(file: TestFile, section: Section, key: str, unit: str | None) -> tuple[Decimal, str]:
    found = NUMBER.fullmatch(section.get(key))
    if not found or unit not in (None, found[2]):
        file.refuse(section, key, "a number, with or without a unit, such as 10KB" if unit is None else f"a number {f'in {unit}' if unit else 'without a unit'}, as from has")
    return Decimal(found[1]), found[2]


def run(search: Search, attempt: Callable[[int, int], list[Finding]], said: Callable[[Trial], None]) -> Found:
    """attempt(i, n): the findings of run n, from 0, with value i."""
    trials: list[Trial] = []

    def trial(i: int) -> Trial:
        findings: list[Finding] = []
        for n in range(search.trials):
            findings = attempt(i, n)
            if any(finding.holds is False for finding in findings):
                break
        trials.append(Trial(i, findings))
        said(trials[-1])
        return trials[-1]

    easy, hard = (0, search.last) if search.highest else (search.last, 0)
    good = trial(easy)
    if not good.holds:
        return Found(trials, None, good)
    bad = trial(hard)
    if bad.holds:
        return Found(trials, bad, None)
    while abs(good.i - bad.i) > 1:
        middle = trial((good.i + bad.i) // 2)
        if middle.holds:
            good = middle
        else:
            bad = middle
    return Found(trials, good, bad)


def passes(search: Search, found: Found) -> bool:
    """Something passes, within at_least and at_most."""
    if found.last_pass is None:
        return False
    value = search.value(found.last_pass.i)
    return (search.at_least is None or value >= search.at_least) and (search.at_most is None or value <= search.at_most)
