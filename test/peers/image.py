# SPDX-License-Identifier: BSD-3-Clause
"""The guest of the suite `peers`: Debian's kernel with soft-RoCE (rdma_rxe), and programs of this machine with their libraries.

The image lies in a folder of the build, under a name that depends on what is in it: a second run makes nothing. Its init (init.sh) runs
commands that come in at a virtio port.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import alone

HERE = pathlib.Path(__file__).resolve().parent
PROVIDERS = pathlib.Path("/usr/lib/x86_64-linux-gnu/libibverbs")
# In this order after what they depend on. rdma_rxe cannot be used without crc32_generic, and does not name it.
MODULES = ("virtio_pci", "virtio_console", "virtio_net", "crc32_generic", "ib_uverbs", "rdma_ucm", "rdma_rxe", "sch_netem", "ifb", "sch_ingress", "cls_matchall",
           "act_mirred", "vfio_pci", "vfio_iommu_type1", "e1000e", "vmxnet3")
PROGRAMS = ("busybox", "rdma", "ip", "tc", "ib_send_bw", "ib_write_bw", "ib_read_bw", "ucmatose", "rping", "ibv_devinfo")
PACKAGES = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio", "ib_send_bw": "perftest", "ucmatose": "rdmacm-utils",
            "ibv_devinfo": "ibverbs-utils", "rdma": "iproute2"}
UNITS = pathlib.Path("/lib/systemd/system")
TARGETS = ("basic", "sysinit", "multi-user", "shutdown", "sockets", "timers", "paths", "slices", "local-fs", "swap", "network-pre", "umount", "final")


class Missing(Exception):
    """Something that scripts/install-deps peers installs is not there."""


def path_of(program):
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if found is None:
        raise Missing(f"{program}: not installed: scripts/install-deps peers")
    return pathlib.Path(found)


@alone.outside()
def kernel_package(folder):
    """Debian's kernel as a package file, downloaded once."""
    depends = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], stdout=subprocess.PIPE, text=True, check=False).stdout
    name = re.search(r"Depends: (linux-image-\S+)", depends)
    if name is None:
        raise Missing("linux-image-amd64: not in the package lists: apt-get update")
    found = sorted(folder.glob(f"{name.group(1)}_*.deb"))
    if not found:
        done = subprocess.run(["apt-get", "download", name.group(1)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        found = sorted(folder.glob(f"{name.group(1)}_*.deb"))
        if not found:
            raise Missing(f"{name.group(1)}: {done.stdout.strip().splitlines()[-1:]}")
    return found[-1]


def depends_of(module):
    """Names of the modules that a module file names in its .modinfo."""
    names = re.search(rb"\0depends=([^\0]*)\0", module)
    return [name.replace("-", "_") for name in names.group(1).decode().split(",") if name] if names else []


def unpack_kernel(package, root):
    """The kernel beside root, modules in root/modules. @return the modules in the order in which they can be loaded."""
    files = {}
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as deb:
        with tarfile.open(fileobj=deb.stdout, mode="r|") as tar:
            for member in tar:
                name = pathlib.PurePath(member.name)
                if name.name.startswith("vmlinuz"):
                    (root.parent / "kernel").write_bytes(tar.extractfile(member).read())
                elif name.suffix == ".ko":
                    files[name.stem.replace("-", "_")] = tar.extractfile(member).read()
    order = []

    def add(name):
        if name in order:
            return
        for other in depends_of(files[name]):
            add(other)
        order.append(name)
    for name in MODULES:
        if name in files:  # some kernels have it built in
            add(name)
    (root / "modules").mkdir()
    for name in order:
        (root / "modules" / f"{name}.ko").write_bytes(files[name])
    return order


def libraries_of(program):
    out = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return {pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", out)}


def copy_in(root, path, to):
    target = root / str(to).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy(path, target)


def fill_drivers(root, drivers):
    """DPDK's drivers are libraries, which EAL finds by links in a folder. A copy there would be a second library."""
    libraries = set()
    for driver in drivers:
        links = sorted(pathlib.Path("/usr/lib/x86_64-linux-gnu/dpdk").glob(f"pmds-*/librte_{driver}.so*"))
        if not links:
            raise Missing(f"DPDK's driver {driver}: not installed: scripts/install-deps build")
        for link in links:
            library = pathlib.Path("/lib/x86_64-linux-gnu") / re.sub(r"(\.so\.\d+).*", r"\1", sorted(l.name for l in links)[-1])
            copy_in(root, library, library)
            libraries |= libraries_of(library)
            (root / str(link.parent).lstrip("/")).mkdir(parents=True, exist_ok=True)
            (root / str(link).lstrip("/")).symlink_to(library)
    return libraries


def fill(root, programs, drivers, files):
    libraries = fill_drivers(root, drivers)
    for path, to in files:
        copy_in(root, path, to)
        libraries |= libraries_of(path)
    # pthread_cancel() loads it.
    libraries.add(pathlib.Path("/lib/x86_64-linux-gnu/libgcc_s.so.1"))
    for program in programs:
        copy_in(root, program, f"/bin/{program.name}")
        libraries |= libraries_of(program)
    for provider in PROVIDERS.glob("librxe*"):
        copy_in(root, provider, provider)
        libraries |= libraries_of(provider)
    copy_in(root, "/etc/libibverbs.d/rxe.driver", "/etc/libibverbs.d/rxe.driver")
    for library in libraries:
        copy_in(root, library, library)
    for folder in ("proc", "sys", "dev", "tmp", "etc", "run", "var/run"):
        (root / folder).mkdir(parents=True, exist_ok=True)


def systemd_files():
    """Pairs of a file here and its path in the guest, for build(): what systemd needs as process 1 (`append="systemd"`)."""
    systemd = pathlib.Path("/lib/systemd/systemd")
    if not systemd.exists():
        raise Missing("systemd: not installed")
    yield systemd, systemd
    yield path_of("systemctl"), "/bin/systemctl"
    for target in TARGETS:
        yield UNITS / f"{target}.target", UNITS / f"{target}.target"
    yield UNITS / "multi-user.target", UNITS / "default.target"


def build(folder, more_programs=(), drivers=(), files=()):
    """Make the image, unless it is there.

    drivers: names of DPDK's, such as net_e1000. files: pairs of a file here and its path there; its libraries come along.
    @return (kernel, initramfs)
    """
    folder.mkdir(parents=True, exist_ok=True)
    path_of("qemu-system-x86_64")
    path_of("cpio")
    programs = [path_of(name) for name in PROGRAMS] + [pathlib.Path(p) for p in more_programs]
    if not list(PROVIDERS.glob("librxe*")):
        raise Missing("ibverbs-providers: not installed: scripts/install-deps peers")
    package = kernel_package(folder)
    content = hashlib.sha256()
    for path in (HERE / "image.py", HERE / "init.sh", *programs, *(pathlib.Path(p) for p, _ in files)):
        content.update(path.read_bytes())
    content.update(repr((package.name, drivers, [str(to) for _, to in files])).encode())
    made = folder / content.hexdigest()[:16]
    if not (made / "initramfs").exists():
        shutil.rmtree(made, ignore_errors=True)
        root = made / "root"
        root.mkdir(parents=True)
        (root / "modules.order").write_text("\n".join(unpack_kernel(package, root)) + "\n", encoding="utf-8")
        fill(root, programs, drivers, files)
        copy_in(root, HERE / "init.sh", "/init")
        (root / "init").chmod(0o755)
        names = "\n".join(str(p.relative_to(root)) for p in sorted(root.glob("**/*")))
        with open(made / "initramfs.part", "wb") as out:
            subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=root, input=names.encode(), stdout=out, check=True)
        (made / "initramfs.part").rename(made / "initramfs")
        shutil.rmtree(root)
    return made / "kernel", made / "initramfs"
