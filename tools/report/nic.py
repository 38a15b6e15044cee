# SPDX-License-Identifier: BSD-3-Clause
"""The report of quench-probe on a NIC: one page of tables, without scripts and external resources."""
import json
from html import escape

from .html import STYLE, number, plain, said, table

# The verdicts of quench-probe, in the order of the summary.
VERDICTS = ("fault", "differs", "no answer", "not measured", "ok", "measured", "not run")
KEYS = ("id", "group", "what", "verdict", "measured", "expected", "source", "knob", "knob_value")
MARKS = """
td.fault { color: var(--alarm); font-weight: 600 }
td.differs, td.no-answer { font-weight: 600 }
td.not-run, td.not-measured, td.source { color: var(--soft) }
table.lines td, table.lines th { text-align: left; white-space: normal; vertical-align: top }
table.lines td:nth-child(1) { width: 24% } table.lines td:nth-child(2) { width: 7rem; white-space: nowrap }
"""


class BadReport(Exception):
    """The file is not a report of quench-probe; the text names the file and what is wrong."""


def read(path):
    """Read and check a report. @raise BadReport"""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadReport(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise BadReport(f"{path}: not JSON: {error}") from None
    if not isinstance(report, dict) or report.get("program") != "quench-probe" or not isinstance(report.get("lines"), list):
        raise BadReport(f"{path}: expected a report of quench-probe")
    for key in ("config", "counters"):
        if not isinstance(report.get(key), dict):
            raise BadReport(f"{path}: {key} is missing")
    for n, line in enumerate(report["lines"]):
        missing = [key for key in KEYS if not isinstance(line, dict) or key not in line]
        if missing or line["verdict"] not in VERDICTS:
            raise BadReport(f"{path}: line {n} of the report: expected {', '.join(missing) or 'a verdict of quench-probe'}")
    return report


def knob(line):
    if line["knob"] is None:
        return ""
    if line["knob_value"] is None:
        return f'<br><code>{escape(line["knob"])}</code>'
    return f'<br><code>{escape(line["knob"])} = {line["knob_value"]:.6g}</code>'


def row(line):
    verdict = line["verdict"]
    return (f'<tr><td>{escape(line["what"])}{knob(line)}<td class="{verdict.replace(" ", "-")}">{verdict}'
            f'<td>{said(line["measured"]) or "-"}<td>{said(line["expected"])}<td class="source">{escape(line["source"])}')


def group_table(lines):
    head = "".join(f"<th>{h}" for h in ("", "verdict", "measured", "expected", "source"))
    return f'<div class="wide"><table class="lines"><thead><tr>{head}</thead><tbody>{"".join(map(row, lines))}</tbody></table></div>'


def summary(lines):
    counts = [(verdict, sum(line["verdict"] == verdict for line in lines)) for verdict in VERDICTS]
    return ", ".join(f"{n} {verdict}" for verdict, n in counts if n)


def render(report):
    """The page of a report from read()."""
    lines, config = report["lines"], report["config"]
    title = f"RDMA NIC {config.get('peer_ip', '')}"
    state = "" if report.get("complete") else '<p class="lead"><span class="bad">The run was stopped: the report is not complete.</span></p>'
    found = [line for line in lines if line["verdict"] in ("fault", "differs")]
    body = [f"<h1>{escape(title)}</h1>", f'<p class="lead">{summary(lines)}.</p>', state]
    if found:
        body += ["<h2>Faults and differences</h2>", group_table(found)]
    for group in dict.fromkeys(line["group"] for line in lines):
        body += [f"<h2>{escape(group.capitalize())}</h2>", group_table([line for line in lines if line["group"] == group])]
    facts = [(f"<code>{escape(key)}</code>", escape(str(value))) for key, value in config.items()]
    counters = [(f"<code>{escape(key)}</code>", number(value)) for key, value in report["counters"].items()]
    body += ["<h2>The run</h2>", '<div class="side">', table((), facts, "facts", "Configuration"), table((), counters, "", "Counters of the prober"), "</div>"]
    return plain(title, STYLE + MARKS, "".join(body))
