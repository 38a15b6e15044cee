# SPDX-License-Identifier: BSD-3-Clause
"""
N flows into one port, packet by packet and event by event, from the text of SIGCOMM 2015 section 3.1 alone.

Nothing of quench is in it: floating point, one event each for a packet that is sent, arrives and leaves, for each timer
and each CNP. It judges the lab's reaction point, notification point, pacing and marking (test_packets.py).

Packets are 1106 bytes on the wire and 1086 in the queue, links 40 Gb/s and 1 us long. A packet is marked when it begins
to leave, by what waits behind it, and what waits is the queue. A flow's next packet is due when the last one has been
paid for at the rates since; at the link's speed it is free: no timer runs until the next CNP.
"""
import heapq
import random

LINK_BPS, LINK_S = 40e9, 1e-6
WIRE_BITS, FRAME_BYTES, CNP_BITS = 8 * 1106, 1086, 8 * 98
PACKET_S = WIRE_BITS / LINK_BPS
CNP_S = 2 * (CNP_BITS / LINK_BPS + LINK_S)
K_MIN, K_MAX, P_MAX = 5e3, 200e3, 0.01
G, ALPHA_S, RATE_S, BYTES, F, R_AI, R_HAI, R_MIN = 1 / 256, 55e-6, 55e-6, 10e6, 5, 40e6, 200e6, 10e6
CNP_INTERVAL_S = 50e-6
NEVER = float("inf")


class Flow:
    """Reaction point and sender, and the notification point at the other end."""

    def __init__(self):
        self.rate = self.target = LINK_BPS
        self.alpha = 1.0
        self.timer_stage = self.byte_stage = self.bytes = 0
        self.limited = False
        self.alpha_due = self.rate_due = NEVER
        self.paid = self.line_free = 0.0  # when the last packet is paid for, and when it has left
        self.window_end, self.marked = 0.0, False

    def due(self):
        return max(self.paid, self.line_free)

    def follow(self, now, before):
        if self.paid > now:
            self.paid = now + (self.paid - now) * before / self.rate

    def cut(self, now):
        """Equation 1."""
        before = self.target = self.rate
        self.rate = max(R_MIN, self.rate * (1 - self.alpha / 2))
        self.alpha = (1 - G) * self.alpha + G
        self.timer_stage = self.byte_stage = self.bytes = 0
        self.limited = True
        self.alpha_due, self.rate_due = now + ALPHA_S, now + RATE_S
        self.follow(now, before)

    def increase(self, now):
        """Figure 7, with the stage counted already."""
        before, low = self.rate, min(self.timer_stage, self.byte_stage)
        if max(self.timer_stage, self.byte_stage) > F:
            self.target = min(LINK_BPS, self.target + (R_AI if low <= F else (low - F) * R_HAI))
        self.rate = (self.rate + self.target) / 2
        if self.rate > LINK_BPS - 1e3:
            self.rate, self.limited, self.rate_due = LINK_BPS, False, NEVER
        self.follow(now, before)


def mark_probability(queue_bytes):
    if queue_bytes <= K_MIN:
        return 0.0
    return 1.0 if queue_bytes > K_MAX else P_MAX * (queue_bytes - K_MIN) / (K_MAX - K_MIN)


def simulate(n, seed, until_s, measure_from_s):
    """@return mean queue in bytes, share of the link that is used, share of the time beyond K_MAX, rates of the flows."""
    draw = random.Random(seed).random
    flows = [Flow() for _ in range(n)]
    events, serial = [], 0
    queue, head, busy = [], 0, False  # numbers of flows
    byte_seconds = busy_seconds = beyond_seconds = 0.0
    last = measure_from_s
    left = [0] * n

    def at(time, what, i):
        nonlocal serial
        serial += 1
        heapq.heappush(events, (time, serial, what, i))

    def leave(now):
        """The first of the queue begins to leave."""
        nonlocal head
        i = queue[head]
        head += 1
        if head > 4096:
            del queue[:head]
            head = 0
        if draw() < mark_probability((len(queue) - head) * FRAME_BYTES):
            at(now + PACKET_S + LINK_S, "mark", i)
        at(now + PACKET_S, "left", i)

    for i in range(n):
        at(draw() * PACKET_S, "send", i)
    while True:
        now, _, what, i = heapq.heappop(events)
        if now > until_s:
            break
        flow = flows[i]
        if now > measure_from_s:
            waiting = (len(queue) - head) * FRAME_BYTES
            byte_seconds += waiting * (now - last)
            busy_seconds += busy * (now - last)
            beyond_seconds += (waiting > K_MAX) * (now - last)
            last = now
        if what == "send":
            if now < flow.due() or now < flow.line_free:
                continue  # a change of the rate has moved it
            flow.paid = max(flow.paid, now - PACKET_S) + WIRE_BITS / flow.rate
            flow.line_free = now + PACKET_S
            if flow.limited:
                flow.bytes += WIRE_BITS // 8
                if flow.bytes >= BYTES:
                    flow.bytes -= BYTES
                    flow.byte_stage += 1
                    flow.increase(now)
            at(flow.due(), "send", i)
            at(now + PACKET_S + LINK_S, "arrive", i)
        elif what == "arrive":
            queue.append(i)
            if not busy:
                busy = True
                leave(now)
        elif what == "left":
            left[i] += now > measure_from_s
            busy = head < len(queue)
            if busy:
                leave(now)
        elif what == "mark":
            # Figure 6.
            if now < flow.window_end:
                flow.marked = True
            else:
                flow.window_end = now + CNP_INTERVAL_S
                at(now + CNP_S, "cnp", i)
                at(flow.window_end, "window", i)
        elif what == "window":
            if flow.marked:
                flow.marked, flow.window_end = False, now + CNP_INTERVAL_S
                at(now + CNP_S, "cnp", i)
                at(flow.window_end, "window", i)
        elif what == "cnp":
            flow.cut(now)
            at(flow.alpha_due, "alpha", i)
            at(flow.rate_due, "rate", i)
            at(flow.due(), "send", i)
        elif what == "alpha" and now == flow.alpha_due:
            flow.alpha *= 1 - G
            flow.alpha_due = now + ALPHA_S
            at(flow.alpha_due, "alpha", i)
        elif what == "rate" and now == flow.rate_due:
            flow.rate_due = now + RATE_S
            flow.timer_stage += 1
            flow.increase(now)
            if flow.limited:
                at(flow.rate_due, "rate", i)
            at(flow.due(), "send", i)
    seconds = until_s - measure_from_s
    return {"queue_bytes": byte_seconds / seconds, "link_use": busy_seconds / seconds, "beyond": beyond_seconds / seconds,
            "rates_bps": [packets * WIRE_BITS / seconds for packets in left]}
