# SPDX-License-Identifier: BSD-3-Clause
"""Words of the simulator's files: numbers, rates and times, with the file and the line of each."""
from __future__ import annotations

import math
import pathlib
from collections.abc import Container
from typing import NoReturn

from ..files import read_at_most
from ..log import Log, Refused

UNITS = {"bps": 1, "b/s": 1, "kbps": 1e3, "kb/s": 1e3, "mbps": 1e6, "mb/s": 1e6, "gbps": 1e9, "gb/s": 1e9, "tbps": 1e12, "tb/s": 1e12,
         "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/"
LONGEST = 60  # characters of a value in a message
MOST_QUANTITY = 10**18
MOST_BYTES = 256 << 20  # of a file: a million flows have 50 MB


class Value:
    """A word or several, where they stand, and the key that they belong to."""

    def __init__(self, log: Log, line: int, key: str, words: list[str]) -> None:
        self.log, self.key, self.words = log, key, words
        self.place = f"{line}: " if line > 0 else " "  # 0: it is not in the file

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def refuse(self, why: str) -> NoReturn:
        self.log.refuse(f"{self.place}{f'{self.key}: ' if self.key else ''}{why}")

    def lose(self, why: str) -> None:
        self.log.lose(f"{self.place}{self.key} {self.text[:LONGEST]}: {why}")

    def note(self, why: str) -> None:
        self.log.note(f"{self.place}{self.key} {self.text[:LONGEST]}: {why}")

    def number(self, least: float, most: float, i: int = 0) -> float:
        return self._in_range(self._float(self.words[i]), "number", least, most, i)

    def whole(self, least: int, most: int, i: int = 0) -> int:
        word = self.words[i]
        found = int(word) if word.isascii() and word.isdigit() and len(word) <= 20 else math.nan
        return int(self._in_range(found, "whole number", least, most, i))

    def is_on(self) -> bool:
        return self.whole(0, 1) == 1

    def _float(self, word: str) -> float:
        try:
            return float(word) if word.isascii() and "_" not in word else math.nan
        except ValueError:
            return math.nan

    def _in_range(self, found: float, kind: str, least: float, most: float, i: int) -> float:
        if not least <= found <= most:
            self.refuse(f"expected a {kind} from {least} to {most}, not {self.words[i][:LONGEST]}")
        return found

    def quantity(self, bare: float, i: int = 0) -> int:
        """A rate or a time such as 25Gbps or 0.001ms, in bit/s or ns; a number without unit counts `bare`, as in ns-3."""
        word = self.words[i]
        digits = word.rstrip(LETTERS)
        unit = word[len(digits):].lower()
        found = self._float(digits) * (UNITS.get(unit, math.nan) if unit else bare)
        if not 0 <= found <= MOST_QUANTITY:
            self.refuse(f"expected a number from 0 up and a unit, such as 25Gbps or 1us, not {word[:LONGEST]}")
        return round(found)

    def rate_or_0(self, i: int = 0) -> int:
        return self.quantity(1, i)

    def rate(self, i: int = 0) -> int:
        bps = self.quantity(1, i)
        if bps == 0:
            self.refuse(f"expected a rate above 0, not {self.words[i][:LONGEST]}")
        return bps

    def delay(self, i: int = 0) -> int:
        return self.quantity(1e9, i)


def read(path: pathlib.Path, log: Log) -> str:
    """@raise Refused"""
    try:
        with open(path, "rb") as file:
            data = read_at_most(file, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: {error.strerror if isinstance(error, OSError) else error}") from error
    if len(data) > MOST_BYTES:
        log.refuse(f" expected a file of at most {MOST_BYTES} bytes")
    return data.decode("utf-8-sig", "replace")


class Lines:
    """The lines of a file that have words, in order."""

    def __init__(self, path: pathlib.Path) -> None:
        self.log, self.at = Log(str(path)), -1
        self.rows = [(n, words) for n, line in enumerate(read(path, self.log).splitlines(), 1) if (words := line.split())]

    def take(self, what: str, lengths: Container[int]) -> Value:
        """The words of the next line. what: the words that are expected, for errors."""
        self.at += 1
        if self.at >= len(self.rows):
            self.log.refuse(f" ends after {len(self.rows)} lines: expected {what}")
        n, words = self.rows[self.at]
        line = Value(self.log, n, "", words)
        if len(words) not in lengths:
            line.refuse(f"expected {what}, not {len(words)} words: {line.text[:LONGEST]}")
        return line

    def n_more(self) -> int:
        """Lines that follow, without remarks: those begin with a letter."""
        return sum(words[0][0].isdigit() for _, words in self.rows[self.at + 1:])
