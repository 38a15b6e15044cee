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
INBOUND, OUTBOUND = 1, 2


def record(work, name, scenario, *options):
    """A recording of the switch's port to the receiver, and of that to the first sender."""
    ports = [word for port in (0, 4) for word in ("--set", f"record p{port}.node=s1", "--set", f"record p{port}.port={port}")]
    done = run(path_of("lab"), "--quiet", "--no-progress", "--duration", "1ms", "--set", "fabric.measure_from_ns=0", *ports, *options,
               "--out", work / name, ROOT / "config" / scenario)
    check_equal(f"{name}: the lab", (done.returncode, done.stderr), (0, ""))
    return work / name


def tshark(work, path, *words):
    env = {**os.environ, "WIRESHARK_CONFIG_DIR": str(work / "config"), "HOME": str(work)}
    done = run("tshark", "-n", "-r", path, *words, env=env)
    check_equal(f"tshark {path.parent.name}: exit code", done.returncode, 0)
    check("no fault of the dissector", "Lua Error" not in done.stdout + done.stderr, done.stderr)
    return done.stdout.splitlines()


def frames(work, path, *names):
    """Fields of all frames of a recording by name, among them the rule that colours the frame. A start of tshark takes a second: there is one for each recording."""
    names = (*names, "frame.comment", "frame.packet_flags_direction", "frame.coloring_rule.name")
    lines = tshark(work, path, "-X", LUA, "-C", "quench", "--color", "-T", "fields", *(word for name in names for word in ("-e", name)))
    found = [dict(zip(names, line.split("\t"))) for line in lines]
    for frame in found:
        frame["direction"] = int(frame["frame.packet_flags_direction"], 0)
    return found


def comments(work):
    """Each frame that a switch marks, and each pause that it sends, says at which length. @return the frames of three recordings"""
    marked = frames(work, record(work, "marked", "incast-4to1.ini") / "p4.pcapng", "ip.dsfield.ecn")
    said = [frame["frame.comment"] for frame in marked if frame["ip.dsfield.ecn"] == "3" and frame["direction"] == OUTBOUND]
    lengths = [re.fullmatch(r"marked in queue 3 at ([\d.]+) KB", text) for text in said]
    check("marked frames say where", len(said) > 10 and all(lengths), said[:3])
    # Nothing is marked up to Kmin.
    check("marks are above Kmin", min(float(m[1]) for m in lengths) >= 5.0)
    check_equal("other frames say nothing", [frame for frame in marked if frame["ip.dsfield.ecn"] != "3" and frame["frame.comment"]], [])
    out = record(work, "lossy", "incast-4to1-pfc-only.ini", "--set", "switch.pfc_generate=off", "--set", "buffer_profile lossy.dynamic_th=-6")
    lossy = frames(work, out / "p0.pcapng")
    said = collections.Counter(frame["frame.comment"] for frame in lossy if frame["frame.comment"] and frame["direction"] == INBOUND)
    drops = json.loads((out / "results.json").read_text())["drops"]
    counted = {f"dropped: {row['reason']}": row["packets"] for row in drops if row["node"] == "s1" and row["port"] == 0}
    check("received frames that were dropped say why, and each of them does", "dropped: pg_limit" in counted and said == counted, (said, drops))
    out = record(work, "down", "incast-4to1.ini", *(word for key in ("at_ns=300us", "action=link_down", "node=s1", "port=4") for word in ("--set", f"event off.{key}")))
    down = [frame for frame in frames(work, out / "p4.pcapng") if "dropped: " in frame["frame.comment"]]
    said = collections.Counter(frame["frame.comment"] for frame in down)
    counted = {row["reason"]: row["packets"] for row in json.loads((out / "results.json").read_text())["drops"] if row["node"] == "s1"}
    check("frames that were to leave, and were dropped, say why and where from", counted == {"link_down": len(down)} and
          set(said) == {f"dropped: link_down, received by port {i}" for i in range(4)}, (said, counted))
    check_equal("and have no direction", {frame["direction"] for frame in down}, {0})
    paused = frames(work, record(work, "paused", "incast-4to1-pfc-only.ini") / "p0.pcapng", "macc.opcode")
    words = {re.sub(r"[\d.]+ KB", "_", frame["frame.comment"]) for frame in paused if frame["macc.opcode"] == "0x0101"}
    check_equal("pauses say why", words, {"XOFF of group 3 at _ shared, _ headroom", "XON of group 3 at _ shared, _ headroom"})
    return [*marked, *lossy, *paused]


def telemetry(work):
    hops = ("quench_int.version", "quench_int.slots", "quench_int.hops", "quench_int.hop.rate")
    found = frames(work, record(work, "int", "incast-4to1-hpcc.ini") / "p4.pcapng", *hops, "infiniband.bth.opcode", "quench_int.echo", "quench_int.hop.queue")
    out = [frame for frame in found if frame["quench_int.version"] and frame["direction"] == OUTBOUND]
    # A WRITE that the switch has sent to the receiver at 100 Gb/s.
    check_equal("data leave with one hop", {tuple(frame[name] for name in hops) for frame in out}, {("2", "1", "1", "100000")})
    check("what follows the header is RoCEv2", all(frame["infiniband.bth.opcode"] for frame in out) and {frame["quench_int.echo"] for frame in out} == {"0"}, out[:2])
    echoes = [frame for frame in found if frame["quench_int.echo"] == "1"]
    check("ACKs echo queues", len(echoes) > 100 and {frame["infiniband.bth.opcode"] for frame in echoes} == {"17"} and
          max(int(frame["quench_int.hop.queue"]) for frame in echoes) > 0, echoes[:2])
    (work / "cut.txt").write_text("0000 " + "02 " * 11 + "02" + " 08 00 45 00 00 24 00 00 40 00 40 11 00 00 0a 00 00 01 0a 00 00 02 c0 00 12 b8 00 10 00 00 20 63 00 00 01 02 03 04\n")
    run("text2pcap", work / "cut.txt", work / "cut.pcap")
    said = "\n".join(tshark(work, work / "cut.pcap", "-X", LUA, "-V"))
    check("a header that is cut is malformed", "Expert Info (Error/Malformed): Slots, hops or length do not fit" in said, said)


def profile(work, found):
    """Each rule of colours compiles, and colours its frames; tshark takes the profile's columns."""
    rules = re.findall(r"^@(.+?)@(.+?)@\[", (SHARE / "quench/colorfilters").read_text(), re.M)
    check("the profile has rules", len(rules) > 5, rules)
    coloured = collections.Counter(frame["frame.coloring_rule.name"] for frame in found)
    for name in ("Dropped", "Pause: XOFF or XON", "Congestion notification packet", "Marked CE", "ACK", "RoCEv2 data"):
        check(f"{name}: frames", coloured[name] > 0, coloured)
    # tshark ends with an error where one of the rules does not compile.
    any_rule = " || ".join(f"({rule})" for _, rule in rules)
    line = tshark(work, work / "marked/p4.pcapng", "-C", "quench", "-Y", f"frame.comment && ({any_rule})", "-c", "5000")[0]
    check("columns have the reason", "marked in queue 3" in line and "Outbound" in line, line)


def main():
    if not shutil.which("tshark"):
        skip("tshark")
    work = work_dir()
    shutil.copytree(SHARE / "quench", work / "config/profiles/quench")
    found = comments(work)
    telemetry(work)
    profile(work, found)
    finish()


main()
