/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates a NIC node: allocates the states of all rooms (folders of lib/nic) together, and connects
 * them.
 */
#include "nic/nic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "nic/address/addresses.h"
#include "nic/change/await.h"
#include "nic/core/core.h"
#include "nic/core/skipped.h"
#include "nic/frames/frames.h"
#include "nic/frames/tracked.h"
#include "nic/gsi/gsi.h"
#include "nic/io/nic_io.h"
#include "nic/jobs/job_ranks.h"
#include "nic/measure/measure.h"
#include "nic/measure/trace.h"
#include "nic/np/echo.h"
#include "nic/np/nic_np.h"
#include "nic/rate/nic_cc.h"
#include "nic/answers/reads.h"
#include "nic/messages/nic_shared.h"
#include "nic/port/port_state.h"
#include "nic/port/share.h"
#include "nic/neighbour/nic_resolve.h"

/*
 * Size of the pacing wheel. A slot of 32 ns is 1/7 of a 1 KB frame at 40 Gb/s.
 *
 * The horizon is 1.25 times the time in which each QP sends one 1 KB frame, so that QPs with a fair
 * share of the link fit, and at least 1 ms for slower QPs. QPs beyond the horizon are in a list,
 * which is walked twice per horizon at about 5 ns per QP: with many QPs a walk would delay the
 * others. With at most PACE_FEW_QPS QPs the walks are short, so the horizon may be shorter than 1
 * ms, and the wheel stays in the caches: the horizon is then at least 4 us, and at least 500 ns per
 * QP, so that the walks take at most 2 * 5 / 500 of the time. There are at most 2^18 slots; a
 * longer horizon needs longer slots.
 *
 * In virtual time a slot has 1 ns, because a common grid would let frames of different hosts arrive
 * in the same nanosecond. A walk then delays nobody, and only costs run time: a horizon of 64 ns
 * per QP is enough. Up to 4096 QPs it needs no longer slots.
 */
#define PACE_MIN_NS NS_PER_MS
#define PACE_FEW_QPS 64u
#define PACE_FEW_MIN_NS 4000u
#define PACE_FEW_NS_PER_QP 500u
#define PACE_EXACT_NS_PER_QP 64u
#define PACE_MIN_SLOTS (1u << 7)
#define PACE_MAX_SLOTS (1u << 18)
#define PACE_MIN_SLOT_NS 32u
#define PACE_FRAME_BYTES 1106u

/* A node and the state of its rooms; parts that every call reads are adjacent. */
struct whole {
	struct nic nic; /* first: nic_destroy() casts a pointer to it */
	struct nic_reloading reload;
	struct nic_resetting reset;
	struct nic_removing removing;
	struct nic_awaiting awaiting;
	struct nic_neighbours neighbours;
	struct nic_addresses addresses;
	struct nic_np np;
	struct nic_pause pause;
	struct nic_measure measure;
	struct nic_traces traces;
	struct nic_crossings crossings;
	struct nic_before before;
	struct nic_port_state port;
	bool own_payloads;
};
static_assert(offsetof(struct whole, nic) == 0, "nic_destroy() casts");

static uint64_t
nic_control(struct node *node, uint64_t now_ns)
{
	/* rx() and tx() do all other work. */
	return nic_gsi_control(nic_of(node), now_ns);
}

static void
nic_watch_drops(struct node *node, struct node_drops *drops)
{
	nic_of(node)->drops = drops;
}

static const struct node_ops nic_ops = {
	.rx = nic_rx,
	.tx = nic_tx,
	.tx_control = nic_tx_control,
	.next_ns = nic_next_ns,
	.control = nic_control,
	.fetch = nic_fetch,
	.watch_drops = nic_watch_drops,
};

static void
queues_init(struct nic_queues *q)
{
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		q->list[i] = QP_LIST_EMPTY;
	q->backlogged = 0;
}

static int
qps_alloc(struct nic *nic)
{
	size_t n = nic->params.max_qps;

	size_t more_bytes = n * nic->needs.more_bytes;
	bool echoes = nic->needs.hears_hops || nic->params.np.np_ecn_echo ||
		      (nic->params.cc_of_flows != 0 && nic->needs.hears_echoes);

	nic->qps = pages_alloc(n * sizeof(*nic->qps));
	nic->tallies = pages_alloc(n * sizeof(*nic->tallies));
	if (more_bytes > 0)
		nic->cc_more = pages_alloc(more_bytes);
	if (nic->needs.has_window)
		nic->in_flight_bytes = pages_alloc(n * sizeof(*nic->in_flight_bytes));
	if (nic->needs.hears_hops)
		nic->int_plain = malloc(INT_MAX_FRAME_BYTES);
	if (echoes)
		nic->echoes = pages_alloc(n * sizeof(*nic->echoes));
	return nic->qps == NULL || nic->tallies == NULL ||
			       (more_bytes > 0 && nic->cc_more == NULL) ||
			       (nic->needs.has_window && nic->in_flight_bytes == NULL) ||
			       (nic->needs.hears_hops && nic->int_plain == NULL) ||
			       (echoes && nic->echoes == NULL)
		       ? -ENOMEM
		       : 0;
}

static uint64_t
pacing_horizon_ns(const struct nic_params *p)
{
	uint64_t fair_ns =
		p->max_qps * serialization_ns(PACE_FRAME_BYTES, p->link_speed_bps) * 5 / 4;

	if (p->exact_pacing)
		return max_u64(PACE_FEW_MIN_NS, (uint64_t)p->max_qps * PACE_EXACT_NS_PER_QP);
	if (p->max_qps > PACE_FEW_QPS)
		return max_u64(fair_ns, PACE_MIN_NS);
	return max_u64(fair_ns, max_u64(PACE_FEW_MIN_NS, p->max_qps * PACE_FEW_NS_PER_QP));
}

static struct timing_wheel *
pacing_wheel_create(const struct nic_params *p)
{
	uint64_t horizon_ns = pacing_horizon_ns(p);
	uint64_t slot_ns = p->exact_pacing ? 1 : PACE_MIN_SLOT_NS;
	uint32_t slots = PACE_MIN_SLOTS;

	while (slots < PACE_MAX_SLOTS && slots * slot_ns < horizon_ns)
		slots *= 2;
	while (slots * slot_ns < horizon_ns)
		slot_ns *= 2;
	return timing_wheel_create(p->max_qps, slots, slot_ns);
}

static void
shaper_init(struct nic *nic)
{
	const struct nic_params *p = &nic->params;
	uint64_t burst_bytes =
		(p->link_speed_bps * (unsigned __int128)p->shaper_burst_ns + 8 * NS_PER_SEC - 1) /
		(8 * NS_PER_SEC);

	token_bucket_init(&nic->wire.shaper, p->link_speed_bps, burst_bytes, 0);
}

static struct whole *
whole_create(void)
{
	struct whole *w = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*w));

	if (w == NULL)
		return NULL;
	memset(w, 0, sizeof(*w));
	w->nic.reload = &w->reload;
	w->nic.reset = &w->reset;
	w->nic.removing = &w->removing;
	w->nic.awaiting = &w->awaiting;
	w->nic.neighbours = &w->neighbours;
	w->nic.addresses = &w->addresses;
	w->nic.np = &w->np;
	w->nic.pause = &w->pause;
	w->nic.measure = &w->measure;
	w->nic.traces = &w->traces;
	w->nic.crossings = &w->crossings;
	w->nic.before = &w->before;
	w->nic.port = &w->port;
	return w;
}

static void
init(struct nic *nic, const struct nic_params *params, const struct nic_pools *pools)
{
	nic->node.ops = &nic_ops;
	nic->params = *params;
	nic->station = roce_station(params->mac, params->ip.version == 4 ? params->ip.addr : NULL);
	if (nic->params.rp.rp_max_rate_bps == 0)
		nic->params.rp.rp_max_rate_bps = params->link_speed_bps;
	nic->window_packets = params->window_packets;
	nic->numbers.stride = 1;
	nic->numbers.own = params->first_qpn;
	nic->mbufs.data = pools->data;
	nic->mbufs.control = pools->control;
	nic->mbufs.max_payload_bytes = nic_pool_payload_bytes(pools->data);
	nic->max_wait_ns = NEVER_NS;
	nic->job_next_ns = NEVER_NS;
	*nic->removing = (struct nic_removing){.head = FLOW_NONE, .tail = FLOW_NONE};
	queues_init(&nic->cnps);
	queues_init(&nic->acks);
	nic->qp_burst_nanobits = token_burst_nanobits(params->qp_burst_bytes);
	nic_cc_init(nic);
	nic->is_watched = params->measure_pacing || nic->needs.hears_hops || nic->needs.has_window;
	nic_timers_init(&nic->timers, params->local_ack_timeout);
	shaper_init(nic);
	nic_pause_init(nic);
}

struct node *
nic_create(const struct nic_params *params, const struct nic_pools *pools)
{
	struct whole *whole;
	struct nic *nic;
	char why[128];

	if (nic_params_check(params, why, sizeof(why)) != 0 ||
	    nic_pool_payload_bytes(pools->data) == 0 ||
	    rte_pktmbuf_data_room_size(pools->control) <
		    RTE_PKTMBUF_HEADROOM + nic_largest_frame(0)) {
		errno = EINVAL;
		return NULL;
	}
	whole = whole_create();
	if (whole == NULL)
		return NULL;
	nic = &whole->nic;
	init(nic, params, pools);
	if (params->measure_pacing)
		nic->due_ns = calloc(params->max_qps, sizeof(*nic->due_ns));
	whole->own_payloads = pools->payloads == NULL;
	nic->mbufs.payloads = whole->own_payloads ? nic_payloads_create() : pools->payloads;
	if (nic->mbufs.payloads != NULL)
		nic->mbufs.empty = nic_payload(nic->mbufs.payloads, 0);
	nic->wheel = pacing_wheel_create(&nic->params);
	if (nic->mbufs.empty == NULL || nic->wheel == NULL || qps_alloc(nic) != 0 ||
	    nic_resolve_init(nic) != 0 || nic_addresses_init(nic) != 0 ||
	    (params->measure_pacing && nic->due_ns == NULL) || nic_np_init(nic) != 0 ||
	    nic_measure_init(nic) != 0 || nic_tracked_init(nic) != 0) {
		nic_destroy(&nic->node);
		errno = ENOMEM;
		return NULL;
	}
	return &nic->node;
}

void
nic_destroy(struct node *node)
{
	struct whole *whole = (struct whole *)node;
	struct nic *nic = nic_of(node);

	if (node == NULL)
		return;
	if (whole->own_payloads)
		nic_payloads_destroy(nic->mbufs.payloads);
	nic_gsi_free(nic);
	nic_frames_free(nic);
	nic_tracked_free(nic);
	nic_job_free(nic);
	nic_np_free(nic);
	nic_port_state_free(&whole->port);
	nic_traces_free(nic);
	nic_resolve_free(nic);
	nic_addresses_free(nic);
	nic_measure_free(nic);
	free(nic->due_ns);
	free(nic->int_plain);
	timing_wheel_destroy(nic->wheel);
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		qp_ring_free(&nic->ready.ring[i]);
	pages_free(nic->qps, nic->params.max_qps * sizeof(*nic->qps));
	pages_free(nic->tallies, nic->params.max_qps * sizeof(*nic->tallies));
	pages_free(nic->cc_more, nic->params.max_qps * nic->needs.more_bytes);
	pages_free(nic->in_flight_bytes, nic->params.max_qps * sizeof(*nic->in_flight_bytes));
	pages_free(nic->echoes, nic->params.max_qps * sizeof(*nic->echoes));
	nic_reads_free(nic);
	pages_free(nic->skipped, nic->params.max_qps * sizeof(*nic->skipped));
	pages_free(nic->recv_full_ns, nic->params.max_qps * sizeof(*nic->recv_full_ns));
	pages_free(nic->acked_bytes, nic->params.max_qps * sizeof(*nic->acked_bytes));
	nic_shared_free(nic);
	pages_free(nic->arrivals, nic->params.max_qps * sizeof(*nic->arrivals));
	pages_free(nic->flows, nic->flows_capacity * sizeof(*nic->flows));
	free(whole);
}

const struct nic_stats *
nic_stats(const struct node *node)
{
	return &nic_of_const(node)->stats;
}

uint64_t
nic_pause_source(const struct node *node)
{
	return counter_read(&nic_of_const(node)->pause->source);
}

const struct pfc_rx *
nic_pfc_rx(const struct node *node)
{
	return &nic_of_const(node)->pause->pfc_rx;
}

void
nic_watch_pauses(struct node *node, struct pfc_tx_watch watch)
{
	nic_of(node)->pause->pfc_tx.watch = watch;
}

const struct pfc_tx *
nic_pfc_tx(const struct node *node)
{
	return &nic_of_const(node)->pause->pfc_tx;
}

uint32_t
nic_neighbours(const struct node *node, uint32_t *unresolved)
{
	const struct nic *nic = nic_of_const(node);

	uint32_t n = 0;

	*unresolved = neigh_unresolved(nic->neighbours->table);
	for (uint32_t i = 0; i < neigh_count(nic->neighbours->table); i++)
		n += neigh_get(nic->neighbours->table, i)->key.ip.version != 0;
	return n;
}

bool
nic_done(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->pending, __ATOMIC_RELAXED) == 0;
}

uint32_t
nic_pending(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->pending, __ATOMIC_RELAXED);
}

uint32_t
nic_failed(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->failed, __ATOMIC_RELAXED);
}
