# SPDX-License-Identifier: BSD-3-Clause
"""The scenario in quench-lab."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import subprocess
from typing import Any

import quench
from quench import lab, tables
from quench.data import Run

from .quantities import Flow, Job, Measured, is_loss
from .sections import COMMENT, FILES, BadFile, TestFile

LAB = lab.LAB
MOST_RECORDED = 200_000  # frames of a port
SNAP_BYTES = 128
NAMES_FILE = re.compile(rf"(?:^|\.)\s*(?:{'|'.join(FILES)})[ \t]*=[ \t]*(.*?)[ \t]*$", re.M)


@dataclasses.dataclass
class Scenario:
    """A file without its own sections, in a folder of its own so that its name stays, and options of quench-lab."""

    file: TestFile
    path: pathlib.Path
    options: list[str]

    def translate(self, text: str) -> str:
        """A message of quench-lab: of the user's file, or of one beside it."""
        text = text.replace(str(self.path), str(self.file.path)).replace(f"{self.path.parent}/", f"{self.file.path.parent}/".removeprefix("./"))
        return text.removeprefix("quench-lab: ").removeprefix("error: ")


def prepare(file: TestFile, folder: pathlib.Path, options: list[str]) -> Scenario:
    """The folder has the path of the user's below it, and links to the files that the scenario names: so names with .. lead to them too."""
    beside = file.path.resolve().parent
    path = folder / beside.relative_to("/") / file.path.name
    path.parent.mkdir(parents=True)
    path.write_text(file.scenario, encoding="utf-8")
    for name in NAMES_FILE.findall("\n".join((COMMENT.sub("", file.scenario), *options))):
        link = pathlib.Path(os.path.normpath(path.parent / name))
        if os.path.isfile(beside / name) and not os.path.lexists(link) and folder in link.parents:
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to((beside / name).resolve())
    return Scenario(file, path, options)


def effective(scenario: Scenario) -> str:
    """The configuration in force, with comments on addresses. @raise BadFile: quench-lab refuses the scenario"""
    try:
        done = subprocess.run([str(LAB), *scenario.options, "--check-config", str(scenario.path)], capture_output=True, text=True, check=False)
    except OSError as error:
        raise quench.Failed(f"{LAB}: {error.strerror}: build quench-lab") from error
    if done.returncode:
        raise BadFile(scenario.translate(done.stderr.strip().splitlines()[-1] if done.stderr else f"quench-lab: exit code {done.returncode}"))
    return done.stdout


def flow_names(text: str) -> list[str]:
    """Names of sections and of flows, from effective(), which lists the first flows of many."""
    return [*re.findall(r"^\[(?:flow|job) (.+)\]$", text, re.M), *(name for name, *_ in ends(text))]


def ends(text: str) -> list[tuple[str, str, str, str, str]]:
    """Name, and first QP number (hexadecimal) and host of both ends, from effective()."""
    number = r"0x([0-9a-f]+)(?: to 0x[0-9a-f]+)? at h(\d+)"
    return re.findall(rf"^#   (.+): {number}, {number}$", text, re.M)


def run(scenario: Scenario, out: pathlib.Path, *more: str) -> None:
    """@raise quench.Failed: the run failed"""
    command = [str(LAB), "--quiet", "--no-progress", *scenario.options, *more, "--out", str(out), str(scenario.path)]
    started = lab.Started(command, out)
    errors, code = started.communicate().strip(), started.process.returncode
    if code:
        raise quench.Failed(scenario.translate(errors.splitlines()[-1] if errors else f"quench-lab: exit code {code}"))


def measured(folder: pathlib.Path) -> Measured:
    """From the files of a run. @raise quench.Failed: they cannot be read"""
    try:
        found = Run(folder)
    except tables.BadInput as error:
        raise quench.Failed(str(error)) from error
    results = found.results
    switches = {port["node"] for port in results["ports"]}
    pauses = [counter for counter in results["pfc_counters"] if counter["node"] in switches]
    flows = [Flow(flow["name"], flow["wire_rate_bps"], flow["goodput_bps"], flow["messages_completed"], flow["retransmitted_packets"], flow["cnp_sent"],
                  int(flow["error"]), {measure: times for (name, measure), times in found.times.items() if name == flow["name"]})
             for flow in results["flows"]]
    queues = [queue for port in results["ports"] for queue in port["queues"]]
    losses = {f"{drop['node']} port {drop['port']} {drop['reason']}": drop["packets"] for drop in results["drops"] if is_loss(drop["reason"])}
    return Measured(flows, losses, sum(pause["tx_pause"] for pause in pauses),
                    round(sum(pause["tx_pause_duration_us"] for pause in pauses)), results["counters"]["ecn_marked_packets"],
                    max((queue["watermark_bytes"] for queue in queues), default=0), jobs(results))


def jobs(results: dict[str, Any]) -> dict[str, Job]:
    return {job["name"]: Job([float(one["jct_ns"]) for one in job["per_iteration"]], float(job["bound_ns"]), job["iterations"] - job["iterations_ended"])
            for job in results["jobs"]}


def record(scenario: Scenario, folder: pathlib.Path) -> dict[str, str]:
    """Record the port of the bottleneck in a second run, which is the same. Long runs are cut.

    @return {name of the file: its frames}; none if the file has recordings of its own
    """
    if re.search(r"^\s*\[\s*record\b", scenario.file.scenario, re.M):
        return {}
    results = Run(folder / "lab").results
    where = results["bottleneck"]
    port = next(port for port in results["ports"] if (port["node"], port["port"]) == (where["node"], where["port"]))
    packets = port["rx_packets"] + port["tx_packets"]
    share = min(1.0, MOST_RECORDED / max(1, packets))
    with open(scenario.path, "a", encoding="utf-8") as file:
        file.write(f"\n[record failed]\nnode = {where['node']}\nport = {where['port']}\nsnap_bytes = {SNAP_BYTES}\n")
    try:
        run(scenario, folder / "recording", *([] if share == 1.0 else ["--duration", f"{max(1, int(results['duration_ns'] * share))}ns"]))
        (folder / "recording" / "failed.pcapng").replace(folder / "failed.pcapng")
        return {"failed.pcapng": f"the frames of {where['node']} port {where['port']}, the bottleneck in the lab"}
    finally:
        scenario.path.write_text(scenario.file.scenario, encoding="utf-8")
        for left in (folder / "recording").glob("*"):
            left.unlink()
        if (folder / "recording").exists():
            (folder / "recording").rmdir()
