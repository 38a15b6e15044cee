# SPDX-License-Identifier: BSD-3-Clause
"""The quench-nic of a port."""
from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from quench.process import Failed, Process

T = TypeVar("T")


class Generator(Process):
    """A quench-nic that runs one port. Its files are in folder."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path, name: str, prefix: str, eal: Sequence[str], options: Sequence[str]) -> None:
        super().__init__(program, folder, name, prefix, eal, ["--stay", "--stats-interval", "0", *options], f"port {name}")

    def if_ready(self, read: Callable[[Generator], T]) -> T | None:
        """What read() returns; None if it does not run, or ends meanwhile."""
        try:
            return read(self) if self.is_ready() else None
        except Failed:
            if self.is_ready():
                raise
            return None
