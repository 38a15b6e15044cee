# SPDX-License-Identifier: BSD-3-Clause
"""The --help of a program, taken apart. Manual pages and completions are made of it, so that there is one list of options."""
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile

HEADS = {"options:": "options", "positional arguments:": "arguments", "Commands:": "commands"}


@dataclasses.dataclass
class Entry:
    spec: str  # "-c, --config FILE", "show qp QPN"
    text: str = ""

    def flags(self):
        """Yield (flag, argument, whether the argument may be missing): ("--config", "FILE", False), ("--help", "", False)."""
        parts = [re.match(r"(-[^\s=[]+)(\[?)[= ]?([^\]]*)", part).groups() for part in re.split(r", (?=-)", self.spec)]
        for flag, bracket, argument in parts:
            of_long = len(flag) == 2  # a short option has the argument of the long one beside it
            yield flag, argument or (parts[-1][2] if of_long else ""), bool(bracket or (of_long and parts[-1][1]))


@dataclasses.dataclass
class Help:
    usage: list = dataclasses.field(default_factory=list)  # each way to call the program, without its name
    purpose: list = dataclasses.field(default_factory=list)  # paragraphs before the options
    options: list = dataclasses.field(default_factory=list)  # of Entry, as the next two
    arguments: list = dataclasses.field(default_factory=list)
    commands: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)  # paragraphs after the options
    exits: str = ""  # "0: done; 1: ..."

    def flags(self):
        """All (flag, argument, may be missing, text)."""
        return [(*flag, entry.text) for entry in self.options for flag in entry.flags()]


def output(program, option):
    """What a program prints; argparse shall not break lines."""
    return subprocess.run([program, option], env={**os.environ, "COLUMNS": "10000"}, capture_output=True, text=True, check=True).stdout


def read(program, name):
    """@return Help of the program at this path, which is installed under this name."""
    with tempfile.TemporaryDirectory() as folder:
        # A script says the name that it was called by, and that of another one in the source tree.
        installed = pathlib.Path(folder) / name
        installed.symlink_to(program)
        text = re.sub(r"\bscripts/([a-z]+(?:-[a-z]+)*)(\.py)?", r"quench-\1", output(installed, "--help"))
    help_, lines = Help(), text.splitlines()
    part, entry, paragraph = "", None, []

    def end_paragraph():
        words = " ".join(paragraph)
        paragraph.clear()
        if match := re.search(r"Exit code (\d.*?)(?:\. (\S.*))?$", words):
            help_.exits, words = match[1].rstrip(".") + ".", f"{words[:match.start()]}{match[2] or ''}".strip()
        if words:
            (help_.notes if part else help_.purpose).append(words)

    while lines and lines[0].removeprefix("usage:").split()[:1] == [name]:
        help_.usage.append(lines.pop(0).removeprefix("usage:").strip().removeprefix(name).strip())
    for line in lines:
        if line.strip() in HEADS:
            end_paragraph()
            part = HEADS[line.strip()]
        elif re.match(r" +-\S" if part in ("", "options") else r"  \S", line):
            end_paragraph()
            part = part or "options"
            spec, _, words = line.strip().partition("  ")
            entry = Entry(spec, words.strip())
            getattr(help_, part).append(entry)
        elif entry and re.match(r" {9,}\S", line):
            entry.text = f"{entry.text} {line.strip()}".strip()
        elif line.strip():
            paragraph.append(line.strip())
        else:
            end_paragraph()
            entry = None
    end_paragraph()
    return help_
