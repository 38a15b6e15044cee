# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a QP's trace in words, one by one or as a story of a few lines. lib/ctl/results/explain.h has the same words for quench-lab."""
from __future__ import annotations

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


def event(row: Row, before: Row | None) -> Event:
    did = frozenset(word for word in row["reason"].split("+") if word != "state")
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


class Chapter(NamedTuple):
    """Consecutive events, as one line: those from first to before end."""

    first: int
    end: int
    low: float   # rates
    high: float
    told: bool   # a start or an end: always has a line of its own
    reloads: bool


def chapter(i: int, e: Event) -> Chapter:
    before = e.rate_before or e.rate
    return Chapter(i, i + 1, min(before, e.rate), max(before, e.rate), not e.did or "start" in e.did, "reload" in e.did)


def join_pairs(chapters: Sequence[Chapter], near: float) -> tuple[list[Chapter], float]:
    """Join neighbours that are near, each once, so that all grow equally. @return also the least distance of neighbours that are not

    The distance is the ratio of the highest to the lowest rate, doubled if one of them alone has a reload.
    """
    found: list[Chapter] = []
    least = FAR
    one = chapters[0]
    pending = True  # one is not in found yet
    for other in chapters[1:]:
        if not pending:
            one, pending = other, True
            continue
        low = one[2] if one[2] < other[2] else other[2]
        high = one[3] if one[3] > other[3] else other[3]
        far = FAR if one[4] or other[4] else (high / low if low else 1.0) * (1 if one[5] == other[5] else 2)
        if far <= near:
            found.append(Chapter(one[0], other[1], low, high, False, one[5] or other[5]))
            pending = False
            continue
        if far < least:
            least = far
        found.append(one)
        one = other
    if pending:
        found.append(one)
    return found, least


def line(of: Sequence[Event], low: float, high: float) -> str:
    first, last = of[0], of[-1]
    if len(of) == 1:
        return f"{first.row['time_ns'] / 1e6:12.4f} ms  {what(first)}"
    begin, end = first.rate_before or first.rate, last.rate
    text = f"{first.row['time_ns'] / 1e6:12.4f} ms  to {last.row['time_ns'] / 1e6:.4f} ms  {rate(begin)} to {rate(end)}"
    if low < min(begin, end) or high > max(begin, end):
        text += f", between {rate(low)} and {rate(high)}"
    counts = {word: sum(word in e.did for e in of) for word in COUNTS}
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
    chapters, near = [chapter(i, e) for i, e in enumerate(found)], 1.0
    while len(chapters) > most_lines and near < FAR:
        before = len(chapters)
        chapters, least = join_pairs(chapters, near)
        if len(chapters) == before:
            near = max(near, least / 1.07) * 1.07
    return [line(found[one.first:one.end], one.low, one.high) for one in chapters]
