#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Verbs other than WRITE through a whole fabric: who sends, who reacts, and what comes back after loss.

    test_verbs.py QUENCH_LAB CONFIG_DIR CASE
"""
import csv
import pathlib
import tempfile

from scenarios import expect, results, with_config


def read(lab, config):
    """Four responders share the port of the reader as four writers would share that of a receiver."""
    with tempfile.TemporaryDirectory() as folder:
        r = results(lab, config + "/read-4to1.ini", "--out", folder, "--trace", "r2")
        with open(folder + "/trace.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    q, c = r["bottleneck"], r["counters"]
    expect((q["node"], q["port"]) == ("s1", 4), f"bottleneck: {q}")
    expect(q["link_use"] >= 0.98, f"link use {q['link_use']}")
    expect(sum(d["packets"] for d in r["drops"]) == 0, f"drops {r['drops']}")
    expect(r["jain_index"] >= 0.98, f"Jain index {r['jain_index']}")
    for flow in r["flows"]:
        expect(abs(flow["wire_rate_bps"] - 10e9) < 2e9, f"{flow['name']}: {flow['wire_rate_bps']} bit/s")
        # Payload of a frame of 1106 bytes on the wire; first and last ones have 4 more.
        expect(abs(flow["goodput_bps"] / flow["wire_rate_bps"] - 1024 / 1106) < 0.002, f"{flow['name']}: goodput")
        expect(flow["messages_completed"] >= 90, f"{flow['name']}: {flow['messages_completed']} READs")
        expect(flow["rp_cnp_handled"] > 100 and flow["min_rate_bps"] < 10e9, f"{flow['name']} reacts to no CNP")
    expect(sum(f["cnp_sent"] for f in r["flows"]) == c["np_cnp_sent"], "CNPs are the reader's")
    expect(c["rx_read_requests"] >= sum(f["messages_completed"] for f in r["flows"]), "requests served")
    expect(c["acks_sent"] == 0 and c["retransmitted_packets"] == 0, "no ACK, nothing again")
    cuts = sum("cut" in row["reason"].split("+") for row in rows)
    traced = next(f for f in r["flows"] if f["name"].startswith("r2"))
    expect({row["flow"] for row in rows} == {traced["name"]} and cuts == traced["rate_cuts"], f"{cuts} cuts traced")


SCENARIO = """
[fabric]
hosts = 5
link_rate_bps = 40G
duration_ns = 30ms
[switch]
buffer_bytes = 200KB
pfc_generate = off
[qos_map]
pfc_enable = none
[nic]
local_ack_timeout = 8
{nic}
"""


def scenario(folder, flows, nic=""):
    path = pathlib.Path(folder) / "verbs.ini"
    path.write_text(SCENARIO.format(nic=nic) + flows, encoding="utf-8")
    return str(path)


def read_with_loss(lab, config):
    """A buffer that holds no start at line rate: responses are dropped, and every READ completes once."""
    flows = "".join(f"[flow r{i}]\nsrc = 5\ndst = {i}\nverb = read\nmessage_bytes = 300000\ndepth = 4\nmessages = 40\n"
                    for i in (1, 2, 3, 4))
    with tempfile.TemporaryDirectory() as folder:
        path = scenario(folder, flows)
        r, again = results(lab, path), results(lab, path)
    lost = sum(d["packets"] for d in r["drops"] if d["node"] == "s1")
    expect(lost > 0, "nothing is lost")
    for flow in r["flows"]:
        expect(flow["messages_completed"] == 40 and not flow["error"], f"{flow['name']}: {flow}")
    expect(r["counters"]["out_of_sequence"] > 0 and r["counters"]["duplicate_request"] > 0, "asked for again")
    expect(r["digest"] == again["digest"], "one seed, two digests")


def ud(lab, config):
    """Datagrams of three hosts share a port: they slow down for CNPs, and what is dropped stays lost."""
    flows = "[flow d]\nsrc = 1-3\ndst = 5\nverb = ud_send\nmessage_bytes = 1000\nqp_count = 4\n"
    with tempfile.TemporaryDirectory() as folder:
        r = results(lab, scenario(folder, flows))
    c = r["counters"]
    lost = sum(d["packets"] for d in r["drops"] if d["node"] == "s1")
    sent = c["rx_send_requests"] + lost
    expect(lost > 0 and c["rp_cnp_handled"] > 0, f"{lost} lost, {c['rp_cnp_handled']} CNPs")
    expect(c["retransmitted_packets"] == 0 and c["acks_sent"] == 0, "an answer")
    # What is lost before the last packet of its QP that arrived shows; behind it little can be.
    expect(0 <= lost - c["rx_ud_missed_packets"] < 100, f"{lost} lost, {c['rx_ud_missed_packets']} missed")
    expect(sum(f["messages_completed"] for f in r["flows"]) == c["rx_send_requests"], f"{sent} sent")
    expect(r["bottleneck"]["link_use"] > 0.9, f"link use {r['bottleneck']['link_use']}")


def rnr(lab, config):
    """The receiver's application sets the pace; nothing is lost but what found no WQE, and that comes again."""
    r = results(lab, config + "/rnr-send.ini")
    c = r["counters"]
    refused = sum(d["packets"] for d in r["drops"] if d["reason"] == "out_of_buffer")
    expect(refused == c["rnr_naks_sent"] == c["rnr_naks_received"] > 0, f"{refused} refused: {c['rnr_naks_sent']} NAKs")
    expect(c["rnr_nak_retry_err"] == 0 and c["local_ack_timeout_err"] == 0, "a QP lost patience")
    for flow in r["flows"]:
        expect(flow["messages_completed"] == flow["messages_wanted"] == 200, f"{flow['name']}: {flow}")


def dscp_and_bytes(lab, config):
    """A flow with a DSCP of its own leaves by the queue of that; a limit of bytes ends it."""
    flows = ("[flow a]\nsrc = 1\ndst = 5\nmessage_bytes = 100000\nbytes = 950000\n"
             "[flow b]\nsrc = 2\ndst = 5\nmessage_bytes = 100000\nbytes = 1000000\ndscp = 0\n")
    with tempfile.TemporaryDirectory() as folder:
        r = results(lab, scenario(folder, flows), "--out", folder)
        with open(folder + "/queues.csv", encoding="utf-8") as file:
            queues = {row["queue"] for row in csv.DictReader(file) if int(row["queue_bytes"]) > 0}
    expect(queues == {"0", "3"}, f"queues {queues}")
    expect([f["messages_completed"] for f in r["flows"]] == [10, 10], f"{r['flows']}")


if __name__ == "__main__":
    with_config(rnr, dscp_and_bytes, read, read_with_loss, ud)
