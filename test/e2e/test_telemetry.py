#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's telemetry of the running programs, without hugepages: names of the final JSON, pages, wrong parameters.

Everything that the final JSON says of a switch that has become quiet is compared with what telemetry said before.
"""
import shutil

import configs
from configs import port
from frames import ECT0, roce, write_pcap
from harness import Program, check, check_equal, finish, run, work_dir
from telemetry import Telemetry, eal, prefix

ADDRESSES = 700
SWITCH = """
[switch]
buffer_bytes = 4MB
wred_queues = 0,3
mark_accuracy = on
vlan_filtering = on
[lldp]
lldp = on
[pfcwd]
pfcwd = sonic
[router]
router_mac = 02:00:00:00:00:fe
[interface vlan 10]
ip = 10.1.0.1/24
[route 10.2.0.0/16]
nexthop = 10.1.0.9
[neighbor 10.1.0.9]
mac = 02:00:00:00:09:09
[fdb printer]
mac = 02:00:00:00:08:08
vlan = 1
port = 1
""" + (port(0, link_speed_bps="1G", pfcwd_action="alert", pfcwd_detection_time_ns="250ms") +
       port(1, link_speed_bps="1G", flow_control="pause"))
NIC = configs.nic(1, link_speed_bps="1G", first_qpn=100) + configs.flow_to_itself("write", 120, messages=1, message_bytes=1000)


def scalars(fold, report):
    """Members of the report under the names of the reply, without gaps between polls, of which more come."""
    return {name: report[name] for name in fold if name in report and not isinstance(report[name], (list, dict)) and not name.startswith("poll_gap_")}


def refused(reply, about):
    return isinstance(reply, dict) and about in reply.get("error", "") and reply.get("expected") and reply.get("usage")


def check_switch(work):
    name = prefix("s")
    frames = [roce(f"02:00:00:01:{i >> 8:02x}:{i & 255:02x}", "02:00:00:00:08:08", "10.0.0.1", "10.0.0.2", 50000, i, 26,
                   ECT0, bytes(64)) for i in range(ADDRESSES)]
    write_pcap(work / "in.pcap", frames)
    switch = Program(work, "switch", "switch", SWITCH, eal(
        name, f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out0.pcap", f"net_pcap1,tx_pcap={work}/out1.pcap"),
        "--stats-interval", 0.2, "--idle-sleep", 200)
    switch.wait_quiet()
    t = Telemetry(name)
    check_equal("program", t.ask("/quench/info")["program"], "quench-switch")
    ports = t.all("/quench/ports")
    pairs = [(f"port {n}", t.ask(f"/quench/port,{n}")) for n in (0, 1)]
    queues = [t.ask(f"/quench/queues,{n}") for n in (0, 1)]
    groups = [t.ask(f"/quench/pg,{n}") for n in (0, 1)]
    buffer, fdb, router = t.ask("/quench/buffer"), t.all("/quench/fdb"), t.ask("/quench/router")
    fdb_page = t.ask("/quench/fdb")
    drops, pfc, wd, ecn = (t.all(f"/quench/{x}") for x in ("drops", "pfc", "pfcwd", "ecn"))
    lldp = t.all("/quench/lldp")
    routes = t.all("/quench/routes")
    # Nobody has this address, which the switch finds out in time.
    check("dead next hops", routes.pop("dead") in ([""], ["10.1.0.9"]), routes)
    check_equal("routes", routes, {"prefix": ["10.2.0.0/16"], "nexthop": ["10.1.0.9"]})
    check_equal("interfaces", t.all("/quench/interfaces")["interface"], ["vlan 10"])
    neigh = t.all("/quench/neigh")
    check_equal("neighbours", [neigh[k] for k in ("ip", "interface", "mac", "state")],
                [["10.1.0.9"], ["vlan 10"], ["02:00:00:00:09:09"], ["permanent"]])
    accuracy = t.ask("/quench/mark_accuracy,1,3")
    counters = t.all("/quench/counters")
    check("each counter has a meaning", len(counters["name"]) > 50 and len(counters["help"]) == len(counters["name"]))
    dpdk = shutil.which("dpdk-telemetry.py")
    if dpdk:
        shown = run(dpdk, "-f", name, input="/quench/info\nquit\n").stdout
        check("dpdk-telemetry.py shows it", '"quench-switch"' in shown, shown)
    for command, about in (("/quench/port", "PORT is missing"), ("/quench/port,2", "PORT = 2"),
                           ("/quench/queues,-1", "PORT = -1"), ("/quench/pg,x", "PORT = x"),
                           ("/quench/ports,9", "FIRST = 9"), ("/quench/port,1,1", "too many"),
                           ("/quench/mark_accuracy,0,9", "QUEUE = 9"), ("/quench/mark_accuracy,0,1", "does not count"),
                           ("/quench/fdb,99999999999", "PLACE"), ("/quench/info,1", "too many")):
        check(f"{command} is refused", refused(t.ask(command), about), t.ask(command))
    check_equal("a command that is none", t.ask("/quench/nothing"), None)
    check_equal("exit code", switch.stop(), 0)
    final = switch.json()

    for (who, reply), report in zip(pairs, final["ports"]):
        check_equal(f"{who}: as in the JSON", scalars(reply, report), {k: reply[k] for k in scalars(reply, report)})
        missing = {k for k, v in report.items() if not isinstance(v, (dict, list))} - set(reply)
        check_equal(f"{who}: keys of the JSON that are missing", missing, set())
        check_equal(f"{who}: drops", {k[6:]: v for k, v in reply.items() if k.startswith("drops/")}, report["drops"])
    for n, report in enumerate(final["ports"]):
        for key in ("tx_packets", "ecn_marked_packets", "watermark_bytes", "queue_bytes"):
            check_equal(f"port {n}: queues/{key}", queues[n][f"queues/{key}"], [q[key] for q in report["queues"]])
        for key in ("rx_packets", "drop_packets", "watermark_bytes", "shared_bytes"):
            check_equal(f"port {n}: pgs/{key}", groups[n][f"pgs/{key}"], [g[key] for g in report["pgs"]])
    check_equal("rx_packets of all ports", ports["rx_packets"], [p["rx_packets"] for p in final["ports"]])
    check_equal("drops of all ports", drops["mtu"], [p["drops"]["mtu"] for p in final["ports"]])
    check("link pause in place of priorities", "tx_global_pause_transition" in pairs[1][1] and
          "rx_prio3_pause" not in pairs[1][1] and pfc["rx_prio3_pause"] == ["0", ""], pfc["rx_prio3_pause"])
    check_equal("buffer", {k[7:]: v for k, v in buffer.items() if k.startswith("ledger/")}, final["ledger"])
    check_equal("pools", buffer["pools/watermark_bytes"], [p["watermark_bytes"] for p in final["pools"]])
    check_equal("router", router, final["router"])
    check_equal("watched priorities", [wd[k] for k in ("port", "prio", "status")], [[0], [3], ["operational"]])
    check_equal("and how", [wd[k] for k in ("action", "detection_time_ns", "restoration_time_ns")],
                [["alert"], [250_000_000], [400_000_000]])
    check_equal("queues with a curve", [ecn["port"], ecn["queue"]], [[0, 0, 1, 1], [0, 3, 0, 3]])
    check_equal("LLDP", [lldp["neighbour"], lldp["pfc_state"]], [[0, 0], ["no_neighbour"] * 2])
    check_equal("packets that met the curve", sum(accuracy["mark_accuracy/packets"]),
                final["ports"][1]["queues"][3]["tx_packets"])

    check_equal("addresses of all pages, each once", len(set(fdb["mac"])), ADDRESSES + 1)
    check_equal("addresses of all pages", len(fdb["mac"]), final["fdb"]["entries"])
    check("they take several pages", 0 < len(fdb_page["mac"]) < ADDRESSES, len(fdb_page["mac"]))
    at = fdb["mac"].index("02:00:00:01:01:05")
    check_equal("a learned one", [fdb[k][at] for k in ("domain", "port", "type")], ["vlan 1", 0, "dynamic"])
    at = fdb["mac"].index("02:00:00:00:08:08")
    check_equal("a static one", [fdb[k][at] for k in ("port", "type", "age_ns")], [1, "static", 0])


def check_nic(work):
    name = prefix("n")
    nic = Program(work, "nic", "nic", NIC, eal(name, "net_ring0"), "--stay", "--idle-sleep", 200, "--stats-interval", 0)
    nic.wait_until("all messages completed", lambda: "all messages completed" in nic.err())
    t = Telemetry(name)
    info = t.ask("/quench/info")
    check_equal("NIC: program and QPs", [info[k] for k in ("program", "qps", "flows")], ["quench-nic", 240, 2])
    counters, port, qps, flows = t.ask("/quench/nic"), t.ask("/quench/port"), t.all("/quench/qps"), t.all("/quench/flows")
    chosen = t.all("/quench/qps", ["local_qpn", "flow"])
    check_equal("chosen columns, of all QPs", chosen, {key: qps[key] for key in ("local_qpn", "flow")})
    one, some, page = t.ask("/quench/qp,101"), t.ask("/quench/qps,7,3"), t.ask("/quench/qps")
    rp, np = t.ask("/quench/rp"), t.ask("/quench/np")
    for command, about in (("/quench/qp,99", "QPN = 99"), ("/quench/qp", "QPN is missing"),
                           ("/quench/qps,240", "FIRST = 240"), ("/quench/qps,0,0", "COUNT = 0"),
                           ("/quench/qps,0,9,flow+x", "COLUMNS = x"), ("/quench/qps,0,9,flow+", "COLUMNS = "),
                           ("/quench/flows,2", "FIRST = 2"), ("/quench/port,1", "PORT = 1")):
        check(f"NIC: {command} is refused", refused(t.ask(command), about), t.ask(command))
    check_equal("NIC: exit code", nic.stop(), 0)
    final = nic.json()
    check_equal("NIC: counters", counters, final["counters"])
    check_equal("NIC: port", scalars(port, final["port"]), {k: port[k] for k in scalars(port, final["port"])})
    check("NIC: QPs take several pages", len(page["local_qpn"]) < 240, len(page["local_qpn"]))
    for key in ("local_qpn", "peer_qpn", "flow", "tx_packets", "rx_payload_bytes", "done"):
        check_equal(f"NIC: {key} of all QPs", qps[key], [q[key] for q in final["qps"]])
    check_equal("NIC: three QPs from the eighth on", some["local_qpn"], [107, 108, 109])
    check_equal("NIC: a QP by its number", [one["local_qpn"], one["peer_qpn"], one["alpha"]], [101, 221, "1.000000"])
    for key in ("flow", "messages", "payload_bytes", "completions"):
        check_equal(f"NIC: flows {key}", flows[key], [f[key] for f in final["flows"]])
    check_equal("NIC: parameters in force", [rp["cc"], rp["rp_ai_rate_bps"], np["np_cnp_dscp"]], ["dcqcn", 40000000, 48])


def main():
    work = work_dir()
    check_switch(work)
    check_nic(work)
    finish()


main()
