/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/shard/give_back.h"

#include "switch/frame/charge.h"

/* Tell the port's owner to look at given[]. */
static void
announce(const struct sw_shard *shard, uint16_t port)
{
	const struct sw_shards *s = shard->shards;
	struct sw_ring *r = s->rings[shard->index * s->n + s->of_port[port]];

	__atomic_store_n(&r->returns, r->returns + 1, __ATOMIC_RELEASE);
}

void
sw_give_back(struct sw_shard *shard, uint16_t port, uint8_t pg, uint64_t charge)
{
	struct sw_shards *s = shard->shards;
	uint64_t *owed = &s->owed[shard->index * s->n_ports + port].pg_charge[pg];

	*owed += charge;
	shard->owing |= 1ull << port;
	if (sw_charge_bytes(*owed) < s->owed_bytes)
		return;
	counter_add(&sw_given_by(s, shard->index, port)->pg_charge[pg], *owed);
	*owed = 0;
	announce(shard, port);
}

void
sw_give_back_debts(struct sw_shard *shard)
{
	struct sw_shards *s = shard->shards;

	for (; shard->owing != 0; shard->owing &= shard->owing - 1) {
		uint16_t port = (uint16_t)__builtin_ctzll(shard->owing);
		struct sw_given *owed = &s->owed[shard->index * s->n_ports + port];
		struct sw_given *given = sw_given_by(s, shard->index, port);

		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			if (owed->pg_charge[pg] > 0)
				counter_add(&given->pg_charge[pg], owed->pg_charge[pg]);
			owed->pg_charge[pg] = 0;
		}
		announce(shard, port);
	}
}
