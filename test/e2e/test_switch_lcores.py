#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch on several polling lcores: ports dealt out or given, frames that cross, one ledger.

Each port of net_pcap reads frames of one host to all others, and some to all at once. Whatever shards the ports are
in, each frame leaves once by the port of its destination, in order, and copies leave by all.
"""
import collections
import os

from frames import read_pcap, write_pcap
from harness import CORES, Program, check, check_equal, check_ledger, eal, finish, run, work_dir

PORTS = 4
FRAMES = 600  # of one host to each other

CONFIG = """
[switch]
buffer_bytes = 8MB
max_frame_bytes = 1600
{more}
[pool]
backing_frame_bytes = 256
[buffer_profile lossy]
dynamic = off
static_th_bytes = 4MB
[buffer_profile egress_lossy]
dynamic = off
static_th_bytes = 4MB
[port]
link_speed_bps = 10G
"""


def mac(host):
    return bytes([2, 0, 0, 0, 0, host])


def frame(source, destination, number):
    """Not IP; who sent it and how many before it stand behind the EtherType."""
    to = b"\xff" * 6 if destination is None else mac(destination)
    return to + mac(source) + bytes.fromhex("88b5") + number.to_bytes(4, "big") + bytes(100)


def captures(n_ports):
    """Broadcasts first: whoever they come from is known when the others begin, or a frame to it is flooded."""
    for port in range(n_ports):
        frames = [frame(port, None, i) for i in range(20)]
        for i in range(20, FRAMES):
            frames += [frame(port, to, i) for to in range(n_ports) if to != port]
        yield port, frames


def lcores(workers):
    """A main lcore that sleeps and so many that poll, on whatever cores there are."""
    return ["--lcores", ",".join(f"{i}@{CORES[i % len(CORES)]}" for i in range(workers + 1))]


def config(n_ports, more="", shards=None):
    text = CONFIG.format(more=more)
    for port in range(n_ports):
        text += f"[port {port}]\nmac = 02:5a:00:00:00:0{port}\n"
        text += f"shard = {shards[port]}\n" if shards else ""
    return text


def start(work, name, n_ports, workers, text):
    folder = work / name.replace(' ', '_').replace(',', '')
    folder.mkdir()
    for port, frames in captures(n_ports):
        write_pcap(folder / f"in{port}.pcap", frames)
    devices = [f"net_pcap{p},rx_pcap={folder}/in{p}.pcap,tx_pcap={folder}/out{p}.pcap" for p in range(n_ports)]
    options = lcores(workers) + eal(*devices, memory=128)[2:]
    return folder, Program(folder, "switch", "switch", text, options, "--idle-sleep", 200, "--stats-interval", 0.2)


def check_out(name, folder, n_ports):
    """Each frame once where it belongs, and beside that only what was flooded while its host was unknown."""
    for port in range(n_ports):
        out = read_pcap(folder / f"out{port}.pcap")
        last = collections.defaultdict(lambda: -1)
        mine, broadcasts = collections.Counter(), collections.Counter()
        disorder = 0
        for f in out:
            source, number = f[11], int.from_bytes(f[14:18], "big")
            if f[:6] == mac(port):
                mine[source, number] += 1
            elif f[:6] == b"\xff" * 6:
                broadcasts[source, number] += 1
            # A frame to another host was flooded; it is in order too, with what this port got of its sender.
            if f[:6] == mac(port) or f[:6] == b"\xff" * 6:
                disorder += number <= last[source]
                last[source] = number
        others = [p for p in range(n_ports) if p != port]
        check_equal(f"{name}: port {port} got all broadcasts once",
                    broadcasts, collections.Counter({(s, i): 1 for s in others for i in range(20)}))
        check_equal(f"{name}: port {port} got all its frames once",
                    mine, collections.Counter({(s, i): 1 for s in others for i in range(20, FRAMES)}))
        check_equal(f"{name}: port {port} got them in order", disorder, 0)


def forwards(work, name, n_ports, workers, expected, more="", shards=None):
    """expected: for each shard, its ports."""
    folder, switch = start(work, name, n_ports, workers, config(n_ports, more, shards))
    switch.wait_quiet()
    check_equal(f"{name}: exit code", switch.stop(), 0)
    result = switch.json()
    check_equal(f"{name}: shards", [p["shard"] for p in result["ports"]],
                [next(i + 1 for i, ports in enumerate(expected) if p in ports) for p in range(n_ports)])
    if len(expected) > 1:
        for i, ports in enumerate(expected):
            line = f"lcore {i + 1} polls port {' '.join(map(str, ports))}\n" if ports else f"lcore {i + 1} polls no port"
            check(f"{name}: says which lcore has which ports", line in switch.err(), switch.err())
    check_equal(f"{name}: says who stays idle", "stay idle" in switch.err(), workers > len(expected))
    check_out(name, folder, n_ports)
    check_equal(f"{name}: drops", {k: n for p in result["ports"] for k, n in p["drops"].items() if n}, {})
    check_ledger(name, result)
    check_equal(f"{name}: bytes queued", result["ledger"]["queued"], 0)
    check_equal(f"{name}: buffer in use", result["buffer_used_bytes"], 0)


def refused(work, name, text, workers, *words):
    path = work / f"{name}.ini"
    path.write_text(text)
    devices = [f"net_null{p}" for p in range(PORTS)]
    binary = os.environ.get("QUENCH_BUILD", "build") + "/app/quench-switch/quench-switch"
    done = run(binary, *lcores(workers), *eal(*devices, memory=128)[2:], "--", "--config", path)
    check_equal(f"{name}: exit code", done.returncode, 2)
    check(f"{name}: says why", all(word in done.stderr for word in words), done.stderr)


def main():
    work = work_dir()
    forwards(work, "two lcores, four ports", 4, 2, [[0, 2], [1, 3]])
    forwards(work, "ports in any order", 4, 2, [[1, 2, 3], [0]], shards=[2, 1, 1, 1])
    forwards(work, "a lcore for each port", 3, 3, [[0], [1], [2]])
    forwards(work, "more lcores than ports", 2, 3, [[0], [1]])
    forwards(work, "one shard on two lcores", 2, 2, [[0, 1]], more="shards = 1")
    refused(work, "more shards than lcores", config(PORTS, "shards = 3"), 2, "[switch] shards = 3", "2 lcores")
    refused(work, "a shard that is not there", config(PORTS, shards=[1, 2, 3, 1]), 2, "with 2 shards", "shard of a port")
    finish()


main()
