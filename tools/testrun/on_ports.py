# SPDX-License-Identifier: BSD-3-Clause
"""The scenario on ports: processes, the timetable, and what they counted."""
from __future__ import annotations

import csv
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import quench
from places import program
from quench import data, tables
from quench.process import PATIENCE_S
from report import html

from .criteria import Criterion
from .in_lab import MOST_RECORDED, SNAP_BYTES
from .plan import Plan, PlannedFlow, Step
from .quantities import Flow, Job, Measured, is_loss
from .sections import BadFile, TestFile

SAMPLE_S = 0.05
LATE_S = 0.02
MOST_WARNINGS = 8
LINK_DOWN = re.compile(r"\blink (is )?down\b")
Rows = dict[str, quench.desk.Row]  # by "host/flow"


def check(file: TestFile, plan: Plan) -> None:
    """Both programs accept their configurations. @raise BadFile"""
    texts = {f"h{host}": ("quench-nic", text) for host, text in plan.nics.items()}
    texts |= {name: ("quench-switch", text) for name, text in plan.switches.items()}
    with tempfile.TemporaryDirectory(prefix="quench-test-") as folder:
        for name, (role, text) in texts.items():
            path = pathlib.Path(folder) / f"{name}.ini"
            path.write_text(text, encoding="utf-8")
            try:
                done = subprocess.run([str(program(role)), "--check-config", "--config", str(path)], capture_output=True, text=True, check=False)
            except OSError as error:
                raise quench.Failed(f"{program(role)}: {error.strerror}: build {role}") from error
            if done.returncode:
                raise BadFile(translate(file, name, str(path), done.stderr.strip().splitlines()[-1]))


def translate(file: TestFile, name: str, path: str, line: str) -> str:
    """A line of a program: at the key of [ports SECTION] if it is there."""
    text = line.partition("error: ")[2] or line
    found = re.match(rf"{re.escape(path)}(?::\d+)?: \[([^\]]+)\] ?(\w*)", text)
    section = file.own.get(f"ports {found[1]}") if found else None
    if found and section:
        number = section.keys[found[2]][1] if found[2] in section.keys else section.line
        return f"{file.path}:{number}: [{section.name}]{text[found.end(1) + 1:]}"
    return f"{file.path}: {name} on ports: {text.removeprefix(path).lstrip(':0123456789').strip()}"


@dataclasses.dataclass
class Timeline:
    """Bytes of each flow over time, and the begins of the steps."""

    time_s: list[float]
    wire_bytes: dict[str, list[float]]
    steps: list[tuple[float, str]]


@dataclasses.dataclass
class Ran:
    """What a run measured, what to draw, and what else there is to say. capture: the last frames of the recorded port"""

    measured: Measured
    timeline: Timeline
    remarks: list[str]
    capture: quench.Capture | None
    where: str  # the recorded port
    broken: str

    def record(self, folder: pathlib.Path) -> dict[str, str]:
        """Write what was recorded. @return {name of the file: its frames}. @raise OSError"""
        if self.capture is None:
            return {}
        frames = self.capture.write(folder / "failed-ports.pcapng")
        until = f"until {self.broken}" if self.broken else "of the run on ports"
        return {"failed-ports.pcapng": f"the last {html.number(frames)} frames of {self.where} {until}"}


class Network:
    """The processes of a plan, and the timetable."""

    def __init__(self, plan: Plan, folder: pathlib.Path, criteria: list[Criterion] | None) -> None:
        """criteria: frames are recorded until a count is above its at_most; None: they are not recorded"""
        self.plan, self.folder, self.criteria = plan, folder, criteria
        self.capture: quench.Capture | None = None
        self.where = ""
        self.broken = ""  # the first of these criteria, and when
        self.nics: dict[int, quench.Nic] = {}
        self.switches: dict[str, quench.Switch] = {}
        self.begin_s = 0.0
        self.flooded: dict[str, list[quench.desk.Row]] = {}  # before the run: ARP requests, to links that were still down
        self.timeline = Timeline([], {flow.name: [] for flow in plan.flows}, [])
        self.late: list[str] = []
        self.linked: dict[str, int] = {}  # by program, bytes of its log when all links were up, and when the programs began to end
        self.ended: dict[str, int] = {}

    def __enter__(self) -> Network:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        plan, folder = self.plan, self.folder
        cables = {host: quench.Cable() for host in plan.nics if f"h{host}" not in plan.devices}
        ends = {str(plan.wiring.of_host(host)): cable.server for host, cable in cables.items()}
        for a, b in plan.wiring.links():
            cable = quench.Cable()
            ends[str(a)], ends[str(b)] = cable.server, cable.client
        ends |= plan.devices
        for name, text in plan.switches.items():
            devices = [ends.get(f"{name} port {number}", f"net_null{number},no-rx=1") for number in range(plan.wiring.n_ports(name))]
            self.switches[name] = quench.Switch(text, devices, name=name, folder=folder, huge=plan.huge, idle_sleep_us=plan.idle_sleep_us)
        for host, text in plan.nics.items():
            device = plan.devices.get(f"h{host}") or cables[host].client
            self.nics[host] = quench.Nic(text, [device], name=f"h{host}", folder=folder, huge=plan.huge, idle_sleep_us=plan.idle_sleep_us,
                                         options=["--csv", str(folder / f"h{host}"), "--stats-interval", "0.1"])
        self.wait_links()
        self.linked = self.log_sizes()
        self.flooded = {name: switch.rows("drops") for name, switch in self.switches.items()}
        if self.criteria is not None and plan.record is not None:
            at = plan.wiring.of_host(plan.record)
            node, port = (self.switches[at.switch], at.number) if self.switches else (self.nics[plan.record], 0)
            self.where = f"{node.name} port {port}"
            self.capture = node.capture(port, MOST_RECORDED, snaplen=SNAP_BYTES)

    def wait_links(self) -> None:
        """The switch drops frames for a link that is down, and sees later than the host that it is up."""
        end, wiring = time.monotonic() + PATIENCE_S, self.plan.wiring
        needed = [*((wiring.of_host(host), f"h{host}") for host in self.plan.nics), *((a, b.switch) for a, b in wiring.links()), *((b, a.switch) for a, b in wiring.links())]
        while self.switches:
            links = {name: [port["link"] for port in switch.ports()] for name, switch in self.switches.items()}
            down = [f"{port}, to {peer}" for port, peer in needed if links[port.switch][port.number] != "up"]
            if not down:
                return
            if time.monotonic() > end:
                raise quench.Failed(f"{down[0]}, is down after {PATIENCE_S:g} s")
            time.sleep(0.02)

    def log_sizes(self) -> dict[str, int]:
        return {program_.name: program_.log.stat().st_size for program_ in (*self.switches.values(), *self.nics.values())}

    def stop(self) -> None:
        if self.capture is not None:
            self.capture.stop()
        for program_ in (*self.switches.values(), *self.nics.values()):
            program_.stop()

    def warnings(self) -> list[str]:
        """Those of the programs, once each. Before all programs have started, and while they end, links are down and nobody needs to know."""
        found: dict[str, None] = {}
        for program_ in (*self.switches.values(), *self.nics.values()):
            at = 0
            for line in program_.log.read_bytes().splitlines(keepends=True):
                at += len(line)
                _, warning, text = line.decode(errors="replace").rstrip().partition("warning: ")
                expected = LINK_DOWN.search(text) and not self.linked[program_.name] < at <= self.ended[program_.name]
                if warning and not expected:
                    found[f"{program_.name}: {text}"] = None
        return list(found)[:MOST_WARNINGS]

    def rows(self) -> Rows:
        return {f"{host}/{row['flow']}": row for host, nic in self.nics.items() for row in nic.flows()}

    def sent(self, flow: PlannedFlow, rows: Rows) -> quench.desk.Row:
        return rows[key_of(flow, flow.sender)]

    def received(self, flow: PlannedFlow, rows: Rows) -> quench.desk.Row:
        return rows[key_of(flow, flow.receiver)]

    def take(self, step: Step) -> None:
        node = self.switches[step.node] if step.node.startswith("s") else self.nics[int(step.node[1:])]
        for kind in step.clears:
            node.call("clear_watermark", kind=kind)
        if step.settings:
            node.set(step.settings)
        at = time.monotonic() - self.begin_s
        self.timeline.steps.append((at, step.what))
        if at - step.at_ns / 1e9 > LATE_S:
            self.late.append(f"{1e3 * at - step.at_ns / 1e6:.0f} ms late: {step.what}")

    def sample(self) -> Rows:
        rows = self.rows()
        self.timeline.time_s.append(time.monotonic() - self.begin_s)
        for flow in self.plan.flows:
            self.timeline.wire_bytes[flow.name].append(self.sent(flow, rows)["wire_bytes"])
        self.watch(rows)
        return rows

    def watch(self, rows: Rows) -> None:
        """A sample after a criterion has failed, no more frames are kept."""
        if self.capture is None or self.capture.frozen:
            return
        if self.broken:
            self.capture.freeze()
        for criterion in self.criteria or ():
            if not self.broken and criterion.at_most is not None and criterion.quantity in COUNTS and "ports" in criterion.places:
                if COUNTS[criterion.quantity](self, rows, criterion.flow) > criterion.at_most:
                    self.broken = f"{criterion.name}, at {self.timeline.time_s[-1]:.1f} s"

    def flows(self, name: str) -> list[PlannedFlow]:
        return [flow for flow in self.plan.flows if name in ("", flow.name, flow.section)]

    def lost(self) -> int:
        hosts: int = sum(value for nic in self.nics.values() for name, value in nic.counters().items()
                         if name.startswith("drop_") and is_loss(name))
        return hosts + sum(self.dropped().values())

    def dropped(self) -> dict[str, int]:
        """Packets that switches have dropped in the run, by place and reason."""
        found: dict[str, int] = {}
        for name, switch in self.switches.items():
            for before, row in zip(self.flooded[name], switch.rows("drops"), strict=True):
                found |= {f"{name} port {row['port']} {reason}": packets - before[reason] for reason, packets in row.items()
                          if reason != "port" and packets > before[reason]}
        return found

    def pauses(self) -> int:
        rows = [row for switch in self.switches.values() for row in switch.pauses()]
        return int(sum(value for row in rows for name, value in row.items() if re.fullmatch(r"tx_(prio\d|global)_pause", name)))

    def run(self, said: Callable[[float], None]) -> tuple[Rows, Rows, float]:
        """@return rows at both ends of the measured window, and its length in seconds"""
        plan = self.plan
        steps = [step for step in plan.steps if step.at_ns < plan.duration_ns]
        self.begin_s = time.monotonic()
        end_s, from_s = plan.duration_ns / 1e9, plan.measure_from_ns / 1e9
        base: Rows | None = None
        base_s = 0.0
        next_sample_s = 0.0
        while True:
            now_s = time.monotonic() - self.begin_s
            while steps and steps[0].at_ns / 1e9 <= now_s:
                self.take(steps.pop(0))
            now_s = time.monotonic() - self.begin_s
            if base is None and now_s >= from_s:
                base, base_s = self.sample(), time.monotonic()
            if now_s >= end_s:
                assert base is not None
                return base, self.sample(), time.monotonic() - base_s
            if now_s >= next_sample_s:
                self.sample()
                said(now_s / end_s)
                next_sample_s = now_s + SAMPLE_S
            following = min([end_s, next_sample_s, *([from_s] if base is None else []), *(step.at_ns / 1e9 for step in steps[:1])])
            time.sleep(max(0.0, self.begin_s + following - time.monotonic()))


# Counts that only grow, by quantity.
COUNTS: dict[str, Callable[[Network, Rows, str], int]] = {
    "messages": lambda network, rows, name: sum(rows[key_of(flow, flow.src.host)]["messages"] for flow in network.flows(name)),
    "cnps": lambda network, rows, name: sum(network.received(flow, rows)["cnps_sent"] for flow in network.flows(name)),
    "retransmitted_packets": lambda network, rows, name: sum(network.sent(flow, rows)["retransmitted_packets"] for flow in network.flows(name)),
    "failed_qps": lambda network, rows, name: sum(rows[key_of(flow, flow.src.host)]["qps_failed"] for flow in network.flows(name)),
    "lost_packets": lambda network, rows, name: network.lost(),
    "pause_frames": lambda network, rows, name: network.pauses(),
}


def key_of(flow: PlannedFlow, host: int) -> str:
    if flow.ranks:
        return f"{host}/{flow.section} {flow.ranks}{'' if host == flow.src.host else ' in'}"
    return f"{host}/{flow.name}" if host == flow.src.host else f"{host}/{flow.name} <"


def run(plan: Plan, folder: pathlib.Path, progress: bool, criteria: list[Criterion] | None = None) -> Ran:
    """Run it; folder gets configurations, logs and counters. criteria: as Network has it. @raise quench.Failed"""
    def said(share: float) -> None:
        if progress:
            print(f"\ron ports: {share:4.0%} of {plan.duration_ns / 1e9:g} s", end="", file=sys.stderr, flush=True)

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Network(plan, folder, criteria) as network:
            base, last, passed_s = network.run(said)
            # The end of one program is a link that goes down for the next, which drops what others still send.
            dropped = network.dropped()
            network.ended = network.log_sizes()
            network.stop()
    except OSError as error:
        raise quench.Failed(f"{error.filename or folder}: {error.strerror}") from error
    finally:
        if progress:
            print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)
    return Ran(measured(network, base, last, passed_s, dropped), network.timeline, network.late + network.warnings(), network.capture, network.where, network.broken)


def measured(network: Network, base: Rows, last: Rows, passed_s: float, dropped: dict[str, int]) -> Measured:
    """dropped: packets of the switches, by place and reason"""
    results = {host: nic.results() for host, nic in network.nics.items()}
    times = {}
    try:
        for host in results:
            times[host] = data.read_times(network.folder / f"h{host}" / "times.csv")
    except tables.BadInput as error:
        raise quench.Failed(str(error)) from error
    flows = []
    for flow in network.plan.flows:
        requester, sender, receiver = (last[key_of(flow, host)] for host in (flow.src.host, flow.sender, flow.receiver))
        wire, payload = ((8 * (of(flow, last)[name] - of(flow, base)[name]) / passed_s) for of, name in ((network.sent, "wire_bytes"), (network.received, "payload_bytes")))
        flows.append(Flow(flow.name, wire, payload, requester["messages"], sender["retransmitted_packets"], receiver["cnps_sent"], requester["qps_failed"],
                          {measure: found for (name, measure), found in times[flow.src.host].items() if name == flow.name}))
    losses = {f"h{host} {name}": value for host, found in results.items() for name, value in found["counters"].items() if name.startswith("drop_") and is_loss(name) and value}
    if not network.switches:
        return Measured(flows, None, None, None, None, None, jobs(network, results))
    by_switch = {name: switch.results()["ports"] for name, switch in network.switches.items()}
    ports = [port for found in by_switch.values() for port in found]
    queues = [queue for port in ports for queue in port["queues"]]
    pauses = {what: sum(value for port in ports for name, value in port.items() if re.fullmatch(rf"tx_(prio\d|global)_pause{what}", name))
              for what in ("", "_duration_us")}
    losses |= dropped
    return Measured(flows, losses, pauses[""], pauses["_duration_us"],
                    sum(queue["ecn_marked_packets"] for queue in queues), max(queue["watermark_bytes"] for queue in queues),
                    jobs(network, results))


def jobs(network: Network, results: dict[int, Any]) -> dict[str, Job]:
    """The programs of a machine share a clock."""
    found: dict[str, Job] = {}
    for name, hosts in network.plan.jobs.items():
        spans: dict[str, list[tuple[int, int]]] = {}
        told = {host: next(job for job in results[host]["jobs"] if job["name"] == name) for host in hosts}
        for host in hosts:
            epoch = told[host]["epoch_ns"]
            with open(network.folder / f"h{host}" / "jobs.csv", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    if row["job"] == name:
                        spans.setdefault(row["iteration"], []).append((epoch + int(row["begin_ns"]), epoch + int(row["end_ns"])))
        jct = [float(max(end for _, end in of) - min(begin for begin, _ in of)) for of in spans.values() if len(of) == len(hosts)]
        first = told[hosts[0]]
        found[name] = Job(jct, float(first["bound_ns"]), first["iterations"] - len(jct))
    return found
