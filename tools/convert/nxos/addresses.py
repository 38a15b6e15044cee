# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of interfaces, static routes, neighbours and static entries of the forwarding table."""
from __future__ import annotations

import dataclasses
import re

from .. import network
from ..log import Log
from ..switch import Switch
from ..values import LAST_VLAN, whole
from .interfaces import Interface, Interfaces, ranges, vlan_of
from .lines import Line, number, refuse
from .vlans import Vlans

STATIC_PREFERENCE = 1  # of a static route without one


def take_prefix(words: list[str]) -> str | None:
    """Take the prefix at the beginning of some words: "10.0.0.1/24", or "10.0.0.1 255.255.255.0"."""
    if not words:
        return None
    prefix = words.pop(0)
    if "/" not in prefix:
        mask = network.address(words.pop(0)) if words else None
        if mask is None or mask.version != 4:
            return None
        bits = f"{int(mask):032b}"
        if "01" in bits:
            return None
        prefix += f"/{bits.count('1')}"
    return prefix if network.interface(prefix) is not None else None


@dataclasses.dataclass
class Route:
    line: Line
    prefix: str
    nexthop: str
    preference: int = STATIC_PREFERENCE


class Addresses:
    def __init__(self, switch: Switch, top: Line, interfaces: Interfaces, vlans: Vlans, log: Log) -> None:
        self.switch, self.log = switch, log
        for name, interface in interfaces.others.items():
            vlan = vlan_of(name)
            if vlan is not None:
                self._read_vlan(interface, vlan)
            elif name.startswith("port-channel") and interface not in vlans.network:
                for line in interface.own:
                    if not line.used:
                        line.lose_block("no port is in this port-channel")
        for line in top.lines:
            if line.match("feature interface-vlan") is not None:
                line.use()
        for i, own in enumerate(vlans.network):
            if own is not None:
                self._read_addresses(own, f"port {i}")
        self._read_routes(top)
        network.set_router(switch, None, log)
        for interface in [*interfaces.others.values(), *(own for own in vlans.network if own is not None)]:
            self._read_neighbors(interface)
        self._read_stations(top, interfaces)

    def _read_vlan(self, interface: Interface, vlan: int) -> None:
        for line in interface.lines:
            if line.text.lower() == "no shutdown":
                line.use()
        if interface.has("shutdown"):
            for line in interface.lines:
                if not line.used:
                    line.lose_block("the interface is shut down")
            return
        # A part of a running-config may have a VLAN of no port.
        self.switch.vlan_filtering = True
        self._read_addresses(interface, f"vlan {vlan}")

    def _read_addresses(self, interface: Interface, name: str) -> None:
        is_in_vrf = any(line.begins("vrf member") for line in interface.lines)
        for line in interface.lines:
            found = line.match("ip address ...") or line.match("ipv6 address ...")
            # Without digits such as dhcp, or use-link-local-only.
            if not found or not re.search(r"[.:]", found[0]):
                continue
            words = found[0].split()
            prefix = take_prefix(words)
            if prefix is None:
                refuse(self.log, line, "an address and the length of its subnet, such as 10.0.0.1/24")
            why = network.IN_VRF if is_in_vrf else None
            if why is None and words[:1] == ["secondary"]:
                why = "a second address; an interface has one of each IP version"
            settle(line, why or network.add_address(self.switch, name, prefix))

    def _read_routes(self, top: Line) -> None:
        """Of the lines of a prefix, those of the best preference are in force."""
        routes = [route for line in top.lines if (found := line.match("ip route ...") or line.match("ipv6 route ..."))
                  and (route := self._read_route(line, found[0].split())) is not None]
        best: dict[str | None, int] = {}
        for route in sorted(routes, key=lambda one: one.preference):
            key = network.route_key(route.prefix)
            if best.get(key, route.preference) < route.preference:
                settle(route.line, "a route of this prefix has a better preference")
                continue
            why = network.add_route(self.switch, route.prefix, route.nexthop)
            if why is None:
                best[key] = route.preference
            settle(route.line, why)

    def _read_route(self, line: Line, words: list[str]) -> Route | None:
        """A next hop, after an egress interface if there is one: "Ethernet1/1 10.0.0.2", "null 0"; then name, tag and a preference."""
        prefix = take_prefix(words)
        if prefix is None:
            refuse(self.log, line, "a prefix, such as 10.0.0.0/8")
        nexthop = None
        for _ in range(3):
            word = words.pop(0) if words else ""
            if word.lower().startswith("null"):
                nexthop = "blackhole"
                if word.lower() == "null" and words:
                    words.pop(0)
            elif network.address(word) is not None:
                nexthop = word
            if nexthop is not None:
                break
        if nexthop is None:
            line.lose("expected the address of a next hop, or null0")
            return None
        route = Route(line, prefix, nexthop)
        while words:
            word = words.pop(0)
            preference = whole(word, 1, 255)
            if word.lower() in ("name", "tag"):
                del words[:1]
            elif preference is not None:
                route.preference = preference
            else:
                line.lose("expected no words but name, tag and a preference after the next hop")
                return None
        return route

    def _read_neighbors(self, interface: Interface) -> None:
        for line in interface.lines:
            found = line.match("ip arp % %") or line.match("ipv6 neighbor % %")
            if found and network.mac(found[1]) is not None:
                settle(line, network.add_neighbor(self.switch, found[0], found[1]))

    def _read_stations(self, top: Line, interfaces: Interfaces) -> None:
        """mac address-table static MAC vlan N interface PORT"""
        for line in top.lines:
            if found := line.match("mac address-table aging-time %"):
                self.switch.set("switch", "fdb_ageing_s", str(number(self.log, line, found[0], 0, 1000000)))
                line.use()
            elif found := line.match("mac address-table static % vlan % interface %"):
                probe = Line(f"interface {found[2]}", line.number, 0)
                places = ranges(probe)
                name = "" if not places else f"{places[0].kind}{places[0].place}{places[0].first}"
                number_of = {own.name: i for i, own in enumerate(interfaces.ports)}
                vlan = number(self.log, line, found[1], 1, LAST_VLAN)
                settle(line, network.add_station(self.switch, found[0], vlan, number_of[name]) if name in number_of
                       else "the interface is no port of the switch")


def settle(line: Line, why: str | None) -> None:
    """A line is carried over, or lost for a reason."""
    if why is None:
        line.use()
    else:
        line.lose(why)
