#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch --thresholds: the figures of the SIGCOMM 2015 paper's section 4, and the warning that rests on them."""
import pathlib

from harness import BUILD, check, check_equal, finish, run, work_dir

PAPER = pathlib.Path(__file__).resolve().parents[2] / "config" / "paper-thresholds.ini"
SWITCH = BUILD / "app" / "quench-switch" / "quench-switch"


def main():
    work = work_dir()
    paper = run(SWITCH, "--config", PAPER, "--thresholds")
    check_equal("exit code", paper.returncode, 0)
    check_equal("nothing on standard error", paper.stderr, "")
    in_force = paper.stdout.split("With the configured headroom")[1].split("With the headroom")[0]
    check("B = 12 MB - 8 x 32 x 22.4 KB", "B = 6265.600 KB" in in_force, in_force)
    check("static t_PFC <= 24.475 KB", "static   t_PFC <= 24.475 KB, t_ECN < 0.765 KB" in in_force, in_force)
    check("less than a frame", "less than a frame" in in_force, in_force)
    check("dynamic t_ECN < 21.756 KB", "t_ECN < 21.756 KB" in in_force, in_force)
    # 3 x 1518 + 40, 84, 2 x 100 m x 5 ns at 40G, 64 x 118 quanta, no cells
    row = next(line for line in paper.stdout.splitlines() if line.startswith("  0-31"))
    check_equal("headroom of the formula", row.split()[1:],
                ["40", "Gb/s", "100", "m", "4594", "84", "5000.0", "7552", "0", "17.230", "22.400", "fits"])
    check("why the rule of thumb is not an inequality", "compares different quantities" in paper.stdout)

    late = work / "late.ini"
    for min_bytes, warns in (("21.755KB", False), ("21.756KB", True)):
        late.write_text(PAPER.read_text().replace("green_min_threshold_bytes = 5KB",
                                                  f"green_min_threshold_bytes = {min_bytes}"))
        started = run(SWITCH, "--config", late, "--check-config")
        check_equal(f"WRED min {min_bytes}: exit code", started.returncode, 0)
        check_equal(f"WRED min {min_bytes}: warned", "port 0, queue 3: marking begins above" in started.stderr, warns)
    headroom = work / "headroom.ini"
    for xoff, warns in (("17230", False), ("17229", True)):
        headroom.write_text(PAPER.read_text().replace("xoff_bytes = 22.4KB", f"xoff_bytes = {xoff}"))
        started = run(SWITCH, "--config", headroom, "--check-config")
        check_equal(f"headroom {xoff}: exit code", started.returncode, 0)
        check_equal(f"headroom {xoff}: warned", "port 0, lossless group 0: xoff_bytes = 17229, but 17230 bytes may arrive" in started.stderr, warns)
    static = work / "static.ini"
    static.write_text(PAPER.read_text().replace("dynamic = on\ndynamic_th = 0", "dynamic = off\nstatic_th_bytes = 24.4KB"))
    started = run(SWITCH, "--config", static, "--check-config")
    check("a static limit over 32 ports is less than the paper's Kmin",
          "paused at 762" in started.stderr, started.stderr)

    own = work / "own.ini"
    own.write_text(PAPER.read_text() + "[buffer_profile small]\ndynamic = off\nstatic_th_bytes = 9.6KB\nxoff_bytes = 22.4KB\n"
                   "[pg 5|3]\nbuffer_profile = small\n")
    for option in ("--check-config", "--thresholds"):
        for file, expected in ((late, "marking begins above 21756"), (headroom, "xoff_bytes = 17229"),
                               (own, "queue 3: marking begins above 5000 bytes, but port 5, lossless group 3")):
            said = run(SWITCH, "--config", file, option)
            check(f"{file.name}: {option} warns", expected in said.stderr and said.returncode == 0, said.stderr)
    check("the bound of a group's own profile", "[buffer_profile small]: t_ECN < 0.300 KB" in
          run(SWITCH, "--config", own, "--thresholds").stdout)

    none = work / "none.ini"
    none.write_text("[switch]\npfc_generate = off\n[port]\nlink_speed_bps = 10G\n[port 0]\n[port 1]\n")
    check("packet memory: what is shared, and headroom", "mbufs for queued frames. " in paper.stdout, paper.stdout)
    lossy = run(SWITCH, "--config", none, "--thresholds")
    check("without PFC there is nothing to calculate", "no headroom is needed" in lossy.stdout, lossy.stdout)
    nic = run(BUILD / "app" / "quench-nic" / "quench-nic", "--config", PAPER, "--thresholds")
    check_equal("quench-nic has no such option", nic.returncode, 2)
    finish()


main()
