# SPDX-License-Identifier: BSD-3-Clause
"""Raw flows: headers of the API, turned into a template and patterns of [frames NAME]."""
from __future__ import annotations

import dataclasses
import functools
import ipaddress
import secrets
from collections.abc import Callable
from typing import NamedTuple

from quench import protocols

from .schema import ADDRESSES, Object

FCS_BYTES = 4
GAP_BYTES = 20  # preamble and gap, which wire bytes of quench-nic include and frames do not
LEAST_GAP_BYTES = 12
LEAST_FRAME_BYTES, STANDARD_FRAME_BYTES, MOST_FRAME_BYTES = 64, 1518, 9216
MOST_HEADER_BYTES = 192
# Of quench-nic (template.h, limits.h).
MOST_PATTERNS, MOST_VALUES, MOST_TEXT, MOST_CHECKSUMS, MOST_SIZES = 32, 1024, 8191, 8, 16
MOST_RATE_BPS, MOST_RATE_PPS = 800 * 10**9, 2 * 10**9
MOST_NS = 86400 * 10**9
# Of frames that are counted where they arrive: with number and time, and without.
SIGNATURE_BYTES, SHORT_SIGNATURE_BYTES = 16, 6
UNITS = {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9}
# What a header says of the one after it.
ETHER_TYPES = {"vlan": 0x8100, "ipv4": 0x0800, "ipv6": 0x86DD, "arp": 0x0806, "mpls": 0x8847}
NO_ETHER_TYPE, NO_PROTOCOL, NO_NEXT_HEADER = 0xFFFF, 61, 59
PAUSES = ("pfcpause", "ethernetpause")
# Bytes and weights, as the schema has them; a frame has at least 64 bytes.
MIXES = {"imix": ((64, 7), (570, 4), (1518, 1)), "ipsec_imix": ((90, 58.67), (92, 2), (594, 23.66), (1418, 15.67)),
         "ipv6_imix": ((60, 58.67), (496, 2), (594, 23.66), (1518, 15.67)), "standard_imix": ((58, 58.67), (62, 2), (594, 23.66), (1518, 15.67)),
         "tcp_imix": ((90, 58.67), (92, 2), (594, 23.66), (1518, 15.67))}
WEIGHT_UNITS = 10000

Refuse = Callable[[str, str], None]


class Unfit(Exception):
    """The text says what was expected."""


class Field(NamedTuple):
    """Bits of a header: one value, or a pattern of values."""

    width: int
    value: int
    pattern: str = ""  # as in [frames NAME], after its colon


@dataclasses.dataclass
class Sizes:
    """Lengths of a flow's frames, with FCS."""

    least: int
    most: int
    mean: float
    text: str = ""  # of [frames NAME]; empty: all have the same


def sizes_of(path: str, size: Object, refuse: Refuse) -> Sizes:
    choice = size["choice"]
    part = size[choice]
    if choice == "fixed":
        found = Sizes(part, part, part)
    elif choice == "increment":
        start, end, step = part["start"], part["end"], part["step"]
        if step < 1 or start > end:
            refuse(f"{path}.increment", f"start {start}, end {end}, step {step}: expected start <= end, and a step of at least 1")
            return Sizes(LEAST_FRAME_BYTES, LEAST_FRAME_BYTES, LEAST_FRAME_BYTES)
        last = start + (end - start) // step * step
        found = Sizes(start, last, (start + last) / 2, f"{start}-{last}/{step}")
    elif choice == "random":
        low, high = part["min"], part["max"]
        if low > high:
            refuse(f"{path}.random", f"min {low}, max {high}: expected min <= max")
            return Sizes(LEAST_FRAME_BYTES, LEAST_FRAME_BYTES, LEAST_FRAME_BYTES)
        found = Sizes(low, high, (low + high) / 2, f"{low}~{high}")
    else:
        return mix_of(f"{path}.weight_pairs", part, refuse)
    for name, value in (("", found.least), ("", found.most)):
        if not LEAST_FRAME_BYTES <= value <= MOST_FRAME_BYTES:
            refuse(f"{path}.{choice}{name}", f"{value}: expected {LEAST_FRAME_BYTES} to {MOST_FRAME_BYTES} bytes")
            break
    return found


def mix_of(path: str, part: Object, refuse: Refuse) -> Sizes:
    """Sizes by weights. Predefined ones below the least are raised, as testers do."""
    if part["choice"] == "custom":
        pairs = [(pair["size"], pair["weight"]) for pair in part.get("custom", [])]
        wrong = [size for size, _ in pairs if not LEAST_FRAME_BYTES <= size <= MOST_FRAME_BYTES]
        if wrong:
            refuse(f"{path}.custom", f"size {wrong[0]}: expected {LEAST_FRAME_BYTES} to {MOST_FRAME_BYTES} bytes")
    else:
        pairs = [(max(size, LEAST_FRAME_BYTES), weight) for size, weight in MIXES[part["predefined"]]]
    total = sum(weight for _, weight in pairs)
    if not 1 <= len(pairs) <= MOST_SIZES or any(weight < 0 for _, weight in pairs) or not 0 < total < float("inf"):
        refuse(f"{path}.custom", f"{len(pairs)} pairs: expected 1 to {MOST_SIZES}, with weights of at least 0 that are not all 0")
        return Sizes(LEAST_FRAME_BYTES, LEAST_FRAME_BYTES, LEAST_FRAME_BYTES)
    shares = [(size, round(WEIGHT_UNITS * weight / total)) for size, weight in pairs]
    shares = [(size, share) for size, share in shares if share > 0]
    sizes = [size for size, _ in shares]
    mean = sum(size * share for size, share in shares) / sum(share for _, share in shares)
    return Sizes(min(sizes), max(sizes), mean, ",".join(f"{size}:{share}" for size, share in shares))


class Template:
    """The headers so far."""

    def __init__(self) -> None:
        self.bits = self.value = 0
        self.patterns: list[str] = []
        self.listed_values = 0
        self.checksums: list[str] = []  # of outer headers first

    def add(self, field: Field) -> None:
        width, value, pattern = field
        if pattern:
            self.patterns.append(f"{self.bits}/{width}:{pattern}")
            self.listed_values += pattern.count(",") + 1 if "," in pattern else 0
        self.value = self.value << width | value
        self.bits += width

    def bytes(self) -> int:
        return self.bits // 8

    def header(self) -> str:
        return self.value.to_bytes(self.bytes(), "big").hex()


def number(value: object) -> int:
    """A number, or an address."""
    return value if isinstance(value, int) else address_number(str(value))


@functools.lru_cache(ADDRESSES)
def address_number(text: str) -> int:
    if text.count(":") == 5 and "::" not in text:
        return int(text.replace(":", ""), 16)
    return int(ipaddress.ip_address(text))


def fields_of(pattern: Object, width: int, auto: int | None) -> list[Field]:
    """A header's field; one of 128 bits is two, since a pattern has 64 at most."""
    choice = pattern["choice"]
    if choice == "value":
        return split(Field(width, number(pattern["value"])))
    if choice == "auto":
        if auto is None:
            raise Unfit("auto: expected a value")
        return split(Field(width, auto))
    if choice == "random":
        return split(random_field(pattern["random"], width))
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


def random_field(given: Object, width: int) -> Field:
    low, high, count = number(given["min"]), number(given["max"]), given["count"]
    if low > high or high >> width:
        raise Unfit(f"random: min {given['min']}, max {given['max']}: expected min <= max, of {width} bits")
    if count == 0:
        raise Unfit("random.count = 0: expected at least 1")
    seed = given["seed"] or secrets.randbelow(2**32)  # the schema: 0 is another sequence each time
    return Field(width, low, f"{low}~{high}*{count}@{seed}")


def is_plain(pattern: Object, wanted: int) -> bool:
    """Does the field always have the value that it should?"""
    return bool(pattern["choice"] == "auto" or (pattern["choice"] == "value" and pattern["value"] == wanted))


def split(field: Field) -> list[Field]:
    if field.width <= 64:
        return [field]
    return [Field(field.width - 64, field.value >> 64), Field(64, field.value % 2**64, field.pattern)]


class Builder:
    """The headers of one flow, in order."""

    def __init__(self, path: str, headers: list[Object], given: list[Object], sizes: Sizes, dst_mac: str | None, refuse: Refuse) -> None:
        """dst_mac: what auto stands for"""
        self.path, self.headers, self.given, self.sizes, self.refuse = path, headers, given, sizes, refuse
        self.dst_mac = dst_mac
        self.template = Template()
        self.has_auto_dst = False  # of the first header
        self.prio: int | None = None  # whose pause the flow obeys
        self.ip_at, self.ip_plain = 0, False  # of the last IP header
        self.tail = 0  # bytes at the end of the frame that belong to no packet in a tunnel

    def build(self) -> Template:
        for n, header in enumerate(self.headers):
            self.before = self.headers[n - 1]["choice"] if n > 0 else None
            kind = header["choice"]
            self.at = f"{self.path}[{n}].{kind}"
            self.next = self.headers[n + 1]["choice"] if n + 1 < len(self.headers) else None
            self.raw = self.given[n].get(kind) or {}
            if n > 0 and (kind in PAUSES or (kind == "ethernet" and self.before != "vxlan")):
                self.refuse(self.at, "expected the first header, or ethernet after vxlan")
            elif n == 0 and kind not in ("ethernet", "custom", *PAUSES):
                self.refuse(self.at, "expected ethernet, pfcpause, ethernetpause or custom as the first header")
            getattr(self, kind)(header[kind])
        return self.template

    def put(self, name: str, pattern: Object, width: int, auto: int | None = None) -> None:
        if pattern["choice"] == "auto" and "auto" in (self.raw.get(name.rpartition(".")[2]) or {}) and pattern["auto"] != auto:
            self.refuse(f"{self.at}.{name}.auto", "expected no value of its own")
        try:
            for field in fields_of(pattern, width, auto):
                self.template.add(field)
        except Unfit as unfit:
            self.refuse(f"{self.at}.{name}", str(unfit))

    def put_number(self, width: int, value: int) -> None:
        self.template.add(Field(width, value))

    def put_length(self, name: str, pattern: Object, at: int) -> None:
        """16 bits, by default the bytes of the frame from an offset on, without FCS."""
        length = max(0, self.sizes.most - FCS_BYTES - self.tail - at)
        if pattern["choice"] == "auto" and self.sizes.text:
            self.template.add(Field(16, length, f"len-{at + self.tail}"))
        else:
            self.put(name, pattern, 16, length)

    def ethernet(self, header: Object) -> None:
        first = self.template.bytes() == 0
        # As in ixia-c and the conformance suite: 4 bytes for an FCS end a frame in a tunnel. RFC 7348 carries no inner FCS, so the receiver sees padding.
        self.tail += 0 if first else FCS_BYTES
        self.has_auto_dst |= first and header["dst"]["choice"] == "auto"
        self.put("dst", header["dst"], 48, number(self.dst_mac) if first and self.dst_mac else 0)
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
        at = self.template.bytes()
        self.put("version", header["version"], 4)
        self.put("header_length", header["header_length"], 4, 5)
        self.priority(header["priority"])
        self.put_length("total_length", header["total_length"], at)
        self.put("identification", header["identification"], 16)
        for name in ("reserved", "dont_fragment", "more_fragments"):
            self.put(name, header[name], 1)
        self.put("fragment_offset", header["fragment_offset"], 13)
        self.put("time_to_live", header["time_to_live"], 8)
        self.put("protocol", header["protocol"], 8, protocols.NUMBERS.get(self.next or "", NO_PROTOCOL))
        self.ip_at, self.ip_plain = at, is_plain(header["version"], 4) and is_plain(header["header_length"], 5)
        self.checksum("header_checksum", header["header_checksum"], f"ipv4@{at}", self.ip_plain)
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

    def checksum(self, name: str, header: Object, rule: str, known: bool) -> None:
        """A value, or 0, over which quench-nic writes the sum by a rule, if it knows the headers that it needs."""
        if header["choice"] == "custom":
            self.put_number(16, header.get("custom", 0))
            return
        tail = f"-{self.tail}" if self.tail and not rule.startswith("ipv4") else ""
        if not known:
            self.refuse(f"{self.at}.{name}", "generated: expected custom: quench-nic knows IPv4 of version 4 and 20 bytes, and IPv6 of version 6")
        self.put_number(16, 0)
        self.template.checksums.append(rule + tail + ("!" if header.get("generated") == "bad" else ""))
        if len(self.template.checksums) > MOST_CHECKSUMS:
            self.refuse(f"{self.at}.{name}", f"generated: expected custom after the {MOST_CHECKSUMS} checksums that quench-nic computes in a frame")

    def transport_checksum(self, header: Object, kind: str, at: int) -> None:
        """Of a header at an offset, after an IP header. After another one, nobody knows the addresses that it covers."""
        if self.before in ("ipv4", "ipv6"):
            self.checksum("checksum", header, f"{kind}@{at}/{self.ip_at}", self.ip_plain)
        else:
            self.put_number(16, header.get("custom", 0) if header["choice"] == "custom" else 0)

    def ipv6(self, header: Object) -> None:
        at = self.template.bytes()
        self.ip_at, self.ip_plain = at, is_plain(header["version"], 6)
        self.put("version", header["version"], 4)
        self.put("traffic_class", header["traffic_class"], 8)
        self.put("flow_label", header["flow_label"], 20)
        self.put_length("payload_length", header["payload_length"], at + 40)
        self.put("next_header", header["next_header"], 8, protocols.NUMBERS.get(self.next or "", NO_NEXT_HEADER))
        self.put("hop_limit", header["hop_limit"], 8)
        self.put("src", header["src"], 128)
        self.put("dst", header["dst"], 128)

    def udp(self, header: Object) -> None:
        at = self.template.bytes()
        self.put("src_port", header["src_port"], 16)
        self.put("dst_port", header["dst_port"], 16)
        self.put_length("length", header["length"] if "length" in self.raw else {"choice": "auto"}, at)
        self.transport_checksum(header["checksum"], "udp", at)

    def tcp(self, header: Object) -> None:
        at = self.template.bytes()
        for name, width in (("src_port", 16), ("dst_port", 16), ("seq_num", 32), ("ack_num", 32)):
            self.put(name, header[name], width)
        # The schema's default of 0 is no header of TCP.
        self.put("data_offset", header["data_offset"] if "data_offset" in self.raw else {"choice": "auto"}, 4, 5)
        self.put_number(3, 0)
        for name in ("ecn_ns", "ecn_cwr", "ecn_echo", "ctl_urg", "ctl_ack", "ctl_psh", "ctl_rst", "ctl_syn", "ctl_fin"):
            self.put(name, header[name], 1)
        self.put("window", header["window"], 16)
        self.transport_checksum(header["checksum"], "tcp", at)
        self.put_number(16, 0)

    def icmp(self, header: Object) -> None:
        at, echo = self.template.bytes(), header["echo"]
        self.at += ".echo"
        self.raw = self.raw.get("echo") or {}
        for name in ("type", "code"):
            self.put(name, echo[name], 8)
        if self.at.endswith(".icmpv6.echo"):
            self.transport_checksum(echo["checksum"], "icmpv6", at)
        else:
            self.checksum("checksum", echo["checksum"], f"icmp@{at}", True)
        for name in ("identifier", "sequence_number"):
            self.put(name, echo[name], 16)

    icmpv6 = icmp

    def arp(self, header: Object) -> None:
        for name, width in (("hardware_type", 16), ("protocol_type", 16), ("hardware_length", 8), ("protocol_length", 8), ("operation", 16),
                            ("sender_hardware_addr", 48), ("sender_protocol_addr", 32), ("target_hardware_addr", 48), ("target_protocol_addr", 32)):
            self.put(name, header[name], width)

    def vxlan(self, header: Object) -> None:
        for name, width in (("flags", 8), ("reserved0", 24)):
            self.put(name, header[name], width)
        self.put("vni", header["vni"], 24, 0)
        self.put("reserved1", header["reserved1"], 8)

    def mpls(self, header: Object) -> None:
        self.put("label", header["label"], 20, 16)
        self.put("traffic_class", header["traffic_class"], 3)
        self.put("bottom_of_stack", header["bottom_of_stack"], 1, int(self.next != "mpls"))
        self.put("time_to_live", header["time_to_live"], 8)

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


@dataclasses.dataclass
class Rate:
    """Of [frames NAME]: in wire bytes, or in frames."""

    bps: int = 0
    pps: int = 0

    def wire_bps(self, sizes: Sizes) -> int:
        return self.bps or round(8 * self.pps * (sizes.mean + GAP_BYTES))

    def keys(self) -> dict[str, str]:
        """One of 0 is for a flow that is not started."""
        return {"rate_bps": str(self.bps)} if self.bps else {"rate_pps": str(max(1, self.pps))}


def rate_of(rate: Object, sizes: Sizes, speed_bps: int) -> Rate:
    choice = rate["choice"]
    if choice == "percentage":
        return Rate(bps=round(speed_bps * float(rate[choice]) / 100))
    if choice == "pps":
        return Rate(pps=int(rate[choice]))
    return Rate(bps=int(int(rate[choice]) * UNITS[choice] * (sizes.mean + GAP_BYTES) / sizes.mean))


def ns_of(time: Object, speed_bps: int) -> int:
    """A delay, or a gap: in time, or in the time of bytes on the wire."""
    value = float(time.get(time["choice"], 0))
    return round(value * {"nanoseconds": 1, "microseconds": 1000, "bytes": 8 * 10**9 / speed_bps}[time["choice"]])


def most_pps(sizes: Sizes, gap_bytes: int, speed_bps: int) -> int:
    """With this gap between two frames, in which the wire has a preamble of 8 bytes too."""
    return int(speed_bps / (8 * (sizes.mean + 8 + gap_bytes)))
