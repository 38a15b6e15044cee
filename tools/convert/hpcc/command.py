# SPDX-License-Identifier: BSD-3-Clause
"""The command line: import-hpcc CONFIG.txt DIR."""
from __future__ import annotations

import argparse
import pathlib
import re
import sys
import tempfile

from .. import program
from ..command import BAD_USAGE, DONE, FAILED, PARTLY, say
from ..log import Refused, printable
from .convert import Scenario, convert
from .hosts import CC

NAME, LAB = "import-hpcc", "quench-lab"


def check(scenario: Scenario) -> None:
    """@raise Refused: quench-lab would not take it"""
    with tempfile.TemporaryDirectory(prefix="quench-convert-") as work:
        for name, text in scenario.files.items():
            (pathlib.Path(work) / name).write_text(text, encoding="utf-8")
        done = program.run(LAB, "--check-config", f"{work}/scenario.ini")
    if done.returncode != 0:
        why = [line for line in done.stderr.splitlines() if "error" in line] or ["no reason"]
        scenario.logs[0].refuse(f" makes a scenario that {LAB} refuses: " + re.sub(rf"^{LAB}: error: (?:{re.escape(work)}/)?", "", why[-1]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", type=pathlib.Path, metavar="CONFIG.txt", help="configuration of the simulator")
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR", help="folder for scenario.ini and flows.trace")
    parser.add_argument("--topology", type=pathlib.Path, metavar="FILE", help="topology file, instead of TOPOLOGY_FILE")
    parser.add_argument("--flows", type=pathlib.Path, metavar="FILE", help="flow file, instead of FLOW_FILE")
    parser.add_argument("--replace-cc", choices=sorted(CC.values()), metavar="CC",
                        help="algorithm to take where quench-lab has not that of CC_MODE: " + ", ".join(sorted(CC.values())))


def main(args: argparse.Namespace) -> int:
    """@return the exit code"""
    try:
        scenario = convert(args.config, args.topology, args.flows, args.replace_cc)
        check(scenario)
    except Refused as error:
        print(f"{NAME}: error: {printable(str(error))}", file=sys.stderr)
        return BAD_USAGE
    try:
        args.folder.mkdir(parents=True, exist_ok=True)
        for name, text in scenario.files.items():
            (args.folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"{NAME}: error: {error.filename}: cannot be written: {error.strerror}", file=sys.stderr)
        return FAILED
    codes = [say(log, NAME) for log in scenario.logs]
    return PARTLY if PARTLY in codes else DONE
