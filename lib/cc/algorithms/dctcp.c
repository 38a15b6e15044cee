/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCTCP as the rate of a RoCEv2 QP: the share of marked packets in a round trip sets the cut.
 *
 * RFC 8257 with a rate in place of a window, as in the NIC model of the HPCC simulator: alpha is
 * the moving average of the marked fraction over a round trip, which ends when all packets sent
 * before its start are acknowledged. A mark cuts the rate by alpha / 2, a loss halves it. Further
 * marks and losses have no effect until all packets sent before the cut are acknowledged: one cut
 * in a window of data (RFC 8257 3.3 and 3.5, RFC 3168 6.1.2). After a loss, all packets are sent
 * again: the next loss is one of packets sent after the cut, and cuts, and the next ACK ends the
 * round trip, however long the window takes at the lower rate. A round trip without a cut, at whose
 * end no packet from before a cut is in flight, adds dctcp_ai_rate.
 *
 * The receiver reports each marked packet: by a CNP for each (np_min_time_between_cnps_us = 0 per
 * QP at the peer; with a longer interval the fraction is too small), or, as RFC 8257 has it, by an
 * echo in the ACK (np_ecn_echo). Made for switches whose curve is a step at K (Kmin = Kmax = K,
 * Pmax 1).
 *
 * Invariant: dctcp_min_rate <= rate <= the port's speed; on a port slower than dctcp_min_rate, the
 * rate is the port's speed.
 */
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/threads/counter.h"
#include "cc/algorithms/cc_ops.h"

#define ALPHA_ONE (1u << 31)

struct dctcp_params {
	uint16_t dctcp_g;             /* weight of the NEW fraction, in 1/1024 (RFC 8257: 1/16) */
	uint16_t dctcp_initial_alpha; /* in 1/1024 (RFC 8257: 1) */
	uint64_t dctcp_ai_rate_bps;   /* rise in a round trip without mark and loss */
	uint64_t dctcp_min_rate_bps;
};

struct dctcp_stats {
	uint64_t dctcp_round_trips;
	uint64_t dctcp_marked_round_trips;
	uint64_t dctcp_cuts;
	uint64_t dctcp_increases;
};

struct dctcp {
	struct cc_head head;
	uint32_t alpha_q31; /* [0, 2^31] */
	uint32_t end_seq;   /* the round trip ends when all packets before it are acknowledged */
	uint32_t cut_seq;   /* packets before it were sent before the last cut */
	uint32_t acked_packets;  /* in this round trip */
	uint32_t marked_packets; /* CNPs and echoes in this round trip */
	bool cut;                /* a packet before cut_seq is not acknowledged */
	bool resent;             /* ... and those were sent again */
	bool running;            /* end_seq is valid, since the first ACK */
};
CC_FITS(struct dctcp, struct dctcp_params, struct dctcp_stats);

const struct field dctcp_fields[] = {
	{FIELD_OF(struct dctcp_params, dctcp_g), .type = FIELD_U16, .unit = UNIT_1024, .min = 1,
	 .max = 1024, .def = "64", .live = true, .aliases = {{.name = "g"}},
	 .help = "g: weight of the new marked fraction in alpha, in 1/1024 (RFC 8257: 1/16)"},
	{FIELD_OF(struct dctcp_params, dctcp_initial_alpha), .type = FIELD_U16, .unit = UNIT_1024,
	 .max = 1024, .def = "1024", .live = true, .aliases = {{.name = "alpha0", .scale = 1024}},
	 .help = "alpha before the first round trip, in 1/1024; the alias alpha0 takes a "
		 "fraction from 0 to 1"},
	{FIELD_OF(struct dctcp_params, dctcp_ai_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 1600 * GBPS, .def = "615M", .live = true, .aliases = {{.name = "dctcp_ai_rate"}},
	 .help = "rise of the rate after a round trip without a mark"},
	{FIELD_OF(struct dctcp_params, dctcp_min_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = 1, .max = 1600 * GBPS, .def = "10M", .live = true,
	 .aliases = {{.name = "dctcp_min_rate"}}, .help = "lowest rate that a cut can reach"},
};
const unsigned int dctcp_fields_n = ARRAY_LEN(dctcp_fields);

const struct counter_field dctcp_counters[] = {
	COUNTER_FIELD(struct dctcp_stats, dctcp_round_trips, "round trips measured"),
	COUNTER_FIELD(struct dctcp_stats, dctcp_marked_round_trips,
		      "round trips in which a CNP or an echo of a mark arrived"),
	COUNTER_FIELD(struct dctcp_stats, dctcp_cuts, "rate cuts"),
	COUNTER_FIELD(struct dctcp_stats, dctcp_increases, "rate increases"),
};
const unsigned int dctcp_counters_n = ARRAY_LEN(dctcp_counters);

static void
start(struct cc *cc, const struct cc_node *node, const struct cc_begin *begin, uint64_t now_ns)
{
	const struct dctcp_params *params = node->params;

	(void)begin;
	(void)now_ns;
	((struct dctcp *)cc)->alpha_q31 = (uint32_t)params->dctcp_initial_alpha << 21;
}

/* RFC 8257 3.4: cwnd (1 - alpha / 2), once in a window of data. */
static uint32_t
cut(struct dctcp *d, const struct cc_node *node, uint32_t alpha_q31, uint32_t next_seq)
{
	struct dctcp_stats *stats = node->stats;
	uint64_t cut_bps, before_bps = d->head.rate_bps;

	if (d->cut)
		return 0;
	cut_bps = (uint64_t)((unsigned __int128)before_bps * alpha_q31 >> 32);
	/* On a slow port the start rate may be below the minimum: then do not cut. */
	d->head.rate_bps = max_u64(before_bps - cut_bps, min_u64(node->min_rate_bps, before_bps));
	d->cut = true;
	d->cut_seq = next_seq;
	/* The rate was at its minimum. */
	if (d->head.rate_bps == before_bps)
		return 0;
	counter_inc(&stats->dctcp_cuts);
	return CC_DID_CUT;
}

static uint32_t
on_cnp(struct cc *cc, const struct cc_node *node, const struct cc_cnp *cnp, uint64_t now_ns)
{
	struct dctcp *d = (struct dctcp *)cc;

	(void)now_ns;
	counter_inc(&node->rp_stats->rp_cnp_handled);
	d->marked_packets++;
	return CC_DID_CNP | cut(d, node, d->alpha_q31, cnp->next_seq);
}

static uint32_t
on_loss(struct cc *cc, const struct cc_node *node, uint32_t next_seq, enum cc_loss by,
	uint64_t now_ns)
{
	struct dctcp *d = (struct dctcp *)cc;
	uint32_t did;

	(void)by;
	(void)now_ns;
	if (d->resent)
		d->cut = false;
	d->resent = true;
	did = CC_DID_LOSS | cut(d, node, ALPHA_ONE, next_seq);
	d->cut_seq = d->end_seq = next_seq;
	return did;
}

/* RFC 8257 3.3 step 7: alpha = (1 - g) alpha + g M. M is at most 1: a CNP may overtake the ACK of
 * its packet. */
static void
update_alpha(struct dctcp *d, const struct dctcp_params *params)
{
	uint64_t marked = min_u64(d->marked_packets, d->acked_packets);
	uint64_t fraction_q31 = marked * ALPHA_ONE / d->acked_packets;

	d->alpha_q31 = (uint32_t)(((1024u - params->dctcp_g) * (uint64_t)d->alpha_q31 +
				   params->dctcp_g * fraction_q31) >>
				  10);
}

/* acked_seq - seq, which may be negative. */
static int32_t
passed(const struct cc_ack *ack, uint32_t seq)
{
	return (int32_t)(ack->acked_seq - seq);
}

/* The end of a round trip updates alpha, and may raise the rate. */
static uint32_t
on_round_trip(struct dctcp *d, const struct cc_node *node, uint32_t next_seq, bool rises)
{
	const struct dctcp_params *params = node->params;
	struct dctcp_stats *stats = node->stats;

	counter_inc(&stats->dctcp_round_trips);
	if (d->marked_packets > 0)
		counter_inc(&stats->dctcp_marked_round_trips);
	update_alpha(d, params);
	d->running = true;
	d->end_seq = next_seq;
	d->acked_packets = 0;
	d->marked_packets = 0;
	if (!rises)
		return 0;
	d->head.rate_bps =
		min_u64(d->head.rate_bps + params->dctcp_ai_rate_bps, node->max_rate_bps);
	counter_inc(&stats->dctcp_increases);
	return CC_DID_RAISE;
}

static uint32_t
on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	struct dctcp *d = (struct dctcp *)cc;
	bool was_cut = d->cut;
	uint32_t did = 0;

	(void)now_ns;
	/* The echo may be of a packet that was sent after the cut. */
	if (passed(ack, d->cut_seq) > 0)
		d->cut = d->resent = false;
	d->acked_packets += ack->packets;
	if (ack->ce_packets > 0) {
		d->marked_packets += ack->ce_packets;
		did = CC_DID_ECN | cut(d, node, d->alpha_q31, ack->next_seq);
	}
	/* The first round trip ends with the first ACK. */
	if (!d->running || passed(ack, d->end_seq) >= 0)
		did |= on_round_trip(d, node, ack->next_seq, !was_cut && !d->cut);
	if (passed(ack, d->cut_seq) >= 0)
		d->cut = d->resent = false;
	return did;
}

static void
read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	out->alpha_q32 = (uint64_t)((const struct dctcp *)cc)->alpha_q31 << 1;
}

const struct cc_ops cc_dctcp = {
	CC_TABLES(dctcp),    .min_rate_key = "dctcp_min_rate_bps",
	.start = start,      .cnp = on_cnp,
	.ack = on_ack,       .loss = on_loss,
	.read = read,        .hears_echoes = true,
	.counts_cnps = true,
};
