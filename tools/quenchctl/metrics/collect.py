# SPDX-License-Identifier: BSD-3-Clause
"""Every counter and gauge of a running program as families of samples (doc/counters.md)."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from quench.desk import Desk, Refused, Row
from quenchctl.command import NIC, SWITCH

PRIORITIES = 8
PORT = ("port", "port_name")
# Of the last word of a key: the base unit, and what the value is divided by (OpenMetrics, "Units").
UNITS = {"_ns": ("seconds", 1e9), "_us": ("seconds", 1e6), "_bps": ("bytes_per_second", 8), "_ppm": ("ratio", 1e6), "_octets": ("bytes", 1),
         "_bytes": ("bytes", 1), "_packets": ("packets", 1), "_frames": ("frames", 1)}
DROP_HELP = "dropped, by reason; doc/counters.md has a table of the reasons"


class Place(NamedTuple):
    """Where the values of an object are."""

    object: str
    method: str
    list: str = ""  # member with its rows or object; "": the reply itself
    labels: Sequence[str] = ()  # keys of a row, or of the reply
    by_port: bool = False  # one request for each port
    more: str = ""  # last word of names, such as "_bytes"
    key_label: str = ""  # all keys form one family with this label, such as "reason"
    key_help: str = ""
    optional: bool = False  # refused if the feature is off, or by a program from before an upgrade
    params: tuple[tuple[str, Any], ...] = ()


SWITCH_PLACES = (
    Place("run", "info"), Place("port", "ports", "rows", (*PORT, "device")), Place("device", "device_stats", "rows", PORT),
    Place("drop", "drops", "rows", PORT, more="_packets", key_label="reason", key_help=f"frames {DROP_HELP}"),
    Place("malformed", "malformed", "rows", PORT, more="_packets", key_label="kind", key_help="frames dropped with reason malformed, by what was wrong"),
    Place("queue", "queues", "queues", (*PORT, "queue"), by_port=True), Place("wred", "ecn", "rows", (*PORT, "queue")),
    Place("pg", "pg", "pgs", (*PORT, "pg"), by_port=True), Place("pfc", "pfc", "rows", PORT), Place("pfcwd", "pfcwd", "rows", (*PORT, "prio", "queue")),
    Place("pfcwd", "pfcwd"), Place("buffer", "buffer"), Place("pool", "buffer", "pools", ("pool",)), Place("mempool", "mempools", "rows", ("pool",)),
    Place("ledger", "buffer", "ledger", more="_bytes"), Place("fdb", "fdb", params=(("count", 0),)), Place("router", "router"),
    Place("interface", "interfaces", "rows", ("interface",)),
    Place("nexthop", "nexthops", "rows", ("nexthop", "interface"), optional=True), Place("dcbx", "lldp", "rows", PORT, optional=True))
NIC_PLACES = (
    Place("run", "info"), Place("nic", "info"), Place("port", "port", labels=("port", "device")), Place("device", "port", "device_stats", ("port",)),
    Place("pfc", "port", labels=("port",)), Place("mempool", "mempools", "rows", ("pool",)), Place("nic", "nic"),
    Place("drop", "nic", more="_packets", key_label="reason", key_help=f"packets {DROP_HELP}"), Place("job", "jobs", "rows", ("name",), optional=True))
FLOW_OBJECTS = ("flow", "qp")


class Key(NamedTuple):
    """A key of an object, and its family."""

    name: str
    family: str  # without _total
    unit: str
    help: str
    counter: bool
    divisor: float


Labels = dict[str, str]


class Family:
    def __init__(self, key: Key) -> None:
        self.key = key
        self.samples: list[tuple[Labels, float]] = []


Families = dict[str, Family]


def key_of(place: Place, name: str, help_: str, counter: bool) -> Key:
    """The family of a key. The object's name is dropped: rp_cnp_handled of rp is cnp_handled."""
    word = "" if place.key_label else name.removeprefix(place.object + "_")
    word = (word if word.endswith(place.more) else word + place.more).replace("_prioN", "")
    unit, divisor = "", 1.0
    for end, (base, by) in UNITS.items():
        if word.endswith(end):
            word, unit, divisor = word.removesuffix(end), base, by
            break
    return Key(name, "_".join(part for part in ("quench", place.object, word, unit) if part), unit, place.key_help or help_, counter, divisor)


def value_of(key: Key, value: Any) -> float | None:
    """None: not a value. A negative counter is left out: parsers of OpenMetrics would refuse the whole text."""
    if isinstance(value, str):
        return float(value in ("up", "stormed"))
    if not isinstance(value, (int, float)) or (key.counter and value < 0):
        return None
    return value / key.divisor


def labels_of(place: Place, row: Row, reply: Row) -> Iterator[tuple[str, str]]:
    for name in place.labels:
        value = row.get(name, reply.get(name))
        if value not in (None, ""):  # an empty label is none, and a port without a name has none
            yield ("qpn" if name == "local_qpn" else name), str(value)


class Program:
    """A connection to a program, and the meanings of its keys."""

    def __init__(self, desk: Desk) -> None:
        """@raise desk.Failed"""
        self.desk = desk
        info = desk.call("info")
        self.program: str = info["program"]
        self.build = {"version": str(info.get("version", "")), "commit": str(info.get("commit", ""))}
        if self.program not in (SWITCH, NIC):
            raise Refused(0, f"{desk.path}: expected {SWITCH} or {NIC}, got {self.program}")
        self.meanings: dict[str, list[tuple[str, str, bool]]] = {}
        for method, counter in (("counters", True), ("gauges", False)):
            for row in desk.call(method)["rows"]:
                self.meanings.setdefault(row["object"], []).append((row["name"], row["help"], counter))
        self.places = SWITCH_PLACES if self.program == SWITCH else NIC_PLACES
        # Of a NIC: the algorithms of congestion control, and the notification point.
        known = {place.object for place in self.places} | set(FLOW_OBJECTS)
        if self.program == NIC:
            self.places = (*self.places, *(Place(name, "nic") for name in self.meanings if name not in known))
        self.keys = {place: self._keys(place) for place in self.places}

    def _keys(self, place: Place) -> list[Key]:
        # A second key of a name would repeat samples.
        found: dict[str, Key] = {}
        for name, help_, counter in self.meanings.get(place.object, []):
            found.setdefault(name, key_of(place, name, help_, counter))
        return list(found.values())

    def collect(self, labels: Labels, most_flows: int, most_qps: int) -> Families:
        """Read all counters and gauges, of the first flows and QPs up to these bounds. labels: of every sample. @raise desk.Failed"""
        families: Families = {}
        info = self.desk.call("info")
        replies: dict[tuple[str, Any], Row] = {}

        def ask(place: Place, **params: Any) -> Row:
            at = place.method, tuple(params.items())
            if at not in replies:
                try:
                    replies[at] = self.desk.call(place.method, **params)
                except Refused:
                    if not place.optional:
                        raise
                    replies[at] = {}
            return replies[at]

        for place in self.places:
            for params in [{"port": i} for i in range(info["ports"])] if place.by_port else [dict(place.params)]:
                reply = ask(place, **params)
                self._add(families, place, self.keys[place], reply.get(place.list, ()) if place.list else reply, reply, labels)
        if self.program == NIC:
            for name, method, its, most in (("flow", "flows", ("flow",), most_flows), ("qp", "qps", ("local_qpn", "flow"), most_qps)):
                if most > 0:
                    place = Place(name, method, "rows", its)
                    reply = self.desk.call(method, count=most)
                    self._add(families, place, self._keys(place), reply["rows"], reply, labels)
        return families

    @staticmethod
    def _add(families: Families, place: Place, keys: Iterable[Key], found: Any, reply: Row, labels: Labels) -> None:
        for row in [found] if isinstance(found, dict) else found:
            of_row = labels | dict(labels_of(place, row, reply))
            for key in keys:
                for name, more in names_of(place, key):
                    value = value_of(key, row[name]) if name in row else None
                    if value is not None:
                        families.setdefault(key.family, Family(key)).samples.append((of_row | more if more else of_row, value))


def names_of(place: Place, key: Key) -> Iterable[tuple[str, Labels]]:
    """The names of a key, an N in which stands for a priority, with further labels."""
    if "N" in key.name:
        return [(key.name.replace("N", str(prio)), {"prio": str(prio)}) for prio in range(PRIORITIES)]
    return [(key.name, {place.key_label: key.name.removeprefix(place.object + "_")} if place.key_label else {})]
