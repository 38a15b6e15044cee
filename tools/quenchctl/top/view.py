# SPDX-License-Identifier: BSD-3-Clause
"""The lines of top, made from two snapshots, without a terminal."""
from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence

from quench.desk import Row
from quenchctl.command import SWITCH, plain, short
from quenchctl.snapshot import Pair, Two, drops, port_state

MOST_PERCENT = 999.0
BAR, LEAST_BAR, LEAST_NAME = 24, 8, 8
SPEED_WIDTH = 6
DEVICE_WIDTH = 12  # characters of a device, at least
FLOW_WIDTH = 12
# Characters of a line beside names and bars.
PORT_CHARS, PACKET_CHARS, QUEUE_CHARS, FLOW_CHARS = 63, 18, 52, 68
TOTAL_CHARS = 94  # of the line of totals of a NIC, with packet rates
BESIDE = 3  # columns between ports, and queues at their right


class Style(enum.Enum):
    """ALARM: a storm, drops, a link that is down; BUSY: marks, pauses, a queue above its lower threshold; QUIET: all rates are 0"""

    PLAIN, HEADING, ALARM, BUSY, QUIET = range(5)


class View:
    """columns: of the terminal; 0: any. Narrow lines have shorter names and bars, and fewer columns.

    beside: lines at the right of lines[beside_row] and the following ones, from column beside_at on
    """

    def __init__(self, columns: int = 0, hide_quiet: bool = False) -> None:
        self.columns, self.hide_quiet = columns, hide_quiet
        self.lines: list[tuple[Style, str]] = []
        self.beside: list[tuple[Style, str]] = []
        self.beside_row = self.beside_at = 0
        self.full = 0  # columns in which nothing is shortened or left out

    def add(self, style: Style, text: str) -> None:
        if not (self.hide_quiet and style is Style.QUIET):
            self.lines.append((style, plain(text)))

    def fold(self, first: int, second: int) -> None:
        """Put lines[second:] beside lines[first:second], if the columns suffice for both."""
        left, right = self.lines[first:second], self.lines[second:]
        at = max((len(text) for _, text in left), default=0) + BESIDE
        if right and at + max(len(text) for _, text in right) <= self.columns:
            self.lines, self.beside, self.beside_row, self.beside_at = self.lines[:second], right, first, at

    def height(self) -> int:
        return max(len(self.lines), self.beside_row + len(self.beside) if self.beside else 0)

    def row(self, number: int) -> list[tuple[int, Style, str]]:
        """The parts of a row, with their columns."""
        parts = [(0, *self.lines[number])] if number < len(self.lines) else []
        right = number - self.beside_row
        return parts + ([(self.beside_at, *self.beside[right])] if 0 <= right < len(self.beside) else [])

    def fits(self, width: int) -> bool:
        """Does a line of this width fit? If it does not, the view is shortened."""
        self.full = max(self.full, width)
        return self.columns == 0 or width <= self.columns


def number(value: float) -> str:
    """With a decimal prefix: 12.30K."""
    prefix = 0
    while abs(value) >= 999.95 and prefix < 5:
        value /= 1000
        prefix += 1
    if prefix == 0:
        return f"{value:.0f}" if value == math.floor(value) else f"{value:.1f}"
    return f"{value:.2f}{' KMGTP'[prefix]}" if abs(value) < 99.95 else f"{value:.1f}{' KMGTP'[prefix]}"


def time(ns: float) -> str:
    """In three digits: 812ns, 14.8us."""
    unit, scale = next((step for step in (("ns", 1), ("us", 1e3), ("ms", 1e6)) if ns < 999.5 * step[1]), ("s", 1e9))
    value = ns / scale
    return f"{value:.{0 if unit == 'ns' or value >= 99.95 else 1 if value >= 9.995 else 2}f}{unit}"


def place(value: float, scale: float, width: int) -> int:
    return min(int(value / scale * width), width) if scale > 0 and value > 0 else 0


def bar(value: float, scale: float, width: int, marks: Iterable[tuple[str, float]] = ()) -> str:
    """Filled up to value, of 0 to scale, with a letter at each mark that is on it."""
    filled = max(place(value, scale, width), 1 if value > 0 else 0)  # any value above 0 is visible
    text = list("=" * filled + "." * (width - filled))
    for letter, at in marks:
        if place(at, scale, width) < width:
            text[place(at, scale, width)] = letter
    return "".join(text)


def port(row: Row, width: int = 200) -> str:
    return short(str(row["port_name"]), width) if row.get("port_name") else str(row.get("port", 0))


def shaped(row: Row) -> int:
    """The rate to which what a port sends is shaped, if that is less than its link's; else 0."""
    shaper: int = row.get("shaper_rate_bps", 0)
    return shaper if 0 < shaper < row.get("link_speed_bps", 0) else 0


def rounded(value: float) -> str:
    """As number(), without zeros that tell nothing, for two values in one cell: 1G, 2.5G."""
    text = number(value)
    digits = text.rstrip("KMGTP")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + text[len(digits):]


def speed(row: Row) -> str:
    """Of a link; of a port that is shaped, what it may send of that: 100M/1G."""
    link = row.get("link_speed_bps", 0)
    return f"{rounded(shaped(row))}/{rounded(link)}" if shaped(row) else number(link)


def percent(rate: float, speed: float) -> float:
    return min(rate / speed * 100, MOST_PERCENT) if speed > 0 else 0.0


class Widths:
    """Names differ in their ends, so none is cut: net_af_packet0. With names of ports, there is no room for devices."""

    def __init__(self, view: View, ports: Sequence[Row]) -> None:
        named = any(row.get("port_name") for row in ports)
        self.port = max([len("port"), *(len(port(row)) for row in ports)])
        self.device = 0 if named else max([DEVICE_WIDTH, *(len(row.get("device", "")) for row in ports)])
        self.speed = max([SPEED_WIDTH, *(len(speed(row)) for row in ports)])
        self.bar = BAR
        chars = PORT_CHARS + self.speed - SPEED_WIDTH
        self.packets = view.fits(self.port + self.device + chars + PACKET_CHARS)
        if not self.packets and named and self.port > view.columns - chars:
            self.port = max(view.columns - chars, LEAST_NAME)
        if not view.fits(self.port + BAR + QUEUE_CHARS):
            self.bar = max(view.columns - QUEUE_CHARS - self.port, LEAST_BAR)


def add_ports(view: View, two: Two, w: Widths) -> None:
    view.add(Style.HEADING, f"{'port':>{w.port}} {'device'[:w.device]:<{w.device + 1}}{'link':<4} {'speed':>{w.speed}} {'rx b/s':>7} {'tx b/s':>7} {'rx':>4} {'tx':>4} "
             f"{'pauses<':>7} {'pauses>':>7} {'drops/s':>7}{'   rx p/s   tx p/s' if w.packets else ''}")
    dropped_of = {p.now.get("port"): sum(p.rate(reason) for reason in drops(p.now)) for p in two.pairs("drops", "port")}
    for p in two.pairs("ports", "port"):
        row = p.now
        rx, tx = p.wire_bps("rx_bytes", "rx_packets"), p.wire_bps("tx_bytes", "tx_packets")
        dropped, link_bps = dropped_of.get(row.get("port"), 0.0), row.get("link_speed_bps", 0)
        link = port_state(row)
        packets = f" {number(p.rate('rx_packets')):>8} {number(p.rate('tx_packets')):>8}" if w.packets else ""
        paused = p.rate("rx_pause_frames") + p.rate("tx_pause_frames") > 0
        view.add(Style.ALARM if link == "down" or dropped > 0 else Style.BUSY if paused else Style.PLAIN if rx + tx > 0 else Style.QUIET,
                 f"{port(row, w.port):>{w.port}} {row.get('device', '')[:w.device]:<{w.device + 1}}{link[:4]:<4} {speed(row):>{w.speed}} {number(rx):>7} {number(tx):>7} "
                 f"{percent(rx, link_bps):3.0f}% {percent(tx, shaped(row) or link_bps):3.0f}% {number(p.rate('rx_pause_frames')):>7} "
                 f"{number(p.rate('tx_pause_frames')):>7} {number(dropped):>7}{packets}")


def add_queues(view: View, two: Two, w: Widths) -> None:
    """Queues with a curve, the longest first, then the fastest; m and M are WRED's thresholds."""
    view.add(Style.HEADING, f"{'port':>{w.port}} queue {'m, M: Kmin, Kmax' if w.bar >= 16 else 'm M WRED':<{w.bar}} {'bytes':>8} {'scale':>8} {'tx b/s':>8} {'marks/s':>8} {'drops/s':>8}")
    for p in sorted(two.pairs("ecn", "port", "queue"), key=lambda p: (-p.now.get("queue_bytes", 0), -p.rate("tx_bytes"))):
        low, high, used = p.now.get("green_min_threshold_bytes", 0), p.now.get("green_max_threshold_bytes", 0), p.now.get("queue_bytes", 0)
        scale, dropped = max(used, high * 1.25), p.rate("drop_packets")
        busy = used > low or p.rate("ecn_marked_packets") > 0
        view.add(Style.ALARM if dropped > 0 else Style.BUSY if busy else Style.PLAIN if used > 0 or p.rate("tx_packets") > 0 else Style.QUIET,
                 f"{port(p.now, w.port):>{w.port}} {p.now.get('queue', 0):5} {bar(used, scale, w.bar, (('m', low), ('M', high)))} {number(used):>8} {number(scale):>8} "
                 f"{number(p.rate('tx_bytes') * 8):>8} {number(p.rate('ecn_marked_packets')):>8} {number(dropped):>8}")


def add_groups(view: View, two: Two, w: Widths) -> None:
    """Groups, the largest first, with their use of the shared buffer. A group sends XOFF at X; beyond that it fills headroom."""
    heading = f"{'port':>{w.port}} group {'X: limit, in bytes' if w.bar >= 18 else 'X, bytes':<{w.bar}} {'shared':>8} {'headroom':>8} {'limit':>8} {'drops/s':>8}"
    for p in sorted(two.pairs("pg", "port", "pg"), key=lambda p: -float(p.now.get("shared_bytes", 0) + p.now.get("headroom_bytes", 0))):
        shared, headroom, limit, dropped = p.now.get("shared_bytes", 0), p.now.get("headroom_bytes", 0), p.now.get("shared_limit_bytes", 0), p.rate("drop_packets")
        if shared + headroom <= 0 and dropped <= 0:
            continue
        if heading:
            view.add(Style.HEADING, heading)
        heading = ""
        scale = max(shared + headroom, limit * 1.25)
        view.add(Style.ALARM if dropped > 0 or headroom > 0 else Style.PLAIN,
                 f"{port(p.now, w.port):>{w.port}} {p.now.get('pg', 0):5} {bar(shared + headroom, scale, w.bar, (('X', limit),))} {number(shared):>8} {number(headroom):>8} "
                 f"{number(limit):>8} {number(dropped):>8}")


def add_switch(view: View, two: Two) -> None:
    now = two.now
    w = Widths(view, now.rows("ports"))
    size, used = now.reply("buffer").get("buffer_bytes", 0), now.buffer_used_bytes()
    view.add(Style.PLAIN, f"buffer     {bar(used, size, BAR)} {number(used):>9} of {number(size)} bytes")
    for row in now.rows("pfcwd"):
        if row.get("status") == "stormed":
            n = row.get("deadlock_detected", 0)
            view.add(Style.ALARM, f"STORM: port {port(row, w.port)}, priority {row.get('prio')}, queue {row.get('queue')}: {row.get('action')}; {n} storm{'' if n == 1 else 's'}")
    ports = len(view.lines)
    add_ports(view, two, w)
    queues = len(view.lines)
    add_queues(view, two, w)
    add_groups(view, two, w)
    view.fold(ports, queues)


def nic_drop_rate(nic: Pair) -> float:
    """Counters of drops begin with drop_, or have mlx5's names."""
    return sum(nic.rate(key) for key in nic.now if key.startswith("drop_") or
               key in ("rx_icrc_encapsulated", "qkey_violations", "out_of_buffer", "rx_discards_phy"))


def add_totals(view: View, two: Two) -> None:
    nic, rp, np = two.pair("nic"), two.pair("rp"), two.pair("np")
    dropped, ignored = nic_drop_rate(nic), rp.rate("rp_cnp_ignored")
    wide = view.fits(TOTAL_CHARS)
    packets = f" {number(nic.rate('rx_packets')):>9} {number(nic.rate('tx_packets')):>9}" if wide else ""

    def line(cells: Sequence[str], more: str) -> str:
        return " ".join(f"{cell:>{width}}" for cell, width in zip(cells, (7, 8, 8, 7, 7, 7, 8, 7, 7))) + more

    view.add(Style.HEADING, line(("speed", "rx b/s", "tx b/s", "CNPs<", "CNPs>", "ignored", "resent/s", "pauses<", "drops/s"), "    rx p/s    tx p/s" if wide else ""))
    view.add(Style.ALARM if dropped + ignored > 0 else Style.PLAIN,
             line([number(value) for value in (two.now.reply("port").get("link_speed_bps", 0), 8 * nic.rate("rx_bytes"), 8 * nic.rate("tx_bytes"), rp.rate("rp_cnp_handled"),
                                               np.rate("np_cnp_sent"), ignored, nic.rate("retransmitted_packets"), nic.rate("rx_pause_frames"), dropped)], packets))


def add_nic(view: View, two: Two) -> None:
    width = max([FLOW_WIDTH, *(len(row.get("flow", "")) for row in two.now.rows("flows"))])
    if not view.fits(width + FLOW_CHARS):
        width = max(view.columns - FLOW_CHARS, FLOW_WIDTH)
    add_totals(view, two)
    view.add(Style.HEADING, f"{'flow':<{width}} {'QPs':>5} {'wire b/s':>8} {'good b/s':>8} {'msgs/s':>7} {'CNPs/s':>6} {'cuts/s':>6} {'resent':>6} {'paused':>6} {'RTT':>7}")
    for p in two.pairs("flows", "flow"):
        row = p.now
        if row.get("gone"):
            continue
        wire, resent, rtt_ns = 8 * p.rate("wire_bytes"), p.rate("retransmitted_packets"), row.get("rtt_p50_ns", 0)
        view.add(Style.ALARM if resent + row.get("qps_failed", 0) > 0 else Style.PLAIN if wire > 0 else Style.QUIET,
                 f"{short(row.get('flow', ''), width):<{width}} {number(row.get('qps', 0)):>5} {number(wire):>8} {number(8 * p.rate('payload_bytes')):>8} "
                 f"{number(p.rate('messages')):>7} {number(p.rate('cnps_handled')):>6} {number(p.rate('rate_cuts')):>6} {number(resent):>6} "
                 f"{p.rate('rx_pause_duration_us') / 1e4:5.1f}% {time(rtt_ns) if rtt_ns > 0 else '-':>7}")


def add(view: View, two: Two) -> None:
    (add_switch if two.now.program == SWITCH else add_nic)(view, two)
