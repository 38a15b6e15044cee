# SPDX-License-Identifier: BSD-3-Clause
"""quench-nic and quench-switch from Python: start them from the text of a configuration, read and change them, end them."""
from __future__ import annotations

import atexit
import itertools
import json
import os
import pathlib
import shutil
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from places import program as place_of

from .capture import Capture
from .desk import Failed, Row, rows_of
from .process import PATIENCE_S, Process

Value = str | int | float | bool
Settings = Mapping[str, Value]  # {"section.key": value}, such as {"wred.Kmax": "200KB", "flow incast.src": "1-8"}

# Programs that share CPUs poll late. Without such bursts their shapers would lose most of the rate; the lab is never late.
SHARED: dict[str, dict[str, str]] = {"switch": {"shaper_burst_ns": "10ms"}, "nic": {"shaper_burst_ns": "2ms", "qp_burst_bytes": "64KB"}}

_numbers = itertools.count()
_running: weakref.WeakSet[Program] = weakref.WeakSet()

Self = TypeVar("Self", bound="Program")


def text(value: Value) -> str:
    """A value as configuration files have it."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


class Cable:
    """A cable of shared memory (memif) between two programs: pass .server to the program that starts first, and .client to the other.

    Its rings have 2^7 frames, because what waits in a ring is beyond the reach of marking and pause. A frame fits into one buffer. The socket is in a temporary folder.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="quench-cable-")
        number = next(_numbers)
        server, client = (f"net_memif{number}{end},role={role},id=0,socket={self._folder.name}/s,socket-abstract=no,rsize=7,bsize=10240"
                          for end, role in (("s", "server"), ("c", "client")))
        self.server: str = server
        self.client: str = client


def device_options(devices: Sequence[str]) -> list[str]:
    """EAL options of devices: PCI addresses (0000:3b:00.0), and virtual devices (net_af_packet0,iface=eth1)."""
    options = [] if any(not device.startswith("net_") for device in devices) else ["--no-pci"]
    for device in devices:
        options += ["--vdev" if device.startswith("net_") else "-a", device]
    return options


class Program(Process):
    """A quench-nic or quench-switch that runs until stop(), the end of its with statement, or the end of Python. See Nic and Switch."""

    ROLE = ""
    OPTIONS: tuple[str, ...] = ()

    def __init__(self, config: str, devices: Sequence[str], *, name: str | None = None, folder: str | pathlib.Path | None = None,
                 program: str | pathlib.Path | None = None, lcores: str | None = None, huge: bool = False, memory_mb: int | None = None,
                 idle_sleep_us: int = 50, eal: Sequence[str] = (), options: Sequence[str] = ()) -> None:
        """Start the program, and wait until its ports are up.

        config         the text of its configuration file
        devices        its ports, in order: PCI addresses and virtual devices, as EAL knows them; an end of a Cable
        name           of its files, and in errors (default: nic or switch, with a number)
        folder         of NAME.ini, NAME.log and NAME.json, created if missing (default: a temporary one)
        program        path of the program (default: that of build/, or the installed one)
        lcores         EAL's --lcores (default: one lcore, on the CPUs of this process in turn)
        huge           use hugepages
        memory_mb      of packet buffers (default: 96 without hugepages, else EAL's default)
        idle_sleep_us  longest sleep of an idle lcore, 0 to 1000000; 0: it polls always, as on a CPU of its own
        eal, options   further options of EAL and of the program

        @raise Failed: with the program's own line
        """
        number = next(_numbers)
        name = name or f"{self.ROLE}{number}"
        self._temporary = tempfile.TemporaryDirectory(prefix="quench-") if folder is None else None
        place = pathlib.Path(self._temporary.name if self._temporary else folder or ".").resolve()
        cores = sorted(os.sched_getaffinity(0))
        memory = memory_mb if memory_mb is not None else None if huge else 96
        all_eal = ["--lcores", lcores or f"0@{cores[number % len(cores)]}", "--log-level=error", *device_options(devices),
                   *([] if huge else ["--no-huge", "--no-shconf"]), *([] if memory is None else ["-m", str(memory)]), *eal]
        self.json_path = place / f"{name}.json"
        super().__init__(pathlib.Path(program) if program else place_of(f"quench-{self.ROLE}"), place, name, f"quench{os.getpid()}n{number}", all_eal,
                         ["--json", str(self.json_path), "--stats-interval", "0", "--idle-sleep", str(idle_sleep_us), *self.OPTIONS, *options], name)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failed(f"{name}: {place}: {error.strerror}") from error
        _running.add(self)
        try:
            self.start(config)
            self.wait_started()
        except BaseException:
            self.stop()
            raise

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End it. Without effect on one that has ended."""
        super().stop()
        _running.discard(self)
        # The folder of its socket. Nobody else's name begins with our process number.
        shutil.rmtree(self.runtime(), ignore_errors=True)

    def results(self) -> Row:
        """All counters, as the program writes them at its end (doc/interface.md): call it after stop()."""
        try:
            found: Row = json.loads(self.json_path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise Failed(f"{self.who}: no results: {self.json_path}: {why}: {self.last_line()}") from error
        return found

    def rows(self, method: str, **params: Any) -> list[Row]:
        """The list that a method returns: rows("queues", port=1)[3]["watermark_bytes"]."""
        return rows_of(self.call(method, **params))

    def info(self) -> Row:
        """Program, version, elapsed_ns and so on."""
        return self.call("info")

    def set(self, settings: Settings) -> None:
        """Change live keys, all at one instant: set({"wred.Kmax": "100KB", "wred.Kmin": 6000}). @raise Failed: nothing has changed"""
        self.change("set", settings=[f"{key}={text(value)}" for key, value in settings.items()])

    def capture(self, port: int = 0, most_frames: int = 200_000, **options: Value) -> Capture:
        """Capture the frames of a port, until .stop() of the result; .write(FILE) makes a pcapng file of the last ones.

        port         number of the port, from 0
        most_frames  frames to keep in memory: those before are dropped
        options      those of quenchctl capture, such as kind="data,cnp", qp=100, snaplen=128

        A capture in Python is for up to some 100,000 frames a second; of more, some are lost, and the file says how many.
        """
        found = self.call("capture", port=port, options=[f"{key}={text(value)}" for key, value in options.items()])
        try:
            return Capture(self.runtime() / found["socket"], most_frames)
        except OSError as error:
            raise Failed(f"{self.who}: capture: {error.strerror}") from error


class Nic(Program):
    """A quench-nic. It stays after its last message, until stop()."""

    ROLE = "nic"
    OPTIONS = ("--stay",)

    def counters(self) -> Row:
        """Every counter of the NIC, of congestion control and of the notification point."""
        return self.call("nic")

    def flows(self) -> list[Row]:
        """Flows, in the order of the file: goodput_bps, messages, cnps_handled, completion_p99_ns and so on."""
        return self.rows("flows")

    def flow(self, name: str) -> Row:
        for row in self.flows():
            if row["flow"] == name:
                return row
        raise Failed(f"{self.who}: no [flow {name}]: expected {', '.join(row['flow'] for row in self.flows()) or 'a NIC with flows'}")

    def qps(self) -> list[Row]:
        return self.rows("qps")

    def port(self) -> Row:
        """The port: link, pauses, and times between polls."""
        return self.call("port")

    def start_flow(self, *names: str) -> None:
        """Start or resume flows."""
        self.set({f"flow {name}.stopped": False for name in names})

    def stop_flow(self, *names: str) -> None:
        """Start no message any more. Messages that have begun are finished."""
        self.set({f"flow {name}.stopped": True for name in names})

    def reset_flow(self, name: str) -> None:
        """Begin again with the QPs of a flow, after a peer that restarted."""
        self.change("reset", flow=name)

    def wait_done(self, seconds: float = PATIENCE_S) -> None:
        """Wait until every requester that has an end has ended. @raise Failed: not within these seconds"""
        end = time.monotonic() + seconds
        while not self.info()["done"]:
            if time.monotonic() > end:
                raise Failed(f"{self.who}: its messages are not complete after {seconds:g} s")
            time.sleep(0.02)


class Switch(Program):
    """A quench-switch."""

    ROLE = "switch"

    def ports(self) -> list[Row]:
        """Ports, in order: frames, bytes, pause frames, link."""
        return self.rows("ports")

    def queues(self, port: int) -> list[Row]:
        """The eight queues of a port: queue_bytes, ecn_marked_packets, watermark_bytes and so on."""
        return self.rows("queues", port=port)

    def groups(self, port: int) -> list[Row]:
        """The eight priority groups of a port."""
        return self.rows("pg", port=port)

    def pauses(self) -> list[Row]:
        """Pause counters of each port: tx_prio3_pause, tx_prio3_pause_duration_us and so on."""
        return self.rows("pfc")

    def drops(self) -> dict[str, int]:
        """Dropped packets of all ports by reason; reasons without a packet are left out."""
        sums: dict[str, int] = {}
        for row in self.rows("drops"):
            for reason, packets in row.items():
                if reason != "port" and packets:
                    sums[reason] = sums.get(reason, 0) + packets
        return sums


@atexit.register
def _stop_all() -> None:
    for program in list(_running):
        program.stop()
