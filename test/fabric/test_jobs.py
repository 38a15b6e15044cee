#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of quench-lab: collectives beside their closed forms, GOAL files, what is refused and what stalls.

    test_jobs.py QUENCH_LAB CONFIG_DIR CASE
"""
import csv
import json
import math
import random
import random

from scenarios import expect, fewer, in_folder, results, run, section, write_scenario

RATE_BPS, DELAY_NS, MTU = 400_000_000_000, 500, 4096
POWERS = (2, 4, 8, 16, 32, 64)


def scenario(folder, rest, hosts=4, name="job", **fabric):
    keys = {"topology": "star", "hosts": hosts, "link_rate_bps": "400G", "link_delay_ns": DELAY_NS, "duration_ns": "20ms", **fabric}
    return write_scenario(folder / f"{name}.ini", keys, "[nic]\ncc = none\n" + rest)


def job(name="j", **keys):
    return section("job", name, **{"mtu_bytes": MTU, **keys})


def jobs(program, path, *options):
    return results(program, path, *options)["jobs"]


def wire_ns(payload, header, rate=RATE_BPS):
    """A frame with preamble and gap on a link: Ethernet, IPv4, UDP, BTH, ICRC and FCS are 82 bytes beside its payload and header."""
    return (payload + 82 + header) * 8e9 / rate


def way_ns(size, rate=RATE_BPS, mtu=MTU, links=2):
    """From the first bit of a WRITE with immediate at its sender to the last one at its receiver, over equal links and idle switches,
    which take a frame whole before they pass it on. The first frame has 16 bytes of RETH more, the last one 4 of immediate data."""
    frames = math.ceil(size / mtu)
    first = wire_ns(min(size, mtu), 16 + 4 * (frames == 1), rate)
    return (links - 1) * first + (frames * 82 + 20 + size) * 8e9 / rate + links * DELAY_NS


def ack_ns(rate=RATE_BPS, links=2):
    """From a receiver to the sender, whose send ends with it."""
    return links * (wire_ns(4, 0, rate) + DELAY_NS)


ACK_NS = ack_ns()


def steps_of(collective, algorithm, n, size):
    """The sizes of the messages that follow each other."""
    if algorithm == "halving_doubling":
        halves = [size / 2 ** k for k in range(1, n.bit_length())]
        return {"all_reduce": halves + halves[::-1], "reduce_scatter": halves, "all_gather": halves[::-1]}[collective]
    if collective in ("broadcast", "pipeline"):
        return [size] * (n - 1)
    return [size / n] * ((n - 1) * (2 if collective == "all_reduce" else 1))


def closed_form(program, folder):
    """On an idle star, without congestion control, a job takes the sum of its steps: within 1 %, for 2 to 64 ranks."""
    for collective, algorithm in (("all_reduce", "ring"), ("all_reduce", "halving_doubling"), ("reduce_scatter", "ring"), ("reduce_scatter", "halving_doubling"),
                                  ("all_gather", "ring"), ("all_gather", "halving_doubling"), ("all_to_all", "pairwise"), ("broadcast", "ring"), ("pipeline", "ring")):
        for n in POWERS if collective == "all_reduce" else (2, 8, 64):
            size = n * 65536
            if collective in ("broadcast", "pipeline"):
                size = 262144
            # Ranks of a chain begin their next iteration at other times than the last one ends.
            once = collective in ("broadcast", "pipeline")
            path = scenario(folder, job(collective=collective, algorithm=algorithm, bytes=size, iterations=1 if once else 2), hosts=n)
            got = jobs(program, path)[0]
            want = sum(way_ns(s) for s in steps_of(collective, algorithm, n, size)) + ACK_NS
            print(collective, algorithm, n, got["jct_mean_ns"], want)
            expect(got["iterations_ended"] == got["iterations"] and len(got["ranks"]) == n, f"{collective} {algorithm} of {n}: {got['iterations_ended']} iterations")
            expect(abs(got["jct_mean_ns"] / want - 1) < 0.01, f"{collective} {algorithm} of {n}: {got['jct_mean_ns']} ns, expected {want:.0f}")


def overhead(program, folder):
    """The software's time before each message: in each step of a ring, and one after another for messages to all at once."""
    n, size = 8, 8 * 65536
    ring = jobs(program, scenario(folder, job(bytes=size, send_overhead_ns="3us"), hosts=n))[0]
    want = 14 * (way_ns(size / n) + 3000) + ACK_NS
    expect(abs(ring["jct_mean_ns"] / want - 1) < 0.01, f"a ring: {ring['jct_mean_ns']} ns, expected {want:.0f}")
    small = jobs(program, scenario(folder, job(collective="all_to_all", bytes=8 * 64, send_overhead_ns="3us"), hosts=n))[0]
    want = 7 * 3000 + way_ns(64) + ACK_NS
    expect(abs(small["jct_mean_ns"] / want - 1) < 0.01, f"an all-to-all: {small['jct_mean_ns']} ns, expected {want:.0f}")
    computing = [rank["compute_ns"] for rank in ring["ranks"]]
    expect(all(ns == 14 * 3000 for ns in computing), f"the overhead is time of computations: {computing}")


def speeds(program, folder):
    """Closed forms at other speeds and MTUs, and over two leaves and a spine: within 1 %; one digest for 1, 2 and 8 threads."""
    for rate, mtu, size in ((10, 1024, 65536), (100, 1024, 65536), (100, 4096, 262144), (400, 256, 32768), (800, 4096, 1_048_576)):
        bps = rate * 10**9
        for topology, links in (("star", 2), ("leaf_spine", 4)):
            # In a leaf_spine of one host a leaf, each step of the ring crosses a spine.
            keys = {"link_rate_bps": f"{rate}G", "duration_ns": "200ms"} | ({"topology": "leaf_spine", "leaves": 8, "spines": 1} if links == 4 else {})
            path = scenario(folder, job(bytes=8 * size, mtu_bytes=mtu), hosts=8, **keys)
            got = jobs(program, path)[0]
            want = 14 * way_ns(size, bps, mtu, links) + ack_ns(bps, links)
            print(topology, rate, mtu, got["jct_mean_ns"], want)
            expect(got["iterations_ended"] == 1 and abs(got["jct_mean_ns"] / want - 1) < 0.01, f"{topology} at {rate}G, MTU {mtu}: {got['jct_mean_ns']} ns, expected {want:.0f}")
    runs = [results(program, "--threads", threads, path) for threads in (1, 2, 8)]
    expect(len({r["digest"] for r in runs}) == 1 and runs[0]["jobs"] == runs[1]["jobs"] == runs[2]["jobs"], f"{[r['digest'] for r in runs]}")


def rendezvous(program, folder):
    """Messages from rendezvous_bytes on wait for a ready message of 64 bytes; a rank that is not ready holds its sender."""
    for n in (2, 8, 32):
        size = n * 65536
        got = jobs(program, scenario(folder, job(bytes=size, rendezvous_bytes=65536, iterations=3), hosts=n))[0]
        want = way_ns(64) + sum(way_ns(s) for s in steps_of("all_reduce", "ring", n, size)) + ACK_NS
        print(n, got["jct_mean_ns"], want)
        expect(got["iterations_ended"] == 3 and abs(got["jct_mean_ns"] / want - 1) < 0.01, f"ring of {n}: {got['jct_mean_ns']} ns, expected {want:.0f}")
        expect(got["ranks"][0]["messages_sent"] == 3 * 2 * (n - 1) == got["ranks"][0]["messages_received"], f"{got['ranks'][0]}")
    # The receiver computes for 100 us before its recv begins.
    (folder / "late.goal").write_text("num_ranks 2\nrank 0 {\nsend 65536b to 1\n}\nrank 1 {\nc: calc 100000\nr: recv 65536b from 0\nr requires c\n}\n", encoding="utf-8")
    for limit, want in ((0, 100_000), (65536, 100_000 + way_ns(64) + way_ns(65536) + ACK_NS)):
        got = jobs(program, scenario(folder, job(goal="late.goal", rendezvous_bytes=limit, ranks="1-2"), name="late"))[0]
        expect(abs(got["jct_mean_ns"] / want - 1) < 0.01, f"rendezvous_bytes = {limit}: {got['jct_mean_ns']} ns, expected {want:.0f}")
    (folder / "late.goal").write_text("num_ranks 2\n" + "".join(f"rank {i} {{\ns: send 9000b to {1 - i}\nr: recv 9000b from {1 - i}\nr requires s\n}}\n" for i in (0, 1)), encoding="utf-8")
    done = run(program, scenario(folder, job(goal="late.goal", rendezvous_bytes=9000, ranks="1-2"), name="stuck"))
    expect(done.returncode == 2 and "late.goal:3: expected rank 0: send to 1 tag 0 waits for its recv ([job j] goal)" in done.stderr, done.stderr)


MATRIX = [[9, 100_000, 0, 300_000], [50_000, 0, 200_000, 0], [1, 0, 7, 80_000], [0, 0, 640_000, 0]]


def write_matrix(path, rows):
    path.write_text("# dispatch\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")


def matrix(program, folder):
    """all_to_all_v sends what the matrix says, and all_to_all_v_back its transpose; what is no matrix is refused."""
    write_matrix(folder / "m.txt", MATRIX)
    for collective, algorithm in (("all_to_all_v", "pairwise"), ("all_to_all_v", "linear"), ("all_to_all_v_back", "staggered")):
        path = scenario(folder, job(collective=collective, algorithm=algorithm, matrix="m.txt", channels=2))
        got = results(program, path)
        sent = {f["name"]: f["messages_completed"] for f in got["flows"]}
        pairs = [(i, k) if collective == "all_to_all_v" else (k, i) for i in range(4) for k in range(4) if i != k and MATRIX[i][k] > 0]
        # A byte alone is not divided between two channels.
        want = {f"j h{i + 1}-h{k + 1}": 1 if {i, k} == {0, 2} else 2 for i, k in pairs}
        expect(sent == want, f"{collective} {algorithm}: {sent}, expected {want}")
        done = got["jobs"][0]
        # Rank 2 receives 840,000 bytes, or sends them back. The largest messages of two steps of pairwise follow each other; the others share links with smaller ones.
        expect(done["bytes"] == 840_000 and 1 <= done["jct_mean_ns"] / done["bound_ns"] < (1.7 if algorithm == "pairwise" else 1.2), f"{collective}: {done['jct_mean_ns']} of {done['bound_ns']}")
    printed = run(program, "--check-config", path).stdout
    expect("matrix = m.txt" in printed and "\nbytes" not in printed.split("[job j]")[1], printed[-900:])
    for text, words in (("1 2\n3\n", "m.txt:2: expected 2 lines of 2 numbers"), ("1 2\n", "m.txt:2: expected 2 lines, one for each column, not 1"), ("0 x\n1 0\n", "m.txt:1: expected a number of bytes from 0 to 2147483648 at \"x"),
                        ("5 0\n0 5\n", "expected a number above 0 beside the diagonal"), ("", "expected 2 to 4096 numbers in a line, not 0"),
                        ("0 1 2\n1 0 2\n3 3 0\n", "[job j] collective = all_to_all_v: expected 3 ranks, as many as the matrix has")):
        (folder / "m.txt").write_text(text, encoding="utf-8")
        done = run(program, scenario(folder, job(collective="all_to_all_v", matrix="m.txt")))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{text!r}: {done.stderr}")
    for keys, words in (({"collective": "all_to_all_v"}, "expected matrix = FILE with the sizes of all_to_all_v"), ({"matrix": "m.txt"}, "[job j] matrix = m.txt: expected no such key without all_to_all_v"),
                        ({"collective": "all_to_all_v", "matrix": "gone"}, "matrix = gone: expected a file that can be read")):
        done = run(program, scenario(folder, job(**keys)))
        expect(done.returncode == 2 and words in done.stderr, f"{keys}: {done.stderr}")


def stages(program, folder):
    """Stages follow each other at each rank: their times add up. A straggler holds the others."""
    write_matrix(folder / "m.txt", MATRIX)
    alone = {"compute 50us": 50_000}
    for stage, keys in (("all_reduce 400KB", {"bytes": "400KB"}), ("all_to_all pairwise 1MB", {"collective": "all_to_all", "algorithm": "pairwise", "bytes": "1MB"}),
                        ("all_gather halving_doubling 800KB", {"collective": "all_gather", "algorithm": "halving_doubling", "bytes": "800KB"})):
        alone[stage] = jobs(program, scenario(folder, job(**keys), name="alone"))[0]["jct_mean_ns"]
    got = jobs(program, scenario(folder, job(stages=", ".join(alone), iterations=3)))[0]
    want = sum(alone.values())
    print(alone, got["jct_mean_ns"])
    expect(abs(got["jct_mean_ns"] / want - 1) < 0.02 and got["iterations_ended"] == 3, f"{got['jct_mean_ns']}, expected {want}")
    expect(got["stages"] == ", ".join(alone) and got["collective"] is None and got["bytes"] is None and got["bound_ns"] > 50_000, f"{got['stages']} {got['bound_ns']}")
    rows = run(program, scenario(folder, job(stages=", ".join(alone)) + job("k"))).stdout.splitlines()
    of_j, of_k = (next(row.split() for row in rows if row.split()[:3] == [name, "4", "1"])[9:11] for name in "jk")
    expect(of_j == ["-", "-"] and float(of_k[1]) > 0, f"the table has a bandwidth of a collective alone: {of_j} {of_k}")
    moe = job(stages="compute 20us, all_to_all_v, compute 30us, all_to_all_v_back, all_reduce 1MB", matrix="m.txt", iterations=2, rendezvous_bytes="64KB", channels=2)
    got = jobs(program, scenario(folder, moe, name="moe"))[0]
    expect(got["iterations_ended"] == 2 and all(r["compute_ns"] == 2 * 50_000 for r in got["ranks"]), f"{got['ranks']}")
    slow = jobs(program, scenario(folder, job(stages="compute 100us, all_reduce 400KB", stragglers="2", straggler_slowdown="150%", iterations=2), name="slow"))[0]
    expect([r["compute_ns"] for r in slow["ranks"]] == [200_000, 200_000, 300_000, 200_000], f"{slow['ranks']}")
    expect(abs(slow["jct_mean_ns"] - 150_000 - alone["all_reduce 400KB"]) < 3000, f"{slow['jct_mean_ns']}")
    for keys, words in (({"stages": "compute"}, 'not "compute"'), ({"stages": "all_reduce 1MB, dance 5us"}, 'not " dance 5us"'), ({"stages": "all_reduce 1MB 2MB"}, "1 to 32 stages"),
                        ({"stages": "all_reduce pairwise 1MB"}, "an algorithm of this collective"), ({"stages": "all_reduce 1MB", "bytes": 5}, "bytes = 5: expected no such key beside stages"),
                        ({"stages": ", ".join(["compute 1us"] * 33)}, "1 to 32 stages"), ({"stragglers": "4"}, "stragglers = 4: expected none, or ranks of the job"),
                        ({"stragglers": "1-"}, "stragglers = 1-"), ({"straggler_slowdown": "300%"}, "no such key without stragglers")):
        done = run(program, scenario(folder, job(**keys)))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{keys}: {done.returncode} {done.stderr}")


def random_job(rnd):
    """Keys of a job, most of them with values that fit."""
    keys = {"ranks": rnd.choice(("all", "1-4", "1-8", "2,5", "3")), "mtu_bytes": rnd.choice((256, 1024, 4096)), "iterations": rnd.randint(1, 3)}
    parts = [f"{rnd.choice(('all_reduce', 'all_gather', 'broadcast', 'pipeline'))} {rnd.choice(('', 'ring ', 'halving_doubling ', 'pairwise '))}{rnd.randint(1, 90000)}",
             f"compute {rnd.randint(1, 9000)}ns", f"all_to_all {rnd.randint(1, 90000)}B", "all_to_all_v", "all_to_all_v_back linear", ""]
    kind = rnd.randrange(3)
    if kind == 0:
        keys["stages"] = ", ".join(rnd.sample(parts[:5], rnd.randint(1, 4))) + rnd.choice(("", "", ","))
    elif kind == 1:
        keys["goal"] = rnd.choice(("g.goal", "none"))
    else:
        keys |= {"collective": rnd.choice(("all_reduce", "reduce_scatter", "all_to_all", "all_to_all_v", "pipeline")), "bytes": rnd.choice((1, 777, "64KB", "1MB")),
                 "algorithm": rnd.choice(("auto", "ring", "pairwise", "double_binary_tree"))}
    if rnd.random() < 0.8:
        keys["ranks"] = "1-4"
    sized = "all_to_all_v" in keys.get("stages", "") + keys.get("collective", "")
    if sized != (rnd.random() < 0.1):
        keys["matrix"] = "m.txt"
    if sized and kind == 2:
        keys.pop("bytes")
    for key, values in {"chunk_bytes": (0, 1000, "64KB"), "channels": (1, 2, 7), "compute_jitter": ("50%",), "stragglers": ("0", "1-3", "9"), "reduce_ps_per_byte": (20,),
                        "send_overhead_ns": (1, "3us"), "rendezvous_bytes": (1, 5000, "1MB"), "start_ns": ("7us",), "qps_per_pair": (1, 3), "stopped": ("off",)}.items():
        beside_goal = key in ("chunk_bytes", "channels", "reduce_ps_per_byte", "send_overhead_ns") and keys.get("goal") == "g.goal"
        if rnd.random() < (0.02 if beside_goal else 0.25):
            keys[key] = rnd.choice(values)
    return keys


def any_section(program, folder):
    """A section of random keys is refused in one line that names the job, or its job ends in time."""
    (folder / "g.goal").write_text(GOAL, encoding="utf-8")
    write_matrix(folder / "m.txt", MATRIX)
    ended, seeds = 0, fewer(range(60), 12)
    for seed in seeds:
        keys = random_job(random.Random(seed))
        path = scenario(folder, job(**keys), hosts=8)
        if run(program, "--check-config", path).returncode == 0:
            got = jobs(program, path)[0]
            ended += 1
            expect(got["iterations_ended"] == got["iterations"] and got["unknown_messages"] == 0, f"seed {seed}, {keys}: {got['iterations_ended']} {got['waits_for']}")
        else:
            done = run(program, path)
            expect(done.returncode == 2 and done.stderr.count("\n") == 1 and ("[job j]" in done.stderr), f"seed {seed}, {keys}: {done.returncode} {done.stderr}")
    print(ended, "of", len(seeds), "ran")
    expect(len(seeds) / 4 <= ended <= len(seeds) * 5 / 6, f"only some of the sections are right: {ended} of {len(seeds)}")


def restarted(program, folder):
    """A job that is stopped in mid-iteration and goes on later has the work of one that was not: stages, rendezvous, several QPs."""
    write_matrix(folder / "m.txt", MATRIX)
    keys = {"stages": "compute 5us, all_to_all_v, all_reduce 1MB", "matrix": "m.txt", "iterations": 4, "rendezvous_bytes": "64KB", "qps_per_pair": 2}
    plain = jobs(program, scenario(folder, job(**keys)))[0]
    for at, back in (("20us", "400us"), ("33us", "35us"), ("1ns", "900us")):
        events = section("event", "stop", at_ns=at, action="set", set="job j.stopped=on") + section("event", "go", at_ns=back, action="set", set="job j.stopped=off")
        got = jobs(program, scenario(folder, job(**keys) + events, name="stop"))[0]
        expect(got["iterations_ended"] == 4 and [(r["messages_sent"], r["messages_received"], r["compute_ns"]) for r in got["ranks"]] ==
               [(r["messages_sent"], r["messages_received"], r["compute_ns"]) for r in plain["ranks"]], f"{at} to {back}: {got['iterations_ended']} {got['ranks']}")


def bounds(program, folder):
    """No collective is faster than its bound; those that fill their links come near it, and the bandwidths follow from the time."""
    for collective, algorithm, n, most, keys in (("all_reduce", "ring", 8, 1.10, {}), ("all_reduce", "double_binary_tree", 16, 1.35, {"chunk_bytes": "64KB"}),
                                                 ("all_reduce", "double_binary_tree", 7, 1.35, {"chunk_bytes": "64KB"}), ("all_to_all", "staggered", 16, 1.05, {}),
                                                 ("all_to_all", "linear", 16, 1.05, {}), ("broadcast", "ring", 16, 1.15, {"chunk_bytes": "64KB"})):
        path = scenario(folder, job(collective=collective, algorithm=algorithm, bytes=16_000_000, **keys), hosts=n)
        got = jobs(program, path)[0]
        ratio = got["jct_mean_ns"] / got["bound_ns"]
        print(collective, algorithm, n, ratio)
        expect(1 <= ratio <= most, f"{collective} {algorithm} of {n}: {ratio:.3f} of the bound")
        factor = {"all_reduce": 2 * (n - 1) / n, "all_to_all": (n - 1) / n, "broadcast": 1}[collective]
        expect(abs(got["algorithm_bandwidth_bps"] / (16e6 * 8e9 / got["jct_mean_ns"]) - 1) < 1e-6, f"{got}")
        expect(abs(got["bus_bandwidth_bps"] / (factor * got["algorithm_bandwidth_bps"]) - 1) < 1e-6, f"{got}")


def computes(program, folder):
    """Computations take their time, one after another in a stream; jitter is drawn by the seed; ranks know where their time went."""
    path = scenario(folder, job(bytes=400_000, compute_ns="50us", reduce_ps_per_byte=20, iterations=4))
    plain, got = jobs(program, scenario(folder, job(bytes=400_000, iterations=4), name="plain"))[0], jobs(program, path)[0]
    # 3 sums of 100,000 bytes at 20 ps.
    expect(abs(got["jct_mean_ns"] - plain["jct_mean_ns"] - 50_000 - 3 * 2_000) < 500, f"{got['jct_mean_ns']} and {plain['jct_mean_ns']} ns")
    for rank in got["ranks"]:
        expect(rank["compute_ns"] == 4 * (50_000 + 3 * 2_000), f"{rank}")
        expect(abs(rank["compute_ns"] + rank["send_ns"] + rank["wait_ns"] - 4 * got["jct_mean_ns"]) < 4000, f"{rank}")
    path = scenario(folder, job(bytes=400_000, compute_ns="50us", compute_jitter="40%", iterations=20))
    first, again, other = (jobs(program, path, "--seed", seed)[0] for seed in (1, 1, 2))
    expect(first == again and first["jct_max_ns"] != other["jct_max_ns"], "the seed draws the jitter")
    expect(first["jct_min_ns"] >= first["bound_ns"] and first["bound_ns"] > 30_000, f"jitter makes a computation shorter than its bound: {first}")
    expect(first["jct_max_ns"] - first["jct_min_ns"] > 5000 and first["jct_max_ns"] < plain["jct_max_ns"] + 72_000, f"{first['jct_min_ns']} to {first['jct_max_ns']}")


GOAL = """num_ranks 3
rank 0 {
a: calc 1000
b: send 100000b to 1 tag 5
b requires a
c: send 50000b to 1 tag 6
c irequires b
d: recv 10b from 2
}
rank 1 {
x: recv 50000b from 0 tag 6
y: recv 100000b from 0 tag 5
z: send 20b to 2
z requires x
z requires y
}
rank 2 {
p: recv 20b from 1
q: calc 3000 cpu 1
r: send 10b to 0
r requires p
r requires q
}
"""


def goal(program, folder):
    """A GOAL file runs as it is, and its lines stand in what is refused."""
    (folder / "g.goal").write_text(GOAL, encoding="utf-8")
    path = scenario(folder, job(goal="g.goal", iterations=3, ranks="2-4"))
    got = jobs(program, path)[0]
    expect(got["iterations_ended"] == 3 and got["collective"] is None and got["bound_ns"] == 0, f"{got}")
    expect([r["host"] for r in got["ranks"]] == [2, 3, 4] and [r["messages_sent"] for r in got["ranks"]] == [6, 3, 3], f"{got['ranks']}")
    want = 1000 + way_ns(150_000) + way_ns(20) + way_ns(10) + ACK_NS
    expect(abs(got["jct_mean_ns"] / want - 1) < 0.02, f"{got['jct_mean_ns']}, expected {want:.0f}")
    out = folder / "out"
    expect(run(program, "--quiet", "--out", out, path).returncode == 0, "runs with --out")
    with open(out / "jobs.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expect([r["iteration"] for r in rows] == ["1", "2", "3"] and all(int(r["jct_ns"]) == int(r["end_ns"]) - int(r["begin_ns"]) for r in rows), f"{rows}")
    idle = "num_ranks 3\nrank 0 {\n}\nrank 1 {\nsend 5b to 2\n}\nrank 2 {\nrecv 5b from 1\n}\n"
    (folder / "idle.goal").write_text(idle, encoding="utf-8")
    alone = jobs(program, scenario(folder, job(goal="idle.goal", iterations=5), name="idle"))[0]
    expect(alone["iterations_ended"] == 5 and alone["jct_min_ns"] > 1000 > alone["jct_max_ns"] - 5 * way_ns(5), f"a rank without operations is no begin: {alone}")
    (folder / "idle.goal").write_text("num_ranks 1\nrank 0 {\n}\n", encoding="utf-8")
    empty = jobs(program, scenario(folder, job(goal="idle.goal", iterations=5), name="idle"))[0]
    expect(empty["iterations_ended"] == 5 and empty["jct_max_ns"] == 0, f"a job of nothing: {empty}")
    expect(json.loads((out / "results.json").read_text(encoding="utf-8"))["jobs"] == [got], "results.json has the same")
    printed = run(program, "--check-config", path).stdout
    expect("collective" not in printed and "chunk_bytes" not in printed and "compute_jitter" in printed, f"keys beside goal: {printed[-900:]}")
    for key, value in (("collective", "all_to_all"), ("algorithm", "ring"), ("bytes", "1MB"), ("chunk_bytes", 0), ("channels", 1), ("compute_ns", 0), ("reduce_ps_per_byte", 0), ("send_overhead_ns", 0)):
        done = run(program, scenario(folder, job(goal="g.goal", **{key: value}), name="beside"))
        words = f"[job j] {key} = {value}: expected no such key beside goal"
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{key}: {done.stderr}")
    for text, words in (("num_ranks 2\nrank 0 {\nsend 5b to 7\n}\n", "g.goal:3: expected a rank from 0 to 1, not \"7\" ([job j] goal)"),
                        ("num_ranks 2\nrank 0 {\nsend 5b to 1\n}\nrank 1 {\n}\n", "g.goal:3: expected rank 0: send 5b to 1 tag 0: a recv of that source and tag at rank 1"),
                        ("num_ranks 2\nrank 0 {\n}\nrank 1 {\n\nrecv 5b from 0\n}\n", "g.goal:6: expected rank 1: recv 5b from 0 tag 0 waits for its message"),
                        ("num_ranks 5\n" + "".join(f"rank {i} {{\n}}\n" for i in range(5)), "ranks = 1-4: expected 5 ranks or more, as many as the goal file has")):
        (folder / "g.goal").write_text(text, encoding="utf-8")
        done = run(program, scenario(folder, job(goal="g.goal", ranks="1-4"), hosts=8))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{words}: {done.stderr}")


def random_goal(rng, n):
    """Ranks in rounds: messages that all ranks order alike, and computations of several streams, with random dependencies on earlier operations."""
    lines = [[] for _ in range(n)]

    def add(rank, text):
        ops = lines[rank]
        number = sum(1 for line in ops if ":" in line)
        ops.append(f"o{number}: {text}")
        for before in rng.sample(range(number), min(number, rng.randrange(3))):
            ops.append(f"o{number} {rng.choice(('requires', 'requires', 'irequires'))} o{before}")

    for _ in range(rng.randrange(10, 40)):
        if rng.random() < 0.4:
            add(rng.randrange(n), f"calc {rng.choice((0, 100, 5000, 20000))} cpu {rng.randrange(3)}")
        else:
            (a, b), size, tag = rng.sample(range(n), 2), rng.choice((1, 4096, 60000, 300000)), rng.randrange(2)
            add(a, f"send {size}b to {b} tag {tag}")
            add(b, f"recv {size}b from {a} tag {tag}")
    return f"num_ranks {n}\n" + "".join(f"rank {i} {{\n" + "\n".join(ops) + "\n}\n" for i, ops in enumerate(lines))


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [{k: v if not v.isdigit() else int(v) for k, v in row.items()} for row in csv.DictReader(file)]


def path(program, folder):
    """The parts of a critical path follow each other from the first begin to the last end, and the states of ranks add up to their times."""
    rng = random.Random(37)
    n_paths, numbers = 0, fewer(range(25), 7)
    for number in numbers:
        (folder / "g.goal").write_text(random_goal(rng, rng.randrange(2, 6)), encoding="utf-8")
        rest = job(goal="g.goal", iterations=4, compute_jitter="30%", qps_per_pair=rng.choice((1, 2)))
        out = folder / f"out{number}"
        done = run(program, "--quiet", "--out", out, scenario(folder, rest, hosts=6, seed=number + 1))
        # Sizes that do not match in order, or a circle: the lab says so.
        if done.returncode == 2:
            continue
        expect(done.returncode == 0, done.stderr)
        result = json.loads((out / "results.json").read_text(encoding="utf-8"))["jobs"][0]
        parts, ranks, states = (read_rows(out / f"{name}.csv") for name in ("critical_path", "job_ranks", "job_states"))
        expect(result["iterations_ended"] == 4, f"{number}: {result['waits_for']}")
        for it in result["per_iteration"]:
            mine = [p for p in parts if p["iteration"] == it["iteration"]]
            end_ns = it["begin_ns"] + it["jct_ns"]
            expect([p["from_ns"] for p in mine] + [end_ns] == [it["begin_ns"]] + [p["to_ns"] for p in mine], f"{number}: a gap in {mine}")
            expect(all(p["to_ns"] > p["from_ns"] or p["kind"] == "message" for p in mine) and [p["part"] for p in mine] == list(range(1, len(mine) + 1)), f"{mine}")
            expect(sum(it["critical_path"][f"{kind}_ns"] for kind in ("compute", "message", "send")) == it["jct_ns"], f"{number}: {it}")
            expect(all(a["rank"] == (b["from_rank"] if b["kind"] != "compute" else b["rank"]) for a, b in zip(mine, mine[1:])), f"{number}: a part at another rank: {mine}")
            n_paths += 1
        for rank in ranks:
            mine = {state: sum(s["to_ns"] - s["from_ns"] for s in states if (s["iteration"], s["rank"], s["state"]) == (rank["iteration"], rank["rank"], state))
                    for state in ("compute", "send", "wait")}
            if sum(mine.values()):
                expect(mine == {state: rank[f"{state}_ns"] for state in mine}, f"{number}: {mine} {rank}")
            expect(rank["compute_ns"] + rank["send_ns"] + rank["wait_ns"] == rank["end_ns"] - rank["begin_ns"], f"{number}: {rank}")
    expect(n_paths >= 1.6 * len(numbers), f"{n_paths} paths")


def spread(program, folder):
    """Counts and spreads of an iteration are those of its ranks."""
    text = job(bytes="2MB", iterations=3, compute_ns="30us", compute_jitter="20%", ranks="1-8") + section("flow", "f", src="9-12", dst=3)
    file = scenario(folder, text, hosts=12)
    file.write_text(file.read_text(encoding="utf-8").replace("cc = none", "cc = dcqcn"), encoding="utf-8")
    out = folder / "out"
    expect(run(program, "--quiet", "--out", out, file).returncode == 0, "runs")
    result = json.loads((out / "results.json").read_text(encoding="utf-8"))["jobs"][0]
    ranks, rows = read_rows(out / "job_ranks.csv"), read_rows(out / "jobs.csv")
    expect(result["rp_cnp_handled"] > 0 and result["ce_packets"] > 0, f"no congestion: {result}")
    for it, row in zip(result["per_iteration"], rows):
        mine = [r for r in ranks if r["iteration"] == it["iteration"]]
        times = sorted(r["end_ns"] - r["begin_ns"] for r in mine)
        mean = sum(times) / len(times)
        cv = math.sqrt(sum((t - mean) ** 2 for t in times) / len(times)) / mean
        expect(it["rank_max_ns"] == times[-1] and it["rank_p50_ns"] == times[3] and abs(it["rank_cv"] - cv) < 1e-4, f"{it} {times} {cv}")
        expect(abs(it["rank_jain"] - mean ** 2 * 8 / sum(t * t for t in times)) < 1e-5, f"{it}")
        for key in ("rp_cnp_handled", "ce_packets", "retransmitted_packets", "out_of_sequence", "paused_ns"):
            expect(it[key] == sum(r[key] for r in mine) == row[key], f"{key}: {it}")
    for key in ("rp_cnp_handled", "ce_packets", "paused_ns"):
        expect(result[key] == sum(it[key] for it in result["per_iteration"]), f"{key}: {result[key]}")


def explain(program, folder):
    """Each nanosecond of a critical path has one cause, and the causes of a part are named."""
    causes = [f"{c}_ns" for c in ("compute", "wire", "rate", "paused", "queue", "others", "earlier", "again", "ack", "unknown")]
    ring = job(bytes="2MB", iterations=3, compute_ns="20us", ranks="1-4", qps_per_pair=2, chunk_bytes="100KB")
    cases = {
        "idle": (ring, "none", {}),
        "cut": (ring + section("flow", "f", src="5-8", dst=3), "dcqcn", {}),
        "paused": ("[switch]\nbuffer_bytes = 1MB\n" + ring + section("flow", "f", src="5-8", dst=3), "none", {}),
        "lossy": (section("link", "bad", ends="h2 s1", frame_loss_ppb=3_000_000) + job(bytes="2MB", iterations=3, ranks="1-4"), "none", {}),
        "experts": (job(collective="all_to_all", bytes="1MB", iterations=3), "dcqcn", {"topology": "leaf_spine", "leaves": 4, "spines": 2, "forwarding": "l3"}),
    }
    got, seen = {}, {}
    for name, (rest, cc, fabric) in cases.items():
        path = scenario(folder, rest, hosts=8, name=name, **fabric)
        path.write_text(path.read_text(encoding="utf-8").replace("cc = none", f"cc = {cc}"), encoding="utf-8")
        plain = results(program, path)
        for iteration in ("", " 1", " 3") if name == "cut" else ("",):
            file = folder / "r.json"
            done = run(program, "--json", file, "--explain", f"job j{iteration}", path)
            expect(done.returncode == 0, f"{name}: {done.stderr}")
            r = json.loads(file.read_text(encoding="utf-8"))
            x = r["explained_job"]
            it = plain["jobs"][0]["per_iteration"][x["iteration"] - 1]
            expect(r["digest"] == plain["digest"] and x["jct_ns"] == it["jct_ns"], f"{name}: observing changes the run")
            expect(sum(x[c] for c in causes) == x["jct_ns"] and x["unknown_ns"] == 0, f"{name}: {x['jct_ns']} ns, {[x[c] for c in causes]}")
            for p in x["parts"]:
                expect(sum(p[c] for c in causes) == p["to_ns"] - p["from_ns"], f"{name}: {p}")
            expect(len(done.stdout.splitlines()) <= 30 and done.stdout.startswith(f"job j, iteration {x['iteration']} of 3: "), done.stdout)
            seen.setdefault(name, []).extend(x["parts"])
            if iteration == "":
                expect(x["jct_ns"] == plain["jobs"][0]["jct_max_ns"], f"{name}: the slowest")
                got[name] = x
    expect(got["idle"]["paused_ns"] == got["idle"]["again_ns"] == 0 and got["idle"]["compute_ns"] >= 20_000, f"{got['idle']}")
    marked = [p for p in seen["cut"] if p["marked_at"] == "s1 port 2"]
    expect(any(f["flow"].startswith("f h") for p in marked for f in p["marked_queue_flows"]) and any(p["cnps"] for p in marked), f"{seen['cut']}")
    expect(got["cut"]["rate_ns"] > got["idle"]["rate_ns"], f"cut: {got['cut']['rate_ns']}")
    expect(got["paused"]["paused_ns"] > 10_000 and any(p["paused_at"] == "h2" for p in seen["paused"]), f"{seen['paused']}")
    expect(got["lossy"]["again_ns"] > 1000 and any(p["retransmitted_packets"] for p in got["lossy"]["parts"]), f"{got['lossy']}")
    for words, said in (("job k", "expected a [job NAME] of the scenario, such as job j"), ("job j 4", "expected an iteration from 1 to 3"),
                        ("job j x", "expected an iteration from 1 to 3")):
        done = run(program, "--explain", words, folder / "idle.ini")
        expect(done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    done = run(program, "--explain", "job j", "--duration", "10us", folder / "idle.ini")
    expect(done.returncode == 1 and "0 iterations have ended" in done.stderr, done.stderr)


def refused(program, folder):
    """One line with section, key and what was expected."""
    for keys, words in (({"collective": "all_gather", "algorithm": "pairwise"}, "[job j] collective = all_gather: expected an algorithm of this collective"),
                        ({"algorithm": "halving_doubling", "ranks": "1-3"}, "a power of two of ranks"),
                        ({"ranks": "2"}, "2 ranks or more"), ({"ranks": "9"}, "ranks = 9: expected hosts of the fabric"),
                        ({"bytes": "3"}, "expected bytes of which each message has two or more"), ({"goal": "gone.goal"}, "goal = gone.goal: expected a file that can be read"),
                        ({"bytes": "30000GB", "chunk_bytes": 1}, "a million operations of a rank at most"), ({"mtu_bytes": 1000}, "mtu_bytes = 1000"),
                        ({"iterations": 0}, "iterations = 0"), ({"qps_per_pair": 65}, "qps_per_pair = 65")):
        done = run(program, scenario(folder, job(**keys)))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, f"{keys}: {done.returncode} {done.stderr}")
    done = run(program, scenario(folder, job(collective="all_to_all", algorithm="linear", channels=8, chunk_bytes=100, bytes=40_960_000), hosts=128))
    expect(done.returncode == 2 and "100 million operations and dependencies of all ranks" in done.stderr, f"{done.returncode} {done.stderr}")
    for start, late in (("19ms", False), ("20ms", True)):
        err = run(program, "--check-config", scenario(folder, job(start_ns=start))).stderr
        expect(("the job never starts" in err) == late, f"start_ns = {start}: {err}")
    done = run(program, scenario(folder, job() + section("flow", "j", src=1, dst=2)))
    expect(done.returncode == 2 and "a name that no flow and no other job has" in done.stderr, done.stderr)
    done = run(program, "--fluid", write_scenario(folder / "fluid.ini", {"hosts": 4}, job()))
    expect(done.returncode == 2 and "[job j]: expected no job" in done.stderr, done.stderr)


def behind(program, folder):
    """A job that does not end says what its last rank waits for, by losses or by the end of the run; one that is stopped goes on later."""
    path = scenario(folder, job(bytes="64MB", iterations=5), duration_ns="1ms")
    done = run(program, path)
    expect("job j: iteration 1 has not ended: rank 0: send 16000000b to 1 tag 0 has not ended" in done.stdout, done.stdout[-600:])
    for rank in jobs(program, path)[0]["ranks"]:
        expect(rank["compute_ns"] + rank["send_ns"] + rank["wait_ns"] == 1_000_000, f"its times end with the run: {rank}")
    lossy = section("link", "bad", ends="h2 s1", frame_loss_ppb=10_000_000) + section("event", "off", at_ns="100us", action="link_down", node="h3")
    got = jobs(program, scenario(folder, lossy + job(bytes="1MB", iterations=50)))[0]
    expect(got["iterations_ended"] < 50 and got["waits_for"] is not None, f"{got['iterations_ended']} {got['waits_for']}")
    got = jobs(program, scenario(folder, section("link", "bad", ends="h2 s1", frame_loss_ppb=1_000_000) + job(bytes="1MB", iterations=20)))[0]
    expect(got["iterations_ended"] == 20, f"with losses: {got['iterations_ended']}")
    events = section("event", "stop", at_ns="100us", action="set", set="job j.stopped=on") + section("event", "go", at_ns="5ms", action="set", set="job j.stopped=off")
    got = jobs(program, scenario(folder, job(bytes="1MB", iterations=20) + events))[0]
    expect(got["iterations_ended"] == 20 and got["jct_max_ns"] > 4_800_000 > 100 * got["jct_min_ns"], f"{got['iterations_ended']} {got['jct_max_ns']}")


def together(program, folder):
    """Two jobs and a flow share a fabric: one digest for any number of threads, and reading back what is printed."""
    rest = (job("a", bytes="2MB", ranks="1-8", iterations=2, qps_per_pair=3, channels=2, chunk_bytes="50KB") +
            job("b", collective="all_to_all", bytes="1MB", iterations=3, start_ns="20us", compute_ns="3us", compute_jitter="50%") +
            section("flow", "f", src="1-4", dst=16, message_bytes=100_000))
    path = scenario(folder, rest, hosts=16, topology="leaf_spine", leaves=4, spines=2, duration_ns="2ms")
    path.write_text(path.read_text(encoding="utf-8").replace("cc = none", "cc = dcqcn"), encoding="utf-8")
    runs = [results(program, "--threads", threads, path) for threads in (1, 2, 4)]
    expect(len({r["digest"] for r in runs}) == 1 and runs[0]["jobs"] == runs[1]["jobs"] == runs[2]["jobs"], f"{[r['digest'] for r in runs]}")
    expect([j["iterations_ended"] for j in runs[0]["jobs"]] == [2, 3], f"{runs[0]['jobs']}")
    printed = run(program, "--check-config", path).stdout
    (folder / "printed.ini").write_text(printed, encoding="utf-8")
    expect(run(program, "--check-config", folder / "printed.ini").stdout == printed and "[job b]" in printed, "reads back the same")


def alone(program, folder):
    """--alone: the ratio of each JCT to that of the same job without the other jobs, flows, streams and events."""
    ring = job("ring", bytes="400KB", ranks="1-4", iterations=3)
    rest = (ring + job("other", collective="all_to_all", bytes="2MB", ranks="1-8", iterations=2) + section("flow", "f", src=5, dst=1)
            + section("flow", "open", src=6, dst=2, arrival="poisson", load_bps="5G", message_bytes="20KB") + section("flow", "reads", src=7, dst=3, verb="read")
            + section("stream", "s", src=8, dst=4, rate_bps="1G") + section("event", "slow", action="slow_receiver", at_ns="10us", for_ns="50us", node="h2", drain_rate_bps="5G"))
    path = scenario(folder, rest, hosts=8, duration_ns="5ms")
    out = folder / "out"
    done = run(program, "--alone", "--out", out, path)
    expect(done.returncode == 0, done.stderr)
    both = json.loads((out / "results.json").read_text(encoding="utf-8"))
    expect(both["digest"] == results(program, path)["digest"], "the digest is that of a run without --alone")
    got = both["jobs"][0]
    (want,) = jobs(program, scenario(folder, ring, hosts=8, duration_ns="5ms"))
    expect(got["iterations_ended"] == 3 and got["jct_alone_ns"] == want["jct_mean_ns"], f"alone: {got['jct_alone_ns']}, not {want['jct_mean_ns']}")
    expect(got["jct_ratio_alone"] == got["jct_mean_ns"] / got["jct_alone_ns"] > 1.2, f"{got['jct_ratio_alone']}")
    expect([it["jct_alone_ns"] for it in got["per_iteration"]] == [it["jct_ns"] for it in want["per_iteration"]], "per iteration")
    with open(out / "jobs_alone.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["job"] == "ring"]
    expect([int(row["jct_alone_ns"]) for row in rows] == [it["jct_ns"] for it in want["per_iteration"]], f"jobs_alone.csv: {rows}")
    expect(f"job ring: mean JCT {got['jct_ratio_alone']:.3f} times that alone" in done.stdout, done.stdout[-900:])
    threads = [results(program, "--alone", "--threads", n, path) for n in fewer((1, 2, 8), 2)]
    expect(all(r["jobs"] == threads[0]["jobs"] for r in threads), "any number of threads gives the same")
    expect(jobs(program, path)[0]["jct_ratio_alone"] is None, "null without --alone")
    for more, rest, words in (((), section("flow", "f", src=1, dst=2), "[job NAME]"), (("--fluid",), ring, "--alone: needs packets")):
        done = run(program, "--alone", *more, scenario(folder, rest))
        expect(done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def changed(program, folder):
    """A change in a run keeps the graph of a job; its messages all stand in messages.csv, from the first packet to the last ACK."""
    (folder / "g.goal").write_text("num_ranks 2\nrank 0 {\n" + "send 3000b to 1\n" * 40 + "}\nrank 1 {\n" + "recv 3000b from 0\n" * 40 + "}\n", encoding="utf-8")
    events = "".join(section("event", f"e{i}", at_ns=f"{i + 1}us", action="set", set=f"job j.stopped={'on' if i % 2 == 0 else 'off'}") for i in range(4))
    path = scenario(folder, job(goal="g.goal", iterations=3) + job("k", iterations=2) + events)
    out = folder / "out"
    done = run(program, "--quiet", "--out", out, path)
    expect(done.returncode == 0, done.stderr)
    got = json.loads((out / "results.json").read_text(encoding="utf-8"))["jobs"]
    expect([j["iterations_ended"] for j in got] == [3, 2], f"{got}")
    with open(out / "messages.csv", encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["flow"].startswith("j ")]
    expect(len(rows) == 120 and all(float(r["slowdown"]) >= 0.999 for r in rows), f"{len(rows)} messages of 120")
    for change in ("job j.goal=none", "job k.bytes=3", "job k.ranks=1-2"):
        done = run(program, scenario(folder, job(goal="g.goal") + job("k") + section("event", "e", at_ns="1us", action="set", set=change), name="fixed"))
        expect(done.returncode == 2 and "cannot change while the program runs" in done.stderr, f"{change}: {done.stderr}")


if __name__ == "__main__":
    in_folder(closed_form, overhead, speeds, rendezvous, matrix, stages, any_section, restarted, bounds, computes, goal, path, spread, explain, refused, behind, together, alone, changed)
