# SPDX-License-Identifier: BSD-3-Clause
"""What is in force: a configuration, its quench-nics, what is started, and counts since then."""
from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Mapping
from typing import Any

from . import plan as plans
from .generator import Generator
from .schema import Object, Refused

Counters = dict[str, int]
QpRows = dict[tuple[str, int], Counters]

LEAST_INTERVAL_S = 0.1


@dataclasses.dataclass
class Reading:
    """Counters at a time, and rates per second since the reading before."""

    at_s: float
    counters: Mapping[Any, Counters]
    rates: dict[object, dict[str, float]]


def named(path: str, names: list[str] | None, known: dict[str, object]) -> list[str]:
    wrong = [name for name in names or () if name not in known]
    if wrong:
        raise Refused([f"{path}: {name!r}: no such name in the configuration" for name in wrong])
    return list(dict.fromkeys(names)) if names else list(known)


class Run:
    """Requests that change it follow each other; requests for results read it at any time."""

    def __init__(self, given: Object, plan: plans.Plan) -> None:
        self.given, self.plan = given, plan
        self.generators: dict[str, Generator] = {}
        # Counters at the last start, by (port, QP number) and by port.
        self.qp_base: QpRows = {}
        self.port_base: dict[str, Counters] = {}
        self.started_s: dict[str, float] = {}
        self.stopped_s: dict[str, float] = {}
        self.readings: dict[str, Reading] = {}
        self.readings_lock = threading.Lock()
        self.rows: QpRows = {}
        self.rows_begun_s = 0.0
        self.rows_lock = threading.Lock()

    def stop(self) -> None:
        for generator in self.generators.values():
            generator.stop()

    def read_qps(self) -> QpRows:
        """Rows of all QPs since the quench-nics started. Clients that wait for each other share a reading that began after they asked."""
        asked_s = time.monotonic()
        with self.rows_lock:
            if self.rows_begun_s < asked_s:
                begun_s = time.monotonic()
                self.rows = self.read_rows()
                self.rows_begun_s = begun_s
            return self.rows

    def read_rows(self) -> QpRows:
        rows: QpRows = {}
        for name, generator in self.generators.items():
            columns = generator.if_ready(lambda generator: generator.all("/quench/qps"))
            if columns is None:
                continue
            keys = list(columns)
            for row in zip(*columns.values()):
                counters = dict(zip(keys, row))
                rows[name, counters["local_qpn"]] = counters
        return rows

    def clear(self, flows: list[plans.Flow]) -> None:
        """Counters of flows, and those of all ports, count from here."""
        rows = self.read_qps()
        for flow in flows:
            self.started_s.pop(flow.name, None)
            self.stopped_s.pop(flow.name, None)
            for end in (flow.tx, flow.rx):
                key = end.peer.port.name, end.qpn
                self.qp_base[key] = rows.get(key, {})
        for name, generator in self.generators.items():
            if generator.is_ready():
                self.port_base[name] = generator.ask("/quench/nic")
        with self.readings_lock:
            self.readings.clear()

    def reading(self, what: str, counters: Mapping[Any, Counters], keys: tuple[str, ...]) -> dict[object, dict[str, float]]:
        """Rates of these counters since the reading before, which is at least LEAST_INTERVAL_S ago; else those of then."""
        with self.readings_lock:
            now = time.monotonic()
            before = self.readings.get(what)
            if before is not None and now - before.at_s < LEAST_INTERVAL_S:
                return before.rates
            rates: dict[object, dict[str, float]] = {}
            if before is not None:
                passed = now - before.at_s
                for key, row in counters.items():
                    old = before.counters.get(key)
                    if old is not None:
                        rates[key] = {name: max(0, row[name] - old[name]) / passed for name in keys}
            self.readings[what] = Reading(now, counters, rates)
            return rates
