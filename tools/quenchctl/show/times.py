# SPDX-License-Identifier: BSD-3-Clause
"""show times: the histograms of a flow's times, since its start or since a clear."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from quench.desk import Row
from quenchctl.command import DONE, Run, print_json
from quenchctl.show import baseline

MOST_LINES, BAR_CHARS = 20, 40


class Measure(NamedTuple):
    key: str
    name: str
    unit: str = ""  # "": a time

    def text(self, value: int) -> str:
        return f"{value / 1000:.3g}{self.unit}" if self.unit else time_text(value)


MEASURES = [Measure("completion_ns", "completion time"), Measure("slowdown_milli", "slowdown", "x"), Measure("rtt_ns", "round-trip time"),
            Measure("jitter_ns", "jitter of the pacing"), Measure("burst_gap_ns", "gap between bursts"), Measure("one_way_ns", "one-way time")]
QUANTILES = {"p50": ("p50", 50), "p95": ("p95", 95), "p99": ("p99", 99), "p999": ("p99.9", 99.9), "max": ("max", 100)}


def time_text(ns: int) -> str:
    """Three digits: "812 ns", "8.83 us", "90.7 ms", "1.25 s"."""
    value, units = float(ns), ["ns", "us", "ms", "s"]
    while value >= 999.5 and len(units) > 1:
        value /= 1000
        units.pop(0)
    digits = 0 if units[0] == "ns" else 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {units[0]}"


def count(buckets: Sequence[Row]) -> int:
    return sum(bucket["count"] for bucket in buckets)


def quantile(buckets: Sequence[Row], pct: float) -> int:
    """The smallest bucket at or below which at least pct percent of the samples lie."""
    below, wanted = 0, math.ceil(count(buckets) * pct / 100)
    for bucket in buckets:
        below += bucket["count"]
        if below >= wanted:
            return int(bucket["at_most"])
    return 0


def lines(buckets: Sequence[Row]) -> list[tuple[int, int]]:
    """(at most, count) of at most MOST_LINES lines, a fixed number in a factor of ten."""
    decades = math.log10(max(buckets[-1]["at_most"], 1)) - math.log10(max(buckets[0]["at_most"], 1))
    per_decade = next((step for step in (320, 160, 80, 40, 20, 10, 5, 2) if decades * step + 2 <= MOST_LINES), 1)
    found: dict[int, tuple[int, int]] = {}
    for bucket in buckets:
        line = math.ceil(math.log10(max(bucket["at_most"], 1)) * per_decade - 1e-9)
        found[line] = bucket["at_most"], found.get(line, (0, 0))[1] + bucket["count"]
    return list(found.values())


def print_measure(measure: Measure, buckets: Sequence[Row]) -> None:
    total, below = count(buckets), 0
    shown = "".join(f", {name} {measure.text(quantile(buckets, pct))}" for name, pct in QUANTILES.values())
    print(f"{measure.name}: {total} samples{shown}\n{'at most':>12} {'count':>12} {'cumulative':>10}")
    found = lines(buckets)
    longest = max(n for _, n in found)
    for top, n in found:
        below += n
        print(f"{measure.text(top):>12} {n:>12} {100 * below / total:>9.2f}% {'#' * math.ceil(n * BAR_CHARS / longest)}")
    print()


def run(run_: Run) -> int:
    reply = run_.desk.call("times", flow=run_.params[0])
    kept = None if run_.options.since_start else baseline.load(run_.desk)
    baseline.subtract(kept, baseline.key("times", run_.named()), reply)
    rows = reply.get("rows", [])
    found = [(measure, buckets) for measure in MEASURES if (buckets := [row for row in rows if row["measure"] == measure.key and row["count"] > 0])]
    if run_.options.json:
        print_json({"flow": reply["flow"],
                    "times": [{"measure": measure.key, "count": count(buckets), **{key: quantile(buckets, pct) for key, (_, pct) in QUANTILES.items()}}
                              for measure, buckets in found],
                    "rows": [row for _, buckets in found for row in buckets]})
        return DONE
    for measure, buckets in found:
        print_measure(measure, buckets)
    if not found:
        print("nothing was measured yet")
    return DONE
