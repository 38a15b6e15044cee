# SPDX-License-Identifier: BSD-3-Clause
"""Names of ports for people, in texts of a switch that have numbers: "port 3", "queue 3|1", "pg 3|1", and lists such as "0-3,7"."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from quench.desk import Desk, Row

SECTION = re.compile(r"(port |interface port |queue (?=\d+\|)|pg (?=\d+\|))(\d+)(\|.*|$)")
LIST = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


def named_list(names: Mapping[int, str], text: str) -> str:
    """Ports without a name stay numbers, as ranges."""
    found: list[str | list[int]] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        run: list[int] = []
        for port in range(int(first), int(last or first) + 1):
            if port in names:
                found.append(names[port])
                run = []
            elif run:
                run[1] = port
            else:
                run = [port, port]
                found.append(run)
    return ",".join(part if isinstance(part, str) else str(part[0]) if part[0] == part[1] else f"{part[0]}-{part[1]}" for part in found)


def named(names: Mapping[int, str], text: str) -> str:
    section = SECTION.fullmatch(text)
    if section and int(section[2]) in names:
        return section[1] + names[int(section[2])] + section[3]
    return named_list(names, text) if LIST.fullmatch(text) else text


def name(desk: Desk, keys: Sequence[str], rows: Iterable[Row]) -> None:
    """Replace numbers by names in these keys of the rows."""
    names = {row["port"]: row["port_name"] for row in desk.call("ports")["rows"] if row.get("port_name")}
    for row in rows:
        for key in keys:
            # A list of one port may have become a number.
            if isinstance(row.get(key), (str, int)):
                row[key] = named(names, str(row[key]))
