#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl capture beside quench-nic with two polling lcores and quench-switch with two shards, without hugepages and
shared configuration. tshark reads the files. Counts of quenchctl, of the file's blocks and of tshark are the same,
whatever ended the capture; a slow reader loses counted frames and stops nobody.
"""
import collections
import itertools
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time

from configs import LOOP_SWITCH, flow_to_itself, loop_nic, memif, nic
from ctl import Ctl
from frames import icrc_ok
from harness import PATIENCE_S, Program, check, check_equal, finish, halt, run, skip, work_dir
from scapy.utils import RawPcapNgReader
from desk import eal, prefix

NIC = nic(1, link_speed_bps="1G", first_qpn=100) + flow_to_itself("loop", 2, messages=0, message_bytes="16KB", rate_cap_bps="4M")
# Far more than a ring of 64 KiB takes while nobody reads.
BURSTS = nic(1, link_speed_bps="10G", first_qpn=100, local_ack_timeout=0) + flow_to_itself("loop", 2, messages=0, message_bytes="256KB", rate_cap_bps="100M")
numbers = itertools.count()
DATA, ACK, CNP = range(0x06, 0x0b), {0x11}, {0x81}


def blocks(path):
    """(type, bytes) of each block of a pcapng file; fails if the file does not end with a whole one."""
    data = path.read_bytes()
    while data:
        kind, length = struct.unpack("<II", data[:8])
        block, data = data[:length], data[length:]
        if len(block) != length or struct.unpack("<I", block[-4:])[0] != length:
            check(f"{path.name} ends with a whole block", False, (kind, length, len(block)))
            return
        yield kind, block


def options(block, at):
    """{code: value} of a block's options of 8 bytes."""
    found = {}
    while at + 4 <= len(block) - 4:
        code, n = struct.unpack("<HH", block[at:at + 4])
        if n == 8:
            found[code] = struct.unpack("<Q", block[at + 4:at + 12])[0]
        at += 4 + n + -n % 4
    return found


class File:
    """What independent readers find in a capture. tshark takes seconds to start on a busy machine."""

    def __init__(self, path, with_tshark=False):
        found = list(blocks(path))
        self.bytes = path.stat().st_size
        frames = [b for kind, b in found if kind == 6]
        self.frames = len(frames)
        self.lost_before = sum(options(b, 28 + -(-struct.unpack("<I", b[20:24])[0] // 4) * 4).get(4, 0) for b in frames)
        self.statistics = [options(b, 20) for kind, b in found if kind == 5]
        self.lengths = {struct.unpack("<II", b[20:28]) for b in frames}
        self.data = [bytes(data) for data, _ in RawPcapNgReader(str(path))] if self.frames else []
        if with_tshark:
            self.read_with_tshark(path)

    def read_with_tshark(self, path):
        """Rows of (interface, direction, time in s, comment)."""
        fields = ("interface_name", "packet_flags_direction", "time_epoch", "comment")
        done = run("tshark", "-r", path, "-T", "fields", *(w for field in fields for w in ("-e", f"frame.{field}")))
        check_equal(f"tshark reads {path.name}", (done.returncode, len(done.stdout.splitlines())), (0, self.frames))
        self.rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.ways = collections.Counter(row[1] for row in self.rows)

    def opcodes(self):
        """Of RoCEv2 over IPv4 without a tag, None of others."""
        return {f[42] if f[12:14] == b"\x08\x00" and f[36:38] == b"\x12\xb7" else None for f in self.data}

    def is_sound(self, said):
        """All counts agree: {"frames", "bytes", "lost"} of quenchctl, and those of the blocks."""
        statistics = {5: said["lost"], 6: said["frames"] + said["lost"], 8: said["frames"]}
        return ((said["frames"], said["bytes"]) == (self.frames, self.bytes) and self.statistics == [statistics] and
                self.lost_before <= said["lost"])


class Capture:
    """quenchctl capture, which has begun."""

    def __init__(self, ctl, words, path, stdout=subprocess.PIPE, before=None):
        self.path = path
        self.errors = path.with_suffix(".err")
        with open(self.errors, "w") as err:
            self.process = subprocess.Popen([*map(str, ctl.command), "--json", *words.split(), str(path) if stdout is subprocess.PIPE else "-"],
                                            stdout=stdout, stderr=err, text=True, env=ctl.env, preexec_fn=before, restore_signals=before is None)
        end = time.monotonic() + PATIENCE_S
        while "\n" not in self.errors.read_text() and time.monotonic() < end:
            time.sleep(0.02)
        check(f"{words}: it begins", "Ctrl-C ends it" in self.errors.read_text(), self.errors.read_text())

    def wait(self):
        """@return (standard output, lines of standard error after the first)"""
        out = self.process.communicate(timeout=PATIENCE_S)[0]
        return out, "".join(self.errors.read_text().splitlines(keepends=True)[1:])

    def end(self, with_signal=None):
        """@return what quenchctl says, as JSON."""
        if with_signal is not None:
            self.process.send_signal(with_signal)
        out, err = self.wait()
        check_equal(f"{self.path.name}: exit code, errors", (self.process.returncode, err), (0, ""))
        return json.loads(out)


def check_whole(name, program, ctl, work):
    """Everything, until Ctrl-C and SIGTERM."""
    for with_signal in (signal.SIGINT, signal.SIGTERM):
        capture = Capture(ctl, "capture 0", work / f"{with_signal.name}.pcapng")
        program.wait_until("some frames", lambda: capture.path.exists() and capture.path.stat().st_size > 100_000)
        said = capture.end(with_signal)
        file = File(capture.path, with_tshark=True)
        check(f"{name}, {with_signal.name}: counts agree", file.is_sound(said) and said["lost"] == 0, (said, vars(file)["statistics"]))
        check_equal(f"{name}: the interface", {row[0] for row in file.rows}, {said["interface"]})
        check(f"{name}: both directions", len(file.ways) == 2 and min(file.ways.values()) > 20, file.ways)
        check(f"{name}: whole frames", all(n == whole for n, whole in file.lengths) and all(map(icrc_ok, file.data)))
        check(f"{name}: of today", all(1.7e9 < float(row[2]) < 1e10 for row in file.rows), file.rows[:1])


def check_limits(ctl, work):
    for words, good in (
            ("--count 100", lambda f: f.frames == 100),
            ("--size 20KB", lambda f: 15_000 < f.bytes <= 20_000),
            ("--duration 300ms", lambda f: f.frames > 0),
            ("--kind ack --count 20", lambda f: f.opcodes() == ACK),
            ("--kind data --count 20", lambda f: f.opcodes() <= set(DATA)),
            ("--kind cnp,nak,pause,arp --duration 200ms", lambda f: f.frames == 0),
            ("--qp 102 --count 20", lambda f: {x[47:50] for x in f.data} == {(102).to_bytes(3, "big")}),
            ("--snaplen 60 --count 20", lambda f: {n for n, _ in f.lengths} == {60} and max(f.lengths)[1] > 1000)):
        path = work / "limit.pcapng"
        said = ctl.json(f"{words} capture 0 {path}")
        file = File(path)
        check(f"{words}: ends by itself, with these frames", good(file), (file.frames, file.bytes, file.opcodes(), file.lengths))
        check(f"{words}: counts agree", file.is_sound(said) and said["lost"] == 0, (said, file.statistics))
    text = ctl.text(f"--count 3 capture 0 {work}/text.pcapng").splitlines()
    size = (work / "text.pcapng").stat().st_size
    check_equal("as text", text, ["capturing port 0 (net_ring0); Ctrl-C ends it", f"3 frames, {size} bytes written, 0 lost (ring full)"])
    done = run("sh", "-c", '"$@" | tshark -r - -T fields -e frame.number', "sh", *ctl.command, "--count", 7, "capture", 0, "-", env=ctl.env)
    check_equal("to a pipe: tshark reads it", done.stdout.split(), [str(n) for n in range(1, 8)])
    check("to a pipe: lines are for people", "7 frames, " in done.stderr, done.stderr)


def check_refusals(ctl, work):
    path = work / "no.pcapng"
    ctl.refused(f"capture 1 {path}", "PORT = 1", "from 0 to 0")
    ctl.refused(f"capture x {path}", "PORT = x")
    ctl.refused("capture 0", "FILE")
    ctl.refused(f"--kind dat capture 0 {path}", "kind = dat", "data, ack, nak, cnp, pause, arp, other")
    ctl.refused(f"--count 0 capture 0 {path}", "count = 0")
    ctl.refused(f"--duration 20 capture 0 {path}", "duration = 20", "time")
    ctl.refused(f"--size 10 capture 0 {path}", "size = 10", "size")
    ctl.refused("--count 3 show info", "--count", "capture PORT FILE")
    ctl.refused(f"--watch capture 0 {path}", "--watch")
    check("nothing was written", not path.exists())
    ctl.refused(f"capture 0 {work}/none/x.pcapng", "none/x.pcapng", "No such file", code=1)


def can_capture(program, ctl, work):
    """The port is free, or becomes so."""
    program.wait_until("the port is free", lambda: ctl(f"--count 1 capture 0 {work}/free.pcapng").returncode == 0)


def check_ends(program, ctl, work):
    """Whatever ends a capture, the port is free for the next one."""
    can_capture(program, ctl, work)
    first = Capture(ctl, "capture 0", work / "first.pcapng")
    ctl.refused(f"capture 0 {work}/second.pcapng", "port 0 is being captured")
    first.process.kill()
    first.wait()
    can_capture(program, ctl, work)

    full = ctl("capture 0 /dev/full")
    check_equal("a full disk", (full.returncode, full.stderr), (1, "quenchctl: error: /dev/full: No space left on device: 0 frames, 0 bytes written, "
                                                                   "0 lost (ring full)\n"))
    can_capture(program, ctl, work)
    limited = Capture(ctl, "capture 0", work / "limited.pcapng", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)))
    out, err = limited.wait()
    file = File(limited.path)
    check(f"a file that cannot grow: {file.frames} whole frames, which are counted", out == "" and limited.process.returncode == 1 and
          f": File too large: {file.frames} frames, {file.bytes} bytes written, 0 lost" in err and len(err.splitlines()) == 1 and
          25_000 < file.bytes <= 50_000, (err, file.bytes))
    can_capture(program, ctl, work)

    last = Capture(ctl, "capture 0", work / "last.pcapng")
    check_equal("the program ends while it is captured", program.stop(), 0)
    said = last.end()
    check("the file is complete", File(last.path).is_sound(said) and said["lost"] == 0, said)


def start(work, role, config, *devices, lcores=1):
    name = prefix(f"{role}{next(numbers)}")
    program = Program(work, role, name, config, eal(name, *devices, lcores=lcores), "--idle-sleep", 200, "--stats-interval", 0)
    program.wait_started()
    return program, Ctl(work, "-f", name)


def check_slow_reader(work):
    """Nobody reads, so that the pipe, the socket and the rings fill up; then all is read."""
    program, ctl = start(work, "nic", BURSTS, "net_ring0", lcores=3)
    path = work / "slow.pcapng"
    reader, writer = os.pipe()
    slow = Capture(ctl, "--buffer 64KiB capture 0", path, stdout=writer)
    os.close(writer)

    def packets():
        return ctl.json("show counters")["tx_packets"]

    since = packets()
    program.wait_until("much more than rings and sockets hold", lambda: packets() > since + 10_000)
    with open(reader, "rb") as pipe, open(path, "wb") as out:
        # Room for frames after those that are lost.
        out.write(pipe.read(300_000))
        since = packets()
        program.wait_until("some of them", lambda: packets() > since + 2000)
        slow.process.send_signal(signal.SIGINT)
        shutil.copyfileobj(pipe, out)
    said = json.loads(slow.wait()[1])
    file = File(path)
    check("a slow reader: loss is counted, in the file too", file.is_sound(said) and said["lost"] > 1000 and file.lost_before > 0, (said, file.statistics))
    check("a slow reader: the frames in the file are complete", all(map(icrc_ok, file.data)) and len(file.data) > 100, len(file.data))
    can_capture(program, ctl, work)

    stopped = Capture(ctl, "--buffer 64KiB capture 0", work / "stopped.pcapng")
    halt(stopped.process)
    since = packets()
    program.wait_until("the NIC goes on", lambda: packets() > since + 10_000)
    check_equal("a stopped reader does not keep the program", program.stop(), 0)
    stopped.process.send_signal(signal.SIGCONT)
    err = stopped.wait()[1]
    file = File(stopped.path)
    check("and is told", stopped.process.returncode == 1 and f"ended without the last frames: {file.frames} frames, {file.bytes} bytes" in err, err)
    counters = program.json()["counters"]
    check_equal("nothing was lost on the wire for it", (counters["retransmitted_packets"], counters["qp_errors"]), (0, 0))


def check_switch(work):
    """Two ports of a switch at once."""
    programs = [start(work, "switch", LOOP_SWITCH + "name = Ethernet1/1\n", memif("server", 0, work), memif("server", 1, work, 1), lcores=3),
                start(work, "nic", loop_nic(2, 1, False), memif("client", 1, work)),
                start(work, "nic", loop_nic(1, 2, True), memif("client", 0, work))]
    switch, ctl = programs[0]
    switch.wait_until("CNPs", lambda: programs[2][1].json("show dcqcn")["rp_cuts"] > 5)
    captures = [Capture(ctl, f"--size 3MB capture {word}", work / f"port{port}.pcapng") for port, word in enumerate(("0", "Ethernet1/1"))]
    said = [capture.end() for capture in captures]
    cnps = ctl.json(f"--kind cnp --count 3 capture 0 {work}/cnp.pcapng")
    drops = Capture(ctl, "--kind data --direction received capture 0", work / "drops.pcapng")
    check_equal("a class takes shorter frames now", ctl.words(["set", "tc 3.mtu_bytes=200"]).returncode, 0)
    # The sender sends nothing again.
    switch.wait_until("drops", lambda: ctl.json("show interfaces 0")["drops"]["mtu"] > 0)
    said_drops = drops.end(signal.SIGINT)
    for program, _ in programs:
        check_equal(f"exit code of {program.name}", program.stop(), 0)
    files = [File(capture.path, with_tshark=True) for capture in captures]
    for port, file in enumerate(files):
        check(f"switch port {port}: counts agree", file.is_sound(said[port]) and said[port]["lost"] == 0, (said[port], file.statistics))
        check_equal(f"switch port {port}: the interface", {row[0] for row in file.rows}, {("net_memif0", "Ethernet1/1")[port]})
    into, out = ({row[1] for row, f in zip(file.rows, file.data) if f[36:38] == b"\x12\xb7" and f[42] in DATA} for file in files)
    check("data comes in at one port and leaves by the other", len(into) == len(out) == 1 and into != out, (into, out))
    marked = {port: sum(f[15] & 3 == 3 for f in file.data) for port, file in enumerate(files)}
    check("marks are those of the switch", marked[0] == 0 and marked[1] > 0, marked)
    said_marked = [re.fullmatch(r"marked in queue 3 at ([\d.]+) KB", row[3]) for row, f in zip(files[1].rows, files[1].data) if f[15] & 3 == 3]
    check("each mark says where", len(said_marked) == marked[1] and all(said_marked), files[1].rows[:3])
    # On a busy machine, marks come too late to spare pauses.
    pauses, others = ({row[3] for file in files for row, f in zip(file.rows, file.data) if f[15] & 3 != 3 and (f[12:14] == b"\x88\x08") == is_pause}
                      for is_pause in (True, False))
    check("pauses say why", all(re.fullmatch(r"XO(FF|N) of group 3 at [\d.]+ KB shared, [\d.]+ KB headroom", said) for said in pauses), pauses)
    check_equal("other frames say nothing", others, {""})
    file = File(drops.path, with_tshark=True)
    why = collections.Counter(row[3] for row in file.rows)
    check("dropped frames say why", file.is_sound(said_drops) and why.keys() <= {"", "dropped: mtu"} and 0 < why["dropped: mtu"] <= switch.json()["ports"][0]["drops"]["mtu"],
          (said_drops, why))
    check("CNPs alone", cnps["frames"] == 3 and File(work / "cnp.pcapng").opcodes() == CNP, cnps)


def main():
    if shutil.which("tshark") is None:
        skip("tshark is not installed")
    work = work_dir()
    program, ctl = start(work, "nic", NIC, "net_ring0", lcores=3)
    check_refusals(ctl, work)
    check_whole("quench-nic", program, ctl, work)
    check_limits(ctl, work)
    check_ends(program, ctl, work)
    check_slow_reader(work)
    check_switch(work)
    finish()


main()
