#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Who paused whom: the roots of pauses, the ports below them, and the flows that waited for others' data.

    test_pauses.py QUENCH_LAB CONFIG_DIR CASE
"""
import pathlib
import sys

from scenarios import expect, in_folder, results, run, section, write_scenario

CONFIG = pathlib.Path(sys.argv[2])


def place(root):
    return (root["kind"], root["node"], root["port"], root["queue"])


def holds(branches):
    """{(who, whom): the flows that wait for others' data}"""
    return {(b["node"], b["holds"]): set(b["victims"]) for b in branches}


def expect_sums(r):
    """Each pause is in one tree: the times of a port add up to its counter."""
    sums = {}
    for root in r["pause_tree"]:
        expect(root["duration_ns"] == sum(b["duration_ns"] for b in root["branches"]), f"{place(root)}")
        for i, b in enumerate(root["branches"]):
            key = (b["node"], b["port"], b["prio"])
            time_ns, n = sums.get(key, (0, 0))
            sums[key] = (time_ns + b["duration_ns"], n + b["pauses"])
            expect(b["parent"] is None or b["parent"] < i, f"{b}: its parent comes before it")
            if b["parent"] is not None:
                parent = root["branches"][b["parent"]]
                expect((parent["holds"], parent["prio"]) == (b["node"], b["prio"]), f"{b} below {parent}")
    counted = {(c["node"], c["port"], c["prio"]): (c["tx_pause_duration_us"], c["tx_pause_transition"]) for c in r["pfc_counters"] if c["tx_pause"]}
    expect(set(sums) == set(counted), f"{set(sums) ^ set(counted)}")
    for key, (us, ended) in counted.items():
        expect(sums[key][0] // 1000 == us and ended <= sums[key][1] <= ended + 1, f"{key}: {sums[key]}, counted {us} us, {ended}")


def spreading(program, folder):
    """Six hosts fill the queue to h6; h9 sends little to another host over the same trunk, and is the only victim."""
    fabric = {"topology": "graph", "hosts": 9, "link_rate_bps": "40G", "link_delay_ns": 500, "duration_ns": "3ms"}
    rest = ("[switch one]\nhosts = 7\n[switch two]\nhosts = 2\n[link up]\nends = one two\n[nic]\ncc = none\n" +
            section("flow", "fill", src="1-5", dst=6) + section("flow", "f", src=8, dst=6) + section("flow", "x", src=9, dst=7, rate_cap_bps="8G"))
    path = write_scenario(folder / "s.ini", fabric, rest)
    r, again = (results(program, path, "--threads", threads) for threads in (1, 3))
    expect(r["pause_tree"] == again["pause_tree"] and r["hot_queues"] == again["hot_queues"], "the same trees with any number of threads")
    expect([place(root) for root in r["pause_tree"]] == [("queue", "one", 5, 3)], f"{[place(root) for root in r['pause_tree']]}")
    expect_sums(r)
    root = r["pause_tree"][0]
    found = holds(root["branches"])
    expect(found[("one", "two")] == {"x h9"} and found[("one", "h1")] == set(), f"{found}")
    expect({f["flow"] for f in root["flows"]} == {"f h8", *(f"fill h{i}" for i in range(1, 6))}, f"{root['flows']}")
    expect(abs(sum(f["share"] for f in root["flows"]) - 1) < 1e-4, f"{root['flows']}")
    expect((r["hot_queues"][0]["node"], r["hot_queues"][0]["port"]) == ("one", 5) and r["deadlock"] == [], f"{r['hot_queues'][:2]}")
    text = run(program, "--explain", "pauses", path).stdout
    expect(text.startswith("root: one port 5 queue 3, to h6: priority 3, ") and "one port 7 pauses two port 2: " in text and "victims x h9" in text, text)
    text = run(program, "--explain", "hot", path).stdout
    expect(text.startswith("one port 5 queue 3: mean ") and "filled by f h8 " in text.splitlines()[0], text)
    done = run(program, "--explain", "hot", "--json", "-", path)
    expect(done.returncode == 2 and "needs standard output" in done.stderr, done.stderr)


def seeds(program, folder):
    """The scenes of the vendors' guides: congestion that spreads over a trunk, and a cascade over three tiers."""
    r = results(program, "--duration", "5ms", "--set", "fabric.measure_from_ns=0", CONFIG / "experiments/congestion-spreading.ini")
    expect_sums(r)
    expect(place(r["pause_tree"][0]) == ("queue", "one", 5, 3), f"{place(r['pause_tree'][0])}")
    expect(holds(r["pause_tree"][0]["branches"])[("one", "two")] == {"X h9"}, f"{r['pause_tree'][0]}")
    r = results(program, "--duration", "10ms", CONFIG / "experiments/dcqcn-cascade.ini")
    expect_sums(r)
    expect([place(root) for root in r["pause_tree"]] == [("queue", "leaf5", 0, 3)], f"{[place(root) for root in r['pause_tree']]}")
    branches = r["pause_tree"][0]["branches"]
    found = holds(branches)
    expect(found[("leaf5", "spine1")] == set() and found[("spine1", "leaf1")] == found[("leaf1", "h5")] == {"other h5"}, f"{found}")
    depth = {("leaf5", "spine1"): 0, ("spine1", "leaf1"): 1, ("spine1", "leaf3"): 1, ("leaf1", "h1"): 2, ("leaf3", "h6"): 2}
    for i, b in enumerate(branches):
        steps, at = 0, b
        while at["parent"] is not None:
            steps, at = steps + 1, branches[at["parent"]]
        expect(depth.get((b["node"], b["holds"]), steps) == steps, f"branch {i}: {b}")


def slow(program, folder):
    """A host that receives slowly is the root of the pauses that it causes."""
    r = results(program, "--duration", "10ms", CONFIG / "slow-receiver.ini")
    expect_sums(r)
    root = r["pause_tree"][0]
    expect(place(root) == ("host", "h5", None, None), f"{place(root)}")
    found = holds(root["branches"])
    expect(found[("s1", "h1")] == {"victim h1"} and found[("h5", "s1")] == set(), f"{found}")


def deadlock(program, folder):
    """Four switches that hold each other are named in their order, and no others are."""
    r = results(program, CONFIG / "experiments/pfc-deadlock.ini", "--set", "event power.at_ns=49ms", "--duration", "25ms")
    expect_sums(r)
    circle = [(d["node"], d["holds"]) for d in r["deadlock"]]
    expect(sorted(circle) == [("A", "D"), ("B", "A"), ("C", "B"), ("D", "C")], f"{circle}")
    expect(all(b[0] == a[1] or a[0] == b[1] for a, b in zip(circle, circle[1:] + circle[:1])), f"{circle}")
    expect(run(program, "--explain", "pauses", "--duration", "25ms", "--set", "event power.at_ns=49ms",
               CONFIG / "experiments/pfc-deadlock.ini").stdout.startswith("deadlock: "), "said first")
    r = results(program, "--duration", "2ms", CONFIG / "incast-4to1-no-pfc.ini")
    expect(r["pause_tree"] == r["deadlock"] == [], "no pauses")


if __name__ == "__main__":
    in_folder(spreading, seeds, slow, deadlock)
