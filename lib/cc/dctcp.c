/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/dctcp.h"

#include "base/numbers/array.h"
#include "base/threads/counter.h"
#include "base/numbers/fixed.h"

#define ALPHA_ONE (1u << 31)

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
		      "round trips in which a CNP arrived"),
	COUNTER_FIELD(struct dctcp_stats, dctcp_cuts, "rate cuts"),
	COUNTER_FIELD(struct dctcp_stats, dctcp_increases, "rate increases"),
};
const unsigned int dctcp_counters_n = ARRAY_LEN(dctcp_counters);

void
dctcp_init(struct dctcp *d, const struct dctcp_params *params, uint64_t start_rate_bps,
	   uint64_t max_rate_bps)
{
	*d = (struct dctcp){
		.rate_bps =
			min_u64(max_u64(start_rate_bps, params->dctcp_min_rate_bps), max_rate_bps),
		.next_event_ns = NEVER_NS,
		.alpha_q31 = (uint32_t)params->dctcp_initial_alpha << 21,
	};
}

/* RFC 8257 3.4: cwnd (1 - alpha / 2), once in a round trip. */
static uint32_t
cut(struct dctcp *d, const struct dctcp_params *params, struct dctcp_stats *stats,
    uint32_t alpha_q31)
{
	uint64_t cut_bps, before_bps = d->rate_bps;

	if (d->cut)
		return 0;
	cut_bps = (uint64_t)((unsigned __int128)d->rate_bps * alpha_q31 >> 32);
	/* On a slow port the start rate may be below the minimum: then do not cut. */
	d->rate_bps =
		max_u64(d->rate_bps - cut_bps, min_u64(params->dctcp_min_rate_bps, d->rate_bps));
	d->cut = true;
	/* The rate was at its minimum. */
	if (d->rate_bps == before_bps)
		return 0;
	counter_inc(&stats->dctcp_cuts);
	return CC_DID_CUT;
}

uint32_t
dctcp_on_cnp(struct dctcp *d, const struct dctcp_params *params, struct dctcp_stats *stats)
{
	d->marked_packets++;
	return CC_DID_CNP | cut(d, params, stats, d->alpha_q31);
}

uint32_t
dctcp_on_loss(struct dctcp *d, const struct dctcp_params *params, struct dctcp_stats *stats)
{
	return CC_DID_LOSS | cut(d, params, stats, ALPHA_ONE);
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

uint32_t
dctcp_on_ack(struct dctcp *d, const struct dctcp_params *params, struct dctcp_stats *stats,
	     const struct dctcp_ack *ack, uint64_t max_rate_bps)
{
	bool rises;

	d->acked_packets += ack->packets;
	if (d->running && (int32_t)(ack->acked_seq - d->end_seq) < 0)
		return 0;
	/* The first round trip ends with the first ACK. */
	rises = !d->cut;
	counter_inc(&stats->dctcp_round_trips);
	if (d->marked_packets > 0)
		counter_inc(&stats->dctcp_marked_round_trips);
	update_alpha(d, params);
	if (rises) {
		d->rate_bps = min_u64(d->rate_bps + params->dctcp_ai_rate_bps, max_rate_bps);
		counter_inc(&stats->dctcp_increases);
	}
	d->running = true;
	d->end_seq = ack->next_seq;
	d->acked_packets = 0;
	d->marked_packets = 0;
	d->cut = false;
	return rises ? CC_DID_RAISE : 0;
}
