# SPDX-License-Identifier: BSD-3-Clause
"""Requests, checked against the schema and the table, with the schema's defaults filled in.

third_party/otg/openapi.json is the part of the published schema that the table leads to; scripts/gen-otg extracts it.
"""
from __future__ import annotations

import dataclasses
import ipaddress
import json
import pathlib
import re
from collections.abc import Callable
from typing import Any

from .table import TABLE, Row

PATH = pathlib.Path(__file__).resolve().parents[2] / "third_party" / "otg" / "openapi.json"

Json = Any
Object = dict[str, Json]

# Without the object there is no flow control; the defaults of its properties are of an object that is there.
ABSENT_IS_OFF = {("Layer1", "flow_control")}
# Selected by the object alone: the schema's enum lacks the name.
WITHOUT_CHOICE = {("State.Protocol", "rocev2")}
FORMAT_BOUNDS = {"int32": (-(1 << 31), (1 << 31) - 1), "uint32": (0, (1 << 32) - 1), "uint64": (0, (1 << 64) - 1)}
MOST_ERRORS = 100


def _is_ip(version: int) -> Callable[[str], bool]:
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
    "mac": (lambda text: re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", text) is not None, "a MAC address"),
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


@dataclasses.dataclass
class Kind:
    """An object of the schema."""

    name: str
    properties: dict[str, Property]
    required: tuple[str, ...]
    defaults: dict[str, Json]
    objects: list[tuple[str, str]]  # absent objects that get their defaults: property and kind
    choices: frozenset[str]  # properties that `choice` selects


def _name(ref: str) -> str:
    return ref.rpartition("/")[2]


def _property(kind: str, name: str, found: Object, row: Row) -> Property:
    if "$ref" in found:
        return Property(row, "object", of=_name(found["$ref"]), filled=(kind, name) not in ABSENT_IS_OFF)
    type_ = found.get("type", "refused")
    prop = Property(row, type_, format=found.get("format", ""), enum=tuple(found.get("enum", ())), default=found.get("default"))
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


def _kind(name: str, found: Object) -> Kind:
    properties = {key: _property(name, key, value, TABLE[name][key]) for key, value in found.get("properties", {}).items()}
    choice = properties.get("choice")
    choices = frozenset(choice.enum if choice else ()) & frozenset(properties)
    choices |= {key for kind, key in WITHOUT_CHOICE if kind == name}
    defaults = {key: value.default for key, value in properties.items()
                if value.default is not None and value.row.carried and key not in choices}
    objects = [(key, value.of) for key, value in properties.items()
               if value.kind == "object" and value.filled and value.row.carried and key not in choices]
    return Kind(name, properties, tuple(found.get("required", ())), defaults, objects, choices)


DOCUMENT: Object = json.loads(PATH.read_text(encoding="utf-8"))
SCHEMAS: dict[str, Object] = DOCUMENT["components"]["schemas"]
KINDS = {name: _kind(name, SCHEMAS[name]) for name in TABLE}


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


class Checker:
    def __init__(self) -> None:
        self.errors: list[str] = []

    def refuse(self, path: str, why: str) -> None:
        if len(self.errors) < MOST_ERRORS:
            self.errors.append(f"{path}: {why}")
        elif len(self.errors) == MOST_ERRORS:
            self.errors.append("more mistakes are not listed")

    def object(self, name: str, value: Json, path: str) -> Object:
        kind = KINDS[name]
        if not isinstance(value, dict):
            self.refuse(path or name, f"{shown(value)}: expected an object")
            return {}
        given = {key: item for key, item in value.items() if item is not None}
        out = {**kind.defaults}
        for key, item in given.items():
            prop = kind.properties.get(key)
            at = f"{path}.{key}" if path else key
            if prop is None:
                self.refuse(at, f"{name} has no such property")
            elif not prop.row.carried:
                self.refuse(at, f"refused: {prop.row.text}")
            else:
                out[key] = self.value(prop, item, at)
        for key in kind.required:
            if key not in given and not (key == "choice" and kind.choices & given.keys()):
                self.refuse(f"{path}.{key}" if path else key, f"missing, and {name} requires it")
        if kind.choices:
            self.choose(kind, given, out, path)
        for key, of in kind.objects:
            if key not in given:
                out[key] = default(of)
        return out

    def choose(self, kind: Kind, given: Object, out: Object, path: str) -> None:
        """The selected property, with its defaults if it is absent; without `choice`, the only one that is there is it."""
        there = kind.choices & given.keys()
        chosen = out.get("choice")
        silent = {key for of, key in WITHOUT_CHOICE if of == kind.name} & there
        if silent and "choice" not in given:
            chosen = next(iter(silent))
        elif "choice" not in given and len(there) == 1:
            chosen = next(iter(there))
        elif len(there) > 1 and "choice" not in given:
            self.refuse(path or kind.name, f"expected one of {', '.join(sorted(there))}, or choice")
            return
        for other in sorted(key for key in there if key != chosen):
            self.refuse(f"{path}.{other}" if path else other, f"not what choice selects, which is {chosen}")
        if chosen is None:
            return
        out["choice"] = chosen
        prop = kind.properties.get(chosen)
        if prop is not None and prop.row.carried and chosen in kind.choices and chosen not in given:
            if prop.kind == "object":
                out[chosen] = default(prop.of)
            elif prop.default is not None:
                out[chosen] = prop.default

    def value(self, prop: Property, value: Json, path: str) -> Json:
        if prop.kind == "object":
            return self.object(prop.of, value, path)
        if prop.kind == "array":
            if not isinstance(value, list):
                self.refuse(path, f"{shown(value)}: expected a list")
                return []
            if len(value) < prop.fewest:
                self.refuse(path, f"{len(value)} items: expected at least {prop.fewest}")
            assert prop.items is not None
            return [self.value(prop.items, item, f"{path}[{n}]") for n, item in enumerate(value)]
        if prop.kind == "boolean":
            if not isinstance(value, bool):
                self.refuse(path, f"{shown(value)}: expected true or false")
            return value
        return self.text(prop, value, path) if prop.kind == "string" else self.number(prop, value, path)

    def text(self, prop: Property, value: Json, path: str) -> Json:
        if not isinstance(value, str):
            self.refuse(path, f"{shown(value)}: expected a text")
        elif prop.enum and value not in prop.enum:
            self.refuse(path, f"{shown(value)}: expected one of {', '.join(prop.enum)}")
        elif value in prop.row.refused:
            self.refuse(path, f"{shown(value)}: refused: {prop.row.refused[value]}")
        elif prop.longest is not None and len(value) > prop.longest:
            self.refuse(path, f"{shown(value)}: expected at most {prop.longest} characters")
        elif prop.pattern and not re.search(prop.pattern, value):
            self.refuse(path, f"{shown(value)}: expected what matches {prop.pattern}")
        elif prop.format in FORMATS and not FORMATS[prop.format][0](value):
            self.refuse(path, f"{shown(value)}: expected {FORMATS[prop.format][1]}")
        return value

    def number(self, prop: Property, value: Json, path: str) -> Json:
        whole = prop.kind == "integer"
        # Go's clients write 64-bit numbers as texts, as JSON of protocol buffers has them.
        if prop.format == "uint64" and isinstance(value, str) and re.fullmatch(r"\d{1,20}", value):
            value = int(value)
        if isinstance(value, float) and whole and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value != value:
            self.refuse(path, f"{shown(value)}: expected a {'whole ' if whole else ''}number")
        elif (prop.low is not None and value < prop.low) or (prop.high is not None and value > prop.high):
            low, high = prop.low, prop.high
            bounds = f"from {low} to {high}" if None not in (low, high) else f"at least {low}" if high is None else f"at most {high}"
            self.refuse(path, f"{value}: expected a number {bounds}")
        return value


def default(name: str) -> Object:
    """An object of which the request has nothing."""
    return Checker().object(name, {}, "")


def check_list(name: str, value: Json) -> list[Object]:
    """As check(), of a request that is a list."""
    if not isinstance(value, list):
        raise Refused([f"{shown(value)}: expected a list"])
    checker = Checker()
    out = [checker.object(name, item, f"[{n}]") for n, item in enumerate(value)]
    if checker.errors:
        raise Refused(checker.errors)
    return out


def check(name: str, value: Json) -> Object:
    """@return the request with defaults; raises Refused."""
    checker = Checker()
    out = checker.object(name, value, "")
    if checker.errors:
        raise Refused(checker.errors)
    return out
