/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swift: a window keeps the round-trip time at a target that grows with the path and shrinks with
 * the window.
 *
 * Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter",
 * SIGCOMM 2020, section 3 and algorithm 1. A sample below the target adds ai packets per round trip
 * to the window; one at or above it takes beta (delay - target) / delay of the window, at most
 * max_mdf, and at most once in a round trip. A loss takes max_mdf; after
 * swift_retx_reset_threshold timeouts without an ACK or NAK between them, all but the smallest
 * window.
 *
 *   target = base + hops x hop_scale + flow term
 *   flow term = fs_range (f(cwnd) - f(fs_max)) / (f(fs_min) - f(fs_max)), f(x) = 1 / sqrt(x), but
 *   at least 0 and at most fs_range
 *
 * Below one packet the window is a pace: cwnd packets per round trip. Above it the ACKs are the
 * clock, as in the paper, and the rate is the port's speed.
 *
 * The paper splits the delay into that of the fabric and that of the endpoint. Here the NIC itself
 * answers, so the delay is that of the fabric. Bridges do not decrement a TTL, so the number of
 * hops is a key. rtt.h measures at most one sample per QP and round trip.
 *
 * Invariant: swift_min_cwnd <= cwnd <= swift_max_cwnd.
 */
#include "base/field/field_table.h"
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/threads/counter.h"
#include "cc/algorithms/cc_ops.h"

#define PPM 1000000u
#define PACKET (1u << 20) /* one packet of cwnd_q20 */

struct swift_params {
	uint64_t swift_base_target_ns;
	uint64_t swift_hop_scale_ns;
	uint64_t swift_fs_range_ns;
	uint32_t swift_fs_min_cwnd_ppm; /* packets x 10^6, as the next ones */
	uint32_t swift_ai_ppm;
	uint32_t swift_beta_ppm;
	uint32_t swift_max_mdf_ppm;
	uint32_t swift_min_cwnd_ppm;
	uint32_t swift_fs_max_cwnd; /* packets */
	uint32_t swift_max_cwnd;    /* packets */
	uint8_t swift_hops;
	uint8_t swift_retx_reset_threshold;
};

struct swift_stats {
	uint64_t swift_samples;
	uint64_t swift_above_target;
	uint64_t swift_increases;
	uint64_t swift_cuts;
	uint64_t swift_resets;
};

struct swift {
	struct cc_head head;
	uint64_t cwnd_q20;
	uint64_t last_cut_ns;
	uint64_t rtt_ns;        /* of the last sample; 0: none yet */
	uint32_t acked_packets; /* since the last sample */
	uint32_t packet_bytes;
	uint32_t timeouts; /* since the last ACK or NAK: retransmit_cnt */
};
CC_FITS(struct swift, struct swift_params, struct swift_stats);

const struct field swift_fields[] = {
	{FIELD_OF(struct swift_params, swift_base_target_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1, .max = NS_PER_SEC, .def = "25us", .live = true,
	 .help = "target delay without its terms for hops and flows"},
	{FIELD_OF(struct swift_params, swift_hop_scale_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "1us", .live = true, .help = "target delay of each hop"},
	{FIELD_OF(struct swift_params, swift_hops), .type = FIELD_U8, .max = 255, .def = "1",
	 .live = true, .help = "number of switches on a path"},
	{FIELD_OF(struct swift_params, swift_fs_range_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "25us", .live = true,
	 .help = "largest term of the target for many flows, that is for small windows; 0: no such "
		 "term"},
	{FIELD_OF(struct swift_params, swift_fs_min_cwnd_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .min = 1000, .max = 1000000, .def = "10%", .live = true,
	 .help = "window, as a share of a packet, below which the term for flows is fs_range"},
	{FIELD_OF(struct swift_params, swift_fs_max_cwnd), .type = FIELD_U32, .min = 2,
	 .max = 1u << 20, .def = "100", .live = true,
	 .help = "window in packets above which the term for flows is 0"},
	{FIELD_OF(struct swift_params, swift_ai_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .min = 1000, .max = 100000000, .def = "100%", .live = true,
	 .help = "additive increase per round trip, as a share of a packet"},
	{FIELD_OF(struct swift_params, swift_beta_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .max = 1000000, .def = "80%", .live = true,
	 .help = "share of the relative excess delay by which a cut lowers the window"},
	{FIELD_OF(struct swift_params, swift_max_mdf_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .max = 900000, .def = "50%", .live = true,
	 .help = "largest share of the window that a cut takes"},
	{FIELD_OF(struct swift_params, swift_min_cwnd_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .min = 1000, .max = 1000000, .def = "1%", .live = true,
	 .help = "smallest window, as a share of a packet"},
	{FIELD_OF(struct swift_params, swift_max_cwnd), .type = FIELD_U32, .min = 2,
	 .max = 1u << 20, .def = "1000", .live = true, .help = "largest window in packets"},
	{FIELD_OF(struct swift_params, swift_retx_reset_threshold), .type = FIELD_U8, .min = 1,
	 .max = 255, .def = "5", .live = true,
	 .help = "timeouts in a row after which the window is the smallest one"},
};
const unsigned int swift_fields_n = ARRAY_LEN(swift_fields);

const struct counter_field swift_counters[] = {
	COUNTER_FIELD(struct swift_stats, swift_samples, "round-trip times measured"),
	COUNTER_FIELD(struct swift_stats, swift_above_target, "samples at or above the target"),
	COUNTER_FIELD(struct swift_stats, swift_increases, "window increases"),
	COUNTER_FIELD(struct swift_stats, swift_cuts, "window cuts"),
	COUNTER_FIELD(struct swift_stats, swift_resets,
		      "cuts to the smallest window, after swift_retx_reset_threshold timeouts"),
};
const unsigned int swift_counters_n = ARRAY_LEN(swift_counters);

static uint64_t
packets_q20(uint64_t ppm)
{
	return ppm * PACKET / PPM;
}

/* Integer square root, rounded down. */
static uint64_t
sqrt_u64(uint64_t n)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit != 0; bit >>= 1)
		if ((root | bit) * (root | bit) <= n)
			root |= bit;
	return root;
}

/* 1 / sqrt(cwnd) as a fraction of 2^16: sqrt(2^32 2^20 / cwnd_q20). */
static uint64_t
inverse_sqrt_q16(uint64_t cwnd_q20)
{
	return sqrt_u64((1ull << 52) / cwnd_q20);
}

static uint64_t
target_ns(const struct swift *s, const struct swift_params *p)
{
	uint64_t low = inverse_sqrt_q16((uint64_t)p->swift_fs_max_cwnd * PACKET);
	uint64_t high = inverse_sqrt_q16(packets_q20(p->swift_fs_min_cwnd_ppm));
	uint64_t now = inverse_sqrt_q16(s->cwnd_q20);
	uint64_t share = min_u64(sub_sat(now, low), high - low);

	return p->swift_base_target_ns + p->swift_hops * p->swift_hop_scale_ns +
	       mul_div(p->swift_fs_range_ns, share, high - low);
}

static void
set_cwnd(struct swift *s, const struct cc_node *node, uint64_t cwnd_q20)
{
	const struct swift_params *p = node->params;
	uint64_t trip_ns = s->rtt_ns > 0 ? s->rtt_ns : p->swift_base_target_ns;
	uint64_t bits_q20;

	cwnd_q20 = min_u64(cwnd_q20, (uint64_t)p->swift_max_cwnd * PACKET);
	s->cwnd_q20 = max_u64(cwnd_q20, packets_q20(p->swift_min_cwnd_ppm));
	/* A window of part of a packet admits one, and the rate spaces them. */
	s->head.window_bytes = (uint32_t)min_u64(
		UINT32_MAX, mul_div(max_u64(s->cwnd_q20, PACKET), s->packet_bytes, PACKET));
	s->head.rate_bps = node->max_rate_bps;
	if (s->cwnd_q20 >= PACKET)
		return;
	bits_q20 = s->cwnd_q20 * 8 * s->packet_bytes;
	s->head.rate_bps = min_u64(node->max_rate_bps,
				   max_u64(1, mul_div(bits_q20, NS_PER_SEC, trip_ns * PACKET)));
}

static void
start(struct cc *cc, const struct cc_node *node, const struct cc_begin *begin, uint64_t now_ns)
{
	struct swift *s = (struct swift *)cc;
	const struct swift_params *p = node->params;

	(void)now_ns;
	s->packet_bytes = begin->packet_bytes;
	/* The packets that the start rate sends in a target delay. */
	set_cwnd(s, node,
		 mul_div(begin->rate_bps, p->swift_base_target_ns * PACKET,
			 8 * NS_PER_SEC * begin->packet_bytes));
}

static uint32_t
cut_to(struct swift *s, const struct cc_node *node, uint64_t cwnd_q20, uint64_t now_ns)
{
	struct swift_stats *stats = node->stats;
	uint64_t before_q20 = s->cwnd_q20;

	set_cwnd(s, node, cwnd_q20);
	if (s->cwnd_q20 >= before_q20)
		return 0;
	s->last_cut_ns = max_u64(now_ns, 1);
	counter_inc(&stats->swift_cuts);
	return CC_DID_CUT;
}

static uint32_t
cut(struct swift *s, const struct cc_node *node, uint64_t share_ppm, uint64_t now_ns)
{
	const struct swift_params *p = node->params;

	/* Without a cut, the pace follows the round-trip time all the same. */
	share_ppm = min_u64(share_ppm, p->swift_max_mdf_ppm);
	if (s->last_cut_ns != 0 && now_ns - s->last_cut_ns < s->rtt_ns)
		share_ppm = 0;
	return cut_to(s, node, mul_div(s->cwnd_q20, PPM - share_ppm, PPM), now_ns);
}

static uint32_t
on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	struct swift *s = (struct swift *)cc;
	const struct swift_params *p = node->params;
	struct swift_stats *stats = node->stats;
	uint64_t goal_ns, excess_ppm, step_q20, before_q20 = s->cwnd_q20;

	s->timeouts = 0;
	s->acked_packets += ack->packets;
	if (ack->rtt_ns == 0)
		return 0;
	s->rtt_ns = min_u64(ack->rtt_ns, UINT32_MAX);
	counter_inc(&stats->swift_samples);
	goal_ns = target_ns(s, p);
	if (s->rtt_ns >= goal_ns) {
		counter_inc(&stats->swift_above_target);
		s->acked_packets = 0;
		excess_ppm = (s->rtt_ns - goal_ns) * PPM / s->rtt_ns;
		return CC_DID_RTT | cut(s, node, excess_ppm * p->swift_beta_ppm / PPM, now_ns);
	}
	step_q20 = mul_div((uint64_t)p->swift_ai_ppm * s->acked_packets, PACKET, PPM);
	if (s->cwnd_q20 >= PACKET)
		step_q20 = mul_div(step_q20, PACKET, s->cwnd_q20);
	s->acked_packets = 0;
	set_cwnd(s, node, s->cwnd_q20 + step_q20);
	if (s->cwnd_q20 == before_q20)
		return CC_DID_RTT;
	counter_inc(&stats->swift_increases);
	return CC_DID_RTT | CC_DID_RAISE;
}

static uint32_t
on_loss(struct cc *cc, const struct cc_node *node, uint32_t next_seq, enum cc_loss by,
	uint64_t now_ns)
{
	struct swift *s = (struct swift *)cc;
	const struct swift_params *p = node->params;
	struct swift_stats *stats = node->stats;
	uint32_t did;

	(void)next_seq;
	s->timeouts = by == CC_LOSS_TIMEOUT ? (uint32_t)min_u64(s->timeouts + 1ull, UINT8_MAX) : 0;
	if (s->timeouts < p->swift_retx_reset_threshold)
		return CC_DID_LOSS | cut(s, node, PPM, now_ns);
	did = cut_to(s, node, 0, now_ns);
	if (did)
		counter_inc(&stats->swift_resets);
	return CC_DID_LOSS | did;
}

static uint32_t
on_params(struct cc *cc, const struct cc_node *node)
{
	struct swift *s = (struct swift *)cc;
	uint64_t before_bps = s->head.rate_bps;

	set_cwnd(s, node, s->cwnd_q20);
	return s->head.rate_bps != before_bps ? CC_DID_RELOAD : 0;
}

static void
read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	out->rtt_ns = ((const struct swift *)cc)->rtt_ns;
	out->limited = true;
}

/* The target of the smallest window. */
static uint64_t
longest_trip_ns(const void *params)
{
	const struct swift_params *p = params;

	return p->swift_base_target_ns + p->swift_hops * p->swift_hop_scale_ns +
	       p->swift_fs_range_ns;
}

const struct cc_ops cc_swift = {
	CC_TABLES(swift),
	.hears_rtts = true,
	.has_window = true,
	.counts_packets = true,
	.start = start,
	.ack = on_ack,
	.loss = on_loss,
	.params = on_params,
	.read = read,
	.longest_trip_ns = longest_trip_ns,
	.trip_key = "swift_base_target_ns",
};
