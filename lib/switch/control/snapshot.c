/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/snapshot.h"

#include "switch/core/switch.h"
#include "switch/forward/router.h"
#include "tm/buffer/mmu_part.h"

/*
 * The shard that serves a request. The first shard serves addresses, which are in one table for all
 * shards, and neighbours: each shard has a table of them, and updates (shard/news.h) keep the
 * tables equal.
 */
static struct sw *
owner_of(struct node *node, const struct sw_snapshot *s)
{
	if (s->table == SW_SNAPSHOT_LOOK)
		return sw_owner(sw_of(node), s->look->port);
	if (s->table == SW_SNAPSHOT_MARKS)
		return sw_owner(sw_of(node), s->marks->port);
	if (s->table != SW_SNAPSHOT_WATERMARKS)
		return sw_shard_at(sw_of(node), 0);
	return s->kind < MMU_WATERMARK_POOL ? sw_owner(sw_of(node), (uint16_t)s->at)
					    : sw_shard_at(sw_of(node), (uint16_t)s->at);
}

void
sw_snapshot_ask(struct node *node, struct sw_snapshot *s)
{
	struct sw *sw = owner_of(node, s);

	s->owner = sw;
	s->n = 0;
	s->done = 0;
	__atomic_store_n(&sw->request.snapshot, s, __ATOMIC_RELEASE);
	sw_post_request(&sw->request, SW_REQUEST_SNAPSHOT);
}

bool
sw_snapshot_is_done(const struct sw_snapshot *s)
{
	return __atomic_load_n(&s->done, __ATOMIC_ACQUIRE) != 0;
}

bool
sw_snapshot_withdraw(struct sw_snapshot *s)
{
	return __atomic_compare_exchange_n(&s->owner->request.snapshot, &s, NULL, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void
read_neighbours(const struct sw_router *r, struct sw_snapshot *s)
{
	uint32_t all = r == NULL ? 0 : neigh_count(r->neighs);

	for (; s->at < all && s->n < SW_SNAPSHOT_ROWS; s->at++) {
		const struct neigh *e = neigh_get(r->neighs, s->at);

		if (e->key.ip.version != 0)
			s->neigh[s->n++] = *e;
	}
	if (s->at >= all)
		s->at = SW_SNAPSHOT_END;
}

static unsigned int
watermarks_of_port(enum mmu_watermark kind)
{
	if (kind == MMU_WATERMARK_POOL)
		return MMU_POOLS;
	return kind == MMU_WATERMARK_HEADROOM_POOL ? 1 : TM_CLASSES;
}

static void
take_watermarks(struct sw *sw, struct sw_snapshot *s)
{
	for (; s->n < watermarks_of_port(s->kind); s->n++)
		s->watermark_bytes[s->n] = mmu_part_take_watermark_bytes(
			sw->mmu, sw->shard.index, s->kind, (uint16_t)s->at, (uint8_t)s->n);
	s->at = SW_SNAPSHOT_END;
}

void
sw_do_snapshot(struct sw *sw, uint64_t now_ns)
{
	struct sw_snapshot *s = __atomic_exchange_n(&sw->request.snapshot, NULL, __ATOMIC_ACQ_REL);

	if (s == NULL)
		return;
	if (s->table == SW_SNAPSHOT_FDB)
		s->n = fdb_read(sw->forward.fdb, &s->at, s->fdb, SW_SNAPSHOT_ROWS, now_ns);
	else if (s->table == SW_SNAPSHOT_NEIGH)
		read_neighbours(sw->forward.router, s);
	else if (s->table == SW_SNAPSHOT_LOOK)
		sw_look_at(sw, s->look, now_ns);
	else if (s->table == SW_SNAPSHOT_MARKS)
		sw_mark_look_at(sw, s->marks, now_ns);
	else if (s->table == SW_SNAPSHOT_ROUTE)
		sw_route_look_at(sw, s->route, now_ns);
	else
		take_watermarks(sw, s);
	__atomic_store_n(&s->done, 1, __ATOMIC_RELEASE);
}
