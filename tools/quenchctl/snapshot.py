# SPDX-License-Identifier: BSD-3-Clause
"""Counters and state of a running program at one time, for top and web."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quench.desk import Desk, Refused, Row
from quenchctl.command import SWITCH

MOST_FLOWS = 256
# Groups of further ports are left out.
MOST_GROUPS = 1024
PATIENCE_S = 4.0
MOST_BYTES = 16 << 20
GAP_BYTES = 20  # preamble and gap of Ethernet, which count in the use of a link (IEEE 802.3 4.2.3)

# Bytes of queues, of the buffer and then of groups are asked for last, one after the other, because they belong together.
SWITCH_METHODS = ("ports", "drops", "pfc", "pfcwd", "ecn", "buffer")
NIC_METHODS = ("nic", "port", "rp", "np")

NOTHING: Row = {}


class Snapshot:
    """replies by method: "info"; of a switch SWITCH_METHODS and "pg" with the groups of all ports; of a NIC NIC_METHODS and "flows"."""

    def __init__(self, program: str, replies: Row) -> None:
        self.program, self.replies = program, replies
        self.elapsed_ns: int = replies["info"]["elapsed_ns"]

    def reply(self, method: str) -> Row:
        found: Row = self.replies.get(method, NOTHING)
        return found

    def rows(self, method: str) -> Sequence[Row]:
        found: Sequence[Row] = self.reply(method).get("rows", ())
        return found

    def buffer_used_bytes(self) -> int:
        """Of a switch. Each reply is of its own instant: the buffer holds no less than the queues and the groups that are shown beside it."""
        used: int = max(self.reply("buffer").get("buffer_used_bytes", 0), sum(row.get("queue_bytes", 0) for row in self.rows("ecn")),
                        sum(row.get("shared_bytes", 0) + row.get("headroom_bytes", 0) for row in self.rows("pg")))
        return used


def is_ours(info: Any) -> bool:
    return isinstance(info, dict) and info.get("program") in (SWITCH, "quench-nic") and isinstance(info.get("elapsed_ns"), int)


def _ask(desk: Desk, method: str, **params: Any) -> Row:
    try:
        found: Row = desk.call(method, **params)
        return found
    except Refused:
        return NOTHING  # no fault: of a feature that is off


def _groups(desk: Desk, ports: Sequence[Row]) -> Row:
    rows: list[Row] = []
    for port in ports:
        names = {key: port[key] for key in ("port", "port_name") if key in port}
        rows += [{**row, **names} for row in _ask(desk, "pg", port=port["port"]).get("pgs", ())]
        if len(rows) > MOST_GROUPS:
            break
    return {"rows": rows}


def take(desk: Desk) -> Snapshot:
    """@raise desk.Failed"""
    info = desk.call("info")
    if not is_ours(info):
        raise Refused(0, f"{desk.path}: expected a program of quench")
    program = info["program"]
    replies = {"info": info, **{method: _ask(desk, method) for method in (SWITCH_METHODS if program == SWITCH else NIC_METHODS)}}
    if program == SWITCH:
        replies["pg"] = _groups(desk, replies["ports"].get("rows", ()))
    else:
        replies["flows"] = _ask(desk, "flows", count=MOST_FLOWS)
    return Snapshot(program, replies)


class Pair:
    """An object in two snapshots."""

    def __init__(self, now: Row, before: Row | None, seconds: float) -> None:
        """before: None if it was not there"""
        self.now, self.before, self.seconds = now, before, seconds

    def rate(self, key: str) -> float:
        """Increase of a counter in a second; 0 if its earlier value is unknown."""
        was = None if self.before is None else self.before.get(key)
        return 0.0 if was is None or self.seconds <= 0 else float(self.now.get(key, 0) - was) / self.seconds

    def rise(self, key: str) -> float:
        """Increase since the earlier snapshot."""
        return self.rate(key) * self.seconds

    def wire_bps(self, bytes_: str, packets: str) -> float:
        return (self.rate(bytes_) + GAP_BYTES * self.rate(packets)) * 8


class Two:
    """Two snapshots of a run of a program. before: None at first; then rates are 0."""

    def __init__(self, now: Snapshot, before: Snapshot | None) -> None:
        self.now, self.before = now, before
        self.seconds = 0.0 if before is None or before.elapsed_ns >= now.elapsed_ns else (now.elapsed_ns - before.elapsed_ns) / 1e9

    def pair(self, method: str) -> Pair:
        return Pair(self.now.reply(method), None if self.before is None else self.before.reply(method), self.seconds)

    def pairs(self, method: str, *by: str) -> Iterator[Pair]:
        """The rows of a list, each with the same one of the earlier snapshot: of equal keys `by`."""
        were = {} if self.before is None else {tuple(row.get(key) for key in by): row for row in self.before.rows(method)}
        for row in self.now.rows(method):
            yield Pair(row, were.get(tuple(row.get(key) for key in by)), self.seconds)


def drops(row: Row) -> Row:
    """The reasons of a row of drops."""
    return {key: value for key, value in row.items() if key not in ("port", "port_name")}


def port_state(row: Row) -> str:
    """Of its link, or "shutdown": then its link does not matter."""
    return "shutdown" if row.get("shutdown") else str(row.get("link", ""))


def port_name(row: Row) -> str:
    """The name of a row's port, or "port 3"."""
    return str(row.get("port_name") or f"port {row.get('port', 0)}")
