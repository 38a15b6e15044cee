# SPDX-License-Identifier: BSD-3-Clause
"""A runtime folder and a network of a test's own, so that other programs and other tests of this machine are not there for it.

import alone, before anything else of quench: EAL's folder of run-time files is RUNTIME_DIRECTORY from then on, for this process and
those that it starts. As root, network() leaves the network namespace: ports, addresses and device names are nobody else's.
"""
import atexit
import contextlib
import ctypes
import fcntl
import os
import shutil
import socket
import struct
import tempfile

CLONE_NEWNET, CLONE_NEWNS = 0x40000000, 0x00020000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
_libc = ctypes.CDLL(None, use_errno=True)
_outside = None


def _own_runtime():
    folder = tempfile.mkdtemp(prefix="quench-run-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["RUNTIME_DIRECTORY"] = folder


def network():
    """Devices, and what a test leaves of them, go with the namespace. Without the privilege nothing happens."""
    global _outside
    if _outside is not None or os.geteuid() != 0:
        return
    before = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    if _libc.unshare(CLONE_NEWNET) != 0:
        os.close(before)
        return
    _outside = before
    with socket.socket() as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def folder(path):
    """An empty folder in the place of path, for this process and those that it starts. Without the privilege nothing happens."""
    if os.geteuid() != 0 or _libc.unshare(CLONE_NEWNS) != 0:
        return
    _libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    _libc.mount(b"none", os.fsencode(path), b"tmpfs", 0, None)


def address():
    """An address beside those of the loopback: without one, getaddrinfo() with AI_ADDRCONFIG finds no host."""
    if _outside is None:
        return
    with socket.socket() as s:
        fcntl.ioctl(s, SIOCSIFADDR, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("192.0.2.1")))


@contextlib.contextmanager
def outside():
    """With the network of this machine, for a download."""
    if _outside is None:
        yield
        return
    inside = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    _libc.setns(_outside, CLONE_NEWNET)
    try:
        yield
    finally:
        _libc.setns(inside, CLONE_NEWNET)
        os.close(inside)


_own_runtime()
network()
