# SPDX-License-Identifier: BSD-3-Clause
"""Chakra execution traces, one for each rank, to GOAL.

A node becomes a computation, a message, or the rank's part of a collective; nodes that it depends on become operations that it requires.
"""
from __future__ import annotations

import collections
import json
import os
from typing import Any, NoReturn

from ..files import read_at_most
from ..log import Log, Refused
from . import chakra_file
from .chakra_file import Node, Value
from .collectives import FIRST_TAG, Collectives, Running, check
from .goal import CPU, GPU, MOST_BYTES, MOST_RANKS, Job
from .settings import OF_COLLECTIVES, OF_JOB, Settings

KEYS = ("ranks", "groups", "ops_per_second", *OF_COLLECTIVES, *OF_JOB)
# Of CollectiveCommType.
KINDS = {0: "all_reduce", 2: "all_gather", 5: "broadcast", 6: "all_to_all", 7: "reduce_scatter", 8: "reduce_scatter", 9: "all_reduce"}
WORDS = {1: "REDUCE", 3: "GATHER", 4: "SCATTER"}
BARRIER = 9
EVERYONE = ("", "0")  # names of the group of all ranks
MOST_GROUPS_BYTES = 64 << 20


def paths_of(prefix: str) -> list[str]:
    """PREFIX.0.et and on. @raise Refused: none, or a gap"""
    paths: list[str] = []
    while os.path.exists(f"{prefix}.{len(paths)}.et"):
        paths.append(f"{prefix}.{len(paths)}.et")
    if not paths:
        raise Refused(f"{prefix}: expected PREFIX of files PREFIX.0.et, PREFIX.1.et and so on: {prefix}.0.et does not exist")
    if os.path.exists(f"{prefix}.{len(paths) + 1}.et"):
        raise Refused(f"{prefix}: expected a file of each rank: {prefix}.{len(paths)}.et does not exist, and a later one does")
    return paths


def group_of(path: str, name: str, ranks: Any, n_ranks: int) -> list[int]:
    """@raise Refused"""
    if not isinstance(ranks, list) or not all(type(rank) is int and 0 <= rank < n_ranks for rank in ranks) or len(set(ranks)) != len(ranks):
        raise Refused(f"{path}: group {name}: expected a list of different ranks from 0 to {n_ranks - 1}")
    return ranks or list(range(n_ranks))


def groups_of(path: str, n_ranks: int) -> dict[str, list[int]]:
    """{"1": [0, 1, 2]}, as astra-sim's --comm-group-configuration. @raise Refused"""
    try:
        with open(path, "rb") as file:
            found = json.loads(read_at_most(file, MOST_GROUPS_BYTES))
    except OSError as error:
        raise Refused(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path}: expected JSON such as {{\"1\": [0, 1, 2, 3]}}") from error
    if not isinstance(found, dict):
        raise Refused(f"{path}: expected JSON such as {{\"1\": [0, 1, 2, 3]}}")
    return {name: group_of(path, name, ranks, n_ranks) for name, ranks in found.items()}


def process_groups(node: Node) -> list[dict[str, Any]]:
    """Those that PyTorch has recorded in a METADATA node: "['[{"pg_name": "1", "ranks": [0, 1]}]']"."""
    begin, end = node.inputs.find("[{"), node.inputs.rfind("}]")
    try:
        found = json.loads(node.inputs[begin:end + 2]) if begin >= 0 else []
    except (ValueError, RecursionError):
        return []
    return [item for item in found if isinstance(item, dict)]


class Trace:
    """Traces of all ranks on their way into a job."""

    def __init__(self, prefix: str, log: Log, settings: Settings) -> None:
        self.log, self.settings = log, settings
        self.paths = paths_of(prefix)
        self.n_ranks = settings.number("ranks", 1, MOST_RANKS) or len(self.paths)
        if len(self.paths) not in (1, self.n_ranks):
            log.refuse(f" --set ranks={self.n_ranks}: expected {len(self.paths)}, the number of files, or a single file that all ranks follow")
        self.rate = settings.positive("ops_per_second", 1.0)
        self.job = Job(self.n_ranks, log)
        self.collectives = Collectives(self.job, settings, log)
        path = settings.text("groups")
        self.given = groups_of(path, self.n_ranks) if path else {}
        self.groups = dict(self.given)  # also those of the rank's trace
        # By name and ranks of a group, and number in it; what it is, and who began it.
        self.running: dict[tuple[str, tuple[int, ...], int], tuple[Running, str, str]] = {}
        self.counts: collections.Counter[str] = collections.Counter()  # of notes
        self.lost: collections.Counter[str] = collections.Counter()

    def convert(self) -> None:
        nodes: list[Node] = []
        for number in range(self.n_ranks):
            if number < len(self.paths):
                nodes = chakra_file.read(self.paths[number])
            self._add_rank(number, nodes)
        for (name, _, n), (running, _, first) in self.running.items():
            missing = sorted(set(running.places) - running.added)
            if missing:
                self.log.refuse(f" collective {n + 1} of group {name or 'of all ranks'}, which {first} begins: rank {missing[0]} has none")
        self._say()

    def _say(self) -> None:
        if len(self.paths) < self.n_ranks:
            self.log.note(f" all {self.n_ranks} ranks follow the only file")
        for text, n in self.counts.items():
            self.log.note(f" {n} {text}")
        for text, n in self.lost.items():
            self.log.lose(f" {n} {text}")
        self.collectives.say()

    def _refuse(self, number: int, node: Node, text: str) -> NoReturn:
        self.log.refuse(f" rank {number}: node {node.id} ({node.name[:80]}): {text}")

    def _add_rank(self, number: int, nodes: list[Node]) -> None:
        by_id: dict[int, Node] = {}
        self.groups = dict(self.given)
        for node in nodes:
            if by_id.setdefault(node.id, node) is not node:
                self._refuse(number, node, "expected an id that no other node has")
            if node.type == chakra_file.METADATA:
                self._add_groups(node)
        ops: dict[int, int] = {}
        numbers: collections.Counter[str] = collections.Counter()  # collectives of each group so far
        for node in self._in_order(nodes, by_id):
            before = [ops[i] for i in node.before if i in ops]
            for text, n in (("dependencies on nodes that a trace does not have", sum(i not in by_id for i in node.before)),
                            ("dependencies in a circle: the last of each", sum(i in by_id and i not in ops for i in node.before))):
                if n:
                    self.lost[text] += n
            ops[node.id] = self._add(number, node, before, numbers)

    def _add_groups(self, node: Node) -> None:
        for item in process_groups(node):
            name = str(item.get("pg_name", ""))
            self.groups.setdefault(name, group_of(f"{self.log.file}: node {node.id}", name, item.get("ranks"), self.n_ranks))

    def _in_order(self, nodes: list[Node], by_id: dict[int, Node]) -> list[Node]:
        """Each after those that it depends on, and else as the file has them."""
        ordered: list[Node] = []
        is_done: dict[int, bool] = {}  # of nodes that have begun
        for start in nodes:
            stack = [start]
            while stack:
                node = stack[-1]
                waits = [by_id[i] for i in node.before if i in by_id and i not in is_done] if not is_done.get(node.id) else []
                if waits:
                    is_done[node.id] = False
                    stack.extend(reversed(waits))
                    continue
                stack.pop()
                if not is_done.get(node.id):
                    is_done[node.id] = True
                    ordered.append(node)
        return ordered

    def _whole(self, number: int, node: Node, key: str, least: int, most: int, default: Value | None = None) -> int:
        value = node.attributes.get(key, default)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value)
        if not isinstance(value, int) or not least <= value <= most:
            self._refuse(number, node, f"{key} = {value}: expected a whole number from {least} to {most}")
        return value

    def _add(self, number: int, node: Node, before: list[int], numbers: collections.Counter[str]) -> int:
        rank = self.job.ranks[number]
        on_cpu = node.attributes.get("is_cpu_op") is True
        if node.type in (chakra_file.SEND, chakra_file.RECV):
            return self._add_message(number, node, before)
        if node.type == chakra_file.COLLECTIVE and not on_cpu:
            return self._add_collective(number, node, before, numbers)
        if node.type in (chakra_file.METADATA, 0):
            return rank.join(before)
        if node.type > chakra_file.COLLECTIVE or node.type < 0:
            self._refuse(number, node, f"type {node.type}: expected one of Chakra, from 0 to {chakra_file.COLLECTIVE}")
        if node.type in (chakra_file.MEM_LOAD, chakra_file.MEM_STORE):
            self.counts["MEM_LOAD and MEM_STORE nodes: computations of their duration"] += 1
        ns = node.duration_us * 1000
        if ns == 0 and node.attributes.get("num_ops"):
            if "ops_per_second" in self.settings.values:
                ns = round(self._whole(number, node, "num_ops", 0, 1 << 64) / self.rate * 1e9)
            else:
                self.counts["COMP nodes have num_ops and no duration: 0 ns; --set ops_per_second=N gives them one"] += 1
        return rank.calc(ns, CPU if on_cpu else GPU, before)

    def _add_message(self, number: int, node: Node, before: list[int]) -> int:
        sends = node.type == chakra_file.SEND
        rank = self.job.ranks[number]
        n_bytes = self._whole(number, node, "comm_size", 0, MOST_BYTES)
        if n_bytes == 0:
            self.counts["messages have 0 bytes: they have 1"] += 1
        own, other = ("comm_src", "comm_dst") if sends else ("comm_dst", "comm_src")
        if self._whole(number, node, own, 0, self.n_ranks - 1, number) != number:
            self._refuse(number, node, f"{own} = {node.attributes[own]}: expected {number}, the rank of the trace")
        peer = self._whole(number, node, other, 0, self.n_ranks - 1)
        if peer == number:
            self._refuse(number, node, f"{other} = {peer}: expected another rank than its own")
        tag = self._whole(number, node, "comm_tag", 0, FIRST_TAG - 1, 0)
        return (rank.send if sends else rank.recv)(max(n_bytes, 1), peer, tag, before)

    def _add_collective(self, number: int, node: Node, before: list[int], numbers: collections.Counter[str]) -> int:
        kind = self._whole(number, node, "comm_type", 0, BARRIER)
        if kind not in KINDS:
            self.lost[f"collectives {WORDS[kind]}: computations of their duration"] += 1
            return self.job.ranks[number].calc(node.duration_us * 1000, GPU, before)
        n_bytes = self._whole(number, node, "comm_size", 0, 1 << 45, 0 if kind == BARRIER else None)
        name = str(node.attributes.get("pg_name", ""))
        group = list(range(self.n_ranks)) if name in EVERYONE and name not in self.groups else self.groups.get(name)
        if group is None:
            self._refuse(number, node, f"pg_name = {name}: expected a group of --set groups=FILE, or of a METADATA node")
        if number not in group:
            self._refuse(number, node, f"pg_name = {name}: expected a group with rank {number}")
        if KINDS[kind] == "all_gather":  # comm_size is what a rank puts in
            n_bytes *= len(group)
        what = f"{KINDS[kind]} of {n_bytes} bytes"
        key = name, tuple(group), numbers[name]
        running, wanted, first = self.running.get(key, (None, "", ""))
        if running is None:
            running = self.collectives.begin(KINDS[kind], group, n_bytes)
            self.running[key] = running, what, f"rank {number} in node {node.id}"
        elif wanted != what:
            self._refuse(number, node, f"{what}: expected {wanted}, as {first}")
        numbers[name] += 1
        return running.add(number, before)


def convert(prefix: str, log: Log, given: list[str]) -> str:
    """The GOAL of traces. @raise Refused"""
    trace = Trace(prefix, log, Settings(given, KEYS))
    trace.convert()
    text = trace.job.text()
    check(trace.job, text, log)
    return text
