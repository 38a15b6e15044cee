# SPDX-License-Identifier: BSD-3-Clause
"""A switch and a NIC with something to see, for the tests of what shows them."""
from configs import flow_to_itself, nic, port
from harness import BUILD, Program, check, run
from telemetry import eal, prefix, wait_answers

SWITCH = """
[switch]
buffer_bytes = 4MB
[pfcwd]
pfcwd = sonic
""" + port(0, link_speed_bps="1G") + port(1, link_speed_bps="10G")


def nic_config(name):
    return nic(1, link_speed_bps="1G", first_qpn=100) + flow_to_itself(name, 4, message_bytes=100000, rate_cap_bps="10M")


def start_switch(work, name):
    """Port 1 gets frames without end."""
    program = Program(work, "switch", "switch", SWITCH, eal(name, "net_null0,no-rx=1", "net_null1"), "--stats-interval", 0,
                      "--idle-sleep", 200)
    wait_answers(program, name)
    return program


def start_nic(work, name, flow="write"):
    """It sends to itself by a ring."""
    program = Program(work, "nic", "nic", nic_config(flow), eal(name, "net_ring0"), "--stats-interval", 0,
                      "--idle-sleep", 200)
    wait_answers(program, name)
    return program


def check_no_program(command):
    done = run(BUILD / "app/quenchctl/quenchctl", "-f", prefix("none"), command)
    check("no program: one line", done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr)
