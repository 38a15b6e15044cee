#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Linux kernel as the host on both sides: ping, then TCP with ECN through a shaped egress.

The kernel's counters are the judge: it must see our marks, and its sender must back off.
"""
import json
import re
import threading

from configs import port
from harness import PATIENCE_S, Program, check, check_equal, eal, finish, until, work_dir
from namespaces import Host, need

# The egress to the server is 20 times slower than TCP would like; marks start at 10 frames. Only iperf3's data
# connection is in the queue that marks: its other connection sends acknowledgements, which TCP leaves Not-ECT
# (RFC 3168 6.1.4) and which WRED would therefore drop.
CONFIG = """
[switch]
buffer_bytes = 4MB
wred_queues = 1
max_frame_bytes = 1600

[qos_map]
dscp_to_tc_map = 8:1, *:0

[wred]
wred_green_enable = on
ecn = ecn_all
green_min_threshold_bytes = 15KB
green_max_threshold_bytes = 90KB
green_drop_probability = 10%
""" + port(0, link_speed_bps="1G") + port(1, link_speed_bps="1G", shaper_rate_bps="50M")
TRANSFER = 6_000_000


def watch_sender(client, done, seen):
    """Lines of ss about the data connection (iperf3's other one carries little) while it sends."""
    while not done.wait(0.05):
        lines = client("ss", "-tinoH", "state", "established").stdout.splitlines()
        seen.extend(line for line in lines if re.search(r"\bbytes_sent:\d{5}", line))


def main():
    need("ip", "ethtool", "iperf3", "nstat", "ss", "ping", "sysctl")
    work = work_dir()
    client = Host(0, "10.77.0.1", "02:00:00:00:00:01")
    server = Host(1, "10.77.0.2", "02:00:00:00:00:02")
    for host in (client, server):
        host.must("sysctl", "-qw", "net.ipv4.tcp_ecn=1")
        # One algorithm whatever the machine's default: BBR, for one, does not answer marks.
        host.must("sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")
    switch = Program(work, "switch", "switch", CONFIG, eal(
        *(f"net_af_packet{i},iface={host.device},blocksz=4096,framesz=2048,framecnt=512,qdisc_bypass=1"
          for i, host in enumerate((client, server)))), "--idle-sleep", 50)
    switch.wait_started()

    received, said = client.ping(server.address, count=20)
    check("ping through the switch loses nothing", received == 20, said)
    received, said = server.ping(client.address, "-s", 1400)
    check("and neither does the other direction", received == 5, said)

    listener = server.start("iperf3", "-s", "-1")
    until(lambda: re.search(r":5201\b", server("ss", "-tlnH").stdout))
    before = client.counters(), server.counters()
    done, seen = threading.Event(), []
    watcher = threading.Thread(target=watch_sender, args=(client, done, seen))
    watcher.start()
    transfer = client("iperf3", "-c", server.address, "-n", TRANSFER, "--dscp", 8, "-J")
    done.set()
    watcher.join()
    listener.wait(PATIENCE_S)
    after = client.counters(), server.counters()
    sent, received = ({k: a[k] - b.get(k, 0) for k in a} for a, b in zip(after, before))
    report = json.loads(transfer.stdout)
    check_equal("iperf3's exit code", transfer.returncode, 0)
    check("iperf3 sent everything", report["end"]["sum_sent"]["bytes"] >= TRANSFER)
    check("and nearly all of it had arrived when it asked", report["end"]["sum_received"]["bytes"] > 0.9 * TRANSFER)

    check_equal("exit code after SIGTERM", switch.stop(), 0)
    result = switch.json()
    to_server = result["ports"][1]
    marked = to_server["queues"][1]["ecn_marked_packets"]
    ce = received["IpExtInCEPkts"]
    print(f"# marked {marked}, kernel saw CE {ce}, delivered with CE {sent.get('TcpExtTCPDeliveredCE')}, "
          f"retransmitted {sent['TcpRetransSegs']}")
    check("frames were marked", marked > 0)
    check_equal("the server's kernel saw each mark", ce, marked)
    check("the sender's kernel was told of marks", sent.get("TcpExtTCPDeliveredCE", 0) > 0)
    check("ECN was negotiated", any(re.search(r"\becn\b", line) for line in seen), seen[:2])
    thresholds = [int(n) for line in seen for n in re.findall(r"(?<!_)ssthresh:(\d+)", line)]
    windows = [int(n) for line in seen for n in re.findall(r"\bcwnd:(\d+)", line)]
    # ss shows a slow start threshold once there was a reason for one; no data was dropped, so marks are the reason.
    check("the sender left slow start", bool(thresholds), seen[:3])
    check("the sender's window went down", any(b < a for a, b in zip(windows, windows[1:])), windows)
    # Not what the kernel's ring lost while the switch had no CPU.
    dropped = {r: n for p in result["ports"] for r, n in p["drops"].items() if n and r != "device_missed"}
    # Of the data connection, the SYN, the handshake's ACK and a FIN without data are Not-ECT; WRED may drop them.
    check("the switch dropped nothing that can carry a mark", dropped.pop("wred", 0) <= 3 and not dropped, dropped)
    check("the shaper held: the egress queue filled beyond the marking threshold", marked > 10)
    for port, host in enumerate((client, server)):
        check("port %d: frames in are frames out on the other side" % port,
              result["ports"][port]["rx_packets"] >= result["ports"][1 - port]["tx_packets"])
    finish()


main()
