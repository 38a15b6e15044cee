#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The 4:1 incast in virtual time: what DCQCN, PFC and go-back-N must show, for several seeds.

    test_incast.py QUENCH_LAB CONFIG_DIR CASE

Bounds are of simulated results only; a run on a slow machine gives the same numbers.
"""
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

from scenarios import expect, fewer, results, run, section, with_config, write_scenario

SEEDS = (1, 2, 3, 4, 5)
FAIR_BPS = 10e9


def drops(result, reason=None):
    return sum(d["packets"] for d in result["drops"] if reason in (None, d["reason"]))


def dcqcn_and_pfc(lab, config):
    for seed in SEEDS:
        r = results(lab, config + "/incast-4to1.ini", "--seed", str(seed))
        q = r["bottleneck"]
        rates = [f["wire_rate_bps"] for f in r["flows"]]
        print(f"seed {seed}: {[round(x / 1e9, 2) for x in rates]} Gb/s, jain {r['jain_index']:.4f}, "
              f"link use {q['link_use']:.4f}, queue {q['queue_mean_bytes']} B, digest {r['digest']}")
        expect(len(rates) == 4, "four flows")
        for rate in rates:
            expect(abs(rate - FAIR_BPS) <= 0.15 * FAIR_BPS, f"seed {seed}: a flow at {rate} bit/s")
        expect(r["jain_index"] >= 0.99, f"seed {seed}: Jain index")
        expect(q["link_use"] >= 0.98, f"seed {seed}: link use")
        # 45.7 KB (test_fluid.py).
        model = r["fluid"]["queues"][0]["fixed_point"]["queue_bytes"]
        expect(abs(q["queue_mean_bytes"] - model) <= 0.15 * model,
               f"seed {seed}: mean queue {q['queue_mean_bytes']} B beside the fluid model's {model} B")
        expect(drops(r) == 0, f"seed {seed}: drops {r['drops']}")
        expect(r["last_pause_ns"] is None or r["last_pause_ns"] <= 5_000_000,
               f"seed {seed}: a pause after 5 ms")
        identities(r, seed)


def identities(r, seed):
    """In a closed test bed every mark and every CNP is accounted for."""
    c = r["counters"]
    in_flight = 64
    expect(c["np_cnp_sent"] > 0, f"seed {seed}: no CNP")
    expect(0 <= c["np_cnp_sent"] - c["rp_cnp_handled"] - c["rp_cnp_ignored"] <= in_flight,
           f"seed {seed}: CNPs sent and handled")
    expect(c["np_cnp_sent"] <= c["np_ecn_marked_roce_packets"], f"seed {seed}: CNPs without marks")
    expect(0 <= c["ecn_marked_packets"] - c["np_ecn_marked_roce_packets"] - c["np_ce_on_control"]
           <= in_flight, f"seed {seed}: marks made and seen")
    for flow in r["flows"]:
        expect(flow["min_rate_bps"] < FAIR_BPS, f"seed {seed}: {flow['name']} was never cut below its share")


def pfc_only(lab, config):
    r = results(lab, config + "/incast-4to1-pfc-only.ini")
    q = r["bottleneck"]
    switch = [p for p in r["pfc_counters"] if p["node"] == "s1"]
    hosts = [p for p in r["pfc_counters"] if p["node"] != "s1"]
    expect(drops(r) == 0, f"drops {r['drops']}")
    expect(q["link_use"] >= 0.99, f"link use {q['link_use']}")
    expect(r["pause_frames_after_measure"] > 0, "the queue is not held by PFC")
    expect({(p["port"], p["prio"]) for p in switch} == {(i, 3) for i in range(4)},
           "every sender's port pauses priority 3, nothing else does")
    expect(len(hosts) == 4, "every sender is paused")
    for p in switch:
        expect(p["tx_pause_transition"] > 0, f"port {p['port']}: XOFF without XON")
        expect(p["tx_pause_duration_us"] > 0, f"port {p['port']}: no paused time")
    expect(q["queue_max_bytes"] < 12_000_000, "the queue fits the buffer")
    expect(r["counters"]["ecn_marked_packets"] == 0, "marks without WRED")


def eight_to_one(lab, config):
    """A gigabyte through one port, nobody slows down: not a byte is lost, and each one is accounted for."""
    r = results(lab, config + "/incast-8to1-pfc-only.ini")
    ledger = r["ledger"]
    expect(drops(r) == 0 and ledger["dropped"] == 0, f"drops {r['drops']}")
    expect([f["messages_completed"] for f in r["flows"]] == [1] * 8, "each message arrives")
    expect(sum(f["retransmitted_packets"] for f in r["flows"]) == 0, "nothing is sent twice")
    expect(r["bottleneck"]["queue_max_bytes"] > 10_000_000, "the buffer fills up")
    # 10^9 bytes of payload in frames of 1024 with 62 of headers and FCS; the first of a message has 16 more.
    frames = 8 * -(-125_000_000 // 1024)
    data = 10**9 + frames * 62 + 8 * 16
    acks = r["counters"]["acks_sent"] * 66
    pauses = sum(p["tx_pause"] for p in r["pfc_counters"] if p["node"] == "s1")
    expect(ledger == {"in": data + acks, "copies": 0, "generated": pauses * 64, "queued": 0,
                      "sent": data + acks + pauses * 64, "dropped": 0, "consumed": 0},
           f"{ledger}, data {data}, ACKs {acks}, {pauses} pauses")
    expect(pauses > 0 and r["buffer_used_bytes"] == 0, f"{pauses} pauses, {r['buffer_used_bytes']} bytes left")
    with tempfile.TemporaryDirectory() as folder:
        with open(config + "/incast-8to1-pfc-only.ini", encoding="utf-8") as file:
            text = file.read()
        scant = folder + "/scant.ini"
        with open(scant, "w", encoding="utf-8") as file:
            file.write(text.replace("xoff_bytes = 40KB", "xoff_bytes = 20KB"))
        r = results(lab, scant, "--duration", "5ms")
    expect(text.count("xoff_bytes = 40KB") == 1 and drops(r, "no_headroom") > 0, "half of the headroom is too little")


def headroom(lab, _config):
    """Headroom follows from rate, delay and frame; a given one is kept, doubted at the start, and its losses are said."""
    rest = "[nic]\ncc = none\n[buffer_profile lossless]\ndynamic = off\nstatic_th_bytes = 50KB\n" + section("flow", "all", src="1-4", dst=5, qp_count=4, mtu_bytes=4096, message_bytes="200KB")
    with tempfile.TemporaryDirectory() as folder:
        for gbps in (100, 400):
            path = write_scenario(pathlib.Path(folder) / f"{gbps}.ini", {"hosts": 5, "link_rate_bps": f"{gbps}G", "duration_ns": "200us", "fluid_ns": 0}, rest)
            r = results(lab, path)
            expect(r["drops"] == [] and r["pause_frames_after_measure"] > 0 and r["warnings"] == [],
                   f"{gbps}G: {r['drops']}, {r['pause_frames_after_measure']}, {r['warnings']}")
        given = ("--no-progress", "--set", "buffer_profile lossless.xoff_bytes=22400", path)
        done = run(lab, *given)
        expect(done.returncode == 0 and "lossless group 3: xoff_bytes = 22400, but 112" in done.stderr and
               "so in 5 groups in all" in done.stderr, done.stderr)
        said = [line.split(None, 1)[1] for line in done.stdout.splitlines() if line.startswith("warning") and "no_headroom" in line]
        r = results(lab, *given[1:])
        expect(r["warnings"] == said and said[0].startswith(f"{drops(r, 'no_headroom')} lossless frames were lost"), f"{said}, {r['warnings']}")
        longer(lab, pathlib.Path(folder))


def longer(lab, folder):
    """The headroom of each port is that of its own link, with what keys and events add to its delays; a given one is doubted by the same."""
    rest = ("[nic]\ncc = none\n[switch]\nbuffer_bytes = 2MB\nwred_queues = none\n[buffer_profile lossless]\ndynamic = off\nstatic_th_bytes = 50KB\n" +
            section("flow", "all", src="1,2", dst=3, qp_count=4, message_bytes="200KB") +
            "[switch s2]\n" + section("event", "slow", at_ns="1us", action="set", set="switch s2 port 0.shaper_rate_bps=1G"))
    fabric = {"topology": "dumbbell", "forwarding": "l2", "hosts": 4, "link_rate_bps": "100G", "link_delay_ns": "1us", "core_delay_ns": "2us",
              "duration_ns": "300us", "fluid_ns": 0}
    bytes_of = {}
    for name, more in (("plain", ""), ("key", "[switch s1]\n[switch s1 port 2]\npfc_delay_quanta = 2000\n"),
                       ("pfc_delay", section("event", "late", at_ns="1us", action="pfc_delay", node="s1", port=2, quanta=2000)),
                       ("delay", section("event", "far", at_ns="1us", action="delay", node="s2", port="s1", delay_ns="20us"))):
        path = write_scenario(folder / f"{name}.ini", fabric, rest + more)
        r = results(lab, path)
        expect(drops(r) == 0 and any(p["tx_pause"] > 0 for p in r["pfc_counters"] if p["node"] == "s2"), f"{name}: {r['drops']}")
        comment = re.search(r"^# xoff_bytes = auto is (\d+) bytes \(switch s1, port 0\) to (\d+) bytes \(switch (s\d), port 2\)$",
                            run(lab, "--check-config", path).stdout, re.M)
        expect(comment is not None, name)
        host, bytes_of[name] = map(int, comment.group(1, 2))
        expect(bytes_of[name] - host >= 2 * 1000 / 8 * 100, f"{name}: {host}, {bytes_of[name]}")
        if name != "plain":
            short = run(lab, "--check-config", path, "--set", f"buffer_profile lossless.xoff_bytes={bytes_of['plain']}").stderr
            expect(f"port 2, lossless group 3: xoff_bytes = {bytes_of['plain']}, but " in short, f"{name}: {short}")
            expect(drops(results(lab, path, "--set", f"buffer_profile lossless.xoff_bytes={bytes_of['plain']}"), "no_headroom") > 0, f"{name}: no loss")
    # 2000 quanta of 64 bytes instead of the 394 of 802.3; 18 us more, both ways.
    expect(bytes_of["key"] == bytes_of["pfc_delay"] and 0 <= bytes_of["key"] - bytes_of["plain"] - (2000 - 394) * 64 <= 20, bytes_of)
    expect(bytes_of["delay"] - bytes_of["plain"] == 2 * 18 * 12500, bytes_of)


def run_in_shards(lab, config, n, name, *options):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{config}/{name}.ini", encoding="utf-8") as file:
            text = file.read().replace("[switch]\n", f"[switch]\nshards = {n}\n", 1)
        with open(f"{folder}/{n}.ini", "w", encoding="utf-8") as file:
            file.write(text)
        return results(lab, f"{folder}/{n}.ini", *options)


def shards(lab, config):
    """What crosses between shards of a switch is as if it did not."""
    held = {n: run_in_shards(lab, config, n, "incast-4to1-pfc-only", "--duration", "10ms") for n in (1, 2, 3, 5)}
    expect(sum(p["tx_pause"] for p in held[1]["pfc_counters"] if p["node"] == "s1") > 100, "the queue is not held by PFC")
    for n, r in held.items():
        expect(r["digest"] == held[1]["digest"], f"{n} shards: digest {r['digest']}, one: {held[1]['digest']}")
        expect(r["ledger"] == held[1]["ledger"] and drops(r) == 0, f"{n} shards: {r['ledger']}, {r['drops']}")


def three_shards(lab, config):
    """With marks by chance, shares and queue are as in one shard."""
    three = run_in_shards(lab, config, 3, "incast-4to1")
    expect(three["jain_index"] >= 0.99, f"three shards: Jain index {three['jain_index']}")
    expect(three["bottleneck"]["link_use"] >= 0.98, f"three shards: link use {three['bottleneck']['link_use']}")
    mean, model = three["bottleneck"]["queue_mean_bytes"], three["fluid"]["queues"][0]["fixed_point"]["queue_bytes"]
    expect(abs(mean - model) <= 0.15 * model, f"three shards: mean queue {mean} B beside the fluid model's {model} B")
    expect(drops(three) == 0, f"three shards: drops {three['drops']}")
    identities(three, 1)


def dctcp(lab, config):
    """Step marking at K: shares are fair, and the queue swings around K, not at 0 and not at the buffer."""
    k_bytes = 120e3
    for seed in SEEDS[:2]:
        r = results(lab, config + "/incast-4to1-dctcp.ini", "--seed", str(seed))
        q, c = r["bottleneck"], r["counters"]
        print(f"seed {seed}: jain {r['jain_index']:.4f}, link use {q['link_use']:.4f}, queue {q['queue_mean_bytes']} B")
        expect(r["jain_index"] >= 0.99, f"seed {seed}: Jain index {r['jain_index']}")
        expect(q["link_use"] >= 0.97, f"seed {seed}: link use {q['link_use']}")
        expect(0.7 * k_bytes <= q["queue_mean_bytes"] <= 1.3 * k_bytes, f"seed {seed}: {q['queue_mean_bytes']} B")
        expect(q["queue_p99_bytes"] <= 2.2 * k_bytes, f"seed {seed}: p99 {q['queue_p99_bytes']} B")
        expect(drops(r) == 0, f"seed {seed}: drops {r['drops']}")
        expect(c["dctcp_cuts"] <= c["dctcp_marked_round_trips"] + 4, "one cut in a marked round trip")
        # Interval 0: a CNP for each mark, but for two marks of a QP that one CNP answered.
        expect(c["np_cnp_sent"] >= 0.99 * c["np_ecn_marked_roce_packets"], "a CNP for each mark")
        identities(r, seed)


def schemes(lab, config):
    """Marking schemes beside WRED: the step is WRED's own; a phantom queue keeps the real one short, for 5 % of the link."""
    step, wred = (results(lab, f"{config}/incast-4to1-{name}.ini", "--duration", "20ms", "--set", "fabric.measure_from_ns=10ms") for name in ("step", "dctcp"))
    expect(step["digest"] == wred["digest"], "a step, and a WRED curve that is one")
    expect(step["bottleneck"]["ecn_marked_packets"] > 1000, "the step marks")
    for seed in fewer(SEEDS[:2], 1):
        r = results(lab, config + "/incast-4to1-phantom.ini", "--seed", str(seed))
        q = r["bottleneck"]
        print(f"seed {seed}: jain {r['jain_index']:.4f}, link use {q['link_use']:.4f}, queue {q['queue_mean_bytes']} B")
        expect(r["jain_index"] >= 0.99, f"seed {seed}: Jain index {r['jain_index']}")
        expect(0.90 <= q["link_use"] <= 0.951, f"seed {seed}: link use {q['link_use']}")
        expect(q["queue_mean_bytes"] <= 1500 and q["queue_p99_bytes"] <= 6000, f"seed {seed}: mean {q['queue_mean_bytes']} B, p99 {q['queue_p99_bytes']} B")
        expect((q["wred_min_bytes"], q["wred_max_bytes"]) == (0, 0), "no WRED curve in the results")
        expect("marking" in r["fluid"]["refused"], f"the fluid model refuses: {r['fluid']}")
        expect(drops(r) == 0, f"seed {seed}: drops {r['drops']}")
        identities(r, seed)
    text = run(lab, "--check-config", "--set", "queue 2.marking=step", config + "/incast-4to1.ini").stderr
    expect("marking needs WRED" in text, f"a queue without WRED: {text}")
    with tempfile.TemporaryDirectory() as out:
        run(lab, "--quiet", "--duration", "1ms", "--out", out, config + "/incast-4to1-phantom.ini")
        with open(out + "/counters.csv", newline="", encoding="utf-8") as file:
            found = [int(row["value"]) for row in csv.DictReader(file) if row["node"] == "s1" and row["counter"] == "queue3/phantom_over_packets"]
    expect(sum(found) > 0, f"the scheme's counter: {found}")
    # A receiver that drains a quarter of the link holds its port by PFC.
    slow = [config + "/slow-receiver.ini", "--set", "queue 3.marking=phantom", "--set", "wred.wred_green_enable=on"]
    for options, said in ((slow, True), (slow[:1], False), ([config + "/incast-4to1-phantom.ini", "--duration", "5ms"], False)):
        warnings = results(lab, *options)["warnings"]
        expect(any("phantom queue marked" in text for text in warnings) == said, f"{options}: {warnings}")


def timely(lab, config):
    """The round-trip time stays between T_low and T_high, without a mark."""
    r = results(lab, config + "/incast-4to1-timely.ini")
    q, c = r["bottleneck"], r["counters"]
    # 4.6 us without a queue: two hops of frame, ACK and propagation.
    rtt_us = [(q[key] * 8 / 40e3) + 4.6 for key in ("queue_mean_bytes", "queue_p99_bytes")]
    print(f"jain {r['jain_index']:.4f}, link use {q['link_use']:.4f}, rtt mean {rtt_us[0]:.1f} p99 {rtt_us[1]:.1f} us")
    expect(r["jain_index"] >= 0.99, f"Jain index {r['jain_index']}")
    expect(q["link_use"] >= 0.99, f"link use {q['link_use']}")
    expect(50 <= rtt_us[0] <= 100, f"round trip {rtt_us[0]} us beside T_low of 50 us")
    expect(rtt_us[1] <= 500, f"p99 of the round trip {rtt_us[1]} us beside T_high of 500 us")
    for flow in r["flows"]:
        expect(40e3 <= flow["rtt_ns"] <= 120e3, f"{flow['name']} measured {flow['rtt_ns']} ns")
    expect(c["timely_samples"] > 1000, "samples")
    expect(r["pause_frames_after_measure"] == 0, "PFC holds the queue, not TIMELY")
    expect(drops(r) == 0, f"drops {r['drops']}")
    expect(c["rp_cnp_handled"] == 0 and c["ecn_marked_packets"] == 0, "marks or CNPs without WRED")


def hpcc(lab, config):
    """SIGCOMM 2019: a nearly empty queue at a use of eta, with few and with many senders, without a pause or a drop."""
    for n, jain, most_queue in ((4, 0.95, 2e3), (16, 0.99, 5e3)):
        r = results(lab, f"{config}/incast-{n}to1-hpcc.ini")
        q, c = r["bottleneck"], r["counters"]
        print(f"{n}:1: jain {r['jain_index']:.4f}, link use {q['link_use']:.4f}, queue {q['queue_mean_bytes']} B, p99 {q['queue_p99_bytes']} B")
        expect(0.93 <= q["link_use"] <= 0.97, f"{n}:1: link use {q['link_use']} beside eta of 0.95")
        expect(q["queue_mean_bytes"] <= most_queue, f"{n}:1: mean queue {q['queue_mean_bytes']} B")
        # A window of the link is 56 KB.
        expect(q["queue_p99_bytes"] <= 10e3, f"{n}:1: p99 of the queue {q['queue_p99_bytes']} B")
        expect(r["jain_index"] >= jain, f"{n}:1: Jain index {r['jain_index']}")
        expect(c["hpcc_samples"] > 0.9 * c["acks_received"], f"{n}:1: {c['hpcc_samples']} echoes in {c['acks_received']} ACKs")
        expect(drops(r) == 0 and r["pause_frames_after_measure"] == 0, f"{n}:1: drops or pauses")
        expect(c["retransmitted_packets"] == 0, f"{n}:1: retransmissions")
    # Three switches on most paths, two spines to choose from: each adds its hop.
    fabric = ("fabric.topology=leaf_spine", "fabric.leaves=4", "fabric.spines=2", "fabric.hosts=20", "nic.int_slots=3", "hpcc.T=13us")
    r = results(lab, f"{config}/incast-16to1-hpcc.ini", *(word for key in fabric for word in ("--set", key)))
    q, c = r["bottleneck"], r["counters"]
    print(f"leaf and spine: jain {r['jain_index']:.4f}, link use {q['link_use']:.4f}, queue {q['queue_mean_bytes']} B, p99 {q['queue_p99_bytes']} B")
    expect(q["node"].startswith("leaf") and 0.93 <= q["link_use"] <= 0.97 and q["queue_mean_bytes"] <= 5e3 and q["queue_p99_bytes"] <= 10e3, f"leaf and spine: {q}")
    expect(r["jain_index"] >= 0.98 and c["hpcc_missing"] == 0 and c["hpcc_samples"] > 0.9 * c["acks_received"], f"leaf and spine: {c['hpcc_missing']} ACKs without hops")
    # R = W / T, section 3.4.
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lab, f"{config}/incast-4to1-hpcc.ini", "--quiet", "--no-progress", "--duration", "1ms", "--set", "hpcc.T=9us", "--out", folder,
                        "--trace", "incast"], check=True)
        with open(folder + "/trace.csv", encoding="utf-8") as file:
            rows = [(int(row["window_bytes"]), int(row["rate_bps"])) for row in csv.DictReader(file)]
    expect(len(rows) > 1000, f"{len(rows)} rows")
    for window, rate in rows:
        expect(abs(window * 8 / 9e-6 / rate - 1) < 0.01, f"window {window} at {rate} b/s")
    # Nobody appends: every ACK lacks hops, and the start rate stays.
    r = results(lab, f"{config}/incast-4to1-hpcc.ini", "--duration", "6ms", "--set", "switch.int_telemetry=off")
    expect(r["counters"]["hpcc_missing"] > 1000 and r["counters"]["hpcc_samples"] == 0, "hops without a switch that adds them")


def swift(lab, config):
    """SIGCOMM 2020: the round-trip time stays at the target, which grows by fs_range for small windows; the link is full."""
    for n, base_us, range_us in ((4, 13, 2), (16, 13, 3)):
        r = results(lab, f"{config}/incast-{n}to1-swift.ini")
        q, c = r["bottleneck"], r["counters"]
        print(f"{n}:1: jain {r['jain_index']:.4f}, link use {q['link_use']:.4f}, rtt {[f['rtt_p50_ns'] for f in r['flows']]}")
        for f in r["flows"]:
            expect(0.9 * base_us <= f["rtt_p50_ns"] / 1e3 <= base_us + range_us, f"{n}:1: {f['name']} p50 of the round trip {f['rtt_p50_ns']}")
            expect(f["rtt_p99_ns"] / 1e3 <= 1.2 * (base_us + range_us), f"{n}:1: {f['name']} p99 of the round trip {f['rtt_p99_ns']}")
        expect(q["link_use"] >= 0.99, f"{n}:1: link use {q['link_use']}")
        expect(r["jain_index"] >= 0.99, f"{n}:1: Jain index {r['jain_index']}")
        expect(c["swift_cuts"] > 100 and c["swift_increases"] > 100, f"{n}:1: {c['swift_cuts']} cuts")
        expect(drops(r) == 0 and r["pause_frames_after_measure"] == 0, f"{n}:1: drops or pauses")


# Student's t with 2 x 5 - 2 degrees of freedom, exceeded by chance once in 10,000 times.
T_8 = 7.12
FRAME_BITS = 8 * 1122


def permuted_scenarios(lab, config):
    """Each algorithm of the program in its own scenario of config/, or in the one of DCQCN; without PFC, losses decide."""
    rest = set(re.search(r"^\| `cc` \| (none, [a-z0-9_, ]+) \|", run(lab, "--help-config").stdout, re.M).group(1).replace(" or ", ", ").split(", "))
    for path in sorted(set(pathlib.Path(config).glob("incast-4to1*.ini")) - {pathlib.Path(config, "incast-4to1-no-pfc.ini")}):
        cc = re.search(r"^cc = (\w+)", run(lab, "--check-config", path).stdout, re.M).group(1)
        rest.discard(cc)
        yield path, cc
    for cc in sorted(rest):
        yield pathlib.Path(config) / "incast-4to1.ini", cc


def permuted_shares(lab, path, cc, sections, without=None):
    """For each seed the rates of flows by name; a section has the name of its flow and its own keys."""
    rest, flow = path.read_text(encoding="utf-8").split("[flow incast]\nsrc = 1-4\n")
    for old, new in (without or {}).items():
        flow = flow.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        ini = pathlib.Path(folder) / "permuted.ini"
        ini.write_text(rest + "".join(f"[flow {name}]\n{keys}\n{flow}\n" for name, keys in sections), encoding="utf-8")
        options = ["--threads", 1, "--set", f"nic.cc={cc}", "--duration", "8ms", "--set", "fabric.measure_from_ns=3ms"]
        return [{f["name"]: f["wire_rate_bps"] for f in results(lab, ini, "--seed", seed, *options)["flows"]} for seed in SEEDS]


def same_share(text, one, other):
    """The means over the seeds differ by no more than what the seed changes, and up to four QPs, of a frame each."""
    apart = abs(statistics.fmean(one) - statistics.fmean(other))
    spread = math.sqrt((statistics.variance(one) + statistics.variance(other)) / len(SEEDS))
    text = f"{text}: {statistics.fmean(one) / 1e9:.3f} and {statistics.fmean(other) / 1e9:.3f} Gb/s, spread {spread / 1e9:.3f}"
    print(text)
    expect(apart <= T_8 * spread + 4 * FRAME_BITS / 5e-3, text)


def permuted_orders(lab, config, *orders):
    """Each flow has the same share in both orders, for each algorithm and marking scheme."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = [(path.stem, cc, [pool.submit(permuted_shares, lab, path, cc, order) for order in orders]) for path, cc in permuted_scenarios(lab, config)]
    for name, cc, (first, second) in runs:
        for flow, _ in orders[0]:
            same_share(f"{name} {cc}, {flow}", *([next(rate for full, rate in rates.items() if full.split()[0] == flow) for rates in order.result()]
                                                 for order in (first, second)))


def permuted(lab, config):
    """Whichever host has one QP, two, three or four, its share is the same."""
    permuted_orders(lab, config, *([(f"qps{n}", f"src = {host}\nqp_count = {n}") for n, host in enumerate(hosts, 1)]
                                   for hosts in ((1, 2, 3, 4), (4, 3, 2, 1))))


def permuted_qps(lab, config):
    """Flows of one host, beside three other hosts, in either order of the file."""
    flows = [(f"qps{n}", f"src = 1\nqp_count = {n}") for n in range(1, 5)] + [(f"h{host}", f"src = {host}") for host in range(2, 5)]
    permuted_orders(lab, config, flows, flows[::-1])


def permuted_rounds(lab, config):
    """In an all-to-all of five hosts, pairs of each round have the same share: round n sends to the nth next host."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = [(path.stem, cc, pool.submit(permuted_shares, lab, path, cc, [("all", "pattern = all_to_all\nsrc = 1-5")], {"dst = 5\n": ""}))
                for path, cc in permuted_scenarios(lab, config)]
    for name, cc, shares in runs:
        rounds = [[statistics.fmean(rates[f"all h{src}-h{(src + n - 1) % 5 + 1}"] for src in range(1, 6)) for rates in shares.result()] for n in range(1, 5)]
        for n in range(1, 4):
            same_share(f"{name} {cc}, rounds {n} and {n + 1}", rounds[n - 1], rounds[n])


def aimd(lab, config):
    """The example of doc/extending.md works: fair shares, a queue around K at most, marks echoed by ACKs and no CNP."""
    r = results(lab, config + "/incast-4to1-aimd.ini")
    q, c = r["bottleneck"], r["counters"]
    expect(r["jain_index"] >= 0.99, f"Jain index {r['jain_index']}")
    expect(q["link_use"] >= 0.8, f"link use {q['link_use']}")
    expect(q["queue_p99_bytes"] <= 80e3, f"p99 of the queue {q['queue_p99_bytes']} B beside K of 60 KB")
    expect(c["aimd_cuts"] > 50 and c["aimd_increases"] > c["aimd_cuts"], f"{c['aimd_cuts']} cuts")
    expect(c["np_cnp_sent"] == 0 and c["np_ecn_marked_roce_packets"] > 0, "CNPs beside echoes")
    expect(drops(r) == 0, f"drops {r['drops']}")


def fair(lab, config):
    """The receiver's hook and the number in CNPs: each of n senders gets its share of the link, for any n."""
    for n in (2, 4, 16):
        r = results(lab, "--set", f"fabric.hosts={n + 1}", "--set", f"flow incast.src=1-{n}", "--set", f"flow incast.dst={n + 1}",
                    config + "/incast-4to1-fair.ini")
        c, q = r["counters"], r["bottleneck"]
        expect(r["jain_index"] >= 0.99, f"{n}:1: Jain index {r['jain_index']}")
        expect(q["link_use"] >= 0.9, f"{n}:1: link use {q['link_use']}")
        expect(c["fair_cuts"] > n and c["fair_increases"] > c["fair_cuts"], f"{n}:1: {c['fair_cuts']} cuts")
        expect(all(0.9 * 40e9 * 0.95 / n <= flow["min_rate_bps"] for flow in r["flows"]), f"{n}:1: a sender fell far below its share", [flow["min_rate_bps"] for flow in r["flows"]])
        # A window of 50 us has one CNP for each sender at most.
        expect(0 < c["np_cnp_sent"] <= n * r["duration_ns"] / 50e3, f"{n}:1: {c['np_cnp_sent']} CNPs")
        expect(drops(r) == 0, f"drops {r['drops']}")


def slow_receiver(lab, config):
    """One slow host pauses its port, the switch pauses its senders, and all of them go on in the end."""
    r = results(lab, config + "/slow-receiver.ini")
    pfc = {(p["node"], p["port"]): p for p in r["pfc_counters"] if p["prio"] == 3}
    flows = {f["name"]: f for f in r["flows"]}
    expect(all(p["prio"] == 3 for p in r["pfc_counters"]), "another priority is paused")
    expect(drops(r) == 0, f"drops {r['drops']}")
    host, port = pfc[("h5", 0)], pfc[("s1", 4)]
    expect(host["tx_pause"] > 0 and host["tx_pause"] == port["rx_pause"] == r["counters"]["tx_pause_frames"],
           "what h5 sends, its port gets")
    expect(sum(p["tx_pause"] > 0 for (node, _), p in pfc.items() if node != "s1") == 1, "only h5 is slow")
    # 40 MB at 10 Gb/s of frame bytes.
    expect(20_000 < host["tx_pause_duration_us"] < 35_000, f"h5 pauses for {host['tx_pause_duration_us']} us")
    for h in (1, 2):
        held = pfc[(f"h{h}", 0)]["rx_pause_duration_us"]
        expect(held > 5_000, f"the pause spreads to h{h}: {held} us")
        expect(flows[f"slow h{h}"]["messages_completed"] == 200, f"h{h} ends what it began")
    # h1's other flow stands still with it; h3, which sends to the same host, hardly does.
    expect(pfc[("h3", 0)]["rx_pause_duration_us"] * 10 < pfc[("h1", 0)]["rx_pause_duration_us"], "h3 is held")
    for p in pfc.values():
        expect((p["tx_pause"] > 0) == (p["tx_pause_transition"] > 0), f"{p}: XOFF without XON")
        expect((p["rx_pause"] > 0) == (p["rx_pause_transition"] > 0), f"{p}: paused for ever")
    expect(r["last_pause_ns"] < 41_000_000, "pauses after the last flow")


def trace(lab, config):
    """A row for each event, and each row is the step that its reason says, from the row before."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lab, config + "/incast-4to1.ini", "--quiet", "--no-progress", "--duration", "50ms",
                        "--out", folder, "--trace", "incast"], check=True)
        with open(folder + "/trace.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with open(folder + "/results.json", encoding="utf-8") as file:
            result = json.load(file)
    expect({row["flow"] for row in rows} == {f["name"] for f in result["flows"]}, "every flow is traced")
    for flow in result["flows"]:
        mine = [row for row in rows if row["flow"] == flow["name"]]
        cuts = sum("cut" in row["reason"].split("+") for row in mine)
        expect(mine[0]["reason"] == "start", f"{flow['name']} begins with {mine[0]}")
        expect(cuts == flow["rate_cuts"] > 0, f"{flow['name']}: {cuts} cuts of {flow['rate_cuts']}")
        for before, row in zip(mine, mine[1:]):
            was, rate, target = int(before["rate_bps"]), int(row["rate_bps"]), int(row["target_rate_bps"])
            expect(int(row["time_ns"]) >= int(before["time_ns"]), f"back in time: {row}")
            expect(row["window_bytes"] == "0", f"a window of DCQCN: {row}")
            if row["reason"].startswith("cnp+cut"):
                # A rise that was due before the CNP has its row: the target is then the rate that it gave.
                if {"fast", "additive", "hyper"} & set(row["reason"].split("+")):
                    expect(was < target <= int(before["target_rate_bps"]) + 5e9, f"{before} {row}")
                    was = target
                # Equation 1, with the alpha of before: decayed perhaps, since its row.
                expect(was * (1 - float(before["alpha"]) / 2 - 1e-6) <= rate < was and target == was, f"{before} {row}")
            elif row["reason"] == "fast":
                expect(rate == (was + target + 1) // 2 and target == int(before["target_rate_bps"]), f"{before} {row}")
            elif row["reason"] in ("additive", "hyper"):
                expect(rate == (was + target + 1) // 2, f"{before} {row}")


def no_pfc(lab, config):
    r = results(lab, config + "/incast-4to1-no-pfc.ini")
    lost = sum(drops(r, reason) for reason in ("queue_limit", "pg_limit", "pool"))
    at_switch = sum(d["packets"] for d in r["drops"] if d["node"] == "s1")
    expect(lost > 0 and lost == at_switch, f"start-up drops by name: {r['drops']}")
    expect(not any(p["tx_pause"] for p in r["pfc_counters"]), "pause frames without PFC")
    for flow in r["flows"]:
        expect(flow["messages_completed"] == flow["messages_wanted"] > 0,
               f"{flow['name']}: {flow['messages_completed']} of {flow['messages_wanted']} messages")
        expect(not flow["error"], f"{flow['name']} in error")
    expect(sum(f["retransmitted_packets"] for f in r["flows"]) >= lost, "losses are sent again")


def short(lab, config):
    """A while of what has its figures in other cases, for those who look at memory: each byte is accounted for."""
    for name in ("", "-pfc-only", "-dctcp", "-timely"):
        r = results(lab, f"{config}/incast-4to1{name}.ini", "--duration", "10ms", "--set", "fabric.measure_from_ns=0")
        ledger = r["ledger"]
        expect(ledger["in"] + ledger["copies"] + ledger["generated"] ==
               ledger["queued"] + ledger["sent"] + ledger["dropped"] + ledger["consumed"], f"incast-4to1{name}: {ledger}")
        expect(drops(r) == 0 and r["frames"] > 20_000, f"incast-4to1{name}: {r['drops']}, {r['frames']} frames")


def long(lab, config):
    """Seconds of 4:1 at 10 Gb/s, or QUENCH_LONG_SECONDS up to an hour: no memory is gained and every counter is exact."""
    seconds = int(os.environ.get("QUENCH_LONG_SECONDS", "4"))

    def peak(duration_s):
        """@return results, and the peak of the resident memory in KB"""
        with tempfile.TemporaryDirectory() as folder:
            options = ["--quiet", "--no-progress", "--threads", "1", "--json", folder + "/r.json", "--duration", f"{duration_s}s",
                       *(f"--set={s}" for s in ("fabric.link_rate_bps=10G", "fabric.measure_from_ns=500ms", "fabric.sample_ns=100ms",
                                                "flow incast.mtu_bytes=4096"))]
            # pylint: disable-next=consider-using-with
            process = subprocess.Popen([lab, *options, config + "/incast-4to1.ini"])
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            expect(process.returncode == 0, f"{duration_s} s: exit code {process.returncode}")
            with open(folder + "/r.json", encoding="utf-8") as file:
                return json.load(file), usage.ru_maxrss

    _, before = peak(1)
    r, after = peak(seconds)
    expect(after < 1.02 * before, f"{before} KB after 1 s, {after} KB after {seconds} s")
    counters, ledger, ports = r["counters"], r["ledger"], {p["port"]: p for p in r["ports"]}
    expect(ledger["in"] + ledger["copies"] + ledger["generated"] == ledger["queued"] + ledger["sent"] + ledger["dropped"] + ledger["consumed"],
           f"{ledger}")
    came, went = sum(ports[port]["rx_packets"] for port in range(4)), ports[4]["tx_packets"]
    frame_bytes = 14 + 20 + 8 + 12 + 16 + 4096 + 4 + 4  # the longest: the first of a message, with its RETH
    expect(0 <= ledger["queued"] <= (came - went) * frame_bytes, f"{came} frames came, {went} went, {ledger}")
    expect(0 <= counters["tx_packets"] - counters["rx_packets"] <= came - went + 20, "frames are at the switch or on a cable")
    expect(counters["np_ecn_marked_roce_packets"] <= counters["ecn_marked_packets"] <= counters["np_ecn_marked_roce_packets"] + 4, "marks")
    expect(0 <= counters["np_cnp_sent"] - counters["rp_cnp_handled"] <= 4, "CNPs")
    expect(0 <= counters["acks_sent"] - counters["acks_received"] <= 4, "ACKs")
    expect(counters["retransmitted_packets"] == 0 and drops(r) == 0, f"{r['drops']}")
    of_messages = sum(f["messages_completed"] for f in r["flows"]) * 977  # packets of 4 MB
    expect(0 <= counters["acks_sent"] - of_messages < 4 * 977, f"{counters['acks_sent']} ACKs, {of_messages} packets of complete messages")
    expect(0.97 < r["bottleneck"]["link_use"] < 0.98, f"{r['bottleneck']}")


def digest(lab, config):
    scenario = config + "/incast-4to1.ini"
    first, again = (results(lab, scenario, "--seed", "7", "--duration", "20ms") for _ in range(2))
    other = results(lab, scenario, "--seed", "8", "--duration", "20ms")
    expect(first["digest"] == again["digest"], "one seed, two digests")
    expect(first["digest"] != other["digest"], "two seeds, one digest")
    for r in (first, again):
        del r["wall_seconds"], r["packet_hops_per_second"], r["memory"]
    expect(first == again, "one seed, two results")


if __name__ == "__main__":
    with_config(dcqcn_and_pfc, headroom, pfc_only, eight_to_one, no_pfc, dctcp, schemes, timely, hpcc, swift, permuted, permuted_qps, permuted_rounds, aimd, fair, trace, shards, three_shards, slow_receiver, short, long, digest)
