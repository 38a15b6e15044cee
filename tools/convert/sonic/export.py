# SPDX-License-Identifier: BSD-3-Clause
"""Writes a switch as tables of config_db.json.

Settings without a counterpart in SONiC are found by reading the tables back: a key whose value then differs is lost. Before, the switch
is brought into the importer's form, so that there are no other differences.
"""
from __future__ import annotations

import ipaddress
import json
import re
from typing import Any

from .. import network, program, switch_in_force
from ..log import Log, Refused
from ..switch import (CLASS_PROFILES, CLASSES, DEFAULT, EGRESS_LOSSLESS, EGRESS_LOSSY, LOSSLESS, LOSSY, MOST_PROFILES, MOST_WRED_BYTES,
                      MTU_OVERHEAD, NONE, PROGRAM, Curve, Port, Profile, Qos, Switch)
from ..values import MBPS, NS_PER_MS, RATES, SIZES, TIMES, scaled, set_of, spans, vlan_list
from . import convert
from .buffers import POOLS, PROFILES
from .maps import DOT1P_TO_TC, DSCP_TO_TC, PFC_TO_QUEUE, TC_TO_PG, TC_TO_QUEUE
from .ports import STORM_KEYS

MAP_NAME = "AZURE"
# Of the curve of [wred]. The second is used if another curve of the file has the first.
CURVE_NAMES = ("AZURE_LOSSLESS", "quench_wred")
NO_COUNTERPART = "no counterpart in SONiC's tables"
WATCH_KEYS = {"pfcwd_action": "action", "pfcwd_detection_time_ns": "detection_time_ns", "pfcwd_restoration_time_ns": "restoration_time_ns"}
DEFAULT_AGEING, DEFAULT_SEED = "600", "0"


def name_ports(switch: Switch, log: Log) -> None:
    """Ports have SONiC's names, if those are in the order in which SONiC lists them. Otherwise they get those of four lanes a port."""
    numbers = [int(found[1]) if (found := re.fullmatch(r"Ethernet(\d{1,9})", port.name)) else -1 for port in switch.ports]
    if all(before < number for before, number in zip([-1, *numbers], numbers)):
        return
    any_name = any(port.name != "none" for port in switch.ports)
    for i, port in enumerate(switch.ports):
        port.name = f"Ethernet{4 * i}"
    log.note(f" ports are named Ethernet0, Ethernet4 and so on{': their own names are their alias' if any_name else ''}")


def name_curves(switch: Switch) -> None:
    """Name the curve of [wred], and set the name of its curve in each queue."""
    name = CURVE_NAMES[CURVE_NAMES[0] in switch.curves]
    is_used = False
    for port in switch.ports:
        for q, queue in enumerate(port.queues):
            is_shared = queue.curve == DEFAULT and q in switch.wred_queues
            is_used |= is_shared
            queue.curve = name if is_shared else DEFAULT if queue.curve == NONE else queue.curve
    if is_used and len(switch.curves) < MOST_PROFILES:
        switch.curves.setdefault(name, switch.wred)
    switch.wred_queues, switch.wred = set(), Curve()


def watch_of(switch: Switch, port: Port) -> dict[str, str]:
    """What the watchdog of a port goes by."""
    shared = switch.keys["pfcwd"]
    return {key: shared[of_all] if port.keys[key] in (DEFAULT, "0") else port.keys[key] for key, of_all in WATCH_KEYS.items()}


def join_watches(switch: Switch) -> None:
    """[pfcwd] gets the first watched port's values; without a watchdog ports have their defaults."""
    if switch.keys["pfcwd"]["pfcwd"] != "sonic":
        for port in switch.ports:
            port.keys["pfcwd"] = "on"
    watches = [watch_of(switch, port) for port in switch.ports]
    first = next((own for port, own in zip(switch.ports, watches) if port.keys["pfcwd"] == "on"), None)
    if first is None:
        return
    for port, own in zip(switch.ports, watches):
        for key in WATCH_KEYS:
            differs = port.keys["pfcwd"] == "on" and own[key] != first[key]
            port.keys[key] = own[key] if differs else DEFAULT if key == "pfcwd_action" else "0"
    for key, of_all in WATCH_KEYS.items():
        switch.set("pfcwd", of_all, first[key])


class Tables:
    """The tables of a switch that is in the importer's form. names: the ports' own."""

    def __init__(self, switch: Switch, names: list[str]) -> None:
        self.switch = switch
        self.root: dict[str, dict[str, Any]] = {}
        self._ports(names)
        self._maps()
        self._queues()
        self._buffers()
        self._watchdog()
        if switch.vlan_filtering:
            self._network()
        self._whole_switch()

    def entry(self, table: str, key: str, **fields: object) -> None:
        self.root.setdefault(table, {}).setdefault(key, {}).update((field, str(value)) for field, value in fields.items())

    def _ports(self, names: list[str]) -> None:
        for port, name in zip(self.switch.ports, names):
            if name not in (NONE, port.name):
                self.entry("PORT", port.name, alias=name)
            self.entry("PORT", port.name, speed=port.speed // MBPS, mtu=self.switch.max_frame - MTU_OVERHEAD, admin_status="down" if port.keys["shutdown"] == "on" else "up")
            if port.keys["pfc_asymmetric"] == "on":
                self.entry("PORT", port.name, pfc_asym="on")
            self.entry("CABLE_LENGTH", MAP_NAME, **{port.name: f"{port.cable_m}m"})
            for kind, key in STORM_KEYS.items():
                rate = scaled(port.keys[key], RATES)
                if rate > 0:
                    self.entry("PORT_STORM_CONTROL", f"{port.name}|{kind}", kbps=rate // 1000)

    def _maps(self) -> None:
        members = ((DSCP_TO_TC, "dscp"), (DOT1P_TO_TC, "dot1p"), (TC_TO_QUEUE, "queue"), (TC_TO_PG, "group"), (PFC_TO_QUEUE, "pfc_queue"))
        most = {member: _most_common([getattr(port.qos, member) for port in self.switch.ports]) for _, member in members}
        for port in self.switch.ports:
            qos: Qos = port.qos
            # SONiC trusts the DSCP of a port that has a map of it.
            for kind, member in members[qos.trust != "dscp":]:
                own = getattr(qos, member)
                first = next(other for other in self.switch.ports if getattr(other.qos, member) == own)
                name = MAP_NAME if own == most[member] else f"{MAP_NAME}_{first.name}"
                self.entry(kind.table, name, **{str(key): value for key, value in enumerate(own)})
                self.entry("PORT_QOS_MAP", port.name, **{kind.field: name})
            has_pfc = port.keys["flow_control"] in ("pfc", "auto")
            self.entry("PORT_QOS_MAP", port.name, pfc_enable=",".join(map(str, sorted(qos.pfc_enable))) if has_pfc else "",
                       pfcwd_sw_enable=",".join(map(str, sorted(set_of(self.switch.keys["pfcwd"]["pfcwd_sw_enable"])))))

    def _queues(self) -> None:
        """Equal queues share an entry of SCHEDULER."""
        seen: list[dict[str, object]] = []
        for port in self.switch.ports:
            for q, queue in enumerate(port.queues):
                own: dict[str, object] = {"type": "STRICT" if q in port.sched.strict else "DWRR", "weight": port.sched.weights[q]}
                own |= {"cir": queue.min_rate // 8} if queue.min_rate else {}
                own |= {"pir": queue.max_rate // 8} if queue.max_rate else {}
                own |= {} if queue.burst is None else {"pbs": queue.burst}
                if own not in seen:
                    self.entry("SCHEDULER", f"scheduler.{len(seen)}", **own)
                    seen.append(own)
                self.entry("QUEUE", f"{port.name}|{q}", scheduler=f"scheduler.{seen.index(own)}")
                if queue.curve != DEFAULT:
                    self.entry("QUEUE", f"{port.name}|{q}", wred_profile=queue.curve)
            shaper = scaled(port.keys["shaper_rate_bps"], RATES)
            if shaper not in (0, port.speed):
                self.entry("SCHEDULER", f"scheduler.port.{port.name}", pir=shaper // 8)
                self.entry("PORT_QOS_MAP", port.name, scheduler=f"scheduler.port.{port.name}")
        for name, curve in self.switch.curves.items():
            self._curve(name, curve)

    def _curve(self, name: str, curve: Curve) -> None:
        # As the importer writes SONiC's "ECN without WRED".
        only_marks = curve.green_min == MOST_WRED_BYTES and curve.ecn_max > 0
        drops = curve.enabled and not only_marks
        least, most, ppm = (curve.ecn_min, curve.ecn_max, curve.ecn_ppm) if only_marks else (curve.green_min, curve.green_max, curve.green_ppm)
        self.entry("WRED_PROFILE", name, wred_green_enable=str(drops).lower(), ecn="ecn_all" if curve.ecn else "ecn_none", green_min_threshold=least,
                   green_max_threshold=most, green_drop_probability=ppm // 10000)
        if curve.ecn_max > 0 and not only_marks and curve.ecn:
            self.entry("WRED_PROFILE", name, ecn_green_min_threshold=curve.ecn_min, ecn_green_max_threshold=curve.ecn_max,
                       ecn_green_mark_probability=curve.ecn_ppm // 10000)

    def _pools(self) -> dict[str, str]:
        """@return the pool of each class"""
        switch = self.switch
        pools = dict(POOLS)
        self.entry("BUFFER_POOL", POOLS[LOSSLESS], type="ingress", mode="dynamic", size=switch.buffer - switch.shared_headroom - switch.lossy_pool)
        if switch.shared_headroom > 0:
            self.entry("BUFFER_POOL", POOLS[LOSSLESS], xoff=switch.shared_headroom)
        if switch.lossy_pool > 0:
            self.entry("BUFFER_POOL", POOLS[LOSSY], type="ingress", mode="dynamic", size=switch.lossy_pool)
        else:
            pools[LOSSY] = POOLS[LOSSLESS]
        self.entry("BUFFER_POOL", POOLS[EGRESS_LOSSLESS], type="egress", mode="static", size=switch.buffer)
        if switch.egress_lossy_pool > 0:
            self.entry("BUFFER_POOL", POOLS[EGRESS_LOSSY], type="egress", mode="dynamic", size=switch.egress_lossy_pool)
        else:
            pools[EGRESS_LOSSY] = POOLS[EGRESS_LOSSLESS]
        return pools

    def _profile(self, name: str, pool: str, profile: Profile) -> None:
        limit = {"dynamic_th": profile.dynamic_th} if profile.dynamic else {"static_th": profile.static_th}
        offsets = {"xon": profile.xon, "xon_offset": profile.xon_offset, "xoff": profile.xoff or 0}
        self.entry("BUFFER_PROFILE", name, pool=pool, size=profile.size, **limit, **{field: value for field, value in offsets.items() if value > 0})

    def _buffers(self) -> None:
        pools = self._pools()
        classes: dict[str, str] = {}  # of a named profile: that of the first group or queue that uses it
        rows: list[tuple[str, Port, list[str]]] = []
        for port in self.switch.ports:
            lossless = port.qos.lossless_queues()
            for i in range(CLASSES):
                classes.setdefault(port.groups[i], LOSSLESS if i in port.qos.pfc_enable else LOSSY)
                classes.setdefault(port.queues[i].profile, EGRESS_LOSSLESS if i in lossless else EGRESS_LOSSY)
            groups = [PROFILES[LOSSLESS if i in port.qos.pfc_enable else LOSSY] if name == DEFAULT else name for i, name in enumerate(port.groups)]
            queues = [PROFILES[EGRESS_LOSSLESS if i in lossless else EGRESS_LOSSY] if queue.profile == DEFAULT else queue.profile
                      for i, queue in enumerate(port.queues)]
            rows += [("BUFFER_PG", port, groups), ("BUFFER_QUEUE", port, queues)]
        for own in CLASS_PROFILES:
            self._profile(PROFILES[own], pools[own], self.switch.class_profiles[own])
        for name, profile in self.switch.profiles.items():
            self._profile(name, pools[classes.get(name, LOSSLESS)], profile)
        for table, port, names in sorted(rows, key=lambda row: row[0]):
            # Consecutive equal ones share an entry.
            first = 0
            for i in range(1, CLASSES + 1):
                if i == CLASSES or names[i] != names[first]:
                    self.entry(table, f"{port.name}|{spans(range(first, i))}", profile=names[first])
                    first = i

    def _watchdog(self) -> None:
        shared = self.switch.keys["pfcwd"]
        if shared["pfcwd"] != "sonic":
            return
        self.entry("PFC_WD", "GLOBAL", POLL_INTERVAL=scaled(shared["poll_interval_ns"], TIMES) // NS_PER_MS)
        if shared["big_red_switch"] == "on":
            self.entry("PFC_WD", "GLOBAL", BIG_RED_SWITCH="enable")
        for port in self.switch.ports:
            if port.keys["pfcwd"] != "on":
                continue
            own = watch_of(self.switch, port)
            self.entry("PFC_WD", port.name, action=own["pfcwd_action"], detection_time=scaled(own["pfcwd_detection_time_ns"], TIMES) // NS_PER_MS)
            if own["pfcwd_restoration_time_ns"] != "never":
                self.entry("PFC_WD", port.name, restoration_time=scaled(own["pfcwd_restoration_time_ns"], TIMES) // NS_PER_MS)

    def _vlan(self, port: Port, vlan: int, mode: str) -> None:
        self.entry("VLAN", f"Vlan{vlan}", vlanid=vlan)
        self.entry("VLAN_MEMBER", f"Vlan{vlan}|{port.name}", tagging_mode=mode)

    def _interface(self, name: str) -> tuple[str, str]:
        """The table and SONiC's name of "vlan 10" or "port 3"."""
        kind, _, number = name.partition(" ")
        if kind == "port":
            return "INTERFACE", self.switch.ports[int(number)].name
        self.entry("VLAN", f"Vlan{number}", vlanid=number)
        return "VLAN_INTERFACE", f"Vlan{number}"

    def _network(self) -> None:
        switch = self.switch
        for port in switch.ports:
            if port.access_vlan:
                self._vlan(port, port.access_vlan, "untagged")
            for vlan in sorted(vlan_list(port.tagged_vlans) or ()):
                self._vlan(port, vlan, "tagged")
        for name, keys in switch.interfaces.items():
            table, own = self._interface(name)
            self.entry(table, own)
            for address in keys.values():
                if address != NONE:
                    self.entry(table, f"{own}|{address}")
        if switch.interfaces:
            self.entry("DEVICE_METADATA", "localhost", mac=switch.keys["router"]["router_mac"])
        for prefix, hops in switch.routes.items():
            if hops:
                self.entry("STATIC_ROUTE", prefix, nexthop=",".join(hops))
            else:
                self.entry("STATIC_ROUTE", prefix, nexthop="0.0.0.0", blackhole="true")
        for ip, mac in switch.neighbors.items():
            own_address = network.connected(switch, ipaddress.ip_address(ip))
            place = next((name for name, keys in switch.interfaces.items() if own_address in map(network.interface, keys.values())), None)
            if own_address is not None and place is not None:
                self.entry("NEIGH", f"{self._interface(place)[1]}|{ip}", neigh=mac, family="IPv6" if ":" in ip else "IPv4")
        for keys in switch.stations.values():
            if keys["vlan"] != "0":
                self.entry("FDB", f"Vlan{keys['vlan']}|{keys['mac']}", port=self._port(keys["port"]), type="static")

    def _port(self, text: str) -> str:
        """The name of a port that has one is its text."""
        return self.switch.ports[int(text)].name if text.isdigit() else text

    def _whole_switch(self) -> None:
        keys = self.switch.keys
        if keys["switch"]["fdb_ageing_s"] != DEFAULT_AGEING:
            self.entry("SWITCH", "switch", fdb_aging_time=keys["switch"]["fdb_ageing_s"])
        if keys["router"]["ecmp_hash_seed"] != DEFAULT_SEED:
            self.entry("SWITCH", "switch", ecmp_hash_seed=keys["router"]["ecmp_hash_seed"])
        if keys["lldp"]["lldp"] == "on":
            self.entry("LLDP", "GLOBAL", enabled="true", hello_time=scaled(keys["lldp"]["lldp_tx_interval_ns"], TIMES) // 10**9,
                       multiplier=keys["lldp"]["lldp_tx_hold"])


def _most_common(values: list[list[int]]) -> list[int]:
    return max(values, key=values.count)


def is_unset(text: str, section: str, key: str, value: str) -> bool:
    """Does the INI leave this key to the program?"""
    default = program.help_config(PROGRAM).get(section, {}).get(key)
    return value.removesuffix("B") == default and re.search(rf"^\s*{re.escape(key)}\s*=", text, re.M) is None


def find_lost(switch: Switch, text: str, tables: str, log: Log) -> None:
    """Read the tables back, and lose every key of the INI that changed. @raise Refused: they cannot be read"""
    was = switch.finish(log)
    try:
        back = convert.read(tables, Log("config_db.json")).finish(Log("config_db.json"))
    except Refused as why:
        log.refuse(f" makes tables that SONiC cannot have: {why}")
    for name, keys in was.items():
        for key, value in keys.items():
            if back.get(name, {}).get(key) != value and not is_unset(text, name, key, value):
                log.lose(f" [{name}] {key} = {value}: {NO_COUNTERPART}")


def convert_ini(text: str, log: Log) -> str:
    """A config_db.json of an INI of quench-switch. @raise Refused"""
    try:
        printed = program.printed(PROGRAM, text)
    except program.Invalid as why:
        log.refuse(f"{why.place.removeprefix(':')} {why}")
    switch = switch_in_force.from_sections(program.resolved(program.parse(printed)))
    names = [port.name for port in switch.ports]
    name_ports(switch, log)
    switch_in_force.fix_headroom(switch, printed)
    name_curves(switch)
    join_watches(switch)
    burst = default_burst()
    for port in switch.ports:
        for queue in port.queues:
            queue.burst = None if queue.burst == burst else queue.burst
    tables = json.dumps(Tables(switch, names).root, indent=4, ensure_ascii=False)
    find_lost(switch, text, tables, log)
    log.note(" lanes of ports depend on the platform and are left out")
    return tables + "\n"


def default_burst() -> int:
    """burst_bytes of a queue without a section."""
    return scaled(program.help_config(PROGRAM)["queue N, queue P|N"]["burst_bytes"], SIZES)
