# SPDX-License-Identifier: BSD-3-Clause
"""Slowdown of messages by their size. Messages are two arrays: bytes, slowdown (quench.Run.messages)."""
import numpy as np

PERCENTILES = {"p50": 50, "p95": 95, "p99": 99, "p999": 99.9}
SHARES = 10
BATCHES = 10
STUDENT_95 = 2.262  # of nine degrees of freedom: BATCHES - 1
# A percentile stands on the messages above it: p99 of 100 messages on one.
FEWEST = 100


def equal_shares(messages, shares=SHARES):
    """Upper ends of buckets with equal numbers of messages. Messages of one size are in one bucket, so there may be fewer buckets."""
    sizes = np.sort(messages[0])
    if not len(sizes):
        return []
    return list(dict.fromkeys(int(sizes[-(-len(sizes) * i // shares) - 1]) for i in range(1, shares + 1) if len(sizes) * i >= shares))


def percentile(ordered, percent):
    """The smallest of the values such that at least percent % of them are no larger."""
    return float(ordered[max(0, int(np.ceil(len(ordered) * percent / 100)) - 1)])


def buckets(messages, edges):
    """[{from_bytes, to_bytes, messages, p50, p95, p99, p999}] of the buckets (edge before, edge], the first from 0. Empty ones are left out."""
    sizes, slowdowns = messages
    found, below = [], -1
    for edge in edges:
        inside = np.sort(slowdowns[(sizes > below) & (sizes <= edge)])
        if len(inside):
            found.append({"from_bytes": below + 1, "to_bytes": edge, "messages": len(inside),
                          **{name: percentile(inside, percent) for name, percent in PERCENTILES.items()}})
        below = edge
    return found


def all_messages(messages):
    """The same for all sizes; None without messages."""
    if messages is None or not len(messages[0]):
        return None
    return buckets(messages, [int(messages[0].max())])[0]


def interval(messages, percent):
    """
    (low, high): 95 % confidence interval of a percentile, by the method of batch means: BATCHES successive batches of messages, in the order of
    their ends. None: a batch has fewer than FEWEST messages.
    """
    if messages is None or len(messages[1]) < BATCHES * FEWEST:
        return None
    values = [percentile(np.sort(batch), percent) for batch in np.array_split(messages[1], BATCHES)]
    half = STUDENT_95 * np.std(values, ddof=1) / np.sqrt(BATCHES)
    return float(np.mean(values) - half), float(np.mean(values) + half)
