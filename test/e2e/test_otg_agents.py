#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg and two machines: network namespaces, each with an agent, a control network to quench-otg, and a wire between the two.

Both ends come from one description, start and stop together, and their results are read together. quench-otg dies and finds its run; a
quench-nic dies and is named, and the other one goes on.
"""
import atexit
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import types

from harness import BUILD, PATIENCE_S, check, check_equal, finish, run, work_dir
from namespaces import Host, need
from otg_bed import ROOT, Otg, device, flow, settings, tx_port
from scapy.utils import RawPcapNgReader
from desk import Desk

need("ip", "nsenter", "ethtool", "openssl")
TOKENS = ("left-token-0123456789", "right-token-0123456789")


class Machine:
    """A namespace, and the agent in it."""

    def __init__(self, work, number):
        self.work, self.number, self.address = work, number, f"10.88.{number}.1"
        self.host = Host(number, self.address, f"02:00:00:00:88:0{number}")
        self.host.must("ip", "address", "add", f"10.88.{number}.254/24", "dev", self.host.device, outside=True)
        self.prefix = f"qa{os.getpid()}{number}"
        (work / f"token{number}").write_text(TOKENS[number] + "\n")
        (work / f"token{number}").chmod(0o600)

    def command(self, *options):
        return [*self.host.inside(), ROOT / "scripts" / "otg", "agent", "--no-huge", "--prefix", self.prefix, "--port", "p=net_af_packet0,iface=wire0",
                "--listen", f"{self.address}:0", "--options", "--idle-sleep 50", "--program", BUILD / "app/quench-nic/quench-nic", *options]

    def start(self):
        work, n = self.work, self.number
        done = run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", work / f"key{n}.pem", "-out", work / f"cert{n}.pem", "-days", 1,
                   "-subj", "/CN=agent", "-addext", f"subjectAltName=IP:{self.address}")
        check_equal("a certificate", done.returncode, 0)
        with open(work / f"agent{n}.err", "w", encoding="utf-8") as err:
            self.process = subprocess.Popen(self.command("--cert", work / f"cert{n}.pem", "--key", work / f"key{n}.pem", "--token-file", work / f"token{n}"),
                                            stdout=subprocess.PIPE, stderr=err, text=True)
        atexit.register(self.stop)
        line = self.process.stdout.readline()
        self.url = line.split()[-1] if line else sys.exit(f"the agent says nothing: {(work / f'agent{n}.err').read_text()}")
        check_equal("the agent listens by TLS", bool(re.fullmatch(rf"https://{self.address}:\d+", self.url)), True)

    def section(self, **more):
        keys = {"url": self.url, "ca": f"cert{self.number}.pem", "token_file": f"token{self.number}", **more}
        return f"[agent m{self.number}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())

    def nic(self):
        """The process of its quench-nic."""
        return Desk(f"{self.prefix}-p").pid

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE_S)
        return self.process.returncode


def wire(machines):
    names = [machine.host.name for machine in machines]
    done = run("ip", "link", "add", "wire0", "netns", names[0], "type", "veth", "peer", "name", "wire0", "netns", names[1])
    check_equal("a wire", (done.returncode, done.stderr), (0, ""))
    for machine in machines:
        machine.host.must("ethtool", "-K", "wire0", "tso", "off", "gso", "off", "gro", "off", "tx", "off", "rx", "off")
        machine.host.must("ip", "link", "set", "wire0", "up", "promisc", "on")


class Controller(Otg):
    """quench-otg whose ports are at the agents."""

    def __init__(self, work, machines):
        self.machines = machines
        super().__init__(work, {}, text="".join(machine.section() for machine in machines) +
                         "[port a]\nagent = m0\nat = p\n[port b]\nagent = m1\nat = p\n")

    def said(self):
        return (self.work / "otg.err").read_text()

    def die(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE_S)


def refused(command):
    done = run(*command)
    return done.returncode, done.stderr.strip()


def check_refusals(work, machines):
    for options, line in (((), f"otg: --listen {machines[0].address}:0: beyond loopback, --token-file is required"),
                          (("--token-file", work / "token0", "--http"), f"otg: --http: expected a loopback address in --listen, not {machines[0].address}")):
        check_equal("an agent beyond loopback needs a token and TLS", refused(machines[0].command(*options)), (2, line))
    port = "[port a]\nagent = m0\nat = p\n"
    for text, line in ((machines[0].section(token_file="token1") + port, "expected the header Authorization"),
                       (machines[0].section(ca="cert1.pem") + port, "agent m0: "),
                       (machines[0].section(url=machines[0].url.replace("https", "http")) + port, "expected https beyond loopback"),
                       (machines[0].section() + "[port a]\nagent = m0\nat = q\n", "at = q: agent m0 has p"),
                       ("[port a]\nagent = m9\n", "agent = m9: expected one of")):
        (work / "wrong.ini").write_text(text)
        code, said = refused([ROOT / "scripts" / "otg", "--http", "--listen", "127.0.0.1:0", "--ports", work / "wrong.ini"])
        check(f"refused: {line}", code == 2 and line in said and "\n" not in said, (code, said))


def configuration():
    return {
        "ports": [{"name": "tx", "location": "a"}, {"name": "rx", "location": "b"}],
        "layer1": [{"name": "l1", "port_names": ["tx", "rx"], "speed": "speed_100_fd_mbps"}],
        "devices": [device(1, "tx", {2: [("t", 100, {"dscp": 26})]}), device(2, "rx", {1: [("r", 300, {"dscp": 26})]})],
        "captures": [{"name": "c", "port_names": ["tx", "rx"], "format": "pcapng"}],
        "options": {"per_port_options": [settings("tx"), settings("rx")]},
        "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [tx_port("tx", [flow("f", "t", "r")], 20)]}]},
    }


def check_both_ends(otg, what):
    otg.wait_quiet()
    row = otg.flow("f")
    check_equal(f"{what}: messages at both ends", row["message_tx"], row["message_complete_rx"])
    check_equal(f"{what}: frames at both ends", row["data_frames_tx"] - row["data_frames_retransmitted"], row["data_frames_rx"])
    return row


def check_one_controller():
    """Two controllers ask for one port at the same moment: one gets it, the other gets an error."""
    from otg.agent import AgentApi  # otg_bed says where
    from otg.schema import Refused
    ended, answers = [], {}
    nic = types.SimpleNamespace(start=lambda text: None, stop=lambda: ended.append("stop"))
    api = AgentApi({"p": types.SimpleNamespace(make=lambda: nic)}, "test")

    def start(controller):
        try:
            answers[controller] = api.routes["/agent/start"]["POST"]({"controller": controller, "port": "p", "text": ""})
        except Refused as error:
            answers[controller] = str(error)

    class Counted:
        """A lock that says how many have asked for it."""

        def __init__(self):
            self.lock, self.asked = threading.Lock(), 0

        def __enter__(self):
            self.asked += 1
            self.lock.acquire()

        def __exit__(self, *_):
            self.lock.release()

    lock = api.ports["p"].lock = Counted()
    threads = [threading.Thread(target=start, args=(name,)) for name in ("first", "second")]
    with lock:
        for thread in threads:
            thread.start()
        while lock.asked < 3:
            time.sleep(0.01)
    for thread in threads:
        thread.join(PATIENCE_S)
    check_equal("two controllers at once: one has the port", sum(answer == {} for answer in answers.values()), 1)
    check("the other gets an error", any("another controller has it" in str(answer) for answer in answers.values()), answers)
    check_equal("the quench-nic of the first goes on", ended, [])


def main():
    check_one_controller()
    work = work_dir()
    machines = [Machine(work, n) for n in range(2)]
    wire(machines)
    for machine in machines:
        machine.start()
    check_refusals(work, machines)
    otg = Controller(work, machines)
    check_equal("set_config", otg.set_config(configuration()), {"warnings": []})
    otg.capture("start", "rx")
    otg.traffic("start")
    otg.wait("messages", lambda: otg.flow("f")["message_complete_rx"] > 10)
    check("how far apart the ports started is printed", re.search(r"traffic start: 2 ports within [0-9.]+ ms", otg.said()), otg.said())
    # quench-otg dies while traffic runs, and comes back.
    before = otg.flow("f")["message_complete_rx"]
    otg.die()
    otg = Controller(work, machines)
    check("the run is found", "took over the run of tx, rx" in otg.said(), otg.said())
    check_equal("its configuration too", otg.good("GET", "/config"), configuration())
    otg.wait("more messages", lambda: otg.flow("f")["message_complete_rx"] > before)
    otg.traffic("stop")
    row = check_both_ends(otg, "after the return")
    data = otg.get_capture("rx")
    (work / "rx.pcapng").write_bytes(data)
    frames = sum(1 for _ in RawPcapNgReader(str(work / "rx.pcapng")))
    check("its capture went on, and comes from the agent", frames >= row["data_frames_rx"], (frames, row))
    status, reply = otg.ask("POST", "/monitor/capture", {"port_name": "tx"})
    check_equal("a port without a capture", (status, reply["errors"]), (400, ["port_name: 'tx': no capture was started on it"]))
    check("counters went on", row["message_complete_rx"] > before, (before, row))
    # A quench-nic dies.
    os.kill(machines[1].nic(), signal.SIGKILL)
    otg.wait("its name", lambda: "port b: port p: quench-nic has ended with -9" in otg.said())
    reply = otg.traffic("start")
    check("a start names it", len(reply["warnings"]) == 1 and "port b: " in reply["warnings"][0] and "has ended with -9" in reply["warnings"][0], reply)
    check_equal("and the other goes on", {port["name"]: (port["link"], port["transmit"]) for port in otg.metrics("port")},
                {"tx": ("up", "started"), "rx": ("down", "stopped")})
    nic = machines[0].nic()
    check_equal("quench-otg ends well", otg.stop(), 0)
    check("its quench-nic ended with it", not pathlib.Path(f"/proc/{nic}").exists())
    check_equal("agents end well", [machine.stop() for machine in machines], [0, 0])
    finish()


main()
