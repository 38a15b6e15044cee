#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Streams of raw frames: [stream NAME].

    test_streams.py QUENCH_LAB CONFIG_DIR CASE
"""
import struct

from scenarios import expect, in_folder, results, run, section, write_scenario

GBPS = 1_000_000_000
GAP = 20  # preamble and gap of a frame


def scenario(folder, rest, **fabric):
    return write_scenario(folder / "streams.ini", {"hosts": 5, "link_rate_bps": "40G", "duration_ns": "2ms", **fabric}, rest)


def stream(name="bg", **keys):
    return section("stream", name, **{"src": 1, "dst": 5, **keys})


def rates(program, folder):
    """A stream has its rate to the frame, in the lengths that it should have, and loses nothing on an idle link."""
    for rate, length, frames in (("40G", 64, 2e6 * 40 / 8 / 84), ("10G", 1024, 2e6 * 10 / 8 / 1044), ("7G", 1500, 2e6 * 7 / 8 / 1520),
                                 (0, 9216, 2e6 * 40 / 8 / 9236)):
        rest = "[switch]\nmax_frame_bytes = 9216\n" + stream(frame_bytes=length, rate_bps=rate, stop_ns="2ms")
        digests = set()
        for threads in (1, 2, 3):
            r = results(program, scenario(folder, rest, duration_ns="2100us"), "--threads", threads)
            digests.add(r["digest"])
            (s,) = r["streams"]
            expect(abs(s["tx_packets"] - frames) <= 2 and s["rx_packets"] == s["tx_packets"], f"{rate}, {length}: {s}, not {frames}")
            expect(s["tx_wire_bytes"] == s["tx_packets"] * (length + GAP) and s["held_ns"] == 0 == s["no_mbuf"], f"{s}")
        expect(len(digests) == 1, f"{digests}")
    counted = results(program, scenario(folder, stream(src="1-4", rate_bps="1G", count=7)))["streams"]
    expect([(s["src"], s["tx_packets"], s["rx_packets"]) for s in counted] == [(f"h{n}", 7, 7) for n in range(1, 5)], f"{counted}")


def pauses(program, folder):
    """A stream obeys the pauses of its priority, and what was due meanwhile is not made up for."""
    quanta = 20_000  # 256 us at 40 Gb/s
    frame = bytes.fromhex("0180c2000001" "020000000001" "8808" "0101" "0008") + struct.pack(">8H", *(quanta if p == 3 else 0 for p in range(8)))
    pause = section("event", "pause", at_ns="500us", action="send", node="s1", port="h1", frame=(frame + bytes(26)).hex())
    usual = results(program, scenario(folder, stream(dscp=26, rate_bps="10G")))["streams"][0]
    held = results(program, scenario(folder, stream(dscp=26, rate_bps="10G") + pause))["streams"][0]
    expect(usual["held_ns"] == 0 and 255_000 <= held["held_ns"] <= 257_000, f"{usual} {held}")
    lost = usual["tx_packets"] - held["tx_packets"]
    expect(abs(lost - 256_000 / 835.2) <= 2, f"{lost} frames fewer: {usual} {held}")
    for other in (stream(dscp=0, rate_bps="10G"), stream(dscp=26, rate_bps="10G", obey_pause="off")):
        free = results(program, scenario(folder, other + pause))["streams"][0]
        expect(free["held_ns"] == 0 and free["tx_packets"] == usual["tx_packets"], f"{other}: {free}")
    # Link pause stops all of it.
    frame = bytes.fromhex("0180c2000001" "020000000001" "8808" "0001") + struct.pack(">H", quanta) + bytes(42)
    pause = section("event", "pause", at_ns="500us", action="send", node="s1", port="h1", frame=frame.hex())
    held = results(program, scenario(folder, "[nic]\nflow_control = pause\n" + stream(dscp=0, rate_bps="10G") + pause))["streams"][0]
    expect(255_000 <= held["held_ns"] <= 257_000, f"link pause: {held}")


def lossless(program, folder):
    """An incast of streams into a lossless class is held by PFC and loses nothing; in a lossy one it loses."""
    fabric = {"duration_ns": "3ms"}
    keys = {"src": "1-4", "rate_bps": "30G", "stop_ns": "2ms"}
    r = results(program, scenario(folder, "[switch]\nbuffer_bytes = 2MB\n" + stream(dscp=26, **keys), **fabric))
    sent, arrived = (sum(s[key] for s in r["streams"]) for key in ("tx_packets", "rx_packets"))
    # The link of h5 for 2 ms, and what the buffer holds then.
    expect(sent == arrived and r["drops"] == [] and all(s["held_ns"] > 0 for s in r["streams"]), f"{r['streams']} {r['drops']}")
    expect(9578 <= sent <= 9578 + 2e6 / 1044, f"{sent} frames")
    r = results(program, scenario(folder, "[switch]\nbuffer_bytes = 2MB\n" + stream(dscp=0, **keys), **fabric))
    sent, arrived = (sum(s[key] for s in r["streams"]) for key in ("tx_packets", "rx_packets"))
    dropped = sum(d["packets"] for d in r["drops"])
    expect(dropped > 0 and sent == arrived + dropped and all(s["held_ns"] == 0 for s in r["streams"]), f"{sent} {arrived} {dropped}")


def background(program, folder):
    """RoCEv2 flows and streams share a host's link and the fabric's."""
    flow = "[nic]\ncc = none\n" + section("flow", "f", src=1, dst=5, message_bytes="1MB")
    r = results(program, scenario(folder, stream(rate_bps="10G", stop_ns="1900us", dscp=0) + flow))
    (s,), (f,) = r["streams"], r["flows"]
    expect(s["rx_packets"] == s["tx_packets"] and abs(s["tx_packets"] - 1.9e6 * 10 / 8 / 1044) <= 3, f"{s}")
    expect(29 * GBPS < f["wire_rate_bps"] < 31 * GBPS and f["retransmitted_packets"] == 0, f"{f}")
    routed = results(program, scenario(folder, stream(src="1-4", dst=8, udp_sports=64, rate_bps="1G", stop_ns="1900us"), topology="leaf_spine",
                                       hosts=8, leaves=2, spines=2))
    expect(all(s["rx_packets"] == s["tx_packets"] > 200 for s in routed["streams"]) and routed["drops"] == [], f"{routed['streams']}")
    up = {p["peer"]: p["tx_packets"] for p in routed["ports"] if p["node"] == "leaf1" and p["peer"].startswith("spine")}
    expect(len(up) == 2 and min(up.values()) > 200, f"both spines: {up}")


def templates(program, folder):
    """Headers as they should be: a capture of the first frame."""
    record = section("record", "first", node="h1")
    for keys, expected in (({}, "0200000000050200000000010800" "4500" "03ee"),
                           ({"vlan": 10, "pcp": 5, "dscp": 26, "ecn": "ect0"}, "0200000000050200000000018100a00a0800" "456a" "03ea"),
                           ({"headers": "ethernet", "dst_mac": "ff:ff:ff:ff:ff:ff"}, "ffffffffffff020000000001" "88b5")):
        results(program, scenario(folder, record + stream(count=1, **keys)), "--out", folder)
        found = (folder / "first.pcapng").read_bytes()
        expect(bytes.fromhex(expected) in found, f"{keys}: {found[-1100:-1000].hex()}")
    r = results(program, scenario(folder, "[switch]\nvlan_filtering = on\n" + stream(vlan=7, rate_bps="1G")))
    expect(r["streams"][0]["rx_packets"] == 0 and sum(d["packets"] for d in r["drops"]) > 0, f"a VLAN that the port does not have: {r['drops']}")


def refused(program, folder):
    for keys, expected in (({"src": "1-5"}, "src = 1-5: expected hosts other than dst"), ({"dst": "1-2"}, "dst = 1-2: expected one host"),
                           ({"dst": 6}, "dst = 6: expected one host"), ({"src": 9}, "src = 9: expected hosts of the fabric"),
                           ({"rate_bps": "50G"}, "rate_bps = 50G: expected the rate of the hosts' links at most"),
                           ({"frame_bytes": 63}, "frame_bytes = 63: expected"), ({"start_ns": "1ms", "stop_ns": "1ms"}, "stop_ns = 1ms: expected a time after")):
        done = run(program, scenario(folder, stream(**keys)))
        expect(done.returncode == 2 and len(done.stderr.splitlines()) == 1 and expected in done.stderr, f"{keys}: {done.stderr}")
    done = run(program, scenario(folder, stream(headers="ethernet"), topology="leaf_spine"))
    expect(done.returncode == 2 and "headers = ethernet: expected ip or udp" in done.stderr, done.stderr)
    done = run(program, "--fluid", scenario(folder, stream() + section("flow", "f", src=1, dst=5)))
    expect(done.returncode == 2 and "[stream bg]: expected no stream: the fluid model has no raw frames" in done.stderr, done.stderr)
    text = scenario(folder, stream(ecn="ect0") + stream("other", src="2-3", headers="ip"))
    printed = run(program, "--check-config", text).stdout
    again = folder / "again.ini"
    again.write_text(printed, encoding="utf-8")
    expect("[stream other]" in printed and run(program, "--check-config", again).stdout == printed, "printed again, it differs")


if __name__ == "__main__":
    in_folder(rates, pauses, lossless, background, templates, refused)
