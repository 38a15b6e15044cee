#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The file of a capture: whole blocks, however they come and whatever becomes of the disk."""
import contextlib
import os
import struct
import tempfile
import unittest
from unittest import mock

import fake  # noqa: F401  finds the tools
from quenchctl import capture


def block(kind, body):
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def frame(data, lost=0):
    options = struct.pack("<HHQ", capture.DROP_COUNT, 8, lost) if lost else b""
    return block(capture.FRAME, bytes(12) + struct.pack("<II", len(data), len(data)) + data.ljust((len(data) + 3) // 4 * 4, b"\0") + options + bytes(4))


END = block(capture.STATISTICS, bytes(12) + struct.pack("<HHQ", 2, 8, 1) + struct.pack("<HHQ", capture.IF_DROP, 8, 9) + bytes(4))
STREAM = block(0x0A0D0D0A, bytes(16)) + block(1, bytes(8)) + frame(b"x" * 61) + frame(b"y" * 60, 5) + END


class Capture(unittest.TestCase):
    def setUp(self):
        self.out = self.enterContext(tempfile.TemporaryFile())
        self.file = capture.File(self.out.fileno())

    def written(self):
        return os.pread(self.out.fileno(), 1 << 20, 0)

    def test_any_pieces(self):
        for size in (1, 3, 12, 50, len(STREAM)):
            self.setUp()
            for at in range(0, len(STREAM), size):
                self.file.add(STREAM[at:at + size])
                self.assertTrue(STREAM.startswith(self.written()))
            self.assertEqual(self.written(), STREAM)
            self.assertEqual((self.file.frames, self.file.bytes, self.file.lost, self.file.is_complete), (2, len(STREAM), 9, True))

    def test_a_frame_counts_what_was_lost_before_it(self):
        self.file.add(STREAM[:-len(END)])
        self.assertEqual((self.file.lost, self.file.is_complete), (5, False))

    def test_a_disk_that_is_full_at_any_byte(self):
        write = os.write
        for room in range(len(STREAM)):
            self.setUp()
            left = [room]

            def some(fd, data, left=left):
                if left[0] == 0:
                    raise OSError(28, "No space left on device")
                n = write(fd, data[:left[0]])
                left[0] -= n
                return n
            with mock.patch("os.write", some), contextlib.suppress(OSError):
                self.file.add(STREAM)
            self.assertEqual(len(self.written()), self.file.bytes)
            self.assertTrue(STREAM.startswith(self.written()) and len(self.written()) <= room)

    def test_what_is_no_pcapng(self):
        for text in (b"HTTP/1.1 400 Bad", bytes(16), struct.pack("<II", 6, 13) + bytes(8), struct.pack("<II", 6, 1 << 20) + bytes(8)):
            with self.assertRaises(capture.NoPcapng):
                self.file.add(text)
        self.assertEqual(self.written(), b"")


if __name__ == "__main__":
    unittest.main()
