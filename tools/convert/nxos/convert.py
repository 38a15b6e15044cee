# SPDX-License-Identifier: BSD-3-Clause
"""Reads a running-config: the policies of system qos, the watchdog, the interfaces, and then the policies."""
from __future__ import annotations

from .. import program, switch as switches
from ..log import Log
from ..switch import LOSSLESS, Switch
from ..values import GBPS, NS_PER_MS
from . import lines, report
from .addresses import Addresses
from .interfaces import Interfaces, PortReader
from .lines import Line, number
from .policies import QOS, Policies
from .qos import Policies as Classes
from .queuing import Network, Output, read_input
from .vlans import Vlans

ASSUMED_BUFFER = 40000000  # typical of such hardware
XON_OFFSET = 20000
MULTIPLIERS = {
    "priority-flow-control watch-dog shutdown-multiplier %": ("shutdown_multiplier", 1),
    "priority-flow-control auto-restore multiplier %": ("auto_restore_multiplier", 0),
    "priority-flow-control fixed-restore multiplier %": ("fixed_restore_multiplier", 0),
}


def read_watchdog(top: Line, switch: Switch, log: Log) -> bool:
    """The watchdog's switch-wide lines. @return is it on?"""
    is_on = False
    for line in top.lines:
        if line.text.lower() in ("priority-flow-control watch-dog-interval on", "priority-flow-control watch-dog-interval off"):
            is_on = line.words[-1] == "on"
            line.use()
        elif found := line.match("priority-flow-control watch-dog interval %"):
            switch.set("pfcwd", "watch_dog_interval_ns", str(number(log, line, found[0], 1, 60000) * NS_PER_MS))
            line.use()
        for pattern, (key, least) in MULTIPLIERS.items():
            if found := line.match(pattern):
                switch.set("pfcwd", key, str(number(log, line, found[0], least, 1000)))
                line.use()
    switch.set("pfcwd", "pfcwd", "nxos" if is_on else "off")
    return is_on


def read_lldp(top: Line, switch: Switch, reader: PortReader, log: Log) -> None:
    """Mode auto negotiates by LLDP."""
    is_on = any(port.keys["flow_control"] == "auto" for port in switch.ports)
    timer, holdtime = 30, None
    for line in top.lines:
        if line.match("feature lldp") is not None:
            is_on = True
            line.use()
        elif found := line.match("lldp timer %"):
            timer = number(log, line, found[0], 1, 3600)
            line.use()
        elif found := line.match("lldp holdtime %"):
            holdtime = line, number(log, line, found[0], 1, 65535)
            line.use()
    if is_on:
        switch.set("lldp", "lldp", "on")
    switch.set("lldp", "lldp_tx_interval_ns", str(timer * 10**9))
    if holdtime is not None:
        line, seconds = holdtime
        hold = min(max(-(-seconds // timer), 2), 10)
        switch.set("lldp", "lldp_tx_hold", str(hold))
        if hold * timer != seconds:
            log.note(f"{line.number}: {line.text}: lldp_tx_hold = {hold}, which is {hold * timer} s")
    for line, sends in reader.send_lldp:
        # Without feature lldp they have no effect.
        if sends or not is_on:
            line.use()
        else:
            line.lose("all ports have LLDP, or none")


def assume_buffer(switch: Switch, log: Log) -> None:
    """Assume headroom by the formula, and a buffer of at least twice its sum."""
    needed = [(switch.headroom(port), port) for port in switch.ports if port.qos.pfc_enable]
    lossless = switch.class_profiles[LOSSLESS]
    switch.class_profiles[LOSSLESS] = lossless = switches.Profile(lossless.size, lossless.dynamic, lossless.dynamic_th, lossless.static_th, lossless.xon,
                                                                  XON_OFFSET, None)
    if needed:
        most, farthest = max(needed, key=lambda one: one[0])
        xoff = -(-most // 1000) * 1000
        switch.class_profiles[LOSSLESS] = switches.Profile(xon=lossless.xon, xon_offset=XON_OFFSET, xoff=xoff)
        log.note(f" the file does not give the headroom: {xoff} bytes per port and class are assumed, for {farthest.speed // GBPS}G and "
                 f"{farthest.cable_m} m of cable")
    budget = switch.budget()
    least = 2 * max(budget.reserved + budget.headroom, budget.egress_reserved)
    switch.buffer = max(ASSUMED_BUFFER, -(-least // 10**6) * 10**6)
    log.note(f" the file does not give the size of the platform's buffer: buffer_bytes = {switch.buffer} is assumed")


def blame_unbound(top: Line) -> None:
    """Lose the policies and class-maps to which no active policy or interface refers."""
    for line in top.lines:
        if line.used:
            continue
        if line.begins("policy-map"):
            line.lose_block("neither system qos nor a port of the switch applies it")
        elif line.begins("class-map"):
            line.lose_block("no applied policy has this class")


def read(text: str, log: Log) -> Switch:
    """Read a running-config of NX-OS, or a part of one, or a script. @raise Refused"""
    switch = Switch()
    top, every = lines.read(text, log)
    policies = Policies(top, log)
    for line in top.lines:
        if line.match("system qos") is not None:
            line.use()
            for own in line.lines:
                if own.begins("service-policy"):
                    policies.bind(own, policies.system)
    has_watchdog = read_watchdog(top, switch, log)
    interfaces = Interfaces(top, log)
    reader = PortReader(switch, interfaces, policies, has_watchdog, log)
    vlans = Vlans(switch, top, interfaces, log)
    Addresses(switch, top, interfaces, vlans, log)
    classes = Classes(top, log)
    for i, port in enumerate(switch.ports):
        first = policies.first_with(i, QOS)
        if first < i:
            port.qos.trust, port.qos.dscp, port.qos.dot1p = switch.ports[first].qos.trust, switch.ports[first].qos.dscp, switch.ports[first].qos.dot1p
        else:
            classes.read(policies.of(i, QOS), port.qos)
    network = Network(switch, policies, log)
    output = Output(switch, policies, network, log)
    read_input(switch, policies, network, log)
    network.set_maps(switch.ports[output.main].sched.strict)
    read_lldp(top, switch, reader, log)
    assume_buffer(switch, log)
    blame_unbound(top)
    report.report(every, log)
    return switch


def convert(text: str, log: Log) -> str:
    """The INI of a running-config. @raise Refused"""
    sections: program.Sections = read(text, log).finish(log)
    return switches.write(sections, log)
