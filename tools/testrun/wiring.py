# SPDX-License-Identifier: BSD-3-Clause
"""Switches in a row with hosts, and the numbers of their ports: those of quench-lab."""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

# Topologies that are such a row: number of switches, by the keys of [fabric].
ROWS: dict[str, Callable[[Mapping[str, str]], int]] = {
    "star": lambda fabric: 1,
    "dumbbell": lambda fabric: 2,
    "parking_lot": lambda fabric: int(fabric["switches"]),
}


class Port(NamedTuple):
    """switch: "s1" or another."""

    switch: str
    number: int

    def __str__(self) -> str:
        return f"{self.switch} port {self.number}"


@dataclasses.dataclass
class Wiring:
    """Equally many hosts at each switch, and a link to each neighbour. Ports: hosts first, then the switch before, then the one after."""

    n_switches: int
    hosts_each: int

    @property
    def switches(self) -> list[str]:
        return [f"s{i}" for i in range(1, self.n_switches + 1)]

    def of_host(self, host: int) -> Port:
        return Port(f"s{(host - 1) // self.hosts_each + 1}", (host - 1) % self.hosts_each)

    def hosts(self, switch: str) -> dict[int, int]:
        """Hosts by the numbers of their ports."""
        return {number: (int(switch[1:]) - 1) * self.hosts_each + number + 1 for number in range(self.hosts_each)}

    def before(self, switch: str) -> Port | None:
        """The port to the switch before it."""
        return Port(switch, self.hosts_each) if switch != "s1" else None

    def after(self, switch: str) -> Port | None:
        if int(switch[1:]) == self.n_switches:
            return None
        return Port(switch, self.hosts_each + (1 if self.before(switch) else 0))

    def links(self) -> list[tuple[Port, Port]]:
        """Both ends of the links between switches."""
        found = []
        for here, there in zip(self.switches, self.switches[1:]):
            a, b = self.after(here), self.before(there)
            assert a is not None and b is not None
            found.append((a, b))
        return found

    def n_ports(self, switch: str) -> int:
        return self.hosts_each + sum(port is not None for port in (self.before(switch), self.after(switch)))

    def towards(self, switch: str, host: int) -> int:
        """The number of the port by which a switch reaches a host."""
        at = self.of_host(host)
        port = at if at.switch == switch else self.after(switch) if int(at.switch[1:]) > int(switch[1:]) else self.before(switch)
        assert port is not None
        return port.number

    def number(self, switch: str, peer: str) -> int | None:
        """Of a port that is named as in events: by its number, its host or the next switch. None: there is no such port."""
        if re.fullmatch(r"\d+", peer):
            return int(peer) if int(peer) < self.n_ports(switch) else None
        for number, host in self.hosts(switch).items():
            if peer == f"h{host}":
                return number
        for a, b in self.links():
            for here, there in ((a, b), (b, a)):
                if (here.switch, there.switch) == (switch, peer):
                    return here.number
        return None
