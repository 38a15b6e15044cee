# SPDX-License-Identifier: BSD-3-Clause
"""show pauses: the pause tree of all programs, as quench-lab prints it: who paused whom, from which root, for how long, and which flows it delayed.

A switch pauses a peer because frames from it wait in a queue. If that queue was paused itself, its pause is the parent; else the queue is the
root. A host that pauses is a root. The two ends of a link are found by the source address of pause frames.
"""
from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

from quench.desk import Gone, Row
from quenchctl.command import DONE, Run, print_json
from quenchctl.where import looks
from quenchctl.where.programs import Program, programs
from quenchctl.where.reading import Paused, Port, Reading

LINES = 30
MOST_FLOWS = 8
# A queue counts as paused if it was for at least this share of the time for which its switch paused others because of it.
PAUSED_SHARE = 0.1


@dataclass
class Pause:
    """What a port made its peer obey. by: None: no program of ours; host then names it."""

    by: Port | None
    host: str
    held: Port | None  # None: no program of ours
    prio: int
    paused: Paused
    parent: Pause | None = None
    root: tuple[Any, ...] = ()  # kind, port or host, queue, prio
    children: list[Pause] = field(default_factory=list)


class Tree:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.pauses = self._find()
        self.deadlock: list[Pause] = []
        for pause in self.pauses:
            self._find_cause(pause)
        for pause in self.pauses:
            self._find_root(pause)
        for pause in self.pauses:
            if pause.parent is not None:
                pause.parent.children.append(pause)

    def _find(self) -> list[Pause]:
        r = self.reading
        peer = {r.macs[mac]: at for at, mac in r.source.items() if mac in r.macs}
        found = [Pause(by, "", peer.get(by), prio, paused) for (by, prio), paused in r.sent.items()]
        # Pauses of peers that are no programs of ours.
        found += [Pause(None, r.source.get(held, "its peer"), held, prio, paused)
                  for (held, prio), paused in r.obeyed.items() if r.source.get(held) not in r.macs]
        return sorted(found, key=lambda pause: -pause.paused.ns)

    def _find_cause(self, pause: Pause) -> None:
        """Its parent, or its root."""
        r = self.reading
        if pause.by is None or not r.programs[pause.by.program].is_switch:
            pause.root = ("host", pause.by if pause.by is not None else pause.host, None, pause.prio)
            return
        held = {key: n for key, n in (r.held or r.any).items() if key[0] == pause.by and key[1] == pause.prio}
        held = held or {key: n for key, n in r.any.items() if key[0] == pause.by}
        if not held:
            pause.root = ("buffer", Port(pause.by.program, -1), None, pause.prio)
            return
        _, _, port, queue = max(held, key=lambda key: held[key])
        prios = {int(prio) for prio in r.queues[port, queue].paused_prios} or {pause.prio}
        ns = sum(r.obeyed[port, prio].ns for prio in prios if (port, prio) in r.obeyed)
        parents = [other for other in self.pauses if other.held == port and other.prio in prios]
        if ns >= PAUSED_SHARE * pause.paused.ns and parents:
            pause.parent = parents[0]
        else:
            pause.root = ("queue", port, queue, pause.prio)

    def _find_root(self, pause: Pause) -> None:
        seen: list[Pause] = []
        at: Pause | None = pause
        while at is not None and not at.root:
            if any(at is other for other in seen):
                # It leads into a circle: its pauses hold each other.
                start = next(i for i, other in enumerate(seen) if other is at)
                if not self.deadlock:
                    self.deadlock = seen[start:]
                return
            seen.append(at)
            at = at.parent
        if at is not None:
            pause.root = at.root

    # ---- flows ----

    def flows_of_root(self, root: tuple[Any, ...]) -> list[Row]:
        """Those in its queue; of a host, those in the queues that it pauses."""
        r = self.reading
        kind, at, queue, _ = root
        if kind == "queue":
            return list(r.queues[at, queue].result()["flows"]) if (at, queue) in r.queues else []
        if kind == "buffer":
            return []
        ports = {pause.held for pause in self.pauses if pause.root == root and pause.parent is None}
        found = [row for (port, _), q in r.queues.items() if port in ports for row in q.result()["flows"]]
        return sorted(found, key=lambda row: -int(row["bytes"]))

    def victims(self, pause: Pause) -> list[str]:
        """Flows that wait at the held port and do not use what the root holds. Of a NIC: its flows to other QPs."""
        r = self.reading
        if pause.held is None or pause.root[0] == "host" and pause.parent is None:
            return []
        of_root = self.flows_of_root(pause.root)
        culprits, dscps = {key_of(row) for row in of_root}, {row["dscp"] for row in of_root}
        held = r.programs[pause.held.program]
        if held.is_switch:
            rows = [row for (port, _), q in r.queues.items() if port == pause.held for row in q.result()["flows"]]
            return [looks.flow_text(row) for row in rows if key_of(row) not in culprits and row["dscp"] in dscps]
        with contextlib.suppress(Gone):  # it has ended: nothing waits there
            return self._flows_elsewhere(held, culprits)
        return []

    @staticmethod
    def _flows_elsewhere(held: Program, culprits: set[tuple[Any, ...]]) -> list[str]:
        """Those of a NIC none of whose QPs is a culprit."""
        own = {row["value"] for row in held.desk.call("config")["rows"] if row["section"] == "nic" and row["key"] in ("ip", "ip6")}
        hit = {qpn for source, _, qpn in culprits if source in own}
        qps: dict[str, bool] = {}
        for row in held.desk.call("qps", columns=["flow", "peer_qpn", "tx_packets", "done"])["rows"]:
            if row["tx_packets"] > 0 and not row["done"]:
                qps[row["flow"]] = qps.get(row["flow"], True) and row["peer_qpn"] not in hit
        return [flow for flow, is_victim in qps.items() if is_victim]

    # ---- output ----

    def roots(self) -> list[tuple[tuple[Any, ...], list[Pause]]]:
        """With their pauses, parents before their children; the root with the most time first."""
        found: dict[tuple[Any, ...], list[Pause]] = {}
        for pause in self.pauses:
            if pause.root and pause.parent is None:
                self._add(found.setdefault(pause.root, []), pause)
        return sorted(found.items(), key=lambda pair: -sum(pause.paused.ns for pause in pair[1]))

    def _add(self, list_: list[Pause], pause: Pause) -> None:
        list_.append(pause)
        for child in pause.children:
            self._add(list_, child)

    def end(self, port: Port | None, host: str = "") -> tuple[str, int | None]:
        """Node and port."""
        if port is None:
            return host or "a peer", None
        program = self.reading.programs[port.program]
        return program.name, port.number if program.is_switch and port.number >= 0 else None

    def text(self, port: Port | None, host: str = "") -> str:
        return self.reading.text(port) if port is not None else host or "a peer"


def key_of(row: Row) -> tuple[Any, ...]:
    if row["qpn"] is not None:
        return row["source"], row["destination"], row["qpn"]
    return row["source"], row["destination"], (row["protocol"], row["source_port"], row["destination_port"])


def branch_object(tree: Tree, pause: Pause, list_: list[Pause]) -> Row:
    node, port = tree.end(pause.by, pause.host)
    holds, holds_port = tree.end(pause.held)
    victims = tree.victims(pause)
    parent = next((i for i, other in enumerate(list_) if other is pause.parent), None)
    return {"node": node, "port": port, "holds": holds, "holds_port": holds_port, "prio": pause.prio, "parent": parent,
            "duration_ns": pause.paused.ns, "pauses": pause.paused.times, "victims": victims[:MOST_FLOWS], "n_victims": len(victims)}


def root_object(tree: Tree, root: tuple[Any, ...], list_: list[Pause]) -> Row:
    kind, at, queue, prio = root
    node, port = tree.end(at) if isinstance(at, Port) else (at, None)
    flows = [{"flow": looks.flow_text(row), "share": row["share"]} for row in tree.flows_of_root(root)[:MOST_FLOWS]]
    return {"kind": kind, "node": node, "port": port if kind == "queue" else None, "queue": queue, "prio": prio,
            "duration_ns": sum(pause.paused.ns for pause in list_), "pauses": sum(pause.paused.times for pause in list_), "flows": flows,
            "branches": [branch_object(tree, pause, list_) for pause in list_]}


def to_json(tree: Tree) -> Row:
    """The keys of results.json of quench-lab."""
    deadlock = [{key: value for key, value in branch_object(tree, pause, []).items() if key in ("node", "port", "holds", "holds_port", "prio", "duration_ns")}
                for pause in reversed(tree.deadlock)]
    return {"pause_tree": [root_object(tree, root, list_) for root, list_ in tree.roots()], "deadlock": deadlock}


def root_text(tree: Tree, root: tuple[Any, ...], list_: list[Pause]) -> str:
    kind, at, queue, prio = root
    where = tree.text(at) if isinstance(at, Port) and at.number >= 0 else tree.end(at)[0] if isinstance(at, Port) else at
    what = {"host": f"{where}, which receives slowly", "buffer": f"the buffer of {where}, which others fill", "queue": f"{where} queue {queue}"}[kind]
    flows = tree.flows_of_root(root)[:MOST_FLOWS]
    filled = ""
    if flows:
        filled = "; filled by " + ", ".join(looks.flow_text(row) + f" {row['share'] * 100:.0f} %" for row in flows)
    return (f"root: {what}: priority {prio}, {sum(pause.paused.times for pause in list_)} pauses, "
            f"{looks.span(sum(pause.paused.ns for pause in list_))} in all{filled}")


def branch_text(tree: Tree, pause: Pause) -> str:
    depth, at = 1, pause.parent
    while at is not None:
        depth, at = depth + 1, at.parent
    victims = tree.victims(pause)
    text = f"{'  ' * depth}{tree.text(pause.by, pause.host)} pauses {tree.text(pause.held)}: {pause.paused.times} times, {looks.span(pause.paused.ns)}"
    if victims:
        text += f"; victims {', '.join(victims[:MOST_FLOWS])}" + (f" and {len(victims) - MOST_FLOWS} more" if len(victims) > MOST_FLOWS else "")
    return text


def lines_of(tree: Tree) -> list[str]:
    lines = []
    circle = list(reversed(tree.deadlock))
    for i, pause in enumerate(circle):
        end = "because of the first" if i + 1 == len(circle) else "because"
        lines.append(f"{'deadlock: ' if i == 0 else '          '}{tree.text(pause.by, pause.host)} pauses {tree.text(pause.held)} for "
                     f"{looks.span(pause.paused.ns)}, {end}")
    for root, list_ in tree.roots():
        lines.append(root_text(tree, root, list_))
        lines += [branch_text(tree, pause) for pause in list_]
    return lines or ["no pauses"]


def run(run_: Run) -> int:
    with programs(run_.options) as found:
        reading = Reading(found)
        reading.read()
        tree = Tree(reading)
        if run_.options.json:
            print_json(to_json(tree))
            return DONE
        lines = lines_of(tree)
        print("\n".join(lines if run_.options.all else lines[:LINES]))
        if len(lines) > LINES and not run_.options.all:
            print(f"{len(lines)} lines in all; --all prints each")
    return DONE
