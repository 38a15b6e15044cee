# SPDX-License-Identifier: BSD-3-Clause
"""Options and the file of ports."""
from __future__ import annotations

import argparse
import configparser
import dataclasses
import fcntl
import itertools
import json
import os
import pathlib
import re
import shlex
import ssl
import stat
import tempfile
import urllib.parse
import uuid
from collections.abc import Container
from typing import IO, Any

from quench.desk import Failed
from quench.programs import SHARED
from quench.server import is_loopback, open_secret

from .generator import Attached, Generator, interface_of
from .plan import Location, Section, section_text
from .raw import LEAST_FRAME_BYTES, STANDARD_FRAME_BYTES
from .remote import Agent, Remote
from .tester import Outlet

PORT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}")
MOST_CAPTURE_MB = 4096
RATE = re.compile(r"(\d+)([MG]?)")
UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
MOST_LOCATION_CHARS, MOST_TOKEN_CHARS = 255, 1024
PORT_KEYS = ("device", "location", "lcores", "memory_mb", "speed", "base", "eal", "options", "capture_mb", "capture_sent", "capture_fcs")
REMOTE_KEYS = ("agent", "location", "at", "capture_sent", "capture_fcs")
ATTACHED_KEYS = ("attach", "location", "capture_mb", "capture_sent", "capture_fcs")
AGENT_KEYS = ("url", "ca", "token_file")
STATE, LOCK = "run.json", "lock"
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
    controller: str  # its name at agents
    lock: IO[str]  # of the folder, as long as we run
    kept: Any = None  # the run of a quench-otg that died, of the same folder


def add_options(p: argparse.ArgumentParser) -> None:
    p.add_argument("role", nargs="?", choices=("agent",), help="agent: serve the ports to a quench-otg on another machine, in place of the API")
    p.add_argument("--port", action="append", default=[], metavar="LOCATION=DEVICE", help="port: the location as configurations have it (p1, "
                   "localhost:5555, 10.0.0.1;1;2), and a device as EAL knows it (0000:01:00.0, net_af_packet0,iface=eth1); may be repeated")
    p.add_argument("--ports", type=pathlib.Path, metavar="FILE", help="INI of ports: sections [port LOCATION] with the keys device, lcores, "
                   "memory_mb, speed, base, eal and options, or agent and at, or attach; capture_mb, capture_sent, capture_fcs, and location with "
                   "further locations; and [agent NAME] with url, ca and token_file")
    p.add_argument("--listen", default="127.0.0.1:8443", metavar="ADDRESS:PORT", help="listening address (default 127.0.0.1:8443); port 0 selects a "
                   "free port. Beyond loopback, --token-file is required")
    p.add_argument("--grpc", metavar="ADDRESS:PORT", help="serve gRPC too, at this address, with the same certificate and token; needs python3-grpcio")
    p.add_argument("--http", action="store_true", help="no TLS; on loopback only")
    p.add_argument("--cert", type=pathlib.Path, metavar="FILE", help="certificate of the server, in PEM")
    p.add_argument("--key", type=pathlib.Path, metavar="FILE", help="its key, in PEM")
    p.add_argument("--token-file", type=pathlib.Path, metavar="FILE", help="file whose only line is the token that clients send")
    p.add_argument("--no-huge", action="store_true", help="run without hugepages")
    p.add_argument("--eal", default="", metavar="OPTIONS", help="further EAL options of each quench-nic, in one argument")
    p.add_argument("--options", default="", metavar="OPTIONS", help="further options of each quench-nic, in one argument, such as '--idle-sleep 50'")
    p.add_argument("--program", type=pathlib.Path, metavar="PATH", help="the quench-nic to run; without it, the one that is built or installed")
    p.add_argument("--draft", choices=("ccl-490", "ccl-491"), help="also take a draft for collectives, pull request 490 or 491 of the API's models")
    p.add_argument("--prefix", metavar="NAME", help="first part of the --file-prefix of each quench-nic (default otg and the "
                   "number of the process); quenchctl -f NAME-PORT shows it")
    p.add_argument("--folder", type=pathlib.Path, metavar="DIR", help="folder of configurations and logs of the quench-nics, and of the run, which a "
                   "quench-otg that comes back with the same folder takes over; without it, a temporary one")


def rate_bps(text: str, where: str) -> int:
    found = RATE.fullmatch(text)
    if not found:
        raise BadUsage(f"{where} = {text}: expected a rate in bit/s, such as 100G")
    return int(found[1]) * {"": 1, "M": 10**6, "G": 10**9}[found[2]]


def capture_mb(text: str, where: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_CAPTURE_MB:
        raise BadUsage(f"{where} = {text}: expected 1 to {MOST_CAPTURE_MB} MiB")
    return int(text)


def on_or_off(keys: Section, key: str, where: str) -> bool:
    text = keys.get(key, "off")
    if text not in ("on", "off"):
        raise BadUsage(f"{where} {key} = {text}: expected on or off")
    return text == "on"


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


def check_location(text: str, where: str) -> None:
    if not text.isprintable() or not 0 < len(text.strip()) == len(text) <= MOST_LOCATION_CHARS:
        raise BadUsage(f"{where}: expected a location of 1 to {MOST_LOCATION_CHARS} printable characters")


def safe_name(text: str, taken: Container[str]) -> str:
    """Of files and processes of the port at a location."""
    name = text if PORT_NAME.fullmatch(text) else UNSAFE.sub("_", text)[:28]
    return next(found for found in itertools.chain([name], (f"{name}-{n}" for n in itertools.count(2))) if found not in taken)


def read_ports(path: pathlib.Path) -> tuple[dict[str, Section], dict[str, Section]]:
    """@return the ports by location, and the agents by name. Files are relative to this one."""
    ports: dict[str, Section] = {}
    agents: dict[str, Section] = {}
    for name, keys in read_base(path).items():
        kind, _, item = name.partition(" ")
        if kind == "port":
            check_location(item, f"{path}: [{name}]")
        elif kind != "agent" or not PORT_NAME.fullmatch(item):
            raise BadUsage(f"{path}: [{name}]: expected [port LOCATION] or [agent NAME]")
        known, required = (AGENT_KEYS, "url") if kind == "agent" else (REMOTE_KEYS, "agent") if "agent" in keys else (
            ATTACHED_KEYS, "attach") if "attach" in keys else (PORT_KEYS, "device")
        for key in keys:
            if key not in known:
                raise BadUsage(f"{path}: [{name}] {key}: expected one of {', '.join(known)}")
        if required not in keys:
            raise BadUsage(f"{path}: [{name}] {required}: missing")
        (agents if kind == "agent" else ports)[item] = {key: str(path.parent / value) if key in ("base", "ca", "token_file") else value
                                                        for key, value in keys.items()}
    for name, keys in ports.items():
        if keys.get("agent", next(iter(agents), "")) not in agents and "agent" in keys:
            raise BadUsage(f"{path}: [port {name}] agent = {keys['agent']}: expected one of {', '.join(agents) or 'no agent: there is no [agent NAME]'}")
    return ports, agents


def token_of(path: pathlib.Path, what: str) -> str:
    try:
        with open_secret(path) as file:
            token = file.read(MOST_TOKEN_CHARS + 2).strip()
    except (OSError, ValueError) as error:
        raise BadUsage(f"{what} {path}: {getattr(error, 'strerror', None) or error}") from error
    if not 16 <= len(token) <= MOST_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise BadUsage(f"{what} {path}: expected one word of 16 to {MOST_TOKEN_CHARS} characters of ASCII")
    return token


def agent_of(name: str, keys: Section, controller: str, folder: pathlib.Path) -> Agent:
    url = urllib.parse.urlsplit(keys["url"])
    try:
        good = url.scheme in ("http", "https") and bool(url.hostname) and url.port is not None and url.path in ("", "/") and not url.query
    except ValueError:
        good = False
    if not good:
        raise BadUsage(f"[agent {name}] url = {keys['url']}: expected https://HOST:PORT")
    token = token_of(pathlib.Path(keys["token_file"]), f"[agent {name}] token_file") if "token_file" in keys else None
    if url.scheme == "http":
        # A token in clear, and what it allows, stay on this machine.
        if not is_loopback(url.hostname or ""):
            raise BadUsage(f"[agent {name}] url = {keys['url']}: expected https beyond loopback")
        return Agent(name, keys["url"], None, token, controller, folder)
    if token is None:
        raise BadUsage(f"[agent {name}] token_file: missing, and https needs it")
    try:
        context = ssl.create_default_context(cafile=keys.get("ca"))
    except (OSError, ssl.SSLError) as error:
        raise BadUsage(f"[agent {name}] ca = {keys.get('ca')}: {error.strerror or error}") from error
    return Agent(name, keys["url"], context, token, controller, folder)


def remote_outlet(name: str, keys: Section, agents: dict[str, Agent], offers: dict[str, Any]) -> Outlet:
    agent, at = agents[keys["agent"]], keys.get("at", name)
    if agent.name not in offers:
        try:
            offers[agent.name] = agent.call("ports")["ports"]
        except Failed as failed:
            raise BadUsage(str(failed)) from failed
    offer = offers[agent.name].get(at)
    if offer is None:
        raise BadUsage(f"[port {name}] at = {at}: agent {agent.name} has {', '.join(offers[agent.name])}")
    return Outlet(Location(name, offer["speed_bps"], offer["base"], offer["running"]), lambda: Remote(agent, name, at))


def attached(name: str, keys: Section, settings: Settings) -> Outlet:
    """A quench-nic that runs already, with its configuration."""
    capture_bytes = capture_mb(keys.get("capture_mb", "64"), f"[port {name}] capture_mb") << 20
    probe = Attached(settings.program, settings.folder, name, keys["attach"], "", capture_bytes)
    try:
        if not probe.find():
            raise BadUsage(f"[port {name}] attach = {keys['attach']}: no quench-nic runs with this --file-prefix")
        config, frames = (probe.call(method)["rows"] for method in ("config", "frames"))
    except Failed as failed:
        raise BadUsage(f"[port {name}] attach = {keys['attach']}: {failed}") from failed
    finally:
        probe.detach()
    sections: dict[str, Section] = {}
    for row in config:
        sections.setdefault(row["section"], {})[row["key"]] = str(row["value"])
    base = {section: found for section, found in sections.items() if section.split()[0] not in OWN_SECTIONS}
    own = base.setdefault("nic", {})
    if "mac" not in own:
        raise BadUsage(f"[port {name}] attach = {keys['attach']}: expected a mac in [nic] of its configuration")
    for key, value in (("link_speed_bps", "100G"), ("first_qpn", "17"), ("max_qps", "1024")):
        own.setdefault(key, value)
    speed_bps = rate_bps(own["link_speed_bps"], f"[port {name}] attach: link_speed_bps")
    streams = [row["name"] for row in frames]
    sizes = [int(sections.get(f"frames {stream}", {}).get("frame_bytes", LEAST_FRAME_BYTES)) for stream in streams]
    running = {"streams": streams, "most_bytes": max([STANDARD_FRAME_BYTES, *sizes])}
    before = "\n".join(section_text(section, found) for section, found in sections.items())
    return Outlet(Location(name, speed_bps, base, running),
                  lambda: Attached(settings.program, settings.folder, name, keys["attach"], before, capture_bytes))


def outlet(name: str, keys: Section, number: int, settings: Settings) -> Outlet:
    if "attach" in keys:
        return attached(name, keys, settings)
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
    capture_bytes = capture_mb(keys.get("capture_mb", "64"), f"[port {name}] capture_mb") << 20
    speed = rate_bps(keys.get("speed", "100G"), f"[port {name}] speed")
    if device.startswith("net_"):
        # Sleeping and shared CPUs poll virtual devices late. A hardware NIC has bursts as quench-nic has them.
        base["nic"] = {**SHARED["nic"], **base.get("nic", {})}
    return Outlet(Location(name, speed, base, interface=interface_of(device)),
                  lambda: Generator(settings.program, settings.folder, name, f"{settings.prefix}-{name}", eal, options, capture_bytes, device))


def outlets(chosen: argparse.Namespace, settings: Settings) -> dict[str, Outlet]:
    found, sections = read_ports(chosen.ports) if chosen.ports else ({}, {})
    if chosen.role == "agent" and sections:
        raise BadUsage(f"{chosen.ports}: [agent {next(iter(sections))}]: expected ports of this machine")
    for text in chosen.port:
        location, _, device = text.partition("=")
        if not device:
            raise BadUsage(f"--port {text}: expected LOCATION=DEVICE")
        check_location(location, f"--port {text}")
        if location in found:
            raise BadUsage(f"--port {text}: another port has this location")
        found[location] = {"device": device}
    if not found:
        raise BadUsage("no port: expected --port or --ports")
    agents = {name: agent_of(name, keys, settings.controller, settings.folder) for name, keys in sections.items()}
    offers: dict[str, Any] = {}
    made: dict[str, Outlet] = {}
    owners: dict[str, str] = {}  # of locations
    for number, (location, keys) in enumerate(found.items()):
        texts = (location, *(text.strip() for text in keys.get("location", "").split(",") if text.strip()))
        for text in texts:
            if owners.setdefault(text, location) != location:
                raise BadUsage(f"[port {location}]: location {text}: port {owners[text]} has it")
        name = safe_name(location, made)
        made[name] = remote_outlet(name, keys, agents, offers) if "agent" in keys else outlet(name, keys, number, settings)
        made[name].location.texts = texts
        made[name].location.captures_sent = on_or_off(keys, "capture_sent", f"[port {location}]")
        made[name].location.captures_fcs = on_or_off(keys, "capture_fcs", f"[port {location}]")
    return made


def address(text: str, option: str = "--listen") -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65535:
        raise BadUsage(f"{option} {text}: expected ADDRESS:PORT")
    return host, int(port)


def security(chosen: argparse.Namespace) -> tuple[ssl.SSLContext | None, str | None]:
    """@return TLS and the token; refuses what would listen beyond loopback without them."""
    token = token_of(chosen.token_file, "--token-file") if chosen.token_file else None
    for option, text in (("--listen", chosen.listen), ("--grpc", chosen.grpc)):
        host = address(text, option)[0] if text else ""
        if not host or is_loopback(host):
            continue
        if token is None:
            raise BadUsage(f"{option} {text}: beyond loopback, --token-file is required")
        if chosen.http:
            raise BadUsage(f"--http: expected a loopback address in {option}, not {host}")
    if chosen.http:
        return None, token
    if not chosen.cert or not chosen.key:
        raise BadUsage("expected --cert and --key, or --http")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # Debian's keys belong to a group of those who may serve with them.
        open_secret(chosen.key, stat.S_IRGRP).close()
    except (OSError, ValueError) as error:
        raise BadUsage(f"--key {chosen.key}: {getattr(error, 'strerror', None) or error}") from error
    try:
        context.load_cert_chain(chosen.cert, chosen.key)
    except (OSError, ssl.SSLError) as error:
        raise BadUsage(f"--cert {chosen.cert}, --key {chosen.key}: {error.strerror}") from error
    return context, token


def grpc_server(chosen: argparse.Namespace, api: Any, token: str | None) -> tuple[Any, str]:
    """@return a running server, and its address. Without --grpc: None"""
    if not chosen.grpc:
        return None, ""
    host, port = address(chosen.grpc, "--grpc")
    if chosen.role == "agent":
        raise BadUsage("--grpc: expected no agent: a controller speaks HTTP with it")
    try:
        from . import rpc
    except ImportError as error:
        raise BadUsage(f"--grpc: {error}: expected the Debian package python3-grpcio") from error
    where = f"[{host}]" if ":" in host else host
    try:
        server, port = rpc.serve(f"{where}:{port}", api, None if chosen.http else (chosen.key, chosen.cert), token)
    except OSError as error:
        raise BadUsage(f"--grpc {chosen.grpc}: {error.strerror or error}") from error
    return server, f"{where}:{port}"


def settings_of(chosen: argparse.Namespace, program: pathlib.Path) -> tuple[Settings, tempfile.TemporaryDirectory[str] | None]:
    temporary = None if chosen.folder else tempfile.TemporaryDirectory(prefix="quench-otg-")
    folder = pathlib.Path(temporary.name) if temporary else chosen.folder
    lock = take_folder(folder)
    kept = None if temporary or chosen.role == "agent" else read_state(folder / STATE)
    prefix = chosen.prefix or (kept["prefix"] if kept else f"otg{os.getpid()}")
    if not PORT_NAME.fullmatch(prefix):
        raise BadUsage(f"--prefix {prefix}: expected letters, digits, '.', '_' and '-'")
    controller = kept["controller"] if kept else uuid.uuid4().hex
    return Settings(program, folder.resolve(), prefix, chosen.no_huge, shlex.split(chosen.eal), shlex.split(chosen.options), controller, lock, kept), temporary


def take_folder(path: pathlib.Path) -> IO[str]:
    """Only we write into it, and only one of us. @return what locks it until it is closed"""
    where = f"--folder {path}"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise BadUsage(f"{where}: " + ("a symbolic link: expected a folder" if path.is_symlink() else str(error.strerror))) from error
    try:
        found = os.fstat(folder)
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise BadUsage(f"{where}: user {found.st_uid} owns it, with mode {stat.S_IMODE(found.st_mode):o}: expected a folder that only you (user "
                           f"{os.geteuid()}) can write into")
        file = open(os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder), "r+", encoding="ascii")
    except OSError as error:
        raise BadUsage(f"{where}: {LOCK}: {error.strerror}") from error
    finally:
        os.close(folder)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        with file:
            raise BadUsage(f"{where}: process {file.readline(20).strip()}, a quench-otg, runs with it: expected a folder of its own for each") from error
    file.write(f"{os.getpid()}\n")
    file.truncate()
    file.flush()
    return file


def read_state(path: pathlib.Path) -> Any:
    """What a quench-otg that died left there; None: nothing."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadUsage(f"{path}: {error}") from error
