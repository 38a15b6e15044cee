# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK's telemetry socket."""
from __future__ import annotations

import json
import os
import pathlib
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any

REPLY_BYTES = 1 << 20
MOST_ROWS = (1 << 32) - 1

Columns = dict[str, list[Any]]


# Where DPDK puts sockets (eal_get_runtime_dir()), in a folder for each --file-prefix.
BASE = pathlib.Path(os.environ.get("RUNTIME_DIRECTORY", "/var/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/tmp"))) / "dpdk"


class Telemetry:
    """One command, one reply. Any thread may ask."""

    def __init__(self, file_prefix: str, patience_s: float) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Not with a timeout yet: it would make a full backlog an error in place of a wait.
        self.socket.connect(str(BASE / file_prefix / "dpdk_telemetry.v2"))
        self.socket.settimeout(patience_s)
        self.info = json.loads(self.socket.recv(1024))
        self.lock = threading.Lock()

    def wait_commands(self, patience_s: float) -> bool:
        """DPDK has the socket before the program has its commands."""
        end = time.monotonic() + patience_s
        while self.ask("/quench/info") is None:
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def ask(self, command: str) -> Any:
        with self.lock:
            self.socket.send(command.encode())
            reply = self.socket.recv(REPLY_BYTES)
        return json.loads(reply)[command.partition(",")[0]]

    def all(self, command: str, chosen: Sequence[str] = ()) -> Columns:
        """Every page of a list, the columns joined. chosen: names of columns, for a command with COLUMNS; none: all"""
        columns: Columns = {}
        rest = f",{MOST_ROWS},{'+'.join(chosen)}" if chosen else ""
        page = self.ask(f"{command},0{rest}" if chosen else command)
        while True:
            for name, values in page.items():
                if isinstance(values, list):
                    columns.setdefault(name, []).extend(values)
            if "next" not in page:
                return columns
            page = self.ask(f"{command},{page['next']}{rest}")

    def close(self) -> None:
        self.socket.close()
