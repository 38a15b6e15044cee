# SPDX-License-Identifier: BSD-3-Clause
"""class-maps and policy-maps of type qos: the group of a frame."""
from __future__ import annotations

import dataclasses
import re

from ..log import Log
from ..switch import CLASSES, DSCPS, Qos
from .lines import Line, number, refuse

# RFC 2474, 2597 and 3246.
DSCP_NAMES = {"default": 0, "ef": 46, **{f"cs{n}": 8 * n for n in range(1, 8)}, **{f"af{n}{m}": 8 * n + 2 * m for n in range(1, 5) for m in range(1, 4)}}
CLASS_MAP = re.compile(r"class-map (?:type qos )?(?:(match-any|match-all) )?(\S+)", re.I)


@dataclasses.dataclass
class Matches:
    """Values that a class-map matches; None: it names none."""

    dscp: set[int] | None = None
    cos: set[int] | None = None
    has_other: bool = False
    cos_line: Line | None = None


def value_set(log: Log, line: Line, text: str, most: int) -> set[int]:
    """24,26-30 ef as a set."""
    def value(word: str) -> int:
        return DSCP_NAMES[word.lower()] if most == DSCPS - 1 and word.lower() in DSCP_NAMES else number(log, line, word, 0, most)

    found: set[int] = set()
    for word in re.split(r"[, ]+", text.strip(", ")):
        if not word:
            continue
        first, dash, last = word.partition("-")
        low, high = value(first), value(last if dash else first)
        if low > high:
            refuse(log, line, "the lower number first")
        found.update(range(low, high + 1))
    if not found:
        refuse(log, line, "numbers")
    return found


def join(own: set[int] | None, more: set[int], is_all: bool) -> set[int]:
    return more if own is None else own & more if is_all else own | more


class Policies:
    """The class-maps of a file by name, and what policies make of them."""

    def __init__(self, top: Line, log: Log) -> None:
        self.log = log
        self.maps: dict[str, tuple[Line, bool]] = {}  # is it match-all?
        for line in top.lines:
            found = CLASS_MAP.fullmatch(line.text)
            if found:  # match-all is also the default of NX-OS
                self.maps.setdefault(found[2], (line, (found[1] or "match-all").lower() == "match-all"))

    def _read_match(self, line: Line, is_all: bool, matches: Matches) -> None:
        if found := line.match("match dscp ...") or line.match("match ip dscp ..."):
            matches.dscp = join(matches.dscp, value_set(self.log, line, found[0], DSCPS - 1), is_all)
        elif found := line.match("match precedence ...") or line.match("match ip precedence ..."):
            # The upper three bits of a DSCP (RFC 2474 4.2.2).
            precedences = value_set(self.log, line, found[0], 7)
            matches.dscp = join(matches.dscp, {8 * p + low for p in precedences for low in range(8)}, is_all)
        elif found := line.match("match cos ..."):
            matches.cos = join(matches.cos, value_set(self.log, line, found[0], CLASSES - 1), is_all)
            matches.cos_line = line
        elif line.begins("description"):
            line.lose("a class has no description in quench-switch")
            return
        else:
            matches.has_other = True
            line.lose("only DSCP or CoS can select a class")
            return
        line.use()

    def _read_class_map(self, line: Line, name: str) -> Matches | None:
        """What a class matches; None: it cannot be carried over."""
        if name not in self.maps:
            refuse(self.log, line, "a class-map of type qos with this name")
        own, is_all = self.maps[name]
        matches = Matches()
        for match in own.lines:
            self._read_match(match, is_all, matches)
        if is_all and (matches.has_other or (matches.dscp is not None and matches.cos is not None)):
            for match in [*own.lines, own]:
                match.lose("match-all of different kinds has no counterpart")
            return None
        own.use()
        return matches

    def _read_actions(self, block: Line) -> int:
        group = 0
        for line in block.unused():
            if found := line.match("set qos-group %"):
                group = number(self.log, line, found[0], 0, CLASSES - 1)
                line.use()
            else:
                line.why = "only set qos-group has a counterpart"
        return group

    def read(self, policy: Line | None, qos: Qos) -> None:
        """Set the classes of a port. A frame belongs to the first class of the policy that matches it. None: class 0."""
        dscp: dict[int, int] = {}
        cos: dict[int, int] = {}
        has_dscp, cos_line, default_group = False, None, 0
        for line in [] if policy is None else list(policy.unused()):
            found = line.match("class type qos %") or line.match("class %")
            if not found:
                continue
            if found[0].lower() == "class-default":
                group = default_group = self._read_actions(line)
                matches: Matches | None = Matches(set(range(DSCPS)), set(range(CLASSES)))
            else:
                matches = self._read_class_map(line, found[0])
                if matches is None:
                    line.lose_block("the class-map of this class is not carried over")
                    continue
                group = self._read_actions(line)
                has_dscp |= matches.dscp is not None
                cos_line = matches.cos_line or cos_line
            line.use()
            assert matches is not None
            for value in matches.dscp or ():
                dscp.setdefault(value, group)
            for value in matches.cos or ():
                cos.setdefault(value, group)
        qos.dscp = [dscp.get(value, 0) for value in range(DSCPS)]
        qos.dot1p = [cos.get(value, 0) for value in range(CLASSES)]
        qos.trust = "pcp" if cos_line is not None and not has_dscp else "dscp"
        if cos_line is not None and has_dscp:
            cos_line.lose("in part: where DSCP is trusted, CoS counts for tagged frames without IP")
        if policy is not None and qos.trust == "pcp" and default_group != 0:
            self.log.note(f"{policy.number}: class-default is group {default_group}; with trust = pcp an untagged frame is class 0")
