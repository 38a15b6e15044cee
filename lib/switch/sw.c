/* SPDX-License-Identifier: BSD-3-Clause */
/* Wiring of the switch node, and its readers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_memory.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "node/node_memory.h"
#include "switch/control/control_state.h"
#include "switch/egress/pfc.h"
#include "switch/egress/sw_release.h"
#include "switch/core/settings.h"
#include "switch/forward/router.h"
#include "switch/ingress/ingress.h"
#include "switch/shard/crossing.h"
#include "switch/sw.h"
#include "switch/sw_node_ops.h"
#include "tm/buffer/mmu_part.h"
#include "wire/bytes/be.h"
#include "wire/link/pfc_frame.h"

/* A reload may replace the table; the old one stays allocated for readers. */
static const struct fdb *
fdb_of(const struct node *node)
{
	return __atomic_load_n(&sw_shard_at(sw_of_const(node), 0)->forward.fdb, __ATOMIC_ACQUIRE);
}

/* @return 0 or -ENOMEM. */
static int
alloc_marking(struct sw_queue *q, bool counted)
{
	q->marking = sw_marking_create(counted);
	if (q->marking == NULL)
		return -ENOMEM;
	if (counted)
		q->marking->count_until_ns = UINT64_MAX;
	return 0;
}

/* Memory for the queues that mark otherwise than by WRED alone. @return 0 or -ENOMEM. */
static int
alloc_markings(struct sw *sw, uint16_t port, const struct sw_params *params)
{
	int rc = 0;

	for (uint8_t i = 0; rc == 0 && i < TM_CLASSES; i++) {
		const struct wred_params *wred = sw_queue_wred(params, port, i);
		bool own = params->queues[port][i].marking != MARK_WRED;

		if (wred != NULL && wred->ecn == WRED_ECN_ALL && (own || params->mark_accuracy))
			rc = alloc_marking(&sw->ports[port].queue[i], !own);
	}
	return rc;
}

static int
init_ports(struct sw *sw, const struct sw_params *params)
{
	int rc = 0;

	for (uint16_t i = 0; rc == 0 && i < params->n_ports; i++) {
		memcpy(sw->ports[i].mac, params->ports[i].mac, sizeof(sw->ports[i].mac));
		sw_pfc_init_port(sw, i, params);
		rc = alloc_markings(sw, i, params);
		sw_set_port(sw, i, params, 0);
	}
	return rc;
}

static int
create_shard(struct sw *front, const struct sw_params *params, uint16_t i)
{
	struct sw_shards *s = front->shard.shards;
	struct sw *sw = node_zalloc(sizeof(*sw));
	int rc;

	if (sw == NULL)
		return -ENOMEM;
	/* Copy the settings; no frame has been received yet. */
	*sw = *front;
	s->shard[i] = sw;
	sw->node.ops = &sw_shard_ops;
	sw->shard.index = i;
	sw->shard.own_ports = 0;
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		if (s->of_port[port] == i)
			sw->shard.own_ports |= 1ull << port;
	}
	prng_seed(&sw->prng, params->seed, i);
	rc = sw_classes_create(sw, sw->n_ports);
	if (rc == 0)
		sw_set_classes(sw, params);
	return rc;
}

static int
create_shards(struct sw *front, const struct sw_params *params)
{
	struct sw_shards *s = front->shard.shards;
	int rc = sw_shards_connect(s);

	for (uint16_t i = 0; rc == 0 && i < s->n; i++)
		rc = create_shard(front, params, i);
	/*
	 * If a shard is missing, leave the front as a switch without shards, which sw_destroy() can
	 * free.
	 */
	if (rc < 0)
		return rc;
	front->shard.own_ports = 0;
	front->node.ops = &sw_front_ops;
	return 0;
}

static int
create_tables(struct sw *sw, const struct sw_params *params)
{
	uint8_t shard_of_port[SW_MAX_PORTS];
	int rc;

	sw_shards_deal(params, shard_of_port);
	sw->mmu = mmu_create_parts(&params->mmu, sw_shard_count(sw), shard_of_port);
	if (sw->mmu == NULL)
		return -errno;
	rc = sw_forwarding_create(sw, params);
	if (rc == 0 && sw->shard.shards != NULL)
		rc = create_shards(sw, params);
	return rc == 0 ? sw_forwarding_start(sw) : rc;
}

/* Replace pools that are NULL by the pools that the comments of struct sw_pools name instead. */
static void
set_pools(struct sw *sw, const struct sw_pools *pools)
{
	sw->pools = *pools;
	if (pools->pause == NULL)
		sw->pools.pause = pools->frames;
	if (pools->lossless_clones == NULL)
		sw->pools.lossless_clones = pools->clones;
	if (pools->own == NULL)
		sw->pools.own = pools->frames;
	if (pools->copies == NULL)
		sw->pools.copies = sw->pools.own;
	sw->forward.pools = &sw->pools;
}

/*
 * Largest number of entries in the queues of one shard and in its ends of the rings: one for each
 * mbuf; for a flooded frame, one for each other shard.
 */
static size_t
most_entries(const struct sw_pools *pools, uint16_t n_shards)
{
	const struct rte_mempool *others[] = {pools->own, pools->copies, pools->clones,
					      pools->lossless_clones};
	const struct rte_mempool *last = pools->frames;
	size_t received = pools->mbufs > 0 ? pools->mbufs : pools->frames->size;
	size_t n = received * (n_shards > 2 ? n_shards - 1u : 1u);

	for (unsigned int i = 0; i < ARRAY_LEN(others); i++) {
		if (others[i] == NULL || others[i] == last || others[i] == pools->frames)
			continue;
		n += others[i]->size;
		last = others[i];
	}
	return n;
}

/* Give each shard the memory of its queues. @return 0 or -ENOMEM. */
static int
create_queues(struct sw *front)
{
	uint16_t n = sw_shard_count(front);
	size_t chunks =
		SW_CHUNKS_FOR(most_entries(&front->pools, n), front->n_ports * TM_CLASSES + n);
	int rc = 0;

	for (uint16_t i = 0; rc == 0 && i < n; i++)
		rc = sw_chunks_init(&sw_shard_at(front, i)->shard.chunks, chunks);
	if (rc < 0)
		return rc;
	for (uint16_t port = 0; port < front->n_ports; port++) {
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++)
			sw_fifo_init(&front->ports[port].queue[queue].fifo,
				     &sw_owner(front, port)->shard.chunks);
	}
	for (uint16_t i = 0; n > 1 && i < n * n; i++) {
		if (i / n != i % n)
			sw_fifo_init(&sw_crossing_ring(front->shard.shards, i / n, i % n)->overflow,
				     &sw_shard_at(front, i / n)->shard.chunks);
	}
	return 0;
}

/* @return 0 or -ENOMEM. */
static int
prepare_shards(struct sw *sw, const struct sw_params *params)
{
	sw->shard.own_ports = UINT64_MAX;
	if (params->shards <= 1)
		return 0;
	sw->shard.shards = sw_shards_alloc(params);
	return sw->shard.shards == NULL ? -ENOMEM : 0;
}

/* @return a switch for sw_destroy(), or NULL. */
static struct sw *
alloc(uint16_t n_ports)
{
	struct sw *sw = node_zalloc(sizeof(*sw));

	if (sw == NULL)
		return NULL;
	sw->node.ops = &sw_alone_ops;
	sw->ports = node_zalloc(n_ports * sizeof(sw->ports[0]));
	sw->forward.ports = node_zalloc(port_words(n_ports) * 64u * sizeof(sw->forward.ports[0]));
	sw->control = calloc(1, sizeof(*sw->control));
	if (sw->ports != NULL && sw->forward.ports != NULL && sw->control != NULL)
		return sw;
	node_free(sw->ports);
	node_free(sw->forward.ports);
	free(sw->control);
	node_free(sw);
	return NULL;
}

struct node *
sw_create(const struct sw_params *params, const struct sw_pools *pools)
{
	char why[256];
	struct sw *sw;
	int rc;

	if (sw_params_check(params, why, sizeof(why)) < 0 ||
	    rte_pktmbuf_data_room_size(pools->frames) < RTE_PKTMBUF_HEADROOM + PFC_FRAME_BYTES) {
		errno = EINVAL;
		return NULL;
	}
	sw = alloc(params->n_ports);
	if (sw == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	sw->n_ports = params->n_ports;
	sw->max_frame_bytes = params->max_frame_bytes;
	sw->control->watermark_interval_ns = params->watermark_interval_ns;
	set_pools(sw, pools);
	prng_seed(&sw->prng, params->seed, 0);
	rc = sw_classes_create(sw, params->n_ports);
	if (rc == 0)
		sw_set_classes(sw, params);
	if (rc == 0)
		rc = sw_pfcwd_init(sw, params);
	if (rc == 0)
		rc = sw_dcbx_init(sw, params);
	if (rc == 0)
		rc = prepare_shards(sw, params);
	if (rc == 0)
		rc = init_ports(sw, params);
	if (rc == 0)
		rc = create_tables(sw, params);
	if (rc == 0)
		rc = create_queues(sw);
	if (rc < 0) {
		sw_destroy(&sw->node);
		errno = -rc;
		return NULL;
	}
	for (uint16_t i = 0; i < params->n_ports; i++)
		sw_set_shutdown(&sw->node, i, params->ports[i].shutdown, 0);
	return &sw->node;
}

static void
free_queue(struct sw *sw, struct sw_queue *q)
{
	while (!sw_queue_is_empty(q)) {
		const struct sw_entry *e = sw_fifo_pop(&q->fifo, &sw->shard.chunks);

		sw_leave_ingress(sw, e, 0);
		rte_pktmbuf_free(sw_entry_mbuf(e));
	}
	sw_marking_destroy(q->marking);
}

static void
destroy_shards(struct sw_shards *s)
{
	for (uint16_t i = 0; s != NULL && i < s->n; i++) {
		if (s->shard[i] != NULL)
			sw_router_destroy(s->shard[i]->forward.router);
		if (s->shard[i] != NULL)
			sw_chunks_fini(&s->shard[i]->shard.chunks);
		if (s->shard[i] != NULL)
			sw_classes_destroy(s->shard[i]);
		node_free(s->shard[i]);
	}
	sw_shards_free(s);
}

void
sw_destroy(struct node *node)
{
	struct sw *sw = sw_of(node);

	if (node == NULL)
		return;
	/* Frames can cross only if all shards exist. */
	if (sw->node.ops == &sw_front_ops)
		sw_crossed_settle(sw, 0);
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (unsigned int queue = 0; queue < TM_CLASSES; queue++)
			free_queue(sw_owner(sw, port), &sw->ports[port].queue[queue]);
	}
	sw_classes_destroy(sw);
	sw_router_destroy(sw->forward.router);
	destroy_shards(sw->shard.shards);
	sw_chunks_fini(&sw->shard.chunks);
	sw_forwarding_destroy(sw);
	mmu_destroy(sw->mmu);
	sw_dcbx_free(sw);
	sw_pfcwd_free(sw);
	free(sw->control);
	node_free(sw->forward.ports);
	node_free(sw->ports);
	node_free(sw);
}

int
sw_learn(struct node *node, uint16_t vid, const uint8_t mac[6], uint16_t port, uint64_t now_ns)
{
	const struct sw *sw = sw_shard_at(sw_of(node), 0);
	uint64_t key = fdb_key(vid, mac);

	if (port >= sw->n_ports || vid >= SW_DOMAINS ||
	    !sw_is_member(sw->forward.vlans, vid, port) || fdb_key_is_group(key))
		return -EINVAL;
	return fdb_learn(sw->forward.fdb, key, port, now_ns) ? 0 : -ENOSPC;
}

const struct sw_port_stats *
sw_port_stats(const struct node *node, uint16_t port)
{
	return &sw_of_const(node)->ports[port].stats;
}

const struct pfc_rx *
sw_pfc_rx(const struct node *node, uint16_t port)
{
	return &sw_of_const(node)->ports[port].pfc_rx;
}

const struct pfc_tx *
sw_pfc_tx(const struct node *node, uint16_t port)
{
	return &sw_of_const(node)->ports[port].pfc_tx;
}

uint64_t
sw_port_mac(const struct node *node, uint16_t port)
{
	return be48_load(sw_of_const(node)->ports[port].mac);
}

uint64_t
sw_pause_source(const struct node *node, uint16_t port)
{
	return counter_read(&sw_of_const(node)->ports[port].pause_source);
}

void
sw_watch_pauses(struct node *node, uint16_t port, struct pfc_tx_watch watch)
{
	sw_of(node)->ports[port].pfc_tx.watch = watch;
}

/* Bytes of a queue's oldest `most` frames that a port has received, in the groups of a mask. */
static uint64_t
received_by(const struct sw_queue *q, uint16_t in_port, uint8_t groups, uint32_t most)
{
	const struct sw_entry *e = NULL;
	uint64_t bytes = 0;

	while (most-- > 0 && (e = sw_fifo_next(&q->fifo, e)) != NULL) {
		uint16_t group = sw_entry_group(e);

		if (group / TM_CLASSES == in_port && groups >> group % TM_CLASSES & 1)
			bytes += sw_entry_charged_bytes(e);
	}
	return bytes;
}

static struct sw_holder
find_holder(const struct sw *sw, uint16_t in_port, uint8_t prio, uint32_t most_frames)
{
	uint8_t groups = sw->ports[in_port].flow_control == SW_FLOW_PAUSE ? UINT8_MAX
									  : (uint8_t)(1u << prio);
	struct sw_holder most = {0};

	for (uint16_t port = 0; port < sw->n_ports; port++)
		for (uint8_t m = sw->ports[port].backlogged; m != 0; m &= (uint8_t)(m - 1)) {
			uint8_t queue = (uint8_t)__builtin_ctz(m);
			uint64_t bytes = received_by(&sw->ports[port].queue[queue], in_port, groups,
						     most_frames);

			if (bytes > most.bytes)
				most = (struct sw_holder){port, queue, bytes};
		}
	return most;
}

/* A few frames say enough, unless the port's frames are behind others. */
#define FEW_FRAMES 128u

struct sw_holder
sw_find_holder(const struct node *node, uint16_t in_port, uint8_t prio)
{
	struct sw_holder found = find_holder(sw_of_const(node), in_port, prio, FEW_FRAMES);

	return found.bytes > 0 ? found : find_holder(sw_of_const(node), in_port, prio, UINT32_MAX);
}

const struct mmu *
sw_mmu(const struct node *node)
{
	return sw_of_const(node)->mmu;
}

uint64_t
sw_queue_bytes(const struct node *node, uint16_t port, uint8_t queue)
{
	return counter_read(&sw_of_const(node)->ports[port].queue[queue].bytes);
}

uint64_t
sw_not_ect_packets(const struct node *node, uint16_t port)
{
	uint64_t n = 0;

	for (uint16_t i = 0; i < sw_shard_count(sw_of_const(node)); i++)
		n += counter_read(&sw_shard_at(sw_of_const(node), i)->not_ect_packets[port]);
	return n;
}

const struct mark_accuracy *
sw_mark_accuracy(const struct node *node, uint16_t port, uint8_t queue)
{
	const struct sw_marking *m = sw_marking_of(&sw_of_const(node)->ports[port].queue[queue]);

	return m == NULL || counter_read(&m->count_until_ns) != UINT64_MAX ? NULL : m->accuracy;
}

const struct mark_queue *
sw_mark_scheme(const struct node *node, uint16_t port, uint8_t queue)
{
	const struct sw_marking *m = sw_marking_of(&sw_of_const(node)->ports[port].queue[queue]);

	return m == NULL || __atomic_load_n(&m->scheme.ops, __ATOMIC_RELAXED) == NULL ? NULL
										      : &m->scheme;
}

const struct wred_curve *
sw_mark_curve(const struct node *node, uint16_t port, uint8_t queue)
{
	static const struct wred_curve none;

	return sw_mark_scheme(node, port, queue) != NULL
		       ? &none
		       : &sw_of_const(node)->ports[port].queue[queue].wred.mark;
}

uint32_t
sw_fdb_entries(const struct node *node)
{
	return fdb_entries(fdb_of(node));
}

uint32_t
sw_fdb_port_entries(const struct node *node, uint16_t port)
{
	return fdb_port_entries(fdb_of(node), port);
}

static const struct sw_router *
router_of(const struct sw *sw)
{
	return __atomic_load_n(&sw->forward.router, __ATOMIC_ACQUIRE);
}

struct sw_router_stats
sw_router_stats(const struct node *node)
{
	struct sw_router_stats sum = {0};

	for (uint16_t i = 0; i < sw_shard_count(sw_of_const(node)); i++)
		sw_router_add_stats(router_of(sw_shard_at(sw_of_const(node), i)), &sum);
	return sum;
}

struct sw_interface_stats
sw_interface_stats(const struct node *node, uint16_t domain)
{
	struct sw_interface_stats sum = {0};

	for (uint16_t k = 0; k < sw_shard_count(sw_of_const(node)); k++)
		sw_router_add_interface_stats(router_of(sw_shard_at(sw_of_const(node), k)), domain,
					      &sum);
	return sum;
}

const struct sw_hop_counts *
sw_next_hop(const struct node *node, const struct sw_hop_counts *hop)
{
	const struct sw_router *r = router_of(sw_shard_at(sw_of_const(node), 0));

	/* All shards have the same. */
	while (r != NULL && (hop = sw_hop_counts_next(&r->hop_counts, hop)) != NULL)
		if (__atomic_load_n(&hop->in_use, __ATOMIC_RELAXED))
			return hop;
	return NULL;
}

struct sw_hop_stats
sw_hop_stats(const struct node *node, const struct neigh_key *key)
{
	struct sw_hop_stats sum = {0};

	for (uint16_t i = 0; i < sw_shard_count(sw_of_const(node)); i++) {
		const struct sw_router *r = router_of(sw_shard_at(sw_of_const(node), i));

		if (r != NULL)
			sw_hop_counts_add(&r->hop_counts, key, &sum);
	}
	return sum;
}

struct fdb_stats
sw_fdb_stats(const struct node *node)
{
	const struct sw_forwardings *f = &sw_of_const(node)->control->forwarding;
	struct fdb_stats sum = {0};

	for (unsigned int i = 0; i < ARRAY_LEN(f->fdbs); i++) {
		const struct fdb *fdb = __atomic_load_n(&f->fdbs[i], __ATOMIC_ACQUIRE);

		if (fdb != NULL)
			counters_add(fdb_stats(fdb), &sum, sizeof(sum));
	}
	return sum;
}

static void
add_ledger(const struct sw *sw, struct sw_ledger *l)
{
	l->in += counter_read(&sw->ledger.in);
	l->copies += counter_read(&sw->ledger.copies);
	l->generated += counter_read(&sw->ledger.generated);
	l->sent += counter_read(&sw->ledger.sent);
	l->dropped += counter_read(&sw->ledger.dropped);
	l->consumed += counter_read(&sw->ledger.consumed);
}

/*
 * Charged bytes that cross between shards. The arrived bytes are read before the departed ones, so
 * that a frame that crosses between the two reads counts as crossing.
 */
static uint64_t
crossing_bytes(const struct sw *sw)
{
	uint64_t in = 0, out = 0;

	for (uint16_t i = 0; i < sw_shard_count(sw); i++)
		in += counter_read(&sw_shard_at(sw, i)->shard.crossed_in_bytes);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (uint16_t i = 0; i < sw_shard_count(sw); i++)
		out += counter_read(&sw_shard_at(sw, i)->shard.crossed_out_bytes);
	return sub_sat(out, in);
}

struct sw_ledger
sw_ledger(const struct node *node)
{
	const struct sw *sw = sw_of_const(node);
	/* Frames that cross count as queued, although they are in no queue. */
	struct sw_ledger l = {.queued = crossing_bytes(sw)};

	for (uint16_t i = 0; i < sw_shard_count(sw); i++)
		add_ledger(sw_shard_at(sw, i), &l);
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++)
			l.queued += sw_queue_bytes(node, port, queue);
	}
	return l;
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

	assert(sw->n_ports <= SW_DEVICE_PORTS);
	return sw->shard.own_ports & UINT64_MAX >> (64 - sw->n_ports);
}
