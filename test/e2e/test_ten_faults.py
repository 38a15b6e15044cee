#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ten faults of doc/troubleshooting.md: the commands of the page make each, show its sign and mend it.

Of each fault this test knows the sign, as a pattern of what the commands print, and nothing else.
"""
import re
import shlex

from configs import memif
from ctl import Ctl
from harness import Program, check, check_equal, eal, finish, path_of, run, until, work_dir
from scripts import ROOT

PAGE = (ROOT / "doc/troubleshooting.md").read_text(encoding="utf-8")
# Title: patterns that hold while there is the fault, and no longer when it is mended.
SIGNS = {
    "A slow receiver": (r"^root: h5, which receives slowly",),
    "A pause storm": (r"victims victim h1",),
    "The wrong DSCP": (r"^ +0 +0 +[1-9]\d*", r"^ +0 +dscp_to_tc_map +24:3, 48:7, \*:0"),
    "Missing ECN": (r"^\(none\)$",),
    "An MTU mismatch": (r"^ +0 +mtu +[1-9]",),
    "Too little headroom": (r"^ +0 +no_headroom +[1-9]",),
    "A watchdog that takes pauses for a storm": (r"^drops +s1 pfc_watchdog: [1-9]",),
    "Polarised ECMP": (r"^L1 port 2 queue 3: mean \d\d",),
    "The wrong class on one hop": (r"^ +0 +dscp_to_tc_map .* yes$", r"^ +0 +0 +[1-9]\d*"),
    "Lossy by mistake": (r"^ +0 +(pg_limit|pool) +[1-9]", r"^ +0 +pfc_enable +none"),
}


def cases():
    """{title: {"make", "look" or "mend": commands}} of the page."""
    found = {}
    for title, body in re.findall(r"^### \d+\. (.+?)\n(.*?)(?=^##)", PAGE, re.M | re.S):
        blocks = re.findall(r"^    # (make|look|mend)\n((?:    .+\n)+)", body, re.M)
        found[title] = {name: [line.split("  #")[0].strip() for line in text.splitlines()] for name, text in blocks}
    return found


class Bed:
    """scripts/loop --stay, with a runtime folder of its own: the page's -f loop-switch finds these programs alone."""

    def __init__(self, work):
        self.ctl = Ctl(work)
        self.programs = []
        for role, name, core, *devices in (("switch", "switch", 0, memif("server", 0, work), memif("server", 1, work, 1)),
                                           ("nic", "receiver", 1, memif("client", 1, work)), ("nic", "sender", 1, memif("client", 0, work))):
            text = (ROOT / f"config/loop-{name}.ini").read_text(encoding="utf-8")
            text = re.sub(r"^messages = .*", "messages = 0", text, flags=re.M)
            program = Program(work, role, f"loop-{name}", text, [*eal(*devices, core=core), "--file-prefix", f"loop-{name}"], "--idle-sleep", 50)
            program.wait_started()
            self.programs.append(program)

    def __call__(self, command):
        words = shlex.split(command)
        if words[0] == "quench-lab":
            done = run(path_of("lab"), "--no-progress", *words[1:], cwd=ROOT)
        else:
            done = self.ctl.words(words[1:])
        check(command, done.returncode == 0, done.stderr)
        return done.stdout

    def stop(self):
        for program in reversed(self.programs):
            check_equal(f"{program.name}: exit code", program.stop(), 0)


def holds(bed, commands, signs):
    """Which of the signs are in what the commands print."""
    text = "".join(bed(command) for command in commands)
    return [bool(re.search(sign, text, re.M)) for sign in signs]


def try_case(bed, title, blocks, signs):
    """Counters of a live switch move on: look until the sign is there, and until it is gone."""
    live = "make" in blocks
    for command in blocks.get("make", ()):
        bed(command)
    check(f"{title}: the sign is there", until(lambda: all(holds(bed, blocks["look"], signs))))
    if not live:
        check(f"{title}: the sign is gone", not any(holds(bed, blocks["mend"], signs)))
        return
    for command in blocks["mend"]:
        bed(command)

    def gone():
        bed("quenchctl -f loop-switch clear counters")
        bed.programs[0].wait_until("new counters", lambda: int(bed.ctl.json("-f loop-switch show interfaces")["rows"][0]["rx_packets"]) > 0)
        return not any(holds(bed, blocks["look"], signs))

    check(f"{title}: the sign is gone", until(gone))
    bed("quenchctl -f loop-switch reload")


def main():
    found = cases()
    check_equal("faults of the page", list(found), list(SIGNS))
    bed = Bed(work_dir())
    for title, blocks in found.items():
        check(f"{title}: the page looks and mends", {"look", "mend"} <= blocks.keys(), blocks)
        try_case(bed, title, blocks, SIGNS[title])
    bed.stop()
    finish()


main()
