#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flows that wait for others, rounds of a barrier, messages of traces that wait for earlier ones: when they begin, beside closed forms; what
is refused; what a stop of a flow does to those after it.

    test_after.py QUENCH_LAB CONFIG_DIR CASE
"""
import csv

from scenarios import expect, in_folder, results, run, section, write_scenario

DELAY_NS = 5000  # signal_delay_ns


def scenario(folder, rest, name="after", **fabric):
    keys = {"hosts": 4, "link_rate_bps": "100G", "link_delay_ns": 500, "duration_ns": "2ms", **fabric}
    return write_scenario(folder / f"{name}.ini", keys, "[nic]\ncc = none\n" + rest)


def flow(name, **keys):
    return section("flow", name, **{"dst": 4, "message_bytes": "100KB", "messages": 3, "depth": 1, **keys})


def messages(program, path, *options):
    """Of each flow by name: the starts and ends of all messages, in the order of their starts."""
    out = path.parent / "out"
    done = run(program, "--quiet", "--out", out, path, *options)
    expect(done.returncode == 0, done.stderr)
    found = {}
    with (out / "messages.csv").open(encoding="utf-8") as f:
        for row in csv.DictReader(f):
            found.setdefault(row["flow"], []).append((int(row["start_ns"]), int(row["end_ns"])))
    return {name: sorted(spans) for name, spans in found.items()}


def spans(program, path, *options):
    """By name: the start of the first message and the end of the last one."""
    return {name: (spans[0][0], max(end for _, end in spans)) for name, spans in messages(program, path, *options).items()}


def same_digest(program, path):
    runs = [results(program, "--threads", threads, path) for threads in (1, 2, 8)]
    expect(len({r["digest"] for r in runs}) == 1, f"the digest follows the threads: {[r['digest'] for r in runs]}")
    return runs[0]


def starts(program, folder):
    """A flow begins a delay after the last of those that it names, plus its start_ns: to the nanosecond, in a chain, with every verb and
    arrival, at several QPs; one digest for 1, 2 and 8 threads."""
    chain = (flow("a", src="1-2") + flow("b", src=3, after="a", start_ns="10us", qp_count=2) +
             flow("c", src="1-3", dst="none", pattern="ring", after="b, a", verb="read") + flow("d", src=1, after="c", verb="send", start_ns=1))
    for delay in (1000, DELAY_NS, 77_777):
        path = scenario(folder, chain, signal_delay_ns=delay)
        got = spans(program, path)
        a, c = max(got["a h1"][1], got["a h2"][1]), max(got[f"c h{h}"][1] for h in (1, 2, 3))
        expect(got["b h3"][0] == a + delay + 10_000, f"b begins at {got['b h3'][0]}, a ends at {a}")
        expect({got[f"c h{h}"][0] for h in (1, 2, 3)} == {got["b h3"][1] + delay}, f"{got}")
        expect(got["d h1"][0] == c + delay + 1, f"{got}")
        got = same_digest(program, path)["flows"]
        expect(all(f["messages_completed"] == f["messages_wanted"] for f in got), f"{got}")
    for keys in ({"arrival": "incast"}, {"arrival": "on_off", "on_ns": "20us", "off_ns": "30us"}, {"arrival": "periodic", "load_bps": "10G"}, {"verb": "write_imm"}):
        got = spans(program, scenario(folder, flow("a", src=1) + flow("b", src=2, after="a", start_ns="7us", **keys)))
        expect(got["b h2"][0] == got["a h1"][1] + DELAY_NS + 7000, f"{keys}: {got}")
    # Datagrams end when they have left: three of 1,082 bytes and 24 of preamble, gap and FCS.
    got = spans(program, scenario(folder, flow("a", src=1, verb="ud_send", message_bytes=1000) + flow("b", src=2, after="a")))
    expect(DELAY_NS < got["b h2"][0] < DELAY_NS + 400, f"{got}")
    # The phases of on_off count from there, too: the third message begins with the second on_ns.
    got = spans(program, scenario(folder, flow("a", src=1) + flow("b", src=2, after="a", arrival="on_off", on_ns="15us", off_ns="85us")))
    expect(100_000 < got["b h2"][1] - got["b h2"][0] < 115_000, f"{got}")


def open_loops(program, folder):
    """Named: all messages of a flow with a QP per message. Waiting: random arrivals come a delay later, in the same gaps."""
    loop = {"arrival": "poisson", "load_bps": "20G", "messages": 20, "message_bytes": "20KB"}
    got = spans(program, scenario(folder, flow("a", src="1-2", **loop) + flow("b", src=3, after="a")))
    expect(got["b h3"][0] == max(got["a h1"][1], got["a h2"][1]) + DELAY_NS, f"{got}")
    loop["qp_per_message"] = "off"
    alone = spans(program, scenario(folder, flow("b", src=3, **loop)))["b h3"]
    got = spans(program, scenario(folder, flow("b", src=3, after="a", **loop) + flow("a", src=1)))
    expect(got["b h3"][0] - got["a h1"][1] - DELAY_NS == alone[0], f"{got}, alone {alone}")


def traces(program, folder):
    """Each message of a trace begins at its own time after the signal, in small traces and in large ones; a trace may be named, too."""
    for n in (3, 5000):
        (folder / "t.csv").write_text("".join(f"{1 + i % 3},4,1000,{1000 * i}\n" for i in range(n)), encoding="utf-8")
        trace = section("flow", "t", pattern="trace", trace="t.csv", after="a")
        got = spans(program, scenario(folder, flow("a", src=1) + trace + flow("b", src=1, after="t"), duration_ns="20ms"))
        of_trace = [span for name, span in got.items() if name.startswith("t ")]
        expect(min(span[0] for span in of_trace) == got["a h1"][1] + DELAY_NS, f"{n} messages: {got['a h1']}")
        expect(max(span[1] for span in of_trace) + DELAY_NS == got["b h1"][0] > (n - 1) * 1000, f"{n} messages: {got['b h1']}")


def stopped(program, folder):
    """A stop of a flow delays those after it, and one of a flow that waits does not end its waiting."""
    path = scenario(folder, flow("a", src=1, messages=50) + flow("b", src=2, after="a") + section("event", "e", at_ns="100us", for_ns="700us", action="set", set="flow a.stopped=on"))
    got = spans(program, path)
    expect(got["a h1"][1] > 800_000 and got["b h2"][0] == got["a h1"][1] + DELAY_NS, f"{got}")
    same_digest(program, path)
    on = section("event", "e", at_ns="500us", action="set", set="flow b.stopped=off")
    for messages, want in ((3, 500_000), (50, None)):
        got = spans(program, scenario(folder, flow("a", src=1, messages=messages) + flow("b", src=2, after="a", stopped="on") + on))
        # A QP that is stopped at its start looks once in a millisecond whether it goes on.
        least = want or got["a h1"][1] + DELAY_NS
        expect(least <= got["b h2"][0] < least + 1_000_000, f"{messages} messages: {got}")
    # A change of a host's parameters is no signal.
    cap = section("event", "e", at_ns="50us", action="set", set="flow b.rate_cap_bps=10G")
    got = spans(program, scenario(folder, flow("a", src=1, messages=20) + flow("b", src=2, after="a") + cap))
    expect(got["b h2"][0] == got["a h1"][1] + DELAY_NS and got["b h2"][1] - got["b h2"][0] > 240_000, f"{got}")


def check_rounds(got, rounds, delay, what):
    """Each round begins at one time, a delay after the last end of the one before. @return the starts"""
    begins, last = [], 0
    for k in range(rounds):
        of_round = [span for spans in got.values() for span in spans[k * len(spans) // rounds:(k + 1) * len(spans) // rounds]]
        expect(len({begin for begin, _ in of_round}) == 1, f"{what}, round {k}: {of_round}")
        expect(k == 0 or of_round[0][0] == last + delay, f"{what}, round {k} begins at {of_round[0][0]}, the one before ends at {last}")
        begins.append(of_round[0][0])
        last = max(end for _, end in of_round)
    return begins


def rounds(program, folder):
    """All begin each round together. The time of a run of rounds is the sum of the longest message of each, and of the signals."""
    keys = {"depth": 2, "messages": 6, "barrier": "step"}
    big, small = flow("big", src=1, message_bytes="300KB", **keys), flow("small", src=2, **{**keys, "dst": 3, "message_bytes": "20KB"})
    alone = {}
    for name, text in (("big h1", big), ("small h2", small)):
        alone[name] = messages(program, scenario(folder, text.replace("barrier = step", "arrival = incast"), duration_ns="5ms"))[name]
    for delay in (1000, DELAY_NS, 77_777):
        path = scenario(folder, big + small, signal_delay_ns=delay)
        got = messages(program, path)
        begins = check_rounds(got, 6, delay, f"delay {delay}")
        longest = [end - begin for begin, end in alone["big h1"]]
        expect(len(set(longest)) == 1, f"an idle link takes one time for each message: {longest}")
        expect(got["big h1"][-1][1] == begins[0] + 6 * longest[0] + 5 * delay, f"{got['big h1'][-1][1]}: 6 rounds of {longest[0]} ns")
        r = same_digest(program, path)
        expect(all(f["messages_completed"] == 6 for f in r["flows"]), f"{r['flows']}")
    # Several hosts and QPs of one flow, which an incast does not join, whatever the verb; random sizes.
    for more in ({}, {"verb": "read"}, {"verb": "send", "arrival": "incast"}, {"message_size": "uniform", "message_min_bytes": 1}):
        ring = flow("r", **{**keys, "src": "1-4", "dst": "none", "pattern": "ring", "qp_count": 3, "depth": 1, **more})
        path = scenario(folder, ring + small, duration_ns="5ms")
        check_rounds(messages(program, path), 6, DELAY_NS, f"{more}")
        same_digest(program, path)
    # Two barriers do not wait for each other, nor does a flow without one.
    got = messages(program, scenario(folder, big + small.replace("step", "other") + flow("free", src=3, dst=2, messages=6)))
    expect(got["small h2"][-1][1] < got["big h1"][2][0] and got["free h3"][1][0] < got["big h1"][1][0], f"{got}")


def uneven(program, folder):
    """One that has sent all its messages, or has given up, is not waited for; one that begins after another flow is, and so is a stopped one."""
    long, short = flow("long", src=1, messages=6, barrier="x"), flow("short", src=2, dst=3, messages=2, barrier="x", message_bytes="200KB")
    got = messages(program, scenario(folder, long + short))
    check_rounds({name: spans[:2] for name, spans in got.items()}, 2, DELAY_NS, "both")
    check_rounds({"long h1": got["long h1"][2:]}, 4, DELAY_NS, "the longer one")
    late = flow("a", src=3, messages=1, message_bytes="1MB") + flow("late", src=2, dst=3, after="a", start_ns="3us", messages=3, barrier="x")
    got = messages(program, scenario(folder, long + late))
    expect(got["late h2"][0][0] == got["a h3"][0][1] + DELAY_NS + 3000, f"{got}")
    expect(got["long h1"][1][0] == got["late h2"][0][1] + DELAY_NS, f"the second round waits for the first one of all: {got}")
    same_digest(program, scenario(folder, long + late))
    # After all rounds.
    got = messages(program, scenario(folder, long + short + flow("then", src=3, after="long, short")))
    expect(got["then h3"][0][0] == got["long h1"][-1][1] + DELAY_NS, f"{got}")
    stop = section("event", "e", at_ns="20us", for_ns="500us", action="set", set="flow short.stopped=on")
    got = messages(program, scenario(folder, long + short + stop))
    expect(got["long h1"][1][0] < 100_000 < 520_000 <= got["short h2"][1][0] < got["long h1"][2][0], f"{got}")
    down = section("event", "e", at_ns="20us", action="link_down", node="h2")
    nic = "retry_cnt = 1\nlocal_ack_timeout = 3\n"
    got = messages(program, scenario(folder, nic + long + short + down, duration_ns="30ms"))
    expect(len([end for _, end in got["long h1"] if end < 30_000_000]) == 6, f"{got}")


def sampled(program, folder):
    """A signal ends an idle time, too: samples go on after it."""
    path = scenario(folder, flow("a", src=1) + flow("b", src=2, after="a"), signal_delay_ns="200us", sample_ns="10us", duration_ns="600us")
    begin, end = spans(program, path)["b h2"]
    with (folder / "out/flows.csv").open(encoding="utf-8") as f:
        busy = [int(row["time_ns"]) for row in csv.DictReader(f) if row["flow"] == "b h2" and int(row["wire_rate_bps"]) > 0]
    expect(busy and busy[0] < begin + 10_000 and busy[-1] > end - 10_000, f"b sends from {begin} to {end} ns, samples say {busy}")


def trace_chains(program, folder):
    """A message of a trace begins a delay after the end of the one that it names, plus its time: to the nanosecond, in a tree, in small and
    large traces, with several QPs a message; one digest for 1, 2 and 8 threads."""
    tree = [(1, 4, 50_000, 1000, 0), (4, 2, 30_000, 0, 1), (2, 3, 10_000, 700, 2), (2, 1, 10_000, 700, 2), (3, 1, 80_000, 5, 0), (1, 2, 0, 1, 4)]
    tail = "src,dst,bytes,start_ns,after\n"
    # As a table is exported, the field of a message that does not wait is empty.
    for qps, none, end in ((1, 0, "\n"), (3, "", "\r\n")):
        rows = "".join(",".join(map(str, (*row, after or none))) + end for *row, after in tree)
        (folder / "t.csv").write_bytes((tail + rows).encode())
        for delay in (1000, DELAY_NS):
            path = scenario(folder, section("flow", "t", pattern="trace", trace="t.csv", qp_count=qps), signal_delay_ns=delay)
            got = spans(program, path)
            for i, (*_, start, after) in enumerate(tree, 1):
                want = got[f"t {after}"][1] + delay + start if after else start
                expect(got[f"t {i}"][0] == want, f"{qps} QPs: message {i} begins at {got[f't {i}'][0]}, not at {want}")
            same_digest(program, path)
    # A flow after the trace, and a trace after a flow.
    got = spans(program, scenario(folder, flow("a", src=1) + section("flow", "t", pattern="trace", trace="t.csv", after="a") + flow("b", src=1, after="t")))
    a, last = got["a h1"][1] + DELAY_NS, max(end for name, (_, end) in got.items() if name.startswith("t "))
    expect((got["t 1"][0], got["t 2"][0]) == (a + 1000, got["t 1"][1] + DELAY_NS) and got["b h1"][0] == last + DELAY_NS, f"{got}")
    # 5,000 messages, one after the other, and one of another pair after the last. Of a host with more than 4096 QPs, a slot has 2 ns.
    rows = ["1,4,1000,0\n", *(f"{1 + i % 3},4,1000,{i},{i}\n" for i in range(1, 5000)), "2,3,1000,9,5000\n"]
    (folder / "t.csv").write_text("".join(rows), encoding="utf-8")
    path = scenario(folder, section("flow", "t", pattern="trace", trace="t.csv"), duration_ns="100ms", signal_delay_ns="1us")
    got = messages(program, path)
    chain = sorted(span for name, spans in got.items() if name.endswith("-h4") for span in spans)
    expect(len(chain) == 5000 and all(chain[i][0] == chain[i - 1][1] + 1000 + i for i in range(1, 5000)), f"{chain[:5]}")
    expect(got["t h2-h3"][0][0] == chain[-1][1] + 1000 + 9, f"{got['t h2-h3']}")
    same_digest(program, path)
    # One that never ends: the run says so.
    (folder / "t.csv").write_text("1 4 1000000 0\n2 3 1000 0 1\n2 3 1000 0 2\n3 2 10 0\n", encoding="utf-8")
    done = run(program, scenario(folder, section("flow", "t", pattern="trace", trace="t.csv"), duration_ns="20us"))
    expect(done.returncode == 0 and "warning                    2 messages of [flow t] have not begun: they wait for earlier ones that have not ended" in done.stdout, done.stdout)


def lost(program, folder):
    """A flow whose QP gives up never ends: those after it do not begin, and the run says so."""
    down = section("event", "e", at_ns="20us", action="link_down", node="h1")
    done = run(program, scenario(folder, "retry_cnt = 1\nlocal_ack_timeout = 3\n" + flow("a", src=1) + flow("b", src=2, after="a, c") + flow("c", src=3, messages=1) + down))
    expect(done.returncode == 0 and "warning                    [flow b] has not begun: it waits for [flow a], which has not ended" in done.stdout, done.stdout + done.stderr)


def refused(program, folder):
    """Unknown names, flows that never end, circles, and keys that cannot follow: by file, line and key."""
    for rest, where, text in (
            (flow("a", src=1) + flow("b", src=2, after="a, x"), "b", "there is no [flow x]"),
            (flow("a", src=1) + flow("b", src=2, after=" , "), "b", "expected none, or names of sections [flow NAME]"),
            (flow("b", src=2, after="a") + flow("a", src=1, messages=0), "b", "expected flows that end: [flow a] has no messages, bytes or stop_ns"),
            (flow("a", src=1, after="a"), "a", "it waits for [flow a], which waits for it"),
            (flow("z", src=1, after="a") + flow("a", src=1, after="c") + flow("b", src=1, after="a") + flow("c", src=2, after="b, d") + flow("d", src=1), None, "which waits for it in the end"),
            (flow("a", src=1, barrier="x") + flow("b", src=2, barrier="x", after="a"), "b", "it waits for [flow a], whose barrier waits for it"),
            (flow("a", src=1, barrier="x", messages=0) + flow("b", src=2, after="a"), "b", "expected flows that end"),
            (section("job", "j", bytes=1000) + flow("b", src=2, after="j"), "b", "there is no [flow j]")):
        done = run(program, scenario(folder, rest))
        line = [i for i, words in enumerate((folder / "after.ini").read_text(encoding="utf-8").splitlines(), 1) if words.startswith("after = ")]
        expect(done.returncode == 2 and text in done.stderr and any(f"after.ini:{n}: [flow" in done.stderr for n in line), done.stderr)
        expect(where is None or f"[flow {where}] after" in done.stderr, done.stderr)
    done = run(program, scenario(folder, flow("a", src=1) + flow("b", src=2, after="a", arrival="poisson", load_bps="1G", qp_per_message="on")))
    expect(done.returncode == 2 and "qp_per_message = on: expected auto or off with after" in done.stderr, done.stderr)
    done = run(program, scenario(folder, flow("a", src=1) + flow("b", src=2, after="a") + section("event", "e", at_ns=1, action="set", set="flow b.after=none")))
    expect(done.returncode == 2 and "after" in done.stderr, done.stderr)
    (folder / "t.csv").write_text("1 4 1000 0\n2 4 1000 0 1\n", encoding="utf-8")
    for rest, text in ((section("flow", "b", src=2, dst=4, after="a"), "[flow b] after = a: expected none: the fluid model"),
                       (section("flow", "b", src=2, dst=4, barrier="x"), "[flow b] barrier = x: expected none: the fluid model"),
                       (section("flow", "b", pattern="trace", trace="t.csv"), "[flow b] trace = t.csv: expected a file whose messages do not wait")):
        path = write_scenario(folder / "fluid.ini", {"hosts": 4}, section("flow", "a", src=1, dst=4, stop_ns="1ms") + rest)
        done = run(program, "--fluid", path)
        expect(done.returncode == 2 and text in done.stderr, done.stderr)
    for keys, text in (({"arrival": "poisson", "load_bps": "1G"}, "arrival = poisson: expected closed or incast with barrier"),
                       ({"arrival": "on_off", "on_ns": "1us", "off_ns": "1us"}, "arrival = on_off: expected closed or incast"),
                       ({"barrier": "x" * 33}, "barrier = ")):
        done = run(program, scenario(folder, flow("b", src=2, **{"barrier": "x", **keys})))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and text in done.stderr, done.stderr)
    done = run(program, scenario(folder, section("flow", "b", pattern="trace", trace="t.csv", barrier="x")))
    expect(done.returncode == 2 and "[flow b] barrier = x: expected none with pattern = trace" in done.stderr, done.stderr)
    for after in ("2", "3", "1000001", "-1", "a", "1,"):
        (folder / "t.csv").write_text(f"# three lines\n1,4,1000,0\n2,4,1000,0,{after}\n3,4,1,1\n", encoding="utf-8")
        done = run(program, scenario(folder, section("flow", "t", pattern="trace", trace="t.csv")))
        want = "a sixth field = : expected" if after == "1," else f"after = {after}: expected the number of an earlier message, from 1 on, or 0 ([flow t] trace)"
        expect(done.returncode == 2 and f"t.csv:3: {want}" in done.stderr, done.stderr)


in_folder(starts, open_loops, traces, stopped, rounds, uneven, sampled, trace_chains, lost, refused)
