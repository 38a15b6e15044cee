# SPDX-License-Identifier: BSD-3-Clause
"""Plots as files and as parts of a page; files that are written completely or not at all."""
from __future__ import annotations

import io
import pathlib
import re
from collections.abc import Callable, Mapping
from typing import Any


def draw_plot(run: Any, name: str, draw: Callable[[Any], Any]) -> tuple[bytes, bytes]:
    """@return the bytes of the two files of a plot: PNG, SVG."""
    from . import plots  # matplotlib takes half a second: only those who draw pay for it
    plots.plt.rcParams["svg.hashsalt"] = name
    figure = draw(run)
    svg, png = svg_of(figure), io.BytesIO()
    figure.set_layout_engine("none")  # the layout is computed: a third of the time
    figure.savefig(png, format="png", dpi=150)
    plots.plt.close(figure)
    return png.getvalue(), svg


def svg_of(figure: Any) -> bytes:
    from . import plots
    plots.group_ticks(figure)
    svg = io.BytesIO()
    figure.savefig(svg, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return svg.getvalue()


def inside_page(name: str, svg: bytes) -> str:
    """The plot as an element of a page, on the page's ground. The plot's name is a prefix of its ids, so that they are unique in the page."""
    text = svg.decode().replace('style="fill: #ffffff"', 'style="fill: none"')
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text[text.index("<svg"):])


def write_all(folder: pathlib.Path, files: Mapping[str, bytes]) -> None:
    """Write all files or none: if the disk is full, no file is truncated, and an earlier report stays unchanged."""
    parts = {folder / name: folder / f"{name}.part" for name in files}
    try:
        for part, content in zip(parts.values(), files.values()):
            part.write_bytes(content)
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
