# SPDX-License-Identifier: BSD-3-Clause
"""VLANs, addresses, routes and neighbours of a switch being converted. What cannot be carried over gives the reason, for the log."""
from __future__ import annotations

import dataclasses
import ipaddress
import re

from .log import Log
from .switch import Switch
from .values import set_text, vlan_list

Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# A unicast address that a station administers itself, as in doc/switch.md.
ASSUMED_MAC = "02:5a:00:00:00:fe"
LONGEST_VLAN_LIST, MOST_NEXTHOPS = 200, 256
IN_VRF = "in a VRF; quench has one routing table"
LEFT_OUT_MEMBER = "no link aggregation: the port-channel is its first port, and its other ports are in no VLAN"
FIRST_MEMBER = "no link aggregation: the port alone is the port-channel"
VERSION_KEYS = {4: "ip", 6: "ip6"}


@dataclasses.dataclass
class Bridge:
    """Whether and how a port bridges: at first it is in no VLAN."""

    access_vlan: int = 0
    tagged: set[int] = dataclasses.field(default_factory=set)


def set_vlans(switch: Switch, bridges: list[Bridge]) -> list[str | None]:
    """Switch vlan_filtering on, and set the VLANs of all ports. @return for each port why it lacks some, or None"""
    switch.vlan_filtering = True
    faults: list[str | None] = []
    for port, bridge in zip(switch.ports, bridges):
        text = set_text(bridge.tagged - {bridge.access_vlan})
        fits = len(text) <= LONGEST_VLAN_LIST
        port.access_vlan = bridge.access_vlan
        port.tagged_vlans = text if fits else text[:LONGEST_VLAN_LIST + 1].rpartition(",")[0]
        faults.append(None if fits else f"the port is in more ranges of VLANs than the {LONGEST_VLAN_LIST} characters of tagged_vlans hold")
    return faults


def interface(text: str) -> Interface | None:
    """An address and the length of its subnet; None: neither."""
    if not re.fullmatch(r"[0-9a-fA-F:.]+/\d{1,3}", text):
        return None
    try:
        return ipaddress.ip_interface(text)
    except ValueError:
        return None


def address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text) if re.fullmatch(r"[0-9a-fA-F:.]+", text) else None
    except ValueError:
        return None


def mac(text: str) -> str | None:
    """0011.2233.4455, 00-11-22-33-44-55 or 00:11:22:33:44:55 of a station as the INI has it; None: anything else."""
    digits = re.sub(r"[.:-]", "", text).lower()
    if not re.fullmatch(r"(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}", text.lower()) or len(digits) != 12:
        return None
    return None if int(digits, 16) == 0 or int(digits[:2], 16) & 1 else ":".join(digits[i:i + 2] for i in range(0, 12, 2))


def is_bridge(switch: Switch, name: str) -> bool:
    kind, _, number = name.partition(" ")
    return kind == "port" and switch.vlan_filtering and switch.ports[int(number)].is_bridge()


def own_addresses(switch: Switch, version: int) -> list[Interface]:
    return [own for keys in switch.interfaces.values() if (own := interface(keys[VERSION_KEYS[version]])) is not None]


def add_address(switch: Switch, name: str, text: str) -> str | None:
    """Give an interface, "vlan 10" or "port 3", an address. @return None, or why it is not carried over"""
    own = interface(text)
    if own is None or own.network.prefixlen == 0:
        return "not an address with the length of its subnet, such as 10.0.0.1/24"
    if own.version == 6 and own.ip.is_link_local:
        return "a link-local address belongs to one link"
    if is_bridge(switch, name):
        return "the port is in a VLAN"
    if name in switch.interfaces and switch.interfaces[name][VERSION_KEYS[own.version]] != "none":
        return "a second address of this IP version; an interface has one"
    if any(own.network.overlaps(other.network) for other in own_addresses(switch, own.version)):
        return "its subnet overlaps that of an interface before"
    switch.interfaces.setdefault(name, {"ip": "none", "ip6": "none"})[VERSION_KEYS[own.version]] = text
    return None


def connected(switch: Switch, ip: Address) -> Interface | None:
    """The address of the router in whose subnet ip is."""
    return next((own for own in own_addresses(switch, ip.version) if ip in own.network), None)


def station_fault(switch: Switch, ip: Address, what: str) -> str | None:
    """Why ip is no other station of a subnet."""
    own = connected(switch, ip)
    if own is None:
        return f"{what} is in no subnet of an interface that was carried over"
    is_edge = ip.version == 4 and own.network.prefixlen <= 30 and ip in (own.network.network_address, own.network.broadcast_address)
    return f"{what} is the switch itself or a broadcast address" if ip == own.ip or is_edge else None


def route_key(prefix: str) -> str | None:
    """A prefix without the bits beyond its length; None: it is none."""
    own = interface(prefix)
    return None if own is None else str(own.network)


def add_route(switch: Switch, prefix: str, nexthop: str) -> str | None:
    """Add a next hop to the route of a prefix, after all addresses. @return None, or why it is not carried over"""
    own = interface(prefix)
    is_drop = nexthop == "blackhole"
    hop = address(nexthop)
    if own is None:
        return "not a prefix, such as 10.0.0.0/8"
    if not is_drop and (hop is None or hop.version != own.version):
        return "the next hop is no address of the prefix's IP version"
    fault = station_fault(switch, hop, "the next hop") if hop is not None and not is_drop else None
    if fault is not None:
        return fault
    if any(own.network in (other.network, ipaddress.ip_network(other.ip)) for other in own_addresses(switch, own.version)):
        return "an interface has this prefix, and what is connected is preferred"
    name = str(own.network)
    hops = switch.routes.get(name)
    if hops is None:
        switch.routes[name] = [] if is_drop else [nexthop]
        return None
    if is_drop:
        return None if not hops else "the route of this prefix has next hops already"
    return _extend(hops, nexthop, hop)


def _extend(hops: list[str], nexthop: str, hop: Address | None) -> str | None:
    if not hops:
        return "the route of this prefix drops its traffic already"
    if hop in [address(other) for other in hops]:
        return None
    if len(hops) == MOST_NEXTHOPS:
        return f"more next hops than a route has: {MOST_NEXTHOPS}"
    hops.append(nexthop)
    return None


def add_neighbor(switch: Switch, ip_text: str, mac_text: str) -> str | None:
    """A station whose MAC address is known, after all addresses. @return None, or why it is not carried over"""
    ip, own_mac = address(ip_text), mac(mac_text)
    if ip is None or own_mac is None:
        return "expected the IP address and the MAC address of a station"
    fault = station_fault(switch, ip, "the address")
    if fault is None and switch.neighbors.setdefault(str(ip), own_mac) != own_mac:
        fault = "a second MAC address of this neighbour"
    return fault


def add_station(switch: Switch, mac_text: str, vlan: int, port: int) -> str | None:
    """A static entry of the forwarding table, after the VLANs. @return None, or why it is not carried over"""
    own = mac(mac_text)
    if own is None:
        return "expected the MAC address of a station"
    if not switch.vlan_filtering:
        vlan = 0
    elif vlan != switch.ports[port].access_vlan and vlan not in (vlan_list(switch.ports[port].tagged_vlans) or ()):
        return "the port is not in this VLAN"
    keys = {"mac": own, "vlan": str(vlan), "port": str(port)}
    name = f"{own.replace(':', '')}_{vlan}"
    if switch.stations.setdefault(name, keys) != keys:
        return "a second port of this station"
    return None


def set_router(switch: Switch, own: str | None, log: Log) -> None:
    """Set the router's address, if there are interfaces; None: an assumed one."""
    if not switch.interfaces:
        return
    switch.set("router", "router_mac", own or ASSUMED_MAC)
    if own is None:
        log.note(f" the file does not give the router's MAC address: router_mac = {ASSUMED_MAC} is assumed")
