# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl beside a running program."""
import json
import os
import re
import select
import subprocess
import tempfile

from harness import BUILD, PATIENCE_S, check, check_equal, until
import desk  # noqa: F401  # pylint: disable=unused-import  # finds the tools
from quenchctl import main
import quenchctl.show.show  # noqa: F401  # pylint: disable=unused-import  # loaded before the fork

# A program that gets no CPU for seconds; quenchctl says so, and its user asks again.
BUSY = re.compile(r"the program does not answer|did not respond")


def forked(args, env):
    """Run quenchctl in a copy of this process, which has its modules: a start of Python for each command would cost the suite a minute.

    Other tests run the program itself, with subprocess.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                os.environ.update(env)
                main.main(args)
            finally:
                os._exit(70)
        fd = os.pidfd_open(pid)
        if not select.select([fd], [], [], PATIENCE_S)[0]:
            os.kill(pid, 9)
        os.close(fd)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(args, code, *texts)


class Ctl:
    """Commands with options, as -f PREFIX; work is the folder of its cache."""

    def __init__(self, work, *options):
        self.command = [BUILD / "app/quenchctl/quenchctl", *options]
        self.env = {**os.environ, "XDG_CACHE_HOME": str(work / "cache")}

    def __call__(self, words):
        return self.words(words.split())

    def words(self, words):
        """Of a command whose words may have blanks."""
        return forked([str(word) for word in (*self.command[1:], *words)], self.env)

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
