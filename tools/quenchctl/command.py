# SPDX-License-Identifier: BSD-3-Clause
"""A command of quenchctl, and how it is found among all of them."""
from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from quench.desk import Desk, Row

DONE, FAILED, BAD_USAGE, PARTLY = 0, 1, 2, 3  # exit codes
SWITCH, NIC = "quench-switch", "quench-nic"


class BadUsage(Exception):
    """A wrong command or parameter: a line. Nothing was done."""


class Ends(Exception):
    """The command failed, for a reason that is not the program's: a line."""


class Command(NamedTuple):
    """words: parameters are in capitals, an optional last one is in brackets; one that ends with ... may be repeated.

    run: "module:function" of this package, which takes a Run and returns an exit code
    """

    words: str
    help: str
    program: str | None  # that supports it; None: both
    run: str
    alone: bool = False     # it needs no program, or finds programs itself
    watchable: bool = False  # --watch runs it repeatedly
    goes_on: bool = False   # it repeats itself; --watch sets its interval
    tries: bool = False     # it may change nothing, with --dry-run
    keys_help: str = ""     # "module:function" that prints the KEY=VALUE words
    # of show and send: the request, and the format of the reply
    method: str = ""
    fixed: tuple[tuple[str, str], ...] = ()  # params that are no words
    list: str = ""          # key of the rows; "": none
    columns: str = ""       # of the rows, for table.rows()
    members: str | None = None  # for table.members(); "": none, None: all
    shape: str = ""         # function of show.rows that makes rows for people
    active: str = ""        # counters of a row; a table hides rows in which all are 0
    noun: str = ""          # plural of a row, with active
    sort: str = ""          # key of a row; the highest value comes first
    port_texts: str = ""    # keys of rows with numbers of ports in their text, which a table replaces by names
    by_port: bool = False   # asked for each port, if none is named
    rates: bool = False     # rows of flows get their present rates


class Options:
    """Of the command line."""

    def __init__(self) -> None:
        self.prefix: str | None = None
        self.socket: str | None = None
        self.json = False
        self.watch_s = 0.0  # 0: once
        self.since_start = False
        self.all = False
        self.dry_run = False
        self.output: str | None = None
        self.ports: str | None = None
        self.settings: list[str] = []  # KEY=VALUE of an import
        self.capture: dict[str, str] = {}
        self.listen: str | None = None
        self.control = False
        self.control_file: str | None = None
        self.qps, self.flows = 0, 256  # bounds of metrics


class Run:
    """A command to run."""

    def __init__(self, command: Command, options: Options, params: list[str], program: str = "", desk: Desk | None = None) -> None:
        """program, desk: none of a command that is alone"""
        self.command, self.options, self.params, self.program, self._desk = command, options, params, program, desk

    @property
    def desk(self) -> Desk:
        assert self._desk is not None
        return self._desk

    def named(self) -> Row:
        """The parameters by their names, for a request."""
        names = [word.strip("[].").lower() for word in self.command.words.split() if is_param(word)]
        return dict(self.command.fixed) | {name: number_or_text(name, text) for name, text in zip(names, self.params)}


def number_or_text(name: str, text: str) -> int | str:
    """Ports, queues and QPs have numbers; a flow may be called 5."""
    return int(text) if name in ("port", "queue", "qpn") and text.isascii() and text.isdigit() else text


def say(kind: str, text: str) -> None:
    """A line that cannot steer a terminal."""
    sys.stderr.write(f"quenchctl: {kind}{plain(text)}\n")
    sys.stderr.flush()


CONTROL = dict.fromkeys([*range(32), *range(0x7f, 0xa0)], "?")


def plain(text: str) -> str:
    return text.translate(CONTROL)


def short(name: str, width: int) -> str:
    """In at most width characters, 8 or more: Eth for Ethernet, then ~ for a part of its first half, because names differ in their ends."""
    if len(name) > width and name.startswith("Ethernet"):
        name = "Eth" + name[len("Ethernet"):]
    head = width // 3
    return name if len(name) <= width else name[:head] + "~" + name[len(name) - (width - head - 1):]


def print_json(value: Any, out: Any = None) -> None:
    import json
    print(json.dumps(value, indent=2, ensure_ascii=False), file=out)


def write_output(options: Options, text: str) -> None:
    """To --output, which is then complete or unchanged, or to standard output. @raise Ends"""
    path = options.output
    if path is None or path == "-":
        try:
            sys.stdout.write(text)
        except OSError as error:
            raise Ends(f"standard output: {error.strerror}") from error
        return
    import os
    # A pipe or a device has no name to replace.
    part = path if os.path.exists(path) and not os.path.isfile(path) else f"{path}.part"
    try:
        with open(part, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        if part != path:
            os.replace(part, path)
    except OSError as error:
        if part != path and os.path.exists(part):
            os.unlink(part)
        raise Ends(f"{path}: cannot be written: {error.strerror}") from error


# The words of the command line.

def is_param(word: str) -> bool:
    return word[word[0] == "["].isupper()


def may_be(param: str, given: str) -> bool:
    """May a parameter stand for this word? A word without '=' may belong to another command where KEY=VALUE is expected."""
    return "=" not in param or "=" in given


def begins(word: str, given: str) -> bool:
    """SONiC's buffer_pool is buffer-pool here."""
    return word.startswith(given.replace("_", "-"))


def is_word(word: str, given: str) -> bool:
    return len(word) == len(given) and begins(word, given)


def match(command: Command, given: Sequence[str]) -> tuple[int, list[str], bool]:
    """@return number of leading words that match; the parameters; do all match, and does at most an optional last word lack?"""
    words = command.words.split()
    params: list[str] = []
    used = 0
    for word, text in zip(words, given):
        if is_param(word) and may_be(word, text):
            params.append(text)
        elif not is_word(word, text):
            break
        used += 1
    ended = used == len(words)
    if ended and "..." in words[-1]:
        while used < len(given) and may_be(words[-1], given[used]):
            params.append(given[used])
            used += 1
    return used, params, used == len(given) and (ended or (used + 1 == len(words) and words[used][0] == "["))


def is_of(command: Command, program: str | None) -> bool:
    return program is None or command.program in (None, program)


def refuse_words(commands: Iterable[Command], given: Sequence[str], program: str | None) -> NoReturn:
    """Name the words that are allowed in the place of the first wrong one."""
    found = [(match(command, given)[0], command) for command in commands]
    best = max(used for used, _ in found)
    expected: dict[str, None] = {}
    for used, command in found:
        words = command.words.split()
        if used == best and is_of(command, program):
            expected[words[best] if best < len(words) else "nothing more"] = None
    said, allowed = " ".join(given[:best + 1]), ", ".join(expected)
    if best == 0:
        raise BadUsage(f"{said or 'no command'}: expected one of: {allowed}")
    raise BadUsage(f"{said}: expected after \"{' '.join(given[:best])}\" {'one of: ' if len(expected) > 1 else ''}{allowed}")


def complete(commands: Sequence[Command], given: Sequence[str], program: str | None) -> tuple[list[str], list[str]]:
    """The given words, abbreviations completed, until an ambiguous one. @return also what that may be"""
    words: list[str] = []
    for i, text in enumerate(given):
        found: dict[str, None] = {}
        for command in commands if text else ():
            own = command.words.split()
            if not is_of(command, program) or match(command, words)[0] < i or i >= len(own) or is_param(own[i]) or not begins(own[i], text):
                continue
            if is_word(own[i], text):
                found = {text: None}
                break
            found[own[i]] = None
        if len(found) > 1:
            return words, list(found)
        words.append(next(iter(found), text))
    return words, []


def find_whole(commands: Iterable[Command], given: Sequence[str], program: str | None) -> tuple[Command, list[str]] | None:
    for command in commands:
        _, params, whole = match(command, given)
        if whole and is_of(command, program):
            return command, params
    return None


def find(commands: Sequence[Command], given: Sequence[str], program: str | None) -> tuple[Command, list[str]]:
    """The command of these words, and its parameters. program None: not known yet, so either one. @raise BadUsage"""
    # An abbreviation may be ambiguous over all commands, but unique in those of one program.
    for one in (SWITCH, NIC) if program is None else (program,):
        words, several = complete(commands, given, one)
        found = find_whole(commands, words, one) if not several else None
        if found:
            return found
    words, several = complete(commands, given, program)
    if several:
        raise BadUsage(f"{given[len(words)]}: may be one of: {', '.join(several)}")
    found = find_whole(commands, words, None)
    if found:
        raise BadUsage(f"{' '.join(words[:2])} ...: expected a {found[0].program}, but this is a {program}")
    refuse_words(commands, words, program)


def beginning_with(commands: Sequence[Command], given: Sequence[str]) -> list[Command]:
    """The commands that begin with these words. @raise BadUsage: there is none"""
    words = complete(commands, given, None)[0]
    words += given[len(words):]
    found = [command for command in commands if match(command, words)[0] >= len(words)]
    if not found:
        refuse_words(commands, given, None)
    return found
