# SPDX-License-Identifier: BSD-3-Clause
"""Replies to get_metrics and get_states."""
from __future__ import annotations

import operator
import time
from typing import Any

from quench.desk import Failed

from . import schema
from .generator import Driven, gather
from .plan import Address, Flow, Neighbour, Peer, Port, Qp, RawFlow
from .raw import GAP_BYTES
from .run import NO_ROW, Counters, QpRow, QpRows, Reading, Run, named
from .schema import Object

CONNECTION_COUNTERS = ("connect_request_tx", "connect_request_rx", "connect_reply_tx", "connect_reply_rx", "ready_tx", "ready_rx",
                       "disconnect_request_tx", "disconnect_request_rx", "disconnect_reply_tx", "disconnect_reply_rx", "reject_tx",
                       "unknown_msg_rx")
RAW_KEYS = ("tx_packets", "tx_bytes")
SIGNED_KEYS = ("rx_packets", "rx_bytes")
PORT_KEYS = ("tx_packets", "tx_bytes", "rx_packets", "rx_bytes", "oerrors")


def chosen(row: Object, columns: list[str] | None, always: str) -> Object:
    return row if not columns else {key: value for key, value in row.items() if key in columns or key == always}


def metrics(run: Run, given: Object) -> Object:
    request = schema.check("Metrics.Request", given)
    choice = request["choice"]
    if choice == "port":
        return {"choice": "port_metrics", "port_metrics": ports(run, request["port"])}
    if choice == "flow":
        return {"choice": "flow_metrics", "flow_metrics": raws(run, request["flow"])}
    if choice == "rocev2_flow":
        return {"choice": "rocev2_flow_per_qp_metrics", "rocev2_flow_per_qp_metrics": flows(run, request[choice]["per_qp"])}
    name = f"{choice}_per_peer_metrics"
    return {"choice": name, name: peers(run, request[choice]["per_peer"], 4 if choice == "rocev2_ipv4" else 6)}


def ports(run: Run, request: Object) -> list[Object]:
    names = named("port.port_names", request.get("port_names"), dict(run.plan.ports))
    found: dict[str, Counters] = {}
    links: dict[str, str] = {}
    rows = gather(run.generators, lambda generator: generator.if_ready(port_counters))
    states = run.read_raws()
    for name, row in rows.items():
        base = run.port_base.get(name, {})
        if row is not None:
            found[name] = {key: row[key] - base.get(key, 0) for key in PORT_KEYS}
            take_refused(found[name])
            links[name] = row["link"]
    reading = run.reading("port", found)
    return [chosen(port_row(run.plan.ports[name], found.get(name), reading, links.get(name, "down"), run, states), request.get("column_names"), "name")
            for name in names]


def take_refused(counters: Counters) -> None:
    """Take away the frames that the device could not send. Their sizes are not known: they count as of mean size."""
    handed = counters["tx_packets"]
    counters["tx_packets"] = max(0, handed - counters["oerrors"])
    counters["tx_bytes"] = round(counters["tx_bytes"] * counters["tx_packets"] / handed) if handed else 0


def port_counters(generator: Driven) -> Object:
    port = generator.call("port")
    return {**generator.call("nic"), "link": port["link"], "oerrors": port["device_stats"].get("oerrors", 0)}


def raws(run: Run, request: Object) -> list[Object]:
    names = named("flow.flow_names", request.get("flow_names"), dict(run.plan.raws))
    signed = run.read_signed()  # first, so that no frame is received before it was sent
    rows = run.read_raws()
    found = {name: {**{key: max(0, row[key] - run.raw_base.get(name, {}).get(key, 0)) for key in RAW_KEYS},
                    **{key: sum(part[key] for part in signed.get(name, ())) for key in SIGNED_KEYS}} for name, row in rows.items()}
    reading = run.reading("raw", found)
    return [chosen(raw_row(run.plan.raws[name], rows.get(name), found.get(name, {}), signed.get(name, []), reading), request.get("metric_names"), "name")
            for name in names]


def raw_row(flow: RawFlow, state: Counters | None, counters: Counters, signed: list[Object], reading: Reading[Counters]) -> Object:
    row: Object = {"name": flow.name, "port_tx": flow.port.name, **({"port_rx": flow.to[0]} if flow.to else {}),
                   "transmit": "stopped" if not state or not state["started"] else "paused" if flow.paused else "started",
                   **rates(flow, counters, reading, "tx")}
    if flow.measured is None:
        return row
    row.update(rates(flow, counters, reading, "rx"))
    if flow.measured.loss:
        row["loss"] = loss_of(flow, counters, signed)
    if flow.measured.timestamps and signed:
        row["timestamps"] = {"first_timestamp_ns": min(part["first_ns"] for part in signed), "last_timestamp_ns": max(part["last_ns"] for part in signed)}
    timed = [part for part in signed if "latency_avg_ns" in part]
    if flow.measured.latency and timed:
        frames = sum(part["rx_packets"] for part in timed)
        row["latency"] = {"minimum_ns": min(part["latency_min_ns"] for part in timed), "maximum_ns": max(part["latency_max_ns"] for part in timed),
                          "average_ns": sum(part["latency_avg_ns"] * part["rx_packets"] for part in timed) / frames}
    return row


def rates(flow: RawFlow, counters: Counters, reading: Reading[Counters], way: str) -> Object:
    frames, octets = (reading.rate(flow.name, operator.itemgetter(f"{way}_{key}")) for key in ("packets", "bytes"))
    return {f"frames_{way}": counters.get(f"{way}_packets", 0), f"bytes_{way}": counters.get(f"{way}_bytes", 0), f"frames_{way}_rate": frames,
            f"{way}_l1_rate_bps": 8 * (octets + GAP_BYTES * frames), f"{way}_rate_bytes": octets, f"{way}_rate_bps": 8 * octets,
            f"{way}_rate_kbps": 8 * octets / 1e3, f"{way}_rate_mbps": 8 * octets / 1e6}


def loss_of(flow: RawFlow, counters: Counters, signed: list[Object]) -> float:
    """Percent of the frames that should have arrived. One that arrives again makes up for no other."""
    assert flow.measured is not None
    # 0: each port gets a copy.
    expected = counters.get("tx_packets", 0) * (flow.measured.expected or max(1, len(flow.to)))
    arrived: int = counters.get("rx_packets", 0) - sum(part.get("duplicates", 0) for part in signed)
    return 100 * max(0.0, expected - arrived) / expected if expected else 0.0


def port_row(port: Port, counters: Counters | None, reading: Reading[Counters], link: str, run: Run, states: dict[str, Counters]) -> Object:
    """states: of raw flows"""
    row: Object = {"name": port.name, "location": port.location, "link": link, "speed": port.speed_bps // 8000,
                   "capture": "started" if port.name in run.recordings and run.recordings[port.name].is_running() else "stopped",
                   "transmit": "started" if any(flow.started and flow.tx.peer.port is port for flow in run.plan.flows.values()) or
                   any(states.get(flow.name, {}).get("started") and not flow.paused for flow in port.raws) else "stopped"}
    for ours, theirs in (("tx_packets", "frames_tx"), ("rx_packets", "frames_rx"), ("tx_bytes", "bytes_tx"), ("rx_bytes", "bytes_rx")):
        row[theirs] = counters[ours] if counters else 0
        row[f"{theirs}_rate"] = reading.rate(port.name, operator.itemgetter(ours))
    return row


def flows(run: Run, request: Object) -> list[Object]:
    rows = run.read_qps()
    reading = run.reading("qp", rows)
    columns = request.get("column_names")
    return [chosen(flow_row(run, flow, rows, reading), columns, "flow_name") for flow in run.plan.flows.values()]


def flow_row(run: Run, flow: Flow, rows: QpRows, reading: Reading[QpRow]) -> Object:
    tx, rx = flow.tx, flow.rx
    sender, receiver = ((qp.peer.port.name, qp.qpn) for qp in (flow.sender(), flow.receiver()))
    s = rows.get(sender, NO_ROW).since(run.qp_base.get(sender, NO_ROW))
    r = rows.get(receiver, NO_ROW).since(run.qp_base.get(receiver, NO_ROW))
    asks, answers = (s, r) if flow.sender() is tx else (r, s)
    received = r.received()
    row: Object = {"flow_name": flow.name, "port_tx": tx.peer.port.name, "port_rx": rx.peer.port.name, "src_qp": tx.qpn, "dest_qp": rx.qpn}
    if tx.peer.version == 4:
        row.update(src_ipv4=tx.peer.address.text, dest_ipv4=rx.peer.address.text)
    row.update(data_frames_tx=s.tx_packets, data_frames_rx=received, frame_delta=max(0, s.tx_packets - received),
               data_frames_retransmitted=s.retransmitted_packets, tx_bytes=s.tx_wire_bytes - GAP_BYTES * s.tx_packets,
               rx_bytes=rx_bits(r) // 8, data_tx_rate=round(reading.rate(sender, tx_bits) / 1e9, 9),
               data_rx_rate=round(reading.rate(receiver, rx_bits) / 1e9, 9), message_tx=s.tx_messages, message_complete_rx=r.rx_messages,
               message_fail=asks.failed_messages, avg_latency=asks.rtt_sum_ns // asks.rtt_samples if asks.rtt_samples else 0,
               min_latency=asks.rtt_min_ns, max_latency=asks.rtt_max_ns, flow_completion_time=lasted_ms(run, flow), ecn_ce_rx=r.ce_packets, cnp_tx=r.cnps_sent,
               cnp_rx=s.cnps_handled + s.cnps_ignored, frame_sequence_error=r.out_of_sequence, ack_tx=answers.acks_sent,
               ack_rx=asks.acks_received, nak_tx=answers.naks_sent, nak_rx=asks.naks_received)
    return row


def tx_bits(row: QpRow) -> int:
    return 8 * (row.tx_wire_bytes - GAP_BYTES * row.tx_packets)


def rx_bits(row: QpRow) -> int:
    return 8 * (row.rx_wire_bytes + row.rx_discarded_wire_bytes - GAP_BYTES * row.received())


def lasted_ms(run: Run, flow: Flow) -> int:
    begin = run.started_s.get(flow.name)
    if begin is None:
        return 0
    return int(1000 * ((time.monotonic() if flow.started else run.stopped_s.get(flow.name, begin)) - begin))


def peers(run: Run, request: Object, version: int) -> list[Object]:
    known = {name: peer for name, peer in run.plan.peers.items() if peer.version == version}
    names = named(f"rocev2_ipv{version}.per_peer.peer_names", request.get("peer_names"), dict(known))
    rows = run.read_qps()
    unresolved = unresolved_qps(run, [known[name] for name in names])
    return [chosen(peer_row(known[name], rows, unresolved), request.get("column_names"), "name") for name in names]


def unresolved_qps(run: Run, found: list[Peer]) -> set[tuple[str, int]]:
    """QPs without their peer's MAC address. All QPs of a peer have the same, so one of them is asked."""
    unresolved: set[tuple[str, int]] = set()
    for peer in found:
        generator = run.generators.get(peer.port.name)
        # A responder answers to the address that a request came from.
        asked = next((qp for qp in peer.qps if qp.flow is not None and qp.flow.tx is qp), None)
        if generator is None or asked is None or not peer.up or not generator.is_ready():
            continue
        try:
            waits = generator.call("qp", qpn=asked.qpn)["hold"] == "neighbour"
        except Failed:
            waits = True
        if waits:
            unresolved |= {(peer.port.name, qp.qpn) for qp in peer.qps if qp.flow is not None and qp.flow.tx is qp}
    return unresolved


def peer_row(peer: Peer, rows: QpRows, unresolved: set[tuple[str, int]]) -> Object:
    up = 0
    for qp in peer.qps:
        key = peer.port.name, qp.qpn
        up += key in rows and not rows[key].error and key not in unresolved
    return {"name": peer.name, "qp_configured": len(peer.qps), "qp_up": up, "qp_down": len(peer.qps) - up,
            **{name: 0 for name in CONNECTION_COUNTERS}}


def states(run: Run, given: Object) -> Object:
    request = schema.check("States.Request", given)
    choice = request["choice"]
    version = 4 if choice == "ipv4_neighbors" else 6
    known = {one.name: one for port in run.plan.ports.values() for one in port.interfaces}
    names = named(f"{choice}.ethernet_names", request[choice].get("ethernet_names"), dict(known))
    found: list[Object] = []
    for name in names:
        port = known[name].port
        found += [neighbour_row(run, port, neighbour) for neighbour in port.neighbours
                  if neighbour.address.interface is known[name] and neighbour.ip.version == version]
    return {"choice": choice, choice: found}


def neighbour_row(run: Run, port: Port, neighbour: Neighbour) -> Object:
    mac = neighbour.mac or resolved(run, port, neighbour)
    return {"ethernet_name": neighbour.address.interface.name, f"ipv{neighbour.ip.version}_address": str(neighbour.ip),
            **({"link_layer_address": mac} if mac else {})}


def gateway_mac(run: Run, address: Address) -> str:
    """Empty: not known."""
    port = run.plan.ports[address.interface.port.name]
    known = (found for found in port.neighbours if found.address.name == address.name and found.ip == address.gateway)
    return next((found.mac or resolved(run, port, found) for found in known), "")


def resolved(run: Run, port: Port, neighbour: Neighbour) -> str:
    """Its MAC address; empty: not known."""
    generator = run.generators.get(port.name)
    if generator is None or not neighbour.section or not run.plan.protocols:
        return ""
    try:
        return str(generator.call("qp", qpn=neighbour.qpn).get("peer_mac", "")) if generator.is_ready() else ""
    except Failed:
        return ""
