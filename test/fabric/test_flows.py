#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What quench-lab says of single flows: times of messages, marks and CNPs, and the files that hold them.

    test_flows.py QUENCH_LAB CONFIG_DIR CASE

Bounds are of simulated results only; where virtual time allows, they are exact.
"""
import csv
import json
import math
import pathlib
import sys

import scenarios
from scenarios import expect, in_folder, results

LINK_BPS = 40_000_000_000
DELAY_NS = 1000
HEADERS = 14 + 20 + 8 + 12 + 4 + 4 + 20  # Ethernet, IPv4, UDP, BTH; ICRC, FCS, gap
RETH, AETH = 16, 4


def run(lab, folder, text, *options):
    path = folder / "flows.ini"
    path.write_text(text, encoding="utf-8")
    return results(lab, path, *options)


def read_csv(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def ser_ns(wire):
    return math.ceil(wire * 8e9 / LINK_BPS)


def idle_ns(wire):
    """A packet to the far host and its ACK back, through one switch that stores and forwards."""
    return 2 * ser_ns(wire) + 2 * ser_ns(HEADERS + AETH) + 4 * DELAY_NS


FABRIC = f"""
[fabric]
hosts = 5
link_rate_bps = {LINK_BPS}
link_delay_ns = {DELAY_NS}ns
"""


def idle(lab, folder):
    """On an idle network messages take what serialisation, cables and the ACK take."""
    for packets in (1, 2, 100):
        r = run(lab, folder, FABRIC + f"""duration_ns = 1ms
[flow one]
src = 1
dst = 2
message_bytes = {1024 * packets}
messages = 5
depth = 1
""")
        flow = r["flows"][0]
        rtt_ns = idle_ns(HEADERS + 1024 + (RETH if packets == 1 else 0))
        want_ns = rtt_ns
        if packets > 1:
            want_ns += ser_ns((packets - 1) * (HEADERS + 1024) + RETH)
        slack_ns = 0 if packets == 1 else 4  # shapers carry remainders, the sums above round up
        expect(r["measure_times"] == "on", "measured by default")
        expect(flow["completions"] == 5, f"{packets}: {flow['completions']} completions")
        expect(abs(flow["completion_max_ns"] - want_ns) <= slack_ns, f"{packets}: {flow['completion_max_ns']} ns, not {want_ns}")
        expect(abs(flow["completion_mean_ns"] - want_ns) <= slack_ns, f"{packets}: mean {flow['completion_mean_ns']} ns")
        # Of 100 packets others are timed as well, which went the same way in front of more of them.
        expect(abs(flow["rtt_min_ns"] - rtt_ns) <= slack_ns, f"{packets}: RTT {flow['rtt_min_ns']} ns, not {rtt_ns}")
        expect(flow["slowdown_p50"] == flow["slowdown_max"] == 1, f"{packets}: slowdown {flow['slowdown_max']}")
        for key in ("rp_cnp_ignored", "ce_packets", "rx_pause_duration_us"):
            expect(flow[key] == 0, f"{packets}: {key} {flow[key]}")


def read(lab, folder):
    """A READ on an idle network: the request there, all responses back."""
    for packets in (1, 2, 100):
        r = run(lab, folder, FABRIC + f"""duration_ns = 1ms
[nic]
measure_pacing = on
[flow one]
src = 1
dst = 2
verb = read
message_bytes = {1024 * packets}
messages = 5
depth = 1
""")
        flow = r["flows"][0]
        response = HEADERS + 1024 + AETH
        rtt_ns = 2 * ser_ns(HEADERS + RETH) + 2 * ser_ns(response) + 4 * DELAY_NS
        want_ns = rtt_ns + ser_ns((packets - 1) * (HEADERS + 1024) + AETH) * (packets > 1)
        slack_ns = 0 if packets == 1 else 4
        expect(flow["completions"] == flow["messages_completed"] == 5, f"{packets}: {flow['completions']} completions")
        expect(abs(flow["completion_max_ns"] - want_ns) <= slack_ns, f"{packets}: {flow['completion_max_ns']} ns, not {want_ns}")
        expect(flow["rtt_min_ns"] == rtt_ns, f"{packets}: RTT {flow['rtt_min_ns']} ns, not {rtt_ns}")
        expect(abs(flow["slowdown_max"] - 1) <= 0.001, f"{packets}: slowdown {flow['slowdown_max']}")
        expect("paced_gaps" in flow, "the responder paces")


def loaded(lab, folder):
    """Four flows share a link: their messages take four times as long, as far as the shares are fair."""
    config = sys.argv[2]
    text = pathlib.Path(config, "incast-4to1.ini").read_text(encoding="utf-8")
    r = run(lab, folder, text, "--duration", "50ms", "--out", folder)
    rows, spread = read_csv(folder / "flows.csv"), read_csv(folder / "times.csv")
    for flow in r["flows"]:
        name = flow["name"]
        order = [flow[f"completion_{q}_ns"] for q in ("p50", "p95", "p99", "p999", "max")]
        expect(order == sorted(order) and 0 < flow["completion_mean_ns"] <= order[-1], f"{name}: {order}")
        expect(2.8 <= flow["slowdown_p50"] <= 5.2, f"{name}: slowdown {flow['slowdown_p50']}")
        expect(flow["completions"] == flow["messages_completed"] > 5, f"{name}: every message is timed")
        # Slowdown is against the share of the packets before the last, and the RTT of an idle network.
        packets = 4_000_000 // 1024
        ideal_ns = ser_ns(packets * (HEADERS + 1024) + RETH) + flow["rtt_min_ns"]
        expect(abs(flow["slowdown_max"] - flow["completion_max_ns"] / ideal_ns) < 0.01, f"{name}: {flow['slowdown_max']}")
        for measure, count, most in (("completion_ns", flow["completions"], flow["completion_max_ns"]),
                                     ("slowdown_milli", flow["completions"], round(flow["slowdown_max"] * 1000)),
                                     ("rtt_ns", flow["rtt_samples"], flow["rtt_max_ns"])):
            mine = [row for row in spread if (row["flow"], row["measure"]) == (name, measure)]
            expect(sum(int(row["count"]) for row in mine) == count, f"{name}: {measure} of times.csv")
            expect(int(mine[-1]["at_most"]) == most, f"{name}: {measure} ends at {mine[-1]['at_most']}, not {most}")
        mine = [row for row in rows if row["flow"] == name]
        expect(sum(int(row["completions"]) for row in mine) == flow["completions"], f"{name}: intervals add up")
        expect(sum(int(row["rtt_samples"]) for row in mine) == flow["rtt_samples"], f"{name}: RTTs of intervals add up")
        for column, key in (("messages", "messages_completed"), ("cnp_handled", "rp_cnp_handled"), ("cnp_sent", "cnp_sent"),
                            ("rate_cuts", "rate_cuts"), ("ce_packets", "ce_packets"), ("cnp_ignored", "rp_cnp_ignored"),
                            ("rx_pause_duration_us", "rx_pause_duration_us")):
            expect(int(mine[-1][column]) == flow[key], f"{name}: {column} ends at {mine[-1][column]}, not {flow[key]}")
    expect(sum(f["ce_packets"] for f in r["flows"]) == r["counters"]["np_ecn_marked_roce_packets"], "marks by flow")


CLOSED = """
[wred]
Kmin = 5KB
Kmax = 200KB
Pmax = 1%
[np]
N = 0
np_cnp_dscp = {cnp_dscp}
[nic]
cc = {cc}
[buffer_profile lossy]
dynamic = off
static_th_bytes = {lossy_bytes}
[flow to5]
src = 1-4
dst = 5
messages = 40
message_bytes = 100KB
[flow back]
src = 2-5
dst = 1
messages = 40
message_bytes = 100KB
"""


def cnps(lab, folder):
    """What one end sends the other end handles or ignores, by flow and in all; or it was lost on the way."""
    for cc, dscp, lossy_bytes in (("dcqcn", 48, 1_000_000), ("none", 48, 1_000_000), ("dcqcn", 0, 200)):
        what = f"{cc}, DSCP {dscp}"
        text = FABRIC + "duration_ns = 50ms\n" + CLOSED.format(cc=cc, cnp_dscp=dscp, lossy_bytes=lossy_bytes)
        r = run(lab, folder, text)
        c, flows = r["counters"], r["flows"]
        lost = sum(d["packets"] for d in r["drops"])
        expect(all(f["messages_completed"] == 40 for f in flows), f"{what}: all is over, nothing on the way")
        expect(all(d["node"] == "s1" for d in r["drops"]), f"{what}: {r['drops']}")
        # Priority 0 carries CNPs alone, so all that is dropped are CNPs.
        expect((lost > 0) == (dscp == 0), f"{what}: {lost} frames lost")
        print(f"{what}: {c['np_cnp_sent']} sent, {c['rp_cnp_handled']} handled, {c['rp_cnp_ignored']} ignored, {lost} lost")
        expect(c["np_cnp_sent"] == c["rp_cnp_handled"] + c["rp_cnp_ignored"] + lost, f"{what}: CNPs")
        expect(0 < c["np_cnp_sent"] <= c["np_ecn_marked_roce_packets"], f"{what}: no more CNPs than marks")
        expect(c["ecn_marked_packets"] == c["np_ecn_marked_roce_packets"] + c["np_ce_on_control"], f"{what}: marks")
        expect((c["rp_cnp_ignored"] > 0) == (cc == "none"), f"{what}: {c['rp_cnp_ignored']} ignored")
        left = [f["cnp_sent"] - f["rp_cnp_handled"] - f["rp_cnp_ignored"] for f in flows]
        expect(min(left) >= 0 and sum(left) == lost, f"{what}: CNPs by flow: {left}")
        for total, key in (("np_cnp_sent", "cnp_sent"), ("rp_cnp_handled", "rp_cnp_handled"),
                           ("rp_cnp_ignored", "rp_cnp_ignored"), ("np_ecn_marked_roce_packets", "ce_packets")):
            expect(sum(f[key] for f in flows) == c[total], f"{what}: {key} of the flows and {total}")


def unmeasured(lab, folder):
    """measure_times = off says so, counts nothing, and changes no result."""
    text = FABRIC + "duration_ns = 1ms\n[flow a]\nsrc = 1-4\ndst = 5\n[nic]\nmeasure_times = {}\n"
    on, off = (run(lab, folder, text.format(word), "--out", folder) for word in ("on", "off"))
    expect((on["measure_times"], off["measure_times"]) == ("on", "off"), "the result says it")
    expect(on["digest"] == off["digest"], "measuring moves nothing")
    expect(all(f["rtt_samples"] == f["completions"] == f["rtt_ns"] == 0 for f in off["flows"]), "nothing is counted")
    expect(all(f["rtt_samples"] > 0 for f in on["flows"]), "where all is")
    expect(not read_csv(folder / "times.csv"), "no times, no rows")


def stalled(lab, folder):
    """A host that stops taking frames holds all who share its switch, unless its NIC gives up pausing."""
    config = sys.argv[2]
    text = pathlib.Path(config, "slow-receiver.ini").read_text(encoding="utf-8").replace("drain_rate_bps = 10G", "drain_rate_bps = 1M")
    watermarks = "[receiver]\n", "[receiver]\ndevice_stall_minor_watermark_ns = {}\ndevice_stall_critical_watermark_ns = {}\n"
    text = text.replace("measure_from_ns = 2ms", "measure_from_ns = 20ms").replace("duration_ns = 50ms", "duration_ns = 40ms")
    text = text.replace("[flow slow]\n", "[flow slow]\ndepth = 8\n")  # more than the switch holds
    held, freed = (run(lab, folder, text.replace(watermarks[0], watermarks[1].format(*ns))) for ns in (("0", "0"), ("4ms", "5ms")))
    for r, events, what in ((held, 0, "watermarks off"), (freed, 1, "watermarks")):
        c = r["counters"]
        expect((c["tx_pause_storm_warning_events"], c["tx_pause_storm_error_events"]) == (events, events),
               f"{what}: {c['tx_pause_storm_warning_events']} warnings, {c['tx_pause_storm_error_events']} errors")
        pauses = {(p["node"], p["prio"]): p["tx_pause_duration_us"] for p in r["pfc_counters"] if p["node"] == "h5"}
        expect(set(pauses) == {("h5", 3)}, f"{what}: {pauses}")
        expect((pauses["h5", 3] == 5000) == (events == 1) and pauses["h5", 3] >= 5000, f"{what}: h5 holds for {pauses} us")
        lost = sum(d["packets"] for d in r["drops"] if (d["node"], d["reason"]) == ("h5", "no_buffer"))
        expect((lost > 0) == (events == 1), f"{what}: {lost} packets lost")
    victim = [next(f["goodput_bps"] for f in r["flows"] if f["name"] == "victim h1") for r in (held, freed)]
    print(f"# the victim's goodput: {victim[0] / 1e9:.2f} Gb/s while h5 pauses, {victim[1] / 1e9:.2f} after it gave up")
    expect(victim[0] == 0 and victim[1] > 5e9, f"goodput of who shares a link with the storm: {victim}")


def paced(lab, folder):
    """QPs at rates of their own share a link: each keeps its rate, and waits for a few frames of the others at most."""
    rates = {"slow": "100M", "middle": "1G", "fast": "5G"}
    text = FABRIC + "duration_ns = 20ms\n[nic]\ncc = none\nmeasure_pacing = on\n" + "".join(
        f"[flow {name}]\nsrc = 1\ndst = 2\nqp_count = 4\ndepth = 2\nrate_cap_bps = {rate}\n" for name, rate in rates.items())
    r = run(lab, folder, text, "--out", folder)
    spread = read_csv(folder / "times.csv")
    for flow in r["flows"]:
        jitter = [flow[f"jitter_{q}_ns"] for q in ("p50", "p95", "p99", "p999", "max")]
        print(f"# {flow['name']}: {flow['paced_gaps']} gaps, jitter {jitter} ns, rate off by {flow['paced_rate_error_ppm']} ppm")
        expect(flow["paced_gaps"] > 500, f"{flow['name']}: {flow['paced_gaps']} gaps")
        # 12 QPs: each of two packets may find one of each of the others before it.
        expect(jitter == sorted(jitter) and jitter[-1] <= 2 * 12 * 225, f"{flow['name']}: jitter {jitter}")
        expect(abs(flow["paced_rate_error_ppm"]) <= 100, f"{flow['name']}: rate off by {flow['paced_rate_error_ppm']} ppm")
        mine = [row for row in spread if (row["flow"], row["measure"]) == (flow["name"], "jitter_ns")]
        expect(sum(int(row["count"]) for row in mine) == flow["paced_gaps"], f"{flow['name']}: times.csv")


def arrivals(lab, folder):
    """One-way times are what serialisation and cables take; gaps between bursts are those of the sender's pauses."""
    flow = ("[flow {}]\nsrc = {}\ndst = {}\nverb = {}\nmessage_bytes = 10240\nmessages = 20\ndepth = 1\n"
            "arrival = periodic\nload_bps = 100M\n")
    text = FABRIC + "duration_ns = 20ms\n[nic]\ncc = none\nmeasure_pacing = on\n" + flow.format("stamped", 1, 2, "write_imm")
    r = run(lab, folder, text + "imm_timestamp = on\n" + flow.format("read", 4, 3, "read"), "--out", folder)
    stamped, read = r["flows"]
    # The switch stores and forwards the last packet, which waits there for none.
    way_ns = 2 * ser_ns(HEADERS + 1024 + 4) + 2 * DELAY_NS
    expect(stamped["one_way_samples"] == 20, f"{stamped['one_way_samples']} one-way times")
    expect(0 <= stamped["one_way_p50_ns"] - way_ns <= way_ns / 128 + 2, f"{stamped['one_way_p50_ns']} ns, not {way_ns}")
    expect("one_way_samples" not in read, "a READ has no immediate data")
    for one in (stamped, read):
        # A message of ten packets is one burst; the next one begins when it arrives at its source.
        expect(one["burst_gaps"] == 19, f"{one['name']}: {one['burst_gaps']} gaps")
        nominal_ns = 10240 * 8 * 10 - 9 * ser_ns(HEADERS + 1024)
        expect(abs(one["burst_gap_p50_ns"] / nominal_ns - 1) < 0.01, f"{one['name']}: {one['burst_gap_p50_ns']} ns, not {nominal_ns}")
    rows = read_csv(folder / "times.csv")
    for measure, key in (("burst_gap_ns", "burst_gaps"), ("one_way_ns", "one_way_samples")):
        mine = [int(row["count"]) for row in rows if (row["flow"], row["measure"]) == (stamped["name"], measure)]
        expect(sum(mine) == stamped[key], f"times.csv: {measure}")


def messages(lab, folder):
    """messages.csv has a row for each message, in the order of their ends, and agrees with the sums of its flow."""
    text = FABRIC + """duration_ns = 2ms
[link bad]
ends = h1 s1
frame_loss_ppb = 2000000
[flow one]
src = 1,2
dst = 5
message_size = uniform
message_min_bytes = 1
message_bytes = 30000
messages = 50
qp_count = 2
depth = 3
[flow back]
src = 3
dst = 4
verb = read
message_bytes = 5000
messages = 7
[flow never]
src = 4
dst = 1
verb = ud_send
message_bytes = 100
messages = 3
"""
    out = folder / "out"
    r = run(lab, folder, text, "--out", out)
    rows = read_csv(out / "messages.csv")
    expect(list(rows[0]) == ["flow", "src", "dst", "bytes", "start_ns", "end_ns", "ideal_ns", "slowdown", "retransmitted_packets", "hops"],
           "columns", list(rows[0]))
    ends = [int(row["end_ns"]) for row in rows]
    expect(ends == sorted(ends), "rows are in the order of their ends")
    for flow in r["flows"]:
        mine = [row for row in rows if row["flow"] == flow["name"]]
        took = [int(row["end_ns"]) - int(row["start_ns"]) for row in mine]
        expect(len(mine) == flow["completions"], f"{flow['name']}: {len(mine)} rows of {flow['completions']}")
        expect(sum(int(row["retransmitted_packets"]) for row in mine) == flow["retransmitted_packets"], f"{flow['name']}: resent")
        if not mine:
            continue
        expect(max(took) == flow["completion_max_ns"] and sum(took) // len(took) == flow["completion_mean_ns"], f"{flow['name']}: times")
        expect({(row["src"], row["dst"], row["hops"]) for row in mine} == {(flow["src"], flow["dst"], "2")}, f"{flow['name']}: ends")
        expect(abs(max(float(row["slowdown"]) for row in mine) - flow["slowdown_max"]) < 0.001, f"{flow['name']}: slowdown")
        for row, ns in zip(mine, took):
            expect(abs(ns / int(row["ideal_ns"]) - float(row["slowdown"])) < 1e-4, f"{flow['name']}: {row}")
    lossy, = [flow for flow in r["flows"] if flow["name"] == "one h1"]
    expect(lossy["completions"] == 100 and lossy["retransmitted_packets"] > 0, f"some packets are lost and sent again: {lossy}")
    sizes = r["slowdown_by_size"]
    expect(sum(bucket["messages"] for bucket in sizes["sizes"]) == sizes["all"]["messages"] == len(rows), "each message is in a bucket")
    expect(sizes["all"]["not_ended"] == 0 and sizes["all"]["p99_bound"] == sizes["all"]["p99"], f"all have ended: {sizes['all']}")
    r = run(lab, folder, text, "--out", out, "--set", "fabric.messages_csv=off")
    expect(r["slowdown_by_size"] == sizes, "the buckets need no messages.csv")
    expect(not (out / "messages.csv").exists(), "off: no file, and none of an earlier run")


def not_ended(lab, folder):
    """Messages that have begun or arrived and not ended: of closed loops, of a backlog, and none that never begins."""
    text = FABRIC + """duration_ns = 100us
[flow closed]
src = 1
dst = 2
depth = 3
message_bytes = 4MB
[flow backlog]
src = 3
dst = 4
arrival = periodic
message_bytes = 100KB
load_bps = 80G
rate_cap_bps = 20G
"""
    r = run(lab, folder, text)
    buckets = r["slowdown_by_size"]["sizes"]
    # One message: the next of a QP begins when all packets of the first have left. And an arrival each 10 us from 0 to 100 us, of which
    # two have ended, since each takes 40 us and its headers.
    expect([(b["to_bytes"], b["not_ended"], b["messages"]) for b in buckets] == [(4_000_000, 10, 2)], f"{buckets}")
    expect(r["slowdown_by_size"]["all"]["p99_bound"] is None and r["slowdown_by_size"]["all"]["p99_may_rise"], f"{r['slowdown_by_size']}")
    done = scenarios.run(lab, folder / "flows.ini")
    expect("83.3 % of the messages" in done.stdout and "may raise the p99" in done.stdout, "the table warns", done.stdout)
    r = run(lab, folder, text.replace("load_bps = 80G", "load_bps = 80G\nstop_ns = 30us").replace("depth = 3", "depth = 3\nstop_ns = 50us"))
    expect(r["slowdown_by_size"]["all"]["not_ended"] == 1, "messages that never begin are no backlog", r["slowdown_by_size"])
    # 40 messages of 10 us, one arrives each 100 ns; beside them 10,000 QPs of a message each, whose backlog cannot grow.
    r = run(lab, folder, FABRIC + """duration_ns = 400us
[flow backlog]
src = 3
dst = 4
arrival = periodic
message_bytes = 1KB
load_bps = 80G
rate_cap_bps = 1G
[flow small]
src = 1
dst = 2
arrival = poisson
message_bytes = 1B
load_bps = 200M
""")
    backlog = next(flow for flow in r["flows"] if flow["name"] == "backlog h3")["messages_completed"]
    expect(r["slowdown_by_size"]["sizes"][-1]["not_ended"] == 4001 - backlog and not r["slowdown_by_size"]["backlog_is_cut"], "all of a backlog",
           (backlog, r["slowdown_by_size"]))


def qp_per_message(lab, folder):
    """With a QP each, messages do not wait for each other, and small ones have the times of an idle path; without, the run counts those that wait."""
    text = FABRIC + """duration_ns = 4ms
size_edges = 1KB
[nic]
cc = none
[flow f]
src = 1
dst = 2
arrival = poisson
load = 60%
message_size = cdf
message_cdf = sizes.cdf
stop_ns = 3ms
"""
    # One message in ten has 1 MB, which takes 200 us of the link; 100 bytes take 4.
    (folder / "sizes.cdf").write_text("100 0\n100 90\n1000000 90\n1000000 100\n", encoding="utf-8")
    small = {}
    for mode in ("auto", "on", "off"):
        r = run(lab, folder, text.replace("arrival", f"qp_per_message = {mode}\narrival"))
        f, = r["flows"]
        small[mode] = r["slowdown_by_size"]["sizes"][0]["p99"], f["waited_messages"], f["messages_completed"], r["digest"]
        goodput = f["goodput_bps"] * 4 / 3 / LINK_BPS
        expect(0.4 < goodput < 0.8, f"{mode}: {goodput:.2f} of the link")
    expect(small["auto"] == small["on"], f"{small}: auto is on for random arrivals")
    expect(small["on"][1] == 0 and small["on"][0] < 2, f"{small}: a small message shares the link with the large ones")
    expect(small["off"][0] > 10 and small["off"][1] > small["off"][2] / 4, f"{small}: a small message waits for the large one before it")
    shown = scenarios.run(lab, folder / "flows.ini").stdout
    expect(f"{small['off'][1]} of {small['off'][2]} messages waited" in shown, f"{shown}: the table says so")
    # Exact: every message but the first waits at twice the link's rate, none at a fiftieth of it.
    for load, waited in (("80G", 9), ("800M", 0)):
        r = run(lab, folder, FABRIC + f"duration_ns = 2ms\n[flow f]\nsrc = 1\ndst = 2\narrival = periodic\nmessages = 10\nmessage_bytes = 10KB\nload_bps = {load}\n")
        expect(r["flows"][0]["waited_messages"] == waited, f"{load}: {r['flows'][0]['waited_messages']} messages waited")
    change = "[event e]\nat_ns = 1ms\naction = set\nset = flow f.load=10%\n"
    for keys, rest, words in (("on", "arrival = closed\n", "auto or off, unless arrival is poisson"), ("on", "stopped = on\n", "auto or off with stopped = on"),
                              ("on", change, "or an event that changes the flow"), ("on", "verb = ud_send\n", "auto or off with verb = ud_send"),
                              ("on", "message_size = fixed\nmessage_bytes = 1\nverb = read\n", "at most a million READs")):
        lines = [line for line in text.splitlines(True) if not any(line.startswith(part.split(" =")[0] + " =") for part in rest.splitlines()[:1])]
        if "fixed" in rest or "closed" in rest:
            lines = [line for line in lines if not line.startswith(("message_cdf", "message_size") if "fixed" in rest else ("load",))]
        (folder / "flows.ini").write_text("".join(lines) + f"qp_per_message = {keys}\n{rest}", encoding="utf-8")
        done = scenarios.run(lab, "--check-config", folder / "flows.ini")
        expect(done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, f"{rest}: {done.returncode} {done.stderr}")
    (folder / "flows.ini").write_text(text + change, encoding="utf-8")
    expect(scenarios.run(lab, "--quiet", folder / "flows.ini").returncode == 0, "auto gives way to an event")


def reused(lab, folder):
    """QPs that are used again send as new ones: each message ends when it does in a trace of the same messages, where each has a QP."""
    text = """[fabric]
hosts = 4
link_rate_bps = 100G
duration_ns = 4ms
messages_csv = on
"""
    flow = """[flow f]
src = 1-3
dst = 4
arrival = poisson
load = 30%
message_size = uniform
message_bytes = 200KB
stop_ns = 3ms
"""

    def ends(name, body):
        (folder / f"{name}.ini").write_text(text + body, encoding="utf-8")
        out = folder / name
        done = scenarios.run(lab, "--out", out, folder / f"{name}.ini")
        expect(done.returncode == 0, done.stderr)
        with (out / "messages.csv").open(encoding="utf-8") as file:
            return [[m[key] for key in ("src", "dst", "bytes", "end_ns", "start_ns")] for m in csv.DictReader(file)]

    for cc in ("dcqcn", "dctcp", "timely", "swift", "hpcc"):
        nic = f"[nic]\ncc = {cc}\n"
        shared = ends("shared", nic + flow)
        (folder / "same.trace").write_text("".join(f"{m[0]} {m[1]} {m[2]} {m[4]}\n" for m in shared), encoding="utf-8")
        alone = ends("alone", nic + "[flow f]\npattern = trace\ntrace = same.trace\n")
        # In the trace, the clock starts when the wire is free.
        differ = [pair for pair in zip(sorted(shared), sorted(alone)) if pair[0][:4] != pair[1][:4]]
        expect(len(shared) > 3 * 64 and len(shared) == len(alone) and differ == [], f"{cc}: {len(shared)} messages, {len(alone)} in the trace, {differ[:2]}")
    # As many as the pool has are in flight, and more wait for them: nothing is lost.
    r = run(lab, folder, FABRIC + "duration_ns = 2ms\n[flow f]\nsrc = 1\ndst = 2\narrival = poisson\nload_bps = 120G\nmessage_bytes = 50KB\nstop_ns = 1ms\n")
    f, = r["flows"]
    all_sizes = r["slowdown_by_size"]["all"]
    expect(f["waited_messages"] > 50 and all_sizes["messages"] == f["messages_completed"], f"{f['waited_messages']} waited, {all_sizes}")
    expect(250 < all_sizes["messages"] + all_sizes["not_ended"] < 350, f"{all_sizes}: of about 300 messages")


def table(lab, folder):
    """The table has completion times and slowdowns of all flows together, whatever their number."""
    for hosts in (3, 60):
        path = folder / "table.ini"
        path.write_text(f"""[fabric]
hosts = {hosts}
duration_ns = 100us
[flow one]
src = 1-{hosts - 1}
dst = {hosts}
message_bytes = 1024
messages = 1
""", encoding="utf-8")
        done = scenarios.run(lab, "--json", folder / "table.json", path)
        rows = [line.split() for line in done.stdout.splitlines() if line.startswith("all flows ")]
        flows = json.loads((folder / "table.json").read_text(encoding="utf-8"))["flows"]
        expect(len(rows) == 1, f"{hosts} hosts: {done.stdout}")
        longest_us = max(flow["completion_max_ns"] for flow in flows) / 1e3
        expect(abs(float(rows[0][4]) - longest_us) < 0.1, f"{hosts} hosts: {rows} and not {longest_us} us")
        expect(float(rows[0][6]) >= max(flow["slowdown_max"] for flow in flows) * 0.9, f"{hosts} hosts: {rows}")


if __name__ == "__main__":
    in_folder(paced, arrivals, stalled, idle, read, cnps, unmeasured, loaded, messages, not_ended, qp_per_message, reused, table)
