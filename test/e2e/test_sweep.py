#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/sweep over a small grid: the same table whatever the workers, and that of quench-lab run by hand."""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from harness import BUILD, PATIENCE_S, check, check_equal, finish, run, skip, work_dir
from scripts import ROOT, Script

SWEEP = ROOT / "scripts" / "sweep"
LAB = BUILD / "app" / "quench-lab" / "quench-lab"
SCENARIO = ROOT / "config" / "paper-sweep.ini"

try:
    import numpy as np
    sys.path.insert(0, str(ROOT / "tools"))
    os.environ["MPLCONFIGDIR"] = str(work_dir())
    SCRIPT = Script("sweep", "report.plots")
    from quench import Series
    from report import sweep as rows_of_runs
    from report import sweep_page
except ImportError:
    skip("python3-matplotlib is not installed")

work = work_dir()
GRID = ("--set", "wred.Kmin+wred.Kmax=20KB,80KB", "--set", "flow others.src=2,2-3", "--set", "flow others.start_ns=0", "--seeds", "1-2", "--duration", "4ms")


def sweep(out, *options, scenario=SCENARIO):
    return SCRIPT(scenario, "--lab", LAB.resolve(), "--out", out, *options, timeout=300)


def rows(out):
    with open(out / "sweep.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_table():
    one, two = work / "one", work / "two"
    done = run(SWEEP, SCENARIO, "--lab", LAB.resolve(), "--out", one, *GRID, "--workers", "1", timeout=300)
    check_equal("a sweep ends well", done.returncode, 0)
    check_equal("only results are left", sorted(p.name for p in one.iterdir()), ["sweep.csv", "sweep.html", "sweep.json", "sweep.png", "sweep.svg"])
    table = rows(one)
    check_equal("rows are in the order of the grid", [(r["wred.Kmin+wred.Kmax"], r["flow others.src"], r["seed"]) for r in table],
                [(k, src, seed) for k in ("20KB", "80KB") for src in ("2", "2-3") for seed in "12"])
    check_equal("each run had its flows", [r["flows"] for r in table], ["2", "2", "3", "3"] * 2)
    check("the values made a difference", len({r["digest"] for r in table}) >= 4)
    described = json.loads((one / "sweep.json").read_text(encoding="utf-8"))
    check_equal("JSON has the axes", [axis["values"] for axis in described["axes"]], [["20KB", "80KB"], ["2", "2-3"], ["0"]])
    check_equal("and the same runs", [r["digest"] for r in described["runs"]], [r["digest"] for r in table])
    check("sweep.png is a PNG file", (one / "sweep.png").read_bytes().startswith(b"\x89PNG\r\n"))
    check_equal("two workers end well", sweep(two, *GRID, "--workers", "2", "--keep").returncode, 0)
    check_equal("and have the same table, digests and all", (two / "sweep.csv").read_bytes(), (one / "sweep.csv").read_bytes())
    check("--keep keeps the runs", (two / "runs" / "0007" / "flows.csv").exists())
    by_hand = run(LAB, "--quiet", "--json", "-", "--duration", "4ms", "--seed", "2", "--set", "wred.Kmin=80KB", "--set", "wred.Kmax=80KB",
                  "--set", "flow others.src=2-3", "--set", "flow others.start_ns=0", SCENARIO)
    check_equal("a run by hand is the same", json.loads(by_hand.stdout)["digest"], table[7]["digest"])
    return one


def check_complete():
    """Rows of runs with more and fewer message sizes have the same columns, and the confidence interval over the seeds of their point."""
    made = [{"k": k, "seed": seed, "slowdown_p99": p99, **more} for k, seed, p99, more in
            (("a", 1, 2.0, {}), ("a", 2, 4.0, {"size1_p99": 2.0, "size2_p99": 5.0}), ("b", 1, None, {}), ("b", 2, 3.0, {"size1_p99": 3.0}))]
    found = list(rows_of_runs.complete(made, [(["k"], ["a", "b"])]))
    check_equal("the same columns", {tuple(row) for row in found}, {("k", "seed", "slowdown_p99", "size1_p99", "size2_p99", "slowdown_p99_seeds_low", "slowdown_p99_seeds_high")})
    check_equal("Student's t of one degree of freedom", [(row["slowdown_p99_seeds_low"], row["slowdown_p99_seeds_high"]) for row in found],
                [(-9.706, 15.706)] * 2 + [(None, None)] * 2)
    one = list(rows_of_runs.complete([made[0]], [(["k"], ["a"])]))
    check_equal("no interval of one seed", list(one[0]), ["k", "seed", "slowdown_p99"])


def check_repetitions():
    """Seeds that change nothing are said, and the tables are there before a picture that fails."""
    script, out = SCRIPT.module, work / "repeated"
    digests = [("a", "1"), ("a", "1"), ("b", "1"), ("b", "2"), ("c", "3")]
    check_equal("points whose seeds give one result", script.same_seeds([{"k": k, "digest": d} for k, d in digests], [(["k"], list("abc"))]), ([("a",)], 3))
    lossless = work / "lossless.ini"
    lossless.write_text("[fabric]\nhosts = 3\nduration_ns = 100us\n[nic]\ncc = none\n[flow f]\nsrc = 1\ndst = 2\n", encoding="utf-8")
    draw, script.sweep.draw = script.sweep.draw, broken_picture
    try:
        done = sweep(out, "--set", "fabric.link_delay_ns=1us", "--seeds", "1-2", scenario=lossless)
    finally:
        script.sweep.draw = draw
    check("seeds without effect are said", "1 of 1 points: all seeds give the same result" in done.stderr, done.stderr)
    check("a picture that fails is said in a line", done.returncode == 1 and "sweep.png: no ink" in done.stderr.splitlines()[-1], done.stderr)
    check_equal("and leaves the tables", sorted(p.name for p in out.iterdir()), ["sweep.csv", "sweep.html", "sweep.json"])


def broken_picture(*_):
    raise OSError(0, "no ink", "sweep.png")


def check_bars():
    """numpy's mean of equal numbers may be below the least of them, and matplotlib refuses negative bars."""
    equal = next(values for values in (np.full(3, k / 10 + 1 / 3) for k in range(1000)) if values.mean() != values[0])
    check_equal("the mean of equal numbers", rows_of_runs.sizes.mean(equal), float(equal[0]))
    made = [{"k": "a", "seed": seed, "converged_ms": None, **dict.fromkeys(("queue_mean_bytes", "queue_p99_bytes", "link_use", "jain_index"), float(equal[0])),
             "fluid_queue_bytes": None, "fluid_converged_ms": None} for seed in range(3)]
    check("equal numbers are drawn", rows_of_runs.draw("equal", [(["k"], ["a"])], made) is not None)


def check_notes():
    """What the page says below a chart is what it shows."""
    def notes(*runs):
        rows = [dict.fromkeys(("queue_mean_bytes", "queue_p99_bytes", "slowdown_p50", "slowdown_p99", "fluid_queue_bytes", "fluid_converged_ms", "converged_ms")) |
                {"k": k, "seed": seed, "ecn_marked_packets": 0, "pause_frames_after_measure": 0, "link_use": 0.95, "jain_index": 1.0} | more for k, seed, more in runs]
        rows = rows_of_runs.comparable(rows)
        found = [sweep_page.chart(spec, [(["k"], ["a", "b"])], rows) for spec in sweep_page.CHARTS]
        return {chart["id"]: (chart["title"], chart["note"], chart["unit"]) for chart in found if chart}

    found = notes(("a", 1, {"link_use": 0.94}), ("a", 2, {"link_use": 0.96}), ("b", 1, {}), ("b", 2, {}))
    check("a bar that an axis from 0.9 shows is named", "a bar from" in found["share"][1] and "begins at 0.9" in found["share"][1], found)
    found = notes(("a", 1, {"ecn_marked_packets": 1000}), ("a", 2, {"ecn_marked_packets": 1020}), ("b", 1, {}), ("b", 2, {}))
    check("one within its mark is not", "too small" in found["marks"][1], found)
    known = {"converged_ms": 7.0, "fluid_queue_bytes": 1, "fluid_converged_ms": 6.0}
    check("a model that does not know a scenario has converged or not", "never" not in notes(("a", 1, known), ("b", 1, {"converged_ms": 7.0}))["time"][1])
    check("packets that never converge are named", "No mark of packets" in notes(("a", 1, known), ("b", 1, {}))["time"][1])
    found = notes(("a", 1, known | {"job_jct_mean_ns": 1}), ("b", 1, known | {"job_jct_mean_ns": 1}))
    check("flows of jobs, which send in turn, have no shares", found["share"][::2] == ("Link use", "%") and "time" not in found, found)
    check("link use alone is in percent, as in the table", "begins at 90." in found["share"][1], found)


def check_commands(one):
    """What GNU parallel or a job array does: run the lines, then collect."""
    out = work / "lines"
    printed = sweep(out, *GRID, "--print-commands")
    lines = printed.stdout.splitlines()
    check_equal("a line for each run", (printed.returncode, len(lines)), (0, 8))
    check("nothing is run", not out.exists())
    incomplete = sweep(out, *GRID, "--collect")
    check("runs that are missing are named", incomplete.returncode == 1 and "runs/0000" in incomplete.stderr, incomplete)
    # As doc/lab.md has it, if GNU parallel is there.
    if shutil.which("parallel") is not None:
        done = run("parallel", "--will-cite", "-j", "3", "--halt", "now,fail=1", input=printed.stdout, timeout=300)
        check_equal("GNU parallel runs the lines", done.returncode, 0)
    else:
        check_equal("the lines run", [run("sh", "-c", line).returncode for line in lines], [0] * len(lines))
    check_equal("they are collected", sweep(out, *GRID, "--collect").returncode, 0)
    check_equal("into the same table, digests and all", (out / "sweep.csv").read_bytes(), (one / "sweep.csv").read_bytes())


def check_cores():
    """Processes for runs; threads in a run only where there are fewer runs than cores."""
    script = SCRIPT.module
    cores = list(range(8))
    for runs, workers, expected in ((20, 8, [[c] for c in cores]), (8, 8, [[c] for c in cores]), (3, 8, [[0, 1], [2, 3], [4, 5]]),
                                    (2, 8, [cores[:4], cores[4:]]), (1, 8, [cores]), (20, 1, [cores]), (20, 10, [[i % 8] for i in range(10)])):
        check_equal(f"{runs} runs, {workers} workers on 8 cores", script.core_groups(cores, runs, workers), expected)
    check_equal("two runs on 8 cores stay apart", script.on_cores(cores[4:], True), ["taskset", "-c", "4,5,6,7"])
    check_equal("one run may use all", (script.on_cores(cores, False), script.on_cores([3], True)), ([], []))
    lines, lab = work / "said", work / "says"
    lab.write_text(f'#!/bin/sh\ncase "$*" in *check-config*) ;; *) echo "$*" >>{lines}; exit 1 ;; esac\n', encoding="utf-8")
    lab.chmod(0o755)
    n = len(os.sched_getaffinity(0))
    for workers, has_threads in ((n, True), (1, n == 1)):
        lines.unlink(missing_ok=True)
        seeds = ("--seeds", f"1-{n}")
        SCRIPT(SCENARIO, "--lab", lab, "--out", work / "cores", "--set", "rp.F=5", *seeds, "--workers", str(workers))
        check_equal(f"{workers} workers: is each run given one thread?", "--threads 1" in lines.read_text(encoding="utf-8"), has_threads)


def check_refusals():
    out = work / "refused"
    for options, expected in ((("--set", "wred.Kmax=1MB,2X"), "[wred] Kmax = 2X"),
                              (("--set", "wred.Kmax=1MB", "--seeds", "3-1"), "the lesser seed first"),
                              (("--set", "wred.Kmx=1MB"), "[wred] Kmx = 1MB"),
                              (("--set", "Kmax=1MB"), "SECTION.KEY=VALUE"), (("--set", "wred.Kmax=1MB,1MB"), "each value once"),
                              ((), "at least one --set"), (("--set", "wred.Kmax=1MB", "--seeds", "x"), "seeds such as"),
                              (("--set", "wred.Kmax=1MB", "--set", "wred.Kmax=2MB"), "each key once")):
        done = sweep(out, *options)
        check(f"{' '.join(options) or 'no axis'} is refused", done.returncode == 2 and expected in done.stderr, done)
    check("before anything is written", not out.exists())
    done = sweep(out, "--set", "wred.Kmax=1MB", scenario=work / "none.ini")
    check("so is a file that is not there", done.returncode == 2 and "none.ini" in done.stderr, done)


def check_failures():
    """A run that fails ends the sweep, and leaves the table of before."""
    out, lab = work / "failed", work / "lab"
    check_equal("a sweep to begin with", sweep(out, "--set", "rp.F=5", "--duration", "1ms").returncode, 0)
    before = (out / "sweep.csv").read_bytes()
    lab.write_text('#!/bin/sh\ncase "$*" in *check-config*) exit 0 ;; *F=3*) echo broken >&2; exit 1 ;; esac\nexec sleep 60\n', encoding="utf-8")
    lab.chmod(0o755)
    done = SCRIPT(SCENARIO, "--lab", lab, "--out", out, "--set", "rp.F=2,3", "--workers", "2")
    check("a run that fails is named, and the others end", done.returncode == 1 and "rp.F=3: broken" in done.stderr, done)
    check_equal("the table of before is left", (out / "sweep.csv").read_bytes(), before)
    check("and nothing of the runs", not (out / "runs").exists())
    with subprocess.Popen([str(SWEEP), str(SCENARIO), "--lab", str(lab), "--out", str(out), "--set", "rp.F=2,4"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: (out / "runs").exists())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
    check("so it is with Ctrl-C", process.returncode == 130 and "interrupted" in errors and not (out / "runs").exists(), errors)


def check_others():
    """What another sweep has left, or anybody, is neither collected under this one's names nor deleted."""
    out = work / "others"
    first = ("--set", "rp.F=2,3", "--seeds", "1", "--duration", "1ms")
    check_equal("a sweep that keeps its runs", sweep(out, *first, "--keep").returncode, 0)
    table = (out / "sweep.csv").read_bytes()
    foreign = out / "runs" / "mine"
    foreign.mkdir()
    (foreign / "notes").write_text("kept", encoding="utf-8")
    for what, options, words in (("grid", ("--set", "rp.F=2,4", "--seeds", "1", "--duration", "1ms"), ("runs/0001/effective.ini:", "rp.F=4", "= 4, as of")),
                                 ("seed", ("--set", "rp.F=2,3", "--seeds", "2", "--duration", "1ms"), ("runs/0000/effective.ini:", "seed = 2", "got seed = 1")),
                                 ("duration", ("--set", "rp.F=2,3", "--seeds", "1", "--duration", "2ms"), ("runs/0000/effective.ini:", "got duration_ns = 1ms"))):
        done = sweep(out, *options, "--collect")
        check(f"results of another {what} are not collected", done.returncode == 1 and all(w in done.stderr for w in words) and
              done.stderr.count("\n") == 1, done.stderr)
        done = sweep(out, *options)
        check(f"a sweep of another {what} does not write over them", done.returncode == 2 and "runs/0000: it is there already" in done.stderr, done.stderr)
    check_equal("the table is what it was", (out / "sweep.csv").read_bytes(), table)
    check_equal("the first sweep's results are", sweep(out, *first, "--collect").returncode, 0)
    check_equal("and the table is the same", (out / "sweep.csv").read_bytes(), table)
    for run_dir in ("0000", "0001"):
        shutil.rmtree(out / "runs" / run_dir)
    check_equal("a sweep beside a foreign folder", sweep(out, *first).returncode, 0)
    check("which it leaves alone", [p.name for p in (out / "runs").iterdir()] == ["mine"] and (foreign / "notes").read_text() == "kept")


def check_lab():
    """A path is a path, and no name to look for; what is no program is said in a line."""
    shutil.copy(LAB, work / "a-lab")
    done = SCRIPT(SCENARIO, "--lab", "./a-lab", "--out", work / "by-path", "--set", "rp.F=2", "--duration", "1ms", cwd=work, timeout=300)
    check_equal("--lab ./a-lab", (done.returncode, done.stderr), (0, ""))
    (work / "text").write_text("no program", encoding="utf-8")
    for name in ("text", "."):
        done = SCRIPT(SCENARIO, "--lab", work / name, "--out", work / "by-path", "--set", "rp.F=2")
        check(f"--lab {name} is no program", done.returncode == 2 and str(work / name) in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def wait_until(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


def check_convergence():
    """Two flows of 4 and 36, then 19 and 21 from 20 ms on; the link is full always."""
    t = np.arange(1, 1001) * 100_000.0
    late = t > 20e6
    flows = {name: Series({"time_ns": t, "wire_rate_bps": np.where(late, b, a)}) for name, a, b in
             (("first", 36e9, 19e9), ("second", 4e9, 21e9))}
    # Jain's index of 5 ms means: 25.8 and 14.2 from 18 ms on give 0.92, 22.4 and 17.6 from 19 ms on 0.986.
    check_equal("convergence is found where it is", rows_of_runs.converged_ms(flows, 0.0), 24.0)
    check_equal("from the last start on", rows_of_runs.converged_ms(flows, 10.0), 14.0)
    flows["second"]["wire_rate_bps"] = np.full(1000, 4e9)
    check_equal("and not where it is not", rows_of_runs.converged_ms(flows, 0.0), None)
    flows["second"]["wire_rate_bps"] = np.where(t > 10e6, 20e9, 0)
    check_equal("a flow starts when it sends", rows_of_runs.started_ms(flows), 10.0)


check_complete()
check_repetitions()
check_bars()
check_notes()
table_of_one = check_table()
check_commands(table_of_one)
check_refusals()
check_failures()
check_cores()
check_others()
check_lab()
check_convergence()
finish()
