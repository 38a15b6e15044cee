#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What quench-lab shows while it runs, and every counter at the end: test_outputs.py LAB CONFIG_DIR CASE"""
import csv
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

LAB, CONFIG, CASE = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
SHORT = ["--quiet", "--duration", "4ms", str(CONFIG / "incast-4to1-pfc-only.ini")]


def expect(what, good, detail=""):
    if not good:
        sys.exit(f"{what}: {detail}")


def on_terminal(*options):
    """What a run writes to a standard error that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([LAB, *options, *SHORT], stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        out = process.stdout.read()
    expect("the run ends well", process.returncode == 0, text)
    expect("nothing is on standard output", out == b"", out)
    os.close(ours)
    return text.decode()


def progress():
    text = on_terminal()
    first, last = text.split("\r")[1], text.rstrip().split("\r")[-1]
    speed = r"[\d.]+ M hops/s  [\d.e-]+ x real time"
    expect("the first line has an ETA", re.search(rf"\[ +\] +\d+ %  [\d.]+ of 4\.0 ms  {speed}  ETA \d+ s", first), first)
    expect("the last one how long it took", re.match(rf"\[#+\] 100 %  4\.0 of 4\.0 ms  {speed}  in \d+ s", last), last)
    expect("--no-progress: none", on_terminal("--no-progress") == "")
    done = subprocess.run([LAB, *SHORT], capture_output=True, text=True, check=True)
    expect("into a pipe: none", done.stderr == "", done.stderr)


def counters():
    """The sums of counters.csv are those of results.json, and of its own rows; no name is missing."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([LAB, "--out", folder, *SHORT], check=True)
        with open(f"{folder}/counters.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        results = json.loads(pathlib.Path(folder, "results.json").read_text(encoding="utf-8"))
    totals = {(r["node"], r["port"], r["counter"]): int(r["value"]) for r in rows if r["node"].startswith("all ")}
    expect("totals have help", all(r["help"] for r in rows if r["node"].startswith("all ") and not r["counter"].endswith("_last")))
    for name, value in results["counters"].items():
        of = ("all switches", "all") if name == "ecn_marked_packets" else ("all hosts", "")
        got = totals.get((*of, name)) if name != "ecn_marked_packets" else sum(
            v for (node, _, counter), v in totals.items() if node == "all switches" and counter.endswith("/" + name))
        expect(f"the sum of {name}", got == value, (got, value))
    expect("PFC was at work", totals["all switches", "all", "tx_prio3_pause"] > 0)
    sums, nodes = {}, set()
    for row in rows:
        if row["node"].startswith("all "):
            continue
        expect("a row that is not zero", int(row["value"]) > 0 and not row["help"], row)
        nodes.add(row["node"])
        key = ("all hosts" if row["node"].startswith("h") else "all switches", "all" if row["port"] else "", row["counter"])
        how = max if row["counter"].endswith("watermark_bytes") else int.__add__
        sums[key] = how(sums.get(key, 0), int(row["value"]))
    expect("every node has rows", nodes == {"s1", "h1", "h2", "h3", "h4", "h5"}, nodes)
    expect("rows add up to the totals", sums == {key: value for key, value in totals.items() if value}, sums)
    pauses = {(p["node"], str(p["port"])): p["tx_pause"] for p in results["pfc_counters"] if p["tx_pause"]}
    expect("pauses by port as in results.json", pauses == {(r["node"], r["port"]): int(r["value"]) for r in rows
                                                          if r["counter"] == "tx_prio3_pause" and r["port"] not in ("", "all")}, pauses)


{"progress": progress, "counters": counters}[CASE]()
