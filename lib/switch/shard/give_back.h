/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Return of ingress charges to the shard that owns the group.
 *
 * Invariant (tested): each charge is returned to its group once. Until the owner takes it, the
 * owner counts it as in use: use as known to the owner >= real use.
 */
#ifndef QUENCH_SWITCH_SHARD_GIVE_BACK_H
#define QUENCH_SWITCH_SHARD_GIVE_BACK_H

#include "base/threads/counter.h"
#include "switch/shard/shard.h"

/*
 * A debt to a group is published when it reaches a share of the buffer, within these limits, or by
 * sw_give_back_debts().
 */
#define SW_OWED_SHARE 512u
#define SW_MIN_OWED_BYTES 4096u
#define SW_MAX_OWED_BYTES 32768u

/**
 * Add a charge to the debt to a group of another shard's port, which is published later.
 *
 * @param charge  A sum of sw_charge().
 */
void sw_give_back(struct sw_shard *shard, uint16_t port, uint8_t pg, uint64_t charge);

/** Publish all debts. */
void sw_give_back_debts(struct sw_shard *shard);

/* Inline definitions */

static inline struct sw_given *
sw_given_by(const struct sw_shards *s, uint16_t from, uint16_t port)
{
	return &s->given[from * s->n_ports + port];
}

static inline struct sw_given *
sw_taken_by(const struct sw_shards *s, uint16_t from, uint16_t port)
{
	return &s->taken[from * s->n_ports + port];
}

/** Has a shard returned charges that the port's owner has not taken yet? */
static inline bool
sw_is_given(const struct sw_shards *s, uint16_t from, uint16_t port)
{
	const struct sw_given *given = sw_given_by(s, from, port);
	const struct sw_given *taken = sw_taken_by(s, from, port);
	uint64_t differ = 0;

	for (unsigned int pg = 0; pg < TM_CLASSES; pg++)
		differ |= counter_read(&given->pg_charge[pg]) ^ taken->pg_charge[pg];
	return differ != 0;
}

/**
 * May a shard have returned charges to a port since the owner looked last? Reads only the ring.
 *
 * @param returns  Set to the value to store in taken[] when the owner looks.
 */
static inline bool
sw_returns_changed(const struct sw_shards *s, uint16_t from, uint16_t to, uint16_t port,
		   uint32_t *returns)
{
	*returns = __atomic_load_n(&s->rings[from * s->n + to]->returns, __ATOMIC_ACQUIRE);
	return *returns != sw_taken_by(s, from, port)->returns;
}

/** Take the charges returned to a group. @return a sum of sw_charge(). */
static inline uint64_t
sw_given_take(const struct sw_given *given, struct sw_given *taken, uint8_t pg)
{
	uint64_t sum = counter_read(&given->pg_charge[pg]);
	uint64_t charge = sum - taken->pg_charge[pg];

	if (unlikely(charge != 0))
		taken->pg_charge[pg] = sum;
	return charge;
}

#endif
