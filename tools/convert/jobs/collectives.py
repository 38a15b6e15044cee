# SPDX-License-Identifier: BSD-3-Clause
"""Collectives as operations of ranks: quench-lab makes them, as of a section [job NAME]."""
from __future__ import annotations

import contextlib
import pathlib
import re
import tempfile
from array import array
from collections.abc import Generator, Sequence
from typing import NamedTuple

from .. import program
from ..log import Log
from .goal import Job
from .settings import OF_JOB, Settings

LAB = "quench-lab"
PORTS = 256  # of a switch of the fabric that only names hosts
# Tags from here on are those of collectives, and end below those of messages through other ranks (doc/jobs.md).
FIRST_TAG, MOST_TAG = 1 << 29, (1 << 30) - 1


class Collective(NamedTuple):
    kind: str  # as of the key collective
    n_ranks: int
    n_bytes: int  # as of the key bytes: of the largest array of a rank


OPERATION = re.compile(r"^l\d+: (?:calc (.*)|(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+))$", re.MULTILINE)
DEMAND = re.compile(r"^l(\d+) requires l(\d+)$", re.MULTILINE)


class Steps:
    """The operations of a rank of a group, and what they wait for. Millions of them fit in memory."""

    def __init__(self, text: str = "") -> None:
        """text: lines of GOAL, as quench-lab prints them"""
        operations, demands = OPERATION.findall(text), DEMAND.findall(text)
        self.calcs = {op: f"calc {calc}" for op, (calc, *_) in enumerate(operations) if calc}
        self.sends = bytearray(kind == "send" for _, kind, *_ in operations)
        # By operation, of a message: peers are ranks of the group, tags begin at 0.
        self.n_bytes = array("Q", [int(n_bytes or 0) for *_, n_bytes, _, _ in operations])
        self.peers = array("L", [int(peer or 0) for *_, peer, _ in operations])
        self.tags = array("L", [int(tag or 0) for *_, tag in operations])
        # ops[i] waits for befores[i]
        self.ops, self.befores = (array("L", [int(demand[i]) for demand in demands]) for i in (0, 1))

    def __len__(self) -> int:
        return len(self.sends)

    def without_before(self) -> list[int]:
        waiting = set(self.ops)
        return [op for op in range(len(self)) if op not in waiting]

    def last(self) -> list[int]:
        """Those for which no other one waits."""
        awaited = set(self.befores)
        return [op for op in range(len(self)) if op not in awaited]

    def text(self, first: int, group: Sequence[int], tag: int) -> str:
        """As operations from number first on, with messages among the ranks of a group."""
        calcs, lines = self.calcs, []
        for op, (is_send, n_bytes, peer, own_tag) in enumerate(zip(self.sends, self.n_bytes, self.peers, self.tags), first):
            if op - first in calcs:
                lines.append(f"l{op}: {calcs[op - first]}")
            elif is_send:
                lines.append(f"l{op}: send {n_bytes}b to {group[peer]} tag {tag + own_tag}")
            else:
                lines.append(f"l{op}: recv {n_bytes}b from {group[peer]} tag {tag + own_tag}")
        return "\n".join(lines)

    def demands(self, first: int, entry: Sequence[int]) -> str:
        """What operations from number first on wait for: their own, or those of entry."""
        own = [f"l{first + op} requires l{first + before}" for op, before in zip(self.ops, self.befores)]
        return "\n".join(own + [f"l{first + op} requires l{before}" for before in entry for op in self.without_before()])


def least_ops(kind: str, algorithm: str, n: int, channels: int) -> int:
    """Operations of a collective of n ranks at least; 0: it is not known."""
    steps = {"all_reduce": 2 * (n - 1), "all_gather": n - 1, "reduce_scatter": n - 1, "all_to_all": n - 1, "broadcast": 1}
    if kind != "all_to_all" and algorithm not in ("", "auto", "ring"):
        return 0
    return channels * 2 * n * steps.get(kind, 0)


def printed(work: str, text: str, log: Log, *options: str) -> Generator[str, None, None]:
    """The lines that quench-lab prints of a scenario. @raise Refused: it refuses it"""
    path = pathlib.Path(work) / "scenario.ini"
    path.write_text(text, encoding="utf-8")
    try:
        yield from program.lines(LAB, *options, str(path))
    except program.Failed as failed:
        why = [line for line in str(failed).splitlines() if line.startswith(f"{LAB}: error: ")]
        log.refuse(f" makes a job that {LAB} refuses: " + re.sub(rf"^{LAB}: error: (?:{re.escape(work)}/(?:scenario\.ini:(?:\d+:)? )?)?", "", why[-1] if why else "no reason"))


def fabric(n_hosts: int) -> str:
    """A fabric with at least so many hosts."""
    leaves = (n_hosts + PORTS - 1) // PORTS
    if leaves == 1:
        return f"[fabric]\ntopology = star\nhosts = {max(n_hosts, 2)}\n"
    return f"[fabric]\ntopology = leaf_spine\nleaves = {leaves}\nspines = 1\nhosts = {leaves * PORTS}\n"


class Collectives:
    """Adds collectives to a job. Each has tags of its own, so that messages of two never meet."""

    def __init__(self, job: Job, settings: Settings, log: Log) -> None:
        self.job, self.settings, self.log = job, settings, log
        self.made: dict[Collective, tuple[list[Steps], int]] = {}  # by rank; also the number of its tags
        self.tag = FIRST_TAG
        self.raised = 0  # collectives that were too small

    def room(self, kind: str, n_ranks: int, channels: int) -> None:
        """@raise Refused: it would have too many operations"""
        n = least_ops(kind, self.settings.text(kind), n_ranks, channels)
        self.job.room(n, f"{kind} of {n_ranks} ranks has {n} operations" + (f" in {channels} channels" if channels > 1 else ""))

    def make(self, c: Collective) -> tuple[list[Steps], int]:
        """@raise Refused: quench-lab has no such collective, or it is too large"""
        if c not in self.made:
            keys = [f"{key} = {value}\n" for key in OF_JOB if (value := self.settings.text(key))]
            if algorithm := self.settings.text(c.kind):
                keys.append(f"algorithm = {algorithm}\n")
            text = f"{fabric(c.n_ranks)}[job c]\nranks = 1-{c.n_ranks}\ncollective = {c.kind}\nbytes = {c.n_bytes}B\n{''.join(keys)}"
            self.room(c.kind, c.n_ranks, self.settings.number("channels", 1, 64) or 1)
            steps = self._read(text)
            self.made[c] = steps, 1 + max((max(rank.tags, default=0) for rank in steps), default=0)
        return self.made[c]

    def _read(self, text: str) -> list[Steps]:
        """The operations of job c of a scenario. @raise Refused"""
        found: list[Steps] = []
        n_ops = 0
        with tempfile.TemporaryDirectory(prefix="quench-convert-") as work, contextlib.closing(printed(work, text, self.log, "--goal", "c")) as lines:
            rank: list[str] = []
            for line in lines:
                rank.append(line)
                if line == "}\n":
                    found.append(Steps("".join(rank)))
                    n_ops += len(found[-1])
                    self.job.room(n_ops, "")
                    rank = []
        return found

    def _tags(self, n: int) -> int:
        first = self.tag
        self.tag += n
        if self.tag > MOST_TAG:
            self.log.refuse(f" expected at most {MOST_TAG - FIRST_TAG} tags of collectives: a part of the trace")
        return first

    def begin(self, kind: str, group: Sequence[int], n_bytes: int) -> Running:
        """A collective of the ranks of a group, in its order. @raise Refused"""
        n = len(group)
        least = 2 * n * (self.settings.number("channels", 1, 64) or 1)  # quench-lab's messages have a byte at least
        if n_bytes < least:
            self.raised += 1
            n_bytes = least
        steps, n_tags = self.make(Collective(kind, n, n_bytes)) if n > 1 else ([Steps()], 0)
        return Running(self.job, steps, {rank: i for i, rank in enumerate(group)}, list(group), self._tags(n_tags))

    def say(self) -> None:
        if self.raised:
            self.log.note(f" {self.raised} collectives are smaller than two bytes for each message: they have two")


class Running:
    """A collective, whose ranks are added one by one."""

    def __init__(self, job: Job, steps: list[Steps], place: dict[int, int], group: list[int], tag: int) -> None:
        self.job, self.steps, self.places, self.group, self.tag = job, steps, place, group, tag
        self.added: set[int] = set()

    def place(self, number: int, entry: Sequence[int]) -> list[int]:
        """The part of a rank, after operations of it. @return those of the part for which no other one waits"""
        self.added.add(number)
        rank, steps = self.job.ranks[number], self.steps[self.places[number]]
        first = rank.extend(len(steps), steps.text(rank.n, self.group, self.tag), steps.demands(rank.n, entry)) if len(steps) > 0 else rank.n
        return [first + op for op in steps.last()]

    def add(self, number: int, after: Sequence[int]) -> int:
        """As place(). @return the operation that ends the part"""
        rank = self.job.ranks[number]
        entry = [rank.join(after)] if len(after) > 1 else list(after)
        return rank.join(self.place(number, entry) or entry)


def check(job: Job, text: str, log: Log) -> None:
    """@raise Refused: quench-lab would not take the job"""
    with tempfile.TemporaryDirectory(prefix="quench-convert-") as work:
        (pathlib.Path(work) / "job.goal").write_text(text, encoding="utf-8")
        scenario = f"{fabric(len(job.ranks))}[job c]\nranks = 1-{max(len(job.ranks), 1)}\ngoal = job.goal\n"
        for _ in printed(work, scenario, log, "--check-config"):
            pass
