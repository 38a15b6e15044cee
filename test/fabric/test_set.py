#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that change in the middle of a run: events with action = set.

    test_set.py QUENCH_LAB CONFIG_DIR CASE
"""
import json
import re

from scenarios import expect, in_folder, results, run, section, write_scenario


def event(name, at_ns, text, **keys):
    return section("event", name, at_ns=at_ns, action="set", set=text, **keys)


def scenario(folder, fabric, rest):
    keys = {"hosts": 4, "link_rate_bps": "40G", "link_delay_ns": "1us", "duration_ns": "2ms", **fabric}
    return write_scenario(folder / "set.ini", keys, rest)


INCAST = section("flow", "f", src="1-3", dst=4, start_ns="10us")
# A key of each part that follows, where it makes a difference to the incast.
LIVE = ("wred.Kmax=400KB", "wred.Kmin=20KB, wred.Kmax=60KB", "wred.Pmax=50%", "switch s1.Kmin=100KB", "switch.pfc_generate=off",
        "switch.mark_at=enqueue", "buffer_profile lossless.static_th_bytes=50KB",
        "queue 3.wred_profile=none", "queue 3|3.wred_profile=none",
        "rp.R_AI=400M", "rp.g=1/16, rp.T=300us", "np.np_min_time_between_cnps=100us",
        "flow f.rate_cap_bps=3G")


def same(program, folder):
    """What is set before the first frame makes the run that the file's own words would have made."""
    lossless = "[buffer_profile lossless]\ndynamic = off\nstatic_th_bytes = 100KB\n"
    fabric = {"duration_ns": "600us"}
    def of(r, text):
        # The digest knows the caps that responders had at their start.
        return (r["flows"], r["packet_hops"]) if text.startswith("flow") else r["digest"]
    path = scenario(folder, fabric, lossless + INCAST)
    unchanged = results(program, path)
    for text in LIVE:
        path = scenario(folder, fabric, lossless + INCAST)
        expected = of(results(program, path, *(o for w in text.split(", ") for o in ("--set", w))), text)
        r = results(program, scenario(folder, fabric, lossless + INCAST + event("e", "1us", text)))
        expect(of(r, text) == expected, f"{text}: not as if the file said so")
        expect(expected != of(unchanged, text), f"{text}: makes no difference")
        expect(r["scheduled_events"] == [{"name": "e", "at_ns": 1000, "action": "set", "set": text}], f"{r['scheduled_events']}")


    # Hosts keep their [qos_map], as quench-nic does; the switch puts data into another queue.
    rest = INCAST + event("e", "1us", "qos_map.dscp_to_tc_map=26:2, *:0") + section("event", "d", at_ns="500us", action="dump", node="s1")
    queues = results(program, scenario(folder, fabric, rest))["dumps"][0]["nodes"]["s1"]["ports"][3]["queues"]
    expect([q["queue"] for q in queues if q["tx_packets"] > 0] == [2], f"{[(q['queue'], q['tx_packets']) for q in queues]}")


def warned(program, folder):
    """An event says what --check-config says of the same keys in the file, once."""
    def lines(path, *options):
        done = run(program, path, "--check-config", *options)
        expect(done.returncode == 0, done.stderr)
        return sorted(re.sub(r"^quench-lab: warning: (\S+\.ini: )?(\[event e\] set: )?", "", line) for line in done.stderr.splitlines())
    for text in ("wred.Kmin=5", "buffer_profile lossless.xoff_bytes=1KB", "wred.Kmin=5, buffer_profile lossless.xoff_bytes=1KB", "wred.Kmin=20KB"):
        expected = lines(scenario(folder, {}, INCAST), *(o for w in text.split(", ") for o in ("--set", w)))
        expect(len(expected) == text.count("=5") + text.count("=1KB"), f"{text}: {expected}")
        found = lines(scenario(folder, {}, INCAST + event("e", "1us", text, for_ns="5us") + event("later", "9us", "rp.R_AI=400M")))
        expect(found == expected, f"{text}: {found} instead of {expected}")


def maps(program, folder):
    """Keys that a map does not name keep their values: those of the file, and of an event that lasts."""
    base = "[qos_map]\ndscp_to_tc_map = 10:5, 26:3, *:0\n"
    def digest(map_of_all, *events):
        return results(program, scenario(folder, {"duration_ns": "600us"}, f"[qos_map]\ndscp_to_tc_map = {map_of_all}\n" + INCAST + "".join(events)))
    wanted = digest("10:5, 26:3, *:0", event("e", "1us", "qos_map.dscp_to_tc_map=10:5, 26:2, 48:6, *:0"))["digest"]
    for events in ((event("e", "1us", "qos_map.dscp_to_tc_map=26:2, 48:6"),),
                   (event("e", "1us", "qos_map.dscp_to_tc_map=26:2"), event("g", "1us", "qos_map.dscp_to_tc_map=48:6"))):
        found = digest("10:5, 26:3, *:0", *events)["digest"]
        expect(found == wanted, f"{events}: not as with the whole map")
    expect(digest("10:5, 26:3, *:0")["digest"] != wanted, "the maps make no difference")
    done = run(program, "--check-config", scenario(folder, {}, base + INCAST + event("e", "1us", "qos_map.dscp_to_tc_map=26:9")))
    expect(done.returncode == 2 and "dscp_to_tc_map = 26:9: expected" in done.stderr, done.stderr)


def ends(program, folder):
    """With for_ns all is as before; what was set later stays above what was set earlier, and shows again when that ends."""
    def digest(rest, *options):
        return results(program, scenario(folder, {}, INCAST + rest), *options)["digest"]
    plain = digest("")
    expect(digest(event("a", "1us", "wred.Kmax=400KB, rp.R_AI=400M, flow f.stopped=on", for_ns="2us")) == plain, "a short one stays")
    steep, wide = "wred.Kmax=60KB", "wred.green_max_threshold_bytes=400KB"
    both = event("long", "1us", steep, for_ns="5us") + event("short", "2us", wide, for_ns="2us")
    expect(digest(both) == plain, "two that end")
    expect(digest(event("long", "1us", steep) + event("short", "2us", wide, for_ns="2us")) == digest("", "--set", steep), "the first stays")
    expect(digest(event("first", "1us", steep, for_ns="5us") + event("last", "2us", wide)) == digest("", "--set", wide),
           "the last one stays, under another name of the key")
    # Of one nanosecond, the one that stands later in the file is later.
    expect(digest(event("x", "1us", wide) + event("a", "1us", steep)) == digest("", "--set", steep), "the order of the file")
    path = scenario(folder, {}, INCAST + both)
    (folder / "again.ini").write_text(run(program, "--check-config", path).stdout, encoding="utf-8")
    expect(results(program, folder / "again.ini")["digest"] == results(program, path)["digest"], "the printed file is another one")


def one_switch(program, folder):
    """A key of one switch is for that one alone, with a section of its own in the file or without; a link's state stays."""
    fabric = {"topology": "leaf_spine", "leaves": 2, "spines": 2, "hosts": 4}
    flow = section("flow", "f", src="1-3", dst=4, start_ns="10us")
    for own in ("", "[switch leaf2]\nKmin = 6KB\n"):
        def marks(rest, own=own):
            r = results(program, scenario(folder, fabric, own + flow + rest + section("event", "dump", at_ns="2ms", action="dump")))
            return {n: sum(q["ecn_marked_packets"] for p in c["ports"] for q in p["queues"])
                    for n, c in r["dumps"][0]["nodes"].items() if "ports" in c and n.startswith(("leaf", "spine"))}
        before = marks("")
        expect(before["leaf2"] > 0, f"{before}")
        # They meet at leaf2; two of them may share an uplink of leaf1.
        expect(marks(event("e", "1us", "switch leaf2 queue 3.wred_profile=none, switch leaf2.Kmin=7KB"))["leaf2"] == 0, "leaf2 marks")
        expect(marks(event("e", "1us", "switch leaf1 queue 3.wred_profile=none, switch leaf1.Kmin=7KB"))["leaf2"] == before["leaf2"],
               "leaf1 changes leaf2")
    # A port that may not transmit, and routes that avoid a link that is down, are no parameters.
    rest = flow + section("event", "off", at_ns="100us", action="tx_disable", node="leaf2", port="h4")
    rest += event("set", "200us", "wred.Kmax=400KB")
    rest += "".join(section("event", f"at {us}", at_ns=f"{us}us", action="dump", node="leaf2") for us in (101, 1000))
    r = results(program, scenario(folder, fabric, rest))
    sent = [d["nodes"]["leaf2"]["ports"][1]["tx_packets"] for d in r["dumps"]]
    expect(sent[0] == sent[1] > 0, f"a port that is off sends again: {sent}")
    rest = flow + section("event", "down", at_ns="100us", action="link_down", node="leaf1", port="spine1")
    rest += section("event", "down too", at_ns="100us", action="link_down", node="leaf2", port="spine1")
    rest += event("set", "400us", "wred.Kmax=300KB")
    r = results(program, scenario(folder, {**fabric, "reroute_after_ns": "100us", "duration_ns": "5ms"}, rest + section(
        "event", "late", at_ns="1ms", action="dump", node="all")))
    lost = {n: c["drops"] for n, c in r["dumps"][0]["nodes"].items() if "drops" in c}
    late = sum(d["packets"] for d in r["drops"] if d["reason"] in ("link_down", "wire_link_down"))
    at_1ms = sum(p["drops"]["link_down"] for c in r["dumps"][0]["nodes"].values() for p in c.get("ports", [])
                 if "link_down" in p.get("drops", {}))
    expect(late - at_1ms < 100, f"routes over a dead link are back: {late} lost, {at_1ms} of them before, {lost}")


def queues(program, folder):
    """The queue goes from the fluid model's fixed point to that of the other parameters, and back; nothing is lost."""
    fabric = {"hosts": 5, "duration_ns": "240ms", "sample_ns": "20us"}
    flow = "[rp]\nrp_profile = paper\n" + section("flow", "f", src="1-4", dst=5)
    kmin = "wred.Kmin=5KB, wred.Kmax=200KB", "wred.Kmin=50KB, wred.Kmax=400KB"
    fixed = []
    for text in kmin:
        sets = [o for w in text.split(", ") for o in ("--set", w)]
        done = run(program, "--fluid", "--quiet", "--json", "-", *sets, scenario(folder, fabric, flow))
        expect(done.returncode == 0, done.stderr)
        fixed.append(json.loads(done.stdout)["fluid"]["queues"][0]["fixed_point"]["queue_bytes"])
    path = scenario(folder, fabric, flow + event("first", "1ns", kmin[0]) + event("up", "80ms", kmin[1], for_ns="80ms"))
    r = results(program, path, "--out", folder / "out")
    expect(r["drops"] == [], f"{r['drops']}")
    rows = (folder / "out" / "queues.csv").read_text().splitlines()
    head = rows[0].split(",")
    series = [dict(zip(head, row.split(","))) for row in rows[1:]]
    means = []
    for begin, end in ((40, 80), (110, 160), (190, 240)):
        values = [int(s["queue_bytes"]) for s in series if s["port"] == "4" and begin * 1e6 < int(s["time_ns"]) <= end * 1e6]
        means.append(sum(values) / len(values))
    for mean, model in zip(means, (fixed[0], fixed[1], fixed[0])):
        expect(abs(mean / model - 1) < 0.25, f"means {means} beside the fixed points {fixed}")


def pfc(program, folder):
    """Without PFC a switch of a small buffer loses frames; from its event on it pauses, and loses nothing more."""
    small = "[switch]\nbuffer_bytes = 400KB\npfc_generate = off\n[nic]\ncc = none\n[wred]\nwred_green_enable = off\n" + INCAST
    rest = small + event("on", "500us", "switch.pfc_generate=on") + section("event", "then", at_ns="520us", action="dump", node="s1")
    r = results(program, scenario(folder, {}, rest))
    port = r["dumps"][0]["nodes"]["s1"]["ports"]
    early = sum(sum(p["drops"].values()) for p in port)
    late = sum(d["packets"] for d in r["drops"] if d["node"] == "s1")
    expect(early > 0, "nothing was lost without PFC")
    expect(late == early, f"{late - early} lost with PFC")
    expect(any(c["tx_pause"] > 0 for c in r["pfc_counters"] if c["node"] == "s1"), f"no pause: {r['pfc_counters']}")
    # A watchdog that was off looks from its event on, and not at its next turn, which there was none.
    storm = section("flow", "f", src="1-3", dst=4) + section("event", "storm", at_ns="1ms", action="pause_storm", node="h4")
    storm += event("watch", "50ms", "pfcwd.pfcwd=sonic, pfcwd.detection_time=100ms")
    r = results(program, scenario(folder, {"duration_ns": "300ms"}, storm))
    found = [e for e in r["events"] if e["event"] == "storm_detected"]
    expect(len(found) == 1 and 150e6 <= found[0]["at_ns"] <= 260e6, f"{r['events'][:3]}")


def flows(program, folder):
    """A flow that is stopped begins nothing; an event lets it start, stop and go on; caps and loads change."""
    flow = section("flow", "late", src=1, dst=4, stopped="on", message_bytes="64KB")
    never = results(program, scenario(folder, {}, flow))["flows"][0]
    expect(never["messages_completed"] == 0 == never["wire_rate_bps"], f"{never}")
    for at_us in (0.001, 500):
        r = results(program, scenario(folder, {}, flow + event("go", f"{int(at_us * 1000)}ns", "flow late.stopped=off")), "--out", folder / "out")
        rows = [row.split(",") for row in (folder / "out" / "flows.csv").read_text().splitlines()]
        rate = [(int(row[rows[0].index("time_ns")]), int(row[rows[0].index("wire_rate_bps")])) for row in rows[1:]]
        first = next((t for t, bps in rate if bps > 0), None)
        expect(first is not None and at_us * 1000 < first <= at_us * 1000 + 1_100_000, f"set off at {at_us} us, first sent in the 100 us to {first}")
    twice = flow.replace("stopped = on", "stopped = off") + event("stop", "500us", "flow late.stopped=on", for_ns="1ms")
    r = results(program, scenario(folder, {}, twice), "--out", folder / "out")
    rows = [row.split(",") for row in (folder / "out" / "flows.csv").read_text().splitlines()]
    rate = {int(row[rows[0].index("time_ns")]): int(row[rows[0].index("wire_rate_bps")]) for row in rows[1:]}
    expect(rate[500_000] > 30e9 and rate[1_500_000 - 100_000] == 0 and rate[1_600_000] > 30e9, f"{rate}")
    expect(r["drops"] == [] and r["flows"][0]["error"] is False, "stop and go")
    # Half of the time 2 Gb/s, half of it 8.
    cap = section("flow", "late", src=1, dst=4, rate_cap_bps="2G") + event("more", "1ms", "flow late.rate_cap_bps=8G")
    got = results(program, scenario(folder, {}, cap))["flows"][0]["wire_rate_bps"]
    expect(abs(got / 5e9 - 1) < 0.01, f"{got} with caps of 2 and 8 Gb/s")
    load = section("flow", "late", src=1, dst=4, arrival="poisson", load_bps="2G", message_bytes="16KB")
    load += event("more", "10ms", "flow late.load_bps=8G")
    got = results(program, scenario(folder, {"duration_ns": "20ms"}, "[nic]\ncc = none\n" + load))["flows"][0]["goodput_bps"]
    expect(abs(got / 5e9 - 1) < 0.15, f"{got} with loads of 2 and 8 Gb/s")


def open_loops(program, folder):
    """Messages come as load and stops say, from each change on; their times count from when they came."""
    open_loop = section("flow", "f", src=1, dst=4, arrival="periodic", load_bps="25G", message_bytes="64KB")
    other = section("flow", "other", src=2, dst=4, message_bytes="1MB", depth=4, stop_ns="5ms")
    fabric = {"duration_ns": "20ms"}
    for text, expected, at in (("flow f.load_bps=500M", 7 * 48.8 + 13 * 0.98, "7ms"), ("dctcp.dctcp_min_rate_bps=11M", 20 * 48.8, "5100us"),
                               ("flow f.stopped=on", 7 * 48.8, "7ms"), ("nic.qp_burst_bytes=0", 20 * 48.8, "7ms")):
        f = results(program, scenario(folder, fabric, open_loop + event("e", at, text)))["flows"][0]
        expect(abs(f["messages_completed"] / expected - 1) < 0.02, f"{text}: {f['messages_completed']} messages of {expected}")
        expect(f["completion_max_ns"] < 40_000, f"{text}: {f['completion_max_ns']} ns on an idle path")
        # What waited behind another flow's messages is sent, and times are short again.
        f = results(program, scenario(folder, fabric, open_loop + other + event("e", "5100us", text)))["flows"][0]
        expect(f["completion_max_ns"] < 20_000_000, f"{text}: {f['completion_max_ns']} ns")
    kept = results(program, scenario(folder, {"duration_ns": "40ms"}, open_loop + other + event("e", "5100us", "nic.retry_cnt=6")))
    plain = results(program, scenario(folder, {"duration_ns": "40ms"}, open_loop + other))
    expect(kept["flows"][0]["messages_completed"] == plain["flows"][0]["messages_completed"] and
           kept["flows"][0]["completion_p50_ns"] == plain["flows"][0]["completion_p50_ns"], "a key of no meaning to it changed an open loop")
    late = open_loop.replace("25G", "1G") + "stopped = on\n" + event("go", "15ms", "flow f.stopped=off")
    f = results(program, scenario(folder, fabric, late))["flows"][0]
    expect(6 <= f["messages_completed"] <= 11, f"{f['messages_completed']} messages in 4 to 5 ms of 1 Gb/s")


def told(program, folder):
    """--explain, the trace and results.json name the change."""
    path = scenario(folder, {}, INCAST + event("less", "1ms", "rp.rp_max_rate=2G, rp.R_AI=10M", for_ns="500us"))
    done = run(program, "--explain", "f h1", "--all", path)
    lines = done.stdout.splitlines()
    texts = [line.split("ms  ", 1)[1] for line in lines if "set " in line or "set:" in line]
    expect(texts == ["set rp.rp_max_rate=2G, rp.R_AI=10M (event less)", "no longer set: rp.rp_max_rate=2G, rp.R_AI=10M (event less)"], f"{texts}")
    at = next(i for i, line in enumerate(lines) if "ms  set " in line)
    expect(lines[at].split()[0] == "1.0000" == lines[at + 1].split()[0] and "reload: other parameters" in lines[at + 1], f"{lines[at:at + 2]}")
    story = run(program, "--explain", "f h1", path).stdout
    expect(story.count("(event less)") == 2, "not in the story")
    run(program, "--quiet", "--trace", "f", "--out", folder / "out", path)
    trace = [row.split(",") for row in (folder / "out" / "trace.csv").read_text().splitlines()]
    reloads = [int(row[0]) for row in trace[1:] if "reload" in row[-1]]
    expect(1_000_000 in reloads, f"{reloads}")


def refused(program, folder):
    """What cannot be is refused before the run, in one line that names the event and the key."""
    for text, words in (("none", ("[event x] set", "SECTION.KEY=VALUE")),
                        ("wred.Kmax", ("[event x] set: wred.Kmax", "SECTION.KEY=VALUE")),
                        ("wred.Kmax=1XB", ("[wred] Kmax = 1XB",)),
                        ("wred.Kmaxx=1KB", ("[wred] Kmaxx", "such as Kmax")),
                        ("wredd.Kmax=1KB", ("[wredd]", "such as [wred]")),
                        ("wred.Kmin=500KB", ("[wred] green_min_threshold_bytes", "500KB", "above")),
                        ("switch.buffer_bytes=1MB", ("[switch] buffer_bytes = 1MB", "cannot change", "12MB")),
                        ("fabric.hosts=9", ("[fabric] hosts = 9", "cannot change")),
                        ("nic.cc=dctcp", ("[nic] cc = dctcp", "cannot change", "dcqcn")),
                        # ack_every follows from it, and cannot change either.
                        ("flow f.cc=swift", ("[flow f] cc = swift", "cannot change", "default")),
                        ("flow f.src=1", ("[flow f] src = 1", "cannot change")),
                        ("flow g.stopped=off", ("[flow g]", "a flow of the file")),
                        ("switch s2.Kmax=1MB", ("[switch s2]", "a switch of this topology")),
                        ("event x.at_ns=1ms", ("[event x] at_ns = 1ms", "cannot change")),
                        ("link a.ends=h1 s1", ("[link a]", "cannot come"))):
        done = run(program, scenario(folder, {}, INCAST + event("x", "1us", text)))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and all(w in done.stderr for w in (*words, "[event x] set")) and re.match(r"quench-lab: error: \S*/set\.ini:(\d+:)? \[event x\] set", done.stderr),
               f"{text!r}: {done.returncode}, {done.stderr}")
    for keys, words in (({"action": "set", "set": "wred.Kmax=1MB", "node": "s1"}, ("node = s1", "switch NAME.KEY=VALUE")),
                        ({"action": "dump", "set": "wred.Kmax=1MB"}, ("set = wred.Kmax=1MB", "none")),
                        ({"action": "set"}, ("set", "SECTION.KEY=VALUE"))):
        done = run(program, scenario(folder, {}, INCAST + section("event", "x", at_ns="1us", **keys)))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and all(w in done.stderr for w in (*words, "[event x]")), f"{keys}: {done.stderr}")
    # What one event makes wrong of another one's.
    rest = event("a", "1us", "wred.Kmax=900KB", for_ns="1ms") + event("b", "10us", "wred.Kmin=800KB")
    done = run(program, scenario(folder, {}, INCAST + rest))
    expect(done.returncode == 2 and done.stderr.count("\n") == 1 and "[event b] set: [wred]" in done.stderr, f"{done.stderr}")


def window(program, folder):
    """Rules are about what is set in the end: a window of --set in the run of --duration, and the file's in its share."""
    path = scenario(folder, {"measure_from_ns": "1ms"}, INCAST)
    for options, words in ((("--duration", "4ms"), "measure_from_ns = 2ms"),
                           (("--duration", "8ms", "--set", "fabric.measure_from_ns=4ms"), "measure_from_ns = 4ms"),
                           (("--set", "fabric.duration_ns=8ms", "--set", "fabric.measure_from_ns=4ms"), "measure_from_ns = 4ms")):
        done = run(program, "--check-config", *options, path)
        expect(done.returncode == 0 and words in done.stdout, f"{options}: {done.stderr or done.stdout}")
    done = run(program, "--check-config", "--duration", "8ms", "--set", "fabric.measure_from_ns=8ms", path)
    expect(done.returncode == 2 and "measure_from_ns = 8ms: expected a time before duration_ns" in done.stderr, f"{done.stderr}")


if __name__ == "__main__":
    in_folder(same, ends, one_switch, queues, pfc, flows, open_loops, told, refused, warned, maps, window)
