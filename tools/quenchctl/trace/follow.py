# SPDX-License-Identifier: BSD-3-Clause
"""trace: events of a QP's congestion control as they happen; show trace: the stored ones."""
from __future__ import annotations

import json
import os
import signal
import sys

from quench.desk import Desk, Row
from quenchctl.command import DONE, BadUsage, Ends, Run, print_json
from quenchctl.show import cells

READ_INTERVAL_S = 0.2
# Less than the 10 s after which the program ends a trace that nobody reads.
MOST_READ_INTERVAL_S = 5.0
EARLIER_ROWS = 10  # of a trace that exists, which are shown at the start
ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
HEAD = f"{'ms':>12}  {'R_C':>12}  {'R_T':>12}  {'alpha':>6}  {'T':>5}  {'BC':>5}  {'rtt us':>8}  what"


class Printer:
    def __init__(self, as_json: bool) -> None:
        self.json = as_json

    def print(self, reply: Row) -> None:
        if reply["lost"]:
            if self.json:
                self.print_json(reply, {"lost": reply["lost"]}, reply["first"] - reply["lost"])
            else:
                print(f"{'':12}  {reply['lost']} rows are lost")
        for number, row in enumerate(reply["rows"], reply["first"]):
            if self.json:
                self.print_json(reply, row, number)
            else:
                self.print_row(row)

    @staticmethod
    def print_json(reply: Row, row: Row, number: int) -> None:
        """With the members that identify the QP."""
        print(json.dumps({**{key: reply[key] for key in ("local_qpn", "flow", "qp")}, "row": number, **row}, separators=(",", ":"), ensure_ascii=False))

    @staticmethod
    def print_row(row: Row) -> None:
        print(f"{row['time_ns'] / 1e6:12.4f}  {cells.rate(row['rate_bps']):>12}  {cells.rate(row['target_rate_bps']):>12}  {row['alpha']:6.4f}  "
              f"{row['time_stage']:>5}  {row['byte_stage']:>5}  {row['rtt_ns'] / 1e3:8.1f}  {row['what']}")


def follow(desk: Desk, ident: str, trace: int, first: int, interval_s: float, printer: Printer) -> bool:
    """Until a signal of ENDS, an error, or a reader of the output that is gone. @return False: it is gone"""
    while True:
        reply = desk.call("trace", id=ident, first=first)
        if reply.get("trace") != trace:
            raise Ends(f"{ident}: the trace ended: another client ended it, or nobody read it")
        first = reply["end"]
        try:
            printer.print(reply)
            sys.stdout.flush()
        except BrokenPipeError:
            return False
        if signal.sigtimedwait(ENDS, 0 if first < reply["written"] else interval_s):
            return True


def trace_on(run: Run) -> int:
    ident, options, desk = run.params[0], run.options, run.desk
    if options.watch_s > MOST_READ_INTERVAL_S:
        raise BadUsage(f"--watch = {options.watch_s:g}: expected seconds from 0.05 to {MOST_READ_INTERVAL_S:g} with trace")
    # Neither a signal outside sigtimedwait() nor a closed pipe ends the process before it has stopped the trace.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    reply = desk.call("set_trace", id=ident, action="start")
    # Did this command start it?
    is_new = reply["clients"] == 1 and not reply["on"] and not reply["trace_qps"]
    if not options.json:
        kind, ends = ("traced from here on", "it") if is_new else ("traced already; the stored rows come first", "this")
        print(f"QP {reply['local_qpn']} ({reply['flow']}#{reply['qp']}): {kind}; Ctrl-C ends {ends}\n{HEAD}")
    first = 0 if is_new else max(0, reply["written"] - EARLIER_ROWS)
    is_read = follow(desk, ident, reply["trace"], first, options.watch_s or READ_INTERVAL_S, Printer(options.json))
    desk.call("set_trace", id=ident, action="stop")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if not is_read:
        os.kill(os.getpid(), signal.SIGPIPE)
    return DONE


def run(run_: Run) -> int:
    if len(run_.params) == 1:
        return trace_on(run_)
    ident, word = run_.params
    if word not in ("on", "off"):
        raise BadUsage(f"{word}: expected on or off")
    if run_.options.watch_s > 0:
        raise BadUsage(f"--watch: not allowed with {word}, which does not follow the trace")
    reply = run_.desk.call("set_trace", id=ident, action=word)
    if run_.options.json:
        print_json(reply)
    return DONE


def stored(desk: Desk, ident: str) -> Row:
    """All rows that the program has of a trace."""
    reply: Row = desk.call("trace", id=ident)
    if reply["traced"]:
        reply["lost"] = reply["first"]
    return reply


def show(run_: Run) -> int:
    ident = run_.params[0]
    reply = stored(run_.desk, ident)
    if run_.options.json:
        print_json(reply)
    elif not reply["traced"]:
        print(f"QP {reply['local_qpn']} is not traced; \"quenchctl trace qp {ident} on\" starts a trace")
    else:
        print(HEAD)
        Printer(False).print(reply)
    return DONE
