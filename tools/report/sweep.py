# SPDX-License-Identifier: BSD-3-Clause
"""The rows and the plot of a sweep."""
import functools
import itertools
import math
import re

import numpy as np

from quench import Run, fluid

from . import sizes

# Converged: the flows' mean rates over WINDOW_MS have at least Jain's index FAIR, and their sum is at least FULL times its final mean.
WINDOW_MS = 5.0
FAIR, FULL = 0.98, 0.95
CONVERGED = f"Converged: for {WINDOW_MS:g} ms, the rates of the flows are fair, and their sum is near that of the run's second half."
NEAR_ONE = 0.8
SPREAD = 0.5  # of marks of equal values that no line joins: of the distance of two values, that of the first and the last mark at one


def converged_ms(flows, since_ms):
    """
    Time from since_ms to the end of the first WINDOW_MS in which the rates of all flows are fair and their sum is near that of
    the second half of the run, in steps of a millisecond. None: never. A single flow is always fair.
    """
    rates = np.array([fluid.means(series, "wire_rate_bps", 1.0) for series in flows.values()])
    if rates.size == 0:
        return None
    width = int(WINDOW_MS)
    usual = rates.sum(axis=0)[len(rates[0]) // 2:].mean()
    for start in range(int(np.ceil(since_ms)), len(rates[0]) - width + 1):
        mean = rates[:, start:start + width].mean(axis=1)
        total = mean.sum()
        if total >= FULL * usual and total ** 2 >= FAIR * len(mean) * (mean ** 2).sum():
            return start + width - since_ms
    return None


def started_ms(flows):
    """Time in ms at which the last flow began to send."""
    starts = [series.edges_ms()[np.flatnonzero(series["wire_rate_bps"])[0]] for series in flows.values()
              if series["wire_rate_bps"].any()]
    return max(starts, default=0.0)


def of_servers(servers):
    """The slowest and the fastest server, and the bytes that moved inside servers; empty without servers."""
    sent = [server["tx_goodput_bps"] for server in servers]
    return {"server_tx_min_bps": min(sent), "server_tx_max_bps": max(sent), "bytes_inside": sum(server["bytes_inside"] for server in servers)} if sent else {}


def row(run):
    """{column: value} of a finished run."""
    result = Run(run.folder)
    r, b = result.results, result.results["bottleneck"]
    model = result.fluid
    queue = model.queue_results(b)
    rates = [flow["wire_rate_bps"] for flow in r["flows"]] + [0] * (r.get("silent_flows", 0) > 0 or not r["flows"])
    since = started_ms(result.flows)
    slowdown = sizes.of(result)
    buckets = [bucket for bucket in slowdown["sizes"] if bucket["messages"]] or [None]
    out = {"+".join(keys): value for keys, value in run.point}
    out |= {
        "seed": r["seed"], "flows": len(r["flows"]) + r.get("silent_flows", 0), "jain_index": round(r["jain_index"], 6),
        "rate_min_bps": min(rates), "rate_max_bps": max(rates), "link_use": round(b["link_use"], 6),
        "queue_mean_bytes": b["queue_mean_bytes"], "queue_p50_bytes": b["queue_p50_bytes"], "queue_p99_bytes": b["queue_p99_bytes"],
        "queue_max_bytes": b["queue_max_bytes"], "ecn_marked_packets": b["ecn_marked_packets"],
        "np_cnp_sent": r["counters"]["np_cnp_sent"], "pause_frames_after_measure": r["pause_frames_after_measure"],
        "dropped_packets": sum(drop["packets"] for drop in r["drops"]),
        "completions": sum(flow.get("completions", 0) for flow in r["flows"]),
        **{f"slowdown_{name}": slowdown["all"][name] for name in sizes.PERCENTILES},
        **{f"slowdown_{name}_p99": bucket and bucket["p99"] for name, bucket in zip(("smallest", "largest"), (buckets[0], buckets[-1]))},
        "slowdown_p99_low": slowdown["p99_low"], "slowdown_p99_high": slowdown["p99_high"],
        "messages_not_ended": slowdown["all"]["not_ended"], "slowdown_p99_bound": slowdown["all"]["p99_bound"],
        **{f"size{i}_{key}": bucket[key] for i, bucket in enumerate(slowdown["sizes"], 1)
           for key in ("to_bytes", "messages", "not_ended", *sizes.PERCENTILES)},
        **{f"{job['name']}_{key}": job[key] for job in r.get("jobs", []) for key in ("jct_mean_ns", "jct_p99_ns", "jct_max_ns", "iterations_ended")},
        **{f"{job['name']}_jct_ratio_alone": job["jct_ratio_alone"] for job in r.get("jobs", []) if job["jct_ratio_alone"] is not None},
        **of_servers(r.get("servers", [])),
        "converged_ms": converged_ms(result.flows, since),
        "fluid_mark_probability": queue and queue["fixed_point"]["mark_probability"],
        "fluid_interior": queue and queue["fixed_point"]["interior"],
        "fluid_queue_bytes": queue and queue["fixed_point"]["queue_bytes"],
        "fluid_queue_mean_bytes": queue and queue["queue_mean_bytes"],
        "fluid_queue_min_bytes": queue and queue["queue_min_bytes"],
        "fluid_queue_max_bytes": queue and queue["queue_max_bytes"],
        "fluid_converged_ms": queue and converged_ms(model.flows, since),
        "digest": r["digest"],
    }
    return out


def complete(rows, axes_of_grid):
    """All rows with the columns of all: runs may differ in the number of message sizes. With several seeds, also their confidence interval."""
    names = ["+".join(keys) for keys, _ in axes_of_grid]
    seeds = {}
    for row in rows:
        seeds.setdefault(tuple(row[name] for name in names), []).append(row["slowdown_p99"])
    columns = list(max(rows, key=len))
    for row in rows:
        bounds = sizes.interval(seeds[tuple(row[name] for name in names)]) or (None, None)
        found = {name: row.get(name) for name in columns}
        if max(map(len, seeds.values())) > 1:
            found |= {f"slowdown_p99_seeds_{name}": bound and round(bound, 4) for name, bound in zip(("low", "high"), bounds)}
        yield found


def jobs(rows):
    """Names of the jobs of a sweep's runs."""
    return [column.removesuffix("_jct_mean_ns") for column in max(rows, key=len) if column.endswith("_jct_mean_ns")]


def comparable(rows):
    """Rows for a reader. Flows of jobs send in turn: they have no common shares, which would be fair or not."""
    return [row | dict.fromkeys(("jain_index", "converged_ms", "fluid_converged_ms")) for row in rows] if jobs(rows) else rows


def numbers(rows, column):
    return np.array([np.nan if row[column] is None else float(row[column]) for row in rows])


def least_share(rows):
    """Where the axis of link use and Jain's index begins: values that are all near 1 would be one line on an axis from 0."""
    least = min(float(np.nanmin(numbers(rows, column))) for column in ("link_use", "jain_index") if any(row[column] is not None for row in rows))
    return min(math.floor(10 * least), 9) / 10 if least >= NEAR_ONE else 0


def beside(i, n):
    """How far the mark i of n at a value is from it."""
    return (i - (n - 1) / 2) * SPREAD / n


def draw_line(axes, groups, column, scale, shift, **style):
    """Mean over the seeds at each value of the first axis, with a bar from their minimum to their maximum, if these differ."""
    values = [numbers(rows, column) * scale for rows in groups]
    known = [(i, v[~np.isnan(v)]) for i, v in enumerate(values) if not np.isnan(v).all()]
    if not known:
        return
    x, mean = [i + shift for i, _ in known], [sizes.mean(v) for _, v in known]
    look = {"lw": 1.2, "clip_on": False} | style  # marks at 0 are whole
    axes.plot(x, mean, **{"marker": "o", "ms": 4} | look)
    bars = [(at, m, v) for at, m, (_, v) in zip(x, mean, known) if v.max() > v.min()]
    if bars:
        x, mean, found = zip(*bars)
        axes.errorbar(x, mean, yerr=[[m - v.min() for m, v in zip(mean, found)], [v.max() - m for m, v in zip(mean, found)]],
                      **look | {"marker": "", "ls": "", "capsize": 2, "zorder": 1.9})  # behind a hollow mark, which would look like another


def curves(axes_of_grid, rows):
    """[(label, groups of rows by the first axis)]: a curve for each point of the other axes."""
    names = ["+".join(keys) for keys, _ in axes_of_grid]
    told = [name for name, (_, values) in zip(names[1:], axes_of_grid[1:]) if len(values) > 1]
    found = {}
    for row in rows:
        label = ", ".join(f"{name} = {row[name]}" for name in told)
        found.setdefault(label, {value: [] for value in axes_of_grid[0][1]})[row[names[0]]].append(row)
    return [(label, list(groups.values())) for label, groups in found.items()]


def is_scale(values):
    """Are the values of an axis numbers, between which a line means something? Words such as algorithms are side by side only."""
    return all(re.match(r"[\d.]", str(value)) for value in values)


def lines_of(groups, colour, model_colour, of_share):
    """Of a curve: panel, column, scale and style of each line. of_share: scale of link use, in percent where no index is beside it."""
    line, model = {"color": colour, "alpha": 0.9, "ls": "-"}, {"color": model_colour, "alpha": 0.8, "ls": "-."}
    of_jobs = [("jct", f"{name}_jct_mean_ns", 1e-3, line | {"ls": style}) for name, style in zip(jobs(groups[0]), itertools.cycle(STYLES))]
    return (("queue", "queue_mean_bytes", 1e-3, line), ("queue", "queue_p99_bytes", 1e-3, line | {"ls": "--"}), ("queue", "fluid_queue_bytes", 1e-3, model),
            ("share", "link_use", of_share, line), ("share", "jain_index", 1, line | {"ls": "--"}),
            ("time", "converged_ms", 1, line), ("time", "fluid_converged_ms", 1, model), ("slowdown", "slowdown_p99", 1, line), *of_jobs)


def draw_panel(axes, lines, joined):
    """lines: (groups, column, scale, style). Without a line between them, marks stand side by side, as some are equal."""
    lines = [line for line in lines if any(row[line[1]] is not None for rows in line[0] for row in rows)]
    for i, (groups, column, scale, style) in enumerate(lines):
        # Without lines, a hollow mark stands for what is dotted or dashed, and a cross for the model.
        marks = {} if joined else {"ls": "", "mfc": "white" if style["ls"] in (":", "--") else None, "marker": "x" if style["ls"] == "-." else "o"}
        draw_line(axes, groups, column, scale, 0 if joined else beside(i, len(lines)), **style | marks)


def say_never(axes, found, colours, joined):
    """Where a curve has no mark since its rates do not converge in any of the runs."""
    for i, (_, groups) in enumerate(found):
        for at, rows in enumerate(groups):
            if all(row["converged_ms"] is None for row in rows):
                axes.text(at if joined else at + beside(i, len(found)), 0.03 + 0.08 * i * joined, "never", transform=axes.get_xaxis_transform(), ha="center", fontsize=9, color=colours[i])


STYLES = {"-": "solid", "--": "dashed", ":": "dotted", "-.": "dash-dot"}

# Title, column of the model and its words, and label of each panel, and the columns that it shows. Beyond the first two, those without a value are left out.
PANELS = {
    "queue": ("{}: queue, mean (solid), p99 (dashed)", ("fluid_queue_bytes", ", fluid fixed point (dash-dot)"), "queue (KB)", ()),
    "share": ("Link use (solid) and Jain index (dashed)", ("", ""), "share, index", ()),
    "time": ("Time to converge", ("fluid_converged_ms", ": packets (solid), fluid model (dash-dot)"), "time (ms)", ("converged_ms", "fluid_converged_ms")),
    "slowdown": ("Slowdown of messages, p99", ("", ""), "slowdown", ("slowdown_p99",)),
}


def panels(rows):
    """Title and label of those of PANELS that have something to show, and of one of the completion times of jobs."""
    names = jobs(rows)
    words = ", ".join(f"{name} ({style})" for name, style in zip(names, itertools.cycle(STYLES.values())))
    found = {"jct": (f"JCT (job completion time), mean: {words if len(names) > 1 else names[0]}", "time (µs)")} if names else {}

    def known(*columns):
        return any(row.get(column) is not None for row in rows for column in columns)

    indexed = known("jain_index")

    def shown(title):
        return title if indexed else title.replace(" (solid) and Jain index (dashed)", "")
    return {name: (shown(title) + words * known(model), label if indexed else label.replace("share, index", "% of the link")) for name, (title, (model, words), label, columns) in PANELS.items() if not columns or known(*columns)} | found


MARKS = {"solid": "full", "dotted": "hollow", "dashed": "hollow", "dash-dot": "cross"}  # in titles, if marks are not joined


def draw(scenario, axes_of_grid, rows):
    """@return the figure: queue, rates, convergence and slowdowns over the values of the first axis."""
    from .plots import COLOURS, WIDTH, plt
    rows = comparable(rows)
    found = curves(axes_of_grid, rows)
    lines = -(-len(found) // 2) if len(found) > 1 else 0
    shown = panels(rows)
    figure, drawn = plt.subplots(len(shown), 1, figsize=(WIDTH, 2.67 * len(shown) + 0.25 * lines), sharex=True)
    axes = dict(zip(shown, drawn))
    joined = is_scale(axes_of_grid[0][1])
    for name, panel in axes.items():
        title, label = shown[name]
        panel.set_title((title if joined else functools.reduce(lambda text, pair: text.replace(*pair), MARKS.items(), title)).replace("{}", scenario))
        panel.set_ylabel(label)
    of_panels = {name: [] for name in axes}
    whole = 1 if any(row.get("jain_index") is not None for row in rows) else 100
    colours = [COLOURS[i % (len(COLOURS) - 1)] for i in range(len(found))]  # the last is the model's
    for (_, groups), colour in zip(found, colours):
        for name, *line in lines_of(groups, colour, colour if len(found) > 1 else COLOURS[-1], whole):
            of_panels.get(name, []).append((groups, *line))
    for name, panel in axes.items():
        draw_panel(panel, of_panels[name], joined)
        low = least_share(rows) if name == "share" else 0
        panel.set_ylim(whole * low, whole * (1 + 0.05 * (1 - low)) if name == "share" else panel.dataLim.y1 * 1.08 if panel.has_data() else 1)
    if "time" in axes:
        say_never(axes["time"], found, colours, joined)
    figure.align_ylabels()
    last = drawn[-1]
    if lines:
        handles = [plt.Line2D([], [], marker="o", ms=4, ls="-" if joined else "", color=colour, label=label)
                   for (label, _), colour in zip(found, colours)]
        last.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2, frameon=False, fontsize=9)
    keys, values = axes_of_grid[0]
    last.set_xticks(range(len(values)), values, rotation=0 if len(values) < 9 else 45)
    last.set_xlim(-0.3, len(values) - 0.7)
    bars = "; bars: range of the seeds" if any(panel.containers for panel in drawn) else ""
    last.set_xlabel(f"{' = '.join(keys)} (values side by side, not to scale{bars})")
    return figure
