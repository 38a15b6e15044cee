# SPDX-License-Identifier: BSD-3-Clause
"""Parts of pages: one file with style, script and charts; formats of numbers; tables."""
from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
UPLOT = HERE.parents[1] / "third_party" / "uplot"
MOST_ROWS = 30  # of a table that is not scrolled
MOST_CHANGES = 2  # in a title; Settings has all
STYLE = (HERE / "page.css").read_text(encoding="utf-8")


def fixed(value: float, places: int) -> str:
    """A narrow space before each three digits: 12 340.5. The one way in which large numbers are grouped, as grouped() of page.js."""
    return f"{value:,.{places}f}".replace(",", "\u202f")


def number(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "-" if value is None else "yes" if value else "no"
    if isinstance(value, int):
        return fixed(value, 0)
    return escape(str(value))


# In texts of programs, which may be of ASCII alone.
WRITTEN = re.compile(r"(?<![\w.,/:-])(?:(\d+)-)?(-?\d+)(\.\d+)? (%|[numkKMGT]?(?:s|B|b/s)|bytes|packets|frames|messages|flows|queues)(?![\w/])")


def in_units(text: str) -> str:
    """A text that a program has written: 28936 us is 28 936 µs, and stays on one line. Numbers without a unit, such as ports, are as they were."""
    def shown(found: re.Match[str]) -> str:
        first = f"{fixed(int(found[1]), 0)}-" if found[1] else ""
        return f"{first}{fixed(int(found[2]), 0)}{found[3] or ''}\u00a0{'µs' if found[4] == 'us' else found[4]}"
    return WRITTEN.sub(shown, text)


OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def said(text: str) -> str:
    """The same as HTML, in which no line breaks within an option such as --full."""
    return OPTION.sub(r'<span class="keyed">\g<0></span>', in_units(escape(text)))


def changed(results: dict[str, Any]) -> str:
    """Name of the scenario, and how the run differs from its file."""
    changes, switch = results.get("changes", []), results.get("switch_file")
    return ", ".join([results["scenario"], *([f"switch {switch}"] if switch else []), *(changes if len(changes) <= MOST_CHANGES else [f"{len(changes)} keys changed"])])


def breakable(name: str) -> str:
    """A name of words such as pause_frames, which a narrow page breaks after its words alone."""
    return re.sub(r"([_/])", r"\1<wbr>", escape(name))


class RateUnit(NamedTuple):
    """Of all rates of a page."""

    name: str
    bps: float

    def __call__(self, value: float) -> str:
        return fixed(value / self.bps, 3)

    def short(self, value: float) -> str:
        return f"{value / self.bps:g} {self.name}"


RATE_UNITS = (RateUnit("Gb/s", 1e9), RateUnit("Mb/s", 1e6), RateUnit("kb/s", 1e3))


def rate_unit(most_bps: float) -> RateUnit:
    """The unit in which the largest rate, mostly the speed of a link, is 1 or more."""
    return next((unit for unit in RATE_UNITS if most_bps >= unit.bps), RATE_UNITS[0 if not most_bps else -1])


def kbytes(value: float) -> str:
    return f"{fixed(value / 1e3, 1)}\u00a0KB"


def size_text(n_bytes: int) -> str:
    """A size in three digits: 999 B, 1.02 KB, 30 MB."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.3g} {unit}"
    return f"{n_bytes} B"


DIGITS = 4


def digits(value: float) -> str:
    """Four digits, and large numbers without an exponent: 1.234, 12 340."""
    return fixed(value, 0) if abs(value) >= 999.95 else f"{value:.{DIGITS}g}"


def padded(value: float) -> str:
    """As digits(), with the zeros that it leaves out: 2.440 beside 2.289."""
    return f"{value:#.{DIGITS}g}" if 0 < abs(value) < 999.95 else digits(value)


def seconds(ns: float) -> str:
    return f"{digits(ns / 1e6)} ms"


def even(column: Sequence[object]) -> list[object]:
    """Cells of one quantity: 22.7 below 24.07 is 22.70, 10 below 9.599 is 10.00, and 0.136 below 10.35 is 0.1360, as digits() leaves out zeros."""
    parted = {(before, after) for before, dot, after in (str(cell).partition(".") for cell in column) if before.isdigit() and (after.isdigit() or not dot)}
    most = max((len(before.lstrip("0") + after) for before, after in parted if after), default=0)  # digits of a number with a fraction
    fixed_places = len({len(after) for _, after in parted if after}) < 2  # of numbers that digits() has not made
    places = {length: max(len(after) for before, after in parted if len(before) == length) for length in {len(before) for before, _ in parted}}

    def filled(cell: object) -> object:
        before, _, after = str(cell).partition(".")
        if (before, after) not in parted or before == "0" and not after:
            return cell
        wanted = max(places[len(before)], 0 if after else min(most, DIGITS) - len(before))
        if before == "0" and not fixed_places and after.strip("0"):
            wanted = max(wanted, len(after) - len(after.lstrip("0")) + min(most, DIGITS))
        return f"{before}.{after:0<{wanted}}" if wanted else cell
    return [filled(cell) for cell in column]


# What the text of a cell with a figure begins with; a cell that is empty or - tells nothing of its column.
FIGURE = re.compile(r"[+-]?\d[\d,\u202f]*(\.\d+)?(\s|$)|-?$")
SHORT, LONG = 16, 40  # characters of a name that is not broken, and of a text that is


def text_of(cell: object) -> str:
    return re.sub("<[^>]*>", "", str(cell)).strip()


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], kind: str = "", title: str = "") -> str:
    """heads are texts, and cells HTML. Columns of figures are right-aligned.

    @param kind  empty: a quantity in each column; named: as well, with long names; others: of page.css
    """
    if kind in ("", "named") and len({len(row) for row in rows}) == 1:
        rows = list(zip(*map(even, zip(*rows))))
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    words = {i for i, column in enumerate(zip(*rows)) if not all(FIGURE.match(text_of(cell)) for cell in column)}
    long = {i for i, column in enumerate(zip(*rows)) if i in words and i > 0 and max(len(text_of(cell)) for cell in column) >= LONG}

    def cell(tag: str, i: int, content: object) -> str:
        name = i == 0 and kind == "named"
        short = i == 0 and not name and len(text_of(content)) <= SHORT
        classes = " ".join(word for word, has in (("word", i in words), ("long", i in long), ("name", name), ("short", short)) if has)
        return f'<{tag} class="{classes}">{content}' if classes else f"<{tag}>{content}"
    head = f"<thead><tr>{''.join(cell('th', i, escape(h)) for i, h in enumerate(heads))}</thead>" if heads else ""
    body = "".join("<tr>" + "".join(cell("td", i, content) for i, content in enumerate(row)) for row in rows)
    tall = " tall" if len(rows) > MOST_ROWS else ""
    style = f' style="--columns: {len(heads) - 1}"' if kind == "named" else ""
    return f'<div class="wide{tall}"><table class="{kind}"{style}>{caption}{head}<tbody>{body}</tbody></table></div>'


def inside(text: str) -> str:
    """Escape text inside a script element, which "</" would end."""
    return text.replace("</", "<\\/")


def plain(title: str, style: str, body: str) -> str:
    """A complete page without charts; style is all of its CSS."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script>{inside((HERE / "cut.js").read_text(encoding="utf-8"))}</script>
</body>
</html>
"""


def document(title: str, body: str, data: Any) -> str:
    """A complete page, on which page.js draws data."""
    library = (UPLOT / "uPlot.iife.min.js").read_text(encoding="utf-8")
    script = (HERE / "page.js").read_text(encoding="utf-8")
    style = (UPLOT / "uPlot.min.css").read_text(encoding="utf-8") + STYLE
    return plain(title, style, f"""{body}
<script type="application/json" id="data">{inside(json.dumps(data, separators=(",", ":")))}</script>
<script>{inside(library)}</script>
<script>{inside(script)}</script>""")
