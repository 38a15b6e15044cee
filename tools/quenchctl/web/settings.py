# SPDX-License-Identifier: BSD-3-Clause
"""What the page may change of a program, and the changes of a curve."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from quench.desk import BAD_PARAMS, Desk, Refused, Row
from quenchctl.command import SWITCH
from quenchctl.snapshot import MOST_FLOWS, port_name

# Keys of a curve: of marks and drops, or of marks if they have a curve of their own.
SHARED = {"Kmin": "green_min_threshold_bytes", "Kmax": "green_max_threshold_bytes", "Pmax": "green_drop_probability_ppm"}
MARKS = {"Kmin": "ecn_green_min_threshold_bytes", "Kmax": "ecn_green_max_threshold_bytes", "Pmax": "ecn_green_mark_probability_ppm"}

Config = dict[tuple[str, str], str]


def keys_of(row: Row) -> Mapping[str, str]:
    return MARKS if row.get(MARKS["Kmax"], 0) > 0 else SHARED


def config_of(desk: Desk) -> Config:
    """The values in force that are not the default."""
    return {(row["section"], row["key"]): row["value"] for row in desk.call("config")["rows"]}


def profile_of(config: Config, row: Row) -> str:
    """Of a queue: "" is [wred]."""
    profile = config.get((f"queue {row['port']}|{row['queue']}", "wred_profile"), "")
    return "" if profile == "default" else profile


def settings(desk: Desk, program: str) -> Row:
    """{"queues": [...]} of a switch, with the number of queues that share a profile, or {"flows": [...]}. @raise quench.desk.Failed"""
    config = config_of(desk)
    if program != SWITCH:
        return {"flows": [{"flow": row["flow"], "cap": row["configured_rate_bps"] / row["qps"] if row["qps"] > 0 else 0,
                           "stopped": config.get((f"flow {row['flow']}", "stopped")) == "on"}
                          for row in desk.call("flows", count=MOST_FLOWS)["rows"] if not row.get("gone")]}
    rows = desk.call("ecn")["rows"]
    profiles = [profile_of(config, row) for row in rows]
    return {"queues": [{"port": row["port"], "queue": row["queue"], "name": f"{port_name(row)} queue {row['queue']}", "profile": profile,
                        "sharing": profiles.count(profile), **{name: row[key] for name, key in keys_of(row).items()}} for row, profile in zip(rows, profiles)]}


def setting(profile: str, key: str, value: object) -> str:
    text = value if isinstance(value, str) else ("on" if value else "off") if isinstance(value, bool) else str(value)
    return f"wred{' ' if profile else ''}{profile}.{key}={text}"


def free_profile(config: Config, row: Row) -> str:
    """A name that no profile has: one of the first choice may be another queue's by now."""
    first = name = f"web-{row['port']}-{row['queue']}"
    taken = {section for section, _ in config} | {f"wred {value}" for (_, key), value in config.items() if key == "wred_profile"}
    i = 2
    while f"wred {name}" in taken:
        name, i = f"{first}-{i}", i + 1
    return name


def set_curve(desk: Desk, port: int, queue: int, only: bool, curve: Mapping[str, str]) -> Row:
    """Change Kmin, Kmax, Pmax of the queue's curve; only: of this queue, which gets a profile of its own if it shares one. As one change.
    @raise quench.desk.Failed"""
    config, rows = config_of(desk), desk.call("ecn")["rows"]
    row = next((row for row in rows if (row["port"], row["queue"]) == (port, queue)), None)
    if row is None:
        raise Refused(BAD_PARAMS, f"port {port} queue {queue}: expected a queue with a WRED curve")
    keys, profile = keys_of(row), profile_of(config, row)
    changed = {keys[name]: value for name, value in curve.items()}
    lines: Sequence[str] = []
    if only and sum(profile_of(config, other) == profile for other in rows) > 1:
        profile = free_profile(config, row)
        # All of the profile that the queue has now, but what changes; beside it, a row has the queue and its counters.
        counters = {found["name"] for found in desk.call("counters")["rows"] if found["object"] == "queue"} | {"port", "port_name", "queue", "queue_bytes"}
        lines = [setting(profile, key, value) for key, value in row.items() if key not in counters and key not in changed]
        lines = [*lines, f"queue {port}|{queue}.wred_profile={profile}"]
    done: Row = desk.call("set", settings=[*lines, *(setting(profile, key, value) for key, value in changed.items())])
    return done
