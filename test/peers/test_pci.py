#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch on PCI devices, which QEMU emulates: vfio-pci behind an IOMMU, hugepages, interrupts of the link.

The guest is the switch, and two quench-nics on this machine are its hosts.

    test_pci.py e1000e|virtio-net-pci|vmxnet3
"""
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
import image  # noqa: E402
from guest import Guest  # noqa: E402
from harness import BUILD, PATIENCE_S, Program, check, check_equal, eal, finish, privileged, skip, work_dir  # noqa: E402
from namespaces import need  # noqa: E402

TAPS = [f"q{os.getpid() % 100000}p{i}" for i in (0, 1)]
PORTS = ("0000:00:05.0", "0000:00:06.0")
CONFIG = "[switch]\nbuffer_bytes = 3MB\nmax_frame_bytes = 1600\n" + "".join(f"[port {i}]\ndevice = {address}\nlink_speed_bps = 1G\n" for i, address in enumerate(PORTS))
MESSAGES, PACKETS = 200, 10  # of 10 KB


def devices(model):
    # virtio goes through the IOMMU only when told to.
    more = ",disable-legacy=on,iommu_platform=on" if model.startswith("virtio") else ""
    words = ["-M", "q35", "-device", "intel-iommu,intremap=off"]
    for i, tap in enumerate(TAPS):
        words += ["-netdev", f"tap,id=n{i},ifname={tap},script=no,downscript=no",
                  "-device", f"{model},id=d{i},netdev=n{i},mac=02:00:00:00:00:0{i + 1},bus=pcie.0,addr={i + 5:#x}{more}"]
    return words


class Switch:
    def __init__(self, guest):
        self.guest = guest
        self.must("mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages && echo 128 >/proc/sys/vm/nr_hugepages")
        # The emulated IOMMU does not remap interrupts.
        self.must("echo 1 >/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts")
        for address in PORTS:
            self.must(f"cd /sys/bus/pci/devices/{address} && {{ [ ! -e driver ] || echo {address} >driver/unbind; }} && echo vfio-pci >driver_override "
                      f"&& echo {address} >/sys/bus/pci/drivers_probe && [ $(basename $(readlink driver)) = vfio-pci ]")
        self.must(f"printf '%s' '{CONFIG}' >/tmp/switch.ini")

    def must(self, command):
        done = self.guest.run(command, PATIENCE_S)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.output}")
        return done.output

    def start(self):
        self.must("rm -f /tmp/out; quench-switch -l 0 -m 200 --log-level=error -- --config /tmp/switch.ini --idle-sleep 50 --json /tmp/result.json "
                  ">/tmp/out 2>&1 & echo $! >/tmp/pid")
        return self.wait_for("running:")

    def wait_for(self, words):
        """@return what the switch has printed when it has printed these words"""
        self.must(f"while ! grep -q '{words}' /tmp/out; do kill -0 $(cat /tmp/pid) || {{ cat /tmp/out; exit 1; }}; usleep 100000; done")
        return self.must("cat /tmp/out")

    def stop(self, signal="TERM"):
        self.must(f"kill -{signal} $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2>/dev/null; do usleep 100000; done")


def start_host(work, name, text, *options):
    """net_af_packet numbers its group of sockets by its process and interface. Two programs may get the same number: then try again."""
    while True:
        host = Program(work, "nic", name, text, *options)
        while "running" not in host.err() and host.process.poll() is None:
            time.sleep(0.02)
        if host.process.poll() is None or "PACKET_FANOUT" not in host.err():
            host.wait_started()
            return host


def exchange(work, name):
    """Messages from one host to the other. @return its results"""
    hosts = []
    for i, (own, peer) in enumerate(((1, 2), (2, 1))):
        text = (f"[nic]\nmac = 02:00:00:00:01:0{own}\nip = 10.9.0.{own}\nlink_speed_bps = 20M\nlocal_ack_timeout = 18\n[flow f]\npeer_ip = 10.9.0.{peer}\n"
                f"peer_mac = 02:00:00:00:01:0{peer}\nlocal_qpn = 512\npeer_qpn = 512\nrequester = {'off' if i else 'on'}\n")
        text += "" if i else f"message_bytes = {PACKETS}KB\nmessages = {MESSAGES}\n"
        hosts.append(start_host(work, f"{name}_{own}", text, eal(f"net_af_packet0,iface={TAPS[i]},blocksz=8192,framesz=2048,framecnt=512", core=i),
                                "--idle-sleep", 50, *(("--stay",) if i else ())))
    hosts[0].wait_end()
    hosts[1].stop()
    return hosts[0].json()["flows"][0]


def check_exchange(work, name):
    flow = exchange(work, name.replace(" ", "_"))
    check_equal(f"{name}: messages, QPs failed", (flow["messages"], flow["qps_failed"]), (MESSAGES, 0))


def check_switch(work, switch, model):
    said = switch.start()
    check("nothing is wrong at the start", "error" not in said, said)
    check_exchange(work, f"{model}")
    if model != "vmxnet3":  # QEMU does not tell this one of its link
        for state, words in (("off", "port 0 .*: link is down"), ("on", "port 0 .*: link is up")):
            switch.must(": >/tmp/out")
            switch.guest.monitor(f"set_link d0 {state}")
            switch.wait_for(words)
        check_exchange(work, f"{model} after its link was down")
    switch.stop("KILL")
    switch.start()
    check_exchange(work, f"{model} after kill -9 and a second start")
    switch.stop()
    result = switch.must("cat /tmp/result.json")
    # ARP is answered by the NICs themselves; nobody else speaks on the taps.
    sent, came = (sum(map(int, re.findall(rf'"{key}": (\d+)', result))) for key in ("tx_packets", "rx_packets"))
    check("frames in and out", came >= MESSAGES * PACKETS and sent > 0, (came, sent))


def main(model):
    need("ip")
    try:
        made = image.build(BUILD / "peers", [BUILD / "app" / "quench-switch" / "quench-switch"],
                           ("bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_virtio", "net_vmxnet3"))
    except image.Missing as error:
        skip(str(error))
    work = work_dir()
    for tap in TAPS:
        privileged("ip", "tuntap", "add", "dev", tap, "mode", "tap")
    try:
        for tap in TAPS:
            privileged("sysctl", "-qw", f"net.ipv6.conf.{tap}.disable_ipv6=1")
            privileged("ip", "link", "set", tap, "up", "promisc", "on")
        with Guest(work / "guest", made, more=devices(model), memory_mb=1024, append="intel_iommu=on iommu=pt") as guest:
            check_switch(work, Switch(guest), model)
    finally:
        for tap in TAPS:
            privileged("ip", "link", "del", tap)
    finish()


main(sys.argv[1])
