# SPDX-License-Identifier: BSD-3-Clause
"""call: any request of doc/interface.md, and its result as JSON."""
from __future__ import annotations

import json
from typing import Any

from quenchctl.command import DONE, Run, print_json


def value(text: str) -> Any:
    """JSON, or a text that is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def run(run_: Run) -> int:
    method, *words = run_.params
    pairs = [word.partition("=") for word in words]
    print_json(run_.desk.batch([(method, {name: value(text) for name, _, text in pairs})])[0])
    return DONE
