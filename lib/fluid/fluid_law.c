/* SPDX-License-Identifier: BSD-3-Clause */
#include "fluid/fluid_law.h"

#include <math.h>

/* A smaller share of marked packets counts as 0, because the formulas approach 0 / 0. */
#define LEAST_MARK 1e-14

struct fluid_law
fluid_law(const struct rp_params *rp, uint32_t np_min_time_between_cnps_us, double packet_bytes)
{
	return (struct fluid_law){
		.tau_s = np_min_time_between_cnps_us * 1e-6,
		.tau_alpha_s = rp->rp_dce_tcp_rtt_us * 1e-6,
		.time_reset_s = rp->rp_time_reset_us * 1e-6,
		.byte_reset_packets = (double)rp->rp_byte_reset_bytes / packet_bytes,
		.threshold = rp->rp_threshold,
		.g = 1 - rp->rp_dce_tcp_g / 1024.0,
		.cut_share = ldexp(1, 10 - rp->rp_gd),
		.most_cut = 1 - rp->rp_min_dec_fac_pct / 100.0,
		.ai_bps = (double)rp->rp_ai_rate_bps,
		.packet_bits = 8 * packet_bytes,
	};
}

double
fluid_cut(const struct fluid_law *law, double alpha)
{
	return fmin(alpha * law->cut_share, law->most_cut);
}

static double
power(double base, unsigned int n)
{
	double product = 1;

	for (; n > 0; n--)
		product *= base;
	return product;
}

/*
 * Add the events of a counter that expires after `packets` packets without a mark (a CNP restarts
 * it): r p / ((1 - p)^-packets - 1). The share (1 - p)^(F packets) of them, those after the first
 * F, is additive.
 *
 * @param log_free  ln(1 - p), 0 when there are no marks.
 */
static void
add_increases(struct fluid_events *e, const struct fluid_law *law, double packets, double mark,
	      double log_free, double packets_per_s)
{
	double hit = -expm1(log_free * packets); /* 1 - (1 - p)^packets */
	double free_of_marks = 1 - hit;
	double events =
		mark > 0 ? packets_per_s * mark * free_of_marks / hit : packets_per_s / packets;

	e->increases += events;
	e->additive += events * power(free_of_marks, law->threshold);
}

struct fluid_events
fluid_events(const struct fluid_law *law, double mark, double rate_bps)
{
	double r = rate_bps / law->packet_bits; /* packets/s */
	double log_free, tau_s;
	struct fluid_events e = {0};

	if (mark < LEAST_MARK)
		mark = 0;
	log_free = log1p(-mark);
	/* Without packets only the timer expires. */
	if (r * law->time_reset_s < 1e-9) {
		e.increases = e.additive = 1 / law->time_reset_s;
		return e;
	}
	/* If N is below the time between two packets, each marked packet causes a CNP. */
	tau_s = fmax(law->tau_s, 1 / r);
	e.cuts = -expm1(log_free * tau_s * r) / tau_s;
	e.alpha_goal = -expm1(log_free * law->tau_alpha_s * r);
	add_increases(&e, law, law->time_reset_s * r, mark, log_free, r);
	if (law->byte_reset_packets > 0)
		add_increases(&e, law, law->byte_reset_packets, mark, log_free, r);
	return e;
}

struct fluid_curve
fluid_curve(const struct wred_params *w)
{
	if (w->ecn_green_max_threshold_bytes > 0)
		return (struct fluid_curve){(double)w->ecn_green_min_threshold_bytes,
					    (double)w->ecn_green_max_threshold_bytes,
					    w->ecn_green_mark_probability_ppm / 1e6};
	return (struct fluid_curve){(double)w->green_min_threshold_bytes,
				    (double)w->green_max_threshold_bytes,
				    w->green_drop_probability_ppm / 1e6};
}

double
fluid_mark(const struct wred_params *wred, double queue_bytes)
{
	struct fluid_curve c = fluid_curve(wred);

	if (queue_bytes <= c.min_bytes)
		return 0;
	if (queue_bytes > c.max_bytes)
		return 1;
	return c.most * (queue_bytes - c.min_bytes) / (c.max_bytes - c.min_bytes);
}
