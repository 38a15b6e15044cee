#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""VLANs, static addresses, interfaces, routes and neighbours that come and go while ports are full: not a frame of other
flows is dropped, what is new is used, and what is wrong is refused whole."""

import json
import re

from frames import ECT0, roce, write_pcap
from harness import Program, check, check_equal, check_ledger, finish, work_dir
from ctl import controller
from desk import Desk, eal, prefix
from metrics import Exporter

RELOADS = 60
STATIONS = ("02:00:00:00:00:01", "02:00:00:00:01:01")
ROUTER = "02:ff:00:00:00:01"
# Stations a and b in VLAN 10, on ports 0 and 1, flood nobody and are never learned: what others do is no matter to them.
PLAIN = f"""[switch]
buffer_bytes = 4MB
shards = SHARDS
vlan_filtering = on
fdb_entries = 8
[port]
link_speed_bps = 100G
access_vlan = 10
[port 0]
[port 1]
[port 2]
access_vlan = 30
[port 3]
access_vlan = 40
tagged_vlans = none
[fdb a]
mac = {STATIONS[0]}
vlan = 10
port = 0
[fdb b]
mac = {STATIONS[1]}
vlan = 10
port = 1
"""
# Port 2's station, which has talked to nobody, gets a way to what is behind port 3.
ROUTED = f"""[router]
router_mac = {ROUTER}
neighbor_entries = 4096
[interface vlan 30]
ip = 10.0.30.1/24
[interface port 3]
ip = 10.0.33.1/24
[neighbor 10.0.33.2]
mac = 02:00:00:00:03:02
[route 10.9.0.0/16]
nexthop = 10.0.33.2, 10.0.33.3
[route 10.9.128.0/17]
nexthop = blackhole
[fdb c]
mac = 02:00:00:00:02:01
vlan = 30
port = 2
"""
OTHER = PLAIN.replace("access_vlan = 10\n", "access_vlan = 10\ntagged_vlans = 20-29\nmax_learned_addresses = 7\n") \
    .replace("fdb_entries = 8", "fdb_entries = 64\nfdb_ageing_s = 30") + ROUTED
# What is appended, what is to be said of it.
WRONG = {
    "vlan": ("[fdb d]\nmac = 02:00:00:00:00:09\nvlan = 11\nport = 0\n",
             "[fdb d] vlan = 11: expected a VLAN that the port is a member of"),
    "hop": ("[route 10.8.0.0/16]\nnexthop = 10.0.99.1\n",
            "[route 10.8.0.0/16] nexthop = 10.0.99.1: expected addresses in the subnet of an [interface]"),
    "full": ("".join(f"[fdb x{i}]\nmac = 02:00:00:00:09:{i:02x}\nvlan = 10\nport = 0\n" for i in range(64)),
             "[switch] fdb_entries = 64: expected 67 at least, one for each [fdb]"),
    "hops": ("".join(f"[route 10.{100 + i // 16}.{i % 16}.0/24]\nnexthop = " + ", ".join(f"10.0.33.{2 + (16 * i + k) % 250}"
                                                                                        for k in range(16)) + "\n"
                     for i in range(40)).replace("neighbor_entries = 4096", ""),
             "[router] neighbor_entries = 16: expected 250 at least, one for each next hop and [neighbor]"),
    "fixed": ("[pool]\nbacking_frame_bytes = 1KB\n", "[pool] backing_frame_bytes = 1KB: cannot change while the program runs; it is 512B"),
}


def captures(work):
    for i in range(2):
        write_pcap(work / f"in{i}.pcap",
                   [roce(STATIONS[i], STATIONS[1 - i], f"10.0.10.{i + 1}", f"10.0.10.{2 - i}", 50000 + n, n, 26, ECT0, bytes(64 + n))
                    for n in range(32)])
    write_pcap(work / "in2.pcap", [roce("02:00:00:00:02:01", ROUTER, "10.0.30.5", "10.9.0.1", 50000, n, 0, ECT0, bytes(64))
                                   for n in range(32)])


def files(work, shards):
    plain, other = (text.replace("SHARDS", str(shards)) for text in (PLAIN, OTHER))
    (work / "plain.ini").write_text(plain)
    (work / "other.ini").write_text(other)
    for name, (more, _) in WRONG.items():
        base = other.replace("neighbor_entries = 4096", "neighbor_entries = 16") if name == "hops" else other
        (work / f"{name}.ini").write_text(base + more)
    return plain


def try_tables(shards, lcores):
    name = f"{shards} shards on {lcores} lcores"
    work = work_dir()
    captures(work)
    plain = files(work, shards)
    file_prefix = prefix(f"t{shards}{lcores}")
    devices = [f"net_pcap{i},rx_pcap={work}/in{i}.pcap,infinite_rx=1" for i in range(3)] + ["net_null0,no-rx=1"]
    switch = Program(work, "switch", "switch", plain, eal(file_prefix, *devices, lcores=lcores, memory=160),
                     "--stats-interval", 0)
    switch.wait_started()
    t = Desk(file_prefix)
    switch.wait_until("it answers", lambda: t.call("info"))
    sent = {}

    def moves(port):
        now = t.call("port", port=port)["tx_packets"]
        more = now > sent.get(port, 0) + 500
        sent[port] = max(now, sent.get(port, 0)) if more else sent.get(port, 0)
        return more

    def passes(port):
        sent[port] = t.call("port", port=port)["tx_packets"]
        switch.wait_until(f"port {port} sends", lambda: moves(port))

    for i in range(RELOADS):
        passes(0)
        file = "plain" if i % 2 else "other"
        reply = t.call("reload", file=f"{work}/{file}.ini")
        if reply["changed"] < 10:
            check(f"{name}: {file}.ini comes into force", False, reply)
        if file == "other":
            passes(3)
    check_equal(f"{name}: routes went with their file", t.rows("routes"), [])

    t.call("reload", file=f"{work}/other.ini")
    check_equal(f"{name}: VLANs", t.call("vlans"),
                {"vlan_filtering": True, "rows": [{"vlan": 10, "untagged": "0-1", "tagged": ""},
                                                  *({"vlan": vlan, "untagged": "", "tagged": "0-2"} for vlan in range(20, 30)),
                                                  {"vlan": 30, "untagged": "2", "tagged": ""}]})
    check_equal(f"{name}: routes", [(row["prefix"], row["nexthop"]) for row in t.rows("routes")],
                [("10.9.0.0/16", "10.0.33.2, 10.0.33.3"), ("10.9.128.0/17", "blackhole")])
    neighbours = t.rows("neigh")
    check(f"{name}: neighbours", ("10.0.33.2", "permanent") in [(row["ip"], row["state"]) for row in neighbours], neighbours)
    fdb = t.rows("fdb")
    check(f"{name}: addresses", ("02:00:00:00:02:01", "vlan 30", "static") in [(row["mac"], row["domain"], row["type"]) for row in fdb], fdb)
    before = t.rows("config")
    for wrong, (_, said) in WRONG.items():
        refused = t.refusal("reload", file=f"{work}/{wrong}.ini")
        check_equal(f"{name}: {wrong} is refused", re.sub(r"(?<=\.ini:)\d+:", "", refused), f"{work}/{wrong}.ini: {said}")
    check_equal(f"{name}: and nothing has changed", t.rows("config"), before)

    check_equal(f"{name}: a route by set", t.set("route 10.9.0.0/17.nexthop=10.0.33.2")["changed"], 1)
    check_equal(f"{name}: a next hop by set", t.set("route 10.9.0.0/17.nexthop=blackhole")["changed"], 1)
    check("a route that is not there is not removed", "there is no [route 10.99.0.0/16]" in t.refusal("remove", routes=["10.9.0.0/17", "10.99.0.0/16"]), name)
    check_equal(f"{name}: nothing was removed", "10.9.0.0/17" in t.column("routes", "prefix"), True)
    lost = t.call("port", port=2)["drops"]["blackhole_route"]
    switch.wait_until("frames go nowhere", lambda: t.call("port", port=2)["drops"]["blackhole_route"] > lost)
    check_equal(f"{name}: what is not in the file is said", t.column("config_changes", "section"), ["route 10.9.0.0/17"])
    check_equal(f"{name}: a route is removed", t.call("remove", routes=["10.9.0.0/17"])["changed"], 1)
    check_equal(f"{name}: it is gone", "10.9.0.0/17" in t.column("routes", "prefix"), False)
    check_equal(f"{name}: it is back by set", t.set("route 10.9.0.0/17.nexthop=blackhole")["changed"], 1)
    check_equal(f"{name}: VLANs by set", t.set("port 1.tagged_vlans=20,25-26")["changed"], 1)
    check_equal(f"{name}: ports of a VLAN", t.rows("vlans")[2]["tagged"], "0,2")
    check_equal(f"{name}: LLDP by set", t.set("lldp.lldp=on")["changed"], 1)
    switch.wait_until("LLDP is sent", lambda: min(t.column("lldp", "tx_frames")) > 0)
    check_equal(f"{name}: back to the file", t.call("reload", file=f"{work}/other.ini")["changed"], 3)
    passes(3)
    passes(0)

    check_equal(f"{name}: exit code", switch.stop(), 0)
    result = switch.json()
    dropped = {p["port"]: {d: n for d, n in p["drops"].items() if n > 0} for p in result["ports"]}
    # Of two shards on fewer CPUs one may have to wait for the other, and then drops, reload or not.
    if shards == 1:
        check_equal(f"{name}: others lose nothing", (dropped[0], dropped[1]), ({}, {}))
    # A burst in which a neighbour is asked for, or the time in which there was no route.
    known = {"same_port", "link_down", "blackhole_route", "unresolved_next_hop", "lpm4_miss", "non_routable", "vlan_tag_not_allowed"}
    if shards > 1:
        known.add("packet_memory")
    check(f"{name}: who had no way was dropped for that", set(dropped[2]) <= known, dropped[2])
    check_ledger(name, result)
    print(f"# {sum(p['tx_packets'] for p in result['ports'])} frames")


def try_quenchctl():
    work = work_dir()
    plain = files(work, 1)
    file_prefix = prefix("tq")
    switch = Program(work, "switch", "switch", plain, eal(file_prefix, *(f"net_null{i},no-rx=1" for i in range(4)), memory=160),
                     "--stats-interval", 0, "--idle-sleep", 1000)
    switch.wait_started()
    ctl = controller(file_prefix, cwd=work)
    done = ctl("reload", "other.ini")
    check("sections that come are listed", done.returncode == 0 and "route 10.9.0.0/16" in done.stdout and "fdb c" in done.stdout,
          done.stdout + done.stderr)
    for words, text in ((("show", "vlan"), "0-2"), (("show", "route"), "10.9.128.0/17"), (("show", "neighbors"), "02:00:00:00:03:02"),
                        (("show", "fdb"), "vlan 30"), (("show", "router", "interfaces"), "10.0.33.1/24")):
        done = ctl(*words)
        check(" ".join(words), done.returncode == 0 and text in done.stdout, done.stdout + done.stderr)
    done = ctl("reload", "full.ini")
    check("a full table is refused in a line", done.returncode == 2 and done.stderr.count("\n") == 1 and WRONG["full"][1] in done.stderr,
          done.stderr)
    check_equal("exit code", switch.stop(), 0)


MOST_HOPS = 256


def hops(first, n=MOST_HOPS):
    """n addresses of a subnet of 1,022."""
    return [f"10.0.{32 + k // 256}.{k % 256}" for k in range(first, first + n)]


def many_hops(listed):
    """A switch whose route has these next hops, each a known neighbour, as a mapping of sections."""
    return {
        "switch": {"buffer_bytes": "4MB", "shaper_burst_ns": "200us"},
        "port": {"link_speed_bps": "100G"}, "port 0": {}, "port 1": {},
        "router": {"router_mac": ROUTER, "neighbor_entries": 4096},
        "interface port 0": {"ip": "10.0.30.1/24"}, "interface port 1": {"ip": "10.0.32.1/22"},
        "route 10.9.0.0/16": {"nexthop": ", ".join(listed)},
        **{f"neighbor {ip}": {"mac": f"02:00:00:01:{k >> 8:02x}:{k & 255:02x}"} for k, ip in enumerate(hops(2, 600))}}


def ini_of(sections):
    return "".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for name, keys in sections.items())


def try_many_hops():
    """A route with the most next hops, from files of each format and by set: all are in force, counted and exported, and one more is refused."""
    work, name = work_dir(), prefix("hops")
    first, second, third, over = (many_hops(hops(k, n)) for k, n in ((2, MOST_HOPS), (258, MOST_HOPS), (300, MOST_HOPS - 1), (2, MOST_HOPS + 1)))
    (work / "second.yaml").write_text("".join(f'"{section}":{"" if keys else " {}"}\n' + "".join(f'  {key}: "{value}"\n' for key, value in keys.items())
                                              for section, keys in second.items()))
    (work / "third.json").write_text(json.dumps(third))
    (work / "over.ini").write_text(ini_of(over))
    write_pcap(work / "in.pcap", [roce("02:00:00:00:02:01", ROUTER, "10.0.30.5", "10.9.0.1", 50000 + n, n, 0, ECT0, bytes(64)) for n in range(64)])
    switch = Program(work, "switch", "hops", ini_of(first), eal(name, f"net_pcap0,rx_pcap={work}/in.pcap,infinite_rx=1", "net_null1,no-rx=1", memory=160),
                     "--stats-interval", 0, "--idle-sleep", 1000)
    switch.wait_started()
    t = Desk(name)

    def of_route():
        row, = t.rows("routes")
        return re.split(", *", row["nexthop"])

    def used():
        return {row["nexthop"] for row in t.rows("nexthops") if row["out_packets"]}

    check_equal("256 next hops of an INI file", of_route(), hops(2))
    check_equal("each has a row", sorted(t.column("nexthops", "nexthop")), sorted(hops(2)))
    switch.wait_until("more are used than a route had places for", lambda: len(used()) > 16)
    check_equal("by YAML", (t.call("reload", file=f"{work}/second.yaml")["changed"], of_route()), (1, hops(258)))
    switch.wait_until("those of the YAML file are used", lambda: len(used() & set(hops(258))) > 16)
    exporter = Exporter(work)
    exported = {re.search('nexthop="([^"]+)"', series)[1] for series in exporter.samples() if series.startswith("quench_nexthop_out_packets_total") and name in series}
    check_equal("metrics have each", exported, set(hops(258)))
    check_equal("exporter: exit code", exporter.stop(), 0)
    check_equal("by JSON, one less", (t.call("reload", file=f"{work}/third.json")["changed"], of_route()), (1, hops(300, MOST_HOPS - 1)))
    check_equal("by set", (t.set("route 10.9.0.0/16.nexthop=" + ",".join(hops(2)))["changed"], of_route()), (1, hops(2)))
    for what, refused in (("set", t.refusal("set", settings=["route 10.9.0.0/16.nexthop=" + ",".join(hops(2, MOST_HOPS + 1))])),
                          ("reload", t.refusal("reload", file=f"{work}/over.ini"))):
        check(f"{what}: one more is refused in a line", "[route 10.9.0.0/16] nexthop" in refused and "expected blackhole, or addr" in refused and "\n" not in refused, refused)
    check_equal("and nothing has changed", of_route(), hops(2))
    check_equal("exit code", switch.stop(), 0)


def main():
    try_many_hops()
    try_quenchctl()
    try_tables(1, 1)
    try_tables(1, 2)
    try_tables(2, 3)
    finish()


main()
