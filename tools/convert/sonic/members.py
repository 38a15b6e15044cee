# SPDX-License-Identifier: BSD-3-Clause
"""VLAN and VLAN_MEMBER; PORTCHANNEL_MEMBER: port-channels of one port; FDB: static entries of the forwarding table; SWITCH, LLDP."""
from __future__ import annotations

import re

from .. import network
from ..network import FIRST_MEMBER, LEFT_OUT_MEMBER, Bridge, set_vlans
from ..ports import MOST_NAME
from ..values import LAST_VLAN, on_off, whole
from .tables import Tables


def vlan_number(name: str) -> int | None:
    """"Vlan10" as 10."""
    return whole(name[4:], 1, LAST_VLAN) if name.startswith("Vlan") else None


def read_members(tables: Tables) -> None:
    _read_vlans(tables)
    # A file without these tables does not say how ports forward: each bridges to all.
    is_given = any(tables.table(table) for table in ("VLAN", "INTERFACE", "PORTCHANNEL_INTERFACE", "PORTCHANNEL_MEMBER"))
    _join_channels(tables)
    bridges = [Bridge() for _ in tables.switch.ports]
    for key in tables.keys("VLAN_MEMBER"):
        _read_member(tables, key, bridges)
    if is_given:
        for port, why in zip(tables.switch.ports, set_vlans(tables.switch, bridges)):
            if why is not None:
                tables.log.lose(f" VLAN_MEMBER: {port.name}: {why}")


def _read_vlans(tables: Tables) -> None:
    for key in tables.keys("VLAN"):
        number = vlan_number(key)
        if number is None:
            tables.refuse("VLAN", key, None, None, f"a name from Vlan1 to Vlan{LAST_VLAN}")
        vlanid = tables.take_number("VLAN", key, "vlanid", 1, LAST_VLAN)
        if vlanid is not None and vlanid != number:
            tables.refuse("VLAN", key, "vlanid", None, "the number in the name")
        # Newer tools write a text here, as well as VLAN_MEMBER.
        tables.drop("VLAN", key, "members")


def _join_channels(tables: Tables) -> None:
    """Without link aggregation, the first port of a port-channel gets its VLANs and addresses.

    The others would bring frames back to their sender: they are in no VLAN.
    """
    table = "PORTCHANNEL_MEMBER"
    members: dict[int, list[str]] = {}
    for key in tables.keys(table):
        channel, bar, name = key.partition("|")
        if not channel or len(channel) > MOST_NAME or not bar:
            tables.refuse(table, key, None, None, "a port-channel and a port")
        port = tables.find_port(name)
        if port is not None:
            members.setdefault(port, []).append(key)
    for port in sorted(members):
        for key in members[port]:
            channel = key.partition("|")[0]
            is_spare = tables.find_member(channel) is not None
            if not is_spare:
                tables.channels[port] = channel
            tables.lose(table, key, None, None, LEFT_OUT_MEMBER if is_spare else FIRST_MEMBER)
    for key in tables.keys(table):
        tables.lose(table, key, None, None, "no such port in PORT")


def _read_member(tables: Tables, key: str, bridges: list[Bridge]) -> None:
    table = "VLAN_MEMBER"
    name, bar, member = key.partition("|")
    vlan = vlan_number(name)
    if vlan is None or not bar:
        tables.refuse(table, key, None, None, f"a VLAN from Vlan1 to Vlan{LAST_VLAN}, and a port")
    mode = tables.take(table, key, "tagging_mode")
    port = tables.find_member(member)
    if port is None or tables.entry("VLAN", f"Vlan{vlan}") is None:
        tables.lose(table, key, None, None, "no such port" if port is None else "no such VLAN in VLAN")
        return
    bridge = bridges[port]
    if mode == "tagged":
        bridge.tagged.add(vlan)
    elif mode not in (None, "untagged"):
        tables.lose(table, key, "tagging_mode", mode, "expected tagged or untagged")
    elif bridge.access_vlan not in (0, vlan):
        tables.lose(table, key, "tagging_mode", mode, "the port has another VLAN for untagged frames")
    else:
        bridge.access_vlan = vlan


def read_stations(tables: Tables) -> None:
    """FDB|Vlan10|00:11:22:33:44:55"""
    for key in tables.keys("FDB"):
        name, bar, mac = key.partition("|")
        if not bar:
            name, _, mac = key.partition(":")
        vlan = vlan_number(name)
        port = tables.find_member(tables.take("FDB", key, "port") or "")
        kind = tables.take("FDB", key, "type")
        why = ("expected a VLAN and the MAC address of a station" if vlan is None else "no such port in PORT" if port is None
               else "only static entries have a counterpart" if kind not in (None, "static") else None)
        if why is None and vlan is not None and port is not None:
            why = network.add_station(tables.switch, mac, vlan, port)
        if why is not None:
            tables.lose("FDB", key, None, None, why)


def read_switch(tables: Tables) -> None:
    """The ageing time, and the seed of ECMP: that of the table SWITCH, or the one that SONiC derives from the role of the device."""
    for key in tables.keys("SWITCH"):
        ageing = tables.take_number("SWITCH", key, "fdb_aging_time", 0, 1000000)
        if ageing is not None:
            tables.switch.set("switch", "fdb_ageing_s", str(ageing))
    kind = tables.take("DEVICE_METADATA", "localhost", "type") or ""
    # SONiC's switch.json.
    seed = 0 if "ToRRouter" in kind else 10 if "LeafRouter" in kind else 25 if "SpineRouter" in kind else 0
    for key in tables.keys("SWITCH"):
        own = tables.take_number("SWITCH", key, "ecmp_hash_seed", 0, 2**32 - 1)
        seed = seed if own is None else own
    tables.switch.set("router", "ecmp_hash_seed", str(seed))


def read_lldp(tables: Tables) -> None:
    """LLDP|GLOBAL: times, and whether there is LLDP."""
    for key in tables.keys("LLDP"):
        if not re.fullmatch("global", key, re.I):
            continue
        hello = tables.take_number("LLDP", key, "hello_time", 1, 3600)
        if hello is not None:
            tables.switch.set("lldp", "lldp_tx_interval_ns", str(hello * 10**9))
        hold = tables.take_number("LLDP", key, "multiplier", 1, 10)
        if hold == 1:
            tables.log.note(f" LLDP|{key}|multiplier = 1: lldp_tx_hold = 2, the lowest value")
        if hold is not None:
            tables.switch.set("lldp", "lldp_tx_hold", str(max(hold, 2)))
        enabled = tables.take_word("LLDP", key, "enabled", ("true", "false"), "true or false")
        tables.switch.set("lldp", "lldp", on_off(enabled != "false"))
