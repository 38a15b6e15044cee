# SPDX-License-Identifier: BSD-3-Clause
"""Raw flows: headers of the API, turned into a template and patterns of [frames NAME]."""
from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Callable

from .schema import Object

FCS_BYTES, GAP_BYTES = 4, 20
LEAST_FRAME_BYTES, STANDARD_FRAME_BYTES, MOST_FRAME_BYTES = 64, 1518, 9216
MOST_HEADER_BYTES = 120
MOST_PATTERNS, MOST_VALUES, MOST_TEXT = 16, 64, 240
MOST_RATE_BPS = 800 * 10**9
UNITS = {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9}
# What a header says of the one after it.
ETHER_TYPES = {"vlan": 0x8100, "ipv4": 0x0800, "ipv6": 0x86DD}
PROTOCOLS = {"udp": 17}
NO_ETHER_TYPE, NO_PROTOCOL, NO_NEXT_HEADER = 0xFFFF, 61, 59
PAUSES = ("pfcpause", "ethernetpause")

Refuse = Callable[[str, str], None]


class Unfit(Exception):
    """The text says what was expected."""


@dataclasses.dataclass
class Field:
    """Bits of a header: one value, or a pattern of values."""

    width: int
    value: int
    pattern: str = ""  # as in [frames NAME], after its colon


@dataclasses.dataclass
class Template:
    fields: list[Field] = dataclasses.field(default_factory=list)
    ip_at: int = 0

    def bytes(self) -> int:
        return sum(field.width for field in self.fields) // 8

    def header(self) -> str:
        value = 0
        for field in self.fields:
            value = value << field.width | field.value
        return value.to_bytes(self.bytes(), "big").hex()

    def patterns(self) -> list[str]:
        found, bit = [], 0
        for field in self.fields:
            if field.pattern:
                found.append(f"{bit}/{field.width}:{field.pattern}")
            bit += field.width
        return found


def number(value: object) -> int:
    """A number, or an address."""
    if isinstance(value, int):
        return value
    text = str(value)
    if text.count(":") == 5 and "::" not in text:
        return int(text.replace(":", ""), 16)
    return int(ipaddress.ip_address(text))


def fields_of(pattern: Object, width: int, auto: int | None) -> list[Field]:
    """A header's field; one of 128 bits is two, since a pattern has 64 at most."""
    choice = pattern["choice"]
    if choice == "auto":
        if auto is None:
            raise Unfit("auto: expected a value")
        return split(Field(width, auto))
    if choice == "value":
        return split(Field(width, number(pattern["value"])))
    if choice == "values":
        values = [number(value) for value in pattern["values"]]
        if not 1 <= len(values) <= MOST_VALUES:
            raise Unfit(f"{len(values)} values: expected 1 to {MOST_VALUES}")
        tops = {value >> 64 for value in values}
        if len(tops) > 1:
            raise Unfit("expected values with the same upper 64 bits")
        return split(Field(width, values[0], ",".join(str(value % 2**64) for value in values)))
    counter = pattern[choice]
    start, step, count = number(counter["start"]), number(counter["step"]), counter["count"]
    if count == 0:
        raise Unfit(f"{choice}.count = 0: expected at least 1")
    if width > 64:
        last = start + (step if choice == "increment" else -step) * (count - 1)
        if last >> 64 != start >> 64:
            raise Unfit(f"{choice}: expected values with the same upper 64 bits")
    low = min(width, 64)
    step = step % 2**low if choice == "increment" else -step % 2**low
    return split(Field(width, start, f"{start % 2**64}+{step}*{count}"))


def is_plain(pattern: Object, wanted: int) -> bool:
    """Does the field always have the value that it should?"""
    return bool(pattern["choice"] == "auto" or (pattern["choice"] == "value" and pattern["value"] == wanted))


def split(field: Field) -> list[Field]:
    if field.width <= 64:
        return [field]
    return [Field(field.width - 64, field.value >> 64), Field(64, field.value % 2**64, field.pattern)]


class Builder:
    """The headers of one flow, in order."""

    def __init__(self, path: str, headers: list[Object], given: list[Object], frame_bytes: int, dst_mac: str | None, refuse: Refuse) -> None:
        self.path, self.headers, self.given, self.frame_bytes, self.refuse = path, headers, given, frame_bytes, refuse
        self.dst_mac = dst_mac
        self.template = Template()
        self.prio: int | None = None  # whose pause the flow obeys

    def build(self) -> Template:
        for n, header in enumerate(self.headers):
            self.before = self.headers[n - 1]["choice"] if n > 0 else None
            kind = header["choice"]
            self.at = f"{self.path}[{n}].{kind}"
            self.next = self.headers[n + 1]["choice"] if n + 1 < len(self.headers) else None
            self.raw = self.given[n].get(kind) or {}
            if n > 0 and kind in ("ethernet", *PAUSES):
                self.refuse(self.at, "expected the first header")
            elif n == 0 and kind not in ("ethernet", "custom", *PAUSES):
                self.refuse(self.at, "expected ethernet, pfcpause, ethernetpause or custom as the first header")
            getattr(self, kind)(header[kind])
        return self.template

    def put(self, name: str, pattern: Object, width: int, auto: int | None = None) -> None:
        if pattern["choice"] == "auto" and "auto" in (self.raw.get(name.rpartition(".")[2]) or {}) and pattern["auto"] != auto:
            self.refuse(f"{self.at}.{name}.auto", "expected no value of its own")
        try:
            self.template.fields += fields_of(pattern, width, auto)
        except Unfit as unfit:
            self.refuse(f"{self.at}.{name}", str(unfit))

    def put_number(self, width: int, value: int) -> None:
        self.template.fields.append(Field(width, value))

    def left(self) -> int:
        """Bytes of the frame from here on, without FCS."""
        return self.frame_bytes - FCS_BYTES - self.template.bytes()

    def ethernet(self, header: Object) -> None:
        self.put("dst", header["dst"], 48, number(self.dst_mac) if self.dst_mac else None)
        self.put("src", header["src"], 48)
        self.put("ether_type", header["ether_type"], 16, ETHER_TYPES.get(self.next or "", NO_ETHER_TYPE))
        queue = header["pfc_queue"]
        if queue["choice"] != "value":
            self.refuse(f"{self.at}.pfc_queue", f"{queue['choice']}: expected a value: a flow waits in one queue")
        else:
            self.prio = queue["value"]

    def vlan(self, header: Object) -> None:
        self.put("priority", header["priority"], 3)
        self.put("cfi", header["cfi"], 1)
        self.put("id", header["id"], 12)
        # The header before the tag has it, as its ether_type.
        if "tpid" in self.raw and (header["tpid"]["choice"], header["tpid"].get("value")) != ("value", ETHER_TYPES["vlan"]):
            self.refuse(f"{self.at}.tpid", "expected the value 33024 (0x8100); ether_type of the header before it may have another one")
        self.put_number(16, ETHER_TYPES.get(self.next or "", NO_ETHER_TYPE))

    def ipv4(self, header: Object) -> None:
        at, total = self.template.bytes(), self.left()
        self.put("version", header["version"], 4)
        self.put("header_length", header["header_length"], 4, 5)
        self.priority(header["priority"])
        self.put("total_length", header["total_length"], 16, total)
        self.put("identification", header["identification"], 16)
        for name in ("reserved", "dont_fragment", "more_fragments"):
            self.put(name, header[name], 1)
        self.put("fragment_offset", header["fragment_offset"], 13)
        self.put("time_to_live", header["time_to_live"], 8)
        self.put("protocol", header["protocol"], 8, PROTOCOLS.get(self.next or "", NO_PROTOCOL))
        plain = is_plain(header["version"], 4) and is_plain(header["header_length"], 5)
        self.checksum("header_checksum", header["header_checksum"], at, plain)
        self.put("src", header["src"], 32)
        self.put("dst", header["dst"], 32)

    def priority(self, header: Object) -> None:
        if header["choice"] == "raw":
            self.put("priority.raw", header["raw"], 8)
        elif header["choice"] == "dscp":
            self.put("priority.dscp.phb", header["dscp"]["phb"], 6)
            self.put("priority.dscp.ecn", header["dscp"]["ecn"], 2)
        else:
            for name, width in (("precedence", 3), ("delay", 1), ("throughput", 1), ("reliability", 1), ("monetary", 1), ("unused", 1)):
                self.put(f"priority.tos.{name}", header["tos"][name], width)

    def checksum(self, name: str, header: Object, ip_at: int, plain: bool) -> None:
        """A value, or 0, for which the NIC computes that of the IP header at ip_at. plain: it knows the headers."""
        if header["choice"] == "custom":
            self.put_number(16, header["custom"])
            return
        if not plain:
            self.refuse(f"{self.at}.{name}", "generated: expected custom: quench-nic knows IPv4 of 20 bytes, and UDP after IPv6")
        self.put_number(16, 0)
        if self.template.ip_at == 0:
            self.template.ip_at = ip_at
        elif self.template.ip_at != ip_at:
            self.refuse(f"{self.at}.{name}", "a second checksum: expected custom: quench-nic computes one in a frame")

    def ipv6(self, header: Object) -> None:
        self.ipv6_at = self.template.bytes()
        self.ipv6_plain = is_plain(header["version"], 6) and is_plain(header["next_header"], PROTOCOLS["udp"])
        self.put("version", header["version"], 4)
        self.put("traffic_class", header["traffic_class"], 8)
        self.put("flow_label", header["flow_label"], 20)
        self.put("payload_length", header["payload_length"], 16, self.left() - 36)
        self.put("next_header", header["next_header"], 8, PROTOCOLS.get(self.next or "", NO_NEXT_HEADER))
        self.put("hop_limit", header["hop_limit"], 8)
        self.put("src", header["src"], 128)
        self.put("dst", header["dst"], 128)

    def udp(self, header: Object) -> None:
        length = self.left()
        self.put("src_port", header["src_port"], 16)
        self.put("dst_port", header["dst_port"], 16)
        if "length" in self.raw:
            self.put("length", header["length"], 16)
        else:
            self.put_number(16, length)
        if self.before == "ipv6":
            self.checksum("checksum", header["checksum"], self.ipv6_at, self.ipv6_plain)
        else:
            # Over IPv4, 0 stands for none.
            self.put_number(16, header["checksum"]["custom"] if header["checksum"]["choice"] == "custom" else 0)

    def pfcpause(self, header: Object) -> None:
        self.pause_start(header)
        self.put("class_enable_vector", header["class_enable_vector"], 16)
        for n in range(8):
            self.put(f"pause_class_{n}", header[f"pause_class_{n}"], 16)

    def ethernetpause(self, header: Object) -> None:
        self.pause_start(header)
        self.put("time", header["time"], 16)

    def pause_start(self, header: Object) -> None:
        self.put("dst", header["dst"], 48)
        self.put("src", header["src"], 48)
        self.put("ether_type", header["ether_type"], 16)
        self.put("control_op_code", header["control_op_code"], 16)

    def custom(self, header: Object) -> None:
        text = header.get("bytes", "").replace(" ", "").replace(":", "")
        text = text[2:] if text[:2] in ("0x", "0X") else text
        try:
            octets = bytes.fromhex(text)
        except ValueError:
            self.refuse(f"{self.at}.bytes", f"{header.get('bytes', '')[:40]!r}: expected pairs of hexadecimal digits")
            return
        for octet in octets:
            self.put_number(8, octet)


def rate_bps(rate: Object, frame_bytes: int, speed_bps: int) -> int:
    """In wire bytes."""
    choice, wire_bytes = rate["choice"], frame_bytes + GAP_BYTES
    if choice == "percentage":
        return round(speed_bps * float(rate[choice]) / 100)
    if choice == "pps":
        return int(rate[choice]) * wire_bytes * 8
    return int(rate[choice]) * UNITS[choice] * wire_bytes // frame_bytes
