#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The first commands of doc/otg.md, as they stand there but for ports and folders, and the configurations of config/otg."""
import atexit
import http.client
import importlib.util
import json
import re
import subprocess
import sys

from harness import BUILD, PATIENCE_S, check, check_equal, finish, run, work_dir
from otg_bed import ROOT, Otg
from desk import Desk

PAGE = (ROOT / "doc" / "otg.md").read_text(encoding="utf-8").partition("\n## ")[0]
COMMANDS = [line.strip() for line in PAGE.splitlines() if line.startswith("    ")]
SERVERS = [line for line in COMMANDS if line.startswith("scripts/otg ")]
CURLS = [line for line in COMMANDS if line.startswith("curl ")]
SWITCH = next(line for line in COMMANDS if "quench-switch " in line)
SCRIPT = next(line for line in COMMANDS if line.startswith("tools/examples/"))
URL = SCRIPT.split()[-1]
CONFIGS = ROOT / "config" / "otg"


def shell(command, work):
    """It has no shared names."""
    return command.replace("/run/quench-", f"{work}/quench-").replace("build/app/", f"{BUILD}/app/")


class Documented(Otg):
    """quench-otg, as the page starts it."""

    def __init__(self, work, command):
        self.work = work
        words = f"exec {shell(command, work)} --listen 127.0.0.1:0 --folder {work}/otg --program {BUILD}/app/quench-nic/quench-nic --options '--idle-sleep 500'"
        with open(work / "otg.err", "w", encoding="utf-8") as err:
            self.process = subprocess.Popen(["/bin/bash", "-c", words], stdout=subprocess.PIPE, stderr=err, text=True, cwd=ROOT)
        atexit.register(self.stop)
        self.url = self.process.stdout.readline().split()[-1]
        self.prefix = f"otg{self.process.pid}"
        self.connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=PATIENCE_S)

    def shell(self, command):
        """The reply to a command of the page."""
        done = subprocess.run(["/bin/bash", "-c", command.replace(URL, self.url)], capture_output=True, text=True, check=False, cwd=ROOT)
        try:
            return json.loads(done.stdout)
        except ValueError:
            sys.exit(f"{command}: {done}\n{(self.work / 'otg.err').read_text()}")

    def set_example(self, name):
        return self.set_config(json.loads((CONFIGS / name).read_text(encoding="utf-8")))


def check_first_commands(otg):
    replies = [otg.shell(command) for command in CURLS]
    check_equal("the first curl is accepted, and the second one", replies[:2], [{"warnings": []}] * 2)
    check_equal("and the third one has the flows", [row["name"] for row in replies[2]["flow_metrics"]], ["right", "left"])
    otg.capture("start")
    otg.traffic("start")
    otg.wait("all frames", lambda: otg.raw("right")["transmit"] == "stopped" and otg.raw("left")["frames_tx"] > 100)
    check_equal("of one, 2000 frames", otg.raw("right")["frames_tx"], 2000)
    otg.traffic("stop")
    check_equal("files, the capture's too, are the user's own", {oct(path.stat().st_mode & 0o777) for path in (otg.work / "otg").iterdir()}, {"0o600"})
    check("the capture", len(otg.get_capture("port2")) > 10000)


def check_storm(otg):
    check_equal("pfc-storm.json is accepted", otg.set_example("pfc-storm.json"), {"warnings": []})

    def messages():
        return otg.flow("victim")["message_complete_rx"]

    otg.traffic("start", "victim")
    otg.wait("messages", lambda: messages() > 10)
    otg.traffic("start", "storm")
    otg.wait("pauses", lambda: otg.raw("storm")["frames_tx"] > 10)
    otg.wait_quiet()
    done = messages()
    otg.traffic("stop", "storm")
    otg.wait("messages after the storm", lambda: messages() > done)
    slowdowns = [row["slowdown_mean"] for row in Desk(f"{otg.prefix}-p1").rows("flows")]
    check("a slowdown is a number in Python", slowdowns and all(isinstance(one, float) for one in slowdowns), slowdowns)
    otg.traffic("stop")


def check_incast(otg):
    if importlib.util.find_spec("snappi"):
        done = run("/bin/bash", "-c", SCRIPT.replace(URL, otg.url), cwd=ROOT)
        check("the script of snappi reports both flows", done.returncode == 0 and re.search(r"incast1: \d+ messages.*\nincast2: \d+ messages", done.stdout), done)
    check_equal("incast.json is accepted", otg.set_example("incast.json"), {"warnings": []})
    otg.traffic("start")
    otg.wait("messages and CNPs of both", lambda: all(row["message_complete_rx"] > 5 and row["cnp_rx"] > 5 for row in otg.metrics("rocev2_flow")))
    otg.traffic("stop")
    otg.wait_quiet()
    check_equal("all arrives", [row["message_tx"] - row["message_complete_rx"] for row in otg.metrics("rocev2_flow")], [0, 0])


def main():
    check_equal("each configuration is in the table of the page", sorted(path.name for path in CONFIGS.glob("*.json")),
                sorted(re.findall(r"^\| `(.*\.json)` \|", PAGE, re.MULTILINE)))
    work = work_dir()
    otg = Documented(work, SERVERS[0])
    check_first_commands(otg)
    check_storm(otg)
    check_equal("quench-otg ends well", otg.stop(), 0)
    switch = subprocess.Popen(["/bin/bash", "-c", f"exec {shell(SWITCH, work)} --idle-sleep 50"], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(switch.kill)
    otg = Documented(work, SERVERS[1])
    check_incast(otg)
    check_equal("quench-otg ends well", otg.stop(), 0)
    switch.terminate()
    check_equal("the switch ends well", switch.wait(PATIENCE_S), 0)
    finish()


main()
