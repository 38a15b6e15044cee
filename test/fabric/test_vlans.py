#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bridges with VLANs, and the router between them: [link] access_vlan, [interface], [route], [neighbor].

    test_vlans.py QUENCH_LAB CONFIG_DIR CASE
"""
import re
import socket
import struct
import subprocess

from scenarios import expect, in_folder, results, run, section, write_scenario


def scenario(folder, fabric, rest):
    keys = {"hosts": 6, "link_rate_bps": "40G", "duration_ns": "5ms", **fabric}
    return write_scenario(folder / "vlans.ini", keys, rest)


FILTER = "[switch]\nvlan_filtering = on\n"
ROUTER = "[router]\nrouter_mac = 02:5a:00:00:00:fe\n"
TEN, TWENTY = section("interface", "vlan 10", ip="10.0.10.1/24"), section("interface", "vlan 20", ip="10.0.20.254/24")
DUMP = section("event", "look", at_ns="4900us", action="dump")


def links(first, second):
    return section("link", "ten", ends=first, access_vlan=10) + section("link", "twenty", ends=second, access_vlan=20)


def flow(name, src, dst, **keys):
    return section("flow", name, src=src, dst=dst, message_bytes="64KB", messages=3, **keys)


def complete(r, names):
    done = {f["name"]: (f["messages_completed"], f["retransmitted_packets"]) for f in r["flows"]}
    expect(done == {name: (3, 0) for name in names}, f"{done}")
    expect(r["drops"] == [] or all(d["packets"] == 0 for d in r["drops"]), f"{r['drops']}")


def nodes(r):
    return r["dumps"][0]["nodes"]


def counted(node, interface):
    (row,) = [i for i in node["interfaces"] if i["interface"] == interface]
    return row


def filtering(program, folder):
    """With nothing else said all hosts are in one VLAN, and what they do is what it was without."""
    off = results(program, scenario(folder, {}, flow("f", "1-5", 6)))
    on = results(program, scenario(folder, {}, FILTER + flow("f", "1-5", 6)))
    expect(off["digest"] == on["digest"], f"{off['digest']}, {on['digest']}")
    complete(on, [f"f h{i}" for i in range(1, 6)])
    # It may begin in the middle of a run.
    live = results(program, scenario(folder, {}, section("event", "e", at_ns="50us", action="set", set="switch.vlan_filtering=on") + flow("f", "1-5", 6)))
    # What was learned without VLANs is not known with them: until hosts have spoken again frames are flooded.
    expect(all(f["messages_completed"] == 3 for f in live["flows"]), f"{live['flows']}")
    expect({d["reason"] for d in live["drops"]} == {"not_for_us"}, f"{live['drops']}")


def routing(program, folder):
    """Two VLANs, and a router between them: over one switch, and over two with a tagged link between them."""
    flows = flow("same", 1, 2) + flow("across", "1-3", 6) + flow("back", 6, 1) + flow("read", 2, 5, verb="read")
    names = ["same h1", "across h1", "across h2", "across h3", "back h6", "read h2"]
    for fabric, where in (({"topology": "star"}, ("h1-h3 s1", "h4-h6 s1")), ({"topology": "dumbbell", "forwarding": "l2"}, ("h1-h3 s1", "h4-h6 s2")),
                          ({"topology": "dumbbell", "forwarding": "l2"}, ("s1/1-2,h3 s1", "s2 s2"))):
        r = results(program, scenario(folder, fabric, FILTER + ROUTER + TEN + TWENTY + links(*where) + flows + DUMP))
        complete(r, names)
        routed = {name: node["router"]["routed_packets"] for name, node in nodes(r).items() if "router" in node}
        # 63 packets of 1024 bytes for each message, of three flows across, one back and one READ; ACKs come on top.
        expect(sum(routed.values()) > 3 * 63 * 5, f"routed {routed}")
        for node in (n for n in nodes(r).values() if "router" in n):
            ten, twenty = counted(node, "vlan 10"), counted(node, "vlan 20")
            expect(ten["in_packets"] == twenty["out_packets"] and twenty["in_packets"] == ten["out_packets"], f"{ten}, {twenty}")
            expect(node["router"]["neigh_requests_sent"] == 0, f"{node['router']}")
        if fabric["topology"] == "dumbbell":
            # Each router routes what its own hosts send.
            expect(all(n > 0 for n in routed.values()), f"routed {routed}")


def recorded(folder, name):
    """Ethernet headers of a recording, with the direction left out: (dst, src, rest)."""
    done = subprocess.run(["tshark", "-r", str(folder / f"{name}.pcapng"), "-T", "fields", "-e", "eth.dst", "-e", "eth.src", "-e", "vlan.id", "-e", "ip.dst", "-e", "ip.ttl"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def addresses(program, folder):
    """Hosts have addresses of their VLAN's subnet, but for the router's; frames show it, and the tag between switches."""
    fabric = {"topology": "dumbbell", "forwarding": "l2", "hosts": 4}
    path = scenario(folder, fabric, FILTER + ROUTER + TEN + TWENTY + section("link", "a", ends="h1-h2 s1", access_vlan=10) +
                    section("link", "b", ends="h3 s2", access_vlan=20) + section("link", "c", ends="h4 s2", access_vlan=10) +
                    flow("f", 2, 3) + flow("g", 1, 4) + section("record", "at_h3", node="h3") + section("record", "between", node="s1", port="s2"))
    complete(results(program, path, "--out", folder / "out"), ["f h2", "g h1"])
    to_h3 = [f for f in recorded(folder / "out", "at_h3") if f[3] == "10.0.20.1"]
    # h1 .2, h2 .3 and h4 .4 of VLAN 10 (.1 is the router); h3 .1 of VLAN 20 (.254 is).
    expect(to_h3 and all(f[:3] == ["02:00:00:00:00:03", "02:5a:00:00:00:fe", ""] and f[4] == "63" for f in to_h3), f"{to_h3[:2]}")
    between = recorded(folder / "out", "between")
    expect({(f[2], f[3]) for f in between} == {("20", "10.0.20.1"), ("10", "10.0.10.3"), ("10", "10.0.10.4"), ("10", "10.0.10.2")}, f"{ {(f[2], f[3]) for f in between} }")
    bridged = [f for f in between if f[3] == "10.0.10.4"]
    expect(bridged and all(f[0] == "02:00:00:00:00:04" and f[4] == "64" for f in bridged), f"{bridged[:2]}")


def ipv4(src, dst, payload_bytes):
    """A header without options, of a protocol for experiments (RFC 3692)."""
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + payload_bytes, 0, 0, 64, 253, 0, socket.inet_aton(src), socket.inet_aton(dst))
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + head[12:]


def frames(program, folder):
    """Broadcasts stay in their VLAN; a tagged host takes part in several; a route and a neighbour are used."""
    broadcast, tagged = "ff" * 6 + "02000000000188b5" + "00" * 46, "ff" * 6 + "0200000000048100001488b5" + "00" * 46
    unicast = "025a000000fe0200000000010800" + ipv4("10.0.10.2", "10.99.0.1", 18).hex() + "00" * 26
    rest = (FILTER + ROUTER + TEN + TWENTY + section("link", "ten", ends="h1-h2 s1", access_vlan=10) + section("link", "twenty", ends="h3 s1", access_vlan=20) +
            section("link", "both", ends="h4 s1", access_vlan=10, tagged_vlans="20") + section("route", "10.99.0.0/16", nexthop="10.0.20.99") +
            section("neighbor", "10.0.20.99", mac="02:00:00:00:00:03"))
    send = section("event", "b", at_ns="10us", action="send", node="h1", frame=broadcast)
    r = results(program, scenario(folder, {"hosts": 4}, rest + send + DUMP))
    tx = [p["tx_packets"] for p in nodes(r)["s1"]["ports"]]
    expect(tx == [0, 1, 0, 1], f"broadcast in VLAN 10: {tx}")
    send = section("event", "b", at_ns="10us", action="send", node="h4", frame=tagged)
    r = results(program, scenario(folder, {"hosts": 4}, rest + send + DUMP))
    tx = [p["tx_packets"] for p in nodes(r)["s1"]["ports"]]
    expect(tx == [0, 0, 1, 0], f"broadcast with tag 20: {tx}")
    send = section("event", "u", at_ns="10us", action="send", node="h1", frame=unicast)
    r = results(program, scenario(folder, {"hosts": 4}, rest + send + DUMP))
    tx = [p["tx_packets"] for p in nodes(r)["s1"]["ports"]]
    expect(tx == [0, 0, 1, 0] and nodes(r)["s1"]["router"]["routed_packets"] == 1, f"route: {tx}, {nodes(r)['s1']['router']}")
    # A port with a subnet of its own.
    r = results(program, scenario(folder, {"hosts": 4}, ROUTER + section("interface", "port 3", ip="10.0.33.1/30") + section("interface", "port 0", ip="10.0.34.0/31") +
                                  flow("f", 1, 4) + flow("g", 2, 3) + DUMP))
    complete(r, ["f h1", "g h2"])
    expect(counted(nodes(r)["s1"], "port 0")["in_packets"] == counted(nodes(r)["s1"], "port 3")["out_packets"] > 180, f"{nodes(r)['s1']['interfaces']}")


def refused(program, folder):
    """What cannot be is one line that names file, section, key and value."""
    one = flow("f", 1, 4)
    vlans = FILTER + ROUTER + TEN + TWENTY + links("h1-h3 s1", "h4-h6 s1")
    rows = (
        ({}, section("link", "x", ends="h1 s1", access_vlan=10) + one, "[link x] access_vlan = 10: expected vlan_filtering = on in [switch]"),
        ({}, section("link", "x", ends="h1 s1", tagged_vlans=10) + one, "[link x] tagged_vlans = 10: expected vlan_filtering = on in [switch]"),
        ({}, FILTER + section("link", "x", ends="h1 s1", tagged_vlans="10-") + one, "[link x] tagged_vlans = 10-: expected none, or numbers"),
        ({}, FILTER + section("link", "x", ends="h1 s1", tagged_vlans="1-9") + one, "[link x] tagged_vlans = 1-9: expected VLANs without the access_vlan"),
        ({"topology": "dumbbell"}, FILTER + section("link", "x", ends="h1 s1", access_vlan=10) + one, "[link x] access_vlan = 10: expected forwarding = l2"),
        ({"topology": "dumbbell", "forwarding": "l2"}, FILTER + section("link", "x", ends="s1 s2", access_vlan=10) + one, "[link x] access_vlan = 10: expected the link of a host"),
        ({"topology": "dumbbell", "forwarding": "l2"}, FILTER + section("link", "x", ends="h1-h4 s1", access_vlan=10) + one, "[link x] ends = h1-h4 s1: expected two nodes"),
        ({"topology": "dumbbell", "forwarding": "l2"}, "[switch s2]\nvlan_filtering = on\n" + one, "[switch s2] vlan_filtering = on: expected the value of [switch]"),
        ({"topology": "dumbbell", "forwarding": "l2"}, ROUTER + section("interface", "port 0", ip="10.0.33.1/30") + one, "[interface port 0]: expected [interface vlan N]"),
        ({}, FILTER + links("h1-h3 s1", "h4-h6 s1") + one, "[flow f]: expected h1 (VLAN 10) and h4 (VLAN 20) in one VLAN, or an [interface]"),
        ({}, FILTER + ROUTER + TEN + links("h1-h3 s1", "h4-h6 s1") + one, "[flow f]: expected h1 (VLAN 10) and h4 (VLAN 20) in one VLAN"),
        ({}, FILTER + section("link", "x", ends="h1 s1", access_vlan=0) + one, "[flow f]: expected h1 (no VLAN) and h4 (VLAN 1) in one VLAN"),
        ({}, FILTER + ROUTER + section("interface", "vlan 10", ip="10.0.10.1/30") + TWENTY + links("h1-h3 s1", "h4-h6 s1") + one,
         "[interface vlan 10] ip = 10.0.10.1/30: expected a subnet with an address for each host: there is none for h2"),
        ({}, FILTER + ROUTER + "neighbor_entries = 16\n" + "".join(section("neighbor", f"10.0.10.{i}", mac="02:00:00:00:01:00") for i in range(100, 111)) +
         TEN + TWENTY + links("h1-h3 s1", "h4-h6 s1") + one, "[router] neighbor_entries = 16: expected 17 at least"),
        # A next hop of three routes is one neighbour.
        ({}, FILTER + ROUTER + "neighbor_entries = 16\n" + "".join(section("neighbor", f"10.0.10.{i}", mac="02:00:00:00:01:00") for i in range(100, 110)) +
         "".join(section("route", f"10.9.{i}.0/24", nexthop="10.0.10.120") for i in range(3)) + TEN + TWENTY + links("h1-h3 s1", "h4-h6 s1") + one,
         "[router] neighbor_entries = 16: expected 17 at least"),
        ({}, FILTER + TEN + TWENTY + links("h1-h3 s1", "h4-h6 s1") + one, "[interface vlan 10]: expected a router_mac in [router]"),
        ({}, vlans + section("event", "e", at_ns="1ms", action="set", set="interface vlan 10.ip=10.0.11.1/24") + one,
         "[event e] set: [interface]: cannot change while the program runs: it defines the address of h1"),
        ({}, vlans + section("event", "e", at_ns="1ms", action="set", set="interface vlan 20.ip=10.0.21.1/24") + one,
         "[event e] set: [interface]: cannot change while the program runs: it defines the address of h4"),
    )
    for fabric, rest, text in rows:
        path = scenario(folder, fabric, rest)
        done = run(program, path)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and re.search(re.escape(str(path)) + r":(\d+:)? " + re.escape(text), done.stderr),
               f"{text}: {done.stderr}")
    # The rest of an interface's VLAN may change.
    r = results(program, scenario(folder, {}, vlans + section("event", "e", at_ns="1us", action="set", set="wred.Kmax=300KB, router.ecmp_hash_seed=7") + one))
    complete(r, ["f h1"])
    path = scenario(folder, {}, vlans + one)
    (folder / "again.ini").write_text(run(program, "--check-config", path).stdout, encoding="utf-8")
    expect(results(program, path)["digest"] == results(program, folder / "again.ini")["digest"], "--check-config does not read back the same")


if __name__ == "__main__":
    in_folder(filtering, routing, addresses, frames, refused)
