# SPDX-License-Identifier: BSD-3-Clause
"""show route: static and connected routes, and the way of a destination or of a flow, and why."""
from __future__ import annotations

from typing import Any

from quench import protocols
from quench.desk import Row
from quenchctl.command import DONE, BadUsage, Run, print_json
from quenchctl.show import cells, port_texts

WORDS = ("ADDRESS", "SOURCE", "SOURCE_PORT", "DESTINATION_PORT", "PROTOCOL")
KINDS = {
    "none": "no route: its frames are dropped",
    "local": "the router's own address",
    "blackhole": "blackhole: its frames are dropped",
    "multicast": "multicast, which is not routed: frames to its MAC address are flooded in their VLAN, those to the router's are dropped (non_routable)",
    "non_routable": "not an address that a router forwards to: frames to it that are sent to the router are dropped (non_routable)",
}


# The table names as many next hops of a route; of a route with more, the first few.
MOST_NAMED, NAMED = 16, 4


def hops_in_short(hops: str) -> str:
    """A list of next hops, for a cell of a table."""
    each = [hop.strip() for hop in hops.split(",")]
    return hops if len(each) <= MOST_NAMED else f"{', '.join(each[:NAMED])}, ... ({len(each)})"


def all_routes(run: Run) -> int:
    reply = run.desk.call("routes")
    if run.options.json:
        print_json(reply)
        return DONE
    connected = [{"prefix": row["prefix"], "type": "connected", "interface": row["interface"], "nexthop": row["address"]} for row in reply["connected"]]
    static = [{**row, "type": "static", "nexthop": hops_in_short(row["nexthop"]), "dead": hops_in_short(row["dead"])} for row in reply["rows"]]
    port_texts.name(run.desk, ["interface"], connected)
    cells.rows(connected + static, "prefix type interface nexthop dead")
    return DONE


def number(name: str, text: str, most: int, words: str = "") -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= most):
        raise BadUsage(f"{name} = {text}: expected a number from 0 to {most}{words}")
    return int(text)


def question(params: list[str]) -> Row:
    if len(params) > len(WORDS):
        raise BadUsage(f"{params[len(WORDS)]}: expected at most {' '.join(WORDS)}")
    if 1 < len(params) < len(WORDS):
        raise BadUsage(f"{params[-1]}: expected {WORDS[len(params)]} after it: a flow is {' '.join(WORDS)}")
    asked: Row = {"destination": params[0]}
    if len(params) > 1:
        asked["source"] = params[1]
        for name, text in zip(WORDS[2:4], params[2:4]):
            asked[name.lower()] = number(name, text, 65535)
        asked["protocol"] = protocols.NUMBERS.get(params[4].lower()) or number("PROTOCOL", params[4], 255, ", or tcp, udp, icmp, icmpv6")
    return asked


def hop_text(hop: Row, several: bool) -> str:
    port = hop.get("port_name", hop.get("port"))
    where = f", out of port {port}" if port is not None else ", out of all ports of the VLAN" if hop["mac"] else ""
    dead = "; dead: it is avoided" if several and not hop["chosen"] else "; dead: frames to it are dropped"
    what = f"{hop['nexthop']} at {hop['interface']}: {hop['mac'] or 'no MAC address'}, {hop['state']}{where}" if hop["nexthop"] else \
        "no frame has asked for its MAC address yet"
    sent = f"; {hop['out_packets']} frames by all routes" if several else ""
    return f"{'* ' if hop['chosen'] and several else '  '}{what}{sent}{dead if hop['dead'] else ''}"


def why_text(way: Row, of_flow: bool) -> str:
    """How one of several next hops is chosen."""
    n = len(way["hops"])
    if way["hash"] is None and of_flow:
        return f"one of {n} next hops, by the flow label of the frame (ecmp_hash_flow_label), which is not known here"
    if way["hash"] is None:
        return f"one of {n} next hops, by the hash of the flow: show route ADDRESS SOURCE SOURCE_PORT DESTINATION_PORT PROTOCOL tells which"
    own = way["hops"][way["own_hop"]]
    said = f"hash {way['hash']:#010x} of the flow selects next hop {way['own_hop'] + 1} of {n}, {own['nexthop']}"
    return said if own["chosen"] else f"{said}, which is dead; another one takes its flows meanwhile"


def print_way(way: Row, destination: Any, of_flow: bool) -> None:
    if way["kind"] in KINDS:
        print(f"{destination}: {KINDS[way['kind']]}{', by ' + way['prefix'] if way['prefix'] and way['kind'] == 'blackhole' else ''}")
        return
    print(f"{destination}: {way['kind']} route {way['prefix']}, the longest prefix")
    several = len(way["hops"]) > 1
    if several:
        print(why_text(way, of_flow))
    for hop in way["hops"]:
        print(hop_text(hop, several))


def one(run: Run) -> int:
    way = run.desk.call("route", **question(run.params))
    if run.options.json:
        print_json(way)
        return DONE
    port_texts.name(run.desk, ["interface"], way["hops"])
    print_way(way, run.params[0], len(run.params) > 1)
    return DONE
