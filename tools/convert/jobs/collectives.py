# SPDX-License-Identifier: BSD-3-Clause
"""Collectives as operations of ranks: quench-lab makes them, as of a section [job NAME]."""
from __future__ import annotations

import pathlib
import re
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from .. import program
from ..log import Log
from .goal import Job, Rank
from .settings import OF_JOB, Settings

LAB = "quench-lab"
PORTS = 256  # of a switch of the fabric that only names hosts
# Tags from here on are those of collectives, and end below those of messages through other ranks (doc/jobs.md).
FIRST_TAG, MOST_TAG = 1 << 29, (1 << 30) - 1


class Collective(NamedTuple):
    kind: str  # as of the key collective
    n_ranks: int
    n_bytes: int  # as of the key bytes: of the largest array of a rank


class Step(NamedTuple):
    words: str  # calc
    n_bytes: int  # of a message; 0: calc
    is_send: bool
    peer: int  # rank in the group
    tag: int  # from 0 on
    before: list[int]
    is_last: bool  # nothing waits for it


Steps = list[list[Step]]  # by rank
OPERATION = re.compile(r"l(\d+): (?:(calc .*)|(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+))")
DEMAND = re.compile(r"l(\d+) requires l(\d+)")


def run(work: str, text: str, log: Log, *options: str) -> str:
    """What quench-lab prints of a scenario. @raise Refused: it refuses it"""
    path = pathlib.Path(work) / "scenario.ini"
    path.write_text(text, encoding="utf-8")
    done = program.run(LAB, *options, str(path))
    if done.returncode != 0:
        why = [line for line in done.stderr.splitlines() if line.startswith(f"{LAB}: error: ")]
        log.refuse(f" makes a job that {LAB} refuses: " + re.sub(rf"^{LAB}: error: (?:{re.escape(work)}/(?:scenario\.ini:(?:\d+:)? )?)?", "", why[-1] if why else "no reason"))
    return done.stdout


def fabric(n_hosts: int) -> str:
    """A fabric with at least so many hosts."""
    leaves = (n_hosts + PORTS - 1) // PORTS
    if leaves == 1:
        return f"[fabric]\ntopology = star\nhosts = {max(n_hosts, 2)}\n"
    return f"[fabric]\ntopology = leaf_spine\nleaves = {leaves}\nspines = 1\nhosts = {leaves * PORTS}\n"


def steps_of(text: str) -> Steps:
    found: Steps = []
    for line in text.splitlines():
        if line.startswith("rank "):
            found.append([])
        elif operation := OPERATION.match(line):
            _, calc, kind, n_bytes, peer, tag = operation.groups()
            found[-1].append(Step(calc or "", int(n_bytes or 0), kind == "send", int(peer or 0), int(tag or 0), [], True))
        elif demand := DEMAND.match(line):
            rank, op, before = found[-1], int(demand[1]), int(demand[2])
            rank[op].before.append(before)
            rank[before] = rank[before]._replace(is_last=False)
    return found


class Collectives:
    """Adds collectives to a job. Each has tags of its own, so that messages of two never meet."""

    def __init__(self, job: Job, settings: Settings, log: Log) -> None:
        self.job, self.settings, self.log = job, settings, log
        self.made: dict[Collective, tuple[Steps, int]] = {}  # also the number of its tags
        self.tag = FIRST_TAG
        self.raised = 0  # collectives that were too small

    def make(self, c: Collective) -> tuple[Steps, int]:
        """@raise Refused: quench-lab has no such collective"""
        if c not in self.made:
            keys = [f"{key} = {value}\n" for key in OF_JOB if (value := self.settings.text(key))]
            if algorithm := self.settings.text(c.kind):
                keys.append(f"algorithm = {algorithm}\n")
            text = f"{fabric(c.n_ranks)}[job c]\nranks = 1-{c.n_ranks}\ncollective = {c.kind}\nbytes = {c.n_bytes}B\n{''.join(keys)}"
            with tempfile.TemporaryDirectory(prefix="quench-convert-") as work:
                steps = steps_of(run(work, text, self.log, "--goal", "c"))
            self.made[c] = steps, 1 + max((step.tag for rank in steps for step in rank), default=0)
        return self.made[c]

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
        steps, n_tags = self.make(Collective(kind, n, n_bytes)) if n > 1 else ([[]], 0)
        return Running(self.job, steps, {rank: i for i, rank in enumerate(group)}, list(group), self._tags(n_tags))

    def say(self) -> None:
        if self.raised:
            self.log.note(f" {self.raised} collectives are smaller than two bytes for each message: they have two")


class Running:
    """A collective, whose ranks are added one by one."""

    def __init__(self, job: Job, steps: Steps, place: dict[int, int], group: list[int], tag: int) -> None:
        self.job, self.steps, self.place, self.group, self.tag = job, steps, place, group, tag
        self.added: set[int] = set()

    def add(self, number: int, after: Sequence[int]) -> int:
        """The part of a rank, after operations of it. @return the operation that ends it"""
        self.added.add(number)
        rank = self.job.ranks[number]
        entry = [rank.join(after)] if len(after) > 1 else list(after)
        first = rank.n
        ends = [self._step(rank, step, first, entry) for step in self.steps[self.place[number]]]
        return rank.join([end for end, step in zip(ends, self.steps[self.place[number]]) if step.is_last] or entry)

    def _step(self, rank: Rank, step: Step, first: int, entry: list[int]) -> int:
        after = [first + before for before in step.before] or entry
        if step.words:
            return rank.add(step.words, after)
        message = rank.send if step.is_send else rank.recv
        return message(step.n_bytes, self.group[step.peer], self.tag + step.tag, after)


def check(job: Job, text: str, log: Log) -> None:
    """@raise Refused: quench-lab would not take the job"""
    with tempfile.TemporaryDirectory(prefix="quench-convert-") as work:
        (pathlib.Path(work) / "job.goal").write_text(text, encoding="utf-8")
        run(work, f"{fabric(len(job.ranks))}[job c]\nranks = 1-{max(len(job.ranks), 1)}\ngoal = job.goal\n", log, "--check-config")
