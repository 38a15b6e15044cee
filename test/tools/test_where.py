#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""show hot and show pauses over programs of which one has little to say, one ends and one refuses."""
import contextlib
import io
import os
import tempfile
import unittest
from unittest import mock

import fake
from quench.desk import Gone, Refused
from quenchctl.command import Options
from quenchctl.where import reading
from quenchctl.where.programs import programs
from quenchctl.where.reading import Reading

LOOKS = 10
PFC = {"port": 0} | {f"{way}_prio{prio}_pause_{key}": 0 for way in ("rx", "tx") for prio in range(8) for key in ("duration_us", "transition")}


def switch(empty_looks=0, ends_after=10**6):
    """Of one port, queue 3 of which holds 1000 bytes after some looks."""
    asked = {"pauses": 0}

    def waiting():
        return 1000 if asked["pauses"] > empty_looks else 0

    def answer(method, _):
        if method == "info":
            return {"program": "quench-switch", "ports": 1}
        if method == "pfc":
            return {"rows": [PFC]}
        if method == "pauses":
            asked["pauses"] += 1
            if asked["pauses"] > ends_after:
                raise OSError
            return {"port": 0, "mac": "02:5a:00:00:00:00", "pause_source": "", "pauses": []}
        if method == "queues":
            return {"port": 0, "queues": [{"queue": 3, "queue_bytes": waiting()}]}
        return {"port": 0, "queue": 3, "waiting_bytes": waiting(), "hold": "wire" if waiting() else "empty", "behind": "", "paused_prios": "", "paused_for_ns": 0,
                "looked_at_ns": 10**9 * asked["pauses"], "tx_bytes": 0, "ecn_marked_packets": 0, "ecn_not_ect_packets": 0, "drop_packets": 0, "from": [], "flows": []}

    return answer


def refuses(_method, _params):
    return {"code": -32003, "message": "user 7 may not read"}


class Where(unittest.TestCase):
    def read(self, **answers):
        """@return rows of the queues, and what was said"""
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"RUNTIME_DIRECTORY": folder}), contextlib.ExitStack() as stack:
            for name, answer in answers.items():
                stack.callback(fake.Program(folder, name, answer).socket.close)
            stack.enter_context(contextlib.redirect_stderr(said))
            stack.enter_context(mock.patch.object(reading, "EVERY_S", 0))
            found = Reading(stack.enter_context(programs(Options())))
            found.read(LOOKS)
            return {row["node"]: row for _, row in found.results()}, said.getvalue()

    def test_means_are_over_all_looks(self):
        rows, _ = self.read(short=switch(empty_looks=9), long=switch())
        self.assertEqual([(name, row["queue_mean_bytes"], row["queue_max_bytes"], row["looks"]) for name, row in rows.items()],
                         [("long", 1000, 1000, LOOKS), ("short", 100, 1000, LOOKS)])
        self.assertEqual({hold["hold"]: hold["looks"] for hold in rows["short"]["holds"]}, {"empty": 9, "wire": 1})

    def test_a_program_that_ends_is_left_out(self):
        rows, said = self.read(stays=switch(), ends=switch(ends_after=5))
        self.assertEqual(rows["stays"]["looks"], LOOKS)
        self.assertRegex(said, r"\Aquenchctl: warning: ends is left out: .*has ended\n\Z")

    def test_the_last_one_that_ends_is_an_error(self):
        with self.assertRaises(Gone):
            self.read(ends=switch(ends_after=5))

    def test_a_program_of_other_users_is_left_out(self):
        rows, said = self.read(ours=switch(), theirs=refuses)
        self.assertEqual((list(rows), said), (["ours"], "quenchctl: warning: theirs is left out: user 7 may not read\n"))
        with self.assertRaises(Refused):
            self.read(theirs=refuses)


unittest.main()
