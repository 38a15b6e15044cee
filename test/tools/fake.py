# SPDX-License-Identifier: BSD-3-Clause
"""A program that is none: a socket that answers, hangs, lies or ends as a test wants."""
from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))

PATIENCE_S = 60.0


class Program:
    """answer: the result of a method with its params; bytes are sent as they are; None: no reply, for ever; raising: the connection ends."""

    def __init__(self, folder: str, prefix: str, answer: Callable[[str, dict[str, Any]], Any]) -> None:
        os.makedirs(f"{folder}/dpdk/{prefix}", exist_ok=True)
        self.path, self.answer = f"{folder}/dpdk/{prefix}/quench.sock", answer
        self.asked: list[str] = []
        self.clients: list[socket.socket] = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            self.clients.append(client)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def reply(self, request: dict[str, Any]) -> bytes | None:
        self.asked.append(request["method"])
        result = self.answer(request["method"], request.get("params", {}))
        if isinstance(result, bytes) or result is None:
            return result
        key = "error" if "code" in result else "result"
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], key: result}).encode()

    def serve(self, client: socket.socket) -> None:
        with client, client.makefile("rb") as lines:
            for line in lines:
                request = json.loads(line)
                try:
                    replies = [self.reply(one) for one in (request if isinstance(request, list) else [request])]
                except Exception:
                    return
                found = [reply for reply in replies if reply is not None]
                if len(found) == len(replies):
                    client.sendall((b"[" + b",".join(found) + b"]" if isinstance(request, list) else found[0]) + b"\n")

    def end(self) -> None:
        for end in (self.socket, *self.clients):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        os.unlink(self.path)
