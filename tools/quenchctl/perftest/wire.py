# SPDX-License-Identifier: BSD-3-Clause
"""Messages of perftest's TCP exchange, as perftest 4.5 has it (src/perftest_communication.c of linux-rdma/perftest, tag v4.5-0.17:
KEY_PRINT_FMT_GID, exchange_versions(), check_sys_data(), check_mtu(), xchg_bw_reports()). Formatting and parsing alone.

The client sends its message first, then the server answers with the same kind:

    version       16   a number as text, padded with zeros
    buffer         4   bytes of the cycle buffer, big-endian
    line           4   bytes of a cache line, big-endian
    MTU            2   a digit (enum ibv_mtu) and a zero
    ends         108   each: a QP of the sender
    report     5 x 8   results, an exchange each

Invariant (tested): what a parser accepts is written back as the same message.
"""
from __future__ import annotations

import ipaddress
import re
import struct
from collections.abc import Sequence
from typing import NamedTuple

VERSION_BYTES, MTU_BYTES, END_BYTES, NUMBER_BYTES = 16, 2, 108, 8
DONE = b"done\0"  # the last message of both sides
# Versions that speak this exchange: those of perftest 4.5.
OUR_VERSION, FIRST_VERSION, LAST_VERSION = b"6.06".ljust(VERSION_BYTES, b"\0"), 598, 610

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class End(NamedTuple):
    """A QP."""

    rd_depth: int  # READs that it answers at a time
    qpn: int
    psn: int       # first PSN that it sends
    rkey: int
    addr: int      # of its memory
    ip: Address | None  # of its GID: IPv4 if that is IPv4-mapped; None: it has none
    lid: int = 0   # 0 on Ethernet
    srqn: int = 0


class Report(NamedTuple):
    """Results of one side."""

    bytes: int       # of a message
    iterations: int  # messages of all QPs
    peak: float      # MiB/s, or Gb/s if both sides agreed on that
    average: float
    mmps: float      # million messages per second


def version(text: bytes) -> int:
    """Hundredths (606 for 6.06), or 0: malformed."""
    found = re.fullmatch(rb"(\d{1,4})\.(\d\d)", text.partition(b"\0")[0])
    return int(found[1] + found[2]) if found else 0


def put_mtu(mtu_bytes: int) -> bytes:
    return b"%d\0" % (mtu_bytes.bit_length() - 8)


def mtu(text: bytes) -> int:
    """0: malformed."""
    return 128 << int(text[:1]) if re.fullmatch(rb"[1-5]\0", text) else 0


def put_end(end: End) -> bytes:
    packed = bytes(16) if end.ip is None else end.ip.packed if end.ip.version == 6 else bytes(10) + b"\xff\xff" + end.ip.packed
    gid = ":".join(f"{byte:02x}" for byte in packed)
    return (f"{end.lid & 0xffff:04x}:{end.rd_depth & 0xffff:04x}:{end.qpn & 0xffffff:06x}:{end.psn & 0xffffff:06x}:"
            f"{end.rkey:08x}:{end.addr:016x}:{gid}:{end.srqn:08x}:").encode() + b"\0"


def get_end(text: bytes) -> End | None:
    """None: malformed."""
    h = "[0-9a-fA-F]"
    found = re.fullmatch(f"({h}{{4}}):({h}{{4}}):({h}{{6}}):({h}{{6}}):({h}{{8}}):({h}{{16}}):((?:{h}{{2}}:){{16}})({h}{{8}}):\\0".encode(), text)
    if not found:
        return None
    lid, rd_depth, qpn, psn, rkey, addr, srqn = (int(found[i], 16) for i in (1, 2, 3, 4, 5, 6, 8))
    six = ipaddress.IPv6Address(bytes.fromhex(found[7].decode().replace(":", "")))
    return End(rd_depth, qpn, psn, rkey, addr, six.ipv4_mapped or six, lid, srqn)


def put_report(report: Report) -> list[bytes]:
    """Its numbers, big-endian; a double travels as its bits (IEEE 754)."""
    return [struct.pack(">Q" if isinstance(number, int) else ">d", number) for number in report]


def get_report(numbers: Sequence[bytes]) -> Report:
    return Report(*(struct.unpack(">Q", number)[0] for number in numbers[:2]), *(struct.unpack(">d", number)[0] for number in numbers[2:]))
