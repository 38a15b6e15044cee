# SPDX-License-Identifier: BSD-3-Clause
"""The flow file: their number, and a line for each."""
from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Collection

from .fabric import Fabric
from .lines import Lines

MAX_FLOWS = 1000000
MAX_BYTES = 2**50  # of a message of a trace
SHAPES = "SRC DST GROUP PORT BYTES START or SRC DST GROUP BYTES START"


@dataclasses.dataclass(frozen=True)
class Flow:
    """Between nodes, or when paired between hosts of quench-lab."""

    src: int
    dst: int
    size: int
    start_ns: int


class Flows:
    def __init__(self, path: pathlib.Path, hosts: Collection[int], end_ns: int) -> None:
        lines = Lines(path)
        self.log, self.flows = lines.log, list[Flow]()
        groups: set[str] = set()
        n_words: tuple[int, ...] = (6, 5)  # ConWeave's lines have no port
        late = 0
        head = lines.take("the number of flows", (1,))
        n = head.whole(0, MAX_FLOWS)
        for i in range(n):
            line = lines.take(f"flow {i + 1} of {n}, {SHAPES if len(n_words) > 1 else f'{n_words[0]} words as in the first one'}", n_words)
            n_words = (len(line.words),)
            src, dst = line.words[:2]
            if not all(node.isascii() and node.isdigit() and len(node) < 10 and int(node) in hosts for node in (src, dst)) or int(src) == int(dst):
                line.refuse(f"a flow from {src[:20]} to {dst[:20]}, which are not two hosts")
            if len(line.words) == 6:
                line.whole(0, 65535, 3)
            groups.add(line.words[2])
            size = line.whole(0, MAX_BYTES, -2)
            start_ns = round(line.number(0, 1e9, -1) * 1e9)
            if start_ns >= end_ns:
                late += 1
            elif size > 0:
                self.flows.append(Flow(int(src), int(dst), size, start_ns))
        # HPCC's own flow.txt has more lines than its head says, and its simulator reads no more.
        if lines.n_more():
            self.log.lose(f"{head.place}says {n} flows, as many as the simulator reads: {lines.n_more()} lines after them are left out")
        if late:
            self.log.note(f" {late} flows start after SIMULATOR_STOP_TIME and are left out")
        if not self.flows:
            self.log.refuse(" no flows" + (" before SIMULATOR_STOP_TIME" if late else ""))
        if len(groups) > 1:
            self.log.note(" flows of several priority groups: all go into the one lossless class")

    def ends(self) -> set[tuple[int, int]]:
        return {(flow.src, flow.dst) for flow in self.flows}

    def paired(self, fabric: Fabric) -> list[Flow]:
        """The same with hosts of quench-lab in place of nodes."""
        out = []
        for i, flow in enumerate(self.flows):
            pairs = fabric.pairs(flow.src, flow.dst)
            if not pairs:
                self.log.refuse(f" a flow from {flow.src} to {flow.dst}, which no links join")
            a, b, _, _ = pairs[i % len(pairs)]  # as their hash spreads flows
            out.append(dataclasses.replace(flow, src=a, dst=b))
        return out
