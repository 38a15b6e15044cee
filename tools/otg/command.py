# SPDX-License-Identifier: BSD-3-Clause
"""Options and the file of ports."""
from __future__ import annotations

import argparse
import configparser
import dataclasses
import os
import pathlib
import re
import shlex
import ssl
import tempfile

from .generator import Generator
from .plan import Location, Section
from .server import is_loopback
from .tester import Outlet

PORT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}")
RATE = re.compile(r"(\d+)([MG]?)")
PORT_KEYS = ("device", "lcores", "memory_mb", "speed", "base", "eal", "options")
# Sections of quench-nic that a configuration of the API does not make.
OWN_SECTIONS = ("flow", "frames")


class BadUsage(Exception):
    """The text is one line."""


@dataclasses.dataclass
class Settings:
    """What all ports share."""

    program: pathlib.Path
    folder: pathlib.Path
    prefix: str
    no_huge: bool
    eal: list[str]
    options: list[str]


def add_options(p: argparse.ArgumentParser) -> None:
    p.add_argument("--port", action="append", default=[], metavar="NAME=DEVICE", help="port: the location that a configuration names, and a "
                   "device as EAL knows it (0000:01:00.0, net_af_packet0,iface=eth1); may be repeated")
    p.add_argument("--ports", type=pathlib.Path, metavar="FILE", help="INI of ports: sections [port NAME] with the keys device, lcores, "
                   "memory_mb, speed, base, eal and options")
    p.add_argument("--listen", default="127.0.0.1:8443", metavar="ADDRESS:PORT", help="listening address (default 127.0.0.1:8443); port 0 selects a "
                   "free port. Beyond loopback, --token-file is required")
    p.add_argument("--http", action="store_true", help="no TLS; on loopback only")
    p.add_argument("--cert", type=pathlib.Path, metavar="FILE", help="certificate of the server, in PEM")
    p.add_argument("--key", type=pathlib.Path, metavar="FILE", help="its key, in PEM")
    p.add_argument("--token-file", type=pathlib.Path, metavar="FILE", help="file whose only line is the token that clients send")
    p.add_argument("--no-huge", action="store_true", help="run without hugepages")
    p.add_argument("--eal", default="", metavar="OPTIONS", help="further EAL options of each quench-nic, in one argument")
    p.add_argument("--options", default="", metavar="OPTIONS", help="further options of each quench-nic, in one argument, such as '--idle-sleep 50'")
    p.add_argument("--program", type=pathlib.Path, metavar="PATH", help="the quench-nic to run; without it, the one that is built or installed")
    p.add_argument("--prefix", default=f"otg{os.getpid()}", metavar="NAME", help="first part of the --file-prefix of each quench-nic (default otg and the "
                   "number of the process); quenchctl -f NAME-PORT shows it")
    p.add_argument("--folder", type=pathlib.Path, metavar="DIR", help="folder of configurations and logs of the quench-nics; without it, a temporary one")


def rate_bps(text: str, where: str) -> int:
    found = RATE.fullmatch(text)
    if not found:
        raise BadUsage(f"{where} = {text}: expected a rate in bit/s, such as 100G")
    return int(found[1]) * {"": 1, "M": 10**6, "G": 10**9}[found[2]]


def read_base(path: pathlib.Path) -> dict[str, Section]:
    """A configuration of quench-nic without flows."""
    parser = configparser.ConfigParser(delimiters="=", comment_prefixes="#", interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment]
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except OSError as error:
        raise BadUsage(f"{path}: {error.strerror}") from error
    except (configparser.Error, UnicodeDecodeError) as error:
        raise BadUsage(f"{path}: {' '.join(str(error).split())}") from error
    for name in parser.sections():
        if name.split()[0] in OWN_SECTIONS:
            raise BadUsage(f"{path}: [{name}]: expected no flows: they are those of the API's configuration")
    return {name: dict(parser[name]) for name in parser.sections()}


def read_ports(path: pathlib.Path) -> dict[str, Section]:
    found: dict[str, Section] = {}
    for name, keys in read_base(path).items():
        kind, _, port = name.partition(" ")
        if kind != "port" or not PORT_NAME.fullmatch(port):
            raise BadUsage(f"{path}: [{name}]: expected [port NAME]")
        for key in keys:
            if key not in PORT_KEYS:
                raise BadUsage(f"{path}: [{name}] {key}: expected one of {', '.join(PORT_KEYS)}")
        if "device" not in keys:
            raise BadUsage(f"{path}: [{name}] device: missing")
        found[port] = {**keys, "base": str(path.parent / keys["base"])} if "base" in keys else keys
    return found


def outlet(name: str, keys: Section, number: int, settings: Settings) -> Outlet:
    base = read_base(pathlib.Path(keys["base"])) if "base" in keys else {}
    cores = sorted(os.sched_getaffinity(0))
    device = keys["device"]
    eal = ["--lcores", keys.get("lcores", f"0@{cores[number % len(cores)]}"), "--log-level=error"]
    eal += ["--no-pci", "--vdev", device] if device.startswith("net_") else ["-a", device]
    if settings.no_huge:
        eal += ["--no-huge", "--no-shconf", "-m", keys.get("memory_mb", "96")]
    elif "memory_mb" in keys:
        eal += ["-m", keys["memory_mb"]]
    eal += settings.eal + shlex.split(keys.get("eal", ""))
    options = settings.options + shlex.split(keys.get("options", ""))
    speed = rate_bps(keys.get("speed", "100G"), f"[port {name}] speed")
    return Outlet(Location(name, speed, base),
                  lambda: Generator(settings.program, settings.folder, name, f"{settings.prefix}-{name}", eal, options))


def outlets(chosen: argparse.Namespace, settings: Settings) -> dict[str, Outlet]:
    found = read_ports(chosen.ports) if chosen.ports else {}
    for text in chosen.port:
        name, _, device = text.partition("=")
        if not PORT_NAME.fullmatch(name) or not device:
            raise BadUsage(f"--port {text}: expected NAME=DEVICE, with letters, digits, '.', '_' and '-' in NAME")
        if name in found:
            raise BadUsage(f"--port {text}: another port has this name")
        found[name] = {"device": device}
    if not found:
        raise BadUsage("no port: expected --port or --ports")
    return {name: outlet(name, keys, number, settings) for number, (name, keys) in enumerate(found.items())}


def address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65535:
        raise BadUsage(f"--listen {text}: expected ADDRESS:PORT")
    return host, int(port)


def security(chosen: argparse.Namespace, host: str) -> tuple[ssl.SSLContext | None, str | None]:
    """@return TLS and the token; refuses what would listen beyond loopback without them."""
    beyond = not is_loopback(host)
    token = None
    if chosen.token_file:
        try:
            token = chosen.token_file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadUsage(f"--token-file {chosen.token_file}: {getattr(error, 'strerror', None) or 'expected ASCII'}") from error
        if len(token) < 16 or not token.isprintable() or " " in token:
            raise BadUsage(f"--token-file {chosen.token_file}: expected one word of at least 16 characters")
    elif beyond:
        raise BadUsage(f"--listen {chosen.listen}: beyond loopback, --token-file is required")
    if chosen.http:
        if beyond:
            raise BadUsage(f"--http: expected a loopback address in --listen, not {host}")
        return None, token
    if not chosen.cert or not chosen.key:
        raise BadUsage("expected --cert and --key, or --http")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(chosen.cert, chosen.key)
    except (OSError, ssl.SSLError) as error:
        raise BadUsage(f"--cert {chosen.cert}, --key {chosen.key}: {error.strerror}") from error
    return context, token


def settings_of(chosen: argparse.Namespace, program: pathlib.Path) -> tuple[Settings, tempfile.TemporaryDirectory[str] | None]:
    temporary = None if chosen.folder else tempfile.TemporaryDirectory(prefix="quench-otg-")
    folder = pathlib.Path(temporary.name) if temporary else chosen.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadUsage(f"--folder {folder}: {error.strerror}") from error
    if not PORT_NAME.fullmatch(chosen.prefix):
        raise BadUsage(f"--prefix {chosen.prefix}: expected letters, digits, '.', '_' and '-'")
    return Settings(program, folder.resolve(), chosen.prefix, chosen.no_huge, shlex.split(chosen.eal), shlex.split(chosen.options)), temporary
