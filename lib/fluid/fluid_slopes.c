/* SPDX-License-Identifier: BSD-3-Clause */
/* The derivatives: sending rates, arrivals at the queues, and effects of past marks. */
#include "fluid/fluid_slopes.h"

#include <math.h>

#include "base/numbers/fixed.h"

/* A past time: the steps before and after it, and the weight of the older. */
struct lag {
	const struct fluid_past *young, *old;
	double share_old;
};

/* @param ahead  0: before this step, 1: before the next. */
static struct lag
lag_at(const struct fluid *f, double delay_ns, unsigned int ahead)
{
	double steps = delay_ns / (double)f->step_ns - ahead;
	double whole = floor(steps);
	uint64_t back = min_u64((uint64_t)whole, f->ring_steps - 2);
	/* Before the start everything is 0, and so is the ring. */
	uint64_t young = f->step + f->ring_steps - back;

	return (struct lag){&f->ring[young % f->ring_steps], &f->ring[(young - 1) % f->ring_steps],
			    steps - whole};
}

static double
between(double young, double old, double share_old)
{
	return young + (old - young) * share_old;
}

/* Wait in a queue, by its length at the time of the marks that act now. */
static double
wait_ns(const struct fluid_class_params *c, const struct fluid_queue_params *q, uint32_t queue,
	const struct lag *lag)
{
	double bytes = between(lag->young->queues[queue], lag->old->queues[queue], lag->share_old);

	return bytes * c->wire_bytes / c->frame_bytes * 8e9 / (double)q->link_rate_bps;
}

/*
 * Share of packets that are marked when they reach the receiver. Queues are taken from last to
 * first, because a marked packet waits in the queues after the one that marked it.
 */
static double
mark_seen(const struct fluid *f, uint32_t class, unsigned int ahead)
{
	const struct fluid_class_params *c = &f->params.classes[class];
	double waits_ns = 0, unmarked = 1;

	for (uint32_t i = c->n_hops; i-- > 0;) {
		const struct fluid_hop *hop = &f->params.hops[c->first_hop + i];
		const struct fluid_queue_params *q = &f->params.queues[hop->queue];
		double wait = 0;
		struct lag at = lag_at(f, (double)hop->loop_delay_ns + waits_ns, ahead);

		if (q->mark_at_enqueue || i > 0)
			wait = wait_ns(c, q, hop->queue, &at);
		if (q->mark_at_enqueue)
			at = lag_at(f, (double)hop->loop_delay_ns + waits_ns + wait, ahead);
		waits_ns += wait;
		unmarked *= 1 - between(at.young->marks[hop->queue], at.old->marks[hop->queue],
					at.share_old);
	}
	return 1 - unmarked;
}

/* Sending rates: the least of rate, cap, and a proportional share of the uplink. */
static void
set_sent(struct fluid *f, const struct fluid_state *s)
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
		uint32_t uplink = p->classes[i].uplink;
		double over = f->uplink_bps[uplink] / (double)p->uplink_rates_bps[uplink];

		if (over > 1)
			f->sent_bps[i] /= over;
	}
}

/* Arrivals: at the first queue the sending rate, at others the departures of the previous one. */
static void
set_arriving(struct fluid *f, unsigned int ahead)
{
	const struct fluid_params *p = &f->params;

	for (uint32_t q = 0; q < p->n_queues; q++)
		f->arriving_bps[q] = f->arriving_bytes_per_s[q] = 0;
	for (uint32_t i = 0; i < p->n_classes; i++) {
		const struct fluid_class_params *c = &p->classes[i];
		double bps = (double)c->hosts * c->qps * f->sent_bps[i];

		for (uint32_t h = c->first_hop; h < c->first_hop + c->n_hops; h++) {
			const struct fluid_hop *hop = &p->hops[h];

			if (h > c->first_hop) {
				struct lag at = lag_at(f, (double)hop->from_last_ns, ahead);

				bps = between(at.young->left_bps[h - 1], at.old->left_bps[h - 1],
					      at.share_old);
			}
			f->hop_bps[h] = bps;
			f->arriving_bps[hop->queue] += bps;
			f->arriving_bytes_per_s[hop->queue] +=
				bps / 8 * c->frame_bytes / c->wire_bytes;
		}
	}
}

/* Equation 6, in bytes of frames; a queue does not go below 0. */
static void
queue_slopes(struct fluid *f, const struct fluid_state *s, struct fluid_state *slope)
{
	for (uint32_t q = 0; q < f->params.n_queues; q++) {
		double in = f->arriving_bps[q];

		/* Departures have the mix of the latest arrivals. */
		if (in > 0)
			f->bytes_per_bit[q] = f->arriving_bytes_per_s[q] / in;
		slope->queues[q] =
			(in - (double)f->params.queues[q].link_rate_bps) * f->bytes_per_bit[q];
		if (s->queues[q] <= 0 && slope->queues[q] < 0)
			slope->queues[q] = 0;
	}
}

/* Equations 7 to 9, with the marks and the rate of one loop delay ago. */
static struct fluid_class_state
class_slope(struct fluid *f, uint32_t i, const struct fluid_class_state *s, unsigned int ahead)
{
	const struct fluid_law *law = &f->laws[i];
	uint32_t first_hop = f->params.classes[i].first_hop;
	struct lag lag = lag_at(f, (double)f->params.hops[first_hop].loop_delay_ns, ahead);
	double mark = mark_seen(f, i, ahead);
	double rate_bps = between(lag.young->sent_bps[i], lag.old->sent_bps[i], lag.share_old);
	struct fluid_events e = fluid_events(law, mark, rate_bps);
	double gap_bps = s->target_bps - s->rate_bps;
	bool marked = mark > 0 && rate_bps > 0;

	/* alpha is constant before the first mark. */
	f->lives[i].marked |= marked;
	return (struct fluid_class_state){
		.alpha = f->lives[i].marked ? law->g / law->tau_alpha_s * (e.alpha_goal - s->alpha)
					    : 0,
		.target_bps = law->ai_bps * e.additive - gap_bps * e.cuts,
		.rate_bps =
			gap_bps / 2 * e.increases - s->rate_bps * fluid_cut(law, s->alpha) * e.cuts,
	};
}

void
fluid_slopes(struct fluid *f, const struct fluid_state *s, struct fluid_state *slope,
	     unsigned int ahead)
{
	set_sent(f, s);
	set_arriving(f, ahead);
	queue_slopes(f, s, slope);
	for (uint32_t i = 0; i < f->params.n_classes; i++)
		slope->classes[i] = f->lives[i].active ? class_slope(f, i, &s->classes[i], ahead)
						       : (struct fluid_class_state){0};
}

/* A queue that is not empty sends at its link's rate, in the mix of the latest arrivals. */
static double
left_bps(struct fluid *f, uint32_t h)
{
	uint32_t q = f->params.hops[h].queue;
	double in = f->arriving_bps[q], rate = (double)f->params.queues[q].link_rate_bps;

	if (in > 0)
		f->hop_shares[h] = f->hop_bps[h] / in;
	if (f->now.queues[q] > 0 || in > rate)
		return f->hop_shares[h] * rate;
	return f->hop_bps[h];
}

void
fluid_remember(struct fluid *f)
{
	struct fluid_past *past = &f->ring[f->step % f->ring_steps];

	set_sent(f, &f->now);
	set_arriving(f, 0);
	for (uint32_t q = 0; q < f->params.n_queues; q++) {
		past->queues[q] = f->now.queues[q];
		past->marks[q] = fluid_mark(f->params.queues[q].wred, f->now.queues[q]);
	}
	for (uint32_t i = 0; i < f->params.n_classes; i++)
		past->sent_bps[i] = f->sent_bps[i];
	for (uint32_t h = 0; h < f->params.n_hops; h++)
		past->left_bps[h] = left_bps(f, h);
}
