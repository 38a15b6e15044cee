#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch beside what else forwards frames: two net_pcap ports with infinite_rx, one polling lcore each.

dpdk-testpmd macswap does the least that a forwarder can do. OVS-DPDK (action NORMAL, which learns addresses; exact-match
cache on) and the kernel's bridge are what one would use instead of quench-switch. The kernel's bridge has no net_pcap
ports: hosts at two veth pairs send it the same frames (kernel_bridge.py).

Packets sent, by the devices' own counters, over the CPU time of the lcore that polls, so that what else runs on the
machine takes less from the figure. All take turns; a figure is the median of its turns, a ratio that of the turns' ratios.
"""
import glob
import json
import os
import pathlib
import shutil
import socket
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path("@ROOT@") / "test" / "bench"
SWITCH = pathlib.Path(__file__).resolve().parents[2] / "app" / "quench-switch" / "quench-switch"
TESTPMD = shutil.which("dpdk-testpmd", path=os.environ["PATH"] + ":/usr/bin:/usr/local/bin")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
OVS_PROGRAMS = [shutil.which(name, path=PATH) for name in ("ovsdb-tool", "ovsdb-server", "ovs-vsctl", "ovs-appctl")]
OVS_VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
OVS_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
INSTALL = "scripts/install-deps bench-peers"
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


def memory(megabytes):
    """EAL options: as scripts/bench has found hugepages, or not."""
    return ["-m", str(megabytes)] if os.environ.get("QUENCH_BENCH_EAL") == "" else ["--no-huge", "--no-shconf", "-m", str(megabytes)]


def pcap_device(folder, size, port):
    return f"net_pcap{port},rx_pcap={folder}/{size}-{port}.pcap,infinite_rx=1"


class Forwarder:
    """A program that forwards frames: its process, what it has sent, and the CPU time of its threads."""

    def __init__(self, name, folder):
        self.name = name
        self.out = open(folder / f"{name}.out", "w+", encoding="utf-8")

    def complain(self, why):
        self.out.seek(0)
        sys.exit(f"bench_switch_ports: {self.name} {why}:\n{self.out.read()[-2000:]}")

    def cpu_ns(self):
        return {path: int(pathlib.Path(path).read_text(encoding="ascii").split()[0])
                for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat")}

    def wait(self, what, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end or self.process.poll() is not None:
                self.complain(what)
            time.sleep(0.05)

    def measure(self):
        """Packets a second of the CPU time of the thread that used most."""
        self.connect()
        self.wait("forwards nothing", lambda: self.sent() > 0)
        time.sleep(SETTLE_S)  # lasts: the warm-up
        packets, cpu = self.sent(), self.cpu_ns()
        now, spent = packets, 0
        while now == packets or spent == 0:  # others had the core all the time
            time.sleep(MEASURE_S)
            now, spent = self.sent(), max(ns - cpu.get(path, 0) for path, ns in self.cpu_ns().items())
        return (now - packets) * 1e9 / spent

    def stop(self):
        end_process(self.process)
        self.out.close()


def end_process(process):
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Eal(Forwarder):
    """A program under EAL, seen through EAL's telemetry."""

    def __init__(self, folder, name, program, own_options, size):
        super().__init__(name, folder)
        prefix = f"bench{os.getpid()}{name}"
        cores = sorted(os.sched_getaffinity(0))
        devices = [o for port in (0, 1) for o in ("--vdev", pcap_device(folder, size, port))]
        self.process = subprocess.Popen(
            [str(program), "-l", f"{cores[0]},{cores[-1]}", *memory(200), "--file-prefix", prefix, "--no-pci",
             "--log-level=error", *devices, "--", *own_options], stdin=subprocess.PIPE, stdout=self.out,
            stderr=subprocess.STDOUT)
        self.pattern = f"{RUNTIME.name}/dpdk/{prefix}/dpdk_telemetry.v2*"
        self.socket = None

    def try_connect(self):
        for path in glob.glob(self.pattern):
            try:
                self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self.socket.connect(path)
                self.socket.recv(4096)
                return True
            except OSError:
                self.socket.close()
        return False

    def connect(self):
        self.wait("does not start", self.try_connect)

    def sent(self):
        total = 0
        for port in (0, 1):
            self.socket.send(f"/ethdev/stats,{port}".encode())
            total += json.loads(self.socket.recv(16384))["/ethdev/stats"]["opackets"]
        return total


class Ovs(Forwarder):
    """ovs-vswitchd with a database of its own: a bridge in user space, whose only flow is NORMAL."""

    def __init__(self, folder, size):
        super().__init__("OVS-DPDK", folder)
        self.folder, self.size = folder / "ovs", size
        self.folder.mkdir()
        self.env = {**os.environ, "PATH": PATH, **{key: str(self.folder) for key in ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR")}}
        self.database = f"unix:{self.folder}/db.sock"
        subprocess.run([OVS_PROGRAMS[0], "create", self.folder / "conf.db", OVS_SCHEMA], check=True, env=self.env)
        self.server = self.start("server", OVS_PROGRAMS[1], self.folder / "conf.db", f"--remote=p{self.database}")
        cores = sorted(os.sched_getaffinity(0))
        # OVS adds --in-memory, which --no-huge excludes, unless memory is legacy; that it is with --no-huge.
        extra = " ".join([*memory(512), *(["--legacy-mem"] if "--no-huge" in memory(512) else []), "--no-pci", "--log-level=error", "--file-prefix", f"bench{os.getpid()}ovs"])
        self.process = self.server
        self.wait("has no database", (self.folder / "db.sock").exists)
        self.vsctl("--no-wait", "init")
        # Else each port wants 262144 mbufs.
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true", "other_config:per-port-memory=true", f'other_config:dpdk-extra="{extra}"',
                   f"other_config:dpdk-lcore-mask={1 << cores[0]:#x}", f"other_config:pmd-cpu-mask={1 << cores[-1]:#x}")
        self.process = self.start("switch", OVS_VSWITCHD, self.database)

    def start(self, name, *command):
        return subprocess.Popen([*map(str, command), "--no-chdir", f"--unixctl={self.folder}/{name}", "-vconsole:warn"], env=self.env, stdout=self.out, stderr=subprocess.STDOUT)

    def ask(self, *command):
        done = subprocess.run([*map(str, command)], env=self.env, stdout=subprocess.PIPE, stderr=self.out, text=True, timeout=PATIENCE_S, check=False)
        return done.stdout if done.returncode == 0 else None

    def vsctl(self, *words):
        if self.ask(OVS_PROGRAMS[2], f"--db={self.database}", "--timeout=60", *words) is None:
            self.complain(f"refuses {' '.join(words)}")

    def connect(self):
        ports = [word for port in (0, 1) for word in (
            "--", "add-port", "br0", f"p{port}", "--", "set", "Interface", f"p{port}", "type=dpdk",
            f"options:dpdk-devargs={json.dumps(pcap_device(self.folder.parent, self.size, port))}")]
        self.vsctl("add-br", "br0", "--", "set", "Bridge", "br0", "datapath_type=netdev", *ports)

    def sent(self):
        text = self.ask(OVS_PROGRAMS[3], "-t", self.folder / "switch", "dpctl/show", "-s")
        if text is None:
            self.complain("does not tell its counters")
        return sum(int(n) for n in re.findall(r"port \d+: p[01] .*\n.*RX packets.*\n\s*TX packets:(\d+)", text))

    def stop(self):
        end_process(self.process)
        end_process(self.server)
        shutil.rmtree(self.folder)
        self.out.close()


def kernel_bridge(folder, size):
    """Packets a second of CPU time."""
    captures = [f"{folder}/{size}-{port}.pcap" for port in (0, 1)]
    apart = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    done = subprocess.run([*apart, sys.executable, HERE / "kernel_bridge.py", *captures, str(SETTLE_S + MEASURE_S)], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PATH": PATH}, check=False)
    if done.returncode != 0:
        return None
    said = json.loads(done.stdout)
    return said["frames"] * 1e9 / said["cpu_ns"]


def turn(forwarder):
    try:
        return forwarder.measure()
    finally:
        forwarder.stop()


def turns_of_all(folder, size):
    """{name: packets a second of each turn}; without those that this machine lacks."""
    peers = {
        "testpmd": lambda: turn(Eal(folder, "testpmd", TESTPMD, TESTPMD_OPTIONS, size)),
        "ovs": lambda: turn(Ovs(folder, size)),
        "bridge": lambda: kernel_bridge(folder, size),
        "switch": lambda: turn(Eal(folder, "switch", SWITCH, ["--config", str(folder / "switch.ini"), "--stats-interval", "0"], size)),
    }
    if not all(OVS_PROGRAMS) or not pathlib.Path(OVS_VSWITCHD).exists():
        del peers["ovs"]
    found = {name: [] for name in peers}
    for _ in range(TURNS):
        for name, measure in peers.items():
            value = measure()
            if value is not None:
                found[name].append(value)
    return found


def print_row(name, ours, peer, theirs, lack):
    """Beside a peer, or beside the reason why there is none."""
    row = {"name": name, "value": statistics.median(ours) / 1e6, "unit": "Mpps", "peer": peer if theirs else f"none: {lack}"}
    if theirs:
        ratios = sorted(a / b for a, b in zip(ours, theirs))
        n = len(ratios)
        row |= {"peer_value": statistics.median(theirs) / 1e6, "ratio": ratios[n // 2], "ratio_low": ratios[n // 4], "ratio_high": ratios[n - 1 - n // 4]}
    print(json.dumps(row), flush=True)


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
            found = turns_of_all(folder, size)
            row = f"quench-switch, 2 net_pcap ports, {size} B frames"
            print_row(row, found["switch"], "testpmd macswap, same ports", found["testpmd"], "")
            print_row(row, found["switch"], "OVS-DPDK, NORMAL, same ports", found.get("ovs"), f"OVS-DPDK is not installed ({INSTALL})")
            print_row(row, found["switch"], "kernel bridge, 2 veth pairs, with sending", found["bridge"],
                      "no kernel bridge: needs root, or user namespaces, and CONFIG_BRIDGE and CONFIG_VETH")


main()
