# SPDX-License-Identifier: BSD-3-Clause
"""Events between two snapshots of a program, in words: the list of last events on the page."""
from __future__ import annotations

import collections

from quench.desk import Row
from quenchctl.command import plain
from quenchctl.snapshot import Two, drops, port_name, port_state

MOST = 100
GOES_ON_MS = 3000  # an event that does not recur in this time has ended
NIC_TROUBLES = (("nic", "qp_errors", "QPs gave up"), ("nic", "neigh_failed", "requests for a peer's MAC address without an answer"),
                ("nic", "local_ack_timeout_err", "retransmission timeouts"), ("nic", "rx_icrc_encapsulated", "packets with a wrong ICRC"),
                ("rp", "rp_cnp_ignored", "CNPs ignored"))


class Events:
    """The last ones: at_ms (Unix time), alarm (something is wrong), text."""

    def __init__(self) -> None:
        self.all: collections.deque[Row] = collections.deque(maxlen=MOST)

    def add(self, at_ms: int, alarm: bool, text: str, **more: object) -> None:
        self.all.append({"at_ms": at_ms, "alarm": alarm, "text": plain(text), **more})

    def count(self, at_ms: int, n: float, what: str) -> None:
        """Add an event "N what", or increase N of the last such event if it is recent."""
        for event in self.all:
            if event.get("what") == what and at_ms - event["until_ms"] <= GOES_ON_MS:
                event.update(n=event["n"] + n, until_ms=at_ms, text=plain(f"{event['n'] + n:.0f} {what}"))
                return
        self.add(at_ms, True, f"{n:.0f} {what}", what=what, n=n, until_ms=at_ms)

    def between(self, at_ms: int, two: Two) -> None:
        """Links up or down, storms and drops; of a NIC QPs that gave up, timeouts, wrong ICRCs, silent peers and ignored CNPs."""
        for p in two.pairs("ports", "port"):
            state = port_state(p.now)
            if p.before is not None and state != port_state(p.before):
                self.add(at_ms, state == "down", f"{port_name(p.now)}: {'shut down' if state == 'shutdown' else f'link {state}'}")
        for p in two.pairs("pfcwd", "port", "prio"):
            where = f"{port_name(p.now)}, priority {p.now.get('prio')}"
            if p.rate("deadlock_detected") > 0:
                self.add(at_ms, True, f"{where}: storm of pauses")
            if p.rate("deadlock_restored") > 0:
                self.add(at_ms, False, f"{where}: storm is over")
        for p in two.pairs("drops", "port"):
            for reason in drops(p.now):
                if p.rate(reason) > 0:
                    self.count(at_ms, p.rise(reason), f"packets dropped at {port_name(p.now)}: {reason}")
        for reply, key, text in NIC_TROUBLES:
            p = two.pair(reply)
            if p.rate(key) > 0:
                self.count(at_ms, p.rise(key), text)
