# SPDX-License-Identifier: BSD-3-Clause
"""Requests of show and clear, and the output of their replies."""
from __future__ import annotations

import time
from typing import Any

from quench.desk import Row
from quenchctl.command import DONE, SWITCH, Command, Options, Run, print_json
from quenchctl.show import baseline, cells, rows

BETWEEN_S = 0.5  # two readings of a present rate


def show(run: Run) -> int:
    print_reply(run, ask(run))
    return DONE


def ask(run: Run) -> Row:
    """The reply, counted from "clear counters" on."""
    kept = None if run.options.since_start else baseline.load(run.desk)
    if run.command.by_port:
        return ask_ports(run, kept)
    if run.command.rates:
        return ask_twice(run, kept)
    reply: Row = run.desk.call(run.command.method, **run.named())
    baseline.subtract(kept, key(run.command, run.named(), reply), reply)
    return reply


def send(run: Run) -> int:
    print_reply(run, run.desk.call(run.command.method, **run.named()))
    return DONE


def key(command: Command, params: Row, reply: Row) -> str:
    """The key under which "clear counters" keeps this reply: a port is a number there, however it was named."""
    return baseline.key(command.method, {**params, "port": reply.get("port")} if "port" in params else params)


def ask_ports(run: Run, kept: Row | None) -> Row:
    """The list of one port, or those of all ports, joined to one."""
    command, params = run.command, run.named()
    asked = [params] if params else [{"port": port} for port in range(run.desk.call("info")["ports"])]
    found: list[Row] = []
    for reply in run.desk.batch([(command.method, one) for one in asked]):
        baseline.subtract(kept, baseline.key(command.method, {"port": reply.get("port")}), reply)
        found += [{**rows.port_of(reply), **row} for row in reply.get(command.list, [])]
    return {command.list: found}


def ask_twice(run: Run, kept: Row | None) -> Row:
    """Flows, half a second apart. Each row gets present_wire_rate_bps: its rate on the wire in between; a flow that is new has none."""
    method = run.command.method
    begin = time.monotonic()
    before = {row["flow"]: row["wire_bytes"] for row in run.desk.call(method, columns=["flow", "wire_bytes"])["rows"]}
    time.sleep(BETWEEN_S)
    # A row is read as long after the request as in the first reply.
    seconds = time.monotonic() - begin
    reply: Row = run.desk.call(method)
    elapsed_ns = run.desk.call("info")["elapsed_ns"]
    for row in reply.get("rows", []):
        if row["flow"] in before:
            row["present_wire_rate_bps"] = round((row["wire_bytes"] - before[row["flow"]]) * 8 / seconds)
    baseline.subtract(kept, method, reply)
    baseline.set_mean_rates(kept, method, reply, elapsed_ns)
    return reply


def print_reply(run: Run, reply: Row) -> None:
    command, options = run.command, run.options
    if command.list:
        reply.setdefault(command.list, [])
    if options.json:
        print_json(reply)
        return
    found: Any = reply[command.list] if command.list else reply
    if command.port_texts and found and run.program == SWITCH:
        from quenchctl.show import port_texts
        port_texts.name(run.desk, command.port_texts.split(), found)
    if command.members != "":
        cells.members(reply, command.members)
    if command.columns:
        print_rows(command, options, found)


def print_rows(command: Command, options: Options, found: Any) -> None:
    """Those that are idle are left out, and counted. What matters most comes first."""
    shown = getattr(rows, command.shape)(found) if command.shape else found
    active = rows.in_use(shown, command.active) if command.active and not options.all else shown
    if command.sort:
        active = sorted(active, key=lambda row: -float(row.get(command.sort, 0)))
    cells.rows(active, command.columns)
    idle = len(shown) - len(active)
    if idle > 0:
        print(f"{idle} idle {command.noun if idle > 1 else command.noun.removesuffix('s')} not shown; --all shows {'them' if idle > 1 else 'it'}")
