# SPDX-License-Identifier: BSD-3-Clause
"""What a run measured, and the quantities that criteria name: the same in the lab and on ports."""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np

from quench.tables import Column
from report import html

UNITS: dict[str, dict[str, float]] = {
    "bit/s": {"": 1, "K": 1e3, "M": 1e6, "G": 1e9},
    "ns": {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9},
    "us": {"": 1, "us": 1, "ms": 1e3, "s": 1e6},
    "bytes": {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20},
    "ratio": {"": 1, "%": 0.01},
    "count": {"": 1, "K": 1e3, "M": 1e6},
}
EXAMPLES = {"bit/s": "900M", "ns": "5ms", "us": "5ms", "bytes": "100KB", "ratio": "0.95", "count": "0"}


@dataclasses.dataclass
class Flow:
    """A flow, by its name of the lab, such as "incast h1". Rates are of the measured window, the rest of the whole run."""

    name: str
    wire_rate_bps: float
    goodput_bps: float
    messages: int
    retransmitted_packets: int
    cnps: int
    failed_qps: int
    times: dict[str, tuple[Column, Column]]  # of completion_ns, slowdown_milli, rtt_ns: values, and how often

    @property
    def section(self) -> str:
        return self.name.rpartition(" ")[0]


# Packets that arrived, and that the transport refused: what follows a loss or a QP in error, and is no loss itself. And what a switch flooded to
# all hosts and was for another one, such as an ARP request.
REFUSED = {"out_of_sequence", "unexpected_ack", "unexpected_response", "unexpected_opcode", "out_of_buffer", "not_for_us"}


def is_loss(reason: str) -> bool:
    """@param reason  of a drop counter of a NIC or a switch, with or without "drop_" """
    return reason.removeprefix("drop_") not in REFUSED


@dataclasses.dataclass
class Job:
    """A job: times of the iterations that all ranks ended, in ns."""

    jct: list[float]
    bound: float  # lower bound of these times; 0: there is none
    left: int     # iterations that not all ranks ended


@dataclasses.dataclass
class Measured:
    """Results of a run. None: nobody could count it, because the switch is not ours."""

    flows: list[Flow]
    losses: dict[str, int] | None  # packets by place and reason
    pause_frames: int | None
    pause_duration_us: int | None
    ecn_marked_packets: int | None
    queue_watermark_bytes: int | None
    jobs: dict[str, Job]

    @property
    def lost_packets(self) -> int | None:
        return None if self.losses is None else sum(self.losses.values())


@dataclasses.dataclass
class Quantity:
    unit: str
    help: str
    of_flows: Callable[[list[Flow]], float | None] | None  # None: of jobs, or of the whole network: the member of Measured with this name
    of_jobs: Callable[[list[Job]], float | None] | None = None

    @property
    def of_all(self) -> bool:
        return self.of_flows is None and self.of_jobs is None


def jain_index(flows: list[Flow]) -> float | None:
    rates = np.array([flow.wire_rate_bps for flow in flows], dtype=float)
    squares = float((rates**2).sum())
    return float(rates.sum()) ** 2 / (len(rates) * squares) if squares else None


def quantile(measure: str, percent: float, scale: float = 1.0) -> Callable[[list[Flow]], float | None]:
    def of(flows: list[Flow]) -> float | None:
        parts = [flow.times[measure] for flow in flows if measure in flow.times]
        if not parts:
            return None
        values, where = np.unique(np.concatenate([values for values, _ in parts]), return_inverse=True)
        sums = np.cumsum(np.bincount(where, weights=np.concatenate([counts for _, counts in parts])))
        return float(values[np.searchsorted(sums, sums[-1] * percent / 100)]) / scale
    return of


def jct(percent: float | None) -> Callable[[list[Job]], float | None]:
    """A percentile, by the nearest rank, or None for the mean."""
    def of(jobs: list[Job]) -> float | None:
        values = [value for job in jobs for value in job.jct]
        if not values:
            return None
        return float(np.mean(values)) if percent is None else float(np.percentile(values, percent, method="inverted_cdf"))
    return of


def largest(of_one: Callable[[Job], float]) -> Callable[[list[Job]], float | None]:
    """None: a job has ended no iteration."""
    return lambda jobs: max(map(of_one, jobs)) if jobs and all(job.jct for job in jobs) else None


def jct_of_bound(jobs: list[Job]) -> float | None:
    """None also for a job without a bound."""
    return largest(lambda job: float(np.mean(job.jct)) / job.bound)(jobs) if all(job.bound for job in jobs) else None


def sum_of(member: str) -> Callable[[list[Flow]], float | None]:
    return lambda flows: float(sum(getattr(flow, member) for flow in flows))


def times(name: str, unit: str, measure: str, scale: float, what: str) -> dict[str, Quantity]:
    suffix = "_ns" if unit == "ns" else ""
    return {f"{name}_{key}{suffix}": Quantity(unit, f"{words} of the {what}", quantile(measure, percent, scale))
            for key, percent, words in (("p50", 50, "median"), ("p95", 95, "95th percentile"), ("p99", 99, "99th percentile"),
                                        ("p999", 99.9, "99.9th percentile"), ("max", 100, "maximum"))}


QUANTITIES: dict[str, Quantity] = {
    "goodput_bps": Quantity("bit/s", "payload delivered in order in the measured window, all flows together", sum_of("goodput_bps")),
    "wire_rate_bps": Quantity("bit/s", "wire rate of the data sent in the measured window, all flows together", sum_of("wire_rate_bps")),
    "jain_index": Quantity("ratio", "fairness: Jain's index over the wire rates of the flows in the measured window", jain_index),
    **times("completion", "ns", "completion_ns", 1, "completion times of messages"),
    **times("slowdown", "ratio", "slowdown_milli", 1000, "slowdowns of messages"),
    **times("rtt", "ns", "rtt_ns", 1, "round-trip times"),
    "messages": Quantity("count", "completed messages", sum_of("messages")),
    "retransmitted_packets": Quantity("count", "packets sent again", sum_of("retransmitted_packets")),
    "cnps": Quantity("count", "CNPs sent by the receivers of the flows", sum_of("cnps")),
    "failed_qps": Quantity("count", "QPs in error", sum_of("failed_qps")),
    "jct_mean_ns": Quantity("ns", "mean time of an iteration of a job, from the first rank's begin to the last rank's end", None, jct(None)),
    **{f"jct_{key}_ns": Quantity("ns", f"{words} of these times", None, jct(percent))
       for key, percent, words in (("p50", 50, "median"), ("p99", 99, "99th percentile"), ("max", 100, "maximum"))},
    "jct_of_bound": Quantity("ratio", "mean of these times, divided by a lower bound for any network with these host links; the largest of the jobs", None, jct_of_bound),
    "jct_cv": Quantity("ratio", "coefficient of variation of these times; the largest of the jobs", None, largest(lambda job: float(np.std(job.jct) / np.mean(job.jct)))),
    "iterations": Quantity("count", "iterations that all ranks of a job have ended", None, lambda jobs: float(sum(len(job.jct) for job in jobs))),
    "iterations_left": Quantity("count", "iterations of a job that not all ranks have ended", None, lambda jobs: float(sum(job.left for job in jobs))),
    "lost_packets": Quantity("count", "packets dropped by switches and NICs, and lost on cables; not those that a NIC's transport refused (out_of_sequence, ...)", None),
    "pause_frames": Quantity("count", "PFC frames sent by switches, by priority: pauses, renewals and ends", None),
    "pause_duration_us": Quantity("us", "time that switches paused their peers, all ports and priorities together", None),
    "ecn_marked_packets": Quantity("count", "packets marked by switches", None),
    "queue_watermark_bytes": Quantity("bytes", "longest queue of all switches", None),
}


def value_of(measured: Measured, name: str, flow: str) -> float | None:
    """flow: the name of a flow or of a section, or "" for all."""
    quantity = QUANTITIES[name]
    if quantity.of_jobs is not None:
        return quantity.of_jobs([job for name, job in measured.jobs.items() if flow in ("", name)])
    if quantity.of_flows is None:
        found: int | None = getattr(measured, name)
        return found
    return quantity.of_flows([one for one in measured.flows if flow in ("", one.name, one.section)])


def parse(text: str, unit: str) -> float | None:
    """A number with a unit, such as 900M; None: it is none."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z%]*)", text)
    return float(found[1]) * UNITS[unit][found[2]] if found and found[2] in UNITS[unit] else None


def show(value: float | None, unit: str, digits: Callable[[float], str] = html.digits) -> str:
    """Four digits with a unit."""
    if value is None:
        return "-"
    if unit == "ratio":
        return digits(value)
    steps = {"bit/s": (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3), ("b/s", 1.0)), "ns": (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)),
             "us": (("s", 1e6), ("ms", 1e3), ("us", 1.0)), "bytes": (("MB", 1e6), ("KB", 1e3), ("B", 1.0)), "count": (("", 1.0),)}[unit]
    name, scale = next((step for step in steps if abs(value) >= step[1]), steps[-1])
    number = digits(value / scale) if unit != "count" and scale != 1.0 else html.fixed(value, 0) if value == int(value) else f"{value:.10g}"
    return f"{number} {name}".rstrip()
