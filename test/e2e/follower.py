# SPDX-License-Identifier: BSD-3-Clause
"""A client that follows a trace."""
import json
import signal
import subprocess

from harness import PATIENCE_S


class Follower:
    """quenchctl --json trace qp ID, whose lines go to a file."""

    def __init__(self, work, name, ctl, words):
        self.path, self.errors = work / f"{name}.out", work / f"{name}.err"
        with open(self.path, "w") as out, open(self.errors, "w") as err:
            self.process = subprocess.Popen([str(c) for c in (*ctl.command, *words.split())], stdout=out, stderr=err)

    def lines(self):
        return self.path.read_text().splitlines(keepends=True)

    def rows(self):
        return [json.loads(line) for line in self.lines() if line.endswith("\n")]

    def stop(self, with_signal=signal.SIGINT):
        self.process.send_signal(with_signal)
        return self.process.wait(PATIENCE_S), self.errors.read_text()
