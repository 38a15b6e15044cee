# SPDX-License-Identifier: BSD-3-Clause
"""Ports of other machines, through quench-otg agent there."""
from __future__ import annotations

import contextlib
import http.client
import json
import pathlib
import shutil
import ssl
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Sequence
from typing import IO, Any, TypeVar

from quench.desk import Failed, Row
from quench.process import PATIENCE_S

from .capture import CHUNK_BYTES, Order, Recording
from .generator import Driven
from .schema import Object

LOOK_S = 1.0  # age at which the states of an agent's ports are asked for again
LOOK_PATIENCE_S = 5.0
# Of a file, and of any other reply.
MOST_CAPTURE_BYTES, MOST_REPLY_BYTES = 8 << 30, 1 << 30

T = TypeVar("T")


class Agent:
    """A client of one agent. Any thread may call; each call has a connection of its own meanwhile."""

    def __init__(self, name: str, url: str, context: ssl.SSLContext | None, token: str | None, controller: str, folder: pathlib.Path) -> None:
        """folder: of files of the agent, while they are here"""
        self.folder = folder
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
        def read(reply: http.client.HTTPResponse) -> Any:
            return json.loads(reply.read(MOST_REPLY_BYTES))
        return self.exchange(what, read, patience_s, body)

    def fetch(self, what: str, **body: Any) -> IO[bytes]:
        """A reply that is a file."""
        def copy(reply: http.client.HTTPResponse) -> IO[bytes]:
            size = int(reply.headers.get("content-length", 0))
            if size > MOST_CAPTURE_BYTES:
                raise Failed(f"agent {self.name}: a file of {size} bytes: expected at most {MOST_CAPTURE_BYTES}")
            out = tempfile.TemporaryFile(dir=self.folder)
            shutil.copyfileobj(reply, out, CHUNK_BYTES)
            if out.tell() != size:
                raise http.client.IncompleteRead(b"", size - out.tell())
            out.seek(0)
            return out
        return self.exchange(what, copy, 2 * PATIENCE_S, body)

    def exchange(self, what: str, read: Callable[[http.client.HTTPResponse], T], patience_s: float, body: Object) -> T:
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
                errors = None if reply.status == 200 else json.loads(reply.read(MOST_REPLY_BYTES)).get("errors", [f"agent {self.name}: status {reply.status}"])
                found = read(reply) if errors is None else None
            except (OSError, http.client.HTTPException, ValueError) as error:
                connection.close()
                # An idle connection may have been closed meanwhile. Every call may be repeated.
                if connection is kept and not isinstance(error, TimeoutError):
                    continue
                raise Failed(f"agent {self.name}: {self.url.geturl()}: {error or type(error).__name__}") from error
            except Failed:
                connection.close()
                raise
            with self.lock:
                self.idle.append(connection)
            if errors is not None:
                raise Failed("; ".join(errors))
            assert found is not None
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
        self.warnings: list[str] = []

    def post(self, what: str, **body: Any) -> Any:
        try:
            return self.agent.call(what, port=self.at, **body)
        except Failed as failed:
            self.agent.forget()
            raise Failed(f"port {self.name}: {failed}") from failed

    def start(self, text: str) -> None:
        self.begun = True
        self.post("start", text=text)
        self.agent.forget()

    def wait_started(self) -> None:
        self.warnings += self.post("wait").get("warnings", [])
        self.agent.forget()

    def find(self) -> bool:
        self.begun = True
        return self.is_ready()

    def is_ready(self) -> bool:
        return self.begun and bool(self.agent.state(self.at)["ready"])

    def why(self) -> str:
        return f"port {self.name}: {self.agent.state(self.at)['why']}"

    def call(self, method: str, **params: Any) -> Row:
        found: Row = self.post("call", method=method, params=params)
        return found

    def write(self, text: str) -> None:
        self.post("write", text=text)

    def commit(self) -> None:
        self.warnings += self.post("commit").get("warnings", [])

    def take_warnings(self) -> list[str]:
        found, self.warnings = self.warnings, []
        return [f"port {self.name}: {line}" for line in found]

    def set_link(self, up: bool) -> bool:
        return bool(self.post("set_link", up=up)["done"])

    def capture(self, order: Order) -> Recording:
        self.post("capture", options=order.options, overwrite=order.overwrite)
        self.agent.forget()
        return RemoteRecording(self)

    def found_capture(self) -> Recording | None:
        return RemoteRecording(self) if self.agent.state(self.at).get("captured") else None

    def is_attached(self) -> bool:
        return bool(self.agent.state(self.at).get("attached"))

    def stop(self) -> None:
        if self.begun:
            self.begun = False
            try:
                self.post("stop")
            except Failed:
                pass  # its agent ends it, or is not there
            self.agent.forget()


class RemoteRecording(Recording):
    """A capture in files of an agent."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote

    def is_running(self) -> bool:
        return bool(self.remote.agent.state(self.remote.at).get("capturing"))

    def stop(self) -> Object:
        found: Object = self.remote.post("capture_stop")
        self.remote.agent.forget()
        return found

    def content(self) -> IO[bytes]:
        return self.remote.agent.fetch("capture_file", port=self.remote.at)

    def discard(self) -> None:
        """Its agent deletes it at the next capture, or when it ends."""
        with contextlib.suppress(Failed):
            self.remote.post("capture_stop")
