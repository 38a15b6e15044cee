# SPDX-License-Identifier: BSD-3-Clause
"""What is expected of a run, and whether it holds."""
from __future__ import annotations

import dataclasses
from collections.abc import Collection

from report.html import padded

from .quantities import EXAMPLES, QUANTITIES, Measured, parse, show, value_of
from .sections import Section, TestFile

PLACES = ("lab", "ports")
KEYS = ("value", "at_least", "at_most", "flow", "on")


@dataclasses.dataclass
class Criterion:
    """A [criterion NAME]."""

    name: str
    quantity: str
    at_least: float | None
    at_most: float | None
    flow: str
    places: tuple[str, ...]

    @property
    def unit(self) -> str:
        return QUANTITIES[self.quantity].unit

    def expected(self) -> str:
        low, high = (None if bound is None else show(bound, self.unit) for bound in (self.at_least, self.at_most))
        if low == high:
            return f"{low}"
        return " and ".join(text for text in (low and f"at least {low}", high and f"at most {high}") if text)


@dataclasses.dataclass
class Finding:
    """A criterion at a place. holds is None if the quantity cannot be measured there."""

    criterion: Criterion
    value: float | None
    holds: bool | None

    def shown(self) -> str:
        return show(self.value, self.criterion.unit, padded)

    def word(self) -> str:
        return {True: "pass", False: "FAIL", None: "not measured"}[self.holds]


def read(file: TestFile, flows: Collection[str], places: Collection[str]) -> list[Criterion]:
    """flows: names of the lab; places: where it is to run. @raise BadFile"""
    found = [read_one(file, section, flows) for section in file.of_kind("criterion")]
    if not found:
        file.refuse(Section("criterion NAME", 1, {}), "", "at least one criterion")
    for place in places:
        if not any(place in criterion.places for criterion in found):
            file.refuse(file.of_kind("criterion")[0], "on", f"at least one criterion with on = {place} or both, since the test runs there")
    return found


def read_one(file: TestFile, section: Section, flows: Collection[str]) -> Criterion:
    name = section.name.partition(" ")[2]
    if not name:
        file.refuse(section, "", "[criterion NAME]")
    file.check_keys(section, KEYS)
    quantity = section.get("value")
    if quantity not in QUANTITIES:
        file.refuse(section, "value", f"one of {', '.join(QUANTITIES)}")
    unit = QUANTITIES[quantity].unit
    bounds: dict[str, float] = {}
    for key in ("at_least", "at_most"):
        if key in section.keys:
            bound = parse(section.get(key), unit)
            if bound is None:
                file.refuse(section, key, f"a number{'' if unit in ('ratio', 'count') else f' in {unit}'}, such as {EXAMPLES[unit]}")
            bounds[key] = bound
    if not bounds:
        file.refuse(section, "at_least", "this key, at_most or both")
    if bounds.get("at_least", 0) > bounds.get("at_most", float("inf")):
        file.refuse(section, "at_most", f"at least {section.get('at_least')}, the value of at_least")
    flow = section.get("flow")
    if flow and QUANTITIES[quantity].of_all:
        file.refuse(section, "flow", f"no such key: {quantity} is of the whole network")
    if "flow" in section.keys and flow not in flows:
        file.refuse(section, "flow", f"one of {', '.join(list(flows)[:20])}")
    place = section.get("on", "both")
    if place not in (*PLACES, "both"):
        file.refuse(section, "on", "lab, ports or both")
    return Criterion(name, quantity, bounds.get("at_least"), bounds.get("at_most"), flow, PLACES if place == "both" else (place,))


def judge(criteria: list[Criterion], place: str, measured: Measured) -> list[Finding]:
    """The criteria of this place."""
    findings = []
    for criterion in criteria:
        if place not in criterion.places:
            continue
        value = value_of(measured, criterion.quantity, criterion.flow)
        unknown = value is None and QUANTITIES[criterion.quantity].of_all
        low = criterion.at_least if criterion.at_least is not None else -float("inf")
        high = criterion.at_most if criterion.at_most is not None else float("inf")
        findings.append(Finding(criterion, value, None if unknown else value is not None and low <= value <= high))
    return findings
