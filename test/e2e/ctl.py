# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl beside a running program."""
import contextlib
import io
import json
import os
import re
import subprocess

from harness import BUILD, check, check_equal, until
import desk
from quenchctl import main
from scripts import own_process

# A program that gets no CPU for seconds; quenchctl says so, and its user asks again.
BUSY = re.compile(r"the program does not answer|did not respond")


def quenchctl(*words, env=None, cwd=None):
    """Run a command of quenchctl in this process, which has its modules: a start of Python for each would cost the suite minutes.

    Other tests run the program itself. Of the main thread alone; env adds variables. @return as subprocess.run()
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", write_through=True) for _ in range(2))
    with own_process(f"quenchctl {' '.join(map(str, words))}"), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        os.environ.update(env or {})
        os.chdir(cwd or ".")
        code = main.end(main.run_line([str(word) for word in words]))
    texts = [file.buffer.getvalue().decode(errors="surrogateescape") for file in (out, err)]
    return subprocess.CompletedProcess(words, code, *texts)


def controller(file_prefix, **options):
    """A function that runs the words of a command, and again while the program is too busy for a change."""
    def ctl(*words, **more):
        done = []

        def is_done():
            done[:] = [quenchctl("-f", file_prefix, *words, **options, **more)]
            return done[0].returncode == 0 or desk.BUSY not in done[0].stderr

        until(is_done)
        return done[0]
    return ctl


class Ctl:
    """Commands with options, as -f PREFIX; work is the folder of its cache."""

    def __init__(self, work, *options):
        self.command = [BUILD / "app/quenchctl/quenchctl", *options]
        self.env = {**os.environ, "XDG_CACHE_HOME": str(work / "cache")}

    def __call__(self, words):
        return self.words(words.split())

    def words(self, words):
        """Of a command whose words may have blanks."""
        return quenchctl(*self.command[1:], *words, env=self.env)

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
