# SPDX-License-Identifier: BSD-3-Clause
"""HTTP and TLS in front of a tester."""
from __future__ import annotations

import contextlib
import hmac
import http.server
import ipaddress
import json
import os
import shutil
import socket
import ssl
import threading
import traceback
from collections.abc import Callable
from http import HTTPStatus
from typing import IO, Any, Protocol

from quench.process import Failed

from . import results, schema
from .schema import Object, Refused
from .tester import Tester

MOST_BYTES = 64 << 20
# Of a request that is refused by its headers: what is left unread resets the connection, and may take the reply with it.
MOST_UNREAD_BYTES = 64 << 10
IDLE_S = 60.0
FILE_BYTES = 1 << 18
MOST_CONNECTIONS = 64


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_of(text: str) -> str:
    """The host of a Host header: [::1]:8443, localhost:8443."""
    return text[1:text.find("]")] if text.startswith("[") else text.rpartition(":")[0] or text


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
            "/monitor/metrics": {"POST": lambda body: results.metrics(tester.run, body)},
            "/monitor/states": {"POST": lambda body: results.states(tester.run, body)},
            "/monitor/capture": {"POST": tester.get_capture},
            "/capabilities/version": {"GET": lambda _: {"api_spec_version": schema.DOCUMENT["info"]["version"], "sdk_version": "",
                                                        "app_version": version}},
        }

    @staticmethod
    def warnings(found: list[str]) -> Object:
        return {"warnings": found}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "quench-otg"
    sys_version = ""
    timeout = IDLE_S
    server: Server

    def setup(self) -> None:
        if self.server.context is not None:
            self.request.settimeout(IDLE_S)
            # Here, in the connection's thread: a client that does not speak holds up itself only.
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def reply(self, code: int, body: Any) -> None:
        data = json.dumps(body, separators=(",", ":")).encode()
        self.begin_reply(code, "application/json", len(data))
        self.wfile.write(data)

    def reply_file(self, file: IO[bytes]) -> None:
        with file:
            self.begin_reply(HTTPStatus.OK, "application/octet-stream", file.seek(0, os.SEEK_END))
            file.seek(0)
            shutil.copyfileobj(file, self.wfile, FILE_BYTES)

    def begin_reply(self, code: int, kind: str, size: int) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        self.send_header("X-Content-Type-Options", "nosniff")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def fail(self, code: int, errors: list[str], kind: str = "validation", close: bool = False) -> None:
        # What the client still sends cannot be taken for the next request.
        self.close_connection = self.close_connection or close
        self.reply(code, {"code": code, "kind": kind, "errors": errors})

    def body(self) -> bytes | None:
        """None: refused, with a reply."""
        if "transfer-encoding" in self.headers:
            self.fail(HTTPStatus.LENGTH_REQUIRED, ["expected Content-Length"], close=True)
            return None
        length = self.headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > MOST_BYTES:
            self.fail(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, [f"Content-Length {length[:20]}: expected at most {MOST_BYTES}"], close=True)
            return None
        return self.rfile.read(int(length))

    def skip_body(self) -> None:
        length = self.headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length) <= MOST_UNREAD_BYTES:
            self.rfile.read(int(length))

    def is_allowed(self) -> bool:
        """A token, where one is set. Without one, a page in a browser on this host must not reach us by a name of its own."""
        token = self.server.token
        if token is not None:
            given = self.headers.get("authorization", "")
            if hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
                return True
            self.skip_body()
            self.fail(HTTPStatus.UNAUTHORIZED, ["expected the header Authorization: Bearer TOKEN, with the token of --token-file"], close=True)
            return False
        if is_loopback(host_of(self.headers.get("host", ""))):
            return True
        self.fail(HTTPStatus.FORBIDDEN, ["Host: expected localhost or a loopback address"], close=True)
        return False

    def answer(self) -> None:
        if not self.is_allowed():
            return
        raw = self.body()
        if raw is None:
            return
        methods = self.server.api.routes.get(self.path.partition("?")[0])
        if methods is None:
            self.fail(HTTPStatus.NOT_FOUND, [f"{self.path[:80]}: expected one of {', '.join(self.server.api.routes)}"])
        elif self.command not in methods:
            self.fail(HTTPStatus.METHOD_NOT_ALLOWED, [f"{self.command}: expected {', '.join(methods)}"])
        elif self.command != "GET" and self.headers.get_content_type() != "application/json":
            # A form of a page in a browser cannot have this type.
            self.fail(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, ["expected Content-Type: application/json"])
        else:
            self.call(methods[self.command], raw)

    def call(self, serve: Callable[[Any], Any], raw: bytes) -> None:
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
                self.reply(HTTPStatus.OK, found)
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

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, api: Routed, context: ssl.SSLContext | None, token: str | None) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.api, self.context, self.token = api, context, token
        self.places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__((host, port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self.places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or spoke no TLS, is no news."""
