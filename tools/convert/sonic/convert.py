# SPDX-License-Identifier: BSD-3-Clause
"""Reads a config_db.json."""
from __future__ import annotations

from .. import program, switch as switches
from ..log import Log
from ..switch import Switch
from .addresses import read_addresses
from .buffers import Buffers
from .maps import Maps
from .members import read_lldp, read_members, read_stations, read_switch
from .ports import read_ports, read_watchdog
from .queues import read_queues, read_shapers
from .tables import Tables


def read(text: str, log: Log) -> Switch:
    """@raise Refused"""
    switch = Switch()
    tables = Tables(text, switch, log)
    read_ports(tables)
    Maps(tables)
    read_shapers(tables, read_queues(tables))
    Buffers(tables)
    read_watchdog(tables)
    read_members(tables)
    read_stations(tables)
    read_switch(tables)
    read_lldp(tables)
    read_addresses(tables)
    tables.report()
    return switch


def convert(text: str, log: Log) -> str:
    """The INI of a config_db.json. @raise Refused"""
    sections: program.Sections = read(text, log).finish(log)
    return switches.write(sections, log)
