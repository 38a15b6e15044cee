# SPDX-License-Identifier: BSD-3-Clause
"""What "clear counters" keeps: replies, which later ones are counted from. The program's counters do not change, because other readers
and sums depend on them.

There is a file for each user and process, in $XDG_CACHE_HOME/quenchctl or ~/.cache/quenchctl. That of a process that has ended is
ignored, even if its pid is used again.
"""
from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from quench.desk import Desk, Row
from quenchctl.command import Ends

# Keys that identify a row of a list, and objects whose members are all counters.
ROW_KEYS = ("port", "queue", "pg", "prio", "flow", "local_qpn", "pool", "interface", "nexthop", "measure", "at_most")
COUNTER_OBJECTS = ("drops", "malformed", "device_stats")
# Methods whose rows have nothing but counters and keys.
ALL_COUNTERS = ("drops", "times")


def key(method: str, params: Mapping[str, Any]) -> str:
    return ",".join([method, *map(str, params.values())])


def folder() -> str | None:
    """None: neither XDG_CACHE_HOME nor HOME is set."""
    for place, more in ((os.environ.get("XDG_CACHE_HOME", ""), "/quenchctl"), (os.environ.get("HOME", ""), "/.cache/quenchctl")):
        if place.startswith("/"):
            return place + more
    return None


def start_of(pid: int) -> int:
    """Start of a process, in clock ticks since boot (proc(5)); 0: unknown."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # Field 22. Field 2 is a name, which may contain blanks and ends at the last bracket.
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def load(desk: Desk) -> Row | None:
    """The baseline of the program."""
    place = folder()
    if place is None:
        return None
    try:
        with open(f"{place}/{desk.pid}.json", encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    whole = isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in (("replies", dict), ("times_ns", dict), ("counters", list)))
    return found if whole and found.get("start") == start_of(desk.pid) else None


def keep(desk: Desk, replies: Mapping[str, Row], counters: list[str], elapsed_ns: int) -> None:
    """Store replies, by their key, beside those that are there. counters: names of counters in any of them. @raise Ends"""
    place = folder()
    if place is None:
        raise Ends("no place for the baseline: expected HOME or XDG_CACHE_HOME to be set")
    found = load(desk) or {"start": start_of(desk.pid), "replies": {}, "times_ns": {}}
    found["replies"].update(replies)
    found["times_ns"].update(dict.fromkeys(replies, elapsed_ns))
    found["counters"] = counters
    path = f"{place}/{desk.pid}.json"
    part = f"{path}.new{os.getpid()}"
    try:
        os.makedirs(place, 0o700, exist_ok=True)
        with open(part, "w", encoding="utf-8") as file:
            json.dump(found, file, separators=(",", ":"))
        os.replace(part, path)
    except OSError as error:
        if os.path.exists(part):
            os.unlink(part)
        raise Ends(f"{path}: cannot be written: {error.strerror}") from error


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def subtract_object(now: Row, then: Mapping[str, Any], names: frozenset[str], everything: bool) -> None:
    for name, value in now.items():
        old = then.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            subtract_object(value, old, names, name in COUNTER_OBJECTS)
        elif is_count(value) and is_count(old) and name not in ROW_KEYS and (everything or name in names):
            now[name] = value - old


def by_name(rows: Iterable[Row]) -> dict[tuple[Any, ...], Row]:
    return {row_name(row): row for row in rows}


def row_name(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ROW_KEYS)


def subtract(kept: Row | None, of: str, reply: Row) -> None:
    """Let the reply count from the one that was kept under this key, if there is one."""
    then = kept["replies"].get(of) if kept else None
    if kept is None or then is None:
        return
    names = frozenset(kept["counters"])
    subtract_object(reply, then, names, False)
    for name, rows in reply.items():
        if isinstance(rows, list):
            old = by_name(then.get(name) or [])
            for row in rows:
                subtract_object(row, old.get(row_name(row), {}), names, of.partition(",")[0] in ALL_COUNTERS)


def set_mean_rates(kept: Row | None, of: str, reply: Row, elapsed_ns: int) -> None:
    """Let the mean rates of flows be those since the clear, after subtract(). A flow that started later keeps those since its start."""
    then = kept["replies"].get(of) if kept else None
    if kept is None or then is None:
        return
    old = by_name(then.get("rows", []))
    for row in reply.get("rows", []):
        ns = elapsed_ns - max(kept["times_ns"].get(of, 0), row.get("started_ns") or 0)
        if row_name(row) in old and ns > 0:
            row["wire_rate_bps"] = round(row["wire_bytes"] * 8e9 / ns)
            row["goodput_bps"] = round(row["payload_bytes"] * 8e9 / ns)
