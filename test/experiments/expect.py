# SPDX-License-Identifier: BSD-3-Clause
"""Where the experiments are, and expectations: a test names all that fail before it ends."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def finish():
    sys.exit(1 if failures else 0)
