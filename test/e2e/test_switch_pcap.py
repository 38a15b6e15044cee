#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real frames in, real frames out: three ingress captures through net_pcap to one shaped egress.

Port 0 is the egress; its capture holds two broadcasts, read before all others, from which the switch learns where the
receiver is, untagged and in VLAN 5. net_pcap reads as fast as it is polled, so the three ingress ports together are far above the shaper. They do
not obey pause, so each has headroom for its whole capture: lossless frames must all arrive.
"""
import collections
import random

from frames import (CE, ECT0, ECT1, NOT_ECT, PAUSE_ADDRESS, ecn_of, icrc_ok, ip_checksum_ok, is_roce, l3, pfc,
                    pfc_frame, read_pcap, roce, scapy_icrc_ok, tcp, without_ecn, write_pcap)
from harness import Program, check, check_equal, check_ledger, eal, finish, run, work_dir

RECEIVER = "02:00:00:00:00:f0"
INGRESS = (1, 2, 3)
LARGEST = 1600
SEED = 20150817

CONFIG = f"""
[switch]
buffer_bytes = 12MB
pfc_generate = on
wred_queues = 0,3
max_frame_bytes = {LARGEST}

[qos_map]
trust = dscp
pfc_enable = 3

[wred]
wred_green_enable = on
ecn = ecn_all
green_min_threshold_bytes = 20KB
green_max_threshold_bytes = 120KB
green_drop_probability = 20%

[buffer_profile lossless]
static_th_bytes = 60KB
dynamic = off
xon_bytes = 20KB
xoff_bytes = 2MB

[buffer_profile egress_lossy]
static_th_bytes = 150KB
dynamic = off
""" + "".join(f"""
[port {n}]
mac = 02:5a:00:00:00:0{n}
link_speed_bps = 1G
{"shaper_rate_bps = 200M" if n == 0 else ""}
""" for n in range(4))


def mac(port, host=1):
    return f"02:00:00:00:{port:02x}:{host:02x}"


def roce_flow(port, sport, count, ecn, dscp=26, vlan=None, v6=False):
    src, dst = (f"fd00::{port}", "fd00::f0") if v6 else (f"10.0.{port}.1", "10.0.0.240")
    return [roce(mac(port), RECEIVER, src, dst, sport, psn, dscp, ecn, bytes([psn & 255]) * 1024, vlan)
            for psn in range(count)]


def tcp_flow(port, sport, count, ecn):
    return [tcp(mac(port), RECEIVER, f"10.0.{port}.1", "10.0.0.240", sport, 1000 * i, ecn, bytes(1000))
            for i in range(count)]


def interleave(rng, flows):
    """Flows mixed at random, each in its order."""
    order = [i for i, flow in enumerate(flows) for _ in flow]
    rng.shuffle(order)
    left = [iter(flow) for flow in flows]
    return [next(left[i]) for i in order]


def garbage(rng):
    """(frame, where it ends: a drop's name, "sent", or "consumed")."""
    good = roce(mac(3), RECEIVER, "10.0.3.1", "10.0.0.240", 0xC0FF, 0, 26, ECT0, bytes(64))

    def changed(offset, value):
        frame = bytearray(good)
        frame[offset:offset + len(value)] = value
        return bytes(frame)

    to = bytes.fromhex(RECEIVER.replace(":", ""))
    own = bytes.fromhex(mac(3).replace(":", ""))
    cases = [
        (good[:10], "truncated_eth"),
        (good[:30], "truncated_ip"),
        (good[:12] + bytes.fromhex("8100"), "truncated_vlan"),
        (changed(14, b"\x55"), "bad_ip_version"),
        (changed(14, b"\x44"), "bad_ip_header_length"),
        (changed(16, b"\x7f\xff"), "bad_ip_length"),
        (changed(24, b"\0\0"), "bad_ip_checksum"),
        (changed(6, b"\x01"), "bad_source"),
        (own + to[:5] + b"\x77" + good[12:], "same_port"),
        (bytes.fromhex("0180c200000e") + own + bytes.fromhex("88cc") + bytes(46), "reserved_address"),
        (PAUSE_ADDRESS + own + bytes.fromhex("88080101000800"), "mac_control_malformed"),
        (PAUSE_ADDRESS + own + bytes.fromhex("88080077") + bytes(44), "mac_control_unknown"),
        (to + own + pfc_frame(mac(3), 0x08, [0, 0, 0, 9, 0, 0, 0, 0])[12:], "mac_control_address"),
        (pfc_frame(mac(3), 0x08, [0, 0, 0, 9, 0, 0, 0, 0]), "consumed"),
        (good[:12] + bytes.fromhex("86dd") + bytes(4), "truncated_ip"),
    ]
    # Not IP at all, random bytes behind good addresses, two tags: a switch forwards what it need not understand.
    for i in range(20):
        cases.append((to + own + bytes.fromhex("88b5") + i.to_bytes(2, "big") + rng.randbytes(rng.randrange(44, 900)),
                      "sent"))
    cases.append((to + own + bytes.fromhex("81000005810000068808") + rng.randbytes(60), "sent"))
    cases.append((to + own + bytes.fromhex("88b6") + bytes(LARGEST), "oversize"))
    return cases


def flow_of(frame):
    """What must stay in order: one queue, one pair of hosts."""
    _, off = l3(frame)
    if ecn_of(frame) is None:
        return frame[6:12], "other"
    dscp = frame[off + 1] >> 2 if frame[off] >> 4 == 4 else (frame[off] << 8 | frame[off + 1]) >> 6 & 63
    return frame[6:12], frame[off] >> 4, dscp, frame[off + 20:off + 24] if frame[off] >> 4 == 4 else frame[off + 40:off + 44]


def main():
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    work = work_dir()
    cases = garbage(rng)
    expected = collections.Counter(end for _, end in cases)
    hello = b"\xff" * 6 + bytes.fromhex(RECEIVER.replace(":", ""))
    hellos = [hello + bytes.fromhex("0806") + bytes(46), hello + bytes.fromhex("810000050806") + bytes(46)]
    captures = {
        0: hellos,
        1: interleave(rng, [roce_flow(1, 0xC001, 400, ECT0), roce_flow(1, 0xC002, 80, ECT1),
                            roce_flow(1, 0xC003, 60, NOT_ECT), roce_flow(1, 0xC004, 100, ECT0, v6=True)]),
        2: interleave(rng, [roce_flow(2, 0xC001, 250, ECT0), roce_flow(2, 0xC002, 50, CE),
                            tcp_flow(2, 40001, 200, NOT_ECT), tcp_flow(2, 40002, 200, ECT0)]),
        # What is not IP comes first, before TCP has filled the queue that they share.
        3: [frame for frame, end in cases if end == "sent"] +
           interleave(rng, [roce_flow(3, 0xC001, 300, ECT0, dscp=24, vlan=(5, 3)), roce_flow(3, 0xC002, 100, ECT0),
                            [frame for frame, end in cases if end != "sent"]]),
    }
    for port, frames in captures.items():
        write_pcap(work / f"in{port}.pcap", frames)

    switch = Program(work, "switch", "switch", CONFIG, eal(
        *(f"net_pcap{n},rx_pcap={work}/in{n}.pcap,tx_pcap={work}/out{n}.pcap" for n in captures)),
        "--stats-interval", 0.2)
    switch.wait_quiet()
    check_equal("exit code after SIGTERM", switch.stop(), 0)
    result = switch.json()
    ports = result["ports"]
    out = {port: read_pcap(work / f"out{port}.pcap") for port in captures}
    egress = [frame for frame in out[0] if pfc(frame) is None]

    # The broadcasts that taught the switch.
    for port in INGRESS:
        check_equal(f"port {port} got the broadcasts once and nothing else but pause frames",
                    sorted(f for f in out[port] if pfc(f) is None), sorted(hellos))

    # Every accepted frame exactly once and in order.
    dropped_cases = {frame for frame, end in cases if end != "sent"}
    sendable = {port: [f for f in captures[port] if f not in dropped_cases] for port in INGRESS}
    keys_in = [without_ecn(f) for port in INGRESS for f in sendable[port]]
    keys_out = [without_ecn(f) for f in egress]
    counted = collections.Counter(keys_out)
    check_equal("input frames differ from each other", len(set(keys_in)), len(keys_in))
    check_equal("frames that came out twice", [n for n in counted.values() if n != 1], [])
    check_equal("frames that came out and never went in", len(set(keys_out) - set(keys_in)), 0)
    lost = set(keys_in) - set(keys_out)
    lossless_lost = [k for k in lost if is_roce(k)]
    check_equal("lossless frames lost", len(lossless_lost), 0)
    rank = {key: i for i, key in enumerate(keys_in)}
    flows = collections.defaultdict(list)
    for frame in egress:
        flows[flow_of(frame)].append(rank[without_ecn(frame)])
    check("frames are in order in each of the flows", all(f == sorted(f) for f in flows.values()))
    check_equal("flows that came out", len(flows), 4 + 4 + 2 + 1)

    # Marks.
    before = {without_ecn(f): ecn_of(f) for port in INGRESS for f in sendable[port]}
    wrong = [f for f in egress if ecn_of(f) != before[without_ecn(f)] and
             not (before[without_ecn(f)] in (ECT0, ECT1) and ecn_of(f) == CE)]
    check_equal("frames whose ECN changed in a forbidden way", len(wrong), 0)
    marked = sum(ecn_of(f) == CE and before[without_ecn(f)] != CE for f in egress)
    check("ECT frames were marked", marked > 100, marked)
    check("not all ECT frames were marked", marked < sum(before[k] in (ECT0, ECT1) for k in keys_out))
    check("non-ECT frames passed the lossless queue unmarked",
          sum(is_roce(f) and ecn_of(f) == NOT_ECT for f in egress) == 60)
    ip_frames = [f for f in egress if ecn_of(f) is not None]
    roce_frames = [f for f in ip_frames if is_roce(f)]
    check("IP checksums are valid", all(map(ip_checksum_ok, ip_frames)))
    check("ICRCs are valid", all(map(icrc_ok, roce_frames)))
    sample = rng.sample([f for f in roce_frames if l3(f)[0] == 0x0800], 200)
    check("ICRCs are valid for scapy", all(map(scapy_icrc_ok, sample)))

    # tshark's view of the same capture.
    shark = run("tshark", "-r", work / "out0.pcap", "-o", "ip.check_checksum:TRUE", "-T", "fields", "-e",
                "ip.checksum.status", "-e", "infiniband.bth.opcode", "-e", "_ws.malformed", "-Y", "ip || ipv6")
    rows = [line.split("\t") for line in shark.stdout.splitlines()]
    check_equal("tshark: IP frames", len(rows), len(ip_frames))
    check("tshark: IP checksums are good", all(row[0] in ("1", "") for row in rows))
    check_equal("tshark: RoCEv2 frames", sum(row[1] == "7" for row in rows), len(roce_frames))
    check("tshark: nothing is malformed", not any(row[2] for row in rows))

    # Pause.
    check_equal("pause frames to the egress host", len(out[0]) - len(egress), 0)
    for port in INGRESS:
        sent = [pfc(f) for f in out[port] if pfc(f) is not None]
        check(f"port {port} was paused", bool(sent) and sent[0][1][3] > 0, sent)
        check(f"port {port}: priority 3 and no other",
              all(enable == 8 and not any(t for i, t in enumerate(times) if i != 3) for enable, times in sent))
        times = [t[3] for _, t in sent]
        check(f"port {port}: every XOFF is followed by XON",
              bool(times) and times[-1] == 0 and all(a or b for a, b in zip(times, times[1:])), times)
        check(f"port {port}: pause frames are 60 bytes from the port's address",
              all(len(f) == 60 and f[6:12] == bytes.fromhex(f"025a0000000{port}") for f in out[port] if pfc(f)))
        check_equal(f"port {port}: tx_pause_frames", ports[port]["tx_pause_frames"], len(sent))
        check_equal(f"port {port}: tx_prio3_pause", ports[port]["tx_prio3_pause"], len(sent))
        check_equal(f"port {port}: transitions to XON", ports[port]["tx_prio3_pause_transition"], times.count(0))
    shark = run("tshark", "-r", work / "out1.pcap", "-T", "fields", "-e", "macc.cbfc.pause_time.c3", "-Y",
                "macc.cbfc.enbv.c3 == 1")
    check_equal("tshark: pause frames on port 1", len(shark.stdout.split()), ports[1]["tx_pause_frames"])

    # Counters against captures.
    drops = collections.Counter()
    for port in ports:
        drops.update({reason: n for reason, n in port["drops"].items() if n})
    consumed = {1: 0, 2: 0, 3: expected["consumed"] + expected["mac_control_malformed"] +
                expected["mac_control_unknown"] + expected["mac_control_address"]}
    for port in INGRESS:
        check_equal(f"port {port}: rx_packets", ports[port]["rx_packets"], len(captures[port]) - consumed[port])
        check_equal(f"port {port}: frames sent", ports[port]["tx_packets"], 2)
    check_equal("egress: rx_packets", ports[0]["rx_packets"], 2)
    check_equal("egress: tx_packets", ports[0]["tx_packets"], len(egress))
    check_equal("egress: tx_bytes", ports[0]["tx_bytes"], sum(max(64, len(f) + 4) for f in egress))
    check_equal("ecn_marked_packets", sum(q["ecn_marked_packets"] for p in ports for q in p["queues"]), marked)
    check_equal("pause frame received on port 3", ports[3]["rx_pause_frames"], expected["consumed"])
    malformed = {end: n for end, n in expected.items() if end.startswith(("truncated", "bad_ip"))}
    check_equal("malformed by kind", {k: n for k, n in ports[3]["malformed"].items() if n}, malformed)
    check_equal("malformed of any kind", drops.pop("malformed"), sum(malformed.values()))
    for end, n in expected.items():
        if end not in malformed and end not in ("sent", "consumed"):
            check_equal(f"dropped: {end}", drops.pop(end, 0), n)
    check("the other drops are of the lossy queue",
          set(drops) <= {"wred", "queue_limit", "pg_limit"} and drops["wred"] > 0, dict(drops))
    check_equal("frames lost = frames dropped", len(lost), sum(drops.values()))
    check_equal("frames held by devices", [p["held"] for p in ports], [0] * 4)
    check_ledger("switch", result)
    check_equal("bytes queued", result["ledger"]["queued"], 0)
    finish()


main()
