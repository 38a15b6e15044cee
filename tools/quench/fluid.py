# SPDX-License-Identifier: BSD-3-Clause
"""The fluid model compared with the packet simulation: its curves, and the differences."""
from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .tables import Column, Series, read_series

FLOWS = "time_ns,flow,wire_rate_bps,rp_rate_bps,rp_target_rate_bps,alpha"
QUEUES = "time_ns,node,port,queue,queue_bytes,mark_probability"
DISTANCE_MS = 1.0  # rates are compared as means over this time


def read_optional(path: pathlib.Path, header: str, key: Sequence[str]) -> dict[tuple[str, ...], Series]:
    return read_series(path, header, key) if path.exists() else {}


class Fluid:
    """The model's series and, if the model supports the scenario, its part of results.json."""

    def __init__(self, folder: pathlib.Path, results: Mapping[str, Any]) -> None:
        flows = read_optional(folder / "fluid_flows.csv", FLOWS, ["flow"])
        self.flows = {name: series for (name,), series in flows.items()}
        self.queues = read_optional(folder / "fluid_queues.csv", QUEUES, ["node", "port", "queue"])
        self.results: dict[str, Any] = results.get("fluid") or {}
        self.refused: str | None = self.results.get("refused")

    def curves(self) -> list[Series]:
        """The Series of the flows; flows with equal rates have one Series."""
        seen: list[Series] = []
        for series in self.flows.values():
            rate = series["wire_rate_bps"]
            if not any(len(rate) == len(other["wire_rate_bps"]) and np.allclose(rate, other["wire_rate_bps"]) for other in seen):
                seen.append(series)
        return seen

    def queue(self, bottleneck: Mapping[str, Any]) -> Series | None:
        """The model's Series of the bottleneck queue, or None."""
        return self.queues.get(tuple(str(bottleneck[key]) for key in ("node", "port", "queue")))

    def queue_results(self, bottleneck: Mapping[str, Any]) -> dict[str, Any] | None:
        """The model's results of the bottleneck queue, or None."""
        for queue in self.results.get("queues", []):
            if all(queue[key] == bottleneck[key] for key in ("node", "port", "queue")):
                return dict(queue)
        return None


def means(series: Series, column: str, width_ms: float) -> Column:
    """Means of a column over successive intervals of width_ms; an incomplete last interval is left out."""
    step = series.ms()[1] - series.ms()[0] if len(series["time_ns"]) > 1 else width_ms
    group = max(1, round(width_ms / step))
    whole = len(series[column]) // group * group
    return np.asarray(series[column][:whole].reshape(-1, group).mean(axis=1))


def distance(packets: Series, model: Series, link_bps: float) -> float:
    """Root mean square of the difference between the rates of a flow (means over DISTANCE_MS), as a share of the link speed."""
    a, b = (means(series, "wire_rate_bps", DISTANCE_MS) for series in (packets, model))
    n = min(len(a), len(b))
    return float(np.sqrt(np.mean((a[:n] - b[:n]) ** 2)) / link_bps) if n else 0.0
