# SPDX-License-Identifier: BSD-3-Clause
"""A client of a program's socket: JSON-RPC 2.0, one JSON text a line (doc/interface.md). Needs nothing but Python."""
from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

SOCKET = "quench.sock"
# XDG_RUNTIME_DIR in our systemd units.
SERVICE_DIR = "/run/quench"
# Longer than the 2 s within which the program's main lcore answers.
PATIENCE_S = 6.0
CHUNK_BYTES = 1 << 18
MOST_REPLY_BYTES = 1 << 30

BAD_PARAMS, REFUSED, ENDING, FULL = -32602, -32000, -32001, -32002

Row = dict[str, Any]
Call = tuple[str, Row]  # a method and its params


class Failed(Exception):
    """A program cannot be reached, has ended, or refused something: a line."""


class Gone(Failed):
    """The program is not there, or does not answer."""

    def __init__(self, text: str, silent: bool = False) -> None:
        super().__init__(text)
        self.silent = silent  # it is there, but does not answer


class Refused(Failed):
    """The program refused a request: nothing has changed."""

    def __init__(self, code: int, message: str, expected: str = "", usage: str = "") -> None:
        super().__init__(f"{message}: expected {expected}" if expected else message)
        self.code, self.message, self.expected, self.usage = code, message, expected, usage


def runtime_dir() -> str:
    """As EAL's eal_create_runtime_dir()."""
    return os.environ.get("RUNTIME_DIRECTORY") or ("/var/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR") or "/tmp")


def folder(prefix: str) -> str:
    """Of the sockets of the programs with this --file-prefix."""
    return f"{runtime_dir()}/dpdk/{prefix}"


def split(prefix: str) -> tuple[str, str]:
    """NAME:0 and so on select one of the programs that share NAME. @return NAME, and the number or "" """
    name, colon, number = prefix.rpartition(":")
    return (name, number) if colon and number.isascii() and number.isdigit() else (prefix, "")


def is_alive(path: str) -> bool:
    """Does a program listen?"""
    with socket.socket(socket.AF_UNIX) as s:
        s.setblocking(False)
        try:
            s.connect(path)
        except BlockingIOError:
            return True  # one that hangs listens, too: its queue of connections is full
        except OSError:
            return False
    return True


def _in(base: str, prefix: str | None) -> Iterator[str]:
    name, number = split(prefix) if prefix is not None else ("", "")
    try:
        names = sorted(os.listdir(f"{base}/dpdk")) if prefix is None else [name]
    except OSError:
        return
    for found in names:
        try:
            files = sorted(os.listdir(f"{base}/dpdk/{found}"))
        except OSError:
            continue
        for file in files:
            plain, _, which = file.partition(":")
            if plain == SOCKET and number in ("", which or "0"):
                yield f"{base}/dpdk/{found}/{file}"


def sockets(prefix: str | None = None, test_one: bool = True) -> list[str]:
    """The sockets on which a program listens, in order.

    prefix    a --file-prefix, or NAME:0 for one of several programs; None: all
    test_one  False: a single socket is not tested, because its use will show a fault
    """
    found = list(_in(runtime_dir(), prefix))
    # Whoever names a folder means no other.
    if not os.environ.get("RUNTIME_DIRECTORY") and os.path.realpath(runtime_dir()) != SERVICE_DIR:
        found += _in(SERVICE_DIR, prefix)
    return [path for path in found if is_alive(path)] if test_one or len(found) > 1 else found


def name_of(path: str) -> str:
    """Of the program with this socket: NAME, or NAME:1 for the second one."""
    head, _, file = path.rpartition("/")
    _, colon, number = file.partition(":")
    return head.rpartition("/")[2] + colon + number


def rows_of(reply: Row) -> list[Row]:
    """The rows of a reply, or, of one that has no member of this name, its list."""
    found: list[Row] = reply["rows"] if "rows" in reply else next((value for value in reply.values() if isinstance(value, list)), [])
    return found


class Desk:
    """A connection. Any thread may call, one at a time.

    Each call ends within patience_s, whatever the program does. After a failed exchange the connection is closed: a late reply could
    be taken for the reply to the next request.
    """

    def __init__(self, path: str, patience_s: float = PATIENCE_S, most_bytes: int = MOST_REPLY_BYTES) -> None:
        """@raise Gone"""
        self.path, self.patience_s, self.most_bytes = path, patience_s, most_bytes
        self.lock = threading.Lock()
        self.rest = b""  # received after the last line
        self.number = 0
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            # connect() waits while the queue of connections is full; with a timeout of Python's it would fail at once.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", int(patience_s), int(patience_s % 1 * 1e6)))
            self.socket.connect(path)
        except OSError as error:
            self.socket.close()
            raise self._unreachable(error) from error

    def _unreachable(self, error: OSError) -> Gone:
        if isinstance(error, ConnectionRefusedError):
            return Gone(f"{self.path}: the program has ended and left its socket behind")
        if isinstance(error, BlockingIOError):
            return self._silent()
        return Gone(f"{self.path}: {error.strerror or error}")

    def _silent(self) -> Gone:
        return Gone(f"{self.path}: the program does not answer", silent=True)

    def _ended(self) -> Gone:
        return Gone(f"{self.path}: the program has ended")

    @property
    def pid(self) -> int:
        """Of the program."""
        found: int = struct.unpack("3i", self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        return found

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self, end_s: float) -> bytes:
        """The next line. @raise Gone, TimeoutError"""
        pieces = [self.rest]
        n = len(self.rest)
        while b"\n" not in pieces[-1]:
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                self.rest = b"".join(pieces)
                raise TimeoutError
            self.socket.settimeout(left_s)
            try:
                piece = self.socket.recv(CHUNK_BYTES)
            except TimeoutError:
                self.rest = b"".join(pieces)
                raise
            except OSError as error:
                raise self._ended() from error
            if not piece:
                raise self._ended()
            pieces.append(piece)
            n += len(piece)
            if n > self.most_bytes:
                raise Gone(f"{self.path}: expected a reply of at most {self.most_bytes} bytes")
        last, _, self.rest = pieces[-1].partition(b"\n")
        return b"".join([*pieces[:-1], last])

    def _message(self, end_s: float) -> Any:
        line = self._line(end_s)
        try:
            return json.loads(line)
        except ValueError as error:
            raise Gone(f"{self.path}: expected JSON, got {line[:60].decode(errors='replace')}") from error

    def _reply(self, number: int, end_s: float) -> Row:
        found = self._message(end_s)
        if isinstance(found, dict) and found.get("id") in (number, None) and ("result" in found or isinstance(found.get("error"), dict)):
            return found  # a request that cannot be read has no number
        raise Gone(f"{self.path}: expected the reply to request {number}")

    def _exchange(self, calls: Sequence[Call]) -> list[Row]:
        """Send all, then read the replies, which come in the same order."""
        end_s = time.monotonic() + self.patience_s
        with self.lock:
            first = self.number + 1
            self.number += len(calls)
            lines = [json.dumps({"jsonrpc": "2.0", "id": first + i, "method": method, "params": params}) for i, (method, params) in enumerate(calls)]
            try:
                self.socket.settimeout(self.patience_s)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # what it said before it hung up is still to be read
                    self.socket.sendall("\n".join([*lines, ""]).encode(), socket.MSG_NOSIGNAL)
                return [self._reply(first + i, end_s) for i in range(len(calls))]
            except TimeoutError as error:
                self.close()
                raise self._silent() from error
            except OSError as error:
                self.close()
                raise self._ended() from error
            except Gone:
                self.close()
                raise

    def _result(self, reply: Row) -> Any:
        error = reply.get("error")
        if error is None:
            return reply["result"]
        code, message, data = error.get("code", 0), str(error.get("message", "")), error.get("data") or {}
        # A main lcore that got no CPU for 2 s has the same code as one that ends. Nothing has changed, and another try may go well.
        if code == FULL or code == ENDING and "about to end" in message:
            raise Gone(f"{self.path}: {message}")
        raise Refused(code, message, str(data.get("expected", "")), str(data.get("usage", "")))

    def call(self, method: str, **params: Any) -> Any:
        """The result of a method. Parameters that are None are left out. @raise Gone, Refused"""
        return self.batch([(method, {name: value for name, value in params.items() if value is not None})])[0]

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """The results of several calls, without a wait between them. @raise Gone, Refused: by one of them; the others are done"""
        return [self._result(reply) for reply in self._exchange(calls)]


def describe(path: str, several: bool) -> str:
    """The program of a socket, for a list of choices."""
    name = name_of(path) + (":0" if several else "")
    try:
        with Desk(path) as desk:
            return f"{name} ({desk.call('info')['program']}, pid {desk.pid})"
    except (Failed, KeyError, TypeError):
        return f"{name} (does not answer)"


def choose(prefix: str | None, patience_s: float = PATIENCE_S) -> Desk:
    """Connect to the program with this --file-prefix (NAME, or NAME:1), or without it to the only one that runs. @raise Gone, Refused"""
    found = sockets(prefix, test_one=False)
    if len(found) > 1:
        which = ", ".join(describe(path, any(other.startswith(path + ":") for other in found)) for path in found)
        shared = f" with --file-prefix {prefix}: expected one of" if prefix is not None else ": expected --file-prefix with one of"
        raise Refused(BAD_PARAMS, f"{len(found)} programs run{shared} {which}")
    if found:
        return Desk(found[0], patience_s)
    if prefix is None:
        raise Gone(f"no program runs: expected a socket {folder('*')}/{SOCKET}")
    raise Gone(f"{folder(split(prefix)[0])}/{SOCKET}: no program with --file-prefix {prefix} runs, or another user started it")
