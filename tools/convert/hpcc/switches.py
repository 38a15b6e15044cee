# SPDX-License-Identifier: BSD-3-Clause
"""Sections of switches: buffer, PFC's thresholds, curves of marks."""
from __future__ import annotations

import collections

from .config import Config
from .fabric import Fabric
from .lines import LONGEST
from .topology import Link, Mmu

ALPHA_SHIFT = 3
LOSSLESS_GROUP = 3
MB = 1024 * 1024
MOST_BUFFER_MB = 2**20
Kind = tuple[int, int]  # of a port: shift of its share of the free buffer, headroom


def thresholds(link: Link, nic_rate: int, mmu: Mmu) -> Kind:
    shift, bps = ALPHA_SHIFT, link.rate_bps
    while mmu.follows_rate and bps > nic_rate and shift > 0:
        shift -= 1
        bps //= 2
    return shift, 3 * link.rate_bps * link.delay_ns // 8_000_000_000


def profile(name: str, kind: Kind, mmu: Mmu) -> str:
    shift, headroom = kind
    return (f"[buffer_profile {name}]\nsize_bytes = {mmu.reserve_bytes}B\ndynamic_th = {-shift}\nxoff_bytes = {headroom}B\n"
            f"xon_bytes = {mmu.xon_bytes}B\nxon_offset_bytes = {mmu.xon_offset_bytes}B\n")


class Pfc:
    """They have no keys for PFC's thresholds, but derive them from each port's rate and delay."""

    def __init__(self, config: Config, fabric: Fabric, mmu: Mmu, left_out: dict[int, list[Link]]) -> None:
        self.config, self.fabric, self.mmu, self.left_out = config, fabric, mmu, left_out
        self.nic_rate = fabric.nic_rate()
        of_port = {s: [thresholds(link, self.nic_rate, mmu) for link in fabric.ports(s)] for s in fabric.switches}
        kinds = collections.Counter(kind for ports in of_port.values() for kind in ports).most_common()
        self.profiles = [profile("lossless", kinds[0][0], mmu)]
        names = {kind: f"ports{i}" for i, (kind, _) in enumerate(kinds) if i > 0}
        self.profiles += [profile(name, kind, mmu) for kind, name in names.items()]
        self.of_port = {s: [names.get(kind) for kind in ports] for s, ports in of_port.items()}

    def groups(self) -> list[str]:
        return [f"[switch s{s} pg {port}|{LOSSLESS_GROUP}]\nbuffer_profile = {name}\n"
                for s, names in self.of_port.items() for port, name in enumerate(names) if name]

    def _headroom(self, links: list[Link]) -> int:
        return sum(thresholds(link, self.nic_rate, self.mmu)[1] for link in links)

    def buffer(self, switch: int, buffer_bytes: int) -> int:
        """Of a switch: less what theirs keeps for ports that are left out, and for priorities without traffic."""
        mmu, ports, gone = self.mmu, self.fabric.ports(switch), self.left_out.get(switch, [])
        kept = mmu.priorities * self._headroom(gone) + mmu.reserve_bytes * len(gone) + (mmu.priorities - 1) * self._headroom(ports)
        size = self.config["BUFFER_SIZE"]
        if kept >= buffer_bytes:
            # Their difference is below 0, which their unsigned number holds as a limit that is never reached.
            size.note(f"less than the headroom that their switch {switch} keeps, which then never pauses; here it keeps that of one priority, and pauses")
            kept = 0
        needed = kept + self._headroom(ports) + mmu.reserve_bytes * len(ports)
        if buffer_bytes < needed:
            size.refuse(f"{buffer_bytes} bytes: expected at least {needed}, which headroom and reserved bytes of switch {switch} take")
        return buffer_bytes - kept


class Curves:
    """[wred] has the curve of the speed of most hosts, [wred rSPEED] that of each other one."""

    def __init__(self, config: Config, cc: str, fabric: Fabric) -> None:
        self.base = fabric.common()[0]
        self.of: dict[int, tuple[float, float, float]] = {}
        if cc == "hpcc" or not config["ENABLE_QCN"].is_on():
            return
        if not config.has("KMIN_MAP"):
            config.log.note(" no KMIN_MAP, without which the simulator stops: nothing is marked here")
            return
        found = config.curves()
        for bps in sorted({link.rate_bps for link in fabric.links()}):
            if bps not in found:
                config["KMIN_MAP"].refuse(f"expected links of {bps} bit/s here and in KMAX_MAP and PMAX_MAP too")
            self.of[bps] = found[bps]

    def sections(self) -> list[str]:
        if not self.of:
            return ["[wred]\nwred_green_enable = off\n"]
        return [f"[wred{'' if bps == self.base else f' r{bps}'}]\n{self._curve(bps)}" for bps in sorted(self.of, key=lambda bps: (bps != self.base, bps))]

    def of_link(self, link: Link) -> str:
        return f"wred_profile = r{link.rate_bps}\n" if link.rate_bps in self.of and link.rate_bps != self.base else ""

    def _curve(self, bps: int) -> str:
        """A KB of HPCC has 1000 bytes."""
        least, most, share = self.of[bps]
        return (f"green_min_threshold_bytes = {round(least * 1000)}B\ngreen_max_threshold_bytes = {round(most * 1000)}B\n"
                f"green_drop_probability_ppm = {round(share * 1e6)}\n")


def sections(config: Config, cc: str, fabric: Fabric, mmu: Mmu, left_out: dict[int, list[Link]]) -> tuple[list[str], Curves]:
    pauses = config["ENABLE_QBB"].is_on()
    size = config["BUFFER_SIZE"]
    buffer_bytes = round(size.number(0, MOST_BUFFER_MB) * MB)
    if buffer_bytes == 0:
        size.refuse(f"expected a buffer above 0, not {size.text[:LONGEST]}")
    curves, near = Curves(config, cc, fabric), fabric.stages()
    pfc = Pfc(config, fabric, mmu, left_out) if pauses else None
    out = [f"[switch]\nbuffer_bytes = {buffer_bytes}B\npfc_generate = {'on' if pauses else 'off'}\n" + ("int_telemetry = on\n" if cc == "hpcc" else "")]
    out += pfc.profiles if pfc else []
    out += curves.sections()
    for s in fabric.switches:
        own = pfc.buffer(s, buffer_bytes) if pfc else buffer_bytes
        out.append(f"[switch s{s}]\nhosts = {fabric.on_switch[s]}\nstage = {near.get(s, 0)}\n" + (f"buffer_bytes = {own}B\n" if own != buffer_bytes else ""))
    return out + (pfc.groups() if pfc else []), curves
