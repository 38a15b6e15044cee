#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What testers change of a running switch: a port that holds its data, pause delay, big red switch, watermarks.

A capture ends at a port whose tx_disabled is on from the configuration; all that happens then is asked for.
"""
from configs import port
from frames import ECT0, read_pcap, roce, write_pcap
from harness import Program, check, check_equal, finish, work_dir
from desk import Desk, eal, prefix

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
        "--stats-interval", 0, "--idle-sleep", 1000)
    switch.wait_started()
    t = Desk(name)

    def queue(key):
        return t.rows("queues", port=1)[3][key]

    switch.wait_until("all frames are here", lambda: t.call("port", port=0)["rx_packets"] == FRAMES)
    switch.wait_until("all frames are in the queue", lambda: queue("queue_bytes") == charged)
    port = t.call("port", port=1)
    check_equal("knobs of the configuration", [port["tx_disabled"], port["pfc_delay_quanta"]], [True, 77])
    check_equal("the port that is disabled sends nothing", port["tx_packets"], 0)

    for setting, about in (("port 1.tx_disabled=maybe", "= maybe: expected on or off"), ("port 2.tx_disabled=on", "[port 2]"),
                           ("port 1.pfc_delay_quanta=65536", "= 65536: expected"), ("pfcwd.big_red_switch=2", "= 2: expected")):
        refused = t.refusal("set", settings=[setting])
        check(f"set {setting} is refused", about in refused, refused)
    for params, about in (({}, "KIND is missing"), ({"kind": "all"}, "KIND = all"), ({"kind": "queue", "port": 2}, "PORT = 2"),
                          ({"kind": "buffer_pool", "port": 1}, "whole switch")):
        refused = t.refusal("clear_watermark", **params)
        check(f"clear_watermark {params} is refused", about in refused and "expected" in refused, refused)
    check_equal("what was refused changed nothing", [queue("queue_bytes"), t.call("port", port=1)["pfc_delay_quanta"]],
                [charged, 77])

    check_equal("pause delay", t.set("port 1.pfc_delay_quanta=9")["rows"], [{"section": "port 1", "key": "pfc_delay_quanta", "from": "77", "to": "9"}])
    check_equal("it is set", t.call("port", port=1)["pfc_delay_quanta"], 9)
    check_equal("and shown among the keys in force", [row["value"] for row in t.rows("config")
                                                      if (row["section"], row["key"]) == ("port 1", "pfc_delay_quanta")], ["9"])

    # The queue and the pool are read and cleared while all is held: what is held stays.
    check_equal("watermark of the queue", t.rows("clear_watermark", kind="queue", port=1)[3], {"port": 1, "index": 3, "watermark_bytes": charged})
    check_equal("all ports without one", len(t.rows("clear_watermark", kind="queue")), 16)
    check_equal("cleared to what is held", queue("watermark_bytes"), charged)

    check_equal("enabled again", t.set("port 1.tx_disabled=off")["changed"], 1)
    switch.wait_until("all frames have left", lambda: t.call("port", port=1)["tx_packets"] == FRAMES)
    check_equal("the watermark stays", queue("watermark_bytes"), charged)
    check_equal("read and cleared", t.rows("clear_watermark", kind="queue", port=1)[3]["watermark_bytes"], charged)
    check_equal("now it is that of an empty queue", queue("watermark_bytes"), 0)
    check_equal("the persistent one is not", queue("persistent_watermark_bytes"), charged)
    check_equal("that of the group is of another kind", t.rows("pg", port=0)[3]["watermark_bytes"], charged)
    check("so is that of the pool", t.rows("clear_watermark", kind="buffer_pool")[0]["watermark_bytes"] >= charged)

    check_equal("big red switch", t.set("pfcwd.big_red_switch=on")["changed"], 1)
    switch.wait_until("all watched queues drop", lambda: t.column("pfcwd", "status") == ["stormed"] * 2)
    check_equal("and back", t.set("pfcwd.big_red_switch=off")["changed"], 1)
    switch.wait_until("none drops", lambda: t.column("pfcwd", "status") == ["operational"] * 2)
    check_equal("exit code", switch.stop(), 0)
    check_equal("frames in the capture", len(read_pcap(work / "out1.pcap")), FRAMES)
    final = switch.json()
    check_equal("counters were never cleared", final["ports"][1]["queues"][3]["tx_packets"], FRAMES)
    check("changes are said", "set port 1.tx_disabled=off: 1 key changed" in switch.err() and "set pfcwd.big_red_switch=on: 1 key changed" in switch.err())


def main():
    check_with(1)
    # What a port holds is the second shard's, what came in the first's.
    check_with(2)
    finish()


main()
