# SPDX-License-Identifier: BSD-3-Clause
"""The last frames of a port, as pcapng."""
from __future__ import annotations

import collections
import pathlib
import socket
import struct
import threading

FRAME, STATISTICS = 6, 5  # types of pcapng blocks
PATIENCE_S = 10.0


class Capture:
    """A capture of a port that runs. See Program.capture()."""

    def __init__(self, path: pathlib.Path, most_frames: int) -> None:
        """path: the socket on which the program sends pcapng. @raise OSError"""
        self.head: list[bytes] = []
        self.tail: list[bytes] = []
        self.kept: collections.deque[bytes] = collections.deque(maxlen=most_frames)
        self.frozen = False
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        data = b""
        try:
            while more := self.socket.recv(1 << 18):
                data = self._take(data + more)
        except OSError:
            pass  # the program has been killed: what came before it is here

    def _take(self, data: bytes) -> bytes:
        """The whole blocks of data. @return the rest"""
        at, end = 0, len(data)
        while end - at >= 12:
            kind, length = struct.unpack_from("<II", data, at)
            if at + length > end:
                break
            if kind != FRAME:
                (self.tail if kind == STATISTICS else self.head).append(data[at:at + length])
            elif not self.frozen:
                self.kept.append(data[at:at + length])
            at += length
        return data[at:]

    def freeze(self) -> None:
        """Keep what is there, and no later frame."""
        self.frozen = True

    def stop(self) -> None:
        """End it. The frames stay."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the program has ended
        self.thread.join(PATIENCE_S)
        self.socket.close()

    def write(self, path: str | pathlib.Path) -> int:
        """Write the frames, after stop(). @return their number. @raise OSError"""
        part = pathlib.Path(f"{path}.part")
        try:
            part.write_bytes(b"".join([*self.head, *self.kept, *self.tail]))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return len(self.kept)
