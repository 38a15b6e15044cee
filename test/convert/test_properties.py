#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Any mutation of the fixtures is converted, converted in part or refused in one line, and what is written passes --check-config.

QUENCH_EXAMPLES sets the number of mutations of each dialect (default 60). They follow from a fixed seed.
"""
import json
import os
import random
import string
import tempfile
import unittest

from case import FIXTURES, program
from convert import command
from convert.log import Log, Refused

try:
    from hypothesis import HealthCheck, given, seed, settings, strategies as st
except ImportError:
    print("SKIP: no hypothesis: install python3-hypothesis, or run scripts/install-deps test")
    raise SystemExit(77) from None

EXAMPLES = int(os.environ.get("QUENCH_EXAMPLES", "60"))
PROGRAMS = {"nxos": "quench-switch", "sonic": "quench-switch", "mlnx": "quench-nic"}
SMALL = {
    "nxos": ["nxos-leaf.txt", "nxos-rocev2.txt"],
    "sonic": ["sonic-tor.json", "sonic-brackets.json"],
    "mlnx": ["mlnx-mlxconfig.txt", "mlnx-sysfs.txt"],
}
NUMBERS = ["0", "1", "-1", "7", "8", "64", "100", "101", "4094", "4095", "65536", "99999999999", "18446744073709551616", "1e9", "0x10", "", " ", "on", "none"]
LINES = ["exit", "end", "interface Ethernet1/1-3,Ethernet1/9", "interface Vlan10", "no switchport", "  shutdown", "!", "#", "vlan 1-4094", "system qos",
         "no interface Ethernet1/1", "policy-map type queuing Q", "interface port-channel1", "  channel-group 1", "ip route 0.0.0.0/0 null0",
         "  ip address 10.0.0.1/24", "  inherit port-profile P", "port-profile type ethernet P", "  state enabled", "banner motd #", "\tmtu 9000",
         "  storm-control broadcast level 0.01", "mac address-table static 0000.0000.0001 vlan 1 interface Ethernet1/1", "  ip arp 10.0.0.2 0000.0000.0001",
         "switchport mode trunk", "  switchport trunk allowed vlan 1-4094", "  flowcontrol receive on", "lldp timer 5"]


def examples(dialect):
    return st.tuples(st.sampled_from(SMALL[dialect]), st.integers(0, 2**32 - 1), st.integers(1, 6))


def mutate_text(text, chance, n):
    """Lines are cut, moved, doubled and changed in one word."""
    lines = text.splitlines()
    for _ in range(n):
        i = chance.randrange(len(lines) or 1)
        kind = chance.randrange(8)
        if not lines or kind == 0:
            lines.insert(i, chance.choice(LINES))
        elif kind == 1:
            del lines[i]
        elif kind == 2:
            lines.insert(chance.randrange(len(lines)), lines[i])
        elif kind == 3:
            lines[i] = lines[i].strip()
        elif kind == 4:
            lines[i] = "  " + lines[i]
        elif kind == 5 and lines[i].split():
            words = lines[i].split(" ")
            words[chance.randrange(len(words))] = chance.choice([*NUMBERS, *words])
            lines[i] = " ".join(words)
        elif kind == 6 and lines[i]:
            at = chance.randrange(len(lines[i]))
            lines[i] = lines[i][:at] + chance.choice(string.printable + "\x00\x1b\u00e9") + lines[i][at + chance.randrange(2):]
        else:
            lines = lines[:i + 1]
    return "\n".join(lines) + chance.choice(["\n", ""])


def mutate_tables(text, chance, n):
    """Tables, keys and values are removed, moved and changed."""
    root = json.loads(text)
    for _ in range(n):
        table = chance.choice(list(root) or ["PORT"])
        entries = root.setdefault(table, {})
        key = chance.choice(list(entries) or [""])
        entry = entries.get(key)
        kind = chance.randrange(8)
        if kind == 0:
            root.pop(table)
        elif kind == 1:
            entries.pop(key, None)
        elif kind == 2:
            entries[chance.choice(["Ethernet0", "Ethernet0|3-4", "lc1|asic0|Ethernet4|3", "Vlan10|Ethernet0", "Ethernet0,Ethernet4|0-7", "global", key + "x", "",
                                   "|", "Ethernet0|9", "10.0.0.0/8", "Vlan10|10.0.0.1/24", "PortChannel1|Ethernet0"])] = entry if entry is not None else {}
        elif kind == 3:
            root[chance.choice(["VLAN", "VLAN_MEMBER", "INTERFACE", "STATIC_ROUTE", "FDB", "NEIGH", "PORT_STORM_CONTROL", "LLDP", "SWITCH", "X"])] = entries
        elif kind == 4:
            entries[key] = chance.choice([[], "x", 3, None, {"NULL": "NULL"}])
        elif isinstance(entry, dict) and entry:
            field = chance.choice(list(entry))
            entry[field] = chance.choice([*NUMBERS, 5, -3, True, None, ["3"], {}, "[X|y]", entry[field]])
    return json.dumps(root, indent=chance.choice([None, 1]))


def convert(direction, dialect, text):
    """@return the output, or None if the input is refused in one line"""
    log = Log("in")
    try:
        found = command.DIALECTS[direction, dialect](text, log)
    except Refused as why:
        assert str(why).startswith("in:") and "\n" not in str(why), why
        return None
    assert not any("\n" in entry for entry in [*log.lost, *log.notes, *log.asides])
    return found


def check(dialect, text):
    """What is written passes --check-config, and what is exported is read again."""
    ini = convert("import", dialect, text)
    if ini is None:
        return
    program.read(PROGRAMS[dialect], ini)
    if dialect != "mlnx":
        tables = convert("export", "sonic", ini)
        assert tables is None or convert("import", "sonic", tables) is not None


class Properties(unittest.TestCase):
    def run_dialect(self, dialect, mutate):
        @seed(33)
        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(examples(dialect))
        def holds(example):
            name, number, n = example
            chance = random.Random(number)
            text = (FIXTURES / name).read_text()
            changed = mutate(text, chance, n) if chance.randrange(10) else mutate_text(text, chance, n)
            check(dialect, changed)

        holds()

    def test_nxos(self):
        self.run_dialect("nxos", mutate_text)

    def test_sonic(self):
        self.run_dialect("sonic", mutate_tables)

    def test_mlnx(self):
        self.run_dialect("mlnx", mutate_text)

    def test_the_command_has_exit_codes_and_no_traceback(self):
        with tempfile.TemporaryDirectory() as folder:
            for dialect in PROGRAMS:
                for data in (b"", b"\xff\xfe\x00", b"\xef\xbb\xbf", random.Random(1).randbytes(200), b"interface Ethernet1/1\n  description \xe9\xff\n"):
                    path = f"{folder}/x"
                    with open(path, "wb") as file:
                        file.write(data)
                    code = command.main(["--output", f"{folder}/y", "import", dialect, path])
                    self.assertIn(code, (0, 2, 3))


if __name__ == "__main__":
    unittest.main()
