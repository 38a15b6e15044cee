# SPDX-License-Identifier: BSD-3-Clause
"""PORT and CABLE_LENGTH; PFC_WD; PORT_STORM_CONTROL."""
from __future__ import annotations

import dataclasses
import re

from ..ports import Ports, split_name
from ..switch import MOST_MTU, MOST_RATE, MTU_OVERHEAD, Port
from ..values import MBPS, NS_PER_MS, on_off
from .tables import Tables, short_key

ASSUMED_MBPS, ASSUMED_MTU = 100000, 9100
PORT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9/\-_.:]{0,30}")
# Ports inside a switch, which have no cable.
INNER_ROLES = ("Inb", "Rec", "Dpc")
STORM_KEYS = {"broadcast": "storm_control_broadcast_bps", "unknown-multicast": "storm_control_multicast_bps",
              "unknown-unicast": "storm_control_unknown_unicast_bps"}
NEVER = "never"


def read_ports(tables: Tables) -> None:
    """Ports, in the order of the numbers in their names."""
    wanted = Ports(tables.log)
    names = []
    for name in tables.keys("PORT"):
        if not PORT_NAME.fullmatch(name):
            tables.refuse("PORT", name, None, None, "the name of a port: a letter, then letters, digits and /-_.:, at most 31 characters")
        role = (tables.entry("PORT", name) or {}).get("role")
        if role in INNER_ROLES:
            tables.log.aside(f"PORT role {role}")
            tables.left.add(name)
        else:
            names.append(name)
    if not names:
        tables.log.refuse(" PORT: expected at least one port")
    for name in sorted(names, key=lambda one: (split_name(one)[0], split_name(one)[1] or 0, one)):
        if wanted.want(name, len(tables.switch.ports)):
            tables.switch.ports.append(Port(name))
        else:
            tables.left.add(name)
    wanted.check()
    _drop_left(tables)
    without_speed: list[str] = []
    mtus = [_read_port(tables, port, without_speed) for port in tables.switch.ports]
    if without_speed:
        tables.log.note(f" PORT|{short_key(','.join(without_speed))}: no speed: 100G is assumed")
    _join_mtus(tables, mtus)
    _read_cables(tables)
    _read_storms(tables)


def _drop_left(tables: Tables) -> None:
    """Remove what concerns only the ports that are left out."""
    for table in ("PORT", "INTERFACE", "VLAN_MEMBER", "PORTCHANNEL_MEMBER", "PORT_STORM_CONTROL", "LLDP_PORT"):
        for key in tables.keys(table):
            first, _, rest = key.partition("|")
            if first in tables.left or rest in tables.left:
                del tables.table(table)[key]
    for name in tables.keys("CABLE_LENGTH"):
        tables.drop("CABLE_LENGTH", name, *tables.left)


def _read_port(tables: Tables, port: Port, without_speed: list[str]) -> int:
    """@return the mtu; 0: none"""
    name = port.name
    speed = tables.take_number("PORT", name, "speed", 1, 1600000)
    if speed is None:
        without_speed.append(name)
    port.speed = (speed or ASSUMED_MBPS) * MBPS
    mtu = tables.take_number("PORT", name, "mtu", 64, MOST_MTU)
    port.keys["pfc_asymmetric"] = on_off(tables.take_word("PORT", name, "pfc_asym", ("on", "off"), "on or off") == "on")
    port.keys["shutdown"] = on_off(tables.take_word("PORT", name, "admin_status", ("up", "down"), "up or down") == "down")
    for field, plain, why in (("tpid", "0x8100", "tags have the type 0x8100"), ("macsec", "", "frames are not encrypted")):
        value = tables.take("PORT", name, field)
        if value is not None and value.lower() == plain:
            tables.log.aside(f"PORT {field}")
        elif value is not None:
            tables.lose("PORT", name, field, value, why)
    return mtu or 0


def _join_mtus(tables: Tables, mtus: list[int]) -> None:
    """Use the largest MTU: quench has one limit for all ports."""
    longest = max(mtus)
    if longest == 0:
        longest = ASSUMED_MTU
        tables.log.note(f" PORT: no mtu: {ASSUMED_MTU} is assumed")
    for port, mtu in zip(tables.switch.ports, mtus):
        if 0 < mtu < longest:
            tables.lose("PORT", port.name, "mtu", str(mtu), "max_frame_bytes applies to all ports: it is that of the largest mtu")
    tables.switch.max_frame = longest + MTU_OVERHEAD


def _read_cables(tables: Tables) -> None:
    """Cable lengths by port, such as "40m", from the only entry that SONiC has in CABLE_LENGTH."""
    name = next(iter(tables.keys("CABLE_LENGTH")), None)
    if name is None:
        tables.log.note(" CABLE_LENGTH is missing: 5 m are assumed")
        return
    for port in tables.switch.ports:
        text = tables.take("CABLE_LENGTH", name, port.name)
        if text is None:
            continue
        if not re.fullmatch(r"\d{1,6}m", text) or int(text[:-1]) > 100000:
            tables.refuse("CABLE_LENGTH", name, port.name, text, "metres from 0m to 100000m")
        port.cable_m = int(text[:-1])


def _read_storms(tables: Tables) -> None:
    table = "PORT_STORM_CONTROL"
    for key in tables.keys(table):
        name, _, kind = key.partition("|")
        port = tables.find_port(name)
        if port is None or kind not in STORM_KEYS:
            tables.lose(table, key, None, None, "no such port in PORT" if port is None else f"expected one of {', '.join(STORM_KEYS)}")
            continue
        kbps = tables.take_number(table, key, "kbps", 0, MOST_RATE // 1000)
        if kbps == 0:
            tables.log.note(f" {table}|{key}|kbps = 0: 1 bit/s, the lowest limit")
        if kbps is not None:
            tables.switch.ports[port].keys[STORM_KEYS[kind]] = str(max(kbps * 1000, 1))


@dataclasses.dataclass
class Watch:
    """One entry of PFC_WD; times in ns."""

    action: str = "drop"
    detection: str = str(200 * NS_PER_MS)
    restoration: str = NEVER


def read_watchdog(tables: Tables) -> None:
    poll_ms = tables.take_number("PFC_WD", "GLOBAL", "POLL_INTERVAL", 1, 60000)
    if poll_ms is not None:
        tables.switch.set("pfcwd", "poll_interval_ns", str(poll_ms * NS_PER_MS))
    big_red = tables.take_word("PFC_WD", "GLOBAL", "BIG_RED_SWITCH", ("enable", "disable"), "enable or disable")
    tables.switch.set("pfcwd", "big_red_switch", on_off(big_red == "enable"))
    watches: dict[int, Watch] = {}
    for key in tables.keys("PFC_WD"):
        place = tables.place("PFC_WD", key) if key != "GLOBAL" else None
        if place is not None:
            watch = _read_watch(tables, key, 100 if poll_ms is None else poll_ms)
            watches.update((port, watch) for port in place.ports)
    _set_watches(tables, watches)


def _read_watch(tables: Tables, key: str, poll_ms: int) -> Watch:
    watch = Watch(tables.take_word("PFC_WD", key, "action", ("drop", "forward", "alert"), "drop, forward or alert") or "drop")
    watch.detection = _take_time(tables, key, "detection_time", 5000, 60000, poll_ms) or watch.detection
    watch.restoration = _take_time(tables, key, "restoration_time", 60000, 3600000, poll_ms) or watch.restoration
    return watch


def _take_time(tables: Tables, key: str, field: str, sonic_most: int, most: int, poll_ms: int) -> str | None:
    """A time of at least one poll, in ms. SONiC's command takes those from 100 to sonic_most only."""
    ms = tables.take_number("PFC_WD", key, field, 1, most)
    if ms is None:
        return None
    if ms < poll_ms:
        tables.refuse("PFC_WD", key, field, str(ms), f"at least POLL_INTERVAL, which is {poll_ms}")
    if not 100 <= ms <= sonic_most:
        tables.log.note(f" PFC_WD|{key:.80}|{field} = {ms}: SONiC itself takes 100 to {sonic_most}")
    return str(ms * NS_PER_MS)


def _set_watches(tables: Tables, watches: dict[int, Watch]) -> None:
    """The entry of the first watched port becomes [pfcwd]. Other ports get the keys in which they differ."""
    if not watches:
        return
    first = watches[min(watches)]
    for i, port in enumerate(tables.switch.ports):
        port.keys["pfcwd"] = on_off(i in watches)
        own = watches.get(i, first)
        if own.action != first.action:
            port.keys["pfcwd_action"] = own.action
        if own.detection != first.detection:
            port.keys["pfcwd_detection_time_ns"] = own.detection
        if own.restoration != first.restoration:
            port.keys["pfcwd_restoration_time_ns"] = own.restoration
    for key, value in (("pfcwd", "sonic"), ("action", first.action), ("detection_time_ns", first.detection),
                       ("restoration_time_ns", first.restoration)):
        tables.switch.set("pfcwd", key, value)
