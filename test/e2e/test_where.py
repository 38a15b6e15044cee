#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where traffic waits, live over six programs: two senders, a cascade of two quench-switches, a receiver that is slow and one that is not.

explain queue, show hot and show pauses name what holds the frames: first the slow receiver, then a shaped port.
"""
import alone  # noqa: F401

import json

from configs import flow, memif, nic, section
from harness import BUILD, Program, check, check_equal, eal, finish, run, until, work_dir

CTL = BUILD / "app/quenchctl/quenchctl"
# A sender that rarely gets a CPU still sends faster than that.
LINK, SLOW = "1G", "5M"
CATCH_UP = "2ms"
# A peer that rarely gets a CPU obeys a pause late: headroom and the receiver's buffer take 0.1 s at twice 100 Mb/s, so that nothing is lost.
SWITCH = (section("switch", buffer_bytes="64MB", wred_queues="none", max_frame_bytes=1600, shaper_burst_ns=CATCH_UP) +
          section("buffer_profile lossless", dynamic="off", static_th_bytes="60KB", xon_offset_bytes="20KB", xoff_bytes="8MB"))
NIC = {"link_speed_bps": LINK, "shaper_burst_ns": CATCH_UP, "cc": "none", "local_ack_timeout": 0}


def host(number, peer, name, requester, **keys):
    """A NIC with one flow, of which the other end has the same name."""
    both = {"rate_cap_bps": "100M", "message_bytes": "1MB"} if requester else {}
    return (nic(number, first_qpn=100 * number, **NIC, **keys) +
            flow(name, peer, peer_qpn=100 * peer, requester="on" if requester else "off", **both))


def ports(first_mac, **of_port_1):
    return section("port", link_speed_bps=LINK) + "".join(
        section(f"port {i}", mac=f"02:5a:00:00:00:{first_mac + i:02x}", **(of_port_1 if i == 1 else {})) for i in range(3))


class Bed:
    def __init__(self, drain, shaped):
        """Hosts 1 and 2 at ports 0 and 1 of first; its port 2 leads to port 0 of second, which has hosts 3 and 4 at ports 1 and 2."""
        work = self.work = work_dir()
        self.programs = {}
        wires = {"first": (1, 2, 5), "second": (5, 3, 4)}
        config = {"first": SWITCH + ports(0x10),
                  "second": SWITCH + ports(0x20, **({"shaper_rate_bps": SLOW} if shaped else {}))}
        for core, name in enumerate(wires):
            devices = [memif("client" if (name, wire) == ("second", 5) else "server", wire, work, i) for i, wire in enumerate(wires[name])]
            self.start("switch", name, config[name], core, devices)
        receiver = section("receiver", drain_rate_bps=SLOW, xoff_bytes="100KB", xon_bytes="50KB", buffer_bytes="64MB",
                           device_stall_minor_watermark_ns=0, device_stall_critical_watermark_ns=0) if drain else ""
        for number, text in ((3, host(3, 1, "jammed", False) + receiver), (4, host(4, 2, "free", False)),
                             (1, host(1, 3, "jammed", True)), (2, host(2, 4, "free", True))):
            self.start("nic", f"host{number}", text, number % 2, [memif("client", number, work)])

    def start(self, role, name, config, core, devices):
        program = Program(self.work, role, name, config, [*eal(*devices, core=core), "--file-prefix", name], "--idle-sleep", 1000, "--stats-interval", 0)
        program.wait_started()
        self.programs[name] = program

    def ask(self, *words):
        done = run(CTL, *words)
        check(f"quenchctl {' '.join(words)}: exit code", done.returncode == 0, done.stderr)
        return done.stdout

    def json(self, *words):
        return json.loads(self.ask("--json", *words))

    def said(self, words, *command):
        """Ask until the answer has all words: a second that is looked at may lack some on a busy machine. @return it, or "" """
        text = ""

        def has_all():
            nonlocal text
            text = self.ask(*command)
            return all(word in text for word in words)

        if until(has_all):
            return text
        print(text)
        return ""

    def wait_for(self, holds):
        """The pauses have come as far as the senders."""
        def spread():
            found = self.json("show", "pauses")
            self.tree = found
            return holds(found)

        check("the pauses reach both senders", until(spread), self.tree)

    def stop(self):
        for name, program in self.programs.items():
            check_equal(f"{name}: exit code", program.stop(), 0)


def ends(branch):
    return branch["node"], branch["port"], branch["holds"], branch["holds_port"]


def cascade(found):
    """Of the first root."""
    return {ends(branch): branch for branch in found["pause_tree"][0]["branches"]} if found["pause_tree"] else {}


# Who pauses whom, from the receiver's side on.
SECOND, TO_1, TO_2 = ("second", 0, "first", 2), ("first", 0, "host1", None), ("first", 1, "host2", None)


def check_tree(bed, kind, root, top):
    """root: node, port and queue. top: the branch below it."""
    def is_whole(found):
        """A busy machine may not have a frame of the free flow in the second that is looked at."""
        branches = cascade(found)
        return {top, SECOND, TO_1, TO_2} <= branches.keys() and branches[SECOND]["victims"] and branches[TO_2]["victims"]

    bed.wait_for(is_whole)
    first = bed.tree["pause_tree"][0]
    check_equal(f"{kind}: the root", (first["kind"], first["node"], first["port"], first["queue"], first["prio"]), (kind, *root, 3))
    branches = first["branches"]
    of = {ends(branch): branch for branch in branches}
    parent = {name: ends(branches[branch["parent"]]) if branch["parent"] is not None else None for name, branch in of.items()}
    check_equal(f"{kind}: parents", [parent[TO_1], parent[TO_2]], [SECOND, SECOND])
    check_equal(f"{kind}: times add up", first["duration_ns"], sum(branch["duration_ns"] for branch in branches))
    check(f"{kind}: each was paused for a while", all(branch["duration_ns"] > 0 and branch["pauses"] > 0 for branch in branches), branches)
    check(f"{kind}: the jammed flow fills the root", [flow["flow"] for flow in first["flows"] if "10.0.0.1:" in flow["flow"] and
                                                       "10.0.0.3 QP 300" in flow["flow"]], first["flows"])
    check_equal(f"{kind}: no deadlock", bed.tree["deadlock"], [])
    check(f"{kind}: the free flow is a victim where first is held", any("10.0.0.4 QP 400" in flow for flow in of[SECOND]["victims"]), of[SECOND])
    check_equal(f"{kind}: victims at the senders", (of[TO_1]["victims"], of[TO_2]["victims"]), ([], ["free"]))
    text = bed.said(("root: ", "second port 0 pauses first port 2: ", "; victims "), "show", "pauses")
    check(f"{kind}: a line in the words of quench-lab", text != "")
    return parent


def shows_all(hot):
    """Both switches' queues to the receiver, what fills the one in front of it, and who pauses whom."""
    places = {(row["node"], row["port"], row["queue"]): row for row in hot["hot_queues"]}
    jammed = places.get(("second", 1, 3), {})
    return ("first", 2, 3) in places and jammed.get("paused_ns") and jammed["flows"] and {"host1", "host3"} <= {row["node"] for row in hot["nics"]}


def slow_receiver():
    bed = Bed(drain=True, shaped=False)
    top = ("host3", None, "second", 1)
    parent = check_tree(bed, "host", ("host3", None, None), top)
    check_equal("the slow receiver pauses second, and that pauses first", (parent[top], parent[SECOND]), (None, top))
    check("the root receives slowly", bed.said(("root: host3, which receives slowly: priority 3",), "show", "pauses") != "")

    def explained():
        bed.queue = bed.json("-f", "second", "explain", "queue", "1", "3")
        return bed.queue["flows"] and any(hold["hold"] == "pause" for hold in bed.queue["holds"])

    # A busy machine may not have a pause in the second that is looked at, or no frame.
    until(explained)
    queue = bed.queue
    check("explain queue: the receiver pauses it", any(hold["hold"] == "pause" for hold in queue["holds"]) and
          queue["paused_by"]["mac"] == "02:00:00:00:00:03" and queue["paused_prios"] == "3", queue)
    check_equal("explain queue: all of it came by port 0", [(row["port"], row["pg"], row["share"]) for row in queue["from"]], [(0, 3, 1)])
    check_equal("explain queue: one flow", [(row["source"], row["destination"], row["qpn"], row["protocol"], row["destination_port"], row["share"])
                                            for row in queue["flows"]], [("10.0.0.1", "10.0.0.3", 300, 17, 4791, 1)])
    check("explain queue: bytes wait", 0 < queue["queue_mean_bytes"] <= queue["queue_max_bytes"], queue)
    words = ("02:00:00:00:00:03 pauses it (priority 3)", "100.0 %  from port 0, priority group 3", "to 10.0.0.3 QP 300")
    check("explain queue: in words", bed.said(words, "-f", "second", "explain", "queue", "1", "3") != "")
    empty = bed.json("-f", "second", "explain", "queue", "2", "0")
    check_equal("explain queue: without a curve there are no marks", (queue["marks"], empty["marks"]), (None, None))
    check_equal("explain queue: an empty one", ([hold["hold"] for hold in empty["holds"]], empty["flows"], empty["from"]), (["empty"], [], []))
    for words, said in ((("9", "3"), "expected a number from 0 to 2"), (("1", "8"), "expected a number from 0 to 7")):
        done = run(CTL, "-f", "second", "explain", "queue", *words)
        check(f"explain queue {words}: refused", done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr)

    # In the second that is looked at, a busy machine may have queues without frames, and no pause.
    hot = until(lambda: found if shows_all(found := bed.json("show", "hot")) else {}) or bed.json("show", "hot")
    lengths = [row["queue_mean_bytes"] for row in hot["hot_queues"]]
    check("show hot: the longest queue first", lengths == sorted(lengths, reverse=True) and lengths[:1] > [0], lengths)
    places = {(row["node"], row["port"], row["queue"]): row for row in hot["hot_queues"]}
    check("show hot: both switches' queues to the receiver", {("first", 2, 3), ("second", 1, 3)} <= places.keys(), list(places))
    jammed = places.get(("second", 1, 3))
    check("show hot: with their flows and pauses", jammed and jammed["paused_ns"] > 0 and [flow["qpn"] for flow in jammed["flows"][:1]] == [300], places)
    check("show hot: NICs that pause or are paused", {"host1", "host3"} <= {row["node"] for row in hot["nics"]}, hot["nics"])
    check("show hot: in words", bed.said(("second port 1 queue 3: mean ", "host3: pauses its peer "), "show", "hot") != "")
    bed.stop()


def shaped_port():
    bed = Bed(drain=False, shaped=True)
    parent = check_tree(bed, "queue", ("second", 1, 3), SECOND)
    check_equal("the queue itself is the root", parent[SECOND], None)

    def holds():
        return {hold["hold"] for hold in bed.json("-f", "second", "explain", "queue", "1", "3")["holds"]} - {"empty"}

    # Senders that have no CPU leave the queue empty for a while.
    check_equal("explain queue: the shaper holds it", until(holds), {"shaper"})
    bed.stop()


slow_receiver()
shaped_port()
finish()
