# SPDX-License-Identifier: BSD-3-Clause
"""Two runs compared: differences of their configurations and of their results."""
from html import escape

import numpy as np
from quench import Run

from . import charts
from . import series as ts
from .html import document, number, seconds, table

MOST_FLOWS = 20  # in the text output; the page has all flows


class Figure:
    """A row: one figure of both runs. None: the run has no such figure."""

    def __init__(self, name, a, b, unit=""):
        self.name, self.a, self.b, self.unit = name, a, b, unit

    def relative(self):
        """b / a - 1; None where this is undefined."""
        if self.a is None or self.b is None or (not self.a and self.b):
            return None
        return (self.b - self.a) / self.a if self.a else 0.0

    def cells(self):
        relative = self.relative()
        same = self.a == self.b
        return (self.name, digits(self.a), digits(self.b), self.unit, "" if same else "-" if relative is None else f"{relative * 100:+.1f} %")

    def beyond(self, percent):
        relative = self.relative()
        return self.a != self.b and (relative is None or abs(relative) * 100 > percent)


def digits(value):
    if value is None:
        return "-"
    return number(value) if isinstance(value, int) else f"{value:.4g}"


def quantile(run, measure, percent, scale):
    value = run.quantile(measure, percent)
    return None if value is None else value / scale


def goodput(run):
    return sum(flow["goodput_bps"] for flow in run.results["flows"]) / 1e9


class Pair:
    def __init__(self, a, b):
        self.names = (str(a), str(b))
        self.runs = (Run(a), Run(b))
        # Sums of all counters of each run
        self.sums = [{f"{c.node}{', all ports' if c.port == 'all' else ''}: {c.name}": c.value for c in run.counters() if c.node.startswith("all ")}
                     for run in self.runs]
        # Counts of runs of different length are compared as rates.
        self.per_ms = self.runs[0].results["duration_ns"] != self.runs[1].results["duration_ns"]

    def figure(self, name, of, unit=""):
        return Figure(name, *(of(run) for run in self.runs), unit)

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
            self.figure("Jain index", lambda run: run.results["jain_index"]),
            self.figure("link use", bottleneck("link_use", 0.01), "%"),
            self.figure("queue, mean", bottleneck("queue_mean_bytes", 1e3), "KB"),
            self.figure("queue, p99", bottleneck("queue_p99_bytes", 1e3), "KB"),
            self.figure("queue, max", bottleneck("queue_max_bytes", 1e3), "KB"),
            *(self.figure(f"completion, p{p}", lambda run, p=p: quantile(run, "completion_ns", p, 1e3), "us") for p in (50, 99)),
            *(self.figure(f"slowdown, p{p}", lambda run, p=p: quantile(run, "slowdown_milli", p, 1e3)) for p in (50, 99)),
            self.figure("round trip, p99", lambda run: quantile(run, "rtt_ns", 99, 1e3), "us"),
            self.count("marked CE", lambda run: run.results["counters"]["ecn_marked_packets"], "packets"),
            self.count("CNPs", lambda run: run.results["counters"]["np_cnp_sent"]),
            self.count("PFC frames", lambda run: sum(p["tx_pause"] for p in run.results["pfc_counters"])),
            self.count("paused by PFC, all ports", lambda run: sum(p["rx_pause_duration_us"] for p in run.results["pfc_counters"]), "us"),
            self.count("retransmitted", lambda run: run.results["counters"]["retransmitted_packets"], "packets"),
            self.count("dropped", lambda run: sum(d["packets"] for d in run.results["drops"]), "packets"),
        ]

    def beyond(self, percent):
        return [row for row in self.headline() if row.beyond(percent)]

    def flows(self):
        """Wire rates of all flows of either run, by name."""
        rates = [{flow["name"]: flow["wire_rate_bps"] / 1e9 for flow in run.results["flows"]} for run in self.runs]
        return [Figure(name, rates[0].get(name), rates[1].get(name), "Gb/s") for name in dict.fromkeys([*rates[0], *rates[1]])]

    def config(self):
        """Keys that differ: [(section, key, value of A, value of B)]. None: a folder has no configuration."""
        a, b = (run.config for run in self.runs)
        if a is None or b is None:
            return None
        return [(*key, a.get(key, "-"), b.get(key, "-")) for key in dict.fromkeys([*a, *b]) if a.get(key) != b.get(key)]

    def counters(self):
        """Counters whose sums differ."""
        sums = self.sums
        differ = [name for name in dict.fromkeys([*sums[0], *sums[1]]) if sums[0].get(name, 0) != sums[1].get(name, 0)]
        # A watermark is a length, which does not grow with the length of the run.
        return [(self.figure if name.endswith("watermark_bytes") else self.count)(name, lambda run, name=name: sums[self.runs.index(run)].get(name))
                for name in differ]

    def title(self):
        return " and ".join(f"{run.results['scenario']} (seed {run.results['seed']})" for run in self.runs)

    def same(self):
        return self.runs[0].results["digest"] == self.runs[1].results["digest"]

    def text(self):
        lines = [f"{letter}: {name}: {run.results['scenario']}, seed {run.results['seed']}, {seconds(run.results['duration_ns'])}, digest "
                 f"{run.results['digest']}" for letter, name, run in zip("AB", self.names, self.runs)]
        if self.same():
            lines.append("the same run: their digests are equal")
        if self.per_ms:
            lines.append("the runs differ in length: counts are per ms")
        config = self.config()
        if config is None:
            lines += ["", "configuration: one folder has no effective.ini"]
        else:
            lines += ["", "configuration" + ("" if config else ": the same")] + columns([(f"[{s}] {key}", a, b) for s, key, a, b in config], ("", "A", "B"))
        flows = self.flows()
        lines += [""] + columns([row.cells() for row in self.headline()], ("result", "A", "B", "", "B against A"))
        lines += [""] + columns([row.cells() for row in flows[:MOST_FLOWS]], ("flow", "A", "B", "", "B against A"))
        if len(flows) > MOST_FLOWS:
            lines.append(f"and {len(flows) - MOST_FLOWS} more flows")
        return "\n".join(lines) + "\n"

    def document(self):
        def rows(figures):
            return [{"name": f.name, "a": f.a, "b": f.b, "unit": f.unit, "relative": f.relative()} for f in figures]
        return {"format": 1, "a": self.names[0], "b": self.names[1], "same_digest": self.same(), "per_ms": self.per_ms, "config": self.config(),
                "results": rows(self.headline()), "flows": rows(self.flows()), "counters": rows(self.counters())}

    def page(self):
        config = self.config()
        heads = ("", "A", "B", "", "B against A")

        def figures(rows):
            return table(heads, [tuple(escape(cell) if i in (0, 3) else cell for i, cell in enumerate(row.cells())) for row in rows])
        runs = "".join(f"<tr><td>{letter}<td>{escape(name)}<td>{escape(run.results['scenario'])}<td>{run.results['seed']}<td>"
                       f"{seconds(run.results['duration_ns'])}<td><code>{escape(run.results['digest'])}</code>"
                       for letter, name, run in zip("AB", self.names, self.runs))
        asked = "<p>one folder has no effective.ini" if config is None else "<p>the same" if not config else table(
            ("section", "key", "A", "B"), [tuple(map(escape, row)) for row in config], "texts")
        drawn = {"end_ms": max(run.results["duration_ns"] for run in self.runs) / 1e6, "measure_from_ms": -1, "events": [], "counters": None,
                 "charts": self.charts(), "distributions": self.distributions()}
        note = " The runs differ in length, so counts are per ms." if self.per_ms else ""
        return document(f"Compared: {self.title()}", f"""<h1>{escape(self.title())}</h1>
<div class="wide"><table class="texts"><thead><tr><th><th>folder<th>scenario<th>seed<th>time<th>digest<tbody>{runs}</table></div>
<p class="lead">{"Their digests are equal: the same run." if self.same() else ""} A is drawn solid, B dashed.{note}</p>
<h2>Results</h2>
{figures(self.headline())}
<h2>Configuration</h2>
{asked}
<h2>Over time</h2>
<div id="zoom"></div>
<div id="charts" class="charts"></div>
<div id="distributions" class="charts"></div>
<h2>Flows</h2>
{figures(self.flows())}
<h2>Counters that differ</h2>
{figures(self.counters())}""", drawn)

    def overlay(self, draw):
        """One chart with the series of both runs; None: neither run has this chart."""
        drawn = [draw(run, charts.times_of(run)) if len(charts.times_of(run)) else None for run in self.runs]
        found = next((c for c in drawn if c), None)
        if not found:
            return None
        out = dict(found, parts=[], lines=[], note=found["note"].replace(" Black: the fluid model.", ""))
        for letter, chart in zip("AB", drawn):
            for part in chart["parts"][:1] if chart else []:
                for s in part["series"]:
                    s |= {"pair": s["label"], "dashed": letter == "B", "label": f"{letter} {s['label']}"}
                out["parts"].append(part)
        show_both(out["parts"])
        return out if any(part["series"] for part in out["parts"]) else None

    def charts(self):
        def sums(name, title, unit, columns_of):
            def draw(run, times_ns):
                columns = columns_of(run, times_ns)
                return charts.chart(name, title, unit, "Sum over all nodes.", times_ns, [("all", np.sum(columns, axis=0))] if columns else [], counts=True)
            return draw

        def growths(group, column):
            return lambda run, times_ns: [ts.growth_per_ms(s, column, times_ns) for s in getattr(run, group).values()]
        drawn = [self.overlay(draw) for draw in (
            charts.rates, charts.queues, sums("marks", "Packets marked CE", "per ms", growths("queues", "ecn_marked_packets")),
            sums("cnps", "CNPs that senders acted on", "per ms", growths("flows", "cnp_handled")),
            sums("pause-frames", "PFC frames sent", "per ms", growths("pauses", "tx_pause")))]
        return [c for c in drawn if c]

    def distributions(self):
        found = []
        for measure, name, title, unit, scale in charts.DISTRIBUTIONS:
            parts = []
            for letter, run in zip("AB", self.runs):
                times = run.all_times(measure)
                if times is not None:
                    at_most, share = charts.cumulated(*times, scale)
                    parts.append({"ms": at_most, "series": [{"label": letter, "dashed": letter == "B", "shown": True, "values": share}]})
            if parts:
                found.append({"id": name, "title": title, "unit": "%", "note": "All flows together.", "parts": parts, "lines": [], "steps": True, "x": unit})
        return found


def show_both(parts):
    """Show the same series of both runs, at most four."""
    wanted = [s["pair"] for part in parts for s in part["series"] if s["shown"]]
    chosen = set(list(dict.fromkeys(wanted))[:4])
    alone = len({s["pair"] for part in parts for s in part["series"]}) == 1
    for part in parts:
        for s in part["series"]:
            s["shown"] = s["pair"] in chosen
            if alone:  # give each run its own colour
                del s["pair"]


def columns(rows, heads):
    """Lines of text. The first column and units are aligned left, numbers right."""
    if not rows:
        return []
    rows = [heads, *rows]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(heads))]
    return ["  ".join(str(cell).ljust(w) if i in (0, 3) else str(cell).rjust(w) for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in rows]
