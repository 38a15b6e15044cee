#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""lldpad as the neighbour: it parses our DCBX TLVs, and runs an agent for each of the three group addresses.

On a veth pair it does not advertise PFC, for want of dcbnl. So its agent for the nearest bridge only listens, and the
test sends that agent's frames: the same station agrees on PFC there, while its other agents come and shut down.
"""

from ctl import Ctl
from harness import Program, check, check_equal, finish, privileged, until, work_dir
from namespaces import Host, need
from desk import eal, prefix

CONFIG = """
[switch]
buffer_bytes = 4MB
max_frame_bytes = 1518

[qos_map]
pfc_enable = 3,4
tc_to_priority_group_map = 3:3, 4:4, 7:7, *:0

[lldp]
lldp = on
lldp_tx_interval_ns = 1s

[port 0]
name = Ethernet1/1
link_speed_bps = 1G
flow_control = auto
"""

# The words of lldptool for what it keeps of us.
READS = ["Ifname: Ethernet1/1", "port0", "quench-switch", "Enabled capabilities: Bridge", "PFC enabled: 3 4",
         "PRIO_MAP: 0:0 1:0 2:0 3:3 4:4 5:0 6:7 7:7", "UDP or DCCP Port: 4791", "dscp:  24, 26", "End of LLDPDU TLV"]

NEAREST_BRIDGE = "0180c200000e"


def tlv(kind, value):
    return (kind << 9 | len(value)).to_bytes(2, "big") + value


def nearest_bridge(mac, prios):
    """What lldpad's agent for the nearest bridge would send, if it could: both IDs are its MAC address."""
    source = bytes.fromhex(mac.replace(":", ""))
    ids = tlv(1, b"\4" + source) + tlv(2, b"\3" + source) + tlv(3, (120).to_bytes(2, "big"))
    pfc = tlv(127, bytes.fromhex("0080c2") + bytes([11, 8, prios]))
    return (bytes.fromhex(NEAREST_BRIDGE) + source + b"\x88\xcc" + ids + pfc + tlv(0, b"")).ljust(60, b"\0")


# lldpad takes another one for running if /dev/shm/lldpad.state has the number of any process: a /dev/shm of its own.
OWN_STATE = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]


class Lldpad:
    """The daemon in a host's namespace."""

    def __init__(self, work, host):
        self.host, config = host, work / "lldpad.conf"
        config.write_text("")
        privileged(*OWN_STATE, "true")
        self.process = host.start(*OWN_STATE, "lldpad", "-p", "-t", "-V", "3", "-f", config)
        if not until(lambda: self("-p").returncode == 0):
            self.process.kill()
            raise RuntimeError(f"lldpad does not answer: {self.process.stdout.read()}")

    def __call__(self, *command):
        return self.host("lldptool", *command)

    def status(self, agent, status):
        done = self("set-lldp", "-i", "eth0", "-g", agent, f"adminStatus={status}")
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)


def main():
    need("ip", "ethtool", "sysctl", "unshare", "mount", "lldpad", "lldptool")
    work = work_dir()
    host = Host(0, "10.78.0.1", "02:00:00:00:00:01")
    name = prefix("switch")
    switch = Program(work, "switch", "switch", CONFIG, eal(
        name, f"net_af_packet0,iface={host.device},blocksz=4096,framesz=2048,framecnt=512,qdisc_bypass=1"),
                     "--idle-sleep", 50)
    switch.wait_started()
    ctl = Ctl(work, "-f", name)

    def other_agents():
        return ctl.json("show interfaces 0")["drops"]["reserved_address"]

    daemon = Lldpad(work, host)
    daemon.status("nb", "rx")
    until(lambda: "End of LLDPDU" in daemon("-t", "-n", "-i", "eth0").stdout)
    seen = daemon("-t", "-n", "-i", "eth0").stdout
    for words in READS:
        check(f"lldpad reads: {words}", words in seen, seen)
    host.send([nearest_bridge(host.mac, 0x18)])
    switch.wait_until("PFC is agreed", lambda: "DCBX: PFC agreed (ours 0x18, peer's 0x18)" in switch.err())
    # With each status the agent sends: its TLVs without DCBX, and a shutdown.
    for agent in ("ncb", "nntpmrb"):
        for status in ("rxtx", "disabled"):
            sent = other_agents()
            daemon.status(agent, status)
            switch.wait_until(f"a frame of {agent} arrives", lambda n=sent: other_agents() > n)
    check_equal("exit code after SIGTERM", switch.stop(), 0)
    port = switch.json()["ports"][0]
    check_equal("PFC stays agreed", (port["dcbx"]["pfc_state"], port["dcbx"]["pfc_agreed"]), ("agreed", 0x18))
    check_equal("and nobody was forgotten", (port["dcbx"]["rx_ageouts"], port["dcbx"]["rx_frames"]), (0, 1))
    finish()


main()
