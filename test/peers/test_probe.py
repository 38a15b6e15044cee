#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The report on a kernel's soft-RoCE: it has no DCQCN, pauses nothing and repairs losses by go-back-N.

The guest runs without KVM, so frames are late, and the report says so instead of judging delays.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
from harness import Program, check, check_equal, eal, finish  # noqa: E402
from soft_roce import GUEST4, GUEST6, IP4, IP6, MAC, soft_roce  # noqa: E402

LOCAL_QPN, PSN, QPS = 512, 0xFFFFF0, 2
VERDICTS = {
    "rp_back_off": ("fault", "no DCQCN"), "rp_after_100": ("no answer", "no DCQCN"), "rp_timer": ("no answer", "no DCQCN"),
    "np_delay": ("no answer", "there is no DCQCN"), "np_opcode": ("not run", "no CNPs"), "np_marked_ack": ("not run", "no CNPs"),
    "tr_nak_psn": ("ok", "with 0x60"), "tr_nak_once": ("ok", "1"),
    **{f"tr_reorder_{n}": ("ok", "NAK") for n in (1, 2, 8)},
    "tr_duplicate": ("ok", "ACK"), "tr_bad_icrc": ("ok", "dropped"), "tr_recovery": ("ok", "go-back-N"), "tr_read_from": ("ok", "the lost one"),
    "tr_last_from": ("ok", "the lost one"),
    "pit_ttl": ("ok", "64"), "pit_mtu": ("ok", "1024"), "pit_sport_qp": ("ok", "2 of 2"),
    "pit_ect": ("fault", "Not-ECT"), "pit_mtu_long": ("ok", "0x61"), "pfc_sent": ("ok", "0"),
}


def begin(kernel, log, **keys):
    """Start verbs.c to ask without end. @return its first QP's number, address and key"""
    words = " ".join(f"{key}={value}" for key, value in keys.items())
    kernel.must(f"verbs psn={PSN} mtu=3 size=65536 count=1000000000 seconds=300 {words} >/tmp/{log} 2>&1 &")
    said = kernel.must(f"while ! grep -qs -e ready -e failed /tmp/{log}; do usleep 50000; done; cat /tmp/{log}")
    return dict(word.split("=") for word in said.splitlines()[0].split()[1:])


def probe(kernel, version):
    """A report on new QPs. @return it"""
    own, peer = {4: (IP4, GUEST4), 6: (IP6, GUEST6)}[version]
    kernel.must("killall verbs 2>/dev/null; rm -f /tmp/go; true")
    ready = begin(kernel, f"write{version}", verb="write", peer=own, gid=kernel.gids[version], peer_qpn=LOCAL_QPN, qps=QPS, depth=8)
    reads = begin(kernel, f"read{version}", verb="read", peer=own, gid=kernel.gids[version], peer_qpn=LOCAL_QPN + QPS)
    check_equal("the QP that reads has the next number", int(reads["qpn"]), int(ready["qpn"]) + QPS)
    text = f"""[probe]
mac = {MAC}
ip = {own}
peer_ip = {peer}
link_speed_bps = 1G
local_qpn = {LOCAL_QPN}
peer_qpn = {ready['qpn']}
qp_count = {QPS + 1}
psn = {PSN}
mtu_bytes = 1024
remote_addr = {ready['addr']}
rkey = {ready['rkey']}
settle_ns = 20ms
answer_ns = 4s
"""
    program = Program(kernel.work, "probe", f"report{version}", text, eal(kernel.device()))
    program.wait_until("hello", lambda: "hello" in program.out())
    kernel.must("touch /tmp/go")
    check_equal("quench-probe: exit code", program.wait_end(), 0)
    return program.json()


def check_report(report, version):
    check_equal(f"IPv{version}: the report is complete", report["complete"], True)
    lines = {line["id"]: line for line in report["lines"]}
    for name, (verdict, word) in VERDICTS.items():
        line = lines[name]
        check(f"IPv{version}: {name}: {verdict}, {word}", line["verdict"] == verdict and word in line["measured"], (line["verdict"], line["measured"]))
    # What times tell on a machine that is busy may be nothing, but it is not wrong.
    found = {name for name, line in lines.items() if line["verdict"] == "fault"}
    check(f"IPv{version}: what the kernel does not do is a fault, and nothing else", {"rp_back_off", "pit_ect"} <= found <= {"rp_back_off", "pit_ect", "pfc_stop"}, found)
    timeout = lines["tr_timeout"]
    check(f"IPv{version}: the time-out that the program set, 4.096 us x 2^14, or none", timeout["verdict"] == "not measured" or 60 < timeout["value"] < 90, timeout)


def main():
    with soft_roce() as kernel:
        reports = {version: probe(kernel, version) for version in (4, 6)}
    for version, report in reports.items():
        check_report(report, version)
    finish()


main()
