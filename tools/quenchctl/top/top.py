# SPDX-License-Identifier: BSD-3-Clause
"""The terminal of top: keys, and a program that hangs, ends and comes back."""
from __future__ import annotations

import curses
import os
import signal
import sys
import time

from quench.desk import Desk, Failed, Gone
from quenchctl import snapshot
from quenchctl.command import DONE, BadUsage, Run
from quenchctl.top.view import Style, View, add

# Keys wait meanwhile, so a program that hangs gets little time.
RECONNECT_S = 0.3
KEYS = "q quit   p hold   i hide idle   +/- slower, faster   arrows, page keys scroll"
KEYS_AFTER_WIDTH = "q quit  p hold  i hide idle  +/- speed  arrows"


def clock(elapsed_ns: int) -> str:
    s = elapsed_ns // 10**9
    return f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02}"


class Top:
    def __init__(self, desk: Desk, interval_s: float) -> None:
        self.desk: Desk | None = desk
        self.path, self.pid, self.interval_s = desk.path, desk.pid, interval_s
        self.two: snapshot.Two | None = None
        self.first = 0  # line shown
        self.held = self.hide_quiet = self.silent = False

    def lose(self, silent: bool) -> None:
        if self.desk is not None:
            self.desk.close()
        self.desk, self.silent = None, silent

    def look(self) -> None:
        """What was seen last stays until another program answers."""
        if self.held:
            return
        try:
            if self.desk is None:
                self.desk = Desk(self.path, RECONNECT_S)
            taken = snapshot.take(self.desk)
            self.desk.patience_s = snapshot.PATIENCE_S
        except Failed as error:
            self.lose(isinstance(error, Gone) and error.silent)
            return
        # A program that hung may go on; a new one begins anew.
        same = self.two is not None and self.desk.pid == self.pid
        self.two = snapshot.Two(taken, self.two.now if same and self.two is not None else None)
        self.pid = self.desk.pid

    def build(self, columns: int) -> View:
        view = View(columns, self.hide_quiet)
        if self.two is None:
            return view
        now = self.two.now
        head = f"{now.program} {now.replies['info'].get('version', '')}, pid {self.pid}"
        if self.desk is None:
            view.add(Style.ALARM, f"{head}, {'DOES NOT ANSWER' if self.silent else 'PROGRAM ENDED'} after {clock(now.elapsed_ns)}: last picture")
        else:
            view.add(Style.PLAIN, f"{head}, up {clock(now.elapsed_ns)}, every {self.interval_s:.3g} s{', held' if self.held else ''}{', idle hidden' if self.hide_quiet else ''}; counts per second")
        add(view, self.two)
        return view

    def take_key(self, key: int, page: int) -> bool:
        """False: quit."""
        if key in (ord("p"), ord(" ")):
            self.held = not self.held
        elif key == ord("i"):
            self.hide_quiet = not self.hide_quiet
        elif key == ord("+"):
            self.interval_s = min(self.interval_s * 2, 60.0)
        elif key == ord("-"):
            self.interval_s = max(self.interval_s / 2, 0.1)
        elif key in (curses.KEY_DOWN, curses.KEY_NPAGE):
            self.first += 1 if key == curses.KEY_DOWN else page
        elif key in (curses.KEY_UP, curses.KEY_PPAGE):
            self.first = max(self.first - (1 if key == curses.KEY_UP else page), 0)
        return key != ord("q")


def put(screen: curses.window, row: int, column: int, text: str, columns: int, attribute: int) -> None:
    # Where the last character of the last line is written, the cursor has no place to go.
    try:
        screen.addnstr(row, column, text, max(columns - column, 0), attribute)
    except curses.error:
        pass


def has_colour() -> bool:
    """NO_COLOR: no-color.org."""
    return curses.has_colors() and not os.environ.get("NO_COLOR")


def draw(screen: curses.window, top: Top, view: View) -> None:
    height, columns = screen.getmaxyx()
    rows = max(height - 1, 1)
    top.first = max(min(top.first, view.height() - rows), 0)
    alarm, busy = (curses.A_BOLD | curses.color_pair(1), curses.color_pair(2)) if has_colour() else (curses.A_BOLD, curses.A_NORMAL)
    attributes = {Style.PLAIN: curses.A_NORMAL, Style.HEADING: curses.A_REVERSE, Style.ALARM: alarm, Style.BUSY: busy, Style.QUIET: curses.A_DIM}
    shown = [view.row(row) for row in range(top.first, min(top.first + rows, view.height()))]
    screen.erase()
    for row, parts in enumerate(shown):
        for at, style, text in parts:
            put(screen, row, at, text, columns, attributes[style])
            if at + len(text) > columns:  # a line that is cut ends with ">"
                put(screen, row, columns - 1, ">", columns, curses.A_REVERSE)
    widest = max((at + len(text) for parts in shown for at, _, text in parts), default=0)
    full = max(view.full, widest)
    said = f"{'cut at >' if widest > columns else 'shortened'}: widen to {full} columns   " if full > columns else ""
    put(screen, height - 1, 0, said, columns, curses.A_BOLD)
    put(screen, height - 1, len(said), KEYS_AFTER_WIDTH if said else KEYS, columns, curses.A_DIM)
    screen.refresh()


def loop(screen: curses.window, top: Top) -> None:
    if has_colour():
        curses.use_default_colors()
        curses.init_pair(1, curses.COLOR_RED, -1)
        curses.init_pair(2, curses.COLOR_YELLOW, -1)
    curses.curs_set(0)
    next_s = 0.0
    while True:
        now_s = time.monotonic()
        if now_s >= next_s:
            top.look()
            next_s = now_s + top.interval_s
        draw(screen, top, top.build(screen.getmaxyx()[1]))
        # Keys and resizes are handled immediately, between two snapshots.
        screen.timeout(int(max(next_s - now_s, 0) * 1000) + 1)
        if not top.take_key(screen.getch(), max(screen.getmaxyx()[0] - 2, 1)):
            return


def stop(*_: object) -> None:
    raise SystemExit


def run(run: Run) -> int:
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise BadUsage("top: expected a terminal (for programs: quenchctl --json --watch show ...)")
    run.desk.patience_s = snapshot.PATIENCE_S
    # The terminal is given back, whoever ends us.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        curses.wrapper(loop, Top(run.desk, run.options.watch_s or 1.0))
    except SystemExit:
        pass
    return DONE
