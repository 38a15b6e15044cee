#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two quench-switch negotiate PFC over their link: who gives way, who disagrees, and what is then sent and obeyed.

left has frames for a receiver behind right, whose port is paused: they wait in right, above its XOFF limit. So right
has an XOFF to say from the beginning, and may say it when PFC is agreed upon. Then right goes, and nothing is agreed.
"""
import re

from frames import pfc_frame, write_pcap
from harness import Program, check, check_equal, eal, finish, work_dir
from on_devices import DATA_BYTES, RECEIVER, data

FRAMES, LIMIT = 30, 10
FOREVER = 65535  # quanta: half a minute at 1 Mb/s

CONFIG = """
[switch]
buffer_bytes = 1MB
max_frame_bytes = 1600
[qos_map]
dscp_to_tc_map = 26:3, 32:4, *:0
tc_to_priority_group_map = 3:3, 4:4, *:0
pfc_enable = {prios}
[buffer_profile lossless]
dynamic = off
static_th_bytes = {limit}
xoff_bytes = 100KB
[lldp]
lldp = on
lldp_tx_interval_ns = 1s
dcbx_willing = {willing}
[fdb receiver]
mac = {receiver}
port = {receiver_port}
[port 0]
mac = 02:5a:00:00:00:{address:02x}
link_speed_bps = 1G
flow_control = {flow_control}
[port 1]
mac = 02:5a:00:00:01:{address:02x}
link_speed_bps = 1M
"""


class Side:
    """What one switch is told, and what it must find: DCBX's word, priorities in force, the peer's as it is told."""

    def __init__(self, prios, willing, finds, agreed, flow_control="auto"):
        self.prios, self.willing, self.finds, self.agreed, self.flow_control = prios, willing, finds, agreed, flow_control
        self.mask = sum(1 << int(p) for p in prios.split(","))


# Addresses: left's is the higher one, so of two willing ends right gives way.
PAIRS = {
    "one willing end takes what is common": (Side("3,4", "on", "agreed", 0x08), Side("3", "off", "agreed", 0x08)),
    "equal and not willing": (Side("3", "off", "agreed", 0x08), Side("3", "off", "agreed", 0x08)),
    "neither willing": (Side("3,4", "off", "mismatch", 0), Side("3", "off", "mismatch", 0)),
    "both willing": (Side("3", "on", "agreed", 0x08), Side("3,4", "on", "agreed", 0x08)),
    "right does not ask": (Side("3,4", "off", "mismatch", 0), Side("3", "off", "mismatch", 0x08, "pfc")),
}


def config(side, is_left):
    return CONFIG.format(prios=side.prios, limit=LIMIT * DATA_BYTES, willing=side.willing,
                         receiver=RECEIVER, receiver_port=0 if is_left else 1, address=2 if is_left else 1,
                         flow_control=side.flow_control)


def start(folder, name, side, is_left, capture):
    write_pcap(folder / f"{name}.pcap", capture)
    role = "client" if is_left else "server"
    devices = (f"net_memif0,role={role},id=0,socket={folder}/m.sock,socket-abstract=no",
               f"net_pcap0,rx_pcap={folder}/{name}.pcap,tx_pcap={folder}/{name}-out.pcap")
    program = Program(folder, "switch", name, config(side, is_left), eal(*devices, core=is_left),
                      "--stats-interval", 0.1, "--idle-sleep", 100)
    program.wait_started()
    return program


def said(program, side):
    words = {"agreed": "PFC agreed", "mismatch": "PFC mismatch"}[side.finds]
    return f"port 0: DCBX: {words} (ours 0x{side.mask:02x}" in program.err()


def pauses_in(program):
    counts = re.findall(r"pause tx \d+ rx (\d+) ", program.out())
    return int(counts[-1]) if counts else 0


def pair(work, number, name, sides):
    folder = work / str(number)
    folder.mkdir()
    right = start(folder, "right", sides[1], False, [pfc_frame(RECEIVER, 0x08, [0, 0, 0, FOREVER, 0, 0, 0, 0])])
    left = start(folder, "left", sides[0], True, data(FRAMES))
    yield
    for program, side in zip((left, right), sides):
        program.wait_until(f"{name}: {side.finds}", lambda: said(program, side))
    tells, obeys = (bool(side.agreed & 0x08) for side in sides[::-1])
    if tells:
        # After both have said so: one more at least that left may obey.
        before = pauses_in(left)
        left.wait_until("more pauses", lambda: pauses_in(left) >= before + 2)
    check_equal(f"{name}: right ends", right.stop(), 0)
    left.wait_until("right is gone", lambda: "port 0: DCBX: no neighbour" in left.err())
    check_equal(f"{name}: left ends", left.stop(), 0)
    l, r = (program.json()["ports"][0] for program in (left, right))
    check_equal(f"{name}: right's state", (r["dcbx"]["pfc_state"], r["dcbx"]["pfc_ours"]), (sides[1].finds, sides[1].mask))
    if sides[1].flow_control == "auto":
        check_equal(f"{name}: right's priorities", r["dcbx"]["pfc_agreed"], sides[1].agreed)
    check_equal(f"{name}: left has nobody now", (l["dcbx"]["pfc_state"], l["dcbx"]["pfc_agreed"]), ("no_neighbour", 0))
    check_equal(f"{name}: mismatches are counted", [p["dcbx"]["pfc_mismatches"] for p in (l, r)],
                [int(side.finds == "mismatch") for side in sides])
    check(f"{name}: right {'says' if tells else 'says no'} XOFF", (r["tx_prio3_pause"] > 0) == tells, r["tx_prio3_pause"])
    check(f"{name}: left {'obeys' if tells and obeys else 'obeys nothing'}",
          (l["rx_prio3_pause_duration_us"] > 0) == (tells and obeys), l["rx_prio3_pause_duration_us"])
    check_equal(f"{name}: nothing is malformed", [p["dcbx"]["rx_malformed"] for p in (l, r)], [0, 0])
    check_equal(f"{name}: the frames came through", r["pgs"][3]["rx_packets"], FRAMES)


def main():
    work = work_dir()
    pairs = [pair(work, i, name, sides) for i, (name, sides) in enumerate(PAIRS.items())]
    for p in pairs:
        next(p)
    for p in pairs:
        next(p, None)
    finish()


main()
