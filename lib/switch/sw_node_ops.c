/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/sw_node_ops.h"

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "base/numbers/array.h"
#include "switch/change/sw_reload.h"
#include "switch/control/snapshot.h"
#include "switch/monitor/watermarks.h"
#include "switch/monitor/work.h"
#include "switch/egress/egress.h"
#include "switch/egress/sw_why.h"
#include "switch/core/switch.h"
#include "switch/ingress/ingress.h"
#include "switch/ingress/generated.h"
#include "switch/shard/crossing.h"
#include "switch/shard/give_back.h"
#include "tm/buffer/mmu_part.h"

/*
 * A shard publishes its debts (charges to return to other shards: shard/give_back.h) after this
 * number of calls of tx() that sent frames, and in every call that sends none.
 */
#define SETTLE_CALLS 8

static void
do_requests(struct sw *sw, uint64_t now_ns)
{
	uint32_t what = __atomic_exchange_n(&sw->request.pending, 0, __ATOMIC_ACQUIRE);

	if (what & SW_REQUEST_RELOAD)
		sw_do_reload(sw, now_ns);
	if (what & SW_REQUEST_CLEAR)
		sw_do_clear_watermarks(sw);
	if (what & SW_REQUEST_SNAPSHOT)
		sw_do_snapshot(sw, now_ns);
	if (what & SW_REQUEST_SWEEP)
		fdb_sweep(sw->forward.fdb, now_ns);
	if (what & SW_REQUEST_NEXT_HOPS)
		sw_next_hops_check(sw, now_ns);
	for (uint16_t port = 0; what & SW_REQUEST_PORTS && port < sw->n_ports; port++) {
		if (sw_owns(&sw->shard, port))
			sw_port_apply(sw, port, now_ns);
	}
	/* After the ports, because a link that comes up may have an LLDP frame to send. */
	if (what & SW_REQUEST_LLDP)
		sw_lldp_send(sw, now_ns);
}

/* Serve pending requests. */
static inline void
do_if_requested(struct sw *sw, uint64_t now_ns)
{
	if (unlikely(sw_requested(&sw->request) != 0))
		do_requests(sw, now_ns);
}

static inline uint64_t
next_ns(const struct sw *sw, uint16_t port)
{
	if (sw_requested(&sw->request) &
	    (SW_REQUEST_PORTS | SW_REQUEST_LLDP | SW_REQUEST_NEXT_HOPS))
		return 0;
	return sw_next_ns(sw, port);
}

static uint64_t
control(struct node *node, uint64_t now_ns)
{
	return sw_control_work(sw_of(node), now_ns);
}

/* This function is out of line, so that its caller saves no registers in the common case. */
static __rte_noinline void
serve_and_rx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	do_requests(sw, now_ns);
	sw_rx(sw, port, pkts, n, now_ns);
}

static void
alone_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);

	if (unlikely(sw_requested(&sw->request) != 0))
		serve_and_rx(sw, port, pkts, n, now_ns);
	else
		sw_rx(sw, port, pkts, n, now_ns);
}

static __rte_noinline uint16_t
serve_and_tx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	     uint64_t now_ns)
{
	do_requests(sw, now_ns);
	return sw_tx(sw, port, pkts, max_pkts, now_ns);
}

static uint16_t
alone_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	 uint64_t now_ns)
{
	struct sw *sw = sw_of(node);

	if (unlikely(sw_requested(&sw->request) != 0))
		return serve_and_tx(sw, port, pkts, max_pkts, now_ns);
	return sw_tx(sw, port, pkts, max_pkts, now_ns);
}

static uint64_t
alone_next_ns(const struct node *node, uint16_t port)
{
	return next_ns(sw_of_const(node), port);
}

/* Also of a shard. */
static void
alone_watch_drops(struct node *node, struct node_drops *drops)
{
	sw_of(node)->drops = drops;
}

const struct node_ops sw_alone_ops = {
	.rx = alone_rx,
	.tx = alone_tx,
	.next_ns = alone_next_ns,
	.control = control,
	.why = sw_why,
	.watch_drops = alone_watch_drops,
};

/* The thread of a shard polls its ports in turn. */
static inline bool
starts_round(const struct sw_shard *shard, uint16_t port)
{
	return port == (uint16_t)__builtin_ctzll(shard->own_ports);
}

static inline bool
ends_round(const struct sw_shard *shard, uint16_t port)
{
	return shard->own_ports >> port == 1;
}

/* Publish the use of the pools if it differs much from the published, or exactly. */
static inline void
publish_use(struct sw *sw, bool exactly)
{
	sw->shard.admitted = false;
	if (exactly)
		mmu_part_publish(sw->mmu, sw->shard.index);
	else
		mmu_part_publish_lazily(sw->mmu, sw->shard.index);
}

/*
 * The use of the pools is read once per burst. It is published by the tx() that follows, or before
 * the next burst.
 */
static void
shard_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);

	assert(sw_owns(&sw->shard, port));
	if (unlikely(sw->shard.admitted))
		publish_use(sw, false);
	mmu_part_refresh(sw->mmu, sw->shard.index);
	sw_crossing_prefetch_given(&sw->shard, port);
	if (starts_round(&sw->shard, port))
		sw_crossing_prefetch_entries(&sw->shard);
	/*
	 * While a device accepts no frames, the driver calls rx() with n = 0 in place of tx(): then
	 * rx() does this part of tx()'s work.
	 */
	if (n == 0) {
		sw_crossed_collect(sw, port, now_ns);
		sw_crossed_take(sw, now_ns);
	}
	do_if_requested(sw, now_ns);
	sw_rx(sw, port, pkts, n, now_ns);
	sw->shard.admitted = true;
	if (n == 0) {
		sw_crossing_flush(&sw->shard);
		sw_give_back_debts(&sw->shard);
		publish_use(sw, true);
	}
}

static uint16_t
shard_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	 uint64_t now_ns)
{
	struct sw *sw = sw_of(node);
	bool first = starts_round(&sw->shard, port);
	uint16_t n;

	assert(sw_owns(&sw->shard, port));
	/*
	 * A release may cause XON, and that decision depends on the other shards' use of the pools.
	 */
	if (unlikely(sw->n_xoff > 0))
		mmu_part_refresh(sw->mmu, sw->shard.index);
	sw_crossed_collect(sw, port, now_ns);
	if (first)
		sw_crossed_take(sw, now_ns);
	do_if_requested(sw, now_ns);
	n = sw_tx(sw, port, pkts, max_pkts, now_ns);
	if (first || n == 0)
		sw_crossing_flush(&sw->shard);
	if (n == 0 || ++sw->shard.calls >= SETTLE_CALLS) {
		sw->shard.calls = 0;
		sw_give_back_debts(&sw->shard);
	}
	publish_use(sw, n == 0);
	if (ends_round(&sw->shard, port))
		sw_crossing_prefetch_indices(&sw->shard);
	return n;
}

static uint64_t
shard_next_ns(const struct node *node, uint16_t port)
{
	const struct sw *sw = sw_of_const(node);

	if (sw_crossing_waits(&sw->shard, port) || !mmu_part_is_published(sw->mmu, sw->shard.index))
		return 0;
	return next_ns(sw, port);
}

/* The front does the control work of all shards. */
static uint64_t
shard_control(struct node *node, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	return NEVER_NS;
}

const struct node_ops sw_shard_ops = {
	.rx = shard_rx,
	.tx = shard_tx,
	.next_ns = shard_next_ns,
	.control = shard_control,
	.why = sw_why,
	.watch_drops = alone_watch_drops,
};

/* After each call of the front's rx() or tx(): exchange frames and debts between the shards, and
 * merge their masks of woken ports. */
static void
end_call(struct sw *front, uint64_t now_ns)
{
	struct sw_shards *s = front->shard.shards;

	for (uint16_t i = 0; i < s->n; i++) {
		sw_crossing_flush(&s->shard[i]->shard);
		sw_give_back_debts(&s->shard[i]->shard);
		mmu_part_publish(front->mmu, i);
	}
	sw_crossed_settle(front, now_ns);
	for (uint16_t i = 0; i < s->n; i++) {
		for (unsigned int w = 0; w < ARRAY_LEN(front->node.wake); w++) {
			front->node.wake[w] |= s->shard[i]->node.wake[w];
			s->shard[i]->node.wake[w] = 0;
		}
	}
}

/*
 * At the start of a call of the front, serve the requests of all shards, because a request to one
 * shard (such as a link state) affects the others.
 */
static void
begin_call(struct sw *front, uint64_t now_ns)
{
	struct sw_shards *s = front->shard.shards;

	for (uint16_t i = 0; i < s->n; i++) {
		if (sw_requested(&s->shard[i]->request) == 0)
			continue;
		do_requests(s->shard[i], now_ns);
		sw_give_back_debts(&s->shard[i]->shard);
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
front_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	 uint64_t now_ns)
{
	struct sw *front = sw_of(node);
	uint16_t n;

	begin_call(front, now_ns);
	n = shard_tx(&sw_owner(front, port)->node, port, pkts, max_pkts, now_ns);
	end_call(front, now_ns);
	return n;
}

static uint64_t
front_next_ns(const struct node *node, uint16_t port)
{
	return shard_next_ns(&sw_owner(sw_of((struct node *)node), port)->node, port);
}

static void
front_watch_drops(struct node *node, struct node_drops *drops)
{
	for (uint16_t i = 0; i < sw_shard_count(sw_of(node)); i++)
		sw_shard_at(sw_of(node), i)->drops = drops;
}

const struct node_ops sw_front_ops = {
	.rx = front_rx,
	.tx = front_tx,
	.next_ns = front_next_ns,
	.control = control,
	.why = sw_why,
	.watch_drops = front_watch_drops,
};
