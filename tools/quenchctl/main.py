# SPDX-License-Identifier: BSD-3-Clause
"""The command line of quenchctl."""
from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from quench import desk
from quenchctl.command import BAD_USAGE, DONE, FAILED, NIC, PARTLY, SWITCH, BadUsage, Command, Ends, Options, Run, beginning_with, find, say
from quenchctl.table import COMMANDS

USAGE = """\
usage: quenchctl [options] COMMAND

Show and control a running quench-nic or quench-switch.

  -f, --file-prefix NAME   talk to the program started with --file-prefix NAME
  -s, --socket PATH        talk to the program with this socket
                           (without -f and -s: to the only running program)
  -j, --json               print JSON instead of tables
  -w, --watch[=SECONDS]    repeat every SECONDS (default 1)
  -o, --output FILE        write the output of import or export to FILE
  -p, --ports LIST         import these ports, such as Ethernet1/1,1/3 or Ethernet0-28,
                           or the first N (default: the first 64)
      --set KEY=VALUE      setting of import chakra, simai or nccl, such as all_reduce=halving_doubling;
                           repeatable
  -a, --all                show idle queues and priority groups too
      --dry-run            of set and reload: print what would change, and the warnings;
                           nothing changes
      --since-start        show counters since the start, not since the last clear
      --count N            end a capture after N frames
      --size BYTES         end a capture before its file is larger, such as 10MB
      --duration TIME      end a capture after this time, such as 20s
      --kind KINDS         capture only these frames: data, ack, nak, cnp, pause, arp or
                           other, or some of them, as data,cnp
      --qp QPN             capture only RoCEv2 frames for this destination QP
      --match MATCHES      capture only frames with these bits, such as
                           ipv4@96/32:0a000001,l4@16/16:12b7
      --direction WAY      capture only received or sent frames; both without it
      --snaplen BYTES      capture at most these first bytes of each frame
      --buffer BYTES       memory for frames of a capture on their way, for each polling
                           lcore (default 8MiB)
      --listen ADDRESS:PORT  listen there: serve-metrics (default 127.0.0.1:9880),
                           web (default 127.0.0.1:9881)
      --control[=FILE]     let the page of web set Kmin, Kmax, Pmax and rate caps, and start,
                           stop and reset flows; FILE has the token (default: a random one)
      --qps N, --flows N   metrics of the first N QPs (default 0), flows (default 256)
      --help, --version    --help after words of a command: of this command

Exit code 0: done; 1: the program is gone, or cannot be reached; 2: a wrong command or
parameter, or a refused file: nothing was done; 3: import or export reported settings
that they could not carry over.

Commands:
"""
# Of the long options: the short one, and whether a value follows ("?": may follow, after = or at once).
OPTIONS = {
    "file-prefix": ("f", "="), "socket": ("s", "="), "json": ("j", ""), "watch": ("w", "?"), "output": ("o", "="), "ports": ("p", "="), "set": ("", "="), "all": ("a", ""),
    "dry-run": ("", ""), "since-start": ("", ""), "count": ("", "="), "size": ("", "="), "duration": ("", "="), "kind": ("", "="), "qp": ("", "="), "match": ("", "="), "direction": ("", "="),
    "snaplen": ("", "="), "buffer": ("", "="), "listen": ("", "="), "control": ("", "?"), "qps": ("", "="), "flows": ("", "="), "help": ("h", ""),
    "version": ("", ""),
}
SHORT = {short: name for name, (short, _) in OPTIONS.items() if short}
CAPTURE = ("count", "size", "duration", "kind", "qp", "match", "direction", "snaplen", "buffer")
MOST_QPS, MOST_FLOWS = 4096, 1024  # of metrics


def split(args: Sequence[str]) -> tuple[list[tuple[str, str | None]], list[str]]:
    """Options with their values, and words, as getopt_long() takes them; argparse would take a third of the time of a show. @raise BadUsage"""
    options: list[tuple[str, str | None]] = []
    words: list[str] = []
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        if arg == "--":
            return options, words + rest
        if arg.startswith("--"):
            name, equals, value = arg[2:].partition("=")
            full = [name] if name in OPTIONS else [option for option in OPTIONS if option.startswith(name)]
            if len(full) != 1:
                raise BadUsage(f"{arg}: expected an option of --help, with its value")
            given = [(full[0], value if equals else None)]
        elif arg.startswith("-") and len(arg) > 1:
            given, at = [], 1
            while at < len(arg):
                name = SHORT.get(arg[at], "")
                if not name:
                    raise BadUsage(f"{arg}: expected an option of --help, with its value")
                takes = OPTIONS[name][1]
                given.append((name, arg[at + 1:] or None if takes else None))
                at = len(arg) if takes else at + 1
        else:
            words.append(arg)
            continue
        for name, found in given:
            takes = OPTIONS[name][1]
            if takes == "=" and found is None and rest:
                found = rest.pop(0)
            if (takes == "=") > (found is not None) or (takes == "" and found is not None):
                raise BadUsage(f"{arg}: expected an option of --help, with its value")
            options.append((name, found))
    return options, words


def seconds(text: str | None) -> float:
    try:
        value = 1.0 if text is None else float(text)
    except ValueError:
        value = 0.0
    if not 0.05 <= value <= 86400:
        raise BadUsage(f"--watch = {text}: expected seconds from 0.05 to 86400")
    return value


def bound(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > most:
        raise BadUsage(f"--{name} = {text}: expected a number from 0 to {most}")
    return int(text)


def word(name: str, text: str) -> str:
    """The program checks the value."""
    if not text or " " in text:
        raise BadUsage(f"--{name} = {text[:64]}: expected a word")
    return text


def read_options(given: Sequence[tuple[str, str | None]]) -> tuple[Options, str]:
    """@return also "help" or "version" if that is asked for"""
    o, shown = Options(), ""
    for name, text in given:
        value = text or ""
        if name in ("help", "version"):
            shown = shown if shown == "help" else name
        elif name in ("json", "all", "dry-run", "since-start"):
            setattr(o, name.replace("-", "_"), True)
        elif name in ("socket", "output", "ports", "listen"):
            setattr(o, name, value)
        elif name == "set":
            o.settings.append(value)
        elif name == "file-prefix":
            o.prefix = value
        elif name == "watch":
            o.watch_s = seconds(text)
        elif name in CAPTURE:
            o.capture[name] = word(name, value)
        elif name == "control":
            o.control, o.control_file = True, text
        elif name == "qps":
            o.qps = bound(name, value, MOST_QPS)
        elif name == "flows":
            o.flows = bound(name, value, MOST_FLOWS)
    if o.socket is not None and o.prefix is not None:
        raise BadUsage("--socket and --file-prefix: expected one of them")
    return o, shown


def function(place: str) -> Callable[..., Any]:
    """place: "show.show:run" """
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"quenchctl.{module}"), name)
    return found


def print_commands(commands: Sequence[Command]) -> None:
    for command in commands:
        print(f"  {command.words:<46}  {command.help}{f' ({command.program})' if command.program else ''}")
        if command.keys_help:
            function(command.keys_help)()


def print_help(words: Sequence[str]) -> int:
    if not words:
        sys.stdout.write(USAGE)
        print_commands([command._replace(keys_help="") for command in COMMANDS])
        return DONE
    commands = beginning_with(COMMANDS, words)
    print("usage: quenchctl [options] COMMAND\n\nCommands:")
    print_commands(commands)
    return DONE


def check_options(command: Command, o: Options) -> None:
    """Refuse an option that means nothing to the command. @raise BadUsage"""
    for given, name, allowed, expected in (
            (o.output is not None, "output", command.alone, "an import or export command"),
            (o.ports is not None, "ports", command.alone, "import nxos or import sonic"),
            (bool(o.settings), "set", command.alone, "import chakra, simai or nccl"),
            (o.control, "control", command.words == "web", "web"),
            (bool(o.capture), next(iter(o.capture), ""), command.words.startswith("capture"), "capture PORT FILE"),
            (o.dry_run, "dry-run", command.tries, "set or reload"),
            (o.watch_s > 0, "watch", not command.alone, "a show of one program"),
            (o.watch_s > 0, "watch", command.watchable or command.goes_on, "a show command, explain, trace or top")):
        if given and not allowed:
            raise BadUsage(f"--{name}: expected {expected}")


def open_program(o: Options) -> tuple[desk.Desk, str]:
    """@return also the program's name. @raise desk.Failed, BadUsage"""
    found = desk.Desk(o.socket) if o.socket is not None else desk.choose(o.prefix)
    program = found.call("info").get("program")
    if program not in (SWITCH, NIC):
        raise BadUsage(f"{found.path}: expected {SWITCH} or {NIC}, got {program}")
    return found, program


def run_in(o: Options, words: Sequence[str]) -> int:
    """Run the command, in a program if it needs one."""
    # Refuse words that no program knows before connecting to one.
    command, params = find(COMMANDS, words, None)
    if command.alone:
        check_options(command, o)
        code: int = function(command.run)(Run(command, o, params))
        return code
    if o.output is not None or o.ports is not None or o.settings or o.control or o.capture:
        check_options(command, o)
    connection, program = open_program(o)
    with connection:
        command, params = find(COMMANDS, words, program)
        check_options(command, o)
        run = function(command.run)
        while True:
            if o.watch_s > 0 and not o.json and not command.goes_on and sys.stdout.isatty():
                sys.stdout.write("\033[H\033[2J")
            try:
                code = run(Run(command, o, params, program, connection))
            except KeyError as error:
                # The program is of another version.
                raise Ends(f"{connection.path}: expected another reply: it has no {error}") from error
            if code != DONE or o.watch_s <= 0 or command.goes_on:
                return code
            sys.stdout.flush()
            import time
            time.sleep(o.watch_s)


def run_line(args: Sequence[str]) -> int:
    try:
        given, words = split(args)
        options, shown = read_options(given)
        if shown == "help":
            return print_help(words)
        if shown == "version":
            from places import release
            version, commit = release()
            print(f"quenchctl {version} (commit {commit})")
            return DONE
        return run_in(options, words)
    except (BadUsage, desk.Refused) as error:
        say("error: ", str(error))
        return BAD_USAGE
    except (Ends, desk.Failed) as error:
        say("error: ", str(error))
        return FAILED


def end(code: int) -> int:
    """What was printed is written, or the exit code says that it is not."""
    try:
        sys.stdout.flush()
        return code
    except OSError as error:
        if code in (DONE, PARTLY):
            say("error: ", f"standard output: {error.strerror}")
        return FAILED if code in (DONE, PARTLY) else code


def main(args: Sequence[str]) -> None:
    # As a program in C: a reader that goes away, and Ctrl-C, end it without a word.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    code = end(run_line(args))
    # Without the work of Python's own end.
    os._exit(code)
