/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/params/sw_counters.h"

#include "base/numbers/array.h"
#include "fwd/fdb_params.h"

/* clang-format off */
#define C(m, text) COUNTER_FIELD(struct sw_port_stats, m, text)
const struct counter_field sw_port_counter_fields[] = {
	C(rx_packets, "frames received, without MAC control"),
	C(rx_bytes, "bytes of rx_packets, with FCS"),
	C(tx_packets, "frames sent, without MAC control"),
	C(tx_bytes, "bytes of tx_packets, with FCS"),
	C(rx_pause_frames, "PFC frames received, for any priority"),
	C(tx_pause_frames, "PFC frames sent"),
	C(rx_global_pause_frames, "802.3x pause frames received"),
	C(tx_global_pause_frames, "802.3x pause frames sent"),
	C(pause_no_mbuf, "pause frames that had to wait for an mbuf"),
	C(int_hops_added, "frames to whose INT header the port added a hop"),
	C(int_no_room, "frames whose INT header had no free slot"),
	C(int_malformed, "frames with a malformed INT header, passed on as they are"),
	C(int_no_mbuf, "frames passed on without a hop because no mbuf was free for a copy"),
};
#undef C
const unsigned int sw_port_counter_fields_n = ARRAY_LEN(sw_port_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_queue_stats, m, text)
const struct counter_field sw_queue_counter_fields[] = {
	C(tx_packets, "frames sent from the queue"),
	C(tx_bytes, "bytes of tx_packets, with FCS"),
	C(ecn_marked_packets, "ECT frames turned into CE"),
	C(ecn_marked_bytes, "bytes of ecn_marked_packets, with FCS"),
	C(ecn_mark_no_mbuf_packets, "frames not marked because no mbuf was free for a copy"),
	C(ecn_not_ect_packets,
	  "frames that were chosen for marking, but are Not-ECT: sent on without a mark"),
	C(ce_in_packets, "frames that had CE when they entered the queue"),
	C(drop_packets, "frames dropped on the egress side"),
	C(drop_bytes, "bytes of drop_packets, with FCS"),
	C(wred_drop_packets, "frames of drop_packets that WRED dropped; the others were refused"),
	C(wred_drop_bytes, "bytes of wred_drop_packets, with FCS"),
};
#undef C
const unsigned int sw_queue_counter_fields_n = ARRAY_LEN(sw_queue_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_pg_stats, m, text)
const struct counter_field sw_pg_counter_fields[] = {
	C(rx_packets, "frames of the group for which the switch found an egress port"),
	C(rx_bytes, "bytes of rx_packets, with FCS"),
	C(drop_packets, "frames refused by the ingress side of the buffer"),
};
#undef C
const unsigned int sw_pg_counter_fields_n = ARRAY_LEN(sw_pg_counter_fields);

#define DROP(d, word, text) [SW_DROP_##d] = {word, text, offsetof(struct sw_port_stats, drops[SW_DROP_##d])}
const struct counter_field sw_drop_counter_fields[SW_DROPS] = {
	DROP(MALFORMED, "malformed", "Ethernet or IP header malformed; other counters have the "
				     "kind of error"),
	DROP(MAC_CONTROL_MALFORMED, "mac_control_malformed", "MAC Control frame too short"),
	DROP(MAC_CONTROL_UNKNOWN, "mac_control_unknown",
	     "MAC Control frame that is tagged, or whose opcode is neither PFC nor PAUSE"),
	DROP(MAC_CONTROL_ADDRESS, "mac_control_address",
	     "MAC Control frame sent neither to 01:80:C2:00:00:01 nor to the port's address"),
	DROP(RESERVED_ADDRESS, "reserved_address", "destination 01:80:C2:00:00:0X, which a "
						   "switch never forwards"),
	DROP(BAD_SOURCE, "bad_source", "source is a group address"),
	DROP(SAME_PORT, "same_port", "destination is on the ingress port, or there is no other "
				     "port"),
	DROP(NOT_FOR_ROUTER, "not_for_router",
	     "destination is not the router's address, on a port that is alone in its interface"),
	DROP(VLAN_TAG_NOT_ALLOWED, "vlan_tag_not_allowed",
	     "frame without a tag, or with a priority tag, on a port with access_vlan = 0"),
	DROP(INGRESS_VLAN_FILTER, "ingress_vlan_filter", "ingress port is not in the frame's "
							 "VLAN"),
	DROP(LPM4_MISS, "lpm4_miss", "no route to the IPv4 destination"),
	DROP(LPM6_MISS, "lpm6_miss", "no route to the IPv6 destination"),
	DROP(BLACKHOLE_ROUTE, "blackhole_route", "route to the destination drops all its traffic"),
	DROP(NON_ROUTABLE, "non_routable", "not an IP packet, or destination that is never "
					   "routed"),
	DROP(NON_ROUTABLE_SOURCE, "non_routable_source",
	     "source is a group, loopback, unspecified or link-local address"),
	DROP(TTL, "ttl", "TTL or hop limit of 1 or 0"),
	DROP(UNRESOLVED_NEXT_HOP, "unresolved_next_hop", "MAC address of the next hop is unknown"),
	DROP(IP2ME, "ip2me", "sent to an address of the router with a protocol that it does not "
			     "answer"),
	DROP(NEIGH_MALFORMED, "neigh_malformed", "invalid ARP or neighbour discovery message"),
	DROP(STORM_BROADCAST, "storm_broadcast", "above the port's storm-control rate for "
						 "broadcast"),
	DROP(STORM_MULTICAST, "storm_multicast", "above the port's storm-control rate for "
						 "multicast"),
	DROP(STORM_UNKNOWN_UNICAST, "storm_unknown_unicast", "above the port's storm-control "
							     "rate for unknown unicast"),
	DROP(OVERSIZE, "oversize", "longer than max_frame_bytes, or in several mbuf segments"),
	DROP(MTU, "mtu", "longer than mtu_bytes of its class"),
	DROP(PG_LIMIT, "pg_limit", "a lossy priority group was at its limit"),
	DROP(NO_HEADROOM, "no_headroom", "a lossless priority group's headroom was full"),
	DROP(POOL, "pool", "the pool was full"),
	DROP(PACKET_MEMORY, "packet_memory",
	     "a lossy priority group was at its limit of mbufs, because of many short frames"),
	DROP(QUEUE_LIMIT, "queue_limit", "an egress queue was at its limit"),
	DROP(WRED, "wred", "dropped by WRED of an egress queue, because the frame is not ECT or "
			   "ecn is ecn_none"),
	DROP(NO_MBUF, "no_mbuf", "no mbuf for a copy, for a changed header or tag, or for a "
				      "frame that the switch generates"),
	DROP(RESTART, "restart", "frames that the switch held when it lost power (lab)"),
	DROP(LINK_DOWN, "link_down", "the egress port has no link"),
	DROP(SHUTDOWN, "shutdown", "received by a port with shutdown = on, or to be sent by it"),
	DROP(PFC_WATCHDOG, "pfc_watchdog", "pause storm on the queue or group, and the PFC "
					   "watchdog's action is drop"),
	DROP(CONTROL_BUSY, "control_busy", "LLDP frames that are too long, or that arrived "
					   "faster than the switch processes them"),
};
#undef DROP

/* frame_verdict_name()'s words. */
#define C(v, word, text) {word, text, offsetof(struct sw_port_stats, malformed[FRAME_##v])}
const struct counter_field sw_malformed_counter_fields[] = {
	C(TRUNCATED_ETH, "truncated_eth", "frame shorter than an Ethernet header"),
	C(TRUNCATED_VLAN, "truncated_vlan", "frame ends within the VLAN tag"),
	C(TRUNCATED_IP, "truncated_ip", "frame ends within the IP header"),
	C(BAD_IP_VERSION, "bad_ip_version", "IP version and EtherType do not agree"),
	C(BAD_IP_HEADER_LENGTH, "bad_ip_header_length", "IPv4 header length below 20 bytes"),
	C(BAD_IP_LENGTH, "bad_ip_length", "IP length below that of the header, or beyond the "
					  "frame"),
	C(BAD_IP_CHECKSUM, "bad_ip_checksum", "IPv4 header checksum wrong"),
};
#undef C
const unsigned int sw_malformed_counter_fields_n = ARRAY_LEN(sw_malformed_counter_fields);
_Static_assert(ARRAY_LEN(sw_malformed_counter_fields) == FRAME_VERDICTS - 1, "a verdict without a counter");

#define C(m, text) COUNTER_FIELD(struct sw_router_stats, m, text)
#define NEIGH(m, text) {#m, text, offsetof(struct sw_router_stats, neigh.m)}
#define CLAIM(m, text) {#m, text, offsetof(struct sw_router_stats, claims.m)}
const struct counter_field sw_router_counter_fields[] = {
	C(routed_packets, "frames routed"),
	C(ecmp_moved_packets, "frames routed to another next hop because their own has no link "
			      "or does not answer"),
	C(neigh_requests_sent, "ARP requests and neighbour solicitations sent"),
	C(neigh_requests_answered, "ARP requests and neighbour solicitations for the router's "
				   "addresses answered"),
	C(echo_requests_answered, "echo requests answered"),
	C(icmp_errors_sent, "ICMP and ICMPv6 errors sent: time exceeded, packet too big"),
	C(icmp_errors_limited, "ICMP errors not sent because of icmp_errors_per_s"),
	C(icmp_errors_unresolved, "ICMP errors not sent: the next hop to the frame's source is not "
				  "known, or its interface has no address of this IP version"),
	NEIGH(neigh_learnt, "neighbours' addresses learnt for the first time"),
	NEIGH(neigh_changed, "times that a neighbour's MAC address changed"),
	NEIGH(neigh_contested, "ARP and neighbour discovery messages with another MAC address than a "
			       "neighbour's known one, which was asked first"),
	NEIGH(neigh_failed, "times that a neighbour did not answer"),
	CLAIM(neigh_displaced, "unused neighbours removed from a full table for new ones"),
	CLAIM(neigh_table_full, "frames whose next hop was refused: its interface has used its "
				"share of the neighbour table"),
	CLAIM(neigh_unresolved_full, "frames whose next hop was refused: their port waits for "
				     "answers of too many next hops"),
	C(neigh_no_mbuf, "ARP requests, neighbour solicitations and ICMP errors not sent for lack of an mbuf"),
	C(neigh_news_lost, "neighbour updates lost because the ring to another shard was full"),
};
#undef C
#undef NEIGH
#undef CLAIM
const unsigned int sw_router_counter_fields_n = ARRAY_LEN(sw_router_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_interface_stats, m, text)
const struct counter_field sw_interface_counter_fields[] = {
	C(in_packets, "frames to the router's address"),
	C(in_octets, "bytes of in_packets, with FCS"),
	C(in_error_packets, "frames of in_packets that the router dropped"),
	C(out_packets, "frames routed to the interface, and answers of the router"),
	C(out_octets, "bytes of out_packets, with FCS"),
};
#undef C
const unsigned int sw_interface_counter_fields_n = ARRAY_LEN(sw_interface_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_hop_stats, m, text)
const struct counter_field sw_hop_counter_fields[] = {
	C(out_packets, "frames routed to the next hop, by any of its routes"),
	C(out_octets, "bytes of out_packets, with FCS"),
};
#undef C
const unsigned int sw_hop_counter_fields_n = ARRAY_LEN(sw_hop_counter_fields);

#define C(m, text) COUNTER_FIELD(struct fdb_stats, m, text)
const struct counter_field sw_fdb_counter_fields[] = {
	C(learned, "addresses learned, including those learned again after ageing"),
	C(moved, "addresses that moved to another port"),
	C(aged, "addresses forgotten"),
	C(displaced, "addresses removed from a full table for a new address"),
	C(learn_failures, "frames whose source address was not learned: the table is full"),
	C(learn_limited, "frames whose source address was not learned: max_learned_addresses of "
			 "the port is reached"),
	C(learn_busy, "frames whose source address was not learned: another lcore was writing to "
		      "the table"),
	C(static_kept, "frames whose source is a static address of another port"),
};
#undef C
const unsigned int sw_fdb_counter_fields_n = ARRAY_LEN(sw_fdb_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_ledger, m, text)
const struct counter_field sw_ledger_counter_fields[] = {
	C(in, "charged bytes received"),
	C(copies, "charged bytes of the copies of flooded frames, without the first copy"),
	C(generated, "charged bytes of frames that the switch generated, such as pause frames"),
	C(sent, "charged bytes sent"),
	C(dropped, "charged bytes dropped"),
	C(consumed, "charged bytes of frames that the switch consumed, such as pause frames"),
};
#undef C
/* clang-format on */
const unsigned int sw_ledger_counter_fields_n = ARRAY_LEN(sw_ledger_counter_fields);

const char *
sw_drop_name(enum sw_drop d)
{
	return (unsigned int)d < SW_DROPS ? sw_drop_counter_fields[d].name : "unknown";
}
