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
 *
 * Cables between parts, and between ranks, may be slower than those in a part. Then the parts of a
 * rank, and the ranks, wait for each other less often (fabric_state.h, fabric_ranks.h).
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "base/numbers/fixed.h"
#include "base/threads/cores.h"
#include "fabric/links/fabric_parts.h"
#include "fabric/links/fabric_ranks.h"
#include "fabric/links/team.h"
#include "node/pkt_meta.h"

#define BURST 32
/* Frames that are prefetched before their turn, of a node's only cable. */
#define FRAMES_AHEAD 4
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

/*
 * A frame on a cable has its fingerprint where a device would leave the hash of a received one. Its
 * line is in the cache of the sender, and the receiver reads it next.
 */
static_assert(sizeof(((struct rte_mbuf *)NULL)->hash) == sizeof(uint64_t), "a fingerprint fits");

static inline void
set_fingerprint(struct rte_mbuf *m)
{
	uint64_t found = fingerprint(m);

	memcpy(&m->hash, &found, sizeof(found));
}

static inline uint64_t
fingerprint_of(const struct rte_mbuf *m)
{
	uint64_t found;

	memcpy(&found, &m->hash, sizeof(found));
	return found;
}

static inline void
put_on_cable(struct fabric *f, struct part *p, uint32_t end, struct rte_mbuf *m, uint64_t due_ns)
{
	struct flight frame = flight_of(m, due_ns);

	set_fingerprint(m);
	if (likely(f->ends[end].to_part == p->index))
		part_put(f, p, &f->directions[end], &frame);
	else
		part_send(f, p, end, &frame);
}

/* next_ns() of a port; a time in the past becomes now_ns. */
static inline uint64_t
next_tx_ns(const struct node_slot *slot, uint16_t port, uint64_t now_ns)
{
	return max_u64(slot->node->ops->next_ns(slot->node, port), now_ns);
}

/* As take_wakes(), of one port; at_once is what the ports before it left. */
static inline uint32_t
wake_port(const struct fabric *f, struct node_slot *slot, uint32_t port, uint32_t at_once,
	  uint64_t now_ns)
{
	uint32_t local = slot->end_index_of_port[port];
	uint64_t next_ns = now_ns;
	bool first;

	if (local == NO_LOCAL)
		return at_once;
	if (at_once != NO_END)
		event_queue_set(&slot->tx, at_once, now_ns);
	first = event_queue_next_ns(&slot->rx) > now_ns &&
		event_queue_is_first(&slot->tx, local, now_ns);
	/* A port with a free wire can usually send: skip next_ns() and just call tx(). */
	if (!first || f->ends[slot->ends[local]].free_ns > now_ns)
		next_ns = next_tx_ns(slot, (uint16_t)port, now_ns);
	if (first && next_ns == now_ns)
		return local;
	event_queue_set(&slot->tx, local, next_ns);
	return NO_END;
}

/*
 * A call into a node may have given work to any of its ports.
 * @return local index of an end that must transmit now before all others, so that it need not go
 * through the queue; or NO_END.
 */
static inline uint32_t
take_wakes(const struct fabric *f, struct node_slot *slot, uint64_t now_ns)
{
	uint32_t at_once = NO_END, port;

	if (slot->wake_words == 1 && slot->node->wake[0] == 0)
		return NO_END;
	for (uint32_t w = 0; w < slot->wake_words; w++) {
		uint64_t ports = slot->node->wake[w];

		if (ports == 0)
			continue;
		slot->node->wake[w] = 0;
		for (; ports != 0; ports &= ports - 1) {
			port = w * 64 + (unsigned int)__builtin_ctzll(ports);
			for (; port < slot->ports_end; port += NODE_WAKE_PORTS)
				at_once = wake_port(f, slot, port, at_once, now_ns);
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
	/* next_ns() answers for this port, but not for another one that shares its bit. */
	if (likely(slot->ports_end <= NODE_WAKE_PORTS))
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
	const char *m = (const char *)flight_mbuf(frame);
	const char *buf = m + sizeof(struct rte_mbuf) + PKT_PRIV_BYTES;
	const char *data = buf + flight_line(frame) * RTE_CACHE_LINE_SIZE;

	rte_prefetch0(m);
	rte_prefetch0(data);
	rte_prefetch0(data + flight_pkt_len(frame) - 1);
}

/*
 * Receive frames of one port that arrive at now_ns, the time of the node's next arrival. @return as
 * take_wakes().
 */
static uint32_t
receive(struct fabric *f, struct part *p, struct node_slot *slot, uint64_t now_ns)
{
	uint32_t source = event_queue_next_source(&slot->rx);
	struct direction *d = &f->directions[slot->inbound[source]];
	uint64_t digest = d->digest, next_ns;
	struct rte_mbuf *pkts[BURST];
	uint16_t n = 0;

	do {
		const struct flight *frame = flights_pop(&d->on_cable);
		struct rte_mbuf *m = flight_mbuf(frame);
		uint32_t pkt_len = flight_pkt_len(frame);

		if (f->is_large && frame + slot->frames_ahead < d->on_cable.tail)
			prefetch_frame(frame + slot->frames_ahead);
		if (unlikely(d->cable != NULL))
			cable_arrive(d->cable, m, now_ns);
		digest = mix(digest, now_ns);
		digest = mix(digest, pkt_len);
		digest = mix(digest, fingerprint_of(m));
		p->hop_bytes += wire_bytes(pkt_len);
		pkts[n++] = m;
		next_ns = flights_next_ns(&d->on_cable);
	} while (unlikely(next_ns <= now_ns) && n < BURST);
	if (next_ns == NEVER_NS)
		flights_rewind(&d->on_cable);
	d->digest = digest;
	p->packet_hops += n;
	event_queue_set(&slot->rx, source, next_ns);
	slot->node->ops->rx(slot->node, f->ends[slot->inbound[source]].peer_port, pkts, n, now_ns);
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

/* Call the node's watch for the ticks before now_ns. */
static void
tick(struct node_slot *slot, uint64_t now_ns)
{
	uint64_t n;

	if (slot->tick_ns >= now_ns)
		return;
	n = (now_ns - 1 - slot->tick_ns) / slot->watch.every_ns + 1;
	slot->watch.fn(slot->watch.arg, slot->tick_ns, n);
	slot->tick_ns += n * slot->watch.every_ns;
}

void
fabric_tick(struct fabric *f, uint64_t now_ns)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (is_own(f, &f->nodes[i]))
			tick(&f->nodes[i], now_ns + 1);
}

/*
 * Run a node up to and including until_ns. At equal times frames arrive first, then ports transmit.
 * @return how often the node was called.
 */
static uint64_t
run_node(struct fabric *f, struct part *p, struct node_slot *slot, uint64_t until_ns)
{
	for (uint64_t calls = 0;; calls++) {
		uint64_t arrival_ns = event_queue_next_ns(&slot->rx),
			 tx_ns = event_queue_next_ns(&slot->tx);
		uint64_t now_ns = min_u64(min_u64(arrival_ns, tx_ns), slot->control_ns);
		uint32_t at_once;

		if (now_ns > until_ns)
			return calls;
		if (unlikely(now_ns > slot->tick_ns))
			tick(slot, now_ns);
		if (arrival_ns == now_ns)
			at_once = receive(f, p, slot, now_ns);
		else if (tx_ns == now_ns)
			at_once = transmit(f, p, slot, event_queue_next_source(&slot->tx), now_ns);
		else
			at_once = control(f, slot, now_ns);
		while (at_once != NO_END)
			at_once = transmit(f, p, slot, at_once, now_ns);
	}
}

static void
set_next(struct side *side, const struct node_slot *slot)
{
	uint64_t next_ns =
		min_u64(event_queue_min(&slot->rx).at_ns, event_queue_min(&slot->tx).at_ns);

	side->node_next_ns[slot->place] = min_u64(next_ns, slot->control_ns);
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
	set_next(&p->sides[slot->side], slot);
}

void
fabric_poke(struct fabric *f, uint32_t node, uint64_t now_ns)
{
	struct node_slot *slot = &f->nodes[node];

	assert(f->started);
	if (is_own(f, slot))
		settle(f, slot, take_wakes(f, slot, now_ns), now_ns);
}

void
fabric_control(struct fabric *f, uint32_t node, uint64_t now_ns)
{
	struct node_slot *slot = &f->nodes[node];

	assert(f->started);
	if (is_own(f, slot))
		settle(f, slot, control(f, slot, now_ns), now_ns);
}

/*
 * Prefetch for later nodes while the present node runs. Each step reads what the previous step
 * prefetched: the slot, then the node, its queues and cables, then the frames on these.
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
	rte_prefetch0(&slot->tx.best[1]);
	if (slot->n_ends == 1)
		rte_prefetch0(&f->ends[slot->ends[0]]);
	for (uint32_t i = 0; i < slot->n_inbound; i++)
		rte_prefetch0(&f->directions[slot->inbound[i]]);
}

static inline void
fetch_flights(const struct fabric *f, const struct node_slot *slot)
{
	if (slot->node->ops->fetch != NULL)
		slot->node->ops->fetch(slot->node);
	for (uint32_t i = 0; i < slot->n_inbound; i++)
		rte_prefetch0(f->directions[slot->inbound[i]].on_cable.head);
}

static inline void
fetch_frames(const struct fabric *f, const struct node_slot *slot, uint64_t until_ns)
{
	for (uint32_t i = 0; i < slot->n_inbound; i++) {
		const struct flight *frame = f->directions[slot->inbound[i]].on_cable.head;

		for (uint32_t k = 0; k < slot->frames_ahead && frame->due_ns <= until_ns; k++)
			prefetch_frame(frame++);
	}
}

static inline struct node_slot *
slot_at(const struct fabric *f, const struct side *side, uint32_t place)
{
	return &f->nodes[side->nodes[place]];
}

static inline void
fetch(const struct fabric *f, const struct side *side, uint32_t i, uint32_t n, uint64_t until_ns)
{
	if (i + 4 < n)
		fetch_slot(slot_at(f, side, side->due[i + 4]));
	if (i + 3 < n)
		fetch_node(f, slot_at(f, side, side->due[i + 3]));
	if (i + 2 < n)
		fetch_flights(f, slot_at(f, side, side->due[i + 2]));
	if (i + 1 < n)
		fetch_frames(f, slot_at(f, side, side->due[i + 1]), until_ns);
}

static void
run_side(struct fabric *f, struct part *p, struct side *side, uint64_t until_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < side->n_nodes; i++) {
		side->due[n] = i;
		n += side->node_next_ns[i] <= until_ns;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct node_slot *slot = slot_at(f, side, side->due[i]);
		uint64_t calls;

		if (f->is_large)
			fetch(f, side, i, n, until_ns);
		calls = run_node(f, p, slot, until_ns);
		slot->calls += calls;
		p->calls += calls;
		set_next(side, slot);
	}
	side->next_ns = part_next_ns(side);
}

/*
 * The end of a window of the side with the earlier next event. It is before a frame can arrive from
 * the other side, whose first event is its own next one, or one that a frame of this side causes.
 */
static uint64_t
end_of_window(const struct fabric *f, const uint64_t next_ns[MAX_SIDES], uint32_t side,
	      uint64_t lookahead_ns)
{
	uint64_t first_ns = next_ns[side];

	if (f->n_sides == 2)
		first_ns = min_u64(next_ns[1 - side], add_sat(next_ns[side], lookahead_ns));
	return add_sat(first_ns, lookahead_ns - 1);
}

/* The windows of a part in one of all parts, until a frame of another part can arrive. */
static void
run_near(struct fabric *f, struct part *p)
{
	for (;;) {
		const uint64_t next_ns[MAX_SIDES] = {p->sides[0].next_ns, p->sides[1].next_ns};
		uint32_t side = f->n_sides == 2 && next_ns[1] < next_ns[0];

		if (next_ns[side] > f->window_end_ns)
			return;
		run_side(f, p, &p->sides[side],
			 min_u64(end_of_window(f, next_ns, side, f->inside_ns), f->window_end_ns));
	}
}

static void
run_part(struct fabric *f, struct part *p)
{
	part_collect(f, p, f->windows - 1);
	p->crossing_ns[0] = p->crossing_ns[1] = NEVER_NS;
	if (f->is_near)
		run_near(f, p);
	else
		run_side(f, p, &p->sides[f->window_side], f->window_end_ns);
}

static void
run_window(void *arg, uint32_t thread)
{
	struct fabric *f = arg;

	for (uint32_t i = thread; i < f->n_parts; i += f->n_threads)
		run_part(f, &f->parts[i]);
}

/* When the next event of each side can be. @return false: out of memory. */
static bool
next_of_sides(struct fabric *f, uint64_t next_ns[MAX_SIDES])
{
	uint64_t most = 0;

	next_ns[0] = next_ns[1] = NEVER_NS;
	for (uint32_t i = 0; i < f->n_parts; i++) {
		struct part *p = &f->parts[i];

		if (p->no_memory)
			return false;
		for (uint32_t s = 0; s < f->n_sides; s++)
			next_ns[s] = min_u64(next_ns[s],
					     min_u64(p->sides[s].next_ns, p->crossing_ns[s]));
		most = max_u64(most, p->calls);
		f->calls += p->calls;
		p->calls = 0;
	}
	f->critical_calls += most;
	return true;
}

/*
 * As next_of_sides(). If this rank has to wait for frames of others, let them all meet until one
 * of its events can be before the next of these. @return false: the run has ended, or failed.
 */
static bool
next_of_ranks(struct fabric *f, uint64_t next_ns[MAX_SIDES])
{
	struct abroad *a = f->abroad;
	bool ok = next_of_sides(f, next_ns);

	while (!ok || min_u64(next_ns[0], next_ns[1]) >= min_u64(a->before_ns, f->until_ns + 1)) {
		if (abroad_exchange(f, min_u64(next_ns[0], next_ns[1])) > f->until_ns)
			return false;
		/* Now no frame to another rank waits in the box of a node's old part. */
		parts_balance(f);
		ok = next_of_sides(f, next_ns);
	}
	return true;
}

/* Likewise, of a fabric without other ranks. */
static bool
next_of_parts(struct fabric *f, uint64_t next_ns[MAX_SIDES])
{
	parts_balance(f);
	return next_of_sides(f, next_ns);
}

/*
 * The next window of all parts: of the side with the earlier next event, or of both, if the parts
 * divide it themselves. It ends before a frame can arrive from another rank.
 *
 * @return false: the run has ended, or failed.
 */
static bool
next_window(void *arg)
{
	struct fabric *f = arg;
	uint64_t next_ns[MAX_SIDES], end_ns;
	uint32_t side;

	if (!(f->abroad == NULL ? next_of_parts(f, next_ns) : next_of_ranks(f, next_ns)))
		return false;
	side = next_ns[1] < next_ns[0];
	if (next_ns[side] > f->until_ns)
		return false;
	if (f->is_near)
		end_ns = add_sat(next_ns[side], f->between_ns - 1);
	else
		end_ns = end_of_window(f, next_ns, side, min_u64(f->inside_ns, f->between_ns));
	if (f->abroad != NULL)
		end_ns = min_u64(end_ns, f->abroad->before_ns - 1);
	f->windows++;
	f->window_side = side;
	f->window_end_ns = min_u64(f->until_ns, end_ns);
	return true;
}

uint64_t
fabric_next_ns(struct fabric *f)
{
	uint64_t next_ns = f->started ? NEVER_NS : 0;

	for (uint32_t i = 0; f->started && i < f->n_parts; i++)
		for (uint32_t s = 0; s < f->n_sides; s++)
			next_ns = min_u64(next_ns, min_u64(part_next_ns(&f->parts[i].sides[s]),
							   f->parts[i].crossing_ns[s]));
	return f->abroad == NULL ? next_ns : ranks_min(f->abroad->ranks, next_ns);
}

static uint64_t
calls_done(const void *arg)
{
	return ((const struct fabric *)arg)->calls;
}

static uint64_t
clock_cycles(void *arg)
{
	return ((const struct fabric *)arg)->clock_cycles();
}

/*
 * More threads than cores would wait for each other's time slices. Each core runs several parts
 * instead, the same number of them.
 */
static void
choose_threads(struct fabric *f)
{
	uint32_t parts;

	f->n_threads = (uint32_t)min_u64(f->n_parts, usable_cores());
	parts = (f->n_parts + f->n_threads - 1) / f->n_threads * f->n_threads;
	if (parts <= FABRIC_MAX_THREADS)
		f->n_parts = parts;
}

static int
start(struct fabric *f)
{
	const struct team_work work = {.next = next_window,
				       .round = run_window,
				       .done = calls_done,
				       .cycles = f->clock_cycles != NULL ? clock_cycles : NULL,
				       .arg = f};

	f->is_large = f->n_nodes > FEW_NODES;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct node_slot *slot = &f->nodes[i];

		if (!owns_node(f, i))
			continue;
		slot->frames_ahead = slot->n_inbound == 1 ? FRAMES_AHEAD : 1;
		for (uint32_t local = 0; local < slot->n_ends; local++)
			event_queue_set(&slot->tx, local,
					next_tx_ns(slot, f->ends[slot->ends[local]].port, 0));
	}
	choose_threads(f);
	if (parts_create(f) < 0)
		return -ENOMEM;
	if (f->n_threads > 1 && (f->team = team_create(f->n_threads, &work)) == NULL)
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
	f->until_ns = min_u64(until_ns, EVENT_NEVER - 1);
	if (f->abroad != NULL)
		f->abroad->before_ns = 0;
	/* Pokes and injected frames since the last run may have come before all else. */
	for (uint32_t i = 0; i < f->n_parts; i++)
		for (uint32_t s = 0; s < f->n_sides; s++)
			f->parts[i].sides[s].next_ns = part_next_ns(&f->parts[i].sides[s]);
	if (f->team != NULL)
		team_run(f->team);
	else
		while (next_window(f))
			run_window(f, 0);
	for (uint32_t i = 0; i < f->n_parts; i++)
		if (f->parts[i].no_memory)
			return -ENOMEM;
	if (f->abroad != NULL && f->abroad->failed)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (is_own(f, &f->nodes[i]))
			tick(&f->nodes[i], until_ns);
	return 0;
}
