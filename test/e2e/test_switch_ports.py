#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ports of one polling lcore: as many as there can be, each to every other, and each with the device that it is to have."""
import collections

from frames import read_pcap, roce, write_pcap
from harness import BUILD, Program, check, check_equal, eal, finish, run, work_dir

MOST = 32  # RTE_MAX_ETHPORTS of Debian's DPDK


def mac(port):
    return f"02:00:00:00:{port:02x}:01"


def config(ports, devices=()):
    stations = "".join(f"[fdb s{p}]\nmac = {mac(p)}\nport = {p}\n" for p in range(ports))
    return f"[switch]\nbuffer_bytes = 16MB\nmax_frame_bytes = 1600\n[pool]\nbacking_frame_bytes = 1600\n{stations}" \
           "[buffer_profile lossless]\nxoff_bytes = 100KB\n[port]\nlink_speed_bps = 10G\n" + \
           "".join(f"[port {p}]\nmac = 02:5a:00:00:00:{p:02x}\ndevice = {dict(devices).get(p, 'any')}\n"
                   for p in range(ports))


def frame(from_port, to_port):
    return roce(mac(from_port), mac(to_port), f"10.0.{from_port}.1", f"10.0.{to_port}.1", 0xC000 + from_port, to_port, 26, 2,
                bytes([from_port, to_port]))


def try_ports(work, name, ports, order, frames, named=None):
    """frames(port): what its capture holds. order: the ports' devices. named: their order on the command line, else that."""
    folder = work / name
    folder.mkdir()
    captures = {p: frames(p) for p in range(ports)}
    devices = {}
    for port, device in enumerate(order):
        write_pcap(folder / f"in{port}.pcap", captures[port])
        devices[device] = f"net_pcap{device},rx_pcap={folder}/in{port}.pcap,tx_pcap={folder}/out{port}.pcap"
    # Without a key of theirs ports have devices in the order of the command line; here only port 0 may be without.
    keys = [] if named is None else [(p, f"net_pcap{d}") for p, d in enumerate(order) if p > 0]
    switch = Program(folder, "switch", "switch", config(ports, keys),
                     eal(*(devices[d] for d in named or order), memory=256), "--stats-interval", 0.1, "--idle-sleep", 100)
    switch.wait_quiet()
    check_equal(f"{name}: exit code after SIGTERM", switch.stop(), 0)
    result = switch.json()
    check_equal(f"{name}: devices", [p["device"] for p in result["ports"]], [f"net_pcap{d}" for d in order])
    due = collections.defaultdict(list)
    for port, sent in captures.items():
        for f in sent:
            due[int.from_bytes(f[4:5], "big")].append(f)
    wrong = [p for p in range(ports) if sorted(read_pcap(folder / f"out{p}.pcap")) != sorted(due[p])]
    check_equal(f"{name}: ports that sent something else than what was for them", wrong, [])
    check_equal(f"{name}: drops", [p["drops"] for p in result["ports"] if any(p["drops"].values())], [])
    check_equal(f"{name}: buffer", (result["buffer_used_bytes"], result["ledger"]["in"]), (0, result["ledger"]["sent"]))


def main():
    work = work_dir()
    try_ports(work, "reversed", 4, [3, 2, 1, 0], lambda p: [frame(p, (p + k) % 4) for k in (1, 2, 3)])
    try_ports(work, "named", 4, [2, 0, 3, 1], lambda p: [frame(p, (p + k) % 4) for k in (1, 2, 3)], named=[3, 1, 2, 0])
    try_ports(work, "each to each", 16, range(16), lambda p: [frame(p, q) for q in range(16) if q != p] * 2)
    try_ports(work, "as many as there can be", MOST, range(MOST), lambda p: [frame(p, (p + k) % MOST) for k in (1, MOST - 1)])
    for what, ports, devices, words in (
            ("more ports than DPDK has devices", MOST + 1, (), (f"has {MOST + 1} ports", f"{MOST} devices at most")),
            ("a device that is not there", 2, [(1, "net_nul1")], ("[port 1] device = net_nul1", "expected", "any")),
            ("a device of two ports", 2, [(0, "net_null1"), (1, "net_null1")], ("[port 1] device = net_null1", "port 0"))):
        path = work / "wrong.ini"
        path.write_text(config(ports, devices))
        done = run(BUILD / "app/quench-switch/quench-switch", *eal("net_null0", "net_null1"), "--", "--config", path)
        check(f"{what} is refused, with the reason", done.returncode == 2 and all(w in done.stderr for w in words),
              (done.returncode, done.stderr))
    finish()


main()
