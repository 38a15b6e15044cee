# SPDX-License-Identifier: BSD-3-Clause
"""Policy-maps of type queuing and network-qos: MTU and lossless classes; scheduler, WRED, limits and shapers of queues; thresholds of PFC."""
from __future__ import annotations

import dataclasses

from ..log import Log
from ..switch import (CLASSES, DEFAULT, MOST_BYTES, MOST_MTU, MOST_PROFILES, MOST_RATE, MOST_WRED_BYTES, MTU_OVERHEAD, NONE, Curve, Profile, Sched, Switch)
from ..values import GBPS, KBPS, MBPS
from .lines import Line, number, refuse
from .policies import INPUT, NO_ROOM, OUTPUT, Policies, add_profile, profile_name, read_pause

MOST_LEVEL = 3
DYNAMIC_ONE, MOST_DYNAMIC = 7, 10  # "queue-limit dynamic N" is an alpha of 2^(N - 7)
BYTE_UNITS = {"bytes": 1, "kbytes": 10**3, "mbytes": 10**6}
RATE_UNITS = {"bps": 1, "kbps": KBPS, "mbps": MBPS, "gbps": GBPS}
PAUSE_BUFFER = "pause buffer-size % pause-threshold % resume-threshold %"


def quantity(log: Log, line: Line, text: str, unit: str, units: dict[str, int], most: int) -> int:
    if unit.lower() not in units:
        *first, last = units
        refuse(log, line, f"{', '.join(first)} or {last}")
    return number(log, line, text, 0, most // units[unit.lower()]) * units[unit.lower()]


class Network:
    """The policy-map of type network-qos: pfc_cos is the PFC priority of each group that has PFC."""

    def __init__(self, switch: Switch, policies: Policies, log: Log) -> None:
        self.switch, self.log = switch, log
        self.pfc_cos: dict[int, int] = {}
        self.group_profiles: dict[int, str] = {}  # by priority group
        for line, group in policies.classes(policies.network, "network-qos") if policies.network else []:
            for own in list(line.unused()):
                self._read_line(own, group)
        longest = max(switch.class_mtu)
        switch.max_frame = max(switch.max_frame, longest + MTU_OVERHEAD)
        if longest > 0:
            log.note(f" classes without an mtu: frames up to max_frame_bytes = {switch.max_frame}")

    def _read_line(self, line: Line, group: int) -> None:
        if found := line.match("mtu %"):
            self.switch.class_mtu[group] = number(self.log, line, found[0], 64, MOST_MTU)
            line.use()
        elif found := line.match("pause pfc-cos %") or line.match(f"{PAUSE_BUFFER} pfc-cos %"):
            if group in self.pfc_cos:
                refuse(self.log, line, "one pause line per class")
            pause = read_pause(self.log, line, found) if len(found) > 1 else None
            self._read_no_drop(line, found[-1], group)
            if pause is not None:
                cos = self.pfc_cos[group]
                name = add_profile(self.switch, None, f"pause_{cos}", pause.profile())
                assert name is not None, "at most one profile for each of the classes"
                self.group_profiles[cos] = name
        elif line.match("pause pfc-cos % receive"):
            line.why = "a priority obeys and sends pauses, or neither"
        elif line.match("pause no-drop") is not None:
            line.why = "pause without pfc-cos"
        elif line.match("congestion-control tail-drop") is not None:
            line.use()  # a queue without WRED does so anyway

    def _read_no_drop(self, line: Line, text: str, group: int) -> None:
        cos = number(self.log, line, text, 0, CLASSES - 1)
        if cos in self.pfc_cos.values():
            refuse(self.log, line, "a pfc-cos that no other class has")
        self.pfc_cos[group] = cos
        line.use()

    def set_maps(self, strict: set[int]) -> None:
        """A lossless qos-group uses the priority group of its PFC priority, and a pause of that priority stops its queue.

        Each strict queue has its own priority group, so that bulk data cannot exhaust its limit; the others share one.
        """
        lossless = frozenset(self.pfc_cos.values())
        taken = set(lossless)
        shared = next((pg for pg in range(CLASSES - 1) if pg not in lossless), CLASSES - 1)
        groups = []
        for group in range(CLASSES):
            own = group in strict and group not in taken
            groups.append(self.pfc_cos.get(group, group if own else shared))
            taken.add(groups[-1])
        pfc_queue = list(range(CLASSES))
        for group, cos in self.pfc_cos.items():
            pfc_queue[cos] = group
        for port in self.switch.ports:
            port.qos.queue, port.qos.group, port.qos.pfc_queue = list(range(CLASSES)), groups, pfc_queue
            port.qos.pfc_enable = lossless


@dataclasses.dataclass
class QueueLines:
    """What a class of a policy says of its queue."""

    is_strict: bool = False
    level: int = 1
    strict_line: Line | None = None
    weight: int | None = None
    curve: Curve | None = None
    curve_line: Line | None = None
    limit: Profile | None = None
    limit_line: Line | None = None
    min_rate: int = 0
    max_rate: int = 0


@dataclasses.dataclass
class Words:
    """The random-detect lines of a class."""

    curve: Curve = Curve(ecn=False, green_min=0, green_max=0, green_ppm=1000000)
    has_min: bool = False
    has_max: bool = False
    line: Line | None = None  # the last one that counts


class Queuing:
    """A policy-map of type queuing for output; None: queues with equal shares."""

    def __init__(self, policy: Line | None, policies: Policies, network: Network, log: Log) -> None:
        self.log, self.network = log, network
        self.queues = [QueueLines() for _ in range(CLASSES)]
        seen: set[int] = set()
        for line, group in policies.classes(policy, "queuing") if policy else []:
            if group in seen:
                line.lose_block("an earlier class of the policy has this queue")
                continue
            seen.add(group)
            words = Words()
            for own in list(line.unused()):
                self._read_line(own, group, words)
            self._end_wred(line, words, self.queues[group])
        self.sched = Sched({q for q, queue in enumerate(self.queues) if queue.is_strict})
        self._check_levels()
        self._share_rest(policy)

    def _read_line(self, line: Line, group: int, words: Words) -> None:
        queue = self.queues[group]
        if found := line.match("bandwidth remaining percent %") or line.match("bandwidth percent %"):
            percent = number(self.log, line, found[0], 0, 100)
            if percent == 0:
                self.log.note(f"{line.number}: {line.text}: queue {group} has weight 1, the lowest weight")
            queue.weight = max(percent, 1)
            line.use()
        elif (found := line.match("priority level %")) or line.match("priority") is not None:
            queue.level = number(self.log, line, found[0], 1, MOST_LEVEL) if found else 1
            queue.is_strict, queue.strict_line = True, line
            line.use()
        elif line.begins("random-detect"):
            self._read_wred(line, words)
        elif line.begins("queue-limit"):
            self._read_limit(line, group)
        elif found := (line.match("shape min % % max % %") or line.match("shape max % %") or line.match("shape average % %") or line.match("shape % %")):
            rates = [quantity(self.log, line, found[i], found[i + 1], RATE_UNITS, MOST_RATE) for i in range(0, len(found), 2)]
            queue.min_rate, queue.max_rate = ([0] + rates)[-2:]
            if queue.min_rate > queue.max_rate:
                refuse(self.log, line, "a min that is not above the max")
            line.use()
        elif line.begins("pause buffer-size"):
            line.lose("only a policy for input has thresholds of PFC")

    def _read_wred(self, line: Line, words: Words) -> None:
        """A line counts whole or not at all."""
        rest = line.text.split()[1:]
        new: dict[str, int | bool] = {}
        has_min, has_max = words.has_min, words.has_max
        while rest:
            word = rest[0].lower()
            if word in ("minimum-threshold", "maximum-threshold") and len(rest) >= 3:
                is_min = word.startswith("min")
                new["green_min" if is_min else "green_max"] = quantity(self.log, line, rest[1], rest[2], BYTE_UNITS, MOST_WRED_BYTES)
                has_min, has_max = has_min or is_min, has_max or not is_min
                rest = rest[3:]
            elif word == "drop-probability" and len(rest) >= 2:
                new["green_ppm"] = number(self.log, line, rest[1], 0, 100) * 10000
                rest = rest[2:]
            elif word == "weight" and len(rest) >= 2:
                new["weight"] = number(self.log, line, rest[1], 0, 15)
                rest = rest[2:]
            elif word == "ecn":
                new["ecn"] = True
                rest = rest[1:]
            else:
                line.lose("this word has no counterpart in [wred]")
                return
        line.use()
        words.curve = dataclasses.replace(words.curve, **new)
        words.has_min, words.has_max, words.line = has_min, has_max, line

    def _end_wred(self, block: Line, words: Words, queue: QueueLines) -> None:
        """Set the curve after the last line of a class."""
        if words.line is None:
            return
        if words.has_max and words.curve.green_min > words.curve.green_max:
            refuse(self.log, words.line, "a minimum-threshold that is not above the maximum-threshold")
        if words.has_min and words.has_max:
            queue.curve, queue.curve_line = words.curve, words.line
            return
        for line in block.lines:
            if line.begins("random-detect") and line.why is None:
                line.lose("the line gives no thresholds; those of the platform are unknown")

    def _read_limit(self, line: Line, group: int) -> None:
        """The limit of a queue, except of a lossless one, which the ingress side limits."""
        queue = self.queues[group]
        if found := line.match("queue-limit dynamic %"):
            limit = Profile(dynamic_th=number(self.log, line, found[0], 0, MOST_DYNAMIC) - DYNAMIC_ONE)
        elif found := line.match("queue-limit % %"):
            size = quantity(self.log, line, found[0], found[1], BYTE_UNITS, MOST_BYTES)
            if size == 0:
                refuse(self.log, line, "a limit above 0")
            limit = Profile(dynamic=False, static_th=size)
        else:
            return
        if group in self.network.pfc_cos:
            line.lose("only its priority group limits a no-drop queue")
            return
        if queue.limit is not None:
            refuse(self.log, line, "one queue-limit of a class")
        queue.limit, queue.limit_line = limit, line
        line.use()

    def _check_levels(self) -> None:
        """Our scheduler serves the higher queue first, NX-OS the lower level."""
        for high in range(CLASSES):
            for low in range(high):
                first, second = self.queues[high], self.queues[low]
                if first.is_strict and second.is_strict and first.level > second.level and second.strict_line is not None:
                    second.strict_line.lose("in part: among strict queues, the queue with the higher number goes first")

    def _share_rest(self, policy: Line | None) -> None:
        """Queues without bandwidth share the remainder equally."""
        given = sum(queue.weight or 0 for queue in self.queues)
        without = [q for q, queue in enumerate(self.queues) if queue.weight is None and not queue.is_strict]
        part = (100 - given) // len(without) if without and given + len(without) < 100 else 1
        self.sched.weights = [part if q in without else queue.weight or 1 for q, queue in enumerate(self.queues)]
        if without:
            self.log.note(f" {policy.text.split()[-1] + ': ' if policy else ''}queues without a bandwidth line: weight {part} each")


class Output:
    """The queues of each port. The policy of most ports is [scheduler], [wred] and its queues."""

    def __init__(self, switch: Switch, policies: Policies, network: Network, log: Log) -> None:
        self.switch = switch
        firsts = [policies.first_with(i, OUTPUT) for i in range(len(switch.ports))]
        counts = [firsts.count(i) for i in range(len(switch.ports))]
        self.main = counts.index(max(counts))
        self.of = {i: Queuing(policies.of(i, OUTPUT), policies, network, log) for i in sorted(set(firsts))}
        self._set_wred(self.of[self.main])
        n = len(switch.ports)
        # Profiles of the main policy come first.
        for i in [(self.main + k) % n for k in range(n)]:
            own = self.of[firsts[i]]
            for q in range(CLASSES):
                self._set_queue(None if firsts[i] == self.main else policies.of(i, OUTPUT), own.queues[q], i, q)
            switch.ports[i].sched = own.sched

    def _set_wred(self, main: Queuing) -> None:
        """The first curve of the main policy becomes [wred]."""
        curves = [(queue.curve_line.number, queue.curve) for queue in main.queues if queue.curve_line is not None and queue.curve is not None]
        if curves:
            self.switch.wred = min(curves, key=lambda one: one[0])[1]
            self.switch.wred_queues = {q for q, queue in enumerate(main.queues) if queue.curve == self.switch.wred}

    def _set_queue(self, policy: Line | None, queue: QueueLines, port: int, q: int) -> None:
        out = self.switch.ports[port].queues[q]
        curve = self._curve_name(policy, queue, q)
        if curve is None and queue.curve_line is not None:
            queue.curve_line.lose(f"a switch has at most {MOST_PROFILES} curves")
        limit = add_profile(self.switch, policy, f"limit_{q}", queue.limit) if queue.limit is not None else DEFAULT
        if limit is None and queue.limit_line is not None:
            queue.limit_line.lose(NO_ROOM)
        out.curve, out.profile = curve or NONE, limit or DEFAULT
        out.min_rate, out.max_rate = queue.min_rate, queue.max_rate

    def _curve_name(self, policy: Line | None, queue: QueueLines, q: int) -> str | None:
        """The name of a curve for a queue; None: there is no room for it."""
        switch = self.switch
        has_shared = q in switch.wred_queues
        if queue.curve is None:
            return NONE if has_shared else DEFAULT
        if has_shared and queue.curve == switch.wred:
            return DEFAULT
        for name, curve in switch.curves.items():
            if curve == queue.curve:
                return name
        if len(switch.curves) == MOST_PROFILES:
            return None
        name = profile_name(policy, f"queue_{q}")
        switch.curves[name] = queue.curve
        return name


def read_input(switch: Switch, policies: Policies, network: Network, log: Log) -> None:
    """Policies for input: thresholds of PFC."""
    for port in switch.ports:
        for cos, name in network.group_profiles.items():
            port.groups[cos] = name
    for first in range(len(switch.ports)):
        policy = policies.of(first, INPUT)
        if policy is None or policies.first_with(first, INPUT) != first:
            continue
        for block, group in policies.classes(policy, "queuing"):
            for line in list(block.unused()):
                found = line.match(PAUSE_BUFFER)
                if not found:
                    continue
                pause = read_pause(log, line, found)
                if group not in network.pfc_cos:
                    line.lose("the class has no PFC, by the policy of type network-qos")
                    continue
                cos = network.pfc_cos[group]
                own = add_profile(switch, policy, f"pause_{cos}", pause.profile())
                if own is None:
                    line.lose(NO_ROOM)
                    continue
                for i, port in enumerate(switch.ports):
                    if i >= first and policies.first_with(i, INPUT) == first:
                        port.groups[cos] = own
                line.use()
