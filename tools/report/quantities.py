# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/plot draws: the curves of a quantity, of runs or of sweeps.

A curve is a label, the number of its run or sweep (its colour), the number of its dash, and columns x, y, low and high; low and high are
a band or a bar, or None.
"""
import re
from dataclasses import dataclass, field

import numpy as np
from quench import BadInput

from . import charts, sizes
from . import series as ts
from .html import size_text

MOST_POINTS = 2000  # of one curve
MOST_STEPS = 150  # of one curve of means
MOST_FLOWS = 8  # with a curve each
BY_SIZE = "slowdown-by-size"


@dataclass
class Curve:
    label: str
    colour: int
    dash: int
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


@dataclass
class Plot:
    kind: str  # line, steps, share, points, or marks: points that no line joins
    x_label: str
    y_label: str
    curves: list[Curve]
    lines: list = field(default_factory=list)  # [{at, label}]
    categories: list | None = None
    x_range: tuple | None = None
    log_x: bool = False


class Window:
    """The part of the time axis that is drawn, in ms; by default, the measured window."""

    def __init__(self, runs, begin_ms, end_ms):
        self.begin = min(run.results["measure_from_ns"] for run in runs) / 1e6 if begin_ms is None else begin_ms
        self.end = max(run.results["duration_ns"] for run in runs) / 1e6 if end_ms is None else end_ms

    def cut(self, times_ns, *columns):
        kept = (times_ns / 1e6 >= self.begin) & (times_ns / 1e6 <= self.end)
        return times_ns[kept] / 1e6, *(column[kept] for column in columns)


def stepped(window, times_ns, columns):
    """The ends of at most MOST_STEPS intervals and the means of columns in each."""
    ms, *cut = window.cut(times_ns, *columns)
    thin = ts.Thinner(len(ms), len(ms))
    thin.group = max(1, -(-len(ms) // MOST_STEPS))
    thin.starts = np.arange(0, len(ms), thin.group)
    return thin.last_times(ms), [thin.means(column) for column in cut]


def sums(column, group, scale):
    """Growth of a counter per ms, summed over the flows, queues or ports of a run."""
    def of(runs, labels, window):
        curves = []
        for i, (run, label) in enumerate(zip(runs, labels)):
            times = charts.times_of(run)
            total = sum((ts.growth_per_ms(s, column, times) for s in getattr(run, group).values()), np.zeros(len(times))) * scale
            x, (y,) = stepped(window, times, [total])
            curves.append(Curve(label, i, 0, x, y))
        return curves
    return of


def queue(runs, labels, window):
    curves = []
    for i, (run, label) in enumerate(zip(runs, labels)):
        series = run.bottleneck()
        if series is not None:
            ms, y = window.cut(series["time_ns"], series["queue_bytes"] / 1e3)
            thin = ts.Thinner(len(ms), MOST_POINTS)
            curves.append(Curve(label, i, 0, thin.times(ms), thin.values(y)))
    return curves


def rate(runs, labels, window):
    """Of one run with few flows a curve for each; else the mean of a run's flows, with a band from the slowest to the fastest."""
    curves = []
    for i, (run, label) in enumerate(zip(runs, labels)):
        times = charts.times_of(run)
        rates = [ts.on_axis(s, s["wire_rate_bps"], times) / 1e9 for s in run.flows.values()]
        if not rates:
            continue
        x, means = stepped(window, times, rates)
        if len(runs) == 1 and len(rates) <= MOST_FLOWS:
            curves += [Curve(name, n, 0, x, y) for n, (name, y) in enumerate(zip(run.flows, means))]
        else:
            curves.append(Curve(label, i, 0, x, np.mean(means, axis=0), np.min(means, axis=0), np.max(means, axis=0)))
    return curves


def shares(measure, scale):
    def of(runs, labels, _):
        curves = []
        for i, (run, label) in enumerate(zip(runs, labels)):
            times = run.all_times(measure)
            if times is not None:
                at_most, percent = charts.cumulated(*times, scale)
                curves.append(Curve(label, i, 0, np.array(at_most), np.array(percent) / 100))
        return curves
    return of


def look(runs, run, n):
    """Colour and dash of the curve n of a run: of one run, each curve has a colour."""
    return (n, 0) if len(runs) == 1 else (run, n)


def completion_times(runs, labels, _):
    """The JCT of each iteration of each job."""
    curves = []
    for i, (run, label) in enumerate(zip(runs, labels)):
        jobs = run.results.get("jobs", [])
        for dash, job in enumerate(jobs):
            words = [label] * (len(runs) > 1) + [job["name"]] * (len(jobs) > 1 or len(runs) == 1)
            rows = job.get("per_iteration", [])
            curves.append(Curve(", ".join(words), *look(runs, i, dash), np.array([it["iteration"] for it in rows]), np.array([it["jct_ns"] / 1e3 for it in rows])))
    return curves


def times_alone(runs, labels, _):
    """The JCT of each iteration of each job, divided by that of the job alone."""
    curves = []
    for i, (run, label) in enumerate(zip(runs, labels)):
        jobs = [job for job in run.results.get("jobs", []) if job["jct_ratio_alone"] is not None]
        for dash, job in enumerate(jobs):
            words = [label] * (len(runs) > 1) + [job["name"]] * (len(jobs) > 1 or len(runs) == 1)
            rows = [it for it in job["per_iteration"] if it["jct_ratio_alone"] is not None]
            curves.append(Curve(", ".join(words), *look(runs, i, dash), np.array([it["iteration"] for it in rows]), np.array([it["jct_ratio_alone"] for it in rows])))
    return curves


def servers(runs, labels, _):
    """What each server sent over its NICs, with a bar from the NIC that sent least to the one that sent most, for the servers of a run."""
    curves = []
    for i, (run, label) in enumerate(zip(runs, labels)):
        found = run.results.get("servers", [])
        nics = np.array([[nic["tx_goodput_bps"] / 1e9 for nic in server["nics"]] for server in found])
        if len(nics):
            curves.append(Curve(label, i, 0, np.arange(1, len(nics) + 1), nics.mean(axis=1), nics.min(axis=1), nics.max(axis=1)))
    return curves


WITHOUT_TIME = ("share", "points", "marks")  # kinds

# Of runs: {quantity: (kind, x, y, curves)}
OF_RUNS = {
    "queue": ("line", "time (ms)", "queue (KB)", queue),
    "rate": ("steps", "time (ms)", "rate of a flow (Gb/s)", rate),
    "marks": ("steps", "time (ms)", "packets marked CE per ms", sums("ecn_marked_packets", "queues", 1)),
    "cnps": ("steps", "time (ms)", "CNPs per ms", sums("cnp_handled", "flows", 1)),
    "pauses": ("steps", "time (ms)", "PFC frames per ms", sums("tx_pause", "pauses", 1)),
    "paused": ("steps", "time (ms)", "paused ports", sums("rx_pause_duration_us", "pauses", 1e-3)),
    "completion": ("share", "completion time (µs)", "share of messages", shares("completion_ns", 1e3)),
    "slowdown": ("share", "slowdown", "share of messages", shares("slowdown_milli", 1e3)),
    "jct": ("points", "iteration", "JCT (µs)", completion_times),
    "jct-of-alone": ("points", "iteration", "JCT, divided by that of the job alone", times_alone),
    "servers": ("marks", "server", "payload sent per NIC of the server (Gb/s)", servers),
    "rtt": ("share", "round-trip time (µs)", "share of round trips", shares("rtt_ns", 1e3)),
}

# Of sweeps: {quantity: (y, scale, {column: its name in the legend})}. Any column of sweep.csv is a quantity as well.
OF_SWEEPS = {
    "queue": ("queue (KB)", 1e-3, {"queue_mean_bytes": "mean", "queue_p99_bytes": "p99"}),
    "rate": ("rate of a flow (Gb/s)", 1e-9, {"rate_max_bps": "fastest", "rate_min_bps": "slowest"}),
    "marks": ("packets marked CE\nin the bottleneck queue", 1, {"ecn_marked_packets": ""}),
    "cnps": ("CNPs sent", 1, {"np_cnp_sent": ""}),
    "pauses": ("PFC frames", 1, {"pause_frames_after_measure": ""}),
    "converged": ("time to converge (ms)", 1, {"converged_ms": ""}),
    "slowdown": ("slowdown", 1, {"slowdown_p50": "p50", "slowdown_p99": "p99"}),
    "jct": ("JCT (µs)", 1e-3, {}),  # of each job
    "jct-of-alone": ("mean JCT, divided by that of the job alone", 1, {}),  # of each job
    "servers": ("payload sent by a server (Gb/s)", 1e-9, {"server_tx_max_bps": "most", "server_tx_min_bps": "least"}),
}


def thresholds(runs):
    """WRED's thresholds, where all runs have the same."""
    found = {(b["wred_min_bytes"], b["wred_max_bytes"]) for b in (run.results["bottleneck"] for run in runs)}
    if len(found) > 1:
        return []
    pairs = {at: label for at, label in zip(found.pop(), ("Kmin", "Kmax")) if at}
    return [{"at": at / 1e3, "label": label} for at, label in pairs.items()]


def by_size(runs, labels, percentiles, edges):
    """
    Percentiles of the slowdown over message sizes.

    @param percentiles  keys of sizes.PERCENTILES
    @param edges        upper ends of the buckets in bytes; empty: those of the results of the first run, mostly ten with equally many messages
    """
    for run in runs:
        if run.messages is None or not len(run.messages[0]):
            raise BadInput(f"{run.folder}: " + ("no messages.csv: expected a run with messages_csv = on" if run.messages is None else
                                                "messages.csv has no message with a slowdown"))
    x_label = "message size, up to"
    if not edges:
        equal = sizes.equal_shares(runs[0].messages)
        # Those of the page: the last is of a message that has not ended, if that is the largest.
        edges = [bucket["to_bytes"] for bucket in sizes.of(runs[0])["sizes"]] or equal
        x_label += " (each a tenth of the messages)" if len(edges) == sizes.SHARES and edges[:-1] == equal[:-1] else ""
    largest = max(int(run.messages[0].max()) for run in runs)
    if largest > edges[-1]:
        edges = [*edges, largest]
    names = [size_text(edge) for edge in edges]
    if len(set(names)) < len(names):
        names = [f"{edge} B" for edge in edges]
    names = dict(zip(edges, names))
    curves = []
    for i, (run, label) in enumerate(zip(runs, labels)):
        found = sizes.buckets(run.messages, edges)
        x = np.array([names[bucket["to_bytes"]] for bucket in found])
        for dash, percentile in enumerate(percentiles):
            words = [label] * (len(runs) > 1) + [percentile.replace("p999", "p99.9")] * (len(percentiles) > 1 or len(runs) == 1)
            curves.append(Curve(", ".join(words), i, dash, x, np.array([bucket[percentile] for bucket in found])))
    y_label = "slowdown" if len(percentiles) > 1 or len(runs) == 1 else f"slowdown, {percentiles[0].replace('p999', 'p99.9')}"
    return Plot("points", x_label, y_label, curves, categories=list(names.values()))


def sweep_by_size(sweeps, labels, percentiles):
    """
    Percentiles of the slowdown over message sizes, a colour for each point of the grid. Seeds and traces repeat a point: the mean over them
    is drawn, with its 95 % confidence interval.
    """
    edges, found = None, []
    for sweep, label in zip(sweeps, labels):
        ends = [sweep.table[name] for name in sweep.table if re.fullmatch(r"size[0-9]+_to_bytes", name)]
        if not ends or any(np.isnan(column).any() for column in ends) or any((column != column[0]).any() for column in ends) \
                or edges not in (None, [column[0] for column in ends]):
            raise BadInput(f"{sweep.folder}: its runs have no common message sizes: expected size_edges in [fabric] of the scenario")
        edges = [column[0] for column in ends]
        found += [(", ".join(word for word in (label if len(sweeps) > 1 else "", group) if word), table) for group, table in sweep.repeated().items()]
    names = np.array([size_text(edge) for edge in edges])
    curves = []
    for colour, (label, table) in enumerate(found):
        for dash, percentile in enumerate(percentiles):
            columns = [table[f"size{i}_{percentile}"] for i in range(1, len(edges) + 1)]
            kept = [i for i, column in enumerate(columns) if not np.isnan(column).all()]
            values = [columns[i][~np.isnan(columns[i])] for i in kept]
            means = np.array([sizes.mean(v) for v in values])
            bounds = [sizes.interval(v) or (m, m) for v, m in zip(values, means)] if len(table["seed"]) > 1 else None
            words = [label] * bool(label) + [sizes.NAMES[percentile]] * (len(percentiles) > 1 or not label)
            curves.append(Curve(", ".join(words), colour, dash, names[kept], means, *(np.array(bound) for bound in zip(*bounds or ()))))
    if not any(len(curve.x) for curve in curves):
        raise BadInput(f"{BY_SIZE}: no message with a slowdown in {', '.join(str(sweep.folder) for sweep in sweeps)}")
    one = percentiles[0] if len(percentiles) == 1 and found[0][0] else None
    return Plot("points", "message size, up to", f"slowdown, {sizes.NAMES[one]}" if one else "slowdown", [curve for curve in curves if len(curve.x)],
                categories=names.tolist())


def of_runs(quantity, runs, labels, begin_ms=None, end_ms=None):
    if quantity not in OF_RUNS:
        raise BadInput(f"{quantity}: no quantity of runs: expected one of {', '.join([*OF_RUNS, BY_SIZE])}")
    kind, x_label, y_label, of = OF_RUNS[quantity]
    if kind in WITHOUT_TIME and (begin_ms is not None or end_ms is not None):
        raise BadInput(f"--from, --to: {quantity} has no time axis")
    window = Window(runs, begin_ms, end_ms)
    curves = [curve for curve in of(runs, labels, window) if len(curve.x)]
    if not curves:
        raise BadInput(f"{quantity}: nothing to draw in {', '.join(str(run.folder) for run in runs)}" +
                       ("" if kind in WITHOUT_TIME else f" from {window.begin:g} to {window.end:g} ms"))
    plot = Plot(kind, x_label, y_label, curves, thresholds(runs) if quantity == "queue" else [])
    if kind == "share":
        least, most = min(c.x[c.x > 0].min() for c in curves), max(c.x.max() for c in curves)
        plot.log_x = bool(most > 10 * least)
        if not plot.log_x:
            plot.x_range = (min(1, least) if quantity == "slowdown" else 0, most * 1.02)
    elif kind in ("points", "marks"):
        plot.x_range = (0.5, float(max(c.x.max() for c in curves)) + 0.5)
    else:
        plot.x_range = (window.begin, window.end)
    return plot


def scaled(values):
    """The values of an axis as numbers and their unit; None: they are not numbers of one unit."""
    parts = [re.fullmatch(r"([0-9.]+) ?([A-Za-z%/]*)", value) for value in values]
    try:
        numbers = [float(part[1]) for part in parts]
    except (TypeError, ValueError):
        return None
    units = {part[2] for part in parts}
    return (numbers, units.pop()) if len(units) == 1 else None


def of_sweeps(quantity, sweeps, labels):
    axis, values = sweeps[0].axes[0]
    for sweep in sweeps[1:]:
        if sweep.axes[0][0] != axis:
            raise BadInput(f"{sweep.folder}: its first axis is {sweep.axes[0][0]}: expected {axis}, as of {sweeps[0].folder}")
    values = list(dict.fromkeys(value for sweep in sweeps for value in sweep.axes[0][1]))
    y_label, scale, columns = OF_SWEEPS.get(quantity, (quantity, 1, {quantity: ""}))
    if quantity == "jct":
        names = [name.removesuffix("_jct_mean_ns") for name in sweeps[0].table if name.endswith("_jct_mean_ns")]
        columns = {f"{name}_jct_{key}_ns": " ".join([name] * (len(names) > 1) + [key]) for name in names for key in ("mean", "p99")}
        if not names:
            raise BadInput(f"{sweeps[0].folder}: jct: its runs have no jobs")
    if quantity == "jct-of-alone":
        names = [name.removesuffix("_jct_ratio_alone") for name in sweeps[0].table if name.endswith("_jct_ratio_alone")]
        columns = {f"{name}_jct_ratio_alone": name if len(names) > 1 else "" for name in names}
        if not names:
            raise BadInput(f"{sweeps[0].folder}: jct-of-alone: expected runs with jobs, of a sweep with --alone")
    numbers = scaled(values)
    curves, colour = [], 0
    for sweep, label in zip(sweeps, labels):
        for group, table in sweep.groups(axis).items():
            name = ", ".join(word for word in (label if len(sweeps) > 1 else "", group) if word)
            for dash, (column, what) in enumerate(columns.items()):
                if column not in table or table[column].dtype.kind != "f":
                    raise BadInput(f"{sweep.folder}: no column of numbers {column}: expected one of {', '.join([*OF_SWEEPS, *numeric(sweep)])}")
                curves.append(curve_of_group(table, axis, column, scale, numbers, values, (", ".join(filter(None, (name, what))) or quantity, colour, dash)))
            colour += 1
    curves = [curve for curve in curves if len(curve.x)]
    if not curves:
        raise BadInput(f"{quantity}: no value in {', '.join(str(sweep.folder) for sweep in sweeps)}")
    keys = axis.replace("+", " = ")  # of which each has the value
    plot = Plot("points", keys if numbers is None or not numbers[1] else f"{keys} ({numbers[1]})", y_label, curves)
    if numbers is None:
        plot.categories = values
    else:
        plot.x_range = (0, max(numbers[0]) * 1.04)
    return plot


def numeric(sweep):
    return [name for name, values in sweep.table.items() if values.dtype.kind == "f"]


def curve_of_group(table, axis, column, scale, numbers, values, look):
    """Mean over the seeds at each value of the axis, with a bar from their least to their greatest."""
    rows = []
    for i, value in enumerate(values):
        found = table[column][table[axis] == value] * scale
        found = found[~np.isnan(found)]
        if len(found):
            rows.append((value if numbers is None else numbers[0][i], sizes.mean(found), found.min(), found.max()))
    if numbers is not None:
        rows.sort()
    x, y, low, high = (list(column) for column in zip(*rows)) if rows else ([], [], [], [])
    return Curve(*look, np.array(x), np.array(y), np.array(low), np.array(high))
