# SPDX-License-Identifier: BSD-3-Clause
"""The tables of SONiC's config_db.json.

Reading a field removes it from its table. A reference is a name or, in older releases, "[TABLE|name]".

Invariant: report() adds every field that was not read to the log's lost entries, or to its asides.
"""
from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from ..log import Log
from ..switch import CLASSES, Switch
from .json_lines import Bad, Reader

LONGEST_TEXT = 127
SHOWN_KEY = 80  # characters of a key in a message
MANY = 8  # if a field remains in more entries than this, and in all of its table, the report gives their number
MOST_SHARED = 1024  # entries of a table for the search of equal fields: as many as 64 ports need
# One of them is in every config_db.json.
WANTED = ("PORT", "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "BUFFER_POOL", "QUEUE")
SAME_NUMBER = "a priority belongs to the group of the same number"
# Fields that concern the hardware, or packets that are not green, of which there are none.
ASIDE_FIELDS = {
    "PORT": """lanes alias index fec autoneg adv_ link_training description role subport core num_voq asic_port_name valid_speeds dom_polling
        dhcp_rate_limit laser_freq media_type tx_power""".split(),
    "WRED_PROFILE": ["yellow_", "red_", "wred_yellow_enable", "wred_red_enable", "ecn_yellow_", "ecn_red_"],
    "LLDP": ["system_", "supp_", "mode"],
}
# Beginnings of tables of management, routing protocols and hardware.
ASIDE_TABLES = tuple("""AAA AUTO_TECHSUPPORT BANNER_MESSAGE BGP BREAKOUT_CFG CHASSIS_MODULE CONSOLE_ CRM DEVICE_METADATA DEVICE_NEIGHBOR DHCP
    DNS_NAMESERVER FEATURE FIPS FLEX_COUNTER_TABLE GNMI KDUMP KUBERNETES_MASTER LDAP LOGGER MEMORY_ MGMT_ NTP PASSW_HARDENING RADIUS RESTAPI SFLOW
    SNMP SSH_SERVER SYSLOG_ SYSTEM_DEFAULTS SYSTEM_HEALTH SYSTEM_PORT TACPLUS TELEMETRY VERSIONS VOQ_INBAND_INTERFACE""".split())
# Tables whose remaining fields are reported one by one.
KNOWN_TABLES = frozenset("""PORT PORT_QOS_MAP DSCP_TO_TC_MAP DOT1P_TO_TC_MAP TC_TO_QUEUE_MAP TC_TO_PRIORITY_GROUP_MAP SCHEDULER
    MAP_PFC_PRIORITY_TO_QUEUE QUEUE PFC_PRIORITY_TO_PRIORITY_GROUP_MAP WRED_PROFILE BUFFER_POOL BUFFER_PROFILE BUFFER_PG BUFFER_QUEUE BUFFER_PORT_INGRESS_PROFILE_LIST
    BUFFER_PORT_EGRESS_PROFILE_LIST PFC_WD CABLE_LENGTH VLAN VLAN_MEMBER VLAN_INTERFACE INTERFACE PORTCHANNEL PORTCHANNEL_MEMBER PORTCHANNEL_INTERFACE STATIC_ROUTE
    DEFAULT_LOSSLESS_BUFFER_PARAMETER PORT_STORM_CONTROL FDB NEIGH SWITCH LLDP LLDP_PORT""".split())
# Keys of these have the host and the ASIC before the port, where a switch consists of line cards.
WITH_HOST = ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG")

Entry = dict[str, Any]
OLD_MEMBERS: tuple[tuple[str, str, Entry], ...] = (("VLAN", "VLAN_MEMBER", {"tagging_mode": "untagged"}), ("PORTCHANNEL", "PORTCHANNEL_MEMBER", {}))


@dataclasses.dataclass
class Place:
    """Ports and indices of a key such as "Ethernet0,Ethernet4|3-4"."""

    ports: set[int]
    indices: set[int]


class Tables:
    def __init__(self, text: str, switch: Switch, log: Log) -> None:
        self.switch, self.log = switch, log
        try:
            reader = Reader(text)
        except Bad as bad:
            log.refuse(f"{bad.line}: {bad}: expected a complete config_db.json")
        self.root, self.lines = reader.root, reader.lines
        log.line_of = self.line_of
        self.left: set[str] = set()  # ports that are left out
        self._lost: dict[tuple[str, str], list[str]] = {}  # keys of a table, by what is said of them
        self.channels: dict[int, str] = {}  # port-channels by port, whose VLANs and addresses the port has
        self._check()
        for table, to, member in OLD_MEMBERS:
            self._move_members(table, to, member)

    def _move_members(self, table: str, to: str, member: Entry) -> None:
        """Lists of old releases, which may have the table of members too."""
        for key, entry in self.table(table).items():
            names = entry.get("members") if isinstance(entry, dict) else None
            if isinstance(names, list) and all(isinstance(name, str) for name in names):
                del entry["members"]
                for name in names:
                    self.root.setdefault(to, {}).setdefault(f"{key}|{name}", dict(member))

    def _check(self) -> None:
        if not isinstance(self.root, dict) or not any(table in self.root for table in WANTED):
            self.log.refuse(" expected a config_db.json of SONiC, with tables such as PORT, PORT_QOS_MAP and BUFFER_POOL")
        for table, entries in list(self.root.items()):
            # Old releases have facts of the platform beside the tables.
            if entries is None or (isinstance(entries, (str, int, float)) and table not in KNOWN_TABLES):
                self.log.aside(f"{table:.80}")
                del self.root[table]
                continue
            if not isinstance(entries, dict):
                self.log.refuse(f" {table:.80}: expected a table: an object of entries")
            for key in entries:
                if any(len(name) > LONGEST_TEXT for name in key.split(",")):
                    self.log.refuse(f" {table:.80}|{key:.80}...: expected a shorter name in the key")

    def line_of(self, text: str) -> int | None:
        """The line of the table, entry or field with whose path a text begins: " TABLE|KEY|FIELD = 5: why"."""
        found = re.match(r" ([A-Z][A-Z0-9_]*)(?:\|(.*))?", text)
        if found is None:
            return None
        table, rest = found[1], found[2] or ""
        line = self.lines.get((table,))
        ends = [at.start() for at in re.finditer(r"[|,:]| = | and |$", rest)]
        key = next((rest[:end] for end in reversed(ends) if (table, rest[:end]) in self.lines), None)
        if key is None:
            return line
        field = re.match(r"\|(\S*?)(?:: | = |$)", rest[len(key):])
        return self.lines.get((table, key, field[1] if field else ""), self.lines[table, key])

    def table(self, table: str) -> dict[str, Any]:
        found: dict[str, Any] = self.root.get(table, {})
        return found

    def keys(self, table: str) -> list[str]:
        """The keys of a table, of which those that are passed may be removed."""
        return list(self.table(table))

    def entry(self, table: str, key: str) -> Entry | None:
        found = self.table(table).get(key)
        return found if isinstance(found, dict) else None

    def drop(self, table: str, key: str, *fields: str) -> None:
        """Remove fields that have no effect of their own."""
        entry = self.entry(table, key) or {}
        for field in fields:
            entry.pop(field, None)

    def refuse(self, table: str, key: str, field: str | None, value: str | None, expected: str) -> NoReturn:
        shown = f"|{field:.60}" if field is not None else ""
        self.log.refuse(f" {table}|{short_key(key)}{shown}{f' = {value:.100}' if value is not None else ''}: expected {expected}")

    def lose(self, table: str, key: str, field: str | None, value: str | None, why: str) -> None:
        """Take a field or an entry out of its table, and lose it. Entries that differ in their key only share a line."""
        shown = (f"|{field:.60}" if field is not None else "") + (f" = {value:.100}" if value is not None else "")
        self._lost.setdefault((table, f"{shown}: {why}"), []).append(short_key(key))
        if field is None:
            self.table(table).pop(key, None)
        else:
            self.drop(table, key, field)

    # Fields.

    def take(self, table: str, key: str, field: str) -> str | None:
        """Take a field out of an entry; None: there is no such field."""
        entry = self.entry(table, key)
        if entry is None or field not in entry:
            return None
        value = entry[field]
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            self.refuse(table, key, field, None, "a text or a number")
        text = str(value)
        if len(text) > LONGEST_TEXT:
            self.refuse(table, key, field, text, "a shorter text")
        del entry[field]
        return text

    def take_number(self, table: str, key: str, field: str, least: int, most: int) -> int | None:
        text = self.take(table, key, field)
        if text is None:
            return None
        # Tables of some vendors have blanks.
        if re.fullmatch(r"[+-]?\d{1,20}", text.strip(" ")) and least <= int(text) <= most:
            return int(text)
        self.refuse(table, key, field, text, f"a whole number from {least} to {most}")

    def take_reference(self, table: str, key: str, field: str, to: str) -> str | None:
        """The bare name of an entry of another table, or "NULL"."""
        text = self.take(table, key, field)
        if text is None:
            return None
        name = text or "NULL"
        if name.startswith("["):
            found = re.fullmatch(rf"\[{to}\|(.*)\]", name)
            name = found[1] if found else ""
        if name != "NULL" and name not in self.table(to):
            self.refuse(table, key, field, text, f"the name of an entry of {to}")
        return name

    def take_set(self, table: str, key: str, field: str) -> frozenset[int] | None:
        """A list such as "3,4"."""
        text = self.take(table, key, field)
        if text is None:
            return None
        if text and not re.fullmatch(r"[0-7](?:,[0-7])*", text):
            self.refuse(table, key, field, text, "numbers from 0 to 7, such as 3,4")
        return frozenset(int(number) for number in text.split(",") if number)

    def take_word(self, table: str, key: str, field: str, words: Iterable[str], expected: str) -> str | None:
        text = self.take(table, key, field)
        if text is not None and text not in words:
            self.refuse(table, key, field, text, expected)
        return text

    # Keys.

    def find_port(self, name: str) -> int | None:
        return next((i for i, port in enumerate(self.switch.ports) if port.name == name), None)

    def find_member(self, name: str) -> int | None:
        """A port, or the port that is a port-channel."""
        return next((i for i, channel in self.channels.items() if channel == name), None) if name in self.channels.values() else self.find_port(name)

    def place(self, table: str, key: str) -> Place | None:
        """Parse a key; None: a port or an index that does not exist here, which is reported."""
        names, bar, index = self._own_key(table, key)
        if names is None:
            return None
        ports: set[int] = set()
        is_left = False
        for name in names.split(","):
            port = self.find_port(name)
            if port is None and name in self.left:
                is_left = True
            elif port is None and name:
                self.lose(table, key, None, None, "no such port in PORT")
                return None
            elif port is not None:
                ports.add(port)
        if not ports and is_left:
            self.table(table).pop(key)
            return None
        if not ports:
            self.refuse(table, key, None, None, "a port")
        if not bar:
            return Place(ports, set())
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", index)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last:
            self.refuse(table, key, None, None, "a number or a range of numbers such as 3-4 after the ports")
        if last >= CLASSES:
            self.lose(table, key, None, None, "numbers from 0 to 7")
            return None
        return Place(ports, set(range(first, last + 1)))

    def _own_key(self, table: str, key: str) -> tuple[str | None, str, str]:
        """Ports, bar and index of a key, without the host and the ASIC; None: it belongs to another line card."""
        parts = key.split("|")
        if table not in WITH_HOST or len(parts) != 4:
            return key.partition("|")
        metadata = self.entry("DEVICE_METADATA", "localhost") or {}
        for part, field in zip(parts, ("hostname", "asic_name")):
            if metadata.get(field, part) != part:
                self.log.aside(f"{table} of {parts[0]}|{parts[1]}")
                self.table(table).pop(key)
                return None, "", ""
        return parts[2], "|", parts[3]

    # The report.

    def report(self) -> None:
        for (table, text), keys in self._lost.items():
            shown = keys[:2] if len(keys) > MANY else keys
            more = f" and {len(keys) - len(shown)} more" if len(keys) > len(shown) else ""
            self.log.lose(f" {table}|{','.join(shown)}{more}{text}")
        for table, entries in self.root.items():
            if table in KNOWN_TABLES:
                self._report_table(table, entries)
            elif table.startswith(ASIDE_TABLES) or not entries:
                self.log.aside(f"{table:.80}")
            else:
                self.log.lose(f" {table:.80}: no counterpart; entries: {len(entries)}")

    def _report_table(self, table: str, entries: dict[str, Any]) -> None:
        is_long = len(entries) > MOST_SHARED
        for key, entry in entries.items():
            if not isinstance(entry, dict):
                self.log.lose(f" {table}|{key:.80}: not an object of fields")
                continue
            if "_TO_" in table:
                if entry:
                    self.log.lose(f" {table}|{key:.80}: {SAME_NUMBER if table.startswith('PFC_PRIORITY') else 'no port has this map'}")
                continue
            for field in list(entry):
                beginning = next((own for own in ASIDE_FIELDS.get(table, ()) if field.startswith(own)), None)
                if beginning is not None:
                    self.log.aside(f"{table} {beginning}")
                elif is_long:
                    self.log.lose(f" {table}|{key:.80}|{field:.120}: no counterpart")
                elif field in entry:
                    self._report_field(table, entries, field)

    def _report_field(self, table: str, entries: dict[str, Any], field: str) -> None:
        """Entries with the same remaining field share a line, as in SONiC's own keys: A,B|field."""
        owners = [key for key, entry in entries.items() if isinstance(entry, dict) and field in entry]
        values = [entries[key].pop(field) for key in owners]
        shown = f" = {json.dumps(values[0], separators=(',', ':'), ensure_ascii=False):.100}" if len(owners) == 1 else ""
        keys = f"all {len(owners)}" if len(owners) > MANY and len(owners) == len(entries) else ",".join(owners)
        self.log.lose(f" {table}|{keys}|{field:.80}{shown}: no counterpart")


def short_key(key: str) -> str:
    """A key for a message: of many ports "Ethernet0,Ethernet4 and 30 more|3-4"."""
    names, bar, rest = key.partition("|")
    n = names.count(",") + 1
    if n < 4 or len(key) <= SHOWN_KEY:
        return key[:SHOWN_KEY] + ("..." if len(key) > SHOWN_KEY else "")
    return f"{names.partition(',')[0]:.80} and {n - 1} more{(bar + rest):.20}"
