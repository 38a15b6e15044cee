# SPDX-License-Identifier: BSD-3-Clause
"""The topology as quench-lab has it: hosts in the order of their switches, each link of a node a host of its own."""
from __future__ import annotations

import collections
import functools
from collections.abc import Collection, Iterable

from ..log import Log
from .topology import Link, Topology

MAX_PORTS, MAX_PATHS = 512, 256


class Way:
    """The shortest path to a switch: hops, delay, time to send a byte, and slowest rate."""

    def __init__(self, hops: int, delay_ns: int, byte_ns: float, slowest_bps: float) -> None:
        self.hops, self.delay_ns, self.byte_ns, self.slowest_bps = hops, delay_ns, byte_ns, slowest_bps

    def over(self, link: Link) -> Way:
        return Way(self.hops + 1, self.delay_ns + link.delay_ns, self.byte_ns + 8e9 / link.rate_bps, min(self.slowest_bps, link.rate_bps))


class Fabric:
    def __init__(self, topology: Topology, switches: list[int], links: Iterable[Link], left_out: Collection[int] = ()) -> None:
        self.log, self.switches = topology.log, switches
        self.host_links: dict[int, Link] = {}
        self.core_links: list[Link] = []
        is_switch = set(switches)
        at: dict[int, list[tuple[int, Link]]] = {s: [] for s in switches}  # the links of hosts
        for link in links:
            if link.a in is_switch and link.b in is_switch:
                self.core_links.append(link)
            elif link.a in is_switch or link.b in is_switch:
                node, switch = (link.b, link.a) if link.a in is_switch else (link.a, link.b)
                at[switch].append((node, link))
            else:
                self.log.refuse(f" hosts {link.a} and {link.b} are joined without a switch, which quench-lab has not")
        self.nics: dict[int, list[tuple[int, int]]] = collections.defaultdict(list)  # of a node: (host, switch)
        for s in switches:
            for node, link in at[s]:
                self.host_links[len(self.host_links) + 1] = link
                self.nics[node].append((len(self.host_links), s))
        self.on_switch = {s: len(at[s]) for s in switches}
        alone = [n for n in range(topology.nodes) if n not in is_switch and n not in self.nics and n not in left_out]
        if alone and not left_out:
            self.log.note(f" nodes {alone[:8]} have no link and are left out")
        self.next: dict[int, list[tuple[int, Link]]] = {s: [] for s in switches}
        for link in self.core_links:
            self.next[link.a].append((link.b, link))
            self.next[link.b].append((link.a, link))
        self.reach: dict[int, dict[int, Way]] = {}

    def links(self) -> list[Link]:
        return list(self.host_links.values()) + self.core_links

    @functools.cached_property
    def _ports(self) -> dict[int, list[Link]]:
        found: dict[int, list[Link]] = {s: [] for s in self.switches}
        for link in self.links():
            for node in (link.a, link.b):
                if node in found:
                    found[node].append(link)
        return found

    def ports(self, switch: int) -> list[Link]:
        """Links of a switch by port: hosts first, as in quench-lab."""
        return self._ports[switch]

    def nic_rate(self) -> int:
        """Of the first host, as theirs."""
        return self.host_links[self.nics[min(self.nics)][0][0]].rate_bps

    def ways(self, switch: int) -> dict[int, Way]:
        """By switch: a shortest path from this one."""
        if switch not in self.reach:
            found = self.reach[switch] = {switch: Way(0, 0, 0.0, float("inf"))}
            queue = collections.deque([switch])
            while queue:
                here = queue.popleft()
                for other, link in self.next[here]:
                    if other not in found:
                        found[other] = found[here].over(link)
                        queue.append(other)
        return self.reach[switch]

    def pairs(self, src: int, dst: int) -> list[tuple[int, int, int, int]]:
        """The NICs that a flow may use, with their switches: those with the fewest hops between them."""
        found = [(self.ways(s)[t].hops, (a, b, s, t)) for a, s in self.nics[src] for b, t in self.nics[dst] if t in self.ways(s)]
        return [pair for hops, pair in found if hops == min(found)[0]]

    def used(self, ends: Iterable[tuple[int, int]]) -> set[Link]:
        """Links between switches that are on a shortest path between two nodes."""
        both = {way for nodes in ends for _, _, s, t in self.pairs(*nodes) for way in ((s, t), (t, s))}

        def shortest(a: int, b: int, s: int, t: int) -> bool:
            here, there = self.ways(s), self.ways(t)
            return a in here and b in there and here[a].hops + 1 + there[b].hops == here[t].hops

        return {link for link in self.core_links if any(shortest(link.a, link.b, s, t) for s, t in both)}

    def longest(self, payload: int) -> tuple[float, float, int]:
        """Of two hosts: the longest base round trip in ns, the largest product of rate and base round trip in bytes, the most switches."""
        longest_ns, largest_bytes, most = 0.0, 0.0, 0
        ends = {(self.host_links[h].rate_bps, self.host_links[h].delay_ns, s) for nics in self.nics.values() for h, s in nics}
        for bps, ns, s in ends:
            for other_bps, other_ns, t in ends:
                way = self.ways(s).get(t)
                if way is None:
                    continue
                send_ns = payload * (way.byte_ns + 8e9 / bps + 8e9 / other_bps)
                rtt_ns = 2 * (way.delay_ns + ns + other_ns) + send_ns
                longest_ns, most = max(longest_ns, rtt_ns), max(most, way.hops + 1)
                largest_bytes = max(largest_bytes, rtt_ns * min(bps, other_bps, way.slowest_bps) / 8e9)
        return longest_ns, largest_bytes, most

    def stages(self) -> dict[int, int]:
        """Number of links from each switch to the nearest switch with hosts."""
        near = {s: 0 for s in self.switches if self.on_switch[s]}
        queue = collections.deque(near)
        while queue:
            here = queue.popleft()
            for other, _ in self.next[here]:
                if other not in near:
                    near[other] = near[here] + 1
                    queue.append(other)
        return near

    def most_paths(self, switch: int) -> int:
        """The most equally long paths to a switch with hosts."""
        def paths(to: int) -> int:
            here = self.ways(switch).get(to)
            return sum((way := self.ways(other).get(to)) is not None and here is not None and way.hops + 1 == here.hops for other, _ in self.next[switch])

        return max((paths(t) for t in self.switches if self.on_switch[t]), default=0)

    def is_large(self) -> bool:
        return any(len(self.ports(s)) > MAX_PORTS or self.most_paths(s) > MAX_PATHS for s in self.switches)

    def common(self) -> tuple[int, int]:
        """The rate and the delay of most hosts."""
        return collections.Counter((link.rate_bps, link.delay_ns) for link in self.host_links.values()).most_common(1)[0][0]


def plain(topology: Topology) -> Fabric:
    fabric = Fabric(topology, topology.switches, topology.links)
    if not fabric.host_links:
        topology.log.refuse(" no host has a link to a switch")
    return fabric


def fit_ports(topology: Topology, fabric: Fabric, ends: set[tuple[int, int]], reroutes: bool) -> tuple[Fabric, dict[int, list[Link]]]:
    """Leave out what no flow uses: links between switches that are on no shortest path, unless the paths may change, and hosts of a switch
    that still has more ports than quench-lab allows. @return the fabric, and the links that are left out by switch"""
    log: Log = topology.log
    gone = set() if reroutes else set(fabric.core_links) - fabric.used(ends)
    if gone:
        log.note(f" quench-lab allows {MAX_PORTS} ports and {MAX_PATHS} shortest paths at a switch: {len(gone)} links between switches are left out, "
                 "which no flow uses")
    nodes, is_switch = {node for pair in ends for node in pair}, set(topology.switches)
    for s in topology.switches:
        ports = [link for link in topology.links if link.is_at(s) and link not in gone]
        idle = [link for link in ports if not {link.a, link.b} & nodes and not {link.a, link.b} <= is_switch]
        excess = len(ports) - MAX_PORTS
        if excess > len(idle):
            log.refuse(f" switch {s} has {len(ports)} ports with flows, and quench-lab allows {MAX_PORTS}: make the topology of smaller switches, or "
                       "take fewer flows (--flows FILE)")
        if excess > 0:
            log.note(f" switch {s} has {len(ports)} ports, and quench-lab allows {MAX_PORTS}: {excess} of its hosts without a flow are left out")
            gone.update(idle[:excess])
    kept = [link for link in topology.links if link not in gone]
    joined = {node for link in kept for node in (link.a, link.b)}
    fitted = Fabric(topology, [s for s in topology.switches if s in joined], kept, {node for link in gone for node in (link.a, link.b)})
    for s in fitted.switches:
        if fitted.most_paths(s) > MAX_PATHS:
            log.refuse(f" switch {s} has {fitted.most_paths(s)} shortest paths to another one that flows use, and quench-lab allows {MAX_PATHS}: make "
                       "the topology of fewer switches above each other, or take fewer flows (--flows FILE)")
    return fitted, {s: [link for link in gone if link.is_at(s)] for s in topology.switches}
