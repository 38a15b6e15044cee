#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/compare: runs side by side, in words, as JSON and as a page that asks for nothing."""
import json
import shutil

from browser import Browser
from harness import check, check_equal, finish, path_of, run, skip, work_dir
from scripts import ROOT, Script

try:
    COMPARE = Script("compare")
except ImportError:
    skip("python3-numpy is not installed")


def lab(out, *options):
    done = run(path_of("lab"), "--quiet", "--no-progress", *options, "--out", out, ROOT / "config" / "incast-4to1.ini")
    check_equal(f"quench-lab runs {out.name}", (done.returncode, done.stderr), (0, ""))
    return out, json.loads((out / "results.json").read_text(encoding="utf-8"))


def compare(out, *args):
    return COMPARE(*args, "--out", out)


def rows(document, part="results"):
    return {row["name"]: row for row in document[part]}


def check_different(work, a, b):
    """B: half as long, one sender fewer, another curve."""
    done = run(COMPARE.path, a[0], b[0], "--out", work / "ab")
    check_equal("two runs are compared", (done.returncode, done.stderr), (0, ""))
    document = json.loads((work / "ab" / "compare.json").read_text(encoding="utf-8"))
    asked = [row[:2] for row in document["config"]]
    check_equal("what was asked for otherwise", asked, [["fabric", "duration_ns"], ["fabric", "measure_from_ns"], ["wred", "green_max_threshold_bytes"],
                                                        ["flow incast", "src"]])
    results = rows(document)
    a_goodput, b_goodput = (sum(flow["goodput_bps"] for flow in r["flows"]) / 1e9 for r in (a[1], b[1]))
    check("goodput of both", abs(results["goodput, all flows"]["values"][0] - a_goodput) < 1e-9 and abs(results["goodput, all flows"]["values"][1] - b_goodput) < 1e-9, results)
    relative = results["queue, max"]["relative"][0]
    a_max, b_max = (r["bottleneck"]["queue_max_bytes"] for r in (a[1], b[1]))
    check("B against A", abs(relative - (b_max / a_max - 1)) < 1e-9, relative)
    check("counts of runs of different length are rates", document["per_ms"] and
          abs(results["CNPs sent"]["values"][0] - a[1]["counters"]["np_cnp_sent"] / 4) < 1e-9 and abs(results["CNPs sent"]["values"][1] - b[1]["counters"]["np_cnp_sent"] / 2) < 1e-9, results["CNPs sent"])
    check_equal("a flow that only A has", (rows(document, "flows")["incast h4"]["values"][1], rows(document, "flows")["incast h4"]["relative"]), (None, [None]))
    high = rows(document, "counters")["all switches, all ports: queue3/watermark_bytes"]
    check("a watermark is none of them", high["values"][0] >= a_max and high["values"][1] >= b_max, high)
    for words in ("[wred] green_max_threshold_bytes  200KB  100KB", "queue, mean", "incast h4", "the runs differ in length", "measured windows differ: A "):
        check(f"the text has {words}", words in done.stdout, done.stdout)
    check_equal("too far apart for --within", compare(work / "ab", a[0], b[0], "--within", "0.01").returncode, 1)
    return work / "ab" / "compare.html"


def check_sizes(work):
    """Slowdown by size in the same buckets: given edges, and those of A."""
    runs = {}
    for name, options in (("given", ("fabric.size_edges=10KB 1MB",)), ("same", ("fabric.size_edges=10KB 1MB", "wred.Kmax=100KB")), ("shares", ())):
        runs[name] = work / f"by-{name}"
        done = run(path_of("lab"), "--quiet", "--no-progress", "--duration", "30ms", "--set", "flow search.load_bps=500M",
                   *(word for option in options for word in ("--set", option)), "--out", runs[name], ROOT / "config" / "websearch-poisson.ini")
        check_equal(f"quench-lab runs {name}", (done.returncode, done.stderr), (0, ""))
    done = compare(work / "sizes", runs["given"], runs["same"], runs["shares"])
    document = json.loads((work / "sizes" / "compare.json").read_text(encoding="utf-8"))
    check_equal("four percentiles of three sizes", len(document["slowdown_by_size"]), 12)
    page = (work / "sizes" / "compare.html").read_text(encoding="utf-8")
    check_equal("a slowdown of a size is in one table of the page", page.count(">slowdown, p99, up to 10 KB<"), 1)
    check("its heading says what it is", "<h1>Compared: " in page)
    check_equal("counts have units", [rows(document)[name]["unit"] for name in ("marked CE", "CNPs sent", "PFC frames")], ["packets", "packets", "frames"])
    row = rows(document, "slowdown_by_size")["slowdown, p99.9, up to 10 KB"]
    check("values of all, whatever their own buckets", None not in row["values"] and row["values"][0] == row["values"][2], row)
    check("warnings", any("fewer than 100 messages" in note for note in document["notes"]) and "A: 3 of 3 sizes have fewer than 100 messages, so their p99" in done.stdout, done.stdout)


def check_same(work, a):
    done = compare(work / "aa", a[0], a[0], "--within", "0")
    check_equal("a run is within 0 % of itself", (done.returncode, done.stderr), (0, ""))
    check("and that is said", "the same run" in done.stdout and "configuration: the same" in done.stdout, done.stdout)
    check_equal("no counter differs", json.loads((work / "aa" / "compare.json").read_text(encoding="utf-8"))["counters"], [])


def check_old(work, a):
    """Of a run of an older quench-lab, without the newer files."""
    old = work / "old"
    shutil.copytree(a[0], old)
    for name in ("effective.ini", "counters.csv", "times.csv", "fluid_flows.csv", "fluid_queues.csv"):
        (old / name).unlink()
    done = compare(work / "ao", a[0], old)
    check("older results are compared as far as they go", done.returncode == 0 and "configuration: one folder has no effective.ini" in done.stdout, done)


def check_help():
    done = run(COMPARE.path, "--help")
    check("the help says what A, B, ... are", done.returncode == 0 and "A B [C ...]" in done.stdout and "2 to 8 folders" in " ".join(done.stdout.split()), done)


def check_refusals(work, a):
    for args, words in (((a[0], work / "none"), "results.json"), ((a[0],), "1 run: expected 2 to 8"), ((a[0],) * 9, "9 runs: expected at most 8"), ((a[0], a[0], "--within", "much"), "percent")):
        done = compare(work / "refused", *args)
        check(f"{words}: refused", done.returncode == 2 and words in done.stderr, done)
    broken = work / "broken"
    shutil.copytree(a[0], broken)
    for name, content in (("results.json", '{"format": 1}'), ("flows.csv", "time\n"), ("counters.csv", "node,port\n"), ("effective.ini", "no section\n")):
        kept = (broken / name).read_bytes()
        (broken / name).write_text(content, encoding="utf-8")
        done = compare(work / "refused", a[0], broken)
        check(f"{name} that is none: refused in one line", done.returncode == 2 and name in done.stderr and done.stderr.count("\n") == 1, done)
        (broken / name).write_bytes(kept)
    check("and nothing is written", not (work / "refused").exists())


def check_three(work, a, b):
    """A, a run within 1 % of it, and B."""
    done = compare(work / "three", a[0], a[0], b[0], "--within", "1")
    check("three runs; the third is too far", done.returncode == 1 and "queue, mean: differs" in done.stderr, done)
    check("a column for each, and two comparisons", any(line.split()[:4] == ["result", "A", "B", "C"] and line.endswith("B against A  C against A")
                                                        for line in done.stdout.splitlines()), done.stdout)
    document = json.loads((work / "three" / "compare.json").read_text(encoding="utf-8"))
    row = rows(document)["queue, mean"]
    check("values of all", len(row["values"]) == 3 and row["values"][0] == row["values"][1] and row["relative"][0] == 0 != row["relative"][1], row)
    check_equal("the configurations of all", [row[2:] for row in document["config"] if row[1] == "green_max_threshold_bytes"], [["200KB", "200KB", "100KB"]])
    check_equal("the folders", document["runs"], [str(a[0]), str(a[0]), str(b[0])])
    check_equal("only equal digests are the same run", document["same_digest"], False)
    return work / "three" / "compare.html"


def roughness(page):
    """{letter of a run: how much its rates go up and down}, the largest first"""
    data = json.loads(page.read_text(encoding="utf-8").partition('id="data">')[2].partition("</script>")[0])
    found = {}
    for part in next(chart for chart in data["charts"] if chart["id"] == "rates")["parts"]:
        for series in part["series"]:
            values, letter = series["values"], series["label"][0]
            found[letter] = max(found.get(letter, 0), sum(abs(b - a) for a, b in zip(values, values[1:])) / len(values))
    return sorted(found, key=lambda letter: -found[letter])


def check_page(work, page, three):
    with Browser(work / "chromium") as chromium:
        errors, asked = chromium.open(page)
        check_equal("the page: no complaint, nothing asked for", (errors, asked), ([], []))
        check_equal("its charts", chromium.run("return [...document.querySelectorAll('#charts figure')].map(f => f.id)"), ["rates", "queues", "marks", "cnps"])
        check("both runs are over each other", chromium.run(
            "const l = [...document.querySelectorAll('#rates .picker label')].map(l => l.textContent); return l.includes('A incast h1') && l.includes('B incast h1')"))
        check_equal("a colour for each run, in all charts", run_colours(chromium), [["A", "rgb(0, 114, 178)"], ["B", "rgb(213, 94, 0)"]])
        drawn = chromium.run("return [...document.querySelectorAll('#rates .u-legend .u-series:not(:first-child) .u-label')].map(l => l.textContent[0])")
        check_equal("the run whose lines would cover the other is drawn first", list(dict.fromkeys(drawn)), roughness(page))
        check_equal("two flows of each run, whose dashes can be told apart", "".join(sorted(drawn)), "AABB")
        listed = chromium.run("return [...document.querySelectorAll('#rates .picker label')].map(l => l.textContent[0])")
        check("and all are listed in the order of the runs", listed == sorted(listed) and len(listed) > len(drawn), listed)
        chromium.run("[...document.querySelectorAll('#zoom button')].find(b => b.textContent === 'all').click()")
        check_equal("all: the time of the longer", chromium.run("const d = document.getElementById('rates').dataset; return [+d.from, +d.to]"), [0, 4])
        errors, asked = chromium.open(three)
        check_equal("the page of three: no complaint, nothing asked for", (errors, asked), ([], []))
        check_equal("and a third colour", run_colours(chromium), [["A", "rgb(0, 114, 178)"], ["B", "rgb(213, 94, 0)"], ["C", "rgb(0, 158, 115)"]])


def check_jobs(work):
    """Completion times of jobs: of one that both have, and of one that only B has and that ends no iteration."""
    folders, found = [], []
    for name, more in (("a", ""), ("b", "[job late]\nbytes = 100MB\n")):
        path = work / f"jobs-{name}.ini"
        path.write_text("[fabric]\ntopology = star\nhosts = 4\nlink_rate_bps = 100G\nduration_ns = 1ms\n[job ring]\nbytes = 100KB\niterations = 3\n" + more)
        folders.append(work / f"jobs-{name}")
        done = run(path_of("lab"), "--quiet", "--no-progress", "--out", folders[-1], path)
        check_equal(f"quench-lab runs jobs {name}", (done.returncode, done.stderr), (0, ""))
        found.append(json.loads((folders[-1] / "results.json").read_text(encoding="utf-8"))["jobs"])
    done = compare(work / "jobs", *folders)
    results = rows(json.loads((work / "jobs" / "compare.json").read_text(encoding="utf-8")))
    for words, key in (("mean", "jct_mean_ns"), ("p99", "jct_p99_ns")):
        check_equal(f"JCT of both, {words}", results[f"JCT of ring, {words}"]["values"], [of[0][key] / 1e3 for of in found])
        check_equal(f"JCT of a job without an iteration, {words}", results[f"JCT of late, {words}"]["values"], [None, None])
    check("the text has it", "JCT of ring, mean" in done.stdout, done.stdout)


def run_colours(chromium):
    """Runs and colours, as the table of runs and all legends have them."""
    return chromium.run("""const found = new Set();
        document.querySelectorAll(".run").forEach(mark => found.add([mark.parentElement.textContent.trim(), getComputedStyle(mark).backgroundColor].join("|")));
        document.querySelectorAll(".u-legend .u-series").forEach(row => {
            const label = row.querySelector(".u-label"), marker = row.querySelector(".u-marker");
            if (/^[A-H]\\b/.test(label.textContent) && marker)
                found.add([label.textContent[0], getComputedStyle(marker).backgroundImage.match(/rgb\\([^)]*\\)/)?.[0] ?? getComputedStyle(marker).borderTopColor].join("|"));
        });
        return [...found].sort().map(text => text.split("|"));""")


work = work_dir()
long = lab(work / "long", "--duration", "4ms")
short = lab(work / "short", "--duration", "2ms", "--set", "wred.Kmax=100KB", "--set", "flow incast.src=1-3")
page = check_different(work, long, short)
check_same(work, long)
check_old(work, long)
check_help()
check_sizes(work)
check_jobs(work)
check_refusals(work, long)
check_page(work, page, check_three(work, long, short))
finish()
