# SPDX-License-Identifier: BSD-3-Clause
"""A switch being converted. What most ports have goes into the sections for all ports, and what differs into those of a port.

Numbers are in the units of the keys: bytes, bits per second, nanoseconds, parts per million.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from . import program
from .log import Log
from .values import map_text, on_off, set_text

CLASSES, DSCPS = 8, 64
MOST_PORTS = 64  # of a quench-switch
MOST_PROFILES = 32  # curves, and buffer profiles beside those of the classes
MOST_CHARS = 40  # of the name of a profile
MTU_OVERHEAD = 22  # header, a tag and FCS
MOST_MTU = 16000 - MTU_OVERHEAD
MOST_WRED_BYTES = 2 << 30
MOST_BYTES = 1 << 40
MOST_RATE = 1600 * 10**9
DEFAULT, NONE = "default", "none"
PROFILE_NAME = "a name of at most 40 characters without blanks and []#;, neither default nor none"
# Hardware has large buffers, which contain mostly full frames: fewer mbufs are allocated for the same bytes.
BACKING_FRAME_BYTES = 2048
PLAIN = "[port 0]\nlink_speed_bps = 100G\n"
PROGRAM = "quench-switch"
LOSSLESS, LOSSY, EGRESS_LOSSLESS, EGRESS_LOSSY = CLASS_PROFILES = ("lossless", "lossy", "egress_lossless", "egress_lossy")

T = TypeVar("T")


def is_profile_name(name: str) -> bool:
    return 0 < len(name.encode()) <= MOST_CHARS and not set(name) & set(" \t[]#;") and name not in (DEFAULT, NONE) and name.isprintable()


@dataclasses.dataclass(frozen=True)
class Profile:
    """[buffer_profile]. xoff: None is auto."""

    size: int = 0
    dynamic: bool = True
    dynamic_th: int = 0
    static_th: int = 0
    xon: int = 0
    xon_offset: int = 0
    xoff: int | None = 0

    def keys(self, is_lossless: bool) -> program.Section:
        keys = {"size_bytes": str(self.size), "dynamic": on_off(self.dynamic), "dynamic_th": str(self.dynamic_th),
                "static_th_bytes": str(self.static_th)}
        if is_lossless:
            keys |= {"xon_bytes": str(self.xon), "xon_offset_bytes": str(self.xon_offset), "xoff_bytes": "auto" if self.xoff is None else str(self.xoff)}
        return keys


@dataclasses.dataclass(frozen=True)
class Curve:
    """[wred]: thresholds in bytes, probabilities in ppm."""

    enabled: bool = True
    ecn: bool = True
    green_min: int = 5000
    green_max: int = 200000
    green_ppm: int = 10000
    ecn_min: int = 0
    ecn_max: int = 0
    ecn_ppm: int = 1000000
    weight: int = 0

    def keys(self) -> program.Section:
        return {"wred_green_enable": on_off(self.enabled), "ecn": "ecn_all" if self.ecn else "ecn_none",
                "green_min_threshold_bytes": str(self.green_min), "green_max_threshold_bytes": str(self.green_max),
                "green_drop_probability_ppm": f"{self.green_ppm}ppm", "ecn_green_min_threshold_bytes": str(self.ecn_min),
                "ecn_green_max_threshold_bytes": str(self.ecn_max), "ecn_green_mark_probability_ppm": f"{self.ecn_ppm}ppm",
                "wred_weight": str(self.weight)}


@dataclasses.dataclass
class Qos:
    """The classes of the frames that a port receives."""

    trust: str = "dscp"
    dscp: list[int] = dataclasses.field(default_factory=lambda: [0] * DSCPS)
    dot1p: list[int] = dataclasses.field(default_factory=lambda: [0] * CLASSES)
    queue: list[int] = dataclasses.field(default_factory=lambda: list(range(CLASSES)))
    group: list[int] = dataclasses.field(default_factory=lambda: [0] * CLASSES)
    pfc_queue: list[int] = dataclasses.field(default_factory=lambda: list(range(CLASSES)))
    pfc_enable: frozenset[int] = frozenset()

    def lossless_queues(self) -> set[int]:
        return {self.queue[tc] for tc in range(CLASSES) if self.group[tc] in self.pfc_enable}


QOS_KEYS: dict[str, Callable[[Qos], str]] = {
    "trust": lambda qos: qos.trust,
    "dscp_to_tc_map": lambda qos: map_text(qos.dscp),
    "dot1p_to_tc_map": lambda qos: map_text(qos.dot1p),
    "tc_to_queue_map": lambda qos: map_text(qos.queue),
    "tc_to_priority_group_map": lambda qos: map_text(qos.group),
    "pfc_priority_to_queue_map": lambda qos: map_text(qos.pfc_queue),
    "pfc_enable": lambda qos: set_text(qos.pfc_enable),
}


@dataclasses.dataclass
class Sched:
    strict: set[int] = dataclasses.field(default_factory=set)
    weights: list[int] = dataclasses.field(default_factory=lambda: [1] * CLASSES)


SCHED_KEYS: dict[str, Callable[[Sched], str]] = {
    "strict_queues": lambda sched: set_text(sched.strict),
    "dwrr_weight": lambda sched: map_text(sched.weights),
}


@dataclasses.dataclass
class Queue:
    curve: str = DEFAULT
    profile: str = DEFAULT
    min_rate: int = 0
    max_rate: int = 0
    burst: int | None = None  # None: the default
    marking: str = "wred"

    def keys(self) -> program.Section:
        keys = {"wred_profile": self.curve, "marking": self.marking, "buffer_profile": self.profile, "min_rate_bps": str(self.min_rate),
                "max_rate_bps": str(self.max_rate)}
        return keys | ({} if self.burst is None else {"burst_bytes": str(self.burst)})


@dataclasses.dataclass
class Port:
    name: str
    speed: int = 100 * 10**9
    cable_m: int = 5
    keys: program.Section = dataclasses.field(default_factory=dict)  # other keys of [port N]
    qos: Qos = dataclasses.field(default_factory=Qos)
    sched: Sched = dataclasses.field(default_factory=Sched)
    queues: list[Queue] = dataclasses.field(default_factory=lambda: [Queue() for _ in range(CLASSES)])
    groups: list[str] = dataclasses.field(default_factory=lambda: [DEFAULT] * CLASSES)  # profiles
    access_vlan: int = 1
    tagged_vlans: str = "none"

    def is_bridge(self) -> bool:
        return self.access_vlan != 0 or self.tagged_vlans != "none"


def most_common(values: Sequence[T]) -> int:
    """Index of the first of the most frequent values."""
    counts = [sum(other == value for other in values) for value in values]
    return counts.index(max(counts))


@dataclasses.dataclass
class Budget:
    """What groups and queues take of the buffer before they share it."""

    reserved: int = 0
    headroom: int = 0
    egress_reserved: int = 0


# 802.3 31B.3.7, in quanta of 512 bit times: up to a speed in bits per second.
RESPONSE_QUANTA = ((10**8, 1), (10**9, 2), (10 * 10**9, 67), (25 * 10**9, 80), (40 * 10**9, 118), (50 * 10**9, 147), (100 * 10**9, 394),
                   (200 * 10**9, 453), (MOST_RATE, 905))
GAP_BYTES, LEAST_FRAME, QUANTUM_BYTES, NS_PER_M = 20, 64, 64, 5


@dataclasses.dataclass
class Switch:
    """ports, profiles and curves by name, and the other sections as the INI has them."""

    ports: list[Port] = dataclasses.field(default_factory=list)
    max_frame: int = 9238
    buffer: int = 12000000
    shared_headroom: int = 0
    lossy_pool: int = 0
    egress_lossy_pool: int = 0
    class_profiles: dict[str, Profile] = dataclasses.field(default_factory=lambda: {
        LOSSLESS: Profile(xon=1248, xon_offset=2496, xoff=None), LOSSY: Profile(dynamic_th=3), EGRESS_LOSSLESS: Profile(dynamic=False),
        EGRESS_LOSSY: Profile(size=1518, dynamic_th=3)})
    profiles: dict[str, Profile] = dataclasses.field(default_factory=dict)
    wred: Curve = Curve()
    wred_queues: set[int] = dataclasses.field(default_factory=set)
    curves: dict[str, Curve] = dataclasses.field(default_factory=dict)
    class_mtu: list[int] = dataclasses.field(default_factory=lambda: [0] * CLASSES)
    vlan_filtering: bool = False
    interfaces: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)  # "vlan 10": {"ip": ..., "ip6": ...}
    routes: dict[str, list[str]] = dataclasses.field(default_factory=dict)  # prefix: next hops; none: blackhole
    neighbors: dict[str, str] = dataclasses.field(default_factory=dict)
    stations: dict[str, program.Section] = dataclasses.field(default_factory=dict)  # [fdb NAME]
    keys: program.Sections = dataclasses.field(default_factory=dict)  # other keys of the sections for all ports

    def set(self, section: str, key: str, value: str) -> None:
        self.keys.setdefault(section, {})[key] = value

    # Headroom and buffer, as the switch computes them.

    def headroom(self, port: Port) -> int:
        """Bytes that arrive on a port after the decision to pause one of its priorities (doc/buffer.md)."""
        mtus = [self.class_mtu[tc] for tc in range(CLASSES) if port.qos.group[tc] in port.qos.pfc_enable]
        peer_frame = max((min(mtu + MTU_OVERHEAD, self.max_frame) if mtu else self.max_frame for mtu in mtus), default=0)
        quanta = next(quanta for speed, quanta in RESPONSE_QUANTA if port.speed <= speed)
        cable_bits = 2 * port.cable_m * NS_PER_M * port.speed // 10**9
        return (self.max_frame + 2 * peer_frame + 2 * GAP_BYTES + LEAST_FRAME + GAP_BYTES + (cable_bits + 7) // 8 + quanta * QUANTUM_BYTES)

    def group_profile(self, port: Port, group: int) -> tuple[str, Profile]:
        """The profile of a priority group, and its name; "": that of its class."""
        name = port.groups[group]
        if name != DEFAULT:
            return name, self.profiles[name]
        return "", self.class_profiles[LOSSLESS if group in port.qos.pfc_enable else LOSSY]

    def queue_profile(self, port: Port, queue: int) -> Profile:
        name = port.queues[queue].profile
        if name != DEFAULT:
            return self.profiles[name]
        return self.class_profiles[EGRESS_LOSSLESS if queue in port.qos.lossless_queues() else EGRESS_LOSSY]

    def budget(self) -> Budget:
        sums = Budget()
        for port in self.ports:
            lossless = port.qos.lossless_queues()
            for i in range(CLASSES):
                profile = self.group_profile(port, i)[1]
                sums.reserved += profile.size
                if i in port.qos.pfc_enable:
                    sums.headroom += profile.xoff or 0
                own = port.queues[i].profile
                name = EGRESS_LOSSLESS if i in lossless else EGRESS_LOSSY
                sums.egress_reserved += (self.class_profiles[name] if own == DEFAULT else self.profiles[own]).size
        if self.shared_headroom > 0:
            sums.headroom = self.shared_headroom
        return sums

    # The INI.

    def sections(self) -> program.Sections:
        """All that was set. The program adds the defaults."""
        found: program.Sections = {
            "switch": {"wred_queues": set_text(self.wred_queues), "max_frame_bytes": str(self.max_frame), "buffer_bytes": str(self.buffer),
                       "shared_headroom_pool_bytes": str(self.shared_headroom), "lossy_pool_bytes": str(self.lossy_pool),
                       "egress_lossy_pool_bytes": str(self.egress_lossy_pool), "vlan_filtering": on_off(self.vlan_filtering)},
            "wred": self.wred.keys(),
            "pool": {"backing_frame_bytes": str(BACKING_FRAME_BYTES)},
        }
        found |= {f"buffer_profile {name}": profile.keys(name == LOSSLESS) for name, profile in self.class_profiles.items()}
        ports: list[program.Section] = [{"name": port.name, "link_speed_bps": str(port.speed), "cable_length_m": str(port.cable_m), **port.keys}
                                        for port in self.ports]
        for i, port in enumerate(self.ports):
            if self.vlan_filtering:
                ports[i] |= {"access_vlan": str(port.access_vlan), "tagged_vlans": port.tagged_vlans}
        found["qos_map"] = _share([port.qos for port in self.ports], QOS_KEYS, ports)
        found["scheduler"] = _share([port.sched for port in self.ports], SCHED_KEYS, ports)
        found |= {f"tc {tc}": {"mtu_bytes": str(mtu)} for tc, mtu in enumerate(self.class_mtu) if mtu}
        found |= {f"wred {name}": curve.keys() for name, curve in self.curves.items()}
        found |= {f"buffer_profile {name}": profile.keys(True) for name, profile in self.profiles.items()}
        found |= {f"port {i}": keys for i, keys in enumerate(ports)}
        _add_each("queue", [[queue.keys() for queue in port.queues] for port in self.ports], found)
        _add_each("pg", [[{"buffer_profile": name} for name in port.groups] for port in self.ports], found)
        found |= {f"fdb {name}": keys for name, keys in self.stations.items()}
        found |= {f"interface {name}": keys for name, keys in self.interfaces.items()}
        found |= {f"route {prefix}": {"nexthop": ", ".join(hops) or "blackhole"} for prefix, hops in self.routes.items()}
        found |= {f"neighbor {address}": {"mac": mac} for address, mac in self.neighbors.items()}
        for section, keys in self.keys.items():
            found.setdefault(section, {}).update(keys)
        return found

    def finish(self, log: Log) -> program.Sections:
        """The switch with all keys, as quench-switch reads it. @raise Refused: it does not take it"""
        text = "".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for name, keys in self.sections().items())
        try:
            return program.resolved(program.read(PROGRAM, text))
        except program.Invalid as why:
            program.refuse_invalid(PROGRAM, self._with_names(str(why)), log)

    def _with_names(self, why: str) -> str:
        """The program knows the numbers of ports: add the name."""
        head, found, rest = why.partition("port ")
        digits = rest[:len(rest) - len(rest.lstrip("0123456789"))]
        if not found or not digits or int(digits) >= len(self.ports):
            return why
        return f"{head}port {digits} ({self.ports[int(digits)].name}){rest[len(digits):]}"


def _share(values: Sequence[Any], kinds: dict[str, Callable[[Any], str]], ports: list[program.Section]) -> program.Section:
    """The keys that most ports have; a port that differs gets its own."""
    shared: program.Section = {}
    for key, text in kinds.items():
        texts = [text(value) for value in values]
        shared[key] = texts[most_common(texts)]
        for own, keys in zip(texts, ports):
            if own != shared[key]:
                keys[key] = own
    return shared


def _add_each(kind: str, rows: Iterable[Sequence[program.Section]], found: program.Sections) -> None:
    for port, row in enumerate(rows):
        found |= {f"{kind} {port}|{i}": keys for i, keys in enumerate(row)}


def write(sections: program.Sections, log: Log) -> str:
    """The INI of a switch. @raise Refused"""
    return program.write(PROGRAM, sections, program.resolved(program.defaults(PROGRAM, PLAIN)), log)
