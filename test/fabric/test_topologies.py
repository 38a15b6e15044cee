#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics of several switches: every host is reached, by shortest paths, over all of them.

    test_topologies.py QUENCH_LAB CONFIG_DIR CASE
"""
from scenarios import expect, fewer, in_folder, results, run, section, write_scenario


def scenario(folder, fabric, rest, name="fabric"):
    keys = {"duration_ns": "1ms", **fabric}
    return write_scenario(folder / f"{name}.ini", keys, rest)


def flow(name, src, dst, **keys):
    return section("flow", name, src=src, dst=dst, **keys)


def ring(hosts, step=1):
    """Each host sends one packet to another one."""
    return "".join(flow(f"f{i}", i + 1, (i + step) % hosts + 1, message_bytes=1024, messages=1)
                   for i in range(hosts))


# By host: which switch; by two switches: how many cables are between them.
def row(switches):
    return lambda a, b: abs(a - b)


def testbed(a, b):
    return 0 if a == b else 2 if a // 2 == b // 2 else 4


def clos(a, b):
    return 0 if a == b else 2


def fat_tree(a, b):
    return 0 if a == b else 2 if a // 2 == b // 2 else 4


SHAPES = [
    ({"topology": "star"}, 5, 1, row(1)),
    ({"topology": "dumbbell"}, 6, 2, row(2)),
    ({"topology": "dumbbell", "forwarding": "l2"}, 6, 2, row(2)),
    ({"topology": "parking_lot", "switches": 5}, 10, 5, row(5)),
    ({"topology": "parking_lot", "switches": 5, "forwarding": "l2"}, 10, 5, row(5)),
    ({"topology": "testbed"}, 20, 4, testbed),
    ({"topology": "leaf_spine", "leaves": 4, "spines": 3}, 12, 4, clos),
    ({"topology": "fat_tree", "fat_tree_k": 4}, 16, 8, fat_tree),
]


def reach(program, folder):
    """Everyone reaches everyone, nothing is lost or flooded, and each frame crosses as few cables as can be."""
    for keys, hosts, edges, cables in SHAPES:
        for step in fewer((hosts // 2, 1, hosts - 1), 1):
            path = scenario(folder, {**keys, "hosts": hosts}, ring(hosts, step))
            r = results(program, path)
            what = f"{keys}, {step} further"
            expect(all(f["messages_completed"] == 1 for f in r["flows"]), f"{what}: messages are missing")
            expect(r["drops"] == [], f"{what}: {r['drops']}")
            per = hosts // edges
            # A packet and its ACK.
            hops = sum(2 * (2 + cables(i // per, (i + step) % hosts // per)) for i in range(hosts))
            expect(r["frames"] == 2 * hosts, f"{what}: {r['frames']} frames")
            expect(r["packet_hops"] == hops, f"{what}: {r['packet_hops']} hops, not {hops}")


def ports(r, node):
    return {p["peer"]: p for p in r["ports"] if p["node"] == node}


def ecmp(program, folder):
    """QPs are spread over all ways, each keeps to one, and stages do not choose alike."""
    rest = flow("up", "T1", "T4/1", qp_count=64, message_bytes=1024, messages=1)
    rest += flow("down", "T4", "T1/1", qp_count=64, message_bytes=1024, messages=1)
    fabric = {"topology": "testbed", "hosts": 8}
    r = results(program, scenario(folder, fabric, rest))
    expect(all(f["messages_completed"] == 64 for f in r["flows"]), "messages are missing")
    expect(all(f["retransmitted_packets"] == 0 for f in r["flows"]), "packets overtook others")
    for node, ways in (("T1", ("L1", "L2")), ("L1", ("S1", "S2")), ("L2", ("S1", "S2")), ("S1", ("L3", "L4")),
                       ("S2", ("L3", "L4")), ("T4", ("L3", "L4"))):
        sent = [ports(r, node)[way]["tx_packets"] for way in ways]
        expect(min(sent) > 0.2 * sum(sent) > 0, f"{node} sent {sent} to {ways}")
    # 128 packets and as many ACKs, on each stage.
    for nodes, ways in ((("T1",), ("L1", "L2")), (("L1", "L2"), ("S1", "S2")), (("S1", "S2"), ("L3", "L4")),
                        (("L3", "L4"), ("T4",))):
        sent = sum(ports(r, n)[w]["tx_packets"] for n in nodes for w in ways)
        expect(sent == 256, f"{nodes} sent {sent} packets to {ways}")
    r = results(program, scenario(folder, {**fabric, "ecmp_seed_by_stage": "off"}, rest))
    sent = [ports(r, "L1")[way]["tx_packets"] for way in ("S1", "S2")]
    expect(min(sent) == 0 < max(sent), f"with one seed L1 sends {sent} to the spines: no polarisation")


def seeds(program, folder):
    """The seed of a run changes the paths of its flows; one seed gives one run."""
    path = scenario(folder, {"topology": "testbed", "hosts": 8}, flow("up", "T1", "T4/1", qp_count=8, message_bytes=1024, messages=1))
    found = {}
    for seed in fewer((1, 2, 3, 4), 2):
        first, again = (results(program, path, "--seed", seed) for _ in range(2))
        expect(first["digest"] == again["digest"], f"seed {seed}: another run")
        found[seed] = tuple(ports(first, node)[way]["tx_packets"] for node in ("T1", "L1", "L2", "S1", "S2") for way in ports(first, node))
    expect(len(set(found.values())) == len(found), f"seeds with the same paths: {found}")


def bottleneck(program, folder):
    """The longest queue is found wherever it is, and told with its peer."""
    rest = "[nic]\ncc = none\n" + flow("far", "1-2", "5", message_bytes="1MB", messages=1)
    fabric = {"topology": "parking_lot", "hosts": 6, "switches": 3, "duration_ns": "2ms"}
    r = results(program, scenario(folder, {**fabric, "core_rate_bps": "10G"}, rest))
    b = r["bottleneck"]
    expect((b["node"], b["port"]) == ("s1", 2), f"bottleneck {b['node']} port {b['port']}")
    expect(ports(r, "s1")["s2"]["link_speed_bps"] == 10_000_000_000, "the core's speed")
    # Two senders at 40G each, 10G away, PFC holds them: the queue is there most of the time.
    expect(b["queue_mean_bytes"] > 100_000, f"mean queue {b['queue_mean_bytes']}")
    expect(b["link_use"] > 0.8, f"link use {b['link_use']}")
    link = "[link slow]\nends = s2 s3\nlink_rate_bps = 1G\n"
    r = results(program, scenario(folder, fabric, link + rest))
    b = r["bottleneck"]
    # h3 and h4 have the ports 0 and 1 of s2, s1 the next one.
    expect((b["node"], b["port"]) == ("s2", 3), f"bottleneck {b['node']} port {b['port']}")


def sections(program, folder):
    """A switch and a link may differ from the others; what is printed reads back the same."""
    rest = "[switch]\nbuffer_bytes = 2MB\n[switch s2]\nbuffer_bytes = 4MB\npfc_generate = off\n"
    rest += "[link a]\nends = s1 s2\nlink_delay_ns = 5us\n[link b]\nends = h1 s1\nlink_rate_bps = 10G\n"
    rest += flow("f", 1, 2, message_bytes=1024, messages=1)
    path = scenario(folder, {"topology": "dumbbell", "hosts": 2}, rest)
    r = results(program, path)
    # Each way four times the serialization, 1 us, 5 us and 1 us of cable; the first link is the slow one.
    data, ack = 1024 + 16 + 82, 82 + 4
    rtt = sum(size * 8 // 10 + 2 * size * 8 // 40 + 7000 for size in (data, ack))
    expect(abs(r["flows"][0]["rtt_ns"] - rtt) < 10, f"round trip of {r['flows'][0]['rtt_ns']} ns, not {rtt}")
    expect(ports(r, "s1")["h1"]["link_speed_bps"] == 10_000_000_000, "the host's speed")
    printed = folder / "printed.ini"
    printed.write_text(run(program, "--check-config", path).stdout, encoding="utf-8")
    text = printed.read_text(encoding="utf-8")
    expect("[switch s2]" in text and "[link b]" in text, "printed sections")
    expect(results(program, printed)["digest"] == r["digest"], "printed: another run")
    expect(run(program, "--check-config", printed).stdout == text, "printed again, it differs")
    # s2 alone drops where s1 would pause.
    rest = "[nic]\ncc = none\n[switch]\nbuffer_bytes = 2MB\n" + flow("f", "1-3", "6", message_bytes="1MB")
    fabric = {"topology": "dumbbell", "hosts": 6, "core_rate_bps": "100G"}
    pauses = {}
    for name, change in (("all", ""), ("s2", "[switch s2]\npfc_generate = off\n")):
        r = results(program, scenario(folder, fabric, change + rest))
        pauses[name] = {p["node"] for p in r["pfc_counters"] if p["tx_pause"]}
        expect(bool(r["drops"]) == (name == "s2"), f"{name}: drops {r['drops']}")
    expect("s2" in pauses["all"] and "s2" not in pauses["s2"], f"pauses of {pauses}")


def one_switch(program, folder):
    """A switch may have profiles, maps, groups and queues of its own; what is printed reads back the same."""
    common = "[nic]\ncc = none\n[buffer_profile lossless]\ndynamic = off\nstatic_th_bytes = 300KB\n[wred]\nwred_green_enable = off\n"
    common += "[wred step]\ngreen_min_threshold_bytes = 10KB\ngreen_max_threshold_bytes = 10KB\n" + flow("f", "1-3", "6", message_bytes="1MB")
    fabric = {"topology": "dumbbell", "hosts": 6, "core_rate_bps": "100G"}
    own = "[switch s2]\n[switch s2 buffer_profile lossless]\nstatic_th_bytes = 40KB\n[switch s2 queue 3]\nwred_profile = step\n"
    most, marked = {}, {}
    for name, rest in (("alike", ""), ("own", own)):
        path = scenario(folder, fabric, rest + common)
        r = results(program, path)
        for p in r["ports"]:
            queue = [q for q in p["queues"] if q["queue"] == 3]
            if (p["node"], p["peer"]) == ("s2", "h6"):
                most[name], marked[name] = queue[0]["watermark_bytes"], queue[0]["ecn_marked_packets"]
            elif queue:
                expect(queue[0]["ecn_marked_packets"] == 0, f"{name}: {p['node']} marks")
    # One ingress port of s2 has all of the queue: what it may hold, and what comes until the pause works.
    expect(most["alike"] > 300_000 and 40_000 < most["own"] < 120_000, f"{most}")
    expect(marked["alike"] == 0 < marked["own"], f"{marked}")
    text = run(program, "--check-config", path).stdout
    expect("[switch s2 buffer_profile lossless]" in text and "[switch s2 buffer_profile lossy]" not in text, "what differs is printed")
    printed = folder / "printed.ini"
    printed.write_text(text, encoding="utf-8")
    expect(results(program, printed)["digest"] == r["digest"], "printed: another run")
    expect(run(program, "--check-config", printed).stdout == text, "printed again, it differs")
    for rest, words in (("[switch s1 queue 3]\nwred_profile = step\n", ("[switch s1 queue 3]", "[switch NAME]")),
                        ("[switch s1]\n[switch s1 bufer_profile lossy]\nxoff_bytes = 1\n", ("[switch s1 bufer_profile lossy]",)),
                        ("[switch s1]\n[switch s1 queue 8]\nwred_profile = step\n", ("[switch s1 queue 8]",)),
                        ("[switch s1]\n[switch s1 queue 4|3]\nwred_profile = step\n", ("[switch s1 queue 4|3]", "an existing port")),
                        ("[switch s1]\n[switch s1 queue 3]\nwred_profile = stop\n", ("[switch s1 queue 3]", "wred_profile = stop")),
                        ("[switch s1]\n[switch s1 buffer_profile lossless]\nstatic_th_bytes = 1PB\n", ("[switch s1 buffer_profile lossless]",
                                                                                                "static_th_bytes")),
                        ("[switch s1]\n[switch s1 buffer_profile lossless]\nxoff_bytes = 11MB\n", ("[switch s1 buffer_profile lossless] xoff_bytes",))):
        done = run(program, scenario(folder, fabric, rest + common))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and all(w in done.stderr for w in words),
               f"{rest!r}: {done.returncode}, {done.stderr}")


def static_route(name, at, to, via):
    return f"[static_route {name}]\nat = {at}\nto = {to}\nvia = {via}\n"


def static_routes(program, folder):
    """A static route goes over the shortest path; in a loop frames go around until their TTL ends."""
    graph = "".join(f"[switch {s}]\nhosts = 1\n" for s in "abcd")
    graph += "".join(f"[link {a}{b}]\nends = {a} {b}\n" for a, b in ("ab", "bc", "cd", "da"))
    fabric = {"topology": "graph", "hosts": 4}
    one = flow("f", 1, 4, message_bytes=1024, messages=1)
    long_way = static_route("one", "a", "d", "b") + static_route("two", "b", "d", "c")
    for routes, there in (("", 3), (long_way, 5)):
        r = results(program, scenario(folder, fabric, graph + routes + one))
        expect(r["flows"][0]["messages_completed"] == 1 and r["packet_hops"] == there + 3, f"{routes}: {r['packet_hops']} hops")
    # b sends it back to a: 64 hops at the first router leave 63 cables between routers. Two more lead the router's ICMP error
    # to h1, for which it is no RoCE.
    loop = static_route("one", "a", "d", "b") + static_route("two", "b", "d", "a")
    r = results(program, scenario(folder, fabric, graph + loop + one + "[nic]\nlocal_ack_timeout = 0\n"))
    expect([(d["node"], d["reason"], d["packets"]) for d in r["drops"]] == [("b", "ttl", 1), ("h1", "not_roce", 1)], f"{r['drops']}")
    expect(r["packet_hops"] == 64 + 2, f"{r['packet_hops']} hops")
    printed = run(program, "--check-config", scenario(folder, fabric, graph + long_way + one)).stdout
    expect("[static_route two]" in printed, "printed sections")
    for route, key in ((static_route("x", "h1", "d", "b"), "at"), (static_route("x", "a", "a", "b"), "to"),
                       (static_route("x", "a", "h4", "b"), "to"), (static_route("x", "a", "d", "c"), "via")):
        done = run(program, scenario(folder, fabric, graph + route + one))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and f"[static_route x] {key}" in done.stderr, done.stderr)
    done = run(program, scenario(folder, {"topology": "dumbbell", "hosts": 2, "forwarding": "l2"}, static_route("x", "s1", "s2", "s2")
                                 + flow("f", 1, 2)))
    expect(done.returncode == 2 and "[fabric] forwarding" in done.stderr, done.stderr)


def refused(program, folder):
    """Wrong graphs are refused in one line that names the section."""
    one = flow("f", 1, 2)
    for fabric, rest, words in (
            ({"topology": "testbed", "hosts": 8, "forwarding": "l2"}, one, ("[fabric]", "forwarding")),
            ({"topology": "star", "hosts": 513}, one, ("[fabric]", "hosts", "512 ports")),
            ({"topology": "graph", "hosts": 2}, one, ("[switch]",)),
            ({"topology": "graph", "hosts": 2}, "[switch a]\nhosts = 1\n[switch b]\nhosts = 1\n" + one,
             ("fabric.ini:10: [flow f]", "src = 1", "joined by links")),
            ({"topology": "star", "hosts": 2}, "[switch s9]\n" + one, ("[switch s9]", "name of a switch")),
            ({"topology": "star", "hosts": 2}, "[switch h1]\n" + one, ("[switch h1]", "no host")),
            ({"topology": "star", "hosts": 2}, "[switch s1]\nhosts = 2\n" + one, ("[switch s1]", "hosts")),
            ({"topology": "star", "hosts": 2}, "[switch s1]\nbufer_bytes = 2\n" + one, ("bufer_bytes", "buffer_bytes")),
            ({"topology": "star", "hosts": 2}, "[link x]\nends = h1 h2\n" + one, ("[link x]", "ends")),
            ({"topology": "star", "hosts": 2}, "[link x]\nlink_rate_bps = 1G\n" + one, ("[link x]", "ends")),
            ({"topology": "dumbbell", "hosts": 2}, "[route 0.0.0.0/0]\nnexthop = 10.0.0.1\n" + one,
             ("[fabric]", "forwarding")),
            ({"topology": "star", "hosts": 2}, flow("f", "h1", "T1/1"), ("[flow f]", "dst"))):
        done = run(program, scenario(folder, fabric, rest))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and all(w in done.stderr for w in words),
               f"{fabric} {rest!r}: {done.returncode}, {done.stderr}")


def large(program, folder):
    """1,024 hosts in a three-tier fat tree: built, run, and within a gigabyte."""
    import resource
    rest = flow("f", "1-64", 1024, message_bytes=1024, messages=1)
    path = scenario(folder, {"topology": "fat_tree", "fat_tree_k": 16, "hosts": 1024, "duration_ns": "100us"}, rest)
    r = results(program, path)
    expect(sum(f["messages_completed"] for f in r["flows"]) == 64, "messages are missing")
    expect(r["packet_hops"] == 64 * 2 * 6, f"{r['packet_hops']} hops")
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    expect(used <= 1_000_000, f"{used} KB of memory")


def many_switches(program, folder):
    """Sections of switches take the memory of the ports that their switches have, not of the most that a switch may have."""
    import os
    import resource
    # Meson sets it: glibc then writes to all memory that is allocated, used or not.
    os.environ.pop("MALLOC_PERTURB_", None)

    def used(n):
        rest = "".join(section("switch", f"s{i}", hosts=1) for i in range(n))
        rest += "".join(section("link", f"l{i}", ends=f"s{i} s{i + 1}") for i in range(n - 1))
        r = results(program, scenario(folder, {"topology": "graph", "hosts": n}, rest + flow("f", 1, 2, message_bytes=1024, messages=1)))
        expect(r["packet_hops"] == 2 * 3, f"{n} switches: {r['packet_hops']} hops")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

    few, many = used(20), used(120)
    # A sanitizer surrounds each block of memory with its own.
    most = 1000 if "ASAN_OPTIONS" in os.environ else 700
    expect((many - few) / 100 <= most, f"{few} KB with 20 switches and {many} with 120")


def many_ports(program, folder):
    """A switch of 512 ports: all work alike, also those that share a bit of a mask, and pauses reach each sender."""
    # All frames arrive in one nanosecond: the buffer holds them, beside the headroom of 512 ports.
    path = scenario(folder, {"topology": "star", "hosts": 512}, "[switch]\nbuffer_bytes = 16MB\n" + ring(512, 257))
    r = results(program, path)
    expect(all(f["messages_completed"] == 1 for f in r["flows"]), "star: messages are missing")
    expect(r["drops"] == [] and r["packet_hops"] == 4 * 512, f"star: {r['drops']}, {r['packet_hops']} hops")
    # Without congestion control, 267 senders fill their groups: each is paused, and no frame is lost.
    rest = flow("f", "1-8,70,130,255,257-512", 256, message_bytes="64KB", messages=1)
    r = results(program, scenario(folder, {"topology": "star", "hosts": 512, "duration_ns": "5ms"},
                                  "[nic]\ncc = none\n[switch]\nbuffer_bytes = 60MB\n[buffer_profile lossless]\n"
                                  "dynamic = off\nstatic_th_bytes = 20KB\n" + rest))
    senders = sorted((*range(0, 8), 69, 129, 254, *range(256, 512)))
    expect(sum(f["messages_completed"] for f in r["flows"]) == len(senders), "incast: messages are missing")
    expect(r["drops"] == [], f"incast: {r['drops']}")
    paused = sorted(p["port"] for p in r["pfc_counters"] if p["node"] == "s1" and p["tx_pause"] > 0)
    expect(paused == senders, f"paused {paused}")
    # The sections of queues hold at every port, also when an event changes one.
    rest = "".join(flow(f"f{port}", port, port + 2, qp_count=1) for port in (40, 88, 299))
    rest += section("event", "slower", at_ns="500us", action="set", set="queue 3.max_rate_bps=2G")
    r = results(program, scenario(folder, {"topology": "star", "hosts": 512},
                                  "[nic]\ncc = none\n[queue 3]\nmax_rate_bps = 6G\n[queue 300|3]\nmax_rate_bps = 1G\n" + rest))
    sent = [f["goodput_bps"] for f in r["flows"]]
    expect(3.6e9 < sent[0] < 4.0e9 and abs(sent[1] / sent[0] - 1) < 0.01 and 0.9e9 < sent[2] < 1.1e9, f"queues send {sent}")
    # Two routers with 500 hosts each: subnets of more than 253 hosts.
    graph = {"topology": "graph", "hosts": 1000}
    r = results(program, scenario(folder, graph, "[switch a]\nhosts = 500\n[switch b]\nhosts = 500\n"
                                  "[link x]\nends = a b\n[link y]\nends = a b\n" + ring(1000, 500)))
    expect(all(f["messages_completed"] == 1 for f in r["flows"]), "routers: messages are missing")
    expect(r["drops"] == [] and r["packet_hops"] == 3 * r["frames"] >= 6000, f"routers: {r['drops']}, {r['packet_hops']} hops")


def many_routes(program, folder):
    """38 routers of 66 routes each and more: each takes memory by its routes, and not 33.5 MB."""
    for version in (4, 6):
        path = scenario(folder, {"topology": "leaf_spine", "leaves": 22, "spines": 16, "hosts": 44, "ip_version": version}, ring(44, 3))
        r = results(program, path)
        expect(all(f["messages_completed"] == 1 for f in r["flows"]) and r["drops"] == [], f"IPv{version}: messages are missing, {r['drops']}")
        expect(r["packet_hops"] == 4 * r["frames"] == 4 * 88, f"IPv{version}: {r['packet_hops']} hops of {r['frames']} frames")
    # Two bridges whose router has more routes of IPv6 than a small table of them holds.
    rest = "[router]\nrouter_mac = 02:00:00:02:00:00\n" + section("interface", "vlan 1", ip6="fd50::1/64") + flow("f", 1, 2, message_bytes="1KB", messages=1)
    rest += "[switch]\nvlan_filtering = on\n" + "".join(section("route", f"fd60:{i:x}::/64", nexthop="fd50::2") for i in range(1100))
    r = results(program, scenario(folder, {"topology": "dumbbell", "forwarding": "l2", "hosts": 4}, rest))
    expect(r["flows"][0]["messages_completed"] == 1, f"1,100 routes: {r['flows'][0]}")


def high_ports(program, folder):
    """Faults at ports that share a bit of a mask with others (64 and 256 apart) are those of one port."""
    def event(name, at_ns, action, **keys):
        return section("event", name, at_ns=at_ns, action=action, **keys)

    # One link down: the three other ports go on alike, and a broadcast reaches all but the one without a link.
    rest = "".join(flow(f"f{port}", i + 1, port + 1, message_bytes="4KB", messages=0) for i, port in enumerate((299, 43, 107, 363)))
    rest += event("down", "300us", "link_down", node="s1", port=299)
    rest += event("call", "500us", "send", node="h257", port=0, frame="ffffffffffff0200000001000806" + "00" * 46)
    r = results(program, scenario(folder, {"topology": "star", "hosts": 512}, rest))
    down, *others = (f["messages_completed"] for f in r["flows"])
    expect(0 < down < 0.4 * others[0] and len(set(others)) == 1, f"link down: {down}, {others} messages")
    expect(all(d["port"] == 299 for d in r["drops"] if d["reason"] == "link_down"), f"link down: {r['drops']}")
    heard = [d["node"] for d in r["drops"] if d["reason"] == "neigh_malformed"]
    expect(sorted(heard) == sorted(f"h{h}" for h in range(1, 513) if h not in (257, 300)), f"broadcast: {len(heard)} hosts")
    # Two routers of 304 ports: a cable fails and comes back, and a host pauses its port until the watchdog acts.
    rest = "[switch a]\nhosts = 300\n[switch b]\nhosts = 300\n" + "".join(section("link", f"l{i}", ends="a b", link_rate_bps="100G") for i in range(4))
    rest += "[pfcwd]\npfcwd = sonic\naction = drop\npoll_interval_ns = 100us\ndetection_time_ns = 200us\nrestoration_time_ns = 200us\n"
    rest += "".join(flow(f"f{h}", h, 300 + h, message_bytes="16KB", messages=0) for h in (1, 2, 65, 129, 257, 300))
    rest += event("down", "300us", "link_down", node="a", port=301) + event("up", "700us", "link_up", node="a", port=301)
    rest += event("storm", "200us", "pause_storm", node="h265", for_ns="500us")
    r = results(program, scenario(folder, {"topology": "graph", "hosts": 600, "duration_ns": "1200us"}, rest))
    expect(all(f["messages_completed"] > 20 for f in r["flows"]), f"reroute: {[f['messages_completed'] for f in r['flows']]}")
    expect({d["port"] for d in r["drops"] if d["reason"] in ("link_down", "wire_link_down")} == {301}, f"reroute: {r['drops']}")
    storms = [(e["node"], e["event"], e["port"]) for e in r["events"] if e["event"].startswith("storm")]
    expect(storms == [("a", "storm_detected", 264), ("a", "storm_restored", 264)], f"watchdog: {storms}")


def memory(program, folder):
    """What idle hosts and switches take, by the program's own figures; and rows of flows are bounded."""
    fabric = {"topology": "fat_tree", "fat_tree_k": 16, "hosts": 1024, "duration_ns": "2us"}
    r = results(program, scenario(folder, fabric, flow("a", 1, 2, message_bytes=1024, messages=1) + flow("b", "3-12", 900), "idle"), "--set", "fabric.flow_rows=4")
    m = r["memory"]
    expect(0 < m["hosts_bytes"] < 1024 * 100_000, f"1,024 hosts: {m}")
    expect(0 < m["switches_bytes"] < 320 * 900_000 and m["most_bytes"] > m["switches_bytes"], f"320 switches: {m}")
    expect([f["name"] for f in r["flows"]] == ["a h1", "b h3", "b h4", "b h5"] and r["unlisted_flows"] == 7, f"{len(r['flows'])}, {r['unlisted_flows']}")
    for hosts in (65537, 70000):
        done = run(program, scenario(folder, {**fabric, "hosts": hosts}, flow("a", 1, 2), "many"))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and "from 2 to 65536" in done.stderr, done.stderr)


if __name__ == "__main__":
    in_folder(memory, reach, many_switches, many_ports, many_routes, high_ports, ecmp, seeds, bottleneck, sections, one_switch, static_routes, refused, large)
