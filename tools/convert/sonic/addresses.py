# SPDX-License-Identifier: BSD-3-Clause
"""VLAN_INTERFACE, INTERFACE, PORTCHANNEL_INTERFACE: addresses. STATIC_ROUTE, NEIGH."""
from __future__ import annotations

from .. import network
from ..values import whole
from .members import vlan_number
from .tables import Tables


def read_addresses(tables: Tables) -> None:
    for table in ("VLAN_INTERFACE", "INTERFACE", "PORTCHANNEL_INTERFACE"):
        for key in tables.keys(table):
            # The place of fields in an entry without any.
            tables.drop(table, key, "NULL")
            if "|" in key:
                _read_address(tables, table, key)
    if tables.switch.interfaces:
        tables.switch.vlan_filtering = True
    for key in tables.keys("STATIC_ROUTE"):
        _read_route(tables, key)
    for key in tables.keys("NEIGH"):
        _, bar, ip = key.partition("|")
        if not bar:
            tables.refuse("NEIGH", key, None, None, "an interface and an IP address")
        mac = tables.take("NEIGH", key, "neigh")
        tables.drop("NEIGH", key, "family")
        why = network.add_neighbor(tables.switch, ip, mac or "")
        if why is not None:
            tables.lose("NEIGH", key, None, None, why)
    _set_router(tables)


def _interface(tables: Tables, name: str) -> str | None:
    """"vlan 10" of "Vlan10", "port 0" of a port or port-channel."""
    port = tables.find_member(name)
    vlan = vlan_number(name)
    return f"port {port}" if port is not None else f"vlan {vlan}" if vlan is not None else None


def _read_address(tables: Tables, table: str, key: str) -> None:
    name, _, address = key.partition("|")
    if network.interface(address) is None:
        tables.refuse(table, key, None, None, "an address and the length of its subnet, such as 10.0.0.1/24, after the interface")
    own = _interface(tables, name)
    if own is None:
        why: str | None = "no such port or VLAN"
    elif "vrf_name" in (tables.entry(table, name) or {}):
        why = network.IN_VRF
    else:
        why = network.add_address(tables.switch, own, address)
    if why is not None:
        tables.lose(table, key, None, None, why)
        return
    # They repeat what the address says.
    tables.drop(table, key, "scope", "family")


def _read_route(tables: Tables, key: str) -> None:
    table = "STATIC_ROUTE"
    vrf, _, prefix = key.rpartition("|")
    if network.interface(prefix) is None:
        tables.refuse(table, key, None, None, "a prefix, such as 10.0.0.0/8")
    if vrf not in ("", "default"):
        tables.lose(table, key, None, None, network.IN_VRF)
        return
    entry = tables.entry(table, key) or {}

    def items(field: str) -> list[str]:
        value = entry.get(field)
        return value.split(",") if isinstance(value, str) else []

    def item(field: str, k: int) -> str:
        own = items(field)
        return own[k] if k < len(own) else ""

    def distance(text: str) -> int:
        own = whole(text or "0", 0, 255)
        return own if own is not None else tables.refuse(table, key, "distance", text, "a whole number from 0 to 255")

    n = max(len(items("nexthop")), 1)
    distances = [distance(item("distance", k)) for k in range(n)]
    for k in range(n):
        hop = "blackhole" if item("blackhole", k) == "true" else item("nexthop", k)
        why: str | None
        if distances[k] != min(distances):
            why = "another next hop has a smaller distance"
        elif item("nexthop-vrf", k) not in ("", "default"):
            why = network.IN_VRF
        else:
            why = network.add_route(tables.switch, prefix, hop)
        if why is not None:
            tables.log.lose(f" {table}|{key:.80}|nexthop = {item('nexthop', k):.50}: {why}")
    tables.drop(table, key, "nexthop", "ifname", "distance", "blackhole", "nexthop-vrf", "NULL")


def _set_router(tables: Tables) -> None:
    """The switch's own address, of DEVICE_METADATA."""
    if not tables.switch.interfaces:
        return
    text = tables.take("DEVICE_METADATA", "localhost", "mac")
    own = network.mac(text) if text is not None and ":" in text else None
    if text is not None and own is None:
        tables.refuse("DEVICE_METADATA", "localhost", "mac", text, "a MAC address of a station, such as 02:00:00:00:00:01")
    network.set_router(tables.switch, own, tables.log)
