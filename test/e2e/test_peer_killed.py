#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program whose memif peer is killed goes on, serves the next peer, and ends cleanly.

net_memif frees the rings of a peer that goes on EAL's interrupt thread, while lcores poll them. The server sends to its
peer as fast as it can, so that each kill meets a burst; each second life of a peer proves that traffic goes on.

    test_peer_killed.py [REPEATS]
"""
import signal
import socket
import sys

from harness import PATIENCE_S, Program, check, check_equal, eal, finish, halt, work_dir

REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
PEERS = 3  # of one server

NIC = """
[nic]
mac = 02:00:00:00:00:0{me}
ip = 10.0.0.{me}
link_speed_bps = 100G
[flow a]
verb = ud_send
qkey = 0x1ee7
peer_mac = 02:00:00:00:00:0{peer}
peer_ip = 10.0.0.{peer}
peer_qpn = 17
message_bytes = 1024
messages = 0
"""
SWITCH = """
[switch]
buffer_bytes = 1MB
max_frame_bytes = 1518
[fdb a]
mac = 02:00:00:00:00:02
port = 0
[port]
link_speed_bps = 100G
[port 0]
[port 1]
"""


def memif(work, role, number=0):
    return f"net_memif{number},role={role},id={number},socket={work}/m{number}.sock,socket-abstract=no"


def start_nic(work, name, me, role, core, number=0):
    return Program(work, "nic", name, NIC.format(me=me, peer=3 - me), eal(memif(work, role, number), core=core),
                   "--stats-interval", 0.05)


def frames(program, way):
    """Frames that a program has printed so far, as rates."""
    return [float(line.split(f" {way} ")[1].split()[0]) for line in program.out().splitlines() if f" {way} " in line]


def wait_traffic(program, ways):
    """New lines show traffic each way."""
    seen = {way: len(frames(program, way)) for way in ways}
    for way in ways:
        program.wait_until(f"{way} of frames", lambda: any(frames(program, way)[seen[way]:]))


def kill(program):
    program.process.kill()
    program.process.wait()


def nic_and_its_peers(work, repeat):
    folder = work / f"nic{repeat}"
    folder.mkdir()
    server = start_nic(folder, "server", 1, "server", 0)
    server.wait_started()
    for life in range(PEERS):
        peer = start_nic(folder, f"peer{life}", 2, "client", 1)
        peer.wait_started()
        wait_traffic(server, ("rx", "tx"))
        wait_traffic(peer, ("rx",))
        kill(peer)
    code = server.stop(signal.SIGINT)
    check_equal(f"round {repeat}: quench-nic whose {PEERS} peers were killed ends", code, 0)
    if code == 0:
        check(f"round {repeat}: and has its counters", server.json()["counters"]["rx_packets"] > 0)


def peers_that_never_were(work, repeat):
    """Clients that have gone before the server comes to accept them, as it is on a loaded machine."""
    folder = work / f"gone{repeat}"
    folder.mkdir()
    server = start_nic(folder, "server", 1, "server", 0)
    server.wait_started()
    halt(server.process)
    # net_memif has room for two that wait.
    for _ in range(2):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(PATIENCE_S)
            client.connect(str(folder / "m0.sock"))
    server.process.send_signal(signal.SIGCONT)
    peer = start_nic(folder, "peer", 2, "client", 1)
    peer.wait_started()
    wait_traffic(server, ("rx", "tx"))
    wait_traffic(peer, ("rx",))
    check_equal(f"round {repeat}: the peer after two that never were ends", peer.stop(signal.SIGINT), 0)
    check_equal(f"round {repeat}: and so does its server", server.stop(signal.SIGINT), 0)


def switch_and_its_peers(work, repeat):
    """One port's peer is killed; the other's frames still come through to the next one."""
    folder = work / f"switch{repeat}"
    folder.mkdir()
    switch = Program(folder, "switch", "switch", SWITCH, eal(memif(folder, "server", 0), memif(folder, "server", 1), core=0),
                     "--stats-interval", 0.05)
    switch.wait_started()
    sender = start_nic(folder, "sender", 1, "client", 1, number=1)
    for life in range(PEERS):
        peer = start_nic(folder, f"receiver{life}", 2, "client", 1)
        peer.wait_started()
        wait_traffic(peer, ("rx",))
        kill(peer)
    sender.stop(signal.SIGINT)
    code = switch.stop(signal.SIGINT)
    check_equal(f"round {repeat}: quench-switch whose {PEERS} peers were killed ends", code, 0)


def main():
    work = work_dir()
    for repeat in range(REPEATS):
        nic_and_its_peers(work, repeat)
        peers_that_never_were(work, repeat)
        switch_and_its_peers(work, repeat)
    check_equal("sockets of memif that are left", [str(p) for p in work.rglob("*.sock")], [])
    finish()


main()
