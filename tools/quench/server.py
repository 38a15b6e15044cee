# SPDX-License-Identifier: BSD-3-Clause
"""An HTTP server for one machine's tools, with or without TLS: who may ask, how much, how long, and how many at a time.

At most Limits.clients are served. A further one takes the place of the connection that has been idle for longest, or gets 503 if all are
busy. A connection is busy from the end of a request to the end of its answer, so a client that does not finish its request keeps nobody
out. A request may take Limits.patience_s, and its answer Limits.answer_s; then the connection is closed.

Without a token only requests to loopback names are answered on a loopback address: a foreign page in a browser of this machine cannot
reach us by a name of its own. A change by a page (check_page()) must come from a page of this server.
"""
from __future__ import annotations

import contextlib
import hmac
import http.server
import io
import ipaddress
import os
import select
import socket
import ssl
import stat
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import IO, Any, NamedTuple

MOST_LINE_BYTES = 8192
MOST_HEADER_BYTES = 16384
# Of a request that is refused by its headers.
MOST_UNREAD_BYTES, LINGER_S = 64 << 10, 1.0
# Connections beyond the limit that are told so; further ones are closed.
REFUSED = 32
TICK_S = 0.5
CHUNK_BYTES = 1 << 20
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


class Limits(NamedTuple):
    clients: int = 64
    patience_s: float = 30.0
    answer_s: float = 30.0
    body_bytes: int = 4096
    all_bodies_bytes: int = 256 << 20


class Refusal(Exception):
    """A request that is refused before its body is read: the connection is closed after the answer."""

    def __init__(self, status: int, text: str, **headers: str) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers


def host_of(text: str) -> str:
    """The host of a Host header: [::1]:8443, localhost:8443."""
    return text[1:text.find("]")] if text.startswith("[") else text.rpartition(":")[0] or text


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host).is_loopback if is_address(host) else host.lower() == "localhost"


def split_address(text: str) -> tuple[str, int]:
    """ADDRESS:PORT, [ADDRESS]:PORT, or PORT of 127.0.0.1. @raise ValueError"""
    address, colon, port = text.rpartition(":")
    address = (address[1:-1] if address.startswith("[") and address.endswith("]") else address) if colon else "127.0.0.1"
    ipaddress.ip_address(address)
    if not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError(text)
    return address, int(port)


def open_secret(path: str | os.PathLike[str], also: int = 0) -> IO[str]:
    """
    A file with a token or a key.

    also: further bits of its mode that may be there: stat.S_IRGRP for a file that a group reads
    @raise OSError, ValueError: others can read or change it
    """
    # Without waiting for the other end of a FIFO, and without a terminal that becomes ours.
    file = open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK), encoding="latin-1")
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO) & ~also or found.st_uid not in (0, os.geteuid()):
        file.close()
        raise ValueError("expected a file of yours that " + ("nobody but you and its group can read (chmod 640)" if also else "only you can read (chmod 600)"))
    return file


class Place:
    """A connection."""

    def __init__(self, connection: socket.socket, refused: bool) -> None:
        self.connection = connection  # with TLS another object than the one that was accepted, which has no descriptor any more
        self.refused = refused  # it came while all others were busy
        self.since_s = time.monotonic()
        self.busy = False
        self.held_bytes = 0  # of the body of its request
        self.ended = False  # by the server: its thread will notice


class Counts:
    """Since the start."""

    requests = not_found = refused_clients = closed_slow = 0


class Handler(http.server.BaseHTTPRequestHandler):
    """A request: answer() of a subclass checks it, reads its body, and replies."""

    protocol_version = "HTTP/1.1"
    server_version = "quench"
    sys_version = ""
    server: Server
    rfile: io.BufferedReader
    place: Place

    def setup(self) -> None:
        self.place = self.server.places[self.request]
        if self.server.context is not None:
            # Here, in the connection's thread: a client that does not speak holds up itself only.
            self.request.settimeout(self.server.limits.patience_s)
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
            self.request.settimeout(None)
            self.server.secured(self.place, self.request)
        super().setup()

    def answer(self) -> None:
        raise NotImplementedError

    def dispatch(self) -> None:
        server = self.server
        server.counts.requests += 1
        try:
            if self.place.refused:
                server.counts.refused_clients += 1
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"more than {server.limits.clients} clients at a time: expected fewer\n",
                              Retry_After="1")
            if len(self.requestline) > MOST_LINE_BYTES:
                raise Refusal(HTTPStatus.REQUEST_URI_TOO_LONG, f"expected a line of at most {MOST_LINE_BYTES} bytes\n")
            if sum(len(name) + len(value) for name, value in self.headers.items()) > MOST_HEADER_BYTES:
                raise Refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"expected headers of at most {MOST_HEADER_BYTES} bytes\n")
            self.answer()
        except Refusal as refusal:
            self.refuse(refusal)
        finally:
            self.place.since_s = time.monotonic()
            self.place.busy = False
            server.hold(self.place, -self.place.held_bytes)

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = do_OPTIONS = dispatch

    def refuse(self, refusal: Refusal) -> None:
        self.close_connection = True
        self.say_refused(refusal)
        self.linger()

    def linger(self) -> None:
        """What the client still sends is read for a while: left unread, it resets the connection, and may take the reply with it."""
        end_s, left = time.monotonic() + LINGER_S, MOST_UNREAD_BYTES
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while left > 0 and time.monotonic() < end_s:
                self.connection.settimeout(LINGER_S)
                more = len(self.connection.recv(left))
                left = left - more if more else 0

    def say_refused(self, refusal: Refusal) -> None:
        self.reply(refusal.status, TEXT, refusal.text.encode(), {name.replace("_", "-"): value for name, value in refusal.headers.items()})

    def reply(self, status: int, kind: str, data: bytes, headers: Mapping[str, str] = {}) -> None:
        self.begin_reply(status, kind, len(data), headers)
        if self.command != "HEAD":
            self.wfile.write(data)

    def begin_reply(self, status: int, kind: str, size: int, headers: Mapping[str, str] = {}) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(size), **self.server.headers, **headers}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    # What a request is asked for before its body is read. @raise Refusal

    def check_host(self) -> None:
        """On a loopback address, Host must name this machine."""
        host = self.headers.get("host")
        if self.server.loopback and host is not None and not is_loopback(host_of(host)):
            raise Refusal(HTTPStatus.FORBIDDEN, "Host is another machine's: expected localhost or 127.0.0.1\n")

    def check_page(self) -> None:
        """The request must be from a page of this server, and JSON, which a form of a foreign page cannot send."""
        host, site = self.headers.get("host", ""), self.headers.get("sec-fetch-site", "same-origin")
        scheme = "http" if self.server.context is None else "https"
        if not (is_address(host_of(host)) or is_loopback(host_of(host))):
            # Of a name, a DNS says where it is.
            raise Refusal(HTTPStatus.FORBIDDEN, "Host is a name: expected an address or localhost\n")
        if self.headers.get("origin", "").lower() != f"{scheme}://{host}".lower() or site != "same-origin":
            raise Refusal(HTTPStatus.FORBIDDEN, "Origin is another page's: expected the page of this server\n")
        if self.headers.get_content_type() != JSON:
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Content-Type: expected application/json\n")

    def check_token(self, given: str, token: str, refusal: str) -> None:
        if not hmac.compare_digest(given.encode(), token.encode()):
            raise Refusal(HTTPStatus.UNAUTHORIZED, refusal)

    def check_length(self) -> None:
        """The length of the body is told, and within the limit."""
        most = self.server.limits.body_bytes
        if "transfer-encoding" in self.headers:
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "expected Content-Length\n")
        length = self.headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > most:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Content-Length {length[:20]}: expected at most {most}\n")

    def body(self) -> bytearray:
        """After check_length()."""
        length, found = int(self.headers.get("content-length", "0")), bytearray()
        while len(found) < length:
            chunk = self.rfile.read1(min(CHUNK_BYTES, length - len(found)))
            if not chunk:
                raise ConnectionResetError
            found += chunk
            if not self.server.hold(self.place, len(chunk)):
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"bodies of more than {self.server.limits.all_bodies_bytes} bytes at a time: expected fewer\n",
                              Retry_After="1")
        return found

    def begin_answer(self) -> bool:
        """From now on the connection makes no room for another client. False: it has done so already, and gets no answer."""
        with self.server.lock:
            self.place.busy = not self.place.ended
            self.place.since_s = time.monotonic()
        self.close_connection = self.close_connection or self.place.ended
        return self.place.busy

    def has_gone(self) -> bool:
        """Has the client closed its end, or been cut off, so that nobody waits for the answer?"""
        poll = select.poll()
        poll.register(self.connection, select.POLLRDHUP)
        return bool(poll.poll(0))

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    # Of every reply.
    headers: Mapping[str, str] = {
        "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'self'; img-src data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

    def __init__(self, address: tuple[str, int], handler: type[Handler], limits: Limits = Limits(), context: ssl.SSLContext | None = None) -> None:
        """@raise OSError"""
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.limits, self.context, self.counts = limits, context, Counts()
        self.loopback = is_loopback(address[0])
        self.lock = threading.Lock()
        self.places: dict[socket.socket, Place] = {}
        super().__init__(address, handler)
        threading.Thread(target=self.end_slow_ones, daemon=True).start()

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        host = str(host)
        return f"{'http' if self.context is None else 'https'}://{f'[{host}]' if ':' in host else host}:{port}"

    def server_bind(self) -> None:
        # Not HTTPServer's, which asks a DNS for our name.
        http.server.socketserver.TCPServer.server_bind(self)  # type: ignore[attr-defined]

    def secured(self, place: Place, connection: socket.socket) -> None:
        with self.lock:
            place.connection = connection
            if place.ended:  # during the handshake
                self.shut(place)

    @staticmethod
    def shut(place: Place) -> None:
        with contextlib.suppress(OSError):
            # Not SSLSocket's, which takes TLS away from the thread that reads.
            socket.socket.shutdown(place.connection, socket.SHUT_RDWR)

    def end(self, place: Place) -> None:
        """With the lock held."""
        place.ended = True
        self.counts.closed_slow += 1
        self.shut(place)

    def make_room(self) -> bool:
        """End the connection that has been idle for longest. With the lock held. False: all are busy."""
        idle = [place for place in self.places.values() if not place.busy and not place.ended]
        if not idle:
            return False
        self.end(min(idle, key=lambda one: one.since_s))
        return True

    def hold(self, place: Place, more_bytes: int) -> bool:
        """Count the bytes of a body. Beyond the limit, the idle connection that holds most makes room. False: there is none."""
        with self.lock:
            place.held_bytes += more_bytes
            while sum(one.held_bytes for one in self.places.values() if not one.ended) > self.limits.all_bodies_bytes:
                others = [one for one in self.places.values() if one is not place and not (one.busy or one.ended)]
                if not any(one.held_bytes for one in others):
                    return False
                self.end(max(others, key=lambda one: one.held_bytes))
        return True

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.lock:
            there = sum(not place.ended and not place.refused for place in self.places.values())
            refused = there >= self.limits.clients and not self.make_room()
            full = len(self.places) >= 2 * self.limits.clients + REFUSED
            if not full:
                self.places[request] = Place(request, refused)
        if full:
            self.counts.refused_clients += 1
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self.lock:
            place = self.places.pop(request, None)
        super().shutdown_request(place.connection if place else request)

    def end_slow_ones(self) -> None:
        while True:
            time.sleep(TICK_S)
            now_s = time.monotonic()
            with self.lock:
                for place in self.places.values():
                    if not place.ended and now_s - place.since_s >= (self.limits.answer_s if place.busy else self.limits.patience_s):
                        self.end(place)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or spoke no TLS, is no news."""
