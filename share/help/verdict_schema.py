#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the JSON Schema of test-run's verdict.json: share/help/verdict_schema.py FILE"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from testrun import verdict_file  # noqa: E402

pathlib.Path(sys.argv[1]).write_text(json.dumps(verdict_file.schema(), indent=1) + "\n", encoding="utf-8")
