# SPDX-License-Identifier: BSD-3-Clause
"""Runs compared: differences of their configurations and of their results. A, the first, is what the others are compared with."""
import functools
from html import escape

import numpy as np
from quench import Run

from . import charts, html, sizes
from . import series as ts
from .html import breakable, changed, document, number, rate_unit, seconds, size_text, table

MOST_FLOWS = 20  # in the text output; the page has all flows
MOST_LINES = 8  # drawn in one chart at first
MOST_DASHES = 2  # of one run: more patterns look alike on lines of steps


class Figure:
    """A row: one figure of each run. None: the run has no such figure."""

    def __init__(self, name, values, unit=""):
        self.name, self.values, self.unit = name, values, unit

    def relative(self):
        """Of each run after A: its value / that of A - 1; None where this is undefined."""
        a = self.values[0]
        return [None if a is None or b is None or (not a and b) else (b - a) / a if a else 0.0 for b in self.values[1:]]

    def cells(self):
        against = ["" if b == self.values[0] else "-" if relative is None else change(relative) for b, relative in zip(self.values[1:], self.relative())]
        return (self.name, self.unit, *html.even([*(html.fixed(value, 3) if self.unit == "times" and value is not None else digits(value) for value in self.values)]), *against)

    def beyond(self, percent):
        return any(b != self.values[0] and (relative is None or abs(relative) * 100 > percent) for b, relative in zip(self.values[1:], self.relative()))


def change(relative):
    """In percent, also of what has grown to a multiple."""
    return f"{'+' if relative > 0 else '-' if relative < 0 else ''}{html.fixed(abs(relative) * 100, 1 if abs(relative) < 10 else 0)} %"


def digits(value):
    if value is None:
        return "-"
    return number(value) if isinstance(value, int) else html.digits(value)


def quantile(run, measure, percent, scale):
    value = run.quantile(measure, percent)
    return None if value is None else value / scale


def buckets_of(run, edges):
    """{largest size: bucket} of a run for these edges, of which the last is the size of its largest message or more."""
    found = sizes.of(run)["sizes"]
    if [bucket["to_bytes"] for bucket in found[:-1]] != edges[:-1]:
        found = sizes.buckets(run.messages, edges) if run.messages is not None else []
        return {bucket["to_bytes"]: bucket for bucket in found}
    return dict(zip(edges, found))


def goodput(run):
    return sum(flow["goodput_bps"] for flow in run.results["flows"]) / 1e9


def jct_of_alone(run, name):
    return next((job.get("jct_ratio_alone") for job in run.results.get("jobs", ()) if job["name"] == name), None)


UNITS = {"us": "µs", "us per ms": "µs per ms"}  # as the page has them
LETTERS = "ABCDEFGH"  # as many as there are colours


class Comparison:
    def __init__(self, folders):
        self.names = [str(folder) for folder in folders]
        self.runs = [Run(folder) for folder in folders]
        self.letters = LETTERS[:len(self.runs)]
        self.against = tuple(f"{letter} against A" for letter in self.letters[1:])
        # Sums of all counters of each run
        self.sums = [{f"{c.node}{', all ports' if c.port == 'all' else ''}: {c.name}": c.value for c in run.counters() if c.node.startswith("all ")}
                     for run in self.runs]
        # Counts of runs of different length are compared as rates.
        self.per_ms = len({run.results["duration_ns"] for run in self.runs}) > 1

    def figure(self, name, of, unit=""):
        return Figure(name, [of(run) for run in self.runs], unit)

    def count(self, name, of, unit=""):
        def per_ms(run):
            n = of(run)
            return n / (run.results["duration_ns"] / 1e6) if self.per_ms and n is not None else n
        return self.figure(name, per_ms, f"{unit} per ms".strip() if self.per_ms else unit)

    def headline(self):
        def bottleneck(key, scale=1):
            return lambda run: run.results["bottleneck"][key] / scale
        return [
            self.figure("goodput, all flows", goodput, "Gb/s"),
            self.figure("Jain index", lambda run: run.results["jain_index"] if charts.send_together(run) else None),
            *self.jobs(),
            self.figure("link use", bottleneck("link_use", 0.01), "%"),
            self.figure("queue, mean", bottleneck("queue_mean_bytes", 1e3), "KB"),
            self.figure("queue, p99", bottleneck("queue_p99_bytes", 1e3), "KB"),
            self.figure("queue, max", bottleneck("queue_max_bytes", 1e3), "KB"),
            *(self.figure(f"completion, p{p}", lambda run, p=p: quantile(run, "completion_ns", p, 1e3), "us") for p in (50, 99)),
            *(self.figure(f"slowdown, p{p}", lambda run, p=p: quantile(run, "slowdown_milli", p, 1e3)) for p in (50, 99)),
            *self.slowdowns_by_size(),
            self.figure("round trip, p99", lambda run: quantile(run, "rtt_ns", 99, 1e3), "us"),
            self.count("marked CE", lambda run: run.results["counters"]["ecn_marked_packets"], "packets"),
            self.count("CNPs sent", lambda run: run.results["counters"]["np_cnp_sent"], "packets"),
            self.count("PFC frames", lambda run: sum(p["tx_pause"] for p in run.results["pfc_counters"]), "frames"),
            self.count("paused by PFC, all ports", lambda run: sum(p["rx_pause_duration_us"] for p in run.results["pfc_counters"]), "us"),
            self.count("retransmitted", lambda run: run.results["counters"]["retransmitted_packets"], "packets"),
            self.count("dropped", lambda run: sum(d["packets"] for d in run.results["drops"]), "packets"),
        ]

    def jobs(self):
        """Completion times of the jobs of all runs, by name."""
        def jct(run, name, key):
            return next((job[key] / 1e3 for job in run.results.get("jobs", ()) if job["name"] == name and job["iterations_ended"]), None)
        return [self.figure(f"JCT of {name}, {words}", lambda run, name=name, key=key: jct(run, name, key), "us")
                for name in dict.fromkeys(job["name"] for run in self.runs for job in run.results.get("jobs", ()))
                for words, key in (("mean", "jct_mean_ns"), ("p99", "jct_p99_ns"))] + [
            self.figure(f"JCT of {name}, as a multiple of alone", lambda run, name=name: jct_of_alone(run, name), "times") for name in self.jobs_alone()]

    def jobs_alone(self):
        """Names of the jobs that a run has beside the same job alone (quench-lab --alone)."""
        return list(dict.fromkeys(job["name"] for run in self.runs for job in run.results.get("jobs", ()) if job.get("jct_ratio_alone")))

    @functools.cached_property
    def by_size(self):
        """[(largest size, [bucket of each run, or None])] in the buckets of A, if its sizes differ."""
        edges = [bucket["to_bytes"] for bucket in sizes.of(self.runs[0])["sizes"]]
        if len(edges) < 2:
            return []
        # Another run may have larger messages.
        largest = max(sizes.of(run)["all"]["to_bytes"] for run in self.runs)
        found = [buckets_of(run, [*edges[:-1], largest]) for run in self.runs]
        return [(edge, [of.get(edge) for of in found]) for edge in [*edges[:-1], largest]]

    def slowdowns_by_size(self, percentiles=("p99",)):
        return [Figure(f"slowdown, {sizes.NAMES[p]}, up to {size_text(edge)}", [bucket and bucket[p] for bucket in found])
                for p in percentiles for edge, found in self.by_size]

    def notes(self):
        windows = [f"{html.digits(run.results['measure_from_ns'] / 1e6)} to {seconds(run.results['duration_ns'])}" for run in self.runs]
        differ = [f"measured windows differ: {', '.join(f'{letter} {window}' for letter, window in zip(self.letters, windows))}"] if len(set(windows)) > 1 else []
        return differ + [f"{letter}: {line}" for letter, run in zip(self.letters, self.runs) for line in sizes.notes(run)]

    def beyond(self, percent):
        return [row for row in self.headline() if row.beyond(percent)]

    def flows(self):
        """Wire rates of all flows, by name."""
        rates = [{flow["name"]: flow["wire_rate_bps"] / 1e9 for flow in run.results["flows"]} for run in self.runs]
        return [Figure(name, [of.get(name) for of in rates], "Gb/s") for name in dict.fromkeys(name for of in rates for name in of)]

    def servers(self):
        """Rates of all servers over their NICs, and bytes inside them; empty without servers."""
        found = [{server["name"]: server for server in run.results.get("servers", ())} for run in self.runs]

        def figure(name, words, key, scale, unit):
            return Figure(f"{name}, {words}", [of[name][key] / scale if name in of else None for of in found], unit)
        return [figure(name, *key) for name in dict.fromkeys(name for of in found for name in of)
                for key in (("sent", "tx_goodput_bps", 1e9, "Gb/s"), ("received", "rx_goodput_bps", 1e9, "Gb/s"), ("inside", "bytes_inside", 1e6, "MB"))]

    def config(self):
        """Keys that differ: [(section, key, value of A, value of B, ...)]. None: a folder has no configuration."""
        configs = [run.config for run in self.runs]
        if None in configs:
            return None
        rows = [(*key, *(of.get(key, "-") for of in configs)) for key in dict.fromkeys(key for of in configs for key in of)]
        return [row for row in rows if len(set(row[2:])) > 1]

    def counters(self):
        """Counters whose sums differ."""
        names = dict.fromkeys(name for sums in self.sums for name in sums)
        differ = [name for name in names if len({sums.get(name, 0) for sums in self.sums}) > 1]
        # A watermark is a length, which does not grow with the length of the run.
        return [(self.figure if name.endswith("watermark_bytes") else self.count)(name, lambda run, name=name: self.sums[self.runs.index(run)].get(name))
                for name in differ]

    def title(self):
        seeds = len({run.results["seed"] for run in self.runs}) > 1
        names = [changed(run.results) + (f" (seed {run.results['seed']})" if seeds else "") for run in self.runs]
        return f"{', '.join(names[:-1])} and {names[-1]}"

    def same(self):
        return len({run.results["digest"] for run in self.runs}) == 1

    def text(self):
        lines = [f"{letter}: {name}: {changed(run.results)}, seed {run.results['seed']}, {seconds(run.results['duration_ns'])}, digest "
                 f"{run.results['digest']}" for letter, name, run in zip(self.letters, self.names, self.runs)]
        if self.same():
            lines.append("the same run: their digests are equal")
        if self.per_ms:
            lines.append("the runs differ in length: counts are per ms")
        config = self.config()
        if config is None:
            lines += ["", "configuration: one folder has no effective.ini"]
        else:
            lines += ["", "configuration" + ("" if config else ": the same")] + columns([(f"[{s}] {key}", *values) for s, key, *values in config], ("", *self.letters))
        flows = self.flows()
        lines += [""] + columns([row.cells() for row in self.headline()], ("result", "", *self.letters, *self.against))
        lines += self.notes()
        lines += [""] + columns([row.cells() for row in flows[:MOST_FLOWS]], ("flow", "", *self.letters, *self.against))
        if len(flows) > MOST_FLOWS:
            lines.append(f"and {len(flows) - MOST_FLOWS} more flows")
        servers = self.servers()
        if servers:
            lines += [""] + columns([row.cells() for row in servers[:MOST_FLOWS]], ("server", "", *self.letters, *self.against))
        if len(servers) > MOST_FLOWS:
            lines.append(f"and {len(servers) - MOST_FLOWS} more rows of servers")
        return "\n".join(lines) + "\n"

    def document(self):
        def rows(figures):
            return [{"name": f.name, "values": f.values, "unit": f.unit, "relative": f.relative()} for f in figures]
        return {"format": 2, "runs": self.names, "same_digest": self.same(), "per_ms": self.per_ms, "config": self.config(),
                "results": rows(self.headline()), "slowdown_by_size": rows(self.slowdowns_by_size(sizes.PERCENTILES)), "notes": self.notes(), "flows": rows(self.flows()), "servers": rows(self.servers()),
                "counters": rows(self.counters())}

    def page(self):
        config = self.config()
        heads = ("", "unit", *self.letters, *self.against)

        def figures(rows):
            cells = [(breakable(name), escape(UNITS.get(unit, unit)), *(text.replace(" ", "\u00a0") for text in numbers))
                     for name, unit, *numbers in (row.cells() for row in rows)]
            if any(unit for _, unit, *_ in cells):
                return table(heads, cells, "figures")
            return table((heads[0], *heads[2:]), [(name, *numbers) for name, _, *numbers in cells], "named")
        runs = "".join(f'<tr><td class="short"><span class="keyed"><span class="run" data-run="{i}"></span> {letter}</span><td>{escape(name)}'
                       f"<td>{breakable(changed(run.results))}<td>{run.results['seed']}<td>"
                       f"{seconds(run.results['duration_ns'])}<td><code>{escape(run.results['digest'])}</code>"
                       for i, (letter, name, run) in enumerate(zip(self.letters, self.names, self.runs)))
        asked = "<p>one folder has no effective.ini" if config is None else "<p>the same" if not config else table(
            ("section", "key", *self.letters), [tuple(map(breakable, row)) for row in config], "words")
        since = max(run.results["measure_from_ns"] for run in self.runs)  # in all runs, it is measured from here
        drawn = {"end_ms": max(run.results["duration_ns"] for run in self.runs) / 1e6, "measure_from_ms": since / 1e6,
                 "sent_ms": max(charts.sent_until_ms(run) or run.results["duration_ns"] / 1e6 for run in self.runs), "events": [], "counters": None,
                 "charts": self.charts(), "distributions": self.distributions()}
        below = {row.name for row in self.slowdowns_by_size()}  # in a table of their own
        note = " The runs differ in length, so counts are per ms." if self.per_ms else ""
        if since:
            note += " Rates, link use and queues cover the measured window, all else the whole run."
        return document(f"Compared: {self.title()}", f"""<h1>Compared: {escape(self.title())}</h1>
<div class="wide"><table class="words"><thead><tr><th class="short"><th>folder<th>scenario<th>seed<th>time<th>digest<tbody>{runs}</table></div>
<p class="lead">{"Their digests are equal: the same run." if self.same() else ""} Each run has a colour. Each flow or queue has a dash pattern.{note}</p>
<h2>Results</h2>
{figures([row for row in self.headline() if row.name not in below])}
{"".join(f'<p class="note">{escape(line[0].upper() + line[1:])}.' for line in self.notes())}
{"<h2>Slowdown by message size</h2>" + figures(self.slowdowns_by_size(sizes.PERCENTILES)) if self.by_size else ""}
<h2>Configuration</h2>
{asked}
<h2>Over time</h2>
<div id="zoom"></div>
<div id="charts" class="charts"></div>
<div id="distributions" class="charts"></div>
<h2>Wire rates of flows</h2>
{figures(self.flows())}
{"<h2>Servers</h2>" + figures(self.servers()) if self.servers() else ""}
<h2>Counters that differ</h2>
{figures(self.counters())}""", drawn)

    def overlay(self, draw):
        """One chart with the series of all runs; None: no run has this chart."""
        drawn = [draw(run, charts.times_of(run)) if len(charts.times_of(run)) else None for run in self.runs]
        found = next((c for c in drawn if c), None)
        if not found:
            return None
        out = dict(found, parts=[], lines=[], note=found["note"].replace(" The fluid model is dashed, in the colour of the text.", ""))
        for i, chart in enumerate(drawn):
            for part in chart["parts"][:1] if chart else []:
                for s in part["series"]:
                    s |= {"pair": s["label"], "run": i, "label": f"{self.letters[i]} {s['label']}"}
                out["parts"].append(part)
        show_same(out["parts"], min(MOST_LINES // len(self.runs), MOST_DASHES))
        del out["drawn"]
        shown = [s["shown"] for part in out["parts"] for s in part["series"]]
        if not all(shown):
            out["note"] += f" Drawn at first: {sum(shown)} of {number(len(shown))} series, the same of each run that has them."
        if any("The page has" in c.pop("drawn") for c in drawn if c):
            out["note"] += f" The page has at most {ts.MOST_SERIES} series of a run; the CSV files have all."
        return out if shown else None

    def charts(self):
        def sums(name, title, unit, columns_of):
            def draw(run, times_ns):
                columns = columns_of(run, times_ns)
                return charts.chart(name, title, unit, "Sum over all nodes.", times_ns, [("all", np.sum(columns, axis=0))] if columns else [], counts=True)
            return draw

        def growths(group, column):
            return lambda run, times_ns: [ts.growth_per_ms(s, column, times_ns) for s in getattr(run, group).values()]
        drawn = [self.overlay(draw) for draw in (
            functools.partial(charts.rates, unit=rate_unit(max(run.results["link_speed_bps"] for run in self.runs))), charts.queues, sums("marks", "Packets marked CE", "per ms", growths("queues", "ecn_marked_packets")),
            sums("cnps", "CNPs that senders acted on", "per ms", growths("flows", "cnp_handled")),
            sums("pause-frames", "PFC frames sent", "per ms", growths("pauses", "tx_pause")))]
        return [c for c in drawn if c]

    def distributions(self):
        found = []
        for measure, name, title, unit, scale, begin in charts.DISTRIBUTIONS:
            parts = []
            for i, run in enumerate(self.runs):
                times = run.all_times(measure)
                if times is not None:
                    at_most, share = charts.cumulated(*times, scale)
                    parts.append({"ms": at_most, "series": [{"label": self.letters[i], "run": i, "shown": True, "values": share}]})
            if parts:
                found.append({"id": name, "title": title, "unit": "%", "note": "All flows together.", "parts": parts, "lines": [], "steps": True, "x": unit, "from": begin})
        return found


def show_same(parts, n):
    """Show the same series of all runs, at most n of each, but at least one."""
    wanted = [s["pair"] for part in parts for s in part["series"] if s["shown"]]
    chosen = set(list(dict.fromkeys(wanted))[:max(n, 1)])
    for part in parts:
        for s in part["series"]:
            s["shown"] = s["pair"] in chosen


def columns(rows, heads):
    """Lines of text. The first column and units are aligned left, numbers right."""
    if not rows:
        return []
    rows = [heads, *rows]
    left = {0, *(i for i, head in enumerate(heads) if not head)}
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(heads))]
    return ["  ".join(str(cell).ljust(w) if i in left else str(cell).rjust(w) for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in rows]
