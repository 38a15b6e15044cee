#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""DESCRIPTION"""
import csv
import os
import pathlib
import sys
import textwrap

import matplotlib
import matplotlib.ticker

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

SETTINGS = {}
ROUND = {"nbins": 5, "steps": (1, 2, 5, 10)}  # of the labels of an axis
DASHES = ("-", "--", ":", "-.")


def read(path):
    """{series: {column: [number or None]}}; x of a figure with categories is text."""
    found = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            columns = found.setdefault(row.pop("series"), {})
            for name, value in row.items():
                columns.setdefault(name, []).append(value if name == "x" and SETTINGS["categories"] else float(value) if value else None)
    return found


def rings(series):
    """Of marks over values, how many others each series has above it whose places are all among its own: the shorter one is above, else the later one."""
    places = {name: set(zip(columns["x"], columns["y"])) for name, columns in series.items()}
    order = sorted(series, key=lambda name: len(places[name]), reverse=True)
    return {name: sum(places[above] <= places[name] for above in order[i + 1:]) for i, name in enumerate(order)}


def draw_series(axes, columns, label, colour, dash, ring):
    x, y, low, high = (columns[name] for name in ("x", "y", "low", "high"))
    style = {"color": colour, "ls": dash, "label": label}
    kind = SETTINGS["kind"]
    if kind in ("points", "marks"):
        at = [SETTINGS["categories"].index(value) for value in x] if SETTINGS["categories"] else x
        # The file has rounded numbers: a bar may end a digit before its point.
        bars = None if low[0] is None else [[max(0, b - a) for a, b in zip(low, y)], [max(0, b - a) for a, b in zip(y, high)]]
        if kind == "marks":
            style["ls"] = "none"
        # Of equal curves, the shorter one is above, and those below are rings around its marks; marks at 0 are whole.
        axes.errorbar(at, y, yerr=bars, marker="o", ms=2.5 + 2.5 * ring, mfc="none" if ring else colour, mew=0.8, capsize=1.5, elinewidth=0.6, zorder=2 + 1 / len(x), clip_on=False, **style)
    elif kind == "steps":
        axes.step(x, y, where="pre", **style)
    elif kind == "share":
        axes.step(x, y, where="post", **style)
    else:
        axes.plot(x, y, **style)
    if kind not in ("points", "marks") and low[0] is not None:
        axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0, step="pre" if kind == "steps" else None)


def grouped(x, _):
    """12 340. Not each font has a narrow space."""
    return f"{x:,.10g}".replace(",", "\u00a0")


def wrapped(label):
    """In lines of at most the height of the figure, each about as long as the others."""
    most = int(SETTINGS["height_mm"] / 25.4 * 72 / (0.56 * SETTINGS["font_size"]))
    lines = len(textwrap.wrap(label, most))
    return next(text for text in (textwrap.fill(label, width) for width in range(1, most + 1)) if text.count("\n") < lines)


def label_decades(axis, low, high):
    """Labels of a logarithmic axis: powers of ten, and 2 and 5 times these on a short one."""
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,)))
    axis.set_major_formatter(grouped)
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def draw_lines(axes):
    """Thresholds, with their labels to the right; those far above the data are left out."""
    top = axes.dataLim.y1
    shown = [line for line in SETTINGS["lines"] if line["at"] <= 2.5 * top]
    for line in shown:
        axes.axhline(line["at"], color="0.45", ls=(0, (4, 2)), lw=0.6, zorder=1)
        # Beside the axes: within them it would cover a curve.
        axes.annotate(line["label"], (1, line["at"]), (2, 0), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                      ha="left", va="center", color="0.35", fontsize=SETTINGS["font_size"] - 1, annotation_clip=False)
    if SETTINGS["log_y"]:
        axes.set_yscale("log")
        label_decades(axes.yaxis, *axes.get_ylim())
    else:
        axes.set_ylim(0, 1.08 * max([top, *(line["at"] for line in shown)]) or 1)
        axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(**ROUND) if top > 0 else matplotlib.ticker.FixedLocator([0]))


def key_of(names):
    """The key with which all names begin, as in flow others.src = 2 and flow others.src = 4: it stands above them once."""
    common = os.path.commonprefix(names)
    key = common[:common.rfind(" = ") + 3] if " = " in common else ""
    return "" if any(" = " in name[len(key):] for name in names) else key


def draw_legend(figure, axes, n):
    """Above the axes, in as many columns as fit, of one height as far as possible."""
    figure.draw_without_rendering()  # places the axes
    handles, names = axes.get_legend_handles_labels()
    key = key_of(names)
    room = figure.bbox.x1 - axes.bbox.x0
    for columns in sorted({-(-n // rows) for rows in range(1, n + 1)}, reverse=True):
        legend = axes.legend(handles, [name[len(key):] for name in names], title=key.strip() or None, alignment="left", loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False, borderaxespad=0.2, handlelength=1.6,
                             columnspacing=1.2, fontsize=SETTINGS["font_size"] - 0.5, title_fontsize=SETTINGS["font_size"] - 0.5)
        if legend.get_window_extent().width <= room:
            return


def draw(series):
    size = SETTINGS["font_size"]
    plt.rcParams.update({
        "font.family": SETTINGS["font"], "font.size": size, "axes.linewidth": 0.6, "lines.linewidth": 0.9, "axes.grid": True,
        "axes.axisbelow": True, "grid.color": "0.9", "grid.linewidth": 0.4, "axes.spines.top": False, "axes.spines.right": False,
        "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
        "pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "quench",  # text as text; equal data, equal bytes
    })
    figure, axes = plt.subplots(figsize=(SETTINGS["width_mm"] / 25.4, SETTINGS["height_mm"] / 25.4), layout="constrained")
    colours = SETTINGS["colours"]
    above = rings(series) if SETTINGS["kind"] in ("points", "marks") else {}
    for (name, columns), (colour, dash) in zip(series.items(), SETTINGS["styles"]):
        draw_series(axes, columns, name, colours[colour % len(colours)], DASHES[(dash + colour // len(colours)) % len(DASHES)], above.get(name, 0))
    draw_lines(axes)
    if SETTINGS["kind"] == "share" and not SETTINGS["log_y"]:
        axes.set_ylim(0, 1.01)  # the line at 1 is whole
        axes.set_yticks((0, 0.2, 0.4, 0.6, 0.8, 1))
    if SETTINGS["log_x"]:
        axes.set_xscale("log")
        label_decades(axes.xaxis, *axes.get_xlim())
    if SETTINGS["categories"]:
        labels = SETTINGS["categories"]
        room = (SETTINGS["width_mm"] - 15) / 25.4 * 72 / len(labels)
        steep = max(map(len, labels)) * 0.6 * size > room
        axes.set_xticks(range(len(labels)), labels, **({"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if steep else {}))
        axes.set_xlim(-0.3, len(labels) - 0.7)
    elif SETTINGS["x_range"]:
        axes.set_xlim(*SETTINGS["x_range"])
        whole = SETTINGS["kind"] in ("points", "marks") and all(float(x).is_integer() for columns in series.values() for x in columns["x"])
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=whole, **ROUND))
    axes.set_xlabel(SETTINGS["x_label"])
    axes.set_ylabel(wrapped(SETTINGS["y_label"]))
    for axis, (_, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if high >= 1000 and axis.get_scale() == "linear" and not (axis is axes.xaxis and SETTINGS["categories"]):
            axis.set_major_formatter(grouped)
    if len(series) > 1:
        draw_legend(figure, axes, len(series))
    return figure


def save(figure, file, kind):
    figure.savefig(file, format=kind, dpi=300, metadata={"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind))
    plt.close(figure)


def main():
    here = pathlib.Path(__file__).resolve()
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.with_name(SETTINGS["file"])
    save(draw(read(here.with_name(SETTINGS["data"]))), out, out.suffix[1:])


if __name__ == "__main__":
    main()
