#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Who sends to whom: patterns of flows, chains of messages, traces, scenarios of the HPCC ns-3 family.

    test_patterns.py QUENCH_LAB CONFIG_DIR CASE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

failures = []
IMPORT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "import-hpcc"


def expect(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def scenario(folder, rest, name="pattern", **fabric):
    keys = {"hosts": 8, "duration_ns": "1ms", **fabric}
    path = folder / f"{name}.ini"
    path.write_text("[fabric]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items()) + rest, encoding="utf-8")
    return path


def lab(program, *options):
    return subprocess.run([program, "--no-progress", *map(str, options)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def results(program, path, *options):
    done = lab(program, "--quiet", "--json", "-", *options, path)
    expect(done.returncode == 0, f"{path.name}: {done.stderr}")
    return json.loads(done.stdout)


def flow(name, **keys):
    return f"[flow {name}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items())


def pairs(r):
    return [(int(f["src"][1:]), int(f["dst"][1:])) for f in r["flows"]]


def permutation(program, folder):
    """Everyone sends to one other and is sent to by one; the seeds choose."""
    path = scenario(folder, flow("p", pattern="permutation", message_bytes=1024, messages=1), hosts=16)
    r = results(program, path)
    p = pairs(r)
    expect([a for a, _ in p] == list(range(1, 17)) == sorted(b for _, b in p), f"{p}")
    expect(all(a != b for a, b in p), f"to itself: {p}")
    expect(all(f["messages_completed"] == 1 for f in r["flows"]), "messages are missing")
    expect(pairs(results(program, path)) == p, "the same seed, other pairs")
    expect(pairs(results(program, path, "--seed", 2)) != p, "the seed has no effect")
    path = scenario(folder, flow("p", pattern="permutation", src="1-15", seed=3, message_bytes=1024), hosts=16)
    expect(16 not in {h for pair in pairs(results(program, path)) for h in pair}, "16 is not in src")


def all_to_all(program, folder):
    """Each ordered pair once, under a name of its own."""
    r = results(program, scenario(folder, flow("a", pattern="all_to_all", src="1-6", message_bytes=2048, messages=1)))
    want = sorted((a, b) for a in range(1, 7) for b in range(1, 7) if a != b)
    expect(sorted(pairs(r)) == want, f"{pairs(r)}")
    expect(len({f["name"] for f in r["flows"]}) == 30 and r["flows"][0]["name"] == "a h1-h2", r["flows"][0]["name"])
    expect(all(f["messages_completed"] == 1 for f in r["flows"]), "messages are missing")


def all_reduce(program, folder):
    """A step begins when the one before has come in, to the nanosecond; a plain ring does not wait."""
    keys = {"message_bytes": 1024, "src": "1-4", "depth": 8}
    # 1122 bytes twice on a wire at 40 Gb/s and 2 us of cable; then the ACK of 86 bytes goes ahead of what is passed on.
    first, step = 2 * 225 + 2000, 2 * 225 + 2000 + 17
    arrivals = [first + step * k for k in range(6)]
    dumps = "".join(f"[event {at} {side}]\nat_ns = {at + side}\naction = dump\nnode = h2\n"
                    for at in arrivals for side in (-1, 0))
    r = results(program, scenario(folder, "[nic]\ncc = none\n" + flow("r", pattern="all_reduce", **keys) + dumps,
                                  hosts=4))
    expect(pairs(r) == [(1, 2), (2, 3), (3, 4), (4, 1)], f"{pairs(r)}")
    expect(all(f["messages_wanted"] == f["messages_completed"] == 6 for f in r["flows"]), "6 steps of 4 hosts")
    got = {d["at_ns"]: d["nodes"]["h2"]["counters"]["rx_write_requests"] for d in r["dumps"]}
    for k, at in enumerate(arrivals):
        expect((got[at - 1], got[at]) == (k, k + 1), f"step {k}: {got[at - 1]}, {got[at]} around {at} ns")
    r = results(program, scenario(folder, "[nic]\ncc = none\n" + flow("r", pattern="ring", messages=6, **keys) + dumps,
                                  hosts=4))
    got = {d["at_ns"]: d["nodes"]["h2"]["counters"]["rx_write_requests"] for d in r["dumps"]}
    expect(got[arrivals[1]] == 6, f"a plain ring has {got[arrivals[1]]} messages by then")
    # One slow link holds all: the chain goes at its pace.
    slow = "[link slow]\nends = h3 s1\nlink_rate_bps = 4G\n"
    keys["message_bytes"] = 102400
    times = []
    for link in ("", slow):
        r = results(program, scenario(folder, "[nic]\ncc = none\n" + link + flow("r", pattern="all_reduce", **keys),
                                      hosts=4, duration_ns="3ms"))
        expect(all(f["messages_completed"] == 6 for f in r["flows"]), f"{link!r}: messages are missing")
        times.append(max(f["completion_max_ns"] for f in r["flows"]))
    expect(times[1] > 5 * times[0], f"a step takes {times} ns without and with a slow link")


def trace(program, folder):
    """Messages of a file: their pairs, sizes and starts."""
    lines = ["src,dst,bytes,start_ns", "# a comment", "1,2,1024,1024", "h3 h4 204800 5000", "", "1 4 64 20000"]
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rest = "[nic]\ncc = none\n" + flow("t", pattern="trace", trace="t.csv")
    at = "".join(f"[event {t}]\nat_ns = {t}\naction = dump\nnode = h1\n" for t in (1023, 1024, 19999, 20000))
    r = results(program, scenario(folder, rest + at))
    expect(pairs(r) == [(1, 2), (3, 4), (1, 4)] and [f["name"] for f in r["flows"]] == ["t 1", "t 2", "t 3"], f"{pairs(r)}")
    expect(all(f["messages_completed"] == f["messages_wanted"] == 1 for f in r["flows"]), "messages are missing")
    sent = [d["nodes"]["h1"]["counters"]["tx_packets"] for d in r["dumps"]]
    expect(sent == [0, 1, 1, 2], f"h1 has sent {sent}")
    h3 = r["flows"][1]
    expect(h3["completions"] == 1 and 200 * 1106 * 8 // 40 < h3["completion_max_ns"] < 50_000 + 6000, f"{h3}")


def refused(program, folder):
    """What makes no sense is refused by its key."""
    (folder / "bad.csv").write_text("1 2 3\n", encoding="utf-8")
    (folder / "far.csv").write_text("1 9 3 0\n", encoding="utf-8")
    (folder / "none.csv").write_text("# nothing\n", encoding="utf-8")
    for keys, word in (({"src": "1"}, "dst"), ({"pattern": "ring", "dst": 2}, "dst"),
                       ({"pattern": "ring", "src": "1"}, "src"), ({"pattern": "permutation", "src": "3"}, "src"),
                       ({"pattern": "all_reduce", "messages": 5}, "messages"),
                       ({"pattern": "all_reduce", "verb": "read"}, "verb"),
                       ({"pattern": "trace"}, "trace"), ({"pattern": "trace", "trace": "gone.csv"}, "trace"),
                       ({"pattern": "trace", "trace": "bad.csv"}, "line 1"),
                       ({"pattern": "trace", "trace": "far.csv"}, "message 1"),
                       ({"pattern": "trace", "trace": "none.csv"}, "trace"),
                       ({"dst": 1, "src": "2", "trace": "bad.csv"}, "trace")):
        done = lab(program, scenario(folder, flow("x", **keys)))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and "[flow x]" in done.stderr and
               word in done.stderr, f"{keys}: {done.returncode}, {done.stderr}")


CASES = {f.__name__: f for f in (permutation, all_to_all, all_reduce, trace, refused)}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="quench-patterns-") as work:
        CASES[sys.argv[3]](sys.argv[1], pathlib.Path(work))
    sys.exit(1 if failures else 0)
