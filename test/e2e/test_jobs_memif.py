#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of four ranks, in four quench-nics through quench-switch over memif and in one: what ranks ended, and what the switch counted."""
import csv
import re

import configs
from harness import Program, check, check_equal, check_ledger, eal, finish, path_of, run, work_dir
from job_bed import Bed, addresses, job, nic_config

JOBS_CSV = ["job", "iteration", "begin_ns", "end_ns", "jct_ns", "last_rank", "rank_p50_ns", "rank_p99_ns", "rank_max_ns", "rank_cv", "rank_jain",
            "rp_cnp_handled", "ce_packets", "retransmitted_packets", "out_of_sequence", "paused_ns"]
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
        check(f"{name}: variation, and times of its one rank", 0 <= of["jct_cv"] < 10 and of["rank_jain"] > 0 and
              [of[f"rank_{key}_ns"] for key in ("p50", "p99", "max")] == [of[f"jct_{key}_ns"] for key in ("p50", "p99", "max")] and
              of["rank_cv"] == of["jct_cv"], of)
        flows = {flow["flow"]: flow for flow in result["flows"]}
        check("the table has them too", "varia-" in program.out() and "CNPs" in program.out(), program.out())
        sent, got = flows[f"ring {host - 1}-{host % RANKS}"], flows[f"ring {(host - 2) % RANKS}-{host - 1} in"]
        # Those of after the last iteration are in the flows alone.
        for key, flow in (("rp_cnp_handled", sent["cnps_handled"]), ("ce_packets", got["ce_packets"])):
            check(f"{name}: {key}, as its flows have it", flow // 2 <= of[key] <= flow, (of[key], flow))
        check_equal(f"{name}: payload", (sent["payload_bytes"], got["payload_bytes"]), (messages * BYTES // RANKS,) * 2)
        of_file = rows(work / f"csv{host}" / "jobs.csv")
        check_equal(f"{name}: jobs.csv", [int(row["iteration"]) for row in of_file], list(range(1, ITERATIONS + 1)))
        check_equal(f"{name}: jobs.csv has the columns of the lab", list(of_file[0]), JOBS_CSV)
        check_equal(f"{name}: jobs.csv has the sums of the job", sum(int(row["rp_cnp_handled"]) for row in of_file), of["rp_cnp_handled"])
        check(f"{name}: iterations follow each other", all(int(a["end_ns"]) <= int(b["begin_ns"]) for a, b in zip(of_file, of_file[1:])))
        data = sent["payload_bytes"]
        forwarded = switch["ports"][host % RANKS]["tx_bytes"]
        check(f"{name}: the switch sent its payload on", forwarded >= data + data // MTU * 62, (forwarded, data))


GOAL = """num_ranks 4
rank 0 {
a: calc 1000
b: send 50000b to 2 tag 7
b requires a
}
rank 1 {
c: send 30000b to 2 tag 7
}
rank 2 {
d: recv 50000b from 0 tag 7
e: recv 30000b from 1 tag 7
f: send 20000b to 3 tag 9
f requires d
f requires e
}
rank 3 {
g: recv 20000b from 2 tag 9
}
"""


def two_jobs():
    """An all-to-all on two QPs a pair, and a GOAL file, both in the same four programs."""
    work = work_dir()
    (work / "tree.goal").write_text(GOAL)
    bed = Bed(work, RANKS)
    sections = (job("experts", ranks=addresses(RANKS), collective="all_to_all", bytes=BYTES, iterations=ITERATIONS, qps_per_pair=2),
                job("tree", ranks=addresses(RANKS), goal="tree.goal", iterations=ITERATIONS))
    for host in range(1, RANKS + 1):
        bed.start(host, nic_config(host, *sections))
    bed.all_end()
    switch = bed.end_switch()
    check_ledger("switch", switch)
    sent = {}
    for host, program in bed.nics.items():
        result = program.json()
        experts, tree = result["jobs"]
        check_equal(f"rank {host - 1}: both jobs have ended", [(of["state"], of["iterations_ended"]) for of in (experts, tree)],
                    [("ended", ITERATIONS)] * 2)
        check_equal(f"rank {host - 1}: a GOAL file has no bandwidth", (tree["goal"], tree["collective"], tree["bus_bandwidth_bps"]),
                    ("tree.goal", None, 0))
        check_equal(f"rank {host - 1}: neither has stages", (experts["stages"], tree["stages"]), (None, None))
        for flow in result["flows"]:
            if flow["flow"][-1].isdigit():
                sent[flow["flow"]] = flow["payload_bytes"]
    pairs = [(a, b) for a in range(RANKS) for b in range(RANKS) if a != b]
    expected = {f"experts {a}-{b}": ITERATIONS * BYTES // RANKS for a, b in pairs}
    expected |= {f"tree {pair}": ITERATIONS * n for pair, n in (("0-2", 50000), ("1-2", 30000), ("2-3", 20000))}
    check_equal("payload of each pair", sent, expected)
    for to in range(RANKS):
        payload = sum(n for name, n in sent.items() if name.endswith(f"-{to}"))
        check(f"port {to}: the switch sent that payload", switch["ports"][to]["tx_bytes"] > payload + payload // MTU * 62, payload)


def one_program():
    """Four ranks in a program whose port is a ring to itself."""
    work = work_dir()
    section = job("ring", ranks=addresses(RANKS), ranks_here="0-3", bytes=BYTES, iterations=ITERATIONS, chunk_bytes="20KB", channels=2)
    program = Program(work, "nic", "all", nic_config(1, section), eal("net_ring0", core=1), "--idle-sleep", 50)
    check_equal("one program: exit code", program.wait_end(), 0)
    of, = program.json()["jobs"]
    check_equal("one program: state, iterations, ranks", (of["state"], of["iterations_ended"], [r["iterations_ended"] for r in of["ranks"]]),
                ("ended", ITERATIONS, [ITERATIONS] * RANKS))
    check_equal("one program: no rank behind, no bytes lost", (of["waits_rank"], [f["payload_bytes"] for f in program.json()["flows"]]),
                (None, [2 * (RANKS - 1) * ITERATIONS * BYTES // RANKS] * 2 * RANKS))


DIFFERENCES = ({"bytes": BYTES + 4}, {"iterations": ITERATIONS + 1}, {"chunk_bytes": "10KB"}, {"mtu_bytes": 512})
SAID = r"job ring: rank (\d) \(10\.0\.0\.(\d)\) has another job: its digest is ([0-9a-f]{8}), and that of rank (\d) is ([0-9a-f]{8}); " \
       r"expected equal keys in the section \[job ring\] of all programs"


def two_that_differ():
    """Two ranks, of which the second has another value of a key: both name it, and end, and neither has sent data."""
    for collective in ("all_reduce", "pipeline"):
        for other in DIFFERENCES if collective == "all_reduce" else DIFFERENCES[:1]:
            name = f"{collective}, {other}"
            bed = Bed(work_dir(), 2)
            keys = {"ranks": addresses(2), "collective": collective, "bytes": BYTES, "iterations": ITERATIONS, "mtu_bytes": MTU}
            for host, own in ((1, keys), (2, keys | other)):
                bed.start(host, nic_config(host, job("ring", **own)))
            bed.all_end(1)
            said = [re.findall(SAID, program.err()) for program in bed.nics.values()]
            if not check(f"{name}: each says it once", [len(lines) for lines in said] == [1, 1], [program.err() for program in bed.nics.values()]):
                continue
            (peer, host, theirs, rank, own), = said[0]
            check_equal(f"{name}: rank and address", (peer, host, rank), ("1", "2", "0"))
            check_equal(f"{name}: the other one has it the other way round", said[1], [("0", "1", own, "1", theirs)])
            check(f"{name}: two digests", own != theirs, said)
            for program in bed.nics.values():
                of, = program.json()["jobs"]
                check_equal(f"{name}: state", (of["state"], "has another job" in of["why"]), ("failed", True))
                check_equal(f"{name}: data that was sent", {flow["flow"]: flow["payload_bytes"] for flow in program.json()["flows"]
                                                            if "alive" not in flow["flow"] and flow["payload_bytes"]}, {})
                check_equal(f"{name}: messages that arrived", sum(rank["messages_received"] for rank in of["ranks"]), 0)
            bed.end_switch()


def one_that_does_not_answer():
    """The other program has other numbers of QPs: neither hears the other one's digest, and both say so."""
    bed = Bed(work_dir(), 2)
    section = job("ring", ranks=addresses(2), bytes=BYTES, iterations=ITERATIONS)
    for host, first in ((1, 17), (2, 5000)):
        bed.start(host, nic_config(host, section, first_qpn=first, retry_cnt=2))
    bed.all_end(1)
    for rank, program in enumerate(bed.nics.values()):
        said = f"job ring: rank {rank} waits for rank {1 - rank}'s digest of the job, and rank {1 - rank} does not answer"
        check(f"rank {rank}: said once", program.err().count(said) == 1, program.err())
        of, = program.json()["jobs"]
        check_equal(f"rank {rank}: what it waits for", (of["state"], of["waits_rank"], of["waits_for"]), ("failed", rank, f"the start waits for rank {1 - rank}'s digest"))
        check_equal(f"rank {rank}: iterations, messages", (of["iterations_ended"], sum(r["messages_sent"] for r in of["ranks"])), (0, 0))
    bed.end_switch()


REFUSED = (
    ({"ranks": "10.0.9.1-10.0.9.4"}, "[job x] ranks = 10.0.9.1-10.0.9.4: expected the address of [nic] among them"),
    ({"ranks": "10.0.0.1, 10.0.0.1"}, "[job x] ranks = 10.0.0.1, 10.0.0.1: expected a different address for each rank"),
    ({"ranks": "10.0.0.1-10.0.0"}, "[job x] ranks = 10.0.0.1-10.0.0: expected at most 65536 IP addresses"),
    ({"ranks": "h1-h4"}, "[job x] ranks = h1-h4: expected at most 65536 IP addresses"),
    ({"ranks": "10.0.0.4-10.0.0.1"}, "expected at most 65536 IP addresses"),
    ({"ranks_here": "1-4"}, "[job x] ranks_here = 1-4: expected auto, none, or numbers from 0 to 3"),
    ({"ranks_here": "none"}, "expected the address of [nic] among them, or ranks_here"),
    ({"ranks": addresses(64), "collective": "all_to_all"}, "expected max_qps of [nic] of 16128 or more"),
    ({"goal": "none.goal"}, "[job x] goal = none.goal: expected a file that can be read"),
    ({"algorithm": "pairwise"}, "[job x]"),
    ({"mtu_bytes": 1000}, "[job x] mtu_bytes = 1000"),
)


def refused():
    work = work_dir()
    for keys, said in REFUSED:
        path = work / "x.ini"
        path.write_text(nic_config(1, job("x", **({"ranks": addresses(RANKS)} | keys))))
        done = run(path_of("nic"), "--config", path, "--check-config")
        check(f"{keys}: refused with a line", done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1,
              (done.returncode, done.stderr))
    path.write_text(nic_config(1, job("x", ranks=addresses(RANKS)), configs.flow("x 0-1", 2)))
    done = run(path_of("nic"), "--config", path, "--check-config")
    check("a flow with the name of a job's flow", done.returncode == 2 and done.stderr.count("\n") == 1 and
          "[flow x 0-1]: expected another name: a flow of a job has this one" in done.stderr, (done.returncode, done.stderr))


ring()
two_jobs()
one_program()
two_that_differ()
one_that_does_not_answer()
refused()
finish()
