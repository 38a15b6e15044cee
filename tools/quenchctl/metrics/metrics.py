# SPDX-License-Identifier: BSD-3-Clause
"""show metrics, and serve-metrics."""
from __future__ import annotations

from http import HTTPStatus

from quench import server
from quench.server import TEXT, Refusal
from quenchctl.command import DONE, BadUsage, Ends, Run, say, write_output
from quenchctl.metrics.exporter import TYPES, Exporter
from quenchctl.serving import serve as serve_until_signal

LISTEN = "127.0.0.1:9880"
PATHS = "/metrics     counters and gauges of running programs, for Prometheus\n"


def show(run: Run) -> int:
    kind = run.params[0] if run.params else "openmetrics"
    if kind not in TYPES:
        raise BadUsage(f"{kind}: expected openmetrics or text")
    o = run.options
    text, up = Exporter(o.socket, o.prefix, o.flows, o.qps, serves=False).text(kind)
    write_output(o, text.decode())
    if up == 0:
        raise Ends("no program runs or answers")
    return DONE


class Handler(server.Handler):
    server: Server

    def answer(self) -> None:
        self.check_host()
        path = self.path.partition("?")[0]
        if self.command not in ("GET", "HEAD"):
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, f"{path[:80]}: expected GET or HEAD\n", Allow="GET, HEAD")
        if not self.begin_answer():
            return
        if path == "/metrics":
            # OpenMetrics if the client accepts it; else text, for browsers and Prometheus before 2.5.
            kind = "openmetrics" if "application/openmetrics-text" in self.headers.get("accept", "") else "text"
            self.reply(HTTPStatus.OK, TYPES[kind], self.server.exporter.text(kind)[0])
        elif path == "/":
            self.reply(HTTPStatus.OK, TEXT, f"quenchctl\n{PATHS}".encode())
        else:
            self.server.counts.not_found += 1
            self.reply(HTTPStatus.NOT_FOUND, TEXT, f"no such path: expected one of\n{PATHS}".encode())


class Server(server.Server):
    exporter: Exporter


def serve(run: Run) -> int:
    o = run.options
    if o.output is not None:
        raise BadUsage("--output: expected show metrics")
    exporter = Exporter(o.socket, o.prefix, o.flows, o.qps, serves=True)

    def begin(address: tuple[str, int]) -> Server:
        found = Server(address, Handler)
        found.exporter, exporter.counts = exporter, found.counts
        return found

    return serve_until_signal(o.listen or LISTEN, begin, lambda found: say("", f"{found.url}/metrics"))
