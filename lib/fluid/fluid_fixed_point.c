/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "fluid/fluid.h"
#include "fluid/fluid_law.h"

/* Halvings of an interval: to the last bit of a double. */
#define HALVINGS 200
#define LEAST_MARK 1e-12

/*
 * dR_C/dt at dR_T/dt = 0 and dalpha/dt = 0, relative to the rate: below 0 the flow is too fast for
 * its marks. With alpha = alpha_goal, equation 8 gives the gap R_T - R_C = R_AI additive / cuts,
 * and equation 9 then: gap increases / 2 - R_C cut(alpha) cuts.
 */
static double
drift(const struct fluid_law *law, double mark, double rate_bps)
{
	struct fluid_events e = fluid_events(law, mark, rate_bps);

	return law->ai_bps * e.additive / e.cuts * e.increases / 2 -
	       rate_bps * fluid_cut(law, e.alpha_goal) * e.cuts;
}

/* The rate that this share of marks lets a QP have. */
static double
rate_at(const struct fluid_params *p, const struct fluid_class_params *c, double mark)
{
	struct fluid_law law = fluid_law(&p->rp, p->np_min_time_between_cnps_us, c->wire_bytes);
	double low = (double)p->rp.rp_min_rate_bps;
	double high = fmin((double)p->rp.rp_max_rate_bps, (double)c->cap_bps);

	if (high <= low || drift(&law, mark, low) <= 0)
		return fmin(low, high);
	if (drift(&law, mark, high) >= 0)
		return high;
	for (int i = 0; i < HALVINGS && high - low > 1e-9 * high; i++) {
		double middle = (low + high) / 2;

		if (drift(&law, mark, middle) > 0)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static double
load_at(const struct fluid_params *p, uint32_t queue, double mark)
{
	double sum_bps = 0;

	for (uint32_t i = 0; i < p->n_classes; i++) {
		const struct fluid_class_params *c = &p->classes[i];

		if (c->queue == queue)
			sum_bps += (double)c->hosts * c->qps * rate_at(p, c, mark);
	}
	return sum_bps / (double)p->link_rate_bps;
}

static struct fluid_class_point
class_point(const struct fluid_params *p, const struct fluid_class_params *c, double mark)
{
	struct fluid_law law = fluid_law(&p->rp, p->np_min_time_between_cnps_us, c->wire_bytes);
	double rate_bps = rate_at(p, c, mark);
	struct fluid_events e = fluid_events(&law, mark, rate_bps);
	double target_bps = rate_bps + law.ai_bps * e.additive / e.cuts;

	return (struct fluid_class_point){
		.rate_bps = rate_bps,
		.target_rate_bps = fmin(target_bps, (double)p->rp.rp_max_rate_bps),
		.alpha = e.alpha_goal,
	};
}

struct fluid_point
fluid_fixed_point(const struct fluid_params *p, uint32_t queue,
		  struct fluid_class_point *of_classes)
{
	struct fluid_curve curve = fluid_curve(&p->wred);
	double low = LEAST_MARK, high = 1;
	struct fluid_point point;

	for (int i = 0; i < HALVINGS && high - low > 1e-12 * high; i++) {
		double middle = sqrt(low * high);

		if (load_at(p, queue, middle) > 1)
			low = middle;
		else
			high = middle;
	}
	point.mark = high;
	point.load = load_at(p, queue, high);
	/* Not even unmarked they overload the link: nothing waits. */
	if (high < 2 * LEAST_MARK)
		point.mark = 0;
	point.interior =
		point.mark > 0 && point.mark < curve.most && curve.max_bytes > curve.min_bytes;
	if (point.interior)
		point.queue_bytes = curve.min_bytes +
				    point.mark / curve.most * (curve.max_bytes - curve.min_bytes);
	else
		point.queue_bytes = point.mark > 0 ? curve.max_bytes : 0;
	for (uint32_t i = 0; of_classes != NULL && i < p->n_classes; i++)
		if (p->classes[i].queue == queue)
			of_classes[i] = class_point(p, &p->classes[i], high);
	return point;
}
