# SPDX-License-Identifier: BSD-3-Clause
"""The page of a sweep: charts over the values of its first axis, and a row for each run."""
import numpy as np

from . import sizes, sweep
from .html import digits, document, escape, fixed, number, rate_unit, table

# id, title, unit, columns: (what it is, column, number of the column's units in one of these). A chart without a value is left out.
CHARTS = (
    ("queue", "Queue of the bottleneck", "KB", (("mean", "queue_mean_bytes", 1e3), ("p99", "queue_p99_bytes", 1e3), ("fluid fixed point", "fluid_queue_bytes", 1e3))),
    ("share", "Link use and Jain index", "share, index", (("link use", "link_use", 1), ("Jain index", "jain_index", 1))),
    ("time", "Time to converge", "ms", (("packets", "converged_ms", 1), ("fluid model", "fluid_converged_ms", 1))),
    ("slowdown", "Slowdown of messages", "slowdown", (("p50", "slowdown_p50", 1), ("p99", "slowdown_p99", 1))),
    ("marks", "Packets marked CE in the bottleneck queue", "packets", (("marked", "ecn_marked_packets", 1),)),
    ("pauses", "PFC frames sent in the measured window", "frames", (("frames", "pause_frames_after_measure", 1),)),
)

LEAST_BAR = 0.04  # of the height of a chart: a shorter bar is within its mark

# Columns of the table: head, column, text of a value; None: a rate.
COLUMNS = (
    ("flows", "flows", number), ("link use %", "link_use", lambda v: f"{100 * v:.2f}"), ("Jain index", "jain_index", lambda v: f"{v:.4f}"),
    ("slowest", "rate_min_bps", None), ("fastest", "rate_max_bps", None), ("queue mean KB", "queue_mean_bytes", lambda v: fixed(v / 1e3, 1)),
    ("queue p99 KB", "queue_p99_bytes", lambda v: fixed(v / 1e3, 1)), ("marked in the bottleneck", "ecn_marked_packets", number), ("CNPs sent", "np_cnp_sent", number),
    ("pauses", "pause_frames_after_measure", number), ("dropped", "dropped_packets", number), ("slowdown p99", "slowdown_p99", lambda v: fixed(v, 2)),
    ("time to converge ms", "converged_ms", lambda v: fixed(v, 1)),
)


def of_jobs(rows):
    """Charts and columns of the table of the JCT (job completion times), as above; empty without jobs."""
    names = sweep.jobs(rows)
    found = [(f"jct-{name}", f"JCT of {name}", "µs", [(what, f"{name}_jct_{what}_ns", 1e3) for what in ("mean", "p99")]) for name in names]
    alone = [(name, f"{name}_jct_ratio_alone", 1) for name in names]
    heads = [(f"JCT {name}, {what} µs", f"{name}_jct_{what}_ns", lambda v: digits(v / 1e3)) for name in names for what in ("mean", "p99")]
    return [*found, ("alone", "Mean JCT, as a multiple of that of the job alone", "times", alone)], heads + [(f"JCT {name}, mean / alone", column, lambda v: f"{v:.3f}") for name, column, _ in alone]


def at_each_value(groups, column, scale):
    """(mean, low, high) over the seeds at each value of the axis; None: none is known."""
    found = []
    for rows in groups:
        values = sweep.numbers(rows, column) / scale
        known = values[~np.isnan(values)]
        found.append((sizes.mean(known), float(known.min()), float(known.max())) if len(known) else (None, None, None))
    return [list(column) for column in zip(*found)]


def short(label):
    """Without the sections of keys, which the page has above: flow others.src = 2 is src = 2."""
    parts = [part.partition(" = ") for part in label.split(", ") if part]
    return ", ".join(f"{key.rpartition('.')[2]} = {value}" for key, _, value in parts)


def chart(spec, axes_of_grid, rows):
    """None: no run has a value."""
    name, title, unit, columns = spec
    columns = [(what, column, scale) for what, column, scale in columns if any(row.get(column) is not None for row in rows)]
    if name == "share" and len(columns) == 1:
        title, unit, columns = "Link use", "%", [(what, column, 0.01) for what, column, _ in columns]
    if not any(row[column] for row in rows for _, column, _ in columns if row[column] is not None):
        return None
    values, series, curves = axes_of_grid[0][1], [], sweep.curves(axes_of_grid, rows)
    for i, (label, groups) in enumerate(curves):
        for k, (what, column, scale) in enumerate(columns):
            mean, low, high = at_each_value(groups, column, scale)
            words = [word for word in (short(label), what if len(columns) > 1 or not label else "") if word]
            # Of several curves, a colour is a curve, and dashes tell its columns apart.
            colour = {"run": i, "pair": what} if len(curves) > 1 else {"run": k, "pair": ""}
            series.append({"label": ": ".join(words), "shown": True, "values": mean, "low": low, "high": high, **colour})
    several = len({row["seed"] for row in rows}) > 1
    ranges = [(low, high) for s in series for low, high in zip(s["low"], s["high"]) if low is not None]
    begin = sweep.least_share(rows) / columns[0][2] if name == "share" else 0
    bars = max(high - low for low, high in ranges) > LEAST_BAR * (max(high for _, high in ranges) - begin)
    note = f"Mean over the seeds{'; a bar from the least to the greatest' if bars else ', whose range is too small to be seen'}." if several else ""
    if name == "time":
        note = f"{sweep.CONVERGED} {note}".strip()
        unknown = len(columns) > 1 and any(row["fluid_queue_bytes"] is None for row in rows)
        if any(mean is None for s in series[::len(columns) if unknown else 1] for mean in s["values"]):
            note += f" No mark{' of packets' if unknown else ''}: the run never converged."
        if unknown:
            note += " No mark of the fluid model: it does not know the scenario."
    if name.startswith("jct-"):
        note = f"JCT: job completion time, of each iteration. {note}".strip()
    if begin:
        note = f"{note} The axis begins at {begin:g}.".strip()
    # Marks of equal values that no line joins stand side by side.
    joined = sweep.is_scale(values)
    parts = [{"ms": [i + (0 if joined else sweep.beside(k, len(series))) for i in range(len(values))], "series": [s]} for k, s in enumerate(series)]
    return {"id": name, "title": title, "unit": unit, "note": note, "low": begin, "parts": parts, "lines": [],
            "x": " = ".join(axes_of_grid[0][0]), "ticks": [str(value) for value in values], "joined": joined}


def page(scenario, axes_of_grid, rows):
    names = ["+".join(keys) for i, (keys, values) in enumerate(axes_of_grid) if i == 0 or len(values) > 1]
    # Of a job without an ended iteration, the mean is 0.
    rows = [row | {f"{name}_jct_{what}_ns": row[f"{name}_jct_{what}_ns"] or None for name in sweep.jobs(rows) for what in ("mean", "p99")} for row in rows]
    rows = sweep.comparable(rows)
    job_charts, job_columns = of_jobs(rows)
    unit = rate_unit(max(row["rate_max_bps"] for row in rows))
    columns = [(head, column, text) if text else (f"{head} {unit.name}", column, unit) for head, column, text in [*COLUMNS, *job_columns]
               if any(row.get(column) is not None for row in rows)]
    zeros = [head for head, column, _ in columns if all(row[column] == 0 for row in rows)]
    columns = [column for column in columns if column[0] not in zeros]
    cells = [[*(escape(str(row[name])) for name in names), row["seed"], *("-" if row[column] is None else text(row[column]) for _, column, text in columns),
              f"<code>{escape(row['digest'])}</code>"] for row in rows]
    drawn = {"end_ms": 0, "measure_from_ms": -1, "events": [], "counters": None, "charts": [],
             "distributions": [found for found in (chart(spec, axes_of_grid, rows) for spec in [*job_charts, *CHARTS]) if found]}
    axes = table(("axis", "values"), [(escape(" = ".join(keys)), escape(", ".join(map(str, values)))) for keys, values in axes_of_grid], "words")
    heads = [name.replace("+", "\u00a0= ") for name in names]
    told = [" = ".join(keys) for keys, values in axes_of_grid[1:] if len(values) > 1]
    seeds = sorted({row["seed"] for row in rows})
    return document(f"Sweep of {scenario}", f"""<h1>Sweep of {escape(scenario)}</h1>
<p class="lead">{len(rows)} runs, {"seed" if len(seeds) == 1 else "seeds"} {", ".join(map(str, seeds))}. Values of {escape(" = ".join(axes_of_grid[0][0]))} are side by side, not to scale.
{f"Each {'value of ' + escape(told[0]) if len(told) == 1 else 'point of the other axes'} has a colour." if told else ""}</p>
{axes}
<h2>Over {escape(" = ".join(axes_of_grid[0][0]))}</h2>
<div id="distributions" class="charts"></div>
<h2>Runs</h2>
{f"<p>0 in all runs: {', '.join(map(escape, zeros))}." if zeros else ""}
{table((*heads, "seed", *(head for head, _, _ in columns), "digest"), cells)}""", drawn)
