# SPDX-License-Identifier: BSD-3-Clause
"""The properties of the Open Traffic Generator API, and what becomes of each: carried (how) or refused (why).

Keys are those of the schema: the name of an object, then the name of a property. Only objects that a carried property leads to
have an entry; a refused property is refused with all that it contains. The test test/otg/test_table.py compares these tables with
the schema, property by property. scripts/gen-otg writes them to doc/otg.md.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Row(NamedTuple):
    carried: bool
    text: str  # how, or why not
    refused: Mapping[str, str] = {}  # values of an enum that are refused, and why


def yes(text: str, **refused: str) -> Row:
    return Row(True, text, refused)


def no(why: str) -> Row:
    return Row(False, why)


CE = "a sender of marked frames would make every receiver answer with CNPs, and quench-nic sends none"
IGNORED = "ignored, with a warning"
CHOICE = "selects the property of its name"
NAME = "name of the object; unique in the configuration"
RDMA_CM = "always 0: the numbers of both QPs are in the configuration, so no connection manager runs"
ONE_WAY = "one-way latency needs a clock that both ports share; quench-nic measures round trips (quenchctl show flows)"
NO_PROTOCOL = "quench-otg speaks ARP, neighbour discovery and RoCEv2"
NO_TAGS = "quench-nic counts frames by flow only"
NO_HEADER = "expected ethernet, vlan, mpls, arp, ipv4, ipv6, udp, tcp, icmp, icmpv6, vxlan, pfcpause, ethernetpause or custom"
FILTER = "select ports, and filter the file with other tools"

# Fields of headers that a capture compares: first bit, bits.
CAPTURE_FIELDS: dict[str, dict[str, tuple[int, int]]] = {
    "ethernet": {"dst": (0, 48), "src": (48, 48), "ether_type": (96, 16)},
    "vlan": {"priority": (0, 3), "cfi": (3, 1), "id": (4, 12), "protocol": (16, 16)},
    "ipv4": {"version": (0, 4), "header_length": (4, 4), "priority": (8, 8), "total_length": (16, 16), "identification": (32, 16),
             "reserved": (48, 1), "dont_fragment": (49, 1), "more_fragments": (50, 1), "fragment_offset": (51, 13), "time_to_live": (64, 8),
             "protocol": (72, 8), "header_checksum": (80, 16), "src": (96, 32), "dst": (128, 32)},
    "ipv6": {"version": (0, 4), "traffic_class": (4, 8), "flow_label": (12, 20), "payload_length": (32, 16), "next_header": (48, 8),
             "hop_limit": (56, 8), "src": (64, 128), "dst": (192, 128)},
}

Rows = dict[str, Row]

CONFIG: dict[str, Rows] = {
    "Config": {
        "ports": yes("one quench-nic each"),
        "lags": no("a port of quench-nic is one device"),
        "layer1": yes("at most one for each port"),
        "captures": yes("below"),
        "devices": yes("any number for each port. quench-nic answers for their addresses while QPs of their flows exist, and always for those of the first "
                       "interface of a port. A port without a device has the IPv4 address 169.254.1.1"),
        "flows": yes("`[frames NAME]` of the port of tx_name, at most 256 for each port"),
        "events": no("quench-otg records no events"),
        "options": yes("below"),
        "lldp": no(NO_PROTOCOL),
        "stateful_flows": yes("below"),
        "egress_only_tracking": no("quench-nic counts received packets by QP only"),
    },
    "Port": {
        "location": yes("a location of quench-otg (--port, --ports), whatever its form; required"),
        "name": yes(NAME),
    },
    "Layer1": {
        "port_names": yes("ports of the configuration"),
        "speed": yes("`[nic] link_speed_bps`; without it, `speed` of the port in --ports, 100 Gb/s by default",
                     speed_10_hd_mbps="quench-nic is full duplex",
                     speed_100_hd_mbps="quench-nic is full duplex"),
        "media": yes(f"{IGNORED}: the medium is that of the device"),
        "promiscuous": yes(f"true is {IGNORED}, as the schema asks: quench-nic accepts frames to its own address and groups only"),
        "mtu": yes(f"{IGNORED}, as the schema asks: DPDK's devices keep their own limit. Packets of RoCEv2 fit the `mtu` of their Ethernet interface"),
        "ieee_media_defaults": yes(f"{IGNORED}: the device negotiates the link"),
        "auto_negotiate": yes(f"{IGNORED}: the device negotiates the link"),
        "auto_negotiation": yes(f"{IGNORED}: the device negotiates the link"),
        "flow_control": yes("`[nic] flow_control`. Without it: off, as the schema says"),
        "name": yes(NAME),
    },
    "Layer1.AutoNegotiation": {name: yes(IGNORED) for name in (
        "advertise_1000_mbps", "advertise_100_fd_mbps", "advertise_100_hd_mbps", "advertise_10_fd_mbps", "advertise_10_hd_mbps", "link_training", "rs_fec")},
    "Layer1.FlowControl": {
        "directed_address": yes("01:80:C2:00:00:01, the address of pause frames; others are refused"),
        "choice": yes("`[nic] flow_control`: pfc or pause"),
        "ieee_802_1qbb": yes("`[nic] flow_control = pfc`"),
        "ieee_802_3x": yes("`[nic] flow_control = pause`"),
    },
    "Layer1.Ieee8021qbb": {
        "pfc_delay": yes("0, since quench-nic obeys before its next frame; other values are refused"),
        **{f"pfc_class_{n}": yes(f"priority {n} is in `[qos_map] pfc_enable`; class {n} uses this queue, which the priority pauses; null: no PFC")
           for n in range(8)},
    },
    "Layer1.Ieee8023x": {},
    "Capture": {
        "port_names": yes("ports of the configuration, each in one entry"),
        "filters": yes("all must hold. At most 16 fields, since quench-nic compares them before it copies a frame. A frame without the header of a "
                       "filter does not pass"),
        "overwrite": yes("true: the latest frames, at least half of `capture_mb` of the port in --ports; false: the capture ends when it has this size"),
        "packet_size": yes("at least 14, the length of the Ethernet header"),
        "format": yes("with times in nanoseconds. pcapng also has directions and counts of lost frames"),
        "name": yes(NAME),
    },
    "Capture.Filter": {"choice": yes(CHOICE), **{name: yes("below") for name in ("custom", "ethernet", "vlan", "ipv4", "ipv6")}},
    "Capture.Custom": {
        "offset": yes("in bits, 0 without it, from the end of the header or field of the filter before; after ipv4, from the end of the header with its options"),
        "bit_length": yes("1 to 128; others are refused"),
        **{name: yes("as in Capture.Field") for name in ("value", "mask", "negate")},
    },
    "Capture.Field": {
        "value": yes("a number of at most the field's bits"),
        "mask": yes("1 for each bit to compare; the schema's default compares nothing"),
        "negate": yes("true: one of these bits must differ"),
    },
    "Capture.Ethernet": {
        **{name: yes("below") for name in ("src", "dst")},
        "ether_type": yes("the two bytes after the addresses: 8100 in a frame with a tag"),
        "pfc_queue": no("a frame does not say in which queue it waited"),
    },
    "Capture.Vlan": {
        **{name: yes("below") for name in ("priority", "cfi", "id")},
        "protocol": yes("EtherType after the tag"),
    },
    "Capture.Ipv4": {
        **{name: yes("below") for name in CAPTURE_FIELDS["ipv4"]},
        "priority": yes("DSCP and ECN, 8 bits"),
    },
    "Capture.Ipv6": {name: yes("below") for name in CAPTURE_FIELDS["ipv6"]},
    "Device": {
        "ethernets": yes("any number, with more than one on a port if it has one polling lcore"),
        "ipv4_loopbacks": no("an address of quench-nic is on a link"),
        "ipv6_loopbacks": no("an address of quench-nic is on a link"),
        "isis": no(NO_PROTOCOL),
        "bgp": no(NO_PROTOCOL),
        "vxlan": no("quench-nic sends no tunnels"),
        "name": yes(NAME),
        "rsvp": no(NO_PROTOCOL),
        "dhcp_server": no(NO_PROTOCOL),
        "ospfv2": no(NO_PROTOCOL),
        "macsec": no("quench-nic encrypts nothing"),
        "ospfv3": no(NO_PROTOCOL),
        "rocev2": yes("below"),
        "bmp": no(NO_PROTOCOL),
    },
    "Device.Ethernet": {
        "connection": yes("below; required"),
        "ipv4_addresses": yes("any number, all of a port different"),
        "ipv6_addresses": yes("any number, all of a port different"),
        "mac": yes("`[nic] mac` of the first interface of a port, `local_mac` of the flows of others; required, as the schema says"),
        "mtu": yes("packets of RoCEv2 that do not fit are refused"),
        "vlans": yes("at most one"),
        "name": yes(NAME),
        "dhcpv4_interfaces": no(NO_PROTOCOL),
        "dhcpv6_interfaces": no(NO_PROTOCOL),
    },
    "Ethernet.Connection": {
        "choice": yes(CHOICE, lag_name="a port of quench-nic is one device", vxlan_name="quench-nic sends no tunnels",
                      simulated_link="a quench-nic is one host"),
        "port_name": yes("a port of the configuration"),
        "lag_name": no("a port of quench-nic is one device"),
        "vxlan_name": no("quench-nic sends no tunnels"),
        "simulated_link": no("a quench-nic is one host"),
    },
    "Device.Vlan": {
        "tpid": yes("0x8100", x88A8="quench-nic tags with 0x8100", x9100="quench-nic tags with 0x8100",
                    x9200="quench-nic tags with 0x8100", x9300="quench-nic tags with 0x8100"),
        "priority": yes("`vlan_pcp` of each flow"),
        "id": yes("`vlan_id` of each flow; 4095 is reserved and refused"),
        "name": yes(NAME),
    },
    "Device.Ipv4": {
        "gateway": yes("`next_hop` of flows to peers outside the prefix"),
        "gateway_mac": yes("below"),
        "address": yes("`[nic] ip` of the first interface of a port, `local_ip` of flows of others"),
        "prefix": yes("peers in the prefix are reached without the gateway, by ARP"),
        "name": yes(NAME),
    },
    "Device.Ipv4GatewayMAC": {
        "choice": yes(CHOICE),
        "auto": yes("the address is resolved by ARP. The value must be the schema's default"),
        "value": yes("`peer_mac` of flows to peers outside the prefix, or to the gateway itself"),
    },
    "Device.Ipv6": {
        "gateway": yes("`next_hop` of flows to peers outside the prefix"),
        "gateway_mac": yes("below"),
        "address": yes("`[nic] ip6` of the first interface of a port, `local_ip` of flows of others"),
        "prefix": yes("peers in the prefix are reached without the gateway, by neighbour discovery"),
        "name": yes(NAME),
    },
    "Device.Ipv6GatewayMAC": {
        "choice": yes(CHOICE),
        "auto": yes("the address is resolved by neighbour discovery. The value must be the schema's default"),
        "value": yes("`peer_mac` of flows to peers outside the prefix, or to the gateway itself"),
    },
    "Config.Options": {
        "port_options": yes("below"),
        "protocol_options": yes("below"),
        "per_port_options": yes("at most one for each port"),
        "flow_options": no("quench-otg has no options for all raw flows"),
    },
    "Port.Options": {
        "location_preemption": yes(f"true is {IGNORED}: the ports of a quench-otg are its own, and one of an agent that another controller has is refused"),
        "data_integrity": yes("false; true is refused: it is an option of flows, and the ICRC covers RoCEv2"),
        "frame_ordering_mode": yes("below"),
    },
    "Port.Options.FrameOrderingMode": {"choice": yes("flows of a port are not ordered", rfc2889="quench-nic paces each flow for itself")},
    "Protocol.Options": {
        "auto_start_all": yes("true: QPs answer from set_config on; false: from `protocol.all` start on, or from traffic start"),
    },
    "PerPort.Options": {
        "port_name": yes("a port of the configuration; required"),
        "protocols": yes("at most one of each"),
    },
    "Port.Protocol": {
        "choice": yes(CHOICE, macsec="quench-nic encrypts nothing"),
        "rocev2": yes("below"),
        "macsec": no("quench-nic encrypts nothing"),
    },
    "StatefulFlow": {
        "choice": yes(CHOICE),
        "rocev2": yes("below"),
    },
}

ROCEV2: dict[str, Rows] = {
    "Device.Rocev2Peer": {
        "ipv4_interfaces": yes("below"),
        "ipv6_interfaces": yes("below"),
    },
    "Rocev2.V4Interface": {
        "ipv4_name": yes("the interface of the device"),
        "ib_mtu": yes("`mtu_bytes` of each flow: 256, 512, 1024, 2048 or 4096, those of InfiniBand. Another size gives a warning, and packets carry the largest "
                      "multiple of 256 up to it that the mtu of the interface has room for, at most 8960 bytes"),
        "peers": yes("below"),
    },
    "Rocev2.V4Peer": {
        "name": yes(NAME),
        "destination_ip_address": yes("`peer_ip` of each flow; must be the address of the other end of each flow. 0.0.0.0 or ::, of an end that only receives: any"),
        "qps": yes("below"),
    },
    "Rocev2.V6Interface": {
        "ipv6_name": yes("the interface of the device"),
        "ib_mtu": yes("as of an IPv4 interface"),
        "peers": yes("below"),
    },
    "Rocev2.V6Peer": {
        "name": yes(NAME),
        "destination_ip_address": yes("`peer_ip` of each flow; must be the address of the other end of each flow. 0.0.0.0 or ::, of an end that only receives: any"),
        "qps": yes("below"),
    },
    "Rocev2.QPs": {
        "qp_name": yes(NAME),
        "connection_type": yes("below"),
    },
    "Rocev2.ConnectionType": {
        "choice": yes("RC"),
        "reliable_connection": yes("below"),
    },
    "Rocev2.QPParameters": {
        "source_qp_number": yes("`local_qpn`. Numbers above 16777215 are refused: a BTH has 24 bits for them. A port has at most 4194304 numbers from its "
                                "first QP to its last, with 368 bytes of memory for each"),
        "dscp": yes("`dscp` of the flow's data"),
        "ecn": yes("`[nic] data_ecn`, so that all QPs of a port have the same", ce=CE),
        "udp_source_port": yes("`udp_sport` of what this QP sends; 0 is refused"),
        "initial_psn": yes("`initial_psn` of what this QP sends. Numbers above 16777215 are refused: a BTH has 24 bits for them"),
        "virtual_address": yes("memory of this QP: `remote_addr` of the WRITEs and READs of its peer"),
        "remote_key": yes("key of this memory: `rkey` of the WRITEs and READs of its peer"),
    },
    "Rocev2.Flows": {
        "tx_ports": yes("below"),
    },
    "Rocev2.TxPorts": {
        "port_name": yes("port of the QPs that are tx_endpoint; required"),
        "transmit_type": yes("below"),
    },
    "Rocev2.TransmitType": {
        "choice": yes("messages follow each other until traffic stops"),
        "target_line_rate": yes("below"),
    },
    "Rocev2.TargetLineRate": {
        "value": yes("the port's flows share this part of the link speed equally: `rate_cap_bps` of each, in wire bytes. 0: none starts"),
        "flows": yes("below"),
    },
    "Rocev2.Flow": {
        "tx_endpoint": yes("a QP of the port; the QP of one flow only. With a peer at 0.0.0.0 or :: and no rx_endpoint, it only receives, and the flow is ignored with a warning"),
        "rx_endpoint": yes("a QP of a port of this configuration, which answers. Without it, or with a port: a QP of an interface with the address of tx_endpoint's "
                           "peer. It is the QP at the same place in the list of its peer, or the next one without a flow. If there is none, it is a new QP with "
                           "the number of tx_endpoint, if that number is free. "
                           "Where both ends of a pair send, each flow has such a QP of its own"),
        "name": yes(NAME + ", but for that of tx_endpoint"),
        "rocev2_verb": yes("`verb`"),
        "message_size": yes("`message_bytes`; at most 2 GiB with its unit"),
        "message_size_unit": yes("powers of 1000"),
    },
    "Rocev2.Verb": {
        "choice": yes("`verb`"),
        "write_with_immediate": yes("below"),
        "send_with_immediate": yes("below"),
    },
    "Rocev2.ImmediateData": {
        "immediate_data": yes("`imm_data`: 1 to 8 hexadecimal digits"),
    },
    "Rocev2.PerPortSettings": {
        "cnp": yes("below"),
        "connection_type": yes("below"),
        "dcqcn_settings": yes("below. Each property is the key of `[rp]` with `rp_profile = mlx`"),
    },
    "Rocev2.CNP": {
        "choice": yes(CHOICE),
        "ip_dscp": yes("`[np] np_cnp_dscp`"),
        "ecn_value": yes("`[np] np_cnp_ecn`", ce=CE),
        "cnp_delay_timer": yes("`[np] np_min_time_between_cnps_us` of each QP; 0: a CNP for each marked packet"),
    },
    "Rocev2.QPConnectionType": {
        "choice": yes("RC"),
        "reliable_connection": yes("below"),
    },
    "Rocev2.AckAndNak": {
        "ack": yes("below"),
        "nak": yes("must equal ack: quench-nic has one DSCP and one code point for both"),
        "enable_retransmission_timeout": yes("false: `[nic] local_ack_timeout = 0`"),
        "retransmission_timeout_value": yes("`[nic] local_ack_timeout`: InfiniBand's times are 4.096 us x 2^n, and the shortest that is at "
                                            "least the value is used: 1.05 ms for 1 ms. 0 is refused"),
        "retransmission_retry_count": yes("`[nic] retry_cnt`. InfiniBand's count has three bits, but no packet carries it here"),
    },
    "Rocev2.ACK": {
        "choice": yes(CHOICE),
        "ip_dscp": yes("`[nic] ack_dscp`"),
        "ecn_value": yes("`[nic] ack_ecn`", ce=CE),
    },
    "Rocev2.NAK": {
        "choice": yes(CHOICE),
        "ip_dscp": yes("`[nic] ack_dscp`"),
        "ecn_value": yes("`[nic] ack_ecn`", ce=CE),
    },
    "Rocev2.PriorityValue": {
        "value": yes("a DSCP"),
    },
    "Rocev2.DCQCN": {
        "enable_dcqcn": yes("`[nic] cc`: dcqcn or none"),
        "alpha_g": yes("`rp_dce_tcp_g`: weight of the old alpha, in 1/1024"),
        "initial_alpha": yes("`rp_initial_alpha_value`, in 1/1024"),
        "alpha_update_period": yes("`rp_dce_tcp_rtt_us`: 1 to 131071 us"),
        "rate_reduction_time_period": yes("`rp_rate_reduce_monitor_period_us`: 1 to 4294967295 us"),
        "initial_rate_after_first_cnp": yes("`rp_rate_to_set_on_first_cnp_bps`, as a share of the link speed; 0: the minimum rate"),
        "minimum_rate_limmit": yes("`rp_min_rate_bps`, as a share of the link speed, at least 1 b/s"),
        "maximum_rate_decrement_at_time": yes("`rp_min_dec_fac_pct` is what is left: 90 for 10"),
        "clamp_target_rate": yes("`rp_clamp_tgt_rate`"),
        "rate_increment_time": yes("`rp_time_reset_us`: 1 to 4294967295 us"),
        "rate_increment_byte_counter": yes("`rp_byte_reset_bytes`, in units of 64 bytes as in mlx5, whose default the schema's is"),
        "rate_increment_threshold": yes("`rp_threshold`"),
        "additive_increment_rate": yes("`rp_ai_rate_bps`, as a share of the link speed"),
        "hyper_increment_rate": yes("`rp_hai_rate_bps`, as a share of the link speed"),
    },
}

CONTROL: dict[str, Rows] = {
    "Config.Append": {},
    "Config.AppendResources": {
        "choice": yes(CHOICE),
        "flows": yes("raw flows with new names, stopped. Other flows go on. A port has room for 8 more than set_config had, if that had some, and for "
                     "frames as large as those of update_config; for more, its quench-nic starts again, which is refused while a flow of the port is started or its capture runs"),
    },
    "Config.Delete": {},
    "Config.DeleteResources": {
        "choice": yes(CHOICE),
        "flows": yes("names of raw flows. They stop; other flows go on"),
    },
    "Config.Update": {
        "choice": yes(CHOICE, protocols=NO_PROTOCOL),
        "flows": yes("below"),
        "protocols": no(NO_PROTOCOL),
    },
    "Flows.Update": {
        "property_names": yes("what changes: rate, size or both, of all flows at once. A flow that sends goes on"),
        "flows": yes("raw flows by name, with the new properties. Other properties may be there if they are those of the configuration"),
    },
    "Control.State": {
        "choice": yes(CHOICE),
        "port": yes("below"),
        "protocol": yes("below"),
        "traffic": yes("below"),
    },
    "State.Port": {
        "choice": yes(CHOICE),
        "link": yes("below"),
        "capture": yes("below"),
    },
    "State.Port.Link": {
        "port_names": yes("ports; none: all"),
        "state": yes("down: the interface of a net_af_packet device goes down (with CAP_NET_ADMIN; it comes up with up, and with the end of its quench-nic). "
                     "Of other devices, and without this right, the port's quench-nic ends, and with it the link of a virtual device; with up it starts again "
                     "with its configuration, and its counters begin again. Then QPs at both ends begin with their initial PSN, and started flows go on"),
    },
    "State.Port.Capture": {
        "port_names": yes("ports of captures; none: all of them"),
        "state": yes("start: a new capture, refused while one of the port runs; stop: gives a warning if frames are missing, with their number"),
    },
    "State.Protocol": {
        "choice": yes(CHOICE, **{name: NO_PROTOCOL for name in ("route", "lacp", "bgp", "isis", "ospfv2", "ospfv3")}),
        "all": yes("below"),
        **{name: no(NO_PROTOCOL) for name in ("route", "lacp", "bgp", "isis", "ospfv2", "ospfv3")},
        "rocev2": yes("below. The schema has no choice of this name; the object alone selects it"),
    },
    "State.Protocol.All": {
        "state": yes("stop: the QPs of all peers are removed and do not answer, and quench-nic does not resolve gateways and peers; "
                     "start: the QPs exist again, with their initial PSN"),
    },
    "State.Protocol.Rocev2": {
        "choice": yes(CHOICE),
        "peers": yes("below"),
    },
    "State.Protocol.Rocev2.Peers": {
        "peer_names": yes("peers; none: all"),
        "state": yes("as in `all`, for the flows of the QPs of these peers, at both ends"),
    },
    "State.Traffic": {
        "choice": yes(CHOICE),
        "flow_transmit": yes("below"),
    },
    "State.Traffic.FlowTransmit": {
        "flow_names": yes("flows; none: all"),
        "state": yes("start: counters of these flows begin again at 0, and those of ports that have no other flow; the flows begin with their first frame "
                     "or message. stop: RoCEv2 begins no more messages, and finishes those begun. pause: as stop, but raw flows keep their place, and "
                     "what is left of count and duration. resume: paused raw flows go on there, others begin, and counters go on"),
    },
}

MONITOR: dict[str, Rows] = {
    "Metrics.Request": {
        "choice": yes(CHOICE, lag="a port of quench-nic is one device", convergence="quench-otg records no events",
                      egress_only_tracking="quench-nic counts received packets by QP only",
                      **{name: NO_PROTOCOL for name in (
                          "bgpv4", "bgpv6", "isis", "lacp", "lldp", "rsvp", "dhcpv4_client", "dhcpv4_server", "dhcpv6_client",
                          "dhcpv6_server", "ospfv2", "macsec", "mka", "ospfv3", "bmp_server")}),
        "port": yes("below"),
        "flow": yes("below: raw flows"),
        "lag": no("a port of quench-nic is one device"),
        "convergence": no("quench-otg records no events"),
        "egress_only_tracking": no("quench-nic counts received packets by QP only"),
        **{name: no(NO_PROTOCOL) for name in (
            "bgpv4", "bgpv6", "isis", "lacp", "lldp", "rsvp", "dhcpv4_client", "dhcpv4_server", "dhcpv6_client", "dhcpv6_server",
            "ospfv2", "macsec", "mka", "ospfv3", "bmp_server")},
        "rocev2_ipv4": yes("below"),
        "rocev2_ipv6": yes("below"),
        "rocev2_flow": yes("below"),
    },
    "Flow.Metrics.Request": {
        "flow_names": yes("raw flows; none: all"),
        "metric_names": yes("properties of the reply; none: all that are carried"),
        "tagged_metrics": no(NO_TAGS),
    },
    "Port.Metrics.Request": {
        "port_names": yes("ports; none: all"),
        "column_names": yes("properties of the reply; none: all that are carried",
                            last_change="quench-nic keeps no time of day"),
    },
    "Rocev2IPv4.Metrics.Request": {"choice": yes(CHOICE), "per_peer": yes("below")},
    "Rocev2IPv4.ColumnNames": {
        "peer_names": yes("peers; none: all"),
        "column_names": yes("properties of the reply; none: all that are carried",
                            reject_rx="the schema's reply has no such property"),
    },
    "Rocev2IPv6.Metrics.Request": {"choice": yes(CHOICE), "per_peer": yes("below")},
    "Rocev2IPv6.ColumnNames": {
        "peer_names": yes("peers; none: all"),
        "column_names": yes("properties of the reply; none: all that are carried",
                            reject_rx="the schema's reply has no such property"),
    },
    "Rocev2Flow.Metrics.Request": {"choice": yes(CHOICE), "per_qp": yes("below")},
    "Rocev2Flow.ColumnNames": {
        "column_names": yes("properties of the reply; none: all that are carried",
                            first_timestamp="quench-nic keeps no time of day", last_timestamp="quench-nic keeps no time of day"),
    },
    "States.Request": {
        "choice": yes(CHOICE, **{name: NO_PROTOCOL for name in (
            "bgp_prefixes", "isis_lsps", "lldp_neighbors", "rsvp_lsps", "dhcpv4_interfaces", "dhcpv4_leases", "dhcpv6_interfaces",
            "dhcpv6_leases", "ospfv2_lsas", "ospfv3_lsas", "isis_adjacencies", "bmp_servers")}),
        "ipv4_neighbors": yes("below"),
        "ipv6_neighbors": yes("below"),
        **{name: no(NO_PROTOCOL) for name in (
            "bgp_prefixes", "isis_lsps", "lldp_neighbors", "rsvp_lsps", "dhcpv4_interfaces", "dhcpv4_leases", "dhcpv6_interfaces",
            "dhcpv6_leases", "ospfv2_lsas", "ospfv3_lsas", "isis_adjacencies", "bmp_servers")},
    },
    "Neighborsv4.States.Request": {"ethernet_names": yes("interfaces; none: all")},
    "Neighborsv6.States.Request": {"ethernet_names": yes("interfaces; none: all")},
    "Capture.Request": {
        "port_name": yes("a port whose capture was started. The capture ends; the reply has its frames, also a second time, until the next start or set_config"),
        "packets": yes("below"),
    },
    "CaptureRequest.Packets": {"choice": yes(CHOICE), "slice": yes("below")},
    "CaptureRequest.CaptureSlice": {"choice": yes(CHOICE), "initial": yes("below")},
    "CaptureRequest.CaptureSliceInitial": {
        "count": yes("frames at most"),
        "start": yes("number of the first frame, of those that overwrite left"),
    },
}

REPLIES: dict[str, Rows] = {
    "Metrics.Response": {
        "choice": yes(CHOICE, **{name: "refused in the request" for name in (
            "bgpv4_metrics", "bgpv6_metrics", "isis_metrics", "lag_metrics", "lacp_metrics", "lldp_metrics",
            "rsvp_metrics", "dhcpv4_client", "dhcpv4_server", "dhcpv6_client", "dhcpv6_server", "ospfv2_metrics",
            "convergence_metrics", "macsec_metrics", "mka_metrics", "ospfv3_metrics", "egress_only_tracking_metrics",
            "bmp_server_metrics")}),
        "port_metrics": yes("below"),
        "flow_metrics": yes("below"),
        **{name: no("refused in the request") for name in (
            "bgpv4_metrics", "bgpv6_metrics", "isis_metrics", "lag_metrics", "lacp_metrics", "lldp_metrics",
            "rsvp_metrics", "dhcpv4client_metrics", "dhcpv4server_metrics", "dhcpv6client_metrics", "dhcpv6server_metrics",
            "ospfv2_metrics", "convergence_metrics", "macsec_metrics", "mka_metrics", "ospfv3_metrics",
            "egress_only_tracking_metrics", "bmp_server_metrics")},
        "rocev2_ipv4_per_peer_metrics": yes("below"),
        "rocev2_ipv6_per_peer_metrics": yes("below"),
        "rocev2_flow_per_qp_metrics": yes("below"),
    },
    "Port.Metric": {
        "name": yes(NAME),
        "location": yes("location of the configuration"),
        "link": yes("link of the device; down also when the port's quench-nic has ended"),
        "capture": yes("started: a capture runs"),
        "frames_tx": yes("all frames of the NIC, pause frames included, but for those that the device took and then refused (its oerrors)"),
        "frames_rx": yes("all frames that the NIC accepted from the device"),
        "bytes_tx": yes("with FCS"),
        "bytes_rx": yes("with FCS"),
        "frames_tx_rate": yes("since the previous request of port metrics, if that is at least 0.1 s ago"),
        "frames_rx_rate": yes("as frames_tx_rate"),
        "bytes_tx_rate": yes("as frames_tx_rate"),
        "bytes_rx_rate": yes("as frames_tx_rate"),
        "transmit": yes("started: a flow of the port sends, or has frames left"),
        "last_change": no("quench-nic keeps no time of day"),
        "data_integrity": no("the ICRC covers RoCEv2"),
        "speed": yes("link_speed_bps in KB/s, as in the schema's examples"),
    },
    "Flow.Metric": {
        "name": yes(NAME),
        "port_tx": yes("tx_name"),
        "port_rx": yes("rx_name, or the first of rx_names or of the ports of devices; absent without"),
        "transmit": yes("started: frames are left of the last start; paused: by pause"),
        "frames_tx": yes("frames since the last start"),
        "frames_rx": yes("with metrics.enable: frames with the flow's signature since the last start, at all ports of rx_names, or without them at all ports; a "
                         "frame that arrives twice counts twice"),
        "bytes_tx": yes("with FCS"),
        "bytes_rx": yes("of frames_rx, with FCS"),
        "frames_tx_rate": yes("since the previous request of these metrics, if that is at least 0.1 s ago"),
        "frames_rx_rate": yes("as frames_tx_rate"),
        "loss": yes("with metrics.loss: frames that should have arrived and have not, in percent of those; also those that are on their way. "
                    "Duplicates do not compensate for lost frames"),
        "timestamps": yes("below"),
        "latency": yes("below"),
        "tagged_metrics": no(NO_TAGS),
        **{f"{way}_l1_rate_bps": yes("as frames_tx_rate, with preamble and gap") for way in ("tx", "rx")},
        **{f"{way}_rate_{unit}": yes(f"as frames_tx_rate, of bytes_{way}") for way in ("tx", "rx") for unit in ("bytes", "bps", "kbps", "mbps")},
        "packet_loss_duration": no("a loss has no duration that quench-nic knows"),
    },
    "Metric.Timestamp": {
        "first_timestamp_ns": yes("arrival of the first frame since the start, by the clock of the receiver's machine since it booted, in ns"),
        "last_timestamp_ns": yes("arrival of the last frame since the start, by the same clock"),
    },
    "Metric.Latency": {
        **{f"{what}_ns": yes("from when the sender's quench-nic gave the frame to its device until the receiver's one took it. It has a meaning if both are "
                             "on one machine") for what in ("minimum", "maximum", "average")},
    },
    **{f"Rocev2IPv{v}.Metric.PerPeer": {
        "name": yes(NAME),
        "qp_configured": yes("QPs of the peer"),
        "qp_up": yes("QPs that belong to a flow, know their peer's MAC address and have not given up"),
        "qp_down": yes("the other QPs"),
        **{name: yes(RDMA_CM) for name in (
            "connect_request_tx", "connect_request_rx", "connect_reply_tx", "connect_reply_rx", "ready_tx", "ready_rx",
            "disconnect_request_tx", "disconnect_request_rx", "disconnect_reply_tx", "disconnect_reply_rx", "reject_tx",
            "unknown_msg_rx")},
    } for v in (4, 6)},
    "Rocev2Flow.Metric.PerQP": {
        "flow_name": yes(NAME),
        "port_tx": yes("port of tx_endpoint"),
        "port_rx": yes("port of rx_endpoint"),
        "src_qp": yes("source_qp_number of tx_endpoint"),
        "dest_qp": yes("source_qp_number of rx_endpoint"),
        "src_ipv4": yes("address of tx_endpoint; absent with IPv6"),
        "dest_ipv4": yes("address of rx_endpoint; absent with IPv6"),
        "data_frames_tx": yes("packets of the end that sends the data (with READ: of rx_endpoint), retransmissions included"),
        "data_frames_rx": yes("packets that the other end received, accepted or not: also after a gap, and duplicates"),
        "frame_delta": yes("their difference; packets in flight are part of it"),
        "data_frames_retransmitted": yes("retransmissions among data_frames_tx"),
        "frame_sequence_error": yes("packets of requests that came after a gap, which the QP of rx_endpoint dropped; with READ, responses at tx_endpoint"),
        "tx_bytes": yes("of data_frames_tx, with FCS"),
        "rx_bytes": yes("of data_frames_rx, with FCS"),
        "data_tx_rate": yes("rate of tx_bytes in Gb/s, since the previous request of these metrics, if that is at least 0.1 s ago"),
        "data_rx_rate": yes("as data_tx_rate"),
        "message_tx": yes("messages complete at the end that sends the data: acknowledged, or with READ answered"),
        "message_complete_rx": yes("messages complete at the other end"),
        "message_fail": yes("messages in flight when tx_endpoint gave up, after which it begins no other one; it is in qp_down of its peer"),
        "flow_completion_time": yes("ms from the start of the flow to now, or to its stop"),
        "avg_latency": yes("round trips since the start of the flow, from a packet of tx_endpoint that asks for an ACK to this ACK, or from a READ request to its "
                           "first response; 0: none yet"),
        "min_latency": yes("of the same round trips, since the protocols of the QP started"),
        "max_latency": yes("as min_latency"),
        "ecn_ce_rx": yes("data packets received as CE"),
        "cnp_tx": yes("CNPs of the end that receives the data"),
        "cnp_rx": yes("CNPs that the end that sends the data received"),
        "ack_tx": yes("ACKs of rx_endpoint, which answers"),
        "ack_rx": yes("ACKs that tx_endpoint received"),
        "nak_tx": yes("NAKs of rx_endpoint, RNR NAKs included"),
        "nak_rx": yes("NAKs that tx_endpoint received"),
        "first_timestamp": no("quench-nic keeps no time of day"),
        "last_timestamp": no("quench-nic keeps no time of day"),
    },
    "States.Response": {
        "choice": yes(CHOICE, **{name: "refused in the request" for name in (
            "bgp_prefixes", "isis_lsps", "lldp_neighbors", "rsvp_lsps", "dhcpv4_interfaces", "dhcpv4_leases", "dhcpv6_interfaces",
            "dhcpv6_leases", "ospfv2_lsas", "ospfv3_lsas", "isis_adjacencies", "bmp_servers")}),
        "ipv4_neighbors": yes("below"),
        "ipv6_neighbors": yes("below"),
        **{name: no("refused in the request") for name in (
            "bgp_prefixes", "isis_lsps", "lldp_neighbors", "rsvp_lsps", "dhcpv4_interfaces", "dhcpv4_leases", "dhcpv6_interfaces",
            "dhcpv6_leases", "ospfv2_lsas", "ospfv3_lsas", "isis_adjacencies", "bmp_servers")},
    },
    "Neighborsv4.State": {
        "ethernet_name": yes(NAME),
        "ipv4_address": yes("the gateway, and peers of RoCEv2 in the prefix"),
        "link_layer_address": yes("MAC address from the configuration, or as resolved. quench-nic asks for it from the start of protocols on, also without flows. "
                                  "Absent: no answer yet"),
    },
    "Neighborsv6.State": {
        "ethernet_name": yes(NAME),
        "ipv6_address": yes("the gateway, and peers of RoCEv2 in the prefix"),
        "link_layer_address": yes("MAC address from the configuration, or as resolved. quench-nic asks for it from the start of protocols on, also without flows. "
                                  "Absent: no answer yet"),
    },
    "Version": {
        "api_spec_version": yes("version of the schema"),
        "sdk_version": yes("that of quench, which needs none"),
        "app_version": yes("version of quench"),
    },
    "Warning": {"warnings": yes("a line each")},
    "Error": {
        "code": yes("HTTP status"),
        "kind": yes("validation: the request; internal: a quench-nic"),
        "errors": yes("a line each, with the path of the property, the value and what was expected"),
    },
}

# Fields of headers, with what each pattern has beyond values and counters.
PATTERNS: dict[str, tuple[str, ...]] = {
    **{f"Ethernet.{name}": more for name, more in (("Dst", ("auto",)), ("Src", ()), ("EtherType", ("auto",)), ("PfcQueue", ()))},
    **{f"Vlan.{name}": () for name in ("Priority", "Cfi", "Id", "Tpid")},
    **{f"Ipv4.{name}": ("auto",) for name in ("HeaderLength", "TotalLength", "Protocol")},
    **{f"Ipv4.{name}": () for name in ("Version", "Identification", "Reserved", "DontFragment", "MoreFragments", "FragmentOffset", "TimeToLive",
                                       "Priority.Raw", "Dscp.Phb", "Dscp.Ecn", "Tos.Precedence", "Tos.Delay", "Tos.Throughput",
                                       "Tos.Reliability", "Tos.Monetary", "Tos.Unused")},
    **{f"Ipv4.{name}": ("dhcp", "random") for name in ("Src", "Dst")},
    **{f"Ipv6.{name}": ("auto",) for name in ("PayloadLength", "NextHeader")},
    **{f"Ipv6.{name}": () for name in ("Version", "TrafficClass", "HopLimit")},
    "Ipv6.FlowLabel": ("random",),
    **{f"Ipv6.{name}": ("dhcp",) for name in ("Src", "Dst")},
    **{f"{kind}.{name}": ("random",) for kind in ("Udp", "Tcp") for name in ("SrcPort", "DstPort")},
    **{f"Tcp.{name}": () for name in ("SeqNum", "AckNum", "DataOffset", "EcnNs", "EcnCwr", "EcnEcho", "CtlUrg", "CtlAck", "CtlPsh", "CtlRst", "CtlSyn", "CtlFin",
                                      "Window")},
    **{f"{kind}.Echo.{name}": () for kind in ("Icmp", "Icmpv6") for name in ("Type", "Code", "Identifier", "SequenceNumber")},
    **{f"Arp.{name}": () for name in ("HardwareType", "ProtocolType", "HardwareLength", "ProtocolLength", "Operation", "SenderHardwareAddr",
                                      "SenderProtocolAddr", "TargetHardwareAddr", "TargetProtocolAddr")},
    **{f"Vxlan.{name}": () for name in ("Flags", "Reserved0", "Reserved1")}, "Vxlan.Vni": ("auto",),
    **{f"Mpls.{name}": ("auto",) for name in ("Label", "BottomOfStack")}, **{f"Mpls.{name}": () for name in ("TrafficClass", "TimeToLive")},
    "Udp.Length": (),
    **{f"PfcPause.{name}": () for name in ("Dst", "Src", "EtherType", "ControlOpCode", "ClassEnableVector", *(f"PauseClass{n}" for n in range(8)))},
    **{f"EthernetPause.{name}": () for name in ("Dst", "Src", "EtherType", "ControlOpCode", "Time")},
}
DHCP = "quench-otg speaks no DHCP"


def pattern_rows(name: str, more: tuple[str, ...]) -> dict[str, Rows]:
    refused = {"auto": DHCP} if "dhcp" in more else {}
    rows = {
        "choice": yes(CHOICE, **refused),
        "value": yes("the value"),
        "values": yes("in turn; at most 1024 of all fields of a flow, with 8191 characters in all"),
        "increment": yes("below"),
        "decrement": yes("below"),
        "metric_tags": no(NO_TAGS),
        **{key: no(why) for key, why in refused.items()},
    }
    if "auto" in more:
        rows["auto"] = yes("quench-otg computes the value from the headers and the length of the frame. The value itself must be the schema's default, or the "
                           "computed one")
    random: dict[str, Rows] = {}
    if "random" in more:
        rows["random"] = yes("below")
        random[f"Pattern.Flow.{name}.Random"] = {
            "min": yes("the lowest value"), "max": yes("the highest value"), "count": yes("number of values, after which the first one follows; 0 is refused"),
            "seed": yes("selects the values; 0: other values with each set_config")}
    return {**random, f"Pattern.Flow.{name}": rows, f"Pattern.Flow.{name}.Counter": {
        "start": yes("value of the first frame"),
        "step": yes("added, or taken away, from frame to frame, modulo the width of the field"),
        "count": yes("number of values, after which the first one follows; 0 is refused"),
    }}


GAP = yes("the least gap; above 12, it limits the rate")
GAPS: Rows = {
    "gap": GAP,
    "delay": yes("below"),
}
TIMES: Rows = {
    "choice": yes(CHOICE),
    "bytes": yes("the time of these bytes at the link speed"),
    "nanoseconds": yes("at most a day; 0: none"),
    "microseconds": yes("as nanoseconds"),
}
CHECKSUM: Rows = {
    "choice": yes(CHOICE),
    "generated": yes("`checksums`. good: over IPv4 UDP has one too; after neither ipv4 nor ipv6, UDP and TCP have 0. bad: another number"),
    "custom": yes("the value"),
}

RAW_FLOWS: dict[str, Rows] = {
    "Flow": {
        "tx_rx": yes("below"),
        "packet": yes("headers of a frame, at most 192 bytes; zeros follow, and with metrics.enable a signature at the end"),
        "egress_packet": no(NO_TAGS),
        "size": yes("below"),
        "rate": yes("below"),
        "duration": yes("below"),
        "metrics": yes("below"),
        "name": yes(NAME),
        "payload": no("zeros follow the headers; custom adds bytes"),
    },
    "Flow.TxRx": {
        "choice": yes(CHOICE),
        "port": yes("below; required, unless device is chosen"),
        "device": yes("below"),
    },
    "Flow.Port": {
        "tx_name": yes("the port that sends"),
        "rx_name": yes("a port of the configuration, where the frames are counted"),
        "rx_names": yes("ports of the configuration, where the frames are counted; none: all ports. Not together with another rx_name"),
    },
    "Flow.Router": {
        "mode": yes("pairs of devices. For each pair, auto of the first header's dst has a value, in turn. Other fields are as they are given"),
        "tx_names": yes("Ethernet, IPv4 or IPv6 interfaces of devices, all of one port"),
        "rx_names": yes("interfaces of devices"),
        "bidirectional": yes("false; true is refused: a flow is sent by one port"),
    },
    "Flow.Header": {
        "choice": yes(CHOICE, **{name: NO_HEADER for name in (
            "gre", "gtpv1", "gtpv2", "ppp", "igmpv1", "snmpv2c", "rsvp", "macsec", "lacp",
            "ipv6_extension_header", "cfm")}),
        **{name: yes("below") for name in (
            "custom", "ethernet", "vlan", "mpls", "arp", "ipv4", "ipv6", "pfcpause", "ethernetpause", "udp", "tcp", "icmp", "icmpv6", "vxlan")},
        **{name: no(NO_HEADER) for name in (
            "gre", "gtpv1", "gtpv2", "ppp", "igmpv1", "snmpv2c", "rsvp", "macsec", "lacp",
            "ipv6_extension_header", "cfm")},
    },
    "Flow.Custom": {
        "bytes": yes("the bytes, such as those of RoCEv2's headers after udp"),
        "metric_tags": no(NO_TAGS),
    },
    "Flow.Ethernet": {
        "dst": yes("auto: the address of the first interface at rx_name, 00:00:00:00:00:00 without one. Of tx_rx.device: of the receiving device, or of the "
                   "gateway to it: its gateway_mac, a device with this address, or as resolved when the flow starts"),
        "src": yes("below"),
        "ether_type": yes("below"),
        "pfc_queue": yes("the flow waits while a pause of this priority stops its queue (layer1.flow_control); a value, 0 without it"),
    },
    "Flow.Vlan": {
        **{name: yes("below") for name in ("priority", "cfi", "id")},
        "tpid": yes("0x8100, which is the ether_type of the header before, if that is auto; absent: the same"),
    },
    "Flow.Ipv4": {
        **{name: yes("below") for name in (
            "version", "header_length", "priority", "total_length", "identification", "reserved", "dont_fragment", "more_fragments",
            "fragment_offset", "time_to_live", "protocol", "header_checksum", "src", "dst")},
        "options": no("custom after the header adds bytes"),
    },
    "Flow.Ipv4.Priority": {"choice": yes(CHOICE), "raw": yes("below"), "tos": yes("below"), "dscp": yes("below")},
    "Flow.Ipv4.Tos": {name: yes("below") for name in ("precedence", "delay", "throughput", "reliability", "monetary", "unused")},
    "Flow.Ipv4.Dscp": {"phb": yes("below"), "ecn": yes("below")},
    "Flow.Ipv6": {
        **{name: yes("below") for name in (
            "version", "traffic_class", "flow_label", "payload_length", "next_header", "hop_limit", "src", "dst")},
        "dst_usids": no("a value of dst has all bits"),
    },
    "Flow.Udp": {
        "src_port": yes("below"),
        "dst_port": yes("below"),
        "length": yes("absent: that of the rest of the frame"),
        "checksum": yes("below"),
    },
    "Flow.Tcp": {
        **{name: yes("below") for name in ("src_port", "dst_port", "seq_num", "ack_num", "ecn_ns", "ecn_cwr", "ecn_echo", "ctl_urg", "ctl_ack", "ctl_psh",
                                           "ctl_rst", "ctl_syn", "ctl_fin", "window", "checksum")},
        "data_offset": yes("absent: 5, the header's length, and not the schema's 0"),
    },
    **{f"Flow.{kind}": {"choice": yes(CHOICE), "echo": yes("below")} for kind in ("Icmp", "Icmpv6")},
    **{f"Flow.{kind}.Echo": {name: yes("below") for name in ("type", "code", "checksum", "identifier", "sequence_number")} for kind in ("Icmp", "Icmpv6")},
    "Flow.Arp": {name: yes("below") for name in (
        "hardware_type", "protocol_type", "hardware_length", "protocol_length", "operation", "sender_hardware_addr", "sender_protocol_addr",
        "target_hardware_addr", "target_protocol_addr")},
    "Flow.Vxlan": {name: yes("below; ethernet may follow this header. The last 4 bytes of its frame are padding in place of an FCS: no inner length or checksum includes them") for name in ("flags", "reserved0", "vni", "reserved1")},
    "Flow.Mpls": {name: yes("below") for name in ("label", "traffic_class", "bottom_of_stack", "time_to_live")},
    "Flow.PfcPause": {name: yes("below") for name in (
        "dst", "src", "ether_type", "control_op_code", "class_enable_vector", *(f"pause_class_{n}" for n in range(8)))},
    "Flow.EthernetPause": {name: yes("below") for name in ("dst", "src", "ether_type", "control_op_code", "time")},
    "Flow.Size": {
        "choice": yes(CHOICE),
        "fixed": yes("`frame_bytes`, with FCS: 64 to 9216, and room for the headers. update_config: at most 1518, or the largest size of the port at "
                     "set_config"),
        "increment": yes("below"),
        "random": yes("below"),
        "weight_pairs": yes("below"),
    },
    "Flow.SizeIncrement": {name: yes("`sizes`: from start up to at most end, and again from start") for name in ("start", "end", "step")},
    "Flow.SizeRandom": {name: yes("`sizes`: random, but the same sequence in each run") for name in ("min", "max")},
    "Flow.SizeWeightPairs": {
        "choice": yes(CHOICE),
        "predefined": yes("sizes below 64 are sent with 64"),
        "custom": yes("at most 16 pairs"),
    },
    "Flow.SizeWeightPairs.Custom": {"size": yes("64 to 9216"), "weight": yes("rounded to 1/10000 of the sum of all weights")},
    "Flow.Rate": {
        "choice": yes(CHOICE),
        "pps": yes("frames a second, independent of their sizes"),
        **{name: yes("rate of frame bytes; with several sizes, the average") for name in ("bps", "kbps", "mbps", "gbps")},
        "percentage": yes("of the link speed, with preamble and gap; 0: the flow sends nothing. Flows of a port that ask for more than its speed give a warning"),
    },
    "Flow.Duration": {
        "choice": yes(CHOICE),
        **{name: yes("below") for name in ("fixed_packets", "fixed_seconds", "burst", "continuous")},
    },
    "Flow.FixedPackets": {"packets": yes("`count`, after each start"), **GAPS},
    "Flow.FixedSeconds": {"seconds": yes("`duration_ns`, after each start and its delay; at most 86400, and 0 is refused"), **GAPS},
    "Flow.Burst": {
        "bursts": yes("0: bursts follow each other without end"),
        "packets": yes("`burst_packets`, at the rate of the flow"),
        "gap": GAP,
        "inter_burst_gap": yes("`burst_gap_ns`"),
    },
    "Flow.Continuous": GAPS,
    "Flow.Delay": TIMES,
    "Flow.Duration.InterBurstGap": TIMES,
    "Flow.Metrics": {
        "enable": yes("true: each frame ends with a signature of 16 bytes, by which it is counted where it arrives. A frame with room for 6 to 15 bytes has "
                      "a short one, without latency; with less room, the flow is refused. Metrics of the sender do not need a signature"),
        "loss": yes("true: `loss` is part of the metrics"),
        "rx_tx_ratio": yes("below"),
        "timestamps": yes("true: `timestamps` are part of the metrics"),
        "latency": yes("below"),
        "predefined_metric_tags": no(NO_TAGS),
    },
    "Flow.RxTxRatio": {"choice": yes(CHOICE), "rx_count": yes("each of rx_names gets a copy"), "value": yes("frames for each frame sent, for `loss`")},
    "Flow.RxTxRatio.RxCount": {},
    "Flow.Latency.Metrics": {
        "enable": yes("true: `latency` is part of the metrics"),
        "mode": yes("store_forward: without the time of the frame at the receiver's link speed; cut_through: with it"),
    },
    **{kind: rows for name, more in PATTERNS.items() for kind, rows in pattern_rows(name, more).items()},
    **{f"Pattern.Flow.{name}": CHECKSUM for name in ("Ipv4.HeaderChecksum", "Udp.Checksum", "Tcp.Checksum", "Icmp.Echo.Checksum", "Icmpv6.Echo.Checksum")},
}

TABLE: dict[str, Rows] = {**CONFIG, **ROCEV2, **RAW_FLOWS, **CONTROL, **MONITOR, **REPLIES}
PARTS = (("Configuration", CONFIG), ("RoCEv2", ROCEV2), ("Raw flows", RAW_FLOWS), ("Control", CONTROL), ("Requests of results", MONITOR), ("Replies", REPLIES))
