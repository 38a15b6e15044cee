# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces: names and ranges, the lines of each, and the settings of ports that stand alone."""
from __future__ import annotations

import dataclasses
import re

from ..log import Log
from ..ports import MOST_NAME, Ports
from ..switch import MOST_MTU, MTU_OVERHEAD, Port, Switch
from ..values import MBPS, whole
from .lines import Line, in_force, number, refuse
from .policies import QOS, Bound, Policies

MOST_RANGE = 4096  # ports of a range that are looked at
PART = re.compile(r"((?:e(?:t(?:h(?:e(?:r(?:n(?:e(?:t)?)?)?)?)?)?)?|port-channel|po|vlan) ?)?((?:\d{1,4}/)*)(\d{1,9})(?:-(\d{1,9}))?", re.I)
NAMES = {"e": "Ethernet", "p": "port-channel", "v": "Vlan"}
EXPAND = "show running-config expand-port-profile has its lines"


@dataclasses.dataclass
class Range:
    """Interfaces whose names differ in their last number: Ethernet1/1-4."""

    kind: str
    place: str  # such as "1/"
    first: int
    last: int


def ranges(line: Line) -> list[Range] | None:
    """The interfaces that "interface Ethernet1/1-4, Ethernet1/7" names; None: of another kind."""
    found: list[Range] = []
    for part in re.split(r" ?, ?", line.text.partition(" ")[2]):
        own = PART.fullmatch(re.sub(r" ?- ?", "-", part) if "channel" not in part.lower() else part)
        if own is None or (own[1] is None and not found):
            return None
        kind = NAMES[own[1][0].lower()] if own[1] else found[-1].kind
        first, last = int(own[3]), int(own[4] or own[3])
        if first > last or (kind == "Ethernet") != ("/" in own[2]) or len(kind + own[2]) > MOST_NAME - 10:
            return None
        found.append(Range(kind, own[2], first, last))
    return found


@dataclasses.dataclass
class Interface:
    """An interface with its lines, which blocks for several interfaces and a port-profile give too."""

    name: str
    own: list[Line] = dataclasses.field(default_factory=list)
    profile: list[Line] = dataclasses.field(default_factory=list)
    lines: list[Line] = dataclasses.field(default_factory=list)  # those of the profile, then its own

    def has(self, *words: str) -> bool:
        return any(line.text.lower() in words for line in self.lines)


class Interfaces:
    """All interfaces of a file by their names, without those of other kinds, which are lost."""

    def __init__(self, top: Line, log: Log) -> None:
        self.log = log
        self.wanted = Ports(log)
        self.left_out: set[str] = set()
        self.ports: list[Interface] = []  # those that become ports of the switch
        self.others: dict[str, Interface] = {}  # port-channels and VLANs
        self.profiles = {name: line for line in top.lines if (name := profile_name(line)) is not None}
        by_name: dict[str, Interface] = {}
        for line in top.lines:
            if not line.begins("interface"):
                continue
            found = ranges(line)
            if found is None:
                line.lose_block("not an Ethernet port")
                continue
            line.use()
            if not any([self._add(line, one, by_name) for one in found]):
                line.use_block()
        self.ports = list(by_name.values())
        for interface in [*self.ports, *self.others.values()]:
            self._inherit(interface)
        for name, line in self.profiles.items():
            if not line.used:
                line.lose_block("no interface of the switch inherits this profile")
        self.wanted.check()
        if not self.ports:
            log.refuse(" expected at least one interface Ethernet: the ports")

    def _add(self, line: Line, one: Range, by_name: dict[str, Interface]) -> bool:
        """Add the lines of a block to its interfaces. @return whether one of them is in the switch"""
        is_any = False
        for n in range(one.first, one.last + 1):
            name = f"{one.kind}{one.place}{n}"
            if one.kind == "Ethernet" and name not in by_name and not self._is_wanted(name, len(by_name)):
                # Of a range, only the first of them is needed for the report.
                if n - one.first > MOST_RANGE:
                    self.wanted.leave(name, one.last - n)
                    break
                continue
            if one.kind != "Ethernet" and n > MOST_RANGE:
                refuse(self.log, line, f"a number up to {MOST_RANGE}")
            own = (by_name if one.kind == "Ethernet" else self.others).setdefault(name, Interface(name))
            own.own += line.lines
            is_any = True
        return is_any

    def _is_wanted(self, name: str, n_before: int) -> bool:
        if name in self.left_out:
            return False
        if self.wanted.want(name, n_before):
            return True
        self.left_out.add(name)
        return False

    def _inherit(self, interface: Interface) -> None:
        for line in interface.own:
            if line.begins("inherit port-profile"):
                interface.profile += self._lines_of_profile(line, 0)
        interface.own = in_force(interface.own)
        interface.lines = in_force(interface.profile) + interface.own

    def _lines_of_profile(self, line: Line, depth: int) -> list[Line]:
        name = line.text.split()[-1]
        profile = self.profiles.get(name)
        if profile is None or depth > 4:
            line.lose(f"no port-profile of this name is in the file; {EXPAND}")
            return []
        if not any(own.text.lower() == "state enabled" for own in profile.lines):
            line.lose("the port-profile lacks state enabled, so that it has no effect")
            profile.lose_block("the port-profile lacks state enabled, so that it has no effect")
            profile.used = True
            return []
        line.use()
        profile.use()
        found: list[Line] = []
        for own in profile.lines:
            if own.text.lower() in ("state enabled", "max-ports") or own.begins("max-ports"):
                own.use()
            elif own.begins("inherit port-profile"):
                found += self._lines_of_profile(own, depth + 1)
            else:
                found.append(own)
        return found

    def channel_of(self, interface: Interface) -> tuple[Interface | None, Line] | None:
        """The port-channel of a port, if the file has it, and the line that says so; None: the port is in none."""
        for line in interface.lines:
            if line.begins("channel-group") and len(line.words) > 1:
                return self.others.get(f"port-channel{line.words[1]}"), line
        return None


def profile_name(line: Line) -> str | None:
    found = re.fullmatch(r"port-profile (?:type (?:ethernet|port-channel|interface-vlan) )?(\S+)", line.text, re.I)
    return found[1] if found else None


@dataclasses.dataclass
class Settings:
    """What the lines of one interface say."""

    has_mode: bool = False
    has_speed: bool = False
    is_watched: bool = False
    mtu: int = 0
    mtu_lines: list[Line] = dataclasses.field(default_factory=list)
    storms: dict[str, tuple[Line, float]] = dataclasses.field(default_factory=dict)
    flowcontrol: dict[str, tuple[Line, bool]] = dataclasses.field(default_factory=dict)  # receive and send


STORM_KEYS = {"broadcast": "storm_control_broadcast_bps", "multicast": "storm_control_multicast_bps", "unicast": "storm_control_unknown_unicast_bps"}


class PortReader:
    """Reads the settings of ports that concern no VLAN and no address."""

    def __init__(self, switch: Switch, interfaces: Interfaces, policies: Policies, has_watchdog: bool, log: Log) -> None:
        self.switch, self.interfaces, self.policies, self.log = switch, interfaces, policies, log
        self.has_watchdog = has_watchdog
        self.settings: list[Settings] = []
        self.send_lldp: list[tuple[Line, bool]] = []
        for interface in interfaces.ports:
            self._read(interface)
        for port, interface, settings in zip(switch.ports, interfaces.ports, self.settings):
            self._read_channel(port, interface, settings)
            port.keys["pfcwd"] = "on" if settings.is_watched else "off"
            self._set_storms(port, settings)
            self._set_flowcontrol(port, settings)
        self._join_mtus()
        self._note_assumptions()

    def _read(self, interface: Interface) -> None:
        port = Port(interface.name, keys={"flow_control": "auto"})  # NX-OS's default
        settings, bound = Settings(), Bound()
        self.switch.ports.append(port)
        self.settings.append(settings)
        self.policies.ports.append(bound)
        for line in interface.lines:
            self._read_line(line, port, settings)
        for lines, is_profile in ((interface.own, False), (interface.profile, True)):
            for line in lines:
                if line.begins("service-policy"):
                    self.policies.bind(line, bound, is_profile)

    def _read_channel(self, port: Port, interface: Interface, settings: Settings) -> None:
        """Policies and PFC of a port-channel are those of its ports."""
        found = self.interfaces.channel_of(interface)
        if found is None or found[0] is None:
            return
        bound = self.policies.ports[self.switch.ports.index(port)]
        for line in found[0].lines:
            if line.begins("priority-flow-control"):
                self._read_line(line, port, settings)
            elif line.begins("service-policy"):
                self.policies.bind(line, bound)

    def _read_line(self, line: Line, port: Port, settings: Settings) -> None:
        # With send-tlv, LLDP tells the peer about PFC, which lldp of ours does in any mode.
        if found := line.match("priority-flow-control mode %") or line.match("priority-flow-control mode % send-tlv"):
            modes = {"auto": "auto", "on": "pfc", "off": "off"}
            if found[0].lower() not in modes:
                refuse(self.log, line, "auto, on or off")
            port.keys["flow_control"] = modes[found[0].lower()]
            settings.has_mode = True
            line.use()
        elif line.text.lower() in ("speed auto", "no shutdown", "priority-flow-control watch-dog-interval off"):
            line.use()
        elif found := line.match("speed %"):
            port.speed = number(self.log, line, found[0], 1, 1600000) * MBPS
            settings.has_speed = True
            line.use()
        elif found := line.match("mtu %"):
            settings.mtu = number(self.log, line, found[0], 64, MOST_MTU)
            settings.mtu_lines = [line]
            line.use()
        elif line.text.lower() == "shutdown":
            port.keys["shutdown"] = "on"
            line.use()
        elif line.begins("priority-flow-control watch-dog") or line.begins("priority-flow-control watch-dog-interval on"):
            self._read_watchdog(line, port, settings)
        elif line.begins("storm-control"):
            self._read_storm(line, settings)
        elif found := line.match("flowcontrol % %"):
            if found[0].lower() in ("receive", "send") and found[1].lower() in ("on", "off"):
                settings.flowcontrol[found[0].lower()] = line, found[1].lower() == "on"
                line.use()
        elif line.text.lower() in ("lldp transmit", "lldp receive"):
            self.send_lldp.append((line, True))
        elif line.text.lower() in ("no lldp transmit", "no lldp receive"):
            self.send_lldp.append((line, False))

    def _read_watchdog(self, line: Line, port: Port, settings: Settings) -> None:
        if not self.has_watchdog:
            line.lose("the watchdog is off, since priority-flow-control watch-dog-interval on is missing")
            return
        line.use()
        settings.is_watched = True
        words = line.words[3 if line.begins("priority-flow-control watch-dog-interval on") else 2:]
        while words:
            if words[0] == "disable-action":
                port.keys["pfcwd_action"] = "alert"
                words = words[1:]
            elif words[0] == "interface-multiplier":
                port.keys["pfcwd_interface_multiplier"] = str(number(self.log, line, words[1] if len(words) > 1 else "", 1, 1000))
                words = words[2:]
            else:
                refuse(self.log, line, "disable-action or interface-multiplier N")

    def _read_storm(self, line: Line, settings: Settings) -> None:
        found = line.match("storm-control % level %")
        if found and found[0].lower() in STORM_KEYS:
            try:
                level = float(found[1])
            except ValueError:
                level = -1
            if not 0 <= level <= 100:
                refuse(self.log, line, "a level from 0 to 100 percent")
            settings.storms[found[0].lower()] = line, level
            line.use()
        elif line.match("storm-control % level pps %"):
            line.lose("limits of floods count bits per second")

    def _set_storms(self, port: Port, settings: Settings) -> None:
        """A level is a share of the speed; 100 is no limit, as 0 is in quench."""
        for kind, (line, level) in settings.storms.items():
            rate = int(port.speed * level / 100)
            if level == 100:
                continue
            if rate == 0:
                self.log.note(f"{line.number}: {line.text}: 1 bit/s, the lowest limit")
            port.keys[STORM_KEYS[kind]] = str(max(rate, 1))
            if kind == "unicast":
                self.log.note(f"{line.number}: {line.text}: the limit is that of unknown unicast frames")

    def _set_flowcontrol(self, port: Port, settings: Settings) -> None:
        """802.3x pause, unless the port has PFC by a line of its own. Without such a line PFC would be negotiated."""
        on = {kind: line for kind, (line, is_on) in settings.flowcontrol.items() if is_on}
        if not on:
            return
        if settings.has_mode and port.keys["flow_control"] != "off":
            for line in on.values():
                line.lose("priority-flow-control of the port takes precedence over pauses of the link")
            return
        port.keys["flow_control"] = "pause"
        settings.has_mode = True
        if len(on) == 1:
            line = next(iter(on.values()))
            self.log.note(f"{line.number}: {line.text}: the port obeys and sends pauses: flow_control = pause")

    def _join_mtus(self) -> None:
        """Use the largest MTU: quench has one limit for all ports."""
        longest = max(settings.mtu for settings in self.settings)
        for settings in self.settings:
            for line in settings.mtu_lines:
                if settings.mtu < longest:
                    line.lose("max_frame_bytes applies to all ports: it is that of the largest mtu")
        self.switch.max_frame = max(self.switch.max_frame, longest + MTU_OVERHEAD)

    def _note_assumptions(self) -> None:
        def note(which: list[bool], what: str) -> None:
            names = [port.name for port, is_one in zip(self.switch.ports, which) if is_one]
            more = f" and {len(names) - 4} more ports" if len(names) > 4 else ""
            if names:
                self.log.note(f" {', '.join(names[:4])}{more}: {what}")

        note([not settings.has_speed for settings in self.settings], "no speed: link_speed_bps = 100G is assumed")
        note([not settings.has_mode for settings in self.settings], "no priority-flow-control mode: auto, as NX-OS does")
        without = [QOS not in bound.of for bound in self.policies.ports]
        if not all(without) and QOS not in self.policies.system.of:
            note(without, "no service-policy type qos: all packets are of qos-group 0, as in NX-OS")


def vlan_of(name: str) -> int | None:
    """The number of a Vlan interface."""
    return whole(name.removeprefix("Vlan"), 1, 4094) if name.startswith("Vlan") else None
