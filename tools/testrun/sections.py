# SPDX-License-Identifier: BSD-3-Clause
"""The file of a test: a scenario of quench-lab, and sections of its own."""
from __future__ import annotations

import dataclasses
import pathlib
import re
from typing import NoReturn

OWN = ("criterion", "ports", "search")
COMMENT = re.compile(r"(^|\s)[#;].*", re.M)
FILES = ("goal", "matrix", "message_cdf", "trace", "file")  # keys whose value may be a file, relative to that of the section


class BadFile(Exception):
    """The text is one line that names file, line, key and value, and what was expected."""


@dataclasses.dataclass
class Section:
    """Keys with their values and lines."""

    name: str
    line: int
    keys: dict[str, tuple[str, int]]

    def get(self, key: str, default: str = "") -> str:
        return self.keys[key][0] if key in self.keys else default


@dataclasses.dataclass
class TestFile:
    """scenario is the text without own sections, with the same lines."""

    path: pathlib.Path
    scenario: str
    own: dict[str, Section]

    def of_kind(self, kind: str) -> list[Section]:
        return [section for name, section in self.own.items() if name.split()[0] == kind]

    def refuse(self, section: Section, key: str, expected: str) -> NoReturn:
        """@raise BadFile"""
        value, line = section.keys.get(key, ("", section.line))
        shown = f" {key} = {value}" if key in section.keys else f" {key}" if key else ""
        raise BadFile(f"{self.path}:{line}: [{section.name}]{shown}: expected {expected}")

    def line_of(self, section: str, assignment: str) -> int:
        """The line of a key of the scenario, or of its section, or 1. assignment: KEY = VALUE"""
        here, found = False, 1
        key = assignment.partition("=")[0].strip()
        for number, line in enumerate(self.scenario.splitlines(), 1):
            plain = COMMENT.sub("", line).strip()
            if plain.startswith("["):
                here = " ".join(plain[1:-1].split()) == section
                found = number if here else found
            elif here and key and plain.partition("=")[0].strip() == key:
                return number
        return found

    def check_keys(self, section: Section, known: tuple[str, ...]) -> None:
        for key in section.keys:
            if key not in known:
                self.refuse(section, key, f"one of the keys {', '.join(known)}")


def read(path: pathlib.Path) -> TestFile:
    """@raise BadFile"""
    if path.suffix in (".yaml", ".yml", ".json"):
        raise BadFile(f"{path}: expected a file of INI: a test is no YAML or JSON")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: expected text in UTF-8") from error
    own: dict[str, Section] = {}
    scenario: list[str] = []
    section: Section | None = None
    for number, line in enumerate(text.splitlines(), 1):
        plain = COMMENT.sub("", line).strip()
        if plain.startswith("["):
            name = " ".join(plain.removeprefix("[").removesuffix("]").split())
            section = Section(name, number, {}) if name and name.split()[0] in OWN else None
            if section:
                if not plain.endswith("]"):
                    raise BadFile(f"{path}:{number}: {plain}: expected [{name}]")
                if name in own:
                    raise BadFile(f"{path}:{number}: [{name}]: expected each section once; the first is in line {own[name].line}")
                own[name] = section
        elif section and plain:
            key, equals, value = (part.strip() for part in plain.partition("="))
            if not equals or not key:
                raise BadFile(f"{path}:{number}: [{section.name}] {plain}: expected KEY = VALUE")
            if key in section.keys:
                raise BadFile(f"{path}:{number}: [{section.name}] {key} = {value}: expected each key once; the first is in line {section.keys[key][1]}")
            section.keys[key] = value, number
        scenario.append("" if section else line)
    return TestFile(path, "\n".join(scenario) + "\n", own)
