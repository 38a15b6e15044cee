# SPDX-License-Identifier: BSD-3-Clause
"""Objects of the schema in the encoding of protocol buffers, by the numbers that the published schema gives to properties and names.

What is decoded is as JSON has it, and goes through the same checks. Every number is looked up: a property that is refused, and a number that
no property has, are there with the value UNREAD.
"""
from __future__ import annotations

import struct

from .schema import KINDS, UNREAD, Json, Object, Property

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
SIZES = {FIXED64: 8, FIXED32: 4}
MOST_VARINT_BYTES = 10
SIGN, WORD = 1 << 63, 1 << 64
NUMBERS = {name: {prop.number: (key, prop) for key, prop in kind.properties.items()} for name, kind in KINDS.items()}
NAMES = {id(prop): {number: text for text, number in prop.enum_numbers.items()}
         for kind in KINDS.values() for found in kind.properties.values() for prop in (found, found.items) if prop is not None}


class Malformed(Exception):
    """The text is one line."""


def wire_of(prop: Property) -> int:
    if prop.kind == "number":
        return FIXED64 if prop.format == "double" else FIXED32
    return VARINT if prop.enum or prop.kind in ("integer", "boolean") else BYTES


class Decoder:
    def __init__(self, data: bytes, most_values: int) -> None:
        self.data, self.left = data, most_values

    def message(self, kind: str, at: int, end: int) -> Object:
        """From one offset to another. @raise Malformed"""
        found: Object = {}
        while at < end:
            tag, at = self.varint(at, end)
            number, wire = tag >> 3, tag & 7
            key, prop = NUMBERS[kind].get(number, (f"field {number}", None))
            self.count()
            value_at, at = self.extent(wire, at, end)
            if prop is None or not prop.row.carried:
                found[key] = UNREAD
            elif prop.items is None:
                found[key] = self.value(prop, wire, value_at, at)
            else:
                found.setdefault(key, []).extend(self.items(prop.items, wire, value_at, at))
        return found

    def count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Malformed("too many values")

    def varint(self, at: int, end: int) -> tuple[int, int]:
        """@return the number, and the offset after it"""
        value = shift = 0
        while at < end and shift < 7 * MOST_VARINT_BYTES:
            byte = self.data[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value % WORD, at
        raise Malformed(f"byte {at}: expected the end of a number")

    def extent(self, wire: int, at: int, end: int) -> tuple[int, int]:
        """Offsets of the value, and after it."""
        if wire == VARINT:
            return at, self.varint(at, end)[1]
        size = SIZES.get(wire)
        if wire == BYTES:
            size, at = self.varint(at, end)
        if size is None:
            raise Malformed(f"byte {at}: a wire type of {wire}: expected one of protocol buffers' third version")
        if size > end - at:
            raise Malformed(f"byte {at}: {size} bytes: expected at most {end - at}, which are left")
        return at, at + size

    def items(self, prop: Property, wire: int, at: int, end: int) -> list[Json]:
        """Of a list: one, or several packed ones."""
        own = wire_of(prop)
        if wire != BYTES or own == BYTES:
            return [self.value(prop, wire, at, end)]
        found = []
        while at < end:
            begin, at = self.extent(own, at, end)
            self.count()
            found.append(self.value(prop, own, begin, at))
        return found

    def value(self, prop: Property, wire: int, at: int, end: int) -> Json:
        if wire != wire_of(prop):
            raise Malformed(f"byte {at}: a wire type of {wire}: expected {wire_of(prop)}, of {prop.of or prop.kind}")
        if prop.kind == "object":
            return self.message(prop.of, at, end)
        if wire == BYTES:
            try:
                return self.data[at:end].decode()
            except UnicodeDecodeError as error:
                raise Malformed(f"byte {at + error.start}: expected a text in UTF-8") from error
        if wire != VARINT:
            return struct.unpack("<d" if wire == FIXED64 else "<f", self.data[at:end])[0]
        number = self.varint(at, end)[0]
        if prop.enum:
            return NAMES[id(prop)].get(number, f"number {number}")
        if prop.kind == "boolean":
            return number != 0
        return number - WORD if number >= SIGN and prop.format != "uint64" else number


def varint(value: int) -> bytes:
    value %= WORD
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def field(number: int, wire: int, value: bytes) -> bytes:
    return varint(number << 3 | wire) + (varint(len(value)) + value if wire == BYTES else value)


def encode(kind: str, value: Object) -> bytes:
    """An object that the schema accepts."""
    properties, parts = KINDS[kind].properties, []
    for key, item in value.items():
        prop = properties[key]
        if item is None:
            continue
        if prop.items is None:
            parts.append(field(prop.number, wire_of(prop), encode_value(prop, item)))
            continue
        values, wire = [encode_value(prop.items, one) for one in item], wire_of(prop.items)
        if wire == BYTES:
            parts += [field(prop.number, wire, one) for one in values]
        elif values:
            parts.append(field(prop.number, BYTES, b"".join(values)))
    return b"".join(parts)


def encode_value(prop: Property, value: Json) -> bytes:
    if prop.kind == "object":
        return encode(prop.of, value)
    if prop.enum:
        return varint(prop.enum_numbers[value])
    if prop.kind == "number":
        return struct.pack("<d" if prop.format == "double" else "<f", value)
    return str(value).encode() if prop.kind == "string" else varint(int(value))
