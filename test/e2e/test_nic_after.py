#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flows of a quench-nic that wait for others: in a run that ends by itself, at stop, start, reset and removal of those that they wait for,
and in the rounds of a barrier. Two quench-nic on a memif."""
import os

import configs
from configs import memif
from ctl import Ctl
from harness import Program, check, check_equal, eal, finish, path_of, run, until, work_dir

KEYS = {"link_speed_bps": "1G", "shaper_burst_ns": "200us", "local_ack_timeout": 16, "retry_cnt": 3}
FIRST_QPN = 17


def text(me, flows, without=None):
    """flows: name, QPs and keys of the requester, in an order that both ends share."""
    out, qpn = configs.nic(me, **KEYS), FIRST_QPN
    for name, qps, keys in flows:
        own = {"requester": "off", **{key: keys[key] for key in ("verb",) if key in keys}} if me == 2 else {"message_bytes": "20KB", **keys}
        out += "" if name == without else configs.flow(name, 3 - me, peer_qpn=qpn, local_qpn=qpn, qp_count=qps, **own)
        qpn += qps
    return out


def start(work, name, me, flows, *options, without=None):
    """@return the program and its quenchctl"""
    prefix = f"after{os.getpid()}{name}"
    given = [o for o in eal(memif("server" if me == 2 else "client", 0, work), core=me) if o not in ("--no-telemetry", "--no-shconf")]
    program = Program(work, "nic", name, text(me, flows, without), [*given, "--file-prefix", prefix], "--idle-sleep", 100, *options)
    program.wait_started()
    ctl = Ctl(work, "-f", prefix)
    until(lambda: ctl("show info").returncode == 0)
    return program, ctl


def rows(ctl):
    return {row["flow"]: row for row in ctl.json("show flows")["rows"] if not row["gone"]}


def in_order(work):
    """Each begins after the ends of those that it names, plus its start_ns, whatever the order of the file; the program ends with them."""
    flows = [("c", 2, {"after": "b, a", "messages": 5, "start_ns": "30ms"}), ("a", 3, {"messages": 40}), ("b", 1, {"after": "a", "messages": 5, "verb": "read"}),
             ("d", 1, {"after": "a", "arrival": "periodic", "load_bps": "100M", "messages": 3}), ("step", 2, {"barrier": "x", "messages": 20}),
             ("other", 1, {"barrier": "x", "messages": 15, "message_bytes": 1000})]
    receiver, _ = start(work, "receiver", 2, flows)
    sender, _ = start(work, "sender", 1, flows)
    check_equal("the sender ends by itself", sender.wait_end(), 0)
    check_equal("the receiver's exit code", receiver.stop(), 0)
    got = {f["flow"]: f for f in sender.json()["flows"]}
    check_equal("messages", {name: f["messages"] for name, f in got.items()}, {name: qps * keys["messages"] for name, qps, keys in flows})
    a, b, c = (got[name] for name in "abc")
    check("b begins after a", a["ended_ns"] <= b["started_ns"], (a["ended_ns"], b["started_ns"]))
    check("d begins after a", a["ended_ns"] <= got["d"]["started_ns"], (a["ended_ns"], got["d"]["started_ns"]))
    check("c begins 30 ms after both", b["ended_ns"] + 30_000_000 <= c["started_ns"], (b["ended_ns"], c["started_ns"]))
    check("the mean rate of a flow counts from its start", c["goodput_bps"] > 0 and
          c["payload_bytes"] * 8e9 / c["goodput_bps"] < got["a"]["ended_ns"] + 2 * (c["ended_ns"] - c["started_ns"] + 1_000_000_000), c)


def live(work):
    """What a stop, a removal, a new flow and a reset of the flow awaited do."""
    flows = [("a", 2, {"messages": 30, "stopped": "on"}), ("b", 1, {"after": "a", "messages": 5}), ("e", 1, {"after": "b", "messages": 5})]
    receiver, _ = start(work, "peer", 2, [*flows, ("late", 1, {}), ("s", 1, {}), ("r", 1, {})])
    sender, ctl = start(work, "live", 1, flows, "--stay")
    check_equal("who waits for whom", {name: row["waits_for"] for name, row in rows(ctl).items()}, {"a": "", "b": "a", "e": "b"})
    check_equal("a QP that waits says so", ctl.json("call qp qpn=19")["hold"], "flows")
    check("so does explain", "after" in ctl.text("explain qp 19"))
    for words, text_ in (("remove a", "[flow b] after: expected names of sections"), ("set flow b.after=none", "[flow b] after = none: cannot change"),
                         ("set flow late.peer_ip=10.0.0.2 flow late.after=x", "there is no [flow x]"),
                         ("set flow late.peer_ip=10.0.0.2 flow late.messages=1 flow late.after=late", "which waits for it")):
        done = ctl.words([words.split()[0], *(f"flow {word}" for word in words.split("flow ")[1:])] if words.startswith("set") else words.split())
        check(f"{words} is refused", done.returncode == 2 and text_ in done.stderr, (done.returncode, done.stderr))
    check_equal("remove e, which waits", ctl("remove e").returncode, 0)
    sender.wait_until("e is gone", lambda: not ctl.json("call flows")["rows"][-1].get("qps_ending"))
    check_equal("start a", ctl("start a").returncode, 0)
    sender.wait_until("a and b have ended", lambda: rows(ctl)["b"]["qps_done"] == 1)
    now = rows(ctl)
    check("b began after a", now["a"]["ended_ns"] <= now["b"]["started_ns"] and now["a"]["messages"] == 60, now)
    qpn = FIRST_QPN + sum(qps for _, qps, _ in flows)

    def add(name, number, **keys):
        words = [f"flow {name}.{key}={value}" for key, value in
                 {"peer_mac": "02:00:00:00:00:02", "peer_ip": "10.0.0.2", "peer_qpn": qpn + number, "local_qpn": qpn + number, "message_bytes": 20000, **keys}.items()]
        done = ctl.words(["set", *words])
        check(f"{name} is added", done.returncode == 0, done.stderr)

    add("late", 0, messages=3, after="a,b")
    sender.wait_until("a flow after one that has ended begins at once", lambda: rows(ctl)["late"]["messages"] == 3)
    # A barrier: the one that goes on sends at most a message more than the one that is stopped.
    add("s", 1, messages=40, barrier="x", stopped="on")
    add("r", 2, messages=40, barrier="x")
    sender.wait_until("r waits for s", lambda: rows(ctl)["r"]["waits_for"] == "s")
    check_equal("rounds before s begins", (rows(ctl)["r"]["messages"], rows(ctl)["s"]["messages"]), (1, 0))
    check_equal("a QP that waits for a round says so", ctl.json(f"call qp qpn={qpn + 2}")["hold"], "round")
    check_equal("start s", ctl("start s").returncode, 0)
    sender.wait_until("both end", lambda: rows(ctl)["r"]["messages"] == rows(ctl)["s"]["messages"] == 40)
    check_equal("all is shown as ended", {row["waits_for"] for row in rows(ctl).values()}, {""})
    check_equal("exit code", (sender.stop(), receiver.stop()), (0, 0))


def given_up(work):
    """A flow whose QPs gave up has not ended: those after it do not begin before a reset, and without --stay the program says so and ends."""
    flows = [("a", 2, {"messages": 30}), ("b", 1, {"after": "a", "messages": 5}), ("c", 1, {"after": "b", "messages": 5})]
    # Nobody answers the QPs of a: the peer has flows of other numbers.
    receiver, at_receiver = start(work, "peer", 2, flows, without="a")
    sender, _ = start(work, "lonely", 1, flows)
    check_equal("the exit code of a sender whose flow gives up", sender.wait_end(), 1)
    check("it says who waits for whom", "has not begun: it waits for [flow " in sender.err() and "which has not ended" in sender.err(), sender.err())
    check_equal("messages", [f["messages"] for f in sender.json()["flows"]], [0, 0, 0])
    check_equal("the receiver's exit code", receiver.stop(), 0)

    receiver, at_receiver = start(work, "other", 2, flows, without="a")
    sender, ctl = start(work, "patient", 1, flows, "--stay")
    sender.wait_until("a gives up", lambda: rows(ctl)["a"]["qps_failed"] == 2)
    check_equal("b waits for a still", rows(ctl)["b"]["waits_for"], "a")
    keys = {"peer_mac": "02:00:00:00:00:01", "peer_ip": "10.0.0.1", "peer_qpn": FIRST_QPN, "local_qpn": FIRST_QPN, "qp_count": 2, "requester": "off"}
    check_equal("flow a at the receiver", at_receiver.words(["set", *(f"flow a.{key}={value}" for key, value in keys.items())]).returncode, 0)
    check_equal("reset a", ctl("reset a").returncode, 0)
    sender.wait_until("all messages completed", lambda: "all messages completed" in sender.err())
    now = rows(ctl)
    check("b began after a", now["a"]["ended_ns"] <= now["b"]["started_ns"] and now["a"]["messages"] == 60 and now["c"]["messages"] == 5, now)
    check_equal("exit codes", (sender.stop(), receiver.stop()), (0, 0))


def refused(work):
    """Bad input: one line with file, line, key, value, and what was expected."""
    head = text(1, [("a", 1, {"messages": 3})])
    peer = "peer_ip = 10.0.0.2\n"
    for rest, words in ((f"[flow b]\n{peer}after = x\n", "after = x: expected names of sections [flow NAME], separated by commas: there is no [flow x]"),
                        (f"[flow b]\n{peer}after = b\nmessages = 1\n", "after = b: expected flows that do not wait for this one: it waits for [flow b], which waits for it"),
                        (f"[flow b]\n{peer}after = c\nmessages = 1\n[flow c]\n{peer}after = b\nmessages = 1\n", "which waits for it"),
                        (f"[flow b]\n{peer}after = c\n[flow c]\n{peer}requester = off\n", "after = c: expected flows that end: [flow c] has requester = off"),
                        (f"[flow b]\n{peer}after = c\n[flow c]\n{peer}connect = listen\nrequester = off\n", "after = c: expected flows that end: [flow c] has connect"),
                        (f"[flow b]\n{peer}after = c\n[flow c]\n{peer}", "after = c: expected flows that end: [flow c] has no messages, bytes or stop_ns"),
                        (f"[flow b]\n{peer}after = a\nrequester = off\n", "after = a: after must be none with requester = off"),
                        (f"[flow b]\n{peer}after = a\nconnect = cm\n", "after = a: after must be none with connect"),
                        (f"[flow b]\n{peer}barrier = x\nrequester = off\n", "barrier = x: barrier must be none with requester = off"),
                        (f"[flow b]\n{peer}barrier = x\nconnect = cm\n", "barrier = x: barrier must be none with connect"),
                        (f"[flow b]\n{peer}barrier = x\narrival = poisson\nload_bps = 1M\n", "arrival = poisson: arrival must be closed or incast with barrier"),
                        (f"[flow b]\n{peer}barrier = x\nafter = c\n[flow c]\n{peer}barrier = x\nmessages = 2\n", "it waits for [flow c], whose barrier waits for it"),
                        (f"[flow b]\n{peer}barrier = {'x' * 33}\n", "barrier = "), (f"[flow b]\n{peer}after =\n", "after")):
        path = work / "bad.ini"
        path.write_text(head + rest)
        done = run(path_of("nic"), "--config", path, "--check-config")
        check(f"refused: {words}", done.returncode == 2 and len(done.stderr.splitlines()) == 1 and f"{path}:" in done.stderr and words in done.stderr,
              (done.returncode, done.stderr))
    path.write_text(head + f"[flow b]\n{peer}after = a\nbarrier = x\n")
    done = run(path_of("nic"), "--config", path, "--check-config")
    check("what is printed has both keys", done.returncode == 0 and "after = a\n" in done.stdout and "barrier = x\n" in done.stdout, (done.stdout, done.stderr))


def main():
    refused(work_dir())
    for case in (in_order, live, given_up):
        case(work_dir())
    finish()


main()
