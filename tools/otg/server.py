# SPDX-License-Identifier: BSD-3-Clause
"""HTTP and TLS in front of a tester."""
from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import ssl
import threading
import traceback
from collections.abc import Callable
from http import HTTPStatus
from typing import IO, Any, Protocol

from quench import server
from quench.desk import Failed
from quench.server import JSON, Refusal

from . import results, schema, table
from .schema import Object, Refused
from .tester import Tester

# An answer may wait for generators, and send a capture of gigabytes.
LIMITS = server.Limits(patience_s=60.0, answer_s=3600.0, body_bytes=64 << 20)
FILE_BYTES = 1 << 18
# Of a request, in JSON: parsed, each takes up to 200 bytes, and a checked one as much again.
MOST_VALUES = 1 << 21
LARGE_BYTES = 1 << 20

MOST_CHOICES = 4  # of an action, one in the other
ACTIONS = {
    **{f"protocol.{name}.": f"quench-nic sends no echo requests; get_states has the {what} that answered" for name, what in (("ipv4", "ARP neighbours"), ("ipv6", "neighbours"))},
    "protocol.": table.NO_PROTOCOL,
    "port.": "set_control_state restarts the quench-nic of a port: port.link down, and up",
}

Routes = dict[str, dict[str, Callable[[Any], Any]]]


class Routed(Protocol):
    """What each path and method does; a reply is JSON, or a file."""

    routes: Routes


class Api:
    """The API of testers."""

    def __init__(self, tester: Tester, version: str) -> None:
        self.tester = tester
        self.version = version
        self.routes: Routes = {
            "/config": {"GET": lambda _: tester.get_config(), "POST": lambda body: self.warnings(tester.set_config(body)),
                        "PATCH": lambda body: self.warnings(tester.update_config(body))},
            "/config/append": {"PATCH": lambda body: self.warnings(tester.append_config(body))},
            "/config/delete": {"PATCH": lambda body: self.warnings(tester.delete_config(body))},
            "/control/state": {"POST": lambda body: self.warnings(tester.set_state(body))},
            "/control/action": {"POST": refuse_action},
            "/monitor/metrics": {"POST": lambda body: results.metrics(tester.run, body)},
            "/monitor/states": {"POST": lambda body: results.states(tester.run, body)},
            "/monitor/capture": {"POST": tester.get_capture},
            "/capabilities/version": {"GET": lambda _: {"api_spec_version": schema.DOCUMENT["info"]["version"], "sdk_version": "",
                                                        "app_version": version}},
        }

    @staticmethod
    def warnings(found: list[str]) -> Object:
        return {"warnings": found}


def refuse_action(given: Any) -> Any:
    """set_control_action, of which there is nothing."""
    names: list[str] = []
    while isinstance(given, dict) and isinstance(given.get("choice"), str) and len(names) < MOST_CHOICES:
        names.append(given["choice"])
        given = given.get(names[-1])
    action = ".".join(names)
    why = next((why for begin, why in ACTIONS.items() if f"{action}.".startswith(begin)), "expected no action")
    raise Refused([f"{schema.shown(action)}: not implemented: {why}"], HTTPStatus.NOT_IMPLEMENTED)


class Handler(server.Handler):
    server_version = "quench-otg"
    server: Server

    def reply_json(self, code: int, body: Any) -> None:
        self.reply(code, JSON, json.dumps(body, separators=(",", ":")).encode())

    def reply_file(self, file: IO[bytes]) -> None:
        with file:
            self.begin_reply(HTTPStatus.OK, "application/octet-stream", file.seek(0, os.SEEK_END))
            file.seek(0)
            shutil.copyfileobj(file, self.wfile, FILE_BYTES)

    def fail(self, code: int, errors: list[str], kind: str = "validation") -> None:
        self.reply_json(code, {"code": code, "kind": kind, "errors": errors})

    def say_refused(self, refusal: Refusal) -> None:
        self.fail(refusal.status, [refusal.text.strip()])

    def answer(self) -> None:
        if self.server.token is None:
            # A page in a browser on this host must not reach us by a name of its own.
            self.check_host()
        else:
            self.check_token(self.given_token(), self.server.token, "expected the header Authorization: Bearer TOKEN, with the token of --token-file, "
                             "or a location https://otg:TOKEN@HOST:PORT, of which clients make it")
        self.check_length()
        raw = self.body()
        if not self.begin_answer():
            return
        methods = self.server.api.routes.get(self.path.partition("?")[0])
        if methods is None:
            self.fail(HTTPStatus.NOT_FOUND, [f"{self.path[:80]}: expected one of {', '.join(self.server.api.routes)}"])
        elif self.command not in methods:
            self.fail(HTTPStatus.METHOD_NOT_ALLOWED, [f"{self.command}: expected {', '.join(methods)}"])
        elif self.command != "GET" and self.headers.get_content_type() != JSON:
            # A form of a page in a browser cannot have this type.
            self.fail(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, ["expected Content-Type: application/json"])
        else:
            # What a large request takes, when it is parsed, only one takes at a time.
            with contextlib.ExitStack() as turn:
                if len(raw) > LARGE_BYTES:
                    turn.enter_context(self.server.large)
                self.call(methods[self.command], raw)

    def given_token(self) -> str:
        """Of Bearer, or the password of Basic, which clients make of https://otg:TOKEN@HOST:PORT."""
        scheme, _, text = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            with contextlib.suppress(ValueError):
                return base64.b64decode(text).decode("latin-1").partition(":")[2]
        return text if scheme.lower() == "bearer" else ""

    def call(self, serve: Callable[[Any], Any], raw: bytearray) -> None:
        # Each value follows one of these bytes, which texts have too. Before parsing, which is where memory goes.
        most_values = sum(map(raw.count, (b",", b":", b"[")))
        if most_values > MOST_VALUES:
            self.fail(HTTPStatus.BAD_REQUEST, [f"{most_values} commas, colons and brackets: expected at most {MOST_VALUES}"])
            return
        try:
            given = json.loads(raw) if self.command != "GET" else None
        except (ValueError, RecursionError) as error:
            self.fail(HTTPStatus.BAD_REQUEST, [f"expected JSON: {error}"])
            return
        try:
            found = serve(given)
            if hasattr(found, "read"):
                self.reply_file(found)
            else:
                self.reply_json(HTTPStatus.OK, found)
        except Refused as error:
            self.fail(error.code, error.errors)
        except Failed as error:
            self.fail(HTTPStatus.INTERNAL_SERVER_ERROR, [str(error)], "internal")
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:  # a mistake of ours: the server goes on
            with contextlib.suppress(OSError):  # the client gets its reply also if nobody gets ours
                traceback.print_exc()
            self.fail(HTTPStatus.INTERNAL_SERVER_ERROR, [f"{type(error).__name__}: {error}"], "internal")


class Server(server.Server):
    def __init__(self, host: str, port: int, api: Routed, context: ssl.SSLContext | None, token: str | None) -> None:
        self.api, self.token, self.large = api, token, threading.Lock()
        super().__init__((host, port), Handler, LIMITS, context)
