#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Both programs start, run and stop cleanly on every virtual device, with and without hugepages.

On net_ring a NIC hears itself: there its messages complete and it ends without a signal.
"""
import json
import os
import re
import signal

import configs
from frames import read_pcap, roce, write_pcap
from harness import BUILD, Program, check, check_equal, eal, finish, run, work_dir
from hugepages import huge_options
from namespaces import Host


SWITCH = """
[switch]
buffer_bytes = 1MB
max_frame_bytes = 1518
[buffer_profile lossless]
xoff_bytes = 50KB
""" + configs.two_ports(link_speed_bps="10G")
SENT = r"tx +[1-9][0-9.]* [kMG]?pps"


def nic(messages):
    """Two QPs that are each other's peers: 17 sends, 18 answers. Without an answer it waits until it is stopped."""
    return (configs.nic(1, local_ack_timeout=0, link_speed_bps="10G") + configs.flow("out", 1, peer_qpn=18, message_bytes="64KB", messages=messages) +
            configs.flow("back", 1, peer_qpn=17, requester="off"))


def devices(work):
    """(name, two devices) of all that this machine can have."""
    frame = roce("02:00:00:00:00:02", "02:00:00:00:00:01", "10.0.0.2", "10.0.0.1", 0xC001, 0, 26, 2, bytes(256))
    write_pcap(work / "in.pcap", [frame] * 10)
    pairs = [("net_null", ("net_null0", "net_null1")),
             ("net_ring", ("net_ring0", "net_ring1")),
             ("net_pcap", [f"net_pcap{i},rx_pcap={work}/in.pcap,tx_pcap={work}/out{i}.pcap" for i in (0, 1)]),
             ("net_memif", [f"net_memif{i},role=server,id={i},socket={work}/m.sock,socket-abstract=no" for i in (0, 1)])]
    if os.geteuid() == 0:
        hosts = [Host(i, f"10.78.0.{i + 1}", f"02:00:00:00:00:0{i + 1}") for i in (0, 1)]
        pairs.append(("net_af_packet", [f"net_af_packet{i},iface={h.device}" for i, h in enumerate(hosts)]))
    else:
        print("# net_af_packet needs root")
    return pairs


def try_one(work, role, name, config, options, with_signal, seen="pps"):
    program = Program(work, role, name, config, options, "--stats-interval", 0.1, "--idle-sleep", 100)
    program.wait_started()
    program.wait_until("a statistics line", lambda: re.search(seen, program.out()))
    code = program.stop(with_signal)
    result = program.json()
    check(f"{name}: {with_signal.name} stops it cleanly", code == 0 and "error" not in program.err(),
          (code, program.err()))
    return result


def main():
    work = work_dir()
    pairs = devices(work)
    for pages, more in (("4 KB pages", []), ("hugepages", huge_options(work))):
        if more is None:
            continue
        for device, pair in pairs:
            def options(*used):
                return eal(*used, huge=bool(more), memory=128) + more

            for with_signal in (signal.SIGINT, signal.SIGTERM):
                try_one(work, "switch", f"quench-switch on {device}, {pages}", SWITCH, options(*pair), with_signal)
            # memif's link is down until a client comes: nothing has to be sent there.
            has_link = device != "net_memif"
            out = try_one(work, "nic", f"quench-nic on {device}, {pages}", nic(0), options(pair[0]), signal.SIGTERM,
                          SENT if has_link else "pps")
            if has_link:
                check(f"quench-nic on {device}, {pages}: it sent", out["counters"]["tx_packets"] > 0)
            if device == "net_pcap":
                held = out["port"]["held"]
                check_equal("and its frames are in the capture", len(read_pcap(work / "out0.pcap")),
                            out["counters"]["tx_packets"] - held)
        alone = Program(work, "nic", f"a NIC that hears itself, {pages}", nic(20), options("net_ring0"))
        check_equal(f"{alone.name}: ends by itself", alone.wait_end(), 0)
        check_equal(f"{alone.name}: messages", [(q["tx_messages"], q["rx_messages"]) for q in alone.json()["qps"]],
                    [(20, 0), (0, 20)])
    two = Program(work, "switch", "two lcores", SWITCH, eal("net_ring0", "net_ring1")[2:] + ["-l", "0,1"],
                  "--duration", 0.3)
    check_equal("with a polling lcore of its own: --duration ends it", two.wait_end(), 0)
    check_equal("and its counters are written", two.json()["program"], "quench-switch")
    (work / "null.ini").write_text(SWITCH)
    done = run(BUILD / "app/quench-switch/quench-switch", *eal("net_null0", "net_null1"), "--", "--config", work / "null.ini",
               "--json", "-", "--duration", 0.3, "--stats-interval", 0.1)
    check("--json - has standard output for itself", done.stdout.startswith("{") and "pps" in done.stderr, done.stdout[:200])
    check_equal("and is whole", json.loads(done.stdout[done.stdout.find("{"):])["program"], "quench-switch")
    finish()


main()
