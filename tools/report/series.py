# SPDX-License-Identifier: BSD-3-Clause
"""Time series for the page's charts: thinned out without losing a peak, and short as text.

A chart is {id, title, unit, note, parts, lines, steps}. A part is a time axis in ms and its series, {label, shown, values}. A series may
also have model (drawn black), total (it stands for all), or run (the number of its run, when runs are compared). lines are thresholds; each names the label of its series.
"""
import numpy as np

MOST_SERIES = 400  # of one chart: those with the largest values; the page states the total number
SHOWN = 8  # series shown at first, if there are no more
WORST = 3  # of more series, those shown at first
MOST_VALUES = 250_000  # of one chart: about 1.2 MB of text
MOST_POINTS, LEAST_POINTS = 4000, 120  # of one series


def rounded(values):
    """Round to four digits, which is finer than a pixel."""
    return [None if np.isnan(v) else float(f"{v:.4g}") if v else 0 for v in values]


class Thinner:
    """
    Thins out columns of equal length: of each group of neighbours, the minimum and the maximum remain, in their order. So even a peak of
    one sample keeps its height.
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
        low, high = np.fmin.reduceat(column, self.starts), np.fmax.reduceat(column, self.starts)  # of those that are known
        padded = np.append(column, np.full(-len(column) % self.group, column[-1])).reshape(-1, self.group)
        rising = padded.argmin(axis=1) <= padded.argmax(axis=1)
        return np.column_stack((np.where(rising, low, high), np.where(rising, high, low))).ravel()

    def last_times(self, ms):
        return ms[np.append(self.starts[1:], self.n) - 1]

    def means(self, column):
        """Of samples of one length."""
        return np.add.reduceat(column, self.starts) / np.diff(np.append(self.starts, self.n))


def on_axis(series, values, times_ns):
    """A column at all sample times; 0 before its first row."""
    missing = len(times_ns) - len(values)
    if missing >= 0 and np.array_equal(times_ns[missing:], series["time_ns"]):
        return np.append(np.zeros(missing), values)
    return np.interp(times_ns, series["time_ns"], values)  # not of one run: never quench-lab's


def growth_per_ms(series, column, times_ns):
    """Growth of a cumulative column in each interval of the axis, per millisecond."""
    steps = np.maximum(np.diff(times_ns, prepend=begin_of(times_ns)), 1)
    return np.diff(on_axis(series, series[column], times_ns), prepend=0) / steps * 1e6


def since_first(column):
    """Unknown before the first value that is not 0: a flow without a QP has no rate."""
    return np.where(np.logical_or.accumulate(column != 0), column, np.nan)


def mean_of(columns, axis):
    """Of those that are known; NaN: none is."""
    known = ~np.isnan(columns)
    n = known.sum(axis=axis)
    return np.where(n, np.where(known, columns, 0).sum(axis=axis) / np.maximum(n, 1), np.nan)


def most_first(columns, lowest=False):
    """The MOST_SERIES columns with the largest values, or the lowest ones, in their order, and the number of all columns: [(label, column)], n."""
    if len(columns) <= MOST_SERIES:
        return columns, len(columns)
    weight = np.array([np.nanmean(np.abs(column)) for _, column in columns])
    keep = np.sort(np.argsort(weight if lowest else -weight, kind="stable")[:MOST_SERIES])
    return [columns[i] for i in keep], len(columns)


def begin_of(times):
    """Begin of the first interval, which is as long as the second, if that is not before 0."""
    return max(0.0, 2 * times[0] - times[1]) if len(times) > 1 else 0.0


def begin(part):
    """Add a point at the begin of the first interval, because each value covers the interval that ends at its time."""
    ms = part["ms"]
    if len(ms) > 1:
        part["ms"] = [round(begin_of(ms), 6), *ms]
        for s in part["series"]:
            s["values"].insert(0, s["values"][0])


def part(ms, columns, first=(), counts=False, lowest=False, total=None, **extra):
    """
    One time axis and its series. At first, those with the largest values are shown, unless these are nearly 0. lowest: those with the lowest
    mean. first: labels of series that are shown with them. total: (label, column) of a series that stands for all; it is added if there are many.

    @return the part, number of samples per point, number of series
    """
    columns, n = most_first(columns, lowest)
    many = len(columns) > SHOWN
    if many and total:
        columns, first = [total, *columns], [*first, total[0]]
    points = int(np.clip(MOST_VALUES // max(len(columns), 1), LEAST_POINTS, MOST_POINTS))
    thin = Thinner(len(ms), points)
    times, values = (thin.last_times, thin.means) if counts else (thin.times, thin.values)
    weight = [-np.nanmean(column) if lowest else np.nanmax(column, initial=0) for _, column in columns]
    order = sorted((i for i in range(len(columns)) if not (many and total and i == 0)), key=lambda i: -weight[i])
    limit = max(weight, default=0) / 100
    shown = {i for i in order[:WORST if many else SHOWN] if lowest or weight[i] >= limit} | {i for i, (label, _) in enumerate(columns) if label in first}
    return {"ms": rounded_times(times(ms)),
            "series": [{"label": label, "shown": i in shown, "values": rounded(values(column)), **({"total": True} if many and total and i == 0 else {}), **extra}
                       for i, (label, column) in enumerate(columns)]}, thin.group, n


def rounded_times(ms):
    return [round(float(t), 6) for t in ms]
