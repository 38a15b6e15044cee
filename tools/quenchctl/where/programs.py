# SPDX-License-Identifier: BSD-3-Clause
"""All programs of this user, or those that -f names, read together."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

from quench import desk
from quench.desk import Desk, Row
from quenchctl.command import NIC, SWITCH, Ends, Options, say


class Program:
    def __init__(self, connection: Desk) -> None:
        info = connection.call("info")
        self.desk, self.name, self.program = connection, desk.name_of(connection.path), info.get("program")
        self.is_switch = self.program == SWITCH
        self.n_ports: int = info["ports"] if self.is_switch else 1
        self.names: dict[int, str] = {}

    def text(self, port: int) -> str:
        """The port in words, as quench-lab says it: a NIC has one."""
        return f"{self.name} port {self.names.get(port, port)}" if self.is_switch else self.name

    def queues(self) -> list[Row]:
        """All queues of a switch, with port and port_name."""
        found = []
        for reply in self.desk.batch([("queues", {"port": port}) for port in range(self.n_ports)]):
            of_port = {key: reply[key] for key in ("port", "port_name") if key in reply}
            if "port_name" in reply:
                self.names[reply["port"]] = reply["port_name"]
            found += [{**of_port, **row} for row in reply["queues"]]
        return found


@contextlib.contextmanager
def programs(options: Options) -> Iterator[list[Program]]:
    """@raise Ends: there is none"""
    found: list[Program] = []
    failed: dict[str, desk.Failed] = {}
    with contextlib.ExitStack() as stack:
        for path in [options.socket] if options.socket is not None else desk.sockets(options.prefix):
            try:
                program = Program(stack.enter_context(Desk(path)))
            except desk.Failed as error:
                # It has just ended, or hangs, or is for other users.
                if not isinstance(error, desk.Gone) or error.silent:
                    failed[desk.name_of(path)] = error
                continue
            if program.program in (SWITCH, NIC):
                found.append(program)
        if not found and failed:
            raise next(iter(failed.values()))
        if not found:
            raise Ends("no program runs" if options.prefix is None else f"no program with --file-prefix {options.prefix} runs")
        for name, why in failed.items():
            say("warning: ", f"{name} is left out: {why}")
        yield found
