#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Debian package in the guest: installed, upgraded while quench-switch runs, removed while it runs, and purged.

The newer version is the same package with another version and another text in its units.
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
import image  # noqa: E402
from guest import Guest  # noqa: E402
from harness import BUILD, PATIENCE_S, check, check_equal, finish, skip, work_dir  # noqa: E402

ROOT = HERE.parents[1]
UNIT = "quench-switch@tor"
# What dpkg and the scripts of a package call.
PROGRAMS = ("bash", "dpkg", "dpkg-deb", "dpkg-query", "dpkg-split", "tar", "ldconfig", "systemd-sysusers", "getent")
# busybox's shell has a dpkg of its own. What the package depends on is in the image, and not in dpkg's list.
DPKG = "/bin/dpkg --force-depends"
CONFIG = "[switch]\\nbuffer_bytes = 3MB\\n[port 0]\\nlink_speed_bps = 1G\\n[port 1]\\nlink_speed_bps = 1G"
EAL = 'EAL_OPTIONS="-l 0 --no-huge --no-shconf -m 200 --log-level=error --vdev net_null0 --vdev net_null1"'


def call(*command):
    done = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stdout[-2000:]}")
    return done.stdout


def packages(work):
    """@return the packages of this tree, and newer ones"""
    call("scripts/package")
    # quenchctl and quench-tools have no service, and need a Python, which the guest has not.
    older = sorted(path for path in (ROOT / "build-package").glob("*.deb") if not re.search("dbgsym|tools|quenchctl", path.name))
    newer = []
    for path in older:
        folder = work / path.stem
        call("dpkg-deb", "-R", path, folder)
        control = folder / "DEBIAN" / "control"
        control.write_text(re.sub(r"^(Version: .*)", r"\1+newer", control.read_text(), flags=re.M))
        for unit in folder.glob("**/systemd/system/*"):
            unit.write_text(unit.read_text().replace("[Unit]\nDescription=", "[Unit]\nDescription=newer "))
        newer.append(work / f"{path.stem}+newer.deb")
        call("dpkg-deb", "--root-owner-group", "-b", folder, newer[-1])
    return older, newer


class PackageGuest:
    def __init__(self, guest):
        self.guest = guest
        self.must("mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates /var/lib/dpkg/triggers; touch /var/lib/dpkg/status /var/lib/dpkg/available; "
                  "printf 'root:x:0:\\n' >/etc/group; printf 'root:x:0:0::/:/bin/sh\\n' >/etc/passwd; chmod 1777 /tmp")

    def must(self, command):
        done = self.guest.run(f"PATH=/usr/sbin:/usr/bin:/sbin:/bin; {command}", PATIENCE_S)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.output}")
        return done.output

    def show(self, name):
        return self.must(f"systemctl show -P {name} {UNIT}").strip()

    def install(self, names):
        return self.must(f"{DPKG} -i {' '.join(names)}")

    def remove(self, how):
        return self.must(f"{DPKG} {how} $(/bin/dpkg-query -W -f '${{Package}} ')")


def check_life(guest, older, newer):
    guest.install(older)
    check_equal("no service is started by the installation", guest.show("ActiveState"), "inactive")
    guest.must(f"printf '%b\\n' '{CONFIG}' >/etc/quench/tor.ini; printf '%s\\n' '{EAL}' >/etc/quench/tor.eal; systemctl enable {UNIT} && systemctl start {UNIT}")
    pid = guest.show("MainPID")
    check_equal("it runs", guest.show("ActiveState"), "active")

    guest.install(newer)
    check_equal("an upgrade leaves the running switch alone", (guest.show("ActiveState"), guest.show("MainPID")), ("active", pid))
    check_equal("systemd has read the new units", (guest.show("NeedDaemonReload"), guest.show("Description").split()[0]), ("no", "newer"))
    check("the old program runs on", "(deleted)" in guest.must(f"readlink /proc/{pid}/exe"))
    guest.must(f"systemctl restart {UNIT}")
    check_equal("a restart runs the new one", guest.must(f"readlink /proc/{guest.show('MainPID')}/exe").strip(), "/usr/bin/quench-switch")

    guest.remove("-r")
    check_equal("a removal stops it first", guest.must("ls /usr/bin/quench-switch 2>/dev/null; grep -l quench-switch /proc/[0-9]*/comm; true"), "")
    check_equal("its configuration stays", guest.must("ls /etc/quench").split(), ["tor.eal", "tor.ini"])
    guest.install(newer)
    guest.must(f"systemctl start {UNIT}")
    check_equal("installed again, it runs with that", guest.show("ActiveState"), "active")

    guest.remove("-P")
    left = guest.must("find /bin /etc /lib /usr /var/lib -name '*quench*'; grep -l quench-switch /proc/[0-9]*/comm; true").split()
    check_equal("a purge leaves what the administrator wrote", left, ["/etc/quench"])


def main():
    try:
        image.path_of("dpkg-deb")
        work = work_dir()
        older, newer = packages(work)
        placed = [(path, f"/packages/{path.name}") for path in older + newer]
        programs = [image.path_of(name) for name in PROGRAMS]
        # Its libraries come along; the program itself comes in its package.
        program = BUILD / "app" / "quench-switch" / "quench-switch"
        files = [*image.systemd_files(), *placed, (program, "/tmp/quench-switch")]
        made = image.build(BUILD / "peers", programs, ("bus_vdev", "mempool_ring", "net_null"), tuple(files))
        with Guest(work / "guest", made, memory_mb=1024, append="systemd") as guest:
            names = [[f"/packages/{path.name}" for path in some] for some in (older, newer)]
            check_life(PackageGuest(guest), *names)
    except image.Missing as error:
        skip(str(error))
    finish()


main()
