# SPDX-License-Identifier: BSD-3-Clause
"""A client of a program's desk, and EAL options with which a program has a name of this test's own."""
import atexit
import os
import pathlib
import shutil
import sys

from harness import CORES, PATIENCE_S, until

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from quench import desk  # noqa: E402

BASE = pathlib.Path(desk.runtime_dir()) / "dpdk"
SOCKET = desk.SOCKET
# So ends what a program says that gets no CPU for seconds: it has changed nothing, and its user asks again.
BUSY = "try again"


def prefix(name):
    """A file prefix of this test's own; its folder is removed at the end."""
    text = f"qe{os.getpid()}{name}"
    atexit.register(shutil.rmtree, BASE / text, ignore_errors=True)
    return text


def eal(file_prefix, *devices, lcores=1, memory=96):
    """With several lcores the first, which is the main one, polls nothing."""
    where = ",".join(f"{i}@{CORES[i % len(CORES)]}" for i in range(lcores))
    options = ["--lcores", where, "--no-pci", "--log-level=error", "--no-huge", "--no-shconf", "-m", memory,
               "--file-prefix", file_prefix]
    for device in devices:
        options += ["--vdev", device]
    return [str(o) for o in options]


class Desk(desk.Desk):
    """Of a running program."""

    def __init__(self, file_prefix):
        super().__init__(str(BASE / file_prefix / SOCKET), PATIENCE_S)

    def rows(self, method, **params):
        """The list that a method returns."""
        return desk.rows_of(self.call(method, **params))

    def column(self, method, key, **params):
        return [row[key] for row in self.rows(method, **params)]

    def set(self, *settings):
        said, reply = BUSY, None

        def is_set():
            nonlocal said, reply
            try:
                said, reply = "", self.call("set", settings=list(settings))
            except desk.Refused as error:
                said = str(error)
            return BUSY not in said

        if not until(is_set) or said:
            raise desk.Failed(said)
        return reply

    def refusal(self, method, **params):
        """The line with which a request is refused; "" if it is not."""
        try:
            self.call(method, **params)
        except desk.Refused as error:
            return str(error)
        return ""
