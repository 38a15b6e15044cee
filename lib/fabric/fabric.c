/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fabric.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/fixed.h"
#include "base/units.h"
#include "fabric/event_queue.h"
#include "node/pkt_fifo.h"

#define BURST 32
#define NO_END UINT32_MAX

/* One port of one node, and the frames on their way from it to its peer. */
struct end {
	struct node *node;
	uint32_t node_id;
	uint16_t port;
	uint32_t peer;
	struct fabric_link link;
	struct pkt_fifo on_cable;
	uint32_t timed_bytes; /* of the last frame, and how long those take */
	uint64_t timed_ns;
};

struct node_slot {
	struct node *node;
	uint32_t wake_words; /* of node->wake: up to the highest port that is connected */
	uint32_t end_of_port[NODE_MAX_PORTS]; /* NO_END: not connected */
};

/*
 * Event sources, in the order in which they run at equal times: arrivals at the peers of the ends,
 * transmissions of the ends, control of the nodes.
 */
struct fabric {
	struct end *ends;
	struct node_slot *nodes;
	uint32_t n_ends, max_ends;
	uint32_t n_nodes, max_nodes;
	struct event_queue queue;
	uint64_t now_ns;
	bool started;
	struct fabric_stats stats;
};

struct fabric *
fabric_create(uint32_t max_nodes, uint32_t max_links)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->max_nodes = max_nodes;
	f->max_ends = 2 * max_links;
	f->nodes = calloc(max_nodes, sizeof(*f->nodes));
	f->ends = calloc(f->max_ends, sizeof(*f->ends));
	if (f->nodes == NULL || f->ends == NULL ||
	    event_queue_init(&f->queue, 2 * f->max_ends + max_nodes) < 0) {
		fabric_destroy(f);
		errno = ENOMEM;
		return NULL;
	}
	return f;
}

void
fabric_destroy(struct fabric *f)
{
	if (f == NULL)
		return;
	for (uint32_t i = 0; i < f->n_ends; i++) {
		struct rte_mbuf *m;

		while ((m = pkt_fifo_pop(&f->ends[i].on_cable)) != NULL)
			rte_pktmbuf_free(m);
	}
	event_queue_free(&f->queue);
	free(f->ends);
	free(f->nodes);
	free(f);
}

int
fabric_add_node(struct fabric *f, struct node *node)
{
	struct node_slot *slot = &f->nodes[f->n_nodes];

	if (f->n_nodes == f->max_nodes)
		return -ENOSPC;
	slot->node = node;
	for (unsigned int p = 0; p < NODE_MAX_PORTS; p++)
		slot->end_of_port[p] = NO_END;
	return (int)f->n_nodes++;
}

static bool
port_is_free(const struct fabric *f, struct fabric_end e)
{
	return e.node < f->n_nodes && e.port < NODE_MAX_PORTS &&
	       f->nodes[e.node].end_of_port[e.port] == NO_END;
}

static void
add_end(struct fabric *f, struct fabric_end e, const struct fabric_link *link, uint32_t peer)
{
	f->ends[f->n_ends] = (struct end){
		.node = f->nodes[e.node].node,
		.node_id = e.node,
		.port = e.port,
		.peer = peer,
		.link = *link,
	};
	f->nodes[e.node].end_of_port[e.port] = f->n_ends++;
	if (e.port / 64u >= f->nodes[e.node].wake_words)
		f->nodes[e.node].wake_words = e.port / 64u + 1;
}

int
fabric_connect(struct fabric *f, struct fabric_end a, struct fabric_end b,
	       const struct fabric_link *link)
{
	uint32_t first = f->n_ends;

	if (first + 2 > f->max_ends)
		return -ENOSPC;
	if (!port_is_free(f, a) || !port_is_free(f, b) || (a.node == b.node && a.port == b.port) ||
	    link->rate_bps == 0)
		return -EINVAL;
	add_end(f, a, link, first + 1);
	add_end(f, b, link, first);
	return 0;
}

static uint32_t
arrival_source(uint32_t end)
{
	return end;
}

static uint32_t
tx_source(const struct fabric *f, uint32_t end)
{
	return f->max_ends + end;
}

static uint32_t
control_source(const struct fabric *f, uint32_t node)
{
	return 2 * f->max_ends + node;
}

/* An order-sensitive mix (the finalizer of splitmix64). */
static uint64_t
mix(uint64_t digest, uint64_t value)
{
	digest ^= value;
	digest *= 0xbf58476d1ce4e5b9ull;
	return digest ^ digest >> 29;
}

/*
 * What tells one frame from another: EtherType, ToS and lengths of an untagged frame, and the last
 * four bytes, which are an ICRC over nearly all the rest.
 */
static uint64_t
fingerprint(const struct rte_mbuf *m)
{
	const char *frame = rte_pktmbuf_mtod(m, const char *);
	uint64_t head;
	uint32_t tail;

	if (m->data_len < 20)
		return 0;
	memcpy(&head, frame + 12, sizeof(head));
	memcpy(&tail, frame + m->data_len - sizeof(tail), sizeof(tail));
	return le64toh(head) ^ (uint64_t)le32toh(tail) << 32;
}

/*
 * Ask when a port wants to send; a time that has passed means at once. If that is the very next
 * event, it need not go through the queue: @return whether that is so.
 */
static inline bool
reschedule_tx(struct fabric *f, uint32_t end, bool may_be_next)
{
	const struct end *e = &f->ends[end];
	uint64_t next_ns = max_u64(e->node->ops->next_ns(e->node, e->port), f->now_ns);
	uint32_t source = tx_source(f, end);

	if (may_be_next && next_ns == f->now_ns && event_queue_is_first(&f->queue, source, next_ns))
		return true;
	event_queue_set(&f->queue, source, next_ns);
	return false;
}

/*
 * A call into a node may have made work on its other ports. @return the end that is the next to
 * transmit, before all that is in the queue, or NO_END.
 */
static inline uint32_t
take_wakes(struct fabric *f, uint32_t node_id)
{
	struct node_slot *slot = &f->nodes[node_id];
	uint32_t next = NO_END;

	for (uint32_t w = 0; w < slot->wake_words; w++) {
		uint64_t ports = slot->node->wake[w];
		/* Of several, the order of their ends decides: the queue knows it. */
		bool alone = slot->wake_words == 1 && (ports & (ports - 1)) == 0;

		if (ports == 0)
			continue;
		slot->node->wake[w] = 0;
		for (; ports != 0; ports &= ports - 1) {
			uint32_t end =
				slot->end_of_port[w * 64 + (unsigned int)__builtin_ctzll(ports)];

			if (end != NO_END && reschedule_tx(f, end, alone))
				next = end;
		}
	}
	return next;
}

/* Frames of one length follow each other, and a division takes as long as all the rest. */
static inline uint64_t
time_on_wire(struct end *e, uint32_t bytes)
{
	if (bytes != e->timed_bytes) {
		e->timed_bytes = bytes;
		e->timed_ns = serialization_ns(bytes, e->link.rate_bps);
	}
	return e->timed_ns;
}

/* @return as take_wakes(). */
static uint32_t
run_tx(struct fabric *f, uint32_t end)
{
	struct end *e = &f->ends[end];
	struct rte_mbuf *pkts[BURST];
	uint16_t n = e->node->ops->tx(e->node, e->port, pkts, BURST, f->now_ns);
	uint64_t sent_ns = f->now_ns;

	f->stats.events++;
	for (uint16_t i = 0; i < n; i++) {
		sent_ns += time_on_wire(e, wire_bytes(pkts[i]->pkt_len));
		pkt_meta(pkts[i])->due_ns = sent_ns + e->link.delay_ns;
		pkt_fifo_push(&e->on_cable, pkts[i]);
	}
	if (n > 0 && e->on_cable.count == n)
		event_queue_set(&f->queue, arrival_source(end), pkt_meta(e->on_cable.head)->due_ns);
	e->node->wake[e->port / 64] &= ~(1ull << e->port % 64);
	reschedule_tx(f, end, false);
	/* A port that gave nothing must not ask to be called at the same instant for ever. */
	assert(n > 0 || event_queue_at(&f->queue, tx_source(f, end)) > f->now_ns);
	return take_wakes(f, e->node_id);
}

/* @return as take_wakes(). */
static uint32_t
run_arrival(struct fabric *f, uint32_t end)
{
	struct end *e = &f->ends[end];
	const struct end *peer = &f->ends[e->peer];
	struct rte_mbuf *pkts[BURST];
	uint64_t now_ns = f->now_ns, digest = f->stats.digest;
	uint16_t n = 0;

	while (n < BURST && e->on_cable.head != NULL &&
	       pkt_meta(e->on_cable.head)->due_ns <= now_ns) {
		struct rte_mbuf *m = pkt_fifo_pop(&e->on_cable);

		digest = mix(digest, now_ns ^ (uint64_t)end << 48);
		digest = mix(digest, m->pkt_len);
		digest = mix(digest, fingerprint(m));
		f->stats.hop_bytes += wire_bytes(m->pkt_len);
		pkts[n++] = m;
	}
	f->stats.digest = digest;
	f->stats.packet_hops += n;
	f->stats.events++;
	event_queue_set(&f->queue, arrival_source(end),
			e->on_cable.head ? pkt_meta(e->on_cable.head)->due_ns : NEVER_NS);
	peer->node->ops->rx(peer->node, peer->port, pkts, n, now_ns);
	return take_wakes(f, peer->node_id);
}

/* @return as take_wakes(). */
static uint32_t
run_control(struct fabric *f, uint32_t node_id)
{
	struct node *node = f->nodes[node_id].node;
	uint64_t next_ns = node->ops->control(node, f->now_ns);

	assert(next_ns > f->now_ns);
	f->stats.events++;
	event_queue_set(&f->queue, control_source(f, node_id), next_ns);
	return take_wakes(f, node_id);
}

static void
start(struct fabric *f)
{
	f->started = true;
	for (uint32_t i = 0; i < f->n_ends; i++)
		reschedule_tx(f, i, false);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		event_queue_set(&f->queue, control_source(f, i), 0);
}

uint64_t
fabric_next_ns(struct fabric *f)
{
	if (!f->started)
		start(f);
	return event_queue_min(&f->queue).at_ns;
}

void
fabric_run(struct fabric *f, uint64_t until_ns)
{
	if (!f->started)
		start(f);
	for (;;) {
		struct event next = event_queue_min(&f->queue);
		uint32_t tx_next;

		if (next.at_ns > until_ns)
			return;
		f->now_ns = next.at_ns;
		if (next.source < f->max_ends)
			tx_next = run_arrival(f, next.source);
		else if (next.source < 2 * f->max_ends)
			tx_next = run_tx(f, next.source - f->max_ends);
		else
			tx_next = run_control(f, next.source - 2 * f->max_ends);
		while (tx_next != NO_END)
			tx_next = run_tx(f, tx_next);
	}
}

const struct fabric_stats *
fabric_stats(const struct fabric *f)
{
	return &f->stats;
}
