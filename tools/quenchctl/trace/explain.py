# SPDX-License-Identifier: BSD-3-Clause
"""explain: a QP's state and hold, and the causes of its rate changes since its trace began."""
from __future__ import annotations

from quench.desk import Row
from quenchctl.command import DONE, Run, print_json
from quenchctl.show import cells
from quenchctl.trace.follow import stored

STORY_LINES = 24
# Explanations of the values of the key "hold" (nic_wait_words of nic/observe/wait.h).
HOLDS = {
    "error": "it gave up: out of retries, or its peer refused; it no longer sends",
    "done": "done: all messages are acknowledged",
    "responder": "it only answers requests, and no request is pending",
    "neighbour": "it waits for its peer's MAC address: nobody has answered ARP or neighbour discovery",
    "flows": "it waits for flows that it begins after and that have not ended (after)",
    "start": "it has not started yet (start)",
    "rnr": "it waits because its peer had no receive buffer (RNR NAK)",
    "stopped": "its flow is stopped (stopped = on): it begins no message",
    "round": "it has ended its round, and waits for QPs that have not (barrier, arrival = incast)",
    "depth": "depth messages are in flight: the next one begins when the peer acknowledges one",
    "message": "it has nothing to send: its next message has not arrived",
    "window": "it waits for an acknowledgement: its window of packets is full",
    "pause": "the peer pauses its priority",
    "rate": "its next packet waits for the time that the rate allows",
    "wire": "its next packet waits for its turn on the wire",
}


def print_wait(qp: Row) -> None:
    if qp["hold"] in HOLDS:
        print(f"now: {HOLDS[qp['hold']]}")
    print(f"     {qp['unacked_packets']} of at most {qp['window_packets']} packets are not acknowledged; paused {qp['rx_pause_duration_us']} us so far")


def print_rate(qp: Row, trace: Row) -> None:
    cap, allowed, cc = qp.get("rate_cap_bps", 0), qp.get("cc_rate_bps", 0), trace["cc"]
    if 0 < cap < allowed:
        why = f"which is rate_cap_bps of its flow; congestion control ({cc}) would allow {cells.rate(allowed)}"
    else:
        why = "fixed: cc = none" if cc == "none" else f"set by congestion control ({cc})"
    print(f"rate: {cells.rate(qp['rate_bps'])}, {why}")
    if cc == "dcqcn":
        print(f"      target {cells.rate(qp['target_rate_bps'])}, alpha {qp['alpha']:.4f}")
    print(f"since the start: {qp['cnps_handled']} CNPs taken, {qp['cnps_ignored']} ignored, {qp['rate_cuts']} cuts, lowest rate "
          f"{cells.rate(qp['min_rate_bps'])}, {qp['retransmitted_packets']} packets sent again")


def print_story(trace: Row, ident: str, now_ns: int) -> None:
    if not trace["traced"]:
        print(f"not traced: \"quenchctl trace qp {ident} on\" records the causes of rate changes")
        return
    if trace["last_cut_ns"] is not None:
        print(f"last cut: {max(0, now_ns - trace['last_cut_ns']) / 1e6:.4f} ms ago")
    # The first row is the initial state, not an event, unless the trace is from the start.
    n = trace["end"] - (trace["end"] > 0 and not trace["trace_qps"])
    print(f"traced for {(now_ns - trace['began_ns']) / 1e9:.1f} s: {n} event{'' if n == 1 else 's'}"
          f"{'; congestion control has done nothing since' if n == 0 else ''}")
    if trace["lost"]:
        print(f"the first {trace['lost']} rows are lost")
    print("".join(f"{row['line']}\n" for row in trace["lines"]), end="")
    if trace["end"] - trace["first"] > STORY_LINES:
        print(f"show trace {ident} prints each")


def run(run_: Run) -> int:
    ident, desk = run_.params[0], run_.desk
    if run_.options.json:
        trace = stored(desk, ident)
        print_json({"now": desk.call("qp", qpn=trace["local_qpn"]), "trace": trace})
        return DONE
    trace = desk.call("story", id=ident, lines=STORY_LINES)
    qp, info = desk.batch([("qp", {"qpn": trace["local_qpn"]}), ("info", {})])
    print(f"QP {trace['local_qpn']} ({trace['flow']}#{trace['qp']}) to QP {qp['peer_qpn']}, {trace['verb']}")
    # If the QP sends no data, the peer controls the rate.
    if not trace["sends_data"]:
        print("the QP sends READ requests: the responder at the peer sends the data and has the congestion control; run explain there"
              if trace["verb"] == "read" else "the QP only answers: the peer decides the rate of the data; run explain there")
        return DONE
    print_wait(qp)
    print_rate(qp, trace)
    print_story(trace, ident, info["elapsed_ns"])
    return DONE
