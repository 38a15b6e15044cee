#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The closed loop: quench-nic to quench-nic through quench-switch, three processes over memif on two cores.

The switch's egress to the receiver is a fifth of the sender's link. Marks must become CNPs, CNPs cut both QPs, both
recover, all messages complete without loss, and what the three processes counted must agree.
"""
import csv
import signal

from configs import LOOP_SWITCH, loop_nic, memif
from harness import Program, check, check_equal, check_ledger, eal, finish, work_dir

LINK = 1_000_000_000
MESSAGES, MESSAGE_BYTES, QPS = 150, 65536, 2
MTU = 1024


def loop_end(me, peer, requester):
    return loop_nic(me, peer, requester, qp_count=QPS, mtu_bytes=MTU, message_bytes=MESSAGE_BYTES, trace_qps=1,
                    messages=MESSAGES if requester else 0)


def check_flows(s, r, work):
    """Results by flow agree with the QPs', with the other end's and with the files."""
    a, b = s["flows"][0], r["flows"][0]
    check_equal("flow: messages", (a["messages"], b["messages"]), (MESSAGES * QPS,) * 2)
    check_equal("flow: CNPs", b["cnps_sent"], a["cnps_handled"] + a["cnps_ignored"])
    check_equal("flow: marks", b["ce_packets"], r["counters"]["np_ecn_marked_roce_packets"])
    check_equal("flow: pauses", a["rx_pause_duration_us"], s["port"]["rx_prio3_pause_duration_us"])
    check_equal("flow: times are measured", (s["measure_times"], a["completions"], b["completions"]),
                ("on", MESSAGES * QPS, 0))
    for what in ("completion_{}_ns", "slowdown_{}", "rtt_{}_ns"):
        values = [a[what.format(q)] for q in ("p50", "p95", "p99", "p999", "max")]
        check(f"flow: {what}", values == sorted(values) and values[0] > 0, values)
    check("flow: some message was slowed down", a["slowdown_max"] > 1, a["slowdown_max"])
    check("flow: a message takes longer than a round trip", a["completion_p50_ns"] > a["rtt_min_ns"] > 0)
    with open(work / "csv" / "flows.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    check_equal("flows.csv: intervals add up", sum(int(row["completions"]) for row in rows), a["completions"])
    check_equal("flows.csv: ends with the run", (int(rows[-1]["messages"]), int(rows[-1]["cnp_handled"])),
                (a["messages"], a["cnps_handled"]))
    with open(work / "csv" / "times.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["measure"] == "completion_ns"]
    check_equal("times.csv: every message", sum(int(row["count"]) for row in rows), a["completions"])
    check_equal("times.csv: the longest", int(rows[-1]["at_most"]), a["completion_max_ns"])


def main():
    work = work_dir()

    def start(role, name, config, core, devices, *options):
        program = Program(work, role, name, config, eal(*devices, core=core), "--idle-sleep", 50, "--stats-interval", 0.25,
                          *options)
        program.wait_started()
        return program

    switch = start("switch", "switch", LOOP_SWITCH, 0,
                   (memif("server", 0, work), memif("server", 1, work, 1)))
    receiver = start("nic", "receiver", loop_end(2, 1, False), 1, (memif("client", 1, work),))
    sender = start("nic", "sender", loop_end(1, 2, True), 1, (memif("client", 0, work),), "--stay", "--trace", work / "trace.csv",
                   "--csv", work / "csv")
    sender.wait_until("all messages completed", lambda: "all messages completed" in sender.err())
    for program in (sender, switch, receiver):
        program.wait_quiet()
    for program, with_signal in ((sender, signal.SIGINT), (receiver, signal.SIGTERM), (switch, signal.SIGINT)):
        check_equal(f"{program.name}: exit code", program.stop(with_signal), 0)

    s, r, w = sender.json(), receiver.json(), switch.json()
    sc, rc, ports = s["counters"], r["counters"], w["ports"]
    marked = sum(q["ecn_marked_packets"] for p in ports for q in p["queues"])
    print(f"# marked {marked}, CNPs {rc['np_cnp_sent']}, pause frames {ports[0]['tx_pause_frames']}, rates "
          f"{[(q['min_rate_bps'], q['rate_bps']) for q in s['qps']]}")

    check_equal("QPs", (len(s["qps"]), s["qps_omitted"], len(r["qps"])), (QPS, 0, QPS))
    for i, (a, b) in enumerate(zip(s["qps"], r["qps"])):
        check_equal(f"QP {i}: every message completed", (a["tx_messages"], a["done"], a["error"]), (MESSAGES, True, False))
        check_equal(f"QP {i}: every message arrived", b["rx_messages"], MESSAGES)
        check_equal(f"QP {i}: bytes", b["rx_payload_bytes"], MESSAGES * MESSAGE_BYTES)
        check_equal(f"QP {i}: packets", (a["tx_packets"], b["rx_packets"]), (MESSAGES * MESSAGE_BYTES // MTU,) * 2)
        check_equal(f"QP {i}: numbers", (a["local_qpn"], a["peer_qpn"]), (b["peer_qpn"], b["local_qpn"]))
        check(f"QP {i}: its rate was cut", a["rate_cuts"] > 0 and a["min_rate_bps"] < LINK, a)
        check(f"QP {i}: and recovered", a["rate_bps"] > a["min_rate_bps"], a)
        check_equal(f"QP {i}: CNPs", a["cnps_handled"], b["cnps_sent"])
        check(f"QP {i}: was told to slow down", b["cnps_sent"] > 0)

    with open(work / "trace.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cuts = [row for row in rows if "cut" in row["reason"].split("+")]
    check_equal("trace: QPs", {(row["flow"], row["qp"]) for row in rows}, {("loop", "0")})
    check_equal("trace: first row", rows[0]["reason"], "start")
    check_equal("trace: a row for each cut", len(cuts), s["qps"][0]["rate_cuts"])
    # A QP keeps it in kb/s.
    lowest = min(int(row["rate_bps"]) for row in rows)
    check("trace: lowest rate", abs(lowest - s["qps"][0]["min_rate_bps"]) < 1000, (lowest, s["qps"][0]["min_rate_bps"]))

    check_flows(s, r, work)
    for name, counters in (("sender", sc), ("receiver", rc)):
        bad = {k: n for k, n in counters.items() if n and (k.startswith("drop_") or k in (
            "rx_icrc_encapsulated", "out_of_sequence", "packet_seq_err", "duplicate_request", "local_ack_timeout_err",
            "retransmitted_packets", "qp_errors", "naks_sent", "rp_cnp_ignored"))}
        check_equal(f"{name}: loss, damage and retransmission", bad, {})
    check_equal("switch: drops", {k: n for p in ports for k, n in p["drops"].items() if n}, {})

    check("the switch marked", marked > 0)
    check_equal("marks made = marks received", rc["np_ecn_marked_roce_packets"] + rc["np_ce_on_control"] +
                sc["np_ecn_marked_roce_packets"] + sc["np_ce_on_control"], marked)
    check_equal("CNPs sent = CNPs handled", sc["rp_cnp_handled"], rc["np_cnp_sent"])
    check("no more CNPs than marks", 0 < rc["np_cnp_sent"] <= rc["np_ecn_marked_roce_packets"])
    for i, (name, c) in enumerate((("sender", sc), ("receiver", rc))):
        p = ports[i]
        check_equal(f"frames {name} to switch", p["rx_packets"], c["tx_packets"])
        check_equal(f"bytes {name} to switch", p["rx_bytes"], c["tx_bytes"])
        check_equal(f"frames switch to {name}", p["tx_packets"] + p["tx_pause_frames"], c["rx_packets"])
        check_equal(f"pause frames switch to {name}", p["tx_pause_frames"], c["rx_pause_frames"])
    check_equal("frames through the switch", ports[0]["rx_packets"] + ports[1]["rx_packets"],
                ports[0]["tx_packets"] + ports[1]["tx_packets"])
    check_equal("frames held by devices", [p["held"] for p in (*ports, s["port"], r["port"])], [0] * 4)
    xoff, xon = ports[0]["tx_prio3_pause"], ports[0]["tx_prio3_pause_transition"]
    check("every XOFF was followed by XON", (xon > 0) == (xoff > 0) and 2 * xon <= xoff, (xoff, xon))
    check_equal("pauses ended at both ends", s["port"]["rx_prio3_pause_transition"], xon)
    check_ledger("switch", w)
    check_equal("switch: bytes queued", w["ledger"]["queued"], 0)
    finish()


main()
