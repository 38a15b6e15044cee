#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg and a client that nobody here wrote: openapi-client-axios, which makes its functions of the schema's document.

It configures a run of RoCEv2, starts and stops it, and reads its results and captures. python3-jsonschema validates each request and each reply,
and scapy and tshark read the captures.
"""
import atexit
import base64
import json
import os
import shutil
import socket
import subprocess

from configs import memif
from frames import read_pcap
from harness import check, check_equal, finish, run, skip, work_dir
from otg_bed import ROOT, Otg, device, flow, pfc, raw_flow, settings, tx_port, value

FOLDER = ROOT / "test" / "e2e" / "otg_client"
NODE = shutil.which("node")
if NODE is None or not (FOLDER / "node_modules" / "openapi-client-axios").is_dir():
    skip("openapi-client-axios is not installed: scripts/install-deps clients")
try:
    import jsonschema
except ImportError:
    skip("python3-jsonschema is not installed")
from otg import schema  # noqa: E402

KINDS = {"set_config": ("Config", "Warning"), "get_config": (None, "Config"), "set_control_state": ("Control.State", "Warning"),
         "get_metrics": ("Metrics.Request", "Metrics.Response"), "get_states": ("States.Request", "States.Response"),
         "get_version": (None, "Version"), "update_config": ("Config.Update", "Warning"),
         "append_config": ("Config.Append", "Warning"), "delete_config": ("Config.Delete", "Warning")}


def faults(kind, value):
    """What the schema has against a value."""
    resolver = jsonschema.RefResolver("", schema.DOCUMENT)
    validator = jsonschema.Draft7Validator({"$ref": f"#/components/schemas/{kind}"}, resolver=resolver)
    return [f"{'.'.join(map(str, fault.path))}: {fault.message}"[:200] for fault in validator.iter_errors(value)]


class Client:
    def __init__(self, url):
        self.process = subprocess.Popen([NODE, FOLDER / "drive.mjs", schema.PATH, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "NODE_OPTIONS": ""})
        atexit.register(self.process.kill)

    def call(self, operation, body=None):
        """@return (status, JSON)"""
        self.process.stdin.write(json.dumps({"operation": operation, "body": body}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        return reply["status"], reply["data"]

    def good(self, operation, body=None):
        request, wanted = KINDS[operation]
        if request is not None:
            check_equal(f"{operation}: the request is valid", faults(request, body), [])
        status, data = self.call(operation, body)
        check(f"{operation}: status", status == 200, (status, data))
        check_equal(f"{operation}: the reply is valid", faults(wanted, data), [])
        return data

    def capture(self, state):
        return self.good("set_control_state", {"choice": "port", "port": {"choice": "capture", "capture": {"state": state}}})

    def get_capture(self, path, port, **packets):
        """Into a file."""
        body = {"port_name": port, **packets}
        check_equal("get_capture: the request is valid", faults("Capture.Request", body), [])
        status, data = self.call("get_capture", body)
        check_equal("get_capture: status, type", (status, data["type"]), (200, "application/octet-stream"))
        path.write_bytes(base64.b64decode(data["base64"]))

    def traffic(self, state):
        return self.good("set_control_state", {"choice": "traffic", "traffic": {"choice": "flow_transmit", "flow_transmit": {"state": state}}})

    def metrics(self, choice):
        # The schema requires what the objects of a request select, too.
        inner = {"port": {}, "rocev2_flow": {"choice": "per_qp", "per_qp": {}}}.get(choice, {"choice": "per_peer", "per_peer": {}})
        reply = self.good("get_metrics", {"choice": choice, choice: inner})
        return reply[reply["choice"]]


def configuration():
    return {
        "ports": [{"name": "tx", "location": "a"}, {"name": "rx", "location": "b"}],
        "layer1": [{**pfc(["tx", "rx"]), "speed": "speed_1_gbps"}],
        "captures": [{"name": "first", "port_names": ["rx"], "format": "pcapng", "packet_size": 60, "overwrite": False},
                     {"name": "acks", "port_names": ["tx"], "filters": [
                         {"choice": "ipv4", "ipv4": {"dst": {"value": "0a000001", "mask": "ffffffff"}}},
                         {"choice": "custom", "custom": {"offset": 64, "value": "11", "mask": "ff"}}]}],
        "devices": [device(1, "tx", {2: [("t", 100, {"dscp": 26})]}), device(2, "rx", {1: [("r", 300, {"dscp": 26})]})],
        "options": {"per_port_options": [settings("tx"), settings("rx")]},
        "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [tx_port("tx", [flow("f", "t", "r")], 20)]}]},
    }


def check_captures(client, work, acks):
    """All ACKs of the run at one port, and the first frames at the other."""
    check_equal("captures miss nothing", client.capture("stop"), {"warnings": []})
    client.get_capture(work / "tx.pcap", "tx")
    check_equal("ACKs in the capture", [frame[42] for frame in read_pcap(work / "tx.pcap")], [0x11] * acks)
    client.get_capture(work / "rx.pcapng", "rx", packets={"choice": "slice", "slice": {"choice": "initial", "initial": {"start": 3, "count": 40}}})
    done = run("tshark", "-r", work / "rx.pcapng", "-Y", "infiniband", "-T", "fields", "-e", "frame.cap_len", "-e", "frame.interface_name")
    rows = done.stdout.splitlines()
    check("tshark reads frames of 60 bytes", done.returncode == 0 and 30 < len(rows) <= 40 and {row.split("\t")[0] for row in rows} == {"60"}, done)
    check_equal("captures have ended", [port["capture"] for port in client.metrics("port")], ["stopped"] * 2)


def check_append(client, otg):
    """A raw flow beside RoCEv2: the quench-nic of its port has no room for it, and starts again."""
    beside = raw_flow("beside", "tx", ("ethernet", {"dst": value("02:00:00:00:00:02"), "src": value("02:00:00:00:00:01")}))
    warnings = client.good("append_config", [{"choice": "flows", "flows": [beside]}])["warnings"]
    check_equal("append_config", warnings, ["port tx: its quench-nic started again, and counts from 0"])
    client.traffic("start")
    otg.wait("messages and frames", lambda: client.metrics("rocev2_flow")[0]["message_complete_rx"] > 20 and otg.raw("beside")["frames_tx"] > 20)
    check_equal("delete_config", client.good("delete_config", [{"choice": "flows", "flows": ["beside"]}]), {"warnings": []})
    done = client.metrics("rocev2_flow")[0]["message_complete_rx"]
    otg.wait("more messages", lambda: client.metrics("rocev2_flow")[0]["message_complete_rx"] > done)
    check_equal("the flow is gone", (otg.metrics("flow"), client.good("get_config")["flows"]), ([], []))


def host(name, port, mac, addresses, peers, vlan=None):
    """addresses: {name: (address, gateway)}; peers: {name of an address: {peer's address: QP's name and number}}"""
    ethernet = {"name": f"{name}.eth", "mac": mac, "connection": {"choice": "port_name", "port_name": port},
                "ipv4_addresses": [{"name": key, "address": ip, "gateway": gateway} for key, (ip, gateway) in addresses.items()]}
    if vlan:
        ethernet["vlans"] = [{"name": f"{name}.vlan", "id": vlan}]
    return {"name": name, "ethernets": [ethernet], "rocev2": {"ipv4_interfaces": [
        {"ipv4_name": key, "ib_mtu": 1024, "peers": [
            {"name": f"{key}-{to}", "destination_ip_address": to,
             "qps": [{"qp_name": qp, "connection_type": {"reliable_connection": {"source_qp_number": qpn, "dscp": 26}}}]}
            for to, (qp, qpn) in found.items()]} for key, found in peers.items()]}}


def hosts():
    """Two hosts at each port. Those of the first pair are on VLAN 5; each of the second has two addresses, and is the other's gateway."""
    one, two = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
    return [
        host("a", "tx", "02:00:00:00:00:01", {"a1": ("10.1.0.3", "10.1.0.254")}, {"a1": {"10.1.0.4": ("ta", 100)}}, 5),
        host("b", "rx", "02:00:00:00:00:02", {"b1": ("10.1.0.4", "10.1.0.254")}, {"b1": {"10.1.0.3": ("rb", 100)}}, 5),
        host("c", "tx", one, {"c1": ("10.2.0.5", "10.2.0.1"), "c2": ("10.3.0.1", "10.3.0.254")},
             {"c1": {"10.3.0.6": ("tg", 101), "10.2.0.1": ("tc", 102)}, "c2": {"10.3.0.6": ("td", 103)}}),
        host("d", "rx", two, {"d1": ("10.2.0.1", "10.2.0.254"), "d2": ("10.3.0.6", "10.3.0.1")},
             {"d2": {"10.2.0.5": ("rg", 101), "10.3.0.1": ("rd", 103)}, "d1": {"10.2.0.5": ("rc", 102)}}),
    ], one, two


def check_hosts(client, otg):
    config = configuration()
    config["captures"] = [{"name": "data", "port_names": ["rx"], "filters": [
        {"choice": "ethernet", "ethernet": {"src": {"value": "020000000000", "mask": "ffffffffff00"}}}]}]
    config["devices"], one, two = hosts()
    pairs = {"vlan": ("ta", "rb"), "routed": ("tg", "rg"), "first": ("tc", "rc"), "second": ("td", "rd")}
    config["stateful_flows"]["rocev2"][0]["tx_ports"] = [tx_port("tx", [flow(name, tx, rx) for name, (tx, rx) in pairs.items()], 20)]
    check_equal("several hosts at a port", client.good("set_config", config), {"warnings": []})
    client.capture("start")
    client.traffic("start")
    otg.wait("messages of all", lambda: all(row["message_complete_rx"] > 10 for row in client.metrics("rocev2_flow")))
    states = client.good("get_states", {"choice": "ipv4_neighbors", "ipv4_neighbors": {}})["ipv4_neighbors"]
    check_equal("neighbours, resolved", sorted((row["ethernet_name"], row["ipv4_address"], row.get("link_layer_address")) for row in states), [
        ("a.eth", "10.1.0.254", None), ("a.eth", "10.1.0.4", "02:00:00:00:00:02"), ("b.eth", "10.1.0.254", None), ("b.eth", "10.1.0.3", "02:00:00:00:00:01"),
        ("c.eth", "10.2.0.1", two), ("c.eth", "10.3.0.254", None), ("c.eth", "10.3.0.6", two),
        ("d.eth", "10.2.0.254", None), ("d.eth", "10.2.0.5", one), ("d.eth", "10.3.0.1", one)])
    client.traffic("stop")
    otg.wait_quiet()
    check_equal("all arrives", [row["frame_delta"] for row in client.metrics("rocev2_flow")], [0] * 4)
    check_equal("peers", {(peer["qp_up"], peer["qp_down"]) for peer in client.metrics("rocev2_ipv4")}, {(1, 0)})
    # QPs go, with their addresses, and come back.
    for state in ("stop", "start"):
        client.good("set_control_state", {"choice": "protocol", "protocol": {"choice": "all", "all": {"state": state}}})
    client.traffic("start")
    otg.wait("messages again", lambda: all(row["message_complete_rx"] > 10 for row in client.metrics("rocev2_flow")))
    with open(otg.work / "hosts.pcap", "wb") as file:
        file.write(otg.get_capture("rx"))
    seen = {(frame[6:12].hex(":"), frame[:6].hex(":"), socket.inet_ntoa(ip[12:16]), socket.inet_ntoa(ip[16:20]))
            for frame in read_pcap(otg.work / "hosts.pcap") for ip in (frame[18:] if frame[12:14] == b"\x81\x00" else frame[14:],)
            if ip[:1] == b"\x45" and ip[28] < 0x11}
    check_equal("addresses of the data", seen, {
        ("02:00:00:00:00:01", "02:00:00:00:00:02", "10.1.0.3", "10.1.0.4"), (one, two, "10.2.0.5", "10.3.0.6"),
        (one, two, "10.2.0.5", "10.2.0.1"), (one, two, "10.3.0.1", "10.3.0.6")})


def main():
    work = work_dir()
    otg = Otg(work, {"a": memif("client", 0, work), "b": memif("server", 0, work)})
    client = Client(otg.url)
    check("get_version", client.good("get_version")["api_spec_version"] == schema.DOCUMENT["info"]["version"])
    config = configuration()
    check_equal("set_config warns of nothing", client.good("set_config", config), {"warnings": []})
    check_equal("get_config returns it", client.good("get_config"), config)
    client.capture("start")
    check_equal("captures run", [port["capture"] for port in client.metrics("port")], ["started"] * 2)
    client.traffic("start")
    otg.wait("messages", lambda: client.metrics("rocev2_flow")[0]["message_complete_rx"] > 20)
    client.traffic("stop")
    otg.wait_quiet()
    row = client.metrics("rocev2_flow")[0]
    check_captures(client, work, row["ack_rx"])
    check_equal("messages at both ends", row["message_tx"], row["message_complete_rx"])
    check_equal("frames at both ends", (row["frame_delta"], row["data_frames_retransmitted"]), (0, 0))
    ports = {port["name"]: port for port in client.metrics("port")}
    check("frames of the ports", ports["tx"]["frames_tx"] >= row["data_frames_tx"] and ports["rx"]["frames_rx"] >= row["data_frames_rx"], ports)
    check_equal("peers", [(peer["qp_configured"], peer["qp_up"]) for peer in client.metrics("rocev2_ipv4")], [(1, 1)] * 2)
    states = client.good("get_states", {"choice": "ipv4_neighbors", "ipv4_neighbors": {}})
    check_equal("neighbours", [row["ipv4_address"] for row in states["ipv4_neighbors"]], ["10.0.0.254", "10.0.0.2", "10.0.0.254", "10.0.0.1"])
    wrong = configuration()
    wrong["devices"][0]["ethernets"][0]["mac"] = "x"
    status, error = client.call("set_config", wrong)
    check_equal("a wrong request", (status, error["kind"], error["errors"]), (400, "validation", [
        'devices[0].ethernets[0].mac: "x": expected a MAC address']))
    check_equal("its reply is valid", faults("Error", error), [])
    check_equal("the run is still there", client.metrics("rocev2_flow")[0]["message_tx"], row["message_tx"])
    check_append(client, otg)
    check_hosts(client, otg)
    check_equal("quench-otg ends well", otg.stop(), 0)
    finish()


main()
