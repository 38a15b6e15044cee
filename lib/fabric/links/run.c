/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop, one window at a time.
 *
 * No frame travels from node to node faster than the shortest frame on the fastest cable. So every
 * frame that arrives within a window of that length is already on the cables when the window
 * starts, and no node affects another within it: each node runs its part of the window alone. The
 * results equal those of running all events in order (Chandy and Misra 1979, conservative
 * simulation with lookahead). Meanwhile a node's code and data stay in the first-level caches,
 * which hold only one pipeline at a time.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "base/numbers/fixed.h"
#include "fabric/links/parts.h"
#include "fabric/links/team.h"
#include "node/pkt_meta.h"

#define BURST 32
#define AHEAD 4
/* Cache lines read by a node's fetch(). */
#define NODE_LINES 4
/* This number of nodes, with the frames between them, fits into the second-level cache. */
#define FEW_NODES 16

/*
 * Bytes that distinguish frames: EtherType, ToS and lengths of an untagged frame, and its last four
 * bytes, which are an ICRC over nearly all the rest.
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

/* A frame that has left by an end, with the time at which it is due at the peer. */
static inline struct flight
flight_of(const struct end *e, struct rte_mbuf *m, uint64_t due_ns)
{
	return (struct flight){.m = m,
			       .due_ns = due_ns,
			       .fingerprint = fingerprint(m),
			       .pkt_len = m->pkt_len,
			       .data_off = m->data_off,
			       .to_port = e->peer_port};
}

static inline void
put_on_cable(struct fabric *f, struct part *p, uint32_t end, struct rte_mbuf *m, uint64_t due_ns)
{
	const struct end *e = &f->ends[end];
	struct flight frame = flight_of(e, m, due_ns);

	if (e->to_part == p->index)
		part_put(p, &f->directions[end], &frame);
	else
		part_send(f, p, end, &frame);
}

/* Move frames of one direction that are due at now_ns to the inbox of their node. */
static void
hand_out(struct fabric *f, struct part *p, uint32_t source, uint64_t now_ns)
{
	struct direction *d = &f->directions[p->inbound[source]];
	struct node_slot *slot = &f->nodes[d->to_node];
	uint64_t digest = d->digest, bytes = 0, hops = 0, next_ns;

	do {
		const struct flight *frame = flights_pop(&d->on_cable);

		if (unlikely(d->cable != NULL))
			cable_arrive(d->cable, frame->m, now_ns);
		digest = mix(digest, now_ns);
		digest = mix(digest, frame->pkt_len);
		digest = mix(digest, frame->fingerprint);
		bytes += wire_bytes(frame->pkt_len);
		hops++;
		rte_prefetch0(frame + 2);
		if (unlikely(!flights_push(&slot->inbox, frame)))
			part_lose(p, frame->m);
		next_ns = flights_next_ns(&d->on_cable);
	} while (unlikely(next_ns <= now_ns));
	if (next_ns == NEVER_NS)
		flights_rewind(&d->on_cable);
	d->digest = digest;
	p->hop_bytes += bytes;
	p->packet_hops += hops;
	event_queue_set(&p->arrivals, source, next_ns);
	p->node_next_ns[slot->place] = min_u64(p->node_next_ns[slot->place], now_ns);
}

/* next_ns() of a port; a time in the past becomes now_ns. */
static inline uint64_t
next_tx_ns(const struct node_slot *slot, uint16_t port, uint64_t now_ns)
{
	return max_u64(slot->node->ops->next_ns(slot->node, port), now_ns);
}

/*
 * A call into a node may have given work to any of its ports.
 * @return local index of an end that must transmit now before all others, so that it need not go
 * through the queue; or NO_END.
 */
static inline uint32_t
take_wakes(const struct fabric *f, struct node_slot *slot, uint64_t now_ns)
{
	uint32_t at_once = NO_END;

	if (slot->wake_words == 1 && slot->node->wake[0] == 0)
		return NO_END;
	for (uint32_t w = 0; w < slot->wake_words; w++) {
		uint64_t ports = slot->node->wake[w];

		if (ports == 0)
			continue;
		slot->node->wake[w] = 0;
		for (; ports != 0; ports &= ports - 1) {
			uint32_t port = w * 64 + (unsigned int)__builtin_ctzll(ports);
			uint32_t local = slot->end_index_of_port[port];
			uint64_t next_ns = now_ns;
			bool first;

			if (local == NO_END)
				continue;
			if (at_once != NO_END)
				event_queue_set(&slot->tx, at_once, now_ns);
			at_once = NO_END;
			first = flights_next_ns(&slot->inbox) > now_ns &&
				event_queue_is_first(&slot->tx, local, now_ns);
			/*
			 * A port with a free wire can usually send: skip next_ns() and just call
			 * tx().
			 */
			if (!first || f->ends[slot->ends[local]].free_ns > now_ns)
				next_ns = next_tx_ns(slot, (uint16_t)port, now_ns);
			if (first && next_ns == now_ns)
				at_once = local;
			else
				event_queue_set(&slot->tx, local, next_ns);
		}
	}
	return at_once;
}

/*
 * Consecutive frames often have the same length: reuse the result, because the division is the main
 * cost.
 */
static inline uint64_t
time_on_wire(struct end *e, uint32_t bytes)
{
	if (bytes != e->timed_bytes) {
		e->timed_bytes = bytes;
		e->timed_ns = serialization_ns(bytes, e->link.rate_bps);
	}
	return e->timed_ns;
}

static void
put(struct fabric *f, struct part *p, uint32_t end, struct rte_mbuf *m, uint64_t sent_ns)
{
	struct end *e = &f->ends[end];

	if (e->cable != NULL &&
	    cable_send(e->cable, &m, m->pkt_len + FCS_BYTES, sent_ns) != CABLE_ARRIVES)
		rte_pktmbuf_free(m);
	else
		put_on_cable(f, p, end, m, sent_ns + e->link.delay_ns);
}

void
fabric_put(struct fabric *f, uint32_t end, struct rte_mbuf *m, uint64_t sent_ns)
{
	/* The two ends of a link are adjacent, so the peer's direction ends at this end's node. */
	put(f, &f->parts[f->nodes[f->directions[end ^ 1].to_node].part], end, m, sent_ns);
}

/* @return as take_wakes(). */
static uint32_t
transmit(struct fabric *f, struct part *p, struct node_slot *slot, uint32_t local, uint64_t now_ns)
{
	uint32_t end = slot->ends[local];
	struct end *e = &f->ends[end];
	struct rte_mbuf *pkts[BURST];
	uint16_t n = slot->node->ops->tx(slot->node, e->port, pkts, BURST, now_ns);
	uint64_t sent_ns = now_ns, next_ns;

	for (uint16_t i = 0; i < n; i++) {
		sent_ns += time_on_wire(e, wire_bytes(pkts[i]->pkt_len));
		put(f, p, end, pkts[i], sent_ns);
	}
	e->free_ns = sent_ns;
	slot->node->wake[e->port / 64] &= ~(1ull << e->port % 64);
	next_ns = next_tx_ns(slot, e->port, now_ns);
	/* A port that sent nothing must not be called again and again at the same instant. */
	assert(n > 0 || next_ns > now_ns);
	event_queue_set(&slot->tx, local, next_ns);
	return take_wakes(f, slot, now_ns);
}

/* Prefetch the lines of a frame that rx and tx touch: a host does not read the payload. */
static inline void
prefetch_frame(const struct flight *frame)
{
	const char *m = (const char *)frame->m;
	const char *buf = m + sizeof(struct rte_mbuf) + PKT_PRIV_BYTES;
	const char *data = buf + frame->data_off;

	rte_prefetch0(m);
	rte_prefetch0(m + RTE_CACHE_LINE_SIZE);
	rte_prefetch0(m + sizeof(struct rte_mbuf));
	rte_prefetch0(data);
	rte_prefetch0(data + frame->pkt_len - 1);
}

/* Receive frames of one port with equal arrival times. @return as take_wakes(). */
static uint32_t
receive(const struct fabric *f, struct node_slot *slot, uint64_t now_ns)
{
	struct flights *inbox = &slot->inbox;
	uint16_t port = inbox->head->to_port, n = 0;
	struct rte_mbuf *pkts[BURST];

	if (f->is_large && inbox->tail - inbox->head > AHEAD)
		prefetch_frame(inbox->head + AHEAD);
	do {
		pkts[n++] = flights_pop(inbox)->m;
	} while (n < BURST && flights_next_ns(inbox) == now_ns && inbox->head->to_port == port);
	slot->node->ops->rx(slot->node, port, pkts, n, now_ns);
	return take_wakes(f, slot, now_ns);
}

/* @return as take_wakes(). */
static uint32_t
control(const struct fabric *f, struct node_slot *slot, uint64_t now_ns)
{
	slot->control_ns = slot->node->ops->control(slot->node, now_ns);
	assert(slot->control_ns > now_ns);
	return take_wakes(f, slot, now_ns);
}

/*
 * Run a node up to and including until_ns. At equal times frames arrive first, then ports transmit
 * in the order of their ends.
 */
static void
run_node(struct fabric *f, struct part *p, struct node_slot *slot, uint64_t until_ns)
{
	for (;;) {
		uint64_t arrival_ns = flights_next_ns(&slot->inbox),
			 tx_ns = event_queue_next_ns(&slot->tx);
		uint64_t now_ns = min_u64(min_u64(arrival_ns, tx_ns), slot->control_ns);
		uint32_t at_once;

		if (now_ns > until_ns)
			return;
		slot->calls++;
		if (arrival_ns == now_ns)
			at_once = receive(f, slot, now_ns);
		else if (tx_ns == now_ns)
			at_once = transmit(f, p, slot, event_queue_next_source(&slot->tx), now_ns);
		else
			at_once = control(f, slot, now_ns);
		while (at_once != NO_END)
			at_once = transmit(f, p, slot, at_once, now_ns);
	}
}

static void
set_next(struct part *p, const struct node_slot *slot)
{
	p->node_next_ns[slot->place] = min_u64(event_queue_min(&slot->tx).at_ns, slot->control_ns);
}

/*
 * A node has run up to now_ns: let the end at_once (from take_wakes()) transmit, and update the
 * queues.
 */
static void
settle(struct fabric *f, struct node_slot *slot, uint32_t at_once, uint64_t now_ns)
{
	struct part *p = &f->parts[slot->part];

	while (at_once != NO_END)
		at_once = transmit(f, p, slot, at_once, now_ns);
	set_next(p, slot);
}

void
fabric_poke(struct fabric *f, uint32_t node, uint64_t now_ns)
{
	struct node_slot *slot = &f->nodes[node];

	assert(f->started);
	settle(f, slot, take_wakes(f, slot, now_ns), now_ns);
}

void
fabric_control(struct fabric *f, uint32_t node, uint64_t now_ns)
{
	struct node_slot *slot = &f->nodes[node];

	assert(f->started);
	settle(f, slot, control(f, slot, now_ns), now_ns);
}

/*
 * Prefetch for later nodes while the present node runs. Each step reads what the previous step
 * prefetched: the slot, then the node and its ends, then their contents.
 */
static inline void
fetch_slot(const struct node_slot *slot)
{
	rte_prefetch0(slot);
	rte_prefetch0(&slot->ends);
}

static inline void
fetch_node(const struct fabric *f, const struct node_slot *slot)
{
	const char *node = (const char *)slot->node;

	for (unsigned int i = 0; i < NODE_LINES; i++)
		rte_prefetch0(node + i * RTE_CACHE_LINE_SIZE);
	rte_prefetch0(slot->inbox.head);
	rte_prefetch0(slot->inbox.head + 2);
	rte_prefetch0(&slot->tx.best[1]);
	if (slot->n_ends == 1) {
		rte_prefetch0(&f->ends[slot->ends[0]]);
		rte_prefetch0(&f->directions[slot->ends[0]]);
	}
}

static inline void
fetch_content(const struct node_slot *slot)
{
	const struct flights *inbox = &slot->inbox;

	if (slot->node->ops->fetch != NULL)
		slot->node->ops->fetch(slot->node);
	for (unsigned int i = 0; i < AHEAD && inbox->head + i < inbox->tail; i++)
		prefetch_frame(inbox->head + i);
}

/*
 * Prefetch all directions with an arrival in this window, and their first frames. Afterwards frames
 * are handed out in the order of time, without other work that would hide a cache miss.
 */
static void
fetch_arrivals(const struct fabric *f, const struct part *p, uint64_t until_ns)
{
	for (uint32_t source = 0; source < p->n_inbound; source++)
		if (event_queue_at(&p->arrivals, source) <= until_ns)
			rte_prefetch0(&f->directions[p->inbound[source]]);
	for (uint32_t source = 0; source < p->n_inbound; source++) {
		const struct direction *d = &f->directions[p->inbound[source]];

		if (event_queue_at(&p->arrivals, source) > until_ns)
			continue;
		rte_prefetch0(d->on_cable.head);
		rte_prefetch0(&f->nodes[d->to_node]);
	}
}

static inline struct node_slot *
slot_at(const struct fabric *f, const struct part *p, uint32_t place)
{
	return &f->nodes[p->nodes[place]];
}

static void
run_nodes(struct fabric *f, struct part *p, uint64_t until_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_nodes; i++) {
		p->due[n] = i;
		n += p->node_next_ns[i] <= until_ns;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct node_slot *slot = slot_at(f, p, p->due[i]);

		if (f->is_large) {
			if (i + 3 < n)
				fetch_slot(slot_at(f, p, p->due[i + 3]));
			if (i + 2 < n)
				fetch_node(f, slot_at(f, p, p->due[i + 2]));
			if (i + 1 < n)
				fetch_content(slot_at(f, p, p->due[i + 1]));
		}
		p->calls -= slot->calls;
		run_node(f, p, slot, until_ns);
		p->calls += slot->calls;
		flights_rewind(&slot->inbox);
		set_next(p, slot);
	}
}

/* Time of the part's next event; NEVER_NS: there is none. */
static uint64_t
next_of(const struct part *p)
{
	uint64_t next_ns = min_u64(event_queue_min(&p->arrivals).at_ns, p->crossing_ns);

	for (uint32_t i = 0; i < p->n_nodes; i++)
		next_ns = min_u64(next_ns, p->node_next_ns[i]);
	return next_ns;
}

static void
run_window(void *arg, uint32_t part)
{
	struct fabric *f = arg;
	struct part *p = &f->parts[part];
	uint64_t arrival_ns, until_ns = f->window_end_ns;

	part_collect(f, p, f->windows - 1);
	p->crossing_ns = NEVER_NS;
	if (f->is_large)
		fetch_arrivals(f, p, until_ns);
	while ((arrival_ns = event_queue_next_ns(&p->arrivals)) <= until_ns)
		hand_out(f, p, event_queue_next_source(&p->arrivals), arrival_ns);
	run_nodes(f, p, until_ns);
	p->next_ns = next_of(p);
}

/* @return false: the run has ended, or failed. */
static bool
next_window(void *arg)
{
	struct fabric *f = arg;
	uint64_t first_ns = NEVER_NS, most = 0;

	for (uint32_t i = 0; i < f->n_parts; i++) {
		struct part *p = &f->parts[i];

		if (p->no_memory)
			return false;
		first_ns = min_u64(first_ns, p->next_ns);
		most = max_u64(most, p->calls);
		f->calls += p->calls;
		p->calls = 0;
	}
	f->critical_calls += most;
	if (first_ns > f->until_ns)
		return false;
	f->windows++;
	f->window_end_ns = min_u64(f->until_ns, add_sat(first_ns, f->lookahead_ns - 1));
	return true;
}

static int
start(struct fabric *f)
{
	const struct team_work work = {.next = next_window, .round = run_window, .arg = f};

	f->is_large = f->n_nodes > FEW_NODES;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct node_slot *slot = &f->nodes[i];

		for (uint32_t local = 0; local < slot->n_ends; local++)
			event_queue_set(&slot->tx, local,
					next_tx_ns(slot, f->ends[slot->ends[local]].port, 0));
	}
	if (parts_create(f) < 0)
		return -ENOMEM;
	if (f->n_parts > 1 && (f->team = team_create(f->n_parts, &work)) == NULL)
		return -errno;
	f->started = true;
	return 0;
}

int
fabric_run(struct fabric *f, uint64_t until_ns)
{
	int rc = f->started ? 0 : start(f);

	if (rc < 0)
		return rc;
	parts_balance(f);
	f->until_ns = min_u64(until_ns, EVENT_NEVER - 1);
	for (uint32_t i = 0; i < f->n_parts; i++)
		f->parts[i].next_ns = next_of(&f->parts[i]);
	if (f->team != NULL)
		team_run(f->team);
	else
		while (next_window(f))
			run_window(f, 0);
	for (uint32_t i = 0; i < f->n_parts; i++)
		if (f->parts[i].no_memory)
			return -ENOMEM;
	return 0;
}
