#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel's bridge forwards in a second of CPU time: kernel_bridge.py CAPTURE CAPTURE SECONDS, in a network namespace of its own.

Two hosts' ends of veth pairs send the frames of a capture each, from a ring of a packet socket, so that a system call sends hundreds. All work is
done in the context of these calls: sending, the bridge, and the drop at the other host. Prints {"frames": N, "cpu_ns": N}.
"""
import json
import mmap
import os
import pathlib
import socket
import struct
import subprocess
import sys
import time

SLOTS, SLOT_BYTES, BLOCK_BYTES = 512, 2048, 1 << 16
HEADER_BYTES = 32  # struct tpacket2_hdr, aligned: where a frame begins
SOL_PACKET, PACKET_TX_RING, PACKET_VERSION, PACKET_QDISC_BYPASS, TPACKET_V2 = 263, 13, 10, 20, 1
SEND_REQUEST = 1
PATIENCE_S = 60


def frames_of(path):
    data, at = pathlib.Path(path).read_bytes(), 24
    while at < len(data):
        n = struct.unpack("<I", data[at + 8:at + 12])[0]
        yield data[at + 16:at + 16 + n]
        at += 16 + n


class Sender:
    """A packet socket whose ring has the frames, again and again."""

    def __init__(self, interface, frames):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # protocol 0: it receives nothing
        self.socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        self.socket.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        self.socket.setsockopt(SOL_PACKET, PACKET_TX_RING, struct.pack("4I", BLOCK_BYTES, SLOTS * SLOT_BYTES // BLOCK_BYTES, SLOT_BYTES, SLOTS))
        self.socket.bind((interface, 0))
        self.ring = mmap.mmap(self.socket.fileno(), SLOTS * SLOT_BYTES)
        for i in range(SLOTS):
            frame = frames[i % len(frames)]
            at = i * SLOT_BYTES
            self.ring[at:at + 8] = struct.pack("=II", 0, len(frame))
            self.ring[at + HEADER_BYTES:at + HEADER_BYTES + len(frame)] = frame
        self.states = memoryview(self.ring).cast("I")[::SLOT_BYTES // 4]
        self.all_ready = memoryview(struct.pack(f"={SLOTS}I", *[SEND_REQUEST] * SLOTS)).cast("I")

    def send(self):
        self.states[:] = self.all_ready
        self.socket.send(b"")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def set_up():
    ip("link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
    for i in "01":
        ip("link", "add", f"h{i}", "type", "veth", "peer", "name", f"s{i}")
        ip("link", "set", f"s{i}", "master", "br0")
    for name in ("br0", "h0", "h1", "s0", "s1"):
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1", encoding="ascii")
        ip("link", "set", name, "up")


def sent():
    """By the bridge's ports."""
    link = json.loads(subprocess.run(["ip", "-json", "-statistics", "link", "show"], check=True, capture_output=True, text=True).stdout)
    return sum(row["stats64"]["tx"]["packets"] for row in link if row["ifname"] in ("s0", "s1"))


def cpu_ns(cpu):
    """Of this process, and of the kernel's thread that goes on where it left off."""
    tasks = [f"/proc/{os.getpid()}"]
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text(encoding="ascii", errors="replace").strip() == f"ksoftirqd/{cpu}":
                tasks.append(str(path.parent))
        except OSError:
            pass
    return sum(int(pathlib.Path(task, "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks)


def main(first, second, seconds):
    cpu = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    set_up()
    senders = [Sender(f"h{i}", list(frames_of(path))) for i, path in enumerate((first, second))]
    end = time.monotonic() + PATIENCE_S
    while sent() == 0:  # a port of a bridge forwards when it has seen its link
        if time.monotonic() > end:
            sys.exit("kernel_bridge: it forwards nothing")
        for sender in senders:
            sender.send()
    frames, ns = sent(), cpu_ns(cpu)
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        for sender in senders:
            sender.send()
    print(json.dumps({"frames": sent() - frames, "cpu_ns": cpu_ns(cpu) - ns}))


main(*sys.argv[1:])
