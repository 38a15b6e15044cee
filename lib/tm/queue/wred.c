// SPDX-License-Identifier: BSD-3-Clause
#include "tm/queue/wred.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/field/field_table.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

#define PPM 1000000u
#define SMALL_FRAME_BITS (84 * 8ull)

static const char *const ecn_words[] = {"ecn_none", "ecn_all", NULL};

const struct field wred_fields[] = {
	{FIELD_OF(struct wred_params, wred_green_enable), .type = FIELD_BOOL, .def = "on",
	 .live = true,
	 .help = "whether WRED acts on the queue; off: the queue only has its "
		 "length limit"},
	{FIELD_OF(struct wred_params, ecn), .type = FIELD_ENUM, .choices = ecn_words,
	 .def = "ecn_all", .live = true,
	 .help = "ecn_all: mark ECT packets; ecn_none: drop them instead"},
	{FIELD_OF(struct wred_params, green_min_threshold_bytes), .type = FIELD_U64,
	 .unit = UNIT_BYTES, .max = WRED_MAX_BYTES, .def = "5KB", .live = true,
	 .aliases = {{.name = "green_min_threshold"}, {.name = "Kmin"}, {.name = "K_min"}},
	 .help = "queue length up to which nothing is marked; default: the paper's value for 40G"},
	{FIELD_OF(struct wred_params, green_max_threshold_bytes), .type = FIELD_U64,
	 .unit = UNIT_BYTES, .max = WRED_MAX_BYTES, .def = "200KB", .live = true,
	 .aliases = {{.name = "green_max_threshold"}, {.name = "Kmax"}, {.name = "K_max"}},
	 .help = "queue length above which everything is marked; default: the paper's value for "
		 "40G"},
	{FIELD_OF(struct wred_params, green_drop_probability_ppm), .type = FIELD_U32,
	 .unit = UNIT_PPM, .max = PPM, .def = "1%", .live = true,
	 .aliases = {{.name = "green_drop_probability", .scale = PPM / 100},
		     {.name = "Pmax", .scale = PPM},
		     {.name = "P_max", .scale = PPM}},
	 .help = "probability at the max threshold; default: the paper's value for 40G; Pmax, "
		 "P_max: fractions; green_drop_probability: %"},
	{FIELD_OF(struct wred_params, ecn_green_min_threshold_bytes), .type = FIELD_U64,
	 .unit = UNIT_BYTES, .max = WRED_MAX_BYTES, .def = "0", .live = true,
	 .help = "min threshold of a separate curve for marks (SAI)"},
	{FIELD_OF(struct wred_params, ecn_green_max_threshold_bytes), .type = FIELD_U64,
	 .unit = UNIT_BYTES, .max = WRED_MAX_BYTES, .def = "0", .live = true,
	 .help = "max threshold of a separate curve for marks; green_* then apply to drops only; "
		 "0: green_* apply to marks and drops"},
	{FIELD_OF(struct wred_params, ecn_green_mark_probability_ppm), .type = FIELD_U32,
	 .unit = UNIT_PPM, .max = PPM, .def = "100%", .live = true,
	 .aliases = {{.name = "ecn_green_mark_probability", .scale = PPM / 100}},
	 .help = "probability at ecn_green_max_threshold_bytes"},
	{FIELD_OF(struct wred_params, wred_weight), .type = FIELD_U8, .max = 15, .def = "0",
	 .live = true,
	 .help = "w: the curve uses an average queue length, in which each packet's sample has "
		 "weight 1 / 2^w; 0: the current queue length"},
	{FIELD_OF(struct wred_params, nonect_drop_in_lossless), .type = FIELD_BOOL, .def = "off",
	 .live = true,
	 .help = "on: the curve also drops non-ECT packets of lossless queues, as vendors do; "
		 "off: it never drops them"},
};

const unsigned int wred_fields_n = ARRAY_LEN(wred_fields);

int
wred_params_check(const struct wred_params *p, char *why, unsigned int why_size)
{
	int rc = fields_check(wred_fields, wred_fields_n, p, why, why_size);

	if (rc != 0)
		return rc;
	if (p->green_min_threshold_bytes > p->green_max_threshold_bytes)
		return params_refuse(
			why, why_size,
			"green_min_threshold_bytes is above green_max_threshold_bytes");
	if (p->ecn_green_min_threshold_bytes > p->ecn_green_max_threshold_bytes)
		return params_refuse(
			why, why_size,
			"ecn_green_min_threshold_bytes is above ecn_green_max_threshold_bytes");
	return 0;
}

static uint64_t
mul_q63(uint64_t a, uint64_t fraction_q63)
{
	return (uint64_t)((unsigned __int128)a * fraction_q63 >> 63);
}

static struct wred_curve
make_curve(uint64_t min_bytes, uint64_t max_bytes, uint32_t pmax_ppm)
{
	uint64_t span_bytes = max_bytes - min_bytes;
	uint64_t pmax_q32 = mul_div(pmax_ppm, Q32_ONE, PPM);
	struct wred_curve c = {.min_bytes = (uint32_t)min_bytes, .max_bytes = (uint32_t)max_bytes};

	assert(min_bytes <= max_bytes && max_bytes <= WRED_MAX_BYTES && pmax_q32 <= Q32_ONE);
	/*
	 * Rounded up, so that p(max) is exactly Pmax. The excess over the whole span is below span
	 * / 2^31, which is at most 1 ulp of Q32 and is truncated. The slope is unused when span is
	 * 0.
	 */
	if (span_bytes > 0)
		c.slope_q63 = ((pmax_q32 << 31) + span_bytes - 1) / span_bytes;
	return c;
}

void
wred_init(struct wred *w, const struct wred_params *p)
{
	memset(w, 0, sizeof(*w));
	w->enabled = p->wred_green_enable;
	w->weight = p->wred_weight;
	w->drop = make_curve(p->green_min_threshold_bytes, p->green_max_threshold_bytes,
			     p->green_drop_probability_ppm);
	w->mark = w->drop;
	if (p->ecn_green_max_threshold_bytes > 0)
		w->mark = make_curve(p->ecn_green_min_threshold_bytes,
				     p->ecn_green_max_threshold_bytes,
				     p->ecn_green_mark_probability_ppm);
}

/*
 * F&J 1993 figure 2: m = f(time - q_time), avg = (1 - w_q)^m avg. f converts time to small packets,
 * as they suggest: a frame of 64 bytes with preamble and gap. The power is computed by squaring, in
 * at most 22 steps. (1 - 2^-w)^m < e^(-m / 2^w), so 64 x 2^w packets reduce any average below 2^64
 * to 0.
 */
void
wred_age(struct wred *w, uint64_t rate_bps, uint64_t now_ns)
{
	uint64_t idle_ns = sub_sat(now_ns, w->idle_since_ns);
	uint64_t most = 64ull << w->weight;
	/*
	 * (1 - 2^-w) as Q63, rounded down at each step so that an idle queue's average reaches 0.
	 */
	uint64_t factor_q63 = (1ull << 63) - (1ull << (63 - w->weight));
	unsigned __int128 small_frames =
		(unsigned __int128)idle_ns * rate_bps / (SMALL_FRAME_BITS * NS_PER_SEC);

	assert(w->weight > 0);
	w->idle_since_ns = max_u64(now_ns, w->idle_since_ns);
	if (small_frames >= most) {
		w->average_q16 = 0;
		return;
	}
	for (uint64_t m = (uint64_t)small_frames; m > 0; m >>= 1) {
		if (m & 1)
			w->average_q16 = mul_q63(w->average_q16, factor_q63);
		factor_q63 = mul_q63(factor_q63, factor_q63);
	}
}
