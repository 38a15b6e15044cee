# SPDX-License-Identifier: BSD-3-Clause
"""A switch and a NIC with something to see, for the tests of what shows them."""
from configs import flow_to_itself, nic, port
from frames import ECT0, roce, write_pcap
from harness import BUILD, Program, check, run
from desk import eal, prefix

LONG = "Ethernet101/1/10.breakout-lane4"
SWITCH = """
[switch]
buffer_bytes = 4MB
shaper_burst_ns = 200us
vlan_filtering = on
[pfcwd]
pfcwd = sonic
""" + port(0, link_speed_bps="1G") + port(1, link_speed_bps="10G", shaper_rate_bps="20M") + port(2, name=LONG, link_speed_bps="1G", shaper_rate_bps="20M") + port(3, link_speed_bps="1G", access_vlan=9)


def nic_config(name):
    return nic(1, link_speed_bps="1G", first_qpn=100) + flow_to_itself(name, 4, message_bytes=100000, rate_cap_bps="10M")


def start_switch(work, name):
    """Ports 1 and 2 hear what they send, so that frames of port 0, for nobody, go around as fast as the shapers let them. Port 3 is idle."""
    write_pcap(work / "seed.pcap", [roce("02:00:00:00:07:07", "02:00:00:00:08:08", "10.0.0.1", "10.0.0.2", 50000, i, 26, ECT0, bytes(1000))
                                    for i in range(100)])
    program = Program(work, "switch", "switch", SWITCH, eal(name, f"net_pcap0,rx_pcap={work}/seed.pcap", "net_ring0", "net_ring1", "net_null0,no-rx=1"),
                      "--stats-interval", 0, "--idle-sleep", 1000)
    program.wait_started()
    return program


def start_nic(work, name, flow="write"):
    """It sends to itself by a ring."""
    program = Program(work, "nic", "nic", nic_config(flow), eal(name, "net_ring0"), "--stats-interval", 0,
                      "--idle-sleep", 1000)
    program.wait_started()
    return program


def check_no_program(command):
    done = run(BUILD / "app/quenchctl/quenchctl", "-f", prefix("none"), command)
    check("no program: one line", done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr)
