#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One question, one answer: what a command says is compared with what another says of the same thing."""
import re

from configs import flow, nic, port, section
from ctl import Ctl
from harness import Program, check, check_equal, finish, path_of, run, work_dir
from telemetry import eal, prefix, wait_answers

NAMES = ("Ethernet1/1", "to-the-spine")
SWITCH = {"switch": {"buffer_bytes": "4MB", "wred_queues": "3"}, "wred": {},
          "buffer_profile small": {"dynamic": "off", "static_th_bytes": "100KB", "xoff_bytes": "60KB"},
          "buffer_profile lossless": {"xoff_bytes": "60KB"}}
SWITCH_PORTS = "".join(port(i, name=name, link_speed_bps="10G") for i, name in enumerate(NAMES))
NIC = {"np": {"np_min_time_between_cnps_us": "0"}, "rp": {}}
NIC_REST = (nic(1, cc="dctcp", link_speed_bps="10G"), flow("back", 1, peer_qpn=100, requester="off"))
# Of a switch and of a NIC: keys, and a word of each warning that they cause.
SWITCH_CASES = (
    ({"wred": {"Kmin": "5"}}, ["bytes"]),
    ({"buffer_profile lossless": {"xoff_bytes": "10KB"}}, ["xoff_bytes = 10000"]),
    ({"buffer_profile small": {"xoff_bytes": "1KB"}, "pg 0|3": {"buffer_profile": "small"}}, ["xoff_bytes = 1000"]),
    ({"wred": {"Kmin": "2MB", "Kmax": "3MB"}}, ["marking begins above 2000000 bytes"]),
    ({"wred": {"Kmin": "80KB"}, "pg 1|3": {"buffer_profile": "small"}}, ["port to-the-spine, lossless group 3, whose frames"]),
    ({"buffer_profile lossless": {"dynamic": "off", "static_th_bytes": "900KB", "xon_bytes": "3KB"}}, ["xon_bytes = 3000"]),
    ({"port 1": {"cable_length_m": "10000"}}, ["port to-the-spine, lossless group"]),
    ({"wred": {"Kmin": "7", "Kmax": "3MB"}, "port 0": {"peer_response_ns": "1ms"}}, ["[wred] Kmin = 7", "port Ethernet1/1, lossless group"]),
    ({"wred": {"Kmin": "6KB"}}, []))
NIC_CASES = (
    ({"np": {"np_min_time_between_cnps_us": "50"}}, ["takes each CNP for one marked packet"]),
    ({"rp": {"rp_ai_rate_bps": "5"}}, ["rp_ai_rate_bps = 5"]),
    ({"flow back": {"rate_cap_bps": "300"}}, ["rate_cap_bps = 300"]),
    ({"np": {"np_min_time_between_cnps_us": "0"}}, []))


def merged(base, keys):
    """The text of a file with these keys in their sections."""
    sections = {head: dict(values) for head, values in base.items()}
    for head, values in keys.items():
        sections.setdefault(head, {}).update(values)
    return sections


def text_of(base, keys, rest):
    """rest: sections as text, whose keys come first."""
    text = "".join(rest)
    for head, values in merged(base, keys).items():
        lines = "".join(f"{key} = {value}\n" for key, value in values.items())
        if f"[{head}]\n" in text:
            text = text.replace(f"[{head}]\n", f"[{head}]\n{lines}")
        else:
            text += f"[{head}]\n{lines}"
    return text


def warnings(stderr):
    """Without the program and the place in the file: a command names another place."""
    found = [re.sub(r"^\S+: warning: (\S+\.ini(:\d+)?( as it runs)?: )?", "", line) for line in stderr.splitlines() if "warning:" in line]
    return sorted(found)


def check_warnings(role, program, ctl, case):
    """A file, the same keys by set, and a reload of the file: the same warnings."""
    base, rest, keys, words = case
    what = f"{role} {keys}"
    plain, changed = program.dir / "plain.ini", program.dir / "changed.ini"
    plain.write_text(text_of(base, {}, rest))
    changed.write_text(text_of(base, keys, rest))
    checked = run(path_of(role), "--config", changed, "--check-config")
    said = warnings(checked.stderr)
    check(f"{what}: --check-config warns", checked.returncode == 0 and len(said) == len(words) and
          all(any(word in line for line in said) for word in words), checked.stderr)
    if role == "switch":
        check_equal(f"{what}: --thresholds", warnings(run(path_of(role), "--config", changed, "--thresholds").stderr), said)
    before = len(program.err())
    done = run(*ctl.command, "set", *(f"{head}.{key}={value}" for head, values in keys.items() for key, value in values.items()))
    check_equal(f"{what}: set", (done.returncode, warnings(done.stderr)), (0, said))
    check_equal(f"{what}: the log of the program", warnings(program.err()[before:]), said)
    for file, expected in ((plain, []), (changed, said), (plain, [])):
        done = ctl(f"reload {file}")
        check_equal(f"{what}: reload {file.name}", (done.returncode, warnings(done.stderr)), (0, expected))


def check_many(switch, ctl):
    """A change of more keys than a reply holds is in force, and so are its warnings."""
    many = switch.dir / "many.ini"
    stations = "".join(section(f"fdb s{i}", mac=f"02:00:00:01:{i // 256:02x}:{i % 256:02x}", port=i % 2) for i in range(700))
    many.write_text(text_of(SWITCH, {"wred": {"Kmin": "5"}}, [SWITCH_PORTS, stations]))
    for file, changed, said in ((many, 701, 1), (switch.dir / "plain.ini", 701, 0)):
        done = ctl(f"--json reload {file}")
        check(f"{changed} keys: in force", done.returncode == 0 and f'"changed": {changed}' in done.stdout and
              '"in_force": 1' in done.stdout and len(warnings(done.stderr)) == said, (done.returncode, done.stdout[-200:], done.stderr))
    check_equal("nothing is left to change", ctl.json("show config changes")["total"], 0)


def main():
    work, name = work_dir(), prefix("one")
    switch = Program(work, "switch", "switch", text_of(SWITCH, {}, [SWITCH_PORTS]), eal(name, "net_null0", "net_null1"),
                     "--stats-interval", 0, "--idle-sleep", 500)
    wait_answers(switch, name)
    ctl = Ctl(work, "-f", name)
    for keys, words in SWITCH_CASES:
        check_warnings("switch", switch, ctl, (SWITCH, [SWITCH_PORTS], keys, words))
    check_many(switch, ctl)
    check_equal("exit code", switch.stop(), 0)

    name = prefix("onenic")
    host = Program(work, "nic", "nic", text_of(NIC, {}, NIC_REST), eal(name, "net_null0"), "--stats-interval", 0, "--idle-sleep", 500)
    wait_answers(host, name)
    ctl = Ctl(work, "-f", name)
    for keys, words in NIC_CASES:
        check_warnings("nic", host, ctl, (NIC, NIC_REST, keys, words))
    check_equal("exit code", host.stop(), 0)
    finish()


main()
