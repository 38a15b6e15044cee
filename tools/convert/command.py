# SPDX-License-Identifier: BSD-3-Clause
"""The command line: quenchctl import DIALECT FILE, quenchctl export sonic FILE."""
from __future__ import annotations

import argparse
import io
import os
import pathlib
import stat
import sys
import tempfile
from collections.abc import Callable

from .files import read_at_most
from .log import Log, Refused, printable

MOST_BYTES = 8 << 20  # of an input
DONE, FAILED, BAD_USAGE, PARTLY = 0, 1, 2, 3
BOM = b"\xef\xbb\xbf"  # what Windows editors put before UTF-8
MANY = 20  # entries of the report after which its last line has their numbers


def complain(text: str) -> None:
    print(f"quenchctl: error: {printable(text)}", file=sys.stderr)


def read_input(path: str) -> str:
    """@raise Refused"""
    try:
        if path == "-":
            text = read_at_most(sys.stdin.buffer, MOST_BYTES)
        else:
            with open(path, "rb") as file:
                text = read_at_most(file, MOST_BYTES)
    except IsADirectoryError as error:
        raise Refused(f"{path}: cannot be read: {error.strerror}") from error
    except OSError as error:
        raise Refused(f"{path}: cannot be opened: {error.strerror}") from error
    if len(text) > MOST_BYTES:
        raise Refused(f"{path}: expected a file of at most {MOST_BYTES} bytes")
    return text.removeprefix(BOM).decode("utf-8", "surrogateescape")


def write_output(path: str | None, text: str) -> None:
    """A regular file is replaced as a whole; anything else is written into. @raise OSError"""
    data = text.encode("utf-8", "surrogateescape")
    if path is None or path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = pathlib.Path(path)
    if target.exists() and not target.is_file():
        with open(target, "wb", buffering=0) as file:
            file.write(data)
        return
    target = target.resolve()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def say(log: Log, program: str = "quenchctl") -> int:
    """The report on standard error. @return the exit code"""
    lines = [f"changed or assumed: {log.file}:{note}" for note in log.notes] + [f"not carried over: {log.file}:{lost}" for lost in log.lost]
    if log.asides:
        lines.append(f"not about forwarding or buffering: {log.file}: {log.aside_text()}")
    # The totals, because the notes on a running-config may fill more than a screen.
    if len(log.lost) + len(log.notes) > MANY:
        lines.append(f"{len(log.lost)} not carried over, {len(log.notes)} changed or assumed")
    for line in lines:
        print(f"{program}: {line}", file=sys.stderr)
    return PARTLY if log.lost else DONE


def from_nxos(text: str, log: Log) -> str:
    from .nxos import convert
    return convert.convert(text, log)


def from_sonic(text: str, log: Log) -> str:
    from .sonic import convert
    return convert.convert(text, log)


def to_sonic(text: str, log: Log) -> str:
    from .sonic import export
    return export.convert_ini(text, log)


def from_mlnx(text: str, log: Log) -> str:
    from . import mlx5
    return mlx5.convert(text, log)


DIALECTS: dict[tuple[str, str], Callable[[str, Log], str]] = {
    ("import", "nxos"): from_nxos,
    ("import", "sonic"): from_sonic,
    ("import", "mlnx"): from_mlnx,
    ("export", "sonic"): to_sonic,
}


def chakra(prefix: str, log: Log, settings: list[str]) -> str:
    from .jobs import chakra as dialect
    return dialect.convert(prefix, log, settings)


def simai(path: str, log: Log, settings: list[str]) -> str:
    from .jobs import simai as dialect
    return dialect.convert(read_input(path), log, settings)


def nccl(path: str, log: Log, settings: list[str]) -> str:
    from .jobs import nccl as dialect
    return dialect.convert(read_input(path), log, settings)


# Jobs: of a FILE, or of several whose names begin with it, with settings KEY=VALUE.
JOBS: dict[str, Callable[[str, Log, list[str]], str]] = {"chakra": chakra, "simai": simai, "nccl": nccl}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="quenchctl", add_help=False)
    parser.add_argument("direction")
    parser.add_argument("dialect")
    parser.add_argument("file")
    parser.add_argument("--output")
    parser.add_argument("--ports")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    args = parser.parse_args(argv)
    log = Log("standard input" if args.file == "-" else args.file, args.ports)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="surrogateescape")
    try:
        if args.dialect in JOBS:
            text = JOBS[args.dialect](args.file, log, args.settings)
        else:
            text = DIALECTS[args.direction, args.dialect](read_input(args.file), log)
    except Refused as error:
        complain(str(error))
        return BAD_USAGE
    except MemoryError:
        complain(f"{log.file}: out of memory")
        return FAILED
    try:
        write_output(args.output, text)
    except OSError as error:
        complain(f"{args.output or 'standard output'}: cannot be written: {error.strerror}")
        return FAILED
    return say(log)
