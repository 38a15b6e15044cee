# SPDX-License-Identifier: BSD-3-Clause
"""A run with a perftest program, as its client or its server."""
from __future__ import annotations

import contextlib
import random
import time

from quenchctl.command import DONE, Ends, Run, print_json
from quenchctl.perftest import options as options_, wire
from quenchctl.perftest.flows import MEMORY_BYTES, Flows, Sums
from quenchctl.perftest.peer import PATIENCE_S, Peer

# What perftest takes for its buffers if it finds nothing out.
CYCLE_BUFFER_BYTES, CACHE_LINE_BYTES = 4096, 64
LOOK_S = 0.02
# Responder's memory: any address will do, since nothing is stored.
FIRST_ADDR = 1 << 40


class Exchange:
    """From the connection to the results."""

    def __init__(self, peer: Peer, flows: Flows, options: options_.Options) -> None:
        self.peer, self.flows, self.options = peer, flows, options
        self.ours: list[wire.End] = []
        self.theirs: list[wire.End] = []
        self.version = ""  # the peer's
        self.mtu_bytes = 0
        self.elapsed_ns = 0
        self.report: wire.Report | None = None  # ours; of listen: the peer's, if it sent one

    def fail(self, text: str) -> Ends:
        return Ends(f"{self.peer.name}: {text}")

    def swap_versions(self) -> None:
        theirs = self.peer.swap("its version", wire.OUR_VERSION)
        self.version = "".join(chr(byte) for byte in theirs.partition(b"\0")[0] if 32 <= byte < 127)
        if not wire.FIRST_VERSION <= wire.version(theirs) <= wire.LAST_VERSION:
            raise self.fail(f"version {self.version or '(no number)'}: expected perftest 4.5, whose versions are 5.98 to 6.10")

    def swap_sizes(self) -> None:
        """By which perftest places its buffers. We have none, and follow the peer."""
        for size in (CYCLE_BUFFER_BYTES, CACHE_LINE_BYTES):
            self.peer.swap("the sizes of its buffers", size.to_bytes(4, "big"))

    def swap_mtus(self) -> None:
        theirs = wire.mtu(self.peer.swap("its MTU", wire.put_mtu(self.options.mtu_bytes)))
        if theirs == 0:
            raise self.fail("its MTU is not one of RoCE")
        self.mtu_bytes = min(theirs, self.options.mtu_bytes)

    def make_ends(self) -> None:
        flows, first = self.flows, self.flows.first_qpn()
        six = self.options.gid == "ipv6" or self.options.gid == "auto" and flows.ip is None
        self.ours = [wire.End(flows.max_rd_atomic, first + i, random.getrandbits(24), random.getrandbits(31) | 1, FIRST_ADDR + i * MEMORY_BYTES,
                              flows.ip6 if six else flows.ip) for i in range(self.options.qp_count)]

    def choose_address(self, ours: wire.End, theirs: wire.End) -> wire.End:
        """As a server, answer with an address of the client's kind."""
        version = theirs.ip.version if theirs.ip is not None else 0
        if not self.peer.is_client and self.options.gid == "auto":
            ours = ours._replace(ip=self.flows.ip6 if version == 6 else self.flows.ip)
        if ours.ip is None or ours.ip.version != version:
            why = "and the NIC has none of that kind" if ours.ip is None else "ours is not"
            raise self.fail(f"its address is IPv{version}, {why}: expected both ends to have the same kind (gid=, the peer: -x)")
        return ours

    def swap_end(self, i: int, patience_s: float | None = PATIENCE_S) -> None:
        """The data of QP i."""
        if self.peer.is_client:
            self.peer.send(wire.put_end(self.ours[i]))
        theirs = wire.get_end(self.peer.receive("the data of its QPs", wire.END_BYTES, patience_s))
        if theirs is None:
            raise self.fail("the data of its QPs cannot be read: is it perftest 4.5 on Ethernet?")
        self.theirs[i:i + 1] = [theirs]
        self.ours[i] = self.choose_address(self.ours[i], theirs)
        if not self.peer.is_client:
            self.peer.send(wire.put_end(self.ours[i]))

    def swap_ends(self) -> None:
        for i in range(self.options.qp_count):
            self.swap_end(i)

    def prepare(self) -> None:
        """To the instant before the first message. Between the two rounds of QP data each end makes its QPs; the extra exchanges are those
        of send_bw.c, write_bw.c and read_bw.c."""
        self.swap_versions()
        self.make_ends()
        self.swap_sizes()
        self.swap_mtus()
        self.swap_ends()
        for ours, theirs in zip(self.ours, self.theirs):
            self.flows.add(ours, theirs, self.mtu_bytes)
        if self.options.verb == "send":
            self.swap_end(0)
        self.swap_ends()
        self.swap_end(0)

    def await_end(self) -> Sums:
        """Wait until the time is over, or all QPs have ended."""
        qps, duration_ns = self.options.qp_count, self.options.duration_ns
        end_s = time.monotonic() + duration_ns / 1e9
        while True:
            sums = self.flows.read()
            if failed := sums.count["qps_failed"]:
                raise self.fail(f"{failed} of {qps} QPs failed: it does not answer, or refuses (quenchctl show drops, show counters)")
            if sums.present < qps:
                raise self.fail(f"{qps - sums.present} of {qps} flows were removed by a command or a reload")
            if time.monotonic() >= end_s if duration_ns else sums.count["qps_done"] == qps:
                return sums
            self.peer.rest(LOOK_S)

    def rate(self, n_bytes: int, ns: int) -> float:
        """In the unit of the reports."""
        per_s = n_bytes * 1e9 / ns if ns else 0.0
        return per_s * 8 / 1e9 if self.options.gbits else per_s / (1 << 20)

    def swap_reports(self, ours: wire.Report) -> None:
        theirs = wire.get_report([self.peer.swap("its results", number) for number in wire.put_report(ours)])
        if not self.peer.is_client:
            self.report = theirs

    def finish(self) -> None:
        """Both say that they are done. The peer may have gone already."""
        self.swap_end(0, PATIENCE_S if self.peer.is_client else None)
        with contextlib.suppress(Ends):
            self.peer.send(wire.DONE)

    def run_client(self) -> Sums:
        self.flows.stop(False)
        sums = self.await_end()
        # QPs begin up to a millisecond apart: the time is that of all of them.
        ns, messages = sums.elapsed_ns, sums.count["messages"]
        self.elapsed_ns = ns
        self.report = wire.Report(self.options.message_bytes, messages, 0.0, self.rate(sums.count["payload_bytes"], ns), messages * 1e3 / ns if ns else 0.0)
        if self.options.duration_ns:
            self.flows.stop(True)
        if self.options.verb != "send":
            self.swap_end(0)
            self.swap_reports(self.report)
        self.finish()
        return sums

    def run_server(self) -> Sums:
        """The client speaks when it has finished."""
        begin_s = time.monotonic()
        if self.options.verb != "send":
            self.swap_end(0, None)
            self.elapsed_ns = round((time.monotonic() - begin_s) * 1e9)
            self.swap_reports(wire.Report(0, 0, 0.0, 0.0, 0.0))
        self.finish()
        if self.options.verb == "send":
            self.elapsed_ns = round((time.monotonic() - begin_s) * 1e9)
        return self.flows.read()


def print_result(e: Exchange, sums: Sums, as_json: bool) -> None:
    o, count, report = e.options, sums.count, e.report
    counted = ("retransmitted_packets", "cnps_handled", "cnps_sent", "ce_packets")
    if as_json:
        found = {"role": "client" if e.peer.is_client else "server", "verb": o.verb, "peer_ip": str(e.theirs[0].ip), "peer_version": e.version,
                 "qps": o.qp_count, "mtu_bytes": e.mtu_bytes, "messages": count["messages"], "payload_bytes": count["payload_bytes"],
                 "elapsed_ns": e.elapsed_ns, **{name: count[name] for name in counted}}
        if report:
            found |= {"message_bytes": report.bytes, "average_gbps" if o.gbits else "average_mib_per_s": report.average, "mmessages_per_s": report.mmps}
        print_json(found)
        return
    print(f"{o.verb} with {e.peer.name}, perftest {e.version}: {o.qp_count} QPs, MTU {e.mtu_bytes}")
    print(f"{count['messages']} messages, {count['payload_bytes']} bytes, {e.elapsed_ns / 1e9:.3f} s, {count['retransmitted_packets']} packets retransmitted, "
          f"{count['ce_packets']} with CE, CNPs: {count['cnps_sent']} sent, {count['cnps_handled']} handled")
    if report:
        print(f"{'average' if e.peer.is_client else 'the client' + chr(39) + 's average'}: {report.average:.2f} {'Gb/s' if o.gbits else 'MiB/s'}, "
              f"{report.mmps:.6f} million messages/s of {report.bytes} bytes")


def run(run_: Run, host: str | None, words: list[str]) -> int:
    options = options_.read(words)
    flows = Flows(run_.desk, options, host is not None)
    peer = Peer(host is not None)
    exchange = Exchange(peer, flows, options)
    try:
        if host is not None:
            peer.connect(host, options.port)
        else:
            peer.accept(options.port)
        exchange.prepare()
        sums = exchange.run_client() if peer.is_client else exchange.run_server()
    finally:
        try:
            flows.close()
        finally:
            peer.close()
    print_result(exchange, sums, run_.options.json)
    return DONE


def connect(run_: Run) -> int:
    return run(run_, run_.params[0], run_.params[1:])


def listen(run_: Run) -> int:
    return run(run_, None, run_.params)
