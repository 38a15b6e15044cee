# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK's telemetry socket, and EAL options with which a program has one."""
import atexit
import os
import pathlib
import shutil
import sys

from harness import BUILD, CORES, PATIENCE_S, run

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from quench import telemetry  # noqa: E402

BASE = telemetry.BASE


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


class Telemetry(telemetry.Telemetry):
    """Of a running program; it answers already."""

    def __init__(self, file_prefix):
        super().__init__(file_prefix, PATIENCE_S)
        self.wait_commands(PATIENCE_S)


def controller(file_prefix, **options):
    """A function that runs quenchctl with the words of a command, from any folder."""
    def ctl(*words, **more):
        return run((BUILD / "app/quenchctl/quenchctl").absolute(), "-f", file_prefix, *words, **options, **more)
    return ctl


def wait_answers(program, file_prefix):
    """A program says that it runs a moment before its telemetry does."""
    program.wait_started()
    program.wait_until("its telemetry answers", lambda: controller(file_prefix)("show", "info").returncode == 0)
