# SPDX-License-Identifier: BSD-3-Clause
"""What a conversion reports: settings that were lost, changed or assumed, and words that concern neither forwarding nor buffering."""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import NoReturn

MOST_ASIDES = 64  # words in the report
# Of each list in the head of a file, because the INI reader refuses files above 1 MiB.
MOST_COMMENT_BYTES = 256 << 10
CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Refused(Exception):
    """The input is refused: the text is one line, which begins with the file."""


def printable(text: str) -> str:
    """Without line ends and control characters of the input, so that a terminal does not execute them."""
    return CONTROL.sub("?", text)


@dataclasses.dataclass
class Log:
    """Entries begin with their place: "12: text: why", or " text: why" if they have no line of their own."""

    file: str
    ports: str | None = None  # --ports; None: the first ports of the file
    lost: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    asides: dict[str, int] = dataclasses.field(default_factory=dict)  # a word: how often
    line_of: Callable[[str], int | None] = lambda _: None  # the line of an entry whose text names its place in another way

    def lose(self, text: str) -> None:
        """A setting that concerns forwarding or buffering is not carried over."""
        self.lost.append(self._placed(text))

    def note(self, text: str) -> None:
        """A setting was changed or assumed."""
        self.notes.append(self._placed(text))

    def aside(self, word: str) -> None:
        """A line or field has no effect on forwarding or buffering."""
        word = printable(word)
        self.asides[word] = self.asides.get(word, 0) + 1

    def refuse(self, text: str) -> NoReturn:
        raise Refused(printable(self.file[:256] + ":") + self._placed(text))

    def _placed(self, text: str) -> str:
        line = self.line_of(text)
        return printable(text if line is None else f"{line}:{text}")

    def aside_text(self) -> str:
        words = [word[:80] + (f" ({n})" if n > 1 else "") for word, n in self.asides.items()]
        more = len(words) - MOST_ASIDES
        return ", ".join(words[:MOST_ASIDES]) + (f" and {more} more" if more > 0 else "")

    def head(self, program: str) -> list[str]:
        """The first lines of a converted file: its origin, and all that the log has, as comments."""
        lines = ["# SPDX-License-Identifier: BSD-3-Clause", f"# A {program} made by quenchctl import of {printable(self.file.rpartition('/')[2])}.",
                 f"# Keys that are missing here have the defaults of {program} --help-config."]
        for title, entries in (("Not carried over", self.lost), ("Changed or assumed", self.notes)):
            if entries:
                lines += ["#", f"# {title}:", *_comments(entries)]
        if self.asides:
            lines += ["#", "# Not about forwarding or buffering, and not carried over:", f"#   {self.aside_text()}"]
        return lines


def _comments(entries: list[str]) -> list[str]:
    lines: list[str] = []
    size = 0
    for i, entry in enumerate(entries):
        size += len(entry.encode()) + 5
        if size > MOST_COMMENT_BYTES:
            return [*lines, f"#   and {len(entries) - i} more, which quenchctl prints on standard error"]
        lines.append(f"#   {entry.removeprefix(' ')}")
    return lines
