# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of inputs, and the INI's words for sets, maps and VLANs."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

KBPS, MBPS, GBPS = 10**3, 10**6, 10**9
NS_PER_MS = 10**6
LAST_VLAN = 4094


def whole(text: str, least: int, most: int) -> int | None:
    """A whole number in decimal digits; None: anything else, or out of range."""
    if not (text.isascii() and text.isdigit()) or len(text) > 20:
        return None
    value = int(text)
    return value if least <= value <= most else None


def spans(numbers: Iterable[int]) -> str:
    """{3, 4, 7} is "3-4,7"; "" of none."""
    parts: list[str] = []
    ordered = sorted(numbers)
    for i, first in enumerate(ordered):
        if i > 0 and ordered[i - 1] == first - 1:
            continue
        last = first
        while i + 1 < len(ordered) and ordered[i + 1] == last + 1:
            i, last = i + 1, last + 1
        parts.append(str(first) if first == last else f"{first}-{last}")
    return ",".join(parts)


def set_text(numbers: Iterable[int]) -> str:
    """The INI's set, such as "3-4"; "none"."""
    return spans(numbers) or "none"


def map_text(values: Sequence[int]) -> str:
    """The INI's map, such as "3:3, *:0": the most frequent value stands for the keys that are not named."""
    rest = Counter(values).most_common(1)[0][0]
    named = [f"{span}:{value}" for value in sorted(set(values)) if value != rest
             for span in spans(key for key, own in enumerate(values) if own == value).split(",")]
    return ", ".join([*named, f"*:{rest}"])


def vlan_list(text: str) -> set[int] | None:
    """"10,20-29" as a set, "none" as the empty one; None: neither."""
    found: set[int] = set()
    if text.lower() == "none":
        return found
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        low, high = whole(first, 1, LAST_VLAN), whole(last if dash else first, 1, LAST_VLAN)
        if low is None or high is None or low > high:
            return None
        found.update(range(low, high + 1))
    return found


def on_off(value: bool) -> str:
    return "on" if value else "off"


# The INI's words for numbers, as the programs print them.

SIZES = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "GB": 10**9, "MB": 10**6, "KB": 10**3, "B": 1}
RATES = {"G": GBPS, "M": MBPS, "K": KBPS}
TIMES = {"ns": 1, "us": 10**3, "ms": NS_PER_MS, "s": 10**9}
SHARES = {"ppm": 1, "%": 10**4}


def scaled(text: str, units: dict[str, int]) -> int:
    """"12MB" as 12000000; a number without a unit is one of the smallest."""
    for unit, scale in units.items():
        if text.endswith(unit) and text[:-len(unit)].isdigit():
            return int(text[:-len(unit)]) * scale
    return int(text)


def set_of(text: str) -> frozenset[int]:
    """The INI's set, such as "3-4"."""
    found: set[int] = set()
    for part in [] if text == "none" else text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def map_of(text: str, n: int) -> list[int]:
    """The INI's map of n keys, such as "3:3, *:0"."""
    named: dict[int, int] = {}
    rest = 0
    for part in text.split(", "):
        keys, _, value = part.partition(":")
        if keys == "*":
            rest = int(value)
        else:
            named.update((key, int(value)) for key in set_of(keys))
    return [named.get(key, rest) for key in range(n)]
