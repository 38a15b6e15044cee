# SPDX-License-Identifier: BSD-3-Clause
"""A baseline: the band in which each figure of a scenario usually is, and which figures of a run have left theirs."""
import json

from quench import BadInput

from .compare import Comparison, digits

WITHIN = 5.0  # percent, by which the band of the given runs is widened


def figures(folder):
    """{name: (value, unit)} of a run, and its duration."""
    found = Comparison([folder])
    return {row.name: (row.values[0], row.unit) for row in found.headline() if row.values[0] is not None}, found.runs[0].results["duration_ns"]


def of(folders, within):
    """A baseline from runs of one scenario, such as of several seeds."""
    all_figures, durations = zip(*(figures(folder) for folder in folders))
    if len(set(durations)) > 1:
        raise BadInput(f"{folders[0]}: expected runs of one duration, not {', '.join(f'{d / 1e6:g} ms' for d in sorted(set(durations)))}")
    bands = {}
    for name in all_figures[0]:
        values = [found[name][0] for found in all_figures if name in found]
        bands[name] = {"low": min(values) * (1 - within / 100), "high": max(values) * (1 + within / 100), "unit": all_figures[0][name][1]}
    return {"format": 1, "program": "scripts/compare", "duration_ns": durations[0], "runs": len(folders), "bands": bands}


def read(path):
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
    if not isinstance(found, dict) or found.get("program") != "scripts/compare" or found.get("format") != 1 or not isinstance(found.get("bands"), dict):
        raise BadInput(f"{path}: expected a file of scripts/compare --save-baseline")
    return found


def check(baseline, path, folder):
    """Lines, one for each figure, and the names of those that have left their band."""
    found, duration = figures(folder)
    if duration != baseline["duration_ns"]:
        raise BadInput(f"{folder}: lasts {duration / 1e6:g} ms: expected {baseline['duration_ns'] / 1e6:g} ms, as the runs of {path}")
    lines, left = [], []
    for name, band in baseline["bands"].items():
        value = found.get(name, (None, ""))[0]
        inside = value is not None and band["low"] <= value <= band["high"]
        usual = f"{digits(band['low'])} to {digits(band['high'])} {band['unit']}".rstrip()
        what = "" if inside else "   gone" if value is None else "   above" if value > band["high"] else "   below"
        lines.append(f"{name:40}  {digits(value):>12}   usually {usual}{what}")
        if not inside:
            left.append(name)
    return lines, left
