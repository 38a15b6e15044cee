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

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[n] / folder) for n, folder in ((1, "e2e"), (2, "tools"))]
from harness import until  # noqa: E402
from quench import data, tables  # noqa: E402
from scenarios import expect, failures

LAB, CONFIG, CASE = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
SHORT = ["--quiet", "--duration", "4ms", str(CONFIG / "incast-4to1-pfc-only.ini")]


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
    expect(process.returncode == 0, "the run ends well", text)
    expect(out == b"", "nothing is on standard output", out)
    os.close(ours)
    return text.decode()


def progress():
    text = on_terminal()
    first, last = text.split("\r")[1], text.rstrip().split("\r")[-1]
    speed = r"[\d.]+ M hops/s  [\d.e-]+ x real time"
    expect(re.search(rf"\[ +\] +\d+ %  [\d.]+ of 4\.0 ms  {speed}  ETA \d+ s", first), "the first line has an ETA", first)
    expect(re.match(rf"\[#+\] 100 %  4\.0 of 4\.0 ms  {speed}  in \d+ s", last), "the last one how long it took", last)
    expect(on_terminal("--no-progress") == "", "--no-progress: none")
    done = subprocess.run([LAB, *SHORT], capture_output=True, text=True, check=True)
    expect(done.stderr == "", "into a pipe: none", done.stderr)


def counters():
    """The sums of counters.csv are those of results.json, and of its own rows; no name is missing."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([LAB, "--out", folder, *SHORT], check=True)
        with open(f"{folder}/counters.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        results = json.loads(pathlib.Path(folder, "results.json").read_text(encoding="utf-8"))
    totals = {(r["node"], r["port"], r["counter"]): int(r["value"]) for r in rows if r["node"].startswith("all ")}
    expect(all(r["help"] for r in rows if r["node"].startswith("all ") and not r["counter"].endswith("_last")), "totals have help")
    for name, value in results["counters"].items():
        of = ("all switches", "all") if name == "ecn_marked_packets" else ("all hosts", "")
        got = totals.get((*of, name)) if name != "ecn_marked_packets" else sum(
            v for (node, _, counter), v in totals.items() if node == "all switches" and counter.endswith("/" + name))
        expect(got == value, f"the sum of {name}", (got, value))
    expect(totals["all switches", "all", "tx_prio3_pause"] > 0, "PFC was at work")
    sums, nodes = {}, set()
    for row in rows:
        if row["node"].startswith("all "):
            continue
        expect(int(row["value"]) > 0 and not row["help"], "a row that is not zero", row)
        nodes.add(row["node"])
        key = ("all hosts" if row["node"].startswith("h") else "all switches", "all" if row["port"] else "", row["counter"])
        how = max if row["counter"].endswith("watermark_bytes") else int.__add__
        sums[key] = how(sums.get(key, 0), int(row["value"]))
    expect(nodes == {"s1", "h1", "h2", "h3", "h4", "h5"}, "every node has rows", nodes)
    expect(sums == {key: value for key, value in totals.items() if value}, "rows add up to the totals", sums)
    pauses = {(p["node"], str(p["port"])): p["tx_pause"] for p in results["pfc_counters"] if p["tx_pause"]}
    expect(pauses == {(r["node"], r["port"]): int(r["value"]) for r in rows
                                                          if r["counter"] == "tx_prio3_pause" and r["port"] not in ("", "all")}, "pauses by port as in results.json", pauses)


def explained(scenario, *options):
    """What --explain says of incast h1, and the results of the same run."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([LAB, "--no-progress", "--json", f"{folder}/r.json", *options, str(CONFIG / scenario)], capture_output=True, text=True, check=False)
        expect((done.returncode, done.stderr) == (0, ""), "it ends well", done)
        results = json.loads(pathlib.Path(folder, "r.json").read_text(encoding="utf-8"))
    return done.stdout.splitlines(), results, results["flows"][0]


def explain():
    """Each CNP has the mark that it answers, pauses and what is sent again add up, and the run is as without."""
    flow = ("--explain", "incast h1")
    lines, results, h1 = explained("incast-4to1.ini", "--duration", "20ms", *flow, "--all")
    plain = subprocess.run([LAB, "--quiet", "--json", "-", "--duration", "20ms", str(CONFIG / "incast-4to1.ini")], capture_output=True, text=True, check=True)
    expect(json.loads(plain.stdout)["digest"] == results["digest"], "looking changes nothing")
    expect(lines[2] == "way: h1, s1 port 4", "the way is told", lines[2])
    # An increase may be due before the CNP: "an increase, then a cut".
    cuts = [line for line in lines if re.search("CNP: .*cut", line)]
    marks = [re.search(r"; s1 port 4 queue 3 marked PSN \d+ ([\d.]+) us before, with ([\d.]+) KB queued(?:, and (\d+) more)?$", line) for line in cuts]
    expect(len(cuts) == h1["rate_cuts"] > 5, "each cut is there", (len(cuts), h1["rate_cuts"]))
    expect(all(marks), "with the mark that led to it", cuts)
    curve = results["bottleneck"]
    expect(all(curve["wred_min_bytes"] / 1e3 < float(m[2]) <= curve["queue_max_bytes"] * 1.1 + 600e3 for m in marks), "at a length that marks")
    expect(all(2 < float(m[1]) < 60 for m in marks), "within a CNP interval and the way", [m[1] for m in marks])
    told = sum(1 + int(m[3] or 0) for m in marks)
    expect(0 <= h1["ce_packets"] - told < 60, "all marked packets are counted", (told, h1["ce_packets"]))
    lines = explained("incast-4to1.ini", "--duration", "20ms", "--explain", "incast")[0]
    expect(10 < len(lines) <= 30 and "the first of the flows of incast" in lines[0], "a story has 30 lines", lines)
    expect(sum(int(n) for line in lines[3:] for n in re.findall(r"(\d+) CNPs?\b", line)) + sum("CNP: " in line for line in lines)
           == h1["rp_cnp_handled"], "which count all CNPs", lines)
    lines, results, h1 = explained("incast-4to1-pfc-only.ini", "--duration", "5ms", *flow, "--all")
    held = sum(float(us) for line in lines for us in re.findall(r"pause over after ([\d.]+) us: s1 holds h1", line))
    expect(h1["rx_pause_duration_us"] > 1000 and abs(held - h1["rx_pause_duration_us"]) < 30, "pauses add up", (held, h1["rx_pause_duration_us"]))
    lines, results, h1 = explained("incast-4to1-no-pfc.ini", "--duration", "20ms", *flow, "--all")
    again = sum(int(n) for line in lines for n in re.findall(r"goes back to PSN \d+: (\d+) packets", line))
    expect(again == h1["retransmitted_packets"] > 0, "what is sent again adds up", (again, h1["retransmitted_packets"]))
    for options, code, why in ((("--explain", "nobody"), 2, "expected a flow"), (("--explain", "incast h1#1"), 2, "expected a flow"),
                               (("--all",), 2, "needs --explain"), (("--explain", "incast", "--fluid"), 2, "needs packets"),
                               (("--explain", "incast", "--json", "-"), 2, "standard output")):
        done = subprocess.run([LAB, *options, *SHORT], capture_output=True, text=True, check=False)
        expect(done.returncode == code and why in done.stderr and done.stderr.count("\n") == 1, f"{options} is refused", done)


def explain_fabric():
    """Over several switches: where it was marked, who was paused on the way, each QP."""
    text = """[fabric]
topology = leaf_spine
leaves = 2
spines = 1
hosts = 8
duration_ns = 3ms
[wred]
Kmin = 20KB
Kmax = 200KB
Pmax = 1%
[switch]
buffer_bytes = 1MB
[record both]
node = leaf1
port = spine1
[flow many]
src = 1-4
dst = 5
qp_count = 2
[flow other]
src = 6
dst = 5
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x.ini")
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([LAB, "--no-progress", "--out", folder, "--explain", "many h2#1", "--all", str(path)], capture_output=True, text=True, check=False)
        expect(done.returncode == 0 and pathlib.Path(folder, "both.pcapng").stat().st_size > 1000, "it ends well, beside a recording", done.stderr)
    lines = done.stdout.splitlines()
    expect("many h2, QP 1 of 2: h2 to h5" in lines[0] and lines[2] == "way: h2, leaf1 port 4, spine1 port 1, leaf2 port 0", "QP and way", lines[:3])
    marked = set(re.findall(r"; (\S+ port \d+) queue 3 marked", done.stdout))
    expect({"leaf1 port 4", "leaf2 port 0"} >= marked >= {"leaf1 port 4"}, "marked where it waits", marked)
    pauses = set(re.findall(r"(?:paused|us): (\S+ holds .*)", done.stdout))
    expect(pauses and pauses <= {"leaf1 holds h2", "spine1 holds leaf1 port 4", "leaf2 holds spine1 port 1"}, "paused by the switch before", pauses)


MESSAGES = """[fabric]
hosts = 3
link_rate_bps = 100G
duration_ns = 3ms
sample_ns = 10us
[nic]
cc = none
"""


def run(text, *options):
    """flows.csv, the flows of results.json and standard output of a scenario."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "x.ini").write_text(text, encoding="utf-8")
        pathlib.Path(folder, "x.trace").write_text("1 3 100000 1000\n", encoding="utf-8")
        done = subprocess.run([LAB, "--no-progress", "--out", folder, *options, folder + "/x.ini"], capture_output=True, text=True, check=True)
        with open(folder + "/flows.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file)), json.loads(pathlib.Path(folder, "results.json").read_text(encoding="utf-8"))["flows"], done.stdout


def explain_end():
    """After its last data, a QP has no story, although the pauses of its host go on."""
    late = "[flow t]\npattern = trace\ntrace = x.trace\n[flow late]\nsrc = 1-2\ndst = 3\nstart_ns = 100us\n"
    story = run(MESSAGES + late, "--duration", "2ms", "--explain", "t 1")[2].splitlines()
    expect(re.fullmatch(r" +0\.013\d ms  done", story[-1]) and len(story) == 5, "start and end", story)


def rates_of_messages():
    """QPs of messages that have not begun or are done do not count as allowed rate."""
    for verb in "write", "read":
        flow = f"[flow q]\nverb = {verb}\nsrc = 1\ndst = 3\narrival = poisson\nload = 20%\nmessage_bytes = 1MB\n"
        rows, flows, _ = run(MESSAGES + flow)
        rates = [int(row["rp_rate_bps"]) for row in rows]
        expect(flows[0]["qps"] > 2 and flows[0]["messages_completed"] == flows[0]["qps"], "every message has a QP", flows)
        expect(set(rates) >= {0, 10**11} and max(rates) <= 2 * 10**11, f"{verb}: rates of the messages in flight", sorted(set(rates)))
        expect(rates[-1] == 0, "at the end there is none", rates[-1])
        expect(flows[0]["min_rate_bps"] == 10**11, f"{verb}: the lowest rate is that of a QP", flows)


def killed():
    """A run that is killed leaves files with .part, the next one removes them, and results are the last to get their name."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "results.json").write_text("earlier", encoding="utf-8")
        with subprocess.Popen([LAB, "--no-progress", "--out", folder, "--duration", "60s", CONFIG / "incast-4to1.ini"]) as process:
            expect(until(lambda: (folder / "flows.csv.part").exists() and (folder / "flows.csv.part").stat().st_size > 4096), "it writes")
            process.kill()
        expect([path.name for path in folder.iterdir() if path.suffix != ".part"] == ["results.json"], "files that look complete", list(folder.iterdir()))
        expect((folder / "results.json").read_text(encoding="utf-8") == "earlier", "the earlier results have changed")
        (folder / "earlier.pcapng.part").touch()
        (folder / "results.json").unlink()
        try:
            data.read_results(folder / "results.json")
            expect(False, "results of a run that was killed are read")
        except tables.BadInput as error:
            expect("has not ended, or was killed" in str(error), "the reason", error)
        subprocess.run([LAB, "--out", folder, "--set", "fabric.messages_csv=off", *SHORT], check=True)
        names = {path.name for path in folder.iterdir()}
        expect("results.json" in names and "messages.csv" not in names and not list(folder.glob("*.part")), "rows of the killed run are left", names)


{"killed": killed, "explain_end": explain_end, "rates_of_messages": rates_of_messages, "progress": progress, "counters": counters, "explain": explain, "explain_fabric": explain_fabric}[CASE]()
sys.exit(1 if failures else 0)
