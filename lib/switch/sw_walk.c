/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/sw_walk.h"

#include "base/numbers/fixed.h"
#include "switch/params/port_names.h"
#include "tm/buffer/mmu.h"
#include "tm/pfc/pfc_walk.h"

void
sw_walk_port_key(struct walk *w, const struct sw_view *v, uint16_t port)
{
	const bool optional = w->optional;

	WALK(number, w, KEY, "port", "number of the port", port);
	w->optional = true;
	if (w->names_only || sw_port_has_name(&v->params->ports[port]))
		WALK(text, w, KEY, "port_name", "its name, if it has one",
		     v->params->ports[port].name);
	w->optional = optional;
}

void
sw_walk_port(struct walk *w, const struct sw_view *v, uint16_t port)
{
	w->object = "port";
	walk_counters(w, WALK_COUNTER, sw_port_counter_fields, sw_port_counter_fields_n,
		      w->names_only ? NULL : sw_port_stats(v->sw, port));
	WALK(number, w, COUNTER, "ecn_not_ect_packets",
	     "frames received on the port that an egress queue had to mark, but that are Not-ECT",
	     sw_not_ect_packets(v->sw, port));
	WALK(number, w, GAUGE, "learned_addresses", "addresses learned from the port",
	     sw_fdb_port_entries(v->sw, port));
}

void
sw_walk_drops(struct walk *w, const struct sw_view *v, uint16_t port)
{
	w->object = "drop";
	walk_counters(w, WALK_COUNTER, sw_drop_counter_fields, SW_DROPS,
		      w->names_only ? NULL : sw_port_stats(v->sw, port));
}

void
sw_walk_malformed(struct walk *w, const struct sw_view *v, uint16_t port)
{
	w->object = "malformed";
	walk_counters(w, WALK_COUNTER, sw_malformed_counter_fields, sw_malformed_counter_fields_n,
		      w->names_only ? NULL : sw_port_stats(v->sw, port));
}

void
sw_walk_pauses(struct walk *w, const struct sw_view *v, uint16_t port)
{
	const struct pfc_rx *rx = w->names_only ? NULL : sw_pfc_rx(v->sw, port);
	const struct pfc_tx *tx = w->names_only ? NULL : sw_pfc_tx(v->sw, port);
	const bool link = !w->names_only && v->params->ports[port].flow_control == SW_FLOW_PAUSE;

	/* A port has only the names of PFC, or only those of link pauses. */
	w->optional = true;
	if (!link)
		pfc_walk(w, rx, tx, v->now_ns);
	if (link || w->names_only)
		pfc_walk_link(w, rx, tx, v->now_ns);
	w->optional = false;
}

static void
walk_watermark(struct walk *w, const struct sw_view *v, const char *const words[4],
	       enum mmu_watermark kind, uint16_t port, uint8_t index)
{
	WALK(number, w, PEAK, words[0], words[1],
	     mmu_watermark_bytes(sw_mmu(v->sw), kind, port, index));
	WALK(number, w, GAUGE, words[2], words[3],
	     mmu_persistent_watermark_bytes(sw_mmu(v->sw), kind, port, index));
}

/* The watermarks since the last clear and since the start (SONiC's persistent watermark). */
#define WATERMARK(what, of, kind, port, index)                                                     \
	walk_watermark(w, v,                                                                       \
		       (const char *const[]){what "watermark_bytes",                               \
					     "most bytes " of " since the last clear",             \
					     what "persistent_watermark_bytes",                    \
					     "most bytes " of " since the start"},                 \
		       MMU_WATERMARK_##kind, port, index)

void
sw_walk_queue_counters(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t queue)
{
	w->object = "queue";
	WALK(number, w, KEY, "queue", "number of the queue", queue);
	WALK(number, w, GAUGE, "queue_bytes", "charged bytes in the egress queue",
	     sw_queue_bytes(v->sw, port, queue));
	walk_counters(w, WALK_COUNTER, sw_queue_counter_fields, sw_queue_counter_fields_n,
		      w->names_only ? NULL : &sw_port_stats(v->sw, port)->queue[queue]);
}

/* Counters of the marking scheme of a queue; it has none of other schemes. */
static void
walk_scheme(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t queue)
{
	const struct mark_queue *scheme = w->names_only ? NULL : sw_mark_scheme(v->sw, port, queue);

	w->optional = true;
	for (unsigned int i = MARK_WRED + 1; i < MARK_SCHEMES; i++) {
		const struct mark_ops *ops = mark_schemes[i];

		if (w->names_only || (scheme != NULL && scheme->ops == ops))
			walk_counters(w, WALK_COUNTER, ops->counters, *ops->n_counters,
				      scheme == NULL ? NULL : &scheme->counts);
	}
	w->optional = false;
}

void
sw_walk_queue(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t queue)
{
	sw_walk_queue_counters(w, v, port, queue);
	walk_scheme(w, v, port, queue);
	WATERMARK("", "in the queue", QUEUE, port, queue);
}

void
sw_walk_pg(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t pg)
{
	const struct mmu *mmu = w->names_only ? NULL : sw_mmu(v->sw);
	const struct mmu_pg_state now =
		w->names_only ? (struct mmu_pg_state){0} : mmu_pg_state(mmu, port, pg);

	w->object = "pg";
	WALK(number, w, KEY, "pg", "number of the priority group", pg);
	WALK(flag, w, GAUGE, "lossless", "whether the group pauses its peer before it drops",
	     mmu_pg_is_lossless(mmu, port, pg));
	WALK(number, w, GAUGE, "reserved_bytes", "reserved bytes in use by the group",
	     now.reserved_bytes);
	WALK(number, w, GAUGE, "shared_bytes", "bytes of the shared buffer in use by the group",
	     now.shared_bytes);
	WALK(number, w, GAUGE, "headroom_bytes", "bytes of the headroom in use by the group",
	     now.headroom_bytes);
	/* Of a group without a limit, show the size of the pool. */
	WALK(number, w, GAUGE, "shared_limit_bytes",
	     "current limit of shared_bytes; a lossless group that reaches the limit sends XOFF",
	     min_u64(mmu_pg_limit_bytes(mmu, port, pg),
		     mmu_pool_size_bytes(mmu, MMU_INGRESS_LOSSLESS)));
	WALK(number, w, GAUGE, "shared_xon_bytes",
	     "XON threshold: a lossless group sends XON when shared_bytes has fallen to it",
	     min_u64(mmu_pg_xon_mark_bytes(mmu, port, pg),
		     mmu_pool_size_bytes(mmu, MMU_INGRESS_LOSSLESS)));
	walk_counters(w, WALK_COUNTER, sw_pg_counter_fields, sw_pg_counter_fields_n,
		      w->names_only ? NULL : &sw_port_stats(v->sw, port)->pg[pg]);
	WATERMARK("", "in use by the group", PG, port, pg);
	WATERMARK("shared_", "of the shared buffer in use by the group", PG_SHARED, port, pg);
	WATERMARK("headroom_", "of the headroom in use by the group", PG_HEADROOM, port, pg);
}

void
sw_walk_pfcwd(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t prio)
{
	const struct pfcwd *wd = w->names_only ? NULL : sw_pfcwd(v->sw, port, prio);

	w->object = "pfcwd";
	WALK(number, w, KEY, "prio", "the priority", prio);
	WALK(number, w, KEY, "queue", "the queue that the priority pauses",
	     sw_port_qos(v->params, port).pfc_priority_to_queue_map[prio]);
	WALK(text, w, GAUGE, "status", "whether the queue is in a storm",
	     wd->state == PFCWD_STORMED ? "stormed" : "operational");
	walk_counters(w, WALK_COUNTER, pfcwd_counters, pfcwd_counters_n,
		      w->names_only ? NULL : &wd->stats);
	walk_counters(w, WALK_GAUGE, pfcwd_last_counters, pfcwd_last_counters_n,
		      w->names_only ? NULL : &wd->stats);
}

void
sw_walk_dcbx(struct walk *w, const struct sw_view *v, uint16_t port)
{
	const struct dcbx_port *d = w->names_only ? NULL : sw_dcbx(v->sw, port);

	w->object = "dcbx";
	WALK(text, w, KEY, "pfc_state",
	     "no_neighbour, no_pfc_tlv, several_neighbours, agreed or mismatch",
	     dcbx_pfc_state_name(d->pfc_state));
	WALK(number, w, GAUGE, "pfc_agreed", "bit mask of priorities for which both ends run PFC",
	     d->pfc_prios);
	WALK(number, w, GAUGE, "pfc_ours",
	     "bit mask of priorities for which the switch advertises PFC",
	     d->local.dcbx.pfc.enable);
	WALK(number, w, GAUGE, "pfc_peer",
	     "bit mask of priorities for which the peer advertises PFC",
	     d->has_peer ? d->peer.dcbx.pfc.enable : 0);
	walk_counters(w, WALK_COUNTER, dcbx_counters, dcbx_counters_n,
		      w->names_only ? NULL : &d->stats);
}

void
sw_walk_watched(struct walk *w, const struct sw_view *v, uint16_t port)
{
	walk_list(w, "pfcwd");
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		if (!w->names_only && !sw_pfcwd_watches(v->sw, port, prio))
			continue;
		walk_enter_item(w, "pfcwd", "pfcwd%u/", prio);
		sw_walk_pfcwd(w, v, port, prio);
		walk_leave(w);
	}
}

static void
walk_classes(struct walk *w, const struct sw_view *v, uint16_t port)
{
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		walk_enter_item(w, "queues", "queue%u/", i);
		sw_walk_queue(w, v, port, i);
		walk_leave(w);
		walk_enter_item(w, "pgs", "pg%u/", i);
		sw_walk_pg(w, v, port, i);
		walk_leave(w);
	}
	sw_walk_watched(w, v, port);
}

void
sw_walk_whole_port(struct walk *w, const struct sw_view *v, uint16_t port)
{
	sw_walk_port(w, v, port);
	sw_walk_pauses(w, v, port);
	walk_enter(w, "drops", "drops/");
	sw_walk_drops(w, v, port);
	walk_leave(w);
	walk_enter(w, "malformed", "malformed/");
	sw_walk_malformed(w, v, port);
	walk_leave(w);
	walk_classes(w, v, port);
}

void
sw_walk_fdb(struct walk *w, const struct sw_view *v)
{
	const struct fdb_stats stats = w->names_only ? (struct fdb_stats){0} : sw_fdb_stats(v->sw);

	w->object = "fdb";
	WALK(number, w, GAUGE, "entries", "addresses in the forwarding table",
	     sw_fdb_entries(v->sw));
	walk_counters(w, WALK_COUNTER, sw_fdb_counter_fields, sw_fdb_counter_fields_n, &stats);
}

void
sw_walk_router(struct walk *w, const struct sw_view *v)
{
	const struct sw_router_stats stats =
		w->names_only ? (struct sw_router_stats){0} : sw_router_stats(v->sw);

	w->object = "router";
	walk_counters(w, WALK_COUNTER, sw_router_counter_fields, sw_router_counter_fields_n,
		      &stats);
}

void
sw_walk_interface(struct walk *w, const struct sw_view *v, const char *name)
{
	struct sw_interface_stats stats = {0};

	if (!w->names_only)
		stats = sw_interface_stats(v->sw, (uint16_t)sw_interface_domain(name));
	w->object = "interface";
	WALK(text, w, KEY, "interface", "vlan 10, port 3", name);
	walk_counters(w, WALK_COUNTER, sw_interface_counter_fields, sw_interface_counter_fields_n,
		      &stats);
}

void
sw_walk_hop_counts(struct walk *w, const struct sw_view *v, const struct neigh_key *key)
{
	struct sw_hop_stats stats = {0};

	if (!w->names_only)
		stats = sw_hop_stats(v->sw, key);
	w->object = "nexthop";
	walk_counters(w, WALK_COUNTER, sw_hop_counter_fields, sw_hop_counter_fields_n, &stats);
}

static void
walk_pool(struct walk *w, const struct sw_view *v, enum mmu_pool_id pool)
{
	w->object = "pool";
	WALK(text, w, KEY, "pool", "name of the pool, as in SONiC", mmu_pool_name(pool));
	WALK(number, w, GAUGE, "size_bytes", "size of the pool",
	     mmu_pool_size_bytes(sw_mmu(v->sw), pool));
	WALK(number, w, GAUGE, "used_bytes", "bytes of the pool in use",
	     mmu_pool_used_bytes(sw_mmu(v->sw), pool));
	WATERMARK("", "of the pool in use", POOL, 0, (uint8_t)pool);
}

void
sw_walk_ledger(struct walk *w, const struct sw_view *v)
{
	const struct sw_ledger ledger = w->names_only ? (struct sw_ledger){0} : sw_ledger(v->sw);

	w->object = "ledger";
	walk_counters(w, WALK_COUNTER, sw_ledger_counter_fields, sw_ledger_counter_fields_n,
		      &ledger);
	WALK(number, w, GAUGE, "queued", "charged bytes in queues", ledger.queued);
}

void
sw_walk_buffer(struct walk *w, const struct sw_view *v)
{
	w->object = "buffer";
	WALK(number, w, GAUGE, "buffer_bytes", "size of the shared buffer",
	     v->params->mmu.buffer_bytes);
	WALK(number, w, GAUGE, "buffer_used_bytes",
	     "bytes charged on the ingress side, over all priority groups",
	     mmu_used_bytes(sw_mmu(v->sw)));
	WATERMARK("headroom_pool_", "of headroom in use", HEADROOM_POOL, 0, 0);
	for (int i = 0; i < (w->names_only ? 1 : MMU_POOLS); i++) {
		walk_enter_item(w, "pools", "%s/", mmu_pool_name((enum mmu_pool_id)i));
		walk_pool(w, v, (enum mmu_pool_id)i);
		walk_leave(w);
	}
	walk_enter(w, "ledger", "ledger/");
	sw_walk_ledger(w, v);
	walk_leave(w);
}
