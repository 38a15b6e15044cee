# SPDX-License-Identifier: BSD-3-Clause
"""A job as GOAL text: operations of ranks, each after others of its rank."""
from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from ..log import Log, printable

MOST_OPS = 1_000_000  # of a rank, as quench reads
MOST_OPS_OF_ALL = 10_000_000  # 1 GB of text
MOST_RANKS = 65536  # hosts of quench-lab
MOST_BYTES = 1 << 31  # of a message
MOST_NS = (1 << 46) - 1

# Streams: computations of one run one after another.
GPU, JOINS, CPU, UPDATES = 0, 1, 2, 3


class Rank:
    """Operations are numbered from 0, in the order of the calls. after: operations that an operation waits for."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.n = 0
        self.texts: list[str] = []  # lines of one or more operations
        self.demands: list[str] = []

    def add(self, words: str, after: Iterable[int]) -> int:
        return self.extend(1, f"l{self.n}: {words}", "\n".join(f"l{self.n} requires l{before}" for before in after))

    def extend(self, n: int, text: str, demands: str) -> int:
        """Add n operations by their lines, and what they require. @return the first one"""
        self.job.count(self, n)
        self.texts.append(text)
        if demands:
            self.demands.append(demands)
        self.n += n
        return self.n - n

    def calc(self, ns: int, stream: int, after: Iterable[int]) -> int:
        return self.add(f"calc {min(ns, MOST_NS)}" + (f" cpu {stream}" if stream else ""), after)

    def join(self, after: Iterable[int]) -> int:
        """An operation that ends when all of after have."""
        return self.calc(0, JOINS, after)

    def send(self, n_bytes: int, to: int, tag: int, after: Iterable[int]) -> int:
        return self.add(f"send {n_bytes}b to {to} tag {tag}", after)

    def recv(self, n_bytes: int, source: int, tag: int, after: Iterable[int]) -> int:
        return self.add(f"recv {n_bytes}b from {source} tag {tag}", after)


class Job:
    def __init__(self, n_ranks: int, log: Log) -> None:
        self.log = log
        self.n_ops = 0
        self.ranks = [Rank(self) for _ in range(n_ranks)]

    def count(self, rank: Rank, n: int) -> None:
        """@raise Refused: too many operations"""
        if rank.n + n > MOST_OPS:
            self._refuse("")
        self.room(n, "")
        self.n_ops += n

    def room(self, n: int, what: str) -> None:
        """@raise Refused: there is none for n operations more, of what"""
        if self.n_ops + n > MOST_OPS_OF_ALL:
            self._refuse(what)

    def _refuse(self, what: str) -> NoReturn:
        self.log.refuse(f" {what}{': ' if what else ''}expected at most {MOST_OPS} operations of a rank, and {MOST_OPS_OF_ALL} of all: fewer ranks, or a part of the trace")

    def text(self) -> str:
        lines = [f"# GOAL made by quenchctl import of {printable(self.log.file.rpartition('/')[2])}."]
        for title, entries in (("Not carried over", self.log.lost), ("Changed or assumed", self.log.notes)):
            if entries:
                lines += [f"# {title}:", *(f"#   {entry.strip()}" for entry in entries)]
        lines.append(f"num_ranks {len(self.ranks)}")
        for number, rank in enumerate(self.ranks):
            lines += [f"rank {number} {{", *rank.texts, *rank.demands, "}"]
        return "\n".join(lines) + "\n"
