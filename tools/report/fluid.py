# SPDX-License-Identifier: BSD-3-Clause
"""The fluid model beside the packets: curves to draw over theirs, and how far apart they are."""
import numpy as np

from .data import read_series

FLOWS = "time_ns,flow,wire_rate_bps,rp_rate_bps,rp_target_rate_bps,alpha"
QUEUES = "time_ns,node,port,queue,queue_bytes,mark_probability"
DISTANCE_MS = 1.0  # rates are compared as means over so long


def read_optional(path, header, key):
    return read_series(path, header, key) if path.exists() else {}


class Fluid:
    """The model's series and, if it knows the scenario, its part of results.json."""

    def __init__(self, folder, results):
        flows = read_optional(folder / "fluid_flows.csv", FLOWS, ["flow"])
        self.flows = {name: series for (name,), series in flows.items()}
        self.queues = read_optional(folder / "fluid_queues.csv", QUEUES, ["node", "port", "queue"])
        self.results = results.get("fluid") or {}
        self.refused = self.results.get("refused")

    def curves(self):
        """The Series of each flow, once for flows that do the same."""
        seen = []
        for series in self.flows.values():
            rate = series["wire_rate_bps"]
            if not any(len(rate) == len(other["wire_rate_bps"]) and np.allclose(rate, other["wire_rate_bps"]) for other in seen):
                seen.append(series)
        return seen

    def queue(self, bottleneck):
        """The Series of that queue, or None."""
        return self.queues.get(tuple(str(bottleneck[key]) for key in ("node", "port", "queue")))

    def queue_results(self, bottleneck):
        """Its part of the results, or None."""
        for queue in self.results.get("queues", []):
            if all(queue[key] == bottleneck[key] for key in ("node", "port", "queue")):
                return queue
        return None


def means(series, column, width_ms):
    """Means of a column of rates over whole pieces of width_ms."""
    step = series.ms()[1] - series.ms()[0] if len(series["time_ns"]) > 1 else width_ms
    group = max(1, round(width_ms / step))
    whole = len(series[column]) // group * group
    return series[column][:whole].reshape(-1, group).mean(axis=1)


def distance(packets, model, link_bps):
    """Root mean square of what the rates of a flow, as means over DISTANCE_MS, are apart, as a share of the link."""
    a, b = (means(series, "wire_rate_bps", DISTANCE_MS) for series in (packets, model))
    n = min(len(a), len(b))
    return float(np.sqrt(np.mean((a[:n] - b[:n]) ** 2)) / link_bps) if n else 0.0
