# SPDX-License-Identifier: BSD-3-Clause
"""The quench-nic of a port: its process, and its telemetry socket."""
from __future__ import annotations

import pathlib
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .telemetry import Columns, Telemetry

PATIENCE_S = 60.0
STOP_S = 10.0

T = TypeVar("T")


class Failed(Exception):
    """A quench-nic did not start, ended, or refused what the plan says; the text is one line."""


class Generator:
    """A quench-nic that runs one port. Its files are in folder."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path, name: str, prefix: str, eal: Sequence[str], options: Sequence[str]) -> None:
        self.name, self.folder, self.prefix = name, folder, prefix
        self.config = folder / f"{name}.ini"
        self.log = folder / f"{name}.log"
        self.command = [str(program), *eal, "--file-prefix", prefix, "--", "--config", str(self.config), "--stay",
                        "--stats-interval", "0", *options]
        self.process: subprocess.Popen[bytes] | None = None
        self.telemetry: Telemetry | None = None

    def write(self, text: str) -> None:
        part = self.config.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(self.config)

    def start(self, text: str) -> None:
        """Start it; wait_started() follows, so that several start together."""
        self.write(text)
        with open(self.log, "wb") as log:
            try:
                self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            except OSError as error:
                raise Failed(f"port {self.name}: {self.command[0]}: {error.strerror}") from error

    def last_line(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        said = [line for line in lines if "error" in line] or [line for line in lines if line]
        return said[-1].strip() if said else "without a word"

    def wait_started(self) -> None:
        process = self.process  # stop() may come meanwhile
        assert process is not None
        end = time.monotonic() + PATIENCE_S
        while "running" not in self.log.read_text(encoding="utf-8", errors="replace"):
            if process.poll() is not None:
                raise Failed(f"port {self.name}: quench-nic ended with {process.returncode}: {self.last_line()}")
            if time.monotonic() > end:
                raise Failed(f"port {self.name}: quench-nic does not run after {PATIENCE_S:g} s: is the other end of its link there? {shlex.join(self.command)}")
            time.sleep(0.005)
        telemetry = Telemetry(self.prefix, PATIENCE_S)
        if not telemetry.wait_commands(PATIENCE_S):
            raise Failed(f"port {self.name}: its telemetry does not answer")
        self.telemetry = telemetry

    def is_ready(self) -> bool:
        """It runs, and answers."""
        process = self.process
        return self.telemetry is not None and process is not None and process.poll() is None

    def if_ready(self, read: Callable[[Generator], T]) -> T | None:
        """What read() returns; None if it does not run, or ends meanwhile."""
        try:
            return read(self) if self.is_ready() else None
        except Failed:
            if self.is_ready():
                raise
            return None

    def connected(self) -> Telemetry:
        telemetry, process = self.telemetry, self.process
        if telemetry is None or not self.is_ready():
            code = "" if process is None or process.returncode is None else f" with {process.returncode}: {self.last_line()}"
            raise Failed(f"port {self.name}: quench-nic has ended{code}")
        return telemetry

    def ask(self, command: str) -> Any:
        telemetry = self.connected()
        try:
            reply = telemetry.ask(command)
        except (OSError, ValueError) as error:
            raise Failed(f"port {self.name}: telemetry: {error}") from error
        if isinstance(reply, dict) and isinstance(reply.get("error"), str):  # a number is the state of a QP
            rest = "".join(reply.get("error_rest/text", []))
            raise Failed(f"port {self.name}: {reply['error']}{rest} {reply.get('expected', '')}".rstrip())
        if reply is None:
            raise Failed(f"port {self.name}: quench-nic is about to end")
        return reply

    def all(self, command: str) -> Columns:
        telemetry = self.connected()
        try:
            return telemetry.all(command)
        except (OSError, ValueError, AttributeError) as error:
            raise Failed(f"port {self.name}: telemetry: {error}") from error

    def reload(self, text: str) -> None:
        """Put the flows of another configuration in force; nothing changes if the program refuses it."""
        self.write(text)
        end = time.monotonic() + PATIENCE_S
        reply = self.ask(f"/quench/reload,{self.config}")
        while reply["in_force"] != 1:  # pending: no other change is accepted meanwhile
            if time.monotonic() > end:
                raise Failed(f"port {self.name}: a change is not in force after {PATIENCE_S:g} s")
            time.sleep(0.05)
            reply = self.ask(f"/quench/reload,{self.config}")

    def stop(self) -> None:
        """From any thread."""
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
