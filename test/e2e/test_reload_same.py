#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A, reload B, reload C equals C, over the live keys of the reference: the whole configuration in force, and all that shows say.

    test_reload_same.py [SEED]

The keys and their ranges are those of --help-config; a seed takes a sample of them.
"""
import json
import pathlib
import random
import re
import sys

from configs import nic, port, flow
from ctl import Ctl
from harness import Program, check, check_equal, finish, path_of, run, work_dir
from telemetry import eal, prefix, wait_answers

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "fabric"))
import test_live  # noqa: E402
from test_live import BASE, candidates, live_keys, merged  # noqa: E402

SAMPLE = 40
PORTS = port(0, link_speed_bps="10G") + port(1, link_speed_bps="10G") + port(2, link_speed_bps="10G") + port(3, link_speed_bps="10G")
FILES = {"switch": merged(BASE, PORTS), "nic": nic(1, link_speed_bps="10G") + flow("back", 1, peer_qpn=100, requester="off")}
DEVICES = {"switch": [f"net_null{i},no-rx=1" for i in range(4)], "nic": ["net_null0,no-rx=1"]}
SECTIONS = (("port", "port 0"), ("flow", "flow back"))
# Of a run, and not of the configuration. LLDP frames of before count, and a QP keeps the state of its congestion control.
VOLATILE = re.compile(r"poll|elapsed|age_ns|start_ns|pid|in_use|departures|gap|late|_at_ns|tx_|opackets|sent|generated|ledger|copies|_us$|watermark|"
                      r"^alpha$|^(target_|min_)?rate_bps$|mac$")
# The memory of a start, whatever changes later.
LEFT_OUT = ("show info", "show config changes", "show mempools", "show metrics")


def files(role, work, r):
    """Two files, each with a sample of the live keys that --check-config accepts."""
    keys = [(next((name for start, name in SECTIONS if section.startswith(start)), section), key, allowed, default)
            for section, key, allowed, default in live_keys(path_of(role))]
    check(f"{role}: live keys", len(keys) > 30, len(keys))
    found = []
    for name in "BC":
        text = merged(FILES[role])
        n, path = 0, work / f"{name}.ini"
        for section, key, allowed, default in r.sample(keys, min(SAMPLE, len(keys))):
            values = candidates(key, allowed, default)
            if not values or "," in section:
                continue
            next_text = merged(text, f"[{section}]\n{key} = {r.choice(values)}\n")
            path.write_text(next_text)
            if run(path_of(role), "--config", path, "--check-config").returncode == 0:
                text = next_text
                n += 1
        path.write_text(text)
        check(f"{role}: {name}.ini has {n} keys of its own", n >= 8)
        found.append(path)
    return found


def still(value):
    """Without what moves."""
    if isinstance(value, dict):
        return {key: still(v) for key, v in value.items() if not VOLATILE.search(key)}
    return [still(v) for v in value] if isinstance(value, list) else value


def answers(ctl, role):
    other = "(quench-nic)" if role == "switch" else "(quench-switch)"
    lines = [line for line in run(*ctl.command, "--help").stdout.splitlines() if line.startswith("  show ") and other not in line]
    words = [line.split("  ")[1].partition(" [")[0] for line in lines]
    found = {}
    for word in words:
        if re.fullmatch(r"show [a-z -]+", word) and word not in LEFT_OUT:
            done = ctl(f"--json {word}")
            found[word] = still(json.loads(done.stdout)) if done.stdout.startswith("{") else done.stdout + done.stderr
    return found


def start(role, work, name, text):
    program = Program(work, role, name, text, eal(prefix(name), *DEVICES[role]), "--stats-interval", 0, "--idle-sleep", 500)
    name = program.command[program.command.index("--file-prefix") + 1]
    wait_answers(program, name)
    return program, Ctl(work, "-f", name)


def check_role(role, seed):
    work, r = work_dir(), random.Random(seed)
    b, c = files(role, work, r)
    first, ctl = start(role, work, f"{role}a", FILES[role])
    for path in (b, c):
        done = ctl(f"reload {path}")
        if done.returncode != 0:
            check(f"{role}: reload {path.name}", False, done.stderr)
    got = answers(ctl, role)
    check_equal(f"{role}: nothing is left to change", ctl.json("show config changes").get("total"), 0)
    check_equal(f"{role}: exit code", first.stop(), 0)
    fresh, ctl = start(role, work, f"{role}c", c.read_text())
    expected = answers(ctl, role)
    check_equal(f"{role}: exit code of the fresh one", fresh.stop(), 0)
    check(f"{role}: shows are compared", len(expected) > 8, list(expected))
    for words, value in expected.items():
        check_equal(f"{role}, seed {seed}: {words}", got[words], value)


def main():
    test_live.run = run
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for role in ("switch", "nic"):
        check_role(role, seed)
    finish()


main()
