# SPDX-License-Identifier: BSD-3-Clause
"""A quench-nic or quench-switch: its process, its files and its telemetry socket. Needs nothing but Python."""
from __future__ import annotations

import contextlib
import pathlib
import shlex
import subprocess
import time
from collections.abc import Sequence
from typing import Any, Protocol

from .telemetry import Columns, Telemetry

PATIENCE_S = 60.0
STOP_S = 10.0


class Failed(Exception):
    """A program did not start, ended, failed, or refused what it was given; the text is one line."""


class Child(Protocol):
    """What is needed of subprocess.Popen."""

    returncode: int | None

    def poll(self) -> int | None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...


class Process:
    """A program with a telemetry socket. Its configuration NAME.ini and its log NAME.log are in folder.

    who: the subject of errors, such as "port p1"
    """

    def __init__(self, program: pathlib.Path, folder: pathlib.Path, name: str, prefix: str, eal: Sequence[str], options: Sequence[str], who: str) -> None:
        self.name, self.folder, self.prefix, self.who = name, folder, prefix, who
        self.config = folder / f"{name}.ini"
        self.log = folder / f"{name}.log"
        self.command = [str(program), *eal, "--file-prefix", prefix, "--", "--config", str(self.config), *options]
        self.program = program.name
        self.process: Child | None = None
        self.telemetry: Telemetry | None = None

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

    def wait_started(self) -> None:
        """Wait until its ports are up and its telemetry answers."""
        process = self.process  # stop() may come meanwhile
        assert process is not None
        end = time.monotonic() + PATIENCE_S
        while "running" not in self.log.read_text(encoding="utf-8", errors="replace"):
            if process.poll() is not None:
                raise Failed(f"{self.who}: {self.program} ended with {process.returncode}: {self.last_line()}")
            if time.monotonic() > end:
                raise Failed(f"{self.who}: {self.program} does not run after {PATIENCE_S:g} s: is the other end of its link there? {shlex.join(self.command)}")
            time.sleep(0.005)
        telemetry = Telemetry(self.prefix, PATIENCE_S)
        if not telemetry.wait_commands(PATIENCE_S):
            raise Failed(f"{self.who}: its telemetry does not answer")
        self.telemetry = telemetry

    def is_ready(self) -> bool:
        """It runs, and answers."""
        process = self.process
        return self.telemetry is not None and process is not None and process.poll() is None

    def connected(self) -> Telemetry:
        telemetry, process = self.telemetry, self.process
        if telemetry is None or not self.is_ready():
            code = "" if process is None or process.returncode is None else f" with {process.returncode}: {self.last_line()}"
            raise Failed(f"{self.who}: {self.program} has ended{code}")
        return telemetry

    def ask(self, command: str) -> Any:
        """The reply to a command of doc/interface.md, such as "/quench/port,1". @raise Failed: also if the program refuses it"""
        telemetry = self.connected()
        try:
            reply = telemetry.ask(command)
        except (OSError, ValueError) as error:
            raise Failed(f"{self.who}: telemetry: {error}") from error
        if isinstance(reply, dict) and isinstance(reply.get("error"), str):  # a number is the state of a QP
            rest = "".join(reply.get("error_rest/text", []))
            raise Failed(f"{self.who}: {reply['error']}{rest} {reply.get('expected', '')}".rstrip())
        if reply is None:
            raise Failed(f"{self.who}: {self.program} does not know {command.partition(',')[0]}, or is about to end")
        return reply

    def all(self, command: str, chosen: Sequence[str] = ()) -> Columns:
        """Every page of a list, as columns by name. chosen: names of columns, for a command with COLUMNS; none: all"""
        telemetry = self.connected()
        try:
            return telemetry.all(command, chosen)
        except (OSError, ValueError, AttributeError) as error:
            raise Failed(f"{self.who}: telemetry: {error}") from error

    def change(self, command: str) -> None:
        """Send a command that changes the configuration, and wait until all lcores have the change."""
        end = time.monotonic() + PATIENCE_S
        while self.ask(command)["in_force"] != 1:  # pending: no other change is accepted meanwhile
            if time.monotonic() > end:
                raise Failed(f"{self.who}: a change is not in force after {PATIENCE_S:g} s")
            time.sleep(0.05)

    def reload(self, text: str) -> None:
        """Put another configuration in force; nothing changes if the program refuses it."""
        self.write(text)
        self.change(f"/quench/reload,{self.config}")

    def stop(self) -> None:
        """End it, from any thread."""
        telemetry, self.telemetry = self.telemetry, None
        process, self.process = self.process, None
        if telemetry is not None:
            telemetry.close()
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
