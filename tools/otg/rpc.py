# SPDX-License-Identifier: BSD-3-Clause
"""gRPC in front of a tester: the operations of the HTTP server, with messages in protocol buffers. Needs python3-grpcio."""
from __future__ import annotations

import concurrent.futures
import contextlib
import hmac
import json
import pathlib
import traceback
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, NamedTuple

import grpc  # type: ignore[import]

from quench.desk import Failed

from . import protobuf
from .schema import Object, Refused
from .server import MOST_VALUES, Routed

SERVICE = "/otg.Openapi/"
MOST_MESSAGE_BYTES, CHUNK_BYTES = 16 << 20, 1 << 20
THREADS, MOST_AT_ONCE = 16, 64
# A status is in a header, and clients accept 8 KiB of headers.
MOST_STATUS_BYTES = 6000
FIRST = 1  # number of the only field of each request and reply


class Method(NamedTuple):
    verb: str
    path: str
    request: str = ""  # kind of its object
    reply: str = ""
    is_list: bool = False  # of such objects


METHODS = {
    "SetConfig": Method("POST", "/config", "Config", "Warning"),
    "GetConfig": Method("GET", "/config", "", "Config"),
    "UpdateConfig": Method("PATCH", "/config", "Config.Update", "Warning"),
    "AppendConfig": Method("PATCH", "/config/append", "Config.AppendResources", "Warning", True),
    "DeleteConfig": Method("PATCH", "/config/delete", "Config.DeleteResources", "Warning", True),
    "SetControlState": Method("POST", "/control/state", "Control.State", "Warning"),
    "GetMetrics": Method("POST", "/monitor/metrics", "Metrics.Request", "Metrics.Response"),
    "GetStates": Method("POST", "/monitor/states", "States.Request", "States.Response"),
    "GetCapture": Method("POST", "/monitor/capture", "Capture.Request"),
    "GetVersion": Method("GET", "/capabilities/version", "", "Version"),
}
STREAMED = ("GetConfig", "GetMetrics", "GetStates", "GetCapture")


def inner(decoder: protobuf.Decoder, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the objects of a message are that has only such a field."""
    while at < end:
        tag, at = decoder.varint(at, end)
        begin, at = decoder.extent(tag & 7, at, end)
        decoder.count()
        if tag == FIRST << 3 | protobuf.BYTES:
            yield begin, at


def refuse(_: bytes) -> bytes:
    """set_control_action, of which there is nothing."""
    raise Refused(["set_control_action: not implemented: quench-nic sends no echo requests, and other actions concern protocols that it does not have"],
                  HTTPStatus.NOT_IMPLEMENTED)


def status(code: grpc.StatusCode, errors: list[str], kind: str = "validation") -> tuple[grpc.StatusCode, str]:
    """As the schema's Error. What has no room is left out."""
    while True:
        text = json.dumps({"code": code.value[0], "kind": kind, "errors": errors}, separators=(",", ":"))
        if len(text) <= MOST_STATUS_BYTES or len(errors) < 2:
            return code, text[:MOST_STATUS_BYTES]
        errors = [*errors[:len(errors) * MOST_STATUS_BYTES // len(text) - 1], "more mistakes are not listed"]


class Service(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, api: Routed, token: str | None) -> None:
        self.api, self.token = api, token

    def service(self, details: Any) -> Any:
        if not details.method.startswith(SERVICE):
            return None
        name = details.method.removeprefix(SERVICE)
        if name == "SetControlAction":
            return grpc.unary_unary_rpc_method_handler(self.guarded(refuse))
        if name in METHODS:
            return grpc.unary_unary_rpc_method_handler(self.guarded(lambda data: self.reply(METHODS[name], data)))
        if name.removeprefix("stream") in STREAMED:
            method = METHODS[name.removeprefix("stream")]
            return grpc.unary_stream_rpc_method_handler(self.streamed(lambda data: self.found(method, data)))
        return None

    def found(self, method: Method, data: bytes) -> Any:
        """@return bytes of the reply's object, or a file"""
        body: Object | list[Object] | None = None
        if method.request:
            decoder, at, end = protobuf.Decoder(data, MOST_VALUES), 0, 0
            for at, end in inner(decoder, 0, len(data)):
                pass  # the last one counts
            # No kind contains itself.
            body = [decoder.message(method.request, *part) for part in inner(decoder, at, end)] if method.is_list else decoder.message(method.request, at, end)
        reply = self.api.routes[method.path][method.verb](body)
        return protobuf.encode(method.reply, reply) if method.reply else reply

    def reply(self, method: Method, data: bytes) -> bytes:
        found = self.found(method, data)
        if not isinstance(found, bytes):
            with found as file:
                found = file.read(MOST_MESSAGE_BYTES + 1)
            if len(found) > MOST_MESSAGE_BYTES:
                raise Refused([f"the file has more than {MOST_MESSAGE_BYTES} bytes: expected streamGetCapture, or packets that select fewer"])
        return bytes(protobuf.field(FIRST, protobuf.BYTES, found))

    def guarded(self, serve: Callable[[bytes], bytes]) -> Callable[[bytes, Any], bytes]:
        def call(data: bytes, context: Any) -> bytes:
            self.check_token(context)
            try:
                return serve(data)
            except Exception as error:
                context.abort(*self.failed(error))  # raises
                raise
        return call

    def streamed(self, serve: Callable[[bytes], Any]) -> Callable[[bytes, Any], Iterator[bytes]]:
        """Pieces of the reply, each a Data message."""
        def call(data: bytes, context: Any) -> Iterator[bytes]:
            found = self.guarded(serve)(data, context)
            with contextlib.ExitStack() as closing:
                if isinstance(found, bytes):
                    pieces = [found[at:at + CHUNK_BYTES] for at in range(0, len(found), CHUNK_BYTES)]
                else:
                    closing.enter_context(found)
                    pieces = iter(lambda: found.read(CHUNK_BYTES), b"")
                for piece in pieces:
                    yield protobuf.field(1, protobuf.VARINT, protobuf.varint(CHUNK_BYTES)) + protobuf.field(2, protobuf.BYTES, piece)
        return call

    def check_token(self, context: Any) -> None:
        if self.token is None:
            return
        given = dict(context.invocation_metadata()).get("authorization", "")
        if not hmac.compare_digest(str(given).encode(), f"Bearer {self.token}".encode()):
            context.abort(*status(grpc.StatusCode.UNAUTHENTICATED, ["expected the metadata authorization: Bearer TOKEN, with the token of --token-file"]))

    @staticmethod
    def failed(error: Exception) -> tuple[grpc.StatusCode, str]:
        if isinstance(error, Refused):
            return status(grpc.StatusCode.UNIMPLEMENTED if error.code == HTTPStatus.NOT_IMPLEMENTED else grpc.StatusCode.INVALID_ARGUMENT, error.errors)
        if isinstance(error, protobuf.Malformed):
            return status(grpc.StatusCode.INVALID_ARGUMENT, [f"expected a message of the API: {error}"])
        if isinstance(error, Failed):
            return status(grpc.StatusCode.INTERNAL, [str(error)], "internal")
        with contextlib.suppress(OSError):  # a mistake of ours: the server goes on
            traceback.print_exception(error)
        return status(grpc.StatusCode.INTERNAL, [f"{type(error).__name__}: {error}"], "internal")


def serve(address: str, api: Routed, pair: tuple[pathlib.Path, pathlib.Path] | None, token: str | None) -> tuple[Any, int]:
    """pair: files of the key and the certificate; None: no TLS. @return a running server, and its port. @raise OSError"""
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(THREADS), [Service(api, token)], maximum_concurrent_rpcs=MOST_AT_ONCE, options=[
        ("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", MOST_MESSAGE_BYTES), ("grpc.max_send_message_length", -1)])
    try:
        port = server.add_insecure_port(address) if pair is None else server.add_secure_port(
            address, grpc.ssl_server_credentials([(pair[0].read_bytes(), pair[1].read_bytes())]))
    except RuntimeError as error:
        raise OSError(str(error)) from error
    if not port:
        raise OSError(None, "cannot listen there")
    server.start()
    return server, port
