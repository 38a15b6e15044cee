# SPDX-License-Identifier: BSD-3-Clause
"""N:1 as HPCC's simulator computes it, packet by packet: an independent model of its reaction points, for tests of imported scenarios.

Senders with endless flows, one switch, one receiver; cables of one delay. From rdma-hw.cc: rates pace packets with their headers; each packet
gets an ACK, which carries the mark, the time of its packet and what its switch has seen; windows count payload. The egress queue marks as it
lets go of a packet, by its length without it. The headers of a packet are the caller's: 48 bytes in ns-3.
"""
import dataclasses
import heapq
import itertools
import random


@dataclasses.dataclass
class Setup:
    cc: str
    senders: int = 4
    rate_bps: float = 40e9
    delay_ns: int = 1000
    payload: int = 1024
    headers: int = 48
    ack_bytes: int = 60
    kmin: float = 160e3
    kmax: float = 640e3
    pmax: float = 0.2
    ai_bps: float = 8e6
    hai_bps: float = 80e6
    dctcp_ai_bps: float = 1e9
    min_bps: float = 100e6
    g: float = 1 / 256
    timer_ns: int = 300000
    eta: float = 0.95
    max_stage: int = 5
    window: bool = False  # of rate x base round trip
    var_win: bool = False
    low_counts: bool = True  # TIMELY: a sample below T_low counts for the fast rise, as in ns-3; else as in the paper

    @property
    def rtt_ns(self):
        return 4 * self.delay_ns + 2 * 8e9 * self.payload / self.rate_bps


class Sender:
    """What all algorithms share: a rate, and packets in flight. seq and acked count bytes of payload."""

    def __init__(self, sim, setup):
        self.sim, self.s = sim, setup
        self.rate = setup.rate_bps
        self.seq = self.acked = 0
        self.next_ns = 0.0
        self.waits = False

    def window_bytes(self):
        if not self.s.window:
            return float("inf")
        full = int(self.s.rtt_ns * self.s.rate_bps / 8e9)
        return full * self.rate / self.s.rate_bps if self.s.var_win else full

    def on_ack(self, marked, sent_ns, hop):
        raise NotImplementedError


class Plain(Sender):
    def on_ack(self, marked, sent_ns, hop):
        pass


class Dcqcn(Sender):
    """Alpha in slots of 1 us and cuts in slots of 4 us from the first mark on; increases by the timer alone."""

    def __init__(self, sim, setup):
        super().__init__(sim, setup)
        self.target, self.alpha, self.stage, self.is_begun = self.rate, 1.0, 0, False
        self.saw, self.cuts, self.timer = False, False, 0

    def on_ack(self, marked, sent_ns, hop):
        if not marked:
            return
        self.saw = self.cuts = True
        if not self.is_begun:
            self.is_begun, self.saw = True, False
            self.sim.after(1000, self.update_alpha)
            self.sim.after(4001, self.maybe_cut)

    def update_alpha(self):
        self.alpha += self.s.g * ((1.0 if self.saw else 0.0) - self.alpha)
        self.saw = False
        self.sim.after(1000, self.update_alpha)

    def maybe_cut(self):
        self.sim.after(4000, self.maybe_cut)
        if not self.cuts:
            return
        if self.stage > 0:
            self.target = self.rate
        self.rate = max(self.s.min_bps, self.rate * (1 - self.alpha / 2))
        self.stage, self.cuts = 0, False
        self.timer += 1
        self.sim.after(self.s.timer_ns, self.increase, self.timer)

    def increase(self, timer):
        if timer != self.timer:
            return
        self.sim.after(self.s.timer_ns, self.increase, timer)
        if self.stage > 0:
            self.target = min(self.target + (self.s.ai_bps if self.stage == 1 else self.s.hai_bps), self.s.rate_bps)
        self.rate = (self.rate + self.target) / 2
        self.stage += 1


class Dctcp(Sender):
    """A batch is what is in flight when the one before it ends. One cut until what was sent before it is acknowledged."""

    def __init__(self, sim, setup):
        super().__init__(sim, setup)
        self.alpha, self.end, self.marks, self.batch, self.cut_end, self.in_cut = 1.0, 0, 0, 0, 0, False

    def on_ack(self, marked, sent_ns, hop):
        self.marks += marked
        ends = self.acked > self.end
        if ends:
            if self.end > 0:
                self.alpha += self.s.g * (min(1.0, self.marks / self.batch) - self.alpha)
                self.marks = 0
            self.batch = (self.seq - (self.acked if self.end > 0 else 0)) // self.s.payload + 1
            self.end = self.seq
        if self.in_cut and self.acked > self.cut_end:
            self.in_cut = False
        if marked and not self.in_cut:
            self.rate = max(self.s.min_bps, self.rate * (1 - self.alpha / 2))
            self.in_cut, self.cut_end = True, self.seq
        if not self.in_cut and ends:
            self.rate = min(self.s.rate_bps, self.rate + self.s.dctcp_ai_bps)


class Timely(Sender):
    LOW, HIGH, MIN_RTT, ALPHA, BETA = 50e3, 500e3, 20e3, 0.875, 0.8

    def __init__(self, sim, setup):
        super().__init__(sim, setup)
        self.end, self.last, self.diff, self.good = 0, 0.0, 0.0, 0

    def on_ack(self, marked, sent_ns, hop):
        if self.acked <= self.end:
            return
        rtt = self.sim.now - sent_ns
        if self.end > 0:
            self.diff += self.ALPHA * (rtt - self.last - self.diff)
            gradient = self.diff / self.MIN_RTT
            if rtt < self.LOW and not self.s.low_counts:
                self.rate, self.good = min(self.s.rate_bps, self.rate + self.s.ai_bps), 0
            elif rtt < self.LOW or (rtt <= self.HIGH and gradient <= 0):
                self.rate = min(self.s.rate_bps, self.rate + (self.s.ai_bps if self.good < 5 else self.s.hai_bps))
                self.good += 1
            else:
                share = 1 - self.HIGH / rtt if rtt > self.HIGH else gradient
                self.rate = max(self.s.min_bps, self.rate * max(0.0, 1 - self.BETA * share))
                self.good = 0
        self.end, self.last = self.seq, rtt


class Hpcc(Sender):
    """One hop. Wc is the rate of the last full round trip; each ACK computes a rate from it."""

    def __init__(self, sim, setup):
        super().__init__(sim, setup)
        self.end, self.hop, self.u, self.reference, self.stage = 0, None, 0.0, self.rate, 0

    def on_ack(self, marked, sent_ns, hop):
        is_full = self.acked > self.end
        if self.end > 0 and hop[0] > self.hop[0]:
            tau = hop[0] - self.hop[0]
            window = self.s.rtt_ns * self.s.rate_bps / 8e9
            u = (hop[1] - self.hop[1]) * 8e9 / tau / self.s.rate_bps + min(hop[2], self.hop[2]) / window
            tau = min(tau, self.s.rtt_ns)
            self.u = (self.u * (self.s.rtt_ns - tau) + u * tau) / self.s.rtt_ns
            share = self.u / self.s.eta
            if share >= 1 or self.stage >= self.s.max_stage:
                rate, stage = self.reference / share + self.s.ai_bps, 0
            else:
                rate, stage = self.reference + self.s.ai_bps, self.stage + 1
            self.rate = min(max(rate, self.s.min_bps), self.s.rate_bps)
            if is_full:
                self.reference, self.stage = self.rate, stage
        self.hop = hop
        if is_full:
            self.end = self.seq


ALGORITHMS = {"none": Plain, "dcqcn": Dcqcn, "dctcp": Dctcp, "timely": Timely, "hpcc": Hpcc}


class Incast:
    def __init__(self, setup, seed=1):
        self.s, self.random, self.now = setup, random.Random(seed), 0.0
        self.heap, self.count = [], itertools.count()
        self.byte_ns = 8e9 / setup.rate_bps
        self.frame = setup.payload + setup.headers
        self.queue, self.queue_bytes, self.is_busy, self.sent_bytes = [], 0, False, 0
        self.head = 0
        self.area, self.area_from, self.from_ns, self.most = 0.0, 0.0, 0.0, 0
        self.senders = [ALGORITHMS[setup.cc](self, setup) for _ in range(setup.senders)]

    def after(self, ns, what, *args):
        heapq.heappush(self.heap, (self.now + ns, next(self.count), what, args))

    def run(self, from_ns, end_ns):
        """@return mean and longest queue in bytes, and use of the link, from one time to another"""
        self.from_ns = self.area_from = from_ns
        for sender in self.senders:
            self.after(0, self.send, sender)
        self.after(from_ns, self.begin)
        while self.heap and self.heap[0][0] <= end_ns:
            self.now, _, what, args = heapq.heappop(self.heap)
            what(*args)
        self.now = end_ns
        self.weigh()
        used = (self.sent_bytes - self.began_bytes) * self.byte_ns / (end_ns - from_ns)
        return self.area / (end_ns - from_ns), self.most, used

    def begin(self):
        self.began_bytes, self.most = self.sent_bytes, self.queue_bytes

    def weigh(self):
        """Before the queue changes."""
        if self.now > self.area_from:
            self.area += self.queue_bytes * (self.now - self.area_from)
            self.area_from = self.now

    def send(self, sender):
        """A packet leaves if the window allows. The wire of the host is never slower than the rate."""
        if sender.seq - sender.acked >= sender.window_bytes():
            sender.waits = True
            return
        sender.seq += self.s.payload
        self.after(self.frame * self.byte_ns + self.s.delay_ns, self.arrive, sender, self.now)
        sender.next_ns = self.now + self.frame * 8e9 / sender.rate
        self.after(sender.next_ns - self.now, self.send, sender)

    def arrive(self, sender, sent_ns):
        self.weigh()
        self.queue.append((sender, sent_ns))
        self.queue_bytes += self.frame
        self.most = max(self.most, self.queue_bytes)
        if not self.is_busy:
            self.depart()

    def depart(self):
        if self.head == len(self.queue):
            self.is_busy = False
            return
        self.is_busy = True
        self.weigh()
        sender, sent_ns = self.queue[self.head]
        self.head += 1
        if self.head > 4096:
            del self.queue[:self.head]
            self.head = 0
        self.queue_bytes -= self.frame
        self.sent_bytes += self.frame
        hop = (self.now, self.sent_bytes, self.queue_bytes)
        self.after(self.frame * self.byte_ns, self.depart)
        back = self.frame * self.byte_ns + 3 * self.s.delay_ns + 2 * self.s.ack_bytes * self.byte_ns
        self.after(back, self.ack, sender, self.is_marked(), sent_ns, hop)

    def is_marked(self):
        s, q = self.s, self.queue_bytes
        return q > s.kmax or (q > s.kmin and self.random.random() < s.pmax * (q - s.kmin) / (s.kmax - s.kmin))

    def ack(self, sender, marked, sent_ns, hop):
        sender.acked += self.s.payload
        sender.on_ack(marked, sent_ns, hop)
        if sender.waits:
            sender.waits = False
            self.after(max(0.0, sender.next_ns - self.now), self.send, sender)
