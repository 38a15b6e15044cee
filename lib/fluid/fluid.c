/* SPDX-License-Identifier: BSD-3-Clause */
#include "fluid/fluid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/fixed.h"
#include "base/units.h"
#include "fluid/fluid_law.h"

/* At 4:1 and 40 Gb/s half of it moves no rate by more than 0.2 % of the link: tested. */
#define MOST_STEP_NS NS_PER_US
#define STEPS_PER_LOOP 4
/* What a mark at enqueue is remembered for: 10 MB at 40 Gb/s. */
#define LONGEST_WAIT_NS (2 * NS_PER_MS)

struct class_state {
	double alpha, target_bps, rate_bps;
};

struct class_life {
	bool active, marked; /* marked: since the start, so that alpha moves */
	bool begun;
	double sent_bytes; /* of a QP */
};

/* All that the equations move. */
struct state {
	double *queues; /* bytes */
	struct class_state *classes;
};

/* One step of the past. */
struct past {
	double *marks, *queues; /* of queues */
	double *sent_bps;       /* of a QP of each class */
};

struct fluid {
	struct fluid_params params;
	struct fluid_law *laws;
	struct class_life *lives;
	struct state now, guess, slope, slope_there;
	double *sent_bps, *uplink_bps, *arriving_bps, *arriving_bytes_per_s;
	double *byte_seconds;
	struct past *ring; /* of step % ring_steps */
	uint32_t ring_steps;
	uint64_t step, step_ns;
	void *arena;
};

static uint64_t
choose_step_ns(const struct fluid_params *p)
{
	uint64_t least_ns = NEVER_NS;

	for (uint32_t i = 0; i < p->n_classes; i++)
		least_ns = min_u64(least_ns, p->classes[i].loop_delay_ns);
	if (p->step_ns != 0)
		return p->step_ns > least_ns ? 0 : p->step_ns;
	return least_ns == 0 ? 0 : max_u64(min_u64(least_ns / STEPS_PER_LOOP, MOST_STEP_NS), 1);
}

static uint32_t
ring_steps(const struct fluid_params *p, uint64_t step_ns)
{
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < p->n_classes; i++)
		most_ns = max_u64(most_ns, p->classes[i].loop_delay_ns);
	if (p->mark_at_enqueue)
		most_ns += LONGEST_WAIT_NS;
	return (uint32_t)(most_ns / step_ns) + 3;
}

static double *
take(double **arena, size_t n)
{
	double *part = *arena;

	*arena += n;
	return part;
}

static void
take_state(double **arena, struct state *s, const struct fluid_params *p)
{
	s->queues = take(arena, p->n_queues);
	s->classes = (struct class_state *)take(arena, 3 * (size_t)p->n_classes);
}

static int
allocate(struct fluid *f)
{
	const struct fluid_params *p = &f->params;
	size_t of_state = p->n_queues + 3 * (size_t)p->n_classes;
	size_t of_past = 2 * (size_t)p->n_queues + p->n_classes;
	size_t doubles = 4 * of_state + p->n_classes + p->n_uplinks + 3 * (size_t)p->n_queues +
			 f->ring_steps * of_past;
	double *arena;

	static_assert(sizeof(struct class_state) == 3 * sizeof(double), "as taken from the arena");
	f->arena = calloc(doubles, sizeof(double));
	f->ring = calloc(f->ring_steps, sizeof(*f->ring));
	f->laws = calloc(p->n_classes, sizeof(*f->laws));
	f->lives = calloc(p->n_classes, sizeof(*f->lives));
	if (f->arena == NULL || f->ring == NULL || f->laws == NULL || f->lives == NULL)
		return -ENOMEM;
	arena = f->arena;
	take_state(&arena, &f->now, p);
	take_state(&arena, &f->guess, p);
	take_state(&arena, &f->slope, p);
	take_state(&arena, &f->slope_there, p);
	f->sent_bps = take(&arena, p->n_classes);
	f->uplink_bps = take(&arena, p->n_uplinks);
	f->arriving_bps = take(&arena, p->n_queues);
	f->arriving_bytes_per_s = take(&arena, p->n_queues);
	f->byte_seconds = take(&arena, p->n_queues);
	for (uint32_t i = 0; i < f->ring_steps; i++)
		f->ring[i] = (struct past){take(&arena, p->n_queues), take(&arena, p->n_queues),
					   take(&arena, p->n_classes)};
	return 0;
}

struct fluid *
fluid_create(const struct fluid_params *params)
{
	struct fluid *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->params = *params;
	f->step_ns = choose_step_ns(params);
	if (f->step_ns == 0) {
		free(f);
		errno = EINVAL;
		return NULL;
	}
	f->ring_steps = ring_steps(params, f->step_ns);
	if (allocate(f) < 0) {
		fluid_destroy(f);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t i = 0; i < params->n_classes; i++)
		f->laws[i] = fluid_law(&params->rp, params->np_min_time_between_cnps_us,
				       params->classes[i].wire_bytes);
	return f;
}

void
fluid_destroy(struct fluid *f)
{
	if (f == NULL)
		return;
	free(f->arena);
	free(f->ring);
	free(f->laws);
	free(f->lives);
	free(f);
}

/* Steps of the past: whole ones, and the share of the next older one. */
struct lag {
	const struct past *young, *old;
	double share_old;
};

/* @param ahead  0: seen from this step, 1: from the next. */
static struct lag
lag_at(const struct fluid *f, double delay_ns, unsigned int ahead)
{
	double steps = delay_ns / (double)f->step_ns - ahead;
	double whole = floor(steps);
	uint64_t back = min_u64((uint64_t)whole, f->ring_steps - 2);
	/* Before the start everything was 0, as the ring is. */
	uint64_t young = f->step + f->ring_steps - back;

	return (struct lag){&f->ring[young % f->ring_steps], &f->ring[(young - 1) % f->ring_steps],
			    steps - whole};
}

static double
between(double young, double old, double share_old)
{
	return young + (old - young) * share_old;
}

static double
mark_seen(const struct fluid *f, uint32_t class, const struct lag *lag, unsigned int ahead)
{
	const struct fluid_class_params *c = &f->params.classes[class];
	struct lag at = *lag;

	if (f->params.mark_at_enqueue) {
		double bytes = between(lag->young->queues[c->queue], lag->old->queues[c->queue],
				       lag->share_old);
		double wait_ns = bytes * c->wire_bytes / c->frame_bytes * 8e9 /
				 (double)f->params.link_rate_bps;

		at = lag_at(f, (double)c->loop_delay_ns + wait_ns, ahead);
	}
	return between(at.young->marks[c->queue], at.old->marks[c->queue], at.share_old);
}

/* What QPs send: their rate, their cap, and their part of an uplink that is too small for all. */
static void
set_sent(struct fluid *f, const struct state *s)
{
	const struct fluid_params *p = &f->params;

	for (uint32_t i = 0; i < p->n_uplinks; i++)
		f->uplink_bps[i] = 0;
	for (uint32_t i = 0; i < p->n_classes; i++) {
		const struct fluid_class_params *c = &p->classes[i];

		f->sent_bps[i] =
			f->lives[i].active ? fmin(s->classes[i].rate_bps, (double)c->cap_bps) : 0;
		f->uplink_bps[c->uplink] += c->qps * f->sent_bps[i];
	}
	for (uint32_t i = 0; i < p->n_classes; i++) {
		double over = f->uplink_bps[p->classes[i].uplink] / (double)p->link_rate_bps;

		if (over > 1)
			f->sent_bps[i] /= over;
	}
}

/* Equation 6, in bytes of frames; a queue does not go below 0. */
static void
queue_slopes(struct fluid *f, const struct state *s, struct state *slope)
{
	const struct fluid_params *p = &f->params;

	for (uint32_t q = 0; q < p->n_queues; q++)
		f->arriving_bps[q] = f->arriving_bytes_per_s[q] = 0;
	for (uint32_t i = 0; i < p->n_classes; i++) {
		const struct fluid_class_params *c = &p->classes[i];
		double bps = (double)c->hosts * c->qps * f->sent_bps[i];

		f->arriving_bps[c->queue] += bps;
		f->arriving_bytes_per_s[c->queue] += bps / 8 * c->frame_bytes / c->wire_bytes;
	}
	for (uint32_t q = 0; q < p->n_queues; q++) {
		double in = f->arriving_bps[q], per_bit = 1.0 / 8;

		/* What leaves is mixed as what comes. */
		if (in > 0)
			per_bit = f->arriving_bytes_per_s[q] / in;
		slope->queues[q] = (in - (double)p->link_rate_bps) * per_bit;
		if (s->queues[q] <= 0 && slope->queues[q] < 0)
			slope->queues[q] = 0;
	}
}

/* Equations 7 to 9: marks and rate of a loop delay ago. */
static struct class_state
class_slope(struct fluid *f, uint32_t i, const struct class_state *s, unsigned int ahead)
{
	const struct fluid_law *law = &f->laws[i];
	struct lag lag = lag_at(f, (double)f->params.classes[i].loop_delay_ns, ahead);
	double mark = mark_seen(f, i, &lag, ahead);
	double rate_bps = between(lag.young->sent_bps[i], lag.old->sent_bps[i], lag.share_old);
	struct fluid_events e = fluid_events(law, mark, rate_bps);
	double gap_bps = s->target_bps - s->rate_bps;
	bool marked = mark > 0 && rate_bps > 0;

	/* A QP that was never cut holds alpha. */
	f->lives[i].marked |= marked;
	return (struct class_state){
		.alpha = f->lives[i].marked ? law->g / law->tau_alpha_s * (e.alpha_goal - s->alpha)
					    : 0,
		.target_bps = law->ai_bps * e.additive - gap_bps * e.cuts,
		.rate_bps =
			gap_bps / 2 * e.increases - s->rate_bps * fluid_cut(law, s->alpha) * e.cuts,
	};
}

static void
slopes(struct fluid *f, const struct state *s, struct state *slope, unsigned int ahead)
{
	set_sent(f, s);
	queue_slopes(f, s, slope);
	for (uint32_t i = 0; i < f->params.n_classes; i++)
		slope->classes[i] = f->lives[i].active ? class_slope(f, i, &s->classes[i], ahead)
						       : (struct class_state){0};
}

static double
clamp(double value, double low, double high)
{
	return fmin(fmax(value, low), high);
}

/* to = from + seconds (weight a + (1 - weight) b), within bounds: min <= R_C <= R_T <= max. */
static void
move(const struct fluid *f, struct state *to, const struct state *a, const struct state *b,
     double weight)
{
	double s = (double)f->step_ns * 1e-9, other = 1 - weight;
	double low = (double)f->params.rp.rp_min_rate_bps;
	double high = (double)f->params.rp.rp_max_rate_bps;

	for (uint32_t q = 0; q < f->params.n_queues; q++)
		to->queues[q] = fmax(0, f->now.queues[q] +
						s * (weight * a->queues[q] + other * b->queues[q]));
	for (uint32_t i = 0; i < f->params.n_classes; i++) {
		const struct class_state *from = &f->now.classes[i];
		const struct class_state *x = &a->classes[i], *y = &b->classes[i];
		struct class_state *c = &to->classes[i];

		c->alpha = clamp(from->alpha + s * (weight * x->alpha + other * y->alpha), 0, 1);
		c->rate_bps =
			clamp(from->rate_bps + s * (weight * x->rate_bps + other * y->rate_bps),
			      low, high);
		c->target_bps = clamp(from->target_bps +
					      s * (weight * x->target_bps + other * y->target_bps),
				      c->rate_bps, high);
	}
}

/* Classes begin and end between two steps. */
static void
live(struct fluid *f)
{
	uint64_t now_ns = fluid_now_ns(f);

	for (uint32_t i = 0; i < f->params.n_classes; i++) {
		const struct fluid_class_params *c = &f->params.classes[i];
		struct class_life *life = &f->lives[i];

		life->active = now_ns >= c->start_ns && now_ns < c->stop_ns &&
			       (c->bytes <= 0 || life->sent_bytes < c->bytes);
		if (life->active && !life->begun) {
			life->begun = true;
			f->now.classes[i] = (struct class_state){
				.alpha = f->params.rp.rp_initial_alpha_value / 1024.0,
				.target_bps = (double)c->start_rate_bps,
				.rate_bps = (double)c->start_rate_bps,
			};
		}
	}
}

static void
remember(struct fluid *f)
{
	struct past *past = &f->ring[f->step % f->ring_steps];

	for (uint32_t q = 0; q < f->params.n_queues; q++) {
		past->queues[q] = f->now.queues[q];
		past->marks[q] = fluid_mark(&f->params.wred, f->now.queues[q]);
	}
	for (uint32_t i = 0; i < f->params.n_classes; i++)
		past->sent_bps[i] = f->sent_bps[i];
}

/* What left and waited in the step from now to the guess, by the trapezoid rule. */
static void
account(struct fluid *f, const double *sent_before_bps)
{
	double s = (double)f->step_ns * 1e-9;

	for (uint32_t i = 0; i < f->params.n_classes; i++)
		f->lives[i].sent_bytes += s / 8 * (sent_before_bps[i] + f->sent_bps[i]) / 2;
	for (uint32_t q = 0; q < f->params.n_queues; q++)
		f->byte_seconds[q] += s * (f->now.queues[q] + f->guess.queues[q]) / 2;
}

static void
step(struct fluid *f)
{
	live(f);
	set_sent(f, &f->now);
	remember(f);
	slopes(f, &f->now, &f->slope, 0);
	move(f, &f->guess, &f->slope, &f->slope, 1);
	slopes(f, &f->guess, &f->slope_there, 1);
	account(f, f->ring[f->step % f->ring_steps].sent_bps);
	move(f, &f->now, &f->slope, &f->slope_there, 0.5);
	f->step++;
}

void
fluid_run(struct fluid *f, uint64_t until_ns)
{
	while (fluid_now_ns(f) + f->step_ns <= until_ns)
		step(f);
}

uint64_t
fluid_step_ns(const struct fluid *f)
{
	return f->step_ns;
}

uint64_t
fluid_now_ns(const struct fluid *f)
{
	return f->step * f->step_ns;
}

struct fluid_qp
fluid_qp(const struct fluid *f, uint32_t class)
{
	const struct class_state *s = &f->now.classes[class];

	return (struct fluid_qp){s->rate_bps, s->target_bps, s->alpha, f->lives[class].sent_bytes};
}

struct fluid_queue
fluid_queue(const struct fluid *f, uint32_t queue)
{
	double bytes = f->now.queues[queue];

	return (struct fluid_queue){bytes, fluid_mark(&f->params.wred, bytes),
				    f->byte_seconds[queue]};
}
