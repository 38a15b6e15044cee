#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""report.html and sweep.html in a real browser, without a network: nothing is asked for, charts zoom, every counter is found, load has colours."""
import csv
import json
import os

from browser import Browser
from harness import check, check_equal, finish, path_of, run, skip, work_dir
from scripts import ROOT, Script

END_MS = 4
MEASURE_FROM_MS = 2

try:
    os.environ["MPLCONFIGDIR"] = str(work_dir())
    REPORT, SWEEP = Script("report.py", "report.plots"), Script("sweep", "report.plots")
except ImportError:
    skip("python3-matplotlib is not installed")

LEAF_SPINE = """[fabric]
topology = leaf_spine
leaves = 16
spines = 4
hosts = 256
link_rate_bps = 25G
core_rate_bps = 100G
duration_ns = 400us
measure_from_ns = 100us
[flow all]
pattern = permutation
src = 1-200
message_bytes = 200KB
"""

JOB = """[fabric]
topology = leaf_spine
leaves = 4
spines = 2
hosts = 16
link_rate_bps = 800M
link_delay_ns = 500
duration_ns = 20ms
[switch]
buffer_bytes = 4MB
[job ring]
ranks = 1-16
bytes = 64KB
iterations = 3
"""


def report(work, name, scenario, *options, pictures=True):
    """Pictures for printing are most of the work: one page has them."""
    out = work / name
    done = run(path_of("lab"), "--quiet", "--no-progress", *options, "--out", out, scenario)
    check_equal(f"quench-lab runs {name}", (done.returncode, done.stderr), (0, ""))
    of = REPORT.module.command_line
    has, of.has_matplotlib = of.has_matplotlib, lambda: pictures
    try:
        done = REPORT(out)
    finally:
        of.has_matplotlib = has
    check_equal("report.py ends well", (done.returncode, "without pictures" in done.stderr, done.stderr.count("\n")), (0, not pictures, not pictures))
    return out


def ranges(browser):
    return browser.run("return [...document.querySelectorAll('#charts figure')].map(f => [+f.dataset.from, +f.dataset.to])")


def press(browser, text):
    browser.run("[...document.querySelectorAll('#zoom button')].find(b => b.textContent === arguments[0]).click()", text)


def check_zoom(browser):
    """By mouse over one chart, and all follow."""
    figures = browser.run("return [...document.querySelectorAll('#charts figure')].map(f => f.id)")
    check_equal("the charts of such a run", figures, ["rates", "allowed", "queues", "groups", "marks", "cnps", "pauses", "pause-frames"])
    silent = browser.run("return [...document.querySelectorAll('#charts figcaption')].map(c => c.textContent.includes('0 in the measured window'))")
    check("they show the measured window; what is 0 in it, the time before", any(silent) and all(
        r[0] == 0 < r[1] <= MEASURE_FROM_MS if s else r == [MEASURE_FROM_MS, END_MS] for r, s in zip(ranges(browser), silent)), (ranges(browser), silent))
    check_start(browser)
    for button, wanted in (("start", [0, MEASURE_FROM_MS]), ("all", [0, END_MS])):
        press(browser, button)
        check(f"{button}: its part of the run", browser.wait(
            "return [...document.querySelectorAll('#charts figure')].every(f => +f.dataset.from === arguments[0] && +f.dataset.to === arguments[1])", *wanted), ranges(browser))
    browser.drag("#queues .u-over", 0.25, 0.5)
    check("all follow a zoom by mouse", browser.wait(
        f"return [...document.querySelectorAll('#charts figure')].every(f => Math.abs(f.dataset.from - {END_MS / 4}) < 0.1 && "
        f"Math.abs(f.dataset.to - {END_MS / 2}) < 0.1)"), ranges(browser))
    check("and it is said in words", " to " in browser.one("#zoom-range").text and browser.one("#zoom-range").text != f"0 to {END_MS} ms")
    press(browser, "zoom in")
    check("so do they when a button zooms", browser.wait(
        f"return [...document.querySelectorAll('#charts figure')].every(f => f.dataset.to - f.dataset.from < {END_MS / 6})"), ranges(browser))
    browser.double_click("#queues .u-over")
    check("a double click shows all again", browser.wait(
        f"return [...document.querySelectorAll('#charts figure')].every(f => +f.dataset.from === 0 && +f.dataset.to === {END_MS})"), ranges(browser))


def drawn(browser, figure):
    """Pixels of the canvas that are neither empty nor grey, as a count."""
    return browser.run("""const c = document.querySelector(`#${arguments[0]} canvas`), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        let n = 0;
        for (let i = 0; i < d.length; i += 4)
            n += d[i + 3] > 100 && Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 60;
        return n;""", figure)


def drawn_between(browser, figure):
    """Of those pixels the ones midway between two values that are side by side, where no mark is."""
    return browser.run("""const f = document.querySelector(`#${arguments[0]}`), c = f.querySelector("canvas"), over = f.querySelector(".u-over");
        const middle = (over.offsetLeft + over.offsetWidth / 2) * devicePixelRatio;
        const d = c.getContext("2d").getImageData(Math.round(middle) - 10, 0, 20, c.height).data;
        let n = 0;
        for (let i = 0; i < d.length; i += 4)
            n += d[i + 3] > 100 && Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 60;
        return n;""", figure)


def starts(browser):
    """The figures that have a chart of the start beside the measured window."""
    return browser.run("return [...document.querySelectorAll('#charts figure')].filter(f => f.querySelector('.chart > div:first-child canvas')).map(f => f.id)")


def check_start(browser):
    """A start that is higher than the measured window has a chart of its own, until the start itself is seen."""
    check("the queue's start is an inset", "queues" in starts(browser), starts(browser))
    press(browser, "all")
    check("not beside the whole run", browser.wait("return !document.querySelector('#charts .chart > div:first-child canvas')"), starts(browser))
    press(browser, "measured window")
    check("again beside the measured window", browser.wait("return document.querySelector('#queues .chart > div:first-child canvas') !== null"), starts(browser))


def check_labels(browser):
    """Each line has a label in its colour to the right of the plot."""
    def beside():
        return browser.run("""const over = document.querySelector("#rates .chart > div:last-child .u-over").getBoundingClientRect();
            const c = document.querySelector("#rates .chart > div:last-child canvas"), box = c.getBoundingClientRect(), scale = c.width / box.width;
            const from = Math.ceil((over.right - box.left) * scale) + 9, d = c.getContext("2d").getImageData(from, 0, c.width - from, c.height).data;
            const found = new Set();
            for (let i = 0; i < d.length; i += 4)
                if (d[i + 3] === 255)
                    found.add([d[i], d[i + 1], d[i + 2]].join());
            return [...found];""")
    found = beside()
    check("labels have the colours of their lines, dark enough for words", {"0,114,178", "184,80,0"} <= set(found), found)


def check_legends(browser):
    """Distributions have no labels at their lines: a legend tells their colours at all times. Rates show theirs at the pointer only."""
    def seen(place):
        return browser.run("return [...document.querySelectorAll(arguments[0])].map(l => getComputedStyle(l).visibility)", f"{place} .u-legend")
    check("distributions have a legend", set(seen("#distributions")) == {"visible"}, seen("#distributions"))
    check_equal("rates not", seen("#rates"), ["hidden"])


def check_series(browser):
    before = drawn(browser, "rates")
    check("lines are drawn", before > 200, before)
    browser.run("document.querySelector('#rates .picker').open = true; document.querySelectorAll('#rates .picker button')[1].click()")
    browser.settle()
    check_equal("none when none is chosen", drawn(browser, "rates"), 0)
    check("and their number is said", browser.run("return document.querySelector('#rates summary').textContent").startswith("0 of "))
    browser.run("document.querySelectorAll('#rates .picker button')[0].click()")
    browser.settle()
    check("all when all are", drawn(browser, "rates") > 200)


def rows_found(browser):
    return browser.run("return [...document.querySelectorAll('#counters tbody tr')].map(tr => [...tr.cells].map(td => td.textContent))")


def check_counters(browser, out):
    with open(out / "counters.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    browser.one("#find-counter").send_keys("s1 port 8 queue3 ecn")
    found = rows_found(browser)
    values = {r["counter"]: r["value"] for r in rows if (r["node"], r["port"]) == ("s1", "8")}
    check_equal("a counter is found by typing", [[r[0], r[1], r[2].replace("\u202f", "")] for r in found],
                [["s1 port 8", name, values[name]] for name in ("queue3/ecn_marked_packets", "queue3/ecn_marked_bytes")])
    broken = browser.run("""return [...document.querySelectorAll("#counters tbody .name")].filter(td => {
        const range = document.createRange();
        range.selectNodeContents(td);
        return new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1;
    }).map(td => td.textContent)""")
    check_equal("names of counters are whole", broken, [])
    browser.one("#zero-counters").click()
    missing = browser.run("""const [box, wanted] = [document.getElementById("find-counter"), arguments[0]];
        return wanted.filter(([node, counter, value]) => {
            box.value = `${node} ${counter}`;
            box.dispatchEvent(new Event("input"));
            return ![...document.querySelectorAll("#counters tbody tr")].some(tr => tr.cells[1].textContent === counter &&
                tr.cells[2].textContent.replaceAll("\u202f", "") === value);
        });""", [[r["node"], r["counter"], r["value"]] for r in rows])
    check_equal(f"every one of {len(rows)} rows is found", missing[:5], [])


def check_topology(browser, out):
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    hosts = [p for p in results["ports"] if p["peer"].startswith("h")]
    boxes = browser.run("return [...document.querySelectorAll('#topology .host')].map(g => [...g.querySelectorAll('rect')]"
                        ".map(r => [+r.dataset.load, getComputedStyle(r).fill]).concat([[g.querySelector('title').textContent]]))")
    check_equal("every host is there", sorted(b[2][0].split()[0] for b in boxes), sorted(p["peer"] for p in hosts))
    links = browser.run("return [...document.querySelectorAll('#topology .link')].map(l => [+l.dataset.load, getComputedStyle(l).stroke])")
    check_equal("both directions of every link between switches", len(links), sum(not p["peer"].startswith("h") for p in results["ports"]))
    loads = [pair for b in boxes for pair in b[:2]] + links
    idle, busy = {c for load, c in loads if load < 0.05}, {c for load, c in loads if load > 0.9}
    check("idle and busy differ in colour", idle and busy and not idle & busy, (idle, busy))
    check("more load is darker", all(brightness(b) <= brightness(a) for (_, a), (_, b) in zip(sorted(loads), sorted(loads)[1:])))
    overlap = browser.run("""const r = [...document.querySelectorAll('#topology .host, #topology .switch')].map(g => g.getBoundingClientRect());
        return r.flatMap((a, i) => r.slice(i + 1).filter(b => a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 2 && b.top < a.bottom - 2)).length""")
    check_equal("no box lies on another", overlap, 0)


def brightness(colour):
    r, g, b = map(int, colour[4:-1].split(","))
    return round((0.2126 * r + 0.7152 * g + 0.0722 * b) / 8)


def check_quiet(browser, page, what):
    errors, asked = browser.open(page)
    check_equal(f"{what}: no complaint on the console", errors, [])
    check_equal(f"{what}: nothing is asked for", asked, [])
    # A number of five digits that is not grouped, and a unit in letters of ASCII, as programs write them
    written = browser.run(r"return document.body.innerText.match(/.{0,40}(\d us\b|\b\d{5,}\s(µs|ms|[KMG]?B|bytes|packets|frames)\b).{0,20}/g)")
    check_equal(f"{what}: numbers as people read them", written, None)


def check_settings(browser):
    rows = browser.run("return [...document.querySelectorAll('table.words tr')].map(tr => [...tr.cells].map(td => td.textContent.trim()))")
    for row in (["[rp]", "rp_ai_rate_bps", "40M"], ["[np]", "np_min_time_between_cnps_us", "50us"], ["[wred]", "green_max_threshold_bytes", "200KB"]):
        check(f"the settings have {row[1]}", row in rows, rows)


def check_many(browser):
    """Of 200 flows: their mean and the slowest, instead of 200 lines."""
    shown = browser.run("return [...document.querySelectorAll('#rates .u-legend .u-label')].map(l => l.textContent)")
    notes = browser.run("""return [...document.querySelectorAll(".side .note:not([hidden])")].map(n => {
        const note = n.getBoundingClientRect(), box = n.previousElementSibling.getBoundingClientRect();
        return n.textContent.startsWith("More rows") && note.left === box.left && note.top >= box.bottom;
    })""")
    check("words about more rows are below their table", notes and all(notes), notes)
    check("the mean and three flows are drawn", len(shown) == 5 and "mean of all" in shown, shown)


def cut(browser):
    """Tables that are wider than their place."""
    return browser.run("return [...document.querySelectorAll('.wide')].filter(d => d.scrollWidth > d.clientWidth + 1 && d.querySelector('table'))"
                       ".map(d => d.textContent.slice(0, 60))")


def check_dark(browser):
    """Text and lines differ from the ground in both modes, and a change of mode changes the charts."""
    def colours():
        return browser.run("const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    ink, ground = colours()
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    check("dark: the ground is dark and the text light", browser.wait(
        "return getComputedStyle(document.body).backgroundColor !== arguments[0]", ground) and brightness(colours()[0]) > 20 > brightness(colours()[1]), colours())
    loads = sorted(browser.run("return [...document.querySelectorAll('#topology [data-load]')].map(l => [+l.dataset.load, getComputedStyle(l).fill])"))
    check("dark: more load is lighter", all(brightness(a) <= brightness(b) for (_, a), (_, b) in zip(loads, loads[1:]) if a != "none" != b), loads[:9])
    check("which is the reverse of light", brightness(ink) < 10 < brightness(ground), (ink, ground))
    check("and charts are drawn in lighter colours", browser.wait(
        "return getComputedStyle(document.querySelector('#rates .u-series:nth-child(2) .u-marker')).backgroundImage.includes('rgb(74, 163, 232)')"))
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def check_sweep(browser, out):
    """Charts over numbers, and over words, between which is no line."""
    painted, between = {}, {}
    for name, axis, values in (("numbers", "wred.Kmin+wred.Kmax", ("20KB", "80KB")), ("words", "nic.cc", ("dcqcn", "none"))):
        folder = out / name
        done = SWEEP(ROOT / "config" / "paper-sweep.ini", "--lab", path_of("lab"), "--duration", "4ms", "--seeds", "1-2",
                   "--set", f"{axis}={','.join(values)}", "--set", "flow others.start_ns=0", "--out", folder)
        check_equal(f"a sweep over {name} ends well", (done.returncode, done.stderr), (0, ""))
        check_quiet(browser, folder / "sweep.html", f"sweep over {name}")
        figures = browser.run("return [...document.querySelectorAll('#distributions figure')].map(f => f.id)")
        check(f"{name}: charts that have values", figures[:2] == ["queue", "share"], figures)
        painted[name], between[name] = drawn(browser, "queue"), drawn_between(browser, "queue")
        rows = browser.run("return [...document.querySelectorAll('table tbody tr')].map(tr => tr.cells[0].textContent)")
        check_equal(f"{name}: a row for each run", rows[-4:], [value for value in values for _ in range(2)])
    check("marks are drawn", min(painted.values()) > 100, painted)
    check("lines between numbers only", between["numbers"] > 20 and between["words"] == 0, between)


def check_narrow(browser, page, what):
    """On a telephone: nothing is wider than the screen, a table that does not fit says so, and names are whole."""
    check_quiet(browser, page, what)
    wide = browser.run("return document.documentElement.scrollWidth")
    check(f"{what}: no wider than the screen", wide <= 400, wide)
    silent = browser.run("return [...document.querySelectorAll('.wide')].filter(d => d.checkVisibility() && (d.scrollWidth > d.clientWidth + 1 || d.classList.contains('tall') && d.scrollHeight > d.clientHeight + 1) === d.nextElementSibling.hidden)"
                         ".map(d => d.textContent.slice(0, 60))")
    check_equal(f"{what}: what is cut, and nothing else, says so", silent, [])
    small = browser.run("""return [...document.querySelectorAll("svg text")].filter(t => t.checkVisibility())
        .map(t => [parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a, t.textContent]).filter(([px]) => px < 10)""")
    check_equal(f"{what}: no word of a drawing is too small", small, [])
    unnamed = browser.run("""return [...document.querySelectorAll("figure .chart")].filter(c => [...c.querySelectorAll(".u-legend .u-label")].some(l => {
        const ctx = document.createElement("canvas").getContext("2d");
        ctx.font = "11px system-ui, sans-serif";
        return ctx.measureText(l.textContent).width > 0.35 * c.clientWidth && getComputedStyle(l.closest(".u-legend")).visibility === "hidden";
    })).map(c => c.textContent)""")
    check_equal(f"{what}: a name that is too long for the end of its line is in a legend", unnamed, [])


def check_jobs_narrow(browser, page):
    check_narrow(browser, page, "jobs on a narrow screen")
    heights = browser.run("return [...document.querySelectorAll('.job text')].map(t => t.getBoundingClientRect().height)")
    check("the text of their charts is as large as elsewhere", heights and min(heights) >= 11, heights)
    outside = browser.run("return [...document.querySelectorAll('.job rect')].map(r => r.getBoundingClientRect().right).filter(x => x > innerWidth)")
    check_equal("their bars are on the screen", outside, [])
    check("a topology of 16 hosts is not cut", browser.run("const d = document.getElementById('topology').parentElement; return d.scrollWidth <= d.clientWidth + 1"))
    rows = browser.run("return [...document.querySelectorAll('th')].map(th => th.textContent)")
    check("rates of slow links are in Mb/s", "wire Mb/s" in rows and "bus Mb/s" in rows and not any("Gb/s" in row for row in rows), rows)


def check_judge(browser, out):
    """The checks above can fail."""
    bad = out / "bad.html"
    bad.write_text((out / "report.html").read_text(encoding="utf-8").replace("<h1>", "<img src='http://example.org/x.png' alt=''><script>undefined.x</script><h1>", 1),
                   encoding="utf-8")
    errors, asked = browser.open(bad)
    check_equal("a page that asks is seen", asked, ["http://example.org/x.png"])
    check("and one with an error", any("TypeError" in error for error in errors), errors)


work = work_dir()
(work / "leaf-spine.ini").write_text(LEAF_SPINE, encoding="utf-8")
incast = report(work, "incast", ROOT / "config" / "incast-8to1-pfc-only.ini", "--duration", f"{END_MS}ms", "--set", f"fabric.measure_from_ns={MEASURE_FROM_MS}ms", "--set", "nic.cc=dcqcn", "--set", "wred.wred_green_enable=on", "--set", "switch.buffer_bytes=1MB",
                "--set", "wred.Kmin=5KB", "--set", "wred.Kmax=200KB", "--set", "wred.Pmax=1%")
fabric = report(work, "fabric", work / "leaf-spine.ini", pictures=False)
(work / "job.ini").write_text(JOB, encoding="utf-8")
jobs = report(work, "jobs", work / "job.ini", pictures=False)
with Browser(work / "chromium") as chromium:
    check_quiet(chromium, incast / "report.html", "incast")
    check_dark(chromium)
    check_zoom(chromium)
    check_settings(chromium)
    check_labels(chromium)
    check_legends(chromium)
    check_equal("no table is cut", cut(chromium), [])
    check_series(chromium)
    check_counters(chromium, incast)
    check_quiet(chromium, fabric / "report.html", "256 hosts")
    check_topology(chromium, fabric)
    check_many(chromium)
    check_equal("no table is cut", cut(chromium), [])
    chromium.width(400)
    check_narrow(chromium, incast / "report.html", "incast on a narrow screen")
    check_narrow(chromium, fabric / "report.html", "256 hosts on a narrow screen")
    check_jobs_narrow(chromium, jobs / "report.html")
    check_judge(chromium, incast)
    chromium.width(1400)
    check_sweep(chromium, work)
finish()
