#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw the report of a quench-lab run: scripts/report.py DIR, with DIR as written by quench-lab --out DIR.

Writes report.html (one file, opens without a network) and each plot as .svg and .png into DIR.
Exit code 2, with one line, when a file is missing or is not what doc/interface.md says.
"""
import io
import pathlib
import re
import signal
import sys


def interrupted(*_):
    print("\nreport.py: interrupted", file=sys.stderr)
    sys.exit(130)


signal.signal(signal.SIGINT, interrupted)

try:
    from reporting import data, fluid, page, plots
except ImportError as error:
    sys.exit(f"report.py: {error}: install python3-matplotlib, or run scripts/install-deps report")


def draw_plot(run, name, draw):
    """@return the bytes of both files of a plot: PNG, SVG."""
    plots.matplotlib.rcParams["svg.hashsalt"] = name
    figure = draw(run)
    png, svg = io.BytesIO(), io.BytesIO()
    figure.savefig(png, format="png", dpi=150)
    figure.savefig(svg, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    plots.plt.close(figure)
    return png.getvalue(), svg.getvalue()


def inside_page(name, svg):
    """The plot as an element: ids are unique in a page only with the plot's name before them."""
    text = svg.decode()
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text[text.index("<svg"):])


def write_all(folder, files):
    """All of them or none: a full disk leaves no cut file, and the report of before as it was."""
    parts = {folder / name: folder / f"{name}.part" for name in files}
    try:
        for part, content in zip(parts.values(), files.values()):
            part.write_bytes(content)
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def main(args):
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__.splitlines()[0], file=sys.stdout if args in (["-h"], ["--help"]) else sys.stderr)
        return 0 if args in (["-h"], ["--help"]) else 2
    folder = pathlib.Path(args[0])
    try:
        run = data.Run(folder)
        run.fluid = fluid.Fluid(folder, run.results)
    except data.BadInput as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    files, svgs = {}, {}
    for name, draw in plots.PLOTS.items():
        files[f"{name}.png"], files[f"{name}.svg"] = draw_plot(run, name, draw)
        svgs[name] = inside_page(name, files[f"{name}.svg"])
    files["report.html"] = page.render(run, svgs).encode()
    try:
        write_all(folder, files)
    except OSError as error:
        print(f"report.py: {error.filename or folder}: {error.strerror}", file=sys.stderr)
        return 1
    print(folder / "report.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
