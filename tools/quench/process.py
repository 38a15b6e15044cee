# SPDX-License-Identifier: BSD-3-Clause
"""A quench-nic or quench-switch: its process, its files and its socket. Needs nothing but Python."""
from __future__ import annotations

import contextlib
import pathlib
import shlex
import subprocess
import time
from collections.abc import Sequence
from typing import Any, Protocol

from . import desk
from .desk import Desk, Failed, Row

PATIENCE_S = 60.0
STOP_S = 10.0


class Child(Protocol):
    """What is needed of subprocess.Popen."""

    returncode: int | None

    def poll(self) -> int | None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...


class Process:
    """A program with a socket. Its configuration NAME.ini and its log NAME.log are in folder.

    who: the subject of errors, such as "port p1"
    """

    def __init__(self, program: pathlib.Path, folder: pathlib.Path, name: str, prefix: str, eal: Sequence[str], options: Sequence[str], who: str) -> None:
        self.name, self.folder, self.prefix, self.who = name, folder, prefix, who
        self.config = folder / f"{name}.ini"
        self.log = folder / f"{name}.log"
        self.command = [str(program), *eal, "--file-prefix", prefix, "--", "--config", str(self.config), *options]
        self.program = program.name
        self.process: Child | None = None
        self.desk: Desk | None = None
        self.warnings: list[str] = []  # since take_warnings()

    def write(self, text: str) -> None:
        part = self.config.with_suffix(".part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(self.config)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            if not self.write_over(text):
                raise Failed(f"{self.who}: {error.filename or part}: {error.strerror}") from error

    def write_over(self, text: str) -> bool:
        """Where the last one is, whose room a full disk still has: what fills the disk can be stopped. Nobody reads it now."""
        try:
            with open(self.config, "r+", encoding="utf-8") as file:
                file.write(text)
                file.truncate()
        except OSError:
            return False
        return True

    def start(self, text: str) -> None:
        """Start it with a configuration. wait_started() follows, so that several can start together."""
        try:
            self.write(text)
            with open(self.log, "wb") as log:
                # A session of its own: Ctrl-C reaches the caller alone, who ends the program.
                self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        except OSError as error:
            raise Failed(f"{self.who}: {error.filename or self.command[0]}: {error.strerror}") from error

    def last_line(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        said = [line for line in lines if "error" in line] or [line for line in lines if line.strip()]
        return said[-1].strip() if said else "without a word"

    def take_warnings(self) -> list[str]:
        """What it has warned of at its start, and in its replies to changes, since the last call."""
        found, self.warnings = self.warnings, []
        return [f"{self.who}: {line}" for line in dict.fromkeys(found)]

    def runtime(self) -> pathlib.Path:
        """The folder of its sockets."""
        return pathlib.Path(desk.folder(self.prefix))

    def connect(self) -> Desk:
        """@raise Failed: nobody answers there"""
        return Desk(str(self.runtime() / desk.SOCKET), PATIENCE_S)

    def wait_started(self) -> None:
        """Wait until its ports are up and its socket answers."""
        process = self.process  # stop() may come meanwhile
        assert process is not None
        end = time.monotonic() + PATIENCE_S
        while f"\n{self.program}: running: " not in "\n" + self.log.read_text(encoding="utf-8", errors="replace"):
            if process.poll() is not None:
                raise Failed(f"{self.who}: {self.program} ended with {process.returncode}: {self.last_line()}")
            if time.monotonic() > end:
                raise Failed(f"{self.who}: {self.program} does not run after {PATIENCE_S:g} s: is the other end of its link there? {shlex.join(self.command)}")
            time.sleep(0.005)
        said = (line.partition(f"{self.program}: warning: ")[2] for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines())
        self.warnings += [line for line in said if line and " event=" not in line]  # events, such as of a link, pass
        try:
            self.desk = self.connect()
        except Failed as error:
            raise Failed(f"{self.who}: {error}") from error

    def is_ready(self) -> bool:
        """It runs, and answers."""
        process = self.process
        return self.desk is not None and process is not None and process.poll() is None

    def connected(self) -> Desk:
        found, process = self.desk, self.process
        if found is None or not self.is_ready():
            code = "" if process is None or process.returncode is None else f" with {process.returncode}: {self.last_line()}"
            raise Failed(f"{self.who}: {self.program} has ended{code}")
        return found

    def call(self, method: str, **params: Any) -> Row:
        """The result of a method of doc/interface.md, such as call("port", port=1). @raise Failed: also if the program refuses it"""
        try:
            found: Row = self.connected().call(method, **params)
            return found
        except desk.Refused as error:
            raise Failed(f"{self.who}: {error}") from error
        except desk.Gone as error:
            self.connected()
            raise Failed(f"{self.who}: {error}") from error

    def change(self, method: str, **params: Any) -> None:
        """Call a method that changes the configuration, and wait until all lcores have the change."""
        end = time.monotonic() + PATIENCE_S
        while True:
            reply = self.call(method, **params)
            self.warnings += reply.get("warnings", [])
            if reply["in_force"]:
                return
            # Pending: no other change is accepted meanwhile.
            if time.monotonic() > end:
                raise Failed(f"{self.who}: a change is not in force after {PATIENCE_S:g} s")
            time.sleep(0.05)

    def reload(self, text: str) -> None:
        """Put another configuration in force; nothing changes if the program refuses it."""
        self.write(text)
        self.change("reload", file=str(self.config))

    def stop(self) -> None:
        """End it, from any thread."""
        connection, self.desk = self.desk, None
        process, self.process = self.process, None
        if connection is not None:
            connection.close()
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
