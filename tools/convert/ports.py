# SPDX-License-Identifier: BSD-3-Clause
"""The ports of a file that become ports of the switch: --ports."""
from __future__ import annotations

import dataclasses
import re
from typing import NoReturn

from .log import Log
from .switch import MOST_PORTS
from .values import whole

MOST_NAME = 31  # characters of a port's name


@dataclasses.dataclass
class Range:
    """A port, or ports whose names differ in their last number."""

    prefix: str
    first: int
    last: int
    found: bool = False


def split_name(name: str) -> tuple[str, int | None]:
    """A name before its last number, and that number."""
    prefix = name.rstrip("0123456789")
    digits = name[len(prefix):]
    return prefix, int(digits) if digits else None


class Ports:
    """Parses "Ethernet1/1,1/3", "Ethernet0-28" or a number of ports; None: the first 64. @raise Refused"""

    def __init__(self, log: Log) -> None:
        self.log, self.text = log, log.ports
        self.too_many = False
        self.ranges: list[Range] = []
        self.first_left = ""
        self.n_left = 0
        count = MOST_PORTS if self.text is None else whole(self.text, 1, MOST_PORTS)
        self.count = count or 0  # of the first ports; 0: those of the ranges
        if self.text is not None and count is None:
            self._parse(self.text)

    def _parse(self, text: str) -> None:
        """An item without letters continues the one before: after "Ethernet1/1", "1/3" is Ethernet1/3 and "4" is Ethernet1/4."""
        before = ""
        for item in text.split(","):
            found = re.fullmatch(r"(.*?)(\d{1,9})(?:-(\d{1,9}))?", item)
            if found is None or len(self.ranges) == MOST_PORTS or "-" in found[1]:
                self._refuse()
            prefix, first, last = found[1], int(found[2]), int(found[3] or found[2])
            if prefix == "":
                prefix = before
            elif item[0].isdigit():
                prefix = re.split(r"\d", before, maxsplit=1)[0] + prefix
            if not prefix or len(prefix) > MOST_NAME or last < first:
                self._refuse()
            self.ranges.append(Range(prefix, first, last))
            before = prefix

    def _refuse(self) -> NoReturn:
        self.log.refuse(f" --ports {self.text or '':.60}: expected up to 64 ports of the file, such as Ethernet1/1,1/3 or Ethernet0-28, "
                        "or the number of its first ports")

    def want(self, name: str, n_before: int) -> bool:
        """Is this port one of them? n_before: ports that were taken before it."""
        if self.count > 0:
            wanted = n_before < self.count
        else:
            prefix, number = split_name(name)
            own = next((r for r in self.ranges if number is not None and r.prefix.lower() == prefix.lower() and r.first <= number <= r.last), None)
            if own is not None:
                own.found = True
                self.too_many |= n_before == MOST_PORTS
            wanted = own is not None and n_before < MOST_PORTS
        if not wanted:
            self.leave(name)
        return wanted

    def leave(self, name: str, n: int = 1) -> None:
        """n ports, of which this is the first, are left out."""
        self.first_left = self.first_left or name
        self.n_left += n

    def check(self) -> None:
        """After all ports: refuse a list that names a port that is not in the file, or too many; report those that are left out."""
        if self.too_many:
            self.log.refuse(f" --ports: expected at most {MOST_PORTS} ports of the file")
        for r in self.ranges:
            if not r.found:
                self.log.refuse(f" --ports {r.prefix}{r.first}: expected a port of the file")
        if self.n_left > 0 and self.text is not None:
            self.log.note(f" --ports leaves out {self.first_left}{' and others' if self.n_left > 1 else ''}")
        elif self.n_left > 0:
            self.log.lose(f" {self.first_left}, the first of {self.n_left} more ports: a switch has at most {MOST_PORTS}; --ports chooses them, "
                          f"such as --ports {self.first_left}")
