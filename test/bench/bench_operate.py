#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch and quench-nic under full load, with and without clients that abuse their desk.

The abuse: a thousand scrapes a second of their exporter, a thousand requests a second straight to the desk, and
clients that ask until nothing more fits and never read. A turn is three windows, plain, abused, plain, so that the two plain
ones say how much a figure moves by itself. One lcore polls; all else shares the other CPU. Packets over the CPU time of the
polling lcore say what a packet costs; over the clock, what is left of the rate.
"""
import json
import multiprocessing
import os
import pathlib
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(__file__).resolve().parents[2]
CORES = sorted(os.sched_getaffinity(0))
# A runtime folder of its own: other programs of this machine may have any name.
RUNTIME = tempfile.TemporaryDirectory(prefix="quench-run-")  # pylint: disable=consider-using-with
os.environ["RUNTIME_DIRECTORY"] = RUNTIME.name
sys.path.append("@ROOT@/tools")
from quench import desk  # noqa: E402
PATIENCE_S = 300
TURNS, WINDOW_S, SETTLE_S = (1, 0.1, 0.02) if "QUENCH_BENCH_SMOKE" in os.environ else (12, 0.5, 0.1)
SCRAPES_PER_S, STUCK = 1000, 6
LIMIT = 0.02

SWITCH = """
[switch]
buffer_bytes = 12MB
[port]
link_speed_bps = 1600G
[port 0]
[port 1]
"""
# Datagrams need no answer.
NIC = """
[nic]
mac = 02:00:00:00:00:01
ip = 10.0.0.1
link_speed_bps = 800G
[flow out]
verb = ud_send
qkey = 0x1ee7
peer_qpn = 100
peer_mac = 02:00:00:00:00:02
peer_ip = 10.0.0.2
message_bytes = 1024
qp_count = 64
"""


FRAME_BYTES, STATIONS = 256, 64


def write_capture(path, port):
    """Frames from the stations behind a port to those behind the other one."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for station in range(STATIONS):
            to, source = (bytes((2, 0, 0, 0, p, station)) for p in (1 - port, port))
            frame = (to + source + b"\x88\xb5").ljust(FRAME_BYTES, b"\0")
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def complain(why):
    sys.exit(f"bench_operate: {why}")


def connect(prefix):
    return desk.Desk(f"{RUNTIME.name}/dpdk/{prefix}/{desk.SOCKET}", PATIENCE_S)


def at_rate(step):
    """Call step so many times a second; a step that is late is followed by the next at once."""
    due = time.monotonic()
    while True:
        step()
        due = max(due + 1 / SCRAPES_PER_S, time.monotonic() - 0.05)
        time.sleep(max(0, due - time.monotonic()))


def scrape(port, count):
    s = socket.create_connection(("127.0.0.1", port))

    def once():
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reply = s.recv(1 << 20)
        head, _, body = reply.partition(b"\r\n\r\n")
        left = int(re.search(rb"Content-Length: (\d+)", head).group(1)) - len(body)
        while left > 0:
            left -= len(s.recv(1 << 20))
        count.value += 1

    at_rate(once)


def ask(prefix, count):
    d = connect(prefix)

    def once():
        d.call("info")
        count.value += 1

    at_rate(once)


def stuck(prefix):
    d = connect(prefix)
    d.socket.setblocking(False)
    try:
        while True:
            d.socket.send(b'{"jsonrpc":"2.0","id":1,"method":"counters"}\n')
    except BlockingIOError:
        return d


class Abuse:
    """Begun and ended with each window; the programs that ask are there all the time."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.counts = [multiprocessing.Value("q", 0, lock=False) for _ in range(2)]
        self.exporter = subprocess.Popen([BUILD / "app/quenchctl/quenchctl", "-f", prefix, "--listen", "127.0.0.1:0",
                                          "serve-metrics"], stderr=subprocess.PIPE, text=True)
        port = int(re.search(r":(\d+)/metrics", self.exporter.stderr.readline()).group(1))
        self.asking = [multiprocessing.Process(target=target, args=args, daemon=True)
                       for target, args in ((scrape, (port, self.counts[0])), (ask, (prefix, self.counts[1])))]
        for process in self.asking:
            process.start()
        while not all(c.value for c in self.counts):
            time.sleep(0.02)
        self.signal(signal.SIGSTOP)  # lasts: the askers may ask once more
        self.seconds, self.asked = 0, [0, 0]

    def signal(self, number):
        for process in self.asking:
            os.kill(process.pid, number)

    def begin(self):
        self.stuck = [stuck(self.prefix) for _ in range(STUCK)]
        self.before = [c.value for c in self.counts], time.monotonic()
        self.signal(signal.SIGCONT)

    def end(self):
        self.signal(signal.SIGSTOP)  # lasts: the askers may ask once more
        self.seconds += time.monotonic() - self.before[1]
        self.asked = [a + c.value - b for a, c, b in zip(self.asked, self.counts, self.before[0])]
        for s in self.stuck:
            s.close()

    def stop(self):
        for process in self.asking:
            process.kill()
        self.exporter.kill()


class Program:
    def __init__(self, folder, role, config, devices):
        self.prefix = f"bench{os.getpid()}{role}"
        path = folder / f"{role}.ini"
        path.write_text(config, encoding="ascii")
        memory = ["-m", "300"] if os.environ.get("QUENCH_BENCH_EAL") == "" else ["--no-huge", "--no-shconf", "-m", "300"]
        self.out = open(folder / f"{role}.out", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [BUILD / f"app/quench-{role}/quench-{role}", "-l", f"{CORES[0]},{CORES[-1]}", *memory, "--file-prefix", self.prefix,
             "--no-pci", "--log-level=error", *(o for d in devices for o in ("--vdev", d)), "--", "--config", path,
             "--stats-interval", "0"], stdout=self.out, stderr=subprocess.STDOUT)
        self.role = role
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.desk = connect(self.prefix)
                if self.sent() > 0:
                    break
            except desk.Failed:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                self.out.seek(0)
                complain(f"quench-{role} does not run: {self.out.read()[-1000:]}")
            time.sleep(0.05)

    def sent(self):
        if self.role == "nic":
            return self.desk.call("port")["device_stats"]["opackets"]
        return sum(row["opackets"] for row in self.desk.call("device_stats")["rows"])

    def poller_ns(self):
        """CPU time of the thread that has most."""
        return max(int(p.read_text(encoding="ascii").split()[0])
                   for p in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat"))

    def window(self):
        """Packets a second of CPU time and of the clock."""
        time.sleep(SETTLE_S)  # lasts: what the window before it began
        begun, cpu, packets = time.monotonic(), self.poller_ns(), self.sent()
        now, cpu_now = packets, cpu
        while now == packets or cpu_now == cpu:  # others had the core all the time
            time.sleep(WINDOW_S)
            cpu_now, now = self.poller_ns(), self.sent()
        taken, cpu, packets = time.monotonic() - begun, cpu_now - cpu, now - packets
        return packets * 1e9 / cpu, packets / taken  # lasts: a window at least

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.out.close()


def figures(role, turns, abuse):
    rates = [asked / abuse.seconds for asked in abuse.asked]
    for i, what in enumerate(("of its lcore's time", "of the clock")):
        plain = [(before[i] + after[i]) / 2 for before, _, after in turns]
        abused = [turn[1][i] for turn in turns]
        lost = statistics.median(1 - a / p for a, p in zip(abused, plain))
        noise = statistics.median(abs(1 - after[i] / before[i]) for before, _, after in turns)
        yield {"name": f"quench-{role}, a second {what}, {rates[0]:.0f} scrapes/s, {rates[1]:.0f} requests/s, {STUCK} stuck",
               "value": statistics.median(abused) / 1e6, "unit": "Mpps", "peer": "without", "peer_value":
               statistics.median(plain) / 1e6, "ratio": 1 - lost}
        limit = 100 * max(LIMIT, noise)
        yield {"name": f"quench-{role}, a second {what}: lost, median of {len(turns)} pairs", "value": 100 * lost, "unit": "%",
               "peer": "2 %, or what plain windows differ by", "peer_value": limit, "ratio": 100 * lost / limit}


def measure(folder, role, config, devices):
    program = Program(folder, role, config, devices)
    try:
        abuse = Abuse(program.prefix)
        try:
            turns = []
            for _ in range(TURNS):
                before = program.window()
                abuse.begin()
                abused = program.window()
                abuse.end()
                turns.append((before, abused, program.window()))
        finally:
            abuse.stop()
    finally:
        program.stop()
    for figure in figures(role, turns, abuse):
        print(json.dumps(figure), flush=True)


def main():
    if len(CORES) < 2:
        complain("two CPUs are needed: one polls")
    # All of ours beside the main lcore; the programs place their own threads.
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.sched_setaffinity(0, {CORES[0]})
        for port in (0, 1):
            write_capture(folder / f"{port}.pcap", port)
        measure(folder, "switch", SWITCH, [f"net_pcap{p},rx_pcap={folder}/{p}.pcap,infinite_rx=1" for p in (0, 1)])
        measure(folder, "nic", NIC, ["net_null0,no-rx=1"])


main()
