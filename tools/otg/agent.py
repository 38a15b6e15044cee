# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg agent: the quench-nics of this machine, for a controller on another one."""
from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import IO, Any

from quench.desk import Failed

from .capture import Order, Recording
from .generator import Driven
from .schema import Object, Refused
from .tester import Outlet

# A port of a controller that was silent for so long is free for another one.
LEASE_S = 30.0
# What a controller reads, and the reset of a flow. The other commands change more, or name files.
READS = ("nic", "port", "qps", "qp", "frames", "signatures", "reset")


class AgentPort:
    def __init__(self, outlet: Outlet) -> None:
        self.outlet = outlet
        self.generator: Driven | None = None
        self.recording: Recording | None = None
        self.controller = ""
        self.heard_s = 0.0  # from the controller
        self.lock = threading.Lock()  # of changes

    def running(self) -> Driven:
        generator = self.generator
        if generator is None:
            raise Failed("its quench-nic is not started")
        return generator

    def recorded(self) -> Recording:
        if self.recording is None:
            raise Failed("no capture was started on it")
        return self.recording

    def discard(self) -> None:
        recording, self.recording = self.recording, None
        if recording is not None:
            recording.discard()


class AgentApi:
    """Requests of controllers. Each has a text `controller`, its name, and most a `port`."""

    def __init__(self, outlets: dict[str, Outlet], version: str) -> None:
        self.version = version
        self.ports = {name: AgentPort(outlet) for name, outlet in outlets.items()}
        calls: dict[str, Callable[[Object], Any]] = {
            "ports": self.list_ports, "states": self.states, "start": self.start, "wait": self.wait, "call": self.call,
            "write": self.write, "set_link": self.set_link, "commit": self.commit, "stop": self.stop,
            "capture": self.capture, "capture_stop": self.capture_stop, "capture_file": self.capture_file}
        self.routes = {f"/agent/{name}": {"POST": self.heard(call)} for name, call in calls.items()}

    def heard(self, call: Callable[[Object], Any]) -> Callable[[Any], Any]:
        def serve(given: Any) -> Any:
            if not isinstance(given, dict) or any(not isinstance(given.get(key, ""), str) for key in ("controller", "port", "text", "method")):
                raise Refused(["expected an object with the texts controller, port, text and method"])
            if not given.get("controller"):
                raise Refused(["controller: missing"])
            for port in self.ports.values():
                if port.controller == given["controller"]:
                    port.heard_s = time.monotonic()
            return call(given)
        return serve

    def port(self, given: Object) -> AgentPort:
        """Of this controller."""
        port = self.ports.get(given.get("port", ""))
        if port is None:
            raise Refused([f"port: {given.get('port')!r}: expected one of {', '.join(self.ports)}"])
        self.refuse_another(port, given)
        return port

    def refuse_another(self, port: AgentPort, given: Object) -> None:
        silent_s = time.monotonic() - port.heard_s
        if port.controller not in ("", given["controller"]) and port.generator is not None and silent_s < LEASE_S:
            raise Refused([f"port {given['port']}: another controller has it"])

    @contextlib.contextmanager
    def change(self, given: Object) -> Iterator[AgentPort]:
        """A port of this controller, for one change at a time: another controller may get it while this one waits for its turn."""
        port = self.port(given)
        with port.lock:
            self.refuse_another(port, given)
            yield port

    def list_ports(self, given: Object) -> Object:
        return {"version": self.version, "ports": {name: {"speed_bps": port.outlet.location.speed_bps, "base": port.outlet.location.base, "running": port.outlet.location.running}
                                                   for name, port in self.ports.items()}}

    def states(self, given: Object) -> Object:
        found: Object = {}
        for name, port in self.ports.items():
            generator = port.generator if port.controller == given["controller"] else None
            ready = generator is not None and generator.is_ready()
            recording = port.recording if port.controller == given["controller"] else None
            found[name] = {"ready": ready, "why": "" if ready else generator.why() if generator else "not started",
                           "attached": generator is not None and generator.is_attached(), "captured": recording is not None, "capturing": recording is not None and recording.is_running()}
        return found

    def start(self, given: Object) -> Object:
        with self.change(given) as port:
            if port.generator is not None:
                port.generator.stop()
            if port.controller != given["controller"]:
                port.discard()
            port.controller, port.heard_s, port.generator = given["controller"], time.monotonic(), port.outlet.make()
            port.generator.start(given.get("text", ""))
        return {}

    def wait(self, given: Object) -> Object:
        generator = self.port(given).running()
        generator.wait_started()
        return {"warnings": generator.take_warnings()}

    def call(self, given: Object) -> Any:
        method, params = given.get("method", ""), given.get("params", {})
        if method not in READS:
            raise Refused([f"method: {method[:40]!r}: expected one of {', '.join(READS)}"])
        if not isinstance(params, dict):
            raise Refused(["params: expected an object"])
        return self.port(given).running().call(method, **params)

    def write(self, given: Object) -> Object:
        with self.change(given) as port:
            port.running().write(given.get("text", ""))
        return {}

    def set_link(self, given: Object) -> Object:
        if not isinstance(given.get("up"), bool):
            raise Refused(["expected up, true or false"])
        with self.change(given) as port:
            return {"done": port.running().set_link(given["up"])}

    def commit(self, given: Object) -> Object:
        with self.change(given) as port:
            port.running().commit()
            return {"warnings": port.running().take_warnings()}

    def stop(self, given: Object) -> Object:
        port = self.port(given)
        generator = port.generator
        if generator is not None:
            generator.stop()  # also while start() or wait() wait for it
        port.generator = None
        return {}

    def capture(self, given: Object) -> Object:
        options, overwrite = given.get("options"), given.get("overwrite")
        if not isinstance(options, list) or not all(isinstance(option, str) for option in options) or not isinstance(overwrite, bool):
            raise Refused(["expected options, a list of texts, and overwrite, true or false"])
        with self.change(given) as port:
            port.discard()
            port.recording = port.running().capture(Order(options, overwrite))
        return {}

    def capture_stop(self, given: Object) -> Object:
        return self.port(given).recorded().stop()

    def capture_file(self, given: Object) -> IO[bytes]:
        return self.port(given).recorded().content()

    def end(self) -> None:
        for port in self.ports.values():
            if port.generator is not None:
                port.generator.stop()
            port.discard()
