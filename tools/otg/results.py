# SPDX-License-Identifier: BSD-3-Clause
"""Replies to get_metrics and get_states."""
from __future__ import annotations

import time
from typing import Any

from . import schema
from .generator import Failed
from .plan import Flow, Peer, Port, Qp
from .schema import Object
from .tester import Counters, Tester

# Preamble and gap, which wire bytes of quench-nic include and frames do not.
GAP_BYTES = 20
CONNECTION_COUNTERS = ("connect_request_tx", "connect_request_rx", "connect_reply_tx", "connect_reply_rx", "ready_tx", "ready_rx",
                       "disconnect_request_tx", "disconnect_request_rx", "disconnect_reply_tx", "disconnect_reply_rx", "reject_tx",
                       "unknown_msg_rx")
QP_KEYS = ("tx_packets", "tx_wire_bytes", "rx_packets", "rx_wire_bytes")
PORT_KEYS = ("tx_packets", "tx_bytes", "rx_packets", "rx_bytes")


def chosen(row: Object, columns: list[str] | None, always: str) -> Object:
    return row if not columns else {key: value for key, value in row.items() if key in columns or key == always}


def metrics(tester: Tester, given: Object) -> Object:
    request = schema.check("Metrics.Request", given)
    choice = request["choice"]
    with tester.lock:
        if choice == "port":
            return {"choice": "port_metrics", "port_metrics": ports(tester, request["port"])}
        if choice == "rocev2_flow":
            return {"choice": "rocev2_flow_per_qp_metrics", "rocev2_flow_per_qp_metrics": flows(tester, request[choice]["per_qp"])}
        name = f"{choice}_per_peer_metrics"
        return {"choice": name, name: peers(tester, request[choice]["per_peer"], 4 if choice == "rocev2_ipv4" else 6)}


def ports(tester: Tester, request: Object) -> list[Object]:
    names = tester.named("port.port_names", request.get("port_names"), dict(tester.plan.ports))
    found: dict[object, Counters] = {}
    links: dict[str, str] = {}
    for name in tester.plan.ports:
        generator = tester.generators[name]
        if generator.is_alive():
            base = tester.port_base.get(name, {})
            row = generator.ask("/quench/nic")
            found[name] = {key: row[key] - base.get(key, 0) for key in PORT_KEYS}
            links[name] = generator.ask("/quench/port")["link"]
    rates = tester.reading("port", found, PORT_KEYS)
    return [chosen(port_row(tester.plan.ports[name], found.get(name), rates.get(name, {}), links.get(name, "down"), tester),
                   request.get("column_names"), "name") for name in names]


def port_row(port: Port, counters: Counters | None, rates: dict[str, float], link: str, tester: Tester) -> Object:
    row: Object = {"name": port.name, "location": port.location, "link": link, "speed": port.speed_bps // 8000,
                   "transmit": "started" if any(flow.started and flow.tx.peer.port is port for flow in tester.plan.flows.values()) else "stopped"}
    for ours, theirs in (("tx_packets", "frames_tx"), ("rx_packets", "frames_rx"), ("tx_bytes", "bytes_tx"), ("rx_bytes", "bytes_rx")):
        row[theirs] = counters[ours] if counters else 0
        row[f"{theirs}_rate"] = rates.get(ours, 0.0)
    return row


def since_start(tester: Tester, rows: dict[tuple[str, int], Counters], qp: Qp) -> Counters:
    key = qp.peer.port.name, qp.qpn
    row, base = rows.get(key, {}), tester.qp_base.get(key, {})
    # Less than at the start: the quench-nic has ended, and perhaps begun again.
    return {name: max(0, row.get(name, 0) - base.get(name, 0)) for name in (
        *QP_KEYS, "retransmitted_packets", "tx_messages", "rx_messages", "ce_packets", "cnps_sent", "cnps_handled", "cnps_ignored")}


def flows(tester: Tester, request: Object) -> list[Object]:
    rows = tester.read_qps()
    rates = tester.reading("qp", {key: row for key, row in rows.items()}, QP_KEYS)
    columns = request.get("column_names")
    return [chosen(flow_row(tester, flow, rows, rates), columns, "flow_name") for flow in tester.plan.flows.values()]


def flow_row(tester: Tester, flow: Flow, rows: dict[tuple[str, int], Counters], rates: dict[object, dict[str, float]]) -> Object:
    sender, receiver = flow.sender(), flow.receiver()
    s, r = since_start(tester, rows, sender), since_start(tester, rows, receiver)
    row: Object = {"flow_name": flow.name, "port_tx": flow.tx.peer.port.name, "port_rx": flow.rx.peer.port.name, "src_qp": flow.tx.qpn,
                   "dest_qp": flow.rx.qpn}
    if flow.tx.peer.version == 4:
        row.update(src_ipv4=str(flow.tx.peer.address.ip), dest_ipv4=str(flow.rx.peer.address.ip))
    row.update(data_frames_tx=s["tx_packets"], data_frames_rx=r["rx_packets"], frame_delta=max(0, s["tx_packets"] - r["rx_packets"]),
               data_frames_retransmitted=s["retransmitted_packets"], tx_bytes=s["tx_wire_bytes"] - GAP_BYTES * s["tx_packets"],
               rx_bytes=r["rx_wire_bytes"] - GAP_BYTES * r["rx_packets"], data_tx_rate=gbps(rates, sender, "tx"),
               data_rx_rate=gbps(rates, receiver, "rx"), message_tx=s["tx_messages"], message_complete_rx=r["rx_messages"],
               flow_completion_time=lasted_ms(tester, flow), ecn_ce_rx=r["ce_packets"], cnp_tx=r["cnps_sent"],
               cnp_rx=s["cnps_handled"] + s["cnps_ignored"])
    return row


def gbps(rates: dict[object, dict[str, float]], qp: Qp, way: str) -> float:
    row: dict[str, float] = rates.get((qp.peer.port.name, qp.qpn), {})
    return round(8 * (row.get(f"{way}_wire_bytes", 0.0) - GAP_BYTES * row.get(f"{way}_packets", 0.0)) / 1e9, 9)


def lasted_ms(tester: Tester, flow: Flow) -> int:
    begin = tester.started_s.get(flow.name)
    if begin is None:
        return 0
    return int(1000 * ((time.monotonic() if flow.started else tester.stopped_s.get(flow.name, begin)) - begin))


def peers(tester: Tester, request: Object, version: int) -> list[Object]:
    known = {name: peer for name, peer in tester.plan.peers.items() if peer.version == version}
    names = tester.named(f"rocev2_ipv{version}.per_peer.peer_names", request.get("peer_names"), dict(known))
    rows = tester.read_qps()
    unresolved = unresolved_qps(tester, [known[name] for name in names])
    return [chosen(peer_row(known[name], rows, unresolved), request.get("column_names"), "name") for name in names]


def unresolved_qps(tester: Tester, found: list[Peer]) -> set[tuple[str, int]]:
    """QPs without their peer's MAC address. All QPs of a peer have the same, so one of them is asked."""
    unresolved: set[tuple[str, int]] = set()
    for peer in found:
        generator = tester.generators[peer.port.name]
        # A responder answers to the address that a request came from.
        asked = next((qp for qp in peer.qps if qp.flow is not None and qp.flow.tx is qp), None)
        if asked is None or not peer.up or not generator.is_alive():
            continue
        try:
            waits = generator.ask(f"/quench/qp,{asked.qpn}")["hold"] == "neighbour"
        except Failed:
            waits = True
        if waits:
            unresolved |= {(peer.port.name, qp.qpn) for qp in peer.qps if qp.flow is not None and qp.flow.tx is qp}
    return unresolved


def peer_row(peer: Peer, rows: dict[tuple[str, int], Counters], unresolved: set[tuple[str, int]]) -> Object:
    up = 0
    for qp in peer.qps:
        key = peer.port.name, qp.qpn
        up += key in rows and not rows[key]["error"] and key not in unresolved
    return {"name": peer.name, "qp_configured": len(peer.qps), "qp_up": up, "qp_down": len(peer.qps) - up,
            **{name: 0 for name in CONNECTION_COUNTERS}}


def states(tester: Tester, given: Object) -> Object:
    request = schema.check("States.Request", given)
    choice = request["choice"]
    version = 4 if choice == "ipv4_neighbors" else 6
    with tester.lock:
        known = {port.ethernet: port for port in tester.plan.ports.values() if port.ethernet}
        names = tester.named(f"{choice}.ethernet_names", request[choice].get("ethernet_names"), dict(known))
        found: list[Object] = []
        for name in names:
            found += neighbours(tester, known[name], version)
    return {"choice": choice, choice: found}


def neighbours(tester: Tester, port: Port, version: int) -> list[Object]:
    address = port.addresses.get(version)
    if address is None:
        return []
    next_hops: dict[Any, str] = {}
    if address.gateway_mac:
        next_hops[address.gateway] = address.gateway_mac
    for peer in tester.plan.peers.values():
        if peer.port is port and peer.version == version and peer.to in address.network:
            next_hops.setdefault(peer.to, "")
    return [{"ethernet_name": port.ethernet, f"ipv{version}_address": str(ip), **({"link_layer_address": mac} if mac else {})}
            for ip, mac in next_hops.items()]
