# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl beside a running program."""
import json
import os
import re

from harness import BUILD, check, check_equal, run, until

# A program that gets no CPU for seconds; quenchctl says so, and its user asks again.
BUSY = re.compile(r"the program does not answer|did not respond")


class Ctl:
    """Commands with options, as -f PREFIX; work is the folder of its cache."""

    def __init__(self, work, *options):
        self.command = [BUILD / "app/quenchctl/quenchctl", *options]
        self.env = {**os.environ, "XDG_CACHE_HOME": str(work / "cache")}

    def __call__(self, words):
        return run(*self.command, *words.split(), env=self.env)

    def answer(self, words):
        """Of a question, which may be asked again."""
        done = []

        def answered():
            done[:] = [self(words)]
            return not BUSY.search(done[0].stderr)

        until(answered)
        return done[0]

    def text(self, words):
        done = self.answer(words)
        check_equal(f"{words}: exit code", (done.returncode, done.stderr), (0, ""))
        return done.stdout

    def json(self, words):
        done = self.answer(f"--json {words}")
        if done.returncode != 0:
            check(f"{words} --json", False, done.stderr)
            return {}
        return json.loads(done.stdout)

    def table(self, words):
        """Rows of cells; the last heading line begins them."""
        done = self.answer(words)
        check_equal(f"{words}: exit code", done.returncode, 0)
        return [line.split() for line in done.stdout.splitlines()]

    def refused(self, words, *expected, code=2):
        done = self(words)
        check(f"{words or 'no command'} is refused in one line", done.returncode == code and done.stdout == "" and
              len(done.stderr.splitlines()) == 1 and all(e in done.stderr for e in expected), (done.returncode, done.stderr))

    def traces(self):
        """The traced QPs and how many clients each has."""
        return {row["local_qpn"]: row["clients"] for row in self.json("show traces").get("rows", [])}
