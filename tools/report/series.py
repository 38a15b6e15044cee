# SPDX-License-Identifier: BSD-3-Clause
"""Time series for the page's charts: thinned out so that no peak is lost, and small as text.

A chart is {id, title, unit, note, parts, lines, steps}. A part is a time axis in ms and the series on it, {label, shown, values}, with what
they have otherwise: model (drawn black), run (of two that are compared). lines are thresholds of the series whose label they name.
"""
import numpy as np

MOST_SERIES = 400  # of one chart; those that matter most are taken, and the page says how many there are
SHOWN = 8  # of them at first
MOST_VALUES = 250_000  # of one chart, some 1.2 MB of text
MOST_POINTS, LEAST_POINTS = 4000, 120  # of one series


def rounded(values):
    """Four digits are more than a pixel shows."""
    return [None if np.isnan(v) else float(f"{v:.4g}") if v else 0 for v in values]


class Thinner:
    """
    Columns of equal length in groups of neighbours, of which the least and the most value remain, in the order in which they came:
    a peak of one sample stays as high as it was.
    """

    def __init__(self, n, points):
        self.group = 1 if n <= points else -(-n // (points // 2))
        self.n = n
        self.starts = np.arange(0, n, self.group)

    def times(self, ms):
        if self.group == 1:
            return ms
        last = np.append(self.starts[1:], self.n) - 1
        return np.column_stack((ms[self.starts], ms[np.maximum(last, self.starts + (last > self.starts))])).ravel()

    def values(self, column):
        if self.group == 1:
            return column
        low, high = np.minimum.reduceat(column, self.starts), np.maximum.reduceat(column, self.starts)
        padded = np.append(column, np.full(-len(column) % self.group, column[-1])).reshape(-1, self.group)
        rising = padded.argmin(axis=1) <= padded.argmax(axis=1)
        return np.column_stack((np.where(rising, low, high), np.where(rising, high, low))).ravel()

    def last_times(self, ms):
        return ms[np.append(self.starts[1:], self.n) - 1]

    def means(self, column):
        """Of samples of one length."""
        return np.add.reduceat(column, self.starts) / np.diff(np.append(self.starts, self.n))


def on_axis(series, values, times_ns):
    """A column over all sample times: zero before its first row."""
    missing = len(times_ns) - len(values)
    if missing >= 0 and np.array_equal(times_ns[missing:], series["time_ns"]):
        return np.append(np.zeros(missing), values)
    return np.interp(times_ns, series["time_ns"], values)  # not of one run: never quench-lab's


def growth_per_ms(series, column, times_ns):
    """Of a cumulative column, on the axis: per millisecond of each interval."""
    steps = np.maximum(np.diff(times_ns, prepend=0), 1)
    return np.diff(on_axis(series, series[column], times_ns), prepend=0) / steps * 1e6


def most_first(columns):
    """Those that hold most, in the order that they have, and how many there are: [(label, column)], n."""
    if len(columns) <= MOST_SERIES:
        return columns, len(columns)
    weight = np.array([np.nanmean(np.abs(column)) for _, column in columns])
    keep = np.sort(np.argsort(-weight, kind="stable")[:MOST_SERIES])
    return [columns[i] for i in keep], len(columns)


def begin(part):
    """A value is about the interval that ends at its time: one more point where the first interval begins."""
    ms = part["ms"]
    if len(ms) > 1:
        part["ms"] = [max(0.0, round(2 * ms[0] - ms[1], 6)), *ms]
        for s in part["series"]:
            s["values"].insert(0, s["values"][0])


def part(ms, columns, first=(), counts=False, **extra):
    """
    One time axis and its series. first: labels to be shown; else those that hold most are, unless they hold nearly nothing.

    @return the part, how many samples stand behind a point, how many series there are
    """
    columns, n = most_first(columns)
    points = int(np.clip(MOST_VALUES // max(len(columns), 1), LEAST_POINTS, MOST_POINTS))
    thin = Thinner(len(ms), points)
    times, values = (thin.last_times, thin.means) if counts else (thin.times, thin.values)
    weight = [np.nanmax(column, initial=0) for _, column in columns]
    order = sorted(range(len(columns)), key=lambda i: (columns[i][0] not in first, -weight[i]))
    shown = {i for i in order[:SHOWN] if weight[i] >= weight[order[0]] / 100 or columns[i][0] in first}
    return {"ms": rounded_times(times(ms)),
            "series": [{"label": label, "shown": i in shown, "values": rounded(values(column)), **extra}
                       for i, (label, column) in enumerate(columns)]}, thin.group, n


def rounded_times(ms):
    return [round(float(t), 6) for t in ms]
