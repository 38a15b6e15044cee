# SPDX-License-Identifier: BSD-3-Clause
"""The other draft of the Open Traffic Generator API for collectives (pull request 491 of its models), and what becomes of its properties: see table.py.

third_party/otg/ccl-491.json has the draft's objects that a carried property leads to.
"""
from __future__ import annotations

import json
import pathlib

from .schema import Object
from .table import CHOICE, Rows, no, yes

PATH = pathlib.Path(__file__).resolve().parents[2] / "third_party" / "otg" / "ccl-491.json"
C = "CollectiveCommunications"
NO_SUCH = "quench has no such algorithm"
NO_PXN = "PXN needs servers, which quench-nic does not have"
NO_KERNELS = "quench-nic models no kernels of MSCCL++"
NO_FABRIC = "the fabric is what is between the ports"

CONFIG: dict[str, Rows] = {
    C: {
        "workload": yes("below"),
        "infrastructure": no(NO_FABRIC),
        "platforms": no("a port of the configuration is a quench-nic"),
        "bindings": yes("below"),
        "impairments": no("quench-nic impairs no frames"),
        "result_info": no("quench-otg keeps no results"),
    },
    f"{C}.Workload": {
        "choice": yes(CHOICE, mix_of_collectives="use single_collective", workload_replay="use `quenchctl import chakra` and `[job NAME]`"),
        "single_collective": yes("a section `[job ccl-0]`"),
        "workload_replay": no("use `quenchctl import chakra` and `[job NAME]`"),
        "mix_of_collectives": no("use single_collective"),
    },
    f"{C}.SingleCollective": {
        "collective_algorithm": yes("below"),
        "datasizes": yes("below"),
        "transport": yes("below; without it: RoCEv2 with its defaults"),
        "iterations": yes("`iterations`, at most a million"),
        "iteration_append_delay": yes("`compute_ns`; a rank waits before its iteration"),
    },
    f"{C}.Algorithm": {"algorithm_type": yes("below; without it: all_to_all_parallel")},
    f"{C}.Algorithm.Type": {
        "choice": yes(CHOICE, custom="quench-otg runs no code of others"),
        "system": yes("`collective` and `algorithm`", all_to_all_pxn=NO_PXN, all_reduce_bidirectional_ring=NO_SUCH, broadcast_parallel=NO_SUCH, gather_parallel=NO_SUCH,
                      all_to_all_parallel_pp=NO_KERNELS, all_to_all_pxn_pp=NO_KERNELS, all_reduce_unidirectional_ring_pp=NO_KERNELS,
                      all_reduce_bidirectional_ring_pp=NO_KERNELS, all_reduce_vector_halving_doubling_pp=NO_KERNELS,
                      all_reduce_double_binary_tree_pp=NO_KERNELS, all_gather_ring_pp=NO_KERNELS, reduce_scatter_ring_pp=NO_KERNELS,
                      broadcast_parallel_pp=NO_KERNELS, gather_parallel_pp=NO_KERNELS),
        "custom": no("quench-otg runs no code of others"),
    },
    f"{C}.Datasizes": {
        "choice": yes(CHOICE, multiplier="a run has one size"),
        "multiplier": no("a run has one size"),
        "list": yes("below"),
    },
    f"{C}.DatasizeList": {"size_bytes": yes("`bytes`: one size")},
    f"{C}.Transport": {
        "choice": yes(CHOICE, tcp="quench-nic speaks RoCEv2"),
        "rocev2": yes("below"),
    },
    "CollectiveCommunication.Rocev2TransportSettings": {
        "rdma_message_size": yes("`chunk_bytes`"),
        "qps_per_rankpair": yes("`qps_per_pair`, at most 64"),
        "verb": yes("write", send="a message of a job is an RDMA WRITE"),
        "reuse_qps": yes("true"),
        "qp_negotiation": no("QP numbers of a job follow from its ranks"),
    },
    f"{C}.Bindings": {"choice": yes(CHOICE), "basic_binding": yes("below")},
    f"{C}.BasicBinding": {
        "rank_bindings": yes("two ranks or more, in any order"),
        "nic_bindings": yes("of the NICs of the ranks"),
        "physical_bindings": no("the port of an Ethernet interface is that of its connection"),
    },
    f"{C}.RankBinding": {
        "infrastructure_ref": yes("ignored: a rank has no XPU here"),
        "rank_id": yes("from 0 on, each once"),
        "nic_refs": yes("one: a NIC of nic_bindings"),
    },
    f"{C}.NicBinding": {
        "infrastructure_ref": yes("the NIC, as nic_refs has it"),
        "ethernet_name": yes("a rank has the first address of this interface, and the MAC address of its port's first interface"),
    },
    f"{C}.InfrastructureRef": {
        "device_instance_name": yes("a part of the NIC's name"),
        "device_index": yes("a part of the NIC's name"),
        "component_name": yes("a part of the NIC's name"),
        "component_index": yes("a part of the NIC's name"),
    },
}
CONTROL: dict[str, Rows] = {
    f"State.{C}": {"choice": yes("execution"), "execution": yes("below")},
    f"State.{C}.Execution": {"state": yes("start: from the first iteration on; stop lets the ranks finish the messages that they have begun")},
}
MONITOR: dict[str, Rows] = {
    f"{C}.State.Request": {"choice": yes("execution"), "execution": no("the request has no more to say")},
    f"{C}.Metrics.Request": {
        "choice": yes(CHOICE, workload_replay="see `Workload.choice`", mix_of_collectives="see `Workload.choice`"),
        "single_collective": yes("below"),
        "workload_replay": no("see `Workload.choice`"),
        "mix_of_collectives": no("see `Workload.choice`"),
    },
    f"{C}.SingleCollective.Metrics.Request": {
        "choice": yes("summary", data_chunk="use summary", flows="use the metrics of flows", qpairs="use summary", ports="use the metrics of ports",
                      iterations_summary="use summary", iteration="use summary", packet_drop="a quench-nic does not see where a packet was lost"),
        "summary": yes("below"),
        **{name: no("use summary") for name in ("data_chunk", "flows", "qpairs", "ports", "iterations_summary", "iteration", "packet_drop")},
    },
    f"{C}.SingleCollective.Summary.Metrics.Request": {
        "collective": yes("without: that of the configuration"),
        "column_names": yes("without: all that quench-otg has"),
    },
}
TABLE: dict[str, Rows] = {**CONFIG, **CONTROL, **MONITOR}
REPLIES = (f"{C}.State", f"{C}.State.Execution", f"{C}.State.Stopped", f"{C}.Metrics.Response", f"{C}.SingleCollective.Metrics.Response",
           f"{C}.SingleCollective.Summary.Metric")
# What a reply has: names of CollectiveCommunications.SingleCollective.Summary.Metric.
METRICS = {
    "data_size": "", "collective": "the word of Algorithm.Type.system", "iterations": "those that all ranks have ended",
    "completion_time": "the largest mean of a port's ranks", "algo_bw": "data_size / completion_time", "bus_bw": "",
    "ideal": "the bound of the host links / completion_time", "ecn_ce_rx": "", "frames_retx": "", "total_time": "completion_time of all iterations", "cnp_rx": "",
}


def document(full: Object, schemas: Object) -> Object:
    """The API with the draft, for clients that are made of it."""
    known = {**full["components"]["schemas"], **schemas}
    name = "collective_communications"
    for kind, of in (("Config", C), ("Control.State", f"State.{C}"), ("States.Request", f"{C}.State.Request"), ("States.Response", f"{C}.State"),
                     ("Metrics.Request", f"{C}.Metrics.Request"), ("Metrics.Response", f"{C}.Metrics.Response")):
        found = known[kind]
        properties: Object = {**found["properties"], name: {"$ref": f"#/components/schemas/{of}"}}
        if "choice" in properties:
            properties["choice"] = {**properties["choice"], "enum": [*properties["choice"]["enum"], name]}
        known[kind] = {**found, "properties": properties}
    return {**full, "components": {**full["components"], "schemas": known}}


def read_schemas() -> Object:
    found: Object = json.loads(PATH.read_text(encoding="utf-8"))["components"]["schemas"]
    return found
