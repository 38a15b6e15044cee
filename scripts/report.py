#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw the report of a quench-lab run: scripts/report.py DIR, with DIR as written by quench-lab --out DIR.

Writes report.html (one file, opens without a network) and each plot as .svg and .png into DIR.
Exit code 2, with one line, when a file is missing or is not what doc/interface.md says.
"""
import pathlib
import re
import sys

try:
    from reporting import data, page, plots
except ImportError as error:
    sys.exit(f"report.py: {error}: install python3-matplotlib, or run scripts/install-deps report")


def write_plot(run, name, draw, folder):
    """Write both files of a plot. @return the SVG, to stand inside the page."""
    plots.matplotlib.rcParams["svg.hashsalt"] = name
    figure = draw(run)
    figure.savefig(folder / f"{name}.png", dpi=150)
    figure.savefig(folder / f"{name}.svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    plots.plt.close(figure)
    svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
    svg = svg[svg.index("<svg"):]
    # ids are unique in a page only with the plot's name before them
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)


def main(args):
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__.splitlines()[0], file=sys.stdout if args in (["-h"], ["--help"]) else sys.stderr)
        return 0 if args in (["-h"], ["--help"]) else 2
    folder = pathlib.Path(args[0])
    try:
        run = data.Run(folder)
    except data.BadInput as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    try:
        svgs = {name: write_plot(run, name, draw, folder) for name, draw in plots.PLOTS.items()}
        (folder / "report.html").write_text(page.render(run, svgs), encoding="utf-8")
    except OSError as error:
        print(f"report.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(folder / "report.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
