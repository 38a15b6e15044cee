#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sections of switch ports in a scenario: [port], [port N], [switch NAME port], [switch NAME port N].

    test_ports.py QUENCH_LAB CONFIG_DIR CASE
"""
from scenarios import expect, in_folder, results, run, section, write_scenario

GBPS = 1_000_000_000
INCAST = "[nic]\ncc = none\n" + section("flow", "f", src="1-4", dst=5, message_bytes="1MB")
ONE = "[nic]\ncc = none\n" + section("flow", "f", src=1, dst=5, message_bytes="64KB")


def scenario(folder, rest, **fabric):
    return write_scenario(folder / "ports.ini", {"hosts": 5, "link_rate_bps": "40G", "duration_ns": "2ms", **fabric}, rest)


def port(number, **keys):
    return section("port", number, **keys)


def rate(r):
    """What leaves towards h5."""
    return next(p["link_use"] for p in r["ports"] if p["port"] == 4) * 40 * GBPS


def pauses(r, node="s1"):
    """{port: PFC frames that it sent}."""
    sent = {}
    for row in r["pfc_counters"]:
        if row["node"] == node:
            sent[row["port"]] = sent.get(row["port"], 0) + row["tx_pause"]
    return sent


def dropped(r, reason):
    return {d["port"]: d["packets"] for d in r["drops"] if d["node"] == "s1" and d["reason"] == reason}


def shapers(program, folder):
    """The most specific section applies, and what an event sets is in force from then on."""
    for text, gbps in (("[port]\nshaper_rate_bps = 30G\n", 30), ("[port]\nshaper_rate_bps = 30G\n" + port(4, shaper_rate_bps="10G"), 10),
                       (port(4, shaper_rate_bps="10G") + "[switch s1]\n[switch s1 port]\nshaper_rate_bps = 20G\n", 20),
                       ("[switch s1]\n[switch s1 port 4]\nshaper_rate_bps = 5G\n[switch s1 port]\nshaper_rate_bps = 20G\n", 5),
                       (port(3, shaper_rate_bps="1G"), 40)):
        got = rate(results(program, scenario(folder, text + INCAST))) / GBPS
        expect(abs(got / gbps - 1) < 0.03, f"{got} Gb/s: {text}")
    set_at = section("event", "e", at_ns="1ms", action="set", set="port 4.shaper_rate_bps=20G")
    got = rate(results(program, scenario(folder, port(4, shaper_rate_bps="10G") + set_at + INCAST))) / GBPS
    expect(abs(got / 15 - 1) < 0.03, f"{got} Gb/s, at first 10, then 20")


def flow_control(program, folder):
    """A port may have another kind of flow control than its host, which then has losses."""
    small = "[switch]\nbuffer_bytes = 400KB\n" + INCAST
    same = results(program, scenario(folder, small))
    expect(all(pauses(same).get(p, 0) > 0 for p in range(4)) and same["drops"] == [], f"{pauses(same)} {same['drops']}")
    r = results(program, scenario(folder, small + port(0, flow_control="off")))
    expect(pauses(r).get(0, 0) == 0 and all(pauses(r)[p] > 0 for p in (1, 2, 3)), f"{pauses(r)}")
    expect({d["port"] for d in r["drops"]} == {0}, f"{r['drops']}")


def asymmetric(program, folder):
    """A port with pfc_asymmetric obeys pauses of priorities that are not lossless."""
    pause = "0180c2000001" "020000000005" "8808" "0101" "0001" + "ffff" + "0000" * 7 + "00" * 26
    storm = section("event", "storm", at_ns="10us", action="send", node="h5", port="s1", frame=pause, count=10, interval_ns="200us")
    lossy = ONE.replace("dst = 5", "dst = 5\ndscp = 0")
    fine = rate(results(program, scenario(folder, lossy + storm)))
    held = rate(results(program, scenario(folder, lossy + storm + port(4, pfc_asymmetric="on"))))
    expect(fine > 35 * GBPS and held < 2 * GBPS, f"{fine} and {held} bit/s")


def watchdog(program, folder):
    """The watchdog watches the ports that it should, with the times of their own."""
    storm = "[pfcwd]\npfcwd = sonic\naction = drop\ndetection_time_ns = 200ms\npoll_interval_ns = 10ms\n" + ONE
    storm += section("event", "storm", at_ns="1ms", action="pause_storm", node="h5")

    def found(extra):
        r = results(program, scenario(folder, storm + extra, duration_ns="400ms"))
        return [round(e["at_ns"] / 1e6) for e in r["events"] if e["event"] == "storm_detected"]

    usual, off, soon = found(""), found(port(4, pfcwd="off")), found(port(4, pfcwd_detection_time_ns="50ms"))
    expect(len(usual) == 1 and 200 <= usual[0] <= 225, f"{usual}")
    expect(off == [], f"{off}")
    expect(len(soon) == 1 and 50 <= soon[0] <= 75, f"{soon}")


def storms(program, folder):
    """Storm control on one port leaves the others alone."""
    frame = "ffffffffffff" "0200000000{:02x}" "88b5" + "00" * 100
    sends = "".join(section("event", f"b{n}", at_ns="10us", action="send", node=f"h{n}", port="s1", frame=frame.format(n), count=20000)
                    for n in (1, 2))
    r = results(program, scenario(folder, sends + port(0, storm_control_broadcast_bps="1G")))
    found = dropped(r, "storm_broadcast")
    # A burst of 10 ms at the limit passes, and 0.55 ms at it: 9560 frames of 138 bytes on the wire.
    expect(set(found) == {0} and abs(20_000 - 9_560 - found[0]) < 100, f"{r['drops']}")


def vlans(program, folder):
    """VLANs of ports are VLANs of the links at these ports."""
    filtering = "[switch]\nvlan_filtering = on\n"
    flow = section("flow", "f", src="1", dst=2, message_bytes="64KB", messages=3)
    by_link = results(program, scenario(folder, filtering + section("link", "ten", ends="h1-h2 s1", access_vlan=10) + flow))
    by_port = results(program, scenario(folder, filtering + port(0, access_vlan=10) + port(1, access_vlan=10) + flow))
    expect(by_link["digest"] == by_port["digest"], "another run")
    alone = run(program, scenario(folder, filtering + port(0, access_vlan=10) + flow))
    expect(alone.returncode == 2 and "h1 (VLAN 10) and h2 (VLAN 1) in one VLAN" in alone.stderr, alone.stderr)


def dcbx(program, folder):
    """Ports between switches that negotiate have PFC from their agreement on, and a port whose peer says nothing has none."""
    rest = "[lldp]\nlldp = on\n[port]\nflow_control = auto\n[switch]\nbuffer_bytes = 400KB\n"
    rest += "[nic]\ncc = none\n" + section("flow", "f", src="1-4", dst="s2/1", start_ns="200ms", message_bytes="1MB")
    text = scenario(folder, rest, topology="dumbbell", hosts=8, core_rate_bps="80G", duration_ns="202ms")
    r = results(program, text)
    between = pauses(r, "s2").get(4, 0)
    expect(between > 0, f"no pause between the switches: {r['pfc_counters']}")
    expect(all(pauses(r, "s1").get(p, 0) == 0 for p in range(4)), f"pauses to hosts, which do not speak DCBX: {pauses(r, 's1')}")


def refused(program, folder):
    """What cannot be is said in one line, with the section and the key."""
    cases = ((port(5, pfcwd="on"), "[port 5]: expected the number of a port that a switch has"),
             (port("x", pfcwd="on"), "[port x]: expected a port number from 0 to 511"),
             (port("01", pfcwd="on"), "[port 01]: expected a port number from 0 to 511"),
             ("[switch s1]\n[switch s1 port 5]\npfcwd = on\n", "[switch s1 port 5]: expected a port of that switch, from 0 to 4"),
             ("[switch s1 port 1]\npfcwd = on\n", "[switch s1 port 1]: expected a section [switch NAME] of that switch, too"),
             (port(1, link_speed_bps="10G"), "[port 1] link_speed_bps = 10G: expected no such key here: it follows from the port's link"),
             (port(1, device="any"), "[port 1] device = any: expected no such key here"),
             (port(1, shaper_rate_bps="50G"), "[port 1] shaper_rate_bps = 50G: "),
             ("[switch s1]\n[switch s1 port 1]\nshaper_rate_bps = 50G\n", "[switch s1 port 1] shaper_rate_bps = 50G: "),
             (port(1, flow_control="auto"), "[port 1] flow_control = auto: "),
             (port(1, access_vlan=2), "[port 1] access_vlan = 2: expected vlan_filtering = on in [switch]"),
             (port(1, flow_controll="off"), "expected a known key, such as flow_control"))
    for text, expected in cases:
        done = run(program, scenario(folder, text + ONE))
        lines = done.stderr.splitlines()
        expect(done.returncode == 2 and len(lines) == 1 and expected in lines[0], f"{text}: {done.stderr}")
    routed = run(program, scenario(folder, port(1, access_vlan=2) + ONE, topology="leaf_spine"))
    expect(routed.returncode == 2 and "expected forwarding = l2 in [fabric]" in routed.stderr, routed.stderr)


def read_back(program, folder):
    """--check-config prints the keys that were given, and reads back the same."""
    text = "[port]\npfcwd = off\n[switch s1]\n[switch s1 port 2]\nshaper_rate_bps = 10G\n" + port(1, flow_control="pfc", pfc_asymmetric="on") + ONE
    printed = run(program, "--check-config", scenario(folder, text)).stdout
    expect("[port]\npfcwd = off\n\n[port 1]\nflow_control = pfc\npfc_asymmetric = on\n\n[switch s1 port 2]\nshaper_rate_bps = 10G" in printed, printed)
    again = folder / "again.ini"
    again.write_text(printed, encoding="utf-8")
    expect(run(program, "--check-config", again).stdout == printed, "printed again, it differs")


if __name__ == "__main__":
    in_folder(shapers, flow_control, asymmetric, watchdog, storms, vlans, dcbx, refused, read_back)
