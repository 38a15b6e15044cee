#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The units of quench-prepare and quench-switch under a real systemd, in the guest, with two e1000e and vfio-pci."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
import image  # noqa: E402
from harness import BUILD, check, check_equal, finish, skip, work_dir  # noqa: E402
from namespaces import need  # noqa: E402
from pci import PORTS, pci_guest  # noqa: E402

UNIT = "quench-switch@tor"
# Without a journal, output goes to a file.
SETTINGS = {
    "quench/prepare": f'PREPARE="--hugepages 128 --group quench {" ".join(f"--vfio {p}" for p in PORTS)}"',
    "quench/tor.eal": f'EAL_OPTIONS="-l 0 -m 200 --log-level=error {" ".join(f"-a {p}" for p in PORTS)}"',
    "quench/tor.ini": "[switch]\\nbuffer_bytes = 3MB\\nmax_frame_bytes = 1600\\n[port 0]\\nlink_speed_bps = 1G\\n[port 1]\\nlink_speed_bps = 1G",
    "systemd/system/quench-switch@.service.d/out.conf": "[Service]\\nStandardOutput=append:/tmp/out\\nStandardError=append:/tmp/out",
}


def files():
    yield from image.systemd_files()
    for unit in ("quench-prepare.service", "quench-switch@.service"):
        path = BUILD / "share" / unit
        yield path, image.UNITS / unit
        start = re.search(r"^ExecStart=(\S+)", path.read_text(), re.M)[1]
        yield BUILD / ("share/quench-prepare" if "prepare" in unit else "app/quench-switch/quench-switch"), start
    yield image.path_of("env"), "/usr/bin/env"


def show(guest, unit, *names):
    lines = guest.must(f"systemctl show {' '.join(f'-p {name}' for name in names)} {unit}").split()
    found = dict(line.split("=", 1) for line in lines)
    return [found[name] for name in names]


def wait_state(guest, state):
    guest.must(f"until [ $(systemctl is-active {UNIT}) = {state} ]; do usleep 200000; done")


def check_units(guest):
    for path, text in SETTINGS.items():
        guest.must(f"mkdir -p $(dirname /etc/{path}) && printf '%b\\n' '{text}' >/etc/{path}")
    guest.must(f"systemctl daemon-reload && systemctl start {UNIT}")
    check_equal("the unit runs, after its preparation", [show(guest, unit, "ActiveState") for unit in (UNIT, "quench-prepare")], [["active"]] * 2)
    status = guest.must(f"cat /proc/$(systemctl show -P MainPID {UNIT})/status")
    found = dict(re.findall(r"^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):\t(\S+)", status, re.M))
    check_equal("it is restricted: NET_ADMIN, NET_RAW and IPC_LOCK of user quench, and a filter of system calls", found,
                {"Uid": "100", "CapEff": "0000000000007000", "CapBnd": "0000000000007000", "NoNewPrivs": "1", "Seccomp": "2"})
    guest.must(f"kill -9 $(systemctl show -P MainPID {UNIT}); until [ $(systemctl show -P NRestarts {UNIT}) = 1 ]; do usleep 200000; done")
    wait_state(guest, "active")
    guest.must(f"systemctl restart {UNIT}")
    check_equal("restarted, with its devices", show(guest, UNIT, "ActiveState", "Result"), ["active", "success"])
    guest.must(": >/tmp/out")
    for i in (0, 1):
        guest.guest.monitor(f"device_del d{i}")
    wait_state(guest, "failed")
    said = guest.must("cat /tmp/out")
    check("without devices it ends, and its next start says what is missing", "no device is left" in said and "EAL found 0 devices" in said, said)
    for i in (0, 1):
        guest.guest.monitor(f"device_add e1000e,id=d{i},netdev=n{i},bus=r{i}")
    guest.must(f"until [ -e /sys/bus/pci/devices/{PORTS[0]}/driver ] && [ -e /sys/bus/pci/devices/{PORTS[1]}/driver ]; do usleep 200000; done")
    guest.must(f"systemctl restart quench-prepare && systemctl restart {UNIT}")
    check_equal("the devices are back", show(guest, UNIT, "ActiveState"), ["active"])
    guest.must(f"systemctl stop {UNIT}")
    check_equal("stopped", show(guest, UNIT, "ActiveState", "Result", "ExecMainStatus"), ["inactive", "success", "0"])


def main():
    need("ip")
    try:
        with pci_guest(work_dir(), "e1000e", files=tuple(files()), append="systemd", prepare=False) as guest:
            check_units(guest)
    except image.Missing as error:
        skip(str(error))
    finish()


main()
