# SPDX-License-Identifier: BSD-3-Clause
"""The Linux kernel's soft-RoCE in a guest, which a tap joins to a quench-nic on this machine."""
import contextlib
import os
import re
import time

import image
from guest import Guest
from harness import BUILD, PATIENCE_S, check_equal, privileged, skip, work_dir
from namespaces import need

MAC, IP4, IP6 = "02:00:00:00:00:01", "10.9.0.1", "fd09::1"  # of quench-nic
GUEST4, GUEST6 = "10.9.0.2", "fd09::2"
HOST4 = "10.9.0.3"  # of this machine's kernel, for TCP


class SoftRoce:
    """Device rxe0 of the guest, on eth0 with both addresses. gids: the index of its GID by IP version."""

    def __init__(self, guest, work, tap, mtu):
        self.guest, self.work, self.tap = guest, work, tap
        self.must(f"/bin/ip link set eth0 mtu {mtu} up && /bin/ip addr add {GUEST4}/24 dev eth0 && /bin/ip addr add {GUEST6}/64 dev eth0 nodad")
        # The device asks for the peer's address when a QP is connected, which may be before quench-nic runs.
        for address in (IP4, IP6):
            self.must(f"/bin/ip neigh add {address} lladdr {MAC} dev eth0")
        self.must("rdma link add rxe0 type rxe netdev eth0")
        # Its addresses come after it.
        self.gids = {}
        end = time.monotonic() + PATIENCE_S
        while len(self.gids) < 2 and time.monotonic() < end:
            said = self.must("ibv_devinfo -v")
            self.gids = {version: found for version, address in ((4, f"::ffff:{GUEST4}"), (6, GUEST6))
                         for found in re.findall(rf"GID\[ *(\d+)\]:\s+{re.escape(address)}", said)}
        check_equal("the device has both addresses", sorted(self.gids), [4, 6])

    def must(self, command):
        done = self.guest.run(command, PATIENCE_S)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.output}")
        return done.output

    def counters(self):
        names = self.must("cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep . *").split()
        return {name: int(value) for name, value in (line.split(":") for line in names)}

    def device(self):
        """quench-nic's end of the tap."""
        return f"net_af_packet0,iface={self.tap},blocksz=36864,framesz=4608,framecnt=256"


@contextlib.contextmanager
def soft_roce(kind=SoftRoce, mtu=4400, host=False):
    """Boot the guest for a test, or skip the test where there is none. host: this machine's kernel has HOST4 on the tap."""
    need("ip")
    try:
        made = image.build(BUILD / "peers", [BUILD / "test" / "peers" / "verbs"])
    except image.Missing as error:
        skip(str(error))
    work, tap = work_dir(), f"q{os.getpid()}"
    privileged("ip", "tuntap", "add", "dev", tap, "mode", "tap")
    try:
        privileged("sysctl", "-qw", f"net.ipv6.conf.{tap}.disable_ipv6=1")
        if host:
            privileged("ip", "addr", "add", f"{HOST4}/24", "dev", tap)
        privileged("ip", "link", "set", tap, "mtu", mtu, "up", "promisc", "on")
        with Guest(work / "guest", made, [tap]) as guest:
            yield kind(guest, work, tap, mtu)
    finally:
        privileged("ip", "link", "del", tap)
