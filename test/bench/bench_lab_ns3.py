#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-lab beside Debian's ns-3: links that frames cross in a second of CPU time, in turns, start-up included.

Both simulate a 4:1 incast at 40 Gb/s, with an answer for each data frame. ns-3 has no RDMA: it sends plain UDP through a
router (ns3_incast.cc), without congestion control, ECN, pauses, a shared buffer, payload and ICRC, all of which the lab has.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path("@ROOT@") / "test" / "bench"
SCENARIO = pathlib.Path("@ROOT@") / "config" / "incast-4to1.ini"
LAB = pathlib.Path(__file__).resolve().parents[2] / "app" / "quench-lab" / "quench-lab"
SMOKE = "QUENCH_BENCH_SMOKE" in os.environ
ROUNDS, SIMULATED_MS = (1, 1) if SMOKE else (5, 100)
MODULES = ("core", "network", "internet", "point-to-point")
LACK = "none: ns-3 is not installed (scripts/install-deps bench-peers)"


def build(folder):
    """The program, or None: something to build it is not there. Debian's ns3-*.pc name files that no package has."""
    if shutil.which("g++") is None or not pathlib.Path("/usr/include/ns3/simulator.h").exists():
        return None
    program = folder / "ns3_incast"
    subprocess.run(["g++", "-O0" if SMOKE else "-O2", HERE / "ns3_incast.cc", "-o", program, *(f"-lns3-{module}" for module in MODULES)], check=True)
    return program


def cpu_of(command, folder):
    """(CPU seconds, standard output) of a command."""
    with open(folder / "out", "w+", encoding="utf-8") as out, subprocess.Popen(command, stdout=out) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"bench_lab_ns3: {command[0]}: exit code {process.returncode}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, out.read()


def lab(folder):
    """Millions of hops a second."""
    seconds, _ = cpu_of([LAB, "--quiet", "--no-progress", "--threads", "1", "--json", folder / "lab.json", "--duration", f"{SIMULATED_MS}ms", SCENARIO], folder)
    return json.loads((folder / "lab.json").read_text(encoding="utf-8"))["packet_hops"] / seconds / 1e6


def ns3(program, folder):
    seconds, out = cpu_of([program, str(SIMULATED_MS)], folder)
    return json.loads(out)["hops"] / seconds / 1e6


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(lab(folder))
            if program is not None:
                theirs.append(ns3(program, folder))
        row = {"name": "lab, 4:1 at 40G, DCQCN, one thread", "value": statistics.median(ours), "unit": "M hops/s",
               "peer": "ns-3 of Debian, plain UDP of the same frames" if theirs else LACK}
        if theirs:
            ratios = sorted(a / b for a, b in zip(ours, theirs))
            n = len(ratios)
            row |= {"peer_value": statistics.median(theirs), "ratio": ratios[n // 2], "ratio_low": ratios[n // 4], "ratio_high": ratios[n - 1 - n // 4]}
        print(json.dumps(row), flush=True)


main()
