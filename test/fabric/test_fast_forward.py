#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""--fast-forward: what is left out changes no result by more than the run itself says, and what is not steady is simulated.

    test_fast_forward.py QUENCH_LAB CONFIG_DIR CASE
"""
import csv

from scenarios import expect, in_folder, results, run, section, write_scenario

# Of a run, and what --fast-forward measures on fewer packets: packets themselves, lengths of queues, round-trip times; and which of ranks that
# end within some ns is the last.
OF_PACKETS = ("wall_seconds", "packet_hops_per_second", "packet_hops", "memory", "digest", "fast_forward", "fluid", "bottleneck", "hot_queues",
              "queues", "jct_cv", "rank_cv", "last_rank")
# Shares of a time, which is rounded.
NEAR = 2e-4


def leaves(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in OF_PACKETS and not key.startswith("rtt_"):
                yield from leaves(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, f"{path}/{i}")
    else:
        yield path, value


def both(program, path, *options):
    return results(program, "--threads", 1, *options, path), results(program, "--fast-forward", *options, path)


def expect_near(full, fast, name, near=NEAR):
    """All results agree: counts exactly, times and rates nearly."""
    there = dict(leaves(fast))
    for path, value in leaves(full):
        other = there.get(path)
        if path.endswith("_ns") and value is not None:
            agrees = other is not None and abs(other - value) <= max(near * abs(value), 200)
        elif isinstance(value, float) or path.endswith("_bps"):
            agrees = other is not None and abs(other - value) <= near * abs(value)
        else:
            agrees = other == value
        expect(agrees, f"{name}: {path} is {other}, not {value}")


def expect_simulated(full, fast, why, name):
    """Nothing was left out, and the run is the same, to the digest."""
    forward = fast["fast_forward"]
    expect(forward["skipped_ns"] == 0, f"{name}: {forward['skipped_ns']} ns were left out")
    expect(fast["digest"] == full["digest"], f"{name}: another digest")
    expect(dict(leaves(full)) == dict(leaves(fast)), f"{name}: other results")
    reasons = [s["why"] for s in forward["simulated"]]
    expect(any(why in reason for reason in reasons), f"{name}: {reasons}, not {why}")


def ring(folder, **job):
    return write_scenario(folder / "ring.ini", {"hosts": 8, "link_rate_bps": "400G", "duration_ns": "6500us"},
                          section("job", "ring", collective="all_reduce", algorithm="ring", mtu_bytes=4096,
                                  **{"bytes": "64MB", "iterations": 2, **job}))


def all_reduce(program, folder):
    """A ring: most packets are left out, counters are the same, and times within what the run says."""
    path = ring(folder)
    full, fast = both(program, path)
    expect_near(full, fast, "ring")
    forward = fast["fast_forward"]
    expect(fast["packet_hops"] * 10 < full["packet_hops"], f"{fast['packet_hops']} of {full['packet_hops']} hops")
    expect(forward["replays"] > 0 and forward["predicted_bytes"] == forward["simulated_bytes"] > 0, f"replays: {forward}")
    jct = [r["jobs"][0]["jct_mean_ns"] for r in (full, fast)]
    expect(abs(jct[1] / jct[0] - 1) <= forward["completion_error"] < 0.01, f"JCT {jct}, said {forward['completion_error']}")
    times = forward["skipped_ns"] + forward["simulated_ns"]
    expect(times == 6_500_000 and sum(s["ns"] for s in forward["simulated"]) == forward["simulated_ns"], f"times: {forward}")
    expect(results(program, "--fast-forward", path)["digest"] == fast["digest"], "another run has another digest")


def computing(program, folder):
    """Time in which ranks compute is simulated, and the messages between are left out."""
    full, fast = both(program, ring(folder, compute_ns="200us", compute_jitter="10%"))
    expect_near(full, fast, "computing")
    expect("ranks compute" in [s["why"] for s in fast["fast_forward"]["simulated"]], f"{fast['fast_forward']}")
    expect(fast["packet_hops"] * 2 < full["packet_hops"], f"{fast['packet_hops']} of {full['packet_hops']} hops")


def two_jobs(program, folder):
    """Two rings of different messages share a link that has room for both."""
    fabric = {"topology": "leaf_spine", "leaves": 2, "spines": 1, "hosts": 16, "link_rate_bps": "100G", "core_rate_bps": "400G",
              "duration_ns": "15ms"}
    jobs = section("job", "a", ranks="1-4, 9-12", collective="all_reduce", bytes="32MB", iterations=2, mtu_bytes=4096)
    jobs += section("job", "b", ranks="5-8, 13-16", collective="all_reduce", bytes="48MB", compute_ns="300us", mtu_bytes=4096)
    full, fast = both(program, write_scenario(folder / "two.ini", fabric, jobs))
    expect_near(full, fast, "two jobs", 1e-3)
    expect(fast["packet_hops"] * 3 < full["packet_hops"], f"{fast['packet_hops']} of {full['packet_hops']} hops")


def flows(program, folder):
    """Long flows without congestion control, that start later, IPv6, and a measured window."""
    fabric = {"hosts": 4, "ip_version": 6, "duration_ns": "6ms", "measure_from_ns": "2ms"}
    text = "[nic]\ncc = none\n" + section("flow", "f", src="1-4", pattern="ring", message_bytes="4MB", messages=3, depth=1, start_ns="200us")
    full, fast = both(program, write_scenario(folder / "flows.ini", fabric, text))
    expect_near(full, fast, "flows", 1e-3)
    expect(fast["packet_hops"] * 2 < full["packet_hops"], f"{fast['packet_hops']} of {full['packet_hops']} hops")


def of_limited(folder, keys, **of_flow):
    """Four hosts that a cap or a window keeps below the rate of their link."""
    fabric = {"hosts": 4, "link_rate_bps": "100G", "duration_ns": "6ms"}
    flow = section("flow", "f", src="1-4", pattern="ring", message_bytes="8MB", mtu_bytes=4096, messages=2, depth=1, **of_flow)
    return write_scenario(folder / "limited.ini", fabric, "[nic]\n" + keys + flow)


def windows(program, folder):
    """Hosts that wait for ACKs between packets: their periods are left out, and all results stay."""
    for cc in ("none", "dcqcn"):
        full, fast = both(program, of_limited(folder, f"cc = {cc}\nrate_window_bytes = 8KB\n"))
        expect_near(full, fast, f"window, {cc}", 1e-3)
        expect(fast["packet_hops"] * 3 < full["packet_hops"] * 2, f"{cc}: {fast['packet_hops']} of {full['packet_hops']} hops")


def capped(program, folder):
    """Hosts with a cap, in phase or not, are simulated."""
    for cap in ("50G", "33300M"):
        for spread in ("on", "off"):
            path = of_limited(folder, f"cc = none\nspread_starts = {spread}\n", rate_cap_bps=cap)
            expect_simulated(*both(program, path), "looking for a period", f"cap {cap}, spread_starts {spread}")


def simulated(program, folder):
    """What is not steady is simulated, and the run says why."""
    fabric = {"hosts": 9, "link_rate_bps": "40G", "duration_ns": "2ms"}
    incast = section("flow", "incast", src="1-8", dst=9, message_bytes="15MB", mtu_bytes=4096, depth=1)
    for name, rest, why in (("dcqcn", incast, "rates change"),
                            ("pfc", "[nic]\ncc = none\n" + incast, "pauses"),
                            ("hpcc", "[nic]\ncc = hpcc\n" + section("flow", "one", src=1, dst=2, message_bytes="15MB", depth=1), "rates change"),
                            ("open loop", section("flow", "load", src="1-9", pattern="all_to_all", message_cdf="websearch", message_size="cdf",
                                                  arrival="poisson", load="30%"), "flows wait for their time"),
                            ("storm", incast + section("event", "storm", at_ns="1ms", action="pause_storm", node="h9"), "[event NAME]"),
                            ("loss", incast + section("link", "bad", ends="h1 s1", frame_loss_ppb=1000), "[link NAME]"),
                            ("READ", section("flow", "read", src=1, dst=2, verb="read", message_bytes="15MB", depth=1), "other verbs"),
                            ("chunks", section("flow", "short", src=1, dst=2, message_bytes="8KB", depth=1), "messages begin or end")):
        full, fast = both(program, write_scenario(folder / "simulated.ini", fabric, rest))
        expect_simulated(full, fast, why, name)


def drift(program, folder):
    """Hosts that send ACKs beside data, and others that do not: a queue grows by an ACK in 16 packets, which is 0.86 ns at 800 Gb/s."""
    chain = "".join(section("flow", f"f{i}", src=i, dst=i + 1, message_bytes="40MB", mtu_bytes=4096, depth=1) for i in (1, 2, 3))
    for rate, why in (("400G", "queues may mark"), ("800G", "no state comes again")):
        path = write_scenario(folder / "drift.ini", {"hosts": 4, "link_rate_bps": rate, "duration_ns": "1ms"}, chain)
        expect_simulated(*both(program, path), why, rate)


def marking(program, folder):
    """Phantom queues, whose length no state shows, may mark at any time."""
    fabric = {"hosts": 4, "link_rate_bps": "100G", "duration_ns": "1ms"}
    flow = section("flow", "f", src="1-4", pattern="ring", message_bytes="8MB", mtu_bytes=4096, depth=1)
    path = write_scenario(folder / "marking.ini", fabric, "[nic]\ncc = none\n[queue 3]\nmarking = phantom\n" + flow)
    expect_simulated(*both(program, path), "queues may mark", "phantom")


def rows(folder, name, keys):
    """Rows of a CSV by these columns."""
    with open(folder / name, encoding="utf-8") as f:
        return {tuple(row[k] for k in keys): row for row in csv.DictReader(f)}


def series(program, folder):
    """Pauses after time that was left out have their durations in CSVs: halves that cross a narrow core, and others within a leaf."""
    fabric = {"topology": "leaf_spine", "leaves": 2, "spines": 1, "hosts": 8, "link_rate_bps": "100G", "core_rate_bps": "200G",
              "duration_ns": "6ms", "sample_ns": "100us"}
    job = section("job", "j", collective="all_reduce", algorithm="halving_doubling", bytes="16MB", iterations=2, mtu_bytes=4096)
    path = write_scenario(folder / "series.ini", fabric, "[nic]\ncc = none\n" + job)
    for out, options in (("full", ["--threads", 1]), ("fast", ["--fast-forward"])):
        run(program, "--quiet", *options, "--out", folder / out, path)
    for name, keys, columns in (("pfc.csv", ("time_ns", "node", "port", "prio"), ("tx_pause_duration_us", "rx_pause_duration_us")),
                                ("flows.csv", ("time_ns", "flow"), ("rx_pause_duration_us",))):
        full, fast = (rows(folder / out, name, keys) for out in ("full", "fast"))
        expect(len(full) > 0 and full.keys() == fast.keys(), f"{name}: other rows")
        most = max(float(row[c]) for row in full.values() for c in columns)
        expect(most > 100, f"{name}: nothing is paused for long: {most}")
        for key, row in full.items():
            for c in columns:
                a, b = float(row[c]), float(fast.get(key, row)[c])
                expect(abs(a - b) <= max(5, 0.02 * a), f"{name} {key}: {c} is {b}, not {a}")


def table(program, folder):
    """The table says what was left out, and nothing without the option."""
    path = ring(folder)
    said = run(program, "--fast-forward", path).stdout
    for word in ("fast_forward  ", "fast_forward_error  ", "fast_forward_simulated  "):
        expect(word in said, f"{word} is missing", said)
    expect("fast_forward" not in run(program, path).stdout, "the table has it without the option")
    expect("fast_forward" not in results(program, path), "results have it without the option")


def refused(program, folder):
    path = ring(folder)
    for options, what in ((["--fluid"], "--fluid"), (["--threads", 2], "--threads"), (["--alone"], "--alone"),
                          (["--trace", "ring", "--out", folder / "out"], "--trace"), (["--explain", "job ring"], "--explain of a flow or a job"),
                          (["--set", "record r.node=h1"], "[record r]")):
        done = run(program, "--fast-forward", *options, path)
        expect(done.returncode == 2 and what in done.stderr and done.stderr.count("\n") == 1, f"{options}: {done.stderr}")


in_folder(all_reduce, computing, two_jobs, flows, windows, capped, simulated, drift, marking, series, table, refused)
