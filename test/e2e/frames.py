# SPDX-License-Identifier: BSD-3-Clause
"""Frames made and judged by scapy and zlib, which know nothing of our code."""
import struct
import zlib

# Not scapy.all, which takes half a second to load.
from scapy.compat import raw
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import RawPcapReader, RawPcapWriter

NOT_ECT, ECT1, ECT0, CE = range(4)
PAUSE_ADDRESS = bytes.fromhex("0180c2000001")
ROCE_PORT = 4791
WRITE_MIDDLE = 0x07


def roce(src_mac, dst_mac, src_ip, dst_ip, sport, psn, dscp, ecn, payload, vlan=None):
    """A WRITE Middle frame; scapy computes checksum and ICRC (of IPv6, which it cannot, we do)."""
    frame = Ether(src=src_mac, dst=dst_mac)
    if vlan is not None:
        frame /= Dot1Q(vlan=vlan[0], prio=vlan[1])
    bth = BTH(opcode=WRITE_MIDDLE, dqpn=sport & 0xFFF, psn=psn, migreq=1)
    if ":" in src_ip:
        bth.icrc = 0
        whole = bytearray(raw(frame / IPv6(src=src_ip, dst=dst_ip, tc=dscp << 2 | ecn, hlim=64) /
                              UDP(sport=sport, dport=ROCE_PORT, chksum=0) / bth / Raw(payload)))
        end = len(whole) - 4
        whole[end:] = icrc(whole, len(frame), end)
        return bytes(whole)
    return raw(frame / IP(src=src_ip, dst=dst_ip, tos=dscp << 2 | ecn, id=0, flags="DF") /
               UDP(sport=sport, dport=ROCE_PORT, chksum=0) / bth / Raw(payload))


def tcp(src_mac, dst_mac, src_ip, dst_ip, sport, seq, ecn, payload):
    return raw(Ether(src=src_mac, dst=dst_mac) / IP(src=src_ip, dst=dst_ip, tos=ecn, id=seq & 0xFFFF) /
               TCP(sport=sport, dport=5001, seq=seq, flags="A") / Raw(payload))


def l3(frame):
    """(EtherType, offset) behind at most one tag."""
    ethertype = int.from_bytes(frame[12:14], "big")
    if ethertype == 0x8100 and len(frame) >= 18:
        return int.from_bytes(frame[16:18], "big"), 18
    return ethertype, 14


def ecn_of(frame):
    """ECN bits, or None if it is no IP packet."""
    ethertype, off = l3(frame)
    if ethertype == 0x0800 and len(frame) >= off + 20:
        return frame[off + 1] & 3
    if ethertype == 0x86DD and len(frame) >= off + 40:
        return frame[off + 1] >> 4 & 3
    return None


def without_ecn(frame):
    """The frame with all that ECN marking may change set to zero."""
    if ecn_of(frame) is None:
        return frame
    ethertype, off = l3(frame)
    out = bytearray(frame)
    if ethertype == 0x0800:
        out[off + 1] &= 0xFC
        out[off + 10:off + 12] = b"\0\0"
    else:
        out[off + 1] &= 0xCF
    return bytes(out)


def ip_checksum_ok(frame):
    ethertype, off = l3(frame)
    if ethertype != 0x0800:
        return True
    words = struct.unpack(f">{(frame[off] & 15) * 2}H", frame[off:off + (frame[off] & 15) * 4])
    total = sum(words)
    total = (total & 0xFFFF) + (total >> 16)
    return (total & 0xFFFF) + (total >> 16) == 0xFFFF


def is_roce(frame):
    ethertype, off = l3(frame)
    if ethertype == 0x0800:
        return frame[off + 9] == 17 and frame[off + 22:off + 24] == ROCE_PORT.to_bytes(2, "big")
    return ethertype == 0x86DD and frame[off + 6] == 17 and frame[off + 42:off + 44] == ROCE_PORT.to_bytes(2, "big")


def icrc(frame, off, end):
    """IBTA annex A17: CRC-32 over eight bytes of ones and the packet with its variant fields as ones."""
    masked = bytearray(frame[off:end])
    if masked[0] >> 4 == 4:
        header, ones = 20, [1, 8, 10, 11]
    else:
        header, ones = 40, [1, 2, 3, 7]
        masked[0] |= 0x0F
    for i in ones + [header + 6, header + 7, header + 12]:
        masked[i] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


def icrc_ok(frame):
    _, off = l3(frame)
    end = off + (int.from_bytes(frame[off + 2:off + 4], "big") if frame[off] >> 4 == 4
                 else 40 + int.from_bytes(frame[off + 4:off + 6], "big"))
    return icrc(frame, off, end - 4) == frame[end - 4:end]


def scapy_icrc_ok(frame):
    """scapy's word on an IPv4 frame."""
    packet = Ether(frame)
    return BTH in packet and packet[BTH].icrc == int.from_bytes(packet[BTH].compute_icrc(b""), "big")


def pfc(frame):
    """(enable mask, times) of a PFC frame, or None."""
    if frame[:6] != PAUSE_ADDRESS or frame[12:16] != bytes.fromhex("88080101"):
        return None
    return int.from_bytes(frame[16:18], "big"), struct.unpack(">8H", frame[18:34])


def pause_frame(src_mac, quanta):
    """802.3x: all priorities."""
    return (PAUSE_ADDRESS + bytes.fromhex(src_mac.replace(":", "")) + bytes.fromhex("88080001") +
            struct.pack(">H", quanta) + bytes(42))


def pfc_frame(src_mac, enable, times):
    return (PAUSE_ADDRESS + bytes.fromhex(src_mac.replace(":", "")) + bytes.fromhex("88080101") +
            struct.pack(">9H", enable, *times) + bytes(26))


def write_pcap(path, frames):
    writer = RawPcapWriter(str(path), linktype=1, sync=True)
    writer.write_header(None)
    for i, frame in enumerate(frames):
        writer.write_packet(frame, sec=0, usec=i, caplen=len(frame), wirelen=len(frame))
    writer.close()


def read_pcap(path):
    return [bytes(data) for data, _ in RawPcapReader(str(path))]


def read_pcap_times(path):
    """(time in ns, frame) of each."""
    reader = RawPcapReader(str(path))
    unit = 1 if reader.nano else 1000
    return [(meta.sec * 10**9 + meta.usec * unit, bytes(data)) for data, meta in reader]
