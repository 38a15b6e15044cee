#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""No frame of an attack costs the switch more than three times a plain one, in instructions: cost.py ATTACK_COST.

Callgrind counts them, so the figures do not depend on the machine's load. A plain frame is received and sent once; one that is
dropped counts as one too, and a flooded one as half for its arrival and half for each copy.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 3.0


def main():
    if shutil.which("valgrind") is None:
        print("SKIP: valgrind is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                               "--toggle-collect=switch_rx*", "--toggle-collect=switch_tx*", sys.argv[1]],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr[-3000:])
        costs = {}
        dumps = [path.read_text() for path in pathlib.Path(folder).iterdir()]
        for line in done.stdout.splitlines():
            name, received, sent = line.split()
            frames = max(int(received), (int(received) + int(sent)) / 2)
            dump = next(text for text in dumps if f"Trigger: Client Request: {name}\n" in text)
            costs[name] = int(re.search(r"^totals: (\d+)", dump, re.M).group(1)) / frames
    plain = max(costs["plain"], costs["plain-routed"])
    for name, cost in costs.items():
        print(f"{'ok    ' if cost <= MOST * plain else 'NOT OK'} {name:28} {cost:7.0f} instructions a frame, "
              f"{cost / plain:5.2f} of a plain one")
    sys.exit(0 if len(costs) > 10 and max(costs.values()) <= MOST * plain else 1)


main()
