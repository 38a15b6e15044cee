# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch between captures: what comes into each port, what leaves it and when, and the counters.

Port 0 is the way to the receiver. Its capture is read first and may begin with a pause: what the others bring then
waits where the switch put it, so that nothing depends on when it came. Ports are slow (a quantum at 1 Mb/s is 512 us),
so a pause may last for seconds, and frames that leave are milliseconds apart.
"""
import re

from frames import ECT0, l3, pfc, read_pcap_times, roce, write_pcap
from harness import Program, check_equal, check_ledger, eal

RECEIVER, SENDER = "02:00:00:00:00:f0", "02:00:00:00:01:01"
DATA_BYTES = 1086  # WRITE Middle with 1024 bytes, FCS included
HEADERS_BYTES = DATA_BYTES - 1024

# The receiver is known, ports and their addresses are named; no WRED unless asked for.
BASE = f"""
[fdb receiver]
mac = {RECEIVER}
port = 0
[port 0]
mac = 02:5a:00:00:00:00
[port 1]
mac = 02:5a:00:00:00:01
"""


def data(count, dscp=26, ecn=ECT0, frame_bytes=DATA_BYTES):
    """Frames that differ in their packet numbers only (the ICRC is the first one's)."""
    first = bytearray(roce(SENDER, RECEIVER, "10.0.1.1", "10.0.0.240", 0xC001, 0, dscp, ecn,
                           bytes(frame_bytes - HEADERS_BYTES)))
    psn = l3(first)[1] + 20 + 8 + 9
    return [bytes(first[:psn] + n.to_bytes(3, "big") + first[psn + 3:]) for n in range(count)]


def dscp_of(frame):
    return frame[15] >> 2


class Run:
    """One run, begun at once; the runs of a test go on beside each other."""

    def __init__(self, work, name, config, *captures):
        self.name, self.dir = name, work / name
        self.dir.mkdir()
        for port, frames in enumerate(captures):
            write_pcap(self.dir / f"in{port}.pcap", frames)
        self.program = Program(self.dir, "switch", name, config + BASE, eal(
            *(f"net_pcap{n},rx_pcap={self.dir}/in{n}.pcap,tx_pcap={self.dir}/out{n}.pcap" for n in range(len(captures)))),
            "--stats-interval", 0.1, "--idle-sleep", 100)

    def lines(self):
        return [line for line in self.program.out().splitlines() if "pps" in line]

    def emptied(self):
        """Something came, and none of it waits."""
        lines = self.lines()
        return any(not re.search("rx +0 pps", line) for line in lines) and " queued 0 B" in lines[-1]

    def end(self, what, condition):
        """Stop when condition() holds; read what there is."""
        self.program.wait_until(what, condition)
        check_equal(f"{self.name}: exit code after SIGTERM", self.program.stop(), 0)
        self.result = self.program.json()
        self.ports = self.result["ports"]
        check_ledger(self.name, self.result)
        return self

    def sent(self, port=0):
        """(time in ns, frame) of all that left and is no pause, in order."""
        return [(t, f) for t, f in read_pcap_times(self.dir / f"out{port}.pcap") if pfc(f) is None]

    def pauses(self, port):
        """(time in ns, mask, times) of the PFC frames that left."""
        return [(t, *pfc(f)) for t, f in read_pcap_times(self.dir / f"out{port}.pcap") if pfc(f) is not None]

    def drops(self):
        return {f"{reason} {p['port']}": n for p in self.ports for reason, n in p["drops"].items() if n}
