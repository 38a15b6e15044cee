# SPDX-License-Identifier: BSD-3-Clause
"""capture: the frames of a port as a pcapng file.

The file of a capture ends with a whole block, whatever happens, and what is said of it is of the blocks in it.
"""
from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import sys
import time

from quenchctl.command import DONE, BadUsage, Ends, Run, print_json

LEAST_BLOCK_BYTES, MOST_BLOCK_BYTES = 12, 0x20000  # type, length, and the length again
FRAME, STATISTICS = 6, 5  # types of blocks
IF_DROP, DROP_COUNT = 5, 4  # options of theirs: lost frames
CHUNK_BYTES = 1 << 20
LOOK_S = 0.1  # interval of looks for a signal
PATIENCE_S = 10.0  # that the program gets to begin, and to end after a signal


class NoPcapng(Exception):
    """What the program sent."""


def lost_in(block: memoryview, kind: int) -> int:
    """Frames that a block says are lost, before it or in all."""
    at, wanted = (28 + (struct.unpack_from("<I", block, 20)[0] + 3) // 4 * 4, DROP_COUNT) if kind == FRAME else (20, IF_DROP)
    while at + 4 <= len(block) - 4:
        option, size = struct.unpack_from("<HH", block, at)
        if option == wanted and size == 8:
            return int(struct.unpack_from("<Q", block, at + 4)[0])
        if option == 0:
            break
        at += 4 + (size + 3) // 4 * 4
    return 0


class File:
    """Whole blocks of pcapng, and what they contain."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.frames = self.bytes = self.lost = 0
        self.is_complete = False  # the statistics were written
        self.rest = b""

    def add(self, data: bytes) -> None:
        """Write the whole blocks of what came so far. @raise NoPcapng, OSError"""
        stream = self.rest + data
        view, at = memoryview(stream), 0
        whole: list[tuple[int, int]] = []
        while len(stream) - at >= LEAST_BLOCK_BYTES:
            kind, size = struct.unpack_from("<II", view, at)
            if not LEAST_BLOCK_BYTES <= size <= MOST_BLOCK_BYTES or size % 4:
                raise NoPcapng
            if at + size > len(stream):
                break
            whole.append((kind, size))
            at += size
        self.write(view[:at], whole)
        self.rest = stream[at:]

    def write(self, view: memoryview, blocks: list[tuple[int, int]]) -> None:
        done = 0
        try:
            while done < len(view):
                done += os.write(self.fd, view[done:])
        finally:
            at = 0
            for kind, size in blocks:
                if at + size > done:
                    break
                self.count(kind, view[at:at + size])
                at += size
            self.cut(done - at)

    def count(self, kind: int, block: memoryview) -> None:
        self.bytes += len(block)
        if kind == FRAME:
            self.frames += 1
            self.lost += lost_in(block, kind)
        elif kind == STATISTICS:
            self.lost = lost_in(block, kind)
            self.is_complete = True

    def cut(self, n: int) -> None:
        """Cut off an incomplete block, unless the file is a pipe or a device."""
        if n > 0:
            with contextlib.suppress(OSError):
                os.ftruncate(self.fd, os.lseek(self.fd, 0, os.SEEK_CUR) - n)


class Capture:
    """A capture that has begun in the program."""

    def __init__(self, run: Run, interface: str, stream: socket.socket) -> None:
        self.port, self.path = run.params
        self.json, self.interface, self.stream = run.options.json, interface, stream
        self.to_stdout = self.path == "-"
        self.name = "standard output" if self.to_stdout else self.path
        # For lines; standard output may have the frames, or JSON.
        self.people = sys.stderr if self.to_stdout or self.json else sys.stdout
        self.asked = False  # to end
        self.end_s: float | None = time.monotonic() + PATIENCE_S  # of the wait for the next bytes; None: there is none
        self.told = False   # the program, after a signal

    def on_signal(self, number: int, _: object) -> None:
        """A second signal ends a command that waits for its reader."""
        self.asked = True
        signal.signal(number, signal.SIG_DFL)

    def open(self) -> int:
        if self.to_stdout and os.isatty(1):
            raise BadUsage("-: expected a pipe or a file as standard output, not a terminal")
        try:
            return os.dup(1) if self.to_stdout else os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise Ends(f"{self.name}: {error.strerror}") from error

    def read(self) -> bytes:
        """Nothing: the program closed the socket, or is silent."""
        while True:
            if self.asked and not self.told and self.end_s is None:
                self.told, self.end_s = True, time.monotonic() + PATIENCE_S
                with contextlib.suppress(OSError):
                    self.stream.shutdown(socket.SHUT_WR)
            if select.select([self.stream], [], [], LOOK_S)[0]:
                try:
                    return self.stream.recv(CHUNK_BYTES)
                except OSError:
                    return b""
            if self.end_s is not None and time.monotonic() > self.end_s:
                return b""

    def copy(self, file: File) -> str:
        """Write what the program sends, until it closes the socket. @return why it did not end well, or "" """
        began = False
        try:
            while data := self.read():
                if not began:
                    began, self.end_s = True, None
                    print(f"capturing port {self.port} ({self.interface}); Ctrl-C ends it", file=self.people, flush=True)
                file.add(data)
            os.close(file.fd)
        except NoPcapng:
            return "the program sent no pcapng"
        except OSError as error:
            return error.strerror or str(error)
        if file.is_complete:
            return ""
        return "the program does not answer" if self.end_s is not None else "the program ended without the last frames"

    def record(self) -> None:
        file = File(self.open())
        why = self.copy(file)
        text = f"{file.frames} frames, {file.bytes} bytes written, {file.lost} lost (ring full)"
        if why:
            raise Ends(f"{self.name}: {why}: {text}")
        if self.json:
            print_json({"port": self.port, "interface": self.interface, "file": self.path, "frames": file.frames, "bytes": file.bytes,
                        "lost": file.lost}, sys.stderr if self.to_stdout else sys.stdout)
        else:
            print(text, file=self.people)


def run(run_: Run) -> int:
    desk = run_.desk
    found = desk.call("capture", port=run_.named()["port"], options=[f"{key}={value}" for key, value in run_.options.capture.items()])
    # The socket is beside that of the program, even if that folder has another path here.
    path = os.path.join(os.path.dirname(desk.path), os.path.basename(found["socket"]))
    stream = socket.socket(socket.AF_UNIX)
    try:
        stream.connect(path)
    except OSError as error:
        raise Ends(f"{path}: {error.strerror or error}") from error
    desk.close()
    capture = Capture(run_, found["interface"], stream)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, capture.on_signal)
    with stream:
        capture.record()
    return DONE
