# SPDX-License-Identifier: BSD-3-Clause
"""Reads the three files and writes two."""
from __future__ import annotations

import dataclasses
import pathlib

from ..log import Log, printable
from . import switches
from .config import Config
from .fabric import Fabric, fit_ports, plain
from .flows import Flow, Flows
from .hosts import Hosts, choose_cc
from .switches import Curves
from .topology import OF_INET_TUB, Link, Topology

MTU_STEP, MAX_MTU = 256, 8960
MAX_DURATION_NS = 3600 * 10**9


@dataclasses.dataclass(frozen=True)
class Scenario:
    files: dict[str, str]
    logs: list[Log]


def link_section(name: str, ends: tuple[str, str], link: Link, base: tuple[int, int], curves: Curves) -> str:
    text = f"[link {name}]\nends = {ends[0]} {ends[1]}\n"
    if link.rate_bps != base[0]:
        text += f"link_rate_bps = {link.rate_bps}\n"
    if link.delay_ns != base[1]:
        text += f"link_delay_ns = {max(link.delay_ns, 1)}\n"  # 0 is the delay of most
    if link.loss > 0:
        text += f"frame_loss_ppb = {round(link.loss * 1e9)}\n"
    return text + curves.of_link(link)


def link_sections(fabric: Fabric, base: tuple[int, int], curves: Curves) -> list[str]:
    """A [link NAME] for each cable between switches, and for each host cable that differs from the others."""
    out = [link_section(f"c{i}", (f"s{link.a}", f"s{link.b}"), link, base, curves) for i, link in enumerate(fabric.core_links)]
    for nics in fabric.nics.values():
        for host, switch in nics:
            link = fabric.host_links[host]
            if (link.rate_bps, link.delay_ns) != base or link.loss > 0:
                out.append(link_section(f"h{host}", (f"h{host}", f"s{switch}"), link, base, curves))
    return out


def link_down(config: Config, fabric: Fabric, first_ns: int, end_ns: int) -> tuple[str, str]:
    """LINK_DOWN t a b: t us after 2 s; their switches use other paths at once. @return a key of [fabric], and an event"""
    down = config["LINK_DOWN"]
    if down.number(0, 1e12) == 0:
        return "", ""
    if len(down.words) != 3:
        down.refuse("expected a time in us and two nodes")
    ends = {down.whole(0, 10**9, i) for i in (1, 2)}
    at_ns = round(2e9 + down.number(0, 1e12) * 1000) - first_ns
    link = next((link for link in fabric.core_links if {link.a, link.b} == ends), None)
    if link is None or not 0 < at_ns < end_ns:
        down.lose("no link between these switches, or no time in the run")
        return "", ""
    return "reroute_after_ns = 1ns\n", f"[event down]\nat_ns = {at_ns}ns\naction = link_down\nnode = s{link.a}\nport = s{link.b}\n"


def convert(path: pathlib.Path, topology_path: pathlib.Path | None, flows_path: pathlib.Path | None, replace_cc: str | None) -> Scenario:
    """@raise Refused"""
    config = Config(path)
    for key, given, option in (("TOPOLOGY_FILE", topology_path, "--topology"), ("FLOW_FILE", flows_path, "--flows")):
        if given is None and not config.has(key):
            config.log.refuse(f" expected {key}, or {option} FILE")
    topology = Topology(topology_path or config.beside("TOPOLOGY_FILE"), config["ERROR_RATE_PER_LINK"].number(0, 1))
    cc = choose_cc(config, replace_cc, topology.mmu is OF_INET_TUB)
    fabric = plain(topology)
    stop_ns = round(config.stop_s() * 1e9)
    flows = Flows(flows_path or config.beside("FLOW_FILE"), fabric.nics.keys(), stop_ns)
    left_out: dict[int, list[Link]] = {}
    if fabric.is_large():
        fabric, left_out = fit_ports(topology, fabric, flows.ends(), config["LINK_DOWN"].number(0, 1e12) != 0)
    messages = flows.paired(fabric)
    first_ns = min(flow.start_ns for flow in messages)
    end_ns = stop_ns - first_ns
    if end_ns > MAX_DURATION_NS:
        config["SIMULATOR_STOP_TIME"].note("a run ends after an hour")
        end_ns = MAX_DURATION_NS
    payload = config["PACKET_PAYLOAD_SIZE"].whole(1, 65535)
    mtu = min(max(round(payload / MTU_STEP), 1) * MTU_STEP, MAX_MTU)
    if mtu != payload:
        config["PACKET_PAYLOAD_SIZE"].note(f"packets have {mtu} bytes: quench has multiples of {MTU_STEP} up to {MAX_MTU}")
    hosts = Hosts(config, cc, fabric, payload, mtu)
    ini = scenario(config, cc, fabric, topology, left_out, hosts, (first_ns, end_ns, mtu))
    config.name_others(cc)
    return Scenario({"scenario.ini": ini, "flows.trace": trace(messages, first_ns)}, [config.log, topology.log, flows.log])


def trace(messages: list[Flow], first_ns: int) -> str:
    return "# src dst bytes start_ns\n" + "".join(f"{m.src} {m.dst} {m.size} {m.start_ns - first_ns}\n" for m in messages)


def scenario(config: Config, cc: str, fabric: Fabric, topology: Topology, left_out: dict[int, list[Link]], hosts: Hosts,
             times: tuple[int, int, int]) -> str:
    first_ns, end_ns, mtu = times
    base = fabric.common()
    rails = {node: nics for node, nics in fabric.nics.items() if len(nics) > 1}
    if rails:
        topology.log.note(f" {len(rails)} hosts have several links: each link is a host of quench-lab, and a flow takes the nearest")
    for link in fabric.links():
        if link.delay_ns == 0 and base[1] > 0:
            topology.log.note(f" the link between {link.a} and {link.b} has a delay of 0: 1 ns here")
    reroute, event = link_down(config, fabric, first_ns, end_ns)
    out = [f"# Made by scripts/import-hpcc from {printable(config.path.name)}.\n"
           + "".join(f"# node {node}: {', '.join(f'h{h} at s{s}' for h, s in nics)}\n" for node, nics in sorted(rails.items()))
           + f"[fabric]\ntopology = graph\nhosts = {len(fabric.host_links)}\nlink_rate_bps = {base[0]}\n"
           f"link_delay_ns = {base[1]}ns\nduration_ns = {end_ns}ns\n{reroute}"]
    text, curves = switches.sections(config, cc, fabric, topology.mmu, left_out)
    out += text + link_sections(fabric, base, curves) + [hosts.sections()]
    if event:
        out.append(event)
    out.append(f"[flow f]\npattern = trace\ntrace = flows.trace\nmtu_bytes = {mtu}\n")
    return "\n".join(out)
