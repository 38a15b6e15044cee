#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-prepare on a made-up /sys, in a mount namespace: named pipes stand for files at which the kernel acts."""
import os
import pathlib
import shutil
import subprocess
import sys
import threading

from harness import check, check_equal, finish, privileged, run, skip, work_dir

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts/quench-prepare"
NIC, TWIN, CX5, DISK = "0000:3b:00.0", "0000:3b:00.1", "0000:5e:00.0", "0000:01:00.0"


class Kernel:
    """Drivers that take and leave devices as they are told in /sys; and udev's /dev/vfio."""

    def __init__(self, sys_dir, dev_dir):
        self.sys, self.dev = sys_dir, dev_dir
        self.pci, self.drivers = sys_dir / "bus/pci/devices", sys_dir / "bus/pci/drivers"
        self.default = {}
        for name in ("ice", "nvme", "mlx5_core", "vfio-pci"):
            (self.drivers / name).mkdir(parents=True)
            self.serve(self.drivers / name / "unbind", self.unbind)
        self.serve(sys_dir / "bus/pci/drivers_probe", self.probe)
        (sys_dir / "class/iommu/dmar0").mkdir(parents=True)
        pages = sys_dir / "kernel/mm/hugepages/hugepages-2048kB"
        pages.mkdir(parents=True)
        (pages / "nr_hugepages").write_text("0")

    def serve(self, path, act):
        os.mkfifo(path)

        def loop():
            while True:
                act(path.read_text())

        threading.Thread(target=loop, daemon=True).start()

    def add(self, device, kind, driver, group):
        place = self.pci / device
        place.mkdir(parents=True)
        (place / "class").write_text(kind)
        (place / "driver_override").write_text("(null)")
        members = self.sys / f"kernel/iommu_groups/{group}/devices"
        members.mkdir(parents=True, exist_ok=True)
        (members / device).symlink_to(place)
        (place / "iommu_group").symlink_to(members.parent)
        self.default[device] = driver
        self.bind(device, driver)

    def bind(self, device, driver):
        (self.pci / device / "driver").symlink_to(self.drivers / driver)
        if driver == "vfio-pci":
            group = (self.pci / device / "iommu_group").resolve().name
            (self.dev / group).touch()

    def unbind(self, device):
        (self.pci / device / "driver").unlink()

    def probe(self, device):
        override = (self.pci / device / "driver_override").read_text().strip()
        self.bind(device, override if override not in ("", "(null)") else self.default[device])

    def driver(self, device):
        return (self.pci / device / "driver").resolve().name


def prepare(*options):
    return run(SCRIPT, *options)


def check_refused(what, options, code, *words):
    done = prepare(*options)
    check(f"refused: {what}", done.returncode == code and len(done.stderr.splitlines()) == 1 and
          all(w in done.stderr for w in words), f"{done.returncode} {done.stderr}")


def check_lines(what, options, *expected):
    done = prepare(*options)
    check_equal(what, [done.returncode, done.stdout.splitlines(), done.stderr], [0, list(expected), ""])


def check_usage():
    check_refused("nothing to do", [], 2, "expected --hugepages, --vfio or --kernel")
    check_refused("an unknown option", ["--huge", "3"], 2, "--huge: unknown option")
    check_refused("a missing value", ["--vfio"], 2, "a value is missing")
    check_refused("no address", ["--vfio", "eth0"], 2, "expected a PCI address")
    check_refused("no such device", ["--vfio", "7f:1f.7"], 1, "there is no such PCI device")
    check_refused("a disk", ["--vfio", DISK], 1, "expected a network device")
    check_refused("mlx5", ["--vfio", CX5], 1, "mlx5_core", "nothing to hand over")
    check_refused("hugepages of 4M", ["--hugepages", "8:4M"], 2, "2M or 1G")
    check_refused("hugepages that this kernel has not", ["--hugepages", "1:1G"], 1, "has no hugepages of 1G")
    check_refused("no group", ["--hugepages", "8", "--group", "no-such"], 2, "there is no such group")


def check_vfio(kernel):
    check_lines("a dry run only speaks", ["--dry-run", "--vfio", "3B:00.0", "--vfio", TWIN],
                "already: vfio-pci is loaded", f"would hand {NIC} from ice to vfio-pci",
                f"would hand {TWIN} from ice to vfio-pci")
    check_equal("... and does nothing", kernel.driver(NIC), "ice")
    check_refused("half of an IOMMU group", ["--vfio", NIC], 1, TWIN, "same IOMMU group", "ice")
    check_lines("both ports are handed over", ["--vfio", NIC, "--vfio", TWIN, "--group", "daemon"],
                "already: vfio-pci is loaded", f"done: hand {NIC} from ice to vfio-pci",
                "done: open /dev/vfio/7 to group daemon", f"done: hand {TWIN} from ice to vfio-pci",
                "already: /dev/vfio/7 for group daemon")
    check_equal("the kernel gave them", [kernel.driver(NIC), kernel.driver(TWIN)], ["vfio-pci"] * 2)
    check_equal("the group may use them", pathlib.Path("/dev/vfio/7").group(), "daemon")
    check_lines("again, nothing changes", ["--vfio", NIC, "--vfio", TWIN, "--group", "daemon"],
                "already: vfio-pci is loaded", f"already: {NIC} with vfio-pci", "already: /dev/vfio/7 for group daemon",
                f"already: {TWIN} with vfio-pci", "already: /dev/vfio/7 for group daemon")
    check_lines("given back", ["--kernel", NIC, "--kernel", TWIN], f"done: give {NIC} back to the kernel",
                f"done: give {TWIN} back to the kernel")
    check_equal("the kernel has them", [kernel.driver(NIC), kernel.driver(TWIN)], ["ice"] * 2)
    check_lines("again, nothing changes", ["--kernel", NIC], f"already: {NIC} with ice")


def check_used(kernel):
    """lo stands for the NIC's interface: it is part of the host's network in one way after the other."""
    (kernel.pci / NIC / "net/lo").mkdir(parents=True)
    lo = kernel.sys / "class/net/lo"
    lo.mkdir(parents=True)
    for what, master, uppers, words in (("a bridge's port", "br0", ["br0"], ("lo has a place in br0", "ip link set dev lo nomaster")),
                                        ("a bond's member", "bond0", ["bond0"], ("lo has a place in bond0", "--force")),
                                        ("a VLAN's parent", None, ["lo.5"], ("lo has lo.5 on top of it", "ip link delete dev lo.5"))):
        links = [lo / f"upper_{name}" for name in uppers] + ([lo / "master"] if master else [])
        for link in links:
            link.symlink_to(f"../{master or uppers[0]}")
        check_refused(what, ["--vfio", NIC, "--vfio", TWIN], 1, *words, "the kernel uses it")
        check_equal("it stays", kernel.driver(NIC), "ice")
        for link in links:
            link.unlink()
    run("ip", "address", "add", "198.51.100.1/24", "dev", "lo")
    check_refused("a NIC with addresses", ["--vfio", NIC, "--vfio", TWIN], 1, "lo has addresses", "--force")
    check_equal("it stays", kernel.driver(NIC), "ice")
    check_equal("--force takes it", prepare("--force", "--vfio", NIC, "--vfio", TWIN).returncode, 0)
    check_equal("... from the kernel", kernel.driver(NIC), "vfio-pci")


def check_no_iommu(kernel):
    shutil.rmtree(kernel.sys / "class/iommu")
    check_refused("no IOMMU", ["--vfio", NIC], 1, "there is no IOMMU", "--no-iommu")


def check_hugepages_1g(kernel, work):
    """The kernel prints pagesize=1024M: a hugetlbfs that is there is found."""
    pages = kernel.sys / "kernel/mm/hugepages/hugepages-1048576kB"
    pages.mkdir()
    (pages / "nr_hugepages").write_text("4")
    proc = work / "proc"
    proc.mkdir()
    (proc / "mounts").write_text("hugetlbfs /mnt/2m hugetlbfs rw,relatime,pagesize=2M 0 0\n"
                                 "hugetlbfs /mnt/1g hugetlbfs rw,relatime,gid=5,mode=1770,pagesize=1024M 0 0\n")
    privileged("mount", "--bind", proc, "/proc")
    for option, mount in (("4:1G", "1G on /mnt/1g"), ("1:2M", "2M on /mnt/2m")):
        done = prepare("--hugepages", option)
        check(f"--hugepages {option}: the mount is found", f"already: hugetlbfs of {mount}" in done.stdout, done.stdout + done.stderr)
    run("umount", "/proc")


def check_hugepages(kernel):
    pages = kernel.sys / "kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
    done = prepare("--dry-run", "--hugepages", "64")
    check("hugepages, dry run", "would make 64 hugepages of 2M, now 0" in done.stdout, done.stdout + done.stderr)
    check_equal("... and none are made", pages.read_text(), "0")
    mounted = "hugetlbfs" in pathlib.Path("/proc/mounts").read_text()
    done = prepare("--hugepages", "64")
    if done.returncode == 1 and "mount hugetlbfs" in done.stderr:
        print("not tried: hugetlbfs cannot be mounted here")
        return
    check_equal("hugepages: exit code", [done.returncode, done.stderr], [0, ""])
    check_equal("they are made", pages.read_text(), "64")
    check("hugetlbfs was mounted, if it was not", mounted or "done: mount hugetlbfs of 2M on /dev/hugepages" in done.stdout,
          done.stdout)
    done = prepare("--hugepages", "32")
    check("fewer are not made of more", done.stdout.splitlines()[0] == "already: 64 hugepages of 2M", done.stdout)
    check_equal("still 64", pages.read_text(), "64")


def main():
    if os.geteuid() != 0:
        skip("a mount namespace needs root")
    if len(sys.argv) == 1:
        # Once more, where mounts and addresses are this test's own.
        done = subprocess.run(["unshare", "--mount", "--net", sys.executable, *sys.argv, "inside"], check=False)
        if done.returncode == 1:
            privileged("unshare", "--mount", "--net", "true")
        sys.exit(done.returncode)
    work = work_dir()
    sys_dir, dev_dir = work / "sys", work / "vfio"
    sys_dir.mkdir()
    dev_dir.mkdir()
    kernel = Kernel(sys_dir, dev_dir)
    kernel.add(NIC, "0x020000", "ice", 7)
    kernel.add(TWIN, "0x020000", "ice", 7)
    kernel.add(CX5, "0x020000", "mlx5_core", 8)
    kernel.add(DISK, "0x010802", "nvme", 9)
    # A /dev of our own, since /dev/vfio may not be there.
    privileged("mount", "--bind", sys_dir, "/sys")
    privileged("mount", "-t", "tmpfs", "none", "/dev")
    os.mknod("/dev/null", 0o20666, os.makedev(1, 3))
    pathlib.Path("/dev/vfio").mkdir()
    privileged("mount", "--bind", dev_dir, "/dev/vfio")
    check_usage()
    check_vfio(kernel)
    check_used(kernel)
    check_no_iommu(kernel)
    check_hugepages(kernel)
    check_hugepages_1g(kernel, work)
    finish()


main()
