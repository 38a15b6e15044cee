#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of the lab in tshark: the comments that say why, the dissector of in-band telemetry, and the profile's rules."""
import collections
import json
import os
import re
import shutil

from harness import check, check_equal, finish, path_of, run, skip, work_dir
from scripts import ROOT

SHARE = ROOT / "share/wireshark"
LUA = f"lua_script:{SHARE}/quench_int.lua"


def record(work, name, scenario, *options):
    """A recording of the switch's port to the receiver, and of that to the first sender."""
    ports = [word for port in (0, 4) for word in ("--set", f"record p{port}.node=s1", "--set", f"record p{port}.port={port}")]
    done = run(path_of("lab"), "--quiet", "--no-progress", "--duration", "1ms", "--set", "fabric.measure_from_ns=0", *ports, *options,
               "--out", work / name, ROOT / "config" / scenario)
    check_equal(f"{name}: the lab", (done.returncode, done.stderr), (0, ""))
    return work / name


def tshark(work, path, *words):
    env = {**os.environ, "WIRESHARK_CONFIG_DIR": str(work / "config"), "HOME": str(work)}
    done = run("tshark", "-r", path, *words, env=env)
    check_equal(f"tshark {' '.join(words)[:60]}", done.returncode, 0)
    check("no fault of the dissector", "Lua Error" not in done.stdout + done.stderr, done.stderr)
    return done.stdout.splitlines()


def fields(work, path, which, *names):
    return [line.split("\t") for line in tshark(work, path, "-X", LUA, "-Y", which, "-T", "fields", *(w for n in names for w in ("-e", n)))]


def comments(work):
    """Each frame that a switch marks, and each pause that it sends, says at which length."""
    marked = record(work, "marked", "incast-4to1.ini")
    rows = fields(work, marked / "p4.pcapng", "ip.dsfield.ecn == 3 && frame.packet_flags_direction == 2", "frame.comment")
    lengths = [re.fullmatch(r"marked in queue 3 at ([\d.]+) KB", row[0]) for row in rows]
    check("marked frames say where", len(rows) > 10 and all(lengths), rows[:3])
    # Nothing is marked up to Kmin.
    check("marks are above Kmin", min(float(m[1]) for m in lengths) >= 5.0)
    others = fields(work, marked / "p4.pcapng", "ip.dsfield.ecn != 3 && frame.comment", "frame.number")
    check_equal("other frames say nothing", others, [])
    lossy = record(work, "lossy", "incast-4to1-pfc-only.ini", "--set", "switch.pfc_generate=off", "--set", "buffer_profile lossy.dynamic_th=-6")
    rows = fields(work, lossy / "p0.pcapng", "frame.comment && frame.packet_flags_direction == 1", "frame.comment")
    drops = json.loads((lossy / "results.json").read_text())["drops"]
    counted = {f"dropped: {row['reason']}": row["packets"] for row in drops if row["node"] == "s1" and row["port"] == 0}
    check("received frames that were dropped say why, and each of them does", "dropped: pg_limit" in counted and
          collections.Counter(row[0] for row in rows) == counted, (collections.Counter(row[0] for row in rows), drops))
    down = record(work, "down", "incast-4to1.ini", *(word for key in ("at_ns=300us", "action=link_down", "node=s1", "port=4") for word in ("--set", f"event off.{key}")))
    rows = fields(work, down / "p4.pcapng", 'frame.comment contains "dropped: "', "frame.comment", "frame.packet_flags_direction")
    counted = {row["reason"]: row["packets"] for row in json.loads((down / "results.json").read_text())["drops"] if row["node"] == "s1"}
    check("frames that were to leave, and were dropped, say why and where from", counted == {"link_down": len(rows)} and
          {row[0] for row in rows} == {f"dropped: link_down, received by port {i}" for i in range(4)}, (collections.Counter(row[0] for row in rows), counted))
    check_equal("and have no direction", {int(row[1], 0) for row in rows}, {0})
    paused = record(work, "paused", "incast-4to1-pfc-only.ini")
    rows = fields(work, paused / "p0.pcapng", "macc.opcode == 0x0101", "frame.comment", "frame.packet_flags_direction")
    words = {re.sub(r"[\d.]+ KB", "_", row[0]) for row in rows}
    check_equal("pauses say why", words, {"XOFF of group 3 at _ shared, _ headroom", "XON of group 3 at _ shared, _ headroom"})


def telemetry(work):
    out = record(work, "int", "incast-4to1-hpcc.ini")
    rows = fields(work, out / "p4.pcapng", "quench_int && frame.packet_flags_direction == 2", "quench_int.version", "quench_int.slots",
                  "quench_int.hops", "quench_int.hop.rate", "infiniband.bth.opcode", "quench_int.echo")
    # A WRITE that the switch has sent to the receiver at 100 Gb/s.
    check_equal("data leave with one hop", {tuple(row[:4]) for row in rows}, {("2", "1", "1", "100000")})
    check("what follows the header is RoCEv2", all(row[4] for row in rows) and {row[5] for row in rows} == {"0"}, rows[:2])
    rows = fields(work, out / "p4.pcapng", "quench_int.echo == 1", "infiniband.bth.opcode", "quench_int.hop.queue")
    check("ACKs echo queues", len(rows) > 100 and {row[0] for row in rows} == {"17"} and max(int(row[1]) for row in rows) > 0, rows[:2])
    (work / "cut.txt").write_text("0000 " + "02 " * 11 + "02" + " 08 00 45 00 00 24 00 00 40 00 40 11 00 00 0a 00 00 01 0a 00 00 02 c0 00 12 b8 00 10 00 00 20 63 00 00 01 02 03 04\n")
    run("text2pcap", work / "cut.txt", work / "cut.pcap")
    said = "\n".join(tshark(work, work / "cut.pcap", "-X", LUA, "-V"))
    check("a header that is cut is malformed", "Expert Info (Error/Malformed): Slots, hops or length do not fit" in said, said)


def profile(work):
    """Each rule of colours compiles and finds its frames, and tshark takes the profile's columns."""
    rules = re.findall(r"^@(.+?)@(.+?)@\[", (SHARE / "quench/colorfilters").read_text(), re.M)
    check("the profile has rules", len(rules) > 5, rules)
    found = {}
    for name, rule in rules:
        for path in (work / "marked/p4.pcapng", work / "paused/p0.pcapng", work / "lossy/p0.pcapng"):
            found[name] = found.get(name, 0) + len(tshark(work, path, "-Y", rule, "-T", "fields", "-e", "frame.number"))
    for name in ("Dropped", "Pause: XOFF or XON", "Congestion notification packet", "Marked CE", "ACK", "RoCEv2 data"):
        check(f"{name}: frames", found.get(name, 0) > 0, found)
    shutil.copytree(SHARE / "quench", work / "config/profiles/quench")
    line = tshark(work, work / "marked/p4.pcapng", "-C", "quench", "-Y", "frame.comment", "-c", "5000")[0]
    check("columns have the reason", "marked in queue 3" in line and "Outbound" in line, line)


def main():
    if not shutil.which("tshark"):
        skip("tshark")
    work = work_dir()
    comments(work)
    telemetry(work)
    profile(work)
    finish()


main()
