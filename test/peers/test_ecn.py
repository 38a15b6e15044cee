#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A kernel's soft-RoCE writes to quench-nic through quench-switch, whose way to the NIC is narrow: marks by WRED, CNPs back to the kernel.

The kernel has no congestion control: it goes on as before.
"""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
from configs import memif, port, section  # noqa: E402
from harness import BUILD, PATIENCE_S, Program, check, check_equal, check_ledger, eal, finish  # noqa: E402
from soft_roce import HOST4, IP4, MAC, soft_roce  # noqa: E402

PREFIX = f"ecn{os.getpid()}"
TCLASS = 26 << 2 | 2  # DSCP 26, ECT(0)
# perftest keeps four messages in flight, so the queue is below 64 KB: nothing is lost, though the kernel obeys no pause.
OPTIONS = f"-d rxe0 -s 16384 -t 4 --cq-mod 1 --tclass {TCLASS}"
SWITCH = """
[switch]
buffer_bytes = 4MB
wred_queues = 3
max_frame_bytes = 1600
shaper_burst_ns = 200us
[wred]
green_min_threshold_bytes = 5KB
green_max_threshold_bytes = 50KB
green_drop_probability = 20%
[buffer_profile lossless]
dynamic = off
static_th_bytes = 400KB
xon_bytes = 300KB
xoff_bytes = 500KB
"""


def write(kernel, ctl):
    """1000 WRITEs of the kernel. @return quenchctl's result"""
    # pylint: disable-next=consider-using-with
    waiting = subprocess.Popen([*ctl, "listen", "perftest", "verb=write"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    waiting.stderr.readline()
    kernel.must(f"ib_write_bw {OPTIONS} -n 1000 {HOST4}")
    out, err = waiting.communicate(timeout=PATIENCE_S)
    check_equal("quenchctl ends well", (waiting.returncode, err), (0, ""))
    return json.loads(out or "{}")


def main():
    with soft_roce(mtu=1500, host=True) as kernel:
        work = kernel.work
        switch = Program(work, "switch", "switch", SWITCH + section("port", link_speed_bps="1G") + port(0) + port(1, shaper_rate_bps="20M"),
                         eal(f"net_af_packet0,iface={kernel.tap}", memif("server", 0, work)), "--idle-sleep", 50)
        switch.wait_started()
        options = [o for o in eal(memif("client", 0, work), core=1) if o not in ("--no-telemetry", "--no-shconf")]
        nic = Program(work, "nic", "nic", f"[nic]\nmac = {MAC}\nip = {IP4}\nlink_speed_bps = 1G\nlocal_ack_timeout = 18\n[np]\nnp_min_time_between_cnps_us = 500\n",
                      [*options, "--file-prefix", PREFIX], "--idle-sleep", 50)
        nic.wait_started()
        ctl = [str(BUILD / "app/quenchctl/quenchctl"), "-f", PREFIX, "--json"]
        before = kernel.counters()
        marked = write(kernel, ctl)
        after = kernel.counters()
        check_equal("all messages arrive", (marked.get("messages"), marked.get("payload_bytes")), (1000, 1000 * 16384))
        check("the switch's marks are seen, and CNPs leave", marked.get("ce_packets", 0) > 100 and marked.get("cnps_sent", 0) > 10, marked)
        check("the kernel's counters: 16 packets a message, and their answers", after["sent_pkts"] - before["sent_pkts"] >= 16000 and
              after["rcvd_pkts"] > before["rcvd_pkts"], (before, after))
        check_equal("and nothing was lost or sent twice", [after[k] - before[k] for k in ("duplicate_request", "out_of_seq_request", "rcvd_seq_err", "retry_exceeded_err")],
                    [0, 0, 0, 0])
        nic.stop()
        switch.stop()
        got, sent = nic.json()["counters"], switch.json()
        queue = [q for q in sent["ports"][1]["queues"] if q["queue"] == 3][0]
        check_equal("each mark of the switch is one of the NIC", got["np_ecn_marked_roce_packets"], queue["ecn_marked_packets"])
        check_ledger("switch", sent)
    finish()


main()
