#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What runs out while quench-lab runs: disk, file descriptors, memory, time.

    test_exhaustion.py QUENCH_LAB CONFIG_DIR CASE

Each run either succeeds whole, or ends with code 1 or 2 and says why, by the name of the file if there is one; it leaves no part of a
result. QUENCH_EXHAUSTION_STEP_MB makes the steps of address space smaller. QUENCH_EXHAUSTION_SCENARIOS=1000 draws that many scenarios, and
QUENCH_EXHAUSTION_SEED begins with another one.
"""
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import tempfile

from scenarios import SANITIZED, expect, fewer, with_config

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
        for limit in fewer(sorted({0, 1, 100, 4096} | {max(0, size - 1) for size in sizes}), 7):
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
        done = limited({}, lab, "--json", f"{folder}/no/out.json", *scenario(config)[:-3], scenario(config)[-1])
        expect(done.returncode == 1 and done.stderr == f"quench-lab: error: {folder}/no/out.json: cannot be written: No such file or directory\n",
               f"no folder: {done.stderr}")
        with open("/dev/full", "w", encoding="utf-8") as full:
            for command in (["--check-config", config + "/incast-4to1.ini"], ["--help-config"], ["--json", "-", *scenario(config)[:-3], scenario(config)[-1]]):
                done = subprocess.run([lab, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                expect(done.returncode == 1 and 1 <= done.stderr.count("\n") <= 2 and "standard output" in done.stderr, f"{command} to /dev/full: code {done.returncode}, {done.stderr}")


def files(lab, config):
    """Each number of file descriptors, until all are there; with fewer than eight the loader may find no libraries."""
    with tempfile.TemporaryDirectory() as folder:
        most = 64 + 4 * len(os.sched_getaffinity(0))  # EAL opens two pipes to each CPU
        for n in range(8, most, 3 if SANITIZED else 1):
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


# What a small scenario may use.
SMALL = {resource.RLIMIT_AS: 6000 * MB, resource.RLIMIT_CPU: 20}


def open_loops(lab, config):
    """A mean gap of 0.08 ns to 6 ns: the run ends, offers its load, and its backlog has a bound that it says."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "open.ini"

        def run(arrival, load, more, duration, rate="10G"):
            path.write_text(f"[fabric]\nhosts = 2\nlink_rate_bps = {rate}\nduration_ns = {duration}\nfluid_ns = 0\n[nic]\ncc = none\n"
                            f"[flow f]\nsrc = 1\ndst = 2\narrival = {arrival}\nload_bps = {load}\n{more}", encoding="utf-8")
            done = limited(SMALL, lab, "--quiet", "--no-progress", "--json", "-", path)
            expect(done.returncode == 0, f"{arrival} at {load}: code {done.returncode}, {done.stderr[-300:]}")
            return json.loads(done.stdout) if done.returncode == 0 else None

        for arrival in ("periodic", "poisson", "lognormal"):
            for load, expected in (("10G", 12500), ("100G", 125000)):
                r = run(arrival, load, "message_bytes = 1B\n", "10us")
                if r is None:
                    continue
                arrived = r["slowdown_by_size"]["all"]["messages"] + r["slowdown_by_size"]["all"]["not_ended"]
                expect(abs(arrived / expected - 1) < 0.05 and not r["slowdown_by_size"]["backlog_is_cut"], f"{arrival} at {load}: {arrived} messages arrived, {expected} offered")
            # A link of 800 Gb/s is not the limit: 64 bytes each 5.7 ns.
            r = run(arrival, "90G", "verb = ud_send\nmtu_bytes = 256\nmessage_bytes = 64B\n", "1ms", "800G")
            if r is not None:
                expect(abs(r["flows"][0]["goodput_bps"] / 90e9 - 1) < 0.01, f"{arrival}: {r['flows'][0]['goodput_bps']} b/s of 90 Gb/s")
        r = run("periodic", "800G", "message_bytes = 1B\n", "20us", "800G")
        expect(r is not None and r["slowdown_by_size"]["backlog_is_cut"] and r["slowdown_by_size"]["all"]["not_ended"] <= 2**20 + 1, f"the backlog: {r and r['slowdown_by_size']}")


# Keys whose largest value is a large run by intent, or that name files, hosts and other sections.
TAME = {"qp_count": 200, "shards": 4}
UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "NS": 1, "US": 1000, "MS": 10**6, "S": 10**9,
         "K": 1000, "M": 10**6, "G": 10**9}


def number(text):
    found = re.fullmatch(r"(\d+)([A-Za-z]*)", text)
    return int(found[1]) * UNITS[found[2].upper()]


def draw(rnd, key, values, default):
    """One of the values that a row of --help-config describes; None: not a number and not a choice."""
    found = re.match(r"a (?:whole number|size in whole bytes|rate in bit/s|time in whole ns) from (\w+) (?:to (\w+)|up)", values)
    if found:
        least, most = number(found[1]), min(number(found[2]) if found[2] else 10**12, TAME.get(key, 2**63 - 1))
        middle = round(least + (most - least + 1) ** rnd.random() - 1)
        return rnd.choice((least, min(least + 1, most), most, middle, middle, default))
    if re.fullmatch(r"[a-z0-9_]+(, [a-z0-9_]+)* or [a-z0-9_]+", values):
        return rnd.choice(re.split(", | or ", values))
    return None


def rows_of(lab):
    """Section and key: values and default, as --help-config prints them."""
    rows, section = {}, None
    for line in subprocess.run([lab, "--help-config"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        if line.startswith("## "):
            section = line.split("[")[1].split("]")[0]
        cells = [cell.strip() for cell in line.split("|")]
        if section and len(cells) > 4 and cells[1].startswith("`"):
            rows[(section, cells[1].strip("`"))] = cells[2], cells[3]
    return rows


def any_scenario(lab, config):
    """Random values of a few keys each, the ends of their ranges often: a small scenario ends, or is refused with a line."""
    rows = {key: row for key, row in rows_of(lab).items() if key[0] in ("switch", "nic", "wred", "np", "rp", "receiver", "buffer_profile lossless", "flow NAME")}
    expect(len(rows) > 100, f"{len(rows)} keys")
    first, n = int(os.environ.get("QUENCH_EXHAUSTION_SEED", "1")), int(os.environ.get("QUENCH_EXHAUSTION_SCENARIOS", "30"))
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "any.ini"
        for seed in range(first, first + n):
            rnd = random.Random(seed)
            text = {"fabric": {"hosts": 4, "duration_ns": rnd.choice(("5us", "50us")), "fluid_ns": 0, "link_rate_bps": rnd.choice(("1G", "100G", "800G"))},
                    "flow f": {"src": "1-3", "dst": 4}}
            flow_keys = [key for key in rows if key[0] == "flow NAME"]
            for section, key in rnd.sample(flow_keys, rnd.randint(1, 5)) + rnd.sample(list(rows), rnd.randint(0, 3)):
                value = draw(rnd, key, *rows[(section, key)])
                if value is not None and key not in ("pattern", "src", "dst"):
                    text.setdefault(section.replace("NAME", "f"), {})[key] = value
            # A third are open loops, of small messages often.
            if rnd.random() < 1 / 3:
                text["flow f"] |= {"arrival": rnd.choice(("poisson", "periodic", "lognormal")), "message_bytes": rnd.choice(("1B", "1B", "64B", "4KB")),
                                   "load_bps": rnd.choice(("1G", "100G", "800G"))}
            if text["flow f"].get("arrival") in ("poisson", "periodic", "lognormal"):
                text["flow f"].setdefault("load_bps", rnd.choice(("1", "1G", "800G")))
            path.write_text("".join(f"[{name}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items()) for name, keys in text.items()), encoding="utf-8")
            done = limited(SMALL, lab, "--quiet", "--no-progress", "--out", pathlib.Path(folder) / "out", path)
            ran += done.returncode == 0
            lines = [line for line in done.stderr.splitlines() if line.startswith("quench-lab: error: ")]
            expect(done.returncode == 0 or (done.returncode in (1, 2) and len(lines) == 1), f"seed {seed}: code {done.returncode}, {done.stderr[-300:]}", path.read_text(encoding="utf-8"))
    print(f"{ran} of {n} scenarios ran")
    expect(ran > n // 5, f"only {ran} of {n} scenarios ran")


if __name__ == "__main__":
    with_config(disk, files, memory, open_loops, any_scenario)
