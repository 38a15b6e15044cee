#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl trace and explain beside a running quench-nic.

In the closed loop (quench-nic to quench-nic through a quench-switch whose egress is a fifth of the link) every row that
clients follow obeys DCQCN's equations; clients come, go and die beside each other.
"""
import signal
import subprocess

from configs import LOOP_SWITCH, loop_nic, memif
from ctl import Ctl
from desk import eal, prefix
from follower import Follower
from harness import PATIENCE_S, Program, check, check_equal, finish, work_dir

QPS = 4


def loop_end(me, peer, requester):
    return loop_nic(me, peer, requester, qp_count=QPS, messages=0, message_bytes="64KB")


def pure(row, *words):
    return set(row["reason"].split("+")) == set(words)


def steps(rows):
    """(what a row is, the row before it, itself) of those that are one step of DCQCN."""
    for was, now in zip(rows, rows[1:]):
        if pure(now, "cnp", "cut"):
            yield "cut", was, now
        elif now["time_stage"] != was["time_stage"] + 1:
            # The NIC looked later: a row of several increases.
            continue
        elif pure(now, "fast") or pure(now, "additive"):
            yield now["reason"], was, now


def has_all_steps(rows):
    seen = [kind for kind, _, _ in steps(rows)]
    return all(seen.count(kind) > 3 for kind in ("cut", "fast", "additive"))


def check_equations(who, rows, keys):
    """Rows stand in their order, and each follows from the one before it by the equations of SIGCOMM'15, section 3.1."""
    check_equal(f"{who}: every row is there", [r["row"] for r in rows], list(range(rows[0]["row"], rows[0]["row"] + len(rows))))
    check(f"{who}: time goes on", all(a["time_ns"] <= b["time_ns"] for a, b in zip(rows, rows[1:])))
    g, least, most = 1 - keys["rp_dce_tcp_g"] / 1024, keys["rp_min_rate_bps"], 1_000_000_000
    wrong = []
    for kind, was, now in steps(rows):
        rate, target, alpha = now["rate_bps"], now["target_rate_bps"], now["alpha"]
        if kind == "cut":
            used = 2 * (1 - rate / was["rate_bps"])
            good = target == was["rate_bps"] and (rate == least or abs(alpha - ((1 - g) * used + g)) < 1e-4)
            good = good and used <= was["alpha"] + 1e-5 and now["time_stage"] == now["byte_stage"] == 0
        else:
            more = keys["rp_ai_rate_bps"] if kind == "additive" else 0
            good = target == min(was["target_rate_bps"] + more, most) and abs(rate - (was["rate_bps"] + target) / 2) <= 1
        if not good:
            wrong.append((was, now))
    check(f"{who}: rows obey the equations", not wrong, wrong[:2])


def check_clients(work, sender, ctl):
    """Three clients at once, two of them of one QP; one dies."""
    text = ctl.text("explain qp 100")
    check("explain: not traced", "not traced" in text and "CNPs taken" in text and "dcqcn" in text and "now: " in text, text)
    check("show trace: not traced", 'QP 101 is not traced; "quenchctl trace qp loop#1 on" starts a trace' in
          ctl.text("show trace loop#1"))
    keys = ctl.json("show dcqcn")
    a = Follower(work, "a", ctl, "--json trace qp 100")
    b = Follower(work, "b", ctl, "--json --watch=0.05 trace qp loop#1")
    sender.wait_until("two QPs are traced", lambda: ctl.traces() == {100: 1, 101: 1})
    c = Follower(work, "c", ctl, "--json trace qp loop")
    sender.wait_until("the third client is there", lambda: ctl.traces() == {100: 2, 101: 1})
    for f in (a, b, c):
        sender.wait_until("rows of cuts, recoveries and increases", lambda f=f: has_all_steps(f.rows()))
    check_equal("a client leaves with Ctrl-C", a.stop(), (0, ""))
    check_equal("the QP's other client keeps it", ctl.traces(), {100: 1, 101: 1})
    b.process.kill()
    b.process.wait()
    check_equal("a client leaves with SIGTERM", c.stop(signal.SIGTERM), (0, ""))
    check_equal("the last one ends the trace", list(ctl.traces()), [101])
    check_equal("its first row", (a.rows()[0]["row"], a.rows()[0]["reason"]), (0, "state"))
    for name, f, qp in (("first client", a, 0), ("client that is killed", b, 1), ("second client of a QP", c, 0)):
        check_equal(f"{name}: its QP", {(r["local_qpn"], r["flow"], r["qp"]) for r in f.rows()}, {(100 + qp, "loop", qp)})
        check_equations(name, f.rows(), keys)


def check_closed_pipe(ctl):
    """A follower whose reader goes away still ends its trace."""
    with subprocess.Popen([*map(str, ctl.command), "trace", "qp", "103"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as follower:
        follower.stdout.readline()
        follower.stdout.close()
        check_equal("a closed pipe: exit code, errors", (follower.wait(PATIENCE_S), follower.stderr.read()), (-signal.SIGPIPE, b""))
    check("a closed pipe: the trace has ended", 103 not in ctl.traces(), ctl.traces())


def check_story(sender, ctl, work):
    """A trace that is kept, and what becomes of it. That of a dead client is given up meanwhile."""
    def traces():
        return {qpn: clients for qpn, clients in ctl.traces().items() if qpn != 101}

    ctl.text("trace qp 102 on")
    check_equal("on: nobody follows it", traces(), {102: 0})
    sender.wait_until("some cuts", lambda: ctl.json("show trace 102")["written"] > 100)
    follower = Follower(work, "d", ctl, "trace qp 102")
    sender.wait_until("it is followed from where it is", lambda: len(follower.lines()) > 13)
    check_equal("a follower goes", follower.stop()[0], 0)
    lines = follower.lines()
    check("its last rows first", "traced already" in lines[0] and "R_C" in lines[1] and
          not any("the trace begins" in line for line in lines), lines[:3])
    check_equal("and leaves it on", traces(), {102: 0})

    done = ctl.words(["set", "flow loop.rate_cap_bps=500K"])
    check_equal("a cap: exit code", done.returncode, 0)
    # Below the least rate of DCQCN, it is a change whatever the rate; the QP takes it when it is next looked at.
    sender.wait_until("a change of parameters is a row", lambda: any(
        "reload" in r["reason"].split("+") for r in ctl.json("show trace 102")["rows"]))
    text = ctl.text("explain qp 102")
    check("explain: the cap", "rate: 0.5 Mb/s, which is rate_cap_bps of its flow" in text, text)
    check("explain: the story", "traced for" in text and "the trace begins at" in text and "cut" in text, text)
    ctl.words(["set", "flow loop.stopped=on"])
    sender.wait_until("it stands still", lambda: ctl.json("show qp 102")["hold"] == "stopped")
    check("explain: stopped", "stopped = on" in ctl.text("explain qp 102"))
    both = ctl.json("explain qp 102")
    check_equal("explain as JSON", (both["now"]["local_qpn"], both["now"]["hold"], both["trace"]["end"]),
                (102, "stopped", len(both["trace"]["rows"])))
    check("explain as JSON: cuts", sum("cut" in r["reason"] for r in both["trace"]["rows"]) > 3)

    follower = Follower(work, "e", ctl, "trace qp 102")
    sender.wait_until("a follower comes", lambda: traces() == {102: 1})
    ctl.text("trace qp 102 off")
    check_equal("off, whoever follows", traces(), {})
    check_equal("a follower is told", follower.process.wait(PATIENCE_S), 1)
    check("in a line", "the trace ended" in follower.errors.read_text(), follower.errors.read_text())
    ctl.text("trace qp 103 on")
    text = ctl.text("explain qp 103")
    check("explain: a trace without an event", (" 0 events" in text) == ("congestion control has done nothing since" in text), text)
    ctl.text("trace qp 103 off")
    sender.wait_until("the trace of a dead client is given up", lambda: not ctl.traces())


def check_bad_input(ctl, receiver, switch):
    ctl.refused("trace qp 99", "QPN = 99", "100 to 1123")
    ctl.refused("trace qp 104", "no flow has QP 104", "a QPN of show qps")
    ctl.refused("trace qp 99999999999999999999999", "QPN = 99999999999999999999999", "100 to 1123")
    ctl.refused("trace qp +100", "ID = +100", "100 to 1123", "loop")
    ctl.refused("trace qp nobody", "ID = nobody", "FLOW#I", "loop")
    ctl.refused("explain qp loop#4", "ID = loop#4", "from 0 to 3")
    ctl.refused("show trace loop#x", "ID = loop#x", "FLOW#I")
    ctl.refused("trace qp 100,1", "ID = 100,1")
    ctl.refused("trace qp 100 maybe", "maybe", "on or off")
    ctl.refused("trace qp 100 off", "QP 100 is not traced")
    ctl.refused("--watch trace qp 100 on", "--watch: not allowed with on")
    ctl.refused("--watch=6 trace qp 100", "--watch = 6", "0.05 to 5")
    ctl.refused("trace qp", "ID")
    ctl.refused("explain", "qp")
    receiver.refused("trace qp 200", "QP 200 of flow loop sends no data", "requester = on")
    text = receiver.text("explain qp 200")
    check("explain: a responder", "the peer decides the rate" in text, text)
    for words in ("trace qp 100", "explain qp 100", "show traces", "show trace 100"):
        switch.refused(words, "expected a quench-nic, but this is a quench-switch")


def closed_loop():
    work = work_dir()
    names = {name: prefix(name) for name in ("sw", "rx", "tx")}

    def start(role, name, config, *devices):
        program = Program(work, role, name, config, eal(names[name], *devices, memory=64), "--idle-sleep", 200,
                          "--stats-interval", 0)
        program.wait_started()
        return program

    start("switch", "sw", LOOP_SWITCH, memif("server", 0, work), memif("server", 1, work, 1))
    start("nic", "rx", loop_end(2, 1, False), memif("client", 1, work))
    sender = start("nic", "tx", loop_end(1, 2, True), memif("client", 0, work))
    ctl = Ctl(work, "-f", names["tx"])
    sender.wait_until("CNPs", lambda: ctl.json("show dcqcn")["rp_cuts"] > 20)
    check_bad_input(ctl, Ctl(work, "-f", names["rx"]), Ctl(work, "-f", names["sw"]))
    check_clients(work, sender, ctl)
    check_closed_pipe(ctl)
    check_story(sender, ctl, work)
    ctl.text("trace qp 101 on")
    follower = Follower(work, "last", ctl, "--json trace qp 100")
    sender.wait_until("the last client", lambda: ctl.traces() == {100: 1, 101: 0})
    check_equal("the program ends while it is traced", sender.stop(), 0)
    check_equal("a follower says so", follower.process.wait(PATIENCE_S), 1)
    check("in one line", len(follower.errors.read_text().splitlines()) == 1, follower.errors.read_text())
    counters = sender.json()["counters"]
    check_equal("nothing was sent again", {key: counters[key] for key in (
        "retransmitted_packets", "qp_errors", "packet_seq_err", "local_ack_timeout_err")}, dict.fromkeys((
            "retransmitted_packets", "qp_errors", "packet_seq_err", "local_ack_timeout_err"), 0))


closed_loop()
finish()
