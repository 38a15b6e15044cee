# SPDX-License-Identifier: BSD-3-Clause
"""Rows of objects as a table for people."""
from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quenchctl.command import plain, short

NAME_WIDTH = 34  # least width of names
LEAST_WIDTH = 12  # of a column of words that were shortened
MASKS = {"pfc_ours", "pfc_peer", "pfc_agreed"}  # a bit for each priority
BOLD, RED, PLAIN = "\033[1m", "\033[1;31m", "\033[0m"
TROUBLE = re.compile(r"down\s*$|stormed\b")  # a cell, not a name such as downlink


def scaled(value: float, units: Sequence[str]) -> tuple[float, str, bool]:
    """@return the value in its unit; the unit; is it the smallest?"""
    unit = 0
    while value >= 1000 and unit + 1 < len(units):
        value /= 1000
        unit += 1
    return value, units[unit], unit == 0


def rate(bps: float) -> str:
    """A rate in a sentence, as quench-lab --explain has it."""
    return f"{bps / 1e9:.3f} Gb/s" if bps >= 1e9 else f"{bps / 1e6:.1f} Mb/s"


def number(key: str, value: int) -> str:
    """A unit as the last word of the key gives a number one: 39.981G, 17.432ms, 1%, 1.234MB. A mask is a list: 3,4."""
    if key == "link_speed_bps":  # of the configuration: 100G
        part, unit, _ = scaled(value, ("", "K", "M", "G", "T"))
        return f"{part:.12g}{unit}"
    if key.endswith("_bps"):
        part, unit, whole = scaled(value, ("", "K", "M", "G", "T"))
        return f"{part:.0f}" if whole else f"{part:.3f}{unit}"
    if key.endswith("_ns"):
        part, unit, whole = scaled(value, ("ns", "us", "ms", "s"))
        return f"{part:.0f}{unit}" if whole else f"{part:.3f}{unit}"
    if key.endswith("_ppm"):
        return f"{value / 1e4:.6g}%"
    if key in MASKS:
        return ",".join(str(prio) for prio in range(value.bit_length()) if value >> prio & 1) or "none"
    # Sizes of configuration files have all their digits, without zeros.
    if key.endswith("_threshold_bytes"):
        part, unit, _ = scaled(value, ("B", "KB", "MB", "GB"))
        return f"{part:.12g}{unit}"
    if key.endswith("_bytes"):
        part, unit, whole = scaled(value, ("B", "KB", "MB", "GB", "TB"))
        return f"{part:.0f}{unit}" if whole else f"{part:.3f}{unit}"
    return str(value)


def text(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return number(key, int(value))
    if isinstance(value, float):
        return f"{value:.2f}%" if key.endswith("_pct") else f"{value:.6g}"
    return plain(value) if isinstance(value, str) and value else "-"


def split(columns: str) -> Iterator[tuple[str, str]]:
    """Keys with their headings, of "port queue tx_packets=packets"."""
    for column in columns.split():
        key, _, title = column.partition("=")
        yield key, title or key


def cell(row: Mapping[str, Any], key: str) -> Any:
    """A port that has a name is shown by it."""
    return row.get("port_name") or row.get(key) if key == "port" else row.get(key)


def coloured() -> bool:
    """On a terminal, unless NO_COLOR is set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(line: list[str], heading: bool) -> list[str]:
    """Headings bold, what is wrong red."""
    if heading:
        return [f"{BOLD}{part}{PLAIN}" for part in line]
    return [f"{RED}{part}{PLAIN}" if TROUBLE.match(part) else part for part in line]


def fit(columns: list[list[str]], words: Sequence[int], room: int) -> None:
    """Shorten the widest of the columns of words until all fit into the room, unless a column is narrow or two of its words would be one."""
    def width(of: int) -> int:
        return max(map(len, columns[of]))

    left = set(words)
    while left and (excess := sum(map(width, range(len(columns)))) + 2 * (len(columns) - 1) - room) > 0:
        widest = max(left, key=width)
        others = max((width(of) for of in left - {widest}), default=0)
        target = max(width(widest) - excess, min(others, width(widest) - 1), LEAST_WIDTH)
        shorter = [short(part, target) for part in columns[widest]]
        if target >= width(widest) or len(set(shorter)) < len(set(columns[widest])):
            left.discard(widest)
        else:
            columns[widest] = shorter


def rows(found: Sequence[Mapping[str, Any]], columns: str) -> None:
    """Print rows, aligned, under headings. On a terminal, long words are shortened to its width. columns: keys in order, as split() takes them"""
    keys, values = list(split(columns)), [[cell(row, key) for row in found] for key, _ in split(columns)]
    texts = [[title, *(text(key, value) for value in of)] for (key, title), of in zip(keys, values)]
    words = [i for i, of in enumerate(values) if any(isinstance(value, str) for value in of)]
    if sys.stdout.isatty():
        fit(texts, words, shutil.get_terminal_size().columns)
    lines: list[list[str]] = [[] for _ in range(len(found) + 1)]
    for i, of_column in enumerate(texts):
        width = max(map(len, of_column))
        for line, part in zip(lines, of_column):
            line.append(part.ljust(width) if i in words else part.rjust(width))
    for i, line in enumerate(lines):
        print("  ".join(paint(line, i == 0) if coloured() else line).rstrip())
    if not found:
        print("(none)")


def members(found: Mapping[str, Any], keys: str | None) -> None:
    """Print the scalars of an object, a line each, in the order of keys; without keys all, those of nested objects as "object key"."""
    if keys is not None:
        lines = [(title, key, found[key]) for key, title in split(keys) if key in found]
    else:
        lines = list(scalars(found, ""))
    width = max((len(name) for name, _, _ in lines), default=0) if keys is None else 0
    for name, key, value in lines:
        print(f"{name:<{max(width, NAME_WIDTH)}} {text(key, value)}")


def scalars(found: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, Any]]:
    for key, value in found.items():
        if isinstance(value, dict):
            yield from scalars(value, key)
        elif not isinstance(value, list):
            yield f"{prefix} {key}".lstrip(), key, value
