/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/sw_counters.h"

#include "switch/sw.h"

#define N(table) (sizeof(table) / sizeof((table)[0]))

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
const unsigned int sw_port_counter_fields_n = N(sw_port_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_queue_stats, m, text)
const struct counter_field sw_queue_counter_fields[] = {
	C(tx_packets, "frames sent from the queue"),
	C(tx_bytes, "of them bytes with FCS"),
	C(ecn_marked_packets, "ECT frames turned into CE"),
	C(ecn_mark_no_mbuf_packets, "frames that should have been marked, but no copy could be had"),
	C(drop_packets, "frames dropped on the egress side"),
};
#undef C
const unsigned int sw_queue_counter_fields_n = N(sw_queue_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_pg_stats, m, text)
const struct counter_field sw_pg_counter_fields[] = {
	C(rx_packets, "frames of the group that were forwarded"),
	C(rx_bytes, "of them bytes with FCS"),
	C(drop_packets, "frames refused by the ingress side of the buffer"),
};
#undef C
const unsigned int sw_pg_counter_fields_n = N(sw_pg_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_router_stats, m, text)
#define NEIGH(m, text) {#m, text, offsetof(struct sw_router_stats, neigh.m)}
const struct counter_field sw_router_counter_fields[] = {
	C(routed_packets, "frames routed"),
	C(neigh_requests_sent, "ARP requests and neighbour solicitations sent"),
	C(neigh_requests_answered, "questions about the router's addresses answered"),
	C(echo_requests_answered, "echo requests answered"),
	NEIGH(neigh_learnt, "neighbours' addresses learnt for the first time"),
	NEIGH(neigh_changed, "neighbours' addresses that another one replaced"),
	NEIGH(neigh_failed, "times that a neighbour did not answer and was given up"),
	C(neigh_table_full, "frames whose neighbour found no place in the table"),
	C(neigh_no_mbuf, "questions for which there was no mbuf"),
	C(neigh_not_told, "what a neighbour said and another shard had no room for"),
};
#undef C
#undef NEIGH
const unsigned int sw_router_counter_fields_n = N(sw_router_counter_fields);

#define C(m, text) COUNTER_FIELD(struct sw_interface_stats, m, text)
const struct counter_field sw_interface_counter_fields[] = {
	C(in_packets, "frames to the router's address"),
	C(in_octets, "of them bytes with FCS"),
	C(in_error_packets, "of them dropped by the router"),
	C(out_packets, "frames routed to there, and answers of the router's"),
	C(out_octets, "of them bytes with FCS"),
};
#undef C
const unsigned int sw_interface_counter_fields_n = N(sw_interface_counter_fields);

#define C(m, text) COUNTER_FIELD(struct fdb_stats, m, text)
const struct counter_field sw_fdb_counter_fields[] = {
	C(learned, "new addresses, those relearned after ageing among them"),
	C(moved, "known addresses heard on another port"),
	C(aged, "addresses forgotten"),
	C(learn_failures, "frames whose source found the table full"),
	C(learn_limited, "frames whose source was beyond its port's max_learned_addresses"),
	C(learn_busy, "frames whose source was not learned: another lcore was writing"),
	C(static_kept, "frames from a static address on another port"),
};
#undef C
const unsigned int sw_fdb_counter_fields_n = N(sw_fdb_counter_fields);

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
const unsigned int sw_ledger_counter_fields_n = N(sw_ledger_counter_fields);
