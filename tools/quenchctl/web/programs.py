# SPDX-License-Identifier: BSD-3-Clause
"""The programs on the page: a thread for each reads it twice a second, whether or not there are viewers, and keeps its picture, its history
and its events. A program that has ended keeps its place, and its last picture, until another program needs the place."""
from __future__ import annotations

import collections
import threading
import time
from typing import Any

from quench import desk
from quench.desk import Row
from quenchctl import snapshot
from quenchctl.snapshot import Snapshot, Two
from quenchctl.web.events import Events
from quenchctl.web.picture import Charts, Picture

MOST_PROGRAMS = 32
EVERY_S = 0.5
POINTS = 240  # two minutes
MOST_SERIES = 2048
LOOK_S = 2.0     # between searches for new programs
ASK_WHO_S = 1.0  # patience with a program that may not be ours


def unix_ms() -> int:
    return time.time_ns() // 10**6


class History:
    """Values of named series at the last POINTS times. A new viewer gets all of them, later only the points that it does not have."""

    def __init__(self) -> None:
        self.points: collections.deque[tuple[int, int, Charts]] = collections.deque(maxlen=POINTS)

    def add(self, number: int, at_ms: int, charts: Charts) -> None:
        """number: higher than that of the point before. No charts: a gap in all series."""
        room = MOST_SERIES
        kept: Charts = {}
        for chart, values in charts.items():
            kept[chart] = dict(list(values.items())[:room])
            room -= len(kept[chart])
        self.points.append((number, at_ms, kept))

    def since(self, number: int) -> Row:
        """The points with a higher number, the oldest first. A missing value is null."""
        new = [point for point in self.points if point[0] > number]
        charts: dict[str, dict[str, list[float | None]]] = {}
        for i, (_, _, values) in enumerate(new):
            for chart, series in values.items():
                for name, value in series.items():
                    charts.setdefault(chart, {}).setdefault(name, [None] * len(new))[i] = value
        return {"at_ms": [at_ms for _, at_ms, _ in new], "charts": charts}


class Program:
    def __init__(self, all_: Programs, path: str, program: str) -> None:
        """With the lock held."""
        self.all, self.path, self.program, self.name = all_, path, program, desk.name_of(path)
        self.pid = self.elapsed_ns = 0
        self.state, self.since_ms = "ended", unix_ms()  # or live; silent: it is connected, but does not answer
        self.picture: Row | None = None
        self.events, self.history = Events(), History()
        self.dropped = False  # another program has its place
        self.connection: desk.Desk | None = None
        self.last: Snapshot | None = None
        threading.Thread(target=self.run, daemon=True).start()

    def set_state(self, state: str, at_ms: int) -> None:
        if self.state != state:
            self.state, self.since_ms = state, at_ms
            # A chart has no line over the time without answers.
            self.history.add(self.all.next_number(), at_ms, {})

    def run(self) -> None:
        while not self.dropped:
            self.read_once()
            # At multiples, so that the points of all programs are at about the same times.
            time.sleep(EVERY_S - time.monotonic() % EVERY_S)
        if self.connection is not None:
            self.connection.close()

    def read_once(self) -> None:
        taken: Snapshot | None = None
        silent, pid = False, self.pid
        try:
            if self.connection is None:
                self.connection = desk.Desk(self.path, snapshot.PATIENCE_S, snapshot.MOST_BYTES)
                pid = self.connection.pid
            taken = snapshot.take(self.connection)
        except desk.Failed as error:
            silent = isinstance(error, desk.Gone) and error.silent
        with self.all.lock:
            at_ms = unix_ms()
            if pid != self.pid:
                self.on_connected(pid, taken.program if taken is not None else self.program, at_ms)
            if taken is not None:
                self.on_snapshot(taken, at_ms)
            else:
                self.on_lost("silent" if silent else "ended", at_ms)
        if taken is None and self.connection is not None:
            self.connection.close()
            self.connection = None

    def on_connected(self, pid: int, program: str, at_ms: int) -> None:
        self.last = None
        self.events.add(at_ms, False, f"{program} runs, pid {pid}")
        if program != self.program:
            self.history = History()
        self.pid, self.program = pid, program

    def on_lost(self, state: str, at_ms: int) -> None:
        if self.state != state and self.pid != 0:
            self.events.add(at_ms, True, f"{self.program} {'does not answer' if state == 'silent' else 'has ended'}")
        self.set_state(state, at_ms)

    def on_snapshot(self, taken: Snapshot, at_ms: int) -> None:
        two = Two(taken, self.last)
        picture = Picture(two)
        self.set_state("live", at_ms)
        if self.last is not None:
            self.events.between(at_ms, two)
            self.history.add(self.all.next_number(), at_ms, picture.charts)
        self.picture, self.elapsed_ns, self.last = picture.json(), taken.elapsed_ns, taken

    def json(self, since: int) -> Row:
        return {"name": self.name, "program": self.program, "pid": self.pid, "state": self.state, "since_ms": self.since_ms, "elapsed_ns": self.elapsed_ns,
                "picture": self.picture, "history": self.history.since(since), "events": [dict(event) for event in self.events.all]}


class Programs:
    """path, prefix: as of quench.desk; with neither, all programs that run, now or later."""

    def __init__(self, path: str | None, prefix: str | None) -> None:
        """@raise desk.Failed: of a program that was named, and does not run"""
        self.lock = threading.RLock()
        self.number = self.left_out = 0  # number: of the last point of any history
        self.places: list[Program] = []
        if path is None and prefix is None:
            threading.Thread(target=self.find, daemon=True).start()
            return
        with desk.Desk(path) if path is not None else desk.choose(prefix) as found:
            info = found.call("info")
            if not snapshot.is_ours(info):
                raise desk.Refused(desk.REFUSED, f"{found.path}: expected quench-switch or quench-nic")
            self.add(found.path, info["program"])

    def next_number(self) -> int:
        self.number += 1
        return self.number

    def add(self, path: str, program: str) -> bool:
        """Give a program a place. False: there is none."""
        with self.lock:
            if len(self.places) == MOST_PROGRAMS:
                ended = [place for place in self.places if place.state == "ended"]
                if not ended:
                    return False
                oldest = min(ended, key=lambda place: place.since_ms)
                oldest.dropped = True
                self.places.remove(oldest)
            self.places.append(Program(self, path, program))
        return True

    def look_at(self, path: str) -> bool:
        """Add the program of a socket, if it is one of ours, and new. False: it has no place."""
        with self.lock:
            if any(place.path == path for place in self.places):
                return True
        try:
            with desk.Desk(path, ASK_WHO_S) as found:
                info = found.call("info")
        except desk.Failed:
            return True
        return not snapshot.is_ours(info) or self.add(path, info["program"])

    def find(self) -> None:
        while True:
            self.left_out = sum(not self.look_at(path) for path in desk.sockets())
            time.sleep(LOOK_S)

    def since(self, number: int) -> dict[str, Any]:
        """What a page shows that has seen everything up to this number (0: nothing yet). left_out: running programs without a place."""
        with self.lock:
            # Of one that was not read yet there is nothing to show.
            return {"number": self.number, "at_ms": unix_ms(), "left_out": self.left_out, "programs": [place.json(number) for place in self.places if place.pid != 0]}

    def socket(self, name: str) -> str | None:
        """Of a program with this name on the page, which need not run any more."""
        with self.lock:
            return next((place.path for place in self.places if place.pid != 0 and place.name == name), None)
