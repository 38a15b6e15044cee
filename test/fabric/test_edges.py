#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-lab off the beaten path: odd times, odd outputs, configurations that read back.

    test_edges.py QUENCH_LAB CONFIG_DIR CASE
"""
import csv
import json
import os
import pathlib
import subprocess
import sys

from scenarios import expect, fewer, in_folder, results, run, write_scenario

LINK_BPS = 40_000_000_000


def scenario(folder, name="odd", flows="[flow out]\nsrc = 1\ndst = 2\n", **fabric):
    keys = {"hosts": 5, "link_rate_bps": "40G", "duration_ns": "1ms", **fabric}
    return write_scenario(folder / f"{name}.ini", keys, flows)


def sample_times(program, folder, path):
    results(program, path, "--out", folder)
    with open(folder / "flows.csv", encoding="utf-8") as series:
        return [int(row["time_ns"]) for row in csv.DictReader(series)]


def times(program, folder):
    """Samples and the measured window keep their times, be they multiples of a tick or not."""
    path = scenario(folder, duration_ns="10250ns", sample_ns="1500ns")
    expect(sample_times(program, folder, path) == [1500, 3000, 4500, 6000, 7500, 9000, 10250], "samples every 1.5 us")
    path = scenario(folder, duration_ns="10us", sample_ns="1s")
    expect(sample_times(program, folder, path) == [10000], "one sample, shorter than it would be")
    for begin in ("10us", "9500ns", "10501ns", "19500ns"):
        r = results(program, scenario(folder, duration_ns="20us", measure_from_ns=begin))
        window_ns = r["duration_ns"] - r["measure_from_ns"]
        sent = r["flows"][0]["wire_rate_bps"] * window_ns / 8e9
        # Frames are counted whole where they begin.
        expect(abs(sent - LINK_BPS * window_ns / 8e9) <= 1106, f"measured from {begin}: {sent} bytes sent")


def last_pause(program, folder):
    """The last pause has a time of its own, however far apart samples are."""
    flows = "[nic]\ncc = none\n[flow in]\nsrc = 1-4\ndst = 5\nmessages = 1\nmessage_bytes = 4MB\n"
    fine, coarse = (results(program, scenario(folder, flows=flows, duration_ns="5ms", sample_ns=s))
                    for s in ("1us", "5ms"))
    expect(fine["digest"] == coarse["digest"], "the time between samples changes the run")
    # 16 MB take 3.5 ms on one link of 40 Gb/s.
    expect(1_000_000 < (fine["last_pause_ns"] or 0) < 3_600_000, f"last pause at {fine['last_pause_ns']} ns")
    expect(fine["last_pause_ns"] == coarse["last_pause_ns"], f"{coarse['last_pause_ns']} ns with one sample")


def groups(program, folder):
    """pgs.csv holds the same bytes as queues.csv, by where they came in; who is near its limit pauses its peer, as pfc.csv says."""
    path = pathlib.Path(sys.argv[2]) / "incast-4to1-pfc-only.ini"
    r = results(program, path, "--out", folder, "--duration", "1ms", "--set", "fabric.sample_ns=1us",
                "--set", "buffer_profile lossless.dynamic=off", "--set", "buffer_profile lossless.static_th_bytes=100KB")
    held, waiting, shared, paused = {}, {}, {}, {}
    for name, seen in (("pgs", held), ("queues", waiting)):
        with open(folder / f"{name}.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                parts = ("shared_bytes", "headroom_bytes") if name == "pgs" else ("queue_bytes",)
                seen[row["time_ns"]] = seen.get(row["time_ns"], 0) + sum(int(row[part]) for part in parts)
                if name == "pgs":
                    shared[row["time_ns"], row["port"]] = int(row["shared_bytes"])
                    expect(row["limit_bytes"] == "100000", f"limit {row['limit_bytes']}")
    expect(len(held) > 900 and held == waiting, "other bytes than in the queues")
    with open(folder / "pfc.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["node"] == "s1":
                paused.setdefault(row["port"], []).append((row["time_ns"], row["tx_paused"] == "1"))
    # From 1000 samples; at an edge the sample may be on the other side of a frame in flight.
    said = {str(p["port"]): p["tx_pause_duration_us"] for p in r["pfc_counters"] if p["node"] == "s1"}
    expect(len(said) == 4, f"ports that pause: {said}")
    for port, seen in paused.items():
        edges = sum(a[1] != b[1] for a, b in zip(seen, seen[1:])) + 1
        expect(edges > 1 and abs(sum(on for _, on in seen) - said[port]) <= edges, f"port {port}: {edges} edges, {said[port]} us")
        for time, on in seen:
            # A frame is 1086 bytes with FCS; XON is two and a bit below the limit.
            if on != (shared[time, port] > 100_000 - 2496):
                expect(100_000 - 2 * 2496 < shared[time, port] <= 100_000, f"{shared[time, port]} bytes, paused: {on}")


def slow_links(program, folder):
    """Two equal flows are fair at any speed."""
    flows = "[nic]\ncc = none\n[rp]\nrp_min_rate_bps = 10K\n"
    flows += "".join(f"[flow f{i}]\nsrc = {i}\ndst = {i + 1}\nrate_cap_bps = 100\nmessage_bytes = 64\n"
                     for i in (1, 3))
    r = results(program, scenario(folder, flows=flows, link_rate_bps="1M", duration_ns="200s", sample_ns="1s"))
    expect(all(0 < f["wire_rate_bps"] < 1000 for f in r["flows"]), "below 1 kbit/s")
    expect(r["jain_index"] > 0.9, f"Jain index {r['jain_index']}")


def idle(program, folder):
    """Idle time costs nothing, and its samples are left out except for the first and the last."""
    flows = "[pfcwd]\npfcwd = sonic\n"
    flows += "".join(f"[flow f{i}]\nsrc = {i}\ndst = 5\nbytes = 1MB\nmessage_bytes = 1MB\nstart_ns = {begin}\n"
                     for i, begin in ((1, "0"), (2, "60s")))
    # 1.2 * 10^8 samples
    path = scenario(folder, flows=flows, duration_ns="120s", sample_ns="1us")
    digests = {results(program, path, "--threads", n, "--out", folder, "--set", "fabric.fluid_ns=0")["digest"] for n in (1, 2, 3)}
    expect(len(digests) == 1, f"one digest with any number of threads: {digests}")
    with open(folder / "flows.csv", encoding="utf-8") as series:
        rows = list(csv.DictReader(series))
    for name in ("f1 h1", "f2 h2"):
        mine = [row for row in rows if row["flow"] == name]
        before, sent, gaps = mine[0], 0, 0
        begin = int(before["time_ns"]) - 1000
        for row in mine:
            sent += int(row["wire_rate_bps"]) * (int(row["time_ns"]) - begin) / 8e9
            if int(row["time_ns"]) - begin > 1000 and row is not mine[-1]:
                gaps += 1
                same = all(row[key] == before[key] for key in row if key != "time_ns")
                expect(same and row["wire_rate_bps"] == "0", f"not idle: {before} {row}")
            begin, before = int(row["time_ns"]), row
        # 1 MB in packets of 1024 bytes, each with 82 more on the wire, and 16 in the first
        expect(abs(sent - 977 * 82 - 1_000_000) < 1000, f"{name}: {sent} bytes in the rows")
        expect(gaps > 100, f"{name}: {gaps} gaps")
        expect(mine[-1]["time_ns"] == str(120 * 10**9), f"{name}: ends at {mine[-1]['time_ns']}")


def read_back(program, folder):
    """What --check-config prints is a scenario that does the same."""
    config = pathlib.Path(sys.argv[2])
    for path in fewer(sorted(config.glob("incast-*.ini")), 5):
        printed = folder / path.name
        printed.write_text(run(program, "--check-config", path).stdout, encoding="utf-8")
        first, again = (results(program, p, "--duration", "300us") for p in (path, printed))
        expect(first["digest"] == again["digest"], f"{path.name}: another run")
        expect(run(program, "--check-config", printed).stdout == printed.read_text(encoding="utf-8"),
               f"{path.name}: printed again, it differs")
    reference = [line for line in run(program, "--help-config").stdout.splitlines() if line.startswith("## ")]
    expect(len(reference) == len(set(reference)) > 10, "each section once in the reference")


def outputs(program, folder):
    """Lost output is an error; JSON on standard output stands alone; names fit the CSV files."""
    path = scenario(folder, duration_ns="10us")
    done = run(program, "--json", "-", path)
    expect(json.loads(done.stdout)["duration_ns"] == 10000, "JSON and nothing else")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for options in ((), ("--check-config",), ("--json", "-")):
                done = run(program, *options, path, stdout=full)
                expect(done.returncode == 1 and "No space left" in done.stderr, f"full disk, {options}: {done}")
    for name in ("a,b", 'a"b'):
        done = run(program, scenario(folder, flows=f"[flow {name}]\nsrc = 1\ndst = 2\n"))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and name in done.stderr, f"flow {name}: {done}")


def link_pause(program, folder):
    """Hosts with flow_control = pause: their switch ports speak it too, to them and from them; between switches PFC goes on."""
    for topology in ("star", "dumbbell"):
        flows = "[flow in]\nsrc = 1-3\ndst = 4\n[nic]\ncc = none\nflow_control = pause\n[switch]\nbuffer_bytes = 2MB\n[event look]\nat_ns = 2999us\naction = dump\n"
        slow = "[receiver]\ndrain_rate_bps = 5G\n"
        for text, fabric in ((flows, {}), (flows + slow, {"slow_hosts": 4})):
            r = results(program, scenario(folder, flows=text, hosts=4, topology=topology, duration_ns="3ms", **fabric))
            nodes = r["dumps"][0]["nodes"]
            expect(r["drops"] == [], f"{topology}: {r['drops']}")
            expect(all(f["retransmitted_packets"] == 0 for f in r["flows"]), f"{topology}: {r['flows']}")
            paused = [nodes[f"h{i}"]["counters"]["rx_global_pause_frames"] for i in (1, 2, 3)]
            expect(all(n > 0 for n in paused), f"{topology}: {paused}")
            last = "s1" if topology == "star" else "s2"
            (port,) = [p for p in nodes[last]["ports"] if p["port"] == (3 if last == "s1" else 1)]
            expect((port["rx_global_pause_frames"] > 0) == bool(fabric) and port["rx_pause_frames"] == 0, f"{topology}: {port}")
            if last == "s2":
                between = nodes["s2"]["ports"][2]
                expect(between["tx_pause_frames"] > 0 and between["tx_global_pause_frames"] == 0, f"{topology}: {between}")


def cpus(program, folder):
    """Runs at once have all CPUs, not the first one together: EAL would put each there."""
    with subprocess.Popen([program, "--quiet", "--no-progress", scenario(folder)], stdout=subprocess.DEVNULL) as run:
        os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)
        ended_on = os.sched_getaffinity(run.pid)  # not reaped yet
    expect(run.returncode == 0 and ended_on == os.sched_getaffinity(0), f"ended on CPUs {ended_on}")


if __name__ == "__main__":
    in_folder(cpus, link_pause, times, idle, last_pause, groups, slow_links, read_back, outputs)
