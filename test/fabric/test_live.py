#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every key that the reference calls live: a change in a run equals the same value in the file, and one that is taken back equals none.

    test_live.py QUENCH_LAB CONFIG_DIR CASE [SEED]

The keys and their ranges are those of --help-config. A case takes a sample of them by seed; with QUENCH_LIVE_KEYS=all it takes all.
"""
import os
import random
import re
import sys

from scenarios import SANITIZED, expect, in_folder, results, run, section, write_scenario

SAMPLE = 5 if SANITIZED else 14
MAP8 = "0:1, 1:0, 2:2, 3:4, *:5"
# Values of keys whose range is words.
WORDS = {
    "wred_queues": ("none", "2-3"), "pfc_enable": ("none", "2-3"), "pfcwd_sw_enable": ("none", "3"), "strict_queues": ("none", "3,7"),
    "dwrr_weight": ("3:5, *:20", "*:1"), "dscp_to_tc_map": ("26:2, *:0",), "dot1p_to_tc_map": ("3:2, *:0",), "tc_to_queue_map": (MAP8,),
    "tc_to_priority_group_map": ("3:3, *:1",), "pfc_priority_to_queue_map": ("3:4, 4:3, 0:0, 1:1, 2:2, 5:5, 6:6, 7:7",),
    "tagged_vlans": ("7",), "port": ("2",), "buffer_profile": ("lossless", "small"), "wred_profile": ("none", "steep"), "router_mac": ("02:00:00:00:77:01",), "mac": ("02:00:00:00:77:78",),
}
UNITS = {"bit/s": {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}, "bytes": {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
         "time": {"": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}}
# Sections of a scenario that have each kind of section in use; [flow f] is an incast, [flow open] an open loop.
BASE = """[switch]
vlan_filtering = off
[wred steep]
green_min_threshold_bytes = 2KB
green_max_threshold_bytes = 30KB
[buffer_profile small]
dynamic = off
static_th_bytes = 60KB
xoff_bytes = 40KB
[buffer_profile lossless]
xoff_bytes = 30KB
[fdb far]
mac = 02:00:00:00:77:77
port = 1
[port 0]
cable_length_m = 5
[queue 3|3]
max_rate_bps = 0
[pg 0|3]
buffer_profile = default
[tc 3]
mtu_bytes = 0
"""
FLOWS = section("flow", "f", src="1-3", dst=4, start_ns="10us") + section(
    "flow", "open", src=1, dst=2, arrival="periodic", load_bps="3G", message_bytes="10KB", start_ns="10us") + section(
    "job", "ring", bytes="10KB", start_ns="10us", iterations=5)
DUMP = section("event", "dump", at_ns="400us", action="dump", node="all")
# What a key needs beside it.
SECTION = {"switch NAME": "switch s1", "fdb NAME": "fdb far", "wred NAME": "wred steep", "buffer_profile NAME": "buffer_profile small", "tc N": "tc 3",
           "pg N, pg P|N": "pg 0|3", "queue N, queue P|N": "queue 3|3", "port, port N, switch NAME port, switch NAME port N": "port 0", "flow NAME": "flow open", "job NAME": "job ring"}
NEEDS = {"wred steep": "[queue 3|3]\nwred_profile = steep\n", "buffer_profile small": "[pg 0|3]\nbuffer_profile = small\n",
         "step": "[queue 3]\nmarking = step\n", "phantom": "[queue 3]\nmarking = phantom\n"}
CC = {"dctcp": "np_ecn_echo = on\n", "timely": "ack_every = 1\n", "hpcc": "ack_every = 1\n", "swift": "ack_every = 1\n", "aimd": "np_ecn_echo = on\n"}
# Sections of routers and names of rows, which the test "set" and the program's own tests change.
LEFT_OUT = ("interface vlan N", "route PREFIX", "neighbor ADDRESS")
VOLATILE = ("wall_seconds", "packet_hops_per_second", "memory", "scheduled_events", "scenario", "fluid")  # the fluid model has the values of the start
# The digest has what began before the change: the first LLDP frame, and the state of QPs that only receive.
DIGEST = (("lldp", "lldp"), ("hpcc", "hpcc_base_rtt_ns"), ("flow open", "rate_cap_bps"))
# A port that goes down or comes back is an event at its time.
EVENTS = ("port 0", "shutdown")
# Live but for this value, with a reason in the error line.
REFUSED = {("port 0", "flow_control", "pause"): "cannot change to or from pause while the program runs"}


def live_keys(program):
    """[(section, key, range, default)]"""
    found, name = [], None
    for line in run(program, "--help-config").stdout.splitlines():
        if line.startswith("## ["):
            name = line[4:-1]
        cells = [cell.strip() for cell in line.split("|")[1:-1]] if line.startswith("| `") else []
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if cells else []
        if len(cells) >= 5 and cells[3] == "yes" and name not in LEFT_OUT:
            found.append((SECTION.get(name, name), cells[0].strip("`"), cells[1], cells[2]))
    return found


def number(text, units):
    part = re.fullmatch(r"(-?[0-9.]+)([A-Za-z]*)", text)
    return float(part[1]) * units[part[2]] if part and part[2] in units else None


def between(low, high, now):
    """A value above that of now, and one below it, both in the range."""
    up = min(high, now * 3 if now > 0 else max(low, 1) * 1000)
    down = max(low, now // 3)
    return [int(value) for value in dict.fromkeys((up, down)) if value != now]


def candidates(key, allowed, default):
    if key in WORDS:
        return [value for value in WORDS[key] if value != default]
    if allowed == "on or off":
        return ["off" if default == "on" else "on"]
    bounds = re.search(r"from (\S+) (?:to (\S+)|up)", allowed)
    if bounds is None:
        words = re.split(r", | or ", allowed)
        return [word for word in words if word != default and " " not in word]
    kind = next((name for name in UNITS if name in allowed), None)
    if "share" in allowed or "percent" in allowed:
        low, high, now = (float(re.sub(r"[%a-z]", "", text)) * (1e-4 if "ppm" in text else 1) for text in (bounds[1], bounds[2], default))
        return [f"{value:g}%" for value in (min(high, now * 1.5 or 10), max(low, now / 2)) if value != now and (value == int(value) or "share" in allowed)]
    if "parts of 1024" in allowed:
        return ["512", "1000"]
    units = UNITS.get(kind, {"": 1})
    low, high, now = number(bounds[1], units), number(bounds[2] or "", units), number(default, units)
    suffix = {"bit/s": "", "bytes": "", "time": "ns"}.get(kind, "")
    if kind == "time" and "whole us" in allowed:
        return [f"{max(1, value // 1000)}us" for value in between(low, high or 2**40, now or 0)]
    return [f"{value}{suffix}" for value in between(low, high or 2**40, 0 if now is None else now)]


def merged(*parts):
    """One text of several: keys of a section that comes twice go to the first."""
    sections = {}
    for line in "".join(parts).splitlines():
        if line.startswith("["):
            keys = sections.setdefault(line, {})
        elif line:
            key, value = line.split(" = ", 1)
            keys[key] = value
    return "".join(f"{name}\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for name, keys in sections.items())


def base_of(name, key):
    text = BASE + NEEDS.get(name, "")
    if name in CC:
        text += f"[nic]\ncc = {name}\n{CC[name] if 'ack_every' in CC[name] else ''}[switch]\nint_telemetry = {'on' if name == 'hpcc' else 'off'}\n"
        text += f"[np]\n{CC[name]}" if "echo" in CC[name] else ""
    if key.startswith(("watch_dog", "shutdown", "auto_restore", "fixed_restore", "pfcwd_interface")):
        text += "[pfcwd]\npfcwd = nxos\n"
    elif key.startswith(("detection", "restoration", "poll", "detect_", "xon_blocks", "big_red", "action", "pfcwd_")):
        text += "[pfcwd]\npfcwd = sonic\ndetection_time = 1ms\nrestoration_time = 1ms\npoll_interval = 500us\n"
    return text


def outcome(program, folder, name, text):
    path = write_scenario(folder / f"{name}.ini", {"hosts": 4, "link_rate_bps": "40G", "duration_ns": "400us"}, merged(text))
    if run(program, "--check-config", path).returncode != 0:
        return None
    r = results(program, path)
    # Nodes know the caps and the state of flows since their start.
    return {key: value for key, value in r.items() if key not in VOLATILE}


def difference(a, b, path=""):
    """The first place at which two results differ."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next((found for key in a if (found := difference(a[key], b[key], f"{path}.{key}"))), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next((found for i, (x, y) in enumerate(zip(a, b)) if (found := difference(x, y, f"{path}[{i}]"))), None)
    return None if a == b else f"{path}: {str(a)[:80]} and not {str(b)[:80]}"


def changes(program, case):
    """[(section, key, value, text of the scenario without it)]"""
    found = [(name, key, value, base_of(name, key)) for name, key, allowed, default in live_keys(program) for value in candidates(key, allowed, default)]
    missing = {key for _, key, *_ in live_keys(program)} - {key for _, key, *_ in found}
    expect(not missing, f"{case}: no values of {missing}")
    if os.environ.get("QUENCH_LIVE_KEYS") == "all":
        return found
    return random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1).sample(found, SAMPLE)


def event(text, **keys):
    return section("event", "change", at_ns="1us", action="set", set=text, **keys)


def as_in_file(program, folder):
    """What is set at 1 us, before the first frame, has the results of the same value in the file: all of them."""
    done = 0
    for name, key, value, text in changes(program, "as_in_file"):
        expected = outcome(program, folder, "file", text + FLOWS + DUMP + f"[{name}]\n{key} = {value}\n")
        if expected is None:
            continue  # a rule across keys forbids it
        got = outcome(program, folder, "set", text + FLOWS + DUMP + event(f"{name}.{key}={value}"))
        done += 1
        if (name, key) in DIGEST:
            expected.pop("digest")
            got.pop("digest")
        if (name, key, value) in REFUSED:
            done_refused = run(program, "--check-config", folder / "set.ini")
            expect(REFUSED[name, key, value] in done_refused.stderr, f"[{name}] {key} = {value}: {done_refused.stderr}")
            continue
        if (name, key) == EVENTS and got is not None:
            at = [row.pop("at_ns") for row in (*got["events"], *expected["events"])]
            expect(at == [1000, 0], f"[{name}] {key} = {value}: events at {at} ns")
        where = "refused" if got is None else difference(got, expected)
        expect(where is None, f"[{name}] {key} = {value}: {where}")
    print(f"{done} changes")
    expect(done >= SAMPLE // 2, f"only {done} changes were possible")


def taken_back(program, folder):
    """What is set and taken back before the first frame changes nothing."""
    plain = {}
    for name, key, value, text in changes(program, "taken_back"):
        got = outcome(program, folder, "back", text + FLOWS + DUMP + event(f"{name}.{key}={value}", for_ns="5us"))
        if text not in plain:
            plain[text] = outcome(program, folder, "never", text + FLOWS + DUMP)
        if (name, key) == EVENTS and got is not None:
            seen = [row["event"] for row in got.pop("events")]
            expect(seen == ["link_down", "link_up"], f"[{name}] {key} = {value}, taken back: {seen}")
            got["events"] = []
        # LLDP sends its first frame when it is turned on.
        where = None if got is None or (name, key) == ("lldp", "lldp") else difference(got, plain[text])
        expect(where is None, f"[{name}] {key} = {value}, taken back: {where}")


def order(program, folder):
    """The order of sections, and of keys in them, makes no difference to the configuration in force."""
    rnd = random.Random(1)
    for name, key, value, text in changes(program, "order"):
        whole = merged("[fabric]\nhosts = 4\n", text, FLOWS, DUMP, f"[{name}]\n{key} = {value}\n")
        parts = re.split(r"(?m)^(?=\[)", whole)[1:]
        printed = []
        for _ in range(3):
            (folder / "order.ini").write_text("".join(parts), encoding="utf-8")
            done = run(program, "--check-config", folder / "order.ini")
            # Comments have QP numbers, which follow the order of flows.
            printed.append((done.returncode, sorted(line for line in done.stdout.splitlines() if not line.startswith("#"))))
            rnd.shuffle(parts)
        expect(printed.count(printed[0]) == 3, f"[{name}] {key} = {value}: another order is another configuration")


if __name__ == "__main__":
    in_folder(as_in_file, taken_back, order)
