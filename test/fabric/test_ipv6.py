#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics of IPv6: [fabric] ip_version = 6.

    test_ipv6.py QUENCH_LAB CONFIG_DIR CASE
"""
from scenarios import expect, in_folder, results, run, section, write_scenario

DUMP = section("event", "look", at_ns="1900us", action="dump")


def scenario(folder, rest, **fabric):
    keys = {"topology": "leaf_spine", "hosts": 8, "leaves": 2, "spines": 2, "link_rate_bps": "40G", "duration_ns": "2ms", "ip_version": 6}
    return write_scenario(folder / "ipv6.ini", keys | fabric, rest)


def routed(program, folder):
    """Flows cross IPv6 routers without loss, over all paths, in the time that the path allows, and alike with any number of threads."""
    rest = "[nic]\ncc = none\n" + section("flow", "f", src="1-4", dst=8, message_bytes="64KB", messages=4, qp_count=6)
    runs = [results(program, scenario(folder, rest + DUMP), "--threads", n) for n in (1, 2, 3)]
    expect(len({r["digest"] for r in runs}) == 1, "digests differ")
    r = runs[0]
    expect(all(f["messages_completed"] == 24 and f["retransmitted_packets"] == 0 for f in r["flows"]) and r["drops"] == [], f"{r['flows']} {r['drops']}")
    up = {p["peer"]: p["tx_packets"] for p in r["ports"] if p["node"] == "leaf1" and p["peer"].startswith("spine")}
    expect(len(up) == 2 and min(up.values()) > 100, f"both spines: {up}")
    alone = results(program, scenario(folder, section("flow", "f", src=1, dst=8, message_bytes="64KB", messages=1)))["flows"][0]
    expect(alone["slowdown_max"] == 1, f"{alone}")
    # A bridge has no say in it.
    bridged = results(program, scenario(folder, rest, topology="star"))
    expect(all(f["messages_completed"] == 24 for f in bridged["flows"]) and bridged["drops"] == [], f"{bridged['flows']}")


def packets(program, folder):
    """The packets are IPv6, and each router takes one off the hop limit."""
    rest = section("flow", "f", src=1, dst=8, message_bytes="1KB", messages=1) + section("record", "first", node="h1") + section("record", "last", node="h8")
    results(program, scenario(folder, rest), "--out", folder)
    sent, got = ((folder / f"{name}.pcapng").read_bytes() for name in ("first", "last"))
    addresses = bytes.fromhex("fd00" + "00" * 10 + "0a000002" + "fd00" + "00" * 10 + "0a000105")
    limits = [data[data.index(addresses) - 1] for data in (sent, got)]
    expect(limits[0] - limits[1] == 3, f"hop limits: {limits}")
    printed = run(program, "--check-config", scenario(folder, rest)).stdout
    expect("#   h8: fd00::a00:105, 02:00:00:00:00:08" in printed, printed[-600:])


def loop(program, folder):
    """Packets in a loop are dropped when their hop limit ends."""
    rest = "".join(f"[switch {name}]\nhosts = {n}\n" for name, n in (("A", 1), ("B", 0), ("D", 1)))
    rest += section("link", "one", ends="A B") + section("link", "two", ends="B D")
    rest += section("static_route", "back", at="B", to="D", via="A") + section("flow", "f", src="A/1", dst="D/1", message_bytes="1KB", messages=1)
    r = results(program, scenario(folder, rest, topology="graph", hosts=2))
    found = {d["reason"] for d in r["drops"] if d["node"] in ("A", "B")}
    expect(found == {"ttl"}, f"{r['drops']}")


def refused(program, folder):
    flow = section("flow", "f", src=1, dst=8)
    for rest, fabric, options, expected in (
            (flow, {"ip_version": 5}, (), "ip_version = 5: expected 4 or 6"),
            (flow, {}, ("--fluid",), "[fabric] ip_version = 6: expected 4: the packets of the fluid model are IPv4"),
            (section("stream", "s", src=1, dst=8), {}, (), "[stream s] headers: expected ethernet with ip_version = 6"),
            ("[switch]\nvlan_filtering = on\n[router]\nrouter_mac = 02:5a:00:00:00:fe\n[interface vlan 1]\nip = 10.0.10.1/24\n" + flow, {"topology": "star"}, (),
             "[interface vlan 1]: expected no interface with ip_version = 6")):
        done = run(program, *options, scenario(folder, rest, **fabric))
        expect(done.returncode == 2 and len(done.stderr.splitlines()) == 1 and expected in done.stderr, f"{fabric}: {done.stderr}")


if __name__ == "__main__":
    in_folder(routed, packets, loop, refused)
