/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/timely.h"

#include "base/numbers/array.h"
#include "base/threads/counter.h"
#include "base/field/field_table.h"
#include "base/numbers/fixed.h"

/* Section 4.3 of the TIMELY paper: five times delta in hyperactive increase. */
#define HAI_STEPS 5
#define PPM INT64_C(1000000)

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

int
timely_params_check(const struct timely_params *p, char *why, unsigned int why_size)
{
	int rc = fields_check(timely_fields, timely_fields_n, p, why, why_size);

	if (rc == 0 && p->timely_t_low_ns >= p->timely_t_high_ns)
		rc = params_refuse(why, why_size, "timely_t_low_ns must be below timely_t_high_ns");
	return rc;
}

void
timely_init(struct timely *t, const struct timely_params *params, uint64_t start_rate_bps,
	    uint64_t max_rate_bps)
{
	*t = (struct timely){
		.rate_bps =
			min_u64(max_u64(start_rate_bps, params->timely_min_rate_bps), max_rate_bps),
		.next_event_ns = NEVER_NS,
	};
}

static uint32_t
rise(struct timely *t, const struct timely_params *params, struct timely_stats *stats,
     uint64_t max_rate_bps)
{
	bool hyper = t->good_samples >= params->timely_hai_threshold;
	uint64_t step_bps = (hyper ? HAI_STEPS : 1) * params->timely_ai_rate_bps;
	uint64_t before_bps = t->rate_bps;

	t->rate_bps = min_u64(before_bps + step_bps, max_rate_bps);
	counter_inc(&stats->timely_increases);
	if (t->rate_bps == before_bps)
		return 0;
	return hyper ? CC_DID_HYPER : CC_DID_RAISE;
}

/* rate (1 - beta share); share in [0, 1], as a fraction share_q10 / 1024. */
static uint32_t
fall(struct timely *t, const struct timely_params *params, struct timely_stats *stats,
     uint64_t share_q10)
{
	uint64_t beta_share = params->timely_beta_ppm * share_q10, before_bps = t->rate_bps;
	uint64_t cut_bps = mul_div(t->rate_bps, beta_share, 1024 * (uint64_t)PPM);

	t->rate_bps =
		max_u64(t->rate_bps - cut_bps, min_u64(params->timely_min_rate_bps, t->rate_bps));
	t->good_samples = 0;
	/* Unchanged at the minimum rate. */
	if (t->rate_bps == before_bps)
		return 0;
	counter_inc(&stats->timely_cuts);
	return CC_DID_CUT;
}

/*
 * rtt_diff = (1 - a) rtt_diff + a (new - previous), rounded towards zero. Times are at most 2^40
 * ns, so each term, with factors of 2^10 and 10^6, is below 2^71.
 */
static void
average(struct timely *t, const struct timely_params *params, uint64_t rtt_ns)
{
	int64_t diff_q10 = ((int64_t)rtt_ns - (int64_t)t->rtt_ns) * 1024;
	__int128 sum = (__int128)t->rtt_diff_q10 * (PPM - params->timely_ewma_ppm) +
		       (__int128)diff_q10 * params->timely_ewma_ppm;

	t->rtt_diff_q10 = (int64_t)(sum / PPM);
}

uint32_t
timely_on_rtt(struct timely *t, const struct timely_params *params, struct timely_stats *stats,
	      uint64_t rtt_ns, uint64_t max_rate_bps)
{
	rtt_ns = min_u64(rtt_ns, 1ull << 40);
	counter_inc(&stats->timely_samples);
	/* The first sample has no previous one. */
	if (t->rtt_ns != 0)
		average(t, params, rtt_ns);
	t->rtt_ns = rtt_ns;
	if (rtt_ns < params->timely_t_low_ns) {
		counter_inc(&stats->timely_below_low);
		t->good_samples = 0;
		return CC_DID_RTT | rise(t, params, stats, max_rate_bps);
	}
	if (rtt_ns > params->timely_t_high_ns) {
		counter_inc(&stats->timely_above_high);
		return CC_DID_RTT |
		       fall(t, params, stats, 1024 - params->timely_t_high_ns * 1024 / rtt_ns);
	}
	if (t->rtt_diff_q10 <= 0) {
		if (t->good_samples < UINT8_MAX)
			t->good_samples++;
		return CC_DID_RTT | rise(t, params, stats, max_rate_bps);
	}
	/* A gradient above 1 counts as 1. */
	return CC_DID_RTT |
	       fall(t, params, stats,
		    min_u64(1024, (uint64_t)t->rtt_diff_q10 / params->timely_min_rtt_ns));
}
