# SPDX-License-Identifier: BSD-3-Clause
"""A checked configuration, turned into those of the quench-nics of its ports."""
from __future__ import annotations

import collections
import contextlib
import dataclasses
import ipaddress
import itertools
import re
import secrets
import shlex
from collections.abc import Iterable, Iterator

from . import capture, raw
from .generator import interface_mtu
from .schema import Checker, Full, Object, Refused, default

KBPS, MBPS, GBPS = 10**3, 10**6, 10**9
MTUS = (256, 512, 1024, 2048, 4096)
# Between two quench-nics: multiples of the smallest one.
MOST_MTU = 8960
FIRST_QPN = 17  # of a port without flows, as of quench-nic
MOST_QPN = MOST_PSN = (1 << 24) - 1
MOST_NUMBERS = 1 << 22
MOST_MESSAGE_BYTES = 1 << 31
MOST_US = (1 << 32) - 1
UNITS = {"bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
ECN = {"non_ect": "not_ect", "ect_1": "ect1", "ect_0": "ect0"}
VERBS = {"write": "write", "write_with_immediate": "write_imm", "send": "send", "send_with_immediate": "send_imm", "read": "read"}
PAUSE_ADDRESS = "01:80:C2:00:00:01"
# After the IP header's first byte: IP, UDP, BTH, RETH, ImmDt, ICRC.
ROCE_BYTES = {4: 20 + 8 + 12 + 16 + 4 + 4, 6: 40 + 8 + 12 + 16 + 4 + 4}
# Messages in flight of a QP: enough for a long path, and a bound on what a stop has to finish.
IN_FLIGHT_BYTES, MOST_DEPTH, MOST_READS = 512 * 1024, 64, 16
# quench-nic reads 4096 sections. With more flows than this on a port, equal neighbours share a section.
MOST_SECTIONS = 1024
MOST_RAW_FLOWS = 256
# Gateways and peers of a port that are asked for their MAC addresses.
MOST_NEIGHBOURS = 1024
# Of a port with raw flows, for append_config. quench-nic looks at each stream for every frame.
SPARE_SECTIONS = 8
NO_FRAMES = {"header": "00" * 14, "rate_pps": "1", "stopped": "on"}
# Of a port without a device: quench-nic has an address always (RFC 3927: of one link).
STAND_IN = "169.254.1.1"
ETHERNET_BYTES, TAG_BYTES = 14, 4
AUTO_MAC = "00:00:00:00:00:00"
# Of layer1, what a device decides. Suites that write all defaults ask for it without wanting it.
IGNORED = ("promiscuous", "mtu", "media", "ieee_media_defaults", "auto_negotiate", "auto_negotiation")
# Streams of signed frames that a quench-nic counts, at least. A start gives a flow another number, of the same slot.
LEAST_SIGNATURES, MOST_SIGNATURES, SIGNATURE_NUMBERS = 1024, 16384, 1 << 16
PLAIN_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,24}")

Section = dict[str, str]


@dataclasses.dataclass
class Interface:
    """An Ethernet interface of a device."""

    name: str
    port: Port
    mac: str
    mtu: int
    vlan: Section = dataclasses.field(default_factory=dict)
    addresses: list[Address] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Address:
    """An IP interface of a device."""

    name: str
    interface: Interface
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address
    network: ipaddress.IPv4Network | ipaddress.IPv6Network
    gateway: ipaddress.IPv4Address | ipaddress.IPv6Address
    gateway_mac: str  # empty: resolved
    text: str  # of ip
    peers: list[Peer] = dataclasses.field(default_factory=list)  # those of the configuration

    def is_behind_gateway(self, ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
        return ip not in self.network

    def hop(self, ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
        """Whose MAC address frames to it have."""
        return self.gateway if self.is_behind_gateway(ip) else ip

    def local(self) -> Section:
        """What differs from the quench-nic's own addresses."""
        nic = self.interface.port.sections["nic"]
        found = {"local_mac": self.interface.mac} if self.interface.mac.lower() != nic["mac"].lower() else {}
        return found if nic.get("ip" if self.ip.version == 4 else "ip6") == self.text else {**found, "local_ip": self.text}


@dataclasses.dataclass
class Port:
    name: str
    location: str  # as the configuration has it
    outlet: str  # name of its location
    speed_bps: int
    sections: dict[str, Section]  # all but those of flows
    mac: str = ""  # of the first interface, which is that of its quench-nic
    interfaces: list[Interface] = dataclasses.field(default_factory=list)
    ends: list[End] = dataclasses.field(default_factory=list)
    neighbours: list[Neighbour] = dataclasses.field(default_factory=list)
    raws: list[RawFlow] = dataclasses.field(default_factory=list)
    asked_bps: int = 0  # by them
    capture: capture.Settings | None = None
    most_bytes: int = 0  # largest raw frame that its quench-nic has room for
    rx_bytes: int = 0  # largest raw frame that arrives
    slots: dict[str, RawFlow | None] = dataclasses.field(default_factory=dict)  # by section of its quench-nic, in order
    signatures: int = 0  # slots for signed frames that its quench-nic started with
    counted_bytes: int = 0  # largest of these frames
    running: Object | None = None  # of its location
    captures_sent: bool = False
    captures_fcs: bool = False
    interface: str = ""  # of its location

    def begin(self, signatures: int) -> None:
        """A quench-nic starts with its present flows. It keeps its sections, so some are for flows that come later."""
        self.signatures, self.counted_bytes = signatures, max(self.rx_bytes, raw.STANDARD_FRAME_BYTES)
        if self.running is not None:
            self.most_bytes, flows = self.running["most_bytes"], iter(self.raws)
            self.slots = {section: next(flows, None) for section in self.running["streams"]}
            return
        self.most_bytes = max([raw.STANDARD_FRAME_BYTES, *(int(flow.keys["frame_bytes"]) for flow in self.raws)])
        self.slots = {flow.section: flow for flow in self.raws}
        spare = (name for name in (f"spare-{n}" for n in range(MOST_RAW_FLOWS + SPARE_SECTIONS)) if name not in self.slots)
        while self.raws and len(self.slots) < min(len(self.raws) + SPARE_SECTIONS, MOST_RAW_FLOWS):
            self.slots[next(spare)] = None


@dataclasses.dataclass
class Peer:
    name: str
    version: int
    path: str
    port: Port
    address: Address
    to: ipaddress.IPv4Address | ipaddress.IPv6Address
    to_text: str
    mtu: int
    up: bool = True
    qps: list[Qp] = dataclasses.field(default_factory=list)

    def is_at(self, address: Address) -> bool:
        """0.0.0.0, or ::, is any: an end that only receives need not know who sends."""
        return self.to == address.ip or self.to.is_unspecified


@dataclasses.dataclass
class Qp:
    name: str
    path: str
    peer: Peer
    qpn: int
    parameters: Object
    place: int  # in the list of its peer
    flow: Flow | None = None


@dataclasses.dataclass
class Flow:
    name: str
    path: str
    tx: Qp
    rx: Qp
    verb: str
    started: bool = False
    idle: bool = False  # a target line rate of 0

    def sender(self) -> Qp:
        """The end that sends the data."""
        return self.rx if self.verb == "read" else self.tx

    def receiver(self) -> Qp:
        return self.tx if self.verb == "read" else self.rx


@dataclasses.dataclass
class End:
    """An end of flows, in one section: of one flow, or of neighbours that differ in their numbers only."""

    section: str
    keys: Section
    flows: list[Flow]
    requester: bool
    qpns: list[int]

    def is_up(self) -> bool:
        return all(flow.tx.peer.up and flow.rx.peer.up for flow in self.flows)

    def text(self) -> str:
        keys = dict(self.keys)
        if self.requester:
            keys["stopped"] = "off" if self.flows[0].started and not self.flows[0].idle else "on"
        return section_text(f"flow {self.section}", keys)


@dataclasses.dataclass
class Neighbour:
    """
    A gateway, or a peer, of an interface. The section of quench-nic that asks for its MAC address, and answers for that of the interface, is
    a QP that nobody sends to.
    """

    address: Address
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address
    mac: str  # empty: asked for
    section: str = ""  # empty: no section
    qpn: int = 0

    def text(self, mtu: int) -> str:
        """mtu: the largest of the port, since a quench-nic has room for no larger one later than those that it starts with."""
        return section_text(f"flow {self.section}", {
            "peer_ip": str(self.ip), "local_qpn": str(self.qpn), "peer_qpn": "2", "requester": "off", "mtu_bytes": str(mtu),
            **self.address.interface.vlan, **self.address.local()})


@dataclasses.dataclass
class Measured:
    """What a raw flow's metrics have of its receiver."""

    timed: bool = True  # its frames have room for a number and a time
    loss: bool = False
    timestamps: bool = False
    latency: bool = False
    expected: float = 1.0  # frames for each frame sent


@dataclasses.dataclass
class RawFlow:
    """Frames of a template, from one port."""

    name: str
    port: Port
    to: list[str]  # ports where they arrive
    section: str
    keys: Section
    measured: Measured | None = None
    number: int = 0  # of its signature; 0: it has none
    # What auto of the first header's dst stands for: addresses, and of devices behind a gateway what it has to be asked for.
    next_hops: list[str | Address] = dataclasses.field(default_factory=list)
    resolved: dict[str, str] = dataclasses.field(default_factory=dict)  # of these, by the name of the device's address
    started: bool = False
    paused: bool = False
    idle: bool = False  # a rate of 0

    def sends(self) -> bool:
        return self.started and not self.idle

    def next_macs(self) -> list[str]:
        return [hop if isinstance(hop, str) else self.resolved.get(hop.name, AUTO_MAC) for hop in self.next_hops]

    def text(self, section: str) -> str:
        keys = {**self.keys, "stopped": "off" if self.sends() else "on", "paused": "on" if self.paused else "off"}
        macs = self.next_macs()
        if macs:
            numbers = [raw.number(mac) for mac in macs]
            keys["header"] = f"{numbers[0]:012x}" + keys["header"][12:]
            if len(set(numbers)) > 1:
                keys["patterns"] = " ".join([f"0/48:{','.join(map(str, numbers))}", *keys.get("patterns", "").split()])
        if self.number:
            keys["signature"] = str(self.number)
        return section_text(f"frames {section}", keys)


def section_text(name: str, keys: Section) -> str:
    return f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


@dataclasses.dataclass
class Location:
    """What the command line says of a port."""

    name: str
    speed_bps: int = 100 * GBPS
    base: dict[str, Section] = dataclasses.field(default_factory=dict)
    # Of a quench-nic that somebody else started: its streams of frames, and the largest frame that it has room for.
    running: Object | None = None
    captures_sent: bool = False  # also frames that the port sends
    captures_fcs: bool = False  # frames of captures end with their FCS
    texts: tuple[str, ...] = ()  # what configurations call it, if not by its name
    interface: str = ""  # of this machine's kernel, through which its device sends


@dataclasses.dataclass
class Plan:
    ports: dict[str, Port]
    peers: dict[str, Peer]
    flows: dict[str, Flow]
    raws: dict[str, RawFlow]
    warnings: list[str]
    auto_start: bool
    protocols: bool = True  # are started: gateways and peers are asked for their MAC addresses
    signatures: int = 0  # slots of each quench-nic for signed frames
    key: int = dataclasses.field(default_factory=lambda: secrets.randbits(64))  # of the signatures: frames of an earlier run do not count

    def number(self, flows: Iterable[RawFlow]) -> None:
        """Give flows with metrics a slot, and so a number."""
        used = {flow.number % self.signatures for flow in self.raws.values() if flow.number}
        free = (slot for slot in range(1, self.signatures) if slot not in used)
        for flow in flows:
            if flow.measured and not flow.number:
                flow.number = next(free)

    def renumber(self, flow: RawFlow) -> None:
        """Its counters begin again at 0: frames that are still on their way have the old number."""
        if flow.number:
            flow.number = (flow.number + self.signatures) % SIGNATURE_NUMBERS

    def address(self, name: str) -> Address:
        return next(address for port in self.ports.values() for one in port.interfaces for address in one.addresses if address.name == name)

    def text_of(self, port: Port) -> str:
        """The configuration of the port's quench-nic."""
        own = {"signature_key": str(self.key)} if self.signatures else {}
        if port.signatures and port.running is None:
            own |= {"signatures": str(port.signatures), "rx_frame_bytes": str(port.counted_bytes)}
        parts = [section_text(name, {**keys, **own} if name == "nic" else keys) for name, keys in port.sections.items()]
        mtu = max((int(end.keys["mtu_bytes"]) for end in port.ends), default=MTUS[0])
        neighbours = [neighbour.text(mtu) for neighbour in port.neighbours if neighbour.section] if self.protocols else []
        return "\n".join(parts + [end.text() for end in port.ends if end.is_up()] + neighbours +
                         [flow.text(section) if flow else section_text(f"frames {section}", NO_FRAMES) for section, flow in port.slots.items()])


def longest_frame_bytes(interface: str, tagged: bool) -> int:
    """That an interface of the kernel sends, with FCS; as quench-nic has it. Without one, or if it is not there, the most of all frames"""
    mtu_bytes = interface_mtu(interface) if interface else 0
    if not mtu_bytes:
        return raw.MOST_FRAME_BYTES
    return mtu_bytes + ETHERNET_BYTES + (TAG_BYTES if tagged else 0) + raw.FCS_BYTES


def port_of(end: Interface | Address) -> Port:
    return end.port if isinstance(end, Interface) else end.interface.port


def numbered(items: list[Object] | None) -> Iterator[tuple[int, Object]]:
    """Items of a list, but those that the schema refuses."""
    return ((n, item) for n, item in enumerate(items or ()) if item is not None)


class Numbers:
    """QP numbers of a port, with the names of their QPs."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.most = 0

    def take(self, qpn: int, name: str) -> str:
        """@return the name of the QP that has it: the first one that took it"""
        self.most = max(self.most, qpn)
        return self.names.setdefault(qpn, name)

    def free(self, wanted: int) -> int:
        """This one, or the next after the last, or the last before it."""
        return next(qpn for qpn in itertools.chain([wanted], range(self.most + 1, MOST_QPN + 1), range(MOST_QPN, 1, -1)) if qpn not in self.names)


class Planner:
    """
    Each step goes on after a mistake, so that a client learns of all of them at once: objects that others refer to are there also with a
    mistake, or their names are lost, and who refers to a lost name makes no mistake.
    """

    def __init__(self, given: Object, locations: dict[str, Location]) -> None:
        self.checker = Checker()
        self.config: Object = {}
        self.given, self.locations = given, locations
        self.names: dict[str, str] = {}
        self.ports: dict[str, Port] = {}
        self.peers: dict[str, Peer] = {}
        self.qps: dict[str, Qp] = {}
        self.numbers: collections.defaultdict[str, Numbers] = collections.defaultdict(Numbers)  # of ports
        self.senders: set[str] = set()  # QPs that are the tx_endpoint of a flow, and answer no other
        self.flows: dict[str, Flow] = {}
        self.raws: dict[str, RawFlow] = {}
        self.endpoints: dict[str, Interface | Address] = {}
        self.addresses: collections.defaultdict[ipaddress.IPv4Address | ipaddress.IPv6Address, list[Address]] = collections.defaultdict(list)
        self.warnings: list[str] = []
        self.ignored: set[str] = set()  # properties of layer1

    def refuse(self, path: str, why: str) -> None:
        self.checker.refuse(path, why)

    def lose(self, item: Object) -> None:
        """It is not planned, because of a mistake that has its line."""
        self.checker.lose(item)

    def is_lost(self, name: str | None) -> bool:
        return self.checker.is_lost(name)

    def name(self, path: str, name: str) -> bool:
        if name in self.names:
            self.refuse(path, f"{name!r}: {self.names[name]} has this name")
        return self.names.setdefault(name, path) == path

    def port(self, path: str, name: str | None) -> Port | None:
        found = self.ports.get(name) if name is not None else None
        if found is None and not self.is_lost(name):
            self.refuse(path, f"{name!r}: expected a port of the configuration" if name else "missing, and expected a port")
        return found

    def plan(self) -> Plan:
        with contextlib.suppress(Full):
            self.config = self.checker.object("Config", self.given, "")
            if not self.checker.spoilt:
                self.plan_all()
        if self.checker.errors:
            raise Refused(self.checker.errors)
        return self.whole()

    def whole(self) -> Plan:
        plan = Plan(self.ports, self.peers, self.flows, self.raws, self.warnings, self.config["options"]["protocol_options"]["auto_start_all"])
        if self.raws:
            measured = sum(flow.measured is not None for flow in self.raws.values())
            plan.signatures = max(LEAST_SIGNATURES, 1 << (measured + SPARE_SECTIONS).bit_length())
            plan.number(self.raws.values())
        return plan

    def plan_all(self) -> None:
        for step in (self.plan_ports, self.plan_layer1, self.plan_captures, self.plan_devices, self.plan_options, self.plan_flows, self.plan_raw_flows):
            step()
        for port in self.ports.values():
            if not port.sections["nic"].keys() & {"ip", "ip6"}:
                port.sections["nic"]["ip"] = STAND_IN
            if len(port.ends) > MOST_SECTIONS:
                port.ends = list(grouped(port.ends))
            self.plan_neighbours(port)
            self.plan_numbers(port)
            if port.asked_bps > port.speed_bps:
                self.warnings.append(f"flows: those of port {port.name!r} ask for {port.asked_bps} bit/s with preambles and gaps: the port has {port.speed_bps}")

    def plan_neighbours(self, port: Port) -> None:
        ours = {address.ip: interface.mac for interface in port.interfaces for address in interface.addresses}
        for address in (address for interface in port.interfaces for address in interface.addresses):
            hops = {address.gateway: None} | {address.hop(peer.to): None for peer in address.peers}
            port.neighbours += [Neighbour(address, ip, address.gateway_mac if ip == address.gateway and address.gateway_mac else ours.get(ip, ""))
                                for ip in hops if ip != address.ip and not ip.is_unspecified and not ip.is_multicast]
        asked = [neighbour for neighbour in port.neighbours if not neighbour.mac]
        if len(asked) > MOST_NEIGHBOURS:
            self.warnings.append(f"devices: port {port.name!r} asks for {MOST_NEIGHBOURS} of its {len(asked)} gateways and peers before a flow needs them")
        for n, neighbour in enumerate(asked[:MOST_NEIGHBOURS]):
            neighbour.section = f"neighbour.{n + 1}"

    def number_neighbours(self, port: Port, used: set[int], low: int, high: int) -> list[int]:
        """Numbers from low to high that no flow has. @return all in use"""
        asked = [neighbour for neighbour in port.neighbours if neighbour.section]
        free = itertools.islice((qpn for qpn in range(low, high + 1) if qpn not in used), len(asked))
        for neighbour in asked:
            neighbour.qpn = next(free, 0)
            if not neighbour.qpn:
                neighbour.section = ""
        if any(not neighbour.section for neighbour in asked):
            self.warnings.append(f"devices: port {port.name!r}: the QP numbers of its quench-nic do not suffice to ask for all gateways and peers")
        return [*used, *(neighbour.qpn for neighbour in asked if neighbour.qpn)]

    def plan_numbers(self, port: Port) -> None:
        """A quench-nic has state for each number from its first to its last QP."""
        used = {qpn for end in port.ends for qpn in end.qpns}
        if port.running is not None:
            low = int(port.sections["nic"]["first_qpn"])
            numbers = self.number_neighbours(port, used, low, low + int(port.sections["nic"]["max_qps"]) - 1)
        else:
            # After the last one, or before the first.
            n, most = sum(bool(neighbour.section) for neighbour in port.neighbours), max(used, default=FIRST_QPN - 1)
            numbers = self.number_neighbours(port, used, most + 1 if most + n <= MOST_QPN else min(used) - n, MOST_QPN)
        if not numbers:
            return
        first, last = min(numbers), max(numbers)
        if port.running is not None:
            low, most = int(port.sections["nic"]["first_qpn"]), int(port.sections["nic"]["max_qps"])
            if first < low or last >= low + most:
                self.refuse("devices", f"source_qp_number {first} to {last} on port {port.name!r}: expected {low} to {low + most - 1}, the numbers of its "
                            "quench-nic, which somebody else started")
            return
        if last - first >= MOST_NUMBERS:
            self.refuse("devices", f"source_qp_number {first} and {last} on port {port.name!r}: expected at most {MOST_NUMBERS} numbers from the first QP of "
                        "a port to its last")
        port.sections["nic"].update(first_qpn=str(first), max_qps=str(last - first + 1))

    def plan_ports(self) -> None:
        used: dict[str, str] = {}
        for n, item in numbered(self.config.get("ports")):
            path = f"ports[{n}]"
            location: str | None = item.get("location")
            if not self.name(f"{path}.name", item["name"]):
                continue
            known = self.locations.get(location or "")
            if known is None:
                self.refuse(f"{path}.location", f"missing, and expected one of {', '.join(self.locations)}" if location is None else
                            f"{location!r}: expected one of {', '.join(self.locations)}, or a device for it: --port {shlex.quote(f'{location}=DEVICE')}")
                known = Location("")
            elif used.setdefault(known.name, item["name"]) != item["name"]:
                self.refuse(f"{path}.location", f"{location!r}: port {used[known.name]!r} has it")
            sections = {name: dict(keys) for name, keys in known.base.items()}
            nic = sections.setdefault("nic", {})
            nic["link_speed_bps"] = str(known.speed_bps)
            if known.running is None:
                nic.update({"flow_control": "off", "measure_times": "on"})
            self.ports[item["name"]] = Port(item["name"], location or "", known.name, known.speed_bps, sections, nic.get("mac", ""), running=known.running,
                                           captures_sent=known.captures_sent, captures_fcs=known.captures_fcs, interface=known.interface)

    def plan_layer1(self) -> None:
        seen: set[str] = set()
        for n, item in numbered(self.config.get("layer1")):
            path = f"layer1[{n}]"
            self.name(f"{path}.name", item["name"])
            for name in item["port_names"]:
                port = self.port(f"{path}.port_names", name)
                if port is None:
                    continue
                if name in seen:
                    self.refuse(f"{path}.port_names", f"{name!r}: another layer1 has this port")
                seen.add(name)
                self.plan_layer1_of(path, item, self.given["layer1"][n], port)
        if self.ignored:
            self.warnings.append(f"layer1: {', '.join(sorted(self.ignored))}: ignored: the device and its driver decide")

    def plan_layer1_of(self, path: str, item: Object, given: Object, port: Port) -> None:
        """given: item as it came"""
        nic = port.sections["nic"]
        if "speed" in item:
            _, number, *_, unit = item["speed"].split("_")
            port.speed_bps = int(number) * (GBPS if unit == "gbps" else MBPS)
            nic["link_speed_bps"] = str(port.speed_bps)
        self.ignored.update(key for key in IGNORED if given.get(key) is not None and (given[key] is not False or key == "auto_negotiate"))
        flow_control = item.get("flow_control")
        if flow_control is None:
            return
        at = f"{path}.flow_control"
        if flow_control["directed_address"].upper() != PAUSE_ADDRESS:
            self.refuse(f"{at}.directed_address", f"{flow_control['directed_address']}: expected {PAUSE_ADDRESS}, the only one that "
                        "quench-nic listens to")
        if flow_control["choice"] == "ieee_802_3x":
            nic["flow_control"] = "pause"
            return
        classes = flow_control["ieee_802_1qbb"]
        if classes["pfc_delay"] != 0:
            self.refuse(f"{at}.ieee_802_1qbb.pfc_delay", f"{classes['pfc_delay']}: expected 0: quench-nic obeys before its next frame")
        nic["flow_control"] = "pfc"
        # A class that the request sets to null has no PFC.
        raw = (given["flow_control"].get("ieee_802_1qbb") or {})
        enabled = [prio for prio in range(8) if raw.get(f"pfc_class_{prio}", prio) is not None]
        queues = ", ".join(f"{prio}:{classes[f'pfc_class_{prio}']}" for prio in range(8))
        # A class is the priority of its number: its frames wait in the queue that a pause of this priority stops.
        port.sections.setdefault("qos_map", {}).update(
            pfc_enable=",".join(map(str, enabled)) or "none", pfc_priority_to_queue_map=queues, tc_to_queue_map=queues,
            tc_to_priority_group_map=", ".join(f"{prio}:{prio}" for prio in range(8)))

    def plan_captures(self) -> None:
        for n, item in numbered(self.config.get("captures")):
            path = f"captures[{n}]"
            self.name(f"{path}.name", item["name"])
            size = item.get("packet_size", capture.MOST_BYTES)
            if size < capture.LEAST_BYTES:
                self.refuse(f"{path}.packet_size", f"{size}: expected at least {capture.LEAST_BYTES}")
            found = capture.matches(f"{path}.filters", item.get("filters", []), self.refuse)
            options = [f"snaplen={size}", *([f"match={found}"] if found else [])]
            for name in item["port_names"]:
                port = self.port(f"{path}.port_names", name)
                if port is not None and port.capture is not None:
                    self.refuse(f"{path}.port_names", f"{name!r}: other captures have this port")
                elif port is not None:
                    port.capture = capture.Settings(capture.Order(options + ([] if port.captures_sent else ["direction=received"]), item["overwrite"]), item["format"],
                                                    port.captures_fcs)

    def plan_devices(self) -> None:
        for n, item in numbered(self.config.get("devices")):
            path = f"devices[{n}]"
            self.name(f"{path}.name", item["name"])
            own: dict[str, Address] = {}
            for m, ethernet in numbered(item.get("ethernets")):
                self.plan_ethernet(f"{path}.ethernets[{m}]", ethernet, own)
            for version in (4, 6):
                self.plan_peers(f"{path}.rocev2.ipv{version}_interfaces", version, item["rocev2"].get(f"ipv{version}_interfaces", []), own)

    def plan_ethernet(self, path: str, item: Object, own: dict[str, Address]) -> None:
        self.name(f"{path}.name", item["name"])
        if "port_name" not in item["connection"]:
            self.refuse(f"{path}.connection", "missing, and expected a port_name")
            self.lose(item)
            return
        port = self.port(f"{path}.connection.port_name", item["connection"]["port_name"])
        if "mac" not in item:
            self.refuse(f"{path}.mac", "missing, and the schema requires it")
        if port is None or "mac" not in item:
            self.lose(item)
            return
        self.refuse_group(f"{path}.mac", item["mac"])
        interface = Interface(item["name"], port, item["mac"], item["mtu"])
        if not port.interfaces and port.running is None:
            port.mac = port.sections["nic"]["mac"] = item["mac"]
        port.interfaces.append(interface)
        self.endpoints[interface.name] = interface
        vlans = item.get("vlans", [])
        if len(vlans) > 1:
            self.refuse(f"{path}.vlans", f"{len(vlans)}: expected at most one")
        for _, vlan in numbered(vlans[:1]):
            self.name(f"{path}.vlans[0].name", vlan["name"])
            if vlan["id"] == 4095:
                self.refuse(f"{path}.vlans[0].id", "4095: expected at most 4094: the last number is reserved")
            interface.vlan = {"tagged": "on", "vlan_id": str(vlan["id"]), "vlan_pcp": str(vlan["priority"])}
        for version in (4, 6):
            for n, address in numbered(item.get(f"ipv{version}_addresses")):
                self.plan_address(f"{path}.ipv{version}_addresses[{n}]", version, address, interface, own)

    def refuse_group(self, path: str, mac: str) -> None:
        if int(mac.split(":")[0], 16) & 1:
            self.refuse(path, f"{mac}: expected the address of one station, not that of a group")

    def plan_address(self, path: str, version: int, item: Object, interface: Interface, own: dict[str, Address]) -> None:
        self.name(f"{path}.name", item["name"])
        gateway_mac = item["gateway_mac"]
        if gateway_mac["choice"] == "auto" and gateway_mac.get("auto", AUTO_MAC) != AUTO_MAC:
            self.refuse(f"{path}.gateway_mac.auto", "expected no value of its own: the address is resolved")
        if gateway_mac["choice"] == "value":
            self.refuse_group(f"{path}.gateway_mac.value", gateway_mac["value"])
        port = interface.port
        address = Address(item["name"], interface, ipaddress.ip_address(item["address"]),
                          ipaddress.ip_network(f"{item['address']}/{item['prefix']}", strict=False),
                          ipaddress.ip_address(item["gateway"]), gateway_mac["value"] if gateway_mac["choice"] == "value" else "", item["address"])
        if any(other.interface.port is port for other in self.addresses[address.ip]):
            self.refuse(f"{path}.address", f"{item['address']}: another interface of port {port.name!r} has it")
        self.addresses[address.ip].append(address)
        interface.addresses.append(address)
        self.endpoints[address.name] = address
        if interface is port.interfaces[0] and port.running is None:
            port.sections["nic"].setdefault("ip" if version == 4 else "ip6", item["address"])
        own[item["name"]] = address

    def plan_peers(self, path: str, version: int, interfaces: list[Object], own: dict[str, Address]) -> None:
        for n, interface in numbered(interfaces):
            at = f"{path}[{n}]"
            name = interface[f"ipv{version}_name"]
            if name not in own or own[name].ip.version != version:
                if not self.is_lost(name):
                    self.refuse(f"{at}.ipv{version}_name", f"{name!r}: expected an IPv{version} address of the same device")
                self.lose(interface)
                continue
            address, mtu_bytes = own[name], own[name].interface.mtu
            port = address.interface.port
            mtu = self.packet_mtu(f"{at}.ib_mtu", interface["ib_mtu"], mtu_bytes - ROCE_BYTES[version], mtu_bytes)
            for m, item in numbered(interface.get("peers")):
                where = f"{at}.peers[{m}]"
                peer = Peer(item["name"], version, where, port, address, ipaddress.ip_address(item["destination_ip_address"]),
                            item["destination_ip_address"], mtu)
                if self.name(f"{where}.name", item["name"]):
                    self.peers[peer.name] = peer
                    address.peers.append(peer)
                for k, qp in numbered(item.get("qps")):
                    self.plan_qp(f"{where}.qps[{k}]", qp, peer)

    def packet_mtu(self, path: str, asked: int, room: int, mtu_bytes: int) -> int:
        """
        Payload of a packet. InfiniBand's sizes are as asked. Of other ones, quench-nic has the multiples of 256 above 4096: the largest that
        fits. room: of the interface, whose mtu is mtu_bytes
        """
        if asked in MTUS and asked > room:
            self.refuse(path, f"{asked}: packets have {asked + mtu_bytes - room} bytes, and the mtu of the interface is {mtu_bytes}")
        if asked in MTUS:
            return asked
        most = min(asked, room, MOST_MTU)
        if most < MTUS[0]:
            self.refuse(path, f"{asked}: expected at least {MTUS[0]}, and an mtu of the interface, which is {mtu_bytes}, with room for it")
            return MTUS[0]
        found = most - most % MTUS[0] if most > MTUS[-1] else max(mtu for mtu in MTUS if mtu <= most)
        if found != asked:
            self.warnings.append(f"{path}: {asked}: packets carry {found} bytes: of sizes that are not InfiniBand's, quench-nic has multiples of {MTUS[0]} from "
                                 f"{MTUS[-1]} to {MOST_MTU}, and the mtu of the interface is {mtu_bytes}")
        return found

    def plan_qp(self, path: str, item: Object, peer: Peer) -> None:
        parameters = item["connection_type"]["reliable_connection"]
        at = f"{path}.connection_type.reliable_connection"
        qp = Qp(item["qp_name"], path, peer, parameters["source_qp_number"], parameters, len(peer.qps))
        if self.name(f"{path}.qp_name", qp.name):
            self.qps[qp.name] = qp
        if qp.qpn > MOST_QPN:
            self.refuse(f"{at}.source_qp_number", f"{qp.qpn}: expected at most {MOST_QPN}: a BTH has 24 bits for it")
        other = self.numbers[peer.port.name].take(qp.qpn, qp.name)
        if other != qp.name:
            self.refuse(f"{at}.source_qp_number", f"{qp.qpn}: QP {other!r} of the port has it")
        if parameters["initial_psn"] > MOST_PSN:
            self.refuse(f"{at}.initial_psn", f"{parameters['initial_psn']}: expected at most {MOST_PSN}: a BTH has 24 bits for it")
        if parameters["udp_source_port"] == 0:
            self.refuse(f"{at}.udp_source_port", "0: expected a port from 1 to 65535")
        ecn = ECN.get(parameters["ecn"], "")
        nic = peer.port.sections["nic"]
        if nic.setdefault("data_ecn", ecn) != ecn:
            self.refuse(f"{at}.ecn", f"{parameters['ecn']}: other QPs of the port have another one, and a quench-nic has one for all")
        peer.qps.append(qp)

    def plan_options(self) -> None:
        options = self.config["options"]
        if options["port_options"]["data_integrity"]:
            self.refuse("options.port_options.data_integrity", "true: expected false: the ICRC covers RoCEv2, and raw flows carry nothing to check")
        if options["port_options"]["location_preemption"]:
            self.warnings.append("options.port_options.location_preemption: ignored: the ports of a quench-otg are its own")
        settings: dict[str, tuple[str, Object]] = {}
        for n, item in numbered(options.get("per_port_options")):
            path = f"options.per_port_options[{n}]"
            port = self.port(f"{path}.port_name", item.get("port_name"))
            for m, protocol in numbered(item.get("protocols")):
                if port is None:
                    continue
                if port.name in settings:
                    self.refuse(f"{path}.protocols[{m}]", f"port {port.name!r} has settings already")
                settings[port.name] = f"{path}.protocols[{m}].rocev2", protocol["rocev2"]
        for port in self.ports.values():
            if port.running is not None and port.name not in settings:
                continue  # as its quench-nic has them
            self.plan_settings(*settings.get(port.name, ("defaults", default("Rocev2.PerPortSettings"))), port)

    def plan_settings(self, path: str, settings: Object, port: Port) -> None:
        nic = port.sections["nic"]
        cnp, dcqcn = settings["cnp"], settings["dcqcn_settings"]
        port.sections.setdefault("np", {}).update(
            np_cnp_dscp=str(cnp["ip_dscp"]["value"]), np_cnp_ecn=ECN[cnp["ecn_value"]],
            np_min_time_between_cnps_us=str(cnp["cnp_delay_timer"]))
        both = settings["connection_type"]["reliable_connection"]
        ack, nak = both["ack"], both["nak"]
        at = f"{path}.connection_type.reliable_connection"
        if (ack["ip_dscp"], ack["ecn_value"]) != (nak["ip_dscp"], nak["ecn_value"]):
            self.refuse(f"{at}.nak", "expected ip_dscp and ecn_value of ack: quench-nic has one of each for both")
        timeout_ms, retries = both["retransmission_timeout_value"], both["retransmission_retry_count"]
        if not both["enable_retransmission_timeout"]:
            exponent = 0
        elif timeout_ms == 0:
            self.refuse(f"{at}.retransmission_timeout_value", "0: expected at least 1; without a timeout: enable_retransmission_timeout = false")
            exponent = 0
        else:
            exponent = next(n for n in range(1, 32) if 4096 * 2**n >= timeout_ms * 10**6)
        nic.update(ack_dscp=str(ack["ip_dscp"]["value"]), ack_ecn=ECN[ack["ecn_value"]], local_ack_timeout=str(exponent),
                   retry_cnt=str(retries), cc="dcqcn" if dcqcn["enable_dcqcn"] else "none")
        if dcqcn["enable_dcqcn"]:
            self.plan_dcqcn(f"{path}.dcqcn_settings", dcqcn, port)

    def plan_dcqcn(self, path: str, dcqcn: Object, port: Port) -> None:
        for key, most in (("alpha_update_period", 131071), ("rate_reduction_time_period", MOST_US), ("rate_increment_time", MOST_US)):
            if not 1 <= dcqcn[key] <= most:
                self.refuse(f"{path}.{key}", f"{dcqcn[key]}: expected a time from 1 to {most} us")

        def share(key: str, least: int = 0) -> str:
            return str(max(least, round(port.speed_bps * dcqcn[key] / 100)))

        port.sections.setdefault("rp", {}).update(
            rp_profile="mlx", rp_dce_tcp_g=str(dcqcn["alpha_g"]), rp_initial_alpha_value=str(dcqcn["initial_alpha"]),
            rp_dce_tcp_rtt_us=str(dcqcn["alpha_update_period"]), rp_rate_reduce_monitor_period_us=str(dcqcn["rate_reduction_time_period"]),
            # 0 would stand for no limit: 1 b/s is below every minimum rate.
            rp_rate_to_set_on_first_cnp_bps=share("initial_rate_after_first_cnp", 1), rp_min_rate_bps=share("minimum_rate_limmit", 1),
            rp_min_dec_fac_pct=str(100 - dcqcn["maximum_rate_decrement_at_time"]),
            rp_clamp_tgt_rate="on" if dcqcn["clamp_target_rate"] else "off", rp_time_reset_us=str(dcqcn["rate_increment_time"]),
            rp_byte_reset_bytes=str(64 * dcqcn["rate_increment_byte_counter"]), rp_threshold=str(dcqcn["rate_increment_threshold"]),
            rp_ai_rate_bps=share("additive_increment_rate"), rp_hai_rate_bps=share("hyper_increment_rate"))

    def plan_flows(self) -> None:
        used: set[str] = set()
        self.senders = {flow["tx_endpoint"] for _, group in numbered(self.config["stateful_flows"].get("rocev2")) for _, item in numbered(group.get("tx_ports"))
                        for _, flow in numbered(item["transmit_type"]["target_line_rate"].get("flows"))}
        self.senders -= {name for name, qp in self.qps.items() if qp.peer.to.is_unspecified}
        for n, group in numbered(self.config["stateful_flows"].get("rocev2")):
            for m, item in numbered(group.get("tx_ports")):
                path = f"stateful_flows.rocev2[{n}].tx_ports[{m}]"
                port = self.port(f"{path}.port_name", item.get("port_name"))
                if port is not None and port.name in used:
                    self.refuse(f"{path}.port_name", f"{port.name!r}: another entry of tx_ports has it")
                used |= {port.name} if port is not None else set()
                rate = item["transmit_type"]["target_line_rate"]
                flows = rate.get("flows", [])
                cap_bps = port.speed_bps * rate["value"] // (100 * len(flows)) if flows and port is not None else 0
                for k, flow in numbered(flows):
                    self.plan_flow(f"{path}.transmit_type.target_line_rate.flows[{k}]", flow, port, cap_bps)

    def plan_raw_flows(self) -> None:
        for n, item in numbered(self.config.get("flows")):
            self.plan_raw_flow(f"flows[{n}]", item, self.given["flows"][n])
        measured = sum(flow.measured is not None for flow in self.raws.values())
        if measured > MOST_SIGNATURES - 2 * SPARE_SECTIONS:
            self.refuse("flows", f"{measured} with metrics.enable: expected at most {MOST_SIGNATURES - 2 * SPARE_SECTIONS}")
        for port in self.ports.values():
            most = MOST_RAW_FLOWS if port.running is None else len(port.running["streams"])
            if len(port.raws) > most:
                self.refuse("flows", f"{len(port.raws)} on port {port.name!r}: expected at most {most}" + (
                    ", the streams of its quench-nic, which somebody else started" if port.running is not None else ""))
            most_bytes = raw.MOST_FRAME_BYTES if port.running is None else port.running["most_bytes"]
            for flow in port.raws:
                if int(flow.keys["frame_bytes"]) > most_bytes:
                    self.refuse("flows", f"{flow.name!r}: {flow.keys['frame_bytes']} bytes: expected at most {most_bytes}, the room of its quench-nic, which "
                                "somebody else started")

    def plan_raw_flow(self, path: str, item: Object, given: Object) -> None:
        self.name(f"{path}.name", item["name"])
        ends = self.raw_ends(f"{path}.tx_rx", item["tx_rx"])
        sizes = raw.sizes_of(f"{path}.size", item["size"], self.refuse)
        if ends is None:
            return
        port, to, hops = ends
        headers = item.get("packet") or [default("Flow.Header")]
        macs = [hop for hop in hops if isinstance(hop, str)]
        builder = raw.Builder(f"{path}.packet", headers, given.get("packet") or [{}], sizes, macs[0] if macs else None, self.refuse)
        template = builder.build()
        room = sizes.least - raw.FCS_BYTES
        keys = {"header": template.header(), "frame_bytes": str(sizes.most)}
        patterns = " ".join(template.patterns)
        most = min(raw.MOST_HEADER_BYTES, room - builder.tail)
        if not 14 <= template.bytes() <= most:
            self.refuse(f"{path}.packet", f"{template.bytes()} bytes: expected 14 to {most}, with a size of {sizes.least}")
        values = template.listed_values
        if len(template.patterns) > raw.MOST_PATTERNS or values > raw.MOST_VALUES or len(patterns) > raw.MOST_TEXT:
            self.refuse(f"{path}.packet", f"{len(template.patterns)} fields that change, with {values} listed values: expected at most {raw.MOST_PATTERNS} "
                        f"fields, and {raw.MOST_VALUES} values with {raw.MOST_TEXT} characters")
        keys |= {key: text for key, text in (("sizes", sizes.text), ("patterns", patterns), ("checksums", " ".join(reversed(template.checksums)))) if text}
        if builder.prio is not None:
            queues = port.sections.get("qos_map", {}).get("pfc_priority_to_queue_map", "")
            keys["queue"] = dict(pair.split(":") for pair in queues.split(", ") if pair).get(str(builder.prio), str(builder.prio))
        longest = longest_frame_bytes(port.interface, bool(template.header()[24:28] == "8100"))
        if sizes.most > longest:
            self.refuse(f"{path}.size", f"{sizes.most} bytes: expected at most {longest}, by the MTU of {port.interface}, the interface of port {port.name!r}")
        rate = raw.rate_of(item["rate"], sizes, port.speed_bps)
        idle = rate == raw.Rate()
        if rate.bps > raw.MOST_RATE_BPS or rate.pps > raw.MOST_RATE_PPS:
            self.refuse(f"{path}.rate", f"{rate.bps} bit/s, {rate.pps} frames/s: expected at most {raw.MOST_RATE_BPS} and {raw.MOST_RATE_PPS}")
        keys |= self.raw_duration(f"{path}.duration", item["duration"], rate, sizes, port.speed_bps)
        keys |= rate.keys()
        port.asked_bps += rate.wire_bps(sizes)
        measured = self.raw_metrics(path, item["metrics"], room - template.bytes(), keys)
        section = item["name"] if PLAIN_NAME.fullmatch(item["name"]) else f"raw-{len(self.raws) + 1}"
        self.raws[item["name"]] = flow = RawFlow(item["name"], port, [one.name for one in to], section, keys, measured,
                                                 next_hops=hops if builder.has_auto_dst and len(hops) > len(macs[:1]) else [], idle=idle)
        port.raws.append(flow)
        for one in to or self.ports.values():
            one.rx_bytes = max(one.rx_bytes, sizes.most)

    def raw_ends(self, path: str, item: Object) -> tuple[Port, list[Port], list[str | Address]] | None:
        """@return the port that sends, those that receive, and what auto stands for in dst"""
        if item["choice"] == "device":
            return self.raw_devices(f"{path}.device", item["device"])
        ends = item.get("port")
        if ends is None:
            self.refuse(f"{path}.port", "missing, and expected tx_name")
            return None
        port = self.port(f"{path}.port.tx_name", ends.get("tx_name"))
        named = [ends["rx_name"]] if "rx_name" in ends else []
        if named and "rx_names" in ends and ends["rx_names"] != named:
            self.refuse(f"{path}.port.rx_names", "expected rx_name or rx_names, not both")
        to = [self.port(f"{path}.port.rx_name", name) for name in dict.fromkeys(named + ends.get("rx_names", []))]
        found = [one for one in to if one is not None]
        if port is None or len(found) < len(to):
            return None
        return port, found, [found[0].mac] if found and found[0].mac else []

    def endpoint(self, path: str, name: str) -> Interface | Address | None:
        found = self.endpoints.get(name)
        if found is None and not self.is_lost(name):
            self.refuse(path, f"{name!r}: expected the name of an Ethernet, IPv4 or IPv6 interface of a device")
        return found

    def raw_devices(self, path: str, item: Object) -> tuple[Port, list[Port], list[str | Address]] | None:
        sides = [[self.endpoint(f"{path}.{key}[{n}]", name) for n, name in enumerate(item[key])] for key in ("tx_names", "rx_names")]
        senders, receivers = ([end for end in side if end is not None] for side in sides)
        if item["bidirectional"]:
            self.refuse(f"{path}.bidirectional", "true: expected false: a flow is sent by one port; a second flow goes back")
        if [len(senders), len(receivers)] != [len(side) for side in sides]:
            return None
        if item["mode"] == "one_to_one":
            if len(senders) != len(receivers):
                self.refuse(f"{path}.rx_names", f"{len(receivers)} names: expected {len(senders)}, as many as tx_names with one_to_one")
            pairs = list(zip(senders, receivers))
        else:
            pairs = [(tx, rx) for tx in senders for rx in receivers]
        same = next((tx.name for tx, rx in pairs if tx is rx), None)
        if same is not None:
            self.refuse(path, f"{same!r} is at both ends of a pair: expected two")
        ports = {port_of(tx).name: port_of(tx) for tx, _ in pairs}
        if len(ports) != 1:
            self.refuse(f"{path}.tx_names", f"names on the ports {', '.join(ports) or 'none'}: expected those of one port: a flow is sent by one port")
            return None
        to = {port_of(rx).name: port_of(rx) for _, rx in pairs}
        return next(iter(ports.values())), list(to.values()), [self.next_hop(f"{path}.rx_names", tx, rx) for tx, rx in pairs]

    def next_hop(self, path: str, tx: Interface | Address, rx: Interface | Address) -> str | Address:
        """MAC address of the way from one device to another; the sender, if its gateway has to be asked."""
        if isinstance(tx, Interface) or isinstance(rx, Interface) or not tx.is_behind_gateway(rx.ip):
            return (rx if isinstance(rx, Interface) else rx.interface).mac
        if tx.ip.version != rx.ip.version:
            self.refuse(path, f"{rx.name!r}: expected IPv{tx.ip.version}, as of {tx.name!r}")
        known = [one.interface.mac for one in self.addresses.get(tx.gateway, ()) if one is not tx]
        mac = tx.gateway_mac or next(iter(known), "")
        return mac if mac else tx

    def raw_metrics(self, path: str, item: Object, room: int, keys: Section) -> Measured | None:
        """room: bytes after the headers of the shortest frame"""
        latency = item["latency"]
        if not item["enable"]:
            return None
        if room < raw.SHORT_SIGNATURE_BYTES:
            self.refuse(f"{path}.size", f"{room} bytes after the headers: expected at least {raw.SHORT_SIGNATURE_BYTES} with metrics.enable, for the "
                        "signature by which the frames are counted where they arrive")
        timed = room >= raw.SIGNATURE_BYTES
        if latency["enable"]:
            keys["latency"] = latency["mode"]
        if latency["enable"] and not timed:
            self.warnings.append(f"{path}.metrics.latency: {room} bytes after the headers: no latency, which needs {raw.SIGNATURE_BYTES} bytes of each frame")
        ratio = item["rx_tx_ratio"]
        return Measured(timed, item["loss"], item["timestamps"], latency["enable"] and timed, ratio["value"] if ratio["choice"] == "value" else 0.0)

    def raw_duration(self, path: str, item: Object, rate: raw.Rate, sizes: raw.Sizes, speed_bps: int) -> Section:
        choice = item["choice"]
        part, keys = item[choice], {}
        times = {"delay_ns": (f"{choice}.delay", part.get("delay"))}
        most = raw.most_pps(sizes, part["gap"], speed_bps) if part["gap"] > raw.LEAST_GAP_BYTES else 0
        if most:
            # The gap is the least one: it matters if the rate asks for more than it leaves.
            rate.pps = min(rate.pps, max(1, most))
            rate.bps = min(rate.bps, round(8 * most * (sizes.mean + raw.GAP_BYTES)))
        if choice == "fixed_packets":
            keys["count"] = str(part["packets"])
        if choice == "fixed_seconds":
            duration_ns = round(part["seconds"] * 10**9)
            if not 0 < duration_ns <= raw.MOST_NS:
                self.refuse(f"{path}.{choice}.seconds", f"{part['seconds']}: expected more than 0, and at most 86400")
            keys["duration_ns"] = str(duration_ns)
        if choice == "burst":
            keys["burst_packets"] = str(part["packets"])
            if part["bursts"]:
                keys["count"] = str(part["bursts"] * part["packets"])
            times["burst_gap_ns"] = f"{choice}.inter_burst_gap", part["inter_burst_gap"]
        for key, (where, time) in times.items():
            wait_ns = raw.ns_of(time, speed_bps) if time else 0
            if wait_ns > raw.MOST_NS:
                self.refuse(f"{path}.{where}", f"{wait_ns} ns: expected at most 86400 s")
            if wait_ns:
                keys[key] = str(wait_ns)
        return keys

    def end(self, path: str, name: str | None) -> Qp | None:
        qp = self.qps.get(name) if name is not None else None
        if qp is None and self.is_lost(name):
            return None
        if qp is None:
            known = f"{name!r}: a port answers no requests: " if name in self.ports else f"{name!r}: " if name else "missing: "
            self.refuse(path, f"{known}expected the qp_name of a QP")
        elif qp.flow is not None:
            self.refuse(path, f"{name!r}: flow {qp.flow.name!r} has it, and a QP has one flow")
        return qp

    def receiver(self, path: str, name: str | None, tx: Qp | None) -> Qp | None:
        """The end that answers. Without a QP's name it is at the address of tx's peer: the QP of the same place in its list, or a new one."""
        if tx is None or (name is not None and name not in self.ports):
            return self.end(path, name) if name is not None else None
        found = [address for address in self.addresses.get(tx.peer.to, ()) if name in (None, address.interface.port.name)]
        if not found:
            where = "of the configuration" if name is None else f"of port {name!r}"
            self.refuse(path, f"{'missing' if name is None else repr(name)}: expected the qp_name of a QP, since no interface {where} has {tx.peer.to}, the address "
                        f"of the peer of {tx.name!r}")
            return None
        address = next((address for address in found if address.interface.port is not tx.peer.port), found[0])
        peers = [peer for peer in address.peers if peer is not tx.peer and peer.is_at(tx.peer.address)]
        known = next((qp for peer in peers for qp in [*peer.qps[tx.place:], *peer.qps[:tx.place]] if qp.flow is None and qp.name not in self.senders), None)
        if known is not None:
            return known
        port = address.interface.port
        peer = peers[0] if peers else Peer(f"{address.name} of {tx.peer.name}", tx.peer.version, path, port, address, tx.peer.address.ip, tx.peer.address.text, tx.peer.mtu)
        qpn = self.numbers[port.name].free(tx.qpn)
        qp = Qp(f"{tx.name}.rx", path, peer, qpn, {**default("Rocev2.QPParameters"), **{key: tx.parameters[key] for key in ("dscp", "udp_source_port", "initial_psn")}}, len(peer.qps))
        self.numbers[port.name].take(qpn, qp.name)
        port.sections["nic"].setdefault("data_ecn", ECN.get(tx.parameters["ecn"], ""))
        peer.qps.append(qp)
        return qp

    def plan_flow(self, path: str, item: Object, port: Port | None, cap_bps: int) -> None:
        """port: of the entry; None: a mistake"""
        named = self.qps.get(item["tx_endpoint"])
        if named is not None and named.peer.to.is_unspecified and item.get("rx_endpoint") is None:
            self.warnings.append(f"{path}: flow {item['name']!r} sends nothing: the peer of {named.name!r} is at {named.peer.to}, which is any address: it only receives")
            return
        tx = self.end(f"{path}.tx_endpoint", item["tx_endpoint"])
        rx = self.receiver(f"{path}.rx_endpoint", item.get("rx_endpoint"), tx)
        size = item["message_size"] * UNITS[item["message_size_unit"]]
        if size > MOST_MESSAGE_BYTES:
            self.refuse(f"{path}.message_size", f"{size} bytes: expected at most {MOST_MESSAGE_BYTES}: a RETH has 32 bits for it")
        # Suites give a flow the name of its QP: no request names both.
        if (item["name"] != item["tx_endpoint"] and not self.name(f"{path}.name", item["name"])) or tx is None or rx is None:
            return
        if tx is rx:
            self.refuse(f"{path}.rx_endpoint", f"{rx.name!r}: expected another QP than tx_endpoint")
            return
        if port is None:
            port = tx.peer.port
        if tx.peer.port is not port:
            self.refuse(f"{path}.tx_endpoint", f"{tx.name!r}: it is on port {tx.peer.port.name!r}, and this is an entry of {port.name!r}")
        for what, end, other in (("tx_endpoint", tx, rx), ("rx_endpoint", rx, tx)):
            if not end.peer.is_at(other.peer.address):
                self.refuse(f"{path}.{what}", f"{end.name!r}: its peer is {end.peer.to}, and {other.name!r} is at {other.peer.address.ip}")
        if tx.peer.mtu != rx.peer.mtu:
            self.refuse(f"{path}.rx_endpoint", f"{rx.name!r}: its ib_mtu is {rx.peer.mtu}, and that of {tx.name!r} is {tx.peer.mtu}")
        flow = Flow(item["name"], path, tx, rx, item["rocev2_verb"]["choice"], idle=cap_bps == 0)
        tx.flow = rx.flow = self.flows[flow.name] = flow
        keys = self.keys_of(f"{path}.tx_endpoint", tx, rx)
        answer = self.keys_of(f"{path}.rx_endpoint", rx, tx)
        keys["verb"] = answer["verb"] = VERBS[flow.verb]
        keys["message_bytes"] = str(size)
        keys["depth"] = str(min(MOST_READS if flow.verb == "read" else MOST_DEPTH, max(2, -(-IN_FLIGHT_BYTES // max(size, 1)))))
        answer["requester"] = "off"
        # PSNs of a responder are those of the requests.
        keys["initial_psn"] = answer["initial_psn"] = str(tx.parameters["initial_psn"])
        if not flow.verb.startswith("send"):
            keys["remote_addr"] = str(int(rx.parameters["virtual_address"], 16))
            keys["rkey"] = str(int(rx.parameters["remote_key"], 16))
        if flow.verb.endswith("_with_immediate"):
            keys["imm_data"] = str(int(item["rocev2_verb"][flow.verb]["immediate_data"], 16))
        if cap_bps:
            (answer if flow.verb == "read" else keys)["rate_cap_bps"] = str(max(1, cap_bps))
        name = flow.name if PLAIN_NAME.fullmatch(flow.name) else f"flow-{len(self.flows)}"
        port.ends.append(End(name, keys, [flow], True, [tx.qpn]))
        rx.peer.port.ends.append(End(f"{name}.rx", answer, [flow], False, [rx.qpn]))

    def keys_of(self, path: str, qp: Qp, other: Qp) -> Section:
        peer, address, to = qp.peer, qp.peer.address, other.peer.address.ip
        keys = {"peer_ip": other.peer.address.text, "local_qpn": str(qp.qpn), "peer_qpn": str(other.qpn), "dscp": str(qp.parameters["dscp"]),
                "mtu_bytes": str(peer.mtu), "udp_sport": str(qp.parameters["udp_source_port"]), **address.interface.vlan, **address.local()}
        if other.peer.port is peer.port:
            keys["peer_mac"] = other.peer.address.interface.mac
        elif address.gateway_mac and (to == address.gateway or address.is_behind_gateway(to)):
            keys["peer_mac"] = address.gateway_mac
        elif address.is_behind_gateway(to):
            if address.is_behind_gateway(address.gateway):
                self.refuse(path, f"{qp.name!r}: its peer {to} and the gateway {address.gateway} are outside the subnet of {address.name!r}")
            if address.gateway == address.ip:
                self.refuse(path, f"{qp.name!r}: its peer {to} is outside the subnet of {address.name!r}, whose gateway is itself")
            keys["next_hop"] = str(address.gateway)
        return keys


def follows(end: End, other: End) -> bool:
    """Are they one section, with the next numbers?"""
    apart = ("local_qpn", "peer_qpn")
    n = len(end.qpns)
    one, two = end.flows[0], other.flows[0]
    return (end.requester == other.requester and one.tx.peer is two.tx.peer and one.rx.peer is two.rx.peer and one.idle == two.idle and
            int(other.keys["local_qpn"]) == int(end.keys["local_qpn"]) + n and
            int(other.keys["peer_qpn"]) == int(end.keys["peer_qpn"]) + n and
            {key: value for key, value in end.keys.items() if key not in (*apart, "qp_count")} ==
            {key: value for key, value in other.keys.items() if key not in apart})


def grouped(ends: list[End]) -> Iterator[End]:
    for requester in (True, False):
        last: End | None = None
        for end in (end for end in ends if end.requester == requester):
            if last is not None and follows(last, end):
                last.flows += end.flows
                last.qpns += end.qpns
                last.keys["qp_count"] = str(len(last.qpns))
                continue
            if last is not None:
                yield last
            last = end
        if last is not None:
            yield last


def plan(given: Object, locations: dict[str, Location]) -> Plan:
    """given: the request. Raises Refused."""
    return Planner(given, locations).plan()
