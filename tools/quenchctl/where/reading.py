# SPDX-License-Identifier: BSD-3-Clause
"""What all programs do over a second: pauses of each port and priority, and the queues that hold frames."""
from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from quench.desk import Gone, Row
from quenchctl.command import say
from quenchctl.where.looks import EVERY_S, LOOKS, Queue
from quenchctl.where.programs import Program


class Port(NamedTuple):
    """Of a program, by its place in the list of all."""

    program: int
    number: int


class Paused(NamedTuple):
    """Of a priority of a port, over the reading."""

    ns: int
    times: int


# By way, port and priority: time paused, and ended pauses.
Durations = dict[tuple[str, int, int], tuple[int, int]]


class Reading:
    def __init__(self, programs: list[Program]) -> None:
        self.programs = programs
        self.gone: set[int] = set()
        self.queues: dict[tuple[Port, int], Queue] = {}
        self.held: Counter[tuple[Port, int, Port, int]] = Counter()  # ingress port, group, egress port, queue: bytes, while that group pauses
        self.any: Counter[tuple[Port, int, Port, int]] = Counter()   # the same, at any time
        self.sent: dict[tuple[Port, int], Paused] = {}      # by port and priority: what it made its peer obey
        self.obeyed: dict[tuple[Port, int], Paused] = {}
        self.macs: dict[str, Port] = {}
        self.source: dict[Port, str] = {}  # MAC address that sends pauses to a port

    @contextlib.contextmanager
    def asking(self, number: int) -> Iterator[None]:
        """A program that ends meanwhile is left out from then on. @raise Gone: it was the last one"""
        try:
            yield
        except Gone as error:
            self.gone.add(number)
            if len(self.gone) == len(self.programs):
                raise
            say("warning: ", f"{self.programs[number].name} is left out: {error}")

    def _there(self) -> Iterator[tuple[int, Program]]:
        return ((number, program) for number, program in enumerate(self.programs) if number not in self.gone)

    def read(self, n: int = LOOKS) -> None:
        before = {}
        for number, program in self._there():
            with self.asking(number):
                before[number] = self._durations(program)
        for i in range(n):
            for number, program in self._there():
                with self.asking(number):
                    self._look(number, program, i)
            if i + 1 < n:
                time.sleep(EVERY_S)
        for number, program in self._there():
            with self.asking(number):
                self._compare(number, before[number], self._durations(program))

    def _compare(self, number: int, before: Durations, after: Durations) -> None:
        for (way, port, prio), (ns, times) in after.items():
            old_ns, old_times = before.get((way, port, prio), (0, 0))
            if ns > old_ns:
                # A pause that lasts has not ended yet.
                paused = Paused(ns - old_ns, max(times - old_times, 1))
                (self.sent if way == "tx" else self.obeyed)[Port(number, port), prio] = paused

    @staticmethod
    def _durations(program: Program) -> Durations:
        """802.3x counts as priority 0."""
        rows = program.desk.call("pfc")["rows"] if program.is_switch else [program.desk.call("port")]
        found: Durations = {}
        for row in rows:
            for way in ("rx", "tx"):
                for prio in range(8):
                    us, times = row[f"{way}_prio{prio}_pause_duration_us"], row[f"{way}_prio{prio}_pause_transition"]
                    if prio == 0:
                        us += row.get(f"{way}_global_pause_duration_us", 0)
                        times += row.get(f"{way}_global_pause_transition", 0)
                    found[way, row["port"], prio] = us * 1000, times
        return found

    def _look(self, number: int, program: Program, i: int) -> None:
        pausing: set[tuple[int, int]] = set()  # ingress ports and groups
        for reply in program.desk.batch([("pauses", {"port": port}) for port in range(program.n_ports)]):
            port = Port(number, reply["port"])
            self.macs[reply["mac"]] = port
            if reply["pause_source"]:
                self.source[port] = reply["pause_source"]
            pausing |= {(port.number, -1 if row["prio"] == "link" else row["prio"]) for row in reply["pauses"] if row["lasts"] and row["way"] == "tx"}
        if not program.is_switch:
            return
        busy = [row for row in program.queues() if row["queue_bytes"] > 0 or (Port(number, row["port"]), row["queue"]) in self.queues]
        for look in program.desk.batch([("look", {"port": row["port"], "queue": row["queue"]}) for row in busy]):
            at = Port(number, look["port"])
            if (at, look["queue"]) not in self.queues:
                self.queues[at, look["queue"]] = Queue(look, i)
            self.queues[at, look["queue"]].add(look)
            for row in look["from"]:
                key = Port(number, row["port"]), row["pg"], at, look["queue"]
                self.any[key] += row["bytes"]
                if {(row["port"], row["pg"]), (row["port"], -1)} & pausing:
                    self.held[key] += row["bytes"]

    def text(self, port: Port) -> str:
        return self.programs[port.program].text(port.number)

    def results(self) -> list[tuple[Port, Row]]:
        """The queues that held frames, the longest mean first."""
        found = [(at, {"node": self.programs[at.program].name, **queue.result()}) for (at, _), queue in self.queues.items() if queue.sum_bytes > 0]
        return sorted(found, key=lambda pair: -int(pair[1]["queue_mean_bytes"]))
