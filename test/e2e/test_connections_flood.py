#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""REQs whose senders never answer, and a quench-nic that connects beside them. How many they may be: test/attack/test_cm_flood.c."""
import socket
import struct
import time

from ctl import Ctl
from frames import icrc, raw
from harness import PATIENCE_S, Program, check, check_equal, finish, work_dir
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from taps import BRIDGE, TAPS, join, need_bridge
from desk import eal, prefix

HALF_OPEN = 128  # an eighth of the connections
REQ, PORT, QKEY = 0x10, 7471, 0x80010000


def req(number):
    """A management datagram with a REQ from an address of its own."""
    source = f"10.78.{1 + number // 250}.{1 + number % 250}"
    body = bytearray(232)
    struct.pack_into("!I", body, 0, 1000 + number)
    struct.pack_into("!Q", body, 8, 0x01060000 | PORT)  # service: TCP port over IP
    struct.pack_into("!I", body, 32, (2 + number) << 8)  # QP number
    body[47] = 20 << 3  # response timeout
    body[50] = 3 << 4  # MTU 1024
    body[51] = 15 << 4  # retries
    private = bytearray(36)
    private[1] = 0x40  # IPv4
    private[16:20], private[32:36] = socket.inet_aton(source), socket.inet_aton("10.78.0.1")
    body[140:176] = private
    mad = struct.pack("!BBBBHHQHHI", 1, 7, 2, 3, 0, 0, number, REQ, 0, 0) + bytes(body)
    bth = struct.pack("!BBHII", 0x64, 0x40, 0xFFFF, 1, number)
    whole = bytearray(raw(Ether(src="02:00:00:00:00:66", dst="02:00:00:00:00:01") / IP(src=source, dst="10.78.0.1", id=0, flags="DF") /
                          UDP(sport=50000, dport=4791, chksum=0) / Raw(bth + struct.pack("!II", QKEY, 1) + mad + bytes(4))))
    whole[-4:] = icrc(whole, 14, len(whole) - 4)
    return bytes(whole)


def start(work, name, host, flow):
    file_prefix = prefix(name)
    text = f"[nic]\nmac = 02:00:00:00:00:0{host}\nip = 10.78.0.{host}\nlink_speed_bps = 1G\nlocal_ack_timeout = 16\n{flow}"
    program = Program(work, "nic", name, text, eal(file_prefix, f"net_tap0,iface={TAPS[host - 1]}"), "--idle-sleep", 200)
    program.wait_started()
    join(TAPS[host - 1])
    return program, Ctl(work, "-f", file_prefix)


def main():
    work = work_dir()
    need_bridge()
    server, at_server = start(work, "server", 1, "[flow any]\nconnect = listen\nrequester = off\nverb = send\npeer_ip = 0.0.0.0\n")
    stranger = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    stranger.bind((BRIDGE, 0))
    number, end = 0, time.monotonic() + PATIENCE_S
    while len(at_server.json("show connections")["rows"]) < HALF_OPEN and time.monotonic() < end:
        for _ in range(20):
            stranger.send(req(number))
            number += 1
        time.sleep(0.02)
    for _ in range(200):
        stranger.send(req(number))
        number += 1
    check_equal("connections whose peers have not answered", len(at_server.json("show connections")["rows"]), HALF_OPEN)
    client, at_client = start(work, "client", 2, "[flow out]\nconnect = cm\nverb = send\npeer_ip = 10.78.0.1\nqp_count = 5\nmessages = 20\n"
                              "message_bytes = 3000\n")
    client.wait_end()
    got = client.json()
    check_equal("flows of the client, complete", [(f["messages"], f["qps_failed"]) for f in got["flows"]], 5 * [(20, 0)])
    check_equal("connections of the client", (got["counters"]["cm_connected"], got["counters"]["cm_rejects_received"]), (5, 0))
    server.stop()
    counters = server.json()["counters"]
    check_equal("connections of the server", (counters["cm_connected"], counters["cm_drop_full"]), (5, 0))
    check("most REQs made no connection", counters["cm_messages_received"] > HALF_OPEN + 100, counters["cm_messages_received"])
    finish()


if __name__ == "__main__":
    main()
