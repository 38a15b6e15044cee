/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phase margin of a queue's control loop. CoNEXT 2016, appendix A, linearises the equations
 * with Taylor series for (1 - p)^x. Here they are linearised exactly, which gives other margins: a
 * loop of 85 us is then stable with 2 flows and not with 10, as the paper's curves over time are.
 */
#include <complex.h>
#include <math.h>

#include "fluid/fluid.h"
#include "fluid/fluid_law.h"

/* Frequencies that are searched, rad/s: from well below any timer to well above it. */
#define LOWEST 10.0
#define HIGHEST 1e7
#define STEPS_PER_DECADE 500
#define DIFFERENCE 1e-5 /* relative: of the numeric derivatives */
#define SAME 1e-6       /* relative: flows of one rate */
#define DEGREES (180 / M_PI)

/* The loop of equal flows through one queue. Rates in bit/s, the queue in bytes. */
struct loop {
	struct fluid_law law;
	struct fluid_class_point point;
	struct fluid_events at, by_mark, by_rate; /* at the fixed point, and its derivatives */
	double flows, bytes_per_bit, marks_per_byte;
	double rate_delay_s, mark_delay_s;
};

static struct fluid_events
derivative(struct fluid_events low, struct fluid_events high, double step)
{
	return (struct fluid_events){
		.cuts = (high.cuts - low.cuts) / step,
		.increases = (high.increases - low.increases) / step,
		.additive = (high.additive - low.additive) / step,
		.alpha_goal = (high.alpha_goal - low.alpha_goal) / step,
	};
}

static void
linearise(struct loop *loop, double mark)
{
	const double rate_bps = loop->point.rate_bps;
	const double dp = mark * DIFFERENCE, dr = rate_bps * DIFFERENCE;

	loop->at = fluid_events(&loop->law, mark, rate_bps);
	loop->by_mark = derivative(fluid_events(&loop->law, mark - dp, rate_bps),
				   fluid_events(&loop->law, mark + dp, rate_bps), 2 * dp);
	loop->by_rate = derivative(fluid_events(&loop->law, mark, rate_bps - dr),
				   fluid_events(&loop->law, mark, rate_bps + dr), 2 * dr);
}

/*
 * Response of R_C to past events that change by e, from equations 7 to 9:
 *   s alpha = g / tau' (goal - alpha),  s R_T = R_AI additive - gap cuts,
 *   s R_C = gap / 2 increases - R_C cut(alpha) cuts,  with gap = R_T - R_C
 */
static double complex
response(const struct loop *loop, const struct fluid_events *e, double complex s)
{
	const double decay = loop->law.g / loop->law.tau_alpha_s;
	const double gap = loop->law.ai_bps * loop->at.additive / loop->at.cuts;
	const double cut = fluid_cut(&loop->law, loop->point.alpha);
	const double by_alpha = cut < loop->law.most_cut ? loop->law.cut_share : 0;
	const double complex alpha = decay * e->alpha_goal / (s + decay);
	const double complex pull = loop->at.increases / 2 / (s + loop->at.cuts);
	const double complex forced = pull * (loop->law.ai_bps * e->additive - gap * e->cuts) +
				      gap / 2 * e->increases -
				      loop->point.rate_bps * cut * e->cuts -
				      loop->point.rate_bps * by_alpha * loop->at.cuts * alpha;

	/* R_T follows R_C at the rate of cuts: the part of pull that R_C itself causes */
	return forced / (s + loop->at.increases / 2 + cut * loop->at.cuts - pull * loop->at.cuts);
}

/*
 * Open loop, cut at the sending rate: a change of all rates acts on R_C one loop delay later, as
 * packets between two events, and as marks of the queue that it fills. Negative feedback.
 */
static double complex
open_loop(const struct loop *loop, double omega)
{
	const double complex s = I * omega;
	const double complex marks = loop->flows * loop->bytes_per_bit * loop->marks_per_byte / s;

	return -(cexp(-s * loop->rate_delay_s) * response(loop, &loop->by_rate, s) +
		 cexp(-s * loop->mark_delay_s) * marks * response(loop, &loop->by_mark, s));
}

/*
 * The least margin of all frequencies at which the gain is 1. The phase is followed from the lowest
 * frequency.
 */
static bool
search(const struct loop *loop, struct fluid_margin *out)
{
	const double ratio = pow(10, 1.0 / STEPS_PER_DECADE);
	double complex l = open_loop(loop, LOWEST);
	double phase = carg(l), gain = log(cabs(l));
	bool found = false;

	if (phase > 0) /* between -2 pi and 0 there: an integrator or two */
		phase -= 2 * M_PI;
	for (double omega = LOWEST; omega < HIGHEST; omega *= ratio) {
		const double complex next = open_loop(loop, omega * ratio);
		const double turn = carg(next / l), next_gain = log(cabs(next));
		const double share = gain / (gain - next_gain);

		if ((gain > 0) != (next_gain > 0)) {
			const double margin_deg = 180 + (phase + share * turn) * DEGREES;

			if (!found || margin_deg < out->phase_deg)
				*out = (struct fluid_margin){margin_deg, omega * pow(ratio, share) /
										 (2 * M_PI)};
			found = true;
		}
		phase += turn;
		gain = next_gain;
		l = next;
	}
	return found;
}

static bool
is_equal(double a, double b)
{
	return fabs(a - b) <= SAME * fabs(b);
}

/* Is the rate of a class determined by marks alone? */
static bool
is_controlled(const struct fluid_params *p, uint32_t class, const struct fluid_class_point *points)
{
	const struct fluid_class_params *c = &p->classes[class];
	const double most_bps = fmin((double)c->max_rate_bps, (double)c->cap_bps);
	double uplink_bps = 0;

	for (uint32_t i = 0; i < p->n_classes; i++)
		if (p->classes[i].uplink == c->uplink)
			uplink_bps += p->classes[i].qps * points[i].rate_bps;
	return points[class].target_rate_bps < most_bps * (1 - SAME) &&
	       uplink_bps <= (double)p->uplink_rates_bps[c->uplink] * (1 + SAME);
}

/* Add the flows of a class to the loop. @return false if they differ from its other flows. */
static bool
join(struct loop *loop, const struct fluid_params *p, uint32_t class,
     const struct fluid_class_point *points, double wait_s)
{
	const struct fluid_class_params *c = &p->classes[class];
	const double delay_s = (double)p->hops[c->first_hop].loop_delay_ns / 1e9;
	const double bytes_per_bit = c->frame_bytes / c->wire_bytes / 8;

	if (!is_controlled(p, class, points))
		return false;
	if (loop->flows > 0 && !(is_equal(points[class].rate_bps, loop->point.rate_bps) &&
				 is_equal(delay_s, loop->rate_delay_s) &&
				 is_equal(8 * c->wire_bytes, loop->law.packet_bits) &&
				 is_equal(bytes_per_bit, loop->bytes_per_bit)))
		return false;
	loop->law = fluid_law(&p->rp, p->np_min_time_between_cnps_us, c->wire_bytes);
	loop->point = points[class];
	loop->bytes_per_bit = bytes_per_bit;
	loop->rate_delay_s = delay_s;
	loop->mark_delay_s = delay_s + wait_s;
	loop->flows += (double)c->hosts * c->qps;
	return true;
}

bool
fluid_phase_margin(const struct fluid_params *p, const struct fluid_point *of_queues,
		   const struct fluid_class_point *of_classes, uint32_t queue,
		   struct fluid_margin *out)
{
	const struct fluid_queue_params *q = &p->queues[queue];
	const struct fluid_curve curve = fluid_curve(q->wred);
	struct loop loop = {.marks_per_byte = curve.most / (curve.max_bytes - curve.min_bytes)};

	if (!of_queues[queue].interior)
		return false;
	for (uint32_t i = 0; i < p->n_classes; i++) {
		const struct fluid_class_params *c = &p->classes[i];
		double wait_s = q->mark_at_enqueue
					? of_queues[queue].queue_bytes * c->wire_bytes /
						  c->frame_bytes * 8 / (double)q->link_rate_bps
					: 0;
		bool passes = false, elsewhere = false;

		for (uint32_t h = c->first_hop; h < c->first_hop + c->n_hops; h++) {
			passes |= p->hops[h].queue == queue;
			elsewhere |=
				p->hops[h].queue != queue && of_queues[p->hops[h].queue].mark > 0;
		}
		if (passes && (elsewhere || !join(&loop, p, i, of_classes, wait_s)))
			return false;
	}
	linearise(&loop, of_queues[queue].mark);
	return search(&loop, out);
}
