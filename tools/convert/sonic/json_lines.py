# SPDX-License-Identifier: BSD-3-Clause
"""JSON with the line of each key, and without keys that occur twice."""
from __future__ import annotations

import json
import re
from typing import Any

TOKEN = re.compile(r'[ \t\r\n]*(?:([{}\[\],:])|("(?:[^"\\\x00-\x1f]|\\.)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|(true|false|null)(?!\w))')
BLANK = re.compile(r"[ \t\r\n]*")
WORDS = {"true": True, "false": False, "null": None}
MOST_DEPTH = 64
Path = tuple[str, ...]


class Bad(Exception):
    """The text is no JSON: line, and what is wrong."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


class Reader:
    """root: the value of a text. lines: of each key of the outer three levels, by its path."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text, 0, 1
        self.lines: dict[Path, int] = {}
        self.root = self._value((), 0)
        end = BLANK.match(text, self.at)
        if end is None or end.end() != len(text):
            self._fail("expected the end of the file")

    def _fail(self, text: str) -> None:
        raise Bad(self.line + self.text.count("\n", self.at, BLANK.match(self.text, self.at).end()), text)  # type: ignore[union-attr]

    def _token(self) -> re.Match[str]:
        found = TOKEN.match(self.text, self.at)
        if found is None:
            rest = self.text[BLANK.match(self.text, self.at).end():][:20]  # type: ignore[union-attr]
            self._fail(f"'{rest}' is no JSON" if rest else "the file ends too early")
        assert found is not None
        self.line += self.text.count("\n", self.at, found.end())
        self.at = found.end()
        return found

    def _value(self, path: Path, depth: int) -> Any:
        found = self._token()
        if found[2]:
            return self._string(found[2])
        if found[3]:
            return json.loads(found[3])
        if found[4]:
            return WORDS[found[4]]
        if depth > MOST_DEPTH:
            self._fail(f"expected at most {MOST_DEPTH} levels")
        if found[1] == "{":
            return self._object(path, depth)
        if found[1] == "[":
            return self._array(path, depth)
        self._fail(f"'{found[1]}' in place of a value")

    def _string(self, text: str) -> str:
        try:
            return str(json.loads(text))
        except ValueError:
            self._fail(f"{text[:20]} is no string")
            raise

    def _object(self, path: Path, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        token = self._token()
        while token[1] != "}" or found:
            if not token[2]:
                self._fail("expected a key in quotes")
            key = self._string(token[2])
            if key in found:
                self._fail(f"duplicate key {token[2][:40]}")
            own = (*path, key) if depth < 3 else path
            if depth < 3:
                self.lines[own] = self.line
            if self._token()[1] != ":":
                self._fail(f"expected : after the key {token[2][:40]}")
            found[key] = self._value(own, depth + 1)
            token = self._token()
            if token[1] == "}":
                break
            if token[1] != ",":
                self._fail("expected , or }")
            token = self._token()
        return found

    def _array(self, path: Path, depth: int) -> list[Any]:
        found: list[Any] = []
        at, line = self.at, self.line
        if self._token()[1] == "]":
            return found
        self.at, self.line = at, line
        while True:
            found.append(self._value(path, max(depth + 1, 3)))
            token = self._token()
            if token[1] == "]":
                return found
            if token[1] != ",":
                self._fail("expected , or ]")
