# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of a Chakra execution trace: protobuf messages, each after its length. The first one is about the trace; a node follows in each other one.

The numbers of the fields are those of schema/protobuf/et_def.proto of mlcommons/chakra. Those that no import uses are left out: protobuf skips
fields that it does not know.
"""
from __future__ import annotations

import gzip
import importlib
import io
import warnings
import zlib
from typing import Any, NamedTuple, NoReturn

from ..files import read_at_most
from ..log import Refused

MOST_BYTES = 512 << 20  # of a trace
GZIP = b"\x1f\x8b"

METADATA, MEM_LOAD, MEM_STORE, COMP, SEND, RECV, COLLECTIVE = range(1, 8)
Value = int | float | bool | str


class Node(NamedTuple):
    id: int
    name: str
    type: int
    before: list[int]  # nodes that it waits for, each once
    duration_us: int
    attributes: dict[str, Value]
    inputs: str


# Message: field: (number, type, is repeated).
FIELDS: dict[str, dict[str, tuple[int, str, bool]]] = {
    "Metadata": {"version": (1, "STRING", False)},
    "Inputs": {"values": (1, "STRING", False)},
    "Attribute": {"name": (1, "STRING", False), "double_val": (3, "DOUBLE", False), "float_val": (5, "FLOAT", False), "int32_val": (7, "INT32", False),
                  "int64_val": (9, "INT64", False), "uint32_val": (11, "UINT32", False), "uint64_val": (13, "UINT64", False),
                  "sint32_val": (15, "SINT32", False), "sint64_val": (17, "SINT64", False), "fixed32_val": (19, "FIXED32", False),
                  "fixed64_val": (21, "FIXED64", False), "sfixed32_val": (23, "SFIXED32", False), "sfixed64_val": (25, "SFIXED64", False),
                  "bool_val": (27, "BOOL", False), "string_val": (29, "STRING", False)},
    "Node": {"id": (1, "UINT64", False), "name": (2, "STRING", False), "type": (3, "INT32", False), "ctrl_deps": (4, "UINT64", True),
             "data_deps": (5, "UINT64", True), "duration_micros": (7, "UINT64", False), "inputs": (8, "Inputs", False), "attr": (10, "Attribute", True)},
}


def protobuf(module: str) -> Any:
    """@raise Refused: there is none"""
    try:
        return importlib.import_module(f"google.protobuf.{module}")
    except ImportError as error:
        raise Refused(f"{error}: install python3-protobuf, or run scripts/install-deps test") from error


def message_classes() -> dict[str, Any]:
    descriptor_pb2, descriptor_pool, message_factory = (protobuf(name) for name in ("descriptor_pb2", "descriptor_pool", "message_factory"))
    file = descriptor_pb2.FileDescriptorProto(name="quench_chakra.proto", package="quench.chakra", syntax="proto3")
    for message, fields in FIELDS.items():
        added = file.message_type.add(name=message)
        for name, (number, kind, is_repeated) in fields.items():
            field = added.field.add(name=name, number=number, label=3 if is_repeated else 1)
            if kind in FIELDS:
                field.type, field.type_name = 11, f".quench.chakra.{kind}"
            else:
                field.type = descriptor_pb2.FieldDescriptorProto.Type.Value(f"TYPE_{kind}")
            if name.endswith("_val"):
                field.oneof_index = 0
                if not added.oneof_decl:
                    added.oneof_decl.add(name="value")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    return {name: factory(pool.FindMessageTypeByName(f"quench.chakra.{name}")) for name in FIELDS}


def refuse(path: str, place: int, expected: str) -> NoReturn:
    raise Refused(f"{path}: byte {place}: expected {expected}")


def read_bytes(path: str) -> bytes:
    """@raise Refused"""
    try:
        with open(path, "rb") as file:
            data = read_at_most(file, MOST_BYTES)
        if data.startswith(GZIP):
            with gzip.open(io.BytesIO(data)) as unpacked:
                data = read_at_most(unpacked, MOST_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Refused(f"{path}: expected a whole gzip file") from error
    except OSError as error:
        raise Refused(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise Refused(f"{path}: expected a trace of at most {MOST_BYTES} bytes")
    return data


def length_at(path: str, data: bytes, at: int) -> tuple[int, int]:
    """A length in base 128, and where it ends."""
    length = shift = 0
    for place in range(at, min(at + 5, len(data))):
        length |= (data[place] & 127) << shift
        shift += 7
        if data[place] < 128:
            return length, place + 1
    refuse(path, at, "the length of a message of a Chakra trace")


def node_of(message: Any) -> Node:
    attributes: dict[str, Value] = {}
    for attribute in message.attr:
        value = attribute.WhichOneof("value")
        if value is not None:
            attributes[attribute.name] = getattr(attribute, value)
    return Node(message.id, message.name, message.type, list(dict.fromkeys([*message.data_deps, *message.ctrl_deps])), message.duration_micros, attributes,
                message.inputs.values)


def read(path: str) -> list[Node]:
    """The nodes of a trace, in its order. @raise Refused"""
    classes = message_classes()
    decode_error = protobuf("message").DecodeError
    data = read_bytes(path)
    nodes: list[Node] = []
    at = n = 0
    with warnings.catch_warnings(record=True) as left:  # bytes after a message
        warnings.simplefilter("always")
        while at < len(data):
            length, begin = length_at(path, data, at)
            if begin + length > len(data):
                refuse(path, at, f"{length} bytes of a message, not the end of the file after {len(data) - begin}")
            try:
                message = classes["Node" if n else "Metadata"].FromString(data[begin:begin + length])
            except decode_error:
                message = None
            if message is None or left:
                refuse(path, at, "a node of a Chakra trace" if n else "a Chakra trace, whose first message is GlobalMetadata")
            if n:
                nodes.append(node_of(message))
            at, n = begin + length, n + 1
    if n == 0:
        raise Refused(f"{path}: expected a Chakra trace, not an empty file")
    return nodes
