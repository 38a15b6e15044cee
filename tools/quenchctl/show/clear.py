# SPDX-License-Identifier: BSD-3-Clause
"""clear counters: what show commands count from."""
from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from quench.desk import Call, Row
from quenchctl.command import DONE, NIC, SWITCH, BadUsage, Run
from quenchctl.show import baseline
from quenchctl.table import CLEAR_KINDS


class Kind(NamedTuple):
    """A reply to keep."""

    name: str
    program: str
    method: str
    each: str = ""            # "port" or "flow": one for each
    on_request: bool = False  # only if it is named, because it is long


KINDS = [
    Kind("interface", SWITCH, "ports"), Kind("interface", SWITCH, "port", "port"), Kind("interface", NIC, "port"),
    Kind("queue", SWITCH, "queues", "port"), Kind("queue", SWITCH, "ecn"), Kind("priority-group", SWITCH, "pg", "port"),
    Kind("pfc", SWITCH, "pfc"), Kind("pfc", NIC, "port"), Kind("pfcwd", SWITCH, "pfcwd"), Kind("drop", SWITCH, "drops"),
    Kind("router", SWITCH, "router"), Kind("router", SWITCH, "interfaces"),
    Kind("router", SWITCH, "nexthops"),
    Kind("nic", NIC, "nic"), Kind("nic", NIC, "np"), Kind("nic", NIC, "rp"), Kind("flow", NIC, "flows"),
    Kind("qp", NIC, "qps", "", True), Kind("times", NIC, "times", "flow", True),
]
TIMES = ("completions", "rtt_samples", "paced_gaps", "burst_gaps", "one_way_samples")


def calls(run: Run, kinds: list[Kind], ports: int) -> Iterator[Call]:
    for kind in kinds:
        if kind.each == "port":
            yield from ((kind.method, {"port": port}) for port in range(ports))
        elif kind.each == "flow":
            flows = run.desk.call("flows")["rows"]
            yield from ((kind.method, {"flow": row["flow"]}) for row in flows if any(row.get(name) for name in TIMES))
        else:
            yield kind.method, {}


def counter_names(rows: list[Row]) -> list[str]:
    """N in a name stands for each priority."""
    return [name for row in rows for name in ([row["name"].replace("N", str(prio), 1) for prio in range(8)] if "N" in row["name"] else [row["name"]])]


def run(run_: Run) -> int:
    wanted = run_.params[0] if run_.params else None
    kinds = [kind for kind in KINDS if kind.program == run_.program and (not kind.on_request if wanted is None else kind.name == wanted)]
    if not kinds:
        raise BadUsage(f"{wanted}: expected one of {CLEAR_KINDS}, of a {run_.program}")
    desk = run_.desk
    info = desk.call("info")
    asked = list(calls(run_, kinds, info.get("ports", 0)))
    replies = desk.batch(asked)
    counters = counter_names(desk.call("counters")["rows"])
    baseline.keep(desk, {baseline.key(*one): reply for one, reply in zip(asked, replies)}, counters, info["elapsed_ns"])
    return DONE
