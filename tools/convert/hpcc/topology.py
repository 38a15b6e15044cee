# SPDX-License-Identifier: BSD-3-Clause
"""The topology file: nodes, which of them are switches, and links. The first line tells the dialect."""
from __future__ import annotations

import dataclasses
import pathlib

from .lines import Lines

MAX_RATE_BPS = 800 * 10**9
MOST_NODES = 10**6


@dataclasses.dataclass(frozen=True)
class Link:
    a: int
    b: int
    rate_bps: int
    delay_ns: int
    loss: float

    def is_at(self, node: int) -> bool:
        return node in (self.a, self.b)


@dataclasses.dataclass(frozen=True)
class Mmu:
    """How a simulator's switches derive PFC's thresholds, for which it has no keys. A group's limit is 1/8 of the free shared buffer."""

    reserve_bytes: int
    xon_bytes: int
    xon_offset_bytes: int
    follows_rate: bool  # the limit doubles with each doubling of the NICs' rate
    priorities: int  # with headroom


OF_HPCC = Mmu(4 * 1024, 0, 3 * 1024, True, 1)
# Headroom for all eight priorities, of which one has traffic.
OF_INET_TUB = Mmu(0, 1248, 2496, False, 8)


class Topology:
    def __init__(self, path: pathlib.Path, loss: float) -> None:
        """The first line: nodes, switches, links; nodes, switches, ToRs, links (inet-tub), and two rates that nobody needs (Reverie); nodes,
        GPUs of a server, NVSwitches, switches, links, kind of GPU (Alibaba Cloud). loss: of links that have none."""
        lines = Lines(path)
        head = lines.take("3, 4 or 6 words in the first line", (3, 4, 6))
        self.log, n_words = lines.log, len(head.words)
        with_gpus = n_words == 6 and not head.words[5][0].isdigit()
        self.mmu = OF_INET_TUB if n_words == 4 or (n_words == 6 and not with_gpus) else OF_HPCC
        counts = [head.whole(0, MOST_NODES, i) for i in range(min(n_words, 5 if with_gpus else 4))]
        self.nodes = counts[0]
        n_switches = counts[2] + counts[3] if with_gpus else counts[1]
        n_links = counts[4] if with_gpus else counts[2] if n_words == 3 else counts[3]
        if n_switches > self.nodes:
            head.refuse(f"expected at most {self.nodes} switches, as there are nodes, not {n_switches}")
        self.switches: list[int] = []
        while len(self.switches) < n_switches:
            line = lines.take(f"{n_switches} switches, as the first line says", range(1, n_switches - len(self.switches) + 1))
            self.switches += [line.whole(0, self.nodes - 1, i) for i in range(len(line.words))]
            if len(set(self.switches)) < len(self.switches):
                line.refuse("expected each switch once")
        links = []
        for i in range(n_links):
            line = lines.take(f"link {i + 1} of {n_links}, NODE NODE RATE DELAY ERROR", (5,))
            a, b = (line.whole(0, MOST_NODES, k) for k in (0, 1))
            if max(a, b) >= self.nodes or a == b:
                line.refuse(f"a link between {a} and {b}, of {self.nodes} nodes")
            # As theirs: a loss of 0 is that of the configuration.
            links.append(Link(a, b, line.rate(2), line.delay(3), line.number(0, 1, 4) or loss))
        # HPCC's own topology.txt has more lines than its head says, and its simulator reads no more.
        if lines.n_more():
            self.log.lose(f"{head.place}says {n_links} links, as many as the simulator reads: {lines.n_more()} lines after them are left out")
        # NVLink, in Alibaba Cloud's.
        self.links = [link for link in links if link.rate_bps <= MAX_RATE_BPS]
        if len(self.links) < len(links):
            self.log.lose(f" {len(links) - len(self.links)} links are faster than 800 Gb/s and are left out; flows between their nodes take other links")
            joined = {node for link in self.links for node in (link.a, link.b)}
            self.switches = [s for s in self.switches if s in joined]
