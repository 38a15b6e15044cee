# SPDX-License-Identifier: BSD-3-Clause
"""show ecn and show mark-accuracy: marks, the frames that could not be marked, and marks by queue length against the curve."""
from __future__ import annotations

import math
import time

from quench.desk import Desk, Row
from quenchctl.command import DONE, Run, print_json
from quenchctl.show import cells, rows
from quenchctl.show.show import ask, print_reply

COUNT_S = 1.0  # how long marks are counted for one answer
SIGMAS = 5  # chance parts measured and expected marks by more than this once in a million


def port_name(row: Row) -> str:
    return f"port {row.get('port_name') or row['port']}"


def show(run: Run) -> int:
    reply = ask(run)
    print_reply(run, reply)
    if not run.options.json:
        for row in rows.in_use(reply["not_ect_from"], "ecn_not_ect_packets"):
            print(f"{port_name(row)} received {row['ecn_not_ect_packets']} frames that were due for a mark, but are Not-ECT")
    return DONE


def since(before: Row, now: Row) -> list[Row]:
    """The ranges of queue lengths of the second answer, with the packets that came after the first."""
    old = {row["up_to_bytes"]: row for row in before["mark_accuracy"]}
    found = []
    for row in now["mark_accuracy"]:
        then = old.get(row["up_to_bytes"], {"packets": 0, "marked": 0, "expected": 0.0})
        n, marked = row["packets"] - then["packets"], row["marked"] - then["marked"]
        if n > 0:
            expected = max(0.0, row["expected"] * row["packets"] - then["expected"] * then["packets"])
            found.append({**row, "packets": n, "marked": marked, "measured": marked / n, "expected": min(1.0, expected / n)})
    return found


def total(ranges: list[Row]) -> Row:
    """Over all queue lengths: ECT packets, those marked, shares, and whether chance explains the difference."""
    n, marked = sum(row["packets"] for row in ranges), sum(row["marked"] for row in ranges)
    expected = sum(row["packets"] * row["expected"] for row in ranges)
    # Draws are independent. At the mean of a range, the variance is at least that of its packets.
    deviation = math.sqrt(sum(row["packets"] * row["expected"] * (1 - row["expected"]) for row in ranges))
    return {"packets": n, "marked": marked, "measured": marked / n if n else 0.0, "expected": expected / n if n else 0.0,
            "agree": abs(marked - expected) <= SIGMAS * deviation + 1}


def total_text(marks: Row) -> str:
    if not marks["packets"]:
        return "no ECT packet has left the queue"
    text = f"{marks['marked']} of {marks['packets']} ECT packets were marked: {marks['measured']:.3%}; the curve expects {marks['expected']:.3%}"
    return text if marks["agree"] else f"{text}. WARNING: more than chance parts them"


def count(desk: Desk, port: object, queue: object) -> Row:
    """Marks of a queue: since the start with mark_accuracy = on, else those of the next second."""
    asked = {"port": port, "queue": queue}
    reply: Row = desk.call("mark_accuracy", **asked)
    if not reply["always"]:
        time.sleep(COUNT_S)
        now = desk.call("mark_accuracy", **asked)
        reply = {**now, "mark_accuracy": since(reply, now)}
    return reply


def accuracy(run: Run) -> int:
    reply = count(run.desk, *run.named().values())
    reply["total"] = total(reply["mark_accuracy"])
    if run.options.json:
        print_json(reply)
        return DONE
    print(f"{port_name(reply)} queue {reply['queue']}, {'since the start' if reply['always'] else f'for {COUNT_S:.0f} s'}: {total_text(reply['total'])}")
    shares = [{**row, **{f"{key}_pct": 100 * row[key] for key in ("measured", "expected")}} for row in reply["mark_accuracy"]]
    cells.rows(shares, "up_to_bytes packets marked measured_pct=measured expected_pct=expected")
    return DONE
