# SPDX-License-Identifier: BSD-3-Clause
"""Which policy-maps apply: those of system qos and of the interfaces; and what policies of several types share."""
from __future__ import annotations

import dataclasses
import re

from ..log import Log
from ..switch import CLASSES, Profile, Switch, is_profile_name, MOST_PROFILES, MOST_BYTES
from .lines import Line, number, refuse

QOS, OUTPUT, INPUT = "qos", "queuing output", "queuing input"
SERVICE = re.compile(r"service-policy (?:(?:type (queuing) (output|input)|(?:type (qos) )?(input)) (\S+)(?: no-stats)?|type (network-qos) (\S+))", re.I)
NO_ROOM = f"a switch has at most {MOST_PROFILES} buffer profiles"
# Names that NX-OS predefines.
OUT_OR_IN = re.compile(r"(?:c-out-8q-q|c-out-q|c-in-8q-q|c-in-q)(-default|[0-7])", re.I)
NETWORK = re.compile(r"(?:c-8q-nq|c-nq)(-default|[0-7])", re.I)


@dataclasses.dataclass
class Bound:
    """The policies of system qos or of an interface. A policy that is None is one that NX-OS predefines."""

    of: dict[str, Line | None] = dataclasses.field(default_factory=dict)


class Policies:
    """The policy-maps of a file, and those that apply to the switch and to its ports."""

    def __init__(self, top: Line, log: Log) -> None:
        self.log, self.top = log, top
        self.system = Bound()
        self.ports: list[Bound] = []
        self.network: Line | None = None
        self.maps: dict[tuple[str, str], Line] = {}
        self.groups: dict[tuple[str, str], tuple[Line, Line]] = {}  # class-maps of the user's own: their match qos-group
        for line in top.lines:
            if found := line.match("policy-map type % %"):
                self.maps.setdefault((found[0].lower(), found[1]), line)
            elif found := line.match("policy-map %"):
                self.maps.setdefault(("qos", found[0]), line)
            elif line.begins("class-map type") and len(line.words) in (4, 5):
                for own in line.lines:
                    if own.begins("match qos-group"):
                        self.groups.setdefault((line.words[2], line.text.split()[-1]), (line, own))
                        break

    def bind(self, line: Line, bound: Bound, is_profile: bool = False) -> None:
        """Read a service-policy line. If an earlier line bound another policy, that one stays. is_profile: a port's own line counts."""
        found = SERVICE.fullmatch(line.text)
        if not found:
            line.lose("expected a policy for input, or of type queuing for output")
            return
        kind = "network-qos" if found[6] else f"queuing {found[2].lower()}" if found[1] else QOS
        line.use()
        policy = self._find(line, kind.split()[0], found[7] or found[5])
        if kind == "network-qos":
            if self.network is not None and self.network is not policy:
                line.lose("another policy of this type applies already")
                return
            self.network = policy
        elif kind in bound.of and bound.of[kind] is not policy:
            if not is_profile:
                line.lose("another policy of this type applies already")
            return
        else:
            bound.of[kind] = policy
        if policy is not None:
            policy.use()

    def _find(self, line: Line, kind: str, name: str) -> Line | None:
        policy = self.maps.get((kind, name))
        if policy is None and not name.lower().startswith("default-"):
            refuse(self.log, line, "a policy-map of this type and name")
        if policy is None:
            line.lose("predefined policy of NX-OS, which is not in the file")
        return policy

    def of(self, port: int, kind: str) -> Line | None:
        """The policy-map that applies to a port."""
        own = self.ports[port].of
        return own[kind] if kind in own else self.system.of.get(kind)

    def first_with(self, port: int, kind: str) -> int:
        """The first port with the same policy of a kind; the port itself if there is no earlier one."""
        policy = self.of(port, kind)
        return next(i for i in range(port + 1) if self.of(i, kind) is policy)

    def classes(self, policy: Line, kind: str) -> list[tuple[Line, int]]:
        """The classes of a policy of type queuing or network-qos, with their groups."""
        found = []
        for line in list(policy.unused()):
            words = line.match("class type % %")
            name = words[1] if words and words[0].lower() == kind else (line.match("class %") or (None,))[0]
            if name is None:
                continue
            group = self._group(kind, name)
            if group is None:
                line.lose_block("class without a known qos-group")
                continue
            line.use()
            found.append((line, group))
        return found

    def _group(self, kind: str, name: str) -> int | None:
        own = (OUT_OR_IN if kind == "queuing" else NETWORK).fullmatch(name)
        if own:
            return 0 if own[1].lower() == "-default" else int(own[1])
        if name.lower() == "class-default":
            return 0
        if (kind, name) not in self.groups:
            return None
        line, match = self.groups[kind, name]
        text = match.text.split()
        if len(text) != 3:
            return None
        match.use()
        line.use()
        return number(self.log, match, text[2], 0, CLASSES - 1)


@dataclasses.dataclass(frozen=True)
class Pause:
    """pause buffer-size B pause-threshold P resume-threshold R, in bytes."""

    buffer: int
    pause: int
    resume: int

    def profile(self) -> Profile:
        """The limit, hysteresis and headroom of a priority group."""
        return Profile(dynamic=False, static_th=self.pause, xon_offset=self.pause - self.resume, xoff=self.buffer - self.pause)


def read_pause(log: Log, line: Line, words: tuple[str, ...]) -> Pause:
    buffer = number(log, line, words[0], 1, MOST_BYTES)
    pause = number(log, line, words[1], 1, buffer)
    return Pause(buffer, pause, number(log, line, words[2], 0, pause))


def profile_name(policy: Line | None, suffix: str) -> str:
    """POLICY_SUFFIX, or with the policy-map's line if that is no valid name, or could be that of a profile without a policy."""
    if policy is None:
        return f"nxos_{suffix}"
    own = policy.text.split()[-1]
    name = f"{own}_{suffix}"
    return name if is_profile_name(name) and not own.lower().startswith("nxos") else f"nxos_{policy.number}_{suffix}"


def add_profile(switch: Switch, policy: Line | None, suffix: str, profile: Profile) -> str | None:
    """The name of a new buffer profile, or of an equal one. None: there is no room for it."""
    for name, own in switch.profiles.items():
        if own == profile:
            return name
    if len(switch.profiles) == MOST_PROFILES:
        return None
    name = profile_name(policy, suffix)
    switch.profiles[name] = profile
    return name
