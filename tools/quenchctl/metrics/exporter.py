# SPDX-License-Identifier: BSD-3-Clause
"""The metrics of all quench programs on this machine, or of one, as one text.

Reading costs a program's desk some work. So a program is read at most four times a second, and the pause after a reading is nine times
the reading's duration. Requests in between get the last reading and its age. A thread per program reads it, so that a program that hangs
loses only its own metrics. The text then shows quench_up 0 for that program, as for one that was killed or has failed, and requests do
not wait for it. A program that was stopped has removed its socket, and has no metrics until it runs again.
"""
from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator

from prometheus_client import exposition
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics import exposition as openmetrics

from places import release
from quench import desk
from quench.server import Counts
from quenchctl.command import say
from quenchctl.metrics.collect import Families, Family, Labels, Place, Program, key_of

TYPES = {"openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8", "text": "text/plain; version=0.0.4; charset=utf-8"}
MOST_PROGRAMS = 16
LEAST_AGE_S = 0.25
REST = 9
RETRY_S = 2.0  # of a program that does not answer
LOOK_S = 2.0   # between searches for programs
WAIT_S = 2.0   # below Prometheus' default of 10 s for a scrape
# Limits of a reading: a NIC with a million QPs takes seconds.
READING_S = 20.0
READING_BYTES = 64 << 20


def clean(name: str) -> str:
    """The name of a file in UTF-8: a single other byte would make a scraper refuse the text of all programs."""
    return name.encode(errors="surrogateescape").decode(errors="replace").replace("\ufffd", "?")


class Source:
    """A program, running or ended, and the thread that reads it. The exporter's lock protects all but the connection."""

    def __init__(self, exporter: Exporter, path: str, name: str) -> None:
        self.exporter, self.path, self.name = exporter, path, name
        self.program = ""
        self.build: Labels = {}  # version and commit of the program
        self.connection: Program | None = None
        self.wanted = self.reading = self.known = self.up = self.silent = self.foreign = False
        self.next_s = self.begun_s = self.took_s = 0.0
        self.readings = self.failures = 0
        self.last: Families = {}
        threading.Thread(target=self.read_when_asked, daemon=True).start()

    def open(self) -> Program:
        e = self.exporter
        found = desk.Desk(e.path or self.path, READING_S, READING_BYTES) if e.prefix is None else desk.choose(e.prefix, READING_S)
        try:
            program = Program(found)
        except (desk.Failed, KeyError, TypeError):
            found.close()
            raise
        if e.serves:
            say("", f"{self.name}: {program.program}, pid {found.pid}")
        return program

    def read(self) -> Families:
        if self.connection is None:
            self.connection = self.open()
        return self.connection.collect({"program": self.connection.program, "prefix": self.name}, self.exporter.flows, self.exporter.qps)

    def lose(self) -> None:
        if self.connection is not None:
            self.connection.desk.close()
        self.connection = None

    def read_when_asked(self) -> None:
        e = self.exporter
        while True:
            with e.changed:
                e.changed.wait_for(lambda: self.wanted)
                self.wanted, self.reading = False, True
            begun_s, was_open = time.monotonic(), self.connection is not None
            error: Exception | None = None
            families: Families = {}
            try:
                families = self.read()
            except (desk.Failed, KeyError, TypeError, ValueError) as failed:
                error = failed
            with e.changed:
                self.keep(families, error, begun_s, was_open)
                self.reading = False
                e.changes += 1
                e.changed.notify_all()

    def keep(self, families: Families, error: Exception | None, begun_s: float, was_open: bool) -> None:
        now_s = time.monotonic()
        self.up, self.last = error is None, families
        self.known = error is None or not self.exporter.finds or os.path.exists(self.path)
        self.silent = isinstance(error, desk.Gone) and error.silent
        self.foreign = error is not None and not isinstance(error, desk.Gone) and not was_open and self.exporter.finds
        self.readings += 1
        if error is None and self.connection is not None:
            self.program, self.build = self.connection.program, self.connection.build
            self.begun_s, self.took_s = begun_s, now_s - begun_s
            self.next_s = begun_s + LEAST_AGE_S + (REST + 1) * self.took_s
            return
        self.failures += self.known and not self.foreign
        self.next_s = now_s + RETRY_S if self.silent else begun_s + LEAST_AGE_S
        # When serving, only the first failure after a success is said.
        if not self.foreign and (was_open or not self.exporter.serves):
            say("warning: " if self.known else "", str(error) if self.known else f"{self.name}: stopped")
        self.lose()


class Texts:
    """The last text, to return it again while it is recent."""

    def __init__(self) -> None:
        self.text, self.at_s, self.changes = b"", 0.0, -1


class Exporter:
    """path, prefix: as of quench.desk; with neither, every program that runs at the time. serves: texts are requested repeatedly, and each
    takes at most 2 s; else one text is requested, which waits for every program."""

    def __init__(self, path: str | None, prefix: str | None, flows: int, qps: int, serves: bool) -> None:
        self.path, self.prefix, self.flows, self.qps, self.serves = path, prefix, flows, qps, serves
        self.finds = path is None and prefix is None
        self.changed = threading.Condition()
        self.changes = self.repeated = 0
        self.look_s = 0.0
        self.said_full = False
        self.counts: Counts | None = None  # of the server
        self.texts = {kind: Texts() for kind in TYPES}
        self.sources = [] if self.finds else [Source(self, "", clean(desk.name_of(path) if path is not None else prefix or ""))]

    def name(self, path: str) -> str:
        """The value of the label `prefix`. It must be unique, although two folders may contain programs of the same name."""
        name = clean(desk.name_of(path))
        return clean(path) if any(source.name == name for source in self.sources) else name

    def add(self, path: str) -> None:
        """A new program, in the place of one that has ended if there is no other."""
        if len(self.sources) < MOST_PROGRAMS:
            self.sources.append(Source(self, path, self.name(path)))
            return
        for source in self.sources:
            if not (source.up or source.silent or source.wanted or source.reading):
                source.name = ""
                source.name, source.path, source.program = self.name(path), path, ""
                source.known = source.foreign = False
                source.readings = source.failures = 0
                source.next_s = 0.0
                return
        if not self.said_full:
            say("warning: ", f"more than {MOST_PROGRAMS} programs run: the others are left out")
        self.said_full = True

    def look(self, now_s: float) -> None:
        """Look for new programs."""
        if not self.finds or now_s < self.look_s:
            return
        self.look_s = now_s + LOOK_S
        known = {source.path for source in self.sources}
        for path in desk.sockets():
            if path not in known:
                self.add(path)

    def text(self, kind: str) -> tuple[bytes, int]:
        """Read all programs, unless the last readings are recent enough. Of a reading that is not complete in time, the text has the
        program's previous one. @return also the number of programs that answered their last reading"""
        with self.changed:
            now_s = time.monotonic()
            self.look(now_s)
            due = [source for source in self.sources if not source.wanted and not source.reading and now_s >= source.next_s]
            for source in due:
                source.wanted = True
            self.repeated += not due
            self.changed.notify_all()
            # Programs that did not answer last time are not waited for.
            self.changed.wait_for(lambda: not any((source.wanted or source.reading) and not source.silent for source in self.sources),
                                  WAIT_S if self.serves else 2 * READING_S)
            now_s = time.monotonic()
            made = self.texts[kind]
            if made.changes != self.changes or now_s - made.at_s >= LEAST_AGE_S:
                made.text, made.at_s, made.changes = self.make(kind, now_s), now_s, self.changes
            return made.text, sum(source.up for source in self.sources)

    def make(self, kind: str, now_s: float) -> bytes:
        families: Families = {}
        clashes = 0
        for source in self.sources:
            if source.known and not source.foreign:
                clashes += merge(families, source.last)
                merge(families, self.of_source(source, now_s))
        merge(families, self.own(clashes))
        metrics = Registry(families.values())
        found: bytes = openmetrics.generate_latest(metrics) if kind == "openmetrics" else exposition.generate_latest(metrics)  # type: ignore[arg-type, no-untyped-call]
        return found

    def of_source(self, source: Source, now_s: float) -> Families:
        labels = {"program": source.program, "prefix": source.name}
        families = one(("up", "", False, "whether the program answers", source.up),
                       ("exporter", "readings", True, "readings of the program", source.readings),
                       ("exporter", "failures", True, "failed readings of the program, also while it was not running", source.failures), labels=labels)
        if source.up:
            merge(families, one(("build_info", "", False, "1, with the version and commit of the program", 1), labels=labels | source.build))
            merge(families, one(("exporter", "reading_age_ns", False, "age of the program's values, which are left out if it does not answer", (now_s - source.begun_s) * 1e9),
                                ("exporter", "reading_duration_ns", False, "duration of the last reading of the program", source.took_s * 1e9), labels=labels))
        return families

    def own(self, clashes: int) -> Families:
        families = one(("exporter", "repeated", True, "requests answered from the last readings, which were recent enough", self.repeated),
                       ("exporter", "clashes", False, "families left out because they are counters in one program and gauges in another", clashes), labels={})
        version, commit = release()
        merge(families, one(("exporter", "build_info", False, "1, with the version and commit of quenchctl", 1), labels={"version": version, "commit": commit}))
        if self.counts is not None:
            merge(families, one(("exporter", "requests", True, "HTTP requests", self.counts.requests),
                                ("exporter", "refused_clients", True, "HTTP requests refused because of too many clients", self.counts.refused_clients),
                                ("exporter", "closed_slow_clients", True, "HTTP connections closed because their clients were slow or silent", self.counts.closed_slow), labels={}))
        return families


def one(*numbers: tuple[str, str, bool, str, float], labels: Labels) -> Families:
    """Families of a sample each: object, key, is it a counter, help, value."""
    found: Families = {}
    for thing, name, counter, help_, value in numbers:
        key = key_of(Place(thing, ""), name, help_, counter)
        family = found.setdefault(key.family, Family(key))
        family.samples.append((labels, value / key.divisor))
    return found


def merge(to: Families, more: Families) -> int:
    """Add the samples. A family that is a counter in one and a gauge in the other is left out, because it would make the whole text invalid.
    @return how many are"""
    clashes = 0
    for name, family in more.items():
        known = to.setdefault(name, Family(family.key))
        if known.key.counter != family.key.counter:
            clashes += 1
        else:
            known.samples += family.samples
    return clashes


class Registry:
    """Families as prometheus_client takes them."""

    def __init__(self, families: Iterable[Family]) -> None:
        self.families = families

    def collect(self) -> Iterator[Metric]:
        for family in self.families:
            key = family.key
            metric: Metric = (CounterMetricFamily if key.counter else GaugeMetricFamily)(key.family, key.help, unit=key.unit)
            name = f"{key.family}_total" if key.counter else key.family
            for labels, value in family.samples:
                metric.add_sample(name, labels, value)
            yield metric
