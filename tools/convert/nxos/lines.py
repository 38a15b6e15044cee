# SPDX-License-Identifier: BSD-3-Clause
"""The lines of a running-config or a script of NX-OS, each with its number and its block.

The grammar decides to which block a line belongs: in a script without indentation, the innermost open block whose commands include
it. Where a block's lines are indented, as in show running-config, a line that is not indented ends it. A reopened block continues;
"no X" cancels earlier lines of its block that begin with X.

Invariant: after report.report(), every line was used, or is in the log's lost list with a reason, or is among its asides.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from ..log import Log
from ..values import whole

MOST_LINES = 65536  # more than any switch has
# Lines that identify a file of NX-OS.
OPENINGS = ("class-map ", "policy-map ", "system qos", "interface ", "priority-flow-control ")

# Blocks whose commands are known: the first words of their lines.
OF_INTERFACE = frozenset("""bandwidth beacon bfd carrier-delay cdp channel-group dce-mode delay description duplex encapsulation fabric fec flowcontrol
    hardware hsrp inherit ip ipv6 isis lacp link lldp load-interval logging mac mac-address macsec management max-ports medium mtu negotiate ospfv3
    power priority-flow-control qos rate-limit service-policy shutdown snmp spanning-tree speed state storm-control switchport ttag udld unicast vpc
    vrf""".split())
BLOCKS: dict[str, frozenset[str]] = {
    "class-map": frozenset(("match", "description")),
    "policy-map": frozenset(("class", "description")),
    "class": frozenset("""afd bandwidth congestion-control description fair-queue mtu multicast-optimize pause police priority queue-limit
        random-detect set shape""".split()),
    "system qos": frozenset(("service-policy",)),
    "interface": OF_INTERFACE,
    "port-profile": OF_INTERFACE,
    "vlan": frozenset(("media", "mode", "name", "state", "vn-segment")),
}
# Blocks of other commands, which end where a command of the top level begins.
OTHER = re.compile(r"(?:vrf context|line|router|monitor session|vpc domain|ip access-list|ipv6 access-list|mac access-list|route-map|role|control-plane"
                   r"|aaa group|flow (?:exporter|record|monitor)|telemetry|vlan configuration|track|evpn|spanning-tree mst configuration|key chain"
                   r"|event manager|object-group|ip sla)(?: |$)", re.I)
NESTED = re.compile(r"(?:hsrp|vrrp|vrrpv3|address-family|neighbor|template|(?:destination|sensor)-(?:group|profile)|subscription|member) ", re.I)
# Commands of the top level, which end every block.
TOP_WORDS = frozenset("""aaa banner boot callhome cfs class-map cli clock configure copp copy crypto default errdisable event feature feature-set
    hostname icam install interface key license line ngoam ntp nv nxapi password poap policy-map port-profile radius radius-server rmon
    role route-map router scheduler sflow snmp-server ssh switchname system tacacs tacacs-server telemetry telnet tftp-server username vdc
    version""".split())
# The same of words with which commands of an interface begin too.
TOP_COMMANDS = re.compile(r"(?:ip|ipv6) (?:access-list|as-path|community-list|dns|domain|domain-\w+|ftp|host|http|load-sharing|name-server|prefix-list"
                          r"|radius|route|sla|source-route|ssh|tacacs|tcp|tftp)(?: |$)|ip (?:arp timeout|dhcp relay$|igmp snooping|pim (?:rp-|ssm))|mac address-table"
                          r"|vlan [\d,-]+$|lldp (?:chassis-id|holdtime|reinit|timer|tlv-select)|hardware (?:access-list|profile)"
                          r"|spanning-tree (?:domain|extend|loopguard|mode|mst|pathcost|port type \w+ default|vlan)"
                          r"|priority-flow-control (?:auto-restore|fixed-restore|watch-dog (?:interval |shutdown-multiplier))|vrf context"
                          r"|logging (?:console|level|logfile|module|monitor|origin|server|source|timestamp)|qos statistics", re.I)
# They never occur in a block.
OPENERS = re.compile(r"(?:interface|class-map|policy-map|port-profile) |system qos$", re.I)


class Line:
    """text: words, separated by one blank. why: the reason if the line stays unused; None: no counterpart."""

    def __init__(self, text: str, number: int, indent: int) -> None:
        self.text, self.number, self.indent = text, number, indent
        self.words = text.lower().split()
        self.lines: list[Line] = []  # of the block that it opens
        self.parent: Line | None = None
        self.used = False
        self.why: str | None = None
        self.indented: bool | None = None  # are the lines of its block indented? None: there is none yet

    def match(self, pattern: str) -> tuple[str, ...] | None:
        """The words for % of a pattern, and the rest of the line for "..." at its end; None: another line."""
        wanted = pattern.split()
        own = self.text.split()
        has_rest = wanted[-1] == "..."
        wanted = wanted[:-1] if has_rest else wanted
        if len(own) < len(wanted) or (len(own) > len(wanted) and not has_rest):
            return None
        found = []
        for want, word in zip(wanted, own):
            if want == "%":
                found.append(word)
            elif want != word.lower():
                return None
        return (*found, " ".join(own[len(wanted):])) if has_rest else tuple(found)

    def begins(self, words: str) -> bool:
        """Does it begin with these words?"""
        wanted = words.lower().split()
        return self.words[:len(wanted)] == wanted

    def use(self) -> None:
        self.used = True

    def use_block(self) -> None:
        self.used = True
        for line in self.lines:
            line.use_block()

    def lose(self, why: str) -> None:
        self.used, self.why = False, why

    def lose_block(self, why: str) -> None:
        """Lines that have a reason keep it."""
        self.used = False
        self.why = self.why or why
        for line in self.lines:
            if not line.used:
                line.lose_block(why)

    def unused(self) -> Iterator[Line]:
        return (line for line in self.lines if not line.used)

    def top(self) -> Line:
        """The line that opens its outermost block."""
        line = self
        while line.parent is not None and line.parent.parent is not None:
            line = line.parent
        return line

    def __repr__(self) -> str:
        return f"{self.number}: {self.text}"


def kind_of(line: Line) -> str | None:
    """The block that a line opens: a key of BLOCKS, or "other"; None: no block that is known."""
    first = line.words[0]
    if first == "interface":
        return None if line.begins("interface breakout") else first
    if first == "vlan" and re.fullmatch(r"vlan [\d,-]+", line.text, re.I) or line.begins("system qos"):
        return "vlan" if first == "vlan" else "system qos"
    if first in BLOCKS and first != "vlan":
        return first
    return "other" if OTHER.match(line.text) or NESTED.match(line.text) else None


def belongs(line: Line, opener: Line) -> bool | None:
    """Is a line a command of the block that this one opens? None: the grammar does not know."""
    words = line.words[1:] if line.words[0] == "no" and len(line.words) > 1 else line.words
    text = " ".join(words)
    kind = kind_of(opener)
    if TOP_COMMANDS.match(text):
        return False
    if kind in BLOCKS and words[0] in BLOCKS[kind]:
        return True
    if words[0] in TOP_WORDS or OTHER.match(text):
        return False
    return True if kind == "other" else None


class Reader:
    """Finds the block of each line."""

    def __init__(self, top: Line) -> None:
        self.open = [top]  # from the outermost to the innermost block

    def add(self, line: Line) -> None:
        while len(self.open) > 1 and not self._takes(line):
            self.open.pop()
        parent = self.open[-1]
        if parent.indented is None:
            parent.indented = line.indent > parent.indent
        line.parent = parent
        parent.lines.append(line)
        self.open.append(line)

    def _takes(self, line: Line) -> bool:
        """Does the innermost open block take a line?"""
        opener = self.open[-1]
        is_deeper = line.indent > opener.indent
        if OPENERS.match(line.text):
            return False
        own = belongs(line, opener)
        if own is not True and any(belongs(line, block) for block in self.open[1:-1]):
            return False
        if own is False and kind_of(opener) in BLOCKS:
            return False
        if opener.indented or (opener.indented is None and is_deeper):
            return is_deeper
        return kind_of(opener) is not None and (own or (own is None and line.words[0] not in OF_INTERFACE))

    def leave(self) -> None:
        """exit ends the innermost block."""
        while len(self.open) > 1 and kind_of(self.open[-1]) is None and not self.open[-1].lines:
            self.open.pop()
        if len(self.open) > 1:
            self.open.pop()

    def end(self) -> None:
        del self.open[1:]


def indent_of(text: str) -> int:
    """A tab ends at the next multiple of eight."""
    return len(text.expandtabs(8)) - len(text.expandtabs(8).lstrip(" "))


def without_remark(text: str) -> str:
    """A remark after " !" is no setting, except in free text."""
    return text if text.lstrip().lower().startswith("description ") else text.partition(" !")[0]


BANNER = re.compile(r"banner (?:motd|exec)\s+(\S)(.*)", re.I)


def refuse(log: Log, line: Line, expected: str) -> NoReturn:
    log.refuse(f"{line.number}: {line.text[:200]}: expected {expected}")


def number(log: Log, line: Line, text: str, least: int, most: int) -> int:
    value = whole(text, least, most)
    if value is None:
        refuse(log, line, f"a whole number from {least} to {most} in place of {text[:40]}")
    return value


def read(text: str, log: Log) -> tuple[Line, list[Line]]:
    """The file as a block, and all its lines. @raise Refused: it is no running-config"""
    if "\0" in text:
        log.refuse(" a zero byte: expected the text of a running-config")
    if text.count("\n") >= MOST_LINES:
        log.refuse(f" expected at most {MOST_LINES} lines")
    top = Line("top", 0, -1)
    top.indented = False
    reader = Reader(top)
    every: list[Line] = []
    rows = iter(enumerate(text.split("\n"), 1))
    for at, row in rows:
        row = without_remark(row.rstrip("\r"))
        line = Line(" ".join(row.split()), at, indent_of(row))
        if not line.words or line.text[0] in "!#":
            continue
        if line.words == ["exit"]:
            reader.leave()
        elif line.words == ["end"]:
            reader.end()
        else:
            if banner := BANNER.match(row.strip()):
                _skip_banner(rows, banner, line, log)
                reader.end()
            every.append(line)
            reader.add(line)
    if not any(line.text.lower().startswith(OPENINGS) for line in every):
        first = every[0] if every else None
        log.refuse(f"{first.number if first else 1}: '{first.text[:40] if first else ''}': expected a running-config of NX-OS with class-map, "
                   "policy-map, system qos, interface or priority-flow-control")
    _refuse_other_dialects(every, log)
    _join_blocks(top)
    for line in every:
        if line.lines:
            line.lines = in_force(line.lines)
    top.lines = in_force(top.lines)
    return top, every


def _skip_banner(rows: Iterator[tuple[int, str]], banner: re.Match[str], line: Line, log: Log) -> None:
    """The text of a banner goes up to the next of the character with which it begins."""
    end, rest = banner[1], banner[2]
    while end not in rest:
        _, rest = next(rows, (0, None))
        if rest is None:
            refuse(log, line, f"a banner that ends with {end}")


# Lines that only another dialect has.
OTHER_DIALECTS = (
    (re.compile(r"interface Ethernet\d+$|priority-flow-control (?:on|off|priority \d.*)$|qos trust (?:dscp|cos)$|qos profile |transceiver qsfp |"
                r"priority-flow-control pause watchdog", re.I), "Arista EOS, or a command line of SONiC"),
    (re.compile(r"trust (?:dscp|dot1p)-map |trust-map |service-policy (?:input|output) type |pfc-cos |qos-map traffic-class |"
                r"qos-group \d+ (?:dscp|dot1p) ", re.I), "Dell OS10"),
    (re.compile(r"interface (?:(?:Two|Five|Ten|TwentyFive|Forty|Fifty|Hundred|TwoHundred|FourHundred)?Gig\w*|Fo\w+GigE) ?[\d/]+$|mls qos|"
                r"priority-queue out", re.I), "Cisco IOS or Dell OS9"),
)


def _refuse_other_dialects(lines: list[Line], log: Log) -> None:
    for line in lines:
        for pattern, name in OTHER_DIALECTS:
            if pattern.match(line.text):
                refuse(log, line, f"a line of NX-OS: this one is of {name}")


def _join_blocks(block: Line) -> None:
    """Move the lines of a reopened block to its first opening. Interfaces are joined by their names."""
    opened: dict[str, Line] = {}
    for line in block.lines:
        if not line.lines or line.begins("interface"):
            continue
        first = opened.setdefault(line.text.lower(), line)
        if first is not line:
            line.used = True
            for own in line.lines:
                own.parent = first
            first.lines += line.lines
            line.lines = []
    for line in block.lines:
        _join_blocks(line)


def in_force(lines: list[Line]) -> list[Line]:
    """Without the lines that a later "no" of these lines cancels."""
    if not any(line.words[0] == "no" for line in lines):
        return lines
    found: dict[int, Line] = {}
    by_word: dict[str, list[int]] = {}
    for i, line in enumerate(lines):
        if line.words[0] == "no" and len(line.words) > 1:
            beginning = line.words[1:]
            line.why = line.why or "removes no line before it"
            for k in by_word.get(beginning[0], ()):
                if k in found and found[k].words[:len(beginning)] == beginning:
                    found.pop(k).use_block()
                    line.used = True
        found[i] = line
        by_word.setdefault(line.words[0], []).append(i)
    return list(found.values())
