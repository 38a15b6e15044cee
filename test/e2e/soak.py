#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A long run of the whole loop: quench-nic to quench-nic through quench-switch over memif, changed and watched all the time.

While traffic of every verb runs, flows stop, start and change their rates, thresholds and DCQCN's keys change, an exporter
scrapes, QPs are traced, and (as root) a third port of the switch loses and regains its link. After each epoch all flows
stop and the books are compared: frames sent = frames received at every hop, the switch's ledger, mbufs back to the start,
resident memory. One line of a table for each epoch; the exit code says whether every line held.
"""
import argparse
import os
import pathlib
import random
import sys
import time

from configs import two_ports
from harness import PATIENCE_S, Program, check, finish, work_dir
from metrics import Exporter
from namespaces import Host
from desk import Desk, eal, prefix

FLOWS = {  # name: (keys, QPs)
    "write": ("message_bytes = 16KB\ndepth = 4", 4),
    "send": ("verb = send\nmessage_bytes = 1000", 4),
    "read": ("verb = read\nmessage_bytes = 8KB\ndepth = 2", 2),
    "ud": ("verb = ud_send\nmessage_bytes = 256\ndepth = 8", 2),
    "poisson": ("arrival = poisson\nload_bps = 300M\nmessage_bytes = 3000", 2),
}
# Nothing is lost here, so that only a thread without a core can be late: 137 s.
NIC = """
[nic]
mac = 02:00:00:00:00:0{me}
ip = 10.0.0.{me}
link_speed_bps = 10G
shaper_burst_ns = 200us
qp_burst_bytes = 16KB
first_qpn = {first}
local_ack_timeout = 25
{more}
"""
SWITCH = """
[switch]
buffer_bytes = 8MB
max_frame_bytes = 1600
shaper_burst_ns = 200us
wred_queues = 3
[wred]
green_min_threshold_bytes = {kmin}
green_max_threshold_bytes = {kmax}
green_drop_probability = 10%
[buffer_profile lossless]
dynamic = off
static_th_bytes = {static}
xon_bytes = 300KB
xoff_bytes = 1MB
""" + two_ports(link_speed_bps="10G")
FLAPPING_PORT = "[port 2]\nmac = 02:5a:00:00:00:02\n"
# Mbufs, caches and tables are touched for the first time in these; resident memory is held against what it is after them.
WARM_UP_EPOCHS = 3
LOSS = ("retransmitted_packets", "qp_errors", "out_of_sequence", "packet_seq_err", "duplicate_request", "local_ack_timeout_err")


def flows_text(me, stopped=(), keys=None):
    """Flows of one end. READ's requester is the first NIC too: its data comes back."""
    text, first = "", 100 * (3 - me)
    for name, (more, qps) in FLOWS.items():
        text += (f"[flow {name}]\npeer_mac = 02:00:00:00:00:0{3 - me}\npeer_ip = 10.0.0.{3 - me}\npeer_qpn = {first}\n"
                 f"qp_count = {qps}\nmtu_bytes = 256\nmessages = 0\n{more}\nrequester = {'on' if me == 1 else 'off'}\n")
        if me == 1:
            text += "stopped = on\n" if name in stopped else ""
            text += (keys or {}).get(name, "")
        first += qps
    return text


def mbufs_in_use(t):
    """Of all pools of a program."""
    return sum(t.column("mempools", "in_use"))


def resident_kb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


class Loop:
    """Three programs, and what is done to them."""

    def __init__(self, work, seed):
        self.work, self.rnd = work, random.Random(seed)
        self.counts = dict.fromkeys(("reloads", "scrapes", "traces", "flaps", "reads"), 0)
        self.refused = []
        self.host = Host(1, "10.9.0.1", "02:00:00:00:09:01") if os.geteuid() == 0 else None
        self.write("stopped", NIC.format(me=1, first=100, more="") + flows_text(1, FLOWS))
        self.write("switch", self.switch_text(10, 100, 400))
        self.programs, self.desks = {}, {}
        veth = [f"net_af_packet0,iface={self.host.device},blocksz=4096,framesz=2048,framecnt=512"] if self.host else []
        self.start("switch", "switch", "switch", 0, self.memif("server", 0), self.memif("server", 1, 1), *veth)
        (work / "receiver.ini").write_text(NIC.format(me=2, first=200, more="") + flows_text(2))
        self.start("nic", "receiver", "receiver", 1, self.memif("client", 1))
        self.start("nic", "sender", "stopped", 1, self.memif("client", 0))
        self.exporter = Exporter(work)
        self.mbufs = {name: mbufs_in_use(t) for name, t in self.desks.items()}
        self.rss = {}

    def memif(self, role, wire, number=0):
        return f"net_memif{number},role={role},id=0,socket={self.work}/wire{wire}.sock,socket-abstract=no,rsize=8,bsize=10240"

    def write(self, name, text):
        path = self.work / f"{name}.ini"
        path.write_text(text)
        return path

    def switch_text(self, kmin_kb, kmax_kb, static_kb):
        text = SWITCH.format(kmin=f"{kmin_kb}KB", kmax=f"{kmax_kb}KB", static=f"{static_kb}KB")
        return text + (FLAPPING_PORT if self.host else "")

    def start(self, role, name, config, core, *devices):
        file_prefix = prefix(name)
        options = eal(file_prefix, *devices, memory=128)
        options[1] = f"0@{sorted(os.sched_getaffinity(0))[core % os.cpu_count()]}"
        program = Program(self.work, role, name, (self.work / f"{config}.ini").read_text(), options, "--idle-sleep", 50,
                          "--stats-interval", 0, *(["--stay"] if role == "nic" else []))
        program.wait_started()
        self.programs[name] = program
        self.desks[name] = Desk(file_prefix)

    def reload(self, name, path):
        for _ in range(PATIENCE_S):
            refused = self.desks[name].refusal("reload", file=str(path))
            # A main lcore that got no core for a second: nothing was changed.
            if "try again" not in refused:
                break
            time.sleep(0.1)
        self.counts["reloads"] += 1
        if refused:
            self.refused.append((name, refused))

    def any_sender(self):
        rnd = self.rnd
        stopped = [name for name in FLOWS if rnd.random() < 0.2]
        keys = {name: f"rate_cap_bps = {rnd.choice((0, 50, 300, 2000))}M\n" for name in FLOWS if rnd.random() < 0.3}
        more = "" if rnd.random() < 0.5 else (
            f"qp_burst_bytes = {rnd.choice((2, 8, 64))}KB\nretry_cnt = {rnd.randint(3, 7)}\n"
            f"[rp]\nR_AI = {rnd.randint(1, 100)}\nrp_min_rate = {rnd.choice((1, 10, 100))}\nF = {rnd.randint(1, 9)}\n")
        # A section may stand only once: the first qp_burst_bytes goes where there is another.
        text = NIC.format(me=1, first=100, more=more)
        if "qp_burst_bytes" in more:
            text = text.replace("qp_burst_bytes = 16KB\n", "", 1)
        return text + flows_text(1, stopped, keys)

    def any_switch(self):
        kmin = self.rnd.choice((5, 20, 100))
        return self.switch_text(kmin, self.rnd.choice((2, 10)) * kmin, self.rnd.choice((300, 400, 1000)))

    def disturb(self, until_s):
        """Change and look until then."""
        rnd = self.rnd
        while time.monotonic() < until_s:
            what = rnd.choice(("sender", "switch", "scrape", "trace", "read", "flap"))
            if what == "sender":
                self.reload("sender", self.write("sender-now", self.any_sender()))
            elif what == "switch":
                self.reload("switch", self.write("switch-now", self.any_switch()))
            elif what == "scrape":
                status, _, text = self.exporter.get()
                self.counts["scrapes"] += status == 200 and text.endswith("# EOF\n")
            elif what == "trace":
                qpn = 100 + rnd.randrange(sum(n for _, n in FLOWS.values()))
                for word in ("on", "off"):
                    self.desks["sender"].refusal("set_trace", id=str(qpn), action=word)
                self.counts["traces"] += 1
            elif what == "read":
                for name, t in self.desks.items():
                    t.batch([(method, {}) for method in (("flows", "qps") if name != "switch" else ("ports", "ecn", "buffer", "fdb"))])
                self.counts["reads"] += 1
            elif self.host:
                for word in ("down", "up"):
                    self.host.must("ip", "link", "set", "eth0", word)
                    time.sleep(0.05)
                self.counts["flaps"] += 1
            for name, program in self.programs.items():
                if program.process.poll() is not None:
                    program.complain(f"ended with {program.process.returncode}")
            time.sleep(rnd.random() * 0.3)

    def nic(self, name):
        return self.desks[name].call("nic")

    def frames(self):
        """Frames that left a node."""
        ports = self.desks["switch"].rows("ports")
        return sum(self.nic(n)["tx_packets"] for n in ("sender", "receiver")) + sum(port["tx_packets"] for port in ports)

    def quiesce(self):
        self.reload("sender", self.work / "stopped.ini")
        last, same, end = None, 0, time.monotonic() + PATIENCE_S
        while same < 5:
            now = [self.nic(n)["tx_packets"] for n in ("sender", "receiver")]
            same = same + 1 if now == last else 0
            last = now
            if time.monotonic() > end:
                sys.exit("the flows do not come to rest")
            time.sleep(0.2)

    def audit(self):
        """What does not hold now, as text; empty: all does."""
        wrong = []
        ports = self.desks["switch"].rows("ports")
        s, r = self.nic("sender"), self.nic("receiver")
        for port, nic, name in ((0, s, "sender"), (1, r, "receiver")):
            if ports[port]["rx_packets"] != nic["tx_packets"]:
                wrong.append(f"{name} sent {nic['tx_packets']} frames, the switch received {ports['rx_packets'][port]}")
            sent = ports[port]["tx_packets"] + ports[port]["tx_pause_frames"]
            if sent != nic["rx_packets"]:
                wrong.append(f"the switch sent {sent} frames to {name}, which received {nic['rx_packets']}")
        if s["rp_cnp_handled"] + s["rp_cnp_ignored"] != r["np_cnp_sent"] or r["rp_cnp_handled"] + r["rp_cnp_ignored"] != s["np_cnp_sent"]:
            wrong.append("CNPs sent differ from those handled and ignored")
        for name, counters in (("sender", s), ("receiver", r)):
            lost = {k: n for k, n in counters.items() if n and (k.startswith("drop_") or k in LOSS)}
            if lost:
                wrong.append(f"{name}: {lost}")
        ledger = self.desks["switch"].call("buffer")["ledger"]
        came = sum(ledger[key] for key in ("in", "copies", "generated"))
        if came != sum(ledger[key] for key in ("sent", "dropped", "consumed")) or ledger["queued"] != 0:
            wrong.append(f"ledger {ledger}")
        for name, t in self.desks.items():
            used = mbufs_in_use(t)
            if used != self.mbufs[name]:
                wrong.append(f"{name}: {used} mbufs in use, {self.mbufs[name]} at the start")
        return wrong

    def memory(self):
        """Resident KB of each program."""
        return {name: resident_kb(p.process.pid) for name, p in self.programs.items()}


def main():
    # Threads that allocate at the same time each take an arena, once: that is no leak, and looks like one.
    os.environ["MALLOC_ARENA_MAX"] = "1"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=float, default=1e10, help="stop after as many frames, counted at each node that sends them")
    parser.add_argument("--hours", type=float, default=1e6, help="or after as many hours")
    parser.add_argument("--epoch", type=float, default=60, help="seconds between two audits")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin = time.monotonic()
    loop = Loop(work_dir(), options.seed)
    heads = ("epoch", "hours", "frames", "Mpps", *loop.counts, *(f"{n} KB" for n in loop.programs), "holds")
    print(" ".join(f"{h:>12}" for h in heads), flush=True)
    frames, epoch, bad = loop.frames(), 0, 0
    first = frames
    while frames - first < options.frames and time.monotonic() - begin < options.hours * 3600:
        epoch_begin = time.monotonic()
        loop.reload("sender", loop.write("sender-now", loop.any_sender()))
        loop.disturb(epoch_begin + options.epoch)
        seconds = time.monotonic() - epoch_begin
        loop.quiesce()
        before, frames = frames, loop.frames()
        wrong, rss = loop.audit(), loop.memory()
        if epoch < WARM_UP_EPOCHS:
            loop.rss = rss
        wrong += [f"{n}: {kb} KB resident, {loop.rss[n]} after epoch {WARM_UP_EPOCHS}" for n, kb in rss.items()
                  if kb > 1.01 * loop.rss[n]]
        wrong += [f"{name}: refused: {reply}" for name, reply in loop.refused]
        loop.refused.clear()
        epoch += 1
        bad += bool(wrong)
        row = (epoch, f"{(time.monotonic() - begin) / 3600:.3f}", frames - first, f"{(frames - before) / seconds / 1e6:.3f}",  # lasts: an epoch at least
               *loop.counts.values(), *rss.values(), "yes" if not wrong else "NO")
        print(" ".join(f"{cell:>12}" for cell in row), flush=True)
        for line in wrong:
            print(f"    {line}", flush=True)
    check("every audit held", bad == 0, f"{bad} of {epoch} epochs")
    check("frames moved", frames > first)
    for name in ("sender", "receiver", "switch"):
        code = loop.programs[name].stop()
        check(f"{name} ends with exit code 0", code == 0, code)
    finish()


main()
