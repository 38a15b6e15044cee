# SPDX-License-Identifier: BSD-3-Clause
"""Changes from the page (web --control): POST /control with a JSON object.

Who may change has the token: random, printed at start, or from a file. The page sends it in a header, and a foreign page does not know it. A
cookie would not do: a browser adds cookies to the requests of foreign pages too. quench/server.py says which requests come here at all.
"""
from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Callable
from typing import Any

from quench import desk, server
from quench.desk import Desk, Row
from quenchctl.command import BadUsage
from quenchctl.web.programs import Programs
from quenchctl.web.settings import set_curve, settings

TOKEN_HEADER = "X-Quench-Token"
TOKEN = re.compile(r"[A-Za-z0-9._~-]{16,128}")
MOST_VALUE_CHARS = 64
# Longest time of a reply: a program replies after 2 s at most.
REPLY_S = 10.0
# Longest wait for the requests before it. With the above it is less than the patience of the server.
WAIT_S = 5.0
CURVE = ("Kmin", "Kmax", "Pmax")
MEMBERS = {"program": str, "do": str, "port": int, "queue": int, "only": bool, **dict.fromkeys(CURVE, str), "flow": str, "cap": str}
OF_FLOW = ("cap", "start", "stop", "reset")


class Answer(Exception):
    """An error: a line with its status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def read_token(path: str) -> str:
    """@raise BadUsage"""
    try:
        with server.open_secret(path) as file:
            token = file.readline(1024).rstrip("\r\n")
    except OSError as error:
        raise BadUsage(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadUsage(f"{path}: {error}") from error
    if not TOKEN.fullmatch(token):
        raise BadUsage(f"{path}:1: expected a token of 16 to 128 letters, digits and -._~")
    return token


def once(pairs: list[tuple[str, Any]]) -> Row:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member twice")
    return dict(pairs)


def has_type(name: str, value: object) -> bool:
    return isinstance(value, MEMBERS[name]) and isinstance(value, bool) == (MEMBERS[name] is bool)


def is_value(text: str) -> bool:
    """Any other would begin another key, or steer a terminal."""
    return 0 < len(text) <= MOST_VALUE_CHARS and not any(ord(c) < 32 or ord(c) == 127 for c in text)


def read(body: bytes) -> Row:
    """A request with everything that it needs, and nothing that it does not. @raise Answer"""
    try:
        asked = json.loads(body, object_pairs_hook=once)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise Answer(400, "expected a JSON object")
    if not asked.keys() <= MEMBERS.keys():
        raise Answer(400, "expected no members but program, do, port, queue, only, Kmin, Kmax, Pmax, flow and cap")
    if not {"program", "do"} <= asked.keys() or not all(has_type(name, value) for name, value in asked.items()):
        raise Answer(400, "expected program and do, port and queue as whole numbers, only as a boolean, and all else as text")
    what = asked["do"]
    of_curve, any_ = asked.keys() & {"port", "queue", "only", *CURVE}, asked.keys() & set(CURVE)
    if what not in ("show", "curve", *OF_FLOW):
        raise Answer(400, "do: expected show, curve, cap, start, stop or reset")
    if what == "curve" and (not {"port", "queue", "only"} <= of_curve or not any_ or asked["port"] < 0 or asked["queue"] < 0):
        raise Answer(400, "curve: expected port, queue, only, and Kmin, Kmax or Pmax")
    if what != "curve" and of_curve:
        raise Answer(400, "port, queue, only, Kmin, Kmax, Pmax: expected do = curve")
    if ("flow" in asked) != (what in OF_FLOW) or ("cap" in asked) != (what == "cap"):
        raise Answer(400, "expected flow, and cap only with do = cap" if what in OF_FLOW else "flow, cap: expected do = cap, start, stop or reset")
    if not all(is_value(asked[name]) for name in ("flow", "cap", *CURVE) if name in asked):
        raise Answer(400, "expected values of 1 to 64 characters, none of them a control character")
    return asked


def set_flow(program: Desk, flow: str, key: str, value: str) -> Row:
    # Setting a key of an unknown flow would begin a new one.
    if not any(row["flow"] == flow and not row.get("gone") for row in program.call("flows", columns=["flow", "gone"])["rows"]):
        raise desk.Refused(desk.BAD_PARAMS, f"{flow}: expected a flow that \"show flows\" lists")
    done: Row = program.call("set", settings=[f"flow {flow}.{key}={value}"])
    return done


def act(program: Desk, asked: Row) -> Row | None:
    what, flow = asked["do"], asked.get("flow", "")
    if what == "show":
        return None
    if what == "curve":
        return set_curve(program, asked["port"], asked["queue"], asked["only"], {name: asked[name] for name in CURVE if name in asked})
    if what == "cap":
        return set_flow(program, flow, "rate_cap_bps", asked["cap"])
    if what == "reset":
        done: Row = program.call("reset", flow=flow)
        return done
    return set_flow(program, flow, "stopped", "on" if what == "stop" else "off")


class Control:
    def __init__(self, file: str | None, programs: Programs) -> None:
        """file: of the token; None: a random one. @raise BadUsage"""
        self.programs = programs
        self.is_random = file is None
        self.token = secrets.token_hex(16) if file is None else read_token(file)
        # One request of each program at a time.
        self.turns: dict[str, threading.Lock] = {}
        self.lock = threading.Lock()

    def answer(self, body: bytes, has_gone: Callable[[], bool]) -> Row:
        """{"done", "settings"}: the reply of the program, null for show, and its settings after it.

        An error is one line of text, with 400 for another body, 404 for an unknown program, 422 for what the program refuses, 502 if it is
        gone and 504 if it is silent. A request that has waited for 5 s gets 503, and one whose client has gone meanwhile changes nothing: it
        does not learn of a change, and may have asked again. @raise Answer
        """
        asked = read(body)
        path = self.programs.socket(asked["program"])
        if path is None:
            raise Answer(404, "program: expected the name of a program on the page")
        with self.lock:
            turn = self.turns.setdefault(path, threading.Lock())
        if not turn.acquire(timeout=WAIT_S):
            raise Answer(503, f"{asked['program']} is busy with other changes: nothing is changed")
        try:
            if has_gone():
                raise Answer(503, "the client has gone: nothing is changed")
            with Desk(path, REPLY_S) as program:
                done = act(program, asked)
                return {"done": done, "settings": settings(program, program.call("info")["program"])}
        except desk.Gone as error:
            raise Answer(504 if error.silent else 502, str(error)) from error
        except desk.Refused as error:
            raise Answer(422, str(error)) from error
        finally:
            turn.release()
