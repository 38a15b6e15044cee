# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a QP's trace in words, one by one or as a story of a few lines. lib/ctl/results/explain.h has the same words for quench-lab."""
from __future__ import annotations

import collections
import functools
from collections.abc import Sequence
from typing import NamedTuple

from quench.desk import Row

RISES = {"hyper": "hyper increase", "additive": "additive increase", "fast": "fast recovery"}
FAR = 1e12  # distance between chapters that are never joined; every ratio of rates is smaller


class Event(NamedTuple):
    """A row of a trace: congestion control has acted."""

    row: Row
    did: frozenset[str]  # words of the row's reason; none: the state when the trace began
    before: Row | None   # the row before; None: not known

    @property
    def rate(self) -> int:
        return int(self.row["rate_bps"])

    @property
    def rate_before(self) -> int | None:
        return int(self.before["rate_bps"]) if self.before else None

    def rose(self, stage: str) -> bool:
        return self.before is not None and self.row[stage] > self.before[stage]


@functools.cache
def deeds(reason: str) -> frozenset[str]:
    return frozenset(word for word in reason.split("+") if word != "state")


def event(row: Row, before: Row | None) -> Event:
    did = deeds(row["reason"])
    return Event(row, did, before or (row if not did or "start" in did else None))


def events(rows: Sequence[Row]) -> list[Event]:
    return [event(row, before) for row, before in zip(rows, [None, *rows])]


def rate(bps: float) -> str:
    return f"{bps / 1e9:.3f} Gb/s" if bps >= 1e9 else f"{bps / 1e6:.1f} Mb/s"


def move(what: str, e: Event) -> str:
    # The row before may be lost.
    origin = f" from {rate(e.rate_before)}" if e.rate_before else ""
    return f"{what}{origin} to {rate(e.rate)}"


def clock(e: Event) -> str:
    """Which of DCQCN's two stages has risen."""
    timer, counter = e.rose("time_stage"), e.rose("byte_stage")
    return ", by timer and byte counter" if timer and counter else ", by the timer" if timer else ", by the byte counter" if counter else ""


def cut(e: Event) -> str:
    rose = not e.did.isdisjoint(RISES)
    # An increase that was due first may have been larger than the cut.
    text = move("an increase, then a cut:" if rose else "cut", e)
    if "cnp" not in e.did or not e.rate_before:
        return text
    # SIGCOMM15 equation 1: R_C (1 - alpha / 2).
    alpha = "" if rose or not e.row["alpha"] else f"alpha {2 * (1 - e.rate / e.rate_before):.3f}, "
    return f"{text} ({alpha}target {rate(e.row['target_rate_bps'])})"


def rise(e: Event) -> str:
    text = move(next(words for word, words in RISES.items() if word in e.did), e)
    # Only DCQCN has stages.
    if not e.row["time_stage"] and not e.row["byte_stage"]:
        return text
    return f"{text}, target {rate(e.row['target_rate_bps'])} (T {e.row['time_stage']}, BC {e.row['byte_stage']}{clock(e)})"


def state(e: Event) -> str:
    target = f", target {rate(e.row['target_rate_bps'])}" if e.row["target_rate_bps"] != e.rate else ""
    alpha = f", alpha {e.row['alpha']:.3f}" if e.row["alpha"] else ""
    return f"the trace begins at {rate(e.rate)}{target}{alpha}"


def reload(e: Event) -> str:
    """A flow's cap limits the QP in addition to congestion control: no rate here includes it."""
    if e.rate_before and e.rate_before != e.rate:
        return move("reload: other parameters,", e)
    return f"reload: other parameters, or another cap: stays at {rate(e.rate)}"


def telemetry(e: Event) -> str:
    """HPCC: each ACK moves the rate, and one in a round trip moves the reference window, too."""
    return move("telemetry, lower reference window: rate" if "cut" in e.did else
                "telemetry, higher reference window: rate" if "additive" in e.did else "telemetry: rate", e)


def what(e: Event) -> str:
    """An event in words."""
    did = e.did
    text = "" if did else state(e)
    text += reload(e) if "reload" in did else ""
    text += f"starts at {rate(e.rate)}" if "start" in did else ""
    text += f"round trip of {e.row['rtt_ns'] / 1e3:.1f} us: " if "rtt" in did else ""
    text += "".join(words for word, words in (("loss", "loss: "), ("cnp", "CNP: "), ("ecn", "mark echoed: ")) if word in did)
    if "int" in did:
        text += telemetry(e)
    elif "cut" in did:
        text += cut(e)
    elif not did.isdisjoint(RISES):
        text += rise(e)
    elif "cnp" in did:
        text += "no cut now"
    elif not did.isdisjoint(("rtt", "ecn")):
        text += "no change"
    text += "; limited from here on" if "engage" in did else ""
    return text + ("; at the maximum rate, no longer limited" if "release" in did else "")


COUNTS = {"cnp": ("CNP", "CNPs"), "cut": ("cut", "cuts"), "fast": ("fast recovery", "fast recoveries"), "additive": ("additive increase", "additive increases"),
          "hyper": ("hyper increase", "hyper increases"), "reload": ("change of parameters", "changes of parameters")}


class Chapters:
    """Consecutive events, a line each. A chapter is known by the number of its first event."""

    def __init__(self, found: Sequence[Event]) -> None:
        rates = [e.rate for e in found]
        before = [e.rate_before or e.rate for e in found]
        self.low: list[float] = [min(pair) for pair in zip(before, rates)]
        self.high: list[float] = [max(pair) for pair in zip(before, rates)]
        self.told = [not e.did or "start" in e.did for e in found]  # a start or an end: always has a line of its own
        self.reloads = ["reload" in e.did for e in found]
        self.next = list(range(1, len(found) + 1))
        self.last = list(range(-1, len(found)))  # the chapter before; that of the end is at the end
        self.here = bytearray(b"\x01") * len(found)  # 0: it has been joined to another
        self.n = len(found)
        self.far = [self.distance(i, i + 1) for i in range(len(found) - 1)] + [FAR]

    def distance(self, i: int, j: int) -> float:
        """The ratio of the highest to the lowest rate, doubled if one of them alone has a reload."""
        if self.told[i] or self.told[j]:
            return FAR
        low = self.low[i] if self.low[i] < self.low[j] else self.low[j]
        high = self.high[i] if self.high[i] > self.high[j] else self.high[j]
        return (high / low if low else 1.0) * (1 if self.reloads[i] == self.reloads[j] else 2)

    def join(self, i: int) -> None:
        """Join a chapter and the next one."""
        j = self.next[i]
        self.low[i] = min(self.low[i], self.low[j])
        self.high[i] = max(self.high[i], self.high[j])
        self.reloads[i] = self.reloads[i] or self.reloads[j]
        end = self.next[i] = self.next[j]
        self.last[end] = i
        self.here[j] = 0
        self.n -= 1
        self.far[i] = self.distance(i, end) if end < len(self.far) else FAR
        if self.last[i] >= 0:
            self.far[self.last[i]] = self.distance(self.last[i], i)

    def join_pairs(self, near: float, among: Sequence[int]) -> list[int]:
        """Join neighbours that are near, each once, so that all grow equally. @return those that are near now, in order"""
        joined: list[int] = []
        busy = -1  # the chapter that has grown last
        for i in among:
            if self.far[i] <= near and busy < i and (busy < 0 or self.next[busy] <= i):
                self.join(i)
                joined.append(i)
                busy = i
        nearer = {k for i in joined for k in (self.last[i], i) if k >= 0 and self.far[k] <= near}
        return sorted(nearer)


def line(of: Sequence[Event], low: float, high: float) -> str:
    first, last = of[0], of[-1]
    if len(of) == 1:
        return f"{first.row['time_ns'] / 1e6:12.4f} ms  {what(first)}"
    begin, end = first.rate_before or first.rate, last.rate
    text = f"{first.row['time_ns'] / 1e6:12.4f} ms  to {last.row['time_ns'] / 1e6:.4f} ms  {rate(begin)} to {rate(end)}"
    if low < min(begin, end) or high > max(begin, end):
        text += f", between {rate(low)} and {rate(high)}"
    deeds_of = collections.Counter(e.did for e in of)
    counts = {word: sum(n for did, n in deeds_of.items() if word in did) for word in COUNTS}
    parts = {word: f"{n} {COUNTS[word][n != 1]}" for word, n in counts.items() if n}
    timer, counter = (sum(e.rose(stage) and "cut" not in e.did for e in of) for stage in ("time_stage", "byte_stage"))
    reloads = parts.pop("reload", "")
    found = ", ".join(parts.values()) + (f" (timer {timer}, byte counter {counter})" if timer + counter else "")
    found = ", ".join(part for part in (found, reloads) if part)
    return f"{text}: {found}" if found else text


def story(found: Sequence[Event], most_lines: int) -> list[str]:
    """All events in at most so many lines, unless more of them always have their own.

    Neighbours are joined, first those across which the rate changed least. So the start, where the rate falls by orders of magnitude,
    is told event by event, and a steady state in a line.
    """
    chapters, near = Chapters(found), 1.0
    firsts: Sequence[int] = range(len(found))
    while chapters.n > most_lines and near < FAR:
        among: Sequence[int] = [i for i in firsts if chapters.far[i] <= near]
        while among and chapters.n > most_lines:
            among = chapters.join_pairs(near, among)
        firsts = [i for i in firsts if chapters.here[i]]
        near = max(near, min(chapters.far[i] for i in firsts) / 1.07) * 1.07
    return [line(found[i:chapters.next[i]], chapters.low[i], chapters.high[i]) for i in firsts]
