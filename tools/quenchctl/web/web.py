# SPDX-License-Identifier: BSD-3-Clause
"""web: a page with a live view of the running programs, for a browser on this machine."""
from __future__ import annotations

import json
import pathlib
from http import HTTPStatus
from typing import Any

from quench import server
from quench.server import JSON, TEXT, Refusal
from quenchctl.command import BadUsage, Run, plain, say
from quenchctl.serving import serve
from quenchctl.web.control import TOKEN_HEADER, Answer, Control
from quenchctl.web.programs import EVERY_S, POINTS, Programs, unix_ms

LISTEN = "127.0.0.1:9881"
PAGE = pathlib.Path(__file__).parent / "page"
UPLOT = pathlib.Path(__file__).parents[3] / "third_party" / "uplot"
FILES = {
    "/": (PAGE / "page.html", "text/html; charset=utf-8"), "/page.css": (PAGE / "page.css", "text/css"), "/page.js": (PAGE / "page.js", "text/javascript"),
    "/draw.js": (PAGE / "draw.js", "text/javascript"), "/control.js": (PAGE / "control.js", "text/javascript"),
    "/uplot.js": (UPLOT / "uPlot.iife.min.js", "text/javascript"), "/uplot.css": (UPLOT / "uPlot.min.css", "text/css")}
PATHS = "/            the page\n/data        the programs, as JSON; ?since=N: what is new since answer N\n"


class Handler(server.Handler):
    server: Server

    def answer(self) -> None:
        self.check_host()
        path, _, query = self.path.partition("?")
        if path == "/control" and self.server.control is not None:
            self.answer_control(self.server.control)
            return
        if self.command not in ("GET", "HEAD"):
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "expected GET or HEAD\n", Allow="GET, HEAD")
        if not self.begin_answer():
            return
        if path in FILES:
            self.reply(HTTPStatus.OK, FILES[path][1], self.server.files[path])
        elif path == "/data":
            self.answer_data(query)
        else:
            self.server.counts.not_found += 1
            self.reply(HTTPStatus.NOT_FOUND, TEXT, f"no such path: expected one of\n{PATHS}".encode())

    def reply_json(self, found: Any) -> None:
        self.reply(HTTPStatus.OK, JSON, json.dumps(found, separators=(",", ":")).encode())

    def answer_data(self, query: str) -> None:
        """/data, or /data?since=N for what is newer than point N."""
        since = query.removeprefix("since=")
        if query and not (query.startswith("since=") and since.isascii() and since.isdigit()):
            self.reply(HTTPStatus.BAD_REQUEST, TEXT, b"since: expected the number of a previous answer\n")
            return
        self.reply_json({**self.server.programs.since(int(since or 0)), "started_ms": self.server.started_ms, "control": self.server.control is not None,
                         "every_ms": int(EVERY_S * 1000), "window_s": int(POINTS * EVERY_S)})

    def answer_control(self, control: Control) -> None:
        if self.command != "POST":
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "/control: expected POST\n", Allow="POST")
        self.check_page()
        self.check_length()
        self.check_token(self.headers.get(TOKEN_HEADER, ""), control.token, f"{TOKEN_HEADER} is missing or wrong: open the URL that quenchctl printed\n")
        body = self.body()
        if not self.begin_answer():
            return
        try:
            self.reply_json(control.answer(body, self.has_gone))
        except Answer as error:
            self.reply(error.status, TEXT, f"{plain(str(error))}\n".encode())


class Server(server.Server):
    programs: Programs
    control: Control | None

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, Handler)
        self.files = {path: file.read_bytes() for path, (file, _) in FILES.items()}
        self.started_ms = unix_ms()  # tells a page that the server has been started again


def run(run: Run) -> int:
    o = run.options
    if o.output is not None:
        raise BadUsage("--output: web writes no file")
    programs = Programs(o.socket, o.prefix)
    control = Control(o.control_file, programs) if o.control else None

    def begin(address: tuple[str, int]) -> Server:
        found = Server(address)
        found.programs, found.control = programs, control
        return found

    def say_where(found: server.Server) -> None:
        # The token is in the fragment, which a browser keeps from servers, logs and other pages.
        if control is None:
            say("", f"{found.url}/")
        elif control.is_random:
            say("", f"{found.url}/#token={control.token}")
        else:
            say("", f"{found.url}/#token=...: the token is in {o.control_file}")

    return serve(o.listen or LISTEN, begin, say_where)
