# SPDX-License-Identifier: BSD-3-Clause
"""The draft for collectives (ccl_table.py): Config.ccl as jobs of the quench-nics, State.Traffic.ccl, and the metrics ccl."""
from __future__ import annotations

import contextlib
import dataclasses
import time
from typing import Any

from quench.desk import Failed

from . import plan as plans
from . import results, schema, server
from .ccl_table import TABLE, read_schemas
from .generator import Driven, each, gather
from .schema import Checker, Full, Object, Refused
from .tester import Tester

NAME = "ccl-490"  # of the draft, for --draft
MOST_ITERATIONS, MOST_QPS_PER_PAIR, MOST_RANKS = 1_000_000, 64, 1024
NO_CHUNKS_KB = 4194304
UNITS = {"gigabit": 10**9 // 8, "gigabyte": 10**9, "megabit": 10**6 // 8, "megabyte": 10**6, "kilobyte": 1000}  # bytes
ALGORITHMS = {"ring_allreduce": "ring", "halving_doubling": "halving_doubling", "dual_tree": "double_binary_tree", "all_to_all_direct": "auto"}
PHASES = {"allreduce": "all_reduce", "reduce_scatter": "reduce_scatter", "all_gather": "all_gather"}
L1_BYTES = 90  # beside the payload of a packet, as the draft counts them
RESET_PATIENCE_S, AGAIN = 30.0, "try again"
FIRST_QPN, LEAST_QPS, MOST_QPS = 17, 64, 1 << 20


@dataclasses.dataclass
class Job:
    """A communicator."""

    name: str
    stage: str
    section: str
    ports: list[plans.Port]  # those of its ranks, each once
    n_bytes: int
    compute_ns: int
    mtu_bytes: int


class Planner:
    """Adds jobs to a plan without them."""

    def __init__(self, plan: plans.Plan, given: Object, ccl: Object) -> None:
        self.plan, self.given, self.ccl = plan, given, ccl
        self.checker = Checker()
        self.jobs: list[Job] = []
        self.n_qps = LEAST_QPS

    def refuse(self, path: str, why: str) -> None:
        self.checker.refuse(path, why)

    def add(self) -> list[Job]:
        """@raise Refused"""
        with contextlib.suppress(Full):
            config = self.checker.object("Ccl.Config", self.ccl, "ccl")
            if not self.checker.errors:
                self.add_all(config)
        if self.checker.errors:
            raise Refused(self.checker.errors)
        return self.jobs

    def add_all(self, config: Object) -> None:
        stages: list[Object] = config.get("stages") or []
        if len(stages) != 1:
            self.refuse("ccl.stages", f"{len(stages)}: expected one stage")
        if config["stage_loop_count"] != 1:
            self.refuse("ccl.stage_loop_count", f"{config['stage_loop_count']}: expected 1")
        self.expect_no_peers("ccl")
        if self.checker.errors:
            return
        stage = stages[0]
        names: set[str] = set()
        for n, item in enumerate(stage.get("communicators") or []):
            path = f"ccl.stages[0].communicators[{n}]"
            if item["name"] in names:
                self.refuse(f"{path}.name", f"{item['name']!r}: another communicator has this name")
            names.add(item["name"])
            self.add_job(path, n, stage, item)
        if not names:
            self.refuse("ccl.stages[0].communicators", "expected one or more")
        self.number_ports()

    def expect_no_peers(self, what: str) -> None:
        if self.plan.peers:
            self.refuse("devices", f"expected no rocev2 beside {what}: the QP numbers of both would meet")

    def number_ports(self) -> None:
        """Room for the QPs of all jobs, and their patience."""
        configured = {item.get("port_name") for item in (self.given.get("options") or {}).get("per_port_options") or [] if item.get("protocols")}
        for port in self.plan.ports.values():
            if port.running is not None:
                self.refuse("ports", f"port {port.name!r}: somebody else started its quench-nic, which has no jobs of ours")
            nic = port.sections["nic"]
            nic.update(first_qpn=str(FIRST_QPN), max_qps=str(min(self.n_qps, MOST_QPS)))
            if port.name not in configured:
                # Those of the API without settings, 4 ms in all, are for hardware: a program that waits for its turn on a CPU is late by more.
                for key in ("local_ack_timeout", "retry_cnt"):
                    nic.pop(key, None)
            for neighbour in port.neighbours:
                neighbour.section = ""  # its QP would have the number of a job's

    def addresses(self, path: str, names: list[str], version: str) -> list[plans.Address]:
        devices = {device.get("name"): device for device in self.given.get("devices") or []}
        found: list[plans.Address] = []
        for n, name in enumerate(names):
            interfaces = devices.get(name, {}).get("ethernets") or [{}]
            own = interfaces[0].get(f"{version}_addresses") or []
            if name not in devices or not own:
                self.refuse(f"{path}[{n}]", f"{name!r}: expected a device of the configuration, with an {version} address")
                continue
            address = self.plan.address(own[0]["name"])
            if address.interface.vlan:
                self.refuse(f"{path}[{n}]", f"{name!r}: expected a device without VLAN: a job's frames have none")
            found.append(address)
        return found

    def add_job(self, path: str, number: int, stage: Object, item: Object) -> None:
        policy = item["rocev2"]
        ranks = self.addresses(f"{path}.device_names", item.get("device_names") or [], policy["encapsulation"])
        if self.checker.errors:
            return
        if not 2 <= len(ranks) <= MOST_RANKS or len({rank.text for rank in ranks}) != len(ranks):
            self.refuse(f"{path}.device_names", f"expected 2 to {MOST_RANKS} devices with different addresses")
            return
        keys = self.keys(path, stage, item, policy)
        section, ports = self.put_job(f"{path}.device_names", number, ranks, keys)
        self.jobs.append(Job(item["name"], stage["name"], section, ports, int(keys["bytes"].removesuffix("B")), int(keys["compute_ns"]), policy["ib_mtu"]))

    def put_job(self, path: str, number: int, ranks: list[plans.Address], keys: plans.Section) -> tuple[str, list[plans.Port]]:
        """Its section for each port. @return the section's name, and the ports of its ranks"""
        section = f"job ccl-{number}"
        ports = list({rank.interface.port.name: rank.interface.port for rank in ranks}.values())
        for port in self.plan.ports.values():
            here = [n for n, rank in enumerate(ranks) if rank.interface.port is port]
            hop = self.hop(path, port, ranks, here)
            port.sections[section] = {"ranks": ", ".join(rank.text for rank in ranks), "ranks_here": ",".join(map(str, here)) or "none",
                                      **({"next_hop": hop} if hop else {}), **keys, "stopped": "on"}
        self.n_qps += 2 * len(ranks) * (len(ranks) - 1) * (int(keys["qps_per_pair"]) + 1)
        return section, ports

    def hop(self, path: str, port: plans.Port, ranks: list[plans.Address], here: list[int]) -> str:
        """The router of a port's ranks to the others; "": they are on the link."""
        behind = {ranks[n].is_behind_gateway(other.ip) for n in here for other in ranks if other is not ranks[n]}
        gateways = {str(ranks[n].gateway) for n in here}
        if len(behind) > 1 or (True in behind and len(gateways) > 1):
            self.refuse(path, f"port {port.name!r}: expected all other ranks on the link, or all behind one gateway")
        if len(here) > 1 and True not in behind:
            self.refuse(path, f"port {port.name!r}: expected one rank, or a gateway on the way to all others: a switch does not send frames back")
        return gateways.pop() if True in behind else ""

    def keys(self, path: str, stage: Object, item: Object, policy: Object) -> plans.Section:
        generation, run = item["generation"], stage["duration"]["fixed_iterations"]
        algorithm = item["algorithm"] if "algorithm" in self.given_of(path) else stage["algorithm"]
        choice, phase = algorithm["choice"], algorithm["phase"]
        if phase != "allreduce" and choice not in ("ring_allreduce", "halving_doubling"):
            self.refuse(f"{path}.algorithm.phase", f"{phase}: expected ring_allreduce or halving_doubling as choice, not {choice}")
        if run["count"] > MOST_ITERATIONS:
            self.refuse("ccl.stages[0].duration.fixed_iterations.count", f"{run['count']}: expected at most {MOST_ITERATIONS}")
        if policy["qps_per_peer"] > MOST_QPS_PER_PAIR:
            self.refuse(f"{path}.rocev2.qps_per_peer", f"{policy['qps_per_peer']}: expected at most {MOST_QPS_PER_PAIR}")
        gap_ms, jitter_ms = self.gap(path, generation if "compute_gap" in self.given_of(f"{path}.generation") else {})
        compute_ms = gap_ms + run["interval_ms"]
        chunk_kb = policy["chunk_size_kb"]
        return {"collective": "all_to_all" if choice == "all_to_all_direct" else PHASES[phase], "algorithm": ALGORITHMS[choice],
                "bytes": f"{generation['data_size'] * UNITS[generation['data_size_unit']]}B", "iterations": str(run["count"]),
                "compute_ns": str(round(compute_ms * 1e6)), "compute_jitter_ppm": str(round(1e6 * jitter_ms / compute_ms) if compute_ms else 0),
                "mtu_bytes": str(policy["ib_mtu"]), "qps_per_pair": str(policy["qps_per_peer"]),
                "chunk_bytes": "0" if chunk_kb == NO_CHUNKS_KB else f"{min(chunk_kb * 1024, 1 << 31)}B",
                "dscp": str(policy["connection_type"]["reliable_connection"]["dscp"])}

    def gap(self, path: str, generation: Object) -> tuple[float, float]:
        """Mean and greatest deviation, in ms. Without compute_gap: none."""
        if not generation:
            return 0.0, 0.0
        gap = generation["compute_gap"]
        if gap["choice"] == "fixed":
            return float(gap["fixed"]["ms"]), 0.0
        low, high = gap["random"]["min_ms"], gap["random"]["max_ms"]
        if low > high:
            self.refuse(f"{path}.generation.compute_gap.random", f"min_ms = {low}: expected at most max_ms, {high}")
        return (low + high) / 2, max(high - low, 0) / 2

    def given_of(self, path: str) -> Object:
        """What the request has there, without defaults."""
        communicator, _, rest = path.removeprefix("ccl.stages[0].communicators[").partition("]")
        found: Object = self.ccl["stages"][0]["communicators"][int(communicator)]
        for key in filter(None, rest.split(".")):
            found = found.get(key) or {}
        return found


class JobTester(Tester):
    """A tester whose configurations may have jobs."""

    planned: tuple[plans.Plan | None, list[Job]] = None, []

    def jobs(self) -> list[Job]:
        """Of the configuration in force."""
        plan, jobs = self.planned
        return jobs if self.run.plan is plan else []

    def run_jobs(self, starts: bool, without: str) -> list[str]:
        """Start all jobs from their first iteration, or stop them."""
        with self.lock:
            if not self.jobs():
                raise Refused([without])
            failed = [] if starts else failures(self.jobs(), self.rows())
            with self.all_or_nothing():
                self.put_jobs(True)
                if starts:
                    for job in self.jobs():
                        self.reset(job)
                    self.put_jobs(False)
            return failed + self.said() + self.save() + self.lost_lines()

    def started(self) -> list[Job]:
        return [job for job in self.jobs() if all(port.sections[job.section]["stopped"] == "off" for port in job.ports)]

    def reset(self, job: Job) -> None:
        name = job.section.removeprefix("job ")
        generators = [self.run.generators[port.name] for port in job.ports]

        def call(generator: Driven) -> None:
            until_s = time.monotonic() + RESET_PATIENCE_S
            while True:
                try:
                    generator.call("reset", flow=name)
                    return
                except Failed as failed:  # its lcore polls late, and it asks for another try
                    if AGAIN not in str(failed) or time.monotonic() > until_s:
                        raise

        failed = each([generator for generator in generators if generator.is_ready()], call)
        self.refuse(generators, failed)

    def put_jobs(self, stopped: bool) -> None:
        sections = {job.section for job in self.jobs()}
        for port in self.run.plan.ports.values():
            port.sections = {name: {**keys, "stopped": "on" if stopped else "off"} if name in sections else keys for name, keys in port.sections.items()}
        self.apply()

    def rows(self) -> dict[str, dict[str, Any]]:
        """Of each port, what it has of each job."""
        found = gather(self.run.generators, lambda generator: generator.if_ready(lambda generator: generator.call("jobs")))
        return {name: {row["name"]: row for row in reply["rows"]} for name, reply in found.items() if reply}


class CclTester(JobTester):
    """A tester whose configurations may have ccl."""

    def plan(self, given: Object) -> plans.Plan:
        if not isinstance(given, dict) or given.get("ccl") is None:
            return super().plan(given)
        plan = super().plan({key: value for key, value in given.items() if key != "ccl"})
        self.planned = plan, Planner(plan, given, given["ccl"]).add()
        return plan

    def set_state(self, given: Object) -> list[str]:
        traffic = given.get("traffic") if isinstance(given, dict) and given.get("choice", "traffic") == "traffic" else None
        if not isinstance(traffic, dict) or traffic.get("choice", "ccl") != "ccl" or "ccl" not in traffic:
            return super().set_state(given)
        request = schema.check("State.Traffic.Ccl", traffic["ccl"])
        return self.run_jobs(request["state"] == "start", "traffic.ccl: the configuration has no ccl")

    def metrics(self, given: Object) -> Object:
        if not isinstance(given, dict) or given.get("choice", "ccl") != "ccl" or "ccl" not in given and given.get("choice") != "ccl":
            return results.metrics(self.run, given)
        request = schema.check("Ccl.Metrics.Request", given.get("ccl") or {})
        jobs = {job.name: job for job in self.jobs()}
        for key, known in (("communicator_names", set(jobs)), ("stage_names", {job.stage for job in jobs.values()})):
            wrong = [name for name in request.get(key) or [] if name not in known]
            if wrong:
                raise Refused([f"ccl.{key}: {name!r}: no such name in the configuration" for name in wrong])
        rows = self.rows()
        wanted = [job for job in jobs.values() if job.name in (request.get("communicator_names") or jobs) and job.stage in (request.get("stage_names") or [job.stage])]
        # A row has no state, and a client may wait for its iterations.
        failed = failures([job for job in self.started() if job in wanted], rows)
        if failed:
            raise Failed("; ".join(failed))
        return {"choice": "ccl_metrics", "ccl_metrics": [results.chosen(row_of(job, rows), request.get("column_names"), "communicator_name") for job in wanted]}


def failures(jobs: list[Job], rows: dict[str, dict[str, Any]]) -> list[str]:
    """A line for each port at which one of the jobs has failed."""
    found = [(job, port, of.get(job.section.removeprefix("job "), {})) for job in jobs for port, of in rows.items()]
    return [f"{job.name} has failed: port {port}: {row['why']}" for job, port, row in found if row.get("state") == "failed"]


def row_of(job: Job, rows: dict[str, dict[str, Any]]) -> Object:
    name = job.section.removeprefix("job ")
    own = [rows[port.name][name] for port in job.ports if name in rows.get(port.name, {})]
    row: Object = {"communicator_name": job.name, "stage_index": 0, "stage_name": job.stage}
    n = min((each_["iterations_ended"] for each_ in own), default=0) if len(own) == len(job.ports) else 0
    row.update(iteration_count=n, reorder_count=sum(each_["out_of_sequence"] for each_ in own))
    if n == 0:
        return row
    mean_s, bound_s = (max(each_[key] for each_ in own) / 1e9 for key in ("jct_mean_ns", "bound_ns"))
    factor = own[0]["bus_bandwidth_bps"] / (own[0]["algorithm_bandwidth_bps"] or 1)
    algorithm = 8 * job.n_bytes / mean_s / 1e9
    layer_1 = (job.mtu_bytes + L1_BYTES) / job.mtu_bytes
    reduce_s = n * job.compute_ns / 1e9
    return {**row, "jct": n * mean_s, "avg_jct": mean_s, "max_jct": max(each_["jct_max_ns"] for each_ in own) / 1e9, "min_jct": max(each_["jct_min_ns"] for each_ in own) / 1e9,
            "ideal_jct": n * bound_s, "jct_percent": 100 * mean_s / bound_s, "alg_bw": algorithm, "bus_bw": algorithm * factor, "l1_alg_bw": algorithm * layer_1,
            "l1_bus_bw": algorithm * factor * layer_1, "reduce_time": reduce_s, "trans_time": n * mean_s - reduce_s, "training_time": n * mean_s}


class CclApi(server.Api):
    def __init__(self, tester: CclTester, version: str) -> None:
        super().__init__(tester, version)
        self.routes["/monitor/metrics"] = {"POST": tester.metrics}


def know() -> None:
    """Let requests be checked against the draft, too."""
    schema.extend(read_schemas(), TABLE)
