#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Any mutation of a scenario of the HPCC family is converted, converted in part or refused in one line, and quench-lab takes what is written.

QUENCH_EXAMPLES sets the number of mutations (default 60). They follow from a fixed seed.
"""
import argparse
import contextlib
import io
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from case import FIXTURES
from convert import program
from convert.hpcc import command

try:
    from hypothesis import HealthCheck, given, seed, settings, strategies as st
except ImportError:
    print("SKIP: no hypothesis: install python3-hypothesis, or run scripts/install-deps test")
    raise SystemExit(77) from None

EXAMPLES = int(os.environ.get("QUENCH_EXAMPLES", "60"))
WORDS = ["0", "1", "-1", "2", "7", "8", "11", "0.5", "1e3", "1e400", "nan", "inf", "99999999999", "18446744073709551616", "0x10", "1_0", "\u0663", "x", "25Gbps",
         "0Gbps", "-5Gbps", "900Gbps", "0ns", "1us", "1e30s", "H100", "{", "#", "\x00", "\x1b"]
STAR = "6 1 5\n5\n" + "".join(f"{h} 5 {25 if h < 4 else 100}Gbps 1us 0\n" for h in range(5))
SCENARIOS = {  # configuration, topology, flows, options
    "hpcc": ("hpcc-config.txt", STAR, "3\n0 4 3 100 20000 0\n1 4 3 100 30000 0.000001\n4 2 3 101 1000 0\n"),
    "inet-tub": ("powertcp-config.txt", "7 2 1 6\n5 6\n0 5 25Gbps 1us 0\n1 5 25Gbps 1us 0\n2 6 25Gbps 2us 0\n3 6 25Gbps 1us 0\n4 6 25Gbps 1us 0\n"
                 "5 6 100Gbps 1us 0\n", "2\n0 3 3 100 20000 0\n4 1 3 7 90000 0.00001\n"),
    "conweave": ("conweave-config.txt", STAR, "2\n0 4 3 20000 2.0\n1 4 3 9000 2.00001\n"),
    "simai": ("simai.conf", "4 2 1 1 4 H100\n2\n3\n0 2 2880Gbps 1us 0\n1 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n", "1\n0 1 3 1 100000 0\n"),
}
CC = ["1", "3", "7", "8", "10", "11"]


def mutate(text, chance, n):
    """Lines are cut, doubled, moved and changed in one word."""
    lines = text.splitlines()
    for _ in range(n):
        i = chance.randrange(len(lines) or 1)
        kind = chance.randrange(8)
        words = lines[i].split() if lines else []
        if not words or kind == 0:
            lines.insert(i, chance.choice(WORDS))
        elif kind == 1:
            del lines[i]
        elif kind == 2:
            lines.insert(chance.randrange(len(lines)), lines[i])
        elif kind == 3:
            lines = lines[:i + 1]
        else:
            k = chance.randrange(len(words))
            words[k:k + chance.randrange(4 if kind == 4 else 2)] = chance.choice([[chance.choice(WORDS)], [chance.choice(words)], []] if kind < 6 else
                                                                                 [[chance.choice(WORDS)]])
            lines[i] = " ".join(words)
    return "\n".join(lines) + "\n"


def import_files(folder, config, topology, flows, replace_cc=None):
    """@return the exit code, and standard error"""
    for name, text in (("c.txt", config), ("t.txt", topology), ("f.txt", flows)):
        (folder / name).write_text(text, encoding="utf-8", errors="replace")
    args = argparse.Namespace(config=folder / "c.txt", folder=folder / "out", topology=folder / "t.txt", flows=folder / "f.txt", replace_cc=replace_cc)
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        code = command.main(args)
    return code, errors.getvalue()


def lab_takes(folder):
    return subprocess.run([program.place_of("quench-lab"), "--check-config", folder / "out" / "scenario.ini"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def texts(name):
    config, topology, flows = SCENARIOS[name]
    return [(FIXTURES / "ns3" / config).read_text(encoding="utf-8"), topology, flows]


class Hpcc(unittest.TestCase):
    def test_each_dialect_and_algorithm_is_taken(self):
        for name in SCENARIOS:
            for mode in CC:
                with tempfile.TemporaryDirectory() as text:
                    files = texts(name)
                    files[0] = "\n".join(f"CC_MODE {mode}" if line.startswith("CC_MODE") else line for line in files[0].splitlines())
                    code, errors = import_files(pathlib.Path(text), *files, "dctcp" if mode in ("3", "10") else None)
                    self.assertIn(code, (0, 3), f"{name} {mode}: {errors}")
                    self.assertNotIn("not a key", errors)

    def test_any_mutation(self):
        @seed(34)
        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(st.sampled_from(list(SCENARIOS)), st.integers(0, 2**32 - 1), st.integers(1, 4))
        def holds(name, number, n):
            chance = random.Random(number)
            files = texts(name)
            files[0] += f"\nCC_MODE {chance.choice(CC)}\n"
            i = chance.randrange(3)
            files[i] = mutate(files[i], chance, n)
            with tempfile.TemporaryDirectory() as text:
                folder = pathlib.Path(text)
                code, errors = import_files(folder, *files, chance.choice([None, "dcqcn", "timely"]))
                self.assertIn(code, (0, 2, 3))
                if code == 2:
                    self.assertEqual(errors.count("\n"), 1, errors)
                    self.assertRegex(errors, rf"^import-hpcc: error: {folder}/[ctf]\.txt:")
                    # The value is refused where it stands, not by the program that reads the result.
                    self.assertNotIn("quench-lab refuses", errors)
                    self.assertFalse((folder / "out").exists())
                else:
                    self.assertTrue(lab_takes(folder), files)

        holds()


if __name__ == "__main__":
    unittest.main()
