# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl in an emulated terminal."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from harness import BUILD, PATIENCE_S, check, skip

try:
    import pyte
except ImportError:
    skip("python3-pyte is not installed")


class Terminal:
    """quenchctl in a terminal of our own."""

    def __init__(self, *words, lines=30, columns=140):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.master, slave = pty.openpty()
        self.resize(lines, columns)
        self.process = subprocess.Popen([BUILD / "app/quenchctl/quenchctl", *words], stdin=slave, stdout=slave,
                                        stderr=slave, start_new_session=True, env={**os.environ, "TERM": "linux"},
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds=0.1):
        while select.select([self.master], [], [], seconds)[0]:
            try:
                self.stream.feed(os.read(self.master, 65536))
            except OSError:
                return

    def rows(self):
        return [row.rstrip() for row in self.screen.display]

    def shows(self, what, holds):
        """Wait for a picture of which holds(text) is true."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.read()
            if holds("\n".join(self.rows())):
                return check(what, True)
        return check(what, False, "\n".join(self.rows()))

    def key(self, text):
        os.write(self.master, text.encode())

    def end(self):
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None
