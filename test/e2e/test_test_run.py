#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test-run: a passing, a failing and broken files; in the lab, on ports and both; verdicts for people, CI and scripts.

On ports nothing is expected of rates and delays, since the machine may be busy.
"""
import json
import re
import signal
import subprocess
import sys
import time

from harness import PATIENCE_S, check, check_equal, finish, run, work_dir
from run_bed import ROOT, cases, run_with_traffic, test_run, verdict_of
from scapy.utils import RawPcapNgReader

EXAMPLE = ROOT / "config" / "test-incast.ini"
TEXT = EXAMPLE.read_text(encoding="utf-8")
# Further flows, so that QP numbers and directions matter: several QPs, READ, every pair of hosts, a start and an end.
BACK = """[flow back]
src = 3
dst = 1
verb = read
qp_count = 2
message_bytes = 16KB
[flow pairs]
src = 1-3
pattern = all_to_all
qp_count = 2
message_bytes = 4KB
messages = 20
start_ns = 100ms
[criterion read]
value = goodput_bps
flow = back
at_least = 1
on = lab
[criterion every-pair]
value = messages
flow = pairs
at_least = 240
at_most = 240
on = lab
[criterion messages]
value = messages
at_least = 0
[criterion none]
value = messages
at_most = 0
on = ports
"""
SHORT = ("--set", "fabric.duration_ns=300ms", "--set", "fabric.measure_from_ns=100ms")


def changed(work, name, *changes):
    text = TEXT
    for before, after in changes:
        if before not in text:
            sys.exit(f"{name}: no {before!r} in {EXAMPLE}")
        text = text.replace(before, after, 1)
    (work / f"{name}.ini").write_text(text)
    return work / f"{name}.ini"


def check_passing(work):
    done = run(ROOT / "scripts/test-run", EXAMPLE, "--out", "pass", cwd=work)
    check_equal("the example passes", (done.returncode, done.stderr), (0, ""))
    check("its last line", done.stdout.splitlines()[-1] == "pass: pass/report.html", done.stdout)
    verdict = verdict_of(work / "pass")
    check_equal("verdict.json", (verdict["format"], verdict["verdict"], {c["verdict"] for c in verdict["criteria"]}, {c["place"] for c in verdict["criteria"]}),
                (1, "pass", {"pass"}, {"lab"}))
    check_equal("junit.xml: all criteria", {name for _, name in cases(work / "pass")}, set(re.findall(r"^\[criterion (.+)\]", TEXT, re.M)))
    page = (work / "pass/report.html").read_text()
    check("report.html: verdict, plots, nothing from elsewhere", "test-incast: pass" in page and page.count("<svg") == 4 and not re.search(r'(src|href)="https?:', page))
    check("the report of the run", (work / "pass/lab/report.html").exists())
    check("nothing failed, nothing recorded", not (work / "pass/failed.pcapng").exists())
    # Each quantity of the lab is that of its results.
    results = json.loads((work / "pass/lab/results.json").read_text())
    value = {c["value"]: c["measured"] for c in verdict["criteria"]}
    check_equal("values", (value["goodput_bps"], round(value["jain_index"], 5), value["cnps"]),
                (sum(flow["goodput_bps"] for flow in results["flows"]), round(results["jain_index"], 5), sum(flow["cnp_sent"] for flow in results["flows"])))


def check_failing(work):
    file = changed(work, "fail", ("at_least = 0.8", "at_least = 0.99999"), ("at_most = 50ms", "at_most = 50ms\nflow = incast h1"))
    out = work / "pass"  # a second run in the same folder
    done = test_run(work, file, "--out", out, *SHORT)
    check_equal("a criterion fails", (done.returncode, done.stderr), (1, ""))
    check("the table says which", re.search(r"^fairness .* FAIL$", done.stdout, re.M) and done.stdout.splitlines()[-1].startswith("FAIL: "), done.stdout)
    check_equal("junit.xml: one failure", {key: tag for key, tag in cases(out).items() if tag}, {("lab", "fairness"): "failure"})
    content = (out / "failed.pcapng").read_bytes()
    check("failed.pcapng has frames", content[:4] == b"\x0a\x0d\x0d\x0a" and len(content) > 10000, len(content))
    check_equal("no folder of the second run", sorted(p.name for p in out.iterdir()), ["failed.pcapng", "junit.xml", "lab", "report.html", "verdict.json"])
    text = file.read_text()
    own = changed(work, "own", ("at_least = 0.8", "at_least = 0.99999"), ("[flow incast]", "[record mine]\nnode = s1\nport = 0\n\n[flow incast]"))
    done = test_run(work, own, "--out", "own", *SHORT)
    check_equal("recordings of the file: those alone", (done.returncode, (work / "own/lab/mine.pcapng").exists(), (work / "own/failed.pcapng").exists()), (1, True, False))
    check_equal("the file is as it was", file.read_text(), text)


def check_refused(work):
    """One line with file, line, key, value and what was expected; nothing is written."""
    lines = TEXT.splitlines()
    for name, changes, words, *on in (
            ("quantity", [("value = jain_index", "value = jain")], ["[criterion fairness] value = jain", "jain_index"]),
            ("unit", [("at_least = 100M", "at_least = 150X")], ["[criterion throughput] at_least = 150X", "bit/s"]),
            ("bound", [("at_least = 100M\n", "")], ["[criterion throughput] at_least", "at_most"]),
            ("order", [("at_least = 100M", "at_least = 150M\nat_most = 1M")], ["at_most = 1M"]),
            ("key", [("at_least = 100M", "minimum = 150M")], ["[criterion throughput] minimum = 150M", "at_least"]),
            ("twice", [("[criterion fairness]", "[criterion throughput]")], ["[criterion throughput]", "once"]),
            ("no-equals", [("value = cnps", "value cnps")], ["[criterion notified] value cnps", "KEY = VALUE"]),
            ("flow", [("at_least = 100M", "at_least = 150M\nflow = other")], ["flow = other", "incast h1"]),
            ("flow-of-all", [("value = lost_packets", "value = lost_packets\nflow = incast")], ["flow = incast", "whole network"]),
            ("place", [("on = lab", "on = moon")], ["on = moon", "lab, ports or both"]),
            ("bracket", [("[criterion loss]", "[criterion loss")], ["[criterion loss"]),
            ("section", [("[criterion loss]", "[criterium loss]")], ["[criterium loss]", "known section"]),
            ("scenario", [("Kmin = 50KB", "Kmin = 50XB")], ["[wred] Kmin = 50XB", "size"]),
            ("section-of-ports", [("[ports switch]", "[ports swich]")], ["[ports swich]"]),
            ("key-of-ports", [("shaper_burst_ns = 10ms", "shaper_burst = 10ms")], ["[ports switch] shaper_burst = 10ms", "shaper_burst_ns"], "both"),
            ("record", [("[ports nic]", "[ports]\nrecord = h9\n[ports nic]")], ["[ports] record = h9", "h1, h2, h3"], "ports"),
            ("host", [("[ports nic]", "[ports]\nh9 = net_null0\n[ports nic]")], ["[ports] h9 = net_null0", "h1, h2, h3"], "ports"),
            ("one-end", [("[ports nic]", "[ports]\nh1 = net_null0\n[ports nic]")], ["[ports]", "s1 port 0"], "ports"),
            ("topology", [("topology = star", "topology = leaf_spine"), ("[ports switch]\nshaper_burst_ns = 10ms\n", ""), ("[ports nic]\nshaper_burst_ns = 2ms\nqp_burst_bytes = 64KB\n", "")],
             ["[fabric] topology = leaf_spine", "star, dumbbell, parking_lot"], "ports"),
            ("routers", [("topology = star\nhosts = 3", "topology = dumbbell\nforwarding = l3\nhosts = 4")], ["[fabric] forwarding = l3", "l2"], "ports"),
            ("uneven", [("topology = star\nhosts = 3", "topology = dumbbell\nforwarding = l2\nhosts = 3")], ["[fabric] hosts = 3", "multiple of 2"], "ports"),
            ("servers", [("hosts = 3", "hosts = 4\nnics_per_server = 2")], ["[fabric] nics_per_server = 2", "hosts with one NIC"], "ports"),
            ("after", [("[criterion loss]", "[flow first]\nsrc = 1\ndst = 2\nmessages = 1\n[flow next]\nsrc = 2\ndst = 1\nafter = first\n\n[criterion loss]")],
             ["[flow next] after = first", "flows with start_ns"], "ports"),
            ("storm", [("hosts = 3", "hosts = 4"), ("[criterion loss]", "[event e]\nat_ns = 1ms\naction = pause_storm\nnode = h4\n\n[criterion loss]")],
             ["[event e] node = h4", "h1, h2, h3"], "ports"),
            ("event", [("[criterion loss]", "[event e]\nat_ns = 1ms\naction = loss\nnode = h1\nport = 0\nframe_ppb = 5\n\n[criterion loss]")],
             ["[event e] action = loss", "tx_disable"], "ports")):
        file = changed(work, f"bad-{name}", *changes)
        done = test_run(work, file, "--out", "none", "--on", *(on or ["lab"]))
        where = re.match(rf"test-run: error: {re.escape(str(file))}:(\d+): ", done.stderr)
        check(f"{name}: one line, code 2", done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1 and where
              and all(word in done.stderr for word in words), (done.returncode, done.stderr))
        if where and name not in ("one-end", "twice"):
            named = file.read_text().splitlines()[int(where[1]) - 1]
            check(f"{name}: the line that is wrong", named.strip() and named not in lines or name in ("bound", "flow-of-all", "place", "event", "uneven"), named)
    for what, args, words in (("no file", [work / "none.ini"], ["none.ini"]), ("a setting", [EXAMPLE, "--set", "wred.Kmaxx=1"], ["Kmaxx"]),
                              ("no criterion", [ROOT / "config/incast-4to1.ini"], ["incast-4to1.ini", "criterion"])):
        done = test_run(work, *args, "--out", "none")
        check(f"{what}: one line, code 2", done.returncode == 2 and len(done.stderr.splitlines()) == 1 and all(word in done.stderr for word in words), done.stderr)
    check("nothing was written", not (work / "none").exists())
    done = test_run(work, work / "bad-event.ini", "--out", "lab-alone", "--on", "lab", *SHORT)
    check("what only the lab has is refused on ports alone", done.returncode in (0, 1), done.stderr)


def check_faults(work):
    done = test_run(work, EXAMPLE, "--out", "/dev/full", *SHORT)
    check("a device for a folder: one line, code 1", done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "/dev/full" in done.stderr, done.stderr)
    full = work / "full"
    (full / "lab/flows.csv.part/in").mkdir(parents=True)  # what quench-lab cannot remove
    (full / "verdict.json").write_text("old")
    done = test_run(work, EXAMPLE, "--out", full, *SHORT)
    check("a file that cannot be written: one line, code 1", done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "flows.csv.part: Is a directory" in done.stderr, done.stderr)
    check_equal("a run that fails: junit.xml says so, and no old verdict is left", (list(cases(full).values()), (full / "verdict.json").exists()), (["error"], False))
    (full / "junit.xml.part").symlink_to("/dev/full")
    test_run(work, EXAMPLE, "--out", full, *SHORT)
    check("without room for junit.xml, there is none", not (full / "junit.xml").exists())


def check_ports(work):
    """Both places: two ToRs, IPv6, a live change, steps of a switch and of a host. Frames for a wrong QP would be lost packets."""
    events = ("[event less]\nat_ns = 150ms\nfor_ns = 50ms\naction = set\nset = wred.green_max_threshold_bytes=300KB, flow incast.rate_cap_bps=50M\n\n"
              "[event hold]\nat_ns = 200ms\nfor_ns = 20ms\naction = tx_disable\nnode = s2\nport = h3\n\n"
              "[event storm]\nat_ns = 250ms\nfor_ns = 200ms\naction = pause_storm\nnode = h3\n\n"
              "[event clear]\nat_ns = 250ms\naction = clear_watermarks\nnode = all\n\n")
    file = changed(work, "ports", ("at_most = 50ms", "at_most = 1s"), ("topology = star\nhosts = 3", "topology = dumbbell\nforwarding = l2\nip_version = 6\nhosts = 4"), ("at_least = 100M", "at_least = 0"),
                   ("value = cnps\nat_least = 1", "value = cnps\nat_least = 0"), ("at_least = 0.8", "at_least = 0.1\non = lab"),
                   ("[criterion loss]", BACK + events + "[criterion loss]"))
    done = run_with_traffic(work, file, "--on", "both", out="both")
    check("side by side, and a criterion fails", (done.returncode, done.stderr) == (1, "") and re.search(r"^none .* FAIL$", done.stdout, re.M), done.stdout + done.stderr)
    check("the table has both", re.search(r"^criterion .* lab .* on ports", done.stdout, re.M) and re.search(r"^loss .* 0 +pass +0 +pass$", done.stdout, re.M), done.stdout)
    found = cases(work / "both")
    check_equal("junit.xml: both", {place for place, _ in found}, {"lab", "ports"})
    names = {place: {name for where, name in found if where == place} for place in ("lab", "ports")}
    check_equal("criteria of the lab alone", names["lab"] - names["ports"], {"fairness", "pauses", "latency", "read", "every-pair"})
    check_equal("nothing is said of links that are down while programs start or end", [line for line in json.loads((work / "both/verdict.json").read_text())["remarks"] if "link" in line and "down" in line], [])
    page = (work / "both/report.html").read_text()
    check("report.html: rates on ports, with the event", page.count("<svg") == 7 and "On ports" in page)
    check_equal("files of the programs", sorted(p.name for p in (work / "both/ports").glob("*.json")), ["h1.json", "h2.json", "h3.json", "s1.json", "s2.json"])
    near, far = (json.loads((work / f"both/ports/{name}.json").read_text())["ports"] for name in ("s1", "s2"))
    check("frames pass from switch to switch", near[2]["tx_packets"] > 0 and far[2]["rx_packets"] > 0, (near[2], far[2]))
    check("the storm reaches the switch", far[0]["rx_prio3_pause"] > 0 and near[0]["rx_prio3_pause"] == 0, far[0]["rx_prio3_pause"])
    found = re.search(r"failed-ports.pcapng</a>, the last ([\d\u202f]+) frames of s2 port 0 until none, at", page)
    frames = [frame for frame, _ in RawPcapNgReader(str(work / "both/failed-ports.pcapng"))]
    check("failed-ports.pcapng: the frames before it, cut", found and len(frames) == int(found[1].replace("\u202f", "")) and {len(frame) for frame in frames} <= set(range(60, 129)), found)
    to = {frame[5] for frame in frames}
    check("to the busiest host, and from it", 3 in to and to & {1, 2}, to)
    check_equal("verdict.json names it", verdict_of(work / "both")["recordings"], ["failed-ports.pcapng"])
    check("nothing of the lab failed", not (work / "both/failed.pcapng").exists())
    config = (work / "both/ports/h1.ini").read_text()
    check("keys of the scenario and of [ports nic]", "rp_ai_rate_bps = 2M" in config and "qp_burst_bytes = 64KB" in config and "[flow incast h1]" in config, config)


def check_foreign_switch(work):
    """A switch that is not ours, here a cable: what it would count is not measured, and does not fail the test."""
    text = TEXT.partition("[flow incast]")[0].replace("hosts = 3", "hosts = 2") + """[flow one]
src = 1
dst = 2
[criterion messages]
value = messages
at_least = 1
[criterion loss]
value = lost_packets
at_most = 0
[ports]
switch = off
"""
    for host, role in ((1, "server"), (2, "client")):
        text += f"h{host} = net_memif0,role={role},id=0,socket={work}/cable.sock,socket-abstract=no\n"
    (work / "foreign.ini").write_text(text)
    done = run_with_traffic(work, "foreign.ini", "--on", "ports", out="foreign")
    check_equal("a foreign switch", (done.returncode, done.stderr), (0, ""))
    nic = (work / "foreign/ports/h1.ini").read_text()
    check("bursts of programs that share CPUs, unless the file says otherwise", "shaper_burst_ns = 2ms" in nic and "qp_burst_bytes = 64KB" in nic, nic)
    check("not measured", re.search(r"^loss .* - +not measured$", done.stdout, re.M), done.stdout)
    check_equal("skipped in junit.xml", cases(work / "foreign"), {("ports", "messages"): None, ("ports", "loss"): "skipped"})


def check_interrupt(work):
    """On ports while all programs run, and in the lab."""
    logs = work / "cut/ports"
    for number, place, begun in ((signal.SIGINT, "ports", lambda: all((logs / f"{name}.log").exists() and "running" in (logs / f"{name}.log").read_text()
                                                                      for name in ("s1", "h1", "h2", "h3"))),
                                 (signal.SIGTERM, "lab", (work / "cut/lab").exists)):
        process = subprocess.Popen([ROOT / "scripts/test-run", EXAMPLE, "--on", place, "--out", work / "cut", "--set", "fabric.duration_ns=600s"], cwd=work,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + PATIENCE_S
        while not begun():
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                sys.exit(f"does not run: {process.communicate()}")
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate()
        check_equal(f"{number.name}: code and line", (process.returncode, out, err.strip().splitlines()[-1]), (128 + number, "", "test-run: interrupted"))
        check("its programs have ended", not subprocess.run(["pgrep", "-f", str(work / "cut")], capture_output=True, check=False).stdout)


work = work_dir()
check_refused(work)
check_passing(work)
check_failing(work)
check_faults(work)
check_ports(work)
check_foreign_switch(work)
check_interrupt(work)
finish()
