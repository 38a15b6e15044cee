# SPDX-License-Identifier: BSD-3-Clause
"""The KEY=VALUE words of "connect perftest" and "listen perftest"."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from quenchctl.command import BadUsage

UNITS = {"bytes": {"": 1, "B": 1, "KB": 10**3, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
         "ns": {"": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}, "": {"": 1}}
NOUNS = {"bytes": "a size in whole bytes", "ns": "a time in whole ns", "": "a whole number"}


class Number(NamedTuple):
    """A value with a unit of UNITS."""

    least: int
    most: int
    unit: str = ""
    most_text: str = ""  # as people write it

    def read(self, text: str) -> int | None:
        found = re.fullmatch(r"(\d+)(?:\.(\d+))?([A-Za-z]*)", text, re.ASCII)
        if not found or found[3] not in UNITS[self.unit]:
            return None
        fraction = found[2] or ""
        value, rest = divmod(int(found[1] + fraction) * UNITS[self.unit][found[3]], 10 ** len(fraction))
        return value if not rest and self.least <= value <= self.most else None

    @property
    def expected(self) -> str:
        return f"{NOUNS[self.unit]} from {self.least}{'B' if self.unit == 'bytes' else self.unit} to {self.most_text or self.most}"


class Choice(NamedTuple):
    words: tuple[str, ...]

    def read(self, text: str) -> str | None:
        return text if text in self.words else None

    @property
    def expected(self) -> str:
        return f"{', '.join(self.words[:-1])} or {self.words[-1]}"


class Name(NamedTuple):
    most: int

    def read(self, text: str) -> str | None:
        return text if re.fullmatch(r"[A-Za-z0-9_-]+", text, re.ASCII) and len(text) <= self.most else None

    @property
    def expected(self) -> str:
        return f"1 to {self.most} letters, digits, _ and -"


class Mtu:
    expected = "256, 512, 1024, 2048 or 4096"

    @staticmethod
    def read(text: str) -> int | None:
        value = Number(256, 4096, "bytes").read(text)
        return value if value and value & (value - 1) == 0 else None


MOST_QPS = 64
# Key: kind, default and help. The defaults are perftest's, with its option in brackets.
KEYS: dict[str, tuple[Number | Choice | Name | Mtu, str, str]] = {
    "verb": (Choice(("send", "write", "read")), "write", "program of the peer: ib_send_bw, ib_write_bw or ib_read_bw"),
    "message_bytes": (Number(0, 2 << 30, "bytes", "2GiB"), "65536", "connect: payload of a message (-s)"),
    "messages": (Number(1, 100_000_000), "1000", "connect: messages of each QP (-n)"),
    "duration_ns": (Number(0, 3600 * 10**9, "ns", "3600s"), "0", "connect: send for this time instead (-D); 0: send `messages`"),
    "qp_count": (Number(1, MOST_QPS), "1", "number of QPs (-q), the same at the peer"),
    "mtu_bytes": (Mtu(), "1024", "RoCE MTU (-m), a power of two; the smaller one of both ends is used"),
    "depth": (Number(1, 65536), "128", "connect: messages in flight per QP (-t); of READs, at most what both ends take"),
    "port": (Number(1, 65535), "18515", "TCP port of the exchange (-p)"),
    "gid": (Choice(("auto", "ipv4", "ipv6")), "auto", "address to name: auto: as the client's, or IPv4 if the NIC has ip (the peer: -x)"),
    "gbits": (Choice(("on", "off")), "off", "tell the peer rates in Gb/s instead of MiB/s (the peer: --report_gbits)"),
    "flow": (Name(16), "perftest", "name of the flows; to it are added the verb, in or out, and the number of the QP"),
}


class Options(NamedTuple):
    """Values of KEYS."""

    verb: str
    message_bytes: int
    messages: int
    duration_ns: int
    qp_count: int
    mtu_bytes: int
    depth: int
    port: int
    gid: str
    gbits: bool
    flow: str


def print_keys() -> None:
    print("\n  KEY=VALUE, with the default:")
    for key, (_, default, help_) in KEYS.items():
        print(f"    {f'{key}={default}':<24}  {help_}")
    print()


def read(words: Sequence[str]) -> Options:
    """@raise BadUsage"""
    texts = {key: default for key, (_, default, _) in KEYS.items()}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in KEYS:
            raise BadUsage(f"{word}: expected KEY=VALUE, with a KEY of: {', '.join(KEYS)}")
        texts[key] = value
    found = {key: KEYS[key][0].read(text) for key, text in texts.items()}
    for key, read_value in found.items():
        if read_value is None:
            raise BadUsage(f"{key} = {texts[key]}: expected {KEYS[key][0].expected}")
    return Options(**found | {"gbits": found["gbits"] == "on"})  # type: ignore[arg-type]
