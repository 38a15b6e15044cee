# SPDX-License-Identifier: BSD-3-Clause
"""What the page shows of one program, made from two snapshots.

{"version", "tiles", "ports", "bars", "storms", "charts"}:
- a tile has "label" and "kind" ("drop", "pause", "plain"), and "rate" (a second) and "total", or "value" and "of" (bytes);
- a port has "key", "name", "device", "rx" and "tx" (b/s on the wire, with preamble and gap), "speed" and "shaped" (b/s), "pauses" (a second),
  "down", "shutdown" and "storm";
- a bar has "key", "port" (the key of its port), "value", "unit", "alarm", "marks" ("name", "kind" and "at") and, of a flow, "full", the speed
  of the link. The key of a queue or group is the name of its series in the chart "depth";
- charts has a value for each series of "rates" (b/s), "depth" (bytes), "rtt" (s), "marks" and "pauses" (a second). rtt is a mean over the
  samples between the snapshots. Of a NIC, "marks" are CNPs, and "pauses" has what is sent again, too.
"""
from __future__ import annotations

from typing import Any

from quench.desk import Row
from quenchctl.command import SWITCH
from quenchctl.snapshot import Pair, Two, drops, port_name, port_state

Charts = dict[str, dict[str, float]]


def short(value: float) -> float:
    """With six digits, as many as a picture needs."""
    return float(f"{value:.6g}")


def mark(name: str, kind: str, row: Row, key: str) -> Row:
    return {"name": name, "kind": kind, "at": row.get(key, 0)}


class Picture:
    def __init__(self, two: Two) -> None:
        self.two = two
        self.tiles: list[Row] = []
        self.ports: list[Row] = []
        self.bars: list[Row] = []
        self.charts: Charts = {"rates": {}, "depth": {}, "rtt": {}, "marks": {}, "pauses": {}}
        stormed = [row for row in two.now.rows("pfcwd") if row.get("status") == "stormed"]
        self.storms = [f"{port_name(row)}, priority {row.get('prio')}: storm of pauses, {row.get('action') or 'watched'}" for row in stormed]
        self.stormed = {row.get("port") for row in stormed}
        (self.draw_switch if two.now.program == SWITCH else self.draw_nic)()

    def json(self) -> Row:
        """Without the charts."""
        return {"version": self.two.now.replies["info"].get("version"), "tiles": self.tiles, "ports": self.ports, "bars": self.bars, "storms": self.storms}

    def chart(self, name: str, series: str, value: float) -> None:
        self.charts[name][series] = short(self.charts[name].get(series, 0) + value)

    def tile(self, kind: str, label: str, rate: float, total: float) -> None:
        self.tiles.append({"kind": kind, "label": label, "rate": short(rate), "total": int(total)})

    def bar(self, key: str, port: str, value: float, unit: str, alarm: bool, marks: list[Row], **more: Any) -> None:
        self.bars.append({"key": key, "port": port, "value": short(value), "unit": unit, "alarm": alarm, "marks": marks, **more})

    def port(self, key: str, p: Pair, rx: float, tx: float, pauses: float, link: Row, **more: Any) -> None:
        self.ports.append({"key": key, "name": key, "device": link.get("device", ""), "rx": short(rx), "tx": short(tx), "pauses": short(pauses),
                           "down": port_state(link) == "down", "shutdown": port_state(link) == "shutdown", "speed": link.get("link_speed_bps"), **more})

    def draw_switch(self) -> None:
        two, buffer = self.two, self.two.now.reply("buffer")
        lost = [(p, reason) for p in two.pairs("drops", "port") for reason in drops(p.now)]
        self.tile("drop", "drops", sum(p.rate(reason) for p, reason in lost), sum(p.now[reason] for p, reason in lost))
        self.add_switch_ports()
        self.add_queues()
        self.add_groups()
        self.tiles.append({"kind": "plain", "label": "buffer in use", "value": two.now.buffer_used_bytes(), "of": buffer.get("buffer_bytes", 0)})

    def add_switch_ports(self) -> None:
        pairs = list(self.two.pairs("ports", "port"))
        for p in pairs:
            key, pauses = port_name(p.now), p.rate("rx_pause_frames") + p.rate("tx_pause_frames")
            rx, tx = p.wire_bps("rx_bytes", "rx_packets"), p.wire_bps("tx_bytes", "tx_packets")
            self.port(key, p, rx, tx, pauses, p.now, shaped=p.now.get("shaper_rate_bps"), storm=p.now.get("port") in self.stormed)
            self.chart("rates", f"{key} in", rx)
            self.chart("pauses", key, pauses)
        for p in pairs:  # above those, as dashed lines
            self.chart("rates", f"{port_name(p.now)} out", p.wire_bps("tx_bytes", "tx_packets"))
        for label, key in (("pauses sent", "tx_pause_frames"), ("pauses received", "rx_pause_frames")):
            self.tile("pause", label, sum(p.rate(key) for p in pairs), sum(p.now.get(key, 0) for p in pairs))

    def add_queues(self) -> None:
        pairs = list(self.two.pairs("ecn", "port", "queue"))
        for p in pairs:
            port, used = port_name(p.now), p.now.get("queue_bytes", 0)
            key = f"{port} queue {p.now.get('queue')}"
            self.bar(key, port, used, "B", False, [mark("Kmin", "wred", p.now, "green_min_threshold_bytes"), mark("Kmax", "wred", p.now, "green_max_threshold_bytes")])
            self.chart("depth", key, used)
            self.chart("marks", port, p.rate("ecn_marked_packets"))
        self.tile("plain", "ECN marks", sum(p.rate("ecn_marked_packets") for p in pairs), sum(p.now.get("ecn_marked_packets", 0) for p in pairs))

    def add_groups(self) -> None:
        for row in self.two.now.rows("pg"):
            headroom = row.get("headroom_bytes", 0)
            used = row.get("shared_bytes", 0) + headroom
            if used <= 0 and row.get("watermark_bytes", 0) <= 0:
                continue
            # The last one is on top, where both are at one place.
            lossless = row.get("lossless", True)  # a program from before an upgrade does not tell
            marks = [mark("XON", "xon", row, "shared_xon_bytes"), mark("XOFF", "xoff", row, "shared_limit_bytes")] if lossless else \
                [mark("limit", "limit", row, "shared_limit_bytes")]
            port = port_name(row)
            key = f"{port} group {row.get('pg')}"
            self.bar(key, port, used, "B", headroom > 0, marks)
            self.chart("depth", key, used)

    def draw_nic(self) -> None:
        nic, rp, np, link = self.two.pair("nic"), self.two.pair("rp"), self.two.pair("np"), self.two.now.reply("port")
        self.port("port", nic, nic.wire_bps("rx_bytes", "rx_packets"), nic.wire_bps("tx_bytes", "tx_packets"), nic.rate("rx_pause_frames"), link, storm=False)
        lost = [key for key in nic.now if key.startswith("drop_")]
        self.tile("drop", "drops", sum(nic.rate(key) for key in lost), sum(nic.now[key] for key in lost))
        for p, key, kind, label, chart in ((nic, "rx_pause_frames", "pause", "pauses received", "pauses"),
                                           (rp, "rp_cnp_handled", "plain", "CNPs handled", "marks"), (np, "np_cnp_sent", "plain", "CNPs sent", "marks"),
                                           (nic, "retransmitted_packets", "drop", "retransmitted", "pauses")):
            self.chart(chart, label, p.rate(key))
            self.tile(kind, label, p.rate(key), p.now.get(key, 0))
        for p in self.two.pairs("flows", "flow"):
            if not p.now.get("gone"):
                self.add_flow(p, link.get("link_speed_bps", 0))

    def add_flow(self, p: Pair, speed_bps: float) -> None:
        flow, rate = p.now["flow"], p.rate("wire_bytes") * 8
        capped = p.now.get("configured_rate_bps", 0) > 0
        self.bar(flow, "port", rate, "b/s", False, [mark("cap", "wred", p.now, "configured_rate_bps")] if capped else [], full=speed_bps)
        self.chart("rates", flow, rate)
        # Means of all samples until now and until then tell the mean of those between.
        if p.before is not None:
            n, n_before = p.now.get("rtt_samples", 0), p.before.get("rtt_samples", 0)
            sum_ns = p.now.get("rtt_mean_ns", 0) * n - p.before.get("rtt_mean_ns", 0) * n_before
            if n > n_before and sum_ns > 0:
                self.chart("rtt", flow, sum_ns / (n - n_before) / 1e9)
