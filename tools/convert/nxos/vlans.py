# SPDX-License-Identifier: BSD-3-Clause
"""VLANs, access and trunk ports, and port-channels of one port."""
from __future__ import annotations

import dataclasses
import re

from ..log import Log
from ..network import FIRST_MEMBER, LEFT_OUT_MEMBER, Bridge, set_vlans
from ..switch import Switch
from ..values import LAST_VLAN, vlan_list
from .interfaces import Interface, Interfaces, vlan_of
from .lines import Line, number, refuse

A_VLAN_LIST = "VLANs from 1 to 4094, such as 10,20-29"
EVERY_VLAN = frozenset(range(1, LAST_VLAN + 1))


@dataclasses.dataclass
class Switchport:
    """Lines of an interface that concern VLANs. NX-OS's defaults: access in VLAN 1; a trunk of all."""

    is_given: bool = False
    mode: str | None = "access"  # None: one that quench lacks
    is_routed: bool = False
    access: int = 1
    native: int = 1
    allowed: frozenset[int] = EVERY_VLAN
    names_vlans: bool = False  # allowed is a list in the file


def read_allowed(log: Log, line: Line, text: str, port: Switchport) -> None:
    """The rest of "switchport trunk allowed vlan"."""
    line.use()
    port.names_vlans = text.lower() != "all"
    if not port.names_vlans:
        port.allowed = EVERY_VLAN
        return
    found = re.fullmatch(r"(?:(add|remove|except) )?(\S.*)", text, re.I)
    vlans = vlan_list(found[2]) if found else None
    if found is None or vlans is None:
        refuse(log, line, A_VLAN_LIST)
    how = (found[1] or "").lower()
    port.allowed = {"": frozenset(vlans), "add": port.allowed | vlans, "remove": port.allowed - vlans, "except": EVERY_VLAN - vlans}[how]


def read_switchport(log: Log, interface: Interface, is_routed: bool) -> Switchport:
    """is_routed: without a line about it"""
    port = Switchport(is_routed=is_routed)
    for line in interface.lines:
        words = " ".join(line.words)
        if words.startswith(("ip address", "ipv6 address")):
            port.is_routed = port.is_given = True
        elif words == "no switchport":
            port.is_routed = port.is_given = True
            line.use()
        elif line.begins("switchport"):
            port.is_given, port.is_routed = True, False
            _read_line(log, line, port)
    return port


def _read_line(log: Log, line: Line, port: Switchport) -> None:
    if len(line.words) == 1:
        line.use()
    elif found := line.match("switchport mode ..."):
        port.mode = found[0].lower() if found[0].lower() in ("access", "trunk") else None
        if port.mode is None:
            line.lose("a mode without a counterpart: the port is in no VLAN")
        else:
            line.use()
    elif line.begins("switchport monitor"):
        port.mode = None
        line.lose("a mode without a counterpart: the port is in no VLAN")
    elif found := line.match("switchport trunk allowed vlan ..."):
        read_allowed(log, line, found[0], port)
    elif found := line.match("switchport access vlan %"):
        port.access = number(log, line, found[0], 1, LAST_VLAN)
        line.use()
    elif found := line.match("switchport trunk native vlan %"):
        port.native = number(log, line, found[0], 1, LAST_VLAN)
        line.use()


class Vlans:
    """Sets the VLANs of all ports. network: by port, the interface with its VLANs and addresses, its own or its port-channel's; None: none."""

    def __init__(self, switch: Switch, top: Line, interfaces: Interfaces, log: Log) -> None:
        self.switch, self.interfaces, self.log = switch, interfaces, log
        self.network: list[Interface | None] = list(interfaces.ports)
        defined, any_vlan = self._read_vlans(top)
        is_routed = self._read_default(top)
        is_given = any_vlan or is_routed
        self._join_channels()
        ports: list[Switchport] = []
        for own, network in zip(interfaces.ports, self.network):
            # Lines of a port-channel's port repeat those of the port-channel.
            port = read_switchport(log, own, is_routed)
            if network is not own:
                is_given = True
                port = read_switchport(log, network, is_routed) if network is not None else port
            is_given |= port.is_given
            ports.append(port)
        if is_given:
            self._find_vlans(ports, any_vlan, defined)
            bridges = [Bridge() if network is None else bridge_of(port, defined) for port, network in zip(ports, self.network)]
            for one, why in zip(switch.ports, set_vlans(switch, bridges)):
                if why is not None:
                    log.lose(f" {one.name}: switchport trunk allowed vlan: {why}")

    def _read_vlans(self, top: Line) -> tuple[set[int], bool]:
        """The VLANs that the file defines, and whether there are any."""
        defined: set[int] = set()
        is_any = False
        for line in top.lines:
            found = line.match("vlan %")
            if not found or not re.fullmatch(r"[\d,-]+", found[0]):
                continue
            vlans = vlan_list(found[0])
            if vlans is None:
                refuse(self.log, line, A_VLAN_LIST)
            defined |= vlans
            is_any = True
            line.use()
            for own in line.lines:
                if own.begins("name") or own.text.lower() in ("state active", "no shutdown"):
                    own.use()
        return defined, is_any

    def _read_default(self, top: Line) -> bool:
        """Are ports without a switchport line routed?"""
        is_routed = False
        for line in top.lines:
            if line.text.lower() in ("system default switchport", "no system default switchport"):
                is_routed = line.words[0] == "no"
                line.use()
        return is_routed

    def _join_channels(self) -> None:
        """Without link aggregation, the first port of a port-channel gets its VLANs and addresses.

        The others would bring frames back to their sender: they are in no VLAN.
        """
        taken: set[str] = set()
        for i, own in enumerate(self.interfaces.ports):
            found = self.interfaces.channel_of(own)
            channel = found[0] if found is not None else None
            if found is None or channel is None:
                continue
            line = found[1]
            is_first = channel.name not in taken
            taken.add(channel.name)
            self.network[i] = channel if is_first else None
            line.lose(FIRST_MEMBER if is_first else LEFT_OUT_MEMBER)

    def _find_vlans(self, ports: list[Switchport], is_any: bool, defined: set[int]) -> None:
        """A trunk of all VLANs has those that exist. A part of a running-config may lack its vlan lines: then those that are named exist."""
        defined.add(1)
        defined.update(vlan for name in self.interfaces.others if (vlan := vlan_of(name)) is not None)
        for port in ports:
            defined |= {port.access, port.native}
            if not is_any and port.names_vlans:
                defined |= port.allowed


def bridge_of(port: Switchport, defined: set[int]) -> Bridge:
    if port.is_routed or port.mode is None:
        return Bridge()
    if port.mode == "access":
        return Bridge(port.access)
    vlans = set(port.allowed & defined)
    return Bridge(port.native if port.native in vlans else 0, vlans - {port.native})
