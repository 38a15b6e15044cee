# SPDX-License-Identifier: BSD-3-Clause
"""Requests, checked against the schema and the table, with the schema's defaults filled in.

third_party/otg/openapi.json is the part of the published schema that the table leads to; scripts/gen-otg extracts it.
"""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import ipaddress
import json
import math
import pathlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .table import TABLE, Row

PATH = pathlib.Path(__file__).resolve().parents[2] / "third_party" / "otg" / "openapi.json"

Json = Any
Object = dict[str, Json]

# Without the object there is no flow control; the defaults of its properties are of an object that is there.
ABSENT_IS_OFF = {("Layer1", "flow_control")}
# Selected by the object alone: the schema's enum lacks the name.
WITHOUT_CHOICE = {("State.Protocol", "rocev2")}
# Properties that name an object.
NAME_KEYS = ("name", "qp_name")
FORMAT_BOUNDS = {"int32": (-(1 << 31), (1 << 31) - 1), "uint32": (0, (1 << 32) - 1), "uint64": (0, (1 << 64) - 1)}
MOST_ERRORS = 100
ADDRESSES = 4096


MAC = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")


def _is_ip(version: int) -> Callable[[str], bool]:
    @functools.lru_cache(ADDRESSES)  # flows of a configuration share them
    def check(text: str) -> bool:
        try:
            # A scope would be copied as it is, whatever its characters.
            return ipaddress.ip_address(text).version == version and "%" not in text
        except ValueError:
            return False
    return check


FORMATS: dict[str, tuple[Callable[[str], bool], str]] = {
    "ipv4": (_is_ip(4), "an IPv4 address"),
    "ipv6": (_is_ip(6), "an IPv6 address"),
    "mac": (lambda text: MAC.fullmatch(text) is not None, "a MAC address"),
    "hex": (lambda text: re.fullmatch(r"[0-9A-Fa-f]+", text) is not None, "hexadecimal digits"),
}


@dataclasses.dataclass
class Property:
    row: Row
    kind: str  # integer, number, string, boolean, array, object
    of: str = ""  # name of the object
    items: Property | None = None
    low: float | None = None
    high: float | None = None
    longest: int | None = None
    fewest: int = 0  # items
    pattern: str = ""
    format: str = ""
    enum: tuple[str, ...] = ()
    default: Json = None
    filled: bool = True  # an absent object gets its defaults
    # Of protocol buffers.
    number: int = 0
    enum_numbers: dict[str, int] = dataclasses.field(default_factory=dict)

    def quick(self) -> Callable[[Json], bool] | None:
        """
        A test for values without a mistake that stay as they are, which nearly all are. Of what it turns down, the Checker finds the mistake, if
        there is one. None: there is no such test.
        """
        if self.kind == "boolean":
            return lambda value: value is True or value is False
        if self.kind in ("integer", "number"):
            types = (int,) if self.kind == "integer" else (int, float)
            low, high = -sys.float_info.max if self.low is None else self.low, sys.float_info.max if self.high is None else self.high
            return lambda value: type(value) in types and low <= value <= high
        if self.kind == "object":
            return self.quick_choice()
        if self.kind != "string" or self.pattern:
            return None
        if self.enum:
            right = frozenset(self.enum) - self.row.refused.keys()
            return lambda value: type(value) is str and value in right
        longest = sys.maxsize if self.longest is None else self.longest
        if self.format in FORMATS:
            fits = FORMATS[self.format][0]
            return lambda value: type(value) is str and len(value) <= longest and fits(value)
        return lambda value: type(value) is str and len(value) <= longest

    def quick_choice(self) -> Callable[[Json], bool] | None:
        """Of an object like {"choice": "value", "value": 1}."""
        kind = KINDS[self.of]
        if not kind.choices or kind.names or kind.objects or kind.defaults.keys() - {"choice"} or set(kind.required) - {"choice"}:
            return None
        tests = {key: kind.quick[key] for key in kind.choices & kind.quick.keys() if kind.properties[key].kind != "object"}
        selects = kind.quick["choice"]

        def test(value: Json) -> bool:
            if type(value) is not dict or len(value) != 2:
                return False
            chosen = value.get("choice")
            return selects(chosen) and chosen in tests and chosen in value and tests[chosen](value[chosen])
        return test


@dataclasses.dataclass
class Kind:
    """An object of the schema."""

    name: str
    properties: dict[str, Property]
    required: tuple[str, ...]
    defaults: dict[str, Json]
    objects: list[tuple[str, str]]  # absent objects that get their defaults: property and kind
    choices: frozenset[str]  # properties that `choice` selects
    names: tuple[str, ...]  # of NAME_KEYS

    @functools.cached_property
    def quick(self) -> dict[str, Callable[[Json], bool]]:
        """Property.quick()"""
        return {key: test for key, test in ((key, prop.quick()) for key, prop in self.properties.items() if prop.row.carried) if test is not None}

    @functools.cached_property
    def filled(self) -> Object:
        """What an object has of which the request gives nothing. All requests share the objects in it."""
        return {**self.defaults, **{key: default(of) for key, of in self.objects}}

    def refuses_choice(self, chosen: Json, key: str) -> bool:
        """It has a line for `choice` already, which says as much as one for what it selects."""
        return bool(chosen == key and "choice" in self.properties and key in self.properties["choice"].row.refused)


def _name(ref: str) -> str:
    return ref.rpartition("/")[2]


def _property(kind: str, name: str, found: Object, row: Row) -> Property:
    if "$ref" in found:
        return Property(row, "object", of=_name(found["$ref"]), filled=(kind, name) not in ABSENT_IS_OFF, number=found.get("x-field-uid", 0))
    type_ = found.get("type", "refused")
    prop = Property(row, type_, format=found.get("format", ""), enum=tuple(found.get("enum", ())), default=found.get("default"),
                    number=found.get("x-field-uid", 0), enum_numbers={text: value["x-field-uid"] for text, value in found.get("x-enum", {}).items()})
    if type_ == "array":
        prop.items = _property(kind, name, found["items"], row)
        prop.fewest = found.get("minItems", 0)
    elif type_ == "string":
        prop.pattern = found.get("pattern", "")
        prop.longest = found.get("maxLength", found.get("maximum"))  # the schema bounds immediate_data as if it were a number
    elif type_ in ("integer", "number"):
        low, high = FORMAT_BOUNDS.get(prop.format, (None, None))
        prop.low, prop.high = found.get("minimum", low), found.get("maximum", high)
    return prop


def _kind(name: str, found: Object, rows: Mapping[str, Row]) -> Kind:
    properties = {key: _property(name, key, value, rows[key]) for key, value in found.get("properties", {}).items()}
    choice = properties.get("choice")
    choices = frozenset(choice.enum if choice else ()) & frozenset(properties)
    choices |= {key for kind, key in WITHOUT_CHOICE if kind == name}
    defaults = {key: value.default for key, value in properties.items()
                if value.default is not None and value.row.carried and key not in choices}
    objects = [(key, value.of) for key, value in properties.items()
               if value.kind == "object" and value.filled and value.row.carried and key not in choices]
    return Kind(name, properties, tuple(found.get("required", ())), defaults, objects, choices, tuple(key for key in NAME_KEYS if key in properties))


DOCUMENT: Object = json.loads(PATH.read_text(encoding="utf-8"))
SCHEMAS: dict[str, Object] = DOCUMENT["components"]["schemas"]
KINDS = {name: _kind(name, SCHEMAS[name], rows) for name, rows in TABLE.items()}


def extend(schemas: Mapping[str, Object], table: Mapping[str, Mapping[str, Row]]) -> None:
    """Know further objects, those of a draft."""
    KINDS.update({name: _kind(name, schemas[name], rows) for name, rows in table.items()})


UNREAD = object()  # in place of a value that a decoder has not read, since it is refused


class Refused(Exception):
    """A request with mistakes; errors are lines."""

    def __init__(self, errors: list[str], code: int = 400) -> None:
        super().__init__("; ".join(errors))
        self.errors, self.code = errors, code


def shown(value: Json) -> str:
    try:
        text = json.dumps(value)
    except RecursionError:
        text = "a deep value"
    return text if len(text) <= 60 else text[:57] + "..."


class Full(Exception):
    """Enough mistakes are known: the rest of the request is not looked at."""


def names_in(value: Json) -> Iterator[str]:
    """Names of the objects in a value, as it came."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, list):
            left += item
        elif isinstance(item, dict):
            yield from (item[key] for key in NAME_KEYS if isinstance(item.get(key), str))
            left += item.values()


class Checker:
    """
    Mistakes of a request, a line each.

    What follows is checked too, so that a client learns of all mistakes at once. It gets the request without the items of lists that have a
    wrong or missing value: None is in their place. What refers to their names is no mistake.
    """

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.lost: set[str] = set()  # names of objects that are left out
        self.nameless = False  # one has no name, so whoever refers to it has a name of nothing
        self.spoilt = False  # the item at hand
        self.depth = 0  # of lists

    def refuse(self, path: str, why: str) -> None:
        self.errors.append(f"{path}: {why}")
        if len(self.errors) == MOST_ERRORS:
            self.errors.append("more mistakes are not listed")
            raise Full

    def spoil(self, path: str, why: str) -> None:
        """Refuse a value that what follows cannot do without."""
        self.spoilt = True
        self.refuse(path, why)

    def lose(self, value: Json) -> None:
        self.nameless = self.nameless or value is UNREAD
        self.lost.update(names_in(value))

    def is_lost(self, name: str | None) -> bool:
        return self.nameless or name in self.lost

    def object(self, name: str, value: Json, path: str) -> Object:
        kind = KINDS[name]
        if not isinstance(value, dict):
            self.spoil(path or name, f"{shown(value)}: expected an object")
            return {}
        out = kind.filled.copy()
        for key, item in value.items():
            test = kind.quick.get(key)
            if test is not None and test(item):
                out[key] = item
            elif item is not None:
                self.property(kind, key, item, path, value, out)
        for key in kind.required:
            if value.get(key) is None and not (key == "choice" and any(value.get(choice) is not None for choice in kind.choices)):
                self.spoil(f"{path}.{key}" if path else key, f"missing, and {name} requires it")
        if kind.names:
            self.nameless = self.nameless or any(not isinstance(value.get(key), str) for key in kind.names)
        if kind.choices:
            self.choose(kind, value, out, path)
        return out

    def property(self, kind: Kind, key: str, item: Json, path: str, around: Object, out: Object) -> None:
        prop = kind.properties.get(key)
        if prop is None:
            word = key if key.isidentifier() and len(key) < 60 else shown(key)
            self.refuse(f"{path}.{word}" if path else word, f"{kind.name} has no such property")
            return
        at = f"{path}.{key}" if path else key
        if not prop.row.carried:
            self.lose(item)
            if not kind.refuses_choice(around.get("choice"), key):
                self.refuse(at, f"refused: {prop.row.text}")
            return
        out[key] = self.value(prop, item, at)
        if self.spoilt and not path and (key, prop.of) in kind.objects:
            out[key], self.spoilt = default(prop.of), False

    def choose(self, kind: Kind, value: Object, out: Object, path: str) -> None:
        """The selected property, with its defaults if it is absent; without `choice`, the only one that is there is it."""
        there = [key for key in value if key in kind.choices and value[key] is not None]
        chosen = out.get("choice")
        if value.get("choice") is None:
            silent = [key for key in there if (kind.name, key) in WITHOUT_CHOICE]
            if silent or len(there) == 1:
                chosen = (silent or there)[0]
            elif there:
                self.spoil(path or kind.name, f"expected one of {', '.join(sorted(there))}, or choice")
                return
        elif chosen not in kind.properties["choice"].enum or chosen in kind.properties["choice"].row.refused:
            return  # it has its line
        if there != [chosen]:
            for other in sorted(key for key in there if key != chosen):
                self.refuse(f"{path}.{other}" if path else other, f"not what choice selects, which is {chosen}")
        if chosen is None:
            return
        out["choice"] = chosen
        prop = kind.properties.get(chosen)
        if prop is None:
            return
        self.spoilt = self.spoilt or not prop.row.carried
        if prop.row.carried and chosen in kind.choices and chosen not in there:
            if prop.kind == "object":
                out[chosen] = default(prop.of)
                if not is_complete(prop.of):
                    self.spoil(f"{path}.{chosen}" if path else chosen, "missing, and choice selects it")
            elif prop.default is not None:
                out[chosen] = prop.default

    def value(self, prop: Property, value: Json, path: str) -> Json:
        if prop.kind == "object":
            return self.object(prop.of, value, path)
        if prop.kind == "array":
            if not isinstance(value, list):
                self.spoil(path, f"{shown(value)}: expected a list")
                return []
            if len(value) < prop.fewest:
                self.spoil(path, f"{len(value)} items: expected at least {prop.fewest}")
            assert prop.items is not None
            return self.items(prop.items, value, path)
        if prop.kind == "boolean":
            if not isinstance(value, bool):
                self.spoil(path, f"{shown(value)}: expected true or false")
            return value
        return self.text(prop, value, path) if prop.kind == "string" else self.number(prop, value, path)

    def items(self, prop: Property, value: list[Json], path: str) -> list[Json]:
        """None stands for a spoilt item. An item without a name spoils the object around it, unless there is no list around."""
        outer, out = self.spoilt, []
        leaves_out = prop.kind == "object" and (self.depth == 0 or bool(KINDS[prop.of].names))
        self.depth += 1
        for n, item in enumerate(value):
            self.spoilt = False
            found = self.value(prop, item, f"{path}[{n}]")
            if self.spoilt and leaves_out:
                self.lose(item)
                found = None
            else:
                outer = outer or self.spoilt
            out.append(found)
        self.depth -= 1
        self.spoilt = outer
        return out

    def text(self, prop: Property, value: Json, path: str) -> Json:
        if not isinstance(value, str):
            self.spoil(path, f"{shown(value)}: expected a text")
        elif prop.enum and value not in prop.enum:
            self.spoil(path, f"{shown(value)}: expected one of {', '.join(prop.enum)}")
        elif value in prop.row.refused:
            self.spoil(path, f"{shown(value)}: refused: {prop.row.refused[value]}")
        elif prop.longest is not None and len(value) > prop.longest:
            self.spoil(path, f"{shown(value)}: expected at most {prop.longest} characters")
        elif prop.pattern and not re.search(prop.pattern, value):
            self.spoil(path, f"{shown(value)}: expected what matches {prop.pattern}")
        elif prop.format in FORMATS and not FORMATS[prop.format][0](value):
            self.spoil(path, f"{shown(value)}: expected {FORMATS[prop.format][1]}")
        return value

    def number(self, prop: Property, value: Json, path: str) -> Json:
        whole = prop.kind == "integer"
        # JSON of protocol buffers has 64-bit numbers as texts, and its readers take texts for all whole numbers.
        if whole and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
            value = int(value)
        if isinstance(value, float) and whole and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value != value or abs(value) == math.inf:
            self.spoil(path, f"{shown(value)}: expected a {'whole ' if whole else ''}number")
        elif (prop.low is not None and value < prop.low) or (prop.high is not None and value > prop.high):
            low, high = prop.low, prop.high
            bounds = f"from {low} to {high}" if None not in (low, high) else f"at least {low}" if high is None else f"at most {high}"
            self.spoil(path, f"{shown(value)}: expected a number {bounds}")
        return value


@functools.cache
def _default(name: str) -> tuple[Object, bool]:
    checker = Checker()
    return checker.object(name, {}, ""), not checker.errors


def default(name: str) -> Object:
    """An object of which the request has nothing. All requests share it."""
    return _default(name)[0]


def is_complete(name: str) -> bool:
    """Does the schema accept its default()?"""
    return _default(name)[1]


def check_list(name: str, value: Json) -> list[Object]:
    """As check(), of a request that is a list."""
    if not isinstance(value, list):
        raise Refused([f"{shown(value)}: expected a list"])
    checker = Checker()
    with contextlib.suppress(Full):
        out = [checker.object(name, item, f"[{n}]") for n, item in enumerate(value)]
    if checker.errors:
        raise Refused(checker.errors)
    return out


def check(name: str, value: Json) -> Object:
    """@return the request with defaults; raises Refused."""
    checker = Checker()
    with contextlib.suppress(Full):
        out = checker.object(name, value, "")
    if checker.errors:
        raise Refused(checker.errors)
    return out
