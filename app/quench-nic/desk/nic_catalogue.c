/* SPDX-License-Identifier: BSD-3-Clause */
/* Meanings of the keys in quench-nic's replies. */
#include "quench-nic/desk/nic_desk.h"

#include "base/numbers/array.h"
#include "runtime/report/catalogue.h"
#include "runtime/methods/methods.h"
#include "nic/nic.h"

/* clang-format off */
static const struct meaning drop_counters[] = {
	{"drop_device_missed", "Lost before the NIC received it: the receive ring of the device, "
			       "or of the kernel's socket, was full"},
	{"drop_device_cut", "Longer than a slot (framesz) of net_af_packet's ring, so that the "
			    "kernel cut it"},
	{"drop_device_mtu", "To be sent through net_af_packet, and longer than the MTU of its "
			    "interface"},
	{0},
};

static const struct meaning flow_counters[] = {
	{"wire_bytes", "bytes of data packets on the wire, with preamble and gap"},
	{"payload_bytes", "payload of messages, without retransmissions"},
	{"messages", "complete messages sent or received"},
	{"retransmitted_packets", "data packets retransmitted"},
	{"cnps_handled", "CNPs handled by congestion control"},
	{"cnps_ignored", "CNPs ignored by congestion control"},
	{"cnps_sent", "CNPs sent for packets with CE"},
	{"ce_packets", "data packets received with CE"},
	{"rate_cuts", "rate cuts"},
	{"rx_pause_duration_us", "time during which the flow's priority was paused"},
	{"completions", "messages whose completion time was measured"},
	{"waited_messages", "messages of an open loop that found the previous one of their QP unsent"},
	{"slowdowns", "messages whose slowdown is known"},
	{"rtt_samples", "round-trip times measured"},
	{0},
};

#define HIST(prefix, suffix, text) \
	{prefix "_mean" suffix, text ", mean since the start"}, \
	{prefix "_p50" suffix, text ", median since the start"}, \
	{prefix "_p95" suffix, text ", 95th percentile since the start"}, \
	{prefix "_p99" suffix, text ", 99th percentile since the start"}, \
	{prefix "_p999" suffix, text ", 99.9th percentile since the start"}, \
	{prefix "_max" suffix, text ", maximum since the start"}

static const struct meaning flow_gauges[] = {
	{"qps", "QPs of the flow"},
	{"requester", "whether the flow is a requester"},
	{"gone", "whether the flow was removed from the configuration; its counters stay"},
	{"qps_ending", "QPs of removed flows of this name that are not idle yet"},
	{"configured_rate_bps", "rate limit of the flow in the configuration; 0: none"},
	{"wire_rate_bps", "mean rate on the wire since the flow's start"},
	{"goodput_bps", "mean payload rate since the flow's start"},
	{"qps_done", "QPs that have sent all their messages"},
	{"qps_failed", "QPs in error"},
	{"started_ns", "requester: when its first QP started, since the program's start; 0: not yet"},
	{"ended_ns", "requester: when its last QP ended, or now while one sends; 0: not started"},
	HIST("completion", "_ns", "time from a message's start to its completion"),
	HIST("slowdown", "",
	     "completion time divided by the ideal time (of ideal_from)"),
	{"rtt_min_ns", "shortest round-trip time measured"},
	HIST("rtt", "_ns", "round-trip time"),
	{"paced_gaps", "gaps measured between paced packets"},
	{"paced_rate_error_ppm", "relative error of the rate over the measured gaps"},
	HIST("jitter", "_ns", "difference between a gap and its nominal length"),
	{"burst_gaps", "gaps measured between bursts that arrived"},
	HIST("burst_gap", "_ns", "gap between two bursts of a QP that arrived"),
	{"one_way_samples", "one-way times measured"},
	HIST("one_way", "_ns", "time from the sender to the receiver of a message's last packet"),
	{0},
};

static const struct meaning qp_counters[] = {
	{"tx_packets", "data packets and READ requests sent"},
	{"tx_wire_bytes", "bytes of tx_packets on the wire, with preamble and gap"},
	{"tx_messages", "complete messages sent"},
	{"tx_payload_bytes", "payload of the messages sent, without retransmissions"},
	{"retransmitted_packets", "data packets retransmitted"},
	{"rx_packets", "data packets received"},
	{"rx_wire_bytes", "bytes of data packets received, with preamble and gap"},
	{"rx_payload_bytes", "payload of the messages received, without retransmissions"},
	{"rx_messages", "complete messages received"},
	{"cnps_sent", "CNPs sent for packets with CE"},
	{"cnps_handled", "CNPs handled by congestion control"},
	{"cnps_ignored", "CNPs ignored by congestion control"},
	{"ce_packets", "data packets received with CE"},
	{"acks_sent", "ACKs sent"},
	{"acks_received", "ACKs received"},
	{"naks_sent", "NAKs sent, RNR NAKs included"},
	{"naks_received", "NAKs received, RNR NAKs included"},
	{"out_of_sequence", "packets received ahead of the expected PSN"},
	{"completions", "messages whose completion time was measured"},
	{"rate_cuts", "cuts of the rate"},
	{0},
};

static const struct meaning qp_gauges[] = {
	{"peer_qpn", "the peer's QP"},
	{"wire_rate_bps", "mean rate on the wire since the flow's start"},
	{"goodput_bps", "mean payload rate since the flow's start"},
	{"rate_bps", "rate in force: what congestion control allows (R_C), or rate_cap_bps if that is lower"},
	{"target_rate_bps", "rate that congestion control aims at (R_T)"},
	{"min_rate_bps", "lowest rate that the QP was allowed"},
	{"alpha", "congestion estimate"},
	{"rtt_ns", "round-trip time measured last"},
	{"completion_mean_ns", "time from a message's start to its completion, mean since the start"},
	{"completion_max_ns", "time from a message's start to its completion, maximum since the start"},
	{"error", "whether the QP is in error"},
	{"done", "whether the QP has sent all its messages"},
	{0},
};

static const struct meaning info_gauges[] = {
	{"lcores", "lcores that poll"},
	{"flows", "flows"},
	{"qps", "QPs"},
	{"done", "whether all requester QPs with a limit (messages, bytes) or a stop time have finished"},
	{0},
};
/* clang-format on */

/* Index of the first drop: the drops are the last rows of nic_counters[]. */
static unsigned int
first_drop(void)
{
	unsigned int i = 0;

	while (i < nic_counters_n && nic_counters[i].offset != offsetof(struct nic_stats, drops[0]))
		i++;
	return i;
}

json_t *
nic_counters_reply(struct desk_call *call)
{
	const unsigned int drop = first_drop();
	const struct catalogue tables[] = {
		{"run", .meanings = run_counters},
		{"port", .meanings = port_counter_meanings},
		{"device", .meanings = device_meanings},
		{"pfc", .meanings = pfc_meanings},
		{"nic", .fields = nic_counters, .n_fields = drop},
		{"drop", .fields = nic_counters + drop, .n_fields = nic_counters_n - drop},
		{"drop", .meanings = drop_counters},
#define CC(id, word, section)                                                                      \
	{#section, .fields = section##_counters, .n_fields = section##_counters_n},
#include "cc/cc_table.h"
#undef CC
		{"np", .fields = np_counters, .n_fields = np_counters_n},
		{"flow", .meanings = flow_counters},
		{"qp", .meanings = qp_counters},
	};

	(void)call;
	return catalogue_object(tables, ARRAY_LEN(tables));
}

json_t *
nic_gauges_reply(struct desk_call *call)
{
	static const struct catalogue tables[] = {
		{"run", .meanings = run_meanings},
		{"nic", .meanings = info_gauges},
		{"mempool", .meanings = mempool_meanings},
		{"port", .meanings = port_gauge_meanings},
		{"flow", .meanings = flow_gauges},
		{"qp", .meanings = qp_gauges},
	};

	(void)call;
	return catalogue_object(tables, ARRAY_LEN(tables));
}
