#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Faults that a scenario schedules: each does what it says, to the frame and the nanosecond, and counts it by its name.

    test_faults.py QUENCH_LAB CONFIG_DIR CASE
"""
from scenarios import expect, in_folder, results, run, section
from test_events import IDLE, drops, event, scenario, shark

ALL = 1_000_000_000
NO_CC = "[nic]\ncc = none\nlocal_ack_timeout = 4\n"


def dump(r, name):
    return [d["nodes"] for d in r["dumps"] if d["name"] == name][0]


def faults(r, node, fault):
    return sum(f["packets"] for f in r["cable_faults"] if f["node"] == node and f["fault"] == fault)


def expect_whole(r, text):
    """Nothing is lost without a name: charged bytes of the switches, and frames of the hosts in an idle fabric."""
    ledger = r["ledger"]
    expect(ledger["in"] + ledger["copies"] + ledger["generated"] == ledger["queued"] + ledger["sent"] + ledger["dropped"]
           + ledger["consumed"], f"{text}: {ledger}")


def loss(program, folder):
    """Loss begins and ends at its time, hits the frames that it names, and is counted by their kind."""
    flow = NO_CC + section("flow", "f", src=1, dst=3, message_bytes="100KB", messages=20)
    fabric = {"duration_ns": "20ms"}
    for keys, reason, node in (({"frames": "all"}, "wire_loss", "s1"), ({"frames": "data"}, "wire_data_loss", "s1"),
                               ({"frames": "ack"}, "wire_ack_loss", "h1"), ({"frames": "cnp"}, "wire_cnp_loss", None),
                               ({"frames": "data", "direction": "rx"}, "wire_data_loss", None),
                               ({"frames": "data", "direction": "tx"}, "wire_data_loss", "s1")):
        rest = flow + event("bad", "100us", "loss", node="h1", for_ns="30us", frame_ppb=ALL, **keys)
        rest += "".join(event(f"d{t}", f"{t}us", "dump") for t in (100, 130, 140))
        r = results(program, scenario(folder, fabric, rest))
        at = {t: dump(r, f"d{t}")["s1"]["ports"][0] for t in (100, 130, 140)}
        lost = [d["packets"] for d in r["drops"] if d["reason"].startswith("wire_")]
        if node is None:
            expect(lost == [], f"{keys}: {r['drops']}")
        else:
            expect(len(lost) - (keys["frames"] == "all") == 1 and drops(r, node, reason) > 0, f"{keys}: {r['drops']}")
        if node == "s1":
            # What had left before still arrives: 1 us of cable, and the frame that is being sent.
            got = at[130]["rx_packets"] - at[100]["rx_packets"]
            expect(0 < got <= 6, f"{keys}: {got} frames while all are lost")
        expect(r["flows"][0]["messages_completed"] == 20, f"{keys}: {r['flows'][0]['messages_completed']} messages")
        sent = r["counters"]["tx_packets"]
        expect(sent == r["counters"]["rx_packets"] + sum(lost), f"{keys}: {sent} frames sent, {lost} lost")
        expect_whole(r, keys)
        expect(results(program, scenario(folder, fabric, rest))["digest"] == r["digest"], f"{keys}: another run")
    # Another event of the same kind takes it back as well.
    rest = flow + event("bad", "100us", "loss", node="h1", frame_ppb=ALL) + event("good", "130us", "loss", node="h1")
    by_event = results(program, scenario(folder, fabric, rest))
    rest = flow + event("bad", "100us", "loss", node="h1", frame_ppb=ALL, for_ns="30us")
    expect(by_event["digest"] == results(program, scenario(folder, fabric, rest))["digest"], "an end by an event")
    # What [link NAME] says is in force again behind for_ns.
    rest = flow + section("link", "bad", ends="h1 s1", frame_loss_ppb=ALL // 100)
    both = results(program, scenario(folder, fabric, rest + event("calm", "50us", "loss", node="h1", for_ns="19ms")))
    alone = results(program, scenario(folder, fabric, rest))
    expect(0 < drops(both, "s1", "wire_loss") < drops(alone, "s1", "wire_loss"), "no loss for a while")


def cnp_loss(program, folder):
    """Without CNPs a sender does not slow down, and those that arrive do."""
    flow = section("flow", "f", src="1-4", dst=5)
    rest = flow + event("deaf", "1us", "loss", node="h1", frames="cnp", frame_ppb=ALL)
    r = results(program, scenario(folder, {"hosts": 5, "duration_ns": "20ms"}, rest))
    flows = r["flows"]
    lost = drops(r, "h1", "wire_cnp_loss")
    expect(flows[0]["rp_cnp_handled"] == 0 and lost > 100, f"{flows[0]['rp_cnp_handled']} CNPs at h1, {lost} lost")
    # One may be in the switch's port when the run ends.
    expect(0 <= flows[0]["cnp_sent"] - lost <= 1, f"{flows[0]['cnp_sent']} CNPs sent, {lost} lost")
    expect(flows[0]["rate_cuts"] == 0 and all(f["rate_cuts"] > 20 for f in flows[1:]), f"cuts {[f['rate_cuts'] for f in flows]}")
    expect(flows[0]["wire_rate_bps"] > 3 * max(f["wire_rate_bps"] for f in flows[1:]), "the deaf one takes most")
    # Without pause frames a host goes on.
    rest = NO_CC + section("flow", "f", src="1,2", dst=3, message_bytes="1MB", messages=2)
    rest += event("deaf", "1us", "loss", node="h1", frames="pause", frame_ppb=ALL)
    r = results(program, scenario(folder, {"duration_ns": "5ms"}, "[buffer_profile lossless]\ndynamic = off\n"
                                  "static_th_bytes = 100KB\n" + rest))
    sent = [sum(c["tx_pause"] for c in r["pfc_counters"] if c["node"] == "s1" and c["port"] == p) for p in (0, 1)]
    expect(drops(r, "h1", "wire_pause_loss") == sent[0] > 0 and sent[1] > 0, f"{sent} pauses: {r['drops']}")
    expect(drops(r, "s1", "no_headroom") > 0, "a host that hears no pause fills the headroom")
    expect_whole(r, "pause")


def corrupt(program, folder):
    """What only the ICRC can catch reaches the NIC, and each is found there and sent again."""
    flow = NO_CC + section("flow", "f", src=1, dst=3, message_bytes="100KB", messages=20)
    bad = event("bad", "100us", "corrupt", node="h1", frame_ppb=ALL // 50, direction="tx", for_ns="200us")
    fabric = {"duration_ns": "20ms"}
    r = results(program, scenario(folder, fabric, flow + bad))
    n = faults(r, "s1", "corrupted")
    expect(n > 5 and drops(r, "h3", "bad_icrc") == n == r["counters"]["rx_icrc_encapsulated"], f"{n} corrupted: {r['drops']}")
    expect(len(r["cable_faults"]) == 1, f"{r['cable_faults']}")
    expect(r["flows"][0]["messages_completed"] == 20, "messages are missing")
    expect(r["counters"]["tx_packets"] == r["counters"]["rx_packets"], "frames are missing")
    expect_whole(r, "corrupt")
    # Nobody else looks at what was turned.
    r = results(program, scenario(folder, fabric, flow.replace("[nic]", "[nic]\nicrc_check = off") + bad))
    expect(faults(r, "s1", "corrupted") > 5 and r["flows"][0]["retransmitted_packets"] == 0, "icrc_check = off")
    # ACKs the other way: each lost one is covered by a later one or a timeout.
    r = results(program, scenario(folder, fabric, flow + bad.replace("tx", "rx").replace(str(ALL // 50), str(ALL // 2))))
    n = faults(r, "h1", "corrupted")
    expect(n > 0 and drops(r, "h1", "bad_icrc") == n, f"{n} ACKs: {r['drops']}")
    # What its FCS shows goes no further than the cable.
    rest = flow + event("bad", "100us", "bit_errors", node="h1", bit_errors_per_tbit=10_000_000, for_ns="200us")
    r = results(program, scenario(folder, fabric, rest))
    expect(drops(r, "s1", "wire_bit_error") > 5 and drops(r, "h3", "bad_icrc") == 0, f"{r['drops']}")
    expect(r["flows"][0]["messages_completed"] == 20, "messages are missing")


def capture(folder, name, n, gap_us):
    import scapy.all as scapy  # takes a second
    frames = []
    for i in range(n):
        frame = scapy.Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02", type=0x88B5) / (b"x" * (100 + i))
        frame.time = 1 + i * gap_us * 1e-6
        frames.append(frame)
    scapy.wrpcap(str(folder / name), frames)


def record(program, folder, rest):
    rest += section("record", "tor", node="s1", port="h2")
    results(program, scenario(folder, {}, IDLE + rest), "--out", folder / "out")
    rows = shark(folder / "out" / "tor.pcapng", ("frame.time_epoch", "frame.len", "eth.src"))
    return [(round(float(t) * 1e9), int(n) - 113) for t, n, src in rows if src == "02:00:00:00:00:02" and int(n) > 113 and float(t) < 900e-6]


def reorder(program, folder):
    """A frame comes behind the next ones, at their time, or late by the time that it may be."""
    capture(folder, "six.pcap", 6, 1)
    play = event("play", "10us", "send", node="h2", file="six.pcap")
    plain = record(program, folder, play)
    expect([n for _, n in plain] == [1, 2, 3, 4, 5, 6], f"{plain}")
    late = record(program, folder, play + event("swap", "5us", "reorder", node="h2", frame_ppb=ALL, reorder_frames=2,
                                                delay_ns="100us"))
    expect([n for _, n in late] == [2, 3, 1, 5, 6, 4], f"{late}")
    at = dict((n, t) for t, n in plain)
    expect(late == [(at[2], 2), (at[3], 3), (at[3], 1), (at[5], 5), (at[6], 6), (at[6], 4)], f"{late} not {plain}")
    late = record(program, folder, play + event("hold", "5us", "reorder", node="h2", frame_ppb=ALL, delay_ns="1500"))
    expect(late[:3] == [(at[2], 2), (at[1] + 1500, 1), (at[4], 4)], f"{late} not {plain}")
    # RC takes no frame out of order: it asks again, and all messages come.
    flow = NO_CC + section("flow", "f", src=1, dst=3, message_bytes="100KB", messages=20)
    rest = flow + event("swap", "100us", "reorder", node="h1", direction="tx", frame_ppb=ALL // 100, reorder_frames=3,
                        delay_ns="10us", for_ns="300us")
    r = results(program, scenario(folder, {"duration_ns": "20ms"}, rest))
    expect(faults(r, "s1", "reordered") > 5, f"{r['cable_faults']}")
    expect(r["counters"]["out_of_sequence"] > 5 and r["flows"][0]["retransmitted_packets"] > 5, f"{r['counters']}")
    expect(r["counters"]["tx_packets"] == r["counters"]["rx_packets"], "frames are missing")
    expect(r["flows"][0]["messages_completed"] == 20, "messages are missing")


def delay(program, folder):
    """A cable gets longer and shorter again; frames that are on it keep their order and their time."""
    capture(folder, "ten.pcap", 10, 1)
    play = event("play", "10us", "send", node="h2", file="ten.pcap")
    plain = record(program, folder, play)
    # Frames 1 to 3 have left at 12.5 us, 4 to 6 at 15.5 us.
    longer = record(program, folder, play + event("far", "12500ns", "delay", node="h2", delay_ns="5us", for_ns="3us"))
    last = plain[5][0] + 4000
    want = plain[:3] + [(t + 4000, n) for t, n in plain[3:6]] + [(max(t, last), n) for t, n in plain[6:]]
    expect(longer == want, f"{longer}, not {want}")
    # A shorter cable than any at the beginning: nodes hear of each other sooner.
    shorter = record(program, folder, play + event("near", "12500ns", "delay", node="h2", delay_ns=100))
    want = plain[:3] + [(max(t - 900, plain[2][0]), n) for t, n in plain[3:]]
    expect(shorter == want, f"{shorter}, not {want}")
    # Short from the first frame on is short from the start.
    flow = section("flow", "f", src="1,2", dst=3, message_bytes="100KB", messages=10, start_ns="10us")
    always = results(program, scenario(folder, {}, section("link", "near", ends="h1 s1", link_delay_ns=100) + flow))
    later = results(program, scenario(folder, {}, flow + event("near", 1, "delay", node="h1", delay_ns=100)))
    expect(always["digest"] == later["digest"], "another run")


def pause_storm(program, folder):
    """A host that holds its peer: XOFF again before it runs out, data stands still, until the storm ends."""
    flow = NO_CC + section("flow", "f", src=1, dst=3, message_bytes="1MB", messages=100)
    rest = flow + event("storm", "100us", "pause_storm", node="h3", for_ns="1ms")
    rest += "".join(event(f"d{t}", f"{t}us", "dump", node="s1") for t in (103, 1100))
    r = results(program, scenario(folder, {"duration_ns": "3ms"}, rest))
    still = [dump(r, f"d{t}")["s1"]["ports"][2]["tx_packets"] for t in (103, 1100)]
    expect(still[0] == still[1] > 0, f"sent in the storm: {still}")
    pfc = [c for c in r["pfc_counters"] if c["node"] == "s1" and c["port"] == 2][0]
    # XOFF, again after half of 65535 quanta (419 us) and of two times that, and XON.
    expect(pfc["rx_pause"] == 4 and pfc["rx_pause_duration_us"] == 1000, f"{pfc}")
    expect(r["ports"][2]["tx_packets"] > still[1] + 1000, "nothing after it")
    expect_whole(r, "storm")
    by_event = flow + event("storm", "100us", "pause_storm", node="h3") + event("end", "1100us", "pause_storm_end", node="h3")
    without = rest[:rest.index("[event d")]
    expect(results(program, scenario(folder, {"duration_ns": "3ms"}, by_event))["digest"]
           == results(program, scenario(folder, {"duration_ns": "3ms"}, without))["digest"], "an end by an event")
    # Without end, and whatever the NIC's own protection says.
    rest = flow.replace("[nic]", "[receiver]\ndevice_stall_minor_watermark_ns = 1ms\n"
                        "device_stall_critical_watermark_ns = 2ms\n[nic]")
    r = results(program, scenario(folder, {"duration_ns": "10ms"}, rest + event("storm", "100us", "pause_storm", node="h3")
                                  + event("then", "103us", "dump", node="s1")))
    expect(r["ports"][2]["tx_packets"] == dump(r, "then")["s1"]["ports"][2]["tx_packets"], "the storm ends by itself")
    pfc = [c for c in r["pfc_counters"] if c["node"] == "s1" and c["port"] == 2][0]
    expect(pfc["rx_pause"] == 1 + (10_000_000 - 100_000) // 419_424, f"{pfc}")
    r = results(program, scenario(folder, {"duration_ns": "1ms"}, flow.replace("[nic]", "[nic]\nflow_control = pause")
                                  + event("storm", "100us", "pause_storm", node="h3")))
    expect(r["counters"]["tx_pause_frames"] == 3, f"link pause: {r['counters']['tx_pause_frames']}")


def slow_receiver(program, folder):
    """A host that becomes slow takes what it drains, by pauses and without loss, and is itself again."""
    flow = NO_CC + section("flow", "f", src=1, dst=3, message_bytes="1MB", messages=1000)
    rest = flow + event("slow", "1ms", "slow_receiver", node="h3", drain_rate_bps="10G", for_ns="4ms")
    rest += "".join(event(f"d{t}", f"{t}us", "dump", node="s1") for t in (2000, 4000, 6000, 8000))
    r = results(program, scenario(folder, {"duration_ns": "8001us"}, rest))
    sent = {t: dump(r, f"d{t}")["s1"]["ports"][2]["tx_bytes"] for t in (2000, 4000, 6000, 8000)}
    slow, fast = (sent[4000] - sent[2000]) * 8 / 2e-3, (sent[8000] - sent[6000]) * 8 / 2e-3
    # XOFF at 100 KB, XON at 50 KB: the two windows differ by at most that.
    expect(abs(slow - 10e9) < 60e3 * 8 / 2e-3, f"{slow / 1e9:.2f} Gb/s while slow")
    expect(abs(fast - 40e9 * 1086 / 1106) < 0.01 * 40e9, f"{fast / 1e9:.2f} Gb/s after it")
    expect(r["drops"] == [], f"{r['drops']}")
    expect_whole(r, "slow")
    # The same from the start is what [receiver] says.
    fabric = {"duration_ns": "3ms", "slow_hosts": "3"}
    always = results(program, scenario(folder, fabric, "[receiver]\ndrain_rate_bps = 10G\n" + flow))
    later = results(program, scenario(folder, fabric, flow + event("slow", 1, "slow_receiver", node="h3", drain_rate_bps="10G")))
    expect(always["digest"] == later["digest"], "slow from the first nanosecond on, and slow from the start")


def restart(program, folder):
    """A switch that restarts loses what it holds, by name, and what it knew; its peers and it start again."""
    flow = NO_CC + section("flow", "f", src="1,2", dst=3, message_bytes="1MB", messages=2)
    flow += section("flow", "back", src=4, dst=1, message_bytes="1MB", messages=2)
    # h1 and h2 on s1, h3 and h4 on s2.
    fabric = {"hosts": 4, "topology": "dumbbell", "forwarding": "l2", "duration_ns": "30ms"}
    rest = "[buffer_profile lossless]\ndynamic = off\nstatic_th_bytes = 50KB\n" + flow
    rest += event("before", "200us", "dump") + event("power", "200us", "switch_restart", node="s1", for_ns="100us")
    rest += event("after", "200us", "dump") + event("off", "300us", "dump") + event("on", "310us", "dump")
    r = results(program, scenario(folder, fabric, rest))
    before, after, off, on = (dump(r, n)["s1"] for n in ("before", "after", "off", "on"))
    held = sum(q["queue_bytes"] for p in before["ports"] for q in p["queues"])
    left = sum(q["queue_bytes"] for p in after["ports"] for q in p["queues"])
    expect(held > 50_000 and left == 0, f"{held} bytes before, {left} behind the restart")
    lost = drops(r, "s1", "restart")
    expect(held / 1102 <= lost <= held / 64, f"{lost} frames of {held} bytes")
    expect([sum(p["drops"]["restart"] for p in n["ports"]) for n in (before, after, on)] == [0, lost, lost], "their time")
    expect(any(p["tx_prio3_pause"] > 0 for p in before["ports"][:2]), "no host was held before")
    for a, b, o in zip(before["ports"], off["ports"], on["ports"]):
        expect(a["tx_packets"] == b["tx_packets"] and a["rx_packets"] == b["rx_packets"], "traffic without power")
        expect(o["tx_packets"] > b["tx_packets"] or o["rx_packets"] > b["rx_packets"], "no traffic with power")
        expect(b["rx_packets"] > 0, "counters stay")
    kinds = sorted((e["node"], e["event"], e["at_ns"]) for e in r["events"])
    expect(kinds.count(("s2", "link_down", 200_000)) == 1 == kinds.count(("s2", "link_up", 300_000)), f"{kinds}")
    expect(len([k for k in kinds if k[0] == "s1"]) == 6, f"{kinds}")
    expect(all(f["messages_completed"] == 2 for f in r["flows"]), "messages are missing")
    # It has forgotten who is where, and floods until it has heard them.
    expect(drops(r, "h2", "not_for_us") > 0, f"{r['drops']}")
    expect_whole(r, "restart")
    expect(r["ledger"]["queued"] == 0 == r["buffer_used_bytes"], "frames stay")
    sent, got = r["counters"]["tx_packets"], r["counters"]["rx_packets"]
    expect(results(program, scenario(folder, fabric, rest))["digest"] == r["digest"], f"another run: {sent}, {got}")
    shards = results(program, scenario(folder, fabric, "[switch]\nshards = 2\n" + rest))
    expect(shards["ledger"]["queued"] == 0 == shards["buffer_used_bytes"] and drops(shards, "s1", "restart") > 0, "two shards")
    expect_whole(shards, "two shards")
    # A link that an event holds down is not brought up by a switch that is.
    rest += event("cut", "250us", "link_down", node="s1", port="h2", for_ns="200us")
    r = results(program, scenario(folder, fabric, rest))
    ups = [e["at_ns"] for e in r["events"] if e["event"] == "link_up" and e["node"] == "s1" and e["port"] == 1]
    expect(ups == [450_000], f"up at {ups}")


def reroute(program, folder):
    """Routers find the ways that are left when a link between them is gone, and come back to it."""
    # While half of the ways are gone a round trip takes longer than 65 us: a timer of that would send everything again, and again.
    slow_timer = NO_CC.replace("timeout = 4", "timeout = 8")
    flows = slow_timer + section("flow", "f", src="all", pattern="all_to_all", message_bytes="100KB", messages=40)
    fabric = {"hosts": 4, "topology": "leaf_spine", "leaves": 2, "spines": 2, "core_rate_bps": "100G", "duration_ns": "20ms"}
    cut = event("cut", "100us", "link_down", node="leaf1", port="spine1", for_ns="900us")
    cut += "".join(event(f"d{t}", f"{t}us", "dump") for t in (149, 151, 160, 999, 1049, 1100))
    r = results(program, scenario(folder, {**fabric, "reroute_after_ns": "50us"}, flows + cut))
    expect(all(f["messages_completed"] == 40 for f in r["flows"]), "messages are missing")

    def at(t, node, key):
        return sum(p["drops"][key] if key in p["drops"] else p[key] for p in dump(r, f"d{t}")[node]["ports"])
    # leaf1 has another way at once. spine1 has none to leaf1 until its routes change.
    expect(at(149, "leaf1", "link_down") == at(999, "leaf1", "link_down"),
           f"leaf1 sends into its dead link: {[at(t, 'leaf1', 'link_down') for t in (149, 999)]}")
    expect(0 < at(149, "spine1", "link_down") and at(160, "spine1", "link_down") == at(999, "spine1", "link_down"),
           f"spine1: {[at(t, 'spine1', 'link_down') for t in (149, 160, 999)]}")
    expect(at(999, "spine1", "tx_packets") == at(160, "spine1", "tx_packets") == at(1049, "spine1", "tx_packets"), "spine1 is left alone")
    expect(at(999, "spine2", "tx_packets") > at(160, "spine2", "tx_packets") + 1000, "all go by spine2")
    expect(at(1100, "spine1", "tx_packets") > at(1049, "spine1", "tx_packets"), "spine1 is used again")
    expect(sum(d["packets"] for d in r["drops"] if d["reason"] in ("lpm4_miss", "ttl")) == 0, f"{r['drops']}")
    expect(results(program, scenario(folder, {**fabric, "reroute_after_ns": "50us"}, flows + cut))["digest"] == r["digest"], "another run")
    # Routes that stay lead into the dead link until it is back.
    r = results(program, scenario(folder, fabric, flows + cut))
    expect(at(999, "spine1", "link_down") > at(160, "spine1", "link_down"), "nothing is sent into the dead link")
    # A leaf that has no way left: the others say so, and it is there again.
    rest = flows + event("a", "100us", "link_down", node="leaf1", port="spine1", for_ns="500us")
    rest += event("b", "120us", "link_down", node="leaf1", port="spine2", for_ns="500us") + event("d", "600us", "dump")
    r = results(program, scenario(folder, {**fabric, "leaves": 3, "hosts": 6, "reroute_after_ns": "50us"}, rest))
    nodes = dump(r, "d")
    lost = {n: sum(p["drops"]["lpm4_miss"] for p in nodes[n]["ports"]) for n in ("leaf1", "leaf2", "leaf3", "spine1", "spine2")}
    expect(lost["leaf1"] > 0 and lost["leaf2"] > 0 and lost["leaf3"] > 0, f"no way, but no drop: {lost}")
    expect(all(sum(p["drops"]["ttl"] for p in n["ports"]) == 0 for name, n in nodes.items() if "ports" in n), "a loop")
    expect(all(f["messages_completed"] == 40 for f in r["flows"]), "messages are missing")
    done = run(program, scenario(folder, {"reroute_after_ns": "1us"}, IDLE))
    expect(done.returncode == 2 and "[fabric] forwarding" in done.stderr, done.stderr)


def recording(program, folder):
    """A recording has what arrived, and not what a link that went down took off the cable."""
    flow = NO_CC + section("flow", "f", src=1, dst=2, message_bytes="1MB", messages=1)
    rest = flow + event("cut", "100us", "link_down", node="h2", for_ns="100us") + section("record", "h2", node="h2")
    rest += section("record", "port", node="s1", port="h2") + event("end", "990us", "dump", node="h2")
    r = results(program, scenario(folder, {}, rest), "--out", folder / "out")
    sent, got = ([float(t) for t, src, comment in shark(folder / "out" / f"{name}.pcapng", ("frame.time_epoch", "eth.src", "frame.comment"))
                  if src == "02:00:00:00:00:01" and not comment.startswith("dropped:")] for name in ("port", "h2"))
    lost = drops(r, "h2", "wire_link_down")
    expect(lost > 1 and len(got) == len(sent) - lost == dump(r, "end")["h2"]["counters"]["rx_packets"],
           f"{len(sent)} sent, {lost} lost, {len(got)} recorded")
    expect(got == sorted(got) and not [t for t in got if 100e-6 < t < 200e-6], "received while the link was down")


def link_reset(program, folder):
    """A host that was paused forgets it when its link goes down."""
    xoff = "0180c2000001" "020000000002" "8808" "0101" "0008" + "0000" * 3 + "ffff" + "0000" * 4 + "00" * 26
    rest = NO_CC + section("flow", "f", src=1, dst=2, message_bytes="1MB", messages=10)
    rest += event("xoff", "50us", "send", node="s1", port="h1", frame=xoff)
    rest += "".join(event(f"d{t}", f"{t}us", "dump", node="h1") for t in (60, 149, 151, 300))
    for cut, goes_on in (("", False), (event("cut", "100us", "link_down", node="h1", for_ns="50us"), True)):
        r = results(program, scenario(folder, {}, rest + cut))
        sent = [dump(r, f"d{t}")["h1"]["counters"]["tx_packets"] for t in (60, 149, 151, 300)]
        expect(0 < sent[0] and (sent[0] == sent[1] == sent[3]) != goes_on and (sent[3] > sent[2] + 400) == goes_on, f"{cut}: {sent}")


def for_ns(program, folder):
    """for_ns is the event that takes it back."""
    flow = NO_CC + section("flow", "f", src="1,2", dst=3, message_bytes="1MB", messages=2)
    for begin, end, keys in (("link_down", "link_up", {"port": "h3"}), ("tx_disable", "tx_enable", {"port": 2}),
                             ("pfc_delay", "pfc_delay", {"port": 0, "quanta": 1000})):
        rest = flow + event("a", "100us", begin, node="s1", for_ns="200us", **keys)
        short = results(program, scenario(folder, {"duration_ns": "5ms"}, rest))
        keys.pop("quanta", None)
        rest = rest.replace("for_ns = 200us\n", "") + event("b", "300us", end, node="s1", **keys)
        expect(short["digest"] == results(program, scenario(folder, {"duration_ns": "5ms"}, rest))["digest"], begin)


def refused(program, folder):
    """What cannot be is refused in one line."""
    for rest, words in ((event("x", "1us", "loss", node="h1", frame_ppb=ALL + 1), ("[event x]", "frame_ppb")),
                        (event("x", "1us", "loss", node="h1", frames="blue"), ("[event x]", "frames = blue", "cnp")),
                        (event("x", "1us", "loss", frame_ppb=1), ("[event x]", "node")),
                        (event("x", "1us", "delay", node="h1", direction="up"), ("[event x]", "direction = up")),
                        (event("x", "1us", "reorder", node="h1", frame_ppb=1), ("[event x] delay_ns",)),
                        (event("x", "1us", "link_up", node="h1", for_ns=5), ("[event x]", "for_ns = 5")),
                        (event("x", "1us", "dump", for_ns=5), ("[event x]", "for_ns = 5")),
                        (event("x", "1us", "pause_storm", node="s1"), ("[event x]", "node = s1", "a host")),
                        ("[nic]\nflow_control = off\n" + event("x", "1us", "pause_storm", node="h1"), ("[event x]", "flow_control")),
                        ("[receiver]\nxoff_bytes = 40KB\n" + event("x", "1us", "slow_receiver", node="h1", drain_rate_bps="1G"),
                         ("[event x]", "xon_bytes")),
                        (event("x", "1us", "switch_restart", node="h1", for_ns="1us"), ("[event x]", "node = h1")),
                        (event("x", "1us", "switch_restart", node="s1"), ("[event x] for_ns",))):
        done = run(program, scenario(folder, {}, IDLE + rest))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and all(w in done.stderr for w in words),
               f"{rest!r}: {done.returncode}, {done.stderr}")


if __name__ == "__main__":
    in_folder(loss, cnp_loss, corrupt, reorder, delay, pause_storm, slow_receiver, restart, reroute, recording, link_reset, for_ns, refused)
