/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TIMELY: the gradient of the round-trip time sets the rate.
 *
 * Mittal et al., SIGCOMM 2015, as restated by Zhu et al., "ECN or Delay", CoNEXT 2016. Each sample
 * updates rtt_diff, the moving average of the difference between samples; the gradient is rtt_diff
 * / timely_min_rtt. Below T_low the rate rises by delta; above T_high it falls by beta (1 - T_high
 * / RTT) of itself. In between it rises by delta if the gradient is not positive, by five delta
 * once that was so in timely_hai_threshold samples in a row, and falls by beta x gradient of itself
 * otherwise.
 *
 * rtt.h measures the samples: at most one per QP and round trip.
 *
 * The algorithm has no unique fixed point: rates within the band need not be fair (CoNEXT 2016,
 * section 4). The sources start a flow at 1 / (N + 1) of the link: initial_rate = fair.
 *
 * Invariant: timely_min_rate <= rate <= the port's speed; on a port slower than timely_min_rate,
 * the rate is the port's speed.
 */
#include "base/field/field_table.h"
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/threads/counter.h"
#include "cc/algorithms/cc_ops.h"

struct timely_params {
	uint64_t timely_t_low_ns;
	uint64_t timely_t_high_ns;
	uint64_t timely_min_rtt_ns;   /* D_minRTT: difference that is a gradient of 1 */
	uint64_t timely_ai_rate_bps;  /* delta */
	uint32_t timely_beta_ppm;     /* largest share of the rate that a decrease takes */
	uint32_t timely_ewma_ppm;     /* weight of the new difference */
	uint8_t timely_hai_threshold; /* samples in a row for 5 delta, this one included */
	uint64_t timely_min_rate_bps;
};

struct timely_stats {
	uint64_t timely_samples;
	uint64_t timely_below_low;
	uint64_t timely_above_high;
	uint64_t timely_increases; /* including those below T_low and at the maximum */
	uint64_t timely_cuts;
};

struct timely {
	struct cc_head head;
	uint8_t good_samples; /* in a row with a gradient of at most 0 */
	uint64_t rtt_ns;      /* of the last sample; 0: none yet */
	int64_t rtt_diff_q20; /* ns, averaged */
};
CC_FITS(struct timely, struct timely_params, struct timely_stats);

/* Section 4.3 of the TIMELY paper: five times delta in hyperactive increase. */
#define HAI_STEPS 5
#define PPM INT64_C(1000000)
/* Fractions are in parts of 2^20: in 10 bits, a slow rise of the delay would be a gradient of 0. */
#define ONE_Q20 (1u << 20)

const struct field timely_fields[] = {
	{FIELD_OF(struct timely_params, timely_t_low_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "50us", .live = true, .aliases = {{.name = "T_low"}},
	 .help = "round-trip time below which the rate always rises"},
	{FIELD_OF(struct timely_params, timely_t_high_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1, .max = NS_PER_SEC, .def = "500us", .live = true, .aliases = {{.name = "T_high"}},
	 .help = "round-trip time above which the rate always falls"},
	{FIELD_OF(struct timely_params, timely_min_rtt_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = 1, .max = NS_PER_SEC, .def = "20us", .live = true,
	 .aliases = {{.name = "D_minRTT"}},
	 .help = "difference between two successive round-trip times at which the gradient is 1"},
	{FIELD_OF(struct timely_params, timely_ai_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 1600 * GBPS, .def = "10M", .live = true, .aliases = {{.name = "delta"}},
	 .help = "rise of the rate per sample"},
	{FIELD_OF(struct timely_params, timely_beta_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .max = 1000000, .def = "80%", .live = true,
	 .aliases = {{.name = "beta", .scale = 1000000}},
	 .help = "largest share of the rate that one sample cuts"},
	{FIELD_OF(struct timely_params, timely_ewma_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .min = 1, .max = 1000000, .def = "87.5%", .live = true,
	 .help = "weight of the newest difference in the average difference"},
	{FIELD_OF(struct timely_params, timely_hai_threshold), .type = FIELD_U8, .min = 1,
	 .max = 255, .def = "5", .live = true,
	 .help = "number of successive samples without a positive gradient after which the rise "
		 "is five times as large"},
	{FIELD_OF(struct timely_params, timely_min_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .min = 1, .max = 1600 * GBPS, .def = "10M", .live = true,
	 .help = "lowest rate that a cut can reach"},
};
const unsigned int timely_fields_n = ARRAY_LEN(timely_fields);

const struct counter_field timely_counters[] = {
	COUNTER_FIELD(struct timely_stats, timely_samples, "round-trip times measured"),
	COUNTER_FIELD(struct timely_stats, timely_below_low, "samples below T_low"),
	COUNTER_FIELD(struct timely_stats, timely_above_high, "samples above T_high"),
	COUNTER_FIELD(struct timely_stats, timely_increases, "rate increases"),
	COUNTER_FIELD(struct timely_stats, timely_cuts, "rate cuts"),
};
const unsigned int timely_counters_n = ARRAY_LEN(timely_counters);

static int
check(const void *params, char *why, unsigned int why_size)
{
	const struct timely_params *p = params;

	return p->timely_t_low_ns < p->timely_t_high_ns
		       ? 0
		       : params_refuse(why, why_size,
				       "timely_t_low_ns must be below timely_t_high_ns");
}

static uint32_t
rise(struct timely *t, const struct cc_node *node)
{
	const struct timely_params *params = node->params;
	struct timely_stats *stats = node->stats;
	bool hyper = t->good_samples >= params->timely_hai_threshold;
	uint64_t step_bps = (hyper ? HAI_STEPS : 1) * params->timely_ai_rate_bps;
	uint64_t before_bps = t->head.rate_bps;

	t->head.rate_bps = min_u64(before_bps + step_bps, node->max_rate_bps);
	counter_inc(&stats->timely_increases);
	if (t->head.rate_bps == before_bps)
		return 0;
	return hyper ? CC_DID_HYPER : CC_DID_RAISE;
}

/* rate (1 - beta share); share in [0, 1]. */
static uint32_t
fall(struct timely *t, const struct cc_node *node, uint64_t share_q20)
{
	const struct timely_params *params = node->params;
	struct timely_stats *stats = node->stats;
	uint64_t beta_share = params->timely_beta_ppm * share_q20, before_bps = t->head.rate_bps;
	uint64_t cut_bps = mul_div(before_bps, beta_share, ONE_Q20 * (uint64_t)PPM);

	t->head.rate_bps = max_u64(before_bps - cut_bps, min_u64(node->min_rate_bps, before_bps));
	t->good_samples = 0;
	/* Unchanged at the minimum rate. */
	if (t->head.rate_bps == before_bps)
		return 0;
	counter_inc(&stats->timely_cuts);
	return CC_DID_CUT;
}

/*
 * rtt_diff = (1 - a) rtt_diff + a (new - previous), rounded towards zero. Times are at most 2^40
 * ns, so each term, with factors of 2^20 and 10^6, is below 2^81.
 */
static void
average(struct timely *t, const struct timely_params *params, uint64_t rtt_ns)
{
	int64_t diff_q20 = ((int64_t)rtt_ns - (int64_t)t->rtt_ns) * ONE_Q20;
	__int128 sum = (__int128)t->rtt_diff_q20 * (PPM - params->timely_ewma_ppm) +
		       (__int128)diff_q20 * params->timely_ewma_ppm;

	t->rtt_diff_q20 = (int64_t)(sum / PPM);
}

/* A round-trip time above 18 minutes (2^40 ns) counts as 2^40 ns. */
static uint32_t
on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack, uint64_t now_ns)
{
	struct timely *t = (struct timely *)cc;
	const struct timely_params *params = node->params;
	struct timely_stats *stats = node->stats;
	uint64_t rtt_ns = min_u64(ack->rtt_ns, 1ull << 40);

	(void)now_ns;
	if (rtt_ns == 0)
		return 0;
	counter_inc(&stats->timely_samples);
	/* The first sample has no previous one. */
	if (t->rtt_ns != 0)
		average(t, params, rtt_ns);
	t->rtt_ns = rtt_ns;
	if (rtt_ns < params->timely_t_low_ns) {
		counter_inc(&stats->timely_below_low);
		t->good_samples = 0;
		return CC_DID_RTT | rise(t, node);
	}
	if (rtt_ns > params->timely_t_high_ns) {
		counter_inc(&stats->timely_above_high);
		return CC_DID_RTT |
		       fall(t, node, ONE_Q20 - params->timely_t_high_ns * ONE_Q20 / rtt_ns);
	}
	if (t->rtt_diff_q20 <= 0) {
		if (t->good_samples < UINT8_MAX)
			t->good_samples++;
		return CC_DID_RTT | rise(t, node);
	}
	/* A gradient above 1 counts as 1. */
	return CC_DID_RTT |
	       fall(t, node,
		    min_u64(ONE_Q20, (uint64_t)t->rtt_diff_q20 / params->timely_min_rtt_ns));
}

static void
read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	out->rtt_ns = ((const struct timely *)cc)->rtt_ns;
}

const struct cc_ops cc_timely = {
	CC_TABLES(timely),  .check = check, .min_rate_key = "timely_min_rate_bps",
	.hears_rtts = true, .ack = on_ack,  .read = read,
};
