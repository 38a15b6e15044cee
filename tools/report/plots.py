# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a report. Each function takes a Run and returns a matplotlib figure."""
from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.patheffects  # noqa: E402
import matplotlib.pyplot  # noqa: E402
import matplotlib.ticker  # noqa: E402
import numpy as np  # noqa: E402

from . import charts  # noqa: E402
from . import sizes as by_size  # noqa: E402
from .html import digits, fixed, number, rate_unit, size_text  # noqa: E402

plt = matplotlib.pyplot
WIDTH = 8.0  # inches
MOST_POINTS = 500  # on one line
MOST_STEPS, LEAST_STEPS = 150, 50  # of counts, and of what goes up and down in each step
ROUGH = 0.1  # of the highest value: lines that change by more than this from step to step cover each other
STEP_COUNT = 4  # of things in a step, on average: fewer would be steps between none and one
LONGEST_START_MS = 5.0
LEAST_SENDING = 0.7  # a run whose last frame is before this share of it is drawn until shortly after that frame
MOST_LINES = 8  # with a colour and a label each; of more flows, the spread is drawn
# Okabe and Ito's colours: distinct for colour-blind eyes, and as greys
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B5B95", "#000000")
# of words in these colours, as WORDS of page.js
WORDS = dict(zip(COLOURS, ("#0072B2", "#B85000", "#007A59", "#A8487E", "#8F6300", "#20709F", "#6B5B95", "#000000")))
GREY = "#6e6e6e"
# black with a white edge, so that it is visible on any colour
MODEL = {"color": "black", "lw": 1.2, "zorder": 5,
         "path_effects": [matplotlib.patheffects.withStroke(linewidth=1.8, foreground="white")]}

plt.rcParams.update({
    "font.size": 10.5, "axes.titlesize": 11.5, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": "#e4e4e4", "grid.linewidth": 0.7, "lines.linewidth": 1.3, "figure.constrained_layout.use": True,
    "axes.xmargin": 0, "svg.fonttype": "path",
})


class Grouped(matplotlib.ticker.ScalarFormatter):
    """Numbers of a linear axis, as fixed() has them."""

    def __init__(self) -> None:
        super().__init__(useOffset=False)
        self.set_scientific(False)

    def __call__(self, x: float, pos: int | None = None) -> str:
        places = len(super().__call__(x, pos).partition(".")[2])
        return fixed(x, places)


def group_ticks(figure: Any) -> None:
    """Of what has no formatter of its own."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if type(axis.get_major_formatter()) is matplotlib.ticker.ScalarFormatter:
                axis.set_major_formatter(Grouped())


class Bins:
    """Thin out columns of equal length to a number of points, by whole groups of neighbours, of which none has two fewer than another."""

    def __init__(self, n, most=MOST_POINTS):
        groups = -(-n // max(1, -(-n // most)))
        self.starts = np.arange(groups) * n // max(groups, 1)
        self.sizes = np.diff(self.starts, append=n)

    def mean(self, values):
        return np.add.reduceat(values, self.starts) / self.sizes

    def max(self, values):
        return np.maximum.reduceat(values, self.starts)

    def min(self, values):
        return np.minimum.reduceat(values, self.starts)


def spread(wanted, gap, lowest):
    """Move label positions apart until neighbours are at least gap apart. Their order stays; so does their middle, unless a label would be
    below lowest."""
    order = np.argsort(wanted, kind="stable")
    placed = np.array(wanted, dtype=float)[order]
    for _ in range(50):
        for i in range(1, len(placed)):
            lack = gap - (placed[i] - placed[i - 1])
            if lack > 1e-9:
                placed[i] += lack / 2
                placed[i - 1] -= lack / 2
    floor = lowest
    for i, at in enumerate(placed):
        placed[i] = max(at, floor)
        floor = placed[i] + gap
    result = np.empty_like(placed)
    result[order] = placed
    return result


def label_ends(axes: Any, labels: Sequence[tuple[float, str, str]]) -> None:
    """Write (y, text, colour) beside the right end of the lines, without overlap."""
    low, high = axes.get_ylim()
    height = axes.figure.get_figheight() * axes.get_gridspec().get_geometry()[0] ** -1 * 0.72
    gap = (high - low) * (matplotlib.rcParams["font.size"] * 1.15 / 72) / height
    for (y, text, colour), at in zip(labels, spread([label[0] for label in labels], gap, low + gap / 2)):
        axes.annotate(text, xy=(1, y), xytext=(12, (at - y) / (high - low) * height * 72),
                      xycoords=axes.get_yaxis_transform(), textcoords="offset points", color=WORDS.get(colour, colour),
                      va="center", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6, "shrinkA": 0, "shrinkB": 1,
                                  "relpos": (0, 0.5)})


def label_decades(axis: Any, low: float, high: float) -> None:
    """Labels of a logarithmic axis: powers of ten, and 2 and 5 times these on a short one."""
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,)))
    axis.set_major_formatter(lambda x, _: digits(x))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def time_axis(axes, end_ms, start_ms=0):
    axes.set_xlim(start_ms, end_ms)
    axes.set_xlabel("time (ms)")


def measured_from(axes, results):
    start = results["measure_from_ns"] / 1e6
    low, high = axes.get_xlim()
    if low < start < high:
        axes.axvline(start, color=GREY, lw=0.9, ls=":")
        axes.annotate("measured from here ", xy=(start, 1), xycoords=axes.get_xaxis_transform(), va="bottom",
                      ha="left" if start < (low + high) / 2 else "right", color=GREY, fontsize=9)


def say_nothing(axes, text):
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY)
    axes.set_yticks([])
    axes.grid(False)


def start_until(series, column, results, factor):
    """End, in ms, of a start phase whose values exceed the largest one of the measured window by factor, times two; 0: there is none."""
    ms, values = series.ms(), series[column]
    measured = series["time_ns"] > results["measure_from_ns"]
    early = ms <= min(results["measure_from_ns"] / 1e6, LONGEST_START_MS)
    usual = values[measured].max(initial=0)
    over = np.flatnonzero(early & (values > factor * usual))
    if not usual or not len(over):
        return 0
    return 2 * ms[over[-1]] if over[-1] >= 4 else ms[min(9, len(ms) - 1)]


def with_start(until_ms, ylabel):
    """A figure with a left panel for the start phase, if there is one. @return figure, left axes or None, axes"""
    left = None
    if until_ms > 0:
        figure, (left, axes) = plt.subplots(1, 2, figsize=(WIDTH, 3.6), width_ratios=(1, 2.6))
        left.set_title("Start", pad=16)
        time_axis(left, until_ms)
    else:
        figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
    (left or axes).set_ylabel(ylabel)
    return figure, left, axes


def draw_model(axes, ms, values, until_ms):
    """A curve of the fluid model."""
    kept = ms <= until_ms
    axes.plot(ms[kept], values[kept], **MODEL)


def draw_start_rates(axes, run, until_ms, bps):
    """bps: of the unit, as below"""
    few = len(run.flows) <= MOST_LINES
    top = 0 if few else draw_spread(axes, run.flows.values(), bps, 0, until_ms)
    for i, series in enumerate(run.flows.values() if few else ()):
        edges = series.edges_ms()
        shown = np.count_nonzero(edges[:-1] < until_ms)
        rate = series["wire_rate_bps"][:shown] / bps
        axes.stairs(rate, edges[:shown + 1], baseline=None, color=COLOURS[i % len(COLOURS)], lw=1.3, alpha=0.9)
        top = max(top, rate.max(initial=0))
    for series in run.fluid.curves():
        edges = series.edges_ms()
        shown = np.count_nonzero(edges[:-1] < until_ms)
        rate = series["wire_rate_bps"][:shown] / bps
        axes.stairs(rate, edges[:shown + 1], baseline=None, **MODEL)
        top = max(top, rate.max(initial=0))
    axes.set_ylim(0, top * 1.06)


def draw_spread(axes, flows, bps, from_ms, until_ms):
    """Of many flows, which may send at different times: in each interval, the rates of those that send then. @return their top in a window"""
    flows = list(flows)
    ms = flows[0].ms()
    sent = np.array([series["wire_rate_bps"] for series in flows]) / bps
    sent[sent == 0] = np.nan
    busy = ~np.isnan(sent).all(axis=0)
    low, middle, high = (np.full(len(ms), np.nan) for _ in range(3))
    low[busy], middle[busy], high[busy] = np.nanpercentile(sent[:, busy], (10, 50, 90), axis=0)
    axes.fill_between(ms, low, high, color=COLOURS[5], alpha=0.45, lw=0, label="10 to 90 %")
    axes.plot(ms, middle, color=COLOURS[0], lw=1.2, label="median")
    return np.nanmax(high[(ms >= from_ms) & (ms < until_ms)], initial=0)


def shown_until(run):
    """End of a time axis in ms, and words for its title: of the run, or shortly after the last frame if that is long before."""
    end, sent = run.results["duration_ns"] / 1e6, charts.sent_until_ms(run)
    if not 0 < sent < LEAST_SENDING * end:
        return end, ""
    return 1.05 * sent, f", first {digits(1.05 * sent)} of {digits(end)} ms"


def smooth_enough(columns):
    """Means of steps that are long enough for lines that do not cover each other: those of a paused link are 0 or all of it in turn."""
    n, most = max(map(len, columns), default=0), MOST_POINTS
    while most // 2 >= LEAST_STEPS:
        bins = Bins(n, most)
        means = [bins.mean(column) for column in columns if len(column) == n]
        top = max((column.max(initial=0) for column in means), default=0)
        if all(np.abs(np.diff(column)).mean() <= ROUGH * top for column in means if len(column) > 1):
            break
        most //= 2
    return most


def rates(run):
    """Wire rate of each flow, and the fair share. A start phase with much larger values has its own panel."""
    results = run.results
    start = max((start_until(series, "wire_rate_bps", results, 1.2) for series in run.flows.values()), default=0)
    unit = rate_unit(results["link_speed_bps"])
    figure, left, axes = with_start(start, f"wire rate ({unit.name})")
    few = len(run.flows) <= MOST_LINES
    end, note = shown_until(run)
    most = smooth_enough([series["wire_rate_bps"][series.ms() <= end] for series in run.flows.values()]) if few else MOST_POINTS
    bands = ", bands: least and most of a step" if most < MOST_POINTS else ""
    axes.set_title((f"Rate of each flow{bands}" if few else f"Rates of the flows that send, {number(len(run.flows))} in all") + note, pad=16 if few else 30)
    time_axis(axes, end)
    if not run.flows:
        say_nothing(axes, "no samples")
        return figure
    if left:
        draw_start_rates(left, run, start, unit.bps)
    labels, tops = [], []
    if not few:
        tops.append(draw_spread(axes, run.flows.values(), unit.bps, start, end))
        axes.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)  # below the title
    for (name, series), colour in zip(run.flows.items() if few else (), COLOURS):
        kept = series.ms() <= end
        bins = Bins(int(kept.sum()), most)
        rate = series["wire_rate_bps"][kept] / unit.bps
        ms, y, highest = bins.mean(series.ms()[kept]), bins.mean(rate), bins.max(rate) if bands else bins.mean(rate)
        if bands:
            axes.fill_between(ms, bins.min(rate), highest, color=colour, alpha=0.15, lw=0)
        axes.plot(ms, y, color=colour, alpha=0.9)
        tops.append(highest[ms >= start].max(initial=0))
        labels.append((y[-max(1, len(y) // 20):].mean(), name, colour))
    # Flows to several hosts have several bottlenecks, and no common share.
    shared = len({flow["dst"] for flow in results["flows"]}) == 1
    share = run.bottleneck_speed_bps() / unit.bps / len(run.flows)
    if shared:
        axes.axhline(share, color="black", lw=1, ls="--")
    for series in run.fluid.curves():
        ms, rate = series.ms(), series["wire_rate_bps"] / unit.bps
        draw_model(axes, ms[ms >= start], rate[ms >= start], end)
        ended = rate[-max(1, len(rate) // 20):].mean()
        if not any(text == "fluid model" and abs(y - ended) < 0.05 * share for y, text, _ in labels):
            labels.append((ended, "fluid model", "black"))
        tops.append(rate[ms >= start].max(initial=0))
    axes.set_ylim(0, max(max(tops), share if shared else 0) * 1.06 or 1)
    label_ends(axes, [*labels, *([(share, f"fair share {digits(share)}", "black")] if shared else [])])
    measured_from(axes, results)
    return figure


def draw_queue(axes, series, until_ms):
    kept = series.ms() <= until_ms
    bins = Bins(int(kept.sum()))
    t = bins.mean(series.ms()[kept])
    queue, peak = series["queue_bytes"][kept] / 1e3, series["queue_max_bytes"][kept] / 1e3
    # rows begin when the queue first held a frame
    t, line, low, high = (np.append(first, values) for first, values in (
        (series.edges_ms()[0], t), (0, bins.mean(queue)), (0, bins.min(np.minimum(queue, peak))),
        (0, bins.max(np.maximum(queue, peak)))))
    axes.fill_between(t, low, high, color=COLOURS[5], alpha=0.45, lw=0)
    axes.plot(t, line, color=COLOURS[0])
    time_axis(axes, until_ms)


def thresholds(run):
    b = run.results["bottleneck"]
    lines = [(b["wred_min_bytes"], "Kmin", COLOURS[1], "--"), (b["wred_max_bytes"], "Kmax", COLOURS[1], "--"),
             (run.results.get("xoff_limit_bytes"), "XOFF limit of a PG", COLOURS[3], "-.")]
    return [(at / 1e3, text, colour, style) for at, text, colour, style in lines if at]


def queue(run):
    """Bottleneck queue and its thresholds. A start phase with much larger values has its own panel."""
    results, series = run.results, run.bottleneck()
    b = results["bottleneck"]
    end, note = shown_until(run)
    where = f"{b['node']} port {b['port']} queue {b['queue']}"
    if series is None:
        figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
        axes.set_title(f"Bottleneck queue ({where})")
        time_axis(axes, end)
        say_nothing(axes, "no samples")
        return figure

    start = start_until(series, "queue_max_bytes", results, 2.5)
    figure, left, axes = with_start(start, "queue (KB)")
    steady = max(series["queue_max_bytes"][series.ms() >= start].max(initial=0), b["queue_max_bytes"], 1) / 1e3
    if left:
        draw_queue(left, series, start)
        left.set_ylim(0, series["queue_max_bytes"].max() / 1e3 * 1.05)
    draw_queue(axes, series, end)
    model = run.fluid.queue(b)
    if model is not None:
        ms, modelled = np.append(0, model.ms()), np.append(0, model["queue_bytes"] / 1e3)
        draw_model(axes, ms, modelled, end)
        if left:
            draw_model(left, ms, modelled, start)
            left.set_ylim(0, max(series["queue_max_bytes"].max() / 1e3, modelled.max()) * 1.05)
        # Its own starts do not set the scale.
        steady = max(steady, model["queue_bytes"][model["time_ns"] > results["measure_from_ns"]].max(initial=0) / 1e3)
    shown = [line for line in thresholds(run) if line[0] <= 4 * steady]
    axes.set_ylim(0, 1.08 * max([steady] + [line[0] for line in shown]))
    axes.set_title(f"Bottleneck queue ({where}){note}\nline: mean of a step, band: least and most", pad=16)
    mean = b["queue_mean_bytes"] / 1e3
    labels = [(mean, f"mean {digits(mean)}", COLOURS[0])] if results["measure_from_ns"] / 1e6 < end else []
    if model is not None:
        labels.append((model["queue_bytes"][-1] / 1e3, f"fluid model {digits(model['queue_bytes'][-1] / 1e3)}", "black"))
    for at, text, colour, style in shown:
        axes.axhline(at, color=colour, ls=style, lw=1)
        labels.append((at, f"{text} {digits(at)}", colour))
    label_ends(axes, labels)
    measured_from(axes, results)
    return figure


def draw_per_ms(axes, groups, column, colour, ylabel, until_ms):
    """Growth of a cumulative column per millisecond, summed over groups that were sampled at the same times."""
    axes.set_ylabel(ylabel)
    if not any(series[column][-1] for series in groups):
        say_nothing(axes, "none in this run" if groups else "no samples")
        return
    longest = max(groups, key=lambda series: len(series["time_ns"]))
    total = np.zeros(len(longest["time_ns"]))
    for series in groups:  # groups that begin late end at the same sample
        total[len(total) - len(series["time_ns"]):] += series.per_ms(column)
    edges = longest.edges_ms()
    shown = np.count_nonzero(edges[:-1] < until_ms)
    count = (total * np.diff(edges))[:shown].sum()
    bins = Bins(shown, int(np.clip(count / STEP_COUNT, LEAST_STEPS, MOST_STEPS)))
    rate = bins.mean(total[:shown])
    edges = np.append(edges[bins.starts], edges[shown])
    axes.stairs(rate, edges, fill=True, color=colour, alpha=0.3, lw=0)
    axes.stairs(rate, edges, color=colour, lw=1, baseline=None)
    usual = rate[len(rate) // 20:].max(initial=0)
    if 0 < usual < rate.max() / 4:  # a burst at the start would flatten the rest of the curve
        axes.set_ylim(0, usual * 1.3)
        axes.annotate(f"up to {fixed(rate.max(), 0)} at the start", xy=(0, 1), xytext=(6, -4), va="top", color=colour,
                      xycoords="axes fraction", textcoords="offset points", fontsize=9,
                      bbox={"facecolor": "white", "alpha": 0.85, "lw": 0, "pad": 0.6})  # the burst is below
    else:
        axes.set_ylim(0, rate.max() * 1.08)


def slowdown(run):
    """Cumulative distribution of the slowdown of each flow's messages."""
    figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
    axes.set_title("Slowdown of messages", pad=34)
    flows = {name: times for (name, measure), times in run.times.items() if measure == "slowdown_milli"}
    if not flows:
        axes.set_xticks([])
        say_nothing(axes, "no message was timed")
        return figure
    few = len(flows) <= MOST_LINES
    styles = [{"color": colour, "alpha": 0.9, "label": name} for name, colour in zip(flows, COLOURS)] if few else \
        [{"color": GREY, "lw": 0.6, "alpha": 0.5, "label": None if i else f"each of {number(len(flows))} flows"} for i in range(len(flows))]
    curves = list(zip(flows.values(), styles))
    if not few:
        curves.append((run.all_times("slowdown_milli"), {"color": COLOURS[0], "lw": 2, "label": "all flows"}))
    for (at_most, count), style in curves:
        share = np.cumsum(count) / count.sum() * 100
        axes.step(np.append(at_most[0], at_most) / 1e3, np.append(0, share), where="post", **style)
    most = max(at_most[-1] for at_most, _ in flows.values()) / 1e3
    least = min(at_most[0] for at_most, _ in flows.values()) / 1e3
    if most > 10 * least:
        axes.set_xscale("log")
        axes.set_xlim(least / 1.05, most * 1.05)
        label_decades(axes.xaxis, least, most)
    else:
        room = 0.02 * most  # for the steps at both ends
        axes.set_xlim(min(least, 1) - room, most + room)
    axes.set_ylim(0, 102)
    axes.set_ylabel("messages (%)")
    axes.set_xlabel("slowdown: completion time divided by that of the message alone on its path")
    # Above: curves may be anywhere.
    legend = axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=min(len(curves), 4), fontsize=9)
    for line in legend.get_lines():  # a thin grey one would not be seen
        line.set(alpha=1, linewidth=max(1, line.get_linewidth()))
    return figure


def sizes(run):
    """Percentiles of the slowdown by message size, as in the HPCC paper."""
    figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
    axes.set_title("Slowdown by message size", pad=34)
    found = [bucket for bucket in by_size.of(run)["sizes"] if bucket["messages"]]
    if not found:
        axes.set_xticks([])
        say_nothing(axes, "no message was timed")
        return figure
    places = np.arange(len(found))
    # Of few messages, high percentiles are one value: a dashed line and a ring leave the one below or above them visible.
    ring = {"ms": 9, "mfc": "none"}
    for i, (name, style, mark) in enumerate((("p50", "-", {}), ("p999", ":", ring), ("p99", "-", {}), ("p95", "--", {}))):
        axes.plot(places, [bucket[name] for bucket in found], **{"marker": "o", "ms": 4, "ls": style, "color": COLOURS[i], "label": by_size.NAMES[name]} | mark)
    axes.set_yscale("log")
    low, high = min(1, *(bucket["p50"] for bucket in found)), max(bucket["p999"] for bucket in found) * 1.2
    axes.set_ylim(low, high)
    label_decades(axes.yaxis, low, high)
    axes.set_xticks(places, [size_text(bucket["to_bytes"]) for bucket in found])
    axes.set_xlim(-0.5, len(found) - 0.5)
    axes.set_ylabel("slowdown")
    axes.set_xlabel("message size, up to")
    lines = axes.get_lines()
    axes.legend(handles=[lines[i] for i in (0, 3, 2, 1)], frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, fontsize=9)
    return figure


def cnp(run):
    """CNPs handled by all senders, and packets marked in the bottleneck queue, per millisecond; without one of the two, the other alone."""
    end, note = shown_until(run)
    drawn = [panel for panel in cnp_panels(run) if any(series[panel[1]][-1] for series in panel[0])] or cnp_panels(run)[:1]
    figure, many = plt.subplots(len(drawn), 1, figsize=(WIDTH, 0.6 + 1.9 * len(drawn)), sharex=True, squeeze=False)
    for axes, (groups, column, title, label, colour) in zip(many[:, 0], drawn):
        axes.set_title(title + note, pad=16 if axes is many[0, 0] else None)
        draw_per_ms(axes, groups, column, colour, label, end)
    time_axis(axes, end)
    for axes in many[:, 0]:
        if axes.has_data():
            measured_from(axes, run.results)
    return figure


def cnp_panels(run):
    marked = run.bottleneck()
    return ((list(run.flows.values()), "cnp_handled", "CNPs that senders acted on", "CNPs per ms", COLOURS[2]),
            ([marked] if marked else [], "ecn_marked_packets", "Packets marked CE in the bottleneck queue", "marks per ms", COLOURS[1]))


def pauses(run):
    """Times at which each port was paused, as a strip per port; below, the PFC frames sent."""
    results = run.results
    end, note = shown_until(run)
    held = {key: s for key, s in run.pauses.items() if s["rx_pause_duration_us"][-1] > 0}
    senders = [s for s in run.pauses.values() if s["tx_pause"][-1] > 0]
    if not held and not senders:
        figure, axes = plt.subplots(figsize=(WIDTH, 1.5))
        axes.set_title("Pauses")
        time_axis(axes, end)
        say_nothing(axes, "no pause frame was sent in this run")
        return figure

    # last_pause_ns is of switches; hosts may send pauses, too.
    last = max((results["last_pause_ns"] or 0) / 1e6, *(s.ms()[np.flatnonzero(s.growth("tx_pause"))[-1]] for s in senders), 0)
    if last < end / 10:
        end = min(end, max(last * 1.5, 0.5))
        note = f", first {digits(end)} of {digits(results['duration_ns'] / 1e6)} ms"
    heights = (0.3 * max(len(held), 1) + 0.2, 1.5)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(WIDTH, sum(heights) + 1.5), sharex=True, height_ratios=heights)
    top.set_title(f"Share of time paused by PFC{note}")
    bottom.set_title("PFC frames sent (XOFF, refresh and XON)")
    draw_strips(figure, top, held, end)
    draw_per_ms(bottom, senders, "tx_pause", COLOURS[3], "frames per ms", end)
    time_axis(bottom, end)
    if bottom.has_data():
        measured_from(bottom, results)
    return figure


def draw_strips(figure, axes, held, until_ms):
    if not held:
        say_nothing(axes, "no port was paused")
        return
    for row, series in enumerate(held.values()):
        edges = series.edges_ms()
        shown = max(1, np.count_nonzero(edges[:-1] < until_ms))
        bins = Bins(shown, MOST_STEPS)
        share = bins.mean((series.growth("rx_pause_duration_us") * 1e3 / series.intervals_ns())[:shown])
        mesh = axes.pcolormesh(np.append(edges[bins.starts], edges[shown]), [row - 0.4, row + 0.4],
                               share.clip(0, 1)[np.newaxis] * 100, cmap="Purples", vmin=0, vmax=100, rasterized=True)
    axes.set_yticks(range(len(held)), [f"{node} port {port} prio {prio}" for node, port, prio in held], fontsize=9)
    axes.set_ylim(len(held) - 0.5, -0.5)
    axes.grid(False)
    figure.colorbar(mesh, ax=axes, label="% paused", aspect=2 * len(held) + 1, pad=0.01)


def tells(run, name):
    """Whether a page has a plot: not without values, nor one of a single point. As a file each is written."""
    if name == "slowdown":
        return any(measure == "slowdown_milli" for _, measure in run.times)
    if name == "sizes":
        return sum(bucket["messages"] > 0 for bucket in by_size.of(run)["sizes"]) > 1
    if name == "cnp":
        return any(series[column][-1] for groups, column, *_ in cnp_panels(run) for series in groups)
    if name == "pauses":
        return any(s["rx_pause_duration_us"][-1] > 0 or s["tx_pause"][-1] > 0 for s in run.pauses.values())
    return True


PLOTS = {"rates": rates, "slowdown": slowdown, "sizes": sizes, "queue": queue, "cnp": cnp, "pauses": pauses}
