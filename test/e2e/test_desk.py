#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The desk of the running programs, without hugepages: names of the final JSON, wrong parameters.

Everything that the final JSON says of a switch that has become quiet is compared with what the desk said before.
"""
import datetime
import fcntl
import os
import pathlib
import shutil

import configs
from configs import port
from frames import ECT0, pfc_frame, roce, write_pcap
from harness import Program, check, check_equal, finish, run, work_dir
from desk import BASE, Desk, eal, prefix

ADDRESSES = 700
SWITCH = configs.full_switch() + (port(0, link_speed_bps="1G", pfcwd_action="alert", pfcwd_detection_time_ns="250ms") +
                                  port(1, link_speed_bps="1G", flow_control="pause"))
NIC = configs.nic(1, link_speed_bps="1G", first_qpn=100) + configs.flow_to_itself("write", 120, messages=1, message_bytes=1000)


def scalars(reply, report):
    """Members of the report that the reply has too, without gaps between polls, of which more come."""
    return {name: report[name] for name in reply if name in report and not isinstance(report[name], (list, dict)) and not name.startswith("poll_gap_")}


def utc(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def check_times(t, switch, began):
    """Times of the day lie between the start of this test and now, and are in the order of those since the start."""
    pause, = t.rows("pauses", port=0)
    started, at = utc(t.call("info")["started_at"]), utc(pause["start_at"])
    ended = datetime.datetime.now(datetime.timezone.utc)
    check("times of day", began < started < at < ended, (began, started, at, ended))
    check_equal("a pause of priority 3", [pause[k] for k in ("prio", "way", "lasts")], [3, "rx", False])
    check_equal("no storm has a time", select(t.rows("pfcwd"), "storm_detected_at", "storm_restored_at"), [[""], [""]])
    line, = (line for line in switch.err().splitlines() if " event=set " in line)
    check("an event has its time", at < utc(line.rpartition(" time=")[2]) < ended, line)


def check_refusals(t, cases):
    for method, params, about in cases:
        refused = t.refusal(method, **params)
        check(f"{method} {params} is refused", about in refused, refused)


def select(rows, *keys):
    return [[row[key] for row in rows] for key in keys]


def wants_lock(program, inode):
    """Does the program wait for the lock of a file? The kernel lists who waits with "->"."""
    waiting = [line.split() for line in pathlib.Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(words[5] == str(program.process.pid) and words[6].endswith(f":{inode}") for words in waiting)


def check_started(work, role, config, *devices):
    """A program says that it runs once its socket answers. It waits for the lock of the socket's folder, which this test holds."""
    name = prefix(f"started{role}")
    folder = BASE / name
    folder.mkdir(parents=True)
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    program = Program(work, role, f"started-{role}", config, eal(name, *devices), "--idle-sleep", 1000, "--stats-interval", 0, *(["--stay"] if role == "nic" else []))
    program.wait_until("it waits for the lock", lambda: wants_lock(program, folder.stat().st_ino))
    check(f"{role}: does not run yet", "running" not in program.err(), program.err())
    os.close(held)
    program.wait_started()
    check_equal(f"{role}: it runs, and answers", Desk(name).call("info")["program"], f"quench-{role}")
    check_equal(f"{role}: exit code", program.stop(), 0)


def check_switch(work):
    name, began = prefix("s"), datetime.datetime.now(datetime.timezone.utc)
    frames = [pfc_frame("02:00:00:00:01:00", 1 << 3, (0, 0, 0, 100, 0, 0, 0, 0))]
    frames += [roce(f"02:00:00:01:{i >> 8:02x}:{i & 255:02x}", "02:00:00:00:08:08", "10.0.0.1", "10.0.0.2", 50000, i, 26,
                   ECT0, bytes(64)) for i in range(ADDRESSES)]
    write_pcap(work / "in.pcap", frames)
    switch = Program(work, "switch", "switch", SWITCH, eal(
        name, f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out0.pcap", f"net_pcap1,tx_pcap={work}/out1.pcap"),
        "--stats-interval", 0.2, "--idle-sleep", 1000)
    switch.wait_quiet()
    t = Desk(name)
    check_equal("program", t.call("info")["program"], "quench-switch")
    lldp = t.rows("lldp")
    # Neighbours are told when it ends, by a frame; this way that is before the desk is asked.
    t.set("lldp.lldp=off")
    switch.wait_quiet()
    check_times(t, switch, began)
    ports = t.rows("ports")
    pairs = [(f"port {n}", t.call("port", port=n)) for n in (0, 1)]
    queues = [t.rows("queues", port=n) for n in (0, 1)]
    groups = [t.rows("pg", port=n) for n in (0, 1)]
    buffer, fdb, router = t.call("buffer"), t.rows("fdb"), t.call("router")
    drops, pfc, wd, ecn = (t.rows(x) for x in ("drops", "pfc", "pfcwd", "ecn"))
    routes = t.rows("routes")
    # Nobody has this address, which the switch finds out in time.
    check("dead next hops", [route.pop("dead") for route in routes] in ([""], ["10.1.0.9"]), routes)
    check_equal("routes", routes, [{"prefix": "10.2.0.0/16", "nexthop": "10.1.0.9"}])
    check_equal("interfaces", t.column("interfaces", "interface"), ["vlan 10"])
    neigh = t.rows("neigh")
    check_equal("neighbours", select(neigh, "ip", "interface", "mac", "state"),
                [["10.1.0.9"], ["vlan 10"], ["02:00:00:00:09:09"], ["permanent"]])
    accuracy = t.rows("mark_accuracy", port=1, queue=3)
    counters = t.rows("counters")
    check("each counter has a meaning", len(counters) > 50 and all(row["help"] for row in counters))
    dpdk = shutil.which("dpdk-telemetry.py")
    if dpdk:
        shown = run(dpdk, "-f", name, input="/quench/info\nquit\n").stdout
        check("dpdk-telemetry.py shows it", '"quench-switch"' in shown, shown)
    check_refusals(t, (("port", {}, "PORT is missing"), ("port", {"port": 2}, "PORT = 2"), ("queues", {"port": -1}, "PORT = -1"),
                       ("pg", {"port": "x"}, "PORT = x"), ("port", {"port": 1, "queue": 1}, "port has no parameter queue"),
                       ("mark_accuracy", {"port": 0, "queue": 9}, "QUEUE = 9"), ("mark_accuracy", {"port": 0, "queue": 1}, "does not mark by a curve"),
                       ("info", {"x": 1}, "info has no parameter x"), ("nothing", {}, "quench-switch has no method nothing")))
    check_equal("exit code", switch.stop(), 0)
    final = switch.json()

    for (who, reply), report in zip(pairs, final["ports"]):
        check_equal(f"{who}: as in the JSON", scalars(reply, report), {k: reply[k] for k in scalars(reply, report)})
        missing = {k for k, v in report.items() if not isinstance(v, (dict, list))} - set(reply)
        check_equal(f"{who}: keys of the JSON that are missing", missing, set())
        check_equal(f"{who}: drops", reply["drops"], report["drops"])
    for n, report in enumerate(final["ports"]):
        for key in ("tx_packets", "ecn_marked_packets", "watermark_bytes", "queue_bytes"):
            check_equal(f"port {n}: {key} of queues", [q[key] for q in queues[n]], [q[key] for q in report["queues"]])
        for key in ("rx_packets", "drop_packets", "watermark_bytes", "shared_bytes"):
            check_equal(f"port {n}: {key} of groups", [g[key] for g in groups[n]], [g[key] for g in report["pgs"]])
    check_equal("rx_packets of all ports", [p["rx_packets"] for p in ports], [p["rx_packets"] for p in final["ports"]])
    check_equal("drops of all ports", [row["mtu"] for row in drops], [p["drops"]["mtu"] for p in final["ports"]])
    check("link pause in place of priorities", "tx_global_pause_transition" in pairs[1][1] and
          "rx_prio3_pause" not in pairs[1][1] and [row.get("rx_prio3_pause") for row in pfc] == [1, None], pfc)
    check_equal("buffer", buffer["ledger"], final["ledger"])
    check_equal("pools", [pool["watermark_bytes"] for pool in buffer["pools"]], [p["watermark_bytes"] for p in final["pools"]])
    check_equal("router", router, final["router"])
    check_equal("watched priorities", select(wd, "port", "prio", "status"), [[0], [3], ["operational"]])
    check_equal("and how", select(wd, "action", "detection_time_ns", "restoration_time_ns"),
                [["alert"], [250_000_000], [400_000_000]])
    check_equal("queues with a curve", select(ecn, "port", "queue"), [[0, 0, 1, 1], [0, 3, 0, 3]])
    check_equal("LLDP", select(lldp, "neighbour", "pfc_state"), [[False, False], ["no_neighbour"] * 2])
    check_equal("packets that met the curve", sum(row["packets"] for row in accuracy),
                final["ports"][1]["queues"][3]["tx_packets"])

    by_mac = {row["mac"]: row for row in fdb}
    check_equal("addresses, each once", (len(by_mac), len(fdb)), (ADDRESSES + 1, final["fdb"]["entries"]))
    check_equal("a learned one", [by_mac["02:00:00:01:01:05"][k] for k in ("domain", "port", "type")], ["vlan 1", 0, "dynamic"])
    check_equal("a static one", [by_mac["02:00:00:00:08:08"][k] for k in ("port", "type", "age_ns")], [1, "static", 0])


def check_nic(work):
    name = prefix("n")
    nic = Program(work, "nic", "nic", NIC, eal(name, "net_ring0"), "--stay", "--idle-sleep", 1000, "--stats-interval", 0)
    nic.wait_until("all messages completed", lambda: "all messages completed" in nic.err())
    t = Desk(name)
    info = t.call("info")
    check_equal("NIC: program and QPs", [info[k] for k in ("program", "qps", "flows")], ["quench-nic", 240, 2])
    counters, port, qps, flows = t.call("nic"), t.call("port"), t.rows("qps"), t.rows("flows")
    chosen = t.rows("qps", columns=["local_qpn", "flow"])
    check_equal("chosen columns, of all QPs", chosen, [{key: qp[key] for key in ("local_qpn", "flow")} for qp in qps])
    one, some = t.call("qp", qpn=101), t.rows("qps", first=7, count=3)
    check_equal("NIC: no QPs beyond the last", t.rows("qps", first=240), [])
    rp, np = t.call("rp"), t.call("np")
    check_refusals(t, (("qp", {"qpn": 99}, "QPN = 99"), ("qp", {}, "QPN is missing"), ("qps", {"count": 0}, "COUNT = 0"), ("qps", {"columns": ["flow", "x"]}, "COLUMNS = x"), ("port", {"port": 1}, "PORT = 1")))
    check_equal("NIC: exit code", nic.stop(), 0)
    final = nic.json()
    check_equal("NIC: counters", counters, final["counters"])
    check_equal("NIC: port", scalars(port, final["port"]), {k: port[k] for k in scalars(port, final["port"])})
    for key in ("local_qpn", "peer_qpn", "flow", "tx_packets", "rx_payload_bytes", "done"):
        check_equal(f"NIC: {key} of all QPs", [q[key] for q in qps], [q[key] for q in final["qps"]])
    check_equal("NIC: three QPs from the eighth on", [q["local_qpn"] for q in some], [107, 108, 109])
    check_equal("NIC: a QP by its number", [one["local_qpn"], one["peer_qpn"], one["alpha"]], [101, 221, 1.0])
    for key in ("flow", "messages", "payload_bytes", "completions"):
        check_equal(f"NIC: flows {key}", [f[key] for f in flows], [f[key] for f in final["flows"]])
    check_equal("NIC: parameters in force", [rp["cc"], rp["rp_ai_rate_bps"], np["np_cnp_dscp"]], ["dcqcn", 40000000, 48])


def main():
    work = work_dir()
    check_started(work, "switch", SWITCH, "net_null0", "net_null1")
    check_started(work, "nic", NIC, "net_ring0")
    check_switch(work)
    check_nic(work)
    finish()


main()
