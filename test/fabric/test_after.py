#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flows that wait for others: when they begin, beside closed forms; what is refused; what a stop of a flow does to those after it.

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


def spans(program, path, *options):
    """By name: the start of the first message and the end of the last one."""
    out = path.parent / "out"
    done = run(program, "--quiet", "--out", out, path, *options)
    expect(done.returncode == 0, done.stderr)
    found = {}
    with (out / "messages.csv").open(encoding="utf-8") as f:
        for row in csv.DictReader(f):
            begin, end = found.get(row["flow"], (1 << 62, 0))
            found[row["flow"]] = min(begin, int(row["start_ns"])), max(end, int(row["end_ns"]))
    return found


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
        runs = [results(program, "--threads", threads, path) for threads in (1, 2, 8)]
        expect(len({r["digest"] for r in runs}) == 1, f"{[r['digest'] for r in runs]}")
        expect(all(f["messages_completed"] == f["messages_wanted"] for r in runs for f in r["flows"]), f"{runs[0]['flows']}")
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
    expect(len({results(program, "--threads", threads, path)["digest"] for threads in (1, 2, 8)}) == 1, "the digest follows the threads")
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
            (section("job", "j", bytes=1000) + flow("b", src=2, after="j"), "b", "there is no [flow j]")):
        done = run(program, scenario(folder, rest))
        line = [i for i, words in enumerate((folder / "after.ini").read_text(encoding="utf-8").splitlines(), 1) if words.startswith("after = ")]
        expect(done.returncode == 2 and text in done.stderr and any(f"after.ini:{n}: [flow" in done.stderr for n in line), done.stderr)
        expect(where is None or f"[flow {where}] after" in done.stderr, done.stderr)
    done = run(program, scenario(folder, flow("a", src=1) + flow("b", src=2, after="a", arrival="poisson", load_bps="1G", qp_per_message="on")))
    expect(done.returncode == 2 and "qp_per_message = on: expected auto or off with after" in done.stderr, done.stderr)
    done = run(program, scenario(folder, flow("a", src=1) + flow("b", src=2, after="a") + section("event", "e", at_ns=1, action="set", set="flow b.after=none")))
    expect(done.returncode == 2 and "after" in done.stderr, done.stderr)
    path = write_scenario(folder / "fluid.ini", {"hosts": 4}, section("flow", "a", src=1, dst=4, stop_ns="1ms") + section("flow", "b", src=2, dst=4, after="a"))
    done = run(program, "--fluid", path)
    expect(done.returncode == 2 and "[flow b] after = a: expected none: the fluid model" in done.stderr, done.stderr)


in_folder(starts, open_loops, traces, stopped, lost, refused)
