#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""lldpd as the neighbour on two ports: one agrees on PFC, the other does not. tshark reads what we say.

lldpd knows nothing of DCBX: it is told to send the TLVs as they are, and shows ours as they came.
"""
import os
import re
import socket

from harness import PATIENCE_S, Program, check, check_equal, eal, finish, until, work_dir
from namespaces import Host, need

CONFIG = """
[switch]
buffer_bytes = 4MB
max_frame_bytes = 1600

[lldp]
lldp = on
lldp_tx_interval_ns = 1s

[port]
link_speed_bps = 1G
flow_control = auto

[port 0]
name = Ethernet1/1
mac = 02:5a:00:00:00:00

[port 1]
mac = 02:5a:00:00:00:01
"""


# tshark's words for what stands in each of our frames on port 0.
SAID = ["Port Id: Ethernet1/1", "Seconds: 5", "Port Description: port0", f"System Name: {socket.gethostname()[:63]}",
        "System Description: quench-switch", "Bridge: Capable", "Router: Capable", "PGID for Prio 3: 3", "IEEE - ETS Configuration", "IEEE - ETS Recommendation",
        "IEEE - Priority Flow Control Configuration", "IEEE - Application Protocol", "Bandwidth for PGID 3: 50",
        "TSA for Traffic Class 7: Strict Priority (0)", "End of LLDPDU"]


class Lldpd:
    """One daemon in a host's namespace, with a socket of its own."""

    def __init__(self, work, host, pfc):
        self.host, self.socket = host, f"{work}/{host.name}.sock"
        # Privileges are not given up and nothing is mounted: all that it may touch is this namespace.
        self.process = host.start("lldpd", "-d", "-I", "eth0", "-u", self.socket, "-S", "peer")
        until(lambda: os.path.exists(self.socket) and self("show", "chassis").returncode == 0)
        self.must("configure", "lldp", "tx-interval", "1")
        self.must("configure", "lldp", "custom-tlv", "oui", "00,80,c2", "subtype", "11", "oui-info", pfc)

    def __call__(self, *command):
        return self.host("lldpcli", "-u", self.socket, *command)

    def must(self, *command):
        done = self(*command)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}{done.stdout}")

    def neighbours(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"lldpd ended: {self.process.stdout.read()}")
        return self("-f", "json", "show", "neighbors", "details").stdout


def wait_for(what, question):
    answer = until(question)
    if not answer:
        check(what, False)
    return answer


def main():
    need("ip", "ethtool", "sysctl", "lldpd", "lldpcli", "tshark")
    work = work_dir()
    # lldpd and lldpcli give up root, and meet at a socket in there.
    work.chmod(0o755)
    hosts = [Host(i, f"10.77.0.{i + 1}", f"02:00:00:00:00:0{i + 1}") for i in range(2)]
    switch = Program(work, "switch", "switch", CONFIG, eal(
        *(f"net_af_packet{i},iface={host.device},blocksz=4096,framesz=2048,framecnt=512,qdisc_bypass=1"
          for i, host in enumerate(hosts))), "--idle-sleep", 50)
    switch.wait_started()
    capture = hosts[0].start("tshark", "-i", "eth0", "-f", "ether proto 0x88cc and ether src 02:5a:00:00:00:00",
                             "-c", "1", "-a", "duration:30", "-V")
    # Not willing, eight classes: priority 3, and priorities 3 and 4.
    daemons = [Lldpd(work, hosts[0], "08,08"), Lldpd(work, hosts[1], "08,18")]
    for i, daemon in enumerate(daemons):
        seen = wait_for(f"lldpd {i} finds us", lambda d=daemon: "02:5a:00:00:00:00" in d.neighbours() and
                        d.neighbours())
        check(f"lldpd {i} knows our port", ("Ethernet1/1", "port1")[i] in (seen or ""), seen)
        check(f"lldpd {i} knows our time to live", re.search(r'"ttl": "5"', seen or ""), seen)
        values = dict(re.findall(r'"subtype": "(\d+)",\s*"len": "\d+",\s*"value": "([0-9A-F,]+)"', seen or ""))
        check_equal(f"lldpd {i} got our PFC TLV", values.get("11"), "08,08")
        check_equal(f"lldpd {i} got RoCEv2 and DSCP 24 and 26 as priority 3", values.get("12"),
                    "00,63,12,B7,65,00,18,65,00,1A")
    agreed = wait_for("the switch says that port 0 agrees",
                      lambda: "port Ethernet1/1: DCBX: PFC agreed (ours 0x08, peer's 0x08)" in switch.err())
    mismatch = wait_for("and that port 1 does not",
                        lambda: "port 1: DCBX: PFC mismatch (ours 0x08, peer's 0x18)" in switch.err())
    check("both were said", agreed and mismatch)
    said = capture.communicate(timeout=PATIENCE_S)[0]
    for words in SAID:
        check(f"tshark reads: {words}", words in said, said)
    check("tshark finds nothing malformed", "Malformed" not in said and "Expert Info (Error" not in said, said)
    check_equal("exit code after SIGTERM", switch.stop(), 0)
    for i, daemon in enumerate(daemons):
        gone = wait_for(f"lldpd {i} forgets us", lambda d=daemon: "02:5a:00:00:00:00" not in d.neighbours())
        ageouts = re.search(r'"ageout_cnt": "(\d+)"', daemon("-f", "json", "show", "statistics", "summary").stdout)
        check(f"lldpd {i} forgets a switch that says so, and not because its time to live ends", gone and ageouts and ageouts[1] == "0",
              ageouts and ageouts[0])
    ports = switch.json()["ports"]
    check_equal("port 0", (ports[0]["dcbx"]["pfc_state"], ports[0]["dcbx"]["pfc_agreed"]), ("agreed", 8))
    check_equal("port 1", (ports[1]["dcbx"]["pfc_state"], ports[1]["dcbx"]["pfc_agreed"]), ("mismatch", 0))
    for port in ports:
        check("each port was heard", port["dcbx"]["rx_frames"] > 0 and port["dcbx"]["rx_malformed"] == 0, port)
    finish()


main()
