# SPDX-License-Identifier: BSD-3-Clause
"""Repeated looks at queues (method "look"), and their sums. A look sees what waits at that moment; many show what fills a queue."""
from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from quench import protocols
from quench.desk import Desk, Row

LOOKS = 20
EVERY_S = 0.05
FLOW_KEYS = ("source", "destination", "protocol", "source_port", "destination_port", "qpn", "dscp")
COUNTERS = ("ecn_marked_packets", "ecn_not_ect_packets", "drop_packets")


class Queue:
    """The looks at one queue. n_empty: looks before the first one, when nothing waited."""

    def __init__(self, first: Row, n_empty: int = 0) -> None:
        self.first = self.last = first
        self.n = n_empty
        self.sum_bytes = self.most_bytes = self.read_bytes = self.sampled_bytes = 0
        self.holds: Counter[tuple[str, str]] = Counter()  # hold, and the queues that it is behind
        if n_empty:
            self.holds["empty", ""] = n_empty
        self.paused_prios: set[str] = set()
        self.froms: dict[tuple[Any, ...], Row] = {}
        self.flows: dict[tuple[Any, ...], Row] = {}

    def add(self, look: Row) -> None:
        self.last = look
        self.n += 1
        self.sum_bytes += look["waiting_bytes"]
        self.most_bytes = max(self.most_bytes, look["waiting_bytes"])
        self.holds[look["hold"], look["behind"]] += 1
        self.paused_prios.update(look["paused_prios"].split(",") if look["paused_prios"] else ())
        # What the entries and headers that were read stand for.
        self.read_bytes += self._sum(self.froms, look["from"], ("port", "pg"), ("port", "port_name", "pg"))
        self.sampled_bytes += self._sum(self.flows, look["flows"], FLOW_KEYS, FLOW_KEYS)

    @staticmethod
    def _sum(sums: dict[tuple[Any, ...], Row], rows: list[Row], keys: tuple[str, ...], kept: tuple[str, ...]) -> int:
        for row in rows:
            total = sums.setdefault(tuple(row[key] for key in keys),
                                    {**{key: row[key] for key in kept if key in row}, "bytes": 0, "packets": 0, "not_ect_packets": 0})
            for key in ("bytes", "packets", "not_ect_packets"):
                total[key] += row[key]
        return sum(row["bytes"] for row in rows)

    def result(self) -> Row:
        """JSON of explain queue and of show hot."""
        seconds = max((self.last["looked_at_ns"] - self.first["looked_at_ns"]) / 1e9, 1e-9)
        row: Row = {key: self.last[key] for key in ("port", "port_name", "queue") if key in self.last}
        row |= {"looks": self.n, "looked_for_ns": self.last["looked_at_ns"] - self.first["looked_at_ns"],
                "queue_mean_bytes": self.sum_bytes // self.n, "queue_max_bytes": self.most_bytes}
        row["tx_rate_bps"] = round((self.last["tx_bytes"] - self.first["tx_bytes"]) * 8 / seconds)
        row |= {key: self.last[key] - self.first[key] for key in COUNTERS}
        row["holds"] = [{"hold": hold, "behind": behind, "looks": n} for (hold, behind), n in self.holds.most_common()]
        row["paused_prios"] = ",".join(sorted(self.paused_prios))
        row["paused_for_ns"] = self.last["paused_for_ns"]
        row["from"] = shares(self.froms, self.read_bytes)
        row["flows"] = [{"flow": flow_text(flow), **flow} for flow in shares(self.flows, self.sampled_bytes)]
        return row


def shares(sums: dict[tuple[Any, ...], Row], all_bytes: int) -> list[Row]:
    """The largest first, with their share of the bytes."""
    found = [{**row, "share": round(row["bytes"] / all_bytes, 4)} for row in sums.values()]
    return sorted(found, key=lambda row: -int(row["bytes"]))


def look_at(desk: Desk, queues: list[tuple[Any, int]], n: int = LOOKS, between: Callable[[], None] = lambda: None) -> list[Row]:
    """Looks at these ports and queues, at about the same times."""
    found: list[Queue] = []
    for i in range(n):
        looks = desk.batch([("look", {"port": port, "queue": queue}) for port, queue in queues])
        found = found or [Queue(look) for look in looks]
        for queue, look in zip(found, looks):
            queue.add(look)
        if i + 1 < n:
            between()
            time.sleep(EVERY_S)
    return [queue.result() for queue in found]


def flow_text(row: Row) -> str:
    """10.0.0.1 to 10.0.0.3 QP 17, or the 5-tuple of what is not RoCEv2."""
    def end(address: str, port: int | None) -> str:
        return address if port is None else f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

    if row["protocol"] is None:
        return f"{row['source']} to {row['destination']}"
    if row["qpn"] is not None:
        return f"{row['source']}:{row['source_port']} to {row['destination']} QP {row['qpn']}"
    name = protocols.NAMES.get(row["protocol"], f"protocol {row['protocol']}")
    return f"{end(row['source'], row['source_port'])} to {end(row['destination'], row['destination_port'])} {name}"


def size(n: float) -> str:
    for unit, factor in (("MB", 1e6), ("KB", 1e3)):
        if n >= factor:
            return f"{n / factor:.1f} {unit}"
    return f"{n:.0f} B"


def span(ns: float) -> str:
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.1f} {unit}"
    return f"{ns:.0f} ns"


def port_text(row: Row) -> str:
    return f"port {row.get('port_name') or row['port']}"
