# SPDX-License-Identifier: BSD-3-Clause
"""Sections of configurations, with the addresses that all tests use: host N has 02:00:00:00:00:0N, port N of a switch 02:5a:00:00:00:0N."""


def section(head, **keys):
    return f"[{head}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def nic(host, net="10.0.0", **keys):
    return section("nic", mac=f"02:00:00:00:00:0{host}", ip=f"{net}.{host}", **keys)


def flow(name, peer, net="10.0.0", **keys):
    return section(f"flow {name}", peer_mac=f"02:00:00:00:00:0{peer}", peer_ip=f"{net}.{peer}", **keys)


def flow_to_itself(name, qps, both=None, first=100, **keys):
    """A flow of host 1 to itself, by a ring: its QPs are those from first on, and those of flow answer follow.

    both: keys of both ends.
    """
    both = both or {}
    return flow(name, 1, peer_qpn=first + qps, qp_count=qps, **both, **keys) + flow(
        "answer", 1, requester="off", peer_qpn=first, qp_count=qps, **both)


def port(number, **keys):
    return section(f"port {number}", mac=f"02:5a:00:00:00:0{number}", **keys)


def two_ports(**keys):
    """Of a switch, with these keys for both."""
    return section("port", **keys) + port(0) + port(1)


def full_switch():
    """A switch with a part of each kind, without its ports, of which port 1 is the receiver's."""
    return (section("switch", buffer_bytes="4MB", wred_queues="0,3", mark_accuracy="on", vlan_filtering="on") +
            section("lldp", lldp="on") + section("pfcwd", pfcwd="sonic") + section("router", router_mac="02:00:00:00:00:fe") +
            section("interface vlan 10", ip="10.1.0.1/24") + section("route 10.2.0.0/16", nexthop="10.1.0.9") +
            section("neighbor 10.1.0.9", mac="02:00:00:00:09:09") + section("fdb receiver", mac="02:00:00:00:08:08", vlan=1, port=1))


# A switch whose way to the receiver, port 1, is a fifth of its other links. Polls come late on shared cores: what a late poll may
# catch up is as long as an idle sleep.
LOOP_SWITCH = """
[switch]
buffer_bytes = 4MB
wred_queues = 3
max_frame_bytes = 1600
shaper_burst_ns = 200us
[wred]
green_min_threshold_bytes = 10KB
green_max_threshold_bytes = 100KB
green_drop_probability = 10%
[buffer_profile lossless]
dynamic = off
static_th_bytes = 400KB
xon_bytes = 300KB
xoff_bytes = 500KB
""" + section("port", link_speed_bps="1G") + port(0) + port(1, shaper_rate_bps="200M")


def loop_nic(me, peer, requester, **keys):
    """A NIC of the closed loop, and keys of its flow. Its times are ten times the paper's: a frame takes 44 us here, 0.2 us there.

    It has no time-out: a program that has no CPU for seconds answers late, and nothing is lost for it.
    """
    rp = {"rp_dce_tcp_rtt_us": 600, "rp_time_reset_us": 600, "rp_byte_reset_bytes": 0, "rp_ai_rate_bps": "2M", "rp_hai_rate_bps": "10M",
          "rp_min_rate_bps": "1M"}
    return (nic(me, link_speed_bps="1G", shaper_burst_ns="200us", qp_burst_bytes="8KB", first_qpn=100 * me, local_ack_timeout=0) +
            section("rp", **rp) + section("np", np_min_time_between_cnps_us=500) +
            flow("loop", peer, peer_qpn=100 * peer, requester="on" if requester else "off", depth=2, **keys))


def memif(role, wire, work, port_number=0):
    """A device at an end of a wire. Rings of 128 frames: what waits in a ring is beyond the reach of marking and pause."""
    return f"net_memif{port_number},role={role},id=0,socket={work}/wire{wire}.sock,socket-abstract=no,rsize=7,bsize=10240"
