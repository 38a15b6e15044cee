#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every verb through quench-nic on a device that gives back what is sent: config/nic-verbs.ini (READ and UD), the
others, flows that end by bytes, and the counters of the other two controllers."""
import pathlib

from harness import Program, check, check_equal, eal, finish, path_of, run, work_dir

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "config"
QPS, MESSAGES, MESSAGE_BYTES, MTU = 2, 10, 3000, 1024
PACKETS = QPS * MESSAGES * 3


def hears_itself(more_nic, more_out, more_back=""):
    """Two QPs that write to two others of the same NIC."""
    text = f"[nic]\nmac = 02:00:00:00:00:01\nip = 10.0.0.1\nlink_speed_bps = 1G\nlocal_ack_timeout = 20\n{more_nic}\n"
    for name, peer_qpn, more in (("out", 19, more_out), ("back", 17, "requester = off\n" + more_back)):
        text += (f"[flow {name}]\npeer_mac = 02:00:00:00:00:01\npeer_ip = 10.0.0.1\npeer_qpn = {peer_qpn}\n"
                 f"qp_count = {QPS}\nmtu_bytes = {MTU}\nmessage_bytes = {MESSAGE_BYTES}\n{more}\n")
    return text


def result(work, name, text):
    """Of a run that must end by itself."""
    nic = Program(work, "nic", name, text, eal("net_ring0"), "--idle-sleep", 200, "--stats-interval", 0)
    check_equal(f"{name}: ends by itself", nic.wait_end(), 0)
    r = nic.json()
    c = r["counters"]
    bad = {k: n for k, n in c.items() if n and (k.startswith("drop_") or k in (
        "out_of_sequence", "packet_seq_err", "duplicate_request", "retransmitted_packets", "qp_errors"))}
    check_equal(f"{name}: loss and damage", bad, {})
    check_equal(f"{name}: all that was sent was received", c["rx_packets"], c["tx_packets"])
    return {f["flow"]: f for f in r["flows"]}, r["qps"], c


def shipped_example(work):
    flows, qps, c = result(work, "nic-verbs.ini", (CONFIG / "nic-verbs.ini").read_text())
    done = (100, 100 * 64000)
    for name, want in (("read", done), ("read-answer", done), ("ud", (500, 500_000)), ("ud-receive", (500, 500_000))):
        check_equal(f"example: {name}", (flows[name]["messages"], flows[name]["payload_bytes"]), want)
    # 62.5 packets of MTU 1024 for each READ; a request is one packet, and nothing is acknowledged.
    for ask, answer in zip(qps[0:2], qps[2:4]):
        check_equal("example: READ requests", (ask["tx_packets"], answer["rx_packets"]), (50, 50))
        check_equal("example: READ responses", (answer["tx_packets"], ask["rx_packets"]), (50 * 63, 50 * 63))
        check_equal("example: the responder is the one that is limited", (ask["rate_bps"], answer["rate_bps"]),
                    (10**9, 4 * 10**8))
    check_equal("example: requests", (c["rx_read_requests"], c["rx_send_requests"], c["acks_sent"]), (100, 500, 0))
    check_equal("example: READs are timed, datagrams not",
                (flows["read"]["completions"], flows["read"]["rtt_samples"] > 0, flows["ud"]["completions"]),
                (100, True, 0))


def other_verbs(work):
    for verb, counter in (("write", "rx_write_requests"), ("write_imm", "rx_write_requests"),
                          ("send", "rx_send_requests"), ("send_imm", "rx_send_requests")):
        flows, qps, c = result(work, verb, hears_itself("", f"verb = {verb}\nmessages = {MESSAGES}", f"verb = {verb}"))
        check_equal(f"{verb}: messages", (flows["out"]["messages"], flows["back"]["messages"], c[counter]),
                    (QPS * MESSAGES,) * 3)
        check_equal(f"{verb}: packets", sum(q["tx_packets"] for q in qps), PACKETS)


def ends_by_bytes(work):
    for verb in ("write", "read"):
        flows, _, _ = result(work, f"{verb} by bytes", hears_itself("", f"verb = {verb}\nbytes = 9001", f"verb = {verb}"))
        check_equal(f"{verb} by bytes: the last message begins below the limit", flows["out"]["messages"], QPS * 4)


def other_controllers(work):
    # A round trip is never below T_low = 0, and above T_high = 1 ns always.
    for cc, section, counters in (
            ("timely", "timely_t_low_ns = 0\ntimely_t_high_ns = 1ns", ("timely_samples", "timely_above_high", "timely_cuts")),
            ("dctcp", "", ("dctcp_round_trips",))):
        _, qps, c = result(work, cc, hears_itself(f"cc = {cc}\n[{cc}]\n{section}", f"messages = {MESSAGES}"))
        check(f"{cc}: its counters count", all(c[name] > 0 for name in counters), {k: c[k] for k in c if k.startswith(cc)})
        # At the lowest rate, a cut is one that no QP sees.
        check(f"{cc}: the QPs' cuts are among them", sum(q["rate_cuts"] for q in qps) <= c[f"{cc}_cuts"])


def refused(work):
    """A datagram is one packet, wherever its size comes from."""
    path = work / "ud.ini"
    (work / "large.cdf").write_text("100 50\n100000 100\n")
    for key, more in (("message_bytes", ""), ("message_cdf", "message_size = cdf\nmessage_cdf = large.cdf\n")):
        path.write_text(hears_itself("", "verb = ud_send\n" + more))
        done = run(path_of("nic"), "--config", path, "--check-config")
        check(f"ud_send of more than a packet by {key}", done.returncode == 2 and done.stderr.count("\n") == 1 and
              all(w in done.stderr for w in (str(path), "[flow out]", key, "mtu_bytes")), done)


def main():
    work = work_dir()
    shipped_example(work)
    other_verbs(work)
    ends_by_bytes(work)
    other_controllers(work)
    refused(work)
    finish()


main()
