# SPDX-License-Identifier: BSD-3-Clause
"""What a search found: a table, JSON, JUnit XML, CSV, and a plot of each quantity over the values."""
from __future__ import annotations

import csv
import dataclasses
import io
import json
import pathlib
import xml.etree.ElementTree as xml
from html import escape

from report import html, output

from .criteria import Criterion
from .output import PLACES, document
from .search import Found, Search, Trial, passes
from .verdict_file import PlaceRow, SearchFile

COLOURS = {"lab": "#0072B2", "ports": "#D55E00"}
# Units of the plots; of a rate, html.rate_unit().
SCALES = {"ns": ("ms", 1e6), "us": ("ms", 1e3), "bytes": ("KB", 1e3), "ratio": ("", 1.0), "count": ("", 1.0)}


@dataclasses.dataclass
class Report:
    scenario: str
    search: Search
    found: dict[str, Found]
    seconds: dict[str, float]

    def holds(self) -> bool:
        return all(passes(self.search, found) for found in self.found.values())

    def shown(self, trial: Trial | None) -> str:
        return "-" if trial is None else self.search.text(trial.i)

    def headline(self) -> str:
        return f"{self.highest_or_lowest()} {{}} in {self.search.template} at which all criteria hold"

    def highest_or_lowest(self) -> str:
        return "highest" if self.search.highest else "lowest"


def lines(report: Report) -> list[list[str]]:
    """A row for each place: figure, bound, first failure with its criteria, number of trials. Columns without a word are left out."""
    head = ["", "last pass", "expected", "verdict", "first fail", "by", "trials", "time"]
    rows = []
    for place, found in report.found.items():
        fail = found.first_fail
        rows.append([PLACES[place], report.shown(found.last_pass), report.search.expected(), "pass" if passes(report.search, found) else "FAIL",
                     report.shown(fail), ", ".join(fail.failed()) if fail else "", str(len(found.trials)), f"{report.seconds[place]:.1f} s"])
    columns = [i for i in range(len(head)) if any(row[i] for row in rows)]
    return [[row[i] for i in columns] for row in (head, *rows)]


def table(report: Report) -> str:
    cells = lines(report)
    widths = [max(len(cell) for cell in column) for column in zip(*cells)]
    return "\n".join([report.headline(), *("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)])


def as_csv(report: Report) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("place", "value", "verdict", "criterion", "quantity", "measured"))
    for place, found in report.found.items():
        for trial in found.trials:
            for finding in trial.findings:
                writer.writerow((place, report.search.text(trial.i), finding.word().lower(), finding.criterion.name, finding.criterion.quantity,
                                 "" if finding.value is None else f"{finding.value:.10g}"))
    return text.getvalue().encode()


def as_json(report: Report) -> bytes:
    places: list[PlaceRow] = [
        {"place": place, "last_pass": None if found.last_pass is None else report.shown(found.last_pass),
         "first_fail": None if found.first_fail is None else report.shown(found.first_fail),
         "failed_criteria": found.first_fail.failed() if found.first_fail else [], "trials": len(found.trials),
         "verdict": "pass" if passes(report.search, found) else "fail"} for place, found in report.found.items()]
    file: SearchFile = {"format": 1, "program": "test-run", "scenario": report.scenario, "verdict": "pass" if report.holds() else "fail",
                        "search": {"set": report.search.template, "find": "highest" if report.search.highest else "lowest", "places": places}}
    return (json.dumps(file, indent=1) + "\n").encode()


def as_junit(report: Report) -> bytes:
    failures = sum(not passes(report.search, found) for found in report.found.values())
    numbers = {"tests": str(len(report.found)), "failures": str(failures), "errors": "0", "time": f"{sum(report.seconds.values()):.3f}"}
    suites = xml.Element("testsuites", numbers)
    suite = xml.SubElement(suites, "testsuite", {"name": report.scenario, **numbers})
    for place, found in report.found.items():
        case = xml.SubElement(suite, "testcase", {"classname": f"{report.scenario}.{place}", "name": "search", "time": f"{report.seconds[place]:.3f}"})
        if not passes(report.search, found):
            said = f"last pass {report.shown(found.last_pass)}, first fail {report.shown(found.first_fail)}: expected {report.search.expected() or 'a value that passes'}"
            xml.SubElement(case, "failure", {"message": said, "type": "search"}).text = said
        xml.SubElement(case, "system-out").text = f"last pass {report.shown(found.last_pass)}, first fail {report.shown(found.first_fail)}"
    xml.indent(suites)
    written: bytes = xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def criteria_of(report: Report) -> list[Criterion]:
    return list({finding.criterion.name: finding.criterion for found in report.found.values() for finding in found.trials[0].findings}.values())


def draw(report: Report) -> bytes:
    """SVG: for each criterion its quantity over the values, its bounds, and the last pass. Trials that failed are crosses."""
    from report.plots import plt
    criteria = criteria_of(report)
    figure, many = plt.subplots(len(criteria), 1, figsize=(8, 0.6 + 1.8 * len(criteria)), sharex=True, squeeze=False, layout="constrained")
    for axes, criterion in zip(many[:, 0], criteria):
        values = [finding.value for found in report.found.values() for trial in found.trials for finding in trial.findings
                  if finding.criterion.name == criterion.name and finding.value is not None]
        name, scale = html.rate_unit(max(values, default=0)) if criterion.unit == "bit/s" else SCALES[criterion.unit]
        for place, found in report.found.items():
            points = sorted((float(report.search.value(trial.i)), finding.value / scale, finding.holds is not False) for trial in found.trials
                            for finding in trial.findings if finding.criterion.name == criterion.name and finding.value is not None)
            axes.plot([x for x, _, _ in points], [y for _, y, _ in points], lw=0.8, color=COLOURS[place], label=PLACES[place])
            for holds, mark in ((True, "o"), (False, "x")):
                axes.plot([x for x, _, h in points if h == holds], [y for _, y, h in points if h == holds], mark, ms=4, color=COLOURS[place])
            if found.last_pass:
                axes.axvline(float(report.search.value(found.last_pass.i)), color=COLOURS[place], lw=0.8, ls=":")
        for bound in (criterion.at_least, criterion.at_most):
            if bound is not None:
                axes.axhline(bound / scale, color="0.5", lw=0.8, ls="--")
        axes.set_title(criterion.name, loc="left")
        if criterion.unit == "count":
            axes.yaxis.get_major_locator().set_params(integer=True)
        axes.margins(x=0.03)  # marks at the ends and at 0 are whole
        axes.set(ylabel=f"{criterion.quantity.rpartition('_')[0] if name and criterion.quantity.rpartition('_')[2] in ('bps', 'ns', 'us', 'bytes') else criterion.quantity}"
                 f"{f' ({name})' if name else ''}", ylim=(0, None if axes.get_ylim()[1] > 0.1 or criterion.unit != "count" else 1))
        axes.set_ylim(bottom=-0.04 * axes.get_ylim()[1])
    unit = report.search.unit
    many[-1, 0].set(xlabel="{} of " + report.search.template + (f" ({unit})" if unit else ""))
    if len(report.found) > 1:
        many[0, 0].legend(frameon=False, fontsize=9)
    figure.align_ylabels()
    svg = output.svg_of(figure)
    plt.close(figure)
    return svg


VERDICTS = {"pass": "good", "FAIL": "bad"}


def verdict(word: str) -> str:
    return f'<span class="{VERDICTS[word]}">{word}</span>'


def page(report: Report, svg: bytes) -> bytes:
    head, *rows = lines(report)
    marked = [[verdict(cell) if cell in VERDICTS else escape(cell) for cell in row] for row in rows]
    parts = [f"<p>{report.highest_or_lowest().capitalize()} {{}} in <code>{escape(report.search.template)}</code> at which all criteria hold:</p>", html.table(head, marked),
             f'<figure><div class="wide">{output.inside_page("search", svg)}</div></figure>',
             "<p>Each point is a trial; a cross is one whose criterion does not hold. Dashed: the bounds; dotted: the last pass.</p>"]
    for place, found in report.found.items():
        names = [finding.criterion for finding in found.trials[0].findings]
        trials = [[escape(report.search.text(trial.i)), verdict("pass" if trial.holds else "FAIL"), *(html.said(finding.shown()) for finding in trial.findings)]
                  for trial in sorted(found.trials, key=lambda trial: trial.i)]
        parts += [f"<h2>Trials {'in the lab' if place == 'lab' else 'on ports'}</h2>",
                  html.table(["{}", "verdict", *(f"{criterion.quantity}: {html.in_units(criterion.expected())}" for criterion in names)], trials)]
    return document(f"{report.scenario}: {'pass' if report.holds() else 'FAIL'}", parts)


def write(report: Report, folder: pathlib.Path) -> None:
    """The tables, all or none, then the pictures. @raise OSError"""
    output.write_all(folder, {"verdict.json": as_json(report), "junit.xml": as_junit(report), "search.csv": as_csv(report)})
    svg = draw(report)
    output.write_all(folder, {"search.svg": svg, "report.html": page(report, svg)})
