#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs and pauses in the scripts: report, compare with a baseline, plot, sweep, and the Python package."""
import json
import os
import re
import shutil

from harness import check, check_equal, finish, path_of, run, skip, work_dir
from scripts import Script

try:
    os.environ["MPLCONFIGDIR"] = str(work_dir())
    # Other tests start these programs.
    SCRIPTS = {"compare": Script("compare"), "plot": Script("plot", "matplotlib.pyplot"), **{name: Script(name, "report.plots") for name in ("report.py", "sweep")}}
    import quench
    from report import jobs
except ImportError:
    skip("python3-matplotlib is not installed")

SCENARIO = """[fabric]
topology = leaf_spine
leaves = 2
spines = 1
hosts = 8
link_rate_bps = 100G
link_delay_ns = 500
duration_ns = 2ms
[switch]
buffer_bytes = 1MB
[nic]
cc = none
[job ring]
ranks = 1-2, 5-6
bytes = 1MB
compute_ns = 30us
compute_jitter = 20%
iterations = 4
[job experts]
ranks = 3-4, 7-8
collective = all_to_all
bytes = 1MB
iterations = 3
[flow f]
src = 3-4, 7-8
dst = 2
"""


def check_many_ranks():
    """Of many ranks, a few are seen at first, with those of the critical path; each part of it lies on the ground's colour."""
    states = [{"job": "ring", "iteration": 1, "rank": rank, "state": "compute", "from_ns": 0, "to_ns": 1000} for rank in range(80)]
    path = [{"iteration": 1, "kind": "compute", "rank": 70, "from_rank": 70, "from_ns": 0, "to_ns": 1000, "bytes": 0, "tag": 0}]
    job = {"name": "ring", "ranks": [{"rank": rank, "host": rank + 1} for rank in range(80)], "per_iteration": [{"iteration": 1}]}
    for n, folded in ((16, []), (40, [40]), (80, [64])):
        own = [s for s in states if s["rank"] >= 80 - n]
        page = jobs.gantt({**job, "ranks": job["ranks"][80 - n:]}, own, path)
        seen, *more = page.split("<details>")
        check_equal(f"{n} ranks: drawn at first, and folded", [part.count("<rect") for part in (seen, *more)], [16, *folded])
        check("with the path, and its ground", all(part.count('"under"') == part.count('"path"') == 1 and part.index('"under"') < part.index('"path"') for part in (seen.replace("key path", ""), *more)), page)


def script(name, *args):
    return SCRIPTS[name](*args)


def page_of(out, what):
    """A report without pictures, which take most of its time; those of jobs are drawn once."""
    of = SCRIPTS["report.py"].module.command_line
    has, of.has_matplotlib = of.has_matplotlib, lambda: False
    try:
        done = script("report.py", out)
    finally:
        of.has_matplotlib = has
    check_equal(what, (done.returncode, "without pictures for printing" in done.stderr, done.stderr.count("\n")), (0, True, 1))
    return (out / "report.html").read_text(encoding="utf-8")


def lab(work, name, *options):
    done = run(path_of("lab"), "--quiet", "--no-progress", "--out", work / name, *options, work / "s.ini")
    check_equal(f"quench-lab runs {name}", (done.returncode, done.stderr), (0, ""))
    return work / name


def check_report(work, out):
    done = script("report.py", out)
    check_equal("a report of jobs", (done.returncode, done.stderr), (0, ""))
    page = (out / "report.html").read_text(encoding="utf-8")
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    for words in ("<h2>Jobs</h2>", "Job ring", "Job experts", "<h3>Iterations</h3>", 'class="path"', "Critical path, ", "<h2>Who paused whom</h2>", "victims: ", "<h2>Hot queues</h2>",
                  "<h3>Why iteration 2 of ring took "):
        check(f"the report has {words}", words in page, page[:200])
    slowest = [max(job["per_iteration"], key=lambda it: it["jct_ns"])["iteration"] for job in results["jobs"]]
    check_equal("the slowest iterations are drawn", re.findall(r"<h3>Iteration (\d+), the slowest</h3>", page), [str(n) for n in slowest])
    paths = re.findall(r"Critical path, (\d+) parts", page)
    parts = [next(it["critical_path"]["parts"] for it in job["per_iteration"] if it["iteration"] == n) for job, n in zip(results["jobs"], slowest)]
    check_equal("with all parts", paths, [str(n) for n in parts])
    root = results["pause_tree"][0]
    check("a root of pauses", f"<b>{root['node']} port {root['port']} queue {root['queue']}</b>" in page, root)
    bare = work / "bare"
    shutil.copytree(out, bare)
    for name in ("critical_path.csv", "job_states.csv"):
        (bare / name).unlink()
    check("no iteration without recorded operations", "the slowest</h3>" not in page_of(bare, "a report without recorded operations"))


def check_servers(work):
    """A server is one host in the report, with its NICs beside; time inside servers has a colour and a cause of its own."""
    keys = "topology = rail_only\nhosts = 16\nnics_per_server = 4\nlink_rate_bps = 100G\nlink_delay_ns = 500\nduration_ns = 2ms\nfluid_ns = 0\n"
    (work / "s.ini").write_text(f"[fabric]\n{keys}[nic]\ncc = none\n[job sum]\nalgorithm = hierarchical\nbytes = 1MB\n", encoding="utf-8")
    out = lab(work, "servers", "--explain", "job sum")
    page = page_of(out, "a report of servers")
    for words in ("<h2>Servers</h2>", "server4", "NIC h16", "messages inside servers", ' inside their server: ', 'class="inside"'):
        check(f"the report has {words}", words in page, page[:200])
    check("none without servers", "<h2>Servers</h2>" not in (work / "a" / "report.html").read_text(encoding="utf-8"))
    check_servers_in_scripts(work, out)


def check_servers_in_scripts(work, out):
    """compare, sweep and plot have what each server sent, and the bytes inside; and completion times beside those of the job alone."""
    wide = lab(work, "wide", "--alone", "--set", "job sum.bytes=2MB")
    results = [json.loads((folder / "results.json").read_text(encoding="utf-8")) for folder in (out, wide)]
    done = script("compare", out, wide, "--out", work / "of-servers")
    check("servers are compared", done.returncode == 0 and all(words in done.stdout for words in ("server1, sent", "server4, inside", "JCT of sum, as a multiple of alone")), done)
    rows = {row["name"]: row["values"] for row in json.loads((work / "of-servers" / "compare.json").read_text(encoding="utf-8"))["servers"]}
    for server in (0, 3):
        check_equal(f"server{server + 1}: sent, inside", (rows[f"server{server + 1}, sent"], rows[f"server{server + 1}, inside"]),
                    ([r["servers"][server]["tx_goodput_bps"] / 1e9 for r in results], [r["servers"][server]["bytes_inside"] / 1e6 for r in results]))
    check("and on the page", "<h2>Servers</h2>" in (work / "of-servers" / "compare.html").read_text(encoding="utf-8"))
    done = script("sweep", work / "s.ini", "--alone", "--set", "job sum.bytes=1MB,2MB", "--workers", "1", "--out", work / "sweep-servers")
    check_equal("a sweep of servers", done.returncode, 0)
    of = quench.Sweep(work / "sweep-servers").table
    check_equal("it has their bytes and rates", ([int(n) for n in of["bytes_inside"]], [int(n) for n in of["server_tx_max_bps"]]),
                ([sum(s["bytes_inside"] for s in r["servers"]) for r in results], [max(s["tx_goodput_bps"] for s in r["servers"]) for r in results]))
    check_equal("alone, a job takes as long", [float(n) for n in of["sum_jct_ratio_alone"]], [1, 1])
    for quantity, folder in (("servers", wide), ("jct-of-alone", wide), ("servers", work / "sweep-servers"), ("jct-of-alone", work / "sweep-servers")):
        path = work / f"{quantity}-{folder.name}.pdf"
        done = script("plot", quantity, folder, "--out", path)
        check_equal(f"plot {quantity} of {folder.name}", (done.returncode, done.stderr, path.with_suffix(".csv").read_text(encoding="utf-8").count("\n") > 1), (0, "", True))
    for quantity in ("servers", "jct-of-alone"):
        done = script("plot", quantity, work / "a", "--out", work / "none.pdf")
        check(f"plot {quantity}: refused without", done.returncode == 2 and f"{quantity}: nothing to draw in" in done.stderr and done.stderr.count("\n") == 1, done)


def check_compare(work, a, b):
    done = script("compare", a, b, "--out", work / "ab")
    check("completion times are compared", done.returncode == 0 and "JCT of ring, mean" in done.stdout and "JCT of experts, p99" in done.stdout, done)
    band = work / "band.json"
    check_equal("a baseline", script("compare", "--save-baseline", band, a, b).returncode, 0)
    done = script("compare", "--baseline", band, a)
    check("a run of the baseline is in its bands", done.returncode == 0 and "usually" in done.stdout and done.stderr == "", done)
    slow = lab(work, "slow", "--set", "job ring.compute_ns=250us", "--seed", "3")
    done = script("compare", "--baseline", band, slow)
    check("a slower job has left its band", done.returncode == 1 and "JCT of ring, mean: left its band" in done.stderr and "above" in done.stdout, done)
    short = lab(work, "short", "--duration", "1ms")
    for args, words in (((band, short), "lasts 1 ms: expected 2 ms"), ((a / "results.json", a), "expected a file of scripts/compare --save-baseline"), ((work / "no", a), "No such file")):
        done = script("compare", "--baseline", *args)
        check(f"refused: {words}", done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done)


def check_values(work, out):
    r = quench.Run(out)
    jobs, path = r.jobs(), r.critical_path()
    ended = {job["name"]: job["iterations_ended"] for job in r.results["jobs"]}
    check("two iterations of each job, or more", min(ended.values()) >= 2, ended)
    check_equal("rows of jobs.csv", {name: int(sum(jobs["job"] == name)) for name in ended}, ended)
    check_equal("parts add up", int((path["to_ns"] - path["from_ns"]).sum()), int(jobs["jct_ns"].sum()))
    check_equal("only computations have no sender: rank 0 is one", {part["kind"] for part in path.rows() if part["from_rank"] is None}, {"compute"})
    check("rows of ranks", len(r.job_ranks()["rank"]) == 4 * sum(ended.values()) and set(r.job_states()["state"]) <= {"compute", "send", "wait"}, r.job_ranks())
    check_equal("a row as a dict", jobs.rows()[0]["job"], "ring")
    done = script("plot", "jct", out, "--out", work / "jct.pdf")
    check_equal("completion times are plotted", (done.returncode, done.stderr), (0, ""))
    sweep = work / "sweep"
    done = script("sweep", work / "s.ini", "--set", "job ring.bytes=500KB,1MB", "--workers", "1", "--out", sweep)
    check_equal("a sweep of jobs", done.returncode, 0)
    page = (sweep / "sweep.html").read_text(encoding="utf-8")
    check("its page has their completion times", all(f'"id":"jct-{name}","title":"JCT of {name}"' in page for name in ("ring", "experts")) and "<th>JCT ring, mean µs" in page, page[-3000:])
    times = quench.Sweep(sweep).table["ring_jct_mean_ns"]
    check("twice the bytes take longer", times[1] > times[0] > 30_000, times)
    done = script("plot", "jct", sweep, "--out", work / "sweep.pdf")
    check_equal("completion times over a sweep", (done.returncode, done.stderr), (0, ""))


check_many_ranks()
work = work_dir()
(work / "s.ini").write_text(SCENARIO, encoding="utf-8")
first = lab(work, "a", "--explain", "job ring 2")
check_report(work, first)
check_compare(work, first, lab(work, "b", "--seed", "2"))
check_values(work, first)
check_servers(work)
finish()
