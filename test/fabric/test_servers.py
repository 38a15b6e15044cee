#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Servers with several NICs and ranks in quench-lab: their shapes, what passes inside them, and jobs beside their closed forms.

    test_servers.py QUENCH_LAB CONFIG_DIR CASE
"""
import csv
import json
import math
import random

from scenarios import SANITIZED, expect, fewer, in_folder, results, run, section, write_scenario

DELAY_NS, MTU = 500, 4096
INSIDE_BPS, INSIDE_NS = 1_600_000_000_000, 700


def scenario(folder, rest, hosts=16, nics=4, name="servers", cc="none", **fabric):
    keys = {"topology": "rail_optimized", "hosts": hosts, "nics_per_server": nics, "spines": 2, "link_rate_bps": "400G", "link_delay_ns": DELAY_NS,
            "server_rate_bps": "1600G", "server_delay_ns": INSIDE_NS, "duration_ns": "20ms", **fabric}
    return write_scenario(folder / f"{name}.ini", {k: v for k, v in keys.items() if v is not None}, f"[nic]\ncc = {cc}\n{rest}")


def job(name="j", **keys):
    return section("job", name, **{"mtu_bytes": MTU, **keys})


def jobs(program, path, *options):
    return results(program, path, *options)["jobs"]


def inside_ns(size, rate=INSIDE_BPS):
    return INSIDE_NS + size * 8e9 / rate


def way_ns(size, rate, links):
    """As in test_jobs.py: a WRITE with immediate over equal links and idle switches."""
    frames = math.ceil(size / MTU)
    first = (min(size, MTU) + 82 + 16 + 4 * (frames == 1)) * 8e9 / rate
    return (links - 1) * first + (frames * 82 + 20 + size) * 8e9 / rate + links * DELAY_NS


def near(got, want, text, most=0.01):
    print(text, got, want)
    expect(abs(got / want - 1) < most, f"{text}: {got} ns, expected {want:.0f}")


def inside(program, folder):
    """Inside a server no frame is sent: a message takes the latency and its bytes at the rate of the ports, also with several ranks on a NIC."""
    size = 8 * 65536
    for ranks, keys, nics in ((8, {}, 8), (8, {"ranks_per_server": 8}, 4), (8, {"ranks_per_server": 8, "rank_nics": "0,0,0,1,1,3,3,3"}, 4), (8, {"ranks_per_server": 8}, 1)):
        for rate in (INSIDE_BPS, 10 * INSIDE_BPS):
            fabric = {"topology": "star", "hosts": max(nics, 2), "nics": nics, "server_rate_bps": rate, "spines": None}
            where = {"ranks": f"1-{nics}"} | keys
            for collective, algorithm, steps in (("all_reduce", "ring", 14), ("all_reduce", "hierarchical", 14), ("all_to_all", "pairwise", 7), ("reduce_scatter", "ring", 7)):
                done = results(program, scenario(folder, job(collective=collective, algorithm=algorithm, bytes=size, iterations=3, **where), **fabric))
                got = done["jobs"][0]
                expect(got["iterations_ended"] == 3 and done["frames"] == 0 and not done["flows"], f"{collective}: {done['frames']} frames")
                near(got["jct_mean_ns"], steps * inside_ns(size / 8, rate), f"{collective} {algorithm} of {where} at {rate}", 0.005)
                expect(got["bound_ns"] <= got["jct_mean_ns"] and len(got["ranks"]) == ranks, f"bound {got['bound_ns']}")
    # All send to rank 0: its port takes one after another. The messages of rank 0 leave one after another.
    (folder / "in.goal").write_text("num_ranks 8\nrank 0 {\n" + "".join(f"recv 160000b from {i}\n" for i in range(1, 8)) + "}\n" + "".join(
        f"rank {i} {{\nsend 160000b to 0\n}}\n" for i in range(1, 8)), encoding="utf-8")
    (folder / "out.goal").write_text("num_ranks 8\nrank 0 {\n" + "".join(f"send 160000b to {i}\n" for i in range(1, 8)) + "}\n" + "".join(
        f"rank {i} {{\nrecv 160000b from 0\n}}\n" for i in range(1, 8)), encoding="utf-8")
    for name in ("in", "out"):
        got = jobs(program, scenario(folder, job(goal=f"{name}.goal"), topology="star", hosts=8, nics=8, spines=None))[0]
        near(got["jct_mean_ns"], INSIDE_NS + 7 * 160000 * 8e9 / INSIDE_BPS, name, 0.001)


SHAPES = (("rail_optimized", 2, {"groups": 1}), ("rail_optimized", 4, {"groups": 4}), ("rail_only", 2, {"spines": None}), ("star", 2, {"spines": None}))


def hierarchical(program, folder):
    """Reduce inside, ring across, gather inside: the sum of the steps within 1 %, on four shapes at three speeds; one digest for 1, 2 and 8 threads."""
    size = 16 * 65536
    for topology, links, keys in SHAPES:
        for speed in fewer((100, 400, 800), 1):
            path = scenario(folder, job(algorithm="hierarchical", bytes=size, iterations=2), topology=topology, link_rate_bps=f"{speed}G", **keys)
            got = jobs(program, path)[0]
            want = 2 * 3 * inside_ns(size / 4) + 2 * 3 * way_ns(size / 16, speed * 1e9, links)
            expect(got["iterations_ended"] == 2 and got["bound_ns"] <= got["jct_min_ns"], f"{got['iterations_ended']} {got['bound_ns']}")
            near(got["jct_mean_ns"], want, f"{topology} {keys} at {speed}G")
        runs = [results(program, "--threads", threads, path) for threads in fewer((1, 2, 8), 2)]
        expect(len({r["digest"] for r in runs}) == 1 and all(r["jobs"] == runs[0]["jobs"] for r in runs), f"{topology}: {[r['digest'] for r in runs]}")
    # 8 ranks share 4 NICs: the rings across share links, of two ranks each.
    path = scenario(folder, job(algorithm="hierarchical", bytes=2 * size, ranks_per_server=8), topology="rail_only", spines=None)
    got = results(program, path)
    want = 2 * 7 * inside_ns(size / 4) + 2 * 3 * (way_ns(size / 16, 4e11, 2) + (size / 16 + 17 * 82) * 8e9 / 4e11)
    near(got["jobs"][0]["jct_mean_ns"], want, "two ranks on a NIC", 0.03)
    names = [f["name"] for f in got["flows"]]
    expect(len(set(names)) == len(names) == 32 and "j 0-8" in names and "j 31-7" in names, f"{names}")
    for keys, words in (({"ranks": "1-7"}, "expected servers, each with as many ranks, for hierarchical"), ({"ranks": "1-8", "collective": "all_gather"}, "expected an algorithm of this collective")):
        done = run(program, scenario(folder, job(algorithm="hierarchical", **keys)))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{keys}: {done.stderr}")
    done = run(program, scenario(folder, job(algorithm="hierarchical"), topology="star", nics=1, spines=None))
    expect(done.returncode == 2 and "expected servers, each with as many ranks" in done.stderr, done.stderr)


def rings(program, folder):
    """A ring keeps neighbours in a server, and its channels leave the servers by different rails: with 4 of them all NICs carry as much."""
    path = scenario(folder, job(bytes="16MB", channels=4, chunk_bytes="64KB"), groups=1)
    got = results(program, path)
    sent = {}
    for f in got["flows"]:
        sent[f["src"]] = sent.get(f["src"], 0) + f["messages_completed"]
        expect((int(f["src"][1:]) - 1) % 4 == (int(f["dst"][1:]) - 1) % 4 and (int(f["dst"][1:]) - 1) // 4 == ((int(f["src"][1:]) - 1) // 4 + 1) % 4, f"to the next server, on its rail: {f['name']}")
    expect(len(sent) == 16 and len(set(sent.values())) == 1, f"{sent}")
    expect(got["jobs"][0]["iterations_ended"] == 1 and 1 <= got["jobs"][0]["jct_mean_ns"] / got["jobs"][0]["bound_ns"] < 2, f"{got['jobs'][0]['jct_mean_ns']} of {got['jobs'][0]['bound_ns']}")


def pxn(program, folder):
    """A message to another rail goes through the rank of the sender's server there: frames stay on their rails; its time is that of both ways."""
    size = 655_360
    (folder / "x.goal").write_text(f"num_ranks 16\nrank 0 {{\nsend {size}b to 6 tag 9\nr: recv 5b from 6 tag 3\n}}\nrank 6 {{\na: recv {size}b from 0 tag 9\nb: send 5b to 0 tag 3\nb requires a\n}}\n" +
                                   "".join(f"rank {i} {{\n}}\n" for i in range(16) if i not in (0, 6)), encoding="utf-8")
    for topology, keys in (("rail_optimized", {}), ("rail_only", {"spines": None})):
        got = results(program, scenario(folder, job(goal="x.goal"), topology=topology, **keys))
        want = inside_ns(size) + way_ns(size, 4e11, 2) + inside_ns(5) + way_ns(5, 4e11, 2) + 2 * ((82 + 4) * 8e9 / 4e11 + DELAY_NS)
        near(got["jobs"][0]["jct_mean_ns"], want, topology)
        expect([f["name"] for f in got["flows"]] == ["j h3-h7", "j h5-h1"], f"{[f['name'] for f in got['flows']]}")
        expect([r["messages_sent"] for r in got["jobs"][0]["ranks"]] == [1, 0, 1, 0, 1, 0, 1] + 9 * [0], f"{got['jobs'][0]['ranks']}")
    for algorithm in ("pairwise", "staggered", "linear"):
        path = scenario(folder, job(collective="all_to_all", algorithm=algorithm, bytes="4MB", iterations=2, rendezvous_bytes="64KB"), topology="rail_only", spines=None)
        runs = [results(program, "--threads", threads, path) for threads in (1, 2, 8)]
        expect(len({r["digest"] for r in runs}) == 1 and runs[0]["jobs"] == runs[1]["jobs"], f"{[r['digest'] for r in runs]}")
        got = runs[0]["jobs"][0]
        expect(got["iterations_ended"] == 2 and got["bound_ns"] <= got["jct_min_ns"] < 2 * got["bound_ns"] and got["unknown_messages"] == 0, f"{algorithm}: {got['jct_min_ns']} of {got['bound_ns']}")
    straight = results(program, scenario(folder, job(goal="x.goal", pxn="off")))
    expect([f["name"] for f in straight["flows"]] == ["j h1-h7", "j h7-h1"], f"{[f['name'] for f in straight['flows']]}")
    (folder / "big.goal").write_text("num_ranks 8\nrank 0 {\nsend 5b to 5 tag 1073741824\n}\nrank 5 {\nrecv 5b from 0 tag 1073741824\n}\n" +
                                     "".join(f"rank {i} {{\n}}\n" for i in (1, 2, 3, 4, 6, 7)), encoding="utf-8")
    for rest, words in ((job(goal="x.goal", pxn="off"), "[job j] ranks: expected hosts whose switches are joined by links, not h1 and h7"),
                        (job(collective="all_to_all", ranks="1,2,5,7"), "[job j] ranks = 1,2,5,7: expected hosts whose switches are joined by links, not h1 and h7"),
                        (job(goal="big.goal"), "[job j] pxn: expected tags below 1073741824 with messages through other ranks, not 1073741824"),
                        (section("flow", "f", src=1, dst=6), "[flow f] src = 1: expected hosts whose switches are joined by links, not h1 and h6")):
        done = run(program, scenario(folder, rest, topology="rail_only", spines=None))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{words}: {done.stderr}")
    # A set event keeps the relays of the graph.
    events = section("event", "stop", at_ns="3us", action="set", set="job j.stopped=on") + section("event", "go", at_ns="300us", action="set", set="job j.stopped=off")
    for rest in (job(goal="x.goal", iterations=3), job(collective="all_to_all", bytes="1MB", iterations=3), job(bytes="1MB", algorithm="hierarchical", iterations=3)):
        got = jobs(program, scenario(folder, rest + events, topology="rail_only", spines=None))[0]
        expect(got["iterations_ended"] == 3 and got["jct_max_ns"] > 290_000, f"stopped and continued: {got['iterations_ended']} {got['jct_max_ns']}")


def stopped(program, folder):
    """A job that is stopped sends nothing inside a server, either, until it goes on; messages that have begun end."""
    for start, extra in (("off", section("event", "stop", at_ns="20us", action="set", set="job j.stopped=on")), ("on", "")):
        rest = job(bytes="4MB", iterations=6, stopped=start) + extra + section("event", "go", at_ns="3ms", action="set", set="job j.stopped=off")
        got = jobs(program, scenario(folder, rest, topology="star", hosts=4, nics=4, spines=None))[0]
        expect(got["iterations_ended"] == 6 and got["jct_max_ns"] > 2_900_000 and got["jct_min_ns"] < 50_000, f"{start}: {got['jct_max_ns']} {got['jct_min_ns']}")


def shapes(program, folder):
    """Hosts of a rail are those of its leaf; sizes that are impossible are refused in one line."""
    printed = run(program, "--check-config", scenario(folder, section("flow", "f", src="leaf6", dst=9), hosts=24, groups=3)).stdout
    expect("f h10" in printed and "f h14" in printed and "f h11" not in printed, printed[-700:])
    got = results(program, scenario(folder, section("flow", "f", src="leaf5/2", dst="leaf12/1", messages=3), hosts=24, groups=3))
    expect([(f["src"], f["dst"], f["messages_completed"]) for f in got["flows"]] == [("h13", "h20", 3)], f"{got['flows']}")
    for keys, words in (({"hosts": 15}, "[fabric] hosts = 15: expected a multiple of nics_per_server, which is 4"),
                        ({"nics": 1}, "[fabric] nics_per_server = 1: expected 2 or more, of which each is a rail of this topology"),
                        ({"groups": 5}, "[fabric] groups = 5: expected 4, the number of servers, at most"),
                        ({"groups": 2, "topology": "rail_only"}, "[fabric] groups = 2: expected 1 without topology = rail_optimized"),
                        ({"nics": 65, "hosts": 65}, "[fabric] nics_per_server = 65: expected"),
                        ({"hosts": 2048, "nics": 2, "topology": "rail_only"}, "[fabric] hosts = 2048: expected a fabric whose switches have at most 512 ports each"),
                        ({"spines": 257}, "expected 256 shortest paths at most at a switch"),
                        ({"forwarding": "l2", "topology": "rail_only"}, "[fabric] topology = rail_only: expected"),
                        ({"server_rate_bps": 0}, "[fabric] server_rate_bps = 0: expected")):
        done = run(program, scenario(folder, section("flow", "f", src=1, dst=5), **keys))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{keys}: {done.returncode} {done.stderr}")


def ranks(program, folder):
    """Ranks are on the NICs that the keys say; what fits no server is refused."""
    def hosts(**keys):
        return [r["host"] for r in jobs(program, scenario(folder, job(bytes="64KB", **keys), groups=1))[0]["ranks"]]
    expect(hosts(ranks="1-8") == list(range(1, 9)), "a rank on each NIC")
    expect(hosts(ranks="1-8", ranks_per_server=6) == [1, 2, 3, 4, 1, 2, 5, 6, 7, 8, 5, 6], f"modulo: {hosts(ranks='1-8', ranks_per_server=6)}")
    expect(hosts(ranks="2,4,7", ranks_per_server=3) == [2, 4, 2, 7, 7, 7], "modulo the NICs that are listed")
    expect(hosts(ranks="1,9", ranks_per_server=4, rank_nics="3, 3,0,1") == [4, 4, 1, 2, 12, 12, 9, 10], "by a table")
    for keys, words in (({"rank_nics": "0,1"}, "rank_nics = 0,1: expected none without ranks_per_server"),
                        ({"ranks_per_server": 2, "rank_nics": "0,4"}, "rank_nics = 0,4: expected none, or 2 NICs of a server, each from 0 to 3"),
                        ({"ranks_per_server": 2, "rank_nics": "0"}, "rank_nics = 0: expected none, or 2 NICs"), ({"ranks_per_server": 2, "rank_nics": "0,1,2"}, "rank_nics = 0,1,2: expected none, or 2 NICs"),
                        ({"ranks_per_server": 2, "rank_nics": "0,x"}, "rank_nics = 0,x: expected"), ({"ranks_per_server": 1025}, "ranks_per_server = 1025: expected")):
        done = run(program, scenario(folder, job(**keys)))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{keys}: {done.stderr}")
    done = run(program, scenario(folder, job(ranks_per_server=1024), hosts=260))
    expect(done.returncode == 2 and "ranks_per_server = 1024: expected 65536 ranks at most on all servers" in done.stderr, done.stderr)


def random_fabric(rnd):
    topology = rnd.choice(("rail_optimized", "rail_only", "star", "leaf_spine"))
    return {"topology": topology, "nics": rnd.choice((2, 4, 8)), "hosts": rnd.choice((8, 16)), "groups": rnd.choice((1, 2)) if topology == "rail_optimized" else None,
            "server_rate_bps": rnd.choice(("1M", "100G", "100T")), "server_delay_ns": rnd.choice((0, 1, "3us")), "duration_ns": "8s"}


def any_section(program, folder):
    """Random servers and ranks are refused in one line, or the job ends, with one digest for 1 and 3 threads, and its path has no gap."""
    ended, seeds = 0, range(10 if SANITIZED else 40)
    for seed in seeds:
        rnd = random.Random(seed)
        fabric = random_fabric(rnd)
        keys = {"ranks": rnd.choice(("all", "1-8", "1,2,5-8", "3")), "collective": rnd.choice(("all_reduce", "all_gather", "all_to_all", "broadcast")), "bytes": rnd.choice((300, 5000, "64KB")),
                "algorithm": rnd.choice(("auto", "auto", "hierarchical")), "iterations": 2}
        for key, values in {"ranks_per_server": (1, 2, 3, 9), "rank_nics": ("0,1", "1,0,1", "7,0"), "pxn": ("on", "off"), "channels": (1, 3), "chunk_bytes": (500, "16KB"), "rendezvous_bytes": (1, 4000),
                            "qps_per_pair": (2,), "compute_jitter": ("30%",), "compute_ns": ("1us",), "reduce_ps_per_byte": (7,)}.items():
            if rnd.random() < 0.3:
                keys[key] = rnd.choice(values)
        path = scenario(folder, job(**keys), seed=seed + 1, **fabric)
        done = run(program, "--check-config", path)
        if done.returncode == 2:
            expect(done.stderr.count("\n") == 1 and ("[job j]" in done.stderr or "[fabric] groups" in done.stderr), f"seed {seed}, {keys}: {done.stderr}")
            continue
        ended += 1
        (folder / "printed.ini").write_text(done.stdout, encoding="utf-8")
        expect(run(program, "--check-config", folder / "printed.ini").stdout == done.stdout, f"seed {seed} reads back the same")
        runs = [results(program, "--threads", threads, path) for threads in (1, 3)]
        got = runs[0]["jobs"][0]
        expect(got["iterations_ended"] == 2 and got["unknown_messages"] == 0 and got["bound_ns"] <= got["jct_min_ns"] + 1, f"seed {seed}, {fabric}, {keys}: {got['iterations_ended']} {got['waits_for']} {got['bound_ns']} {got['jct_min_ns']}")
        expect(runs[0]["digest"] == runs[1]["digest"], f"seed {seed}: digests")
        for it in got["per_iteration"]:
            expect(sum(it["critical_path"][f"{kind}_ns"] for kind in ("compute", "message", "inside", "send")) == it["jct_ns"], f"seed {seed}: {it}")
    print(ended, "of", len(seeds), "ran")
    expect(0.3 * len(seeds) <= ended <= 0.9 * len(seeds), f"only some of the sections are right: {ended} of {len(seeds)}")


def explain(program, folder):
    """The time inside servers is a cause of its own; the times of all causes add up to the JCT."""
    for rest, fabric, least in ((job(algorithm="hierarchical", bytes="4MB", iterations=2), {}, 0.2), (job(collective="all_to_all", bytes="4MB"), {"topology": "rail_only", "spines": None}, 0.01),
                                (job(bytes="1MB"), {"topology": "star", "hosts": 4, "spines": None}, 1)):
        path = scenario(folder, rest, **fabric)
        done = run(program, "--quiet", "--json", folder / "out.json", "--explain", "job j", path)
        expect(done.returncode == 0, done.stderr)
        got = json.loads((folder / "out.json").read_text(encoding="utf-8"))["explained_job"]
        causes = ("compute", "inside", "wire", "rate", "paused", "queue", "others", "earlier", "again", "ack", "unknown")
        expect(sum(got[f"{c}_ns"] for c in causes) == got["jct_ns"] and got["inside_ns"] >= least * got["jct_ns"] and got["unknown_ns"] == 0, f"{got}")
        expect("messages inside servers" in done.stdout and " inside their server, " in done.stdout, done.stdout)
        parts = [p for p in got["parts"] if p["kind"] == "inside"]
        expect(parts and all(p["flow"] is None and p["inside_ns"] == p["to_ns"] - p["from_ns"] for p in parts), f"{parts}")


def shown(program, folder):
    """A server with several NICs is one host in results: its sums, and its NICs beside."""
    path = scenario(folder, job(algorithm="hierarchical", bytes="4MB", iterations=3) + section("flow", "f", src="1-3", dst=9), duration_ns="1ms")
    out = folder / "out"
    done = run(program, "--out", out, path)
    expect(done.returncode == 0, done.stderr)
    got = json.loads((out / "results.json").read_text(encoding="utf-8"))
    servers = got["servers"]
    expect([s["name"] for s in servers] == ["server1", "server2", "server3", "server4"] and servers[1]["hosts"] == ["h5", "h6", "h7", "h8"], f"{servers}")
    for s in servers:
        for key, end in (("tx_goodput_bps", "src"), ("rx_goodput_bps", "dst")):
            for n in s["nics"]:
                expect(n[key] == sum(f["goodput_bps"] for f in got["flows"] if f[end] == n["host"]), f"{key} of {n['host']}")
            expect(s[key] == sum(n[key] for n in s["nics"]), f"{key} of {s['name']}")
        # Each of 4 ranks sends 3 parts of 1 MB, twice, in 3 iterations.
        expect(s["messages_inside"] == 4 * 6 * 3 and s["bytes_inside"] == 4 * 6 * 3 * 1_000_000, f"{s['messages_inside']} {s['bytes_inside']}")
    with open(out / "servers.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expect([(r["server"], r["host"]) for r in rows] == [(s["name"], h) for s in servers for h in s["hosts"]] and all(int(r["tx_goodput_bps"]) == n["tx_goodput_bps"] for r, n in zip(rows, [n for s in servers for n in s["nics"]])), f"{rows}")
    line = next(row.split() for row in done.stdout.splitlines() if row.startswith("server3"))
    expect(line[1] == "4" and abs(float(line[3]) - servers[2]["rx_goodput_bps"] / 1e9) < 0.01, f"{line}")
    expect("servers" in results(program, write_scenario(folder / "plain.ini", {"duration_ns": "1ms"}, section("flow", "f", src=1, dst=2))) and not results(program, folder / "plain.ini")["servers"], "none without servers")


def streams(program, folder):
    """Streams and faults of hosts meet the NIC of a server that they name."""
    rest = job(bytes="1MB", iterations=2, algorithm="hierarchical") + section("stream", "s", src="1,6", dst=11, frame_bytes=1000, rate_bps="10G", count=50) + section("record", "r", node="h11")
    rest += section("event", "down", at_ns="40us", action="link_down", node="h2", for_ns="20us")
    out = folder / "out"
    expect(run(program, "--quiet", "--out", out, scenario(folder, rest, duration_ns="500ms")).returncode == 0, "runs")
    got = json.loads((out / "results.json").read_text(encoding="utf-8"))
    expect(sum(s["rx_packets"] for s in got["streams"]) == 100, f"{got['streams']}")
    expect(got["jobs"][0]["iterations_ended"] == 2 and {d["node"] for d in got["drops"] if d["reason"] == "link_down"} <= {"h2", "leaf2"}, f"{got['drops']} {got['jobs'][0]['waits_for']}")
    expect((out / "r.pcapng").stat().st_size > 100_000, "records the port of h11")


if __name__ == "__main__":
    in_folder(inside, hierarchical, rings, pxn, stopped, shapes, ranks, any_section, explain, shown, streams)
