/* SPDX-License-Identifier: BSD-3-Clause */
/* The shards of a switch as nodes: building them, driving each, or all as one. */
#include <errno.h>
#include <string.h>
#include <rte_malloc.h>
#include <rte_mempool.h>

#include "base/fixed.h"
#include "switch/sw_router.h"
#include "switch/sw_shard.h"
#include "tm/mmu_part.h"

struct sw *
sw_owner(struct sw *front, uint16_t port)
{
	return front->shards == NULL ? front : front->shards->shard[front->shards->of_port[port]];
}

uint16_t
sw_shard_count(const struct sw *front)
{
	return front->shards == NULL ? 1 : front->shards->n;
}

struct sw *
sw_shard_at(const struct sw *front, uint16_t i)
{
	return front->shards == NULL ? (struct sw *)front : front->shards->shard[i];
}

static void
set_bit(uint64_t *mask, uint16_t port, bool on)
{
	if (on)
		__atomic_fetch_or(mask, 1ull << port, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(mask, ~(1ull << port), __ATOMIC_RELAXED);
}

/* Debts, and what the others know of the pools, are put right after so many calls of tx() that have
 * sent something; and by the first that has not. */
#define SETTLE_CALLS 8

void
sw_set_down(struct sw *sw, uint16_t port, bool down)
{
	for (uint16_t i = 0; i < sw_shard_count(sw); i++)
		set_bit(&sw_shard_at(sw, i)->down_ports, port, down);
}

/* The compiler knows the instruction only of CPUs that are newer than the oldest we run on; these
 * take it for none. */
static inline void
prefetch_to_write(const void *p)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
}

/* The pools are looked at once for a burst that comes in; and what is written into frames that
 * another core had last is asked for at once, as stores wait for each other. */
static void
shard_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);

	assert(sw_owns(sw, port));
	mmu_part_refresh(sw->mmu, sw->index);
	sw_cross_prefetch(sw, port);
	for (uint16_t i = 0; i < n; i++)
		prefetch_to_write(pkt_meta(pkts[i]));
	/* A port whose device holds frames back has no tx() that would do it. */
	if (n == 0) {
		sw_cross_collect(sw, port, now_ns);
		sw_cross_take(sw, now_ns);
		sw_cross_fetch(sw);
	}
	sw_rx(node, port, pkts, n, now_ns);
	if (n == 0) {
		sw_cross_flush(sw);
		sw_cross_settle_debts(sw);
	}
	mmu_part_publish_lazily(sw->mmu, sw->index, SW_OWED_BYTES);
}

static uint16_t
shard_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);
	/* Who polls a shard polls its ports in turn. */
	bool starts_round = port == (uint16_t)__builtin_ctzll(sw->own_ports);
	uint16_t n;

	assert(sw_owns(sw, port));
	/* What is released may let a sender go on, and then it counts what others use. */
	if (unlikely(sw->n_xoff > 0))
		mmu_part_refresh(sw->mmu, sw->index);
	sw_cross_collect(sw, port, now_ns);
	if (starts_round)
		sw_cross_take(sw, now_ns);
	n = sw_tx(node, port, pkts, room, now_ns);
	if (starts_round || n == 0)
		sw_cross_flush(sw);
	if (n == 0 || ++sw->calls >= SETTLE_CALLS) {
		sw->calls = 0;
		sw_cross_settle_debts(sw);
		mmu_part_publish(sw->mmu, sw->index);
	} else {
		mmu_part_publish_lazily(sw->mmu, sw->index, SW_OWED_BYTES);
	}
	if (starts_round)
		sw_cross_fetch(sw);
	return n;
}

static uint64_t
shard_next_ns(const struct node *node, uint16_t port)
{
	return sw_cross_waits(sw_of_const(node), port) ? 0 : sw_next_ns(node, port);
}

/* Control work is the switch's, not a shard's. */
static uint64_t
shard_control(struct node *node, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	return NEVER_NS;
}

static const struct node_ops shard_ops = {
	.rx = shard_rx,
	.tx = shard_tx,
	.next_ns = shard_next_ns,
	.control = shard_control,
};

void
sw_shards_settle(struct sw *front, uint64_t now_ns)
{
	bool waits = true;

	while (waits) {
		waits = false;
		for (uint16_t port = 0; port < front->n_ports; port++) {
			struct sw *sw = sw_owner(front, port);

			if (!sw_cross_waits(sw, port))
				continue;
			waits = true;
			mmu_part_refresh(sw->mmu, sw->index);
			sw_cross_collect(sw, port, now_ns);
			sw_cross_fetch(sw);
			sw_cross_take(sw, now_ns);
			sw_cross_flush(sw);
			sw_cross_settle_debts(sw);
			mmu_part_publish(sw->mmu, sw->index);
		}
	}
}

/* As one node, for one thread: an event loop asks for the ports that any shard has woken. */
static void
end_call(struct sw *front, uint64_t now_ns)
{
	struct sw_shards *s = front->shards;

	for (uint16_t i = 0; i < s->n; i++) {
		sw_cross_flush(s->shard[i]);
		sw_cross_settle_debts(s->shard[i]);
		mmu_part_publish(front->mmu, i);
	}
	sw_shards_settle(front, now_ns);
	for (uint16_t i = 0; i < s->n; i++) {
		for (unsigned int w = 0; w < RTE_DIM(front->node.wake); w++) {
			front->node.wake[w] |= s->shard[i]->node.wake[w];
			s->shard[i]->node.wake[w] = 0;
		}
	}
}

/* What is asked of one shard, such as the state of a link, changes what the others do. */
static void
begin_call(struct sw *front, uint64_t now_ns)
{
	struct sw_shards *s = front->shards;

	for (uint16_t i = 0; i < s->n; i++) {
		if (__atomic_load_n(&s->shard[i]->wanted, __ATOMIC_RELAXED) == 0)
			continue;
		sw_do_wanted(s->shard[i], now_ns);
		mmu_part_publish(front->mmu, i);
	}
}

static void
front_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct sw *front = sw_of(node);

	begin_call(front, now_ns);
	shard_rx(&sw_owner(front, port)->node, port, pkts, n, now_ns);
	end_call(front, now_ns);
}

static uint16_t
front_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	struct sw *front = sw_of(node);
	uint16_t n;

	begin_call(front, now_ns);
	n = shard_tx(&sw_owner(front, port)->node, port, pkts, room, now_ns);
	end_call(front, now_ns);
	return n;
}

static uint64_t
front_next_ns(const struct node *node, uint16_t port)
{
	return shard_next_ns(&sw_owner(sw_of((struct node *)node), port)->node, port);
}

static const struct node_ops front_ops = {
	.rx = front_rx,
	.tx = front_tx,
	.next_ns = front_next_ns,
	.control = sw_control,
};

static int
create_shard(struct sw *front, const struct sw_params *params, uint16_t i)
{
	struct sw_shards *s = front->shards;
	struct sw *sw = rte_malloc("sw", sizeof(*sw), RTE_CACHE_LINE_SIZE);

	if (sw == NULL)
		return -ENOMEM;
	/* Settings alike; nothing has come in yet. */
	*sw = *front;
	s->shard[i] = sw;
	sw->node.ops = &shard_ops;
	sw->index = i;
	sw->own_ports = 0;
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		if (s->of_port[port] == i)
			sw->own_ports |= 1ull << port;
	}
	prng_seed(&sw->prng, params->seed, i);
	return 0;
}

int
sw_shards_create(struct sw *front, const struct sw_params *params)
{
	struct sw_shards *s = front->shards;
	uint32_t mbufs = front->pools.mbufs > 0 ? front->pools.mbufs : front->pools.frames->size;
	int rc = sw_cross_init(s, mbufs);

	for (uint16_t i = 0; rc == 0 && i < s->n; i++)
		rc = create_shard(front, params, i);
	/* Until all are there the front is destroyed as if there were none. */
	if (rc < 0)
		return rc;
	front->own_ports = 0;
	front->node.ops = &front_ops;
	return 0;
}

void
sw_shards_destroy(struct sw *front)
{
	struct sw_shards *s = front->shards;

	for (uint16_t i = 0; s != NULL && i < s->n; i++) {
		if (s->shard[i] != NULL)
			sw_router_destroy(s->shard[i]->router);
		rte_free(s->shard[i]);
	}
	if (s != NULL)
		sw_cross_free(s);
	rte_free(s);
}

uint16_t
sw_shards(const struct node *node)
{
	return sw_shard_count(sw_of_const(node));
}

struct node *
sw_shard(struct node *node, uint16_t i)
{
	return &sw_shard_at(sw_of(node), i)->node;
}

uint64_t
sw_shard_ports(const struct node *node, uint16_t i)
{
	const struct sw *sw = sw_shard_at(sw_of_const(node), i);

	return sw->own_ports & UINT64_MAX >> (64 - sw->n_ports);
}
