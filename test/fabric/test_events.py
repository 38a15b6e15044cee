#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scheduled events and faulty links: what happens, when, to whom, is counted, exactly where time is virtual.

    test_events.py QUENCH_LAB CONFIG_DIR CASE
"""
import csv
import re
import subprocess

from scenarios import expect, in_folder, results, run, section, write_scenario

ETHER = "020000000001" "020000000009"  # to host 1 from a station that nobody has


def scenario(folder, fabric, rest):
    keys = {"hosts": 3, "link_rate_bps": "40G", "link_delay_ns": "1us", "duration_ns": "1ms", **fabric}
    return write_scenario(folder / "events.ini", keys, rest)


def event(name, at_ns, action, **keys):
    return section("event", name, at_ns=at_ns, action=action, **keys)


def drops(r, node, reason):
    return sum(d["packets"] for d in r["drops"] if d["node"] == node and d["reason"] == reason)


IDLE = section("flow", "none", src=2, dst=3, start_ns="999us", messages=1, message_bytes=64)


def loss(program, folder):
    """Frames are lost at the rate that is set, by their own counters, and go-back-N mends it."""
    flow = "[nic]\ncc = none\n" + section("flow", "f", src=1, dst=2, message_bytes="64KB")
    fabric = {"duration_ns": "10ms"}
    clean = results(program, scenario(folder, fabric, flow))
    for keys, reason, share in (({"frame_loss_ppb": 1_000_000}, "wire_loss", 1e-3),
                                # of 1086 bytes: 1 - (1 - 1e-7)^8688
                                ({"bit_errors_per_tbit": 100_000}, "wire_bit_error", 8.684e-4)):
        path = scenario(folder, fabric, section("link", "bad", ends="h1 s1", **keys) + flow)
        r = results(program, path)
        sent = r["counters"]["tx_packets"]
        lost = drops(r, "s1", reason)
        data = r["ports"][1]["tx_packets"] + lost
        sigma = (data * share) ** 0.5
        expect(abs(lost - data * share) < 4 * sigma, f"{reason}: {lost} of {data}, not {data * share:.0f}")
        expect({d["reason"] for d in r["drops"]} <= {reason, "out_of_sequence"}, f"{reason}: {r['drops']}")
        expect(r["flows"][0]["retransmitted_packets"] > 0, f"{reason}: nothing was sent again")
        goodput = r["flows"][0]["goodput_bps"] / clean["flows"][0]["goodput_bps"]
        expect(0.3 < goodput < 1, f"{reason}: {goodput:.2f} of the goodput")
        lost += drops(r, "h1", reason)
        on_way = sent - lost - r["counters"]["rx_packets"]
        expect(0 <= on_way < 30, f"{reason}: {on_way} frames are missing")
        expect(results(program, path)["digest"] == r["digest"], f"{reason}: another run")
        expect(results(program, path, "--seed", 2)["digest"] != r["digest"], f"{reason}: the seed has no effect")
    path = scenario(folder, {}, section("link", "dead", ends="h1 s1", frame_loss_ppb=1_000_000_000) + flow)
    r = results(program, path)
    expect(r["ports"][0]["rx_packets"] == 0 < drops(r, "s1", "wire_loss"), "a dead link carries frames")


def link(program, folder):
    """A link that goes down loses what is on it and what waits for it; when it is up again, all goes on."""
    rest = "[nic]\ncc = none\nlocal_ack_timeout = 4\n" + section("flow", "f", src="1,2", dst=3, message_bytes="1MB",
                                                                 messages=2)
    rest += event("down", "100us", "link_down", node="s1", port="h3") + event("up", "300us", "link_up", node="h3")
    rest += event("before", "299us", "dump") + event("after", "101us", "dump")
    r = results(program, scenario(folder, {"duration_ns": "5ms"}, rest))
    kinds = [(e["at_ns"], e["event"], e["port"]) for e in r["events"]]
    expect(kinds == [(100_000, "link_down", 2), (300_000, "link_up", 2)], f"events {kinds}")
    # 1 us of cable at 40 Gb/s holds 5 KB, one frame beside it, and as many ACKs the other way.
    expect(1 <= drops(r, "h3", "wire_link_down") <= 6, f"{r['drops']}")
    expect(drops(r, "s1", "link_down") > 0, "nothing waited for the port")
    sent = [d["nodes"]["s1"]["ports"][2]["tx_packets"] for d in sorted(r["dumps"], key=lambda d: d["at_ns"])]
    expect(sent[0] == sent[1] > 0, f"sent while down: {sent}")
    expect(all(f["messages_completed"] == 2 for f in r["flows"]), "messages are missing")
    # A host does not know: what it sends is lost, and comes again after a timeout.
    rest = rest.replace("node = s1\nport = h3", "node = h1").replace("node = h3", "node = s1\nport = 0")
    r = results(program, scenario(folder, {"duration_ns": "5ms"}, rest))
    expect(drops(r, "s1", "wire_link_down") > 100, f"{r['drops']}")
    expect(all(f["messages_completed"] == 2 for f in r["flows"]), "messages are missing")


def disable(program, folder):
    """A port that may not transmit sends nothing from that nanosecond on, holds its peers, and goes on."""
    rest = "[nic]\ncc = none\n" + section("flow", "f", src=1, dst=3, message_bytes="1MB")
    rest += event("off", "200us", "tx_disable", node="s1", port=2)
    rest += event("dump off", "200001ns", "dump", node="s1") + event("dump on", "600us", "dump", node="s1")
    rest += event("on", "600us", "tx_enable", node="s1", port=2)
    r = results(program, scenario(folder, {}, "[buffer_profile lossless]\ndynamic = off\nstatic_th_bytes = 100KB\n" + rest))
    off, on = (d["nodes"]["s1"]["ports"][2] for d in r["dumps"])
    expect(off["tx_packets"] == on["tx_packets"] > 0, f"{on['tx_packets'] - off['tx_packets']} frames while off")
    expect(on["queues"][3]["queue_bytes"] > 50_000, f"{on['queues'][3]['queue_bytes']} bytes wait")
    expect(r["dumps"][1]["nodes"]["s1"]["ports"][0]["tx_prio3_pause"] > 0, "the sender is not held")
    expect(r["ports"][2]["tx_packets"] > on["tx_packets"], "nothing after it is on again")
    expect(r["drops"] == [], f"{r['drops']}")


def counters(program, folder):
    """A dump is of its nanosecond; counters that were cleared count from there, watermarks restart."""
    rest = "[nic]\ncc = none\n" + section("flow", "f", src="1,2", dst=3, message_bytes="100KB", messages=1)
    rest += event("first", "10us", "dump") + event("early", "15us", "clear_counters", node="s1")
    rest += event("second", "15us", "dump") + event("calm", "500us", "clear_watermarks")
    rest += event("third", "500us", "dump") + event("one", "500us", "dump", node="h3")
    r = results(program, scenario(folder, {}, rest))
    dumps = {d["name"]: d for d in r["dumps"]}
    expect(sorted(dumps["first"]["nodes"]) == ["h1", "h2", "h3", "s1"] and sorted(dumps["one"]["nodes"]) == ["h3"],
           "nodes of the dumps")
    port = {n: d["nodes"]["s1"]["ports"][0] for n, d in dumps.items() if n != "one"}
    # The first frame is whole at the switch after 1122 bytes (with RETH) and 1 us, then one each 1106 bytes.
    expect(port["first"]["rx_packets"] == 1 + (10_000 - 1000 - 1122 * 8 // 40) * 40 // (8 * 1106),
           f"{port['first']['rx_packets']} frames after 10 us")
    expect(port["second"]["rx_packets"] == 0, "cleared, and not zero")
    whole = [p for p in r["ports"] if p["port"] == 0][0]["rx_packets"]
    expect(0 < port["third"]["rx_packets"] < whole, f"{port['third']['rx_packets']} of {whole} since")
    queue = {n: d["nodes"]["s1"]["ports"][2]["queues"][3] for n, d in dumps.items() if n != "one"}
    expect(queue["second"]["watermark_bytes"] >= queue["first"]["watermark_bytes"] > 0, "no watermark")
    expect(queue["third"]["watermark_bytes"] == 0 == queue["third"]["queue_bytes"], "a watermark after it was cleared")


def every_counter(program, folder):
    """A dump of a switch has what quench-switch counts, and its sums hold at any moment."""
    rest = "[nic]\ncc = none\n[pfcwd]\npfcwd = sonic\n" + section("flow", "f", src="1,2", dst=3, message_bytes="100KB", messages=10)
    rest += event("busy", "15us", "dump") + event("clear", "15us", "clear_counters") + event("late", "16us", "dump")
    rest += event("idle", "900us", "dump")
    r = results(program, scenario(folder, {"topology": "dumbbell", "hosts": 4}, rest))
    dumps = {d["name"]: d["nodes"] for d in r["dumps"]}
    s1 = {n: d["s1"] for n, d in dumps.items()}
    ledger = s1["busy"]["ledger"]
    expect(ledger["in"] + ledger["copies"] + ledger["generated"]
           == ledger["queued"] + ledger["sent"] + ledger["dropped"] + ledger["consumed"] and ledger["queued"] > 0, f"{ledger}")
    expect(ledger["queued"] == sum(q["queue_bytes"] for p in s1["busy"]["ports"] for q in p["queues"]), f"{ledger}")
    expect(0 < s1["late"]["ledger"]["in"] < ledger["in"] and s1["late"]["ledger"]["queued"] > 0, "cleared counts, and a state")
    expect(s1["late"]["buffer_bytes"] == s1["busy"]["buffer_bytes"] > 0 and s1["late"]["pools"][0]["size_bytes"] > 0, "sizes")
    expect(0 < s1["late"]["router"]["routed_packets"] < s1["idle"]["router"]["routed_packets"], "router")
    expect([i["interface"] for i in s1["idle"]["interfaces"]] == ["vlan 1", "port 2"], "interfaces")
    port = s1["idle"]["ports"][2]
    # What waited when the counts were cleared had been routed, and was sent later.
    waited = sum(q["queue_bytes"] for q in s1["busy"]["ports"][2]["queues"])
    expect(port["tx_bytes"] == waited + s1["idle"]["interfaces"][1]["out_octets"], f"{waited} waited of {port['tx_bytes']}")
    expect([w["prio"] for w in port["pfcwd"]] == [3] and port["pfcwd"][0]["status"] == "operational", f"{port['pfcwd']}")
    expect(set(port["malformed"]) and sum(port["malformed"].values()) == 0 == port["drops"]["wire_loss"], "kinds of drops")
    group = s1["busy"]["ports"][0]["pgs"][3]
    expect(group["reserved_bytes"] + group["shared_bytes"] + group["headroom_bytes"] > 0, f"{group}")


def named(value, prefix=""):
    """{name in counters.csv: number} of an object of a dump."""
    found = {}
    for key, v in value.items():
        if isinstance(v, dict):
            found |= named(v, "" if key == "counters" else f"{key}/")
        elif isinstance(v, list):
            group = {"queues": "queue{queue}/", "pgs": "pg{pg}/", "pfcwd": "pfcwd{prio}/", "pools": "{pool}/", "interfaces": "interface {interface}/"}[key]
            for row in v:
                found |= named(row, group.format(**row))
        elif isinstance(v, int):
            found[prefix + key] = int(v)
    return found


def counters_csv(program, folder):
    """counters.csv has what a dump of the same nanosecond has, name for name, though nodes differ in their counters."""
    rest = "[nic]\ncc = dctcp\n[np]\nnp_ecn_echo = on\n[pfcwd]\npfcwd = sonic\n[switch]\nwred_queues = 3\n[queue 1|3]\nmarking = phantom\n"
    rest += "[switch s1]\n[switch s2]\n[switch s1 queue 0|3]\nmarking = step\n[switch s2 queue 2|3]\nmarking = step\n"
    rest += section("flow", "f", src="1,2", dst=3, message_bytes="100KB") + section("flow", "g", src="3,4", dst=2, message_bytes="1KB")
    rest += event("end", "1ms", "dump")
    path = scenario(folder, {"topology": "dumbbell", "hosts": 4, "duration_ns": "1ms"}, rest)
    nodes = results(program, path, "--out", folder / "out")["dumps"][0]["nodes"]
    with open(folder / "out" / "counters.csv", encoding="utf-8", newline="") as file:
        rows = [((row["node"], row["port"], row["counter"]), int(row["value"])) for row in csv.DictReader(file)]
    got = dict(rows)
    expect(len(got) == len(rows), "a counter has two rows")
    dumped = {}
    for node, o in nodes.items():
        dumped |= {(node, "", name): n for name, n in named({key: v for key, v in o.items() if key != "ports"}).items()}
        for port in o.get("ports", []):
            dumped |= {(node, str(port["port"]), name): n for name, n in named(port).items()}
    own = {key: n for key, n in got.items() if not key[0].startswith("all ")}
    wrong = {key: (n, dumped.get(key)) for key, n in own.items() if n != dumped.get(key)}
    expect(not wrong and len(own) > 100, f"counters.csv and the dump: {dict(list(wrong.items())[:4])}")
    names = {(node, port): {key[2] for key in got if key[:2] == (node, port)} for node, port in
             (("all switches", ""), ("all switches", "all"), ("all hosts", ""))}
    def kind(key):
        return ("all hosts", "") if re.match(r"h\d", key[0]) else ("all switches", "all" if key[1] else "")
    missing = [key for key, n in dumped.items() if n > 0 and key not in own and key[2] in names[kind(key)]]
    expect(not missing, f"not in counters.csv: {missing[:4]}")
    for (node, port), counters in names.items():
        for name in counters:
            values = [n for key, n in own.items() if kind(key) == (node, port) and key[2] == name]
            total = max(values, default=0) if "watermark" in name else sum(values)
            expect(got[node, port, name] == total, f"{node} {name}: {got[node, port, name]}, not {total} of its nodes")
    schemes = {name.partition("/")[2] for name in names["all switches", "all"]}
    expect({"phantom_over_packets", "step_over_packets"} <= schemes, "no counters of marking schemes")


def send(program, folder):
    """Frames of digits and of captures leave at their times; malformed ones are counted by their kinds."""
    import scapy.all as scapy  # takes a second
    good = scapy.Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / scapy.IP(src="10.0.0.2", dst="10.0.0.1") \
        / scapy.UDP(sport=1, dport=2) / (b"x" * 100)
    bad = bytearray(bytes(good))
    bad[14] = 0x4F  # a header of 60 bytes, and options that end behind the frame's own length
    bad[16:18] = b"\x00\x20"
    frames = [good, scapy.Ether(bytes(bad)), good.copy()]
    for i, at in enumerate((7.0, 7.000002, 7.000010)):
        frames[i].time = at
    for name, write in (("a.pcap", scapy.wrpcap), ("a.pcapng", scapy.wrpcapng)):
        write(str(folder / name), frames)
        rest = IDLE + event("play", "10us", "send", node="h2", file=name, count=2)
        rest += event("a", "11033ns", "dump", node="s1") + event("b", "11034ns", "dump", node="s1")
        rest += event("c", "13033ns", "dump", node="s1") + event("d", "13034ns", "dump", node="s1")
        r = results(program, scenario(folder, {}, rest))
        # 142 bytes, FCS, preamble and gap: 166 x 8 / 40 ns = 33.2 ns, counted up.
        arrived = [d["nodes"]["s1"]["ports"][1]["rx_packets"] for d in r["dumps"]]
        expect(arrived == [0, 1, 1, 2], f"{name}: arrived {arrived}")
        expect(r["scheduled_events"][0]["frames_sent"] == 6, f"{name}: {r['scheduled_events'][0]}")
        expect(drops(r, "s1", "malformed") == 2, f"{name}: {r['drops']}")
        expect(drops(r, "h1", "not_roce") == 4, f"{name}: {r['drops']}")
    # Frames of one time leave one behind the other.
    for frame in frames:
        frame.time = 7.0
    scapy.wrpcap(str(folder / "burst.pcap"), frames)
    rest = IDLE + event("play", "10us", "send", node="h2", file="burst.pcap")
    rest += "".join(event(f"d{t}", t, "dump", node="s1") for t in (11_033, 11_034, 11_067, 11_068, 11_101, 11_102))
    r = results(program, scenario(folder, {}, rest))
    arrived = [d["nodes"]["s1"]["ports"][1]["rx_packets"] for d in r["dumps"]]
    expect(arrived == [0, 1, 1, 2, 2, 3], f"a burst: {arrived}")
    # A thousand of the least frames at 1 Gb/s: the last one arrives 999 x 672 ns after the first.
    rest = IDLE + event("many", "10us", "send", node="h2", frame=ETHER + "0800" + "00" * 46, count=1000, rate_bps="1G")
    first = 10_000 + 1000 + (84 * 8 + 39) // 40
    want = {first - 1: 0, first: 1, first + 998 * 672: 999, first + 999 * 672 - 1: 999, first + 999 * 672: 1000}
    rest += "".join(event(f"at {at}", at, "dump", node="s1") for at in want)
    r = results(program, scenario(folder, {}, rest))
    got = [d["nodes"]["s1"]["ports"][1]["rx_packets"] for d in r["dumps"]]
    expect(got == list(want.values()), f"{got} frames at {[*want]} ns, not {[*want.values()]}")
    # From a switch: to the host at the other end, past the queues. No flow is needed for that.
    rest = event("out", "10us", "send", node="s1", port="h1", frame=ETHER + "0800" + "00" * 46, count=3)
    r = results(program, scenario(folder, {}, rest))
    expect(drops(r, "h1", "malformed") == 3, f"{r['drops']}")
    # A pause frame for priority 3, from a host: held for 65535 quanta of 12.8 ns.
    pause = "0180c2000001" "020000000002" "8808" "0101" "0008" + "0000" * 3 + "ffff" + "0000" * 4 + "00" * 26
    flow = "[nic]\ncc = none\n" + section("flow", "f", src=1, dst=2, message_bytes="1MB", messages=1)
    rest = flow + event("xoff", "50us", "send", node="h2", frame=pause)
    r = results(program, scenario(folder, {"duration_ns": "2ms"}, rest))
    p = [c for c in r["pfc_counters"] if c["node"] == "s1" and c["port"] == 1]
    expect(len(p) == 1 and p[0]["rx_pause"] == 1 and p[0]["rx_pause_duration_us"] == 838, f"{p}")


def shark(path, fields, *options):
    done = subprocess.run(["tshark", "-r", str(path), *options, "-T", "fields"] + [w for f in fields for w in ("-e", f)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 0, f"tshark: {done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def record(program, folder):
    """What tshark reads of a recorded port: every frame, whole, in order, at its time, with its direction."""
    flow = "[nic]\ncc = none\n" + section("flow", "f", src=1, dst=2, message_bytes=10240, messages=1)
    rest = flow + section("record", "port", node="s1", port="h1") + section("record", "host", node="h2", snap_bytes=64)
    path = scenario(folder, {}, rest)
    r = results(program, path, "--out", folder / "out")
    fields = ("frame.time_epoch", "frame.len", "frame.cap_len", "frame.p2p_dir", "infiniband.bth.psn", "frame.interface_name")
    rows = shark(folder / "out" / "port.pcapng", fields)
    times = [round(float(row[0]) * 1e9) for row in rows]
    # Ten packets, the first with a RETH, and an ACK.
    expect(len(rows) == 11 and times == sorted(times), f"{len(rows)} frames at {times}")
    data = [(t, row) for t, row in zip(times, rows) if int(row[1]) > 1000]
    expect([int(row[1]) for _, row in data] == [1098] + 9 * [1082], f"lengths {[row[1] for _, row in data]}")
    # 1122 bytes at 40 Gb/s and 1 us, then one each 1106 bytes: 221.2 ns.
    expect(data[0][0] == 1225 and data[9][0] - data[0][0] in (1990, 1991), f"times {[t for t, _ in data]}")
    psns = [int(row[4]) for _, row in data]
    expect(psns == list(range(psns[0], psns[0] + 10)), f"PSNs {psns}")
    expect({row[5] for row in rows} == {"s1 port 0"}, f"{rows[0]}")
    kept = shark(folder / "out" / "host.pcapng", fields)
    expect({int(row[2]) for row in kept if int(row[1]) > 64} == {64}, "64 bytes of each")
    expect([row[1] for row in kept] != [] and len(kept) == 11, f"{len(kept)} frames at h2")
    malformed = shark(folder / "out" / "port.pcapng", ("frame.number",), "-Y", "_ws.malformed")
    expect(malformed == [], f"malformed: {malformed}")
    expect(r["digest"] == results(program, scenario(folder, {}, flow))["digest"], "to be looked at changes the run")
    # What was recorded can be played: h3 sends what h1 sent, as if it were h1, and h2 takes it for that.
    import scapy.all as scapy
    sent = [f for f in scapy.rdpcap(str(folder / "out" / "port.pcapng")) if f.src == "02:00:00:00:00:01"]
    scapy.wrpcap(str(folder / "h1.pcap"), sent)
    r = results(program, scenario(folder, {}, flow.replace("src = 1", "src = 1\nstart_ns = 500us") + event(
        "play", "10us", "send", node="h3", file="h1.pcap", interval_ns=300)))
    expect(r["flows"][0]["error"] is False and r["counters"]["duplicate_request"] > 0, "h2 knows nothing of what was played")
    for options in (("--explain", "f h1"), ()):
        done = run(program, *options, scenario(folder, {}, rest))
        expect(done.returncode == 0 and "[record" in done.stderr and "--out" in done.stderr and done.stderr.count("\n") == 1,
               f"without a folder: {done.returncode} {done.stderr}")
    done = run(program, "--out", folder, scenario(folder, {}, rest + section("record", "again", node="h1") + section(
        "record", "twice", node="h1", port="s1")))
    expect(done.returncode == 2 and "[record twice]" in done.stderr, f"twice: {done.returncode} {done.stderr}")


def numbers(program, folder):
    """What --check-config says of addresses and QP numbers is what the hosts have: a CNP made of it is obeyed."""
    flow = section("flow", "f", src="1-2", dst=3, message_bytes="1MB", qp_count=2)
    text = run(program, "--check-config", scenario(folder, {}, flow)).stdout
    for line in ("#   h3: 10.0.0.3, 02:00:00:00:00:03", "#   f h1: 0x100 to 0x101 at h1, 0x100 to 0x101 at h3",
                 "#   f h2: 0x100 to 0x101 at h2, 0x102 to 0x103 at h3"):
        expect(line in text.splitlines(), f"{line} is not in {text[-800:]}")
    for key, keys in (("nic", {"first_qpn": 17}), ("nic", {"mac": "02:00:00:00:00:09"}), ("switch", {"seed": 1})):
        rest = flow + f"[{key}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items())
        done = run(program, "--check-config", scenario(folder, {}, rest))
        expect(done.returncode == 2 and "no such key" in done.stderr and done.stderr.count("\n") == 1, f"{keys}: {done.stderr}")
    done = run(program, "--check-config", scenario(folder, {}, flow + "[wred]\nKmin = 5\n"))
    expect(done.returncode == 0 and "Kmin = 5: 5 bytes" in done.stderr and done.stderr.count("\n") == 1, f"{done.stderr}")


def late(program, folder):
    """What the run ends before is said in one line; what happens at its very end is not."""
    (folder / "late.txt").write_text("1 2 1000 0\n2 1 1000 1ms\n".replace("1ms", "1000000"), encoding="utf-8")
    for rest, words in ((event("x", "1001us", "dump"), ("[event x] at_ns = 1001us", "ends at 1ms")),
                        (section("flow", "f", src=1, dst=2, start_ns="1ms"), ("[flow f] start_ns = 1ms",)),
                        (section("flow", "f", src=1, pattern="trace", trace="late.txt"), ("[flow f] trace = late.txt",)),
                        (event("x", "1ms", "dump"), ()),
                        (section("flow", "f", src=1, dst=2, start_ns="999us"), ())):
        done = run(program, "--quiet", scenario(folder, {}, IDLE + rest))
        expect(done.returncode == 0 and done.stderr.count("\n") == bool(words) and all(w in done.stderr for w in words), f"{rest}: {done.stderr}")
    done = run(program, "--quiet", "--duration", "500us", scenario(folder, {}, IDLE))
    expect(done.returncode == 0 and "[flow none] start_ns = 999us" in done.stderr and "500us" in done.stderr, done.stderr)


def uncontrolled(program, folder):
    """Senders that hear nothing their algorithm acts on: no ACKs, no marks, or no echo of them."""
    acks, cnps = "acts on ACKs", "acts on CNPs"
    for cc, verb, key, words in (("hpcc", "read", "", acks), ("timely", "ud_send", "", acks), ("dctcp", "read", "", acks), ("dctcp", "ud_send", "", acks),
                                  ("dctcp", "write", "", ""), ("hpcc", "write", "", ""), ("dcqcn", "read", "", ""), ("none", "ud_send", "", ""),
                                  ("aimd", "write", "", "np_ecn_echo = on in [np]"), ("aimd", "write", "np.np_ecn_echo=on", ""),
                                  ("dcqcn", "write", "np.np_ecn_echo=on", cnps), ("dctcp", "send", "np.np_ecn_echo=on", ""),
                                  ("dcqcn_plus", "write", "np.np_ecn_echo=on", ""), ("fair", "send", "np.np_ecn_echo=on", ""),
                                  ("dcqcn", "write", "switch.wred_queues=none", "no switch marks"), ("none", "write", "switch.wred_queues=none", ""),
                                  ("dctcp", "write", "wred.ecn=ecn_none", "no switch marks"), ("swift", "write", "wred.ecn=ecn_none", ""),
                                  ("dcqcn", "write", "nic.data_ecn=not_ect", "data_ecn = not_ect")):
        rest = f"[nic]\ncc = {cc}\nack_every = 1\n[switch]\nint_telemetry = on\n" + section("flow", "f", src=1, dst=2, verb=verb, message_bytes=1000)
        done = run(program, "--quiet", *(["--set", key] if key else []), scenario(folder, {}, rest))
        expect(done.returncode == 0 and (not words or f"cc = {cc}" in done.stderr) and words in done.stderr and done.stderr.count("\n") == bool(words),
               f"{cc} {verb} {key}: {done.stderr}")


def companions(program, folder):
    """Keys that follow from cc by default; a given value is kept, and doubted in one line where it cannot work."""
    flow = section("flow", "f", src=1, dst=2, message_bytes=1000)
    leaves = {"topology": "leaf_spine", "leaves": 2, "spines": 1, "hosts": 4}
    for cc, fabric, sets, keys, words in (
            ("hpcc", {}, (), ("int_telemetry = on", "int_slots = 1", "ack_every = 1"), ()),
            ("hpcc", leaves, (), ("int_telemetry = on", "int_slots = 3", "ack_every = 1"), ()),
            ("hpcc", {"topology": "fat_tree", "fat_tree_k": 4, "hosts": 16}, (), ("int_slots = 5",), ()),
            ("hpcc", leaves, ("nic.int_slots=2",), ("int_slots = 2",), ("int_slots", "expected 3")),
            ("hpcc", leaves, ("switch.int_telemetry=off",), ("int_telemetry = off",), ("int_telemetry", "expected on")),
            ("swift", {}, (), ("ack_every = 1", "int_telemetry = off"), ()),
            ("dctcp", {}, (), ("np_min_time_between_cnps_us = 0", "ack_every = 16"), ()),
            ("dctcp", {}, ("np.N=50us",), ("np_min_time_between_cnps_us = 50us",), ("[np] N = 50us", "expected 0")),
            ("dctcp", {}, ("np.N=50us", "np.np_ecn_echo=on"), ("np_min_time_between_cnps_us = 50us",), ()),
            ("dcqcn", {}, (), ("np_min_time_between_cnps_us = 50us", "ack_every = 16", "int_telemetry = off"), ()),
            # alpha's timer must be longer than the interval of CNPs; in the mlx profile it has no such meaning
            ("dcqcn", {}, ("rp.K=51us",), ("rp_dce_tcp_rtt_us = 51us",), ()),
            ("dcqcn", {}, ("rp.K=50us",), ("rp_dce_tcp_rtt_us = 50us",), ("[rp] K = 50us", "expected more than the 50 us of N")),
            ("dcqcn", {}, ("np.N=55us",), ("rp_dce_tcp_rtt_us = 55us",), ("[np] N = 55us", "expected less than the 55 us of K")),
            ("dcqcn", {}, ("rp.rp_profile=mlx",), ("rp_dce_tcp_rtt_us = 1us",), ()),
            ("dctcp", {}, ("rp.K=10us",), ("rp_dce_tcp_rtt_us = 10us",), ())):
        path = scenario(folder, fabric, f"[nic]\ncc = {cc}\n" + flow)
        given = [word for key in sets for word in ("--set", key)]
        done = run(program, "--check-config", *given, path)
        lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
        expect(done.returncode == 0 and all(any(line.startswith(key) for line in lines) for key in keys), f"{cc} {sets}: {keys}: {done.stdout}")
        expect(done.stderr.count("\n") == bool(words) and all(w in done.stderr for w in words), f"{cc} {sets}: {done.stderr}")
        # What is printed is read back as the same.
        (folder / "again.ini").write_text(done.stdout, encoding="utf-8")
        expect(run(program, "--check-config", str(folder / "again.ini")).stdout == done.stdout, f"{cc}: read back")
    done = run(program, "--check-config", "--set", "nic.ack_every=2", scenario(folder, {}, "[nic]\ncc = swift\n" + flow))
    expect(done.returncode == 2 and "ack_every" in done.stderr, done.stderr)


def refused(program, folder):
    """What cannot be is refused in one line."""
    (folder / "no.pcap").write_text("no capture", encoding="utf-8")
    for rest, words in ((event("x", "1us", "send", node="h1"), ("[event x]", "frame")),
                        (event("x", "1us", "send", node="h1", frame="abc"), ("[event x]", "frame = abc")),
                        (event("x", "1us", "send", node="h1", frame="zz"), ("[event x]", "frame = zz")),
                        (event("x", "1us", "send", node="h1", file="no.pcap"), ("[event x]", "file = no.pcap")),
                        (event("x", "1us", "send", node="h1", file="gone.pcap"), ("[event x]", "gone.pcap")),
                        (event("x", "1us", "send", frame="00"), ("[event x]", "node")),
                        (event("x", "1us", "tx_disable", node="h1"), ("[event x]", "node = h1", "a switch")),
                        (event("x", "1us", "link_down", node="s1", port=3), ("[event x]", "port = 3")),
                        (event("x", "1us", "link_down", node="s1", port="s1"), ("[event x]", "port = s1")),
                        (event("x", "0", "dump"), ("[event x]", "at_ns = 0")),
                        (event("x", "1us", "explode"), ("[event x]", "explode")),
                        (event("x", "1us", "dump", host="4"), ("[event x] host = 4: expected a known key, such as node = h4",)),
                        ("[record r]\nswitch = s1\n", ("[record r] switch = s1: expected a known key, such as node = s1",))):
        done = run(program, scenario(folder, {}, IDLE + rest))
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and all(w in done.stderr for w in words),
               f"{rest!r}: {done.returncode}, {done.stderr}")


if __name__ == "__main__":
    in_folder(loss, link, disable, counters, every_counter, counters_csv, send, record, numbers, late, uncontrolled, companions, refused)
