# SPDX-License-Identifier: BSD-3-Clause
"""The draft of the Open Traffic Generator API for collectives (pull request 490 of its models), and what becomes of its properties: see table.py.

third_party/otg/ccl-490.json has the draft's objects that a carried property leads to; scripts/gen-otg --extract-ccl makes it.
"""
from __future__ import annotations

import json
import pathlib

from .schema import Object
from .table import CHOICE, NAME, Rows, no, yes

PATH = pathlib.Path(__file__).resolve().parents[2] / "third_party" / "otg" / "ccl-490.json"
NO_RECORDS = "jobs.csv and critical_path.csv of quench-lab have each iteration"

CONFIG: dict[str, Rows] = {
    "Ccl.Config": {
        "name": yes(NAME),
        "transport": yes("RoCEv2", uet="quench-nic speaks RoCEv2"),
        "send_mode": yes("a rank begins an iteration when it has ended the one before", sync="ranks of a job do not wait for each other between iterations"),
        "sync_rank_interval_ms": no("only of send_mode sync"),
        "stage_mode": yes("one stage", llm="a run has one stage"),
        "llm_index": no("only of stage_mode llm"),
        "stage_loop_count": yes("1"),
        "stages": yes("one"),
        "iteration_recording": no(NO_RECORDS),
        "tail_latency_recording": no(NO_RECORDS),
        "tail_latency_cdf": no(NO_RECORDS),
    },
    "Ccl.Stage": {
        "name": yes("name in metrics"),
        "algorithm": yes("of communicators that have none"),
        "communicators": yes("a section `[job ccl-N]` each; they run beside each other"),
        "bg_flow_names": no("start flows with set_control_state"),
        "duration": yes("below"),
    },
    "Ccl.Stage.Duration": {
        "choice": yes(CHOICE, fixed_seconds="a job has a number of iterations"),
        "fixed_iterations": yes("below"),
        "fixed_seconds": no("a job has a number of iterations"),
    },
    "Ccl.Stage.FixedIterations": {
        "count": yes("`iterations`, at most a million"),
        "interval_ms": yes("a part of `compute_ns`"),
    },
    "Ccl.Communicator": {
        "name": yes("name in metrics; unique"),
        "device_names": yes("two devices or more, from rank 0 on. A rank has the first address of its device, and the MAC address of its port's first interface. "
                            "Ranks of one port need a gateway as the way to all others"),
        "algorithm": yes("below"),
        "generation": yes("below"),
        "rocev2": yes("below"),
    },
    "Ccl.Algorithm": {
        "choice": yes("`collective` and `algorithm`: ring, halving_doubling, double_binary_tree, all_to_all",
                      alternating_ring="quench has no such algorithm", all_to_all_via_proxy="quench has no such algorithm",
                      point_to_point="use a flow of stateful_flows"),
        "phase": yes("`collective` reduce_scatter or all_gather, of ring_allreduce and halving_doubling"),
    },
    "Ccl.Generation": {
        "data_size": yes("`bytes`, with data_size_unit; kilobyte is 1000 bytes"),
        "data_size_unit": yes("see data_size"),
        "compute_gap": yes("`compute_ns`; random: the mean, and `compute_jitter`"),
        "qp_scheduling": no("QPs of a port take turns by frames"),
    },
    "Ccl.Generation.ComputeGap": {"choice": yes(CHOICE), "fixed": yes("below"), "random": yes("below")},
    "Ccl.Generation.ComputeGap.Fixed": {"ms": yes("`compute_ns`")},
    "Ccl.Generation.ComputeGap.Random": {"min_ms": yes("see compute_gap"), "max_ms": yes("see compute_gap")},
    "Ccl.Rocev2Policy": {
        "encapsulation": yes("the address of this version of each device"),
        "connection_type": yes("below"),
        "ib_mtu": yes("`mtu_bytes`"),
        "qps_per_peer": yes("`qps_per_pair`, at most 64"),
        "chunk_size_kb": yes("`chunk_bytes`, 1024 bytes each; 4194304: not divided"),
    },
    "Ccl.Rocev2Policy.ConnectionType": {
        "choice": yes(CHOICE, unreliable_datagram="quench-nic has reliable connections"),
        "reliable_connection": yes("below"),
        "unreliable_datagram": no("quench-nic has reliable connections"),
    },
    "Ccl.Rocev2Policy.ReliableConnection": {
        "dscp": yes("`dscp`"),
        "ecn": no("quench-nic has one value for all of a port, ECT(0)"),
        "start_qp_number": no("QP numbers of a job follow from its ranks"),
        "start_udp_src_port": no("each QP has one of its own"),
    },
}
CONTROL: dict[str, Rows] = {
    "State.Traffic.Ccl": {"state": yes("all jobs: start resets those that have run, and starts them; stop lets their ranks finish the messages that they have begun")},
}
MONITOR: dict[str, Rows] = {
    "Ccl.Metrics.Request": {
        "communicator_names": yes("without: all"),
        "stage_names": yes("without: all"),
        "column_names": yes("without: all that quench-otg has"),
        "include_loop_metrics": no("a run has one loop"),
    },
}
TABLE: dict[str, Rows] = {**CONFIG, **CONTROL, **MONITOR}
# What a reply has: names of Ccl.Metric.
METRICS = {
    "communicator_name": "", "stage_index": "0", "stage_name": "",
    "jct": "avg_jct times iteration_count", "avg_jct": "the largest mean of a port's ranks", "max_jct": "", "min_jct": "",
    "ideal_jct": "the bound of the host links", "jct_percent": "", "alg_bw": "data_size / avg_jct", "bus_bw": "", "l1_alg_bw": "", "l1_bus_bw": "",
    "iteration_count": "those that all ranks have ended", "reorder_count": "packets out of sequence, which include those behind a lost one",
    "reduce_time": "compute_gap and interval_ms of all iterations", "trans_time": "jct - reduce_time", "training_time": "jct",
}


def document(full: Object, schemas: Object) -> Object:
    """The API with the draft, for clients that are made of it."""
    known = {**full["components"]["schemas"], **schemas}

    def with_(name: str, key: str, value: Object, choice: str = "") -> None:
        found = known[name]
        properties = {**found["properties"], key: value}
        if choice:
            properties["choice"] = {**properties["choice"], "enum": [*properties["choice"]["enum"], choice]}
        known[name] = {**found, "properties": properties}

    with_("Config", "ccl", {"$ref": "#/components/schemas/Ccl.Config"})
    with_("State.Traffic", "ccl", {"$ref": "#/components/schemas/State.Traffic.Ccl"}, "ccl")
    with_("Metrics.Request", "ccl", {"$ref": "#/components/schemas/Ccl.Metrics.Request"}, "ccl")
    with_("Metrics.Response", "ccl_metrics", {"type": "array", "items": {"$ref": "#/components/schemas/Ccl.Metric"}}, "ccl_metrics")
    return {**full, "components": {**full["components"], "schemas": known}}


def read_schemas() -> Object:
    found: Object = json.loads(PATH.read_text(encoding="utf-8"))["components"]["schemas"]
    return found


