#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-nic on two polling lcores: QPs dealt out to both, crossing, one wire, one result.

On net_ring a NIC hears itself, so each QP's peer may be on the other lcore; over memif two processes of two lcores
each meet; net_pcap has one transmit queue, so one lcore polls.
"""
import re
import csv
import signal

from harness import CORES, Program, check, check_equal, eal, finish, halt, work_dir

LINK = 2_000_000_000


def config(me, peer, flows, more=""):
    text = f"""
[nic]
mac = 02:00:00:00:00:0{me}
ip = 10.0.0.{me}
link_speed_bps = {LINK}
shaper_burst_ns = 500us
local_ack_timeout = 20
{more}
"""
    for name, peer_qpn, requester, messages, qps in flows:
        text += f"""
[flow {name}]
peer_mac = 02:00:00:00:00:0{peer}
peer_ip = 10.0.0.{peer}
peer_qpn = {peer_qpn}
qp_count = {qps}
requester = {"on" if requester else "off"}
messages = {messages}
message_bytes = 64KB
"""
    return text


def three(*devices, first=0):
    """EAL options for a main lcore that sleeps and two that poll, on whatever cores there are."""
    lcores = ",".join(f"{i}@{CORES[(first + i) % len(CORES)]}" for i in range(3))
    return ["--lcores", lcores] + eal(*devices, core=first)[2:]


def start(work, name, text, options, *more):
    return Program(work, "nic", name, text, options, "--idle-sleep", 200, "--stats-interval", 0.25, *more)


def sums(result, *keys):
    return tuple(sum(q[k] for q in result["qps"]) for k in keys)


def no_loss(name, counters):
    bad = {k: n for k, n in counters.items() if n and (k.startswith("drop_") or k in (
        "rx_icrc_encapsulated", "out_of_sequence", "packet_seq_err", "duplicate_request", "retransmitted_packets",
        "qp_errors"))}
    check_equal(f"{name}: loss and damage", bad, {})


APART = "control_tx_queue = on"


def hears_itself(work, qps, crosses, more=""):
    name = f"net_ring, {qps} QPs{', control apart' if more == APART else ''}"
    flows = [("out", 17 + qps, True, 20, qps), ("back", 17, False, 0, qps)]
    nic = start(work, name.replace(" ", ""), config(1, 1, flows, more), three("net_ring0"))
    check_equal(f"{name}: ends by itself", nic.wait_end(), 0)
    r = nic.json()
    c = r["counters"]
    check_equal(f"{name}: lcores", r["lcores"], 2)
    check_equal(f"{name}: messages", sums(r, "tx_messages", "rx_messages"), (20 * qps, 20 * qps))
    check_equal(f"{name}: numbers are those of the file", [q["local_qpn"] for q in r["qps"]],
                list(range(17, 17 + 2 * qps)))
    check_equal(f"{name}: all that was sent was received", c["rx_packets"], c["tx_packets"])
    check(f"{name}: crossed {c['rx_crossed_packets']} of {c['rx_packets']}",
          c["rx_crossed_packets"] == (c["rx_packets"] if crosses else 0))
    check_equal(f"{name}: said where control frames leave", "separate queues for control frames" in nic.err(), more == APART)
    no_loss(name, c)


def over_memif(work, more=""):
    """Both ends have the same queues: two for data, and two for control frames if they are apart. There, frames are
    of the largest MTU, of which net_memif says that it cannot take them."""
    def memif(role):
        return f"net_memif0,role={role},id=0,socket={work}/wire.sock,socket-abstract=no,rsize=9,bsize=8192"

    def end(*args):
        text = config(*args, more)
        return text.replace("64KB", "64KB\nmtu_bytes = 4096") if more == APART else text

    if more == APART:
        for role in ("server", "client"):
            small = start(work, "small", end(2, 1, [("a", 17, False, 0, 9)]), three(memif(role).replace(",bsize=8192", "")))
            check_equal(f"memif, {role}: frames beyond its buffers are refused", small.wait_end(), 2)
            check("the line names the argument", re.search(r"net_memif0: bsize = 2048: expected at least \d+ at both ends", small.err()), small.err())
    receiver = start(work, "receiver", end(2, 1, [("a", 17, False, 0, 9)]), three(memif("server")))
    receiver.wait_started()
    sender = start(work, "sender", end(1, 2, [("a", 17, True, 30, 9)]), three(memif("client"), first=1),
                   "--stay", "--csv", work / "csv")
    sender.wait_until("all messages completed", lambda: "all messages completed" in sender.err())
    for program in (sender, receiver):
        check_equal(f"memif: exit code of the {program.name}", program.stop(), 0)
    s, r = sender.json(), receiver.json()
    check_equal("memif: lcores", (s["lcores"], r["lcores"]), (2, 2))
    check_equal("memif: messages", (sums(s, "tx_messages"), sums(r, "rx_messages")), ((270,), (270,)))
    check_equal("memif: bytes", sums(r, "rx_payload_bytes"), (270 * 64000,))
    check_equal("memif: frames to the receiver", r["counters"]["rx_packets"], s["counters"]["tx_packets"])
    check_equal("memif: frames to the sender", s["counters"]["rx_packets"], r["counters"]["tx_packets"])
    no_loss("sender", s["counters"])
    no_loss("receiver", r["counters"])
    check_equal("memif: the flow's messages and bytes at both ends",
                [(f["messages"], f["payload_bytes"]) for f in s["flows"] + r["flows"]], [(270, 270 * 64000)] * 2)
    check_equal("memif: times of all lcores", (s["flows"][0]["completions"], s["measure_times"]), (270, "on"))
    with open(work / "csv" / "flows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    check_equal("memif: the last row has all messages", (rows[-1]["flow"], int(rows[-1]["messages"])), ("a", 270))
    # Rates times their intervals are the bytes.
    times = [0] + [int(row["time_ns"]) for row in rows]
    total = sum(int(row["goodput_bps"]) * (b - a) / 8e9 for row, a, b in zip(rows, times, times[1:]))
    check("memif: the rows' goodput adds up to the bytes", abs(total - 270 * 64000) < 1000, total)
    with open(work / "csv" / "port.csv", newline="") as file:
        port = list(csv.DictReader(file))[-1]
    check_equal("memif: port.csv ends with the counters", (int(port["tx_packets"]), int(port["rx_packets"])),
                (s["counters"]["tx_packets"], s["counters"]["rx_packets"]))


def half_started(work):
    """A memif client that meets its server between EAL's start and that of its device."""
    def memif(role):
        return f"net_memif0,role={role},id=0,socket={work}/half.sock,socket-abstract=no,rsize=9"

    server = start(work, "server", config(2, 1, [("a", 17, False, 0, 4)]), three(memif("server")))
    server.wait_until("listening", (work / "half.sock").exists)
    halt(server.process)
    client = start(work, "client", config(1, 2, [("a", 17, True, 5, 4)]), three(memif("client"), first=1))
    # The latter where this test was too slow to stop the server in time.
    client.wait_until("the first try is over", lambda: "does not answer" in client.err() or "running" in client.err())
    server.process.send_signal(signal.SIGCONT)
    check_equal("half started: the client ends by itself", client.wait_end(), 0)
    check_equal("half started: exit code of the server", server.stop(), 0)
    check_equal("half started: messages", (sums(client.json(), "tx_messages"), sums(server.json(), "rx_messages")),
                ((20,), (20,)))


def client_first(work):
    """A memif client that starts before its server's EAL, so nobody listens yet."""
    def memif(role):
        return f"net_memif0,role={role},id=0,socket={work}/late.sock,socket-abstract=no,rsize=9"

    client = start(work, "early", config(1, 2, [("a", 17, True, 5, 4)]), three(memif("client"), first=1))
    client.wait_until("it waits", lambda: "the server does not answer yet" in client.err())
    server = start(work, "late", config(2, 1, [("a", 17, False, 0, 4)]), three(memif("server")))
    check_equal("client first: it ends by itself", client.wait_end(), 0)
    check_equal("client first: exit code of the server", server.stop(), 0)
    check_equal("client first: messages", (sums(client.json(), "tx_messages"), sums(server.json(), "rx_messages")),
                ((20,), (20,)))


def share_the_wire(work):
    text = config(1, 2, [("a", 17, True, 0, 8)]).replace("message_bytes = 64KB", "message_bytes = 1GB")
    text = text.replace("local_ack_timeout = 20", "local_ack_timeout = 0\nwindow_packets = 8000000\ncc = none")
    nic = start(work, "null", text, three("net_null0,no-rx=1"), "--duration", 1)
    check_equal("net_null: exit code", nic.wait_end(), 0)
    r = nic.json()
    # net_null takes an RSS key and table, which is what can be tried of them without a NIC.
    check("net_null: QPs placed by RSS", "QPs placed by RSS" in nic.err(), nic.err())
    check_equal("net_null: numbers are those of the file", [q["local_qpn"] for q in r["qps"]], list(range(17, 25)))
    check_equal("net_null: peers are those of the file", [q["peer_qpn"] for q in r["qps"]], list(range(17, 25)))
    wire = sum(q["tx_wire_bytes"] for q in r["qps"])
    limit = r["elapsed_ns"] * LINK / 8e9
    print(f"# two lcores sent {wire / limit:.4f} of the link's {LINK / 1e9:g} Gb/s")
    # Arithmetic, with one burst and a turn of each lcore.
    check("net_null: both lcores together stay within the link", wire <= limit + LINK * 500e-6 / 8 + 2 * 10000)
    sent = [q["tx_packets"] for q in r["qps"]]
    check("net_null: and every QP sent, so both ran", all(sent), sent)


def refuse_addresses(work):
    """A node knows the addresses of its own flows only."""
    text = config(1, 2, [("a", 17, True, 0, 8)]) + "local_ip = 10.0.0.99\n"
    nic = start(work, "addresses", text, three("net_null0,no-rx=1"))
    check_equal("local_ip with two lcores: exit code", nic.wait_end(), 2)
    check("local_ip with two lcores is refused", "[flow a] local_mac and local_ip need one polling lcore, not 2" in nic.err(), nic.err())


def one_queue(work):
    nic = start(work, "pcap", config(1, 2, [("a", 17, True, 1, 4)]), three(f"net_pcap0,tx_pcap={work}/out.pcap"),
                "--duration", 0.2, "--json-qps", 3)
    check_equal("net_pcap: exit code", nic.wait_end(), 0)
    check_equal("net_pcap: one lcore polls", nic.json()["lcores"], 1)
    check_equal("net_pcap: QPs one by one", (len(nic.json()["qps"]), nic.json()["qps_omitted"]), (3, 1))
    check("net_pcap: and that is said", "1 transmit queue" in nic.err(), nic.err())
    nic = start(work, "apart", config(1, 2, [("a", 17, True, 1, 4)], APART), three(f"net_pcap0,tx_pcap={work}/out.pcap"))
    check_equal("net_pcap: no queue for control frames is refused", nic.wait_end(), 2)
    check_equal("net_pcap: in one line", sum("control_tx_queue" in line for line in nic.err().splitlines()), 1)


def main():
    work = work_dir()
    hears_itself(work, 6, False)
    hears_itself(work, 5, True)
    hears_itself(work, 6, False, APART)
    over_memif(work)
    over_memif(work, APART)
    half_started(work)
    client_first(work)
    share_the_wire(work)
    refuse_addresses(work)
    one_queue(work)
    finish()


main()
