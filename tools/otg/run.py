# SPDX-License-Identifier: BSD-3-Clause
"""What is in force: a configuration, its quench-nics, what is started, and counts since then."""
from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from . import plan as plans
from .capture import Recording
from .generator import Driven, each, gather
from .raw import GAP_BYTES
from .schema import Object, Refused

Counters = dict[str, int]

LEAST_INTERVAL_S = 0.1
# A raw flow that misses this share of its rate, and this time at its rate, is worth a warning.
BEHIND_PCT, BEHIND_S = 10, 0.2


class QpRow(NamedTuple):
    """Of the many columns of a QP, those that results have."""

    local_qpn: int
    error: int
    tx_packets: int
    tx_wire_bytes: int
    rx_packets: int
    rx_wire_bytes: int
    retransmitted_packets: int
    tx_messages: int
    rx_messages: int
    ce_packets: int
    cnps_sent: int
    cnps_handled: int
    cnps_ignored: int
    acks_sent: int
    acks_received: int
    naks_sent: int
    naks_received: int
    out_of_sequence: int
    rx_discarded_packets: int
    rx_discarded_wire_bytes: int
    failed_messages: int
    rtt_samples: int
    rtt_sum_ns: int
    rtt_min_ns: int
    rtt_max_ns: int

    def received(self) -> int:
        """Packets, accepted or not."""
        return self.rx_packets + self.rx_discarded_packets

    def since(self, base: QpRow) -> QpRow:
        """Less than the base: the quench-nic has ended, and perhaps begun again."""
        counts = QpRow._make([now - then if now > then else 0 for now, then in zip(self, base)])
        return counts._replace(rtt_min_ns=self.rtt_min_ns, rtt_max_ns=self.rtt_max_ns)


QpKey = tuple[str, int]  # port, QP number
QpRows = dict[QpKey, QpRow]
NO_ROW = QpRow._make([0] * len(QpRow._fields))
Row = TypeVar("Row")


@dataclasses.dataclass
class Reading(Generic[Row]):
    """Rows at a time, and those of the reading before."""

    at_s: float
    rows: Mapping[Any, Row]
    before: Mapping[Any, Row]
    passed_s: float

    def rate(self, key: object, of: Callable[[Row], int]) -> float:
        """A second, between the two."""
        now, before = self.rows.get(key), self.before.get(key)
        return max(0, of(now) - of(before)) / self.passed_s if now is not None and before is not None else 0.0


def named(path: str, names: list[str] | None, known: dict[str, object]) -> list[str]:
    wrong = [name for name in dict.fromkeys(names or ()) if name not in known]
    if wrong:
        raise Refused([f"{path}: {name!r}: no such name in the configuration" for name in wrong])
    return list(dict.fromkeys(names)) if names else list(known)


def late_key(port: str) -> str:
    """In Run.behind, beside names of flows, which are no such text: a name has no line break."""
    return f"{port}\n"


class Run:
    """Requests that change it follow each other; requests for results read it at any time."""

    def __init__(self, given: Object, plan: plans.Plan) -> None:
        self.given, self.plan = given, plan
        self.generators: dict[str, Driven] = {}
        self.begun: set[str] = set()  # ports whose quench-nic has run
        self.recordings: dict[str, Recording] = {}  # of ports, the last one
        self.down: set[str] = set()  # ports whose link a client put down
        self.held: set[str] = set()  # ports whose quench-nics a request stops, and perhaps starts again
        # Counters at the last start, by (port, QP number) and by port.
        self.qp_base: QpRows = {}
        self.port_base: dict[str, Counters] = {}
        self.raw_base: dict[str, Counters] = {}
        self.started_s: dict[str, float] = {}
        self.stopped_s: dict[str, float] = {}
        # Lines of raw flows, and of ports with RoCEv2, that have missed a part of their rate since their start.
        self.behind: dict[str, str] = {}
        self.late_base_ns: dict[str, int] = {}  # of ports with RoCEv2, as of their start
        self.readings: dict[str, Reading[Any]] = {}
        self.readings_lock = threading.Lock()
        self.rows: QpRows = {}
        self.rows_begun_s = 0.0
        self.rows_lock = threading.Lock()

    def remember(self) -> Callable[[], None]:
        """@return what makes configuration, state and bases those of now again; quench-nics and recordings remain"""
        parts: list[object] = [self.plan, *self.plan.ports.values(), *self.plan.peers.values(), *self.plan.flows.values(), *self.plan.raws.values()]
        before = [(part, dict(vars(part))) for part in parts]
        given, down = self.given, set(self.down)
        bases = dict(self.qp_base), dict(self.port_base), dict(self.raw_base)
        times = dict(self.started_s), dict(self.stopped_s)

        def put_back() -> None:
            for part, values in before:
                vars(part).update(values)
            self.given, self.down = given, down
            self.qp_base, self.port_base, self.raw_base = bases
            self.started_s, self.stopped_s = times

        return put_back

    def expects(self, port: str, generator: Driven) -> bool:
        """This quench-nic of the port runs, unless it ended by itself."""
        return port in self.begun and port not in self.down and port not in self.held and self.generators.get(port) is generator

    def stop(self) -> None:
        self.held |= set(self.generators)
        each(self.generators.values(), lambda generator: generator.stop())
        for recording in self.recordings.values():
            recording.discard()

    def kept(self) -> Object:
        """What restore() needs, as JSON. Times are those of the wall clock."""
        to_wall_s = time.time() - time.monotonic()
        flows: list[plans.Flow | plans.RawFlow] = [*self.plan.flows.values(), *self.plan.raws.values()]
        return {"given": self.given, "protocols": self.plan.protocols, "down": sorted(self.down), "captured": sorted(self.recordings), "peers": [name for name, peer in self.plan.peers.items() if peer.up],
                "started": [flow.name for flow in flows if flow.started],
                "raws": {raw.name: [raw.number, raw.paused, raw.resolved] for raw in self.plan.raws.values()},
                "signatures": self.plan.signatures, "key": self.plan.key,
                "rx_bytes": {name: port.rx_bytes for name, port in self.plan.ports.items()},
                "counts": {name: [port.signatures, port.counted_bytes] for name, port in self.plan.ports.items()},
                "slots": {name: [[section, flow.name if flow else None] for section, flow in port.slots.items()] for name, port in self.plan.ports.items()},
                "most_bytes": {name: port.most_bytes for name, port in self.plan.ports.items()},
                "started_s": {name: at_s + to_wall_s for name, at_s in self.started_s.items()},
                "stopped_s": {name: at_s + to_wall_s for name, at_s in self.stopped_s.items()},
                "qp_base": [[port, qpn, list(row)] for (port, qpn), row in self.qp_base.items()],
                "port_base": self.port_base, "raw_base": self.raw_base}

    def restore(self, kept: Object) -> None:
        """As kept() had it, but for the quench-nics."""
        from_wall_s = time.monotonic() - time.time()
        self.plan.protocols = kept["protocols"]
        for name, peer in self.plan.peers.items():
            peer.up = name in kept["peers"]
        for name, flow in self.plan.flows.items():
            flow.started = name in kept["started"]
        for name, raw in self.plan.raws.items():
            raw.started = name in kept["started"]
            raw.number, raw.paused, raw.resolved = kept["raws"][name]
        self.plan.signatures, self.plan.key = kept["signatures"], kept["key"]
        for name, port in self.plan.ports.items():
            port.most_bytes, port.rx_bytes = kept["most_bytes"][name], kept["rx_bytes"][name]
            port.signatures, port.counted_bytes = kept["counts"][name]
            port.slots = {section: self.plan.raws[flow] if flow else None for section, flow in kept["slots"][name]}
        self.down = set(kept["down"])
        self.started_s = {name: at_s + from_wall_s for name, at_s in kept["started_s"].items()}
        self.stopped_s = {name: at_s + from_wall_s for name, at_s in kept["stopped_s"].items()}
        self.qp_base = {(port, qpn): QpRow._make(row) for port, qpn, row in kept["qp_base"]}
        self.port_base, self.raw_base = kept["port_base"], kept["raw_base"]

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
        found = gather(self.generators, lambda generator: generator.if_ready(lambda generator: generator.call("qps", columns=list(QpRow._fields))))
        for name, reply in found.items():
            rows.update({(name, qp["local_qpn"]): QpRow(**qp) for qp in reply["rows"]} if reply else {})
        return rows

    def read_raws(self) -> dict[str, Counters]:
        """Rows of raw flows since the quench-nics started."""
        rows: dict[str, Counters] = {}
        found = gather({name: generator for name, generator in self.generators.items() if self.plan.ports[name].raws},
                       lambda generator: generator.if_ready(lambda generator: generator.call("frames")))
        for name, reply in found.items():
            for raw, row in zip(self.plan.ports[name].slots.values(), reply["rows"] if reply else ()):
                if raw is not None:
                    rows[raw.name] = {key: value for key, value in row.items() if key != "name"}
                    self.note_behind(raw, rows[raw.name])
        return rows

    def note_behind(self, raw: plans.RawFlow, row: Counters) -> None:
        base = self.raw_base.get(raw.name, {})
        frames, octets, missed = (max(0, row[key] - base.get(key, 0)) for key in ("tx_packets", "tx_bytes", "missed_bytes"))
        wire = int(raw.keys["frame_bytes"]) + GAP_BYTES
        sent, rate_bps = (frames * wire, 8 * wire * int(raw.keys["rate_pps"])) if "rate_pps" in raw.keys else (octets + GAP_BYTES * frames, int(raw.keys["rate_bps"]))
        if 100 * missed >= BEHIND_PCT * (missed + sent) and 8 * missed > BEHIND_S * rate_bps:
            self.behind.setdefault(raw.name, f"flow {raw.name!r}: it sends {100 * sent // (missed + sent)} % of its rate: the quench-nic of port {raw.port.name!r} "
                                             "polls late, or its device or link has no room")

    def read_late(self, flows: list[plans.Flow]) -> dict[str, int]:
        """Of ports with these flows, the time for which their quench-nics were polled too late to keep up a rate."""
        names = {name for flow in flows for name in self.ports_of(flow)}
        found = gather({name: generator for name, generator in self.generators.items() if name in names},
                       lambda generator: generator.if_ready(lambda generator: generator.call("port")))
        return {name: int(reply["poll_late_ns"]) for name, reply in found.items() if reply}

    def note_late(self, flows: list[plans.Flow]) -> None:
        """Flows that stop, or have stopped."""
        for name, late_ns in self.read_late(flows).items():
            begun_s = min(self.started_s.get(flow.name, math.inf) for flow in flows if name in self.ports_of(flow))
            passed_s, late_s = time.monotonic() - begun_s, (late_ns - self.late_base_ns.get(name, 0)) / 1e9
            if late_s > BEHIND_S and 100 * late_s >= BEHIND_PCT * passed_s:
                self.behind.setdefault(late_key(name), f"port {name!r}: of {passed_s:.1f} s of RoCEv2, its quench-nic polled {late_s:.1f} s too late to keep up a "
                                       "rate: flows and answers of the port have gaps that are not the network's")

    def read_signed(self) -> dict[str, list[Object]]:
        """Of raw flows with metrics, what each of the ports where they arrive has counted since the last start."""
        flows = {flow.number: flow for flow in self.plan.raws.values() if flow.number}
        ports = self.plan.ports if any(not flow.to for flow in flows.values()) else {name for flow in flows.values() for name in flow.to}
        found = gather({name: generator for name, generator in self.generators.items() if name in ports},
                       lambda generator: generator.if_ready(lambda generator: generator.call("signatures")))
        rows: dict[str, list[Object]] = {}
        for name, reply in found.items():
            for row in reply["rows"] if reply else ():
                flow = flows.get(row["signature"])
                if flow is not None and (not flow.to or name in flow.to):
                    rows.setdefault(flow.name, []).append(row)
        return rows

    def ports_of(self, flow: plans.Flow | plans.RawFlow) -> set[str]:
        """Where its frames leave or arrive."""
        if isinstance(flow, plans.RawFlow):
            return {flow.port.name, *flow.to} if flow.to else set(self.plan.ports)
        return {flow.tx.peer.port.name, flow.rx.peer.port.name}

    @staticmethod
    def read_port(generator: Driven) -> Counters | None:
        """Counters of a quench-nic, and of its device, which may refuse frames that it was given."""
        return generator.if_ready(lambda generator: {**generator.call("nic"), "oerrors": generator.call("port")["device_stats"].get("oerrors", 0)})

    def clear(self, flows: list[plans.Flow], raws: list[plans.RawFlow]) -> None:
        """Counters of these flows count from here, and those of ports that have no others."""
        rows = self.read_qps()
        for flow in flows:
            self.started_s.pop(flow.name, None)
            self.stopped_s.pop(flow.name, None)
            for end in (flow.tx, flow.rx):
                key = end.peer.port.name, end.qpn
                self.qp_base[key] = rows.get(key, NO_ROW)
        for name, late_ns in self.read_late(flows).items():
            self.late_base_ns[name] = late_ns
            self.behind.pop(late_key(name), None)
        found = self.read_raws()
        for raw in raws:
            self.raw_base[raw.name] = found.get(raw.name, {})
            self.behind.pop(raw.name, None)
            self.plan.renumber(raw)
        names = {flow.name for flow in flows} | {raw.name for raw in raws}
        everything: list[plans.Flow | plans.RawFlow] = [*self.plan.flows.values(), *self.plan.raws.values()]
        others = [flow for flow in everything if flow.name not in names]
        kept = {port for flow in others for port in self.ports_of(flow)}
        nics = gather({name: generator for name, generator in self.generators.items() if name not in kept}, Run.read_port)
        self.port_base.update({name: row for name, row in nics.items() if row is not None})
        with self.readings_lock:
            self.readings.clear()

    def reading(self, what: str, rows: Mapping[Any, Row]) -> Reading[Row]:
        """Rates since the reading before, which is at least LEAST_INTERVAL_S ago; else those of then."""
        with self.readings_lock:
            now = time.monotonic()
            last = self.readings.get(what)
            if last is None:
                last = self.readings[what] = Reading(now, rows, {}, 1.0)
            elif now - last.at_s >= LEAST_INTERVAL_S:
                last = self.readings[what] = Reading(now, rows, last.rows, now - last.at_s)
            return last
