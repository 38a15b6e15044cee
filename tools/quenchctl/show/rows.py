# SPDX-License-Identifier: BSD-3-Clause
"""Rows for people, made from the replies of a program."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quenchctl.snapshot import port_state

Row = dict[str, Any]
Rows = Sequence[Row]
LINK = 8  # after the priorities: link pause (802.3x)


def port_of(row: Mapping[str, Any]) -> Row:
    """Its number, and its name if it has one."""
    return {key: row[key] for key in ("port", "port_name") if row.get(key) not in (None, "")}


def ports(reply: Any) -> Rows:
    return [reply] if isinstance(reply, dict) else reply or []


def interfaces(reply: Any) -> Rows:
    """With shutdown in place of the link."""
    return [{**port, "link": port_state(port)} for port in ports(reply)]


def pause(port: Row, way: str, prio: int, what: str) -> int:
    """0 if the port has no such counter."""
    if prio == LINK:
        return int(port.get(f"{way}_global_pause{what or '_frames'}", 0))
    return int(port.get(f"{way}_prio{prio}_pause{what}", 0))


def pauses(reply: Any) -> Rows:
    """Two rows for each port: pause frames received and sent, by priority; link: 802.3x."""
    return [{**port_of(port), "frames": way, **{"link" if prio == LINK else f"pfc{prio}": pause(port, way, prio, "") for prio in range(LINK + 1)}}
            for port in ports(reply) for way in ("rx", "tx")]


def pause_times(reply: Any) -> Rows:
    """A row for each port and priority that was paused or paused its peer; prio "link" with 802.3x."""
    def all_of() -> Iterator[Row]:
        for port in ports(reply):
            for prio in range(LINK + 1):
                counts = {way: [pause(port, way, prio, what) for what in ("_transition", "_duration_us")] for way in ("rx", "tx")}
                if any(counts["rx"] + counts["tx"]):
                    yield {**port_of(port), "prio": "link" if prio == LINK else prio,
                           **{f"{way}_pause_{what}": n for way, (begun, us) in counts.items() for what, n in (("transition", begun), ("duration_ns", us * 1000))}}
    return list(all_of())


def in_use(rows: Rows, keys: str) -> Rows:
    """The rows of which a counter of keys is not 0."""
    return [row for row in rows if any(row.get(key) for key in keys.split())]


def drops(reply: Any) -> Rows:
    """Rows of port, reason and packets, without zeros."""
    return [{"reason": reason, "packets": n, **port_of(port)}
            for port in ports(reply) for reason, n in port.items() if reason != "port" and isinstance(n, int) and n > 0]


def nic_drops(reply: Any) -> Rows:
    """The same of a NIC, out of all its counters, some of which have names of vendors."""
    named = ("rx_icrc_encapsulated", "qkey_violations", "out_of_buffer", "rx_discards_phy")
    return [{"reason": name, "packets": n}
            for name, n in reply.items() if (name.startswith("drop_") or name in named) and isinstance(n, int) and n > 0]


def marks(reply: Any) -> Rows:
    """With marked_pct."""
    return [{**row, "marked_pct": 100 * row.get("ecn_marked_packets", 0) / row["tx_packets"] if row.get("tx_packets") else 0.0} for row in reply]


def storms(reply: Any) -> Rows:
    """Without the length of a storm that never was, with pairs of counters in one column, as SONiC has them, and the action in the status of a storm."""
    found = []
    for queue in reply:
        row = {key: value for key, value in queue.items() if value or key != "longest_storm_ns"}
        for key, first, second in (("storms", "deadlock_detected", "deadlock_restored"), ("tx", "tx_packets", "tx_dropped_packets"),
                                   ("rx", "rx_packets", "rx_dropped_packets")):
            row[key] = f"{queue.get(first, 0)}/{queue.get(second, 0)}"
        if queue.get("status") == "stormed" and queue.get("action"):
            row["status"] = f"stormed: {queue['action']}"
        found.append(row)
    return found
