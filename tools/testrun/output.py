# SPDX-License-Identifier: BSD-3-Clause
"""The verdict: a table, JSON, JUnit XML, and a page with the plots of the run in the lab and the rates on ports."""
from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import xml.etree.ElementTree as xml
from html import escape

import quench
from quench.tables import BadInput
from report import html, output
from report import page as report

from .criteria import Finding
from .on_ports import Timeline
from .verdict_file import VerdictFile

FILES = ("report.html", "junit.xml", "verdict.json", "failed.pcapng", "failed-ports.pcapng", "search.csv", "search.svg")
PLACES = {"lab": "lab", "ports": "on ports"}
ELSEWHERE = {"lab": "on ports only", "ports": "in the lab only"}  # in the column of a place, of what is measured at the other
STYLE = """.FAIL { color: var(--alarm); font-weight: 600 } .pass { color: var(--fine); font-weight: 600 } .not-measured { color: var(--soft) }
table.words td { overflow-wrap: normal } table.words td:first-child { min-width: 0 } .found span { display: inline-block; white-space: nowrap; margin-right: .6em } .found span:last-child { margin-right: 0 }
@media screen and (min-width: 40rem) { .found span:first-child { min-width: 5.5em } }
@media screen and (max-width: 40rem) { table.words { font-size: .76rem } table.words:has(.found + .found) :is(th, td) { padding-right: .3rem } .found + .found span, .found:has(+ .found) span { margin-right: .3em } .found .not-measured { white-space: normal } }
ul.remarks { font-size: .9rem; color: var(--soft); padding-left: 1.2rem; overflow-wrap: anywhere }"""
# Of an event of a program: what its words say already, and times of the day
FIELDS = re.compile(r";( \w+=\S+)+$")


@dataclasses.dataclass
class Verdict:
    """Findings by place, and what else there is to say."""

    scenario: str
    findings: dict[str, list[Finding]]
    seconds: dict[str, float]
    remarks: list[str]
    timeline: Timeline | None = None
    recordings: dict[str, str] = dataclasses.field(default_factory=dict)  # name of a file: its frames

    def holds(self) -> bool:
        return all(finding.holds is not False for found in self.findings.values() for finding in found)

    def failed(self) -> int:
        return sum(finding.holds is False for found in self.findings.values() for finding in found)


def rows(verdict: Verdict) -> list[list[str]]:
    """Name, expectation, and value and word for each place."""
    names: dict[str, list[str]] = {}
    for i, found in enumerate(verdict.findings.values()):
        for finding in found:
            criterion = finding.criterion
            of = f" of {criterion.flow}" if criterion.flow else ""
            row = names.setdefault(criterion.name, [criterion.name, f"{criterion.quantity}{of}", criterion.expected(), *(text for place in verdict.findings for text in (ELSEWHERE[place], ""))])
            row[3 + 2 * i:5 + 2 * i] = [finding.shown(), finding.word()]
    return list(names.values())


def table(verdict: Verdict) -> str:
    head = ["criterion", "quantity", "expected", *(word for place in verdict.findings for word in (PLACES[place], ""))]
    lines = [head, *rows(verdict)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def as_json(verdict: Verdict) -> bytes:
    file: VerdictFile = {
        "format": 1, "program": "test-run", "scenario": verdict.scenario, "verdict": "pass" if verdict.holds() else "fail",
        "criteria": [{"place": place, "name": finding.criterion.name, "value": finding.criterion.quantity, "flow": finding.criterion.flow,
                      "at_least": finding.criterion.at_least, "at_most": finding.criterion.at_most, "measured": finding.value,
                      "verdict": "not measured" if finding.holds is None else "pass" if finding.holds else "fail"}
                     for place, found in verdict.findings.items() for finding in found],
        "remarks": verdict.remarks, "recordings": list(verdict.recordings)}
    return (json.dumps(file, indent=1) + "\n").encode()


def as_junit(verdict: Verdict) -> bytes:
    """The form that Jenkins and GitLab read: a test case for each criterion at each place."""
    found = [(place, finding) for place, findings in verdict.findings.items() for finding in findings]
    numbers = {"tests": str(len(found)), "failures": str(verdict.failed()), "errors": "0", "time": f"{sum(verdict.seconds.values()):.3f}"}
    skipped = str(sum(finding.holds is None for _, finding in found))
    suites = xml.Element("testsuites", numbers)
    suite = xml.SubElement(suites, "testsuite", {"name": verdict.scenario, **numbers, "skipped": skipped})
    for place, finding in found:
        case = xml.SubElement(suite, "testcase", {"classname": f"{verdict.scenario}.{place}", "name": finding.criterion.name, "time": f"{verdict.seconds[place]:.3f}"})
        said = f"{finding.criterion.quantity} = {finding.shown()}: expected {finding.criterion.expected()}"
        if finding.holds is None:
            xml.SubElement(case, "skipped", {"message": f"{finding.criterion.quantity} is not measured: the switch is not quench-switch"})
        elif not finding.holds:
            xml.SubElement(case, "failure", {"message": said, "type": "criterion"}).text = said
    xml.indent(suites)
    written: bytes = xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def junit_error(scenario: str, text: str) -> bytes:
    """For a run that failed."""
    numbers = {"tests": "1", "failures": "0", "errors": "1"}
    suites = xml.Element("testsuites", numbers)
    case = xml.SubElement(xml.SubElement(suites, "testsuite", {"name": scenario, **numbers}), "testcase", {"classname": scenario, "name": "run"})
    xml.SubElement(case, "error", {"message": text, "type": "run"}).text = text
    xml.indent(suites)
    written: bytes = xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def rates_on_ports(timeline: Timeline) -> bytes:
    """SVG of the wire rate of each flow, over 50 ms."""
    from report.plots import COLOURS, MOST_LINES, label_ends, plt
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    n = len(timeline.wire_bytes)
    axes.set_title("Rate of each flow" if n <= MOST_LINES else f"Rates of the first {MOST_LINES} of {n} flows", pad=16)
    drawn = {name: [(1e3 * t, 8 * (b - a) / (t - s)) for s, t, a, b in zip(timeline.time_s, timeline.time_s[1:], sent, sent[1:]) if t - s > 0.01]
             for name, sent in list(timeline.wire_bytes.items())[:MOST_LINES]}
    unit = html.rate_unit(max((rate for points in drawn.values() for _, rate in points), default=0))
    for (name, points), colour in zip(drawn.items(), COLOURS):
        axes.plot([t for t, _ in points], [rate / unit.bps for _, rate in points], lw=1.3, alpha=0.9, color=colour, label=name)
    for at, what in timeline.steps:
        if not what.startswith("flow "):
            axes.axvline(1e3 * at, color="0.6", lw=0.8)
            axes.annotate(what, (1e3 * at, 1), xycoords=("data", "axes fraction"), fontsize=9, color="0.4", va="top")
    # As the lab's pictures, beside which this one is.
    axes.set(xlabel="time (ms)", ylabel=f"wire rate ({unit.name})", ylim=(0, None), xlim=(0, None))
    ends = [(points[-1][1] / unit.bps, name, colour) for (name, points), colour in zip(drawn.items(), COLOURS) if points]
    label_ends(axes, ends)
    svg = output.svg_of(figure)
    plt.close(figure)
    return svg


def found(value: str, word: str) -> str:
    """The cell of a place."""
    if not word:
        return f'<td class="found"><span class="not-measured">{escape(value)}</span>'
    return f'<td class="found"><span>{html.said(value)}</span><span class="{word.replace(" ", "-")}">{word}</span>'


def page(verdict: Verdict, plots: dict[str, str]) -> bytes:
    """plots: of the run in the lab"""
    heads = "".join(f"<th>{escape(head)}" for head in ("criterion", "quantity", "expected", *(PLACES[place] for place in verdict.findings)))
    body = "".join(f"<tr><td>{escape(name)}<td>{html.breakable(value)}<td>{html.said(expected)}" + "".join(map(found, cells[::2], cells[1::2]))
                   for name, value, expected, *cells in rows(verdict))
    parts = [f'<div class="wide"><table class="words"><thead><tr>{heads}</thead><tbody>{body}</tbody></table></div>']
    if verdict.remarks:
        remarks = "".join("<li>" + html.said(FIELDS.sub("", remark)) for remark in verdict.remarks)
        parts.append(f'<ul class="remarks">{remarks}</ul>')
    parts += [f'<p>For Wireshark: <a href="{name}">{name}</a>, {escape(what)}.</p>' for name, what in verdict.recordings.items()]
    if "lab" in verdict.findings:
        figures = "".join(f'<figure><div class="wide">{plot}</div></figure>' for plot in plots.values())
        parts.append(f'<h2>In the lab</h2><p>The whole <a href="lab/report.html">report of the run</a>.</p><div class="charts">{figures}</div>')
    if verdict.timeline:
        parts.append(f'<h2>On ports</h2><div class="charts"><figure><div class="wide">{output.inside_page("ports", rates_on_ports(verdict.timeline))}</div></figure></div>')
    return document(f"{verdict.scenario}: {'pass' if verdict.holds() else 'FAIL'}", parts)


def document(title: str, parts: list[str]) -> bytes:
    page = html.plain(title, html.STYLE + STYLE, f"<h1>{escape(title)}</h1>\n{''.join(parts)}")
    return page.encode()


def write(verdict: Verdict, folder: pathlib.Path) -> None:
    """verdict.json and junit.xml, all or none, then the report of the run in the lab and report.html. @raise OSError, quench.Failed"""
    output.write_all(folder, {"verdict.json": as_json(verdict), "junit.xml": as_junit(verdict)})
    try:
        plots = report.write(folder / "lab") if "lab" in verdict.findings else {}
    except BadInput as error:
        raise quench.Failed(str(error)) from error
    output.write_all(folder, {"report.html": page(verdict, plots)})
