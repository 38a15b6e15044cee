# SPDX-License-Identifier: BSD-3-Clause
"""The TCP connection to a perftest program: sends and receives whole messages, and ends its waits at SIGINT, SIGTERM, SIGHUP, or the end
of the peer.

perftest reads each message with one read(), so each is sent at once.
"""
from __future__ import annotations

import errno
import os
import select
import signal
import socket
import time

from quenchctl.command import BadUsage, Ends, say

# In which the peer must answer while both prepare: it registers memory meanwhile.
PATIENCE_S = 20.0


class Peer:
    def __init__(self, is_client: bool) -> None:
        self.is_client = is_client  # we connected, so we speak first
        self.name = ""              # "10.0.0.2:18515"
        self.socket: socket.socket | None = None
        # A signal ends a wait and nothing else: flows that were added are removed.
        self.signals, wake = socket.socketpair()
        wake.setblocking(False)
        self.wake = wake
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)

    def wait(self, of: socket.socket, events: int, patience_s: float | None) -> bool:
        """@return False: the time has passed. @raise Ends: a signal"""
        poll = select.poll()
        poll.register(of, events)
        poll.register(self.signals, select.POLLIN)
        ready = poll.poll(None if patience_s is None else max(0.0, patience_s * 1000))
        if any(fd == self.signals.fileno() for fd, _ in ready):
            raise Ends(f"{self.name or 'perftest'}: ended by a signal")
        return bool(ready)

    def fail(self, what: str, why: str) -> Ends:
        return Ends(f"{self.name}: {what}: {why}")

    def connected(self) -> socket.socket:
        assert self.socket is not None
        return self.socket

    def connect(self, text: str, port: int) -> None:
        """To HOST or HOST:PORT. @raise Ends, BadUsage"""
        host, colon, number = text.partition(":")
        if ":" in number:
            host = text  # an IPv6 address without a port
        elif colon:
            if not (number.isascii() and number.isdigit() and 0 < int(number) < 65536):
                raise BadUsage(f"{text}: expected HOST or HOST:PORT")
            port = int(number)
        if not host:
            raise BadUsage(f"{text}: expected HOST or HOST:PORT")
        self.name = f"{host}:{port}"
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise Ends(f"{text}: {error.strerror}") from error
        code = errno.EHOSTUNREACH
        for family, kind, protocol, _, address in found:
            s = socket.socket(family, kind, protocol)
            s.setblocking(False)
            code = s.connect_ex(address)
            if code == errno.EINPROGRESS:
                code = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) if self.wait(s, select.POLLOUT, PATIENCE_S) else errno.ETIMEDOUT
            if code == 0:
                self.socket = s
                return
            s.close()
        raise self.fail("no connection", os.strerror(code))

    def accept(self, port: int) -> None:
        """Wait for one client on a port of all addresses. @raise Ends"""
        try:
            dual = socket.has_dualstack_ipv6()
            listening = socket.create_server(("", port), family=socket.AF_INET6 if dual else socket.AF_INET, backlog=1, dualstack_ipv6=dual)
        except OSError as error:
            raise Ends(f"port = {port}: cannot listen: {os.strerror(error.errno or 0)}") from error
        with listening:
            say("", f"waiting for a client of perftest on port {port}")
            self.wait(listening, select.POLLIN, None)
            s, address = listening.accept()
        s.setblocking(False)
        self.socket = s
        self.name = f"{address[0].removeprefix('::ffff:')}:{address[1]}"

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        for s in (self.socket, self.signals, self.wake):
            if s is not None:
                s.close()

    def send(self, data: bytes) -> None:
        """@raise Ends"""
        try:
            sent = self.connected().send(data, socket.MSG_NOSIGNAL)
        except OSError as error:
            raise self.fail("cannot be written to", error.strerror or str(error)) from error
        # The buffer of a connection that both read in turn is empty.
        if sent != len(data):
            raise self.fail("cannot be written to", "it reads nothing")

    def receive(self, what: str, n: int, patience_s: float | None = PATIENCE_S) -> bytes:
        """Exactly n bytes. @raise Ends"""
        end_s = None if patience_s is None else time.monotonic() + patience_s
        found = b""
        while len(found) < n:
            if not self.wait(self.connected(), select.POLLIN, None if end_s is None else end_s - time.monotonic()):
                raise self.fail(what, "did not come in time")
            try:
                piece = self.connected().recv(n - len(found))
            except BlockingIOError:
                continue
            except OSError as error:
                raise self.fail(what, error.strerror or str(error)) from error
            if not piece:
                raise self.fail(what, "the peer ended the connection")
            found += piece
        return found

    def swap(self, what: str, ours: bytes) -> bytes:
        """Send ours and receive as much, in the order of our role. @raise Ends"""
        if self.is_client:
            self.send(ours)
        theirs = self.receive(what, len(ours))
        if not self.is_client:
            self.send(ours)
        return theirs

    def rest(self, seconds: float) -> None:
        """Wait. @raise Ends: a signal, or the end of the peer"""
        if self.wait(self.connected(), select.POLLRDHUP, seconds):
            raise self.fail("the run", "the peer ended the connection")
