# SPDX-License-Identifier: BSD-3-Clause
"""Reports the unused lines of a running-config, without secrets."""
from __future__ import annotations

import dataclasses
import re

from ..log import Log
from .lines import Line

# What follows these words is not shown, because the report goes into a file that others may read.
SECRET = re.compile(r"(?<!\S)(password|passphrase|secret|key|key-string|community|auth|priv|md5|sha1|localizedkey|wpa-psk)(?!\S)", re.I)
# Beginnings of lines of management and routing protocols, and of hardware.
ASIDE_LINES = """aaa,banner,boot,callhome,cdp,cfs,cli,clock,conf,configure,control-plane,copp,crypto,errdisable,event,feature,feature-set,flow,hostname,icam,
    interface breakout,interface mgmt,ip community-list,ip domain,ip domain-list,ip domain-lookup,ip domain-name,ip ftp,ip host,ip http,ip name-server,
    ip prefix-list,ip ssh,ip tftp,ipv6 prefix-list,key,license,line,logging,ntp,nv,nxapi,password,poap,power,radius,radius-server,rmon,role,
    route-map,router,scheduler,sflow,snmp-server,ssh,switchname,tacacs,tacacs-server,telemetry,telnet,tftp-server,udld,username,vdc,version"""
# The same for lines of an interface.
ASIDE_SETTINGS = """beacon,bfd,cdp,description,duplex,fec,ip ospf,ip pim,ip redirects,ip router,ipv6 redirects,isis,load-interval,logging,negotiate,
    snmp,spanning-tree port type edge,udld"""
MANY = 4  # more lines of one kind share an entry of the report
MOST_NUMBERS = 20


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(r"(?:no )?(?:" + "|".join(re.escape(word.strip()) for word in words.split(",")) + r")(?= |$)", re.I)


LINES, SETTINGS, MGMT = _pattern(ASIDE_LINES), _pattern(ASIDE_SETTINGS), re.compile(r"interface mgmt", re.I)


def first_words(text: str) -> str:
    """The first word; of "ip", "no" and "interface" the first two."""
    words = text.split(" ")
    return " ".join(words[:2 if words[0].lower() in ("no", "ip", "ipv6", "interface") else 1])[:60]


def aside_word(line: Line) -> str | None:
    """The words by which a line is counted that has no effect on forwarding or buffering."""
    top = line.top()
    if LINES.match(top.text) or MGMT.match(top.text):
        return first_words(top.text)
    if top is not line and LINES.match(line.text) and not top.begins("interface"):
        return first_words(line.text)
    is_plain = line.why is None or line.words[0] == "no"
    if is_plain and top is not line and (top.begins("interface") or top.begins("port-profile")) and SETTINGS.match(line.text):
        return first_words(line.text)
    return None


@dataclasses.dataclass
class Kind:
    """Unused lines with the same first words, and the same reason."""

    lines: list[Line] = dataclasses.field(default_factory=list)
    is_reported: bool = False


def reason(line: Line) -> str:
    return line.why or "no counterpart"


def report(lines: list[Line], log: Log) -> None:
    """Count or lose every unused line of a file."""
    kinds: dict[tuple[str, bool, str], Kind] = {}
    unused: list[tuple[Line, Kind]] = []
    for line in lines:
        if line.used:
            continue
        word = aside_word(line)
        if word is not None:
            log.aside(word)
            continue
        kind = kinds.setdefault((first_words(line.text), line.top() is line, reason(line)), Kind())
        kind.lines.append(line)
        unused.append((line, kind))
    for line, kind in unused:
        if not kind.is_reported:
            _lose(line, kind, log)


def _lose(line: Line, kind: Kind, log: Log) -> None:
    secret = SECRET.search(line.text)
    shown = line.text[:secret.end() if secret else None]
    more = ""
    if len(kind.lines) > MANY:
        numbers = ", ".join(str(other.number) for other in kind.lines[1:MOST_NUMBERS])
        more = f"; so are {len(kind.lines) - 1} more lines like it: {numbers}{', ...' if len(kind.lines) > MOST_NUMBERS else ''}"
        kind.is_reported = True
    log.lose(f"{line.number}: {shown[:200]}{' ...' if shown != line.text else ''}: {reason(line)}{more}")
