#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Raw flows of quench-otg, in a capture that scapy judges: headers, values that change, lengths, checksums, counts and starts."""
import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import struct
import threading
import zlib

from configs import memif
from frames import read_pcap
from harness import PATIENCE_S, Program, check, check_equal, finish, run, until, work_dir
from otg_bed import ROOT, Otg, device, raw_flow, value
from scapy.contrib.mac_control import MACControlClassBasedFlowControl, MACControlPause
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP, in4_chksum
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, in6_chksum
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Padding, Raw
from scapy.utils import checksum
from desk import BASE, Desk, eal
from otg import capture  # otg_bed says where
from otg.plan import Location
from otg.tester import Outlet, Tester
from quench.desk import Failed

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
    check_equal("v4: the rest", {(p.dst, p.src, p[Dot1Q].prio, p[IP].ttl, p[IP].len, p[UDP].len, p[UDP].dport) for p in view},
                {(TO, FROM, 3, 9, 178, 158, 7)})
    check("v4: checksums", all(sum_is_right(p, IP, "chksum") and sum_is_right(p, UDP, "chksum") for p in view))


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


def device_ends(tx, rx, **more):
    return {"choice": "device", "device": {"tx_names": tx, "rx_names": rx, **more}}


REFUSED = [
    ("flows[0].packet[0].ipv4", raw_flow("f", "p", ("ipv4", {}))),
    ("flows[0].packet[1].pfcpause", raw_flow("f", "p", ETHERNET, ("pfcpause", {}))),
    ("flows[0].packet[1].ethernet", raw_flow("f", "p", ETHERNET, ETHERNET)),
    ("flows[0].packet[1].ipv4.header_checksum", raw_flow("f", "p", ETHERNET, ("ipv4", {"header_length": value(6)}))),
    ("flows[0].packet[1].ipv4.src", raw_flow("f", "p", ETHERNET, ("ipv4", {"src": {"choice": "random", "random": {"min": "2.0.0.0", "max": "1.0.0.0"}}}))),
    ("flows[0].packet[1].ipv4.src", raw_flow("f", "p", ETHERNET, ("ipv4", {"src": {"choice": "values", "values": ["1.1.1.1"] * 1025}}))),
    ("flows[0].packet", raw_flow("f", "p", ETHERNET, ("ipv6", {}), ("udp", {}))),
    ("flows[0].packet", raw_flow("f", "p", ETHERNET, ("vxlan", {}), ETHERNET, ("ipv4", {}), ("udp", {}), size=71)),
    ("flows[0].size.fixed", raw_flow("f", "p", ETHERNET, size=63)),
    ("flows[0].size.increment", {**raw_flow("f", "p", ETHERNET), "size": {"choice": "increment", "increment": {"start": 100, "end": 99}}}),
    ("flows[0].size.random", {**raw_flow("f", "p", ETHERNET), "size": {"choice": "random", "random": {"min": 60}}}),
    ("flows[0].size.weight_pairs.custom", {**raw_flow("f", "p", ETHERNET), "size": {"choice": "weight_pairs", "weight_pairs": {
        "choice": "custom", "custom": [{"size": 100, "weight": 0}]}}}),
    ("flows[0].rate.percentage", raw_flow("f", "p", ETHERNET, rate={"choice": "percentage", "percentage": 101})),
    ("flows[0].duration.fixed_seconds.seconds", raw_flow("f", "p", ETHERNET, duration={"choice": "fixed_seconds", "fixed_seconds": {"seconds": 0}})),
    ("flows[0].duration.continuous.delay", raw_flow("f", "p", ETHERNET, duration={"choice": "continuous", "continuous": {
        "delay": {"choice": "microseconds", "microseconds": 1e12}}})),
    ("flows[0].size", {**raw_flow("f", "p", ETHERNET, ("vlan", {}), ("ipv4", {}), ("tcp", {})), "metrics": {"enable": True}}),
    ("flows[0].tx_rx.port.rx_name", raw_flow("f", "p", ETHERNET, rx="q")),
    ("flows[0].tx_rx.device.rx_names[0]", {**raw_flow("f", "p", ETHERNET), "tx_rx": device_ends(["host1.ip"], ["none"])}),
    ("flows[0].tx_rx.device.bidirectional", {**raw_flow("f", "p", ETHERNET), "tx_rx": device_ends(["host1.ip"], ["host1.eth"], bidirectional=True)}),
    ("flows[0].tx_rx.device", {**raw_flow("f", "p", ETHERNET), "tx_rx": device_ends(["host1.ip"], ["host1.ip"])}),
    ("flows[0].tx_rx.device.rx_names", {**raw_flow("f", "p", ETHERNET), "tx_rx": device_ends(["host1.ip"], ["host1.eth"] * 2, mode="one_to_one")}),
]


def check_refused(otg):
    for path, flow in REFUSED:
        status, reply = otg.ask("POST", "/config", {"ports": [{"name": "p", "location": "a"}], "flows": [flow], "devices": [device(1, "p", {})]})
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
    check_append(otg, fast, work)
    check_equal("quench-otg ends well", otg.stop(), 0)
    found = read_pcap(work / "before.pcap")
    check_equal("frames of the flow that came later", found[40:], [found[40]] * FRAMES)
    found = found[:40]
    few = sum(len(frame) == 196 for frame in found)
    check("a few frames of the first length", 0 < few < 40, few)
    check_equal("lengths, in order", [len(frame) for frame in found], [196] * few + [996] * (40 - few))
    view = [Ether(frame) for frame in found]
    check_equal("the pattern goes on", [p[Dot1Q].vlan for p in view], [100, 101, 102, 103] * 10)
    check_equal("lengths in the headers", [(p[IP].len, p[UDP].len) for p in view], [(178, 158)] * few + [(978, 958)] * (40 - few))
    check("checksums", all(sum_is_right(p, IP, "chksum") for p in view))


def change(otg, what, *flows):
    return otg.ask("PATCH", f"/config/{what}", [{"choice": "flows", "flows": list(flows)}])


def check_append(otg, old, work):
    """Flows that come and go beside one that sends."""
    new = {**FLOWS[3], "name": "new"}
    for what, flow, path in (("append", {**new, "name": "v4"}, "[0].flows[0].name"), ("append", {**new, "size": fixed(63)}, "[0].flows[0].size.fixed"),
                             ("append", {**new, "color": 1}, "[0].flows[0].color"), ("delete", "none", "[0].flows[0]")):
        status, reply = change(otg, what, flow)
        check(f"{what}: {path} is refused", status == 400 and reply["errors"][0].startswith(f"{path}: "), (status, reply))
    check_equal("not a list", otg.ask("PATCH", "/config/append", {})[0], 400)
    check_equal("append_config", change(otg, "append", new), (200, {"warnings": []}))
    check_equal("delete_config", change(otg, "delete", "v6"), (200, {"warnings": []}))
    check_equal("get_config returns what is left", otg.good("GET", "/config")["flows"], [old, new])
    check_equal("metrics too", [(row["name"], row["transmit"], row["frames_tx"]) for row in otg.metrics("flow")], [("v4", "stopped", 40), ("new", "stopped", 0)])
    otg.traffic("start", "new")
    otg.wait("the end of new", lambda: otg.raw("new")["transmit"] == "stopped")
    check_equal("its frames", otg.raw("new")["frames_tx"], FRAMES)
    (work / "out.pcap").rename(work / "before.pcap")
    # Frames for which the quench-nic has no room.
    large = {**FLOWS[1], "name": "large", "size": fixed(2000)}
    status, reply = change(otg, "append", large)
    check("a larger frame while a flow is started is refused", status == 400 and "expected its flows to be stopped" in reply["errors"][0], reply)
    otg.traffic("stop")
    check_equal("and then starts the quench-nic again", change(otg, "append", large),
                (200, {"warnings": ["port p: its quench-nic started again, and counts from 0"]}))
    otg.traffic("start", "large")
    otg.wait("the end of large", lambda: otg.raw("large")["transmit"] == "stopped")
    check_equal("its bytes, and no others", [(row["name"], row["bytes_tx"]) for row in otg.metrics("flow")], [("v4", 0), ("new", 0), ("large", 2000 * FRAMES)])


def check_full_disk(otg, folder, config):
    """A change fails, and leaves all as it was; a stop needs no more room than there is; and a change that only cannot be saved is a warning."""
    def fill(name):
        (folder / f"{name}.part").symlink_to("/dev/full")

    fill("a")
    (folder / "a.ini").unlink()
    status, reply = change(otg, "delete", "pfc")
    check("delete_config without room", (status, reply["errors"]) == (500, [f"port a: {folder}/a.part: No space left on device"]), (status, reply))
    check_equal("its flow is left, and started", (otg.good("GET", "/config"), otg.raw("pfc")["transmit"]), (config, "started"))
    fill("a")
    check_equal("a stop", otg.traffic("stop"), {"warnings": []})
    otg.wait("the end of the flow", lambda: otg.raw("pfc")["transmit"] == "stopped")
    fill("run")
    warnings = otg.traffic("start")["warnings"]
    check("a start that is not saved", len(warnings) == 1 and warnings[0].startswith(f"{folder}/run.json: No space left on device: "), warnings)
    otg.traffic("start")


def check_return(work):
    """quench-otg is killed, comes back, and finds its quench-nic, its configuration and its counters."""
    ports = {"a": "net_null0"}
    otg = Otg(work, ports)
    config = {"ports": [{"name": "p", "location": "a"}], "flows": [FLOWS[2] | {"duration": {"choice": "continuous"}}]}
    otg.set_config(config)
    otg.traffic("start")
    otg.wait("frames", lambda: otg.raw("pfc")["frames_tx"] > 0)
    check_full_disk(otg, work / "nics", config)
    before, nic = otg.raw("pfc")["frames_tx"], Desk(f"{otg.prefix}-a").pid
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


def bits(value, mask, **more):
    return {"value": value, "mask": mask, **more}


# Of the flow v4, VLAN 101.
FILTERS = [{"choice": "ethernet", "ethernet": {"dst": bits(TO.replace(":", ""), "ffffffffffff"), "src": bits("0", "1", negate=True)}},
           {"choice": "vlan", "vlan": {"id": bits("5", "f"), "protocol": bits("800", "ffff")}},
           {"choice": "ipv4", "ipv4": {"time_to_live": bits("9", "ff")}},
           {"choice": "custom", "custom": {"offset": 16, "bit_length": 12, "value": "000", "mask": "fff"}},
           {"choice": "custom", "custom": {"bit_length": 4, "value": "7", "mask": "F"}}]
UNFIT_CAPTURES = [
    ("packet_size", {"packet_size": 13}),
    ("port_names", {"port_names": ["p", "p"]}),
    ("port_names", {"port_names": ["q"]}),
    ("filters[0].ethernet.pfc_queue", {"filters": [{"choice": "ethernet", "ethernet": {"pfc_queue": bits("3", "7")}}]}),
    ("filters[0].vlan.id.value", {"filters": [{"choice": "vlan", "vlan": {"id": bits("1000", "fff")}}]}),
    ("filters[0].vlan.id.mask", {"filters": [{"choice": "vlan", "vlan": {"id": bits("1", "1fff")}}]}),
    ("filters[0].custom.bit_length", {"filters": [{"choice": "custom", "custom": {"bit_length": 129}}]}),
    ("filters[1].custom.offset", {"filters": [{"choice": "ethernet"}, {"choice": "custom", "custom": {"offset": 73700}}]}),
    ("filters", {"filters": [{"choice": "custom", "custom": {"mask": "ff"}}] * 17}),
]


def capture_state(state, *ports):
    return {"choice": "port", "port": {"choice": "capture", "capture": {"state": state, "port_names": list(ports)}}}


def refused(line):
    return 400, {"code": 400, "kind": "validation", "errors": [line]}


def check_no_capture(otg):
    for path, more in UNFIT_CAPTURES:
        status, reply = otg.ask("POST", "/config", {"ports": [{"name": "p", "location": "a"}], "captures": [{"name": "c", "port_names": ["p"], **more}]})
        check(f"captures: {path} is refused", status == 400 and reply["errors"][0].startswith(f"captures[0].{path}: "), (status, reply))
    never = "'p': no capture was started on it"
    check_equal("get_capture before a start", otg.ask("POST", "/monitor/capture", {"port_name": "p"}), refused(f"port_name: {never}"))
    check_equal("stop before a start", otg.ask("POST", "/control/state", capture_state("stop", "p")), refused(f"port.capture.port_names: {never}"))


def check_capture(otg, work, sent):
    """The frames that the filters keep, and no others; then the quench-nic dies."""
    (work / "some.pcap").write_bytes(otg.get_capture("p"))
    wanted = [frame for frame in sent[:FRAMES] + sent[5 * FRAMES:] if Ether(frame)[Dot1Q].vlan == 101]
    check_equal("frames that pass all filters", (len(wanted), read_pcap(work / "some.pcap")), (6, wanted))
    (work / "slice.pcap").write_bytes(otg.get_capture("p", packets={"choice": "slice", "slice": {"choice": "initial", "initial": {"start": 5, "count": 9}}}))
    check_equal("the last two, by number", read_pcap(work / "slice.pcap"), wanted[4:])
    otg.capture("start")
    otg.traffic("start", "v4")
    otg.wait("the end of v4", lambda: otg.raw("v4")["transmit"] == "stopped")
    os.kill(Desk(f"{otg.prefix}-a").pid, signal.SIGKILL)
    otg.wait("its name", lambda: "quench-nic has ended with -9" in (work / "otg.err").read_text())
    warnings = otg.capture("stop")["warnings"]
    check("a stop says that the quench-nic died", len(warnings) == 2 and "port p: capture: " in warnings[0] and "without the last frames" in warnings[0] and
          "has ended with -9" in warnings[1], warnings)
    check_equal("what it captured is there", len(otg.get_capture("p")), 24 + 3 * (16 + 196))
    later = {"append_config": change(otg, "append", {**FLOWS[3], "name": "late"}), "delete_config": change(otg, "delete", "late"),
             "update_config": update(otg, ["rate"], {**FLOWS[0], "rate": {"choice": "pps", "pps": 7}})}
    for what, (status, reply) in later.items():
        check(f"{what} says so too", status == 200 and len(reply["warnings"]) == 1 and "has ended with -9" in reply["warnings"][0], (status, reply))
    status, reply = otg.ask("POST", "/control/state", capture_state("start", "p"))
    check("a start on a port that died", (status, reply["kind"]) == (500, "internal") and "has ended with -9" in reply["errors"][0], reply)


def block(kind, body):
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


def check_recorder(work):
    """More frames than there is room for, a full disk, and a stream that breaks off."""
    frames = [block(6, struct.pack("<IIIII", 0, 0, n, 1000, 1000) + n.to_bytes(4, "big") * 250) for n in range(3000)]
    head, tail = block(0x0A0D0D0A, bytes(16)) + block(1, bytes(8)), block(5, bytes(12) + struct.pack("<HHQ", 5, 8, 7))

    def record(overwrite, stream):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(work / "source"))
        listener.listen(1)

        def serve():
            client = listener.accept()[0]
            with contextlib.suppress(ConnectionError):
                client.sendall(stream)
            client.close()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        recording = capture.Recorder("port p", lambda method, **params: {"socket": "source"}, work, work / "p", capture.Order([], overwrite), 1 << 20)
        thread.join(PATIENCE_S)
        until(lambda: not recording.is_running())
        (work / "source").unlink()
        listener.close()
        return recording, recording.stop()

    recording, said = record(True, head + b"".join(frames) + tail)
    content = recording.content().read()
    kept = (len(content) - len(head + tail)) // len(frames[0])
    check_equal("counts", said, {"frames": 3000, "lost": 7, "error": "",
                                 "ended": f"its buffer of 1 MiB has the latest: the first {3000 - kept} were overwritten"})
    check("the latest frames are left", content == head + b"".join(frames[-kept:]) + tail and 1 << 19 < len(content) < 1 << 20, kept)
    recording, said = record(False, head + frames[0] + tail)
    check_equal("a buffer that is full", (said["error"], said["ended"]), ("", "its buffer of 1 MiB is full, and has none after them"))
    recording, said = record(False, head + frames[0] + frames[1][:-1])
    check_equal("a stream that breaks off", (said["frames"], said["error"], said["ended"]), (1, "its quench-nic ended without the last frames", ""))
    check_equal("whole blocks", recording.content().read(), head + frames[0])
    recording.discard()
    (work / "p.0.capture").symlink_to("/dev/full")
    recording, said = record(False, head + b"".join(frames))
    check("a full disk", "No space left" in said["error"], said)
    try:
        recording.content()
        check("its file is refused", False)
    except Failed as failed:
        check("its file is refused", "No space left" in str(failed), failed)


class Nic:
    """A quench-nic without a process. At each step, on_step() is called."""

    wire, serves = "", False

    def __init__(self, name, on_step):
        self.name, self.on_step, self.runs = name, on_step, False
        self.text = self.in_force = ""
        self.refuses, self.refuses_text, self.full = False, "", False

    def step(self, runs):
        self.on_step()
        self.runs = runs
        self.on_step()

    def start(self, text):
        self.text = self.in_force = text
        self.step(False)

    def write(self, text):
        if self.full and "frames new" in text:
            raise Failed("no room")
        self.text = text

    def commit(self):
        if self.refuses:
            raise Failed("refused")
        self.in_force = self.text

    def wait_started(self):
        if self.refuses_text and self.refuses_text in self.text:
            raise Failed("does not start")
        self.step(True)

    def stop(self):
        self.step(False)

    def set_link(self, _up):
        return False

    def is_ready(self):
        return self.runs

    def if_ready(self, _read):
        return None

    def take_warnings(self):
        return []

    def is_attached(self):
        return False

    def why(self):
        return "has ended"


def check_planned_stops(work):
    """What a request stops, and perhaps starts again, did not end by itself."""
    lost = []
    tester = Tester({"a": Outlet(Location("a"), lambda: Nic("a", lambda: lost.append(tester.lost_lines())))}, work, None)
    port = {"ports": [{"name": "p", "location": "a"}]}
    tester.set_config(port)
    tester.append_config([{"choice": "flows", "flows": [FLOWS[2]]}])
    for state in ("down", "up"):
        tester.set_state({"choice": "port", "port": {"choice": "link", "link": {"state": state}}})
    tester.run.generators["p"].runs = False
    check_equal("it ends by itself", tester.lost_lines(), ["has ended; the other ports go on"])
    tester.set_state({"choice": "port", "port": {"choice": "link", "link": {"state": "up"}}})
    tester.set_config(port)
    tester.end()
    check_equal("ends of others", [lines for lines in lost if lines], [])


def check_all_or_nothing(work):
    """One of two quench-nics refuses: the other one has no part of the change left, and results neither."""
    tester = Tester({name: Outlet(Location(name), lambda name=name: Nic(name, lambda: None)) for name in "ab"}, work, None)
    tester.set_config({"ports": [{"name": f"p{name}", "location": name} for name in "ab"],
                       "flows": [raw_flow(f"f{name}", f"p{name}", ETHERNET) for name in "ab"]})
    tester.run.generators["pb"].refuses = True

    def state():
        run = tester.run
        return run.given, list(run.plan.raws), [(raw.started, raw.keys["rate_pps"]) for raw in run.plan.raws.values()], run.generators["pa"].in_force

    before = state()
    flows = [raw_flow(f"f{name}", f"p{name}", ETHERNET, rate={"choice": "pps", "pps": 7}) for name in "ab"]
    for what, ask in (
            ("delete_config", lambda: tester.delete_config([{"choice": "flows", "flows": ["fa", "fb"]}])),
            ("append_config", lambda: tester.append_config([{"choice": "flows", "flows": [{**flow, "name": f"{flow['name']}2"} for flow in flows]}])),
            ("update_config", lambda: tester.update_config({"choice": "flows", "flows": {"property_names": ["rate"], "flows": flows}})),
            ("a start", lambda: tester.set_state({"choice": "traffic", "traffic": {"choice": "flow_transmit", "flow_transmit": {"state": "start"}}}))):
        try:
            check(f"{what} fails", not ask())
        except Failed as failed:
            check(f"{what} fails with its reason", str(failed).startswith("refused; and what was in force before is not everywhere: "), failed)
        check_equal(f"{what} that failed: nothing changed", state(), before)
    tester.end()


def check_restart_fails(work):
    """A quench-nic that has to start again with a flow, and does not: it runs as before. One that has no room to be told is not stopped at all."""
    made = []

    def make():
        made.append(Nic("a", lambda: None))
        made[-1].refuses_text = "frames new"
        return made[-1]

    tester = Tester({"a": Outlet(Location("a"), make)}, work, None)
    port = {"ports": [{"name": "p", "location": "a"}]}
    tester.set_config(port)
    text = made[0].in_force

    def append():
        try:
            return tester.append_config([{"choice": "flows", "flows": [{**FLOWS[2], "name": "new"}]}])
        except Failed as failed:
            return str(failed)

    check_equal("append_config of a flow with which it does not start", append(), "does not start; port p: its quench-nic started again, and counts from 0")
    check_equal("it runs as before", ([nic.runs for nic in made], made[-1].in_force, tester.run.given, tester.run.plan.ports["p"].slots, tester.lost_lines()),
                ([False, False, True], text, port, {}, []))
    made[-1].full = True
    check_equal("append_config without room", append(), "no room")
    check_equal("it was not stopped", (len(made), made[-1].runs), (3, True))
    tester.set_state({"choice": "port", "port": {"choice": "link", "link": {"state": "down"}}})
    check_equal("append_config while the link is down", append(), [])
    check_equal("it stays down", (len(made), made[-1].runs, list(tester.run.plan.ports["p"].slots)[:1]), (3, False, ["new"]))
    try:
        check("the link does not come up", not tester.set_state({"choice": "port", "port": {"choice": "link", "link": {"state": "up"}}}))
    except Failed as failed:
        check_equal("the link does not come up", (str(failed), tester.run.down), ("does not start", {"p"}))
    tester.end()


ATTACHED = ("[nic]\nmac = 02:00:00:00:00:09\nip = 10.0.0.9\nlink_speed_bps = 1G\nflow_control = off\n"
            "[frames one]\nheader = 02000000000102000000000a88b5\nrate_bps = 1M\nstopped = on\n"
            "[frames two]\nheader = 02000000000202000000000a88b5\nrate_bps = 1M\nstopped = on\n")


def check_attached(work):
    """A quench-nic that somebody else started: flows and captures, but no restart, and its configuration is back at the end."""
    (work / "mine").mkdir()
    prefix = f"mine{os.getpid()}"
    nic = Program(work / "mine", "nic", "nic", ATTACHED, eal(prefix, "net_null0"), "--stay", "--idle-sleep", 50)
    nic.wait_started()
    desk = Desk(prefix)
    before = desk.call("config")
    done = run(ROOT / "scripts" / "otg", "--http", "--port", "a=net_null0", "--ports", write(work / "none.ini", "[port b]\nattach = no-such-nic\n"))
    check("no quench-nic to attach to", done.returncode == 2 and "no quench-nic runs with this --file-prefix" in done.stderr, done)
    otg = Otg(work, {}, text=f"[port a]\nattach = {prefix}\ncapture_sent = on\n")
    port = {"ports": [{"name": "p", "location": "a"}]}
    for path, more in (("flows", {"flows": [{**FLOWS[2], "size": fixed(1519)}]}), ("flows", {"flows": [{**FLOWS[2], "name": f"f{n}"} for n in range(3)]})):
        status, reply = otg.ask("POST", "/config", {**port, **more})
        check(f"{path} beyond its room", status == 400 and "somebody else started" in reply["errors"][0], (status, reply))
    status, reply = otg.ask("POST", "/config", {**port, "layer1": [{"name": "l", "port_names": ["p"], "speed": "speed_10_gbps"}]})
    check("what needs a restart is refused with its key", status == 500 and "link_speed_bps" in reply["errors"][0], (status, reply))
    otg.set_config({**port, "flows": [FLOWS[2]], "captures": [{"name": "c", "port_names": ["p"], "filters": [
        {"choice": "ethernet", "ethernet": {"src": bits(FROM.replace(":", ""), "ffffffffffff")}}]}]})
    otg.capture("start")
    otg.traffic("start")
    otg.wait("the end of pfc", lambda: otg.raw("pfc")["transmit"] == "stopped")
    check_equal("its frames, counted and captured", (otg.raw("pfc")["frames_tx"], len(otg.get_capture("p"))), (FRAMES, 24 + FRAMES * (16 + 60)))
    check_equal("a second flow", change(otg, "append", {**FLOWS[3], "name": "second"}), (200, {"warnings": []}))
    status, reply = change(otg, "append", {**FLOWS[3], "name": "third"})
    check("a third one has no stream", status == 400, (status, reply))
    status, reply = otg.ask("POST", "/control/state", {"choice": "port", "port": {"choice": "link", "link": {"state": "down"}}})
    check_equal("its link", (status, reply["errors"]), (400, ["port.link.port_names: 'p': somebody else started its quench-nic"]))
    check_equal("quench-otg ends well", otg.stop(), 0)
    check_equal("its configuration is back", desk.call("config"), before)
    check_equal("and it runs", nic.stop(), 0)


MEASURED = {"enable": True, "loss": True, "timestamps": True, "latency": {"enable": True, "mode": "cut_through"}}
IPV4 = ("ipv4", {"src": value("10.0.0.1"), "dst": value("10.0.0.2")})
IPV6 = ("ipv6", {"src": value("fd00::1"), "dst": value("fd00::2")})
INNER = ("ethernet", {"dst": value("02:00:00:00:01:02"), "src": value("02:00:00:00:01:01")})
TAG = ("vlan", {"id": value(5)})
TUNNEL, VNI = ("udp", {"src_port": value(5000), "dst_port": value(4789)}), ("vxlan", {"vni": value(77)})
MIX = {"choice": "weight_pairs", "weight_pairs": {"choice": "predefined", "predefined": "imix"}}
# Each with all that its frames have to say: layers of scapy, and lengths.
SHAPES = [
    ("tcp", [ETHERNET, IPV4, ("tcp", {"src_port": value(1), "dst_port": {"choice": "random", "random": {"min": 100, "max": 200, "count": 5, "seed": 3}},
                                      "ctl_syn": value(1)})], fixed(100), (Ether, IP, TCP)),
    ("icmp", [ETHERNET, IPV4, ("icmp", {"echo": {"identifier": value(7), "sequence_number": counter("increment", 0, 1, 65535)}})], fixed(99), (Ether, IP, ICMP)),
    ("icmpv6", [ETHERNET, IPV6, ("icmpv6", {"echo": {"identifier": value(7)}})], fixed(101), (Ether, IPv6, ICMPv6EchoRequest)),
    ("tcp6", [ETHERNET, IPV6, ("tcp", {})], {"choice": "increment", "increment": {"start": 100, "end": 130, "step": 7}}, (Ether, IPv6, TCP)),
    ("arp", [("ethernet", {"dst": value("ff:ff:ff:ff:ff:ff"), "src": value(FROM)}), ("arp", {"sender_protocol_addr": value("10.0.0.1"),
                                                                                         "target_protocol_addr": value("10.0.0.9")})], fixed(64), (Ether, ARP)),
    ("mpls", [ETHERNET, ("mpls", {"label": value(1000)}), ("mpls", {})], fixed(80), (Ether, MPLS, MPLS)),
    ("vxlan", [ETHERNET, IPV4, ("udp", {"src_port": value(5000), "dst_port": value(4789)}), ("vxlan", {"vni": value(77)}), INNER, IPV4, ("udp", {
        "src_port": counter("increment", 1, 1, 200), "dst_port": value(9)})], {"choice": "random", "random": {"min": 130, "max": 300}},
     (Ether, IP, UDP, VXLAN, Ether, IP, UDP)),
    ("vxlan tcp6", [ETHERNET, TAG, IPV4, TUNNEL, VNI, INNER, TAG, TAG, IPV6, ("tcp", {})], fixed(171), (Ether, Dot1Q, IP, UDP, VXLAN, Ether, Dot1Q, Dot1Q, IPv6, TCP)),
    ("vxlan icmp", [ETHERNET, IPV6, TUNNEL, VNI, INNER, IPV4, ("icmp", {"echo": {}})], {"choice": "increment", "increment": {"start": 150, "end": 171, "step": 3}},
     (Ether, IPv6, UDP, VXLAN, Ether, IP, ICMP)),
    ("vxlan icmpv6", [ETHERNET, IPV4, TUNNEL, VNI, INNER, IPV6, ("icmpv6", {"echo": {}})], fixed(150), (Ether, IP, UDP, VXLAN, Ether, IPv6, ICMPv6EchoRequest)),
    ("vxlan mpls", [ETHERNET, ("mpls", {}), IPV4, TUNNEL, VNI, INNER, ("mpls", {}), ("mpls", {}), IPV4, ("udp", {})], fixed(153),
     (Ether, MPLS, IP, UDP, VXLAN, Ether, MPLS, MPLS, IP, UDP)),
    ("vxlan vxlan", [ETHERNET, IPV4, TUNNEL, VNI, INNER, IPV4, TUNNEL, VNI, INNER, IPV4, ("udp", {})], fixed(200),
     (Ether, IP, UDP, VXLAN, Ether, IP, UDP, VXLAN, Ether, IP, UDP)),
    ("mix", [ETHERNET, IPV4, ("udp", {"src_port": {"choice": "values", "values": list(range(1000, 1100))}, "dst_port": value(9)})], MIX, (Ether, IP, UDP)),
    ("zero", [("ethernet", {})], fixed(64), (Ether,)),
]
SHAPED = 60


def shape(name, headers, size, layers):
    return {**raw_flow(name, "p", *headers, rx="q", duration=packets(SHAPED), rate={"choice": "pps", "pps": 2000}), "size": size, "metrics": MEASURED}


def check_shapes(work):
    """Headers, lengths and checksums of frames with signatures, as they arrive, and what the receiver counts of them."""
    otg = Otg(work, {"a": memif("server", 0, work), "b": memif("client", 0, work)})
    warnings = otg.set_config({"ports": [{"name": "p", "location": "a"}, {"name": "q", "location": "b"}], "flows": [shape(*row) for row in SHAPES],
                               "captures": [{"name": "c", "port_names": ["q"], "format": "pcap"}]})["warnings"]
    check_equal("set_config warns of nothing", warnings, [])
    for row in SHAPES:
        check_shape(otg, work, *row)
    check_equal("quench-otg ends well", otg.stop(), 0)


HEADER_BYTES = {Ether: 14, Dot1Q: 4, MPLS: 4, IP: 20, IPv6: 40, UDP: 8, VXLAN: 8, TCP: 20, ICMP: 8, ICMPv6EchoRequest: 8, ARP: 28}


def placed(frame):
    """Its headers and where they begin, also in tunnels."""
    packet, at = Ether(frame), 0
    while type(packet) in HEADER_BYTES:
        yield packet, at
        packet, at = packet.payload, at + HEADER_BYTES[type(packet)]


def ends(frame):
    """Where what the lengths of its headers cover ends, in bytes from the end of the frame."""
    for packet, at in placed(frame):
        if isinstance(packet, (IP, UDP)):
            yield len(frame) - at - packet.len
        elif isinstance(packet, IPv6):
            yield len(frame) - at - 40 - packet.plen


def checksums_are_right(frame):
    """Of each header, over as many bytes as the lengths say."""
    ip, end = None, 0
    for packet, at in placed(frame):
        if isinstance(packet, (IP, IPv6)):
            ip, end = packet, at + (packet.len if isinstance(packet, IP) else 40 + packet.plen)
        covered = frame[at:at + 20 if isinstance(packet, IP) else end]
        if isinstance(packet, (IP, ICMP)) and checksum(covered) != 0:
            return False
        if isinstance(packet, (UDP, TCP, ICMPv6EchoRequest)):
            number = {UDP: 17, TCP: 6, ICMPv6EchoRequest: 58}[type(packet)]
            if (in4_chksum if isinstance(ip, IP) else in6_chksum)(number, ip, covered) != 0:
                return False
    return True


def check_shape(otg, work, name, headers, size, layers):
    otg.capture("start")
    otg.traffic("start", name)
    otg.wait(f"the arrival of {name}", lambda: otg.raw(name)["transmit"] == "stopped" and otg.raw(name)["frames_rx"] == SHAPED)
    row = otg.raw(name)
    (work / "shape.pcap").write_bytes(otg.get_capture("q"))
    found = [frame for frame in read_pcap(work / "shape.pcap") if frame[6:12] != bytes.fromhex("020000000009")]
    check_equal(f"{name}: frames, and their bytes", (len(found), sum(len(frame) + 4 for frame in found)), (SHAPED, row["bytes_rx"]))
    check_equal(f"{name}: what was sent has arrived", (row["frames_tx"], row["bytes_tx"], row["loss"]), (SHAPED, row["bytes_rx"], 0))
    check_equal(f"{name}: layers", {tuple(layer for layer in Ether(frame).layers() if layer not in (Raw, Padding))[:len(layers)] for frame in found}, {layers})
    check(f"{name}: checksums", all(checksums_are_right(frame) for frame in found), [frame.hex() for frame in found if not checksums_are_right(frame)][:1])
    lengths = {len(frame) + 4 for frame in found}
    steps = size.get("increment") or {"start": 0, "end": 0, "step": 1}
    wanted = {"fixed": {size.get("fixed")}, "increment": set(range(steps["start"], steps["end"] + 1, steps["step"])), "weight_pairs": {64, 570, 1518}}.get(size["choice"])
    check(f"{name}: lengths", lengths == wanted if wanted else min(lengths) >= 130 and max(lengths) <= 300 and len(lengths) > 20, lengths)
    check_equal(f"{name}: bytes after each packet", {tuple(ends(frame)) for frame in found}, {
        tuple(4 * layers[:n].count(VXLAN) for n, layer in enumerate(layers) if layer in (IP, IPv6, UDP))})
    latency = row["latency"]
    check(f"{name}: latency", 0 <= latency["minimum_ns"] <= latency["average_ns"] <= latency["maximum_ns"], latency)
    times = row["timestamps"]
    check(f"{name}: times", times["first_timestamp_ns"] < times["last_timestamp_ns"], times)


DEVICES = [device(1, "p", {}), device(2, "q", {}), device(3, "q", {})]


def pcap_of(otg, work, port):
    (work / "port.pcap").write_bytes(otg.get_capture(port))
    return read_pcap(work / "port.pcap")


def check_fcs(otg, work):
    """Frames of a capture with their FCS, which the file announces."""
    data = otg.get_capture("q")
    check_equal("the link type has an FCS of 2 x 16 bits", struct.unpack_from("<I", data, 20)[0], 1 | 1 << 26 | 2 << 28)
    (work / "fcs.pcap").write_bytes(data[:20] + struct.pack("<I", 1) + data[24:])
    found = read_pcap(work / "fcs.pcap")
    check("each frame ends with its FCS", found and all(zlib.crc32(frame[:-4]) == struct.unpack("<I", frame[-4:])[0] for frame in found))
    return found


def check_pauses_of_flows(work):
    """Pause, resume, starts of some flows only, transmit of ports, and captures of what arrives, with FCS."""
    otg = Otg(work, {"a": memif("server", 0, work), "b": memif("client", 0, work)}, keys="capture_fcs = on\n")
    one = {**raw_flow("one", "p", ("ethernet", {}), IPV4, ("udp", {}), duration=packets(1000), rate={"choice": "pps", "pps": 500}), "metrics": MEASURED,
           "tx_rx": device_ends(["host1.ip"], ["host2.ip", "host3.ip"])}
    two = {**raw_flow("two", "p", ETHERNET, IPV4, ("udp", {}), rx="q", duration=packets(50)), "metrics": {"enable": True}}
    burst = {**two, "name": "burst", "duration": {"choice": "burst", "burst": {"bursts": 3, "packets": 20, "inter_burst_gap": {
        "choice": "microseconds", "microseconds": 1000}}}}
    otg.set_config({"ports": [{"name": "p", "location": "a"}, {"name": "q", "location": "b"}], "flows": [one, two, burst], "devices": DEVICES,
                    "captures": [{"name": "c", "port_names": ["p", "q"]}]})
    otg.capture("start")
    otg.traffic("start", "one")
    otg.wait("some frames", lambda: otg.raw("one")["frames_tx"] >= 100)
    otg.traffic("pause")
    row = otg.raw("one")
    check_equal("a paused flow, and one that was not started", (row["transmit"], otg.raw("two")["transmit"]), ("paused", "stopped"))
    check("it is not at its end", row["frames_tx"] < 1000, row)
    check_equal("the port does not send", otg.metrics("port")[0]["transmit"], "stopped")
    before = row["frames_tx"]
    otg.traffic("start", "two")
    otg.wait("the end of two", lambda: otg.raw("two")["transmit"] == "stopped")
    check_equal("another flow's start changes nothing of it", (otg.raw("one")["frames_tx"], otg.raw("two")["frames_tx"]), (before, 50))
    check_equal("nor of the port", otg.metrics("port")[0]["frames_tx"] >= before + 50, True)
    otg.traffic("resume", "one")
    otg.wait("the end of one", lambda: otg.raw("one")["transmit"] == "stopped" and otg.raw("one")["frames_rx"] == 1000)
    check_equal("no more than its count", (otg.raw("one")["frames_tx"], otg.raw("one")["loss"]), (1000, 0))
    check_equal("the port has sent all", otg.metrics("port")[0]["transmit"], "stopped")
    found = [frame for frame in check_fcs(otg, work) if frame[12:14] == b"\x08\x00"]
    check_equal("lengths are those of the flow", {len(frame) for frame in found}, {64})
    check_equal("each device in turn", [Ether(frame).dst for frame in found][:4], ["02:00:00:00:00:02", "02:00:00:00:00:03"] * 2)
    check_equal("a port captures nothing of what it sends", [frame for frame in pcap_of(otg, work, "p") if frame[12:14] == b"\x08\x00"], [])
    otg.traffic("resume", "two")
    otg.wait("two again", lambda: otg.raw("two")["frames_rx"] == 100)
    check_equal("a stopped flow begins again, and counters go on", otg.raw("two")["frames_tx"], 100)
    otg.traffic("start", "two", "burst")
    otg.wait("bursts", lambda: otg.raw("burst")["frames_rx"] == 60 and otg.raw("burst")["transmit"] == "stopped")
    otg.wait("two from 0", lambda: otg.raw("two")["frames_rx"] == 50)
    otg.traffic("start")
    otg.wait("all", lambda: otg.raw("one")["frames_rx"] == 1000)
    rows = {row["name"]: row for row in otg.metrics("port")}
    check_equal("a start of all flows clears the ports, which agree with the flows", (rows["p"]["frames_tx"], rows["q"]["frames_rx"]), (1110, 1110))
    check_equal("quench-otg ends well", otg.stop(), 0)


def write(path, text):
    path.write_text(text)
    return path


def main():
    check_shapes(work_dir())
    check_pauses_of_flows(work_dir())
    check_attached(work_dir())
    check_recorder(work_dir())
    check_planned_stops(work_dir())
    check_all_or_nothing(work_dir())
    check_restart_fails(work_dir())
    check_waits()
    check_return(work_dir())
    check_update(work_dir())
    work = work_dir()
    otg = Otg(work, {"a": f"net_pcap0,tx_pcap={work}/out.pcap"}, keys="capture_sent = on\n")
    check_refused(otg)
    config = {"ports": [{"name": "p", "location": "a"}], "captures": [{"name": "some", "port_names": ["p"], "filters": FILTERS}], "flows": FLOWS}
    check_equal("set_config warns of nothing", otg.set_config(config), {"warnings": []})
    check_no_capture(otg)
    otg.capture("start")
    status, reply = change(otg, "append", {**FLOWS[1], "name": "large", "size": fixed(2000)})
    check("append_config that would end a capture is refused", status == 400 and "expected its capture to be stopped" in reply["errors"][0], reply)
    check_equal("a second start", otg.ask("POST", "/control/state", capture_state("start", "p")), refused("port.capture.port_names: 'p': its capture runs"))
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
    check_equal("the port counts all", otg.metrics("port")[0]["frames_tx"], 6 * FRAMES)
    found = read_pcap(work / "out.pcap")
    check_capture(otg, work, found)
    check_equal("quench-otg ends well", otg.stop(), 0)
    check("its quench-nic, which died, leaves no folder", not (BASE / f"{otg.prefix}-a").exists())
    check_equal("captures are deleted", list((work / "nics").glob("*.capture")), [])
    check_equal("frames of the capture", len(found), 6 * FRAMES)
    parts = [found[n * FRAMES:(n + 1) * FRAMES] for n in range(6)]
    check_v4(parts[0])
    check_v6(parts[1])
    check_pauses(parts[2], parts[3])
    check_equal("bytes after the headers", {frame[42:54].hex() for frame in parts[4]}, {"0a40ffff0000001180000000"})
    check_equal("the second start", parts[5], parts[0])
    finish()


main()
