# SPDX-License-Identifier: BSD-3-Clause
"""Slowdown of messages by their size, as quench-lab has it in results.json, and for other edges from messages.csv."""
import numpy as np

SHARES = 10
PERCENTILES = {"p50": 50, "p95": 95, "p99": 99, "p999": 99.9}
NAMES = {"p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9"}
# A percentile stands on the messages above it: p99 of 100 messages on one.
FEWEST = 100
STUDENT_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
              2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045)  # of 1, 2, ... degrees of freedom


def of(run):
    """slowdown_by_size of results.json; without it (an older quench-lab), one without messages."""
    empty = {"from_bytes": 0, "to_bytes": 0, "messages": 0, "not_ended": 0, "p99_bound": None, "p99_may_rise": False, **dict.fromkeys(PERCENTILES)}
    return run.results.get("slowdown_by_size") or {"all": empty, "sizes": [], "p99_low": None, "p99_high": None}


def notes(run):
    """Lines: is the run long enough for its tail?"""
    found = of(run)
    whole, buckets = found["all"], found["sizes"]
    lines = []
    if whole["not_ended"]:
        share = whole["not_ended"] / (whole["messages"] + whole["not_ended"]) * 100
        rising = sum(bucket["p99_may_rise"] for bucket in buckets)
        line = f"{whole['not_ended']} message{'s' if whole['not_ended'] != 1 else ''} ({share:.3g} %) had begun or arrived, and not ended"
        if whole["p99_may_rise"] or rising:
            line += f", and may raise the p99{f' of {rising} of {len(buckets)} sizes' if rising and len(buckets) > 1 else ''}: run longer, or set stop_ns before the end"
        lines.append(line)
    scarce = sum(0 < bucket["messages"] < FEWEST for bucket in buckets)
    if scarce:
        which = f"{scarce} of {len(buckets)} sizes have" if len(buckets) > 1 else "there are"
        lines.append(f"{which} fewer than {FEWEST} messages, so their p99 is the largest slowdown: run longer")
    return lines


def equal_shares(messages):
    """Upper ends of SHARES buckets with equal numbers of messages. Messages of one size are in one bucket, so there may be fewer buckets."""
    sizes = np.sort(messages[0])
    return list(dict.fromkeys(int(sizes[-(-len(sizes) * i // SHARES) - 1]) for i in range(1, SHARES + 1) if len(sizes) * i >= SHARES))


def percentile(ordered, percent):
    """The smallest of the values such that at least percent % of them are no larger."""
    return float(ordered[max(0, int(np.ceil(round(len(ordered) * percent / 100, 6))) - 1)])


def buckets(messages, edges):
    """The same buckets from (bytes, slowdown): (edge before, edge], the first from 0. Empty ones are left out."""
    sizes, slowdowns = messages
    found, below = [], -1
    for edge in edges:
        inside = np.sort(slowdowns[(sizes > below) & (sizes <= edge)])
        if len(inside):
            found.append({"from_bytes": below + 1, "to_bytes": edge, "messages": len(inside),
                          **{name: percentile(inside, percent) for name, percent in PERCENTILES.items()}})
        below = edge
    return found


def mean(values):
    """Mean, between the least and the greatest value: numpy's mean of equal values may differ from them in the last bit."""
    return float(min(max(np.mean(values), np.min(values)), np.max(values)))


def interval(values):
    """(low, high): 95 % confidence interval of the mean of the values of independent runs. None: of fewer than two."""
    values = [value for value in values if value is not None]
    if len(values) < 2:
        return None
    student = STUDENT_95[len(values) - 2] if len(values) - 2 < len(STUDENT_95) else 1.96
    half = float(student * np.std(values, ddof=1) / np.sqrt(len(values)))
    return mean(values) - half, mean(values) + half
