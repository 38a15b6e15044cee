#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Warnings of kernel offloads that spoil frames of net_af_packet: of the other end of a veth pair here, of one elsewhere, and of the receiver."""
import atexit
import os
import re

from configs import two_ports
from harness import Program, check, check_equal, eal, finish, privileged, run, work_dir
from namespaces import Host, need


def warnings(work, name, devices):
    """The switch's warnings of offloads."""
    switch = Program(work, "switch", name, two_ports(link_speed_bps="1G"), eal(*(
        f"net_af_packet{i},iface={device},qdisc_bypass=1" for i, device in enumerate(devices))), "--idle-sleep", 50)
    switch.wait_started()
    check_equal(f"{name}: exit code after SIGTERM", switch.stop(), 0)
    return [line for line in switch.err().splitlines() if "ethtool -K" in line]


def main():
    need("ip", "ethtool", "sysctl")
    work = work_dir()
    host = Host(0, "10.77.0.1", "02:00:00:00:00:01", offloads=True)
    near, far = (f"q{os.getpid() % 100000}w{end}" for end in "ab")
    privileged("ip", "link", "add", near, "type", "veth", "peer", "name", far)
    atexit.register(run, "ip", "link", "del", near)
    for end in (near, far):
        host.must("sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1", outside=True)
        host.must("ip", "link", "set", end, "up", outside=True)

    host.must("ethtool", "-K", near, "tx", "off", "tso", "off", "gso", "off", outside=True)
    host.must("ethtool", "-K", host.device, "gro", "on", outside=True)
    lines = warnings(work, "as they come", [host.device, near])
    check_equal("three warnings", len(lines), 3)
    text = "\n".join(lines)
    check("of GRO at the receiver", f"net_af_packet0: the kernel merges frames that {host.device} receives: ethtool -K "
          f"{host.device} gro off" in text, text)
    check("of an end in another namespace", re.search(rf"net_af_packet0: .*ethtool -K {host.device} tx off tso off gso off, and the same "
                                                      "at the other end", text), text)
    check("of the end that sends, if it is here", re.search(rf"net_af_packet1: .*: ethtool -K {far} tx off tso off gso off$", text), text)

    # What the warnings say.
    for command in re.findall(r"ethtool -K (\w+ (?:\w+ off ?)+)", text):
        host.must("ethtool", "-K", *command.split(), outside=True)
    check_equal("none after the commands of the warnings", warnings(work, "without", [host.device, near]), [])
    finish()


main()
