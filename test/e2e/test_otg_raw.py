#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Raw flows of quench-otg, in a capture that scapy judges: headers, values that change, lengths, checksums, counts and starts."""
import http.client
import json
import pathlib
import threading

from configs import memif
from frames import read_pcap
from harness import check, check_equal, finish, run, work_dir
from otg_bed import ROOT, Otg, raw_flow, value
from scapy.contrib.mac_control import MACControlClassBasedFlowControl, MACControlPause
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from telemetry import Telemetry

TO, FROM = "02:00:00:00:00:02", "02:00:00:00:00:01"
FRAMES = 12


def packets(n):
    return {"choice": "fixed_packets", "fixed_packets": {"packets": n}}


def counter(way, start, step, count):
    return {"choice": way, way: {"start": start, "step": step, "count": count}}


ETHERNET = ("ethernet", {"dst": value(TO), "src": value(FROM)})
FLOWS = [
    raw_flow("v4", "p", ETHERNET, ("vlan", {"priority": value(3), "id": counter("increment", 100, 1, 4)}),
             ("ipv4", {"src": value("10.0.0.1"), "dst": counter("increment", "10.0.0.254", "0.0.0.1", 3), "time_to_live": value(9),
                       "priority": {"choice": "dscp", "dscp": {"phb": {"choice": "values", "values": [26, 0, 48]}, "ecn": value(2)}}}),
             ("udp", {"src_port": counter("decrement", 50001, 2, 5), "dst_port": value(7)}), size=200, duration=packets(FRAMES)),
    raw_flow("v6", "p", ETHERNET, ("ipv6", {"src": value("fd00::1"), "dst": counter("increment", "fd00::ffff", "::1", 6), "traffic_class": value(0x6A)}),
             ("udp", {"src_port": value(1000), "dst_port": value(2000)}), size=99, duration=packets(FRAMES)),
    raw_flow("pfc", "p", ("pfcpause", {"src": value(FROM), "class_enable_vector": value(0x18), "pause_class_3": value(7),
                                       "pause_class_4": counter("increment", 0xFFFF, 1, 2)}), duration=packets(FRAMES)),
    raw_flow("pause", "p", ("ethernetpause", {"src": value(FROM), "time": value(0x1234)}), duration=packets(FRAMES)),
    # BTH of a WRITE Only, as bytes.
    raw_flow("bytes of RoCEv2", "p", ETHERNET, ("ipv4", {"src": value("10.0.0.1"), "dst": value("10.0.0.2")}),
             ("udp", {"src_port": value(49152), "dst_port": value(4791)}), ("custom", {"bytes": "0a40 ffff 0000:0011 80000000"}), duration=packets(FRAMES)),
]


def sum_is_right(packet, layer, field):
    """The frame with the checksum that scapy computes."""
    again = packet.copy()
    again[layer].delfieldval(field)
    return again.__class__(bytes(again))[layer].fields[field] == packet[layer].fields[field]


def check_v4(found):
    check_equal("v4: lengths", {len(frame) for frame in found}, {196})
    view = [Ether(frame) for frame in found]
    check_equal("v4: VLANs", [p[Dot1Q].vlan for p in view], [100, 101, 102, 103] * 3)
    check_equal("v4: DSCP and ECN", [p[IP].tos for p in view], [26 << 2 | 2, 2, 48 << 2 | 2] * 4)
    check_equal("v4: addresses", [p[IP].dst for p in view], ["10.0.0.254", "10.0.0.255", "10.0.1.0"] * 4)
    check_equal("v4: ports", [p[UDP].sport for p in view], ([50001, 49999, 49997, 49995, 49993] * 3)[:FRAMES])
    check_equal("v4: the rest", {(p.dst, p.src, p[Dot1Q].prio, p[IP].ttl, p[IP].len, p[UDP].len, p[UDP].dport, p[UDP].chksum) for p in view},
                {(TO, FROM, 3, 9, 178, 158, 7, 0)})
    check("v4: checksums", all(sum_is_right(p, IP, "chksum") for p in view))


def check_v6(found):
    view = [Ether(frame) for frame in found]
    check_equal("v6: addresses", [p[IPv6].dst for p in view], ["fd00::ffff", *(f"fd00::1:{n}" for n in range(5))] * 2)
    check_equal("v6: the rest", {(len(bytes(p)), p[IPv6].tc, p[IPv6].plen, p[IPv6].nh, p[UDP].len) for p in view}, {(95, 0x6A, 41, 17, 41)})
    check("v6: checksums", all(sum_is_right(p, UDP, "chksum") for p in view))


def check_pauses(pfc, pause):
    view = [Ether(frame)[MACControlClassBasedFlowControl] for frame in pfc]
    check_equal("pfc: times", [(p.c3_enabled, p.c4_enabled, p.c0_enabled, p.c3_pause_time, p.c4_pause_time) for p in view],
                [(1, 1, 0, 7, 0xFFFF), (1, 1, 0, 7, 0)] * 6)
    check_equal("pause: times", {(Ether(frame).dst, Ether(frame)[MACControlPause].pause_time) for frame in pause}, {("01:80:c2:00:00:01", 0x1234)})


REFUSED = [
    ("flows[0].packet[0].ipv4", raw_flow("f", "p", ("ipv4", {}))),
    ("flows[0].packet[0].ethernet.dst", raw_flow("f", "p", ("ethernet", {}))),
    ("flows[0].packet[1].pfcpause", raw_flow("f", "p", ETHERNET, ("pfcpause", {}))),
    ("flows[0].packet[1].ipv4.header_checksum", raw_flow("f", "p", ETHERNET, ("ipv4", {"header_length": value(6)}))),
    ("flows[0].packet[2].udp.checksum", raw_flow("f", "p", ETHERNET, ("ipv6", {"next_header": value(6)}), ("udp", {}), size=100)),
    ("flows[0].packet[1].ipv4.src.choice", raw_flow("f", "p", ETHERNET, ("ipv4", {"src": {"choice": "random"}}))),
    ("flows[0].packet", raw_flow("f", "p", ETHERNET, ("ipv6", {}), ("udp", {}))),
    ("flows[0].size.fixed", raw_flow("f", "p", ETHERNET, size=63)),
    ("flows[0].rate.percentage", raw_flow("f", "p", ETHERNET, rate={"choice": "percentage", "percentage": 101})),
    ("flows[0].duration.fixed_seconds.seconds", raw_flow("f", "p", ETHERNET, duration={"choice": "fixed_seconds", "fixed_seconds": {"seconds": 0}})),
    ("flows[0].duration.continuous.gap", raw_flow("f", "p", ETHERNET, duration={"choice": "continuous", "continuous": {"gap": 13}})),
    ("flows[0].metrics.loss", {**raw_flow("f", "p", ETHERNET), "metrics": {"loss": True}}),
    ("flows[0].tx_rx.port.rx_name", raw_flow("f", "p", ETHERNET, rx="q")),
]


def check_refused(otg):
    for path, flow in REFUSED:
        status, reply = otg.ask("POST", "/config", {"ports": [{"name": "p", "location": "a"}], "flows": [flow]})
        check(f"{path} is refused", status == 400 and reply["errors"][0].startswith(f"{path}: "), (status, reply))


def check_waits():
    """A port whose link stays down: set_config waits for it, and nobody waits for set_config."""
    work = work_dir()
    otg = Otg(work, {"a": memif("server", 0, work)})
    replies = []

    def configure():
        other = http.client.HTTPConnection("127.0.0.1", otg.port)
        other.request("POST", "/config", json.dumps({"ports": [{"name": "p", "location": "a"}]}), {"Content-Type": "application/json"})
        replies.append(other.getresponse().status)

    waiting = threading.Thread(target=configure, daemon=True)
    waiting.start()
    otg.wait("its quench-nic", lambda: (work / "nics" / "a.log").exists())
    row = otg.metrics("port")[0]
    check_equal("results while set_config waits", (row["link"], row["frames_tx"], replies), ("down", 0, []))
    check_equal("quench-otg ends meanwhile", otg.stop(), 0)


def fixed(size):
    return {"choice": "fixed", "fixed": size}


def update(otg, names, *flows):
    return otg.ask("PATCH", "/config", {"choice": "flows", "flows": {"property_names": names, "flows": list(flows)}})


SLOW = {**FLOWS[0], "rate": {"choice": "pps", "pps": 1}, "duration": packets(40)}
UNFIT = [
    ("flows.property_names", [], [SLOW]),
    ("flows.property_names[0]", ["duration"], [SLOW]),
    ("flows.flows[0].name", ["rate"], [{**SLOW, "name": "none"}]),
    ("flows.flows[0].packet", ["rate"], [{**SLOW, "packet": FLOWS[1]["packet"]}]),
    ("flows.flows[0].size", ["rate"], [{**SLOW, "size": fixed(201)}]),
    ("flows.flows[1].name", ["rate"], [SLOW, SLOW]),
    ("flows[1].packet", ["size"], [SLOW, {**FLOWS[1], "size": fixed(64)}]),
    ("flows.flows[0].size.fixed", ["size"], [{**SLOW, "size": fixed(1519)}]),
]


def check_update(work):
    """Rates and sizes change while flows send, all together; the rest of a flow goes on."""
    otg = Otg(work, {"a": f"net_pcap0,tx_pcap={work}/out.pcap"})
    config = {"ports": [{"name": "p", "location": "a"}], "flows": [SLOW, FLOWS[1]]}
    otg.set_config(config)
    for path, names, flows in UNFIT:
        status, reply = update(otg, names, *flows)
        check(f"update_config: {path} is refused", status == 400 and reply["errors"][0].startswith(f"{path}: "), (status, reply))
    check_equal("nothing changed", otg.good("GET", "/config"), config)
    otg.traffic("start", "v4")
    otg.wait("a frame", lambda: otg.raw("v4")["frames_tx"] > 0)
    fast = {**SLOW, "size": fixed(1000), "rate": {"choice": "pps", "pps": 500}}
    check_equal("update_config of a flow that sends", update(otg, ["size", "rate"], fast), (200, {"warnings": []}))
    check_equal("get_config returns it", otg.good("GET", "/config")["flows"], [fast, FLOWS[1]])
    otg.wait("the end of v4", lambda: otg.raw("v4")["transmit"] == "stopped")
    check_equal("the count is that of the start", otg.raw("v4")["frames_tx"], 40)
    check_equal("quench-otg ends well", otg.stop(), 0)
    found = read_pcap(work / "out.pcap")
    few = sum(len(frame) == 196 for frame in found)
    check("a few frames of the first length", 0 < few < 40, few)
    check_equal("lengths, in order", [len(frame) for frame in found], [196] * few + [996] * (40 - few))
    view = [Ether(frame) for frame in found]
    check_equal("the pattern goes on", [p[Dot1Q].vlan for p in view], [100, 101, 102, 103] * 10)
    check_equal("lengths in the headers", [(p[IP].len, p[UDP].len) for p in view], [(178, 158)] * few + [(978, 958)] * (40 - few))
    check("checksums", all(sum_is_right(p, IP, "chksum") for p in view))


def check_return(work):
    """quench-otg is killed, comes back, and finds its quench-nic, its configuration and its counters."""
    ports = {"a": "net_null0"}
    otg = Otg(work, ports)
    config = {"ports": [{"name": "p", "location": "a"}], "flows": [FLOWS[2] | {"duration": {"choice": "continuous"}}]}
    otg.set_config(config)
    otg.traffic("start")
    otg.wait("frames", lambda: otg.raw("pfc")["frames_tx"] > 0)
    before, nic = otg.raw("pfc")["frames_tx"], Telemetry(f"{otg.prefix}-a").info["pid"]
    otg.process.kill()
    otg.process.wait()
    otg = Otg(work, ports)
    check("the run is found", "took over the run of p" in (work / "otg.err").read_text(), (work / "otg.err").read_text())
    check_equal("its configuration", otg.good("GET", "/config"), config)
    check_equal("its state", otg.metrics("port")[0]["transmit"], "started")
    otg.wait("more frames", lambda: otg.raw("pfc")["frames_tx"] > before)
    otg.traffic("stop")
    otg.wait("the end of the flow", lambda: otg.raw("pfc")["transmit"] == "stopped")
    check_equal("quench-otg ends well", otg.stop(), 0)
    check("and its quench-nic with it", not pathlib.Path(f"/proc/{nic}").exists() or "Z" in pathlib.Path(f"/proc/{nic}/stat").read_text().split()[2])
    check("nothing is left to find", not (work / "nics" / "run.json").exists())
    (work / "nics" / "run.json").write_text("{")
    done = run(ROOT / "scripts" / "otg", "--http", "--ports", work / "ports.ini", "--folder", work / "nics")
    check("a run that cannot be read is refused in a line", done.returncode == 2 and done.stderr.startswith(f"otg: {work}/nics/run.json: "), done)


def main():
    check_waits()
    check_return(work_dir())
    check_update(work_dir())
    work = work_dir()
    otg = Otg(work, {"a": f"net_pcap0,tx_pcap={work}/out.pcap"})
    check_refused(otg)
    config = {"ports": [{"name": "p", "location": "a"}], "flows": FLOWS}
    check_equal("set_config warns of nothing", otg.set_config(config), {"warnings": []})
    names = [flow["name"] for flow in FLOWS]
    check_equal("nothing is sent before the start", [(row["transmit"], row["frames_tx"]) for row in otg.metrics("flow")], [("stopped", 0)] * 5)
    for name in names:
        otg.traffic("start", name)
        otg.wait(f"the end of {name}", lambda name=name: otg.raw(name)["transmit"] == "stopped")
    check_equal("frames of each", [(row["name"], row["frames_tx"]) for row in otg.metrics("flow")], [(name, FRAMES) for name in names])
    # Again, from the first frame on, and counted from 0.
    otg.traffic("start", "v4")
    otg.wait("the end of v4", lambda: otg.raw("v4")["transmit"] == "stopped")
    check_equal("a second start counts from 0", (otg.raw("v4")["frames_tx"], otg.raw("v4")["bytes_tx"]), (FRAMES, 200 * FRAMES))
    check_equal("the port counts all", otg.metrics("port")[0]["frames_tx"], FRAMES)
    check_equal("quench-otg ends well", otg.stop(), 0)
    found = read_pcap(work / "out.pcap")
    check_equal("frames of the capture", len(found), 6 * FRAMES)
    parts = [found[n * FRAMES:(n + 1) * FRAMES] for n in range(6)]
    check_v4(parts[0])
    check_v6(parts[1])
    check_pauses(parts[2], parts[3])
    check_equal("bytes after the headers", {frame[42:54].hex() for frame in parts[4]}, {"0a40ffff0000001180000000"})
    check_equal("the second start", parts[5], parts[0])
    finish()


main()
