#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl trace and explain under full load: a ring goes round, and what is lost is said; all traces are taken, and it is said
by whom; nothing is lost on the wire for it.
"""
import signal

from configs import flow, nic, section
from ctl import Ctl
from desk import Desk, eal, prefix
from follower import Follower
from harness import Program, check, check_equal, finish, halt, work_dir

MOST = 64  # traces

LOADED = (
    nic(1, link_speed_bps="100G", local_ack_timeout=0, first_qpn=1000, cc="timely", ack_every=1) +
    section("timely", timely_t_low_ns="900ms", timely_t_high_ns="1s") +
    flow("fast", 1, peer_qpn=1071, messages=0, message_bytes="64KB") +
    flow("write", 1, peer_qpn=1072, qp_count=70, messages=0, message_bytes="64KB", rate_cap_bps="10M", trace_qps=1) +
    flow("fast-back", 1, requester="off", peer_qpn=1000) +
    flow("write-back", 1, requester="off", peer_qpn=1001, qp_count=70) +
    flow("read", 1, verb="read", peer_qpn=1143, messages=0, message_bytes="64KB") +
    flow("read-back", 1, verb="read", requester="off", peer_qpn=1142))


def check_overrun(who, work, nic, ctl):
    """A ring that goes round, and a follower that comes too late."""
    nic.wait_until("the ring goes round", lambda: ctl.json("show traces")["rows"][1]["written"] > 100_000)
    held = ctl.json("show trace fast")
    times = [r["time_ns"] for r in held["rows"]]
    print(f"# {len(times)} rows are held of {held['written']}")
    check(f"{who}: what is lost is said", held["lost"] > 0 and held["first"] == held["lost"] and
          held["end"] == held["first"] + len(times), {k: v for k, v in held.items() if k != "rows"})
    check(f"{who}: what is held is in order", times == sorted(times) and times, len(times))
    check(f"{who}: reasons", {r["reason"] for r in held["rows"]} <= {"rtt", "additive+rtt", "hyper+rtt"},
          {r["reason"] for r in held["rows"]})
    text = ctl.text("explain qp fast")
    check(f"{who}: explain says it too", "events" in text and " rows are lost" in text and len(text.splitlines()) < 40, text)
    follower = Follower(work, "slow", ctl, "--json --watch=5 trace qp fast")
    nic.wait_until("it follows", follower.lines)
    # It sleeps while the ring goes round; it may not die of that, since the trace is on.
    halt(follower.process)
    written = ctl.json("show traces")["rows"][1]["written"]
    nic.wait_until("the ring goes round again", lambda: ctl.json("show traces")["rows"][1]["written"] > written + 100_000)
    follower.process.send_signal(signal.SIGCONT)
    nic.wait_until("it lags behind", lambda: any('"lost"' in line for line in follower.lines()))
    check_equal(f"{who}: a follower that is late", follower.stop()[0], 0)
    numbers = [(r["row"], r.get("lost", 1)) for r in follower.rows()]
    check(f"{who}: each row is there or counted", all(a[0] + a[1] == b[0] for a, b in zip(numbers, numbers[1:])), numbers[:3])


def full_load(lcores, overrun):
    """TIMELY answers every ACK, whatever the machine is busy with: rings go round in no time."""
    work, name = work_dir(), prefix(f"l{lcores}")
    who = f"{lcores} lcores"
    nic = Program(work, "nic", "nic", LOADED, eal(name, "net_ring0", lcores=lcores, memory=160), "--stats-interval", 0, "--trace",
                  work / "trace.csv")
    nic.wait_started()
    ctl = Ctl(work, "-f", name)
    check_equal(f"{who}: trace_qps", [(r["local_qpn"], r["trace_qps"]) for r in ctl.json("show traces")["rows"]], [(1001, 1)])
    ctl.refused("trace qp 1001 off", "QP 1001", "trace_qps")
    ctl.text("trace qp fast on")
    if overrun:
        check_overrun(who, work, nic, ctl)

    # Traces come and go while frames pass.
    t = Desk(name)

    def takes(words):
        return [w for w in words if t.refusal("set_trace", id=w[0], action=w[1])] == []

    check(f"{who}: traces come and go", takes((str(1002 + i % 8), "off" if i % 16 > 7 else "on") for i in range(32)))
    if overrun:
        check(f"{who}: as many as there are", takes((str(1009 + i), "on") for i in range(MOST - 2)))
        check_equal(f"{who}: all traces are taken", len(ctl.traces()), MOST)
        ctl.refused("trace qp 1002", "all 64 traces are taken, by QPs", " 1000 ", " 1010 ", "off")
        text = ctl.text("explain qp 1002")
        check(f"{who}: explain without a trace", "not traced" in text and "timely" in text, text)
        ctl.text("trace qp 1010 off")
    ctl.text("trace qp read-back on")
    nic.wait_until("a READ's responder has its rate", lambda: ctl.json("show trace read-back")["written"] > 0)
    ctl.refused("trace qp read", "QP 1142 of flow read sends no data", "READ")
    check(f"{who}: explain a READ's requester", "responder" in ctl.text("explain qp read"))
    check_equal(f"{who}: exit code", nic.stop(), 0)
    result = nic.json()
    bad = ("retransmitted_packets", "qp_errors", "out_of_sequence", "duplicate_request", "local_ack_timeout_err")
    check_equal(f"{who}: nothing was lost or sent again", {k: n for k, n in result["counters"].items() if n and k in bad}, {})
    traced = {tuple(line.split(",")[1:3]) for line in (work / "trace.csv").read_text().splitlines()[1:]}
    check_equal(f"{who}: trace.csv has what trace_qps says", traced, {("write", "0")})


full_load(1, overrun=True)
full_load(3, overrun=False)
finish()
