# SPDX-License-Identifier: BSD-3-Clause
"""WRED_PROFILE, SCHEDULER, and QUEUE and PORT_QOS_MAP, which refer to them."""
from __future__ import annotations

import dataclasses

from ..switch import CLASSES, MOST_PROFILES, MOST_RATE, MOST_WRED_BYTES, NONE, PROFILE_NAME, Curve, Sched, is_profile_name
from .tables import Tables

MOST_BYTES_PER_S = MOST_RATE // 8  # of cir and pir
MOST_BURST = 1000000
# In quench all packets are green, so ecn_green_yellow equals ecn_all.
ECN = {"ecn_all": True, "ecn_green": True, "ecn_green_yellow": True, "ecn_green_red": True, "ecn_none": False, "ecn_yellow": False, "ecn_red": False,
       "ecn_yellow_red": False}
ECN_WORDS = "ecn_none, ecn_green, ecn_yellow, ecn_red, two of them, or ecn_all"
# Thresholds of marks apart from those of drops: newer and older names.
MARK_FIELDS = {"ecn_min": ("ecn_green_min_threshold", "green_ect_min_threshold"), "ecn_max": ("ecn_green_max_threshold", "green_ect_max_threshold"),
               "ecn_ppm": ("ecn_green_mark_probability", "green_ect_mark_probability")}


@dataclasses.dataclass(frozen=True)
class Scheduler:
    strict: bool = False
    weight: int = 1
    min_rate: int = 0
    max_rate: int = 0
    burst: int | None = None


def read_queues(tables: Tables) -> dict[str, Scheduler]:
    """@return the schedulers by name"""
    schedulers = {key: _read_scheduler(tables, key) for key in tables.keys("SCHEDULER")}
    for key in tables.keys("WRED_PROFILE"):
        _read_wred(tables, key)
    of_port: list[dict[int, Scheduler]] = [{} for _ in tables.switch.ports]
    for key in tables.keys("QUEUE"):
        place = tables.place("QUEUE", key)
        if place is None:
            continue
        own = schedulers.get(tables.take_reference("QUEUE", key, "scheduler", "SCHEDULER") or "")
        curve = tables.take_reference("QUEUE", key, "wred_profile", "WRED_PROFILE")
        for port in place.ports:
            for q in place.indices:
                queue = tables.switch.ports[port].queues[q]
                if own is not None:
                    of_port[port][q] = own
                    queue.min_rate, queue.max_rate = own.min_rate, own.max_rate
                    queue.burst = own.burst if own.burst is not None else queue.burst
                if curve is not None:
                    queue.curve = NONE if curve == "NULL" else curve
    _set_schedulers(tables, of_port)
    return schedulers


def _set_schedulers(tables: Tables, of_port: list[dict[int, Scheduler]]) -> None:
    """Ports without schedulers have those of the first port that has some."""
    first: dict[int, Scheduler] = next((own for own in of_port if own), {})
    for port, own in zip(tables.switch.ports, of_port):
        own = own or first
        port.sched = Sched({q for q, one in own.items() if one.strict}, [own[q].weight if q in own else 1 for q in range(CLASSES)])


def read_shapers(tables: Tables, schedulers: dict[str, Scheduler]) -> None:
    """The scheduler of a port shapes it. What an entry of a port says replaces what the entry global says."""
    for key in sorted(tables.keys("PORT_QOS_MAP"), key=lambda one: one != "global"):
        entry = tables.entry("PORT_QOS_MAP", key) or {}
        if "scheduler" not in entry:
            continue
        place = tables.place("PORT_QOS_MAP", key) if key != "global" else None
        if place is None and key != "global":
            continue
        ports = tables.switch.ports if place is None else [tables.switch.ports[i] for i in sorted(place.ports)]
        name = tables.take_reference("PORT_QOS_MAP", key, "scheduler", "SCHEDULER") or "NULL"
        if name == "NULL":
            continue
        own = schedulers[name]
        for port in ports:
            rate = min(own.max_rate, port.speed)
            port.keys["shaper_rate_bps"] = str(rate)
            if rate < own.max_rate:
                tables.log.note(f" SCHEDULER|{name:.80}|pir: {port.name} is not faster than its link")
        if own.max_rate == 0 or own.min_rate > 0 or own.burst is not None:
            tables.log.lose(f" PORT_QOS_MAP|{key:.80}|scheduler = {name:.80}: of the scheduler of a port only pir counts")


def _read_scheduler(tables: Tables, key: str) -> Scheduler:
    table = "SCHEDULER"
    kind = tables.take_word(table, key, "type", ("STRICT", "DWRR", "WRR"), "STRICT, DWRR or WRR")
    weight = tables.take_number(table, key, "weight", 1, 100)
    if kind == "WRR" or (kind is None and weight is not None):
        tables.log.note(f" {table}|{key:.80}|type = WRR: weights count bytes, as with DWRR")
    meter = tables.take(table, key, "meter_type")
    if meter is not None and meter != "bytes":
        tables.lose(table, key, "meter_type", meter, "rates count bytes")
    cir, pir = (tables.take_number(table, key, field, 0, MOST_BYTES_PER_S) or 0 for field in ("cir", "pir"))
    cbs, pbs = (tables.take_number(table, key, field, 0, 2**63 - 1) or 0 for field in ("cbs", "pbs"))
    if pir > 0 and cir > pir:
        tables.refuse(table, key, "cir", None, "at most pir")
    pbs = pbs or cbs
    if pbs > MOST_BURST:
        tables.log.lose(f" {table}|{key:.80}|pbs: the largest burst of a queue is 1 MB")
    elif cbs > 0 and cbs != pbs:
        tables.log.lose(f" {table}|{key:.80}|cbs: both rates share one burst, that of pbs")
    return Scheduler(kind == "STRICT", weight or 1, 8 * cir, 8 * pir, min(pbs, MOST_BURST) or None)


def _read_wred(tables: Tables, key: str) -> None:
    table = "WRED_PROFILE"
    if not is_profile_name(key):
        tables.refuse(table, key, None, None, PROFILE_NAME)
    if len(tables.switch.curves) == MOST_PROFILES:
        tables.refuse(table, key, None, None, f"at most {MOST_PROFILES} profiles")
    enabled = tables.take_word(table, key, "wred_green_enable", ("true", "false"), "true or false") == "true"
    ecn = ECN[tables.take_word(table, key, "ecn", ECN, ECN_WORDS) or "ecn_none"]
    least, most = (tables.take_number(table, key, f"green_{end}_threshold", 0, MOST_WRED_BYTES) or 0 for end in ("min", "max"))
    if enabled and most == 0:
        # SAI: 0, which is the default too, is the size of the buffer.
        most = MOST_WRED_BYTES
        least = least or most
        tables.log.note(f" {table}|{key:.80}|green_max_threshold: none, or 0, is the whole buffer: the curve ends at 2 GiB")
    if least > most:
        tables.refuse(table, key, "green_min_threshold", None, "at most green_max_threshold")
    percent = tables.take_number(table, key, "green_drop_probability", 0, 100)
    curve = Curve(enabled, ecn, least, most, 10000 * (100 if percent is None else percent))
    curve = _read_marks(tables, key, curve)
    if not enabled and ecn and curve.ecn_max == 0 and most > 0:
        # Without WRED, ECN marks by the curve, and no length of the queue drops other packets.
        curve = dataclasses.replace(curve, ecn_min=least, ecn_max=most, ecn_ppm=curve.green_ppm)
    if not enabled and ecn and curve.ecn_max > 0:
        curve = dataclasses.replace(curve, enabled=True, green_min=MOST_WRED_BYTES, green_max=MOST_WRED_BYTES, green_ppm=0)
        tables.log.note(f" {table}|{key:.80}|wred_green_enable = false: ecn_green_* marks, and the curve of drops begins at 2 GiB")
    tables.switch.curves[key] = curve


def _read_marks(tables: Tables, key: str, curve: Curve) -> Curve:
    table = "WRED_PROFILE"
    found: dict[str, int] = {}
    for member, fields in MARK_FIELDS.items():
        for field in fields:
            value = tables.take_number(table, key, field, 0, 100 if member == "ecn_ppm" else MOST_WRED_BYTES)
            if value is not None and found.setdefault(member, value) != value:
                tables.refuse(table, key, field, str(value), f"the value of {fields[0]}, which has the same meaning")
    if not found:
        return curve
    if not curve.ecn or found.get("ecn_max", 0) == 0:
        tables.log.lose(f" {table}|{key:.80}|{MARK_FIELDS['ecn_max'][0]}: thresholds of marks need ecn for green packets and a max above 0")
        return curve
    if found.get("ecn_min", 0) > found["ecn_max"]:
        tables.refuse(table, key, MARK_FIELDS["ecn_min"][0], None, f"at most {MARK_FIELDS['ecn_max'][0]}")
    return dataclasses.replace(curve, ecn_min=found.get("ecn_min", 0), ecn_max=found["ecn_max"], ecn_ppm=10000 * found.get("ecn_ppm", 100))
