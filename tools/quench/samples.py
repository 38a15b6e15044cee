# SPDX-License-Identifier: BSD-3-Clause
"""Values of a running program over time."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping

Samples = dict[str, list[float]]


def sample(read: Callable[[], Mapping[str, object]], seconds: float, interval_s: float = 0.1) -> Samples:
    """Call read() at the beginning, then every interval_s, for some seconds, such as quench.sample(lambda: nic.flow("loop"), 5).

    @return the numbers among its values, as columns of equal length, and the column time_s (from 0). Names that the first row does not have
    are left out.
    """
    begin = time.monotonic()
    columns: Samples = {"time_s": []}
    while True:
        at = time.monotonic() - begin
        numbers = {name: float(value) for name, value in read().items() if isinstance(value, (int, float))}
        if not columns["time_s"]:
            columns |= {name: [] for name in numbers}
        for name, column in columns.items():
            column.append(at if name == "time_s" else numbers.get(name, float("nan")))
        # Times are multiples of the interval from the begin, so that slow replies add up to nothing.
        following = (int(at / interval_s) + 1) * interval_s
        if following > seconds:
            return columns
        time.sleep(max(0.0, begin + following - time.monotonic()))


def per_second(samples: Samples, column: str) -> list[float]:
    """Growth of a cumulative column in a second: the mean since the sample before; NaN at the first, which plots leave out."""
    times, values = samples["time_s"], samples[column]
    return [float("nan"), *((b - a) / (t - s) for s, t, a, b in zip(times, times[1:], values, values[1:]))]
