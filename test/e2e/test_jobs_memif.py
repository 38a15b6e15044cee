#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of four ranks in four quench-nics, through quench-switch over memif: what ranks ended, and what the switch counted."""
import csv

from harness import check, check_equal, check_ledger, finish, work_dir
from job_bed import Bed, addresses, job, nic_config

RANKS, ITERATIONS, BYTES, MTU = 4, 10, 400_000, 1024


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def ring():
    work = work_dir()
    bed = Bed(work, RANKS)
    section = job("ring", ranks=addresses(RANKS), bytes=BYTES, iterations=ITERATIONS, mtu_bytes=MTU)
    # The last one first: each waits for those that start later.
    for host in reversed(range(1, RANKS + 1)):
        bed.start(host, nic_config(host, section))
    bed.all_end()
    switch = bed.end_switch()
    check_ledger("switch", switch)
    messages = 2 * (RANKS - 1) * ITERATIONS
    for host, program in bed.nics.items():
        result = program.json()
        of, = result["jobs"]
        rank, = of["ranks"]
        name = f"rank {host - 1}"
        check_equal(f"{name}: state, iterations", (of["state"], of["iterations_ended"], rank["iterations_ended"]),
                    ("ended", ITERATIONS, ITERATIONS))
        check_equal(f"{name}: rank, address", (rank["rank"], rank["address"]), (host - 1, f"10.0.0.{host}"))
        check_equal(f"{name}: messages", (rank["messages_sent"], rank["messages_received"]), (messages, messages))
        check_equal(f"{name}: unknown messages, waits", (of["unknown_messages"], of["waits_rank"]), (0, None))
        check(f"{name}: no iteration is faster than its bound", 0 < of["bound_ns"] <= of["jct_min_ns"] <= of["jct_p50_ns"] <= of["jct_max_ns"], of)
        flows = {flow["flow"]: flow for flow in result["flows"]}
        sent, got = flows[f"ring {host - 1}-{host % RANKS}"], flows[f"ring {(host - 2) % RANKS}-{host - 1} in"]
        check_equal(f"{name}: payload", (sent["payload_bytes"], got["payload_bytes"]), (messages * BYTES // RANKS,) * 2)
        of_file = rows(work / f"csv{host}" / "jobs.csv")
        check_equal(f"{name}: jobs.csv", [int(row["iteration"]) for row in of_file], list(range(1, ITERATIONS + 1)))
        check(f"{name}: iterations follow each other", all(int(a["end_ns"]) <= int(b["begin_ns"]) for a, b in zip(of_file, of_file[1:])))
        data = sent["payload_bytes"]
        forwarded = switch["ports"][host % RANKS]["tx_bytes"]
        check(f"{name}: the switch sent its payload on", forwarded >= data + data // MTU * 62, (forwarded, data))
    finish()


ring()
