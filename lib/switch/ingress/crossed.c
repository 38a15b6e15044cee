/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/crossed.h"

#include "switch/egress/release.h"
#include "switch/forward/neighbours.h"
#include "switch/ingress/admit_burst.h"
#include "switch/shard/crossing.h"
#include "tm/buffer/mmu_part.h"

/*
 * One call takes at most a burst for each port, so that many crossing frames do not delay the
 * ports. A shard of few ports takes more than they send: WRED does not see what waits in a ring.
 */
#define LEAST_BURSTS 4u

/* The order of the source shards changes with each call, so that none is always served last. */
void
sw_crossed_take(struct sw *sw, uint64_t now_ns)
{
	const struct sw_shards *s = sw->shard.shards;
	uint16_t from = sw->shard.take_from;
	uint32_t left = SW_BURST *
			RTE_MAX(LEAST_BURSTS, (uint32_t)__builtin_popcountll(sw->shard.own_ports));

	for (uint16_t i = 0; i < s->n; i++, from = from + 1 < s->n ? from + 1 : 0) {
		struct sw_ring *r;
		uint32_t n;

		if (from == sw->shard.index)
			continue;
		r = sw_crossing_ring(s, from, sw->shard.index);
		n = RTE_MIN(sw_ring_waiting(r), left);
		if (n == 0)
			continue;
		sw_ring_prefetch(r, n);
		sw_admit_crossed(sw, r, n, now_ns);
		sw_ring_advance(r, n);
		left -= n;
	}
	sw->shard.take_from = sw->shard.take_from + 1 < s->n ? sw->shard.take_from + 1 : 0;
	if (sw->forward.router != NULL)
		sw_neigh_take_news(sw->forward.router, now_ns);
}

static void
collect_from(struct sw *sw, uint16_t from, uint16_t port, uint64_t now_ns)
{
	const struct sw_given *given = sw_given_by(sw->shard.shards, from, port);
	struct sw_given *taken = sw_taken_by(sw->shard.shards, from, port);

	for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
		uint64_t charge = sw_given_take(given, taken, pg);

		if (unlikely(charge != 0))
			sw_ingress_release(sw, port, pg, charge, now_ns);
	}
}

void
sw_crossed_collect(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	const struct sw_shards *s = sw->shard.shards;
	uint16_t self = sw->shard.index;
	uint32_t returns;

	for (uint16_t from = 0; from < s->n; from++) {
		if (from == self || !sw_returns_changed(s, from, self, port, &returns))
			continue;
		sw_taken_by(s, from, port)->returns = returns;
		collect_from(sw, from, port, now_ns);
	}
}

void
sw_crossed_settle(struct sw *front, uint64_t now_ns)
{
	bool waits = true;

	while (waits) {
		waits = false;
		for (uint16_t port = 0; port < front->n_ports; port++) {
			struct sw *sw = sw_owner(front, port);

			if (!sw_crossing_waits(&sw->shard, port))
				continue;
			waits = true;
			mmu_part_refresh(sw->mmu, sw->shard.index);
			sw_crossed_collect(sw, port, now_ns);
			sw_crossed_take(sw, now_ns);
			sw_crossing_flush(&sw->shard);
			sw_give_back_debts(&sw->shard);
			mmu_part_publish(sw->mmu, sw->shard.index);
		}
	}
}
