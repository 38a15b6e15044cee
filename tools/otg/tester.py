# SPDX-License-Identifier: BSD-3-Clause
"""The state between requests: the configuration in force, its quench-nics, and what is started."""
from __future__ import annotations

import dataclasses
import pathlib
import threading
import time
from collections.abc import Callable, Iterable

from . import plan as plans
from . import schema
from .generator import Failed, Generator
from .schema import Object, Refused

Counters = dict[str, int]


@dataclasses.dataclass
class Outlet:
    """A port of the command line."""

    location: plans.Location
    make: Callable[[], Generator]


@dataclasses.dataclass
class Reading:
    """Counters at a time, and rates per second since the reading before."""

    at_s: float
    counters: dict[object, Counters]
    rates: dict[object, dict[str, float]]


LEAST_INTERVAL_S = 0.1
LONGEST_LINGER_S = 30.0


class Tester:
    def __init__(self, outlets: dict[str, Outlet]) -> None:
        self.outlets = outlets
        self.lock = threading.RLock()
        self.given: Object = {}
        self.plan = plans.Plan({}, {}, {}, [], True)
        self.generators: dict[str, Generator] = {}
        # Counters at the last start, by (port, QP number) and by port.
        self.qp_base: dict[tuple[str, int], Counters] = {}
        self.port_base: dict[str, Counters] = {}
        self.started_s: dict[str, float] = {}
        self.stopped_s: dict[str, float] = {}
        self.readings: dict[str, Reading] = {}

    # Configuration

    def set_config(self, given: Object) -> list[str]:
        """Check it all before anything stops; then start a quench-nic for each port."""
        config = schema.check("Config", given)
        with self.lock:
            plan = plans.plan(given, config, {name: outlet.location for name, outlet in self.outlets.items()})
            self.close()
            self.given, self.plan = given, plan
            if not plan.auto_start:
                self.set_peers(plan.peers.values(), up=False)
            try:
                self.start(plan.ports.values())
            except Failed:
                self.close()
                raise
            return plan.warnings

    def get_config(self) -> Object:
        return self.given

    def update_config(self, given: Object) -> list[str]:
        schema.check("Config.Update", given)
        raise Refused(["choice: missing: expected flows or protocols, which quench-otg refuses"])

    def start(self, ports: Iterable[plans.Port]) -> None:
        ports = list(ports)
        for port in ports:
            generator = self.outlets[port.location].make()
            self.generators[port.name] = generator
            generator.start(self.plan.text_of(port))
        for port in ports:
            self.generators[port.name].wait_started()

    def close(self) -> None:
        with self.lock:
            for generator in self.generators.values():
                generator.stop()
            self.given, self.plan = {}, plans.Plan({}, {}, {}, [], True)
            for table in (self.generators, self.qp_base, self.port_base, self.started_s, self.stopped_s, self.readings):
                table.clear()  # type: ignore[attr-defined]

    # Control

    def set_state(self, given: Object) -> list[str]:
        request = schema.check("Control.State", given)
        with self.lock:
            part = request[request["choice"]]
            what = part["choice"]
            {"link": self.set_link, "all": self.set_protocols, "rocev2": self.set_rocev2, "flow_transmit": self.set_traffic}[what](part[what])
        return []

    def named(self, path: str, names: list[str] | None, known: dict[str, object]) -> list[str]:
        wrong = [name for name in names or () if name not in known]
        if wrong:
            raise Refused([f"{path}: {name!r}: no such name in the configuration" for name in wrong])
        return list(dict.fromkeys(names)) if names else list(known)

    def set_link(self, request: Object) -> None:
        names = self.named("port.link.port_names", request.get("port_names"), dict(self.plan.ports))
        if request["state"] == "down":
            for name in names:
                self.generators[name].stop()
            return
        again = [self.plan.ports[name] for name in names if not self.generators[name].is_alive()]
        for port in again:
            self.port_base.pop(port.name, None)
            for key in [key for key in self.qp_base if key[0] == port.name]:
                del self.qp_base[key]
        self.start(again)

    def set_protocols(self, request: Object) -> None:
        self.put_peers(list(self.plan.peers.values()), request["state"] == "start")

    def set_rocev2(self, request: Object) -> None:
        peers = request["peers"]
        names = self.named("protocol.rocev2.peers.peer_names", peers.get("peer_names"), dict(self.plan.peers))
        self.put_peers([self.plan.peers[name] for name in names], peers["state"] == "up")

    @staticmethod
    def set_peers(peers: Iterable[plans.Peer], up: bool) -> None:
        for peer in peers:
            peer.up = up

    def put_peers(self, peers: list[plans.Peer], up: bool) -> None:
        changed = [peer for peer in peers if peer.up != up]
        if not changed:
            return
        self.set_peers(changed, up)
        for peer in changed:
            for flow in (qp.flow for qp in peer.qps if qp.flow is not None):
                # Both ends begin again with their initial PSN and new counters.
                flow.started = False
                for end in (flow.tx, flow.rx):
                    self.qp_base.pop((end.peer.port.name, end.qpn), None)
        self.apply()

    def apply(self) -> None:
        """The order of the ports is free: requesters of peers that come up are stopped, so none sends before its responder is there."""
        for port in self.plan.ports.values():
            generator = self.generators[port.name]
            if generator.is_alive():
                self.reload(generator, self.plan.text_of(port))

    @staticmethod
    def reload(generator: Generator, text: str) -> None:
        """QP numbers of a removed flow are free when its QPs are idle, or a timeout later."""
        end = time.monotonic() + LONGEST_LINGER_S
        while True:
            try:
                return generator.reload(text)
            except Failed as error:
                if "qpn" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def set_traffic(self, request: Object) -> None:
        names = self.named("traffic.flow_transmit.flow_names", request.get("flow_names"), dict(self.plan.flows))
        flows = [self.plan.flows[name] for name in names]
        begin = request["state"] in ("start", "resume")
        wanted = {flow.name: begin for flow in flows}
        for port in self.plan.ports.values():
            for end in port.ends:
                states = {wanted.get(flow.name, flow.started) for flow in end.flows}
                if len(states) > 1:
                    raise Refused([f"traffic.flow_transmit.flow_names: flows {end.flows[0].name!r} to {end.flows[-1].name!r} start and stop together, "
                                   f"since the port has more than {plans.MOST_SECTIONS} flows"])
        if begin:
            down = {peer.name: peer for flow in flows for peer in (flow.tx.peer, flow.rx.peer) if not peer.up}
            self.put_peers(list(down.values()), True)
            if request["state"] == "start":
                self.clear(flows)
        now = time.monotonic()
        for flow in flows:
            if begin and not flow.started and (request["state"] == "start" or flow.name not in self.started_s):
                self.started_s[flow.name] = now
            if not begin and flow.started:
                self.stopped_s[flow.name] = now
            flow.started = begin
        self.apply()

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
            if generator.is_alive():
                self.port_base[name] = generator.ask("/quench/nic")
        self.readings.clear()

    # Results

    def read_qps(self) -> dict[tuple[str, int], Counters]:
        """Rows of all QPs since the quench-nics started."""
        rows: dict[tuple[str, int], Counters] = {}
        for name, generator in self.generators.items():
            if not generator.is_alive():
                continue
            columns = generator.all("/quench/qps")
            keys = list(columns)
            for row in zip(*columns.values()):
                counters = dict(zip(keys, row))
                rows[name, counters["local_qpn"]] = counters
        return rows

    def reading(self, what: str, counters: dict[object, Counters], keys: tuple[str, ...]) -> dict[object, dict[str, float]]:
        """Rates of these counters since the reading before, which is at least LEAST_INTERVAL_S ago; else those of then."""
        now = time.monotonic()
        before = self.readings.get(what)
        if before is not None and now - before.at_s < LEAST_INTERVAL_S:
            return before.rates
        rates: dict[object, dict[str, float]] = {}
        if before is not None:
            passed = now - before.at_s
            for key, row in counters.items():
                old = before.counters.get(key, {})
                rates[key] = {name: max(0, row.get(name, 0) - old.get(name, 0)) / passed for name in keys}
        self.readings[what] = Reading(now, {key: {name: row.get(name, 0) for name in keys} for key, row in counters.items()}, rates)
        return rates


def version(root: pathlib.Path) -> str:
    """Of quench: that of meson.build in its tree, or the one that meson wrote beside the installed scripts."""
    for name in ("meson.build", "version"):
        path = root / name
        if path.exists():
            text = path.read_text(encoding="utf-8")
            return text.split("version: '", 1)[1].split("'", 1)[0] if name == "meson.build" else text.strip()
    return "unknown"
