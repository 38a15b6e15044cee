#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-dumpcap attaches to a running quench-nic and quench-switch, captures their frames, and leaves them running."""
import os
import shutil

from configs import flow, nic, two_ports
from frames import read_pcap
from harness import Program, check, check_equal, eal, finish, run, skip, work_dir
from hugepages import huge_options

DUMPCAP = shutil.which("dpdk-dumpcap", path=os.environ["PATH"] + ":/usr/bin:/usr/local/bin")
# DPDK frees what a capture used when dpdk-dumpcap ends, even while a lcore that lost its CPU is in it: a lcore that
# sleeps is not, and few frames are not met.
OPTIONS = ["--stats-interval", 0.1, "--idle-sleep", 500]
LLDP = bytes.fromhex("0180c200000e")
SWITCH = """
[switch]
buffer_bytes = 1MB
[lldp]
lldp = on
lldp_tx_interval_ns = 1s
""" + two_ports(link_speed_bps="10G")
NIC = nic(1, link_speed_bps="1G") + flow("out", 2, verb="ud_send", qkey="0x1ee7", peer_qpn=100, message_bytes=1024, rate_cap_bps="10M")


def capture(work, program, prefix, interface, count):
    """Some frames of a port; dumpcap ends by itself."""
    # One of its own: dpdk-dumpcap writes over a file without making it shorter.
    path = work / f"{program.name}.pcap"
    program.wait_started()
    done = run(DUMPCAP, "--file-prefix", prefix, "-i", interface, "-c", count, "-p", "-P", "-w", path)
    check(f"dpdk-dumpcap attaches to {program.name}", done.returncode == 0, done.stdout + done.stderr)
    frames = read_pcap(path) if path.exists() else []
    check("and has its frames", len(frames) >= count, len(frames))
    lines = len(program.out().splitlines())
    program.wait_until("it goes on", lambda: len(program.out().splitlines()) > lines + 2)
    check_equal(f"exit code of {program.name}", program.stop(), 0)
    return frames


def main():
    work = work_dir()
    if DUMPCAP is None:
        skip("dpdk-dumpcap is not installed")
    huge = huge_options(work, needed=True)

    def options(*devices):
        return eal(*devices, huge=True, memory=128) + huge

    prefix = options()[options().index("--file-prefix") + 1]
    nic = Program(work, "nic", "quench-nic", NIC, options("net_null0,no-rx=1"), *OPTIONS)
    frames = capture(work, nic, prefix, "net_null0", 20)
    check("they are the flow's", all(f[:6] == bytes.fromhex("020000000002") and len(f) == 1090 for f in frames),
          {len(f) for f in frames})

    # (net_pcap takes its link away when any process that shares it ends.)
    switch = Program(work, "switch", "quench-switch", SWITCH, options("net_null0,no-rx=1", "net_null1,no-rx=1"), *OPTIONS)
    frames = capture(work, switch, prefix, "net_null1", 2)
    check("they are LLDP", all(f[:6] == LLDP and f[12:14] == b"\x88\xcc" for f in frames), len(frames))
    finish()


main()
