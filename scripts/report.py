#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw the report of a quench-lab run: scripts/report.py DIR, where DIR is a folder of quench-lab --out.

Writes report.html (one file, opens without a network) into DIR and, with matplotlib, each plot as .svg and .png.
Exit code 2, with one line, when a file is missing or malformed (doc/interface.md).
"""
import pathlib
import signal
import sys


def interrupted(*_):
    print("\nreport.py: interrupted", file=sys.stderr)
    sys.exit(130)


signal.signal(signal.SIGINT, interrupted)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import command_line  # noqa: E402
try:
    from quench import BadInput
    from report import page
except ImportError as error:
    sys.exit(f"report.py: {error}: install python3-numpy, or run scripts/install-deps report")


def main(args):
    p = command_line.parser(__doc__)
    p.add_argument("folder", type=pathlib.Path, metavar="DIR", help="folder of a run (DIR of quench-lab --out DIR)")
    folder = p.parse_args(args).folder
    try:
        written = page.write(folder)
    except BadInput as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"report.py: {error.filename or folder}: {error.strerror}", file=sys.stderr)
        return 1
    if not written:
        print(f"report.py: without pictures for printing: {command_line.MATPLOTLIB}", file=sys.stderr)
    print(folder / "report.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
