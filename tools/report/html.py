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
    return f"{fixed(value / 1e3, 1)} KB"


def size_text(n_bytes: int) -> str:
    """A size in three digits: 999 B, 1.02 KB, 30 MB."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.3g} {unit}"
    return f"{n_bytes} B"


def digits(value: float) -> str:
    """Four digits, and large numbers without an exponent: 1.234, 12 340."""
    return fixed(value, 0) if abs(value) >= 999.95 else f"{value:.4g}"


def seconds(ns: float) -> str:
    return f"{digits(ns / 1e6)} ms"


def even(column: Sequence[object]) -> list[object]:
    """Cells of one quantity: 22.7 below 24.07 is 22.70, as digits() leaves out zeros."""
    parted = {(before, after) for before, dot, after in (str(cell).partition(".") for cell in column) if before.isdigit() and (after.isdigit() or not dot)}
    places = {length: max(len(after) for before, after in parted if len(before) == length) for length in {len(before) for before, _ in parted}}

    def filled(cell: object) -> object:
        before, _, after = str(cell).partition(".")
        return f"{before}.{after:0<{places[len(before)]}}" if (before, after) in parted and places[len(before)] else cell
    return [filled(cell) for cell in column]


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], kind: str = "", title: str = "") -> str:
    """heads are texts, and cells HTML. A table without a kind has a quantity in each column."""
    if not kind and len({len(row) for row in rows}) == 1:
        rows = list(zip(*map(even, zip(*rows))))
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    head = f"<thead><tr>{''.join(f'<th>{escape(h)}' for h in heads)}</thead>" if heads else ""
    body = "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
    tall = " tall" if len(rows) > MOST_ROWS else ""
    return f'<div class="wide{tall}"><table class="{kind}">{caption}{head}<tbody>{body}</tbody></table></div>'


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
