# SPDX-License-Identifier: BSD-3-Clause
"""The flows of a perftest run in a running quench-nic: one for each QP, because each has a PSN and an address of its own. They are added to
its configuration, and removed at the end.
"""
from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Sequence

from quench.desk import Desk, Refused, Row
from quenchctl.command import BadUsage
from quenchctl.perftest.options import Options
from quenchctl.perftest.wire import Address, End

# Memory of each QP that a peer may name: more than its largest message.
MEMORY_BYTES = 4 << 30
MAX_RD_ATOMIC = 16  # default of [nic] max_rd_atomic
SUMS = ("messages", "payload_bytes", "retransmitted_packets", "cnps_handled", "cnps_sent", "ce_packets", "qps_done", "qps_failed")


class Sums:
    """What flows did: those of SUMS, and when."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.count = {name: sum(row.get(name, 0) for row in rows) for name in SUMS}
        self.present = sum(not row["gone"] for row in rows)
        ended = [row for row in rows if row.get("ended_ns")]
        self.elapsed_ns = max(row["ended_ns"] for row in ended) - min(row["started_ns"] for row in ended) if ended else 0

    def subtract(self, before: Sequence[Row]) -> Sums:
        for name in SUMS:
            self.count[name] -= sum(row.get(name, 0) for row in before)
        return self


def address(text: str) -> Address | None:
    return None if text == "none" else ipaddress.ip_address(text)


class Flows:
    def __init__(self, desk: Desk, options: Options, requester: bool) -> None:
        """@raise BadUsage, Failed"""
        self.desk, self.options, self.requester = desk, options, requester
        # A name keeps its counters when it is used again, so it has the verb and the direction, which say what they count.
        self.prefix = f"{options.flow}-{options.verb}-{'out' if requester else 'in'}-"
        nic = {row["key"]: row["value"] for row in desk.call("config")["rows"] if row["section"] == "nic"}
        self.ip, self.ip6 = address(nic.get("ip", "none")), address(nic.get("ip6", "none"))
        self.max_rd_atomic = int(nic.get("max_rd_atomic", MAX_RD_ATOMIC))
        if self.ip is None and self.ip6 is None:
            raise BadUsage("[nic] ip = none: expected an address of the NIC, for a peer to reach it")
        self.names: list[str] = []    # of the flows that were added
        self.before: list[Row] = []   # of earlier flows of these names

    def rows(self) -> list[Row]:
        found: list[Row] = self.desk.call("flows")["rows"]
        return found

    def first_qpn(self) -> int:
        """Of as many free QP numbers as there are QPs."""
        return int(self.desk.call("free_qpns", count=self.options.qp_count)["local_qpn"])

    def free_name(self, rows: Sequence[Row]) -> tuple[str, Row | None]:
        """One that no flow has, nor a removed one that is not idle yet: it would be counted as ours. @return also the removed flow of this name"""
        by_name = {row["flow"]: row for row in rows}
        first = int(self.names[-1].removeprefix(self.prefix)) + 1 if self.names else 0
        for number in itertools.count(first):
            row = by_name.get(f"{self.prefix}{number}")
            if row is None or row["gone"] and not row.get("qps_ending"):
                return f"{self.prefix}{number}", row
        raise AssertionError

    def keys(self, ours: End, theirs: End, mtu_bytes: int) -> Row:
        """Of a flow: a stopped requester, or a responder."""
        o = self.options
        # A QP has at most as many READs in flight as the responder takes (IBTA 9.4.4).
        depth = min(o.depth, self.max_rd_atomic, theirs.rd_depth) if o.verb == "read" else o.depth
        keys: Row = {"peer_ip": str(theirs.ip), "peer_qpn": theirs.qpn, "local_qpn": ours.qpn, "verb": o.verb, "mtu_bytes": mtu_bytes}
        if self.requester:
            keys |= {"stopped": "on", "initial_psn": ours.psn, "message_bytes": o.message_bytes, "messages": 0 if o.duration_ns else o.messages,
                     "depth": max(depth, 1)}
        else:
            keys |= {"requester": "off", "initial_psn": theirs.psn}
        if o.verb == "send":  # names no memory
            return keys
        return keys | ({"remote_addr": theirs.addr, "rkey": theirs.rkey} if self.requester else
                       {"local_addr": ours.addr, "local_bytes": MEMORY_BYTES, "local_rkey": ours.rkey})

    def add(self, ours: End, theirs: End, mtu_bytes: int) -> None:
        """Add the flow of the next QP. @raise Failed"""
        tried = ""
        while True:
            name, row = self.free_name(self.rows())
            try:
                self.set(name, self.keys(ours, theirs, mtu_bytes))
                break
            except Refused:
                # Another run may have taken the name since we looked.
                if name == tried:
                    raise
                tried = name
        self.names.append(name)
        if row is not None:
            self.before.append(row)

    def set(self, name: str, keys: Row) -> None:
        self.desk.call("set", settings=[f"flow {name}.{key}={value}" for key, value in keys.items()])

    def stop(self, stopped: bool) -> None:
        """Let all requesters begin, or begin no more messages. @raise Failed"""
        self.desk.call("set", settings=[f"flow {name}.stopped={'on' if stopped else 'off'}" for name in self.names])

    def read(self) -> Sums:
        """@raise Failed"""
        return Sums([row for row in self.rows() if row["flow"] in self.names]).subtract(self.before)

    def close(self) -> None:
        """Remove the flows that were added. Some may have been removed by a command. @raise Failed"""
        left = [row["flow"] for row in self.rows() if row["flow"] in self.names and not row["gone"]] if self.names else []
        if left:
            self.desk.call("remove", flows=left)
        self.names = []
