#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages of perftest's exchange, and the words of its commands. The golden ones are those of ib_write_bw 4.5 on soft-RoCE."""
import ipaddress
import pathlib
import random
import re
import unittest

import fake  # noqa: F401  finds the tools
from quenchctl.command import BadUsage
from quenchctl.perftest import flows, options, wire

GOLDEN = b"0000:0010:000013:013e39:000004d4:000055bfba545000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:02:00000000:\0"
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Wire(unittest.TestCase):
    def test_data_of_a_qp_is_read_and_written_as_perftest_does(self):
        self.assertEqual(len(GOLDEN), wire.END_BYTES)
        end = wire.get_end(GOLDEN)
        self.assertEqual(end, wire.End(16, 0x13, 0x13e39, 0x4d4, 0x55bfba545000, ipaddress.ip_address("10.9.0.2")))
        self.assertEqual(wire.put_end(end), GOLDEN)

    def test_address_of_version_6_is_the_gid(self):
        end = wire.End(1, 17, 0, 0, 0, ipaddress.ip_address("fd09::2"))
        self.assertEqual(wire.get_end(wire.put_end(end)), end)

    def test_each_byte_of_the_data_that_is_wrong_is_refused(self):
        for at in range(len(GOLDEN)):
            for byte in (b"g", b"-", b" ", b"_", b"\xff"):
                self.assertIsNone(wire.get_end(GOLDEN[:at] + byte + GOLDEN[at + 1:]), (at, byte))

    def test_what_is_read_is_written_as_it_came(self):
        rnd = random.Random(7)
        for _ in range(2000):
            text = bytearray(GOLDEN)
            for _ in range(rnd.randrange(4)):
                text[rnd.randrange(len(text))] = rnd.choice(b"0123456789abcdefABCDEF:\0x\xff")
            end = wire.get_end(bytes(text))
            if end is not None:
                self.assertEqual(wire.put_end(end), bytes(text).lower())
            self.assertIn(wire.mtu(bytes(text[:2])), (0, 256, 512, 1024, 2048, 4096))
            self.assertLess(wire.version(bytes(text[:16])), 10**6)

    def test_versions_are_numbers_with_two_decimals(self):
        for text, number in (("6.06", 606), ("5.98", 598), ("16.25", 1625), ("", 0), ("6", 0), ("6.1", 0), (".606", 0), ("6..06", 0), ("6.060", 0),
                             ("6.06 ", 0), ("HTTP/1.1 400 Bad", 0), ("9999999999999999", 0)):
            self.assertEqual(wire.version(text.encode().ljust(wire.VERSION_BYTES, b"\0")), number, text)

    def test_mtus_are_digits(self):
        for mtu in (256, 512, 1024, 2048, 4096):
            self.assertEqual(wire.mtu(wire.put_mtu(mtu)), mtu)
        self.assertEqual([wire.mtu(text) for text in (b"3\0", b"0\0", b"6\0", b"33", b"\0\0")], [1024, 0, 0, 0, 0])

    def test_results_travel_big_endian(self):
        report = wire.Report(65536, 1000, 0.0, 1.0, 0.25)
        numbers = wire.put_report(report)
        self.assertEqual(b"".join(numbers), bytes((0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0xe8, *bytes(8), 0x3f, 0xf0, *bytes(6), 0x3f, 0xd0, *bytes(6))))
        self.assertEqual(wire.get_report(numbers), report)


class Words(unittest.TestCase):
    def test_values(self):
        for word, value in (("message_bytes=64KB", 64000), ("message_bytes=1.5KiB", 1536), ("message_bytes=0", 0), ("message_bytes=2GiB", 2 << 30),
                            ("duration_ns=200ms", 200_000_000), ("duration_ns=0.5s", 500_000_000), ("gbits=on", True), ("mtu_bytes=4096", 4096), ("verb=read", "read")):
            key = word.partition("=")[0]
            self.assertEqual(getattr(options.read([word]), key), value, word)

    def test_refusals(self):
        for word in ("message_bytes=-1", "message_bytes=1.5", "message_bytes=3GiB", "message_bytes=1ms", "messages=0", "messages=1K", "mtu_bytes=1000",
                     "mtu_bytes=128", "qp_count=65", "port=65536", "verb=atomic", "gbits=1", "flow=", "flow=a.b", "flow=" + "x" * 17, "size=1", "verb"):
            with self.assertRaises(BadUsage, msg=word):
                options.read([word])

    def test_default_of_the_nic(self):
        text = (ROOT / "doc/parameters.md").read_text(encoding="utf-8")
        self.assertEqual(int(re.search(r"(?m)^\| `max_rd_atomic`.*?\| (\d+) \|", text)[1]), flows.MAX_RD_ATOMIC)


if __name__ == "__main__":
    unittest.main()
