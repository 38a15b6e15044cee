# SPDX-License-Identifier: BSD-3-Clause
"""Times of events in a run, measured from its samples and traces."""
import csv
import dataclasses

import numpy as np

from experiments.frame import Check
from report.plots import GREY

INCREASES = {"fast", "additive", "hyper"}  # reasons in trace.csv
LOOKED_AT_US = 10  # after the end of a pause, until the NIC has updated each QP
NEVER = float("nan")  # a Check with this value fails


@dataclasses.dataclass(frozen=True)
class Stage:
    mark: str  # name in the document, such as t1
    what: str
    at_us: float  # NEVER: it was not found


@dataclasses.dataclass(frozen=True)
class Change:
    """One row of trace.csv."""
    at_us: float
    flow: str
    qp: str
    rate_bps: float
    time_stage: int
    reasons: frozenset


def us(series):
    return series["time_ns"] / 1e3


def first(series, holds, after_us=0.0):
    """Time of the first sample from after_us on for which the array `holds` is true."""
    if series is None:
        return NEVER
    at = us(series)[holds & (us(series) >= after_us)]
    return at[0] if len(at) else NEVER


def last(series, holds):
    at = us(series)[holds]
    return at[-1] if len(at) else NEVER


def grows(series, column):
    """For each sample: did a cumulative column grow since the previous one?"""
    return series.growth(column) > 0


def at(series, column, time_us):
    """Value of a column at the first sample from time_us on."""
    return value_at(series, series[column], time_us)


def value_at(series, values, time_us):
    """As at(), for an array with one value per sample. NEVER: there is no such sample, or time_us is NEVER."""
    return values[np.searchsorted(us(series), time_us)] if time_us <= us(series)[-1] else NEVER


def episodes(series, holds):
    """[(begin, end)] in us of the successive samples for which `holds` is true; the last one may end with the run."""
    edges = np.flatnonzero(np.diff(holds.astype(int), prepend=0, append=0))
    times = np.append(us(series), us(series)[-1])
    return [(times[begin], times[end]) for begin, end in zip(edges[::2], edges[1::2])]


def held(run, node, port, column="tx_paused", prio="3"):
    """[(begin, end)] of the pauses that a port sent (tx_paused) or received (rx_paused)."""
    series = run.pauses.get((node, str(port), prio))
    return [] if series is None else episodes(series, series[column] > 0)


def held_bytes(group):
    """Bytes that a priority group holds beyond its reserved bytes."""
    return group["shared_bytes"] + group["headroom_bytes"]


def begin_after(spans, after_us=0.0):
    return next((begin for begin, _ in spans if begin >= after_us), NEVER)


def end_after(spans, after_us):
    return next((end for _, end in spans if end >= after_us), NEVER)


def last_end(spans):
    return spans[-1][1] if spans else NEVER


def total(run, column, prefix=""):
    """Sum of a column over the flows whose names begin with prefix, at each sample."""
    return sum(series[column] for name, series in run.flows.items() if name.startswith(prefix))


def clock(run):
    """A series with the time of each sample."""
    return max(run.flows.values(), key=lambda series: len(series["time_ns"]))


def trace(run):
    """All Changes, in order of time."""
    with open(run.folder / "trace.csv", newline="", encoding="utf-8") as file:
        rows = [Change(int(row["time_ns"]) / 1e3, row["flow"], row["qp"], float(row["rate_bps"]), int(row["time_stage"]),
                       frozenset(row["reason"].split("+"))) for row in csv.DictReader(file)]
    return sorted(rows, key=lambda change: change.at_us)


def first_change(changes, reasons, after_us=0.0):
    """Time of the first Change for one of the reasons."""
    return next((c.at_us for c in changes if c.at_us >= after_us and c.reasons & reasons), NEVER)


def risen_in_pauses(run, spans_by_flow, reset_us, sample_us=1):
    """QPs whose rate the timer raised during a pause: [(flow, QP, end of the pause)].

    The NIC updates a paused QP only when it may send again. So the pause must have lasted for reset_us after the QP's last cut, and the
    trace must have the increase right after the end of the pause."""
    changes, risen = trace(run), []
    for flow, spans in spans_by_flow.items():
        for qp in sorted({change.qp for change in changes if change.flow == flow}):
            mine = [change for change in changes if (change.flow, change.qp) == (flow, qp)]
            for begin, sample in spans:
                end = sample - sample_us  # the QP is still paused then
                before = [change for change in mine if change.at_us <= end]
                after = [change for change in mine if end < change.at_us < end + LOOKED_AT_US]
                if before and after and after[0].reasons & INCREASES and max(before[-1].at_us, begin) + reset_us <= end:
                    risen.append((flow, qp, end))
    return risen


def checks(prefix, found):
    """A Check for each Stage: it was found, and not earlier than the previous one."""
    lows = [0.0, *(stage.at_us for stage in found)]
    return [Check(f"{prefix}{stage.what}", stage.at_us, low, unit="us", stated=stage.mark) for stage, low in zip(found, lows)]


def thresholds(axes, by_name):
    """Lines with their names at the right end: the highest name is above its line, all others below."""
    names = sorted(by_name, key=by_name.get)
    for i, name in enumerate(names):
        axes.axhline(by_name[name], color=GREY, ls=":", lw=1)
        axes.annotate(name, (1, by_name[name]), xycoords=axes.get_yaxis_transform(), xytext=(4, 0), textcoords="offset points",
                      va="bottom" if i == len(names) - 1 else "top", fontsize=8.5, color=GREY, annotation_clip=False)


def merged(found):
    """[(time, marks of all Stages at that time)] in order of time, without the Stages that were not found."""
    at_times = {}
    for stage in found:
        if stage.at_us == stage.at_us:
            at_times.setdefault(stage.at_us, []).append(stage.mark)
    return [(at_us, ", ".join(marks)) for at_us, marks in sorted(at_times.items())]


def label(axes, found):
    """Write the marks above a panel with a logarithmic time axis, side by side where they are close."""
    placed, gap = -np.inf, 0.024 * np.diff(np.log10(axes.get_xlim()))[0]
    for at_us, text in merged(found):
        placed = max(np.log10(at_us), placed + gap)
        axes.annotate(text, xy=(at_us, 1), xytext=(10 ** placed, 1.1), xycoords=axes.get_xaxis_transform(), textcoords=axes.get_xaxis_transform(),
                      ha="center", va="bottom", fontsize=8.5, rotation=90, annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6, "shrinkA": 0, "shrinkB": 0})
