#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch beside dpdk-testpmd macswap: two net_pcap ports with infinite_rx, one polling lcore each.

Packets sent, by the devices' own counters, over the CPU time of the lcore that polls, so that what else runs on the
machine takes less from the figure. The two take turns; each figure is the median of its turns.
"""
import glob
import json
import os
import pathlib
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

SWITCH = pathlib.Path(__file__).resolve().parents[2] / "app" / "quench-switch" / "quench-switch"
TESTPMD = shutil.which("dpdk-testpmd", path=os.environ["PATH"] + ":/usr/bin:/usr/local/bin")
TESTPMD_OPTIONS = ["--forward-mode=macswap", "--stats-period=1", "--total-num-mbufs=32768"]
PATIENCE_S = 300
TURNS, SETTLE_S, MEASURE_S = (1, 0, 0.1) if "QUENCH_BENCH_SMOKE" in os.environ else (5, 0.5, 1.0)
# A runtime folder of its own: other programs of this machine may have any name.
RUNTIME = tempfile.TemporaryDirectory(prefix="quench-run-")  # pylint: disable=consider-using-with
os.environ["RUNTIME_DIRECTORY"] = RUNTIME.name
FLOWS = 64
SIZES = (60, 1082)

# The ports' speed is beyond what a core forwards, so that it is no limit.
CONFIG = """
[switch]
buffer_bytes = 12MB
[port]
link_speed_bps = 1600G
[port 0]
[port 1]
"""


def frame(size, from_port, flow):
    """A RoCEv2 WRITE from a station behind one port to one behind the other (checksum and ICRC left 0)."""
    mac = [bytes((2, 0, 0, 0, port, flow)) for port in (from_port, 1 - from_port)]
    ip = struct.pack(">BBHHHBBH4B4B", 0x45, 26 << 2 | 2, size - 14, 0, 0x4000, 64, 17, 0,
                     10, 0, from_port, flow, 10, 0, 1 - from_port, flow)
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~total & 0xFFFF) + ip[12:]
    udp = struct.pack(">4H", 0xC000 + flow, 4791, size - 34, 0)
    bth = struct.pack(">BBHII", 7, 0x40, 0xFFFF, 17 + flow, flow)
    return (mac[1] + mac[0] + b"\x08\x00" + ip + udp + bth).ljust(size, b"\0")


def write_capture(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for f in frames:
            out.write(struct.pack("<IIII", 0, 0, len(f), len(f)) + f)


class Forwarder:
    """A program under EAL, seen through EAL's telemetry and the CPU time of its threads."""

    def __init__(self, folder, name, program, own_options, size):
        self.name = name
        prefix = f"bench{os.getpid()}{name}"
        cores = sorted(os.sched_getaffinity(0))
        memory = ["-m", "200"] if os.environ.get("QUENCH_BENCH_EAL") == "" else ["--no-huge", "--no-shconf", "-m", "200"]
        devices = [o for p in (0, 1) for o in ("--vdev", f"net_pcap{p},rx_pcap={folder}/{size}-{p}.pcap,infinite_rx=1")]
        self.out = open(folder / f"{name}.out", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [str(program), "-l", f"{cores[0]},{cores[-1]}", *memory, "--file-prefix", prefix, "--no-pci",
             "--log-level=error", *devices, "--", *own_options], stdin=subprocess.PIPE, stdout=self.out,
            stderr=subprocess.STDOUT)
        self.pattern = f"{RUNTIME.name}/dpdk/{prefix}/dpdk_telemetry.v2*"

    def complain(self, why):
        self.out.seek(0)
        sys.exit(f"bench_switch_ports: {self.name} {why}:\n{self.out.read()[-2000:]}")

    def connect(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self.process.poll() is None:
            for path in glob.glob(self.pattern):
                try:
                    self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    self.socket.connect(path)
                    self.socket.recv(4096)
                    return
                except OSError:
                    self.socket.close()
            time.sleep(0.05)
        self.complain("does not start")

    def sent(self):
        total = 0
        for port in (0, 1):
            self.socket.send(f"/ethdev/stats,{port}".encode())
            total += json.loads(self.socket.recv(16384))["/ethdev/stats"]["opackets"]
        return total

    def cpu_ns(self):
        return {path: int(pathlib.Path(path).read_text(encoding="ascii").split()[0])
                for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat")}

    def measure(self):
        """Packets a second of the CPU time of the thread that used most."""
        self.connect()
        end = time.monotonic() + PATIENCE_S
        while self.sent() == 0:
            if time.monotonic() > end or self.process.poll() is not None:
                self.complain("forwards nothing")
            time.sleep(0.05)
        time.sleep(SETTLE_S)  # lasts: the warm-up
        packets, cpu = self.sent(), self.cpu_ns()
        now, spent = packets, 0
        while now == packets or spent == 0:  # others had the core all the time
            time.sleep(MEASURE_S)
            now, spent = self.sent(), max(ns - cpu.get(path, 0) for path, ns in self.cpu_ns().items())
        return (now - packets) * 1e9 / spent

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.out.close()


def turn(folder, name, program, options, size):
    forwarder = Forwarder(folder, name, program, options, size)
    try:
        return forwarder.measure()
    finally:
        forwarder.stop()


def main():
    if TESTPMD is None:
        print("bench_switch_ports: dpdk-testpmd is not installed (scripts/install-deps bench)", file=sys.stderr)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "switch.ini").write_text(CONFIG, encoding="ascii")
        for size in SIZES:
            for port in (0, 1):
                write_capture(folder / f"{size}-{port}.pcap", [frame(size, port, flow) for flow in range(FLOWS)])
            ours, peers = [], []
            for _ in range(TURNS):
                peers.append(turn(folder, "testpmd", TESTPMD, TESTPMD_OPTIONS, size))
                ours.append(turn(folder, "switch", SWITCH,
                                 ["--config", str(folder / "switch.ini"), "--stats-interval", "0"], size))
            value, peer = statistics.median(ours) / 1e6, statistics.median(peers) / 1e6
            print(json.dumps({"name": f"quench-switch, 2 net_pcap ports, {size} B frames",
                              "value": value, "unit": "Mpps", "peer": "testpmd macswap, same ports", "peer_value": peer,
                              "ratio": value / peer}), flush=True)


main()
