# SPDX-License-Identifier: BSD-3-Clause
"""Requests that change what is in force."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from quench.desk import Failed

from . import capture, results, schema, update
from . import plan as plans
from .generator import Driven, each, gather
from .run import Run, named
from .schema import Object, Refused

WATCH_S = 1.0


@dataclasses.dataclass
class Outlet:
    """A port of the command line."""

    location: plans.Location
    make: Callable[[], Driven]


def say(line: str) -> None:
    with contextlib.suppress(OSError):  # its disk is full; what we do goes on
        print(f"otg: {line}", file=sys.stderr, flush=True)


def empty() -> Run:
    return Run({}, plans.Plan({}, {}, {}, {}, [], True))


class Tester:
    """Requests that change something hold the lock, also while they wait for quench-nics. Results are those of `run`, without it."""

    def __init__(self, outlets: dict[str, Outlet], folder: pathlib.Path, state: pathlib.Path | None = None,
                 identity: Object | None = None) -> None:
        """folder: of captures on their way; state: file of the run, for a quench-otg that comes back with this identity"""
        self.folder = folder
        self.outlets, self.state_path, self.identity = outlets, state, identity or {}
        self.lock = threading.RLock()
        self.run = empty()
        self.told: set[str] = set()  # lines of run.behind that a reply had
        self.ended = threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        """Name each quench-nic that ends by itself, and each flow that falls behind, once."""
        named_: set[Driven] = set()
        behind: set[str] = set()
        while not self.ended.wait(WATCH_S):
            lost = self.lost(self.run)
            for generator in lost.keys() - named_:
                say(lost[generator])
            named_ = set(lost)
            found = set(self.run.behind.values())
            for line in found - behind:
                say(line)
            behind = found

    @staticmethod
    def lost(run: Run) -> dict[Driven, str]:
        """Those that ended by themselves, each with a line."""
        # Asked again after is_ready(), since a request may have begun to stop it meanwhile.
        return {generator: f"{generator.why()}; the other ports go on" for name, generator in run.generators.items()
                if run.expects(name, generator) and not generator.is_ready() and run.expects(name, generator)}

    def lost_lines(self) -> list[str]:
        return list(self.lost(self.run).values())

    # Configuration

    def set_config(self, given: Object) -> list[str]:
        """Check it all before anything stops; then start a quench-nic for each port."""
        plan = self.plan(given)
        with self.lock:
            self.close()
            self.run = Run(given, plan)
            plan.protocols = plan.auto_start
            if not plan.auto_start:
                self.set_peers(plan.peers.values(), up=False)
            try:
                self.start(plan.ports.values())
            except Failed:
                self.close()
                raise
            return plan.warnings + self.said() + self.save()

    def said(self) -> list[str]:
        """Warnings of quench-nics, and of flows that have fallen behind since the last reply."""
        found = list(self.run.behind.values())  # requests for results add to it meanwhile
        behind, self.told = [line for line in found if line not in self.told], set(found)
        return [line for generator in self.run.generators.values() for line in generator.take_warnings()] + behind

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """What fails at one quench-nic is taken back at all."""
        put_back, before = self.run.remember(), self.run.generators
        ran = {name for name, generator in before.items() if generator.is_ready()}
        try:
            yield
        except Failed as failed:
            put_back()
            new = {port.name: port for port in self.run.plan.ports.values() if self.run.generators[port.name] is not before[port.name]}
            again = [port for name, port in new.items() if name in ran]
            each([self.run.generators[name] for name in new.keys() - ran], lambda generator: generator.stop())
            try:
                self.begin_again(again)
                self.apply()
            except Failed as another:
                raise Failed(f"{failed}; and what was in force before is not everywhere: {another}") from failed
            raise Failed("; ".join([str(failed), *self.started_again(again)])) from failed

    @staticmethod
    def started_again(ports: list[plans.Port]) -> list[str]:
        return [f"port {port.name}: its quench-nic started again, and counts from 0" for port in ports]

    def get_config(self) -> Object:
        return self.run.given

    def plan(self, given: Object) -> plans.Plan:
        return plans.plan(given, {text: outlet.location for outlet in self.outlets.values() for text in outlet.location.texts or [outlet.location.name]})

    def update_config(self, given: Object) -> list[str]:
        """All of it, or nothing. Flows that send go on."""
        request = schema.check("Config.Update", given)
        if "flows" not in request:
            raise Refused(["choice: missing: expected flows"])
        with self.lock:
            updated = update.updated(self.run.given, given["flows"], request["flows"])
            names = {flow["name"] for flow in request["flows"]["flows"]}
            next_plan = self.plan(updated)
            for n, flow in enumerate(request["flows"]["flows"]):
                size, most = int(next_plan.raws[flow["name"]].keys["frame_bytes"]), self.run.plan.raws[flow["name"]].port.most_bytes
                if size > most:
                    raise Refused([f"flows.flows[{n}].size.fixed: {size}: expected at most {most} bytes while the port's quench-nic runs; set_config makes room"])
            with self.all_or_nothing():
                self.put_raws({name: next_plan.raws[name] for name in names})
                self.run.given = updated
            return self.new_warnings(next_plan) + self.said() + self.save() + self.lost_lines()

    def new_warnings(self, next_plan: plans.Plan) -> list[str]:
        """Those that the configuration did not have before."""
        before, self.run.plan.warnings = self.run.plan.warnings, next_plan.warnings
        return [line for line in next_plan.warnings if line not in before]

    def append_config(self, given: Any) -> list[str]:
        """All of it, or nothing. Other flows go on."""
        given = update.unwrapped(given, "config_append_list")
        schema.check_list("Config.AppendResources", given)
        with self.lock:
            updated, paths = update.appended(self.run.given, given)
            before = len(updated["flows"]) - len(paths)
            try:
                next_plan = self.plan(updated)
                added = list(next_plan.raws.values())[before:]
            except Refused as refused:
                raise Refused([re.sub(r"^flows\[(\d+)\]", lambda found: paths[int(found[1]) - before] if int(found[1]) >= before else found[0], line)
                               for line in refused.errors]) from refused
            for flow in added:
                flow.port, flow.number = self.run.plan.ports[flow.port.name], 0
                flow.next_hops = [hop if isinstance(hop, str) else self.run.plan.address(hop.name) for hop in flow.next_hops]
            again = self.full_ports(added, paths)
            with self.all_or_nothing():
                self.add_raws(added, again)
                self.run.given = updated
                rows = self.run.read_raws()
                self.run.raw_base.update({flow.name: rows.get(flow.name, {}) for flow in added})
            return (self.started_again([port for port in again if port.name not in self.run.down]) + self.new_warnings(next_plan) + self.said() + self.save() +
                    self.lost_lines())

    def full_ports(self, added: list[plans.RawFlow], paths: list[str]) -> list[plans.Port]:
        """Ports whose quench-nics have no room for the flows. @raise Refused: they send, or capture"""
        full: list[plans.Port] = []
        errors: list[str] = []
        for port in self.run.plan.ports.values():
            ours = [flow for flow in added if flow.port is port]
            arriving = [flow for flow in added if flow.measured and (not flow.to or port.name in flow.to)]
            free = sum(flow is None for flow in port.slots.values())
            # What arrives is counted, if somebody counts already, and has room.
            counts = port.running is not None or all(
                port.signatures and int(flow.keys["frame_bytes"]) <= port.counted_bytes for flow in arriving)
            if len(ours) <= free and all(int(flow.keys["frame_bytes"]) <= port.most_bytes for flow in ours) and counts:
                continue
            full.append(port)
            if port.running is not None:
                errors.append(f"{paths[added.index((ours or arriving)[0])]}: port {port.name!r} has room for {free} more flows of at most {port.most_bytes} bytes, and somebody "
                              "else started its quench-nic")
                continue
            sends = any(flow.started for flow in self.flows_of(port)) or any(flow.started for flow in port.raws)
            running = [what for what, runs in (("flows", sends), ("capture", self.captures(port.name))) if runs]
            if running:
                errors.append(f"{paths[added.index((ours or arriving)[0])]}: port {port.name!r} has room for {free} more flows of at most {port.most_bytes} bytes, and "
                              f"would start again: expected its {' and '.join(running)} to be stopped")
        if errors:
            raise Refused(errors)
        return full

    def flows_of(self, port: plans.Port) -> list[plans.Flow]:
        return [flow for flow in self.run.plan.flows.values() if port in (flow.tx.peer.port, flow.rx.peer.port)]

    def add_raws(self, added: list[plans.RawFlow], again: list[plans.Port]) -> None:
        """again: ports whose quench-nics start again"""
        plan = self.run.plan
        plan.raws = {**plan.raws, **{flow.name: flow for flow in added}}
        plan.signatures = plan.signatures or plans.LEAST_SIGNATURES
        plan.number(added)
        for port in again:
            port.rx_bytes = max([port.rx_bytes, *(int(flow.keys["frame_bytes"]) for flow in added)])
        for flow in added:
            flow.port.raws = [*flow.port.raws, flow]
            if flow.port not in again:
                section = next(section for section, other in flow.port.slots.items() if other is None)
                flow.port.slots = {**flow.port.slots, section: flow}
        self.apply([port for port in plan.ports.values() if port not in again and any(flow.port is port for flow in added)])
        self.restart_ports(again)

    def remove_raws(self, names: set[str]) -> list[plans.Port]:
        """@return their ports"""
        plan = self.run.plan
        changed = [port for port in plan.ports.values() if any(flow.name in names for flow in port.raws)]
        for port in changed:
            port.raws = [flow for flow in port.raws if flow.name not in names]
            port.slots = {section: None if flow and flow.name in names else flow for section, flow in port.slots.items()}
        plan.raws = {name: flow for name, flow in plan.raws.items() if name not in names}
        return changed

    def delete_config(self, given: Any) -> list[str]:
        request = schema.check_list("Config.DeleteResources", update.unwrapped(given, "config_delete_list"))
        with self.lock:
            left, names = update.deleted(self.run.given, request)
            with self.all_or_nothing():
                self.run.given = left
                changed = self.remove_raws(names)
                for name in names:
                    self.run.raw_base.pop(name, None)
                self.apply(changed)
            return self.said() + self.save() + self.lost_lines()

    def restart_ports(self, ports: list[plans.Port]) -> None:
        """Their quench-nics start again; QPs at both ends begin with their initial PSN."""
        peers = list({end.peer.name: end.peer for port in ports for flow in self.flows_of(port) for end in (flow.tx, flow.rx) if end.peer.up}.values())
        self.put_peers(peers, False)
        for port in ports:
            port.begin(self.run.plan.signatures)
        # A link that is down comes up with the next request for it.
        self.begin_again([port for port in ports if port.name not in self.run.down])
        self.put_peers(peers, True)

    def begin_again(self, ports: list[plans.Port]) -> None:
        generators = [self.run.generators[port.name] for port in ports]
        for port in ports:
            port.begin(self.run.plan.signatures)
        # Without room for the configurations, none stops.
        self.write(generators, ports)
        for port in ports:
            self.run.port_base.pop(port.name, None)
            for key in [key for key in self.run.qp_base if key[0] == port.name]:
                del self.run.qp_base[key]
            for flow in port.raws:
                self.run.raw_base.pop(flow.name, None)
        names = {port.name for port in ports}
        self.run.held |= names
        try:
            each(generators, lambda generator: generator.stop())
            self.start(ports)
        finally:
            self.run.held -= names

    def put_raws(self, flows: dict[str, plans.RawFlow]) -> None:
        ports = []
        for name, flow in flows.items():
            ours = self.run.plan.raws[name]
            ours.keys, ours.idle = flow.keys, flow.idle
            ports.append(ours.port)
        self.apply([port for port in self.run.plan.ports.values() if port in ports])

    def start(self, ports: Iterable[plans.Port]) -> None:
        ports = list(ports)
        made = {port.name: self.outlets[port.outlet].make() for port in ports}
        # Another dictionary, because requests for results go through the old one.
        self.run.generators = {**self.run.generators, **made}
        texts = {}
        for port in ports:
            port.begin(self.run.plan.signatures)
            texts[made[port.name].name] = self.run.plan.text_of(port)
        failed = each(made.values(), lambda generator: generator.start(texts[generator.name]))
        failed = failed or each(made.values(), lambda generator: generator.wait_started())
        if failed:
            raise next(iter(failed.values()))
        self.run.begun |= set(made)

    def end(self) -> None:
        """As close(), and a change that waits for its quench-nics fails."""
        self.ended.set()
        self.run.stop()
        self.close()

    def close(self) -> None:
        with self.lock:
            old, self.run = self.run, empty()
            old.stop()
            if self.state_path:
                self.state_path.unlink(missing_ok=True)

    # A run outlives its quench-otg

    def save(self) -> list[str]:
        """@return a warning if it cannot: what is to be saved is in force"""
        if self.state_path is None:
            return []
        kept = {**self.identity, **self.run.kept()}
        part = self.state_path.with_suffix(".part")
        try:
            part.write_text(json.dumps(kept), encoding="utf-8")
            part.replace(self.state_path)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            return [f"{self.state_path}: {error.strerror}: a quench-otg that takes the run over will not know of this change"]
        return []

    def resume(self, kept: Any) -> None:
        """Take over the quench-nics of a run that save() kept."""
        run = Run(kept["given"], self.plan(kept["given"]))
        run.restore(kept)
        run.generators = {port.name: self.outlets[port.outlet].make() for port in run.plan.ports.values()}
        for name, generator in run.generators.items():
            if not generator.find() and name not in run.down:
                say(f"port {name}: its quench-nic is gone: {generator.why()}")
            if name in run.down and generator.is_ready():
                generator.set_link(False)  # as it is: it knows whose link it put down
            recording = generator.found_capture() if name in kept["captured"] else None
            if recording is not None:
                run.recordings[name] = recording
        run.begun = set(run.generators)
        self.run = run
        say(f"took over the run of {', '.join(name for name, generator in run.generators.items() if generator.is_ready()) or 'no port'}")

    # Control

    def set_state(self, given: Object) -> list[str]:
        request = schema.check("Control.State", given)
        with self.lock:
            part = request[request["choice"]]
            what = part["choice"]
            setters: dict[str, Callable[[Object], list[str] | None]] = {
                "link": self.set_link, "capture": self.set_capture, "all": self.set_protocols, "rocev2": self.set_rocev2, "flow_transmit": self.set_traffic}
            with self.all_or_nothing():
                warnings = setters[what](part[what]) or []
            return warnings + self.said() + self.save() + self.lost_lines()

    def set_link(self, request: Object) -> None:
        names = named("port.link.port_names", request.get("port_names"), dict(self.run.plan.ports))
        attached = [name for name in names if self.run.generators[name].is_attached()]
        if attached:
            raise Refused([f"port.link.port_names: {name!r}: somebody else started its quench-nic" for name in attached])
        if request["state"] == "down":
            self.run.down |= set(names)
            for name in names:
                generator = self.run.generators[name]
                # The end of a quench-nic is the end of its link.
                if not generator.set_link(False):
                    generator.stop()
            return
        for name in names:
            if self.run.generators[name].is_ready():
                self.run.generators[name].set_link(True)
        ended = [name for name in names if not self.run.generators[name].is_ready()]
        wires = {self.run.generators[name].wire for name in ended if self.run.generators[name].serves}
        clients = [name for name, generator in self.run.generators.items() if name not in ended and generator.wire in wires and generator.is_ready()]
        self.link_again([self.run.plan.ports[name] for name in [*ended, *clients]])
        self.run.down -= set(names)

    def link_again(self, ports: list[plans.Port]) -> None:
        """Their quench-nics start again. QPs begin with their initial PSN, so those at the other ends do so too, and then started flows go on."""
        flows = list({flow.name: flow for port in ports for flow in self.flows_of(port)}.values())
        started = [flow for flow in flows if flow.started]
        for flow in flows:
            flow.started = False
        try:
            self.begin_again(ports)
            names = {flow.name for flow in flows}
            for port in self.run.plan.ports.values():
                generator = self.run.generators[port.name]
                for end in port.ends:
                    if port not in ports and end.is_up() and generator.is_ready() and any(flow.name in names for flow in end.flows):
                        generator.call("reset", flow=end.section)
        finally:
            for flow in started:
                flow.started = True
        if started:
            self.apply([port for port in self.run.plan.ports.values() if any(flow.started for end in port.ends for flow in end.flows)])

    def set_capture(self, request: Object) -> list[str]:
        path = "port.capture.port_names"
        run, start = self.run, request["state"] == "start"
        known = {name: port.capture.order for name, port in run.plan.ports.items() if port.capture is not None}
        names = named(path, request.get("port_names"), dict(run.plan.ports)) if request.get("port_names") else list(known)
        if not names:
            raise Refused([f"{path}: none: captures of the configuration have no port"])
        wrong = {name: "captures of the configuration do not have this port" if name not in known else
                 "its capture runs" if start and self.captures(name) else
                 "no capture was started on it" if not start and request.get("port_names") and name not in run.recordings else "" for name in names}
        if any(wrong.values()):
            raise Refused([f"{path}: {name!r}: {why}" for name, why in wrong.items() if why])
        return self.start_captures({name: known[name] for name in names}) if start else self.stop_captures(
            {name: run.recordings[name] for name in names if name in run.recordings})

    def captures(self, port: str) -> bool:
        recording = self.run.recordings.get(port)
        return recording is not None and recording.is_running()

    def start_captures(self, orders: dict[str, capture.Order]) -> list[str]:
        """All of them, or none."""
        generators = {self.run.generators[name].name: self.run.generators[name] for name in orders}
        by_outlet = {self.run.plan.ports[name].outlet: order for name, order in orders.items()}
        made: dict[str, capture.Recording] = {}

        def begin(generator: Driven) -> None:
            made[generator.name] = generator.capture(by_outlet[generator.name])

        for name in orders:
            if name in self.run.recordings:
                self.run.recordings.pop(name).discard()
        failed = each(generators.values(), begin)
        if failed:
            for recording in made.values():
                recording.discard()
            raise next(iter(failed.values()))
        self.run.recordings.update({name: made[self.run.plan.ports[name].outlet] for name in orders})
        return []

    @staticmethod
    def stop_captures(recordings: dict[str, capture.Recording]) -> list[str]:
        found = gather(recordings, lambda recording: recording.stop())
        return ["; ".join(part for part in (f"port {name}: capture: {said['frames']} frames, {said['lost']} lost", said["error"], said["ended"]) if part)
                for name, said in found.items() if said["lost"] or said["error"] or said["ended"]]

    def get_capture(self, given: Object) -> IO[bytes]:
        request = schema.check("Capture.Request", given)
        name = request["port_name"]
        with self.lock:
            recording, settings = self.run.recordings.get(name), self.run.plan.ports[name].capture if name in self.run.plan.ports else None
            if recording is None or settings is None:
                raise Refused([f"port_name: {name!r}: no capture was started on it"])
            for line in self.stop_captures({name: recording}):
                say(line)
            file = recording.content()
        packets = request["packets"]
        first, most = 1, None
        if packets["choice"] == "slice":
            first, most = packets["slice"]["initial"]["start"], packets["slice"]["initial"]["count"]
        return capture.packed(file, settings, first, most, self.folder)

    def set_protocols(self, request: Object) -> None:
        self.run.plan.protocols = request["state"] == "start"
        self.put_peers(list(self.run.plan.peers.values()), self.run.plan.protocols)
        self.apply()

    def set_rocev2(self, request: Object) -> None:
        peers = request["peers"]
        names = named("protocol.rocev2.peers.peer_names", peers.get("peer_names"), dict(self.run.plan.peers))
        self.put_peers([self.run.plan.peers[name] for name in names], peers["state"] == "up")

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
                    self.run.qp_base.pop((end.peer.port.name, end.qpn), None)
        self.apply()

    def apply(self, ports: Iterable[plans.Port] | None = None, what: str = "") -> None:
        """
        Put the plan in force at the ports whose quench-nics run, all at the same time. Their order is free: requesters of peers that come
        up are stopped, so none sends before its responder is there.

        what: print how far apart they did it
        """
        changed = [port for port in (self.run.plan.ports.values() if ports is None else ports) if self.run.generators[port.name].is_ready()]
        generators = [self.run.generators[port.name] for port in changed]
        spans: dict[str, tuple[float, float]] = {}

        def commit(generator: Driven) -> None:
            begun_s = time.monotonic()
            generator.commit()
            spans[generator.name] = begun_s, time.monotonic()

        failed = self.write(generators, changed)
        failed |= each([generator for generator in generators if generator.name not in failed], commit)
        if what and len(spans) > 1:
            # Each changed within its span.
            middles = [(begun_s + end_s) / 2 for begun_s, end_s in spans.values()]
            say(f"traffic {what}: {len(spans)} ports within {1000 * (max(middles) - min(middles)):.1f} ms, each known to "
                f"{500 * max(end_s - begun_s for begun_s, end_s in spans.values()):.1f} ms")
        self.refuse(generators, failed)

    def write(self, generators: list[Driven], ports: list[plans.Port]) -> dict[str, Failed]:
        """@return failures of those that have ended. @raise Failed: of another, before any has changed"""
        texts = {generator.name: self.run.plan.text_of(port) for generator, port in zip(generators, ports)}
        failed = each(generators, lambda generator: generator.write(texts[generator.name]))
        self.refuse(generators, failed)
        return failed

    @staticmethod
    def refuse(generators: list[Driven], failed: dict[str, Failed]) -> None:
        for generator in generators:
            if generator.name in failed and generator.is_ready():  # else lost() names it
                raise failed[generator.name]

    def set_traffic(self, request: Object) -> None:
        plan = self.run.plan
        names = named("traffic.flow_transmit.flow_names", request.get("flow_names"), {**plan.flows, **plan.raws})
        flows = [plan.flows[name] for name in names if name in plan.flows]
        raws = [plan.raws[name] for name in names if name in plan.raws]
        state = request["state"]
        begin = state in ("start", "resume")
        wanted = {flow.name: begin for flow in flows}
        for port in self.run.plan.ports.values():
            for end in port.ends:
                states = {wanted.get(flow.name, flow.started) for flow in end.flows}
                if len(states) > 1:
                    raise Refused([f"traffic.flow_transmit.flow_names: flows {end.flows[0].name!r} to {end.flows[-1].name!r} start and stop together, "
                                   f"since the port has more than {plans.MOST_SECTIONS} flows"])
        if begin:
            down = {peer.name: peer for flow in flows for peer in (flow.tx.peer, flow.rx.peer) if not peer.up}
            self.put_peers(list(down.values()), True)
            self.resolve(raws)
            self.restart(raws if state == "start" else self.finished(raws))
        if state == "start":
            self.run.clear(flows, raws)
        now = time.monotonic()
        for flow in flows:
            if begin and not flow.started and (state == "start" or flow.name not in self.run.started_s):
                self.run.started_s[flow.name] = now
            if not begin and flow.started:
                self.run.stopped_s[flow.name] = now
            flow.started = begin
        for raw in raws:
            # A flow that is paused is started.
            raw.started, raw.paused = begin or (state == "pause" and raw.started), state == "pause" and raw.started
        self.apply(what=state)
        if not begin and raws:
            self.run.read_raws()  # notes those that have fallen behind
        if not begin and flows:
            self.run.note_late(flows)

    def resolve(self, raws: list[plans.RawFlow]) -> None:
        """Addresses of gateways to which frames of devices go. @raise Refused: one is not known"""
        errors = []
        for raw in raws:
            for address in (hop for hop in raw.next_hops if isinstance(hop, plans.Address)):
                mac = results.gateway_mac(self.run, address)
                if mac:
                    raw.resolved[address.name] = mac
                else:
                    errors.append(f"traffic.flow_transmit.flow_names: {raw.name!r}: the gateway {address.gateway} of {address.name!r} has not answered: expected "
                                  "it to be resolved, or a gateway_mac")
        if errors:
            raise Refused(errors)

    def finished(self, raws: list[plans.RawFlow]) -> list[plans.RawFlow]:
        """Of started flows, those that have sent all of their frames."""
        rows = self.run.read_raws()
        return [raw for raw in raws if raw.started and not rows.get(raw.name, {}).get("started")]

    def restart(self, raws: list[plans.RawFlow]) -> None:
        """A stream that is started, and perhaps at its end, starts again only after a stop."""
        again = [raw for raw in raws if raw.started]
        for raw in again:
            raw.started = raw.paused = False
        if again:
            self.apply()
