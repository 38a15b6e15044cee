# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK's telemetry socket, and EAL options with which a program has one."""
import atexit
import json
import os
import pathlib
import shutil
import socket
import time

from harness import BUILD, CORES, PATIENCE_S, run

# Where DPDK puts it (lib/eal: eal_get_runtime_dir()).
BASE = pathlib.Path("/var/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/tmp")) / "dpdk"


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


class Telemetry:
    def __init__(self, file_prefix):
        self.path = BASE / file_prefix / "dpdk_telemetry.v2"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Not with a timeout yet: it would make a full backlog an error in place of a wait.
        self.socket.connect(str(self.path))
        self.socket.settimeout(PATIENCE_S)
        self.info = json.loads(self.socket.recv(1024))
        # DPDK has the socket before the program has its commands.
        end = time.monotonic() + PATIENCE_S
        while self.ask("/quench/info") is None and time.monotonic() < end:
            time.sleep(0.01)

    def ask(self, command):
        self.socket.send(command.encode())
        reply = self.socket.recv(1 << 20)
        assert len(reply) <= self.info["max_output_len"], command
        return json.loads(reply)[command.partition(",")[0]]

    def all(self, command):
        """Every page of a list; the columns joined."""
        columns = {}
        page = self.ask(command)
        while True:
            for name, values in page.items():
                if isinstance(values, list):
                    columns.setdefault(name, []).extend(values)
            if "next" not in page:
                return columns
            page = self.ask(f"{command},{page['next']}")


def controller(file_prefix, **options):
    """A function that runs quenchctl with the words of a command, from any folder."""
    def ctl(*words, **more):
        return run((BUILD / "app/quenchctl/quenchctl").absolute(), "-f", file_prefix, *words, **options, **more)
    return ctl


def wait_answers(program, file_prefix):
    """A program says that it runs a moment before its telemetry does."""
    program.wait_started()
    program.wait_until("its telemetry answers", lambda: controller(file_prefix)("show", "info").returncode == 0)
