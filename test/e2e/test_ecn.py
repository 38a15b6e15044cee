#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Marks of a running switch against its curve, without mark_accuracy; then a sender without ECN: at which port its frames come in."""
from configs import LOOP_SWITCH, loop_nic, memif
from ctl import Ctl
from desk import eal, prefix
from harness import Program, check, check_equal, finish, until, work_dir


def start(work, role, name, config, *devices):
    program = Program(work, role, name, config, eal(prefix(name), *devices), "--idle-sleep", 100, "--stats-interval", 0)
    program.wait_started()
    return program


def pair(work, name, ecn):
    """Receiver and sender. A new sender needs a new receiver: PSNs begin anew."""
    return [start(work, "nic", f"{name}{me}", config.replace("[nic]\n", f"[nic]\ndata_ecn = {ecn}\n", 1), memif("client", 2 - me, work))
            for me, config in ((1, loop_nic(2, 1, False)), (2, loop_nic(1, 2, True, messages=0, message_bytes="64KB")))]


def stop(programs):
    for program in programs:
        check_equal(f"{program.name}: exit code", program.stop(), 0)


def check_marks(ctl):
    found = until(lambda: said if (said := ctl.json("show mark-accuracy 1 3"))["total"]["marked"] else None)
    check("marks are counted while it runs, and are those of the curve", found and not found["always"] and found["total"]["agree"] and
          found["total"]["packets"] == sum(row["packets"] for row in found["mark_accuracy"]), found)
    text = ctl.text("show mark-accuracy 1 3")
    check("in words", text.startswith("port 1 queue 3, for 1 s: ") and "; the curve expects " in text, text)
    check("shares are percentages", all(cell.endswith("%") for line in text.splitlines()[2:] for cell in line.split()[3:]), text)
    marks = ctl.json("explain queue 1 3")["marks"]
    check("explain queue has them", marks["packets"] > 0 and marks["agree"], marks)
    check_equal("a queue without a curve has none", ctl.json("explain queue 1 0")["marks"], None)
    ctl.refused("show mark-accuracy 1 0", "queue 0 of port 1 does not mark by a curve", "ecn = ecn_all")
    check_equal("nobody is without ECN", ctl.json("show ecn")["not_ect_from"], [])


def check_missing(ctl):
    said = until(lambda: rows if (rows := ctl.json("show ecn")["not_ect_from"]) else None)
    check_equal("the port that the frames come in by", [row["port"] for row in said or ()], [0])
    check("in words", "port 0 received " in (text := ctl.text("show ecn")) and "frames that were due for a mark, but are Not-ECT" in text, text)
    ports, ecn = ctl.json("show interfaces")["rows"], ctl.json("show ecn")
    queue = next(row for row in ecn["rows"] if (row["port"], row["queue"]) == (1, 3))
    check("a counter of the port", 0 < ports[0]["ecn_not_ect_packets"] <= queue["ecn_not_ect_packets"] and ports[1]["ecn_not_ect_packets"] == 0,
          (ports, queue))
    check_equal("a clear counts from now", ctl("clear counters").returncode, 0)
    check("from now", ctl.json("--since-start show ecn")["not_ect_from"][0]["ecn_not_ect_packets"] >
          sum(row["ecn_not_ect_packets"] for row in ctl.json("show ecn")["not_ect_from"]))


def main():
    work = work_dir()
    switch = start(work, "switch", "ecnsw", LOOP_SWITCH, memif("server", 0, work), memif("server", 1, work, 1))
    ctl = Ctl(work, "-f", prefix("ecnsw"))
    nics = pair(work, "ect", "ect0")
    check_marks(ctl)
    stop(nics[::-1])
    nics = pair(work, "not", "not_ect")
    check_missing(ctl)
    stop([*nics[::-1], switch])
    finish()


main()
