# SPDX-License-Identifier: BSD-3-Clause
"""
DCQCN's equations for equal flows through one queue: SIGCOMM 2015 (5) to (9), in the form of CoNEXT 2016.

The published equations mark packets at the rate at which they are sent. But a queue marks packets that leave, and while it is not empty, they leave
at the rate of the link. With departing = True, marks follow that rate. With departing = False, the equations are as published; quench-lab --fluid
solves the same ones in C.
"""
import dataclasses
import math

import numpy as np

TAU, TAU_ALPHA, TIMER, BYTE_COUNTER = 50e-6, 55e-6, 55e-6, 10e6
G, F, R_AI, LINK = 1 / 256, 5, 40e6, 40e9
K_MIN, SLOPE = 5e3, 0.01 / 195e3  # bytes, marks per byte; the slope goes on to 1


@dataclasses.dataclass(frozen=True)
class EqualFlows:
    """n flows. Rates are in packets per second; by default, packets are those of MTU 1024."""
    n: int
    wire_bytes: int = 1106
    queued_bytes: int = 1086

    def packets(self, bps):
        return bps / 8 / self.wire_bytes

    def events(self, p, rate):
        """@return cuts, the goal of alpha, increases, and additive increases; all but the goal per second"""
        unmarked = np.log1p(-p)
        spans = (BYTE_COUNTER / self.wire_bytes, TIMER * rate)
        with np.errstate(over="ignore"):  # a long byte counter never expires
            increases = [rate * p / np.expm1(-n * unmarked) for n in spans]
        additive = [each * np.exp(F * n * unmarked) for each, n in zip(increases, spans)]
        return np.array([-np.expm1(TAU * rate * unmarked) / TAU, -np.expm1(TAU_ALPHA * rate * unmarked), sum(increases), sum(additive)])

    def fixed_point(self):
        """Marking probability p* at which increases and cuts of a rate are equal."""
        low, high, rate, step = 1e-7, 0.5, self.packets(LINK) / self.n, self.packets(R_AI)
        for _ in range(60):
            p = math.sqrt(low * high)
            cuts, alpha, increases, additive = self.events(p, rate)
            low, high = (p, high) if step * additive / cuts * increases > rate * alpha * cuts else (low, p)
        return p

    def fixed_queue_kb(self):
        return (K_MIN + self.fixed_point() / SLOPE) / 1e3

    def margin(self, loop_s, departing):
        """Phase margin in degrees, of the equations linearised at p* by complex steps; the loop is cut at the sending rate."""
        p, rate, additive_step, step = self.fixed_point(), self.packets(LINK) / self.n, self.packets(R_AI), 1e-30
        cuts, alpha, increases, additive = self.events(p, rate)
        gap = additive_step * additive / cuts  # R_T - R_C

        def forced(by):
            """Of alpha, R_T and R_C, by a change of the events."""
            return np.array([G / TAU_ALPHA * by[1], additive_step * by[3] - gap * by[0], gap / 2 * by[2] - rate * alpha / 2 * by[0]])

        by_mark = forced(self.events(p + 1j * step, rate).imag / step)
        by_rate = np.zeros(3) if departing else forced(self.events(p, rate + 1j * step).imag / step)
        system = np.array([[-G / TAU_ALPHA, 0, 0], [0, -cuts, cuts], [-rate / 2 * cuts, increases / 2, -increases / 2 - alpha / 2 * cuts]])
        marks = self.n * self.queued_bytes * SLOPE  # per second, by a change of each rate of a packet per second
        omegas = np.geomspace(100, 1e6, 4000)
        loops = np.array([-np.exp(-1j * w * loop_s) * np.linalg.solve(1j * w * np.eye(3) - system, by_rate + by_mark * marks / (1j * w))[2] for w in omegas])
        gains, phases = np.log(abs(loops)), np.unwrap(np.angle(loops))
        phases -= 2 * np.pi * (phases[0] > 0)
        return float(180 + np.degrees(phases[np.flatnonzero(np.diff(np.sign(gains)))]).min())

    def queue_kb(self, loop_s, departing, until_s, step_s):
        """The queue in KB after each step, from a start at the speed of the link with alpha = 1."""
        late, link, additive_step = round(loop_s / step_s), self.packets(LINK), self.packets(R_AI)
        counter = BYTE_COUNTER / self.wire_bytes
        queue, rate, target, alpha = 0.0, link, link, 1.0
        past = [(0.0, link)] * late  # p, and the rate at which packets of a flow met it
        queues = np.empty(round(until_s / step_s))
        for i in range(len(queues)):
            met = rate if not departing else link / self.n if queue > 0 else min(rate, link / self.n)
            past.append((min(max((queue - K_MIN) * SLOPE, 0.0), 0.999), met))
            p, met = past[i]
            if p > 0:
                unmarked = math.log1p(-p)
                cuts, goal = -math.expm1(TAU * met * unmarked) / TAU, -math.expm1(TAU_ALPHA * met * unmarked)
                by_bytes, by_time = (met * p / math.expm1(min(-span * unmarked, 700.0)) for span in (counter, TIMER * met))
                additive = by_bytes * math.exp(F * counter * unmarked) + by_time * math.exp(F * TIMER * met * unmarked)
            else:
                cuts, goal, by_bytes, by_time = 0.0, 0.0, met / counter, 1 / TIMER
                additive = by_bytes + by_time
            gap = target - rate
            alpha += step_s * G / TAU_ALPHA * (goal - alpha)
            target = min(target + step_s * (additive_step * additive - gap * cuts), link)
            rate = min(max(rate + step_s * (gap / 2 * (by_bytes + by_time) - rate * alpha / 2 * cuts), 1.0), target)
            queue = max(0.0, queue + step_s * (self.n * rate - link) * self.queued_bytes)
            queues[i] = queue / 1e3
        return queues
