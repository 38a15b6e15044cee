#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two quench-nic that know each other's address and a port: RDMA CM arranges the QPs.

With librdmacm of Linux as the peer: test/peers/test_cm.py.
"""
import os
import time

from configs import memif
from ctl import Ctl
from harness import PATIENCE_S, Program, check, check_equal, eal, finish, work_dir

NIC = "[nic]\nmac = 02:00:00:00:00:0{n}\nip = 10.0.0.{n}\nlink_speed_bps = 1G\nshaper_burst_ns = 200us\nlocal_ack_timeout = 16\ncm_response_timeout = 16\n"


def start(work, name, n, text, *options):
    """@return the program and its quenchctl"""
    prefix = f"connections{os.getpid()}{name}"
    device = memif("server" if n == 1 else "client", 0, work)
    given = [o for o in eal(device, core=n) if o not in ("--no-telemetry", "--no-shconf")]
    program = Program(work, "nic", name, NIC.format(n=n) + text, [*given, "--file-prefix", prefix], "--idle-sleep", 200, *options)
    program.wait_started()
    ctl = Ctl(work, "-f", prefix)
    end = time.monotonic() + PATIENCE_S
    while ctl("show info").returncode != 0 and time.monotonic() < end:
        time.sleep(0.02)
    return program, ctl


def rows(ctl, words):
    return ctl.json(words)["rows"]


def present(ctl):
    return [r["flow"] for r in rows(ctl, "show flows") if not r["gone"]]


def main():
    work = work_dir()
    listen = "[flow send]\nconnect = listen\nrequester = off\nverb = send\npeer_ip = 0.0.0.0\n" \
             "[flow read]\nconnect = listen\nrequester = off\nverb = read\ncm_port = 7000\npeer_ip = 10.0.0.2\n" \
             "[flow write]\nconnect = listen\nrequester = off\nverb = write\ncm_port = 8000\npeer_ip = 0.0.0.0\nlocal_bytes = 1KB\nlocal_rkey = 5\n"
    server, at_server = start(work, "server", 1, listen)

    # Both flows come about, end after their messages, and so does the program.
    client, at_client = start(work, "client", 2, "[flow out]\nconnect = cm\nverb = send\npeer_ip = 10.0.0.1\nqp_count = 3\nmessages = 20\nmessage_bytes = 3000\n"
                              "[flow in]\nconnect = cm\nverb = read\ncm_port = 7000\npeer_ip = 10.0.0.1\nmessages = 20\nmessage_bytes = 3000\ndepth = 16\n")
    client.wait_end()
    got = client.json()
    check_equal("messages of each connection", sorted((f["flow"].split("@")[0], f["messages"], f["qps_failed"]) for f in got["flows"]),
                [("in", 20, 0)] + 3 * [("out", 20, 0)])
    check_equal("connections", (got["counters"]["cm_connected"], got["counters"]["cm_timeouts"]), (4, 0))
    server.wait_until("the server's flows end with their connections", lambda: present(at_server) == [])
    check_equal("no connection is left", rows(at_server, "show connections"), [])

    # An endless one: it is shown, outlives a reload, and ends with its flow, from either side.
    client, at_client = start(work, "endless", 2, "[flow out]\nconnect = cm\nverb = send\npeer_ip = 10.0.0.1\nmessage_bytes = 1000\nrate_cap_bps = 10M\n")
    client.wait_until("a connection", lambda: "established" in client.err())
    # Not always out@1: a QP number of the last client may be refused as stale for a moment.
    shown = rows(at_client, "show connections")
    check_equal("it is shown", [(r["active"], r["state"], r["peer_ip"], r["cm_port"]) for r in shown], [(1, "established", "10.0.0.1", 7471)])
    name = shown[0]["flow"]
    other = rows(at_server, "show connections")
    check_equal("at both ends, with each other's numbers", [(r["local_qpn"], r["peer_qpn"]) for r in other], [(r["peer_qpn"], r["local_qpn"]) for r in shown])
    at_server.text("reload")
    at_client.text("reload")
    check_equal("it outlives a reload", (present(at_client), len(present(at_server))), ([name], 1))
    at_server.text(f"remove {present(at_server)[0]}")
    client.wait_until("the client hears of the end, and connects again", lambda: client.err().count("established") == 2)
    at_client.text(f"remove {present(at_client)[0]}")
    client.wait_until("and again", lambda: client.err().count("established") == 3)
    check("a pattern has no QPs of its own", len(rows(at_client, "show qp")) == 1, rows(at_client, "show qp"))

    client.stop()
    check("no warning", "warning: connection" not in client.err(), client.err())
    server.wait_until("the server hears that the program ends", lambda: present(at_server) == [])

    # As many as fit no ring of datagrams begin together, and end together.
    client, at_client = start(work, "many", 2, "[flow out]\nconnect = cm\nverb = send\npeer_ip = 10.0.0.1\nqp_count = 200\nmessage_bytes = 100\nrate_cap_bps = 100K\n")
    client.wait_until("many connections", lambda: len([r for r in rows(at_client, "show connections") if r["state"] == "established"]) == 200)
    client.stop()
    server.wait_until("the server hears of each end", lambda: present(at_server) == [])

    # A QP that fails ends its connection, which is opened again.
    client, at_client = start(work, "fails", 2, "[flow out]\nconnect = cm\nverb = write\ncm_port = 8000\npeer_ip = 10.0.0.1\nmessages = 1\n")
    client.wait_until("the client connects again", lambda: client.err().count("established") >= 2)
    client.stop()

    # A pattern without an end has more to send, also while the peer refuses it.
    client, at_client = start(work, "both", 2, "[flow out]\nconnect = cm\nverb = send\npeer_ip = 10.0.0.1\nmessages = 1\n"
                              "[flow endless]\nconnect = cm\nverb = send\npeer_ip = 10.0.0.1\ncm_port = 9\n")
    client.wait_until("the finite one is complete", lambda: "ended by us" in client.err())
    time.sleep(0.3)  # lasts: it would end at once
    check("the program goes on", client.process.poll() is None)
    client.stop()

    # Refusals.
    client, at_client = start(work, "refused", 2, "[flow out]\nconnect = cm\nverb = send\npeer_ip = 10.0.0.1\ncm_port = 9\nmessages = 1\n")
    client.wait_until("the refusal is said", lambda: "refused by the peer, reason 8" in client.err())
    client.stop()
    client, at_client = start(work, "large", 2, "[flow out]\nconnect = cm\nverb = send\npeer_ip = 10.0.0.1\nmtu_bytes = 4096\nmessages = 1\n")
    client.wait_until("an MTU that is too large is refused", lambda: "refused by the peer, reason 26" in client.err())
    client.stop()

    # A peer that does not answer keeps no program from its end.
    client, at_client = start(work, "alone", 2, "[flow out]\nconnect = cm\nverb = send\npeer_ip = 10.0.0.1\nrate_cap_bps = 1M\n")
    client.wait_until("a connection", lambda: "established" in client.err())
    server.process.kill()
    server.process.wait()
    client.stop()
    check("a peer that is no more is named", "did not answer our DREQ: 1" in client.err(), client.err())
    finish()


main()
