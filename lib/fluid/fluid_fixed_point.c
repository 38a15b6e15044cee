/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fluid/fluid.h"
#include "fluid/fluid_law.h"

#define LEAST_MARK 1e-12
#define MOST_STEPS 200
/*
 * Limit of the iterations over all queues, in which the prices of queues that share flows converge.
 */
#define MOST_ROUNDS 1000
/* Tolerance of a load, relative; loads themselves are computed to more digits. */
#define LOAD_DIGITS 1e-9

typedef double (*falling_fn)(void *arg, double v);

/*
 * Root of a falling function in [low, high], or the end that is nearest to it, by the Illinois
 * method over ln v. The functions here are logarithms of functions close to power laws, so a few
 * steps suffice.
 */
static double
root(falling_fn fn, void *arg, double low, double high)
{
	double a = log(low), b = log(high), fa = fn(arg, low), fb = fn(arg, high);
	int side = 0;

	if (fa <= 0)
		return low;
	if (fb >= 0)
		return high;
	for (int i = 0; i < MOST_STEPS && b - a > 1e-15 * fabs(a); i++) {
		/*
		 * Every fourth step is a bisection, so that the search converges for any function.
		 */
		double c = i % 4 == 3 ? (a + b) / 2 : (a * fb - b * fa) / (fb - fa);
		double fc = fn(arg, exp(c));

		if (fabs(fc) < 1e-13)
			return exp(c);
		if (fc > 0) {
			a = c;
			fa = fc;
			if (side > 0)
				fb /= 2;
			side = 1;
		} else {
			b = c;
			fb = fc;
			if (side < 0)
				fa /= 2;
			side = -1;
		}
	}
	return exp((a + b) / 2);
}

struct marked_flow {
	struct fluid_law law;
	double mark;
};

/*
 * Logarithm of the ratio of a QP's increase to its decrease, at dR_T/dt = 0 and dalpha/dt = 0. With
 * alpha = alpha_goal, equation 8 gives the gap R_T - R_C = R_AI additive / cuts; in equation 9 the
 * increase is gap increases / 2, and the decrease R_C cut(alpha) cuts.
 */
static double
gain(void *arg, double rate_bps)
{
	const struct marked_flow *flow = arg;
	struct fluid_events e = fluid_events(&flow->law, flow->mark, rate_bps);
	double raised = flow->law.ai_bps * e.additive / e.cuts * e.increases / 2;
	double cut = rate_bps * fluid_cut(&flow->law, e.alpha_goal) * e.cuts;

	/* Either side may be out of the range of a double. */
	if (!(raised > 1e-300))
		return -700;
	return cut > 1e-300 && isfinite(raised) ? log(raised / cut) : 700;
}

/* Rate of a QP if this share of its packets is marked. */
static double
rate_at(const struct fluid_params *p, const struct fluid_class_params *c, double mark)
{
	struct marked_flow flow = {
		.law = fluid_law(&p->rp, p->np_min_time_between_cnps_us, c->wire_bytes),
		.mark = mark,
	};
	double low = (double)p->rp.rp_min_rate_bps;
	double high = fmin((double)c->max_rate_bps, (double)c->cap_bps);

	if (high <= low)
		return high;
	return mark > 0 ? root(gain, &flow, low, high) : high;
}

/* The unknowns: the price x = -ln(1 - p) of each queue, and their sum for each class. */
struct prices {
	const struct fluid_params *params;
	double *of_queues, *of_classes;
	double *rates_bps;  /* of a QP of each class at these prices, before its uplink's limit */
	double *tried_bps;  /* the same at the price under trial */
	double *uplink_bps; /* demand on each uplink at that price */
	uint32_t *place;    /* of each queue: its largest hop number on any path */
};

static bool
passes(const struct prices *x, uint32_t class, uint32_t queue)
{
	const struct fluid_class_params *c = &x->params->classes[class];

	for (uint32_t h = c->first_hop; h < c->first_hop + c->n_hops; h++)
		if (x->params->hops[h].queue == queue)
			return true;
	return false;
}

/* Rates of all classes at this mark of the queue, with the other prices unchanged. */
static void
try_mark(struct prices *x, uint32_t queue, double mark)
{
	const struct fluid_params *p = x->params;
	double change = -log1p(-mark) - x->of_queues[queue];

	for (uint32_t u = 0; u < p->n_uplinks; u++)
		x->uplink_bps[u] = 0;
	for (uint32_t i = 0; i < p->n_classes; i++) {
		const struct fluid_class_params *c = &p->classes[i];

		x->tried_bps[i] = x->rates_bps[i];
		if (passes(x, i, queue))
			x->tried_bps[i] = rate_at(p, c, -expm1(-(x->of_classes[i] + change)));
		x->uplink_bps[c->uplink] += c->qps * x->tried_bps[i];
	}
}

/* The queue's load at those rates; QPs that exceed their uplink share it in proportion. */
static double
load_at(struct prices *x, uint32_t queue, double mark)
{
	double sum_bps = 0;

	try_mark(x, queue, mark);
	for (uint32_t i = 0; i < x->params->n_classes; i++) {
		const struct fluid_class_params *c = &x->params->classes[i];
		double over =
			x->uplink_bps[c->uplink] / (double)x->params->uplink_rates_bps[c->uplink];

		if (passes(x, i, queue))
			sum_bps += (double)c->hosts * c->qps * x->tried_bps[i] / fmax(over, 1);
	}
	return sum_bps / (double)x->params->queues[queue].link_rate_bps;
}

static double
mark_of(const struct prices *x, uint32_t queue)
{
	return -expm1(-x->of_queues[queue]);
}

struct tried_queue {
	struct prices *x;
	uint32_t queue;
};

static double
overload(void *arg, double mark)
{
	const struct tried_queue *tried = arg;

	return log(load_at(tried->x, tried->queue, mark));
}

/* The mark at which the load is the link's rate; 0 if the load is below it without marks. */
static double
needed_mark(struct prices *x, uint32_t queue)
{
	struct tried_queue tried = {x, queue};
	double mark = root(overload, &tried, LEAST_MARK, 1 - LEAST_MARK);

	return mark > LEAST_MARK ? mark : 0;
}

/* @return true if the queue's price changed. */
static bool
settle(struct prices *x, uint32_t queue)
{
	double load = load_at(x, queue, mark_of(x, queue));
	double mark, price, change;

	if (fabs(load - 1) < LOAD_DIGITS || (load < 1 && x->of_queues[queue] <= 0))
		return false;
	mark = needed_mark(x, queue);
	price = -log1p(-mark);
	change = price - x->of_queues[queue];
	try_mark(x, queue, mark);
	x->of_queues[queue] = price;
	for (uint32_t i = 0; i < x->params->n_classes; i++) {
		if (!passes(x, i, queue))
			continue;
		x->of_classes[i] = fmax(0, x->of_classes[i] + change);
		x->rates_bps[i] = x->tried_bps[i];
	}
	return change != 0;
}

/*
 * Go through the queues in the order of the paths, so that of two full queues the first one marks.
 */
static void
find_prices(struct prices *x)
{
	const struct fluid_params *p = x->params;
	uint32_t farthest = 0;
	bool changed = true;

	for (uint32_t i = 0; i < p->n_classes; i++) {
		const struct fluid_class_params *c = &p->classes[i];

		x->rates_bps[i] = rate_at(p, c, 0);
		for (uint32_t k = 0; k < c->n_hops; k++) {
			uint32_t *place = &x->place[p->hops[c->first_hop + k].queue];

			*place = *place > k ? *place : k;
			farthest = farthest > k ? farthest : k;
		}
	}
	for (int round = 0; changed && round < MOST_ROUNDS; round++) {
		changed = false;
		for (uint32_t place = 0; place <= farthest; place++)
			for (uint32_t q = 0; q < p->n_queues; q++)
				if (x->place[q] == place)
					changed |= settle(x, q);
	}
}

static struct fluid_point
queue_point(struct prices *x, uint32_t queue)
{
	struct fluid_curve curve = fluid_curve(x->params->queues[queue].wred);
	struct fluid_point point = {.mark = mark_of(x, queue)};

	point.load = load_at(x, queue, point.mark);
	point.interior =
		point.mark > 0 && point.mark < curve.most && curve.max_bytes > curve.min_bytes;
	if (point.interior)
		point.queue_bytes = curve.min_bytes +
				    point.mark / curve.most * (curve.max_bytes - curve.min_bytes);
	else
		point.queue_bytes = point.mark > 0 ? curve.max_bytes : 0;
	return point;
}

static struct fluid_class_point
class_point(const struct prices *x, uint32_t class)
{
	const struct fluid_params *p = x->params;
	const struct fluid_class_params *c = &p->classes[class];
	struct fluid_law law = fluid_law(&p->rp, p->np_min_time_between_cnps_us, c->wire_bytes);
	double mark = fmax(-expm1(-x->of_classes[class]), LEAST_MARK);
	double rate_bps = rate_at(p, c, mark);
	struct fluid_events e = fluid_events(&law, mark, rate_bps);
	double target_bps = rate_bps + law.ai_bps * e.additive / e.cuts;

	return (struct fluid_class_point){
		.rate_bps = rate_bps,
		.target_rate_bps = fmin(target_bps, (double)c->max_rate_bps),
		.alpha = e.alpha_goal,
	};
}

int
fluid_fixed_point(const struct fluid_params *p, struct fluid_point *of_queues,
		  struct fluid_class_point *of_classes)
{
	struct prices x = {
		.params = p,
		.of_queues = calloc(p->n_queues, sizeof(double)),
		.of_classes = calloc(p->n_classes, sizeof(double)),
		.rates_bps = calloc(p->n_classes, sizeof(double)),
		.tried_bps = calloc(p->n_classes, sizeof(double)),
		.uplink_bps = calloc(p->n_uplinks, sizeof(double)),
		.place = calloc(p->n_queues, sizeof(uint32_t)),
	};
	bool ok = x.of_queues != NULL && x.of_classes != NULL && x.rates_bps != NULL &&
		  x.tried_bps != NULL && x.uplink_bps != NULL && x.place != NULL;

	if (ok)
		find_prices(&x);
	for (uint32_t q = 0; ok && q < p->n_queues; q++)
		of_queues[q] = queue_point(&x, q);
	for (uint32_t i = 0; ok && of_classes != NULL && i < p->n_classes; i++)
		of_classes[i] = class_point(&x, i);
	free(x.of_queues);
	free(x.of_classes);
	free(x.rates_bps);
	free(x.tried_bps);
	free(x.uplink_bps);
	free(x.place);
	return ok ? 0 : -ENOMEM;
}
