# SPDX-License-Identifier: BSD-3-Clause
"""Two quench-nic of two polling lcores, hosts 1 and 2 of a net, on TAP interfaces that a Linux bridge joins."""
import atexit
import os

import configs
from harness import Program, privileged, run, skip
from desk import eal, prefix

BRIDGE = f"q{os.getpid() % 100000}b"
TAPS = [f"q{os.getpid() % 100000}t{i}" for i in (0, 1)]


def link(device, *what):
    privileged("ip", "link", "set", device, *what)


def join(tap):
    link(tap, "master", BRIDGE)


def need_bridge():
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        skip("TAP interfaces need root and /dev/net/tun")
    privileged("ip", "link", "add", BRIDGE, "type", "bridge")
    atexit.register(run, "ip", "link", "del", BRIDGE)
    link(BRIDGE, "up")


def start(work, name, host, nic_keys, *options, net="10.78.0", **flow_keys):
    """A NIC with a flow a to the other host, which sends if it is that of host 1; (program, its file prefix) when it answers."""
    file_prefix = prefix(name)
    text = configs.nic(host, net, link_speed_bps="50M", **nic_keys) + configs.flow(
        "a", 3 - host, net, requester="on" if host == 1 else "off", message_bytes="64KB", **flow_keys)
    program = Program(work, "nic", name, text, eal(file_prefix, f"net_tap0,iface={TAPS[host - 1]}", lcores=3), "--idle-sleep", 200,
                      "--stats-interval", 0.1, *options)
    program.wait_started()
    return program, file_prefix
