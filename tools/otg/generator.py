# SPDX-License-Identifier: BSD-3-Clause
"""The quench-nic of a port: one that quench-otg starts, or one that runs already."""
from __future__ import annotations

import abc
import concurrent.futures
import contextlib
import errno
import fcntl
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from quench.desk import Failed, Row
from quench.process import PATIENCE_S, Process

from .capture import Order, Recorder, Recording

S = TypeVar("S")
T = TypeVar("T")
# Ports that change at the same time.
MOST_AT_ONCE = 32
# linux/sockios.h, linux/if.h
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCGIFMTU, IFF_UP = 0x8913, 0x8914, 0x8921, 1
# QP numbers of a removed flow are free when its QPs are idle, or a timeout later.
LONGEST_LINGER_S = 30.0


class Driven(abc.ABC):
    """What a run needs of a quench-nic, on this machine or on another. Each method may raise Failed."""

    name: str  # location of its port
    # Of a net_memif device: its wire, and whether it is the server. A client whose server ends does not connect again.
    wire = ""
    serves = False

    @abc.abstractmethod
    def start(self, text: str) -> None:
        """Begin with a configuration. wait_started() follows, so that several start together."""

    @abc.abstractmethod
    def wait_started(self) -> None: ...

    @abc.abstractmethod
    def find(self) -> bool:
        """Take over one that runs already. @return False: there is none"""

    @abc.abstractmethod
    def is_ready(self) -> bool:
        """It runs, and answers."""

    @abc.abstractmethod
    def why(self) -> str:
        """Why it is not ready: a line."""

    @abc.abstractmethod
    def call(self, method: str, **params: Any) -> Row: ...

    @abc.abstractmethod
    def write(self, text: str) -> None:
        """Put down the configuration of the next commit()."""

    @abc.abstractmethod
    def commit(self) -> None:
        """Put it in force; nothing changes if the program refuses it."""

    @abc.abstractmethod
    def capture(self, order: Order) -> Recording:
        """Begin a capture."""

    def found_capture(self) -> Recording | None:
        """The capture that a controller before this one began."""
        return None

    def set_link(self, up: bool) -> bool:
        """Put the link of its device up or down. @return False: only the end of the program can"""
        return False

    @abc.abstractmethod
    def is_attached(self) -> bool:
        """Somebody else started it, and ends it."""

    def take_warnings(self) -> list[str]:
        """Lines of its own, of starts and changes since the last call."""
        return []

    @abc.abstractmethod
    def stop(self) -> None: ...

    def if_ready(self, read: Callable[[Driven], T]) -> T | None:
        """What read() returns; None if it does not run, or ends meanwhile."""
        try:
            return read(self) if self.is_ready() else None
        except Failed:
            if self.is_ready():
                raise
            return None


def each(generators: Iterable[Driven], call: Callable[[Driven], None]) -> dict[str, Failed]:
    """Call it for all at the same time. @return the failures, by location"""
    def one(generator: Driven) -> Failed | None:
        try:
            call(generator)
        except Failed as error:
            return error
        return None

    return {name: error for name, error in gather({generator.name: generator for generator in generators}, one).items() if error is not None}


def gather(generators: Mapping[str, S], read: Callable[[S], T]) -> dict[str, T]:
    """What read() returns for each, at the same time, by the same names."""
    if len(generators) < 2:
        return {name: read(generator) for name, generator in generators.items()}
    with concurrent.futures.ThreadPoolExecutor(min(len(generators), MOST_AT_ONCE)) as pool:
        return dict(zip(generators, pool.map(read, generators.values())))


def set_interface(name: str, up: bool) -> None:
    """Set an interface of the kernel up or down. @raise OSError"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        request = struct.pack("16sH14x", name.encode(), 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(asked, SIOCGIFFLAGS, request))[1]
        if bool(flags & IFF_UP) != up:
            fcntl.ioctl(asked, SIOCSIFFLAGS, struct.pack("16sH14x", name.encode(), flags ^ IFF_UP))


def split_device(text: str) -> tuple[str, dict[str, str]]:
    """@return name and arguments"""
    name, *arguments = text.split(",")
    return name, dict(argument.split("=", 1) for argument in arguments if "=" in argument)


def interface_of(device: str) -> str:
    """Of the kernel, through which a device sends. Empty: through none"""
    name, keys = split_device(device)
    return keys.get("iface", "") if name.startswith("net_af_packet") else ""


def interface_mtu(name: str) -> int:
    """0: there is none"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked, contextlib.suppress(OSError):
        return int(struct.unpack("16si12x", fcntl.ioctl(asked, SIOCGIFMTU, struct.pack("16s16x", name.encode())))[1])
    return 0


class Adopted:
    """A process that another one started, as far as Process uses subprocess.Popen."""

    def __init__(self, pid: int) -> None:
        self.fd = os.pidfd_open(pid)
        self.returncode: int | None = None  # of another's child nobody knows it

    def poll(self) -> int | None:
        return -1 if select.select([self.fd], [], [], 0)[0] else None

    def terminate(self) -> None:
        signal.pidfd_send_signal(self.fd, signal.SIGTERM)

    def kill(self) -> None:
        signal.pidfd_send_signal(self.fd, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        if not select.select([self.fd], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("quench-nic", timeout or 0)
        return -1


class Generator(Process, Driven):
    """A quench-nic that runs one port. Its files are in folder."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path, name: str, prefix: str, eal: Sequence[str], options: Sequence[str],
                 capture_bytes: int, device: str = "") -> None:
        """device: as EAL knows it"""
        driver, keys = split_device(device)
        self.capture_bytes = capture_bytes
        self.interface = interface_of(device)
        if driver.startswith("net_memif"):
            self.wire, self.serves = f"{keys.get('socket')} {keys.get('id')}", keys.get("role") in ("server", "master")
        self.is_down = False  # its interface, by set_link()
        super().__init__(program, folder, name, prefix, eal, ["--stay", "--stats-interval", "0", *options], f"port {name}")

    def find(self) -> bool:
        try:
            found = self.connect()
            self.process = Adopted(found.pid)
        except (OSError, Failed):
            return False
        self.desk = found
        return True

    def why(self) -> str:
        try:
            self.connected()
        except (Failed, OSError) as failed:
            return str(failed)
        return f"{self.who}: runs"

    def commit(self) -> None:
        end = time.monotonic() + LONGEST_LINGER_S
        while True:
            try:
                return self.change("reload", file=str(self.config))
            except Failed as error:
                # Of a busy machine: "the main lcore did not respond: try again".
                if not any(word in str(error) for word in ("qpn", "try again")) or time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def is_attached(self) -> bool:
        return False

    def set_link(self, up: bool) -> bool:
        if not self.interface:
            return False
        try:
            set_interface(self.interface, up)
        except OSError as error:
            if error.errno == errno.EPERM:
                return False
            raise Failed(f"{self.who}: {self.interface}: {error.strerror}") from error
        self.is_down = not up
        return True

    def stop(self) -> None:
        ours = self.process is not None
        super().stop()
        if self.is_down:
            with contextlib.suppress(Failed):
                self.set_link(True)  # as it was
        if ours:
            shutil.rmtree(self.runtime(), ignore_errors=True)

    def capture(self, order: Order) -> Recording:
        return Recorder(self.who, self.call, self.runtime(), self.folder / self.name, order, self.capture_bytes)


class Attached(Generator):
    """A quench-nic that somebody else started. Flows and live keys change; it gets its configuration back at the end."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path, name: str, prefix: str, before: str, capture_bytes: int) -> None:
        """before: its configuration"""
        super().__init__(program, folder, name, prefix, [], [], capture_bytes)
        self.before = before

    def start(self, text: str) -> None:
        self.write(text)

    def wait_started(self) -> None:
        if not self.find():
            raise Failed(f"{self.who}: no quench-nic runs with --file-prefix {self.prefix}")
        self.commit()

    def is_attached(self) -> bool:
        return True

    def stop(self) -> None:
        if self.is_ready():
            with contextlib.suppress(Failed):  # it ends just now
                self.write(self.before)
                self.commit()
        self.detach()

    def detach(self) -> None:
        """It goes on as it is."""
        connection, self.desk, self.process = self.desk, None, None
        if connection is not None:
            connection.close()
