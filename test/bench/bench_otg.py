#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg with 10,000 QPs: the time of one set_config and of their metrics, and what ten clients cost the polling lcore.

One quench-nic sends to itself by net_ring, 5,000 flows from half of the QPs to the other half. Its polling lcore has a CPU of its
own; its main lcore, quench-otg and the clients share the other one. Ten clients ask for the metrics of all QPs once a second. A turn is three windows,
plain, asked, plain, so that the two plain ones say how much a figure moves by itself.
Then 100 quench-nics, and what each of them costs quench-otg.
"""
import http.client
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

BUILD = pathlib.Path(__file__).resolve().parents[2]
ROOT = pathlib.Path("@ROOT@")
sys.path.append(str(ROOT / "tools"))
# A runtime folder of its own: other programs of this machine may have any name.
RUNTIME = tempfile.TemporaryDirectory(prefix="quench-run-")  # pylint: disable=consider-using-with
os.environ["RUNTIME_DIRECTORY"] = RUNTIME.name
from quench import desk  # noqa: E402

CORES = sorted(os.sched_getaffinity(0))
SMOKE = "QUENCH_BENCH_SMOKE" in os.environ
FLOWS, REPEATS = (100, 1) if SMOKE else (5000, 5)
PATIENCE_S = 300
TURNS, WINDOW_S = (1, 0.3) if SMOKE else (6, 2.0)
CLIENTS = 10
FEW, MANY = (2, 3) if SMOKE else (10, 100)
SET_CONFIG_S, METRICS_S, LIMIT = 2.0, 0.5, 0.01
MAC = "02:00:00:00:00:01"


def configuration():
    qps = [{"qp_name": f"{side}{n}", "connection_type": {"reliable_connection": {"source_qp_number": 100 + n + (FLOWS if side == "r" else 0),
                                                                                "dscp": 26, "udp_source_port": 50000}}}
           for side in "tr" for n in range(FLOWS)]
    flows = [{"name": f"f{n}", "tx_endpoint": f"t{n}", "rx_endpoint": f"r{n}", "message_size": 64, "message_size_unit": "kb",
              "rocev2_verb": {"choice": "write"}} for n in range(FLOWS)]
    return {
        "ports": [{"name": "p", "location": "ring"}],
        "layer1": [{"name": "l1", "port_names": ["p"], "flow_control": {"choice": "ieee_802_1qbb"}}],
        "devices": [{"name": "d", "ethernets": [{"name": "e", "mac": MAC, "connection": {"choice": "port_name", "port_name": "p"},
                                                 "ipv4_addresses": [{"name": "ip", "address": "10.0.0.1", "gateway": "10.0.0.254"}]}],
                     "rocev2": {"ipv4_interfaces": [{"ipv4_name": "ip", "ib_mtu": 1024, "peers": [
                         {"name": "peer", "destination_ip_address": "10.0.0.1", "qps": qps}]}]}}],
        "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [{"port_name": "p", "transmit_type": {"target_line_rate": {
            "value": 98, "flows": flows}}}]}]},
    }


def complain(why):
    sys.exit(f"bench_otg: {why}")


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def ask(self, path, body):
        """@return the reply, without a look into it: clients do that elsewhere."""
        self.connection.request("POST", path, body, {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        data = reply.read()
        if reply.status != 200:
            complain(f"{path}: {data[:500]!r}")
        return data


METRICS = json.dumps({"choice": "rocev2_flow", "rocev2_flow": {"choice": "per_qp", "per_qp": {}}}).encode()


class Server:
    def __init__(self, folder, ports=None):
        """ports: sections of the file of ports; None: a port "ring" whose polling lcore has a CPU of its own"""
        self.prefix = f"benchotg{os.getpid()}"
        memory = ["-m", "600"] if os.environ.get("QUENCH_BENCH_EAL") == "" else []
        text = ports or "[port ring]\ndevice = net_ring0\n" + f"lcores = 0@{CORES[0]},1@{CORES[-1]}\nmemory_mb = 600\n"
        (folder / "ports.ini").write_text(text, encoding="ascii")
        self.process = subprocess.Popen(
            [ROOT / "scripts/otg", "--http", "--listen", "127.0.0.1:0", "--ports", folder / "ports.ini", "--prefix", self.prefix,
             "--program", BUILD / "app/quench-nic/quench-nic", *([] if memory else ["--no-huge"])], stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)$", self.process.stdout.readline().strip())[1])
        self.client = Client(self.port)

    def traffic(self, state):
        self.client.ask("/control/state", json.dumps({"choice": "traffic", "traffic": {
            "choice": "flow_transmit", "flow_transmit": {"state": state}}}).encode())

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)


class Poller:
    """The polling lcore: packets that it sent, and its CPU time."""

    def __init__(self, prefix):
        self.desk = desk.Desk(f"{desk.folder(prefix)}/{desk.SOCKET}", PATIENCE_S)
        self.process = self.desk.pid

    def read(self):
        cpu_ns = max(int(p.read_text(encoding="ascii").split()[0]) for p in pathlib.Path(f"/proc/{self.process}/task").glob("*/schedstat"))
        return self.desk.call("nic")["tx_packets"], cpu_ns, time.monotonic()

    def window(self):
        """Packets a second of CPU time and of the clock."""
        packets, cpu_ns, begun = self.read()
        more, cpu_now_ns = packets, cpu_ns
        while more == packets or cpu_now_ns == cpu_ns:  # others had the core all the time
            time.sleep(WINDOW_S)
            more, cpu_now_ns, ended = self.read()
        return (more - packets) * 1e9 / (cpu_now_ns - cpu_ns), (more - packets) / (ended - begun)


class Askers:
    """Clients, each of which asks once a second; one that is late goes on at once."""

    def __init__(self, port):
        self.port, self.end, self.asked = port, threading.Event(), 0
        self.threads = [threading.Thread(target=self.run, args=(n,)) for n in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        client = Client(self.port)
        due = time.monotonic() + number / CLIENTS
        while not self.end.wait(max(0, due - time.monotonic())):
            client.ask("/monitor/metrics", METRICS)
            self.asked += 1
            due = max(due + 1, time.monotonic() - 1)

    def stop(self):
        self.end.set()
        for thread in self.threads:
            thread.join()


def timed(call):
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


def figure(name, value, limit, unit, peer="limit"):
    print(json.dumps({"name": name, "value": value, "unit": unit, "peer": peer, "peer_value": limit, "ratio": value / limit}), flush=True)


def measure_clients(server):
    poller = Poller(f"{server.prefix}-ring")
    turns, asked, seconds = [], 0, 0.0
    for _ in range(TURNS):
        before = poller.window()
        askers, begun = Askers(server.port), time.monotonic()
        during = poller.window()
        seconds += time.monotonic() - begun
        askers.stop()
        asked += askers.asked
        turns.append((before, during, poller.window()))
    for i, what in enumerate(("a second of its lcore's time", "a second of the clock")):
        lost = statistics.median(1 - 2 * during[i] / (before[i] + after[i]) for before, during, after in turns)
        noise = statistics.median(abs(1 - after[i] / before[i]) for before, _, after in turns)
        figure(f"packets in {what}, {CLIENTS} clients, {asked / seconds:.1f} requests/s: lost, median of {TURNS} pairs", 100 * lost,
               100 * max(LIMIT, noise), "%", "1 %, or what plain windows differ by")


def many_configuration(n):
    """Ports that send to themselves, with a flow each."""
    def device(k):
        qps = [{"qp_name": f"{side}{k}", "connection_type": {"reliable_connection": {"source_qp_number": number}}} for side, number in (("t", 2), ("r", 3))]
        return {"name": f"d{k}", "ethernets": [{"name": f"e{k}", "mac": MAC, "connection": {"choice": "port_name", "port_name": f"p{k}"},
                                                "ipv4_addresses": [{"name": f"i{k}", "address": "10.0.0.1", "gateway": "10.0.0.254"}]}],
                "rocev2": {"ipv4_interfaces": [{"ipv4_name": f"i{k}", "ib_mtu": 1024, "peers": [
                    {"name": f"n{k}", "destination_ip_address": "10.0.0.1", "qps": qps}]}]}}

    def tx_port(k):
        flow = {"name": f"f{k}", "tx_endpoint": f"t{k}", "rx_endpoint": f"r{k}", "message_size": 64, "message_size_unit": "kb",
                "rocev2_verb": {"choice": "write"}}
        return {"port_name": f"p{k}", "transmit_type": {"target_line_rate": {"value": 1, "flows": [flow]}}}

    return {"ports": [{"name": f"p{k}", "location": f"p{k}"} for k in range(n)], "devices": [device(k) for k in range(n)],
            "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [tx_port(k) for k in range(n)]}]}}


def many_costs(folder, n):
    """CPU seconds of quench-otg for each of n quench-nics: set_config, start, metrics. They share the CPUs and sleep between polls."""
    folder.mkdir()
    text = "".join(f"[port p{k}]\ndevice = net_ring0\nspeed = 1G\nmemory_mb = 64\noptions = --idle-sleep 1000\n" for k in range(n))
    server = Server(folder, text)
    try:
        def cost(call):
            begun = cpu_s()
            call()
            return (cpu_s() - begun) / n

        def cpu_s():
            # As clock_getcpuclockid(): in nanoseconds. Ticks of /proc are longer than what a few programs cost.
            return time.clock_gettime(~server.process.pid << 3 | 2)

        body = json.dumps(many_configuration(n)).encode()
        return (cost(lambda: server.client.ask("/config", body)), cost(lambda: server.traffic("start")),
                cost(lambda: [server.client.ask("/monitor/metrics", METRICS) for _ in range(3)]) / 3)
    finally:
        server.stop()


def measure_many(folder):
    few, many = many_costs(folder / "few", FEW), many_costs(folder / "many", MANY)
    for what, one, each in zip(("set_config", "start", "metrics"), few, many):
        figure(f"{what} of {MANY} quench-nics, CPU time of quench-otg for each", 1000 * each, 1000 * one, "ms", f"with {FEW} quench-nics")


def main():
    if len(CORES) < 2:
        complain("two CPUs are needed: one polls")
    body = json.dumps(configuration()).encode()
    with tempfile.TemporaryDirectory() as name:
        os.sched_setaffinity(0, {CORES[0]})
        server = Server(pathlib.Path(name))
        try:
            figure(f"set_config of {2 * FLOWS} QPs", statistics.median(timed(lambda: server.client.ask("/config", body)) for _ in range(REPEATS)),
                   SET_CONFIG_S, "s")
            server.traffic("start")
            figure(f"metrics of {2 * FLOWS} QPs", statistics.median(timed(lambda: server.client.ask("/monitor/metrics", METRICS))
                                                                   for _ in range(2 * REPEATS)), METRICS_S, "s")
            measure_clients(server)
        finally:
            server.stop()
        os.sched_setaffinity(0, CORES)
        measure_many(pathlib.Path(name))


main()
