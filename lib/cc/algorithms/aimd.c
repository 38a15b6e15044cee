/* SPDX-License-Identifier: BSD-3-Clause */
/* AIMD, the example of doc/extending.md: a round trip with a mark takes a share of the rate, and a
 * round trip without one adds to it. ACKs echo the marks (np_ecn_echo). */
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/threads/counter.h"
#include "cc/algorithms/cc_ops.h"

struct aimd_params {
	uint64_t aimd_ai_rate_bps, aimd_min_rate_bps;
	uint32_t aimd_cut_ppm;
};

struct aimd_stats {
	uint64_t aimd_increases, aimd_cuts;
};

struct aimd {
	struct cc_head head;
	uint32_t end_seq;     /* the round trip ends when all packets before it are acknowledged */
	bool marked, running; /* running: end_seq is valid, since the first ACK */
};
CC_FITS(struct aimd, struct aimd_params, struct aimd_stats);

const struct field aimd_fields[] = {
	{FIELD_OF(struct aimd_params, aimd_ai_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 1600 * GBPS, .def = "50M", .live = true,
	 .help = "rise in a round trip without mark"},
	{FIELD_OF(struct aimd_params, aimd_cut_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .max = 1000000, .def = "50%", .live = true, .help = "cut after a round trip with a mark"},
	{FIELD_OF(struct aimd_params, aimd_min_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = 1, .max = 1600 * GBPS, .def = "10M", .live = true, .help = "lowest rate"},
};
const unsigned int aimd_fields_n = ARRAY_LEN(aimd_fields);

const struct counter_field aimd_counters[] = {
	COUNTER_FIELD(struct aimd_stats, aimd_increases, "rate increases"),
	COUNTER_FIELD(struct aimd_stats, aimd_cuts, "rate cuts"),
};
const unsigned int aimd_counters_n = ARRAY_LEN(aimd_counters);

static uint32_t
on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	struct aimd *a = (struct aimd *)cc;
	const struct aimd_params *p = node->params;
	struct aimd_stats *stats = node->stats;
	uint64_t rate_bps = a->head.rate_bps, cut_bps = mul_div(rate_bps, p->aimd_cut_ppm, 1000000);
	bool cuts;

	(void)now_ns;
	a->marked |= ack->ce_packets > 0;
	if (a->running && (int32_t)(ack->acked_seq - a->end_seq) < 0)
		return a->marked ? CC_DID_ECN : 0;
	cuts = a->marked;
	a->marked = false;
	a->running = true;
	a->end_seq = ack->next_seq;
	counter_inc(cuts ? &stats->aimd_cuts : &stats->aimd_increases);
	rate_bps = cuts ? rate_bps - cut_bps : rate_bps + p->aimd_ai_rate_bps;
	a->head.rate_bps = min_u64(max_u64(rate_bps, node->min_rate_bps), node->max_rate_bps);
	return cuts ? CC_DID_ECN | CC_DID_CUT : CC_DID_RAISE;
}

const struct cc_ops cc_aimd = {CC_TABLES(aimd), .min_rate_key = "aimd_min_rate_bps",
			       .hears_echoes = true, .ack = on_ack};
