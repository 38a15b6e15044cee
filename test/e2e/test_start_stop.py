#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs end with exit code 0 and leave nothing behind, whatever their devices and whoever is looking.

Both programs on memif, net_pcap and af_packet, with clients that never stop asking their desk, and DPDK's telemetry, commands among
them; stopped at random moments. EAL's clean-up must find its other threads at rest, which shows
on a busy machine only:

    test_start_stop.py --ends 1000 --load 6
"""
import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

import desk
from configs import flow, nic, two_ports
from frames import roce, write_pcap
from harness import CORES, PATIENCE_S, Program, check, check_equal, eal, finish, work_dir
from namespaces import Host

SWITCH = """
[switch]
buffer_bytes = 1MB
max_frame_bytes = 1518
""" + two_ports(link_speed_bps="10G")
# Nobody answers: it shall not give up before the signal.
NIC = nic(1, link_speed_bps="10G", local_ack_timeout=0) + flow("a", 2, message_bytes="64KB", messages=0)
METHODS = ["info", "counters", "gauges", "config", "mempools", "pauses"]
COMMANDS = ["/quench/info", "/ethdev/list", "/ethdev/stats,0", "/ethdev/xstats,0", "/ethdev/info,0",
            "/mempool/list", "/eal/memzone_list", "/eal/heap_info,0", "/eal/params"]


class Asker(threading.Thread):
    """A client that asks until it is hung up on: the desk, or DPDK's telemetry."""

    def __init__(self, prefix, rnd, at_desk):
        super().__init__(daemon=True)
        self.prefix, self.rnd, self.replies = prefix, rnd, 0
        self.path = desk.BASE / prefix / "dpdk_telemetry.v2"
        self.ask = self.ask_desk if at_desk else self.ask_dpdk
        self.start()

    def run(self):
        self.ask()

    def ask_desk(self):
        try:
            with desk.Desk(self.prefix) as d:
                while True:
                    d.refusal(self.rnd.choice(METHODS))
                    self.replies += 1
        except desk.desk.Gone:
            pass

    def ask_dpdk(self):
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
                s.settimeout(PATIENCE_S)
                s.connect(str(self.path))
                s.recv(1024)
                while True:
                    s.send(self.rnd.choice(COMMANDS).encode())
                    if not s.recv(1 << 20):
                        return
                    self.replies += 1
        except (OSError, ValueError):
            pass


class Kinds:
    """Each method is a generator: it starts programs and yields them, and tidies up when they have ended."""

    def __init__(self, work, rnd):
        self.work, self.rnd, self.number, self.replies = work, rnd, 0, 0
        self.hosts = [Host(i, f"10.78.0.{i + 1}", f"02:00:00:00:00:0{i + 1}") for i in (0, 1)] if os.geteuid() == 0 else None
        frame = roce("02:00:00:00:00:02", "02:00:00:00:00:01", "10.0.0.2", "10.0.0.1", 0xC001, 0, 26, 2, bytes(256))
        write_pcap(work / "in.pcap", [frame] * 10)
        self.all = [self.memif, self.pcap]
        self.all += [self.af_packet] if self.hosts else []

    def start(self, role, name, options):
        config = SWITCH if role == "switch" else NIC
        return Program(self.folder, role, name, config, options, "--stats-interval", 0.05, "--idle-sleep", 100)

    def asked(self, role, name, *devices, core=0):
        """A program with clients."""
        prefix = desk.prefix(f"{name}{self.number}")
        options = [o for o in eal(*devices, core=core) if o != "--no-telemetry"] + ["--file-prefix", prefix]
        program = self.start(role, name, options)
        program.wait_started()
        return program, [Asker(prefix, random.Random(self.rnd.random()), n > 0) for n in range(3)], prefix

    def checks(self, askers, *prefixes):
        for asker in askers:
            asker.join()
            self.replies += asker.replies
        for p in prefixes:
            left = [f.name for f in (desk.BASE / p).iterdir()]
            if left:
                check_equal(f"left in the folder of {p}", left, [])

    def memif(self):
        device = f"id=0,socket={self.folder}/m.sock,socket-abstract={self.rnd.choice(['no', 'yes'])}"
        switch, askers, prefix = self.asked("switch", "server", f"net_memif0,role=server,{device}", "net_null0,no-rx=1")
        nic = self.start("nic", "client", eal(f"net_memif0,role=client,{device}", core=1))
        nic.wait_started()
        yield switch, nic
        self.checks(askers, prefix)
        if (self.folder / "m.sock").exists():
            check("memif's socket is removed", False)

    def pcap(self):
        devices = [f"net_pcap{i},rx_pcap={self.work}/in.pcap,tx_pcap={self.folder}/out{i}.pcap" for i in (0, 1)]
        switch, askers, prefix = self.asked("switch", "pcap", *devices)
        yield (switch,)
        self.checks(askers, prefix)

    def af_packet(self):
        switch, askers, prefix = self.asked("switch", "switch", *(f"net_af_packet{i},iface={h.device}"
                                                                  for i, h in enumerate(self.hosts)))
        yield (switch,)
        self.checks(askers, prefix)

    def life(self, kind):
        """@return how programs ended that did not end well."""
        self.number += 1
        self.folder = self.work / str(self.number)
        self.folder.mkdir()
        run = kind()
        programs = next(run)
        time.sleep(self.rnd.choice([0, 0, 0.01, 0.1]))  # lasts: a life, which may end at any moment
        order = list(programs)
        self.rnd.shuffle(order)
        for program in order:
            program.process.send_signal(self.rnd.choice([signal.SIGINT, signal.SIGTERM]))
        bad = [(p.name, code, p.err()[-500:]) for p, code in [(p, p.wait_end()) for p in programs] if code != 0]
        next(run, None)
        if not bad:
            shutil.rmtree(self.folder)
        return len(programs), bad


def busy_loops(n):
    """Loops that take the two cores; ended with the test."""
    for i in range(n):
        yield subprocess.Popen(["taskset", "-c", str(CORES[i % len(CORES)]), "sh", "-c", "while :; do :; done"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ends", type=int, default=12, help="programs to start and stop, at least")
    parser.add_argument("--load", type=int, default=0, help="busy loops beside them")
    parser.add_argument("--seed", type=int, default=None, help="a seed printed by a run that failed")
    args = parser.parse_args()
    seed = random.randrange(1 << 32) if args.seed is None else args.seed
    print(f"# seed {seed}")
    work = work_dir()
    kinds = Kinds(work, random.Random(seed))
    counts, abnormal = {}, []
    load = list(busy_loops(args.load))
    try:
        while sum(counts.values()) < args.ends:
            for kind in kinds.all:
                n, bad = kinds.life(kind)
                counts[kind.__name__] = counts.get(kind.__name__, 0) + n
                abnormal += bad
                for b in bad:
                    print(f"# abnormal end of {kind.__name__}: {b}", flush=True)
    finally:
        for loop in load:
            loop.kill()
    print(f"# ends: {counts}; {kinds.replies} replies")
    check_equal(f"abnormal ends of {sum(counts.values())}", len(abnormal), 0)
    check("clients were answered", kinds.replies > 0)
    finish()


main()
