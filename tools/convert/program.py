# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch and quench-nic as readers: they check what a conversion writes, and print it with all keys."""
from __future__ import annotations

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from typing import NoReturn

from .log import Log, Refused

Section = dict[str, str]
Sections = dict[str, Section]

# Sections that are written with all keys, because readers look for them first.
WHOLE = ("qos_map", "scheduler", "rp", "np", "pool")
# Sections to which others refer, so that they are written even without keys.
NAMED = ("port ", "wred ", "buffer_profile ")


ROOT = pathlib.Path(__file__).resolve().parents[2]


def place_of(name: str) -> pathlib.Path:
    """Where a program is: in the build folder QUENCH_BUILD, beside an installed quenchctl, in build/, or in PATH."""
    build = os.environ.get("QUENCH_BUILD")
    if build is not None:
        return pathlib.Path(build) / "app" / name / name
    for path in (ROOT.parents[1] / "bin" / name, ROOT / "build" / "app" / name / name):
        if path.exists():
            return path
    return pathlib.Path(shutil.which(name) or name)


def run(name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end. @raise Refused: it cannot be run"""
    try:
        return subprocess.run([str(place_of(name)), *options], capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise Refused(f"{name}, which checks what a conversion writes: {error.strerror}") from error


def lines(name: str, *options: str) -> Iterator[str]:
    """What a program prints, line by line. A caller that takes no further line ends it. @raise Refused: it cannot be run  @raise Failed"""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            running = subprocess.Popen([str(place_of(name)), *options], stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", errors="replace")
        except OSError as error:
            raise Refused(f"{name}, which checks what a conversion writes: {error.strerror}") from error
        with running:
            assert running.stdout is not None
            try:
                yield from running.stdout
            except GeneratorExit:
                running.kill()
                raise
        errors.seek(0)
        if running.returncode != 0:
            raise Failed(errors.read())


def parse(text: str) -> Sections:
    """The sections of an INI as the programs print it, with keys and values."""
    found: Sections = {}
    section: Section = {}
    for line in text.splitlines():
        line = line.partition("  # ")[0]
        if line.startswith("["):
            section = found.setdefault(line[1:-1], {})
        elif line and not line.startswith("#"):
            key, _, value = line.partition(" = ")
            section[key] = value
    return found


class Failed(Exception):
    """A program ended with an error: the text is what it printed."""


class Invalid(Exception):
    """A program refuses an INI: the text is its reason, without the place. place: ":7:" in the file, or ":"."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(why)
        self.place = place


def read(name: str, text: str) -> Sections:
    """An INI as the program reads it, with all keys. @raise Invalid: it refuses it"""
    return parse(printed(name, text))


def printed(name: str, text: str) -> str:
    """What the program prints of an INI: all keys, and comments. @raise Invalid: it refuses it"""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="replace", suffix=".ini", prefix="quench-convert-") as file:
        file.write(text)
        file.flush()
        path = file.name
        done = run(name, "--config", path, "--check-config")
    if done.returncode == 0:
        return done.stdout
    errors = [line for line in done.stderr.splitlines() if line.startswith(f"{name}: error: ")]
    found = re.fullmatch(rf"{name}: error: (?:{re.escape(path)}(:(?:\d+:)?) ?)?(.*)", errors[-1] if errors else "")
    raise Invalid((found[1] if found else None) or ":", found[2] if found else f"no reason; exit code {done.returncode}")


@functools.lru_cache(maxsize=None)
def _help_rows(name: str) -> dict[str, dict[str, list[str]]]:
    """Rows of --help-config by section and key: "[pg N, pg P|N]" is "pg N, pg P|N"."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in run(name, "--help-config").stdout.splitlines():
        if line.startswith("## ["):
            found[line[4:-1]] = {}
        elif line.startswith("| `"):
            key, *row = (column.strip() for column in line.strip("|").split("|"))
            found[next(reversed(found))][key.strip("`")] = row
    return found


def help_config(name: str) -> Sections:
    """Defaults by section and key, from --help-config."""
    return {section: {key: row[1] for key, row in rows.items()} for section, rows in _help_rows(name).items()}


def aliases(name: str) -> dict[str, dict[str, list[str]]]:
    """Other names of keys, by section and key."""
    return {section: {key: re.findall(r"`([^`]+)`", row[3]) for key, row in rows.items()} for section, rows in _help_rows(name).items()}


@functools.lru_cache(maxsize=None)
def defaults(name: str, plain: str) -> Sections:
    """The sections of a plain INI with all keys, and by kind ("port", "queue") the defaults of sections that are optional."""
    found = read(name, plain)
    for section, keys in help_config(name).items():
        kind, _, rest = section.partition(" ")
        if rest and rest[0].isupper():
            found.setdefault(kind, dict(keys))
    found.setdefault("interface", {"ip": "none", "ip6": "none"})
    return found


def base_of(name: str, sections: Sections, base: Sections) -> Section:
    """What a section is compared with: the one that it overrides ("queue 3" of "queue 1|3"), that of its name, or that of its kind."""
    kind, _, rest = name.partition(" ")
    everywhere = f"{kind} {rest.partition('|')[2]}"
    if "|" in rest and kind in ("queue", "pg") and everywhere in sections:
        return sections[everywhere]
    if kind != "port" and name in base:
        return base[name]
    return base.get(kind, {})


def changed(sections: Sections, base: Sections) -> list[str]:
    """Lines of an INI: keys that differ from base, sections that are whole, and heads of those to which others refer."""
    lines: list[str] = []
    for name, keys in sections.items():
        begun = name.startswith(NAMED) and (name not in base or name.startswith("port "))
        same = {} if name in WHOLE else base_of(name, sections, base)
        own = [f"{key} = {value}" for key, value in keys.items() if same.get(key) != value]
        if own or begun:
            lines += ["", f"[{name}]", *own]
    return lines


def write(name: str, sections: Sections, base: Sections, log: Log) -> str:
    """The INI of a conversion, which the program has read again. @raise Refused: it would not take it"""
    text = "\n".join(log.head(name) + changed(sections, base)) + ("\n\n" if "pool" in sections else "\n")
    try:
        back = read(name, text)
    except Invalid as why:
        refuse_invalid(name, str(why), log)
    assert resolved(back) == resolved(sections), "keys that the file omits have other defaults"
    return text


def resolved(sections: Sections) -> Sections:
    """Without the shapers that the program sets to the speed of their links, as it does when it reads 0."""
    return {name: {key: "0" if key == "shaper_rate_bps" and value == keys.get("link_speed_bps") else value for key, value in keys.items()}
            for name, keys in sections.items()}


def refuse_invalid(name: str, why: str, log: Log) -> NoReturn:
    log.refuse(f" makes an invalid configuration of {name}: {why}")
