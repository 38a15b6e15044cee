#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What runs out while quench-lab runs: disk, file descriptors, memory.

    test_exhaustion.py QUENCH_LAB CONFIG_DIR CASE

Each run either succeeds whole, or ends with code 1 or 2 and says why, by the name of the file if there is one; it leaves no part of a
result. QUENCH_EXHAUSTION_STEP_MB makes the steps of address space smaller.
"""
import os
import pathlib
import resource
import signal
import subprocess
import tempfile

from scenarios import expect, with_config

MB = 1 << 20


def limited(limits, *command):
    def before():
        # Beyond the limit a write fails, as on a full disk, instead of a signal.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for kind, value in limits.items():
            resource.setrlimit(kind, (value, value))

    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, preexec_fn=before,
                          env={**os.environ, "MALLOC_ARENA_MAX": "1"})


def failed_by_name(done, what):
    """A message of ours, whatever DPDK has said before it."""
    expect(done.returncode in (1, 2), f"{what}: code {done.returncode}, {done.stderr[-300:]}")
    lines = [line for line in done.stderr.splitlines() if line.startswith("quench-lab: error: ")]
    expect(lines and all(len(line) > 25 for line in lines), f"{what}: {done.stderr[-300:]}")
    # No error code of something else; what EAL prints of its own is its own.
    expect(not any("Success" in line or "No such file" in line for line in lines), f"{what}: {done.stderr[-300:]}")


def scenario(config):
    return ["--quiet", "--no-progress", "--duration", "300us", "--set", "fabric.measure_from_ns=0", "--set", "fabric.sample_ns=2us", "--trace", "incast", config + "/incast-4to1.ini"]


def disk(lab, config):
    """A file that cannot grow: no results, no part of them, and the results of before stay whole."""
    with tempfile.TemporaryDirectory() as folder:
        whole = pathlib.Path(folder) / "whole"
        done = limited({}, lab, "--out", whole, *scenario(config))
        expect(done.returncode == 0, done.stderr)
        sizes = sorted({p.stat().st_size for p in whole.iterdir()})
        before = {p.name: p.read_bytes() for p in whole.iterdir()}
        for limit in sorted({0, 1, 100, 4096} | {max(0, size - 1) for size in sizes}):
            if limit >= sizes[-1]:
                continue
            new = pathlib.Path(folder) / f"out{limit}"
            done = limited({resource.RLIMIT_FSIZE: limit}, lab, "--out", new, *scenario(config))
            failed_by_name(done, f"files of {limit} bytes")
            left = [p.name for p in new.iterdir()] if new.exists() else []
            expect("results.json" not in left and not [n for n in left if n.endswith(".part")], f"files of {limit} bytes: left {left}")
        for limit in (0, sizes[-1] - 1):
            failed_by_name(limited({resource.RLIMIT_FSIZE: limit}, lab, "--out", whole, *scenario(config)), f"again, files of {limit} bytes")
            now = {p.name: p.read_bytes() for p in whole.iterdir()}
            # Rows were written beside them and did not take their place.
            expect(now.get("results.json") == before["results.json"], f"files of {limit} bytes: other results")
            expect(not [n for n in now if n.endswith(".part")], f"files of {limit} bytes: parts are left")
        failed_by_name(limited({}, lab, "--json", "/dev/full", *scenario(config)), "/dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            for command in (["--check-config", config + "/incast-4to1.ini"], ["--help-config"], ["--json", "-", *scenario(config)[:-3], scenario(config)[-1]]):
                done = subprocess.run([lab, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                expect(done.returncode == 1 and 1 <= done.stderr.count("\n") <= 2 and "standard output" in done.stderr, f"{command} to /dev/full: code {done.returncode}, {done.stderr}")


def files(lab, config):
    """Each number of file descriptors, until all are there; with fewer than eight the loader may find no libraries."""
    with tempfile.TemporaryDirectory() as folder:
        most = 64 + 4 * len(os.sched_getaffinity(0))  # EAL opens two pipes to each CPU
        for n in range(8, most):
            new = pathlib.Path(folder) / f"out{n}"
            done = limited({resource.RLIMIT_NOFILE: n}, lab, "--out", new, *scenario(config))
            if done.returncode == 0:
                expect((new / "results.json").exists(), f"{n} descriptors: no results")
                expect(n > 8, "no descriptor is needed?")
                return
            failed_by_name(done, f"{n} descriptors")
        expect(False, f"{most - 1} descriptors are not enough")


def memory(lab, config):
    """Address space that ends earlier or later: while EAL starts, while pools and nodes are built, in the run, in the results."""
    out = pathlib.Path(tempfile.mkdtemp()) / "out"
    least, most, step = 16 * MB, 4096 * MB, int(os.environ.get("QUENCH_EXHAUSTION_STEP_MB", "37")) * MB
    seen = set()
    for limit in range(least, most, step):
        done = limited({resource.RLIMIT_AS: limit}, lab, "--out", out, *scenario(config))
        if done.returncode == 0:
            expect((out / "results.json").exists(), f"{limit // MB} MB: no results")
            print(f"{limit // MB} MB are enough; failed before with {sorted(seen)}")
            return
        # The loader's own message: not one of ours.
        if done.returncode == 127 and "shared libraries" in done.stderr:
            continue
        failed_by_name(done, f"{limit // MB} MB")
        seen.add(done.stderr.splitlines()[-1][:80] if done.stderr else "")
    expect(False, "4 GB are not enough")


if __name__ == "__main__":
    with_config(disk, files, memory)
