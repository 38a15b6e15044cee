# SPDX-License-Identifier: BSD-3-Clause
"""PORT_QOS_MAP, and the maps that it refers to."""
from __future__ import annotations

import dataclasses

from ..switch import CLASSES, DSCPS, most_common
from ..values import set_text
from .tables import SAME_NUMBER, Tables

FILE_TCS = 16  # traffic classes of SONiC, of which quench has eight
FILE_QUEUES = 16  # queues of some platforms
TABLE = "PORT_QOS_MAP"


@dataclasses.dataclass(frozen=True)
class Kind:
    """field: of PORT_QOS_MAP. keys and values: how many there may be in a file."""

    field: str
    table: str
    keys: int
    values: int

    def own_keys(self) -> int:
        """The number of keys that quench has too."""
        return CLASSES if self.keys == FILE_TCS else self.keys


DSCP_TO_TC = Kind("dscp_to_tc_map", "DSCP_TO_TC_MAP", DSCPS, FILE_TCS)
DOT1P_TO_TC = Kind("dot1p_to_tc_map", "DOT1P_TO_TC_MAP", 8, FILE_TCS)
TC_TO_QUEUE = Kind("tc_to_queue_map", "TC_TO_QUEUE_MAP", FILE_TCS, FILE_QUEUES)
TC_TO_PG = Kind("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", FILE_TCS, 8)
PFC_TO_QUEUE = Kind("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", 8, 8)
PFC_TO_PG = Kind("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", 8, 8)
OWN_KINDS = (DSCP_TO_TC, DOT1P_TO_TC, TC_TO_QUEUE, TC_TO_PG, PFC_TO_QUEUE)
KINDS = (*OWN_KINDS, PFC_TO_PG)


@dataclasses.dataclass
class FileMap:
    kind: Kind
    name: str
    values: list[int]
    given: set[int]  # keys in the map


@dataclasses.dataclass
class InForce:
    """The values of a port."""

    maps: dict[Kind, FileMap | None]
    values: dict[Kind, list[int]]
    pfc_enable: frozenset[int]
    trust: str


class Maps:
    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.ports = tables.switch.ports
        self.maps: dict[tuple[Kind, str], FileMap] = {}
        self.of_port: list[dict[Kind, FileMap]] = [{} for _ in self.ports]
        self.first: dict[Kind, FileMap] = {}
        self.pfc_enable: list[frozenset[int]] = [frozenset() for _ in self.ports]
        self.watched: frozenset[int] | None = None
        # What the entry of a port says replaces what this one says.
        if "global" in tables.table(TABLE):
            self._read_entry("global", set(range(len(self.ports))))
        for key in tables.keys(TABLE):
            place = tables.place(TABLE, key) if key != "global" else None
            if place is not None:
                self._read_entry(key, place.ports)
        self._set_pfc()
        self._set_maps()
        if self.watched is not None:
            tables.switch.set("pfcwd", "pfcwd_sw_enable", set_text(self.watched))

    def _read_entry(self, key: str, ports: set[int]) -> None:
        for kind in KINDS:
            name = self.tables.take_reference(TABLE, key, kind.field, kind.table)
            if name is None:
                continue
            if (kind, name) not in self.maps:
                self.maps[kind, name] = self._read_map(kind, name)
            own = self.maps[kind, name]
            self.first.setdefault(kind, own)
            for port in ports:
                self.of_port[port][kind] = own
        enable = self.tables.take_set(TABLE, key, "pfc_enable")
        if enable is not None:
            for port in ports:
                self.pfc_enable[port] = enable
        watched = self.tables.take_set(TABLE, key, "pfcwd_sw_enable")
        if watched is not None and self.watched is not None and watched != self.watched:
            self.tables.lose(TABLE, key, "pfcwd_sw_enable", None, "other priorities are watched; watched priorities are the same on all ports")
        self.watched = watched if self.watched is None else self.watched

    def _read_map(self, kind: Kind, name: str) -> FileMap:
        tables = self.tables
        own = FileMap(kind, name, [0] * kind.keys, set())
        for key in range(kind.keys):
            value = tables.take_number(kind.table, name, str(key), 0, kind.values - 1)
            if value is None:
                continue
            if kind is TC_TO_QUEUE and value >= CLASSES:
                tables.log.note(f" {kind.table}|{name:.80}|{key} = {value}: queue {CLASSES - 1}, the highest one")
                value = CLASSES - 1
            own.values[key] = value
            own.given.add(key)
        for other in tables.entry(kind.table, name) or {}:
            tables.refuse(kind.table, name, other, None, "a DSCP from 0 to 63" if kind.keys == DSCPS else
                          "a traffic class from 0 to 15" if kind.keys == FILE_TCS else "a number from 0 to 7")
        return own

    def _set_pfc(self) -> None:
        """Ports without PFC have the priorities of the others, which have no effect there."""
        given = [enable for enable in self.pfc_enable if enable]
        most = given[most_common(given)] if given else frozenset()
        for i, port in enumerate(self.ports):
            if self.pfc_enable[i]:
                continue
            self.pfc_enable[i] = most
            port.keys["flow_control"] = "off"
            if port.keys["pfc_asymmetric"] == "on":
                self.tables.lose("PORT", port.name, "pfc_asym", "on", "the port has no PFC")
            port.keys["pfc_asymmetric"] = "off"

    def _values_of(self, i: int) -> InForce:
        """A port that names no map of a kind has the first one; without any: class 0, or the identity."""
        own = self.of_port[i]
        enable = self.pfc_enable[i]
        maps = {kind: own.get(kind) or self.first.get(kind) for kind in KINDS}
        plain = {DSCP_TO_TC: [0] * DSCPS, DOT1P_TO_TC: [0] * CLASSES, TC_TO_PG: [k if k in enable else 0 for k in range(CLASSES)] + [0] * CLASSES}
        values = {kind: list(found.values) if (found := maps[kind]) else plain.get(kind, list(range(CLASSES)) + [0] * CLASSES) for kind in KINDS}
        is_pcp = (maps[DSCP_TO_TC] is None and maps[DOT1P_TO_TC] is not None) or (DSCP_TO_TC not in own and DOT1P_TO_TC in own)
        return InForce(maps, values, enable, "pcp" if is_pcp else "dscp")

    def _set_maps(self) -> None:
        ports = [self._values_of(i) for i in range(len(self.ports))]
        self._fold_classes(ports)
        self._note_maps()
        self._lose_groups(ports)
        self._give_groups(ports)
        for port, own in zip(self.ports, ports):
            qos = port.qos
            qos.trust, qos.pfc_enable = own.trust, own.pfc_enable
            qos.dscp, qos.dot1p, qos.queue, qos.group, qos.pfc_queue = (own.values[kind][:kind.own_keys()] for kind in OWN_KINDS)

    def _fold_classes(self, ports: list[InForce]) -> None:
        """A class above 7 has nothing but its queue and group, and most have those of a class up to 7."""
        received = [(port.values[kind], kind) for port in ports for kind in (DSCP_TO_TC, DOT1P_TO_TC) if port.maps[kind]]
        used = {tc for values, kind in received for tc in values[:kind.keys]}
        log = self.tables.log
        to: dict[int, int] = {}
        for tc in sorted(tc for tc in used if tc >= CLASSES):
            own = stand_in(ports, tc, used)
            to[tc] = own or 0
            if own is not None:
                used.add(own)
                log.note(f" TC_TO_QUEUE_MAP: class {tc} is class {own}, which has its queue and priority group")
                continue
            queue, group = ports[0].values[TC_TO_QUEUE][tc], ports[0].values[TC_TO_PG][tc]
            log.lose(f" DSCP_TO_TC_MAP: class {tc} is class 0: there are eight classes, and none of them has its queue {queue} and priority group "
                     f"{group}")
        for port in ports:
            for kind in (DSCP_TO_TC, DOT1P_TO_TC):
                port.values[kind] = [to.get(tc, tc) for tc in port.values[kind]]

    def _note_maps(self) -> None:
        log = self.tables.log
        for kind in OWN_KINDS:
            for own in self.maps.values():
                if own.kind is kind and not own.given.issuperset(range(kind.own_keys())):
                    log.note(f" {kind.table}|{own.name:.80}: missing keys map to 0")
            if kind not in self.first and kind not in (DSCP_TO_TC, DOT1P_TO_TC):
                log.note(f" PORT_QOS_MAP: no {kind.field}: each number maps to itself")

    def _lose_groups(self, ports: list[InForce]) -> None:
        for own in self.maps.values():
            if own.kind is not PFC_TO_PG:
                continue
            prios = {prio for port in ports if port.maps[PFC_TO_PG] is own for prio in port.pfc_enable}
            for prio in sorted(prios):
                if own.values[prio] != prio:
                    self.tables.log.lose(f" {own.kind.table}|{own.name:.80}|{prio} = {own.values[prio]}: {SAME_NUMBER}")

    def _give_groups(self, ports: list[InForce]) -> None:
        """Some platforms pause by class rather than by group: none of their classes has the group of a priority.

        Then the class of its number gets that group.
        """
        noted: set[int] = set()
        for port in ports:
            groups = port.values[TC_TO_PG]
            for prio in sorted(port.pfc_enable):
                if prio in groups[:CLASSES]:
                    continue
                if prio not in noted:
                    self.tables.log.note(f" TC_TO_PRIORITY_GROUP_MAP: class {prio} has group {prio} in place of {groups[prio]}: a priority of "
                                         "pfc_enable belongs to the group of the same number")
                noted.add(prio)
                groups[prio] = prio


def stand_in(ports: list[InForce], tc: int, used: set[int]) -> int | None:
    """A class that stands for a class above 7 on all ports: one of the same queue and group; or one that no packet has, which gets them."""
    kinds = (TC_TO_QUEUE, TC_TO_PG)
    for own in range(CLASSES):
        if all(port.values[kind][own] == port.values[kind][tc] for port in ports for kind in kinds):
            return own
    for own in reversed(range(CLASSES)):
        if own not in used:
            for port in ports:
                for kind in kinds:
                    port.values[kind][own] = port.values[kind][tc]
            return own
    return None
