#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/report.py over a run of quench-lab: the files are there, whole, and need nothing from outside."""
import csv
import json
import os
import pathlib
import re
import sys
import types
import xml.etree.ElementTree

from harness import check, check_equal, finish, path_of, run, skip, work_dir
from scripts import Script

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPORTED = []
PLOTS = ("rates", "slowdown", "sizes", "queue", "cnp", "pauses")

try:
    import matplotlib  # noqa: F401
    import numpy as np
    sys.path.insert(0, str(ROOT / "tools"))
    from quench import Run
    from report import charts, html, page, plots, series, sizes
    REPORT = Script("report.py", "report.plots")
except ImportError:
    skip("python3-matplotlib is not installed")


def lab(folder, scenario):
    """Run a scenario for 2 ms of its time."""
    text = (ROOT / "config" / scenario).read_text(encoding="utf-8")
    short = folder / scenario
    short.write_text(re.sub(r"measure_from_ns = \S+", "measure_from_ns = 1ms", text), encoding="utf-8")
    out = folder / short.stem
    done = run(path_of("lab"), "--quiet", "--no-progress", "--duration", "2ms", "--out", out, short)
    check_equal(f"quench-lab runs {scenario}", (done.returncode, done.stderr), (0, ""))
    return out


def check_report(out):
    # The first by the script itself.
    done = REPORT(out) if REPORTED else run(REPORT.path, out)
    REPORTED.append(out)
    check_equal("report.py ends well", (done.returncode, done.stderr), (0, ""))
    page = (out / "report.html").read_text(encoding="utf-8")
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    for name in PLOTS:
        root = xml.etree.ElementTree.parse(out / f"{name}.svg").getroot()
        check(f"{name}.svg is an SVG file", root.tag.endswith("svg"), root.tag)
        check(f"{name}.png is a PNG file", (out / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n"))
    # No picture of nothing, nor of a single size
    paused = any(int(row["tx_pause"]) or int(row["rx_pause_duration_us"]) for row in csv.DictReader((out / "pfc.csv").open(encoding="utf-8")))
    marked = results["bottleneck"]["ecn_marked_packets"] or any(flow["rp_cnp_handled"] for flow in results["flows"])
    told = {"rates", "queue", *["cnp"] * bool(marked), *["pauses"] * paused, *["slowdown"] * ("slowdown_milli" in (out / "times.csv").read_text(encoding="utf-8")),
            *["sizes"] * (sum(size["messages"] > 0 for size in results["slowdown_by_size"]["sizes"]) > 1)}
    check_equal("the page holds the plots that tell something", set(re.findall('<figure id="still-([^"]+)">', page)), told)
    fetched = [url for url in re.findall(r'(?:src|href)="([^"]*)"', page) if not url.startswith(("#", "data:"))]
    check_equal("the page fetches nothing", fetched, [])
    ids = re.findall(r'\bid="([^"]+)"', page)
    check("ids in the page are unique", len(ids) == len(set(ids)))
    check("the page shows the digest", results["digest"] in page)
    check("the page has the times of messages", "Messages and round trips" in page)
    model = "refused" not in results["fluid"]
    check(f"the page has {'the fluid model beside the packets' if model else 'why there is no fluid model'}",
          ("Fixed point" in page and "fluid model" in page) if model else "<h2>Fluid model</h2><p>Not for this scenario. " in page)
    if model:
        packets, modelled = charts.rates(Run(out), charts.times_of(Run(out)))["parts"]
        check_equal("the model's rates begin with those of packets", (modelled["ms"][0], len(modelled["series"][0]["values"])), (packets["ms"][0], len(modelled["ms"])))
    check("the page has slowdowns by message size, if there are any",
          ("<h2>Slowdown by message size" in page) == any(flow["slowdowns"] for flow in results["flows"]))
    marks = [re.sub(r"\D", "", n) for n in re.findall(r"Marked CE<td[^>]*>([\d\u202f]+) packets(?:, ([\d\u202f]+) of them)?", page)[0]]
    check_equal("marks of all queues, and those of the bottleneck", [int(n or 0) for n in marks], [results["counters"]["ecn_marked_packets"], results["bottleneck"]["ecn_marked_packets"]])
    check("the page names every flow", all(flow["name"] in page for flow in results["flows"]))


def check_distributions(out):
    """A flow of one message is a step, not a lone point that no line is drawn through."""
    run_ = Run(out)
    drawn = charts.distributions(run_)
    check("distributions are drawn", len(drawn) > 0)
    for chart in drawn:
        check_equal(f"{chart['title']}: all flows come first", chart["parts"][0]["series"][0]["label"], "all flows")
        for part in chart["parts"]:
            values = part["series"][0]["values"]
            check(f"{chart['title']}: from 0 to 100 %", len(values) > 1 and (values[0], values[-1]) == (0, 100), values)
            check(f"{chart['title']}: no value twice", all(a < b for a, b in zip(part["ms"], part["ms"][1:])), part["ms"])


def check_refusals(out):
    """A missing or foreign file is one line and code 2."""
    for name, content in (("pfc.csv", None), ("flows.csv", "time,flow\n"), ("fluid_flows.csv", "time,flow\n"), ("times.csv", "flow\n"), ("messages.csv", "flow\n"), ("counters.csv", "node\n"), ("results.json", "{}\n")):
        path = out / name
        kept = path.read_bytes()
        path.unlink()
        if content:
            path.write_text(content, encoding="utf-8")
        done = REPORT(out)
        check_equal(f"{name} {'foreign' if content else 'missing'}: code", done.returncode, 2)
        check(f"{name}: one line that names it", done.stderr.count("\n") == 1 and name in done.stderr, done.stderr)
        path.write_bytes(kept)


def check_empty(out):
    """A run that sampled nothing still has a page."""
    for name in ("flows.csv", "queues.csv", "pfc.csv", "times.csv", "messages.csv"):
        path = out / name
        path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    check_equal("series without rows are drawn as such", REPORT(out).returncode, 0)
    for name in ("times.csv", "messages.csv", "counters.csv", "fluid_flows.csv", "fluid_queues.csv"):
        (out / name).unlink()
    check_equal("results of before there were times and a model are drawn", REPORT(out).returncode, 0)


def check_sizes():
    """Percentiles of the slowdown by size, over messages whose slowdown follows from their number."""
    n = np.arange(1, 1001)
    messages = n * 10, 1 + n / 1000
    found = sizes.buckets(messages, list(range(1000, 10_001, 1000)))
    check_equal("each with a tenth of the messages", {bucket["messages"] for bucket in found}, {100})
    check_equal("from one edge to the next", [(b["from_bytes"], b["to_bytes"]) for b in found[:2]], [(0, 1000), (1001, 2000)])
    check_equal("percentiles are values of messages", [round(found[1][p], 3) for p in sizes.PERCENTILES], [1.15, 1.195, 1.199, 1.2])
    check_equal("most of one size", [b["messages"] for b in sizes.buckets((np.append(np.full(95, 7), [8, 9, 10, 11, 12]), np.ones(100)), [7, 12])], [95, 5])
    check_equal("given edges", [b["messages"] for b in sizes.buckets(messages, [20, 30, 5000, 100_000])], [2, 1, 497, 500])
    low, high = sizes.interval([3.0, 5.0, None])
    check("the interval of two seeds: Student's t of one degree of freedom", abs(low + 8.706) < 1e-9 and abs(high - 16.706) < 1e-9, (low, high))
    check_equal("no interval from one seed", sizes.interval([3.0, None]), None)


def check_websearch(work):
    """The buckets of results.json are those of messages.csv, and the page has them and its warnings."""
    out = work / "websearch"
    done = run(path_of("lab"), "--no-progress", "--out", out, "--duration", "30ms", "--set", "flow search.load_bps=500M",
               "--set", "fabric.size_edges=10KB,100KB 1MB", ROOT / "config" / "websearch-poisson.ini")
    check_equal("websearch runs", (done.returncode, done.stderr), (0, ""))
    run_ = Run(out)
    given = sizes.of(run_)["sizes"]
    found = sizes.buckets(run_.messages, [bucket["to_bytes"] for bucket in given])
    check_equal("given edges", [bucket["to_bytes"] for bucket in given[:3]], [10_000, 100_000, 1_000_000])
    check_equal("the same messages", [b["messages"] for b in found], [b["messages"] for b in given if b["messages"]])
    for mine, theirs in zip(found, (b for b in given if b["messages"])):
        check("the same percentiles", all(abs(mine[p] - theirs[p]) < 2e-4 for p in sizes.PERCENTILES), (mine, theirs))
    check("the table has them", "10 KB to 100 KB" in done.stdout and "fewer than 100 messages" in done.stdout and "not ended" in done.stdout, done.stdout)
    check_equal("a report of it", REPORT(out).returncode, 0)
    page = (out / "report.html").read_text(encoding="utf-8")
    changes = ["flow search.load_bps=500M", "fabric.size_edges=10KB,100KB 1MB"]
    check_equal("results.json has what was changed", run_.results["changes"], changes)
    check("the title and the settings have it", f"<h1>websearch-poisson, {', '.join(changes)}, seed" in page and "Changed with <span class=\"keyed\">--set</span>" in page, page[:3000])
    check("it warns", " sizes have fewer than 100\u00a0messages, so their p99 is the largest slowdown" in page, page[page.find("Slowdown by message size"):][:3000])


def check_covered():
    """Lines that go up and down often, or lie on each other, cover each other: one is shown at first. Some peaks do not."""
    t = np.arange(1000)
    for words, period, wanted in (("often", 10, ["b"]), ("seldom", 250, ["a", "b"])):
        wave = 1e3 * (t % period < period / 2)
        out = charts.chart("groups", "", "KB", "", t * 1e6, [("a", wave), ("b", wave * 1.1)])
        shown = charts.alone_if_covered(out, [("a", wave), ("b", wave * 1.1)], t >= 0)
        check_equal(f"lines that go up and down {words}", (sorted(shown), [s["label"] for s in out["parts"][0]["series"] if s["shown"]]), (wanted, wanted))
        check_equal("and what is said of them", "would cover it" in out["drawn"], words == "often")
    for words, apart, wanted in (("lie on each other", 1.01, ["b"]), ("are apart", 1.1, ["a", "b"])):
        flat = np.full(1000, 1e3)
        out = charts.chart("groups", "", "KB", "", t * 1e6, [("a", flat), ("b", flat * apart)])
        check_equal(f"lines that {words}", sorted(charts.alone_if_covered(out, [("a", flat), ("b", flat * apart)], t >= 0)), wanted)


def check_pauses_of_hosts():
    """A host that pauses its switch is no pause of a switch."""
    rows = [{"node": node, "tx_pause": n} for node, n in (("h5", 99), ("h10", 1), ("s1", 8))]
    sent = {(node, "0", "3"): {"time_ns": np.array([1e6, 2e6, 3e6]), "tx_pause": np.array(n)} for node, n in (("h5", [0, 99, 99]), ("h6", [0, 0, 0]), ("s1", [0, 0, 8]))}
    check_equal("their frames, and when the last one was sent", page.pauses_of_hosts(types.SimpleNamespace(results={"pfc_counters": rows}, pauses=sent)),
                [("Pauses of hosts", "100 frames in the whole run, the last one at 2 ms")])
    check_equal("none", page.pauses_of_hosts(types.SimpleNamespace(results={"pfc_counters": rows[2:]}, pauses=sent)), [])


def check_without_model():
    """Why there is no model, as its reader is told."""
    for refused, told in (
            ("[fabric] topology: expected at most 128 queues, summed over the paths of all classes of equal flows, and 4096 flows; --fluid alone has no limit",
             "It is too large to be solved with each run: the limit is 128\u00a0queues, summed over the paths of all classes of equal flows, and 4\u202f096\u00a0flows. "
             'quench-lab <span class="keyed">--fluid</span> has no limit'),
            ("[job ring]: expected no job: the fluid model's flows always have something to send", "The model needs no job, because the fluid model&#x27;s flows always have something to send"),
            ("[nic] cc: expected dcqcn: the fluid model has no other algorithm", "The model needs [nic] cc to be dcqcn, because the fluid model has no other algorithm"),
            ("[wred] wred_weight: expected 0: the fluid model marks by the instantaneous queue", "The model needs [wred] wred_weight to be 0, because the fluid model marks by the instantaneous queue"),
            ("an older text", "an older text")):
        check_equal(refused, html.said(page.without_model(refused)), told)


def check_digits():
    """Large figures have no exponent, so columns stay narrow."""
    check_equal("four digits", [html.digits(v) for v in (1.23456, 872.42, 9999, 40_654.3)], ["1.235", "872.4", "9\u202f999", "40\u202f654"])
    check_equal("always four", [html.padded(v) for v in (2.44, 8, 0, 999.97, 1234)], ["2.440", "8.000", "0", "1\u202f000", "1\u202f234"])
    check_equal("one number of digits in a column", [html.even(["10.35", "0.136"]), html.even(["5.000", "0.163", "0"])], [["10.35", "0.1360"], ["5.000", "0.163", "0"]])
    check_equal("one way to group digits", [html.kbytes(9_532_460), html.seconds(12e9), html.number(35_086), html.RATE_UNITS[0](1_434_000_000_000)],
                ["9\u202f532.5\u00a0KB", "12\u202f000 ms", "35\u202f086", "1\u202f434.000"])


def check_changed():
    """A run that --set changed does not pass for the scenario of its file."""
    for changes, told in (([], "incast"), (["wred.Kmax=1MB"], "incast, wred.Kmax=1MB"), (["a.b=1", "a.c=2", "a.d=3"], "incast, 3 keys changed")):
        check_equal(f"name with {len(changes)} changes", html.changed({"scenario": "incast", "changes": changes}), told)
    check_equal("name with a switch", html.changed({"scenario": "incast", "switch_file": "tor", "changes": []}), "incast, switch tor")
    check_equal("name in results of an older program", html.changed({"scenario": "incast"}), "incast")


def check_drawn():
    """The note of a chart has the number of series that are drawn at first."""
    ms, total = np.arange(1, 11) * 1e6, ("sum of all", np.sum)
    for words, peaks, options in (
            ("the 3 of 9 series with the highest peak.", [100] * 9, {}), ("the one of 9 series with the highest peak; the others are near 0.", [100] + [0.5] * 8, {}),
            ("the sum of all; each of 400 series is near 0 beside it.", [1] * 400, {"total": total}),
            ("the sum of all and the 3 of 9 series with the lowest mean.", [1] * 9, {"total": total, "lowest": True}),
            ("8 and the 3 of 9 series with the highest peak.", [100] * 9, {"first": ["8"]})):
        drawn = charts.chart("id", "title", "unit", "note", ms, [(str(i), np.full(10, float(peak))) for i, peak in enumerate(peaks)], **options)
        check_equal(f"drawn at first: {words}", drawn["drawn"], f" Drawn at first: {words}")


def check_thinning():
    """A peak of one sample is as high afterwards, and where it was; what is counted keeps its sum."""
    ms, values = np.arange(1, 10_001) / 10, np.ones(10_000)
    values[7777], values[1234] = 50, 0.5
    thin = series.Thinner(len(ms), 400)
    got, at = thin.values(values), thin.times(ms)
    check_equal("thinned out", (len(got), len(at), thin.group), (400, 400, 50))
    check_equal("least and most are left", (got.min(), got.max()), (0.5, 50))
    check("where they were", abs(at[got.argmax()] - 777.8) < 5 and abs(at[got.argmin()] - 123.5) < 5, (at[got.argmax()], at[got.argmin()]))
    check("in the order of time", (np.diff(at) > 0).all())
    check("counts keep their sum", np.isclose(thin.means(values).sum() * 50, values.sum()))
    check("and times those of the last", thin.last_times(ms)[0] == 5 and thin.last_times(ms)[-1] == 1000)
    late = series.since_first(np.array([0.0, 0.0, 40.0, 0.0]))
    check_equal("unknown before the first value", series.rounded(late), [None, None, 40, 0])
    check_equal("a mean is that of known values", series.rounded(series.mean_of([late, np.array([np.nan, 10.0, 20.0, 20.0])], axis=0)), [None, 10, 30, 10])
    check_equal("a few are left as they are", list(series.Thinner(3, 400).values(values[:3])), [1, 1, 1])


def check_without_matplotlib(work, out):
    """Charts are JavaScript: the page needs matplotlib for its pictures only."""
    blind, copy = work / "blind", work / "without"
    blind.mkdir()
    copy.mkdir()
    (blind / "sitecustomize.py").write_text("import sys\nsys.modules['matplotlib'] = None\n")
    for path in out.iterdir():
        if path.suffix in (".json", ".csv"):
            (copy / path.name).write_bytes(path.read_bytes())
    done = run(REPORT.path, copy, env={**os.environ, "PYTHONPATH": str(blind)})
    check("without matplotlib: it ends well, and says what is missing", done.returncode == 0 and "without pictures for printing: no matplotlib: install" in done.stderr,
          (done.returncode, done.stderr))
    page = (copy / "report.html").read_text(encoding="utf-8")
    check("the page has its charts, and no pictures", '"charts"' in page and "<figure id=" not in page and not list(copy.glob("*.svg")))


def check_steps():
    """Steps of plots: of equal length, and longer where each flow is paused in turn."""
    for n, most in ((0, 500), (7, 500), (501, 500), (1501, 500), (3001, 62)):
        bins = plots.Bins(n, most)
        check(f"{n} samples in at most {most} steps, of which none is much shorter", len(bins.starts) <= most and sum(bins.sizes) == n and
              (n == 0 or max(bins.sizes) - min(bins.sizes) <= 1), bins.sizes)
    check_equal("a steady rate keeps its points", plots.smooth_enough([np.full(3000, 10.0)]), plots.MOST_POINTS)
    paused = np.where(np.arange(3000) // 15 % 2, 200.0, 0.0)
    check("a rate of 0 or all of the link gets longer steps", plots.LEAST_STEPS <= plots.smooth_enough([paused]) < plots.MOST_POINTS, plots.smooth_enough([paused]))


os.environ["MPLCONFIGDIR"] = str(work_dir())
check_steps()
check_thinning()
check_sizes()
check_digits()
check_changed()
check_drawn()
check_covered()
check_pauses_of_hosts()
check_without_model()
work = work_dir()
for scenario_file in ("incast-4to1.ini", "incast-4to1-pfc-only.ini", "incast-4to1-no-pfc.ini"):
    check_report(lab(work, scenario_file))
check_without_matplotlib(work, work / "incast-4to1")
check_distributions(work / "incast-4to1")
check_websearch(work)
check_refusals(work / "incast-4to1")
check_empty(work / "incast-4to1")
finish()
