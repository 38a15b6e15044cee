#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Searches of scripts/test-run: the examples in the lab, bounds, wrong files, and both places."""
import json
import re

from harness import check, check_equal, finish, work_dir
from run_bed import ROOT, cases, test_run, verdict_of

INCAST = (ROOT / "config/search-incast.ini").read_text(encoding="utf-8")


def found(out):
    """What verdict.json says, by place."""
    return {place["place"]: place for place in verdict_of(out)["search"]["places"]}


def check_examples(work):
    """In the lab."""
    for name, least, most, by, step, what, key in (("incast", 2, 63, "pauses", 1, "pfc_counters", "tx_pause"), ("headroom", 5, 40, "loss", 0.1, "drops", "packets")):
        done = test_run(work, ROOT / f"config/search-{name}.ini", "--out", name)
        check_equal(f"{name}: passes", (done.returncode, done.stderr), (0, ""))
        one = found(work / name)["lab"]
        numbers = [float(one[key].removesuffix("KB")) for key in ("last_pass", "first_fail")]
        check(f"{name}: a pass and a fail, a step apart", least <= numbers[0] <= most and round(abs(numbers[0] - numbers[1]), 3) == step, one)
        check_equal(f"{name}: by", one["failed_criteria"], [by])
        check(f"{name}: the table has the figure", re.search(rf"^lab +{re.escape(one['last_pass'])} +pass +{re.escape(one['first_fail'])} +{by} ", done.stdout, re.M), done.stdout)
        rows = (work / name / "search.csv").read_text().splitlines()
        check_equal(f"{name}: trials", len({row.split(",")[1] for row in rows[1:]}), one["trials"])
        check(f"{name}: page with a plot", (work / name / "report.html").read_text().count("<svg") == 1 and (work / name / "search.svg").exists())
        check_equal(f"{name}: runs of the last pass and the first fail",
                    [any(counter[key] for counter in json.loads((work / name / f"lab-{word}/results.json").read_text())[what]) for word in ("pass", "fail")], [False, True])


def check_bounds(work):
    """Bounds make a test of a search; a range that passes or fails as a whole."""
    for name, to, step, more, code, last, fail in (("bound", 61, 20, "at_least = 60\n", 1, True, True), ("all", 3, 2, "trials = 2\n", 0, True, False)):
        (work / f"{name}.ini").write_text(INCAST.replace("to = 64\nstep = 1\n", f"to = {to}\nstep = {step}\n{more}"))
        done = test_run(work, f"{name}.ini", "--out", name)
        one = found(work / name)["lab"]
        check_equal(f"{name}: code, last pass, first fail", (done.returncode, one["last_pass"] is not None, one["first_fail"] is not None), (code, last, fail))
        check_equal(f"{name}: junit.xml", cases(work / name)["lab", "search"], "failure" if code else "system-out")
    (work / "nothing.ini").write_text(INCAST.replace("from = 1\n", "from = 50\n"))
    check_equal("nothing passes", (test_run(work, "nothing.ini", "--out", "nothing").returncode, found(work / "nothing")["lab"]["last_pass"]), (1, None))


def check_refused(work):
    for name, before, after, *words in (("set", "set = flow incast.src=1-{}", "set = flow incast.src=1-9", "[search] set = flow incast.src=1-9", "{}"),
                                        ("src", "to = 64", "to = 640", "[search] set = flow incast.src=1-{} with 640", "[flow incast] src"),
                                        ("key", "src=1-{}", "sorc=1-{}", "[search] set = flow incast.sorc=1-{} with 1", "sorc"),
                                        ("unit", "to = 64", "to = 64KB", "[search] to = 64KB", "without a unit"), ("order", "to = 64", "to = 1", "[search] to = 1", "more than 1"),
                                        ("step", "step = 1", "step = 0", "[search] step = 0", "more than 0"), ("find", "find = highest", "find = best", "[search] find = best", "lowest"),
                                        ("trials", "find = highest", "find = highest\ntrials = 0", "[search] trials = 0", "1 to 100")):
        (work / f"search-{name}.ini").write_text(INCAST.replace(before, after))
        done = test_run(work, f"search-{name}.ini", "--out", "none")
        check(f"search, {name}: one line with the line, code 2", done.returncode == 2 and len(done.stderr.splitlines()) == 1
              and re.match(rf"test-run: error: search-{name}.ini:\d+: ", done.stderr) and all(word in done.stderr for word in words), done.stderr)


def check_ports(work):
    """Whatever the rates there, both ends of a range of two values are tried."""
    (work / "both.ini").write_text((ROOT / "config/search-load.ini").read_text().replace("from = 5M\nto = 100M", "from = 5M\nto = 6M"))
    done = test_run(work, "both.ini", "--on", "both", "--out", "two", "--set", "fabric.duration_ns=200ms", "--set", "fabric.measure_from_ns=50ms")
    check_equal("a search at both places", (done.returncode, done.stderr, [one["trials"] for one in found(work / "two").values()]), (0, "", [2, 2]))
    check("folders of both", (work / "two/lab-pass/results.json").exists() and (work / "two/ports-pass/s1.json").exists())


work = work_dir()
check_examples(work)
check_bounds(work)
check_refused(work)
check_ports(work)
finish()
