# SPDX-License-Identifier: BSD-3-Clause
"""Rings of NCCL's graphs (NCCL_GRAPH_DUMP_FILE) to GOAL.

The file has the channels of a node, each with the order of its GPUs. As in NCCL, the ring of a channel leaves a node at its last GPU and enters
the next node at its first one; with crossnic="2", odd nodes exchange channels by pairs.
"""
from __future__ import annotations

import xml.etree.ElementTree as xml
from typing import NoReturn

from ..log import Log
from ..values import whole
from .collectives import Collectives, check
from .goal import MOST_RANKS, Job
from .settings import Settings

RINGS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")
KEYS = ("collective", "bytes", "nodes", "chunk_bytes", "reduce_ps_per_byte")
RING_PATTERN = "4"
DEFAULT_BYTES = 64_000_000
MOST_CHANNELS, MOST_GPUS = 64, 1024


class Graph:
    """The ring graph of a file."""

    def __init__(self, text: str, log: Log) -> None:
        self.log = log
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            self._refuse("expected a graph of NCCL, without DOCTYPE")
        try:
            root = xml.fromstring(text)
        except (xml.ParseError, ValueError) as error:
            self._refuse(f"expected XML, as NCCL_GRAPH_DUMP_FILE has it: {error}")
        found = [graph for graph in root.iter("graph") if graph.get("pattern") == RING_PATTERN] if root.tag == "graphs" else []
        if not found:
            self._refuse(f"expected <graphs> with a ring: <graph pattern=\"{RING_PATTERN}\">")
        ring = found[0]
        orders = [[gpu.get("dev", "") for gpu in channel.iter("gpu")] for channel in ring.iter("channel")]
        if str(len(orders)) != ring.get("nchannels") or not 1 <= len(orders) <= MOST_CHANNELS:
            self._refuse(f"nchannels = {ring.get('nchannels')}: expected 1 to {MOST_CHANNELS}, the number of its <channel>, not {len(orders)}")
        devices = sorted(orders[0], key=lambda dev: (len(dev), dev))
        if not 1 <= len(devices) <= MOST_GPUS or any(whole(dev, 0, 1 << 62) is None for dev in devices):
            self._refuse(f"channel 0: expected 1 to {MOST_GPUS} times <gpu dev=\"N\"/>")
        for number, order in enumerate(orders):
            if sorted(order, key=lambda dev: (len(dev), dev)) != devices or len(set(order)) != len(order):
                self._refuse(f"channel {number}: expected each GPU of channel 0 once, not {' '.join(order)[:80]}")
        self.n_gpus = len(devices)
        self.orders = [[devices.index(dev) for dev in order] for order in orders]
        self.is_alternating = ring.get("crossnic") == "2" and len(orders) % 2 == 0

    def _refuse(self, text: str) -> NoReturn:
        self.log.refuse(f" {text}")

    def ring(self, channel: int, n_nodes: int) -> list[int]:
        """Ranks of the ring of a channel in its order, from that of rank 0's node on."""
        return [node * self.n_gpus + gpu for node in range(n_nodes) for gpu in self.orders[channel ^ (node % 2 if self.is_alternating else 0)]]


def convert(text: str, log: Log, given: list[str]) -> str:
    """The GOAL of a collective on the rings of a graph. @raise Refused"""
    settings = Settings(given, KEYS)
    kind = settings.text("collective", RINGS[0])
    if kind not in RINGS:
        log.refuse(f" --set collective={kind}: expected one of {', '.join(RINGS)}")
    graph = Graph(text, log)
    n_nodes = settings.number("nodes", 1, MOST_RANKS // graph.n_gpus) or 1
    n_bytes = settings.number("bytes", 1, 1 << 45) or DEFAULT_BYTES
    job = Job(n_nodes * graph.n_gpus, log)
    if len(job.ranks) < 2:
        log.refuse(" expected two GPUs or more: --set nodes=N")
    collectives = Collectives(job, settings, log)
    n_channels = len(graph.orders)
    collectives.room(kind, len(job.ranks), n_channels)
    for channel in range(n_channels):
        order = graph.ring(channel, n_nodes)
        running = collectives.begin(kind, order, n_bytes * (channel + 1) // n_channels - n_bytes * channel // n_channels)
        for rank in order:
            running.place(rank, [])
    collectives.say()
    made = job.text()
    check(job, made, log)
    return made
