# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of jobs in quench-nics on the ports of one quench-switch, over memif."""
from configs import memif, nic, port, section
from harness import Program, check_equal, eal

LINK = 1_000_000_000
# A late poll on a shared core may catch up this much.
SHAPER = "2ms"
# Eleven seconds without an answer: that a program has no CPU for a second or two is no failure.
NIC = {"link_speed_bps": LINK, "shaper_burst_ns": SHAPER, "qp_burst_bytes": "64KB", "local_ack_timeout": 16,
       "retry_cnt": 40}
# Ten times the paper's times, because the link is slow.
RP = {"rp_dce_tcp_rtt_us": 600, "rp_time_reset_us": 600, "rp_byte_reset_bytes": 0, "rp_ai_rate_bps": "5M", "rp_hai_rate_bps": "50M",
      "rp_min_rate_bps": "5M"}


def addresses(n):
    return f"10.0.0.1-10.0.0.{n}"


def switch_config(ports, **of_ports):
    """Marks from 10 KB on, pauses from 200 KB on."""
    return (section("switch", buffer_bytes="8MB", wred_queues=3, max_frame_bytes=1600, shaper_burst_ns=SHAPER) +
            section("wred", green_min_threshold_bytes="10KB", green_max_threshold_bytes="100KB", green_drop_probability="10%") +
            section("buffer_profile lossless", dynamic="off", static_th_bytes="200KB", xon_offset_bytes="100KB", xoff_bytes="500KB") +
            section("port", link_speed_bps=LINK, **of_ports) + "".join(port(i) for i in range(ports)))


def nic_config(host, *jobs, **keys):
    return nic(host, **(NIC | keys)) + section("rp", **RP) + section("np", np_min_time_between_cnps_us=500) + "".join(jobs)


def job(name, **keys):
    return section(f"job {name}", **keys)


class Bed:
    """A switch, and quench-nics numbered from 1 on, each on a port of its own."""

    def __init__(self, work, ports, **of_ports):
        self.work, self.nics = work, {}
        devices = [memif("server", i, work, i) for i in range(ports)]
        self.switch = Program(work, "switch", "switch", switch_config(ports, **of_ports), eal(*devices, core=0), "--idle-sleep", 50,
                              "--stats-interval", 0.25)
        self.switch.wait_started()

    def start(self, host, config, *options, prefix=None):
        """prefix: of EAL's files, by which its desk is found."""
        of_eal = eal(memif("client", host - 1, self.work), core=1) + (["--file-prefix", prefix] if prefix else [])
        program = Program(self.work, "nic", f"nic{host}", config, of_eal, "--idle-sleep", 50,
                          "--csv", self.work / f"csv{host}", "--stats-interval", 0.25, *options)
        self.nics[host] = program
        return program

    def all_end(self, code=0):
        for host, program in self.nics.items():
            check_equal(f"nic{host}: exit code", program.wait_end(), code)

    def end_switch(self):
        self.switch.wait_quiet()
        check_equal("switch: exit code", self.switch.stop(), 0)
        return self.switch.json()
