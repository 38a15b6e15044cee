# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces as hosts: the Linux kernel behind a veth pair, whose other end our program takes."""
import atexit
import os
import shutil
import subprocess
import sys

from harness import privileged, run, skip


def need(*tools):
    if os.geteuid() != 0:
        skip("network namespaces and AF_PACKET need root")
    for tool in tools:
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            skip(f"{tool} is not installed")


# Frames in hexadecimal on standard input.
SEND = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
for line in sys.stdin:
    s.send(bytes.fromhex(line))
"""


class Host:
    """A namespace with one interface eth0; device is the end outside."""

    def __init__(self, number, address, mac, mtu=1500, offloads=False):
        self.name = f"qh{os.getpid()}-{number}"
        self.device = f"q{os.getpid() % 100000}v{number}"
        self.address, self.mac = address, mac
        privileged("ip", "netns", "add", self.name)
        atexit.register(self.remove)
        privileged("ip", "link", "add", self.device, "mtu", mtu, "type", "veth", "peer", "name", "eth0", "mtu", mtu,
                   "address", mac, "netns", self.name)
        # The kernel outside shall not speak on this wire, and the one inside only what the test asks for.
        self.must("sysctl", "-qw", f"net.ipv6.conf.{self.device}.disable_ipv6=1", outside=True)
        self.must("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
        # Whole frames with finished checksums, as a wire would carry them.
        for where, device in () if offloads else ((True, self.device), (False, "eth0")):
            self.must("ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off", "tx", "off", "rx", "off",
                      outside=where)
        self.must("ip", "link", "set", self.device, "up", "promisc", "on", outside=True)
        self.must("ip", "link", "set", "lo", "up")
        self.must("ip", "address", "add", address + "/24", "dev", "eth0")
        self.must("ip", "link", "set", "eth0", "up")

    def inside(self):
        """Not "ip netns exec": it remounts /, which fails in a chroot, and nothing here needs /sys of the namespace."""
        return ["nsenter", f"--net=/run/netns/{self.name}"]

    def __call__(self, *command, **kw):
        return run(*self.inside(), *command, **kw)

    def must(self, *command, outside=False):
        done = run(*command) if outside else self(*command)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr or done.stdout}")
        return done.stdout

    def ping(self, to, *options, count=5):
        """One after the other: of several at a time, ping takes the last for lost if they are late and another has come back.

        @return how many came back, and what ping said"""
        done = [self("ping", "-c", 1, "-W", 5, *options, to) for _ in range(count)]
        said = "".join(each.stdout + each.stderr for each in done)
        return said.count("1 received"), said

    def start(self, *command):
        """Run beside the test; killed with it."""
        process = subprocess.Popen([*self.inside(), *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        atexit.register(process.kill)
        return process

    def send(self, frames):
        """As they are, out of eth0."""
        done = self(sys.executable, "-c", SEND, input="".join(f.hex() + "\n" for f in frames))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def counters(self):
        """The kernel's own, absolute."""
        lines = self.must("nstat", "-asz").splitlines()
        return {line.split()[0]: int(line.split()[1]) for line in lines if not line.startswith("#") and line}

    def remove(self):
        run("ip", "link", "del", self.device)
        run("ip", "netns", "del", self.name)
