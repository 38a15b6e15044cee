# SPDX-License-Identifier: BSD-3-Clause
"""DCQCN settings of an mlx5 adapter to quench-nic.

The input is the output of "mlxconfig query", or names and values from sysfs (ecn/roce_rp, ecn/roce_np) and debugfs (cc_params), as
printed by "grep -r . FOLDER". The names are aliases of the keys of [rp] and [np], with their units; this file parses the rest.
"""
from __future__ import annotations

import dataclasses
import re
from typing import NoReturn

from . import program
from .log import Log
from .values import GBPS, MBPS, whole

PROGRAM = "quench-nic"
# A NIC needs an address and a flow; these are examples, with addresses of RFC 5737.
START: program.Sections = {"nic": {"ip": "192.0.2.1"}, "rp": {"rp_profile": "mlx"}, "np": {}, "flow peer": {"peer_ip": "192.0.2.2"}}
ASSUMED_SPEED = 100 * GBPS
EVERY_PRIO = frozenset(range(8))
MOST_VALUES = 4
# Keys of quench-nic whose names are not mlx5's.
OWN_NAMES = re.compile(r".*_(?:bps|us|bytes|pct|ns)|rp_profile|np_cnp_moderation|np_cnp_ecn|[^_]*")
HEADINGS = re.compile(r"(?:Device|Name:|Description:|Configurations:|Default|Next Boot|Current)|[-=]*$|#", re.I)
# What mlxconfig prints after its table.
FOOTER = re.compile(r"The '(?:\*|RO)' shows |Failed to query |Note: | *TLV: |Device doesn't support |-[A-Z]- ")
MODERATIONS = {"PER_QP": "qp", "PER_IP": "ip_pair", "PER_PORT": "port"}


@dataclasses.dataclass
class Setting:
    line: int
    text: str  # of the line
    name: str = ""  # lower case, without _P1
    folder: str = ""  # of the name; "": unknown
    values: list[str] = dataclasses.field(default_factory=list)
    is_read_only: bool = False


def names() -> dict[str, str]:
    """The section of each name that an adapter gives a setting."""
    found: dict[str, str] = {}
    for section in ("rp", "np"):
        for key, also in program.aliases(PROGRAM)[section].items():
            for name in (key, *also):
                if not OWN_NAMES.fullmatch(name):
                    found.setdefault(name, section)
    return found


class Adapter:
    def __init__(self, text: str, log: Log) -> None:
        self.log = log
        self.names = names()
        self.is_other_device = False
        self.seen: dict[str, str] = {}
        self.known = 0
        self.keys = {section: dict(keys) for section, keys in START.items()}
        self.origins: dict[str, Setting] = {}  # by name
        self.prios: dict[int, bool] = {}
        self.prio_line = 0
        for number, line in enumerate(text.split("\n"), 1):
            self._read_line(number, line.strip())
        if self.known == 0:
            log.refuse(" expected a listing of mlxconfig query, or names of sysfs or debugfs with values: RPG_AI_RATE_P1 5, rpg_ai_rate:5")
        self._set_cc()

    def _read_line(self, number: int, line: str) -> None:
        line = line.lstrip("* \t")
        is_read_only = re.match(r"RO\s", line) is not None
        line = line[2:].lstrip() if is_read_only else line
        if not line or FOOTER.match(line):
            return
        if HEADINGS.match(line):
            device = re.match(r"Device #(\d+)", line)
            self.is_other_device = int(device[1]) > 1 if device else self.is_other_device
            return
        setting = Setting(number, " ".join(line.split())[:127], is_read_only=is_read_only)
        folder, _, rest = line.rpartition("/") if not re.search(r"\sN/A(?:\s|$)", line) else ("", "", line)
        found = re.match(r"([^ \t=:]+)[ \t=:]?(.*)", rest)
        setting.folder = folder.rpartition("/")[2].lower()
        setting.values = [value for value in re.split(r"[ \t=:]+", found[2]) if value] if found else []
        if found is None or len(setting.values) > MOST_VALUES:
            self._lose(setting, "expected a name and a value")
            return
        setting.name = re.sub(r"(?<=..)_p\d$", "", found[1].lower())
        self._read(setting)

    def _lose(self, setting: Setting, why: str) -> None:
        self.log.lose(f"{setting.line}: {setting.text}: {why}")

    def _refuse(self, setting: Setting, expected: str) -> NoReturn:
        self.log.refuse(f"{setting.line}: {setting.text}: expected {expected}")

    def _is_first(self, setting: Setting, value: str) -> bool:
        """A repeated setting must have the same value."""
        if setting.name not in self.seen:
            self.seen[setting.name] = value
            return True
        if self.seen[setting.name] != value:
            self._lose(setting, "value of another port, or a second value: the first one is used")
        return False

    def _in_force(self, setting: Setting) -> str | None:
        """Of the values Default, Current and Next Boot (mlxconfig -e): Current."""
        if len(setting.values) != 3:
            return setting.values[0] if setting.values else None
        if setting.values[1] != setting.values[2]:
            self.log.note(f"{setting.line}: {setting.text}: the current value is used, not that of the next boot")
        return setting.values[1]

    def _number(self, setting: Setting, value: str, most: int) -> int:
        found = whole(in_brackets(value), 0, most)
        if found is None:
            self._refuse(setting, f"a whole number from 0 to {most}")
        return found

    def _read(self, setting: Setting) -> None:
        if "N/A" in setting.values:
            self.log.aside("N/A")
            return
        if self.is_other_device:
            self._lose(setting, "belongs to a second device; a file describes one port")
            return
        section = self.names.get(setting.name)
        value = self._in_force(setting)
        if value is not None and self._read_special(setting, value):
            return
        if section is None:
            if setting.is_read_only:
                self.log.aside("RO")
            else:
                self._lose(setting, "not a DCQCN setting with a counterpart")
            return
        self.known += 1
        number = in_brackets(value or "")
        # Values are bare numbers: a suffix means another dialect.
        if not number.isascii() or not number.isdigit():
            self._refuse(setting, self._expected(section, setting.name))
        if self._is_first(setting, number):
            self.keys[section][setting.name] = number
            self.origins[setting.name] = setting

    def _expected(self, section: str, name: str) -> str:
        """What the program says of a value that it does not take."""
        try:
            program.read(PROGRAM, ini({**START, section: {**START[section], name: "?"}}))
        except program.Invalid as why:
            return str(why).partition(": expected ")[2]
        raise AssertionError(f"{name} = ? is accepted")

    def _read_special(self, setting: Setting, value: str) -> bool:
        """Settings that do not correspond to a single key of ours."""
        prio = whole(setting.name, 0, 7) if setting.folder == "enable" else None
        if setting.name == "roce_cc_cnp_moderation":
            if self._is_first(setting, value):
                self._read_moderation(setting, value)
        elif setting.name == "roce_cc_prio_mask":
            mask = self._number(setting, value, 255)
            if self._is_first(setting, value):
                self.prios = {prio: bool(mask >> prio & 1) for prio in EVERY_PRIO}
                self.prio_line = setting.line
        elif setting.name == "np_cnp_prio_mode":
            if self._number(setting, value, 1) != 0:
                self._lose(setting, "CNPs use the priority of np_cnp_prio")
        elif prio is not None:
            self.prios[prio] = self.prios.get(prio, False) or self._number(setting, value, 1) == 1
            self.prio_line = setting.line
        else:
            return False
        self.known += 1
        return True

    def _read_moderation(self, setting: Setting, value: str) -> None:
        for word, scope in MODERATIONS.items():
            if value.startswith(word):
                self.keys["np"]["np_cnp_moderation"] = scope
                return
        if value.startswith("DEVICE_DEFAULT"):
            self.log.note(f"{setting.line}: {setting.text}: np_cnp_moderation = qp is assumed")
        else:
            self._lose(setting, "expected PER_QP, PER_IP or PER_PORT")

    def _set_cc(self) -> None:
        """In quench, congestion control is on for all priorities or for none."""
        on = {prio for prio, is_on in self.prios.items() if is_on}
        if self.prios and not on:
            self.keys["nic"]["cc"] = "none"
        elif on != set(self.prios):
            self.log.lose(f"{self.prio_line}: enabled for priorities 0x{sum(1 << prio for prio in on):02x} only; cc applies to all priorities or none")

    def read(self) -> program.Sections:
        """The NIC with all keys. @raise Refused"""
        try:
            return program.read(PROGRAM, ini(self.keys))
        except program.Invalid as why:
            found = re.match(r"\[\w+\] (\w+) = \S*: expected (.*)", str(why))
            if found and found[1] in self.origins:
                self._refuse(self.origins[found[1]], found[2])
            program.refuse_invalid(PROGRAM, str(why), self.log)


def in_brackets(value: str) -> str:
    """"True(1)" is 1, the firmware's value."""
    found = re.fullmatch(r"[^(]*\((.*?)\)", value)
    return found[1] if found else value


def ini(sections: program.Sections) -> str:
    return "".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for name, keys in sections.items())


def convert(text: str, log: Log) -> str:
    """The INI of a listing. @raise Refused"""
    if "\0" in text:
        log.refuse(" a zero byte: expected text")
    adapter = Adapter(text, log)
    fastest = MBPS * max(int(adapter.keys["rp"].get(name, "0")) for name in ("rpg_max_rate", "rp_max_rate"))
    adapter.keys["nic"]["link_speed_bps"] = str(max(fastest, ASSUMED_SPEED))
    sections = adapter.read()
    log.note(f" the listing does not give the speed of the port: link_speed_bps = {max(fastest, ASSUMED_SPEED) // GBPS}G is assumed")
    log.note(" the listing has no address and no peer: ip and [flow peer] are examples to replace")
    base = dict(program.defaults(PROGRAM, ini(START)))
    base["nic"] = {**base["nic"], "ip": "none"}
    base["flow"] = {**base.pop("flow peer"), "peer_ip": "none"}
    return program.write(PROGRAM, sections, base, log)
