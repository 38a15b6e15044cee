#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-probe describes quench-nic over memif, and scripts/probe-nic makes the page.

On two shared cores figures are wrong; that they are right is test_probe's, in virtual time. Here the report is complete, every line has
a verdict, frames that are late are not called a fault of the NIC, and what does not depend on time is found: formats, go-back-N, and an
MTU on which the ends disagree.
"""
import json
import os
import pathlib
import signal

from configs import flow, memif, nic, section
from harness import Program, check, check_equal, eal, finish, run, until, work_dir

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/probe-nic"
VERDICTS = {"ok", "measured", "differs", "fault", "no answer", "not measured", "not run"}
# Lines that loss and lateness do not change.
FORMATS = {"np_opcode": "ok", "np_becn": "ok", "np_ecn": "ok", "np_reserved": "ok", "np_bth": "ok", "np_dest_qp": "ok",
           "pit_sport_range": "ok", "pit_sport_qp": "ok", "pit_ttl": "ok", "pit_df": "ok", "pit_ect": "ok", "pit_mtu": "fault",
           "tr_nak_psn": "ok", "tr_duplicate": "ok", "tr_bad_icrc": "ok", "tr_recovery": "ok"}
PROBE = section("probe", mac="02:00:00:00:00:02", ip="10.0.0.2", peer_mac="02:00:00:00:00:01", peer_ip="10.0.0.1",
                link_speed_bps="1G", qp_count=2, mtu_bytes=2048, settle_ns="10ms", curve_ns="100ms", answer_ns="1s")
NIC = (nic(1, link_speed_bps="1G", shaper_burst_ns="200us", first_qpn=17, local_ack_timeout=14) +
       flow("data", 2, peer_qpn=17, qp_count=2, requester="on", message_bytes="64KB", depth=64))


def start(work, name, role, config, core, wire, *options):
    return Program(work, role, name, config, eal(memif(wire, 0, work), core=core, memory=96), *options)


def check_report(report, page):
    lines = {line["id"]: line for line in report["lines"]}
    check_equal("the report is complete", report["complete"], True)
    check_equal("every line has a verdict", {line["verdict"] for line in lines.values()} - VERDICTS, set())
    check("every line that ran says what was measured", all(line["measured"] for line in lines.values()),
          [line["id"] for line in lines.values() if not line["measured"]])
    found = {name: lines[name]["verdict"] for name in FORMATS}
    check_equal("formats, and the MTU on which the ends disagree", found, FORMATS)
    # A delay is as long as the machine is busy.
    check_equal("no other line is called a fault", [name for name, line in lines.items() if line["verdict"] == "fault" and not name.endswith("_delay")], ["pit_mtu"])
    check("the MTU's line names both", "1024" in lines["pit_mtu"]["measured"] and "2048" in lines["pit_mtu"]["measured"],
          lines["pit_mtu"]["measured"])
    check("the page has every line", all(line["what"].split("(")[0].replace("'", "&#x27;") in page for line in lines.values()))
    check("the page asks for nothing", "http:" not in page and "https:" not in page and "<script src" not in page)


def check_refusals(work):
    folder = work / "bad"
    folder.mkdir()
    for name, text, expected in (("no file", None, "No such file"), ("not JSON", "{", "not JSON"),
                                 ("another report", '{"program": "quench-nic"}', "expected a report of quench-probe"),
                                 ("a bad line", '{"program": "quench-probe", "config": {}, "counters": {}, "lines": [{}]}', "line 0")):
        if text is not None:
            (folder / "report.json").write_text(text)
        done = run(SCRIPT, folder)
        check(f"{name}: refused with one line", done.returncode == 2 and expected in done.stderr and done.stderr.count("\n") == 1,
              (done.returncode, done.stderr))
    check("no page is left", not (folder / "report.html").exists())


def check_stopped(work):
    """Nothing is at the other end: a signal ends the run, and the report says that it is not complete."""
    probe = start(work, "alone", "probe", PROBE, 0, "server")
    probe.wait_until("hello", lambda: "hello" in probe.out())
    check_equal("stopped: exit code", probe.stop(signal.SIGINT), 0)
    report = probe.json()
    check_equal("stopped: not complete", (report["complete"], {line["verdict"] for line in report["lines"]}), (False, {"not run"}))
    full = Program(work, "probe", "full", PROBE, eal(memif("server", 0, work), memory=96), "--json", "/dev/full")
    full.wait_until("hello", lambda: "hello" in full.out())
    check_equal("full disk: exit code", full.stop(signal.SIGINT), 1)
    check("full disk: one line", "/dev/full: cannot be written" in full.err(), full.err())


def main():
    work = work_dir()
    codes = []

    def answered():
        """A NIC that gets no CPU for seconds does not answer: the report says so, and its user asks again."""
        probe = start(work, "report", "probe", PROBE, 0, "server")
        probe.wait_until("hello", lambda: "hello" in probe.out())
        dut = start(work, "nic", "nic", NIC, 1, "client", "--idle-sleep", 50)
        codes[:] = [probe.wait_end(), dut.stop(signal.SIGINT)]
        lines = json.loads((work / "report.json").read_text())["lines"]
        return codes[0] != 0 or not any(line["id"] in FORMATS and line["verdict"] == "no answer" for line in lines)

    until(answered)
    check_equal("quench-probe: exit code", codes[0], 0)
    check("quench-nic: exit code 0, or 1 for a QP that gave up", codes[1] in (0, 1), codes[1])
    done = run(SCRIPT, work, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    check_equal("probe-nic: exit code, and the page", (done.returncode, done.stdout), (0, f"{work}/report.html\n"))
    check_report(json.loads((work / "report.json").read_text()), (work / "report.html").read_text())
    check_refusals(work)
    check_stopped(work)
    finish()


if __name__ == "__main__":
    main()
