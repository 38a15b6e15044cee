# SPDX-License-Identifier: BSD-3-Clause
"""A server of quenchctl, from --listen to a signal."""
from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable

from quench.server import Server, split_address
from quenchctl.command import DONE, BadUsage, Ends


def notify(state: str) -> None:
    """Tell systemd, if it started us (sd_notify(3))."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if path:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.sendto(state.encode(), "\0" + path[1:] if path.startswith("@") else path)


def serve(listen: str, begin: Callable[[tuple[str, int]], Server], say_where: Callable[[Server], None]) -> int:
    """Serve until SIGINT or SIGTERM. @raise BadUsage, Ends"""
    try:
        address = split_address(listen)
    except ValueError as error:
        raise BadUsage(f"--listen = {listen}: expected ADDRESS:PORT, such as 127.0.0.1:9880") from error
    # A client that has gone must not end the server.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = begin(address)
    except OSError as error:
        raise Ends(f"--listen = {listen}: {error.strerror}") from error
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say_where(server)
    notify("READY=1")
    stop.wait()
    notify("STOPPING=1")
    return DONE
