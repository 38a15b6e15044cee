# SPDX-License-Identifier: BSD-3-Clause
"""explain queue: what waits in a queue, which ports and flows it came from, and why it does not leave."""
from __future__ import annotations

import contextlib

from quench.desk import Desk, Refused, Row
from quenchctl.command import DONE, BadUsage, Run, plain, print_json
from quenchctl.show import cells, ecn
from quenchctl.where import looks

MOST = 10  # lines of ports, and of flows

# Why a frame waits, by the key "hold" (sw_hold_words of switch/control/queue_look.c).
HOLDS = {
    "empty": "nothing waited",
    "link": "the link is down, or the port is shut down",
    "disabled": "the port sends no data (tx_disabled)",
    "storm": "the PFC watchdog drops the frames of this queue",
    "max_rate": "the queue is at its max_rate_bps",
    "shaper": "the port is at its shaper_rate_bps",
    "wire": "only the speed of the link, or of its device, holds it",
}


def peer_of(desk: Desk, port: int) -> Row:
    """Who sent the last pause to a port."""
    rows: list[Row] = []
    with contextlib.suppress(Refused):  # LLDP is off
        rows = [row for row in desk.call("lldp")["rows"] if row["port"] == port and row.get("neighbour")]
    return {"mac": desk.call("pauses", port=port)["pause_source"], "system_name": rows[0]["system_name"] if rows else ""}


def peer_text(peer: Row) -> str:
    name = plain(peer["system_name"]) if peer["system_name"] else ""
    return f"{name} ({peer['mac']})" if name else peer["mac"] or "its peer"


def hold_text(hold: Row, queue: Row) -> str:
    name, behind = hold["hold"], hold["behind"]
    several = "queues" if "," in behind else "queue"
    if name == "pause":
        return f"{peer_text(queue['paused_by'])} pauses it (priority {queue['paused_prios']})"
    if name == "strict":
        return f"{several} {behind} of strict priority {'go' if ',' in behind else 'goes'} first"
    if name == "weights":
        return f"it shares the port with {several} {behind} by weight"
    return HOLDS[name]


def print_queue(queue: Row) -> None:
    n = queue["looks"]
    print(f"{looks.port_text(queue)} queue {queue['queue']}: mean {looks.size(queue['queue_mean_bytes'])}, max {looks.size(queue['queue_max_bytes'])} "
          f"in {n} looks over {looks.span(queue['looked_for_ns'])}; leaves at {cells.rate(queue['tx_rate_bps'])}")
    if queue["tx_rate_bps"] > 0 and queue["queue_mean_bytes"] > 0:
        print(f"  a frame waits for about {looks.span(queue['queue_mean_bytes'] * 8e9 / queue['tx_rate_bps'])}")
    for hold in queue["holds"]:
        print(f"  {hold['looks']} of {n} looks: {hold_text(hold, queue)}")
    if queue["paused_for_ns"]:
        print(f"  paused since {looks.span(queue['paused_for_ns'])}")
    counts = [f"{queue[key]} {text}" for key, text in (("ecn_marked_packets", "packets marked"), ("ecn_not_ect_packets", "due for a mark, but Not-ECT"),
                                                       ("drop_packets", "dropped")) if queue[key]]
    if counts:
        print(f"  meanwhile {', '.join(counts)}")
    if queue["marks"] and queue["marks"]["packets"]:
        print(f"  {ecn.total_text(queue['marks'])}")


def print_from(queue: Row) -> None:
    for row in queue["from"][:MOST]:
        print(f"  {row['share'] * 100:5.1f} %  from {looks.port_text(row)}, priority group {row['pg']}"
              f"{'; ' + str(row['not_ect_packets']) + ' of ' + str(row['packets']) + ' frames are Not-ECT' if row['not_ect_packets'] else ''}")


def print_flows(queue: Row) -> None:
    for row in queue["flows"][:MOST]:
        print(f"  {row['share'] * 100:5.1f} %  {looks.flow_text(row)}{'; Not-ECT' if row['not_ect_packets'] else ''}")
    if len(queue["flows"]) > MOST:
        print(f"  {len(queue['flows'])} flows in all; --json lists each")


def marks_of(desk: Desk, port: str, queue: int) -> Row | None:
    """Marks by queue length so far; None: the queue does not mark by a curve."""
    with contextlib.suppress(Refused):
        reply: Row = desk.call("mark_accuracy", port=port, queue=queue)
        return reply
    return None


def run(run_: Run) -> int:
    port, queue = run_.params
    if not (queue.isascii() and queue.isdigit() and int(queue) < 8):
        raise BadUsage(f"QUEUE = {queue}: expected a number from 0 to 7")
    before = marks_of(run_.desk, port, int(queue))
    found = looks.look_at(run_.desk, [(port, int(queue))])[0]
    found["marks"] = ecn.total(ecn.since(before, run_.desk.call("mark_accuracy", port=port, queue=int(queue)))) if before else None
    found["paused_by"] = peer_of(run_.desk, found["port"])
    if run_.options.json:
        print_json(found)
        return DONE
    print_queue(found)
    if found["from"]:
        print("which ports it came from:")
        print_from(found)
        print("the largest flows:")
        print_flows(found)
    return DONE
