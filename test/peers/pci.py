# SPDX-License-Identifier: BSD-3-Clause
"""A guest with two network devices on PCIe root ports, each joined to a tap of this machine, and handed to vfio-pci by quench-prepare."""
import contextlib
import json
import os
import pathlib
import time

import image
from guest import Guest
from harness import BUILD, PATIENCE_S, Program, check, check_equal, eal, privileged, run

MODELS = {"e1000e": "e1000e", "virtio-net-pci": "virtio-pci", "vmxnet3": "vmxnet3"}  # of QEMU, and the kernel's driver
TAPS = [f"q{os.getpid() % 100000}p{i}" for i in (0, 1)]
PORTS = ("0000:01:00.0", "0000:02:00.0")
PREPARE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "quench-prepare"
DRIVERS = ("bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_virtio", "net_vmxnet3")
TAP_MTU = 9500
# User and capabilities as in share/systemd.
CAPABILITIES = "-all,+net_raw,+net_admin,+ipc_lock"
AS_SERVICE = ("XDG_RUNTIME_DIR=/run/quench /bin/setpriv --reuid 100 --regid 100 --clear-groups --no-new-privs "  # shared: in the guest
              f"--bounding-set {CAPABILITIES} --inh-caps {CAPABILITIES} --ambient-caps {CAPABILITIES}")


def devices(model):
    # virtio goes through the IOMMU only when told to.
    more = ",disable-legacy=on,iommu_platform=on" if model.startswith("virtio") else ""
    words = ["-M", "q35", "-device", "intel-iommu,intremap=off"]
    for i, tap in enumerate(TAPS):
        words += ["-netdev", f"tap,id=n{i},ifname={tap},script=no,downscript=no",
                  "-device", f"pcie-root-port,id=r{i},chassis={i + 1},slot={i + 1},bus=pcie.0,addr={i + 5:#x}",
                  "-device", f"{model},id=d{i},netdev=n{i},mac=02:00:00:00:00:0{i + 1},bus=r{i}{more}"]
    return words


def tap_counters(i):
    """Frames that the guest's device took and gave, and what the tap refused. Frames to the device count once QEMU has read them."""
    # Not of /sys, which shows another network namespace.
    counted = json.loads(run("ip", "-json", "-statistics", "link", "show", "dev", TAPS[i]).stdout)[0]["stats64"]
    return {"to_device": counted["tx"]["packets"], "from_device": counted["rx"]["packets"], "refused": counted["tx"]["dropped"]}


class PciGuest:
    def __init__(self, guest, model, prepare):
        self.guest, self.model = guest, model
        # The emulated IOMMU does not remap interrupts.
        self.must("echo 1 >/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts; printf \"root:x:0:\\nquench:x:100:\\n\" >/etc/group; "
                  "printf \"root:x:0:0::/:/bin/sh\\nquench:x:100:100::/:/bin/sh\\n\" >/etc/passwd; mkdir -p /run/quench; chown 100:100 /run/quench; chmod 1777 /tmp")
        if prepare:
            self.prepare()

    def must(self, command):
        done = self.guest.run(command, PATIENCE_S)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.output}")
        return done.output

    def prepare(self):
        said = self.must(f"PATH=/bin /bin/bash /bin/quench-prepare --hugepages 128 --group quench {' '.join(f'--vfio {p}' for p in PORTS)}")
        for port in PORTS:
            check(f"quench-prepare: {port} is vfio's", f"done: hand {port} from {MODELS[self.model]} to vfio-pci" in said, said)

    def give_back(self):
        said = self.must(f"PATH=/bin /bin/bash /bin/quench-prepare {' '.join(f'--kernel {p}' for p in PORTS)}; cd /sys/bus/pci/devices; "
                         f"for p in {' '.join(PORTS)}; do basename $(readlink $p/driver); done; ls /sys/class/net")
        check_equal("quench-prepare: the kernel has its devices again", said.split().count(MODELS[self.model]), 2)
        check("... with an interface each", {"eth0", "eth1"} <= set(said.split()), said)

    def start(self, program, config, *options, lcores="-l 0", ports=PORTS, before=""):
        """Start a program in the guest. @return what it says until it runs"""
        of_eal = f"{lcores} -m 200 --log-level=error {' '.join(f'-a {p}' for p in ports)}"
        self.must(f"printf '%s' '{config}' >/tmp/config.ini; rm -f /tmp/out /tmp/pid /tmp/code /tmp/result.json; ({before} {program} {of_eal} -- --config /tmp/config.ini "
                  f"--json /tmp/result.json --idle-sleep 50 --stats-interval 0 {' '.join(options)} >/tmp/out 2>&1 & echo $! >/tmp/pid; wait $!; echo $? >/tmp/code) >/dev/null 2>&1 &")
        return self.wait_for("running:")

    def wait_for(self, words):
        """@return what the program has printed when it has printed these words"""
        self.must(f"while ! grep -qs '{words}' /tmp/out; do [ ! -e /tmp/pid ] || kill -0 $(cat /tmp/pid) || {{ cat /tmp/out; exit 1; }}; usleep 100000; done")
        return self.must("cat /tmp/out")

    def wait_link(self, ports=1):
        """e1000e's link is down for half a second after the start."""
        if self.model == "e1000e":
            self.must(f"while [ $(grep -c 'link is up' /tmp/out) -lt {ports} ]; do usleep 100000; done")

    def wait_end(self):
        """@return the program's exit code"""
        return int(self.must("while [ ! -s /tmp/code ]; do usleep 100000; done; cat /tmp/code"))

    def stop(self, signal="TERM"):
        self.must(f"kill -{signal} $(cat /tmp/pid)")
        return self.wait_end()

    def result(self):
        return json.loads(self.must("cat /tmp/result.json"))


@contextlib.contextmanager
def pci_guest(work, model, *programs, files=(), append="", prepare=True):
    """Raises image.Missing."""
    paths = [BUILD / "app" / name / name for name in programs]
    made = image.build(BUILD / "peers", [*paths, image.path_of("bash"), image.path_of("getent"), image.path_of("setpriv"), PREPARE], DRIVERS, files)
    for tap in TAPS:
        privileged("ip", "tuntap", "add", "dev", tap, "mode", "tap")
    try:
        for tap in TAPS:
            privileged("sysctl", "-qw", f"net.ipv6.conf.{tap}.disable_ipv6=1")
            privileged("ip", "link", "set", tap, "mtu", TAP_MTU, "up", "promisc", "on")
        with Guest(work / "guest", made, more=devices(model), memory_mb=1024, append=f"intel_iommu=on iommu=pt {append}") as guest:
            yield PciGuest(guest, model, prepare)
    finally:
        for tap in TAPS:
            run("ip", "link", "del", tap)


def nic_text(own, peer, speed, flow, nic="", more=""):
    """Configuration of the quench-nic with number own, of one QP to its peer."""
    return (f"[nic]\nmac = 02:00:00:00:01:0{own}\nip = 10.9.0.{own}\nlink_speed_bps = {speed}\nlocal_ack_timeout = 18\n{nic}\n{more}\n[flow f]\n"
            f"peer_ip = 10.9.0.{peer}\npeer_mac = 02:00:00:00:01:0{peer}\nlocal_qpn = 512\npeer_qpn = 512\n{flow}\n")


def start_host(work, name, text, tap, *options):
    """quench-nic on this machine, at a tap. net_af_packet numbers its group of sockets by its process and interface. Two programs may get the
    same number: then try again."""
    while True:
        host = Program(work, "nic", name, text, eal(f"net_af_packet0,iface={TAPS[tap]},blocksz=36864,framesz=4608,framecnt=2048", core=tap),
                       "--idle-sleep", 50, *options)
        while not host.is_running() and host.process.poll() is None:
            time.sleep(0.02)
        if host.process.poll() is None or "PACKET_FANOUT" not in host.err():
            host.wait_started()
            return host


def sum_of(result, key):
    """Of all members with this name in a result."""
    if isinstance(result, list):
        return sum(sum_of(one, key) for one in result)
    if not isinstance(result, dict):
        return 0
    return sum(value if name == key and isinstance(value, int) else sum_of(value, key) for name, value in result.items())
