#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Let scapy, zlib and tshark judge the frames of make_frames: judge_frames.py MAKE_FRAMES

scapy recomputes the ICRC over IPv4, every IP checksum and IPv6's UDP checksum; zlib recomputes
all ICRCs (scapy 2.5 has none for IPv6); tshark says what each header holds (4.0 knows neither the
name of opcode 0x81 nor the ICRC). Then damaged copies are judged: each has to be found out, by the
right word.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

warnings.filterwarnings("ignore")
from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.inet import IP  # noqa: E402
from scapy.layers.inet6 import IPv6, in6_chksum  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402
from scapy.utils import RawPcapReader, RawPcapWriter  # noqa: E402

EXIT_SKIP = 77

# What stands behind the BTH of each opcode, from the InfiniBand architecture, not from our code.
RETH, AETH, DETH, IMM = (16, ("reth_va", "reth_rkey", "reth_dma_bytes")), \
    (4, ("aeth_syndrome", "aeth_msn")), (8, ("deth_qkey", "deth_src_qp")), (4, ("imm",))
EXTENSIONS = {
    0x03: [IMM], 0x05: [IMM], 0x06: [RETH], 0x09: [IMM], 0x0A: [RETH], 0x0B: [RETH, IMM],
    0x0C: [RETH], 0x0D: [AETH], 0x0F: [AETH], 0x10: [AETH], 0x11: [AETH], 0x64: [DETH],
    0x65: [DETH, IMM], 0x81: [(16, ())],
}
# tshark's field for each word of make_frames
BASE_FIELDS = {
    "udp_sport": "udp.srcport", "opcode": "infiniband.bth.opcode",
    "dest_qp": "infiniband.bth.destqp", "psn": "infiniband.bth.psn",
    "pkey": "infiniband.bth.p_key", "ack_req": "infiniband.bth.a",
    "solicited": "infiniband.bth.se", "migreq": "infiniband.bth.m", "pad": "infiniband.bth.padcnt",
}
EXT_FIELDS = {
    "reth_va": "infiniband.reth.va", "reth_rkey": "infiniband.reth.r_key",
    "reth_dma_bytes": "infiniband.reth.dmalen", "aeth_syndrome": "infiniband.aeth.syndrome",
    "aeth_msn": "infiniband.aeth.msn", "deth_qkey": "infiniband.deth.q_key",
    "deth_src_qp": "infiniband.deth.srcqp", "imm": "infiniband.immdt",
}
IP_FIELDS = {4: {"dscp": "ip.dsfield.dscp", "ecn": "ip.dsfield.ecn"},
             6: {"dscp": "ipv6.tclass.dscp", "ecn": "ipv6.tclass.ecn"}}
TIMES = [f"macc.cbfc.pause_time.c{prio}" for prio in range(8)]
OTHER_FIELDS = ["vlan.id", "vlan.priority", "ip.checksum.status", "udp.checksum.status",
                "infiniband.invariant.crc", "eth.dst", "macc.opcode", "macc.cbfc.enbv",
                "macc.pause_time", *TIMES]
GOOD, ABSENT = "1", "3"


def number(text, base=0):
    """A number as tshark prints it; of a field that it prints twice, the first."""
    return int(text.split(",")[0], base) if text else None


def tshark(frames, folder):
    """One dictionary of field texts for each frame."""
    path = os.path.join(folder, "judged.pcap")
    with RawPcapWriter(path, linktype=1) as out:
        out.write_header(None)
        for _, frame in frames:
            out.write_packet(frame)
    names = [*BASE_FIELDS.values(), *EXT_FIELDS.values(), *OTHER_FIELDS]
    names += [name for fields in IP_FIELDS.values() for name in fields.values()]
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=|",
               "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    for name in names:
        command += ["-e", name]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = run.stdout.decode().splitlines()
    assert len(lines) == len(frames), f"tshark printed {len(lines)} lines for {len(frames)} frames"
    return [dict(zip(names, line.split("|"))) for line in lines]


def payload(count):
    return bytes((i * 31 + (i >> 8)) & 0xFF for i in range(count))


def icrc_by_zlib(packet, version):
    """ICRC of an IP packet, in wire order, by the rules of annex A17."""
    data = bytearray(packet)
    ip_bytes = 20 if version == 4 else 40
    if version == 4:
        ones = [1, 8, 10, 11]
    else:
        data[0] |= 0x0F
        ones = [1, 2, 3, 7]
    for at in ones + [ip_bytes + 6, ip_bytes + 7, ip_bytes + 8 + 4]:
        data[at] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(data[:-4])))


def judge_bytes(want, frame):
    """Length, payload, checksums and ICRC, by scapy and zlib."""
    version = want["ip_version"]
    l3 = 18 if want["tagged"] else 14
    bth = l3 + (20 if version == 4 else 40) + 8
    at = bth + 12 + sum(size for size, _ in EXTENSIONS.get(want["opcode"], []))
    expected = payload(want["payload_bytes"]) + bytes(want["pad"])
    if len(frame) != at + len(expected) + 4:
        yield f"length {len(frame)}, not {at + len(expected) + 4}"
        return
    if frame[at:-4] != expected:
        yield "payload or pad"
    if frame[bth + 4] != (0x40 if want["becn"] else 0):
        yield "becn"
    packet = Ether(frame)
    if version == 4:
        ip = packet[IP].copy()
        del ip.chksum
        if bytes(ip)[10:12] != frame[l3 + 10:l3 + 12]:
            yield "IP checksum (scapy)"
        if packet[BTH].compute_icrc(None) != frame[-4:]:
            yield "ICRC (scapy)"
    else:
        udp = frame[l3 + 40:l3 + 46] + b"\0\0" + frame[l3 + 48:]
        if in6_chksum(17, packet[IPv6], udp) != struct.unpack("!H", frame[l3 + 46:l3 + 48])[0]:
            yield "UDP checksum (scapy)"
    if icrc_by_zlib(frame[l3:], version) != frame[-4:]:
        yield "ICRC (zlib)"


def judge_roce(want, seen, frame):
    yield from judge_bytes(want, frame)
    fields = {**BASE_FIELDS, **IP_FIELDS[want["ip_version"]]}
    for _, words in EXTENSIONS.get(want["opcode"], []):
        fields.update((word, EXT_FIELDS[word]) for word in words)
    for word, field in fields.items():
        value = number(seen[field], 16 if word == "imm" else 0)
        if value != want[word]:
            yield f"{word} is {value}, not {want[word]}"
    tag = (number(seen["vlan.priority"]), number(seen["vlan.id"]))
    wanted = (want["vlan_tci"] >> 13, want["vlan_tci"] & 0xFFF) if want["tagged"] else (None, None)
    if tag != wanted:
        yield f"tag is {tag}, not {wanted}"
    if want["ip_version"] == 4:
        if seen["ip.checksum.status"] != GOOD:
            yield "IP checksum (tshark)"
        if seen["udp.checksum.status"] != ABSENT:
            yield "UDP checksum (tshark): not 0"
    elif seen["udp.checksum.status"] != GOOD:
        yield "UDP checksum (tshark)"
    crc = number(seen["infiniband.invariant.crc"])
    # Where tshark finds the ICRC: a wrong pad count or extension header would move it.
    if crc is not None and struct.pack("!I", crc) != frame[-4:]:
        yield "place of the ICRC (tshark)"


def judge_mac_control(want, seen, frame):
    if len(frame) != 60:
        yield f"length {len(frame)}, not 60"
    if seen["eth.dst"] != "01:80:c2:00:00:01":
        yield "destination"
    opcode = number(seen["macc.opcode"])
    if opcode != (0x0101 if want["kind"] == "pfc" else 0x0001):
        yield f"opcode is {opcode}"
    if want["kind"] == "pause":
        if number(seen["macc.pause_time"]) != want["quanta"][0]:
            yield "quanta"
        if any(frame[18:]):
            yield "padding"
        return
    if number(seen["macc.cbfc.enbv"]) != want["enable"]:
        yield "enable vector"
    times = [number(seen[name]) for name in TIMES]
    if times != want["quanta"]:
        yield f"quanta are {times}, not {want['quanta']}"
    if any(frame[34:]):
        yield "padding"


def judge(frames, folder):
    """Complaints about each frame, as lists of words."""
    complaints = []
    for (want, frame), seen in zip(frames, tshark(frames, folder)):
        rule = judge_roce if want["kind"] == "roce" else judge_mac_control
        complaints.append(list(rule(want, seen, frame)))
    return complaints


# Damage done to one frame, and a word that has to be among the complaints.
BTH4, BTH6 = 14 + 28, 14 + 48
DAMAGE = [
    ("write_only_ipv4_built", 200, "ICRC (scapy)"),
    ("write_only_ipv4_built", 200, "ICRC (zlib)"),
    ("write_only_ipv4_stamped", -2, "ICRC (scapy)"),
    ("write_only_ipv6_stamped", 200, "ICRC (zlib)"),
    ("write_only_ipv6_built", 200, "UDP checksum (scapy)"),
    ("write_only_ipv6_built", 200, "UDP checksum (tshark)"),
    ("send_middle_ipv4_marked", 14 + 10, "IP checksum (scapy)"),
    ("send_middle_ipv4_marked", 14 + 10, "IP checksum (tshark)"),
    ("send_middle_ipv4_marked", 14 + 1, "ecn"),
    ("send_middle_ipv6_built", 14 + 26, "UDP checksum (tshark)"),
    ("ack_ipv4_built", BTH4 + 11, "psn"),
    ("ack_ipv4_built", BTH4 + 15, "aeth_msn"),
    ("ack_ipv6_built", BTH6 + 12, "aeth_syndrome"),
    ("cnp_ipv4_built", BTH4, "opcode"),
    ("cnp_ipv6_built", BTH6 + 7, "dest_qp"),
    ("cnp_ipv4_built", BTH4 + 4, "becn"),
    ("write_first_ipv4_stamped", BTH4 + 12 + 7, "reth_va"),
    ("write_first_ipv4_stamped", BTH4 + 12 + 15, "reth_dma_bytes"),
    ("ud_send_only_ipv4_built", BTH4 + 12 + 3, "deth_qkey"),
    ("send_last_imm_ipv4_stamped", BTH4 + 12 + 3, "imm"),
    ("send_last_ipv4_tagged_stamped", 15, "tag"),
    ("send_last_ipv4_built", 14 + 20 + 7, "UDP checksum (tshark)"),
    ("send_last_ipv4_built", BTH4 + 12, "payload"),
    ("xoff_prio3", 25, "quanta"),
    ("xon_prio3", 17, "enable vector"),
    ("mixed", 15, "opcode"),
    ("pause", 17, "quanta"),
]


def self_test(frames, folder):
    """Judge damaged copies. Returns what was not found out."""
    by_name = {want["name"]: (want, frame) for want, frame in frames}
    damaged = []
    for name, at, _ in DAMAGE:
        want, frame = by_name[name]
        copy = bytearray(frame)
        copy[at] ^= 0x01
        damaged.append((want, bytes(copy)))
    missed = []
    for (name, at, word), complaints in zip(DAMAGE, judge(damaged, folder)):
        if not any(complaint.startswith(word) for complaint in complaints):
            missed.append(f"{name} with byte {at} damaged: no complaint of {word}: {complaints}")
    short = [(want, frame[:-4]) for want, frame in frames if want["kind"] == "roce"][:4]
    for (want, _), complaints in zip(short, judge(short, folder)):
        if not any(complaint.startswith("length") for complaint in complaints):
            missed.append(f"{want['name']} cut short: {complaints}")
    return missed


def main(make_frames):
    if shutil.which("tshark") is None:
        print("SKIP: tshark is not installed")
        return EXIT_SKIP
    with tempfile.TemporaryDirectory() as folder:
        pcap, words = os.path.join(folder, "frames.pcap"), os.path.join(folder, "frames.json")
        subprocess.run([make_frames, pcap, words], check=True)
        with open(words, encoding="utf-8") as file:
            wants = [json.loads(line) for line in file]
        frames = [(want, data) for want, (data, _) in zip(wants, RawPcapReader(pcap))]
        assert len(frames) == len(wants) > 200, f"{len(frames)} frames, {len(wants)} descriptions"
        bad = [f"{want['name']}: {complaint}" for (want, _), complaints
               in zip(frames, judge(frames, folder)) for complaint in complaints]
        bad += self_test(frames, folder)
    for line in bad:
        print(line)
    print(f"{len(frames)} frames judged, {len(DAMAGE)} damaged ones, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: judge_frames.py MAKE_FRAMES")
    sys.exit(main(sys.argv[1]))
