# SPDX-License-Identifier: BSD-3-Clause
"""--set KEY=VALUE of an import of a job."""
from __future__ import annotations

import math
from collections.abc import Sequence

from ..log import Refused
from ..values import whole

# Keys of [job] that an import hands on to quench-lab, which checks their values.
OF_COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")  # = ALGORITHM
OF_JOB = ("chunk_bytes", "channels", "reduce_ps_per_byte")


class Settings:
    def __init__(self, given: Sequence[str], known: Sequence[str]) -> None:
        """@raise Refused: not KEY=VALUE, or no key of this import"""
        self.values: dict[str, str] = {}
        for word in given:
            key, equals, value = word.partition("=")
            if not equals or not value or "\n" in value or key not in known:
                raise Refused(f"--set {word}: expected KEY=VALUE with one of {', '.join(known) or 'no key'}")
            self.values[key] = value

    def text(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    def number(self, key: str, least: int, most: int) -> int | None:
        """None: not given. @raise Refused"""
        if key not in self.values:
            return None
        found = whole(self.values[key], least, most)
        if found is None:
            raise Refused(f"--set {key}={self.values[key]}: expected a whole number from {least} to {most}")
        return found

    def positive(self, key: str, default: float) -> float:
        """A number above 0, such as 1e12. @raise Refused"""
        try:
            found = float(self.values.get(key, default))
        except ValueError:
            found = 0.0
        if not math.isfinite(found) or found <= 0:
            raise Refused(f"--set {key}={self.values[key]}: expected a number above 0, such as 1e12")
        return found
