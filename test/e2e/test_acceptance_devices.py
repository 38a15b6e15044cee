#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""XOFF limit, headroom edge, watermarks and a queue's limit over real devices, exactly.

The receiver's capture on port 0, which is polled first, holds a broadcast that the switch learns it from and a pause
frame of half a minute at 1 Mb/s: what the sender's capture on port 1 brings then stays where it is, whatever the clock.
"""
from frames import ECT0, pfc, pfc_frame, read_pcap, roce, write_pcap
from harness import Program, check_equal, eal, finish, work_dir

RECEIVER, SENDER = "02:00:00:00:00:f0", "02:00:00:00:01:01"
FRAMES, LIMIT, HEADROOM, LOSSY_LIMIT = 30, 10, 5, 7
BYTES = 1086  # WRITE Middle with 1024 bytes, FCS included

CONFIG = f"""
[switch]
buffer_bytes = 1MB
max_frame_bytes = 1600
shaper_burst_ns = 1
wred_queues = none
[qos_map]
dscp_to_tc_map = 26:3, 0:2, *:0
tc_to_priority_group_map = 2:2, 3:3, *:0
pfc_enable = 2-3
[pg 2]
buffer_profile = open
[buffer_profile open]
dynamic = off
[queue 2]
buffer_profile = short
[buffer_profile short]
dynamic = off
static_th_bytes = {LOSSY_LIMIT * BYTES}
[buffer_profile lossless]
dynamic = off
static_th_bytes = {LIMIT * BYTES}
xoff_bytes = {HEADROOM * BYTES}
[port]
link_speed_bps = 1M
[port 0]
mac = 02:5a:00:00:00:00
[port 1]
mac = 02:5a:00:00:00:01
"""


def main():
    work = work_dir()
    hello = b"\xff" * 6 + bytes.fromhex(RECEIVER.replace(":", "")) + bytes.fromhex("0806") + bytes(46)
    hold = pfc_frame(RECEIVER, 0x0C, [0, 0, 65535, 65535, 0, 0, 0, 0])
    data = [roce(SENDER, RECEIVER, "10.0.1.1", "10.0.0.240", 0xC001, psn, dscp, ECT0, bytes(1024))
            for dscp in (26, 0) for psn in range(FRAMES)]
    write_pcap(work / "in0.pcap", [hello, hold])
    write_pcap(work / "in1.pcap", data)
    switch = Program(work, "switch", "switch", CONFIG, eal(
        *(f"net_pcap{n},rx_pcap={work}/in{n}.pcap,tx_pcap={work}/out{n}.pcap" for n in (0, 1))),
        "--stats-interval", 0.2)
    switch.wait_quiet()
    check_equal("exit code after SIGTERM", switch.stop(), 0)
    result = switch.json()
    receiver, sender = result["ports"]
    pauses = [p for p in map(pfc, read_pcap(work / "out1.pcap")) if p is not None]
    check_equal("the receiver got nothing", [f for f in read_pcap(work / "out0.pcap") if pfc(f) is None], [])
    check_equal("XOFF for priority 3, once, of the longest time", [(e, t[3]) for e, t in pauses], [(8, 65535)])
    pg, queue = sender["pgs"][3], receiver["queues"][3]
    check_equal("PG shared watermark", pg["shared_watermark_bytes"], LIMIT * BYTES)
    check_equal("PG headroom watermark", pg["headroom_watermark_bytes"], HEADROOM * BYTES)
    check_equal("queue watermark", queue["watermark_bytes"], (LIMIT + HEADROOM) * BYTES)
    check_equal("first drop after the headroom", sender["drops"]["no_headroom"], FRAMES - LIMIT - HEADROOM)
    check_equal("queue's limit", receiver["drops"]["queue_limit"], FRAMES - LOSSY_LIMIT)
    check_equal("limited queue's watermark", receiver["queues"][2]["watermark_bytes"], LOSSY_LIMIT * BYTES)
    ledger = result["ledger"]
    check_equal("what is queued", ledger["queued"], (LIMIT + HEADROOM + LOSSY_LIMIT) * BYTES)
    check_equal("every byte is accounted for", ledger["in"] + ledger["copies"] + ledger["generated"],
                ledger["queued"] + ledger["sent"] + ledger["dropped"] + ledger["consumed"])
    finish()


main()
