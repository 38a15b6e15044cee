#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Live changes over the live keys of the reference: the whole configuration in force, and all that shows say.

    test_reload_same.py [SEED]

Keys by set are those in a file, in any order and spelling; what is taken back was never there; A, reload B, reload C is C.
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
from desk import Desk, eal, prefix

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "fabric"))
import test_live  # noqa: E402
from test_live import BASE, REFUSED, candidates, live_keys, merged  # noqa: E402

SAMPLE = 40
NAMES = ("leaf", "Ethernet1/1", "spine", "rt")
PORTS = "".join(port(i, name=name, link_speed_bps="10G") for i, name in enumerate(NAMES))
# Without keys of single ports that have the value of every port: a change of every port's would be theirs too.
FILES = {"switch": merged(re.sub(r"\[(queue|pg) \d\|\d\]\n.*\n", "", BASE), PORTS), "nic": nic(1, link_speed_bps="10G") + flow("back", 1, peer_qpn=100, requester="off")}
DEVICES = {"switch": [f"net_null{i},no-rx=1" for i in range(4)], "nic": ["net_null0,no-rx=1"]}
SECTIONS = (("port", "port 0"), ("flow", "flow back"))
EVERY = {"queue 3|3": ("queue 3", "queue 0|3"), "pg 0|3": ("pg 3", "pg 2|3")}
# Keys whose values are times of the run, the program's speed, or the state of a QP, which a change does not begin again. Each is a row of show counters
# or of the gauges, which a check holds.
MOVING = {"switch": {"poll_gap_p50_ns", "poll_gap_p99_ns", "poll_gap_max_ns", "storm_detected_ns", "storm_restored_ns",
                     "longest_storm_ns"},
          "nic": {"poll_gap_p50_ns", "poll_gap_p99_ns", "poll_gap_max_ns", "alpha", "rate_bps", "target_rate_bps", "min_rate_bps"}}
# The memory of a start, whatever changes later.
LEFT_OUT = ("show info", "show config changes", "show mempools", "show metrics")


def files(role, work, r):
    """Two files, each with a sample of the live keys that --check-config accepts."""
    keys = [(next((name for start, name in SECTIONS if section.startswith(start)), section), key, allowed, default)
            for section, key, allowed, default in live_keys(path_of(role))]
    check(f"{role}: live keys", len(keys) > 30, len(keys))
    # Of every port, and of a port that has no section of its own.
    keys += [(also, key, *rest) for section, key, *rest in keys for also in EVERY.get(section, ())]
    found = []
    for name in "BC":
        text = merged(FILES[role])
        n, path = 0, work / f"{name}.ini"
        for section, key, allowed, default in r.sample(keys, min(SAMPLE, len(keys))):
            values = candidates(key, allowed, default)
            if not values or "," in section:
                continue
            value = r.choice(values)
            if (section, key, value) in REFUSED:
                continue
            next_text = merged(text, f"[{section}]\n{key} = {value}\n")
            path.write_text(next_text)
            if run(path_of(role), "--config", path, "--check-config").returncode == 0:
                text = next_text
                n += 1
        path.write_text(text)
        check(f"{role}: {name}.ini has {n} keys of its own", n >= 8)
        found.append(path)
    return found


def still(value, moving):
    """Without the keys that move."""
    if isinstance(value, dict):
        return {key: still(v, moving) for key, v in value.items() if key not in moving}
    return [still(v, moving) for v in value] if isinstance(value, list) else value


def moving_keys(role, name, sends):
    """sends: LLDP was on, the only one who sends here; then counters, watermarks and what waits tell of it."""
    with Desk(name) as asked:
        counters, gauges = (asked.column(what, "name") for what in ("counters", "gauges"))
    unknown = MOVING[role] - {*counters, *gauges}
    check(f"{role}: keys that move are in the catalogue", not unknown, unknown)
    # The same times as times of the day.
    moving = MOVING[role] | {name.removesuffix("_ns") + "_at" for name in MOVING[role]}
    if not sends:
        return moving
    waits = {"queue_bytes", "used_bytes", "shared_bytes", "reserved_bytes", "headroom_bytes"}
    ledger = {"in", "copies", "generated", "queued", "sent", "dropped", "consumed"}
    return moving | set(counters) | {key for key in gauges if "watermark" in key} | {"tx_frames", "opackets", "obytes"} | waits | ledger


def answers(ctl, role, moving):
    other = "(quench-nic)" if role == "switch" else "(quench-switch)"
    lines = [line for line in ctl.words(["--help"]).stdout.splitlines() if line.startswith("  show ") and other not in line]
    words = [line.split("  ")[1].partition(" [")[0] for line in lines]
    found = {}
    for word in words:
        if re.fullmatch(r"show [a-z -]+", word) and word not in LEFT_OUT:
            done = ctl(f"--json {word}")
            found[word] = still(json.loads(done.stdout), moving) if done.stdout.startswith("{") else done.stdout + done.stderr
    return found


def difference(a, b):
    return {words: test_live.difference(a.get(words), b[words], words) for words in b if a.get(words) != b[words]}


def added(before, after):
    """[(section, key, value)] of a text that another has not."""
    def keys(text):
        section, found = "", []
        for line in text.splitlines():
            if line.startswith("["):
                section = line[1:-1]
            elif line:
                found.append((section, *line.split(" = ", 1)))
        return found
    return [row for row in keys(after) if row not in keys(before)]


def spelt(section, r):
    """A section of a port by its number or by its name, in any case."""
    part = re.fullmatch(r"(port )(\d)()|(?:queue|pg) (\d)\|\d", section) and re.fullmatch(r"(\w+ )(\d)((?:\|\d)?)", section)
    return part[1] + r.choice((part[2], NAMES[int(part[2])], NAMES[int(part[2])].upper())) + part[3] if part else section


def change(ctl, *words):
    """A program that lacks the time for a change says so, and is asked again."""
    done = ctl.words([*words])
    while done.returncode != 0 and "try again" in done.stderr:
        done = ctl.words([*words])
    return done


def reload(ctl, role, path):
    done = change(ctl, "reload", path)
    check(f"{role}: reload {path.name}", done.returncode == 0, done.stderr)


def set_in_parts(ctl, words):
    """As many keys in a change as a command takes; one that a rule forbids so far comes after the others. @return what is refused"""
    parts = [[]]
    for word in words:
        if parts[-1] and sum(map(len, parts[-1])) + len(word) > 200:
            parts.append([])
        parts[-1].append(word)
    refused = [part for part in parts if change(ctl, "set", *part).returncode != 0]
    return [part for part in refused if change(ctl, "set", *part).returncode != 0]


def check_set(role, program, ctl, b, r, moving):
    """Keys by set are those in the file; what is taken back was never there."""
    path = program.dir / f"{program.name}.ini"
    before = answers(ctl, role, moving)
    keys = added(FILES[role], b.read_text())
    check(f"{role}: keys to set", len(keys) >= 8, keys)
    r.shuffle(keys)
    path.write_text(b.read_text())
    left = set_in_parts(ctl, [f"{spelt(section, r)}.{key}={value}" for section, key, value in keys])
    check_equal(f"{role}: set", left, [])
    check_equal(f"{role}: what is set is what the file says", ctl.json("show config changes").get("rows"), [])
    set_so = answers(ctl, role, moving)
    check_equal(f"{role}: reload of what is set", ctl.json("reload").get("changed"), 0)
    check_equal(f"{role}: and shows after it", difference(answers(ctl, role, moving), set_so), {})
    path.write_text(FILES[role])
    reload(ctl, role, path)
    check_equal(f"{role}: what is taken back was never there", difference(answers(ctl, role, moving), before), {})


def start(role, work, name, text):
    program = Program(work, role, name, text, eal(prefix(name), *DEVICES[role]), "--stats-interval", 0, "--idle-sleep", 1000)
    name = program.command[program.command.index("--file-prefix") + 1]
    program.wait_started()
    return program, Ctl(work, "-f", name), name


def check_role(role, seed):
    work, r = work_dir(), random.Random(seed)
    b, c = files(role, work, r)
    first, ctl, name = start(role, work, f"{role}a", FILES[role])
    moving = moving_keys(role, name, any("lldp = on" in path.read_text() for path in (b, c)))
    check_set(role, first, ctl, b, r, moving)
    for path in (b, c):
        reload(ctl, role, path)
    got = answers(ctl, role, moving)
    check_equal(f"{role}: nothing is left to change", ctl.json("show config changes").get("total"), 0)
    check_equal(f"{role}: exit code", first.stop(), 0)
    fresh, ctl, _ = start(role, work, f"{role}c", c.read_text())
    expected = answers(ctl, role, moving)
    check_equal(f"{role}: exit code of the fresh one", fresh.stop(), 0)
    check(f"{role}: shows are compared", len(expected) > 8, list(expected))
    check_equal(f"{role}, seed {seed}: A, reload B, reload C is C", difference(got, expected), {})


def main():
    test_live.run = run
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for role in ("switch", "nic"):
        check_role(role, seed)
    finish()


main()
