#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Any number of threads gives the same run, to the byte: test_threads.py LAB CONFIG_DIR CASE"""
import json
import pathlib
import re
import sys
import tempfile

from scenarios import expect, run, section, with_config, write_scenario

# Each fault, event, and file that a run can have.
REST = """
[switch]
buffer_bytes = 1MB
pfc_generate = on
[nic]
flow_control = pfc
""" + section("flow", "all", pattern="permutation", src="all", message_bytes="64KB", arrival="poisson", load_bps="4G") \
    + section("flow", "reads", src="1-3", dst=9, verb="read", message_bytes="20KB", seed=3) \
    + section("event", "loss", action="loss", at_ns="100us", for_ns="200us", node="h1", frame_ppb=5000000) \
    + section("event", "lossy", action="loss", at_ns="40us", node="h6", frame_ppb=5000000) \
    + section("event", "bad", action="corrupt", at_ns="100us", node="h5", frame_ppb=20000000) \
    + section("event", "late", action="reorder", at_ns="50us", node="h6", frame_ppb=20000000, reorder_frames=3, delay_ns="2us") \
    + section("event", "cut", action="link_down", at_ns="300us", for_ns="50us", node="leaf1", port="spine1") \
    + section("event", "storm", action="pause_storm", at_ns="120us", for_ns="100us", node="h11") \
    + section("event", "slow", action="slow_receiver", at_ns="150us", for_ns="100us", node="h7", drain_rate_bps="2G") \
    + section("event", "frame", action="send", at_ns="160us", node="h9", count=50, rate_bps="1G", frame="ffffffffffff020000000009" + "0806" + "00" * 60) \
    + section("event", "set", action="set", at_ns="200us", set="wred.Kmin=50KB") \
    + section("event", "dump", action="dump", at_ns="250us") \
    + section("event", "again", action="switch_restart", at_ns="400us", for_ns="30us", node="spine2") \
    + section("record", "host", node="h5") + section("record", "up", node="leaf2", port="spine2")
FABRIC = {"topology": "leaf_spine", "leaves": 4, "spines": 2, "hosts": 16, "link_rate_bps": "25G", "core_rate_bps": "50G", "duration_ns": "500us",
          "measure_from_ns": 0, "sample_ns": "20us", "link_delay_ns": "1us", "reroute_after_ns": "20us"}


def files(program, scenario, threads):
    """Name and content of each file of a run, without real times and memory."""
    with tempfile.TemporaryDirectory(prefix="quench-threads-") as folder:
        done = run(program, "--quiet", "--threads", threads, "--trace", "all", "--out", folder, scenario)
        expect(done.returncode == 0, f"{threads} threads: {done.stderr}")
        found = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    results = json.loads(found["results.json"])
    for key in ("wall_seconds", "packet_hops_per_second", "memory"):
        results["run"].pop(key, None) if "run" in results else results.pop(key, None)
    return {**found, "results.json": results}


def compare(program, fabric, rest, numbers):
    with tempfile.TemporaryDirectory(prefix="quench-threads-") as folder:
        scenario = write_scenario(pathlib.Path(folder) / "all.ini", fabric, rest)
        one = files(program, scenario, 1)
        expect(set(one) >= {"results.json", "trace.csv", "host.pcapng", "up.pcapng", "counters.csv"}, "files", sorted(one))
        expect(one["messages.csv"].count(b"\n") > 50, "messages", one["messages.csv"].count(b"\n"))
        expect(len(one["host.pcapng"]) > 10000, "a recording with frames", len(one["host.pcapng"]))
        for threads in numbers:
            many = files(program, scenario, threads)
            expect(set(many) == set(one), f"{threads} threads: other files", set(many) ^ set(one))
            for name, content in one.items():
                expect(many.get(name) == content, f"{threads} threads: another {name}")


def outputs(program, _):
    compare(program, FABRIC, REST, (2, 3, 4, 8, 33))


def near(program, _):
    """Short cables to the hosts: a switch and its hosts have windows of their own."""
    links = "".join(section("link", f"at{leaf}", ends=f"h{2 * leaf - 1}-h{2 * leaf} leaf{leaf}", link_delay_ns="10ns") for leaf in range(1, 13))
    compare(program, {**FABRIC, "leaves": 12, "hosts": 24}, REST + links, (2, 5, 33))


def explain(program, config):
    """A flow is followed from node to node, and a job along its critical path."""
    for what, scenario, duration in (("incast h1", "incast-4to1.ini", "1ms"), ("job ring", "job-all-reduce.ini", "3ms")):
        one, four = (run(program, "--duration", duration, "--explain", what, "--threads", threads, f"{config}/{scenario}") for threads in (1, 4))
        expect(one.returncode == 0 and len(one.stdout.splitlines()) > 5, f"{what}: nothing is explained", one.stderr)
        expect(one.stdout == four.stdout, f"{what}: another explanation")


def refused(program, config):
    for text in ("0", "65", "-1", "two", "1.5", ""):
        done = run(program, "--threads", text, f"{config}/incast-4to1.ini")
        expect(done.returncode == 2 and re.fullmatch(rf"quench-lab: error: --threads {re.escape(text)}: expected 1 to 64\n", done.stderr), text, done.stderr)


with_config(outputs, near, explain, refused)
