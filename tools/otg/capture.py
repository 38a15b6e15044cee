# SPDX-License-Identifier: BSD-3-Clause
"""Captures: filters of the API as those of quench-nic, the frames of a quench-nic in files, and what a client gets of them."""
from __future__ import annotations

import abc
import contextlib
import pathlib
import shutil
import socket
import struct
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from quench.desk import Failed

from .schema import Object
from .table import CAPTURE_FIELDS

# Of quench-nic (capture_match.h).
MOST_MATCHES, MOST_MATCH_CHARS, MOST_BITS, LAST_BIT = 16, 700, 128, 73727
LEAST_BYTES, MOST_BYTES = 14, 65535
CHUNK_BYTES = 1 << 18
BEGIN_S, END_S = 10.0, 20.0
SECTION, INTERFACE, STATISTICS, FRAME = 0x0A0D0D0A, 1, 5, 6
PCAP_NS_MAGIC, ETHERNET_LINK = 0xA1B23C4D, 1
# Frames end with 2 x 16 bits of FCS.
PCAP_FCS = 2 << 28 | 1 << 26

WORDS = {"ethernet": "eth", "vlan": "vlan", "ipv4": "ipv4", "ipv6": "ipv6"}
# Where a custom filter after one of these begins.
AFTER = {"ethernet": ("eth", 112), "vlan": ("vlan", 32), "ipv4": ("l4", 0), "ipv6": ("ipv6", 320)}

Refuse = Callable[[str, str], None]


class Order(NamedTuple):
    """What a quench-nic captures."""

    options: list[str]  # of the method capture
    overwrite: bool


class Settings(NamedTuple):
    """What the configuration says of a port's captures."""

    order: Order
    format: str
    fcs: bool = False  # frames end with their FCS


def compare(path: str, word: str, place: tuple[int, int], item: Object, refuse: Refuse) -> str:
    """A match of quench-nic."""
    bit, bits = place
    numbers = {key: int(item[key], 16) for key in ("value", "mask")}
    for key, number in numbers.items():
        if number.bit_length() > bits:
            refuse(f"{path}.{key}", f"{item[key][:40]!r}: expected at most {bits} bits")
    return f"{'!' if item['negate'] else ''}{word}@{bit}/{bits}:{numbers['value'] & numbers['mask']:x}/{numbers['mask']:x}"


def matches(path: str, filters: list[Object], refuse: Refuse) -> str:
    """All filters, as matches of quench-nic. A field whose mask is 0, and which is not negated, compares nothing."""
    found: list[str] = []
    word, begin = "eth", 0  # where a custom filter begins
    for n, item in enumerate(filters):
        kind = item["choice"]
        at, parts = f"{path}[{n}].{kind}", item[kind]
        if kind == "custom":
            bit, bits = begin + parts.get("offset", 0), parts["bit_length"]
            if not 1 <= bits <= MOST_BITS:
                refuse(f"{at}.bit_length", f"{bits}: expected 1 to {MOST_BITS}")
            elif bit > LAST_BIT:
                refuse(f"{at}.offset", f"{bit} bits from the header before: expected at most {LAST_BIT}")
            else:
                found.append(compare(at, word, (bit, bits), parts, refuse))
                begin = bit + bits
            continue
        fields = [(key, place) for key, place in CAPTURE_FIELDS[kind].items() if int(parts[key]["mask"], 16) or parts[key]["negate"]]
        found += [compare(f"{at}.{key}", WORDS[kind], place, parts[key], refuse) for key, place in fields]
        if not fields:
            found.append(f"{WORDS[kind]}@0/1:0/0")  # the frame has this header
        word, begin = AFTER[kind]
    text = ",".join(found)
    if len(found) > MOST_MATCHES or len(text) > MOST_MATCH_CHARS:
        refuse(path, f"{len(found)} fields: expected at most {MOST_MATCHES}, with fewer or shorter values")
    return text


class Recording(abc.ABC):
    """Frames of a port, from the start of a capture on."""

    @abc.abstractmethod
    def is_running(self) -> bool: ...

    @abc.abstractmethod
    def stop(self) -> Object:
        """End it if it runs. @return frames, lost, error: empty, or why frames are missing; ended: empty, or where the buffer ended"""

    @abc.abstractmethod
    def content(self) -> IO[bytes]:
        """The frames, as pcapng, in a file without a name. @raise Failed"""

    @abc.abstractmethod
    def discard(self) -> None:
        """Delete it."""


class Recorder(Recording):
    """A client of a quench-nic's socket. Whole blocks are in two files, of which the older one is overwritten if both are full."""

    def __init__(self, who: str, call: Callable[..., Any], runtime: pathlib.Path, stem: pathlib.Path, order: Order, most_bytes: int) -> None:
        """stem: of the files; most_bytes: of all frames"""
        self.who, self.order, self.most_bytes = who, order, most_bytes
        reply = call("capture", port=0, options=[*order.options, *([] if order.overwrite else [f"size={most_bytes}"])])
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.paths = [stem.with_name(f"{stem.name}.{n}.capture") for n in range(2)]
        self.head, self.tail, self.rest = b"", b"", b""
        self.frames = self.lost = self.now = self.now_bytes = 0
        self.written, self.overwritten = [0, 0], 0  # frames
        self.stopping = False
        self.used = [True, False]  # files with frames of this capture
        self.error = ""
        self.broken = False  # the files could not be written
        try:
            self.file: IO[bytes] = open(self.paths[0], "wb", buffering=0)
            self.socket.settimeout(BEGIN_S)
            self.socket.connect(str(runtime / reply["socket"]))
            # The headers come when the capture begins.
            self.take(self.socket.recv(8))
            self.socket.settimeout(None)
        except OSError as error:
            self.socket.close()
            raise Failed(f"{who}: capture: {error}") from error
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        try:
            while chunk := self.socket.recv(CHUNK_BYTES):
                self.take(chunk)
            if not self.tail:
                self.error = "its quench-nic ended without the last frames"
        except OSError as error:
            self.error = f"{self.paths[self.now]}: {error.strerror}"
            self.broken = True
        finally:
            self.socket.close()
            self.file.close()

    def take(self, chunk: bytes) -> None:
        """Write the whole blocks."""
        data = self.rest + chunk
        begin = at = fresh = 0
        while at + 8 <= len(data):
            kind, size = struct.unpack_from("<II", data, at)
            if at + size > len(data):
                break
            if kind == FRAME:
                self.frames += 1
                fresh += 1
            else:
                self.write(data[begin:at], fresh)
                fresh = 0
                begin = at + size
                if kind == STATISTICS:
                    self.tail = data[at:at + size]
                else:
                    self.head += data[at:at + size]
            at += size
        self.write(data[begin:at], fresh)
        self.rest = data[at:]

    def write(self, blocks: bytes, frames: int) -> None:
        if self.order.overwrite and self.now_bytes + len(blocks) > self.most_bytes // 2 and self.now_bytes:
            self.file.close()
            self.now, self.now_bytes = 1 - self.now, 0
            self.used[self.now] = True
            self.overwritten += self.written[self.now]
            self.written[self.now] = 0
            self.file = open(self.paths[self.now], "wb", buffering=0)
        done = 0
        try:
            while done < len(blocks):
                done += self.file.write(blocks[done:])
        except OSError:
            with contextlib.suppress(OSError):
                self.file.truncate(self.now_bytes)
            raise
        self.now_bytes += done
        self.written[self.now] += frames

    def is_running(self) -> bool:
        return self.thread.is_alive()

    def stop(self) -> Object:
        self.stopping |= self.is_running()
        if self.is_running():
            with contextlib.suppress(OSError):  # it has just ended
                self.socket.shutdown(socket.SHUT_WR)
            self.thread.join(END_S)
        if self.is_running():
            self.error = "its quench-nic does not answer"
        return {"frames": self.frames, "lost": lost_of(self.tail), "error": self.error, "ended": self.ended()}

    def ended(self) -> str:
        """Where the buffer ended; empty: it has all frames."""
        if self.overwritten:
            return f"its buffer of {self.most_bytes >> 20} MiB has the latest: the first {self.overwritten} were overwritten"
        full = not self.stopping and not self.error and not self.order.overwrite and not self.is_running()
        return f"its buffer of {self.most_bytes >> 20} MiB is full, and has none after them" if full else ""

    def content(self) -> IO[bytes]:
        if self.broken:
            raise Failed(f"{self.who}: capture: {self.error}, after {self.frames} frames")
        try:
            out = tempfile.TemporaryFile(dir=self.paths[0].parent)
            out.write(self.head)
            for n in (1 - self.now, self.now):
                if self.used[n]:
                    with open(self.paths[n], "rb") as file:
                        shutil.copyfileobj(file, out, CHUNK_BYTES)
            out.write(self.tail)
            out.seek(0)
        except OSError as error:
            raise Failed(f"{self.who}: capture: {self.paths[0].parent}: {error.strerror}") from error
        return out

    def discard(self) -> None:
        self.stop()
        for path in self.paths:
            path.unlink(missing_ok=True)


def lost_of(statistics: bytes) -> int:
    """isb_ifdrop, the first option of ours that has 8 bytes."""
    at = 20
    while at + 12 <= len(statistics) - 4:
        code, size = struct.unpack_from("<HH", statistics, at)
        if code == 5 and size == 8:
            return int(struct.unpack_from("<Q", statistics, at + 4)[0])
        at += 4 + size + -size % 4
    return 0


def blocks(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """(type, bytes)"""
    while len(start := file.read(8)) == 8:
        kind, size = struct.unpack("<II", start)
        yield kind, start + file.read(size - 8)


def packed(file: IO[bytes], settings: Settings, first: int, most: int | None, folder: pathlib.Path) -> IO[bytes]:
    """
    What a client asks for of a capture.

    first: number of the first frame, from 1; most: frames, None: all
    """
    ng = settings.format == "pcapng"
    if ng and first == 1 and most is None and not settings.fcs:
        return file
    try:
        out = tempfile.TemporaryFile(dir=folder)
        number = 0
        for kind, block in blocks(file):
            if kind == FRAME:
                number += 1
                if number >= first and (most is None or number < first + most):
                    whole = with_fcs(block) if settings.fcs else block
                    out.write(whole if ng else record(whole))
            elif kind == INTERFACE and not ng:
                link = ETHERNET_LINK | (PCAP_FCS if settings.fcs else 0)
                out.write(struct.pack("<IHHiIII", PCAP_NS_MAGIC, 2, 4, 0, 0, struct.unpack_from("<I", block, 12)[0] + 4 * settings.fcs, link))
            elif ng:
                out.write(interface_with_fcs(block) if kind == INTERFACE and settings.fcs else block)
        out.seek(0)
    except OSError as error:
        raise Failed(f"capture: {folder}: {error.strerror}") from error
    finally:
        file.close()
    return out


def with_fcs(block: bytes) -> bytes:
    """A frame's block, with the FCS that devices do not pass on. A frame that was cut has none."""
    captured, whole = struct.unpack_from("<II", block, 20)
    if captured < whole:
        return block
    frame = block[28:28 + captured]
    frame += struct.pack("<I", zlib.crc32(frame))
    rest = block[28 + captured + -captured % 4:-4]
    return framed(FRAME, block[8:20] + struct.pack("<II", len(frame), len(frame)) + frame + bytes(-len(frame) % 4) + rest)


def interface_with_fcs(block: bytes) -> bytes:
    """if_fcslen comes before the other options."""
    return framed(INTERFACE, block[8:16] + struct.pack("<HHBxxx", 13, 1, 4) + block[16:-4])


def framed(kind: int, body: bytes) -> bytes:
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


def record(block: bytes) -> bytes:
    """A frame's block, as a record of pcap."""
    high, low, captured, whole = struct.unpack_from("<IIII", block, 12)
    seconds, ns = divmod(high << 32 | low, 10**9)
    return struct.pack("<IIII", seconds, ns, captured, whole) + block[28:28 + captured]
