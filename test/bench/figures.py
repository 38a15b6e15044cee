#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print the figures of benchmarks as a table, with what figures.txt wants of them: figures.py FOLDER [JSON].

FOLDER holds the output of each benchmark bench_NAME in the file NAME. JSON is a file for a list of the figures.
"""
import fnmatch
import json
import operator
import pathlib
import re
import sys
from typing import NamedTuple

TABLE = pathlib.Path(__file__).with_name("figures.txt")
WANTED = re.compile(r"(ratio|value) (>=|<=) (\d+(?:\.\d+)?)")
COMPARE = {">=": operator.ge, "<=": operator.le}
KEYS = ("name", "value", "unit", "peer", "peer_value", "ratio", "ratio_low", "ratio_high", "wanted", "holds")


class Row(NamedTuple):
    """A line of figures.txt."""
    wanted: str  # None: nothing
    pattern: str
    may_lack: bool


def read_table(text):
    """Rows of each benchmark, by its name. ValueError: a line is wrong."""
    sections, rows = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            rows = sections.setdefault(line[1:-1], [])
            continue
        wanted, separator, name = (part.strip() for part in line.partition("|"))
        if rows is None or not separator or not name or not (wanted == "-" or WANTED.fullmatch(wanted)):
            raise ValueError(f"figures.txt:{number}: expected 'WANTED | NAME', found '{line}'")
        rows.append(Row(None if wanted == "-" else wanted, name.removeprefix("? "), name.startswith("? ")))
    return sections


def assign(figures, rows):
    """The row of each figure: they have one order. ValueError: a figure without a row, or a row without a figure."""
    found = []
    for row in rows:
        # A bracket in a name is a bracket.
        if len(found) < len(figures) and fnmatch.fnmatchcase(figures[len(found)]["name"], row.pattern.replace("[", "[[]")):
            found.append(row)
        elif not row.may_lack:
            raise ValueError(f"expected the figure '{row.pattern}', found {[f['name'] for f in figures[len(found):][:1]]}")
    if len(found) < len(figures):
        raise ValueError(f"not in figures.txt: {[f['name'] for f in figures[len(found):]]}")
    return found


def holds(figure, wanted):
    """None: nothing is wanted, or its reference program did not run."""
    if wanted is None:
        return None
    what, sign, limit = WANTED.fullmatch(wanted).groups()
    return None if figure.get(what) is None else COMPARE[sign](figure[what], float(limit))


def judge(figures, rows):
    return [{**{key: figure.get(key) for key in KEYS}, "wanted": row.wanted, "holds": holds(figure, row.wanted)}
            for figure, row in zip(figures, assign(figures, rows))]


def read_output(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def cell(key, value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if key.startswith("ratio"):
        return f"{value:.3f}"
    if isinstance(value, (int, float)):
        return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e4 else f"{value:,.0f}"
    return value


def print_table(figures):
    headings = [key.replace("peer_value", "its value").replace("peer", "peer or limit").replace("ratio_", "") for key in KEYS]
    lines = [headings] + [[cell(key, figure[key]) for key in KEYS] for figure in figures]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(text.rjust(width) if key in ("value", "peer_value") or key.startswith("ratio") else text.ljust(width)
                        for key, text, width in zip(KEYS, line, widths)).rstrip())


def main(folder, out=None):
    table = read_table(TABLE.read_text(encoding="utf-8"))
    figures = []
    for name, rows in table.items():
        output = pathlib.Path(folder, name)
        if output.exists():
            try:
                figures += judge(read_output(output.read_text(encoding="utf-8")), rows)
            except ValueError as error:
                sys.exit(f"bench_{name}: {error}")
    print_table(figures)
    if out:
        pathlib.Path(out).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
