# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg with a client, and configurations of the API."""
import atexit
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from harness import BUILD, PATIENCE_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

GBPS = 10**9


class Otg:
    """The server, running, and one connection to it."""

    def __init__(self, work, ports, *options, bases=None, speed="1G", text="", keys=""):
        """ports: {location: device}; bases: {location: sections that the API does not have}; text: further sections of the file of ports;
        keys: of each port"""
        self.work, self.prefix = work, f"qo{os.getpid()}{work.name[-4:]}"
        for name, device_ in ports.items():
            (work / f"{name}-base.ini").write_text("[nic]\nshaper_burst_ns = 2ms\nqp_burst_bytes = 8KB\n" + (bases or {}).get(name, ""))
            text += f"[port {name}]\ndevice = {device_}\nspeed = {speed}\nbase = {name}-base.ini\noptions = --idle-sleep 500\n{keys}"
        (work / "ports.ini").write_text(text)
        command = [ROOT / "scripts" / "otg", "--ports", work / "ports.ini", "--no-huge", "--prefix", self.prefix, "--folder", work / "nics", "--listen",
                   "127.0.0.1:0", "--program", BUILD / "app/quench-nic/quench-nic", *(options or ["--http"])]
        with open(work / "otg.err", "w", encoding="utf-8") as err:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True)
        atexit.register(self.stop)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on (https?)://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            sys.exit(f"quench-otg says {line!r}: {(work / 'otg.err').read_text()}")
        self.port = int(found[2])
        self.url = line.split()[-1]
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def ask(self, method, path, body=None, **headers):
        """@return (status, JSON)"""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = self.exchange(method, path, data, {"Content-Type": "application/json", **headers})
        return reply.status, json.loads(reply.read())

    def exchange(self, method, path, data, headers):
        """Again on a new connection, if the server has closed this one because it was silent."""
        try:
            self.connection.request(method, path, data, headers)
            return self.connection.getresponse()
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            self.connection.close()
            self.connection.request(method, path, data, headers)
            return self.connection.getresponse()

    def good(self, method, path, body=None):
        status, reply = self.ask(method, path, body)
        if status != 200:
            sys.exit(f"{method} {path}: {status}: {reply}\n{(self.work / 'otg.err').read_text()}")
        return reply

    def set_config(self, config):
        return self.good("POST", "/config", config)

    def capture(self, state, *ports):
        return self.good("POST", "/control/state", {"choice": "port", "port": {"choice": "capture", "capture": {
            "state": state, **({"port_names": list(ports)} if ports else {})}}})

    def get_capture(self, port, **packets):
        """@return the file"""
        reply = self.exchange("POST", "/monitor/capture", json.dumps({"port_name": port, **packets}), {"Content-Type": "application/json"})
        data = reply.read()
        if reply.status != 200:
            sys.exit(f"get_capture {port}: {reply.status}: {data}")
        return data

    def traffic(self, state, *flows):
        return self.good("POST", "/control/state", {"choice": "traffic", "traffic": {"choice": "flow_transmit", "flow_transmit": {
            "state": state, **({"flow_names": list(flows)} if flows else {})}}})

    def metrics(self, choice, **request):
        body = {"choice": choice, choice: request}
        reply = self.good("POST", "/monitor/metrics", body)
        return reply[reply["choice"]]

    def raw(self, name):
        return self.metrics("flow", flow_names=[name])[0]

    def flow(self, name):
        return next(row for row in self.metrics("rocev2_flow") if row["flow_name"] == name)

    def wait(self, what, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"quench-otg does not get to: {what}")
            time.sleep(0.05)

    def wait_quiet(self):
        """Flows that stopped have finished their messages, and nothing is in flight."""
        seen = [None]

        def same():
            now = [{key: value for key, value in row.items() if key not in ("data_tx_rate", "data_rx_rate", "flow_completion_time")}
                   for row in self.metrics("rocev2_flow")]
            before, seen[0] = seen[0], now
            time.sleep(0.3)  # lasts: the interval in which nothing changes
            return now == before
        self.wait("quiet flows", same)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE_S)
        return self.process.returncode


def device(number, port, peers, version=4, net="10.0.0", **ethernet):
    """Host `number` at a port. peers: {peer's number: list of QPs (name, number, and parameters)}"""
    name = f"host{number}"
    ip = f"{net}.{number}" if version == 4 else f"fd00::{number}"
    prefix = net if version == 4 else "fd00:"
    return {
        "name": name,
        "ethernets": [{
            "name": f"{name}.eth", "mac": f"02:00:00:00:00:{number:02x}", "connection": {"choice": "port_name", "port_name": port},
            f"ipv{version}_addresses": [{"name": f"{name}.ip", "address": ip, "gateway": f"{prefix}.254" if version == 4 else "fd00::fe"}], **ethernet}],
        "rocev2": {f"ipv{version}_interfaces": [{
            f"ipv{version}_name": f"{name}.ip", "ib_mtu": 1024,
            "peers": [{"name": f"{name}-{peer}", "destination_ip_address": f"{net}.{peer}" if version == 4 else f"fd00::{peer}",
                       "qps": [{"qp_name": qp, "connection_type": {"reliable_connection": {"source_qp_number": n, **more}}} for qp, n, more in qps]}
                      for peer, qps in peers.items()]}]},
    }


def flow(name, tx, rx, kilobytes=64, verb="write", **more):
    return {"name": name, "tx_endpoint": tx, "rx_endpoint": rx, "message_size": kilobytes, "message_size_unit": "kb", "rocev2_verb": {"choice": verb}, **more}


def value(of):
    return {"choice": "value", "value": of}


def raw_flow(name, tx, *headers, rx=None, size=64, rate=None, duration=None):
    """headers: (name, fields)"""
    return {"name": name, "tx_rx": {"choice": "port", "port": {"tx_name": tx, **({"rx_name": rx} if rx else {})}},
            "packet": [{"choice": kind, kind: fields} for kind, fields in headers], "size": {"choice": "fixed", "fixed": size},
            "rate": rate or {"choice": "pps", "pps": 1000}, "duration": duration or {"choice": "continuous"}}


def tx_port(port, flows, percent=98):
    return {"port_name": port, "transmit_type": {"target_line_rate": {"value": percent, "flows": flows}}}


def pfc(ports, **classes):
    return {"name": "l1", "port_names": ports, "flow_control": {"choice": "ieee_802_1qbb", "ieee_802_1qbb": classes}}


def settings(port, retransmits=True, **dcqcn):
    """Times of DCQCN ten times those of the paper, and retransmission after long, or never: where nothing is lost, an answer may still be late."""
    times = {"retransmission_timeout_value": 4000, "retransmission_retry_count": 7} if retransmits else {"enable_retransmission_timeout": False}
    rocev2 = {"connection_type": {"reliable_connection": times},
              "cnp": {"cnp_delay_timer": 250}, "dcqcn_settings": dcqcn}
    return {"port_name": port, "protocols": [{"choice": "rocev2", "rocev2": rocev2}]}
