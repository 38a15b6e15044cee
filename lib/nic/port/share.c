/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/port/share.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "base/numbers/fixed.h"
#include "base/threads/lines.h"
#include "base/threads/pages.h"
#include "nic/core/core.h"
#include "nic/port/port_state.h"
#include "nic/port/nic_pause.h"

/* Frames for one node, collected until the end of the burst. */
struct nic_crossing {
	uint32_t n;
	void *m[NIC_CROSS_BURST];
};

/*
 * A reservation of the wire is at least a few frames, and TURN_NS of the wire: turns are short, and
 * the atomic operations, on a cache line that moves between cores, are rare.
 */
#define TURN_MIN_BYTES (2 * (NIC_MAX_IBTA_MTU + 256))
#define TURN_NS 700u

struct nic_share {
	struct nic_share_params params;
	/* written by all nodes, apart from what they only read */
	_Alignas(LINES_APART) struct wire_share wire;
	_Alignas(LINES_APART) struct nic_port_state port;
	_Alignas(LINES_APART) struct rte_ring *rings[NIC_SHARE_MAX_NODES]; /* to each node */
	const struct nic *nodes[NIC_SHARE_MAX_NODES];
	struct nic_crossing *crossings; /* [from][to] */
	/*
	 * Where each QP is, read for each received packet. One entry per QP: (1 + item) <<
	 * NODE_BITS | node, or 0 if the QP is on no node. NULL unless nic_share_use_table() was
	 * called.
	 */
	uint32_t *places;
	uint32_t n_places;
	uint32_t *numbers[NIC_SHARE_MAX_NODES]; /* [node][item]: inverse of places */
};

#define NODE_BITS 6
static_assert(NIC_SHARE_MAX_NODES == 1 << NODE_BITS, "a place fits 32 bits, of 2^24 QPs and more");

#ifdef QUENCH_TSAN
/*
 * With relaxed tail synchronisation, the consumer reads half of the 64-bit tail. ThreadSanitizer
 * does not recognise it as the same variable, and reports a race.
 */
#define CROSS_PRODUCERS 0
#else
#define CROSS_PRODUCERS RING_F_MP_RTS_ENQ
#endif

static struct rte_ring *
create_ring(const struct nic_share_params *p, uint32_t to)
{
	static uint32_t number;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "cross%u-%u", number++, to);
	/*
	 * + 1, because one slot of a ring always stays empty. With relaxed tail synchronisation, a
	 * producer that is preempted within an enqueue does not block the others.
	 */
	return rte_ring_create(name, rte_align32pow2(p->rx_mbufs + 1), p->socket,
			       CROSS_PRODUCERS | RING_F_SC_DEQ);
}

static int
crossings_create(struct nic_share *share)
{
	uint32_t n = share->params.n_nodes;

	share->crossings = calloc((size_t)n * n, sizeof(*share->crossings));
	if (share->crossings == NULL) {
		rte_errno = ENOMEM;
		return -1;
	}
	for (uint32_t to = 0; to < n; to++) {
		share->rings[to] = create_ring(&share->params, to);
		if (share->rings[to] == NULL)
			return -1;
	}
	return 0;
}

struct nic_share *
nic_share_create(const struct nic_share_params *params)
{
	const struct nic_share_params *p = params;
	struct nic_share *share = NULL;

	if (p->n_nodes > 0 && p->n_nodes <= NIC_SHARE_MAX_NODES)
		share = aligned_alloc(LINES_APART, sizeof(*share));
	if (share == NULL) {
		rte_errno = p->n_nodes > NIC_SHARE_MAX_NODES ? EINVAL : ENOMEM;
		return NULL;
	}
	memset(share, 0, sizeof(*share));
	share->params = *p;
	wire_share_init(&share->wire, p->link_speed_bps,
			mul_div(p->link_speed_bps, p->shaper_burst_ns, 8 * NS_PER_SEC));
	if (crossings_create(share) != 0) {
		nic_share_destroy(share);
		return NULL;
	}
	return share;
}

static void
destroy_ring(struct rte_ring *ring)
{
	void *m;

	if (ring == NULL)
		return;
	while (rte_ring_dequeue(ring, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(ring);
}

void
nic_share_destroy(struct nic_share *share)
{
	if (share == NULL)
		return;
	for (uint32_t i = 0; i < share->params.n_nodes; i++) {
		destroy_ring(share->rings[i]);
		pages_free(share->numbers[i], share->n_places * sizeof(*share->numbers[i]));
	}
	pages_free(share->places, share->n_places * sizeof(*share->places));
	nic_port_state_free(&share->port);
	free(share->crossings);
	free(share);
}

/* Each node has entries for all QPs, because pages that are never touched cost nothing. */
int
nic_share_use_table(struct nic_share *share, uint32_t n_qps)
{
	bool good = true;

	share->n_places = n_qps;
	share->places = pages_alloc(n_qps * sizeof(*share->places));
	for (uint32_t i = 0; i < share->params.n_nodes; i++) {
		share->numbers[i] = pages_alloc(n_qps * sizeof(*share->numbers[i]));
		good = good && share->numbers[i] != NULL;
	}
	return good && share->places != NULL ? 0 : -ENOMEM;
}

void
nic_share_assign(struct nic_share *share, uint32_t number, struct nic_location at)
{
	assert(at.node < share->params.n_nodes && number < share->n_places);
	__atomic_store_n(&share->numbers[at.node][at.item], number, __ATOMIC_RELAXED);
	__atomic_store_n(&share->places[number], (at.item + 1) << NODE_BITS | at.node,
			 __ATOMIC_RELAXED);
}

void
nic_share_unassign(struct nic_share *share, uint32_t number)
{
	__atomic_store_n(&share->places[number], 0, __ATOMIC_RELAXED);
}

uint32_t
nic_share_qps(const struct nic_share *share, uint32_t n, uint32_t index)
{
	uint32_t n_nodes;

	if (share == NULL || share->places != NULL)
		return n;
	n_nodes = share->params.n_nodes;
	return n / n_nodes + (index < n % n_nodes);
}

struct nic_location
nic_share_find(const struct nic_share *share, uint32_t number)
{
	uint32_t n;

	if (share == NULL)
		return (struct nic_location){0, number};
	if (share->places != NULL) {
		uint32_t entry = __atomic_load_n(&share->places[number], __ATOMIC_RELAXED);

		return (struct nic_location){entry % NIC_SHARE_MAX_NODES, (entry >> NODE_BITS) - 1};
	}
	n = share->params.n_nodes;
	return (struct nic_location){number % n, number / n};
}

uint32_t
nic_share_number(const struct nic_share *share, struct nic_location at)
{
	if (share == NULL)
		return at.item;
	if (share->places != NULL)
		return share->numbers[at.node][at.item];
	return at.item * share->params.n_nodes + at.node;
}

void
nic_join(struct node *node, struct nic_share *share, uint32_t index)
{
	struct nic *nic = nic_of(node);

	assert(index < share->params.n_nodes && nic->n_qps == 0);
	nic->params.first_qpn = share->params.first_qpn;
	nic->numbers.own = nic->params.first_qpn + index;
	nic->numbers.table = share->numbers[index];
	nic->share = share;
	share->nodes[index] = nic;
	nic->crossings->index = index;
	nic->wire.share = &share->wire;
	nic->wire.turn_bytes = (uint32_t)max_u64(
		TURN_MIN_BYTES, mul_div(share->params.link_speed_bps, TURN_NS, 8 * NS_PER_SEC));
	nic->port = &share->port;
	nic->crossings->to = &share->crossings[index * share->params.n_nodes];
	nic->pause->sends_pause = nic->pause->slow && index == 0;
	nic->numbers.stride = share->params.n_nodes;
}

const struct nic *
nic_share_node(const struct nic *nic, uint32_t index)
{
	if (nic->share == NULL)
		return index == 0 ? nic : NULL;
	return index < nic->share->params.n_nodes ? nic->share->nodes[index] : NULL;
}

/* Hand over the frames collected for one node, in one operation on its ring. */
static void
hand_over(struct nic_crossing *c, struct rte_ring *ring)
{
	unsigned int n = rte_ring_enqueue_bulk(ring, c->m, c->n, NULL);

	/* The ring has room for every mbuf of the receive pool. */
	assert(n == c->n);
	RTE_SET_USED(n);
	c->n = 0;
}

static void
cross(struct nic *nic, struct rte_mbuf *m, uint32_t to)
{
	struct nic_crossing *c = &nic->crossings->to[to];

	c->m[c->n++] = m;
	nic->crossings->pending |= 1ull << to;
	if (c->n == NIC_CROSS_BURST)
		hand_over(c, nic->share->rings[to]);
}

void
nic_share_flush(struct nic *nic)
{
	for (uint64_t to = nic->crossings->pending; to != 0; to &= to - 1) {
		uint32_t node = (uint32_t)__builtin_ctzll(to);

		if (nic->crossings->to[node].n > 0)
			hand_over(&nic->crossings->to[node], nic->share->rings[node]);
	}
	nic->crossings->pending = 0;
}

bool
nic_share_cross(struct nic *nic, struct rte_mbuf *m, uint32_t dest_qp)
{
	const struct nic_share *share = nic->share;
	uint32_t number = dest_qp - share->params.first_qpn;
	struct nic_location at;

	if (nic->taking_over || dest_qp < share->params.first_qpn ||
	    (share->places != NULL && number >= share->n_places))
		return false;
	at = nic_share_find(share, number);
	if (at.node == nic->crossings->index || at.item == NIC_NO_ITEM)
		return false;
	counter_inc(&nic->stats.rx_crossed_packets);
	cross(nic, m, at.node);
	return true;
}

uint32_t
nic_share_item(const struct nic *nic, uint32_t number)
{
	struct nic_location at;

	if (nic->share->places != NULL && number >= nic->share->n_places)
		return QP_NONE;
	at = nic_share_find(nic->share, number);
	return at.node == nic->crossings->index ? at.item : QP_NONE;
}

void
nic_share_broadcast(struct nic *nic, struct rte_mbuf *m)
{
	uint32_t n;

	if (nic->share == NULL || nic->taking_over)
		return;
	n = nic->share->params.n_nodes;
	/* All nodes read the same frame; the last one frees it. */
	rte_mbuf_refcnt_update(m, (int16_t)(n - 1));
	for (uint32_t to = 0; to < n; to++)
		if (to != nic->crossings->index)
			cross(nic, m, to);
}

uint16_t
nic_share_receive(struct nic *nic, struct rte_mbuf **pkts)
{
	struct rte_ring *ring = nic->share->rings[nic->crossings->index];

	return (uint16_t)rte_ring_sc_dequeue_burst(ring, (void **)pkts, NIC_CROSS_BURST, NULL);
}

bool
nic_share_waits(const struct nic *nic)
{
	return !rte_ring_empty(nic->share->rings[nic->crossings->index]);
}
