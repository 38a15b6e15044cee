/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/curve/law.h"

#include <math.h>

#include "base/numbers/array.h"

/* A recovery is over near the line's rate. */
#define NEAR_LINE 0.95
/* Errors count at most that much. */
#define MOST_ERROR 0.02
/* More events than that are of a byte counter that is no parameter in use. */
#define MOST_EVENTS 200000u

void
law_data_fill(struct law_data *d, const struct curve *c, uint64_t from_ns, double span_ns,
	      uint32_t points, double line_bps)
{
	uint32_t i = curve_find(c, from_ns);
	uint64_t end_ns = c->n > 0 ? c->points[c->n - 1].at_ns : 0;

	d->n = 0;
	d->line_bps = line_bps;
	if (i >= c->n)
		return;
	span_ns = fmax(span_ns, (double)(end_ns - from_ns) / (LAW_SPANS - 1));
	d->at_ns[0] = (double)(c->points[i].at_ns - c->points[0].at_ns);
	d->bytes[0] = (double)(c->points[i].bytes - c->points[0].bytes);
	while (d->n < LAW_SPANS) {
		uint32_t next = i + points;
		double rate;

		while (next < c->n &&
		       (double)(c->points[next].at_ns - c->points[i].at_ns) < span_ns)
			next++;
		if (next >= c->n)
			return;
		rate = (double)(c->points[next].bytes - c->points[i].bytes) * 8e9 /
		       (double)(c->points[next].at_ns - c->points[i].at_ns);
		if (rate > NEAR_LINE * line_bps)
			return;
		i = next;
		d->n++;
		d->at_ns[d->n] = (double)(c->points[i].at_ns - c->points[0].at_ns);
		d->bytes[d->n] = (double)(c->points[i].bytes - c->points[0].bytes);
	}
}

/* A recovery that runs. */
struct run {
	const struct law *law;
	struct law_steps steps;
	double now_ns, bytes, rate_bps, target_bps, most_bps;
	double next_timer_ns, next_bytes;
	double time_stage, byte_stage;
	uint32_t events;
};

static void
raise(struct run *r, double time_stage, double byte_stage)
{
	const struct law *law = r->law;
	double high = fmax(time_stage, byte_stage), low = fmin(time_stage, byte_stage);
	double f = law->fast_steps;

	if (law->kind == LAW_MLX_TIMER)
		low = time_stage;
	if (law->kind == LAW_PAPER ? high <= f : high < f) {
		r->steps.fast++;
	} else if (low > f) {
		r->steps.hyper++;
		r->target_bps += law->kind == LAW_PAPER ? (low - f) * law->hai_bps : law->hai_bps;
	} else {
		r->steps.additive++;
		r->target_bps += law->ai_bps;
	}
	r->target_bps = fmin(r->target_bps, r->most_bps);
	r->rate_bps = (r->target_bps + r->rate_bps) / 2;
	r->events++;
}

/* The stages of paper include the event, those of mlx do not. */
static void
expire(struct run *r, bool is_timer)
{
	double before = r->law->kind == LAW_PAPER ? 1 : 0;

	if (is_timer) {
		raise(r, r->time_stage + before, r->byte_stage);
		r->time_stage++;
		r->next_timer_ns += r->law->timer_ns;
	} else {
		raise(r, r->time_stage, r->byte_stage + before);
		r->byte_stage++;
		r->next_bytes += r->law->byte_reset;
	}
}

static void
run_until(struct run *r, double until_ns)
{
	while (r->now_ns < until_ns && r->events < MOST_EVENTS) {
		double full_ns = r->next_bytes == 0 ? INFINITY
						    : r->now_ns + (r->next_bytes - r->bytes) * 8e9 /
									  r->rate_bps;
		double at_ns = fmin(fmin(r->next_timer_ns, full_ns), until_ns);

		r->bytes += r->rate_bps * (at_ns - r->now_ns) / 8e9;
		r->now_ns = at_ns;
		if (at_ns >= until_ns)
			return;
		if (full_ns <= r->next_timer_ns)
			r->bytes = r->next_bytes;
		expire(r, full_ns > r->next_timer_ns);
	}
}

double
law_error(const struct law *law, const struct law_data *d, struct law_steps *steps)
{
	struct run r = {
		.law = law,
		.now_ns = law->cut_ns,
		.rate_bps = law->rate_bps,
		.target_bps = law->target_bps,
		.most_bps = d->line_bps,
		.next_timer_ns = law->cut_ns + law->timer_ns,
		.next_bytes = law->byte_reset,
	};
	double sum = 0, before, begin;

	run_until(&r, d->at_ns[0]);
	begin = r.bytes;
	for (uint32_t i = 0; i < d->n; i++) {
		double seen = d->bytes[i + 1] - d->bytes[i], error;

		before = r.bytes;
		run_until(&r, d->at_ns[i + 1]);
		if (d->frame_bytes > 0)
			error = (r.bytes - begin - d->bytes[i + 1] + d->bytes[0]) / d->frame_bytes;
		else
			error = fmin(fabs((r.bytes - before) / seen - 1), MOST_ERROR);
		sum += error * error;
	}
	if (steps != NULL)
		*steps = r.steps;
	return d->n == 0 || r.events >= MOST_EVENTS ? 1 : sum / d->n;
}

/* Members that a search changes, by a factor; the time of the cut by a share of T. */
enum { AT_CUT, AT_RATE, AT_TARGET, AT_TIMER, AT_AI, AT_HAI, AT_BYTES, ATS };

static void
move(struct law *law, unsigned int at, double step)
{
	double *const members[ATS] = {
		[AT_RATE] = &law->rate_bps,  [AT_TARGET] = &law->target_bps,
		[AT_TIMER] = &law->timer_ns, [AT_AI] = &law->ai_bps,
		[AT_HAI] = &law->hai_bps,    [AT_BYTES] = &law->byte_reset,
	};

	if (at == AT_CUT)
		law->cut_ns += step * law->timer_ns;
	else
		*members[at] *= 1 + step;
	law->target_bps = fmax(law->target_bps, law->rate_bps);
}

static bool
is_fixed(const struct law *law, unsigned int at, unsigned int fixed)
{
	return (at == AT_TIMER && (fixed & LAW_TIMER)) || (at == AT_AI && (fixed & LAW_AI)) ||
	       (at == AT_HAI && (fixed & LAW_HAI)) || (at == AT_BYTES && (fixed & LAW_BYTES)) ||
	       (law->byte_reset == 0 && law->kind != LAW_MLX_TIMER && at == AT_HAI) ||
	       (law->byte_reset == 0 && at == AT_BYTES);
}

static bool
is_known(const struct law *law, const struct law_data *d)
{
	return law->cut_ns >= d->cut_from_ns && law->cut_ns <= d->cut_to_ns &&
	       law->timer_ns >= d->timer_from_ns && law->timer_ns <= d->timer_to_ns;
}

/* The same change once more. */
static void
move_on(struct law *law, const struct law *from)
{
	struct law to = *law;

	to.cut_ns += law->cut_ns - from->cut_ns;
	to.timer_ns *= law->timer_ns / from->timer_ns;
	to.rate_bps *= law->rate_bps / from->rate_bps;
	to.target_bps = fmax(to.target_bps * law->target_bps / from->target_bps, to.rate_bps);
	if (from->ai_bps > 0)
		to.ai_bps *= law->ai_bps / from->ai_bps;
	if (from->hai_bps > 0)
		to.hai_bps *= law->hai_bps / from->hai_bps;
	if (from->byte_reset > 0)
		to.byte_reset *= law->byte_reset / from->byte_reset;
	*law = to;
}

/* At each size of step until it helps no more (Hooke and Jeeves). */
#define MOST_ROUNDS 8u

double
law_improve(struct law *law, const struct law_data *d, unsigned int fixed, double step,
	    double least_step)
{
	double best = law_error(law, d, NULL);
	unsigned int rounds = 0;

	while (step >= least_step) {
		bool helps = false;
		struct law before = *law, further;

		for (unsigned int at = 0; at < ATS; at++) {
			if (is_fixed(law, at, fixed))
				continue;
			for (int sign = -1; sign <= 1; sign += 2) {
				struct law other = *law;
				double error;

				move(&other, at, sign * step);
				if (!is_known(&other, d))
					continue;
				error = law_error(&other, d, NULL);
				if (error < best * 0.999) {
					best = error;
					*law = other;
					helps = true;
					break;
				}
			}
		}
		for (further = *law; helps;) {
			double error;

			move_on(&further, &before);
			before = *law;
			error = is_known(&further, d) ? law_error(&further, d, NULL) : INFINITY;
			if (error >= best)
				break;
			best = error;
			*law = further;
		}
		if (!helps || ++rounds >= MOST_ROUNDS) {
			step /= 2;
			rounds = 0;
		}
	}
	return best;
}
