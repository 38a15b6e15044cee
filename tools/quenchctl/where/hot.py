# SPDX-License-Identifier: BSD-3-Clause
"""show hot: the longest queues of all programs, with the flows that fill them, and NICs that pauses hold or that pause others."""
from __future__ import annotations

from quench.desk import Row
from quenchctl.command import DONE, Run, print_json
from quenchctl.where import looks
from quenchctl.where.programs import programs
from quenchctl.where.reading import Port, Reading

LINES = 30
MOST_FLOWS = 8


def queue_rows(reading: Reading) -> list[tuple[Port, Row]]:
    rows = []
    for at, queue in reading.results():
        paused = max((p.ns for (port, _), p in reading.obeyed.items() if port == at), default=0)
        rows.append((at, {**queue, "paused_ns": paused}))
    return rows


def nic_rows(reading: Reading) -> list[Row]:
    """The one that was paused, or that paused, for the longest first."""
    rows: list[Row] = []
    for number, program in enumerate(reading.programs):
        if program.is_switch:
            continue
        times = {way: max((p.ns for (port, _), p in found.items() if port.program == number), default=0)
                 for way, found in (("paused_ns", reading.obeyed), ("pauses_others_ns", reading.sent))}
        if any(times.values()):
            rows.append({"node": program.name, **times})
    return sorted(rows, key=lambda row: -max(int(row["paused_ns"]), int(row["pauses_others_ns"])))


def queue_text(reading: Reading, at: Port, row: Row) -> str:
    text = (f"{reading.text(at)} queue {row['queue']}: mean {looks.size(row['queue_mean_bytes'])}, max {looks.size(row['queue_max_bytes'])}")
    if row["ecn_marked_packets"]:
        text += f", {row['marked_packets']} packets marked"
    if row["drop_packets"]:
        text += f", {row['dropped_packets']} dropped"
    if row["paused_ns"]:
        text += f", paused {looks.span(row['paused_ns'])}"
    flows = [looks.flow_text(flow) + f" {flow['share'] * 100:.0f} %" for flow in row["flows"][:MOST_FLOWS]]
    return text + (f"; filled by {', '.join(flows)}" if flows else "")


def nic_text(row: Row) -> str:
    parts = [f"{text} {looks.span(row[key])}" for key, text in (("paused_ns", "paused"), ("pauses_others_ns", "pauses its peer")) if row[key]]
    return f"{row['node']}: {', '.join(parts)}"


def run(run_: Run) -> int:
    with programs(run_.options) as found:
        reading = Reading(found)
        reading.read()
        queues, nics = queue_rows(reading), nic_rows(reading)
        if run_.options.json:
            print_json({"hot_queues": [row for _, row in queues], "nics": nics})
            return DONE
        lines = [queue_text(reading, at, row) for at, row in queues] + [nic_text(row) for row in nics]
        shown = lines if run_.options.all else lines[:LINES]
        print("\n".join(shown) or "no queues")
        if len(shown) < len(lines):
            print(f"{len(lines)} lines in all; --all prints each")
    return DONE
