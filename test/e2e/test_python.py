#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package tools/quench: a run from a dict of settings, its tables, a sweep's table, a trace, and the example that draws a figure."""
import csv
import json
import os

from harness import check, check_equal, finish, path_of, run, skip, work_dir
from scripts import ROOT, Script

SCENARIO = ROOT / "config" / "incast-4to1.ini"
LAB = path_of("lab")

try:
    os.environ["MPLCONFIGDIR"] = str(work_dir())
    SWEEP = Script("sweep", "report.plots")
    import numpy as np
    import quench
except ImportError:
    skip("python3-matplotlib is not installed")

try:
    import pandas
except ImportError:
    pandas = None


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def raises(error, what, call, *words):
    try:
        call()
    except error as found:
        check(f"{what}: refused in one line", "\n" not in str(found) and all(word in str(found) for word in words), found)
    else:
        check(f"{what}: refused", False)


def check_run(work):
    """Settings from a dict give the results of --set by hand."""
    ours = quench.run(SCENARIO, {"wred.Kmax": "100KB", "nic.measure_pacing": False, "flow incast.qp_count": 2, "flow incast.message_bytes": "100KB"}, out=work / "a" / "ours", seed=3,
                      duration="2ms", trace="incast", lab=LAB)
    by_hand = run(LAB, "--quiet", "--json", "-", "--seed", "3", "--duration", "2ms", "--set", "wred.Kmax=100KB", "--set", "flow incast.qp_count=2",
                  "--set", "flow incast.message_bytes=100KB", SCENARIO)
    check_equal("the same digest", ours.results["digest"], json.loads(by_hand.stdout)["digest"])
    check_equal("settings are in the configuration in force", ours.config["wred", "green_max_threshold_bytes"], "100KB")
    return ours


def check_tables(ours):
    folder = ours.folder
    wanted = [float(row["wire_rate_bps"]) for row in rows(folder / "flows.csv") if row["flow"] == "incast h2"]
    check_equal("a flow's column", ours.flows["incast h2"]["wire_rate_bps"].tolist(), wanted)
    wanted = [row["reason"] for row in rows(folder / "trace.csv") if (row["flow"], row["qp"]) == ("incast h1", "1")]
    check_equal("the reasons of a trace", ours.trace()["incast h1", 1]["reason"].tolist(), wanted)
    check_equal("a counter", [c.value for c in ours.counters() if (c.node, c.port, c.name) == ("all switches", "all", "queue3/ecn_marked_packets")],
                [ours.results["counters"]["ecn_marked_packets"]])
    messages = ours.message_table()
    check("there are messages", len(messages["bytes"]) > 10)
    for column, kind in (("src", str), ("bytes", int), ("end_ns", int), ("slowdown", float)):
        check_equal(f"messages: {column}", messages[column].tolist(), [kind(row[column]) for row in rows(folder / "messages.csv")])
    known = [row for row in rows(folder / "messages.csv") if row["slowdown"]]
    check_equal("messages as two columns", [column.tolist() for column in ours.messages],
                [[int(row["bytes"]) for row in known], [float(row["slowdown"]) for row in known]])
    raises(quench.BadInput, "no messages", lambda: quench.read_message_table(folder / "gone.csv"), "gone.csv: ")
    broken = folder / "broken-messages.csv"
    broken.write_text((folder / "messages.csv").read_text(encoding="utf-8") + "incast h1,h1\n", encoding="utf-8")
    raises(quench.BadInput, "a short row of messages", lambda: quench.read_message_table(broken), "broken-messages.csv: line ")
    check_equal("nothing but a header is no trace", quench.read_trace(header_only(folder)), {})
    if pandas:
        frame = quench.pandas(ours.flows, ["flow"])
        check_equal("as pandas", (frame.index.names, frame.loc["incast h2"]["wire_rate_bps"].tolist()),
                    (["flow", "row"], ours.flows["incast h2"]["wire_rate_bps"].tolist()))
    else:
        print("pandas is not installed: its tables are not compared")


def header_only(folder):
    path = folder / "empty-trace.csv"
    path.write_text((folder / "trace.csv").read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    return path


def check_sweep(work):
    out = work / "sweep"
    done = SWEEP(SCENARIO, "--set", "wred.Kmax=100KB,200KB", "--set", "flow incast.src=1-2,1-4", "--duration", "1ms", "--lab", LAB, "--out", out)
    check_equal("a sweep ends well", (done.returncode, done.stderr), (0, ""))
    sweep, wanted = quench.Sweep(out), rows(out / "sweep.csv")
    check_equal("its axes", sweep.axes, [("wred.Kmax", ["100KB", "200KB"]), ("flow incast.src", ["1-2", "1-4"])])
    check_equal("text stays text", sweep.table["wred.Kmax"].tolist(), [row["wred.Kmax"] for row in wanted])
    check_equal("numbers are numbers", sweep.table["queue_mean_bytes"].tolist(), [float(row["queue_mean_bytes"]) for row in wanted])
    check("a missing number is NaN", np.isnan(sweep.table["converged_ms"]).all(), sweep.table["converged_ms"])
    check_equal("a group for each point of the other axis", {label: table["flows"].tolist() for label, table in sweep.groups("wred.Kmax").items()},
                {"flow incast.src = 1-2": [2, 2], "flow incast.src = 1-4": [4, 4]})


def check_refusals(work, ours):
    for settings, word in (({"wred.Kmaxx": 1}, "Kmaxx"), ({"wred.Kmax": "much"}, "much")):
        raises(quench.Failed, word, lambda settings=settings: quench.run(SCENARIO, settings, out=work / "refused", lab=LAB), word, "expected")
    raises(quench.Failed, "no program", lambda: quench.run(SCENARIO, out=work / "refused", lab=work / "none"), "none", "No such file")
    raises(quench.Failed, "a file for a folder", lambda: quench.run(SCENARIO, out=ours.folder / "flows.csv" / "x", lab=LAB), "flows.csv")
    raises(quench.BadInput, "no run", lambda: quench.Run(work / "none"), "results.json")
    raises(quench.BadInput, "no sweep", lambda: quench.Sweep(work / "none"), "sweep.json")
    broken = work / "broken"
    broken.mkdir()
    for content in ("{}", "[]", "x", '{"format": 2}', '{"format": 1, "scenario": "s", "axes": [], "runs": []}'):
        (broken / "sweep.json").write_text(content, encoding="utf-8")
        raises(quench.BadInput, content, lambda: quench.Sweep(broken), "sweep.json")
    path = ours.folder / "trace.csv"
    path.write_text(path.read_text(encoding="utf-8") + "1,incast h1,0,much,0,0,0,0,0,cut\n", encoding="utf-8")
    raises(quench.BadInput, "a trace with a word for a rate", ours.trace, "trace.csv: line ", "much")


def check_idle(work):
    """The samples that the files leave out of idle times are in the tables."""
    settings = {"flow incast.messages": 1, "flow incast.message_bytes": "100KB", "fabric.fluid_ns": 0, "fabric.measure_from_ns": 0,
                "fabric.sample_ns": "10us"}
    run_of = quench.run(SCENARIO, settings, out=work / "idle", duration="20005us", lab=LAB)
    for name, file, series in (("flow", "flows.csv", run_of.flows["incast h2"]), ("queue", "queues.csv", run_of.bottleneck())):
        steps = np.diff(series["time_ns"])
        check(f"{name}: samples are left out of the file", len(rows(run_of.folder / file)) < 1000 < len(steps), len(steps))
        check_equal(f"{name}: and are in the table", (set(steps[:-1].tolist()), steps[-1]), ({10000.0}, 5000.0))
        check_equal(f"{name}: the last", series["time_ns"][-1], 20005000.0)
    sent = (run_of.flows["incast h2"]["wire_rate_bps"] * run_of.flows["incast h2"].intervals_ns()).sum() / 8e9
    check("the rates hold what was sent", 100_000 < sent < 110_000, sent)


def check_example(work):
    done = run(ROOT / "tools" / "examples" / "scenario_to_figure.py", work / "example", env=os.environ | {"QUENCH_LAB": str(LAB)})
    check_equal("the example ends well", (done.returncode, done.stderr), (0, ""))
    check("its figure is a PDF", (work / "example" / "kmax.pdf").read_bytes().startswith(b"%PDF"))
    means = [float(row["queue_mean_KB"]) for row in rows(work / "example" / "kmax.csv")]
    check("the queue grows with Kmax", len(means) == 4 and means == sorted(means) and means[0] > 1, means)


work = work_dir()
ours = check_run(work)
check_tables(ours)
check_sweep(work)
check_refusals(work, ours)
check_idle(work)
check_example(work)
finish()
