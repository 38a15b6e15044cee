#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What testers change of a running switch: a port that holds its data, pause delay, big red switch, watermarks.

A capture ends at a port whose tx_disabled is on from the configuration; all that happens then is asked for.
"""
from configs import port
from frames import ECT0, read_pcap, roce, write_pcap
from harness import Program, check, check_equal, finish, work_dir
from telemetry import Telemetry, eal, prefix

FRAMES, PAYLOAD = 200, 1000
RECEIVER = "02:00:00:00:08:08"
CONFIG = f"""
[switch]
buffer_bytes = 4MB
shards = SHARDS
[pfcwd]
pfcwd = sonic
[fdb receiver]
mac = {RECEIVER}
port = 1
""" + port(0, link_speed_bps="1G") + port(1, link_speed_bps="1G", tx_disabled="on", pfc_delay_quanta=77)


def check_with(shards):
    print(f"{shards} shards")
    work = work_dir()
    name = prefix(f"k{shards}")
    frames = [roce("02:00:00:00:07:07", RECEIVER, "10.0.0.1", "10.0.0.2", 50000, i, 26, ECT0, bytes(PAYLOAD))
              for i in range(FRAMES)]
    charged = FRAMES * (len(frames[0]) + 4)
    write_pcap(work / "in.pcap", frames)
    switch = Program(work, "switch", "switch", CONFIG.replace("SHARDS", str(shards)), eal(
        name, f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out0.pcap", f"net_pcap1,tx_pcap={work}/out1.pcap",
        lcores=1 if shards == 1 else shards + 1),
        "--stats-interval", 0, "--idle-sleep", 200)
    switch.wait_started()
    t = Telemetry(name)

    def queue(key):
        return t.ask("/quench/queues,1")[f"queues/{key}"][3]

    switch.wait_until("all frames are here", lambda: t.ask("/quench/port,0")["rx_packets"] == FRAMES)
    switch.wait_until("all frames are in the queue", lambda: queue("queue_bytes") == charged)
    port = t.ask("/quench/port,1")
    check_equal("knobs of the configuration", [port["tx_disabled"], port["pfc_delay_quanta"]], [1, 77])
    check_equal("the port that is disabled sends nothing", port["tx_packets"], 0)

    for command, about in (("/quench/set/tx_disabled", "PORT is missing"), ("/quench/set/tx_disabled,1", "is missing"),
                           ("/quench/set/tx_disabled,1,yes", "= yes"), ("/quench/set/tx_disabled,2,on", "PORT = 2"),
                           ("/quench/set/pfc_delay_quanta,1,65536", "QUANTA = 65536"),
                           ("/quench/set/big_red_switch,1", "= 1"), ("/quench/clear/watermark", "KIND is missing"),
                           ("/quench/clear/watermark,all", "KIND = all"),
                           ("/quench/clear/watermark,queue,2", "PORT = 2"),
                           ("/quench/clear/watermark,buffer_pool,1", "whole switch")):
        reply = t.ask(command)
        check(f"{command} is refused", about in reply.get("error", "") and reply["expected"], reply)
    check_equal("what was refused changed nothing", [queue("queue_bytes"), t.ask("/quench/port,1")["pfc_delay_quanta"]],
                [charged, 77])

    check_equal("pause delay", t.ask("/quench/set/pfc_delay_quanta,1,9"), {"port": 1, "pfc_delay_quanta": 9})
    check_equal("it is set", t.ask("/quench/port,1")["pfc_delay_quanta"], 9)
    rows = t.all("/quench/config")
    check_equal("and shown among the keys in force", [v for s, k, v in zip(rows["section"], rows["key"], rows["value"])
                                                      if (s, k) == ("port 1", "pfc_delay_quanta")], ["9"])

    # The queue and the pool are read and cleared while all is held: what is held stays.
    reply = t.ask("/quench/clear/watermark,queue,1")
    check_equal("watermark of the queue", reply["watermark_bytes"][3], charged)
    check_equal("its port and index", [reply["port"][3], reply["index"][3]], [1, 3])
    check_equal("all ports without one", len(t.ask("/quench/clear/watermark,queue")["index"]), 16)
    check_equal("cleared to what is held", queue("watermark_bytes"), charged)

    check_equal("enabled again", t.ask("/quench/set/tx_disabled,1,off"), {"port": 1, "tx_disabled": 0})
    switch.wait_until("all frames have left", lambda: t.ask("/quench/port,1")["tx_packets"] == FRAMES)
    check_equal("the watermark stays", queue("watermark_bytes"), charged)
    check_equal("read and cleared", t.ask("/quench/clear/watermark,queue,1")["watermark_bytes"][3], charged)
    check_equal("now it is that of an empty queue", queue("watermark_bytes"), 0)
    check_equal("the persistent one is not", queue("persistent_watermark_bytes"), charged)
    group = t.ask("/quench/pg,0")
    check_equal("that of the group is of another kind", group["pgs/watermark_bytes"][3], charged)
    check("so is that of the pool", t.ask("/quench/clear/watermark,buffer_pool")["watermark_bytes"][0] >= charged)

    check_equal("big red switch", t.ask("/quench/set/big_red_switch,on"), {"big_red_switch": 1})
    switch.wait_until("all watched queues drop", lambda: t.ask("/quench/pfcwd")["status"] == ["stormed"] * 2)
    check_equal("and back", t.ask("/quench/set/big_red_switch,off"), {"big_red_switch": 0})
    switch.wait_until("none drops", lambda: t.ask("/quench/pfcwd")["status"] == ["operational"] * 2)
    check_equal("exit code", switch.stop(), 0)
    check_equal("frames in the capture", len(read_pcap(work / "out1.pcap")), FRAMES)
    final = switch.json()
    check_equal("counters were never cleared", final["ports"][1]["queues"][3]["tx_packets"], FRAMES)
    check("changes are said", "port 1: tx_disabled = off" in switch.err() and "big_red_switch = on" in switch.err())


def main():
    check_with(1)
    # What a port holds is the second shard's, what came in the first's.
    check_with(2)
    finish()


main()
