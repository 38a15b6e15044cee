# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of conversions share: a text in, a switch or a refusal out. Programs are those of QUENCH_BUILD."""
import functools
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from convert import program  # noqa: E402
from convert.command import DIALECTS  # noqa: E402
from convert.log import Log, Refused  # noqa: E402

FIXTURES = ROOT / "test/imports"
# A conversion has the program read what it writes, and a test reads the same text again.
program.printed = functools.lru_cache(maxsize=8)(program.printed)
DEFAULTS = {"wred_profile": "default", "buffer_profile": "default", "min_rate_bps": "0", "max_rate_bps": "0", "burst_bytes": "16KB", "marking": "wred"}


def map_of(text):
    """"3-4:3, *:0" as a function of a key."""
    def value(key):
        for part in text.split(", "):
            keys, _, own = part.partition(":")
            first, _, last = keys.partition("-")
            if keys == "*" or int(first) <= key <= int(last or first):
                return int(own)
        raise KeyError(key)
    return value


class Case(unittest.TestCase):
    DIALECT = "nxos"
    PROGRAM = "quench-switch"
    ports = None  # --ports of the next input

    def take(self, text):
        """Convert a text. Its INI is self.ini, and what the program makes of it is self.sections."""
        self.log = Log("in", self.ports)
        self.ini = DIALECTS["import", self.DIALECT](text, self.log)
        self.sections = program.read(self.PROGRAM, self.ini)
        return self.sections

    def taken(self, text, n_lost):
        self.take(text)
        self.assertEqual(len(self.log.lost), n_lost, self.log.lost)

    def refused(self, text, words):
        with self.assertRaises(Refused) as caught:
            self.take(text)
        self.assertIn(words, str(caught.exception))
        self.assertTrue(str(caught.exception).startswith("in:"), caught.exception)
        self.assertNotIn("\n", str(caught.exception))

    def lost(self, words):
        self.assertTrue(any(words in entry for entry in self.log.lost), (words, self.log.lost))

    def noted(self, words):
        self.assertTrue(any(words in entry for entry in self.log.notes), (words, self.log.notes))

    def keys(self, section, **wanted):
        """Keys of a section in force."""
        found = self.sections[section]
        self.assertEqual({key: found.get(key) for key in wanted}, wanted, section)

    def port(self, port, key):
        """A key of a port in force: its own, or that of [qos_map] or [scheduler]."""
        own = self.sections[f"port {port}"][key]
        return next(keys[key] for name, keys in self.sections.items() if name in ("qos_map", "scheduler") and key in keys) if own == "default" else own

    def map(self, port, key):
        return map_of(self.port(port, key))

    def queue(self, port, queue, key):
        for section in (f"queue {port}|{queue}", f"queue {queue}"):
            if section in self.sections:
                return self.sections[section][key]
        return DEFAULTS[key]

    def group(self, port, group):
        """The buffer profile of a priority group."""
        for section in (f"pg {port}|{group}", f"pg {group}"):
            if section in self.sections:
                return self.sections[section]["buffer_profile"]
        return "default"

    def n_ports(self):
        return sum(name.startswith("port ") for name in self.sections)

    def count(self, kind):
        return sum(name.startswith(kind + " ") for name in self.sections)

    def fixture(self, name):
        return (FIXTURES / name).read_text()
