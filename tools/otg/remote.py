# SPDX-License-Identifier: BSD-3-Clause
"""Ports of other machines, through quench-otg agent there."""
from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
import urllib.parse
from collections.abc import Sequence
from typing import Any

from quench.process import PATIENCE_S, Failed
from quench.telemetry import Columns

from .generator import Driven
from .schema import Object

LOOK_S = 1.0  # age at which the states of an agent's ports are asked for again
LOOK_PATIENCE_S = 5.0


class Agent:
    """A client of one agent. Any thread may call; each call has a connection of its own meanwhile."""

    def __init__(self, name: str, url: str, context: ssl.SSLContext | None, token: str | None, controller: str) -> None:
        self.name, self.url, self.context, self.controller = name, urllib.parse.urlsplit(url), context, controller
        self.headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        self.idle: list[http.client.HTTPConnection] = []
        self.lock = threading.Lock()
        self.states: dict[str, Object] = {}
        self.looked_s = -LOOK_S
        self.look_lock = threading.Lock()

    def connection(self, patience_s: float) -> http.client.HTTPConnection:
        host, port = self.url.hostname or "", self.url.port
        if self.context is None:
            return http.client.HTTPConnection(host, port, timeout=patience_s)
        return http.client.HTTPSConnection(host, port, timeout=patience_s, context=self.context)

    def call(self, what: str, patience_s: float = 2 * PATIENCE_S, **body: Any) -> Any:
        """@raise Failed: not reached, or refused"""
        with self.lock:
            kept = self.idle.pop() if self.idle else None
        data = json.dumps({"controller": self.controller, **body}).encode()
        for connection in (kept, self.connection(patience_s)):
            if connection is None:
                continue
            try:
                if connection.sock is not None:
                    connection.sock.settimeout(patience_s)
                connection.request("POST", f"/agent/{what}", data, self.headers)
                reply = connection.getresponse()
                status, found = reply.status, json.loads(reply.read())
            except (OSError, http.client.HTTPException, ValueError) as error:
                connection.close()
                # An idle connection may have been closed meanwhile. Every call may be repeated.
                if connection is kept and not isinstance(error, TimeoutError):
                    continue
                raise Failed(f"agent {self.name}: {self.url.geturl()}: {error or type(error).__name__}") from error
            with self.lock:
                self.idle.append(connection)
            if status != 200:
                raise Failed("; ".join(found.get("errors", [f"agent {self.name}: status {status}"])))
            return found
        raise AssertionError

    def state(self, port: str) -> Object:
        """At most LOOK_S old; not ready if the agent does not answer."""
        with self.look_lock:
            if time.monotonic() - self.looked_s >= LOOK_S:
                self.look()
            return self.states.get(port, {"ready": False, "why": f"agent {self.name}: no port {port}"})

    def look(self) -> None:
        try:
            self.states = self.call("states", LOOK_PATIENCE_S)
        except Failed as failed:
            self.states = {port: {"ready": False, "why": str(failed)} for port in self.states}
        self.looked_s = time.monotonic()

    def forget(self) -> None:
        with self.look_lock:
            self.looked_s = -LOOK_S


class Remote(Driven):
    """A quench-nic of an agent."""

    def __init__(self, agent: Agent, name: str, at: str) -> None:
        self.agent, self.name, self.at, self.begun = agent, name, at, False

    def call(self, what: str, **body: Any) -> Any:
        try:
            return self.agent.call(what, port=self.at, **body)
        except Failed as failed:
            self.agent.forget()
            raise Failed(f"port {self.name}: {failed}") from failed

    def start(self, text: str) -> None:
        self.begun = True
        self.call("start", text=text)
        self.agent.forget()

    def wait_started(self) -> None:
        self.call("wait")
        self.agent.forget()

    def find(self) -> bool:
        self.begun = True
        return self.is_ready()

    def is_ready(self) -> bool:
        return self.begun and bool(self.agent.state(self.at)["ready"])

    def why(self) -> str:
        return f"port {self.name}: {self.agent.state(self.at)['why']}"

    def ask(self, command: str) -> Any:
        return self.call("ask", command=command)

    def all(self, command: str, chosen: Sequence[str] = ()) -> Columns:
        found: Columns = self.call("all", command=command, chosen=list(chosen))
        return found

    def write(self, text: str) -> None:
        self.call("write", text=text)

    def commit(self) -> None:
        self.call("commit")

    def stop(self) -> None:
        if self.begun:
            self.begun = False
            try:
                self.call("stop")
            except Failed:
                pass  # its agent ends it, or is not there
            self.agent.forget()
