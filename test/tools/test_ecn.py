#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Marks by queue length against the curve: what came between two answers, and when the two differ by more than chance."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
from quenchctl.show import ecn  # noqa: E402


def row(up_to, packets, marked, expected):
    return {"up_to_bytes": up_to, "packets": packets, "marked": marked, "measured": marked / packets, "expected": expected}


class Ecn(unittest.TestCase):
    def test_only_packets_between_two_answers_count(self):
        before = {"mark_accuracy": [row(1000, 100, 10, 0.1), row(None, 5, 5, 1.0)]}
        now = {"mark_accuracy": [row(1000, 300, 70, 0.2), row(2000, 10, 3, 0.3), row(None, 5, 5, 1.0)]}
        found = ecn.since(before, now)
        self.assertEqual([(one["up_to_bytes"], one["packets"], one["marked"], round(one["expected"], 9)) for one in found],
                         [(1000, 200, 60, 0.25), (2000, 10, 3, 0.3)])
        self.assertEqual(ecn.total(found) | {"measured": 0, "expected": 0}, {"packets": 210, "marked": 63, "measured": 0, "expected": 0, "agree": True})

    def test_nothing_is_said_of_no_packets(self):
        self.assertEqual(ecn.total_text(ecn.total([])), "no ECT packet has left the queue")

    def test_chance_does_not_warn(self):
        draws = random.Random(7)
        for share in (0.0, 0.001, 0.07, 0.5, 1.0):
            for n in (1, 10, 1000):
                for _ in range(100):
                    marks = ecn.total([row(None, n, sum(draws.random() < share for _ in range(n)), share)])
                    self.assertTrue(marks["agree"], (share, n, marks))

    def test_a_wrong_share_warns(self):
        for share, measured in ((0.07, 0.08), (0.5, 0.48), (1.0, 0.999), (0.0, 0.001)):
            text = ecn.total_text(ecn.total([row(None, 100000, round(100000 * measured), share)]))
            self.assertRegex(text, "WARNING: more than chance parts them")


unittest.main()
