# SPDX-License-Identifier: BSD-3-Clause
"""A switch and a NIC with something to see, for the tests of what shows them."""
from harness import Program
from telemetry import eal, wait_answers

SWITCH = """
[switch]
buffer_bytes = 4MB
[pfcwd]
pfcwd = sonic
[port 0]
mac = 02:5a:00:00:00:00
link_speed_bps = 1G
[port 1]
mac = 02:5a:00:00:00:01
link_speed_bps = 10G
"""
NIC = """
[nic]
mac = 02:00:00:00:00:01
ip = 10.0.0.1
link_speed_bps = 1G
first_qpn = 100
[flow {flow}]
peer_mac = 02:00:00:00:00:01
peer_ip = 10.0.0.1
peer_qpn = 104
qp_count = 4
message_bytes = 100000
rate_cap_bps = 10M
[flow answer]
requester = off
peer_mac = 02:00:00:00:00:01
peer_ip = 10.0.0.1
peer_qpn = 100
qp_count = 4
"""


def start_switch(work, name):
    """Port 1 gets frames without end."""
    program = Program(work, "switch", "switch", SWITCH, eal(name, "net_null0,no-rx=1", "net_null1"), "--stats-interval", 0,
                      "--idle-sleep", 200)
    wait_answers(program, name)
    return program


def start_nic(work, name, flow="write"):
    """It sends to itself by a ring."""
    program = Program(work, "nic", "nic", NIC.format(flow=flow), eal(name, "net_ring0"), "--stats-interval", 0,
                      "--idle-sleep", 200)
    wait_answers(program, name)
    return program
