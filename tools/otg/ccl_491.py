# SPDX-License-Identifier: BSD-3-Clause
"""The draft of pull request 491 (ccl_491_table.py): Config.collective_communications as a job of the quench-nics, its state and its metrics."""
from __future__ import annotations

import contextlib
from typing import Any

from . import ccl, results, schema, server
from . import plan as plans
from .ccl_491_table import TABLE, C, read_schemas
from .schema import Full, Object, Refused

NAME = "ccl-491"  # of the draft, for --draft
KEY = "collective_communications"
MOST_BYTES, MTU_BYTES = 1 << 40, 1024
# By Algorithm.Type.system: collective, algorithm
ALGORITHMS = {"all_to_all_parallel": ("all_to_all", "linear"), "all_reduce_unidirectional_ring": ("all_reduce", "ring"),
              "all_reduce_vector_halving_doubling": ("all_reduce", "halving_doubling"), "all_reduce_double_binary_tree": ("all_reduce", "double_binary_tree"),
              "all_gather_ring": ("all_gather", "ring"), "reduce_scatter_ring": ("reduce_scatter", "ring")}
WITHOUT = f"{KEY}: the configuration has none"


def nic_of(ref: Object) -> tuple[Any, ...]:
    return tuple(ref.get(key) for key in ("device_instance_name", "device_index", "component_name", "component_index"))


class Planner(ccl.Planner):
    """Adds the job to a plan without it."""

    def add(self) -> list[ccl.Job]:
        with contextlib.suppress(Full):
            config = self.checker.object(C, self.ccl, KEY)
            if not self.checker.errors:
                self.add_all(config)
        if self.checker.errors:
            raise Refused(self.checker.errors)
        return self.jobs

    def add_all(self, config: Object) -> None:
        self.expect_no_peers(KEY)
        for key in ("workload", "bindings"):
            if key not in self.ccl:
                self.refuse(f"{KEY}.{key}", "expected one")
        if self.checker.errors:
            return
        work: Object = config["workload"].get("single_collective") or {}
        ranks = self.ranks(config["bindings"].get("basic_binding") or {})
        if self.checker.errors:
            return
        keys = self.keys_of(f"{KEY}.workload.single_collective", work)
        name = self.algorithm(work)
        section, ports = self.put_job(f"{KEY}.bindings.basic_binding.rank_bindings", 0, ranks, keys)
        self.jobs.append(ccl.Job(name, "", section, ports, int(keys["bytes"].removesuffix("B")), int(keys["compute_ns"]), MTU_BYTES))
        self.number_ports()

    def ranks(self, binding: Object) -> list[plans.Address]:
        path = f"{KEY}.bindings.basic_binding"
        given: list[Object] = binding.get("rank_bindings") or []
        nics = {nic_of(item.get("infrastructure_ref") or {}): item.get("ethernet_name") for item in binding.get("nic_bindings") or []}
        interfaces = {one.name: one for port in self.plan.ports.values() for one in port.interfaces}
        found: dict[int, plans.Address] = {}
        for n, item in enumerate(given):
            at, refs = f"{path}.rank_bindings[{n}]", item.get("nic_refs") or []
            if len(refs) != 1 or nic_of(refs[0]) not in nics:
                self.refuse(f"{at}.nic_refs", "expected one NIC of nic_bindings")
                continue
            interface = interfaces.get(str(nics[nic_of(refs[0])]))
            if interface is None or not interface.addresses or interface.vlan:
                self.refuse(f"{at}.nic_refs", f"{nics[nic_of(refs[0])]!r}: expected an Ethernet interface of the configuration, with an address and without VLAN")
                continue
            if not 0 <= item.get("rank_id", -1) < len(given) or item["rank_id"] in found:
                self.refuse(f"{at}.rank_id", f"{item.get('rank_id')}: expected each number from 0 to {len(given) - 1} once")
                continue
            found[item["rank_id"]] = interface.addresses[0]
        ranks = [found[number] for number in sorted(found)]
        if not self.checker.errors and (not 2 <= len(ranks) <= ccl.MOST_RANKS or len({rank.text for rank in ranks}) != len(ranks)
                                        or len({rank.ip.version for rank in ranks}) > 1):
            self.refuse(f"{path}.rank_bindings", f"expected 2 to {ccl.MOST_RANKS} ranks with different addresses, all of one version of IP")
        return ranks

    def algorithm(self, work: Object) -> str:
        kind: Object = (work.get("collective_algorithm") or {}).get("algorithm_type") or {}
        return str(kind.get("system", "all_to_all_parallel"))

    def keys_of(self, path: str, work: Object) -> plans.Section:
        sizes: list[int] = ((work.get("datasizes") or {}).get("list") or {}).get("size_bytes") or [1 << 30]
        transport: Object = (work.get("transport") or {}).get("rocev2") or {}
        qps, chunk = transport.get("qps_per_rankpair", 1), transport.get("rdma_message_size", 1 << 17)
        if len(sizes) != 1 or not sizes[0] <= MOST_BYTES:
            self.refuse(f"{path}.datasizes.list.size_bytes", f"{schema.shown(sizes)}: expected one size of at most {MOST_BYTES}")
        if work["iterations"] > ccl.MOST_ITERATIONS:
            self.refuse(f"{path}.iterations", f"{work['iterations']}: expected at most {ccl.MOST_ITERATIONS}")
        if qps > ccl.MOST_QPS_PER_PAIR:
            self.refuse(f"{path}.transport.rocev2.qps_per_rankpair", f"{qps}: expected at most {ccl.MOST_QPS_PER_PAIR}")
        if not transport.get("reuse_qps", True):
            self.refuse(f"{path}.transport.rocev2.reuse_qps", "false: expected true")
        collective, algorithm = ALGORITHMS[self.algorithm(work)]
        return {"collective": collective, "algorithm": algorithm, "bytes": f"{sizes[0]}B", "iterations": str(work["iterations"]),
                "compute_ns": str(work["iteration_append_delay"] * 1_000_000), "mtu_bytes": str(MTU_BYTES), "qps_per_pair": str(qps),
                "chunk_bytes": f"{min(chunk, 1 << 31)}B"}


class Ccl491Tester(ccl.JobTester):
    """A tester whose configurations may have collective_communications."""

    was_stopped = False  # by set_control_state

    def plan(self, given: Object) -> plans.Plan:
        if not isinstance(given, dict) or given.get(KEY) is None:
            return super().plan(given)
        plan = super().plan({key: value for key, value in given.items() if key != KEY})
        self.planned = plan, Planner(plan, given, given[KEY]).add()
        self.was_stopped = False
        return plan

    def set_state(self, given: Object) -> list[str]:
        if not isinstance(given, dict) or given.get("choice", KEY) != KEY or KEY not in given:
            return super().set_state(given)
        request = schema.check(f"State.{C}", given[KEY])
        if "execution" not in request:
            raise Refused([f"{KEY}.execution: expected one"])
        starts = request["execution"]["state"] == "start"
        said = self.run_jobs(starts, WITHOUT)
        self.was_stopped = not starts
        return said

    def states(self, given: Object) -> Object:
        if not isinstance(given, dict) or given.get("choice") != KEY:
            return results.states(self.run, given)
        schema.check(f"{C}.State.Request", given.get(KEY) or {})
        if not self.jobs():
            raise Refused([WITHOUT])
        of = [rows[job.section.removeprefix("job ")] for rows in self.rows().values() for job in self.jobs() if job.section.removeprefix("job ") in rows]
        return {"choice": KEY, KEY: {"choice": "execution", "execution": self.execution({row["state"] for row in of if row["ranks_here"] > 0})}}

    def execution(self, states: set[str]) -> Object:
        def stopped(why: str) -> Object:
            return {"choice": "stopped", "stopped": {"choice": why}}
        if "failed" in states:
            return stopped("failure")
        if states == {"ended"}:
            return stopped("success")
        if "stopped" in states:
            return stopped("manual" if self.was_stopped else "unrun")
        return {"choice": "started"}

    def metrics(self, given: Object) -> Object:
        if not isinstance(given, dict) or given.get("choice") != KEY:
            return results.metrics(self.run, given)
        request = schema.check(f"{C}.Metrics.Request", given.get(KEY) or {})
        of: Object = (request.get("single_collective") or {}).get("summary") or {}
        rows = [results.chosen(summary_of(job, self.rows()), of.get("column_names"), "collective") for job in self.jobs()
                if job.name in (of.get("collective") or [job.name])]
        return {"choice": KEY, KEY: {"choice": "single_collective", "single_collective": {"choice": "summary", "summary": rows}}}


def summary_of(job: ccl.Job, rows: dict[str, dict[str, Any]]) -> Object:
    name = job.section.removeprefix("job ")
    own = [rows[port.name][name] for port in job.ports if name in rows.get(port.name, {})]
    n = min((each["iterations_ended"] for each in own), default=0) if len(own) == len(job.ports) else 0
    found: Object = {"data_size": job.n_bytes, "collective": job.name, "iterations": n, "ecn_ce_rx": sum(each["ce_packets"] for each in own),
                     "frames_retx": sum(each["retransmitted_packets"] for each in own), "cnp_rx": sum(each["rp_cnp_handled"] for each in own)}
    if n == 0:
        return found
    mean_s, bound_s = (max(each[key] for each in own) / 1e9 for key in ("jct_mean_ns", "bound_ns"))
    factor = own[0]["bus_bandwidth_bps"] / (own[0]["algorithm_bandwidth_bps"] or 1)
    algorithm = job.n_bytes / mean_s / 1e9
    return {**found, "completion_time": mean_s * 1e3, "algo_bw": algorithm, "bus_bw": algorithm * factor, "ideal": 100 * bound_s / mean_s, "total_time": n * mean_s}


class Ccl491Api(server.Api):
    def __init__(self, tester: Ccl491Tester, version: str) -> None:
        super().__init__(tester, version)
        self.routes["/monitor/metrics"] = {"POST": tester.metrics}
        self.routes["/monitor/states"] = {"POST": tester.states}


def know() -> None:
    """Let requests be checked against the draft, too."""
    schema.extend(read_schemas(), TABLE)
