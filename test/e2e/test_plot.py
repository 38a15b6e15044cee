#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/plot: figures of runs and of sweeps with their data and program beside them, and what it refuses."""
import csv
import json
import os
import re
import shutil
import xml.etree.ElementTree

from harness import check, check_equal, finish, path_of, run, skip, work_dir
from scripts import ROOT, Script

PLOT = ROOT / "scripts" / "plot"
SCENARIO = ROOT / "config" / "incast-4to1.ini"
SVG = "{http://www.w3.org/2000/svg}"

try:
    os.environ["MPLCONFIGDIR"] = str(work_dir())
    SWEEP = Script("sweep", "report.plots")
    SCRIPT = Script("plot", "matplotlib.pyplot", "matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf")
except ImportError:
    skip("python3-matplotlib is not installed")


def lab(out, scenario=SCENARIO, message="100KB"):
    done = run(path_of("lab"), "--quiet", "--no-progress", "--duration", "4ms", "--set", "fabric.measure_from_ns=2ms", "--set", f"flow incast.message_bytes={message}",
               "--out", out, scenario)
    check_equal(f"quench-lab runs {out.name}", (done.returncode, done.stderr), (0, ""))
    return out


def plot(*args):
    return SCRIPT(*args)


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def texts(svg):
    """Texts of an SVG file, which a reader can search, and an editor change."""
    return ["".join(t.itertext()) for t in xml.etree.ElementTree.parse(svg).getroot().iter(f"{SVG}text")]


def size_mm(svg):
    root = xml.etree.ElementTree.parse(svg).getroot()
    return [round(float(root.get(side).removesuffix("pt")) / 72 * 25.4, 1) for side in ("width", "height")]


def check_runs(work, a, b):
    out = work / "new" / "queue.svg"
    done = run(PLOT, "queue", a, b, "--labels", "DCQCN,PFC only", "--out", out)
    check_equal("two runs are drawn", (done.returncode, done.stderr), (0, ""))
    check_equal("as wide as a column", size_mm(out), [85, 52])
    check("text is text", {"DCQCN", "PFC only", "queue (KB)", "time (ms)"} <= set(texts(out)), texts(out))
    data = rows(out.with_suffix(".csv"))
    with open(a / "queues.csv", newline="", encoding="utf-8") as file:
        b0 = json.loads((a / "results.json").read_text(encoding="utf-8"))["bottleneck"]
        wanted = [(float(r["time_ns"]) / 1e6, float(r["queue_bytes"]) / 1e3) for r in csv.DictReader(file)
                  if (r["node"], r["port"], r["queue"]) == (b0["node"], str(b0["port"]), str(b0["queue"])) and float(r["time_ns"]) >= 2e6]
    drawn = [(float(r["x"]), float(r["y"])) for r in data if r["series"] == "DCQCN"]
    check_equal("the data are the samples of the measured window", drawn, wanted)
    colours = set(re.findall(r"stroke: (#[0-9a-f]{6})", out.read_text(encoding="utf-8")))
    check("a colour for each run", {"#0072b2", "#d55e00"} <= colours, colours)
    kept = out.read_bytes()
    out.unlink()
    done = run("/usr/bin/python3", out.with_name("queue-plot.py"))
    check_equal("the program beside it ends well", (done.returncode, done.stderr), (0, ""))
    check("and draws the same figure, byte for byte", out.read_bytes() == kept)


def check_options(work, a, b):
    out = work / "rate.svg"
    done = plot("rate", a, b, "--width", "page", "--height", "60", "--font", "serif", "--font-size", "10", "--colours", "black,0.5", "--from", "0", "--to", "1ms",
                "--log", "--out", out)
    check_equal("a figure of one's own ends well", (done.returncode, done.stderr), (0, ""))
    check_equal("its size", size_mm(out), [178, 60])
    text = out.read_text(encoding="utf-8")
    check("its font", "serif" in text and "10px" in text and "sans" not in text)
    check("its colours", {"#000000", "#808080"} <= set(re.findall(r"stroke: (#[0-9a-f]{6})", text)))
    check("its time", max(float(r["x"]) for r in rows(out.with_suffix(".csv"))) == 1)
    again = plot("rate", a, b, "--out", out)
    check_equal("its own files are replaced", (again.returncode, again.stderr), (0, ""))
    few = rows(out.with_suffix(".csv"))
    check("the mean of a run's flows lies in its band", len(few) > 10 and all(float(r["low"]) <= float(r["y"]) <= float(r["high"]) for r in few))
    plot("rate", a, "--out", out)
    check_equal("of one run, its flows", sorted({r["series"] for r in rows(out.with_suffix(".csv"))}), [f"incast h{i}" for i in (1, 2, 3, 4)])


def check_quantities(work, a, pfc):
    results = [json.loads((folder / "results.json").read_text(encoding="utf-8")) for folder in (a, pfc)]
    for quantity in ("marks", "cnps", "completion", "slowdown", "rtt", "pauses", "paused"):
        out = work / f"{quantity}.pdf"
        done = plot(quantity, a, pfc, "--out", out, *(() if quantity in ("completion", "slowdown", "rtt") else ("--from", "0")))
        check_equal(f"{quantity} is drawn", (done.returncode, done.stderr, out.read_bytes()[:5]), (0, "", b"%PDF-"))
        check(f"{quantity}: letters, not outlines", b"/TrueType" in out.read_bytes() or b"/Type0" in out.read_bytes())

    def total(quantity, label):
        found = [(float(r["x"]), float(r["y"])) for r in rows(work / f"{quantity}.csv") if r["series"] == label]
        return sum(y * (x - before) for (x, y), before in zip(found, [0, *(x for x, _ in found)]))
    for quantity, label, wanted in (("cnps", a.name, sum(flow["rp_cnp_handled"] for flow in results[0]["flows"])),
                                    ("pauses", pfc.name, sum(p["tx_pause"] for p in results[1]["pfc_counters"]))):
        check(f"{quantity} add up to those of the run", wanted > 0 and abs(total(quantity, label) - wanted) < 0.01 * wanted, (total(quantity, label), wanted))
    shares = [float(r["y"]) for r in rows(work / "completion.csv") if r["series"] == a.name]
    check("shares go from 0 to 1", (shares[0], shares[-1]) == (0, 1) and shares == sorted(shares), shares)


def with_messages(run_, out, slowdown):
    """A copy of a run with 1000 messages of 10, 20, ... 10000 bytes, whose slowdown follows from their number."""
    shutil.copytree(run_, out)
    header = (out / "messages.csv").read_text(encoding="utf-8").splitlines()[0]
    lines = [f"incast h1,h1,h5,{n * 10},0,1,1,{slowdown(n):.4f},0,2" for n in range(1, 1001)]
    (out / "messages.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    set_sizes(out, range(1000, 10001, 1000))
    return out


def set_sizes(run_, edges):
    results = json.loads((run_ / "results.json").read_text(encoding="utf-8"))
    results["slowdown_by_size"]["sizes"] = [{"to_bytes": edge} for edge in edges]
    (run_ / "results.json").write_text(json.dumps(results), encoding="utf-8")


def check_sizes(work, a):
    low, high = (with_messages(a, work / name, slowdown) for name, slowdown in (("low", lambda n: 1 + n / 1000), ("high", lambda n: 11 + n / 1000)))
    out = work / "sizes.svg"
    done = plot("slowdown-by-size", low, high, "--out", out)
    check_equal("the slowdown is drawn by size", (done.returncode, done.stderr), (0, ""))
    check("a colour for each run, a dash for each percentile", {"low, p50", "low, p99", "high, p50", "high, p99"} <= set(texts(out)), texts(out))
    found = {(r["series"], r["x"]): float(r["y"]) for r in rows(out.with_suffix(".csv"))}
    check_equal("ten buckets of each curve", len(found), 40)
    check_equal("the percentiles of the messages", [round(found[key], 3) for key in (("low, p50", "1 KB"), ("low, p99", "2 KB"), ("high, p99", "10 KB"))], [1.05, 1.199, 11.999])
    set_sizes(low, (5000, 20000))
    done = plot("slowdown-by-size", low, "--out", out)
    check_equal("the sizes of the run's page, of which the last is of a message that has not ended", sorted({r["x"] for r in rows(out.with_suffix(".csv"))}), ["20 KB", "5 KB"])
    done = plot("slowdown-by-size", low, high, "--percentiles", "p95", "--sizes", "20B,5KB", "--log", "--out", out)
    check_equal("given sizes and percentiles", (done.returncode, done.stderr), (0, ""))
    check_equal("and the largest messages of all", sorted({r["x"] for r in rows(out.with_suffix(".csv"))}), ["10 KB", "20 B", "5 KB"])
    check("a single percentile is on the axis", {"low", "high", "slowdown, p95"} <= set(texts(out)), texts(out))
    widths = [float(x) for x in re.findall(r'<text style="[^"]*" x="([0-9.]+)"', out.read_text(encoding="utf-8"))]
    check("the legend is inside the figure", all(x < 85 / 25.4 * 72 for x in widths), widths)


def check_sweep(work):
    folder, scenario = work / "sweep", work / "incast.ini"
    scenario.write_text(SCENARIO.read_text(encoding="utf-8").replace("[fabric]", "[fabric]\nsize_edges = 50KB,100KB", 1), encoding="utf-8")
    done = SWEEP(scenario, "--set", "wred.Kmax=100KB,200KB", "--set", "flow incast.src=1-2,1-4", "--set", "flow incast.message_bytes=100KB", "--seeds", "1-2", "--duration", "2ms",
               "--lab", path_of("lab"), "--out", folder)
    check_equal("a sweep ends well", (done.returncode, done.stderr), (0, ""))
    out = work / "sweep.svg"
    done = plot("queue_max_bytes", folder, "--out", out)
    check_equal("a column of it is drawn", (done.returncode, done.stderr), (0, ""))
    check("over the numbers of its axis, from 0", {"wred.Kmax (KB)", "0", "flow incast.src =", "1-4"} <= set(texts(out)), texts(out))
    table = [float(r["queue_max_bytes"]) for r in rows(folder / "sweep.csv") if r["wred.Kmax"] == "200KB" and r["flow incast.src"] == "1-4"]
    point = next(r for r in rows(out.with_suffix(".csv")) if r["series"] == "flow incast.src = 1-4" and r["x"] == "200")
    check("mean and range of the seeds", abs(float(point["y"]) - sum(table) / 2) < 1 and float(point["low"]) == min(table) and float(point["high"]) == max(table), point)
    done = plot("queue", folder, "--out", out)
    check("queue: mean and p99", done.returncode == 0 and {"flow incast.src =", "1-2, p99"} <= set(texts(out)), done)
    done = plot("slowdown", folder, "--out", out)
    check("slowdown of a sweep", done.returncode == 0 and {"flow incast.src =", "1-2, p50"} <= set(texts(out)), done)
    done = plot("slowdown-by-size", folder, "--percentiles", "p99", "--out", out)
    check("slowdown by size of a sweep", done.returncode == 0 and {"wred.Kmax = 200KB, flow incast.src = 1-4", "slowdown, p99", "100 KB"} <= set(texts(out)), done)
    values = [float(r["size2_p99"]) for r in rows(folder / "sweep.csv") if r["wred.Kmax"] == "200KB" and r["flow incast.src"] == "1-4"]
    point, = (r for r in rows(out.with_suffix(".csv")) if r["series"] == "wred.Kmax = 200KB, flow incast.src = 1-4")
    half = 12.706 * abs(values[0] - values[1]) / 2  # Student's t of one degree of freedom; s / sqrt(2) = |a - b| / 2
    check("mean and confidence interval over the seeds", abs(float(point["y"]) - sum(values) / 2) < 1e-4 and
          abs(float(point["high"]) - float(point["y"]) - half) < 1e-3, (point, values))
    help_ = plot("--help")
    check("the help names every quantity", help_.returncode == 0 and all(word in help_.stdout for word in ("completion", "slowdown-by-size", "converged", "scripts/sweep --out")), help_)
    return folder


def check_refusals(work, a, sweep):
    out = work / "refused.pdf"
    none = work / "none-timed"
    shutil.copytree(a, none)
    (none / "messages.csv").unlink()
    (work / "mine-plot.py").write_text("print('mine')\n", encoding="utf-8")
    for args, words in ((("depth", a), "depth"), (("queue", work / "none"), "results.json"), (("queue", a, sweep), "runs and sweeps"),
                        (("digest", sweep), "digest"), (("queue", sweep, "--from", "1"), "no time axis"), (("queue", a, "--from", "9"), "nothing to draw"),
                        (("queue", a, "--width", "wide"), "column, page"), (("queue", a, "--colours", "pinkish"), "pinkish"),
                        (("queue", a, "--font", "Nonesuch"), "Nonesuch"), (("queue", a, "--labels", "a,b"), "2 names"),
                        (("queue", a, a, "--labels", "a,a"), "once"), (("queue", a, "--from", "2", "--to", "1"), "--to"),
                        (("queue", a, "--out", work / "x.gif"), "x.gif"), (("queue", a, "--font-size", "0"), "4 to 40"),
                        (("completion", a, "--from", "1"), "no time axis"), (("slowdown-by-size", a, "--to", "1"), "no time axis"),
                        (("slowdown-by-size", a, "--percentiles", "p98"), "p99.9"), (("slowdown-by-size", a, "--sizes", "2KB,1KB"), "increasing sizes"),
                        (("slowdown-by-size", a, "--sizes", "1.2.3KB"), "increasing sizes"), (("queue", a, "--sizes", "1KB"), "slowdown-by-size"),
                        (("slowdown-by-size", sweep, "--sizes", "1KB"), "size_edges of its scenario"), (("queue", sweep, "--percentiles", "p50"), "slowdown-by-size"), (("slowdown-by-size", none), "no messages.csv"),
                        (("queue", a, "--out", work / "mine.pdf"), "did not write it")):
        done = plot("--out", out, *args)
        check(f"{' '.join(str(x) for x in args[:1] + args[2:])}: refused, with its reason", done.returncode == 2 and words in done.stderr.splitlines()[-1], done)
    check("and nothing is written", not out.exists() and not out.with_name("refused-plot.py").exists())
    check_equal("nor overwritten", (work / "mine-plot.py").read_text(encoding="utf-8"), "print('mine')\n")
    done = plot("queue", a, "--out", a / "results.json" / "x.pdf")
    check("a folder that is a file", done.returncode == 1 and done.stderr.count("\n") == 1, done)


work = work_dir()
dcqcn = lab(work / "dcqcn")
pfc = lab(work / "pfc", ROOT / "config" / "incast-4to1-pfc-only.ini", "2MB")
check_runs(work, dcqcn, pfc)
check_options(work, dcqcn, pfc)
check_quantities(work, dcqcn, pfc)
check_sizes(work, dcqcn)
check_refusals(work, dcqcn, check_sweep(work))
finish()
