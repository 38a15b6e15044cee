/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding state of a shard: the tables in force, and the ports without a link.
 *
 * Invariant (tested): one version of the tables decides a frame's path. The owner switches to the
 * next version between two bursts (change/forwarding.h).
 */
#ifndef QUENCH_SWITCH_FORWARD_FORWARD_H
#define QUENCH_SWITCH_FORWARD_FORWARD_H

#include "fwd/fdb.h"
#include "pacer/token_bucket.h"
#include "switch/forward/vlans.h"
#include "switch/frame/arrival.h"
#include "switch/frame/pools.h"

struct sw_router;

struct sw_forward_port {
	struct token_bucket storm[SW_STORMS]; /* limits of what it floods, by kind; rate 0: none */
	bool is_down;                         /* read only if the mask has a bit for it */
};

struct sw_forward {
	/* per packet */
	struct fdb *fdb;
	const struct sw_vlans *vlans;
	struct sw_router *router; /* NULL: none */
	/*
	 * mask of the ports of the whole switch without a link; each port's owner writes its bit.
	 * Ports 64 apart share a bit: ports[].is_down tells which.
	 */
	uint64_t down_ports;
	/* per flooded frame */
	struct sw_forward_port *ports; /* whole words of them; each has one owner */
	/* per frame that is written */
	const struct sw_pools *pools;
};

/** Has the port, or one that shares its bit, no link? */
static inline bool
sw_may_be_down(const struct sw_forward *f, uint16_t port)
{
	return __atomic_load_n(&f->down_ports, __ATOMIC_RELAXED) >> (port % 64) & 1;
}

/** May any port of the switch have no link? */
static inline bool
sw_any_may_be_down(const struct sw_forward *f)
{
	return __atomic_load_n(&f->down_ports, __ATOMIC_RELAXED) != 0;
}

static inline bool
sw_is_down(const struct sw_forward *f, uint16_t port)
{
	return unlikely(sw_may_be_down(f, port)) &&
	       (f->vlans->words == 1 || f->ports[port].is_down);
}

/** Word i of the set of ports of the whole switch without a link. */
static inline uint64_t
sw_down_word(const struct sw_forward *f, unsigned int i)
{
	uint64_t down = __atomic_load_n(&f->down_ports, __ATOMIC_RELAXED), word = 0;

	if (likely(down == 0 || f->vlans->words == 1))
		return down;
	for (; down != 0; down &= down - 1) {
		unsigned int bit = (unsigned int)__builtin_ctzll(down);

		word |= (uint64_t)f->ports[i * 64 + bit].is_down << bit;
	}
	return word;
}

/** The ports that a frame is flooded to: members of its domain with a link, but not a->not_to. */
static inline struct port_set
sw_flood_ports(const struct sw_forward *f, const struct arrival *a)
{
	const uint64_t *members = sw_members(f->vlans, a->domain);
	struct port_set ports = {0};

	for (unsigned int i = 0; i < f->vlans->words; i++)
		ports.word[i] = members[i] & ~sw_down_word(f, i);
	if (a->not_to != PORT_NONE)
		port_set_remove(&ports, a->not_to);
	return ports;
}

#endif
