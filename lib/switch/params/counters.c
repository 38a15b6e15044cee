/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/params/counters.h"

#include "base/array.h"
#include "fwd/fdb.h"

/* clang-format off */
#define C(m, text) COUNTER_FIELD(struct sw_port_stats, m, text)
const struct counter_field sw_port_counter_fields[] = {
	C(rx_packets, "frames received, without MAC control"),
	C(rx_bytes, "of them bytes with FCS"),
	C(tx_packets, "frames sent, without MAC control"),
	C(tx_bytes, "of them bytes with FCS"),
	C(rx_pause_frames, "PFC frames received, whatever their priorities"),
	C(tx_pause_frames, "PFC frames sent"),
	C(rx_global_pause_frames, "802.3x pause frames received"),
	C(tx_global_pause_frames, "802.3x pause frames sent"),
	C(pause_no_mbuf, "pause frames that had to wait for an mbuf"),
};
#undef C
const unsigned int sw_port_counter_fields_n = ARRAY_LEN(sw_port_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_queue_stats, m, text)
const struct counter_field sw_queue_counter_fields[] = {
	C(tx_packets, "frames sent from the queue"),
	C(tx_bytes, "of them bytes with FCS"),
	C(ecn_marked_packets, "ECT frames turned into CE"),
	C(ecn_mark_no_mbuf_packets, "frames that should have been marked, but no copy could be had"),
	C(drop_packets, "frames dropped on the egress side"),
};
#undef C
const unsigned int sw_queue_counter_fields_n = ARRAY_LEN(sw_queue_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_pg_stats, m, text)
const struct counter_field sw_pg_counter_fields[] = {
	C(rx_packets, "frames of the group that were forwarded"),
	C(rx_bytes, "of them bytes with FCS"),
	C(drop_packets, "frames refused by the ingress side of the buffer"),
};
#undef C
const unsigned int sw_pg_counter_fields_n = ARRAY_LEN(sw_pg_counter_fields);

#define DROP(d, word, text) [SW_DROP_##d] = {word, text, offsetof(struct sw_port_stats, drops[SW_DROP_##d])}
const struct counter_field sw_drop_counter_fields[SW_DROPS] = {
	DROP(MALFORMED, "malformed", "Ethernet or IP header malformed; by kind in malformed"),
	DROP(MAC_CONTROL_MALFORMED, "mac_control_malformed", "MAC Control frame too short"),
	DROP(MAC_CONTROL_UNKNOWN, "mac_control_unknown",
	     "MAC Control opcode neither PFC nor PAUSE, or in a tagged frame"),
	DROP(MAC_CONTROL_ADDRESS, "mac_control_address",
	     "MAC Control neither to 01:80:C2:00:00:01 nor to the port's own address"),
	DROP(RESERVED_ADDRESS, "reserved_address", "to 01:80:C2:00:00:0X, which is never forwarded"),
	DROP(BAD_SOURCE, "bad_source", "group bit in the source address"),
	DROP(SAME_PORT, "same_port", "to where the frame came from, or there is no other port"),
	DROP(VLAN_TAG_NOT_ALLOWED, "vlan_tag_not_allowed", "untagged, on a port without access VLAN"),
	DROP(INGRESS_VLAN_FILTER, "ingress_vlan_filter", "of a VLAN that its port is not in"),
	DROP(LPM4_MISS, "lpm4_miss", "IPv4 without a route"),
	DROP(LPM6_MISS, "lpm6_miss", "IPv6 without a route"),
	DROP(BLACKHOLE_ROUTE, "blackhole_route", "by a route that says so"),
	DROP(NON_ROUTABLE, "non_routable", "no IP, or to an address that no router forwards to"),
	DROP(NON_ROUTABLE_SOURCE, "non_routable_source",
	     "from a group, loopback, unspecified or link-local address, which no router forwards"),
	DROP(TTL, "ttl", "1 or 0 hops left"),
	DROP(UNRESOLVED_NEXT_HOP, "unresolved_next_hop", "the next hop's MAC address is not known"),
	DROP(IP2ME, "ip2me", "to the router's own address, and nothing that it answers"),
	DROP(NEIGH_MALFORMED, "neigh_malformed", "ARP or neighbour discovery message not valid"),
	DROP(STORM_BROADCAST, "storm_broadcast", "beyond the port's rate of broadcast"),
	DROP(STORM_MULTICAST, "storm_multicast", "beyond the port's rate of multicast"),
	DROP(STORM_UNKNOWN_UNICAST, "storm_unknown_unicast", "beyond the port's rate of unknown unicast"),
	DROP(OVERSIZE, "oversize", "longer than max_frame_bytes, or in several segments"),
	DROP(MTU, "mtu", "longer than its class allows"),
	DROP(PG_LIMIT, "pg_limit", "a lossy priority group was at its limit"),
	DROP(NO_HEADROOM, "no_headroom", "a lossless priority group's headroom was full"),
	DROP(POOL, "pool", "the pool was full"),
	DROP(PACKET_MEMORY, "packet_memory",
	     "a lossy priority group had its share of packet buffers: many short frames"),
	DROP(QUEUE_LIMIT, "queue_limit", "an egress queue was at its limit"),
	DROP(WRED, "wred", "an egress queue's WRED, of frames without ECT"),
	DROP(NO_MBUF, "no_mbuf", "no mbuf for a copy"),
	DROP(RESTART, "restart", "waited in a switch that lost its power"),
	DROP(LINK_DOWN, "link_down", "the port that it waits for or is to leave by has no link"),
	DROP(PFC_WATCHDOG, "pfc_watchdog", "a storm, and the watchdog's action is drop"),
	DROP(CONTROL_BUSY, "control_busy", "LLDP faster than it is looked at"),
};
#undef DROP

/* frame_verdict_name()'s words. */
#define C(v, word, text) {word, text, offsetof(struct sw_port_stats, malformed[FRAME_##v])}
const struct counter_field sw_malformed_counter_fields[] = {
	C(TRUNCATED_ETH, "truncated_eth", "shorter than an Ethernet header"),
	C(TRUNCATED_VLAN, "truncated_vlan", "ends in the VLAN tag"),
	C(TRUNCATED_IP, "truncated_ip", "ends in the IP header"),
	C(BAD_IP_VERSION, "bad_ip_version", "IP version and EtherType do not agree"),
	C(BAD_IP_HEADER_LENGTH, "bad_ip_header_length", "IPv4 header length below 20 bytes"),
	C(BAD_IP_LENGTH, "bad_ip_length", "IP length below the header's or beyond the frame"),
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
	C(ecmp_moved_packets, "of them taken by another next hop than their own, which has no link or does not answer"),
	C(neigh_requests_sent, "ARP requests and neighbour solicitations sent"),
	C(neigh_requests_answered, "questions about the router's addresses answered"),
	C(echo_requests_answered, "echo requests answered"),
	NEIGH(neigh_learnt, "neighbours' addresses learnt for the first time"),
	NEIGH(neigh_changed, "neighbours' addresses that another one replaced"),
	NEIGH(neigh_failed, "times that a neighbour did not answer and was given up"),
	CLAIM(neigh_displaced, "neighbours that nobody used and that gave their place to another"),
	CLAIM(neigh_table_full, "frames whose neighbour found no place: its interface has its share of the table"),
	CLAIM(neigh_unresolved_full, "frames whose neighbour found no place: their port wants too many that do not answer"),
	C(neigh_no_mbuf, "questions for which there was no mbuf"),
	C(neigh_not_told, "what a neighbour said and another shard had no room for"),
};
#undef C
#undef NEIGH
#undef CLAIM
const unsigned int sw_router_counter_fields_n = ARRAY_LEN(sw_router_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_interface_stats, m, text)
const struct counter_field sw_interface_counter_fields[] = {
	C(in_packets, "frames to the router's address"),
	C(in_octets, "of them bytes with FCS"),
	C(in_error_packets, "of them dropped by the router"),
	C(out_packets, "frames routed to there, and answers of the router's"),
	C(out_octets, "of them bytes with FCS"),
};
#undef C
const unsigned int sw_interface_counter_fields_n = ARRAY_LEN(sw_interface_counter_fields);

#define C(m, text) COUNTER_FIELD(struct fdb_stats, m, text)
const struct counter_field sw_fdb_counter_fields[] = {
	C(learned, "new addresses, those relearned after ageing among them"),
	C(moved, "known addresses heard on another port"),
	C(aged, "addresses forgotten"),
	C(displaced, "addresses that gave their place in a full table to one of another port, or were not heard for long"),
	C(learn_failures, "frames whose source found no place in the table"),
	C(learn_limited, "frames whose source was beyond its port's max_learned_addresses"),
	C(learn_busy, "frames whose source was not learned: another lcore was writing"),
	C(static_kept, "frames from a static address on another port"),
};
#undef C
const unsigned int sw_fdb_counter_fields_n = ARRAY_LEN(sw_fdb_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_ledger, m, text)
const struct counter_field sw_ledger_counter_fields[] = {
	C(in, "charged bytes received"),
	C(copies, "of second and further copies of flooded frames"),
	C(generated, "of our own pause frames"),
	C(sent, "charged bytes sent"),
	C(dropped, "charged bytes dropped"),
	C(consumed, "charged bytes that ended here as they should"),
};
#undef C
/* clang-format on */
const unsigned int sw_ledger_counter_fields_n = ARRAY_LEN(sw_ledger_counter_fields);

const char *
sw_drop_name(enum sw_drop d)
{
	return (unsigned int)d < SW_DROPS ? sw_drop_counter_fields[d].name : "unknown";
}
