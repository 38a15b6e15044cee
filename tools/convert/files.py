# SPDX-License-Identifier: BSD-3-Clause
"""Input files, whose sizes have limits."""
from __future__ import annotations

import io
from typing import Protocol

PIECE_BYTES = 64 << 10


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_at_most(file: Readable, most: int) -> bytes:
    """The bytes of a file, but not more than one beyond `most`. Read in pieces: a file object asked for `most` takes memory for as many."""
    found = io.BytesIO()
    while (left := most + 1 - found.tell()) > 0 and (piece := file.read(min(left, PIECE_BYTES))):
        found.write(piece)
    return found.getvalue()
