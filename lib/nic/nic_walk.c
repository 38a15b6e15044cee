/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/nic_walk.h"

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"

/* Index of the first drop: the drops are the last rows of nic_counters[]. */
static unsigned int
first_drop(void)
{
	unsigned int i = 0;

	while (i < nic_counters_n && nic_counters[i].offset != offsetof(struct nic_stats, drops[0]))
		i++;
	return i;
}

void
nic_walk_counters(struct walk *w, const struct nic_stats *stats)
{
	const unsigned int drop = first_drop();

	w->object = "nic";
	walk_counters(w, WALK_COUNTER, nic_counters, drop, stats);
	w->object = "drop";
	walk_counters(w, WALK_COUNTER, nic_counters + drop, nic_counters_n - drop, stats);
#define CC(id, word, section)                                                                      \
	w->object = #section;                                                                      \
	walk_counters(w, WALK_COUNTER, section##_counters, section##_counters_n,                   \
		      w->names_only ? NULL : &stats->cc.of[CC_SLOT(CC_##id)]);
#include "cc/cc_table.h"
#undef CC
	w->object = "np";
	walk_counters(w, WALK_COUNTER, np_counters, np_counters_n,
		      w->names_only ? NULL : &stats->np);
}

/* clang-format off */
#define C(m, text) COUNTER_FIELD(struct nic_qp_info, m, text)
static const struct counter_field gauges[] = {
	C(rate_bps, "rate in force: what congestion control allows (R_C), or rate_cap_bps if that is lower"),
	C(target_rate_bps, "rate that congestion control aims at (R_T)"),
	C(min_rate_bps, "lowest rate that the QP was allowed"),
	C(rtt_ns, "round-trip time measured last"),
	C(rtt_min_ns, "round-trip time, minimum since the start"),
	C(rtt_max_ns, "round-trip time, maximum since the start"),
};
static const struct counter_field counters[] = {
	C(tx_packets, "data packets and READ requests sent"),
	C(tx_wire_bytes, "bytes of tx_packets on the wire, with preamble and gap"),
	C(tx_messages, "complete messages sent"),
	C(failed_messages, "messages begun and not acknowledged when the QP gave up"),
	C(tx_payload_bytes, "payload of the messages sent, without retransmissions"),
	C(retransmitted_packets, "data packets retransmitted"),
	C(rx_packets, "data packets received"),
	C(rx_wire_bytes, "bytes of data packets received, with preamble and gap"),
	C(rx_payload_bytes, "payload of the messages received, without retransmissions"),
	C(rx_messages, "complete messages received"),
	C(cnps_sent, "CNPs sent for packets with CE"),
	C(cnps_handled, "CNPs handled by congestion control"),
	C(cnps_ignored, "CNPs ignored by congestion control"),
	C(ce_packets, "data packets received with CE"),
	C(acks_sent, "ACKs sent"),
	C(acks_received, "ACKs received"),
	C(naks_sent, "NAKs sent, RNR NAKs included"),
	C(naks_received, "NAKs received, RNR NAKs included"),
	C(out_of_sequence, "packets received ahead of the expected PSN"),
	C(rx_discarded_packets, "data packets received and not accepted: after a gap, duplicates, refused ones"),
	C(rx_discarded_wire_bytes, "bytes of rx_discarded_packets on the wire, with preamble and gap"),
	C(rtt_samples, "round-trip times measured"),
	C(rtt_sum_ns, "sum of the round-trip times"),
	C(completions, "messages whose completion time was measured"),
	C(rate_cuts, "cuts of the rate"),
};
#undef C
/* clang-format on */

void
nic_walk_qp(struct walk *w, const struct nic_qp_info *i)
{
	w->object = "qp";
	WALK(number, w, GAUGE, "peer_qpn", "the peer's QP", i->peer_qpn);
	walk_counters(w, WALK_GAUGE, gauges, ARRAY_LEN(gauges), i);
	WALK(real, w, GAUGE, "alpha", "congestion estimate",
	     (double)i->alpha_q32 / (double)Q32_ONE);
	walk_counters(w, WALK_COUNTER, counters, ARRAY_LEN(counters), i);
	WALK(number, w, GAUGE, "completion_mean_ns",
	     "time from a message's start to its completion, mean since the start",
	     i->completions > 0 ? i->completion_sum_ns / i->completions : 0);
	WALK(number, w, GAUGE, "completion_max_ns",
	     "time from a message's start to its completion, maximum since the start",
	     i->completion_max_ns);
	WALK(flag, w, GAUGE, "error", "whether the QP is in error", i->error);
	WALK(flag, w, GAUGE, "done", "whether the QP has sent all its messages", i->done);
}
