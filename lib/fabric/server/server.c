/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/server/server.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "fabric/tester/tester.h"

#define NONE UINT32_MAX

/* One direction of a rank's port. */
struct lane {
	uint64_t free_ns;
	uint64_t remainder; /* of that time, in parts of 1/rate_bps ns */
};

struct server_rank {
	struct server *server;
	uint32_t job, number;
	uint32_t first; /* of the ranks of its job: index in ranks */
	uint32_t index; /* on its NIC */
	uint16_t nic;
	bool stopped;
	struct lane out, in;
	uint32_t held, held_tail; /* messages that wait until it is no longer stopped */
};

/* A message under way. */
struct item {
	struct nic_job_message m;
	struct server_rank *from, *to;
	uint64_t at_ns; /* it reaches the port of `to`, or ends */
	uint64_t order; /* of equal times: drawn */
	uint64_t seq;   /* of equal ones: of one rank, in order */
	bool ends;
	uint32_t next; /* in a list */
};

struct port {
	struct server_nic at;
	uint64_t control_ns;
};

struct server {
	struct node node;
	struct port *ports;
	uint16_t n_ports;
	uint64_t rate_bps, delay_ns, seed;
	struct server_rank *ranks;
	uint32_t n_ranks, max_ranks;
	struct item *items;
	uint32_t free, n_items;
	uint32_t *heap; /* of items, by at_ns, order, seq */
	uint32_t n_heap;
	uint64_t seq;
	struct server_stats stats;
};

static struct server *
server_of(const struct node *node)
{
	return (struct server *)(uintptr_t)node;
}

/* ---- messages in order of time ---- */

static bool
is_before(const struct server *s, uint32_t a, uint32_t b)
{
	const struct item *x = &s->items[a], *y = &s->items[b];

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns;
	return x->order != y->order ? x->order < y->order : x->seq < y->seq;
}

static void
sink(struct server *s, uint32_t at)
{
	uint32_t moved = s->heap[at];

	for (uint32_t child; (child = 2 * at + 1) < s->n_heap; at = child) {
		if (child + 1 < s->n_heap && is_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s, s->heap[child], moved))
			break;
		s->heap[at] = s->heap[child];
	}
	s->heap[at] = moved;
}

/* due: whose port the message is at, which orders it among others of this time. */
static void
push(struct server *s, uint32_t item, uint64_t at_ns, const struct server_rank *due)
{
	struct prng rnd;
	uint32_t at = s->n_heap++;

	prng_seed(&rnd, s->seed ^ at_ns, (uint64_t)due->job << 32 | due->number);
	s->items[item].at_ns = at_ns;
	s->items[item].order = prng_u64(&rnd);
	s->items[item].seq = s->seq++;
	while (at > 0 && is_before(s, item, s->heap[(at - 1) / 2])) {
		s->heap[at] = s->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->heap[at] = item;
	node_wake(&s->node, 0);
}

static uint64_t
next_ns(const struct server *s)
{
	return s->n_heap == 0 ? NEVER_NS : s->items[s->heap[0]].at_ns;
}

/* ---- the crossbar ---- */

/* A message takes the lane from from_ns on, or as soon as it is free. @return when that is. */
static uint64_t
occupy(const struct server *s, struct lane *lane, uint64_t from_ns, uint64_t bytes)
{
	bool waits = lane->free_ns >= from_ns;
	uint64_t begin_ns = max_u64(lane->free_ns, from_ns);
	/* A message has 2^31 bytes at most. */
	unsigned __int128 bits = (unsigned __int128)bytes * 8 * NS_PER_SEC;

	bits += waits ? lane->remainder : 0;
	lane->free_ns = begin_ns + (uint64_t)(bits / s->rate_bps);
	lane->remainder = (uint64_t)(bits % s->rate_bps);
	return begin_ns;
}

static void
depart(struct server *s, uint32_t item, uint64_t now_ns)
{
	const struct item *i = &s->items[item];
	uint64_t begin_ns = occupy(s, &i->from->out, now_ns, i->m.bytes);

	push(s, item, begin_ns + s->delay_ns, i->from);
}

void
server_send_inside(void *rank, const struct nic_job_message *message, uint64_t now_ns)
{
	struct server_rank *r = rank;
	struct server *s = r->server;
	uint32_t item = s->free;
	struct item *i = &s->items[item];

	assert(item != NONE);
	s->free = i->next;
	*i = (struct item){.m = *message,
			   .from = r,
			   .to = &s->ranks[r->first + message->to - s->ranks[r->first].number],
			   .next = NONE};
	assert(i->to->job == r->job && i->to->number == message->to);
	if (!r->stopped) {
		depart(s, item, now_ns);
		return;
	}
	if (r->held == NONE)
		r->held = item;
	else
		s->items[r->held_tail].next = item;
	r->held_tail = item;
}

void
server_stop(struct server_rank *rank, bool stopped, uint64_t now_ns)
{
	struct server *s = rank->server;

	rank->stopped = stopped;
	while (!stopped && rank->held != NONE) {
		uint32_t item = rank->held;

		rank->held = s->items[item].next;
		depart(s, item, now_ns);
	}
}

/* Pass on that the NIC of a port may have work. */
static void
take_wakes(struct server *s, uint16_t port)
{
	struct node *node = s->ports[port].at.node;

	if (node->wake[0] == 0)
		return;
	node->wake[0] = 0;
	node_wake(&s->node, port);
}

void
server_wake(struct node *node, uint16_t nic)
{
	struct server *s = server_of(node);
	const struct server_nic *at = &s->ports[nic].at;

	if (at->node != at->nic)
		tester_wake(at->node);
	node_wake(at->node, 0);
	take_wakes(s, nic);
}

/* The first message of the heap has reached a port, or ends. */
static void
advance(struct server *s)
{
	uint32_t item = s->heap[0];
	struct item *i = &s->items[item], done;
	uint64_t now_ns = i->at_ns;

	s->heap[0] = s->heap[--s->n_heap];
	if (s->n_heap > 0)
		sink(s, 0);
	if (!i->ends) {
		i->ends = true;
		(void)occupy(s, &i->to->in, now_ns, i->m.bytes);
		push(s, item, i->to->in.free_ns, i->to);
		return;
	}
	done = *i;
	i->next = s->free;
	s->free = item;
	s->stats.messages++;
	s->stats.bytes += done.m.bytes;
	nic_job_sent_inside(s->ports[done.from->nic].at.nic, done.from->index, done.m.op, now_ns);
	server_wake(&s->node, done.from->nic);
	nic_job_arrived_inside(s->ports[done.to->nic].at.nic, done.to->index, done.m.from,
			       done.m.tag, now_ns);
	server_wake(&s->node, done.to->nic);
}

/* All that ranks do up to now. */
static void
run(struct server *s, uint16_t port, uint64_t now_ns)
{
	struct node *nic = s->ports[port].at.nic;

	while (next_ns(s) <= now_ns || nic_jobs_next_ns(nic) <= now_ns) {
		if (next_ns(s) <= now_ns) {
			advance(s);
		} else {
			nic_jobs_run(nic, now_ns);
			server_wake(&s->node, port);
		}
	}
}

/* ---- the node ---- */

static void
server_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct server *s = server_of(node);
	struct node *at = s->ports[port].at.node;

	run(s, port, now_ns);
	at->ops->rx(at, 0, pkts, n, now_ns);
	take_wakes(s, port);
}

static uint16_t
server_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	  uint64_t now_ns)
{
	struct server *s = server_of(node);
	struct node *at = s->ports[port].at.node;
	uint16_t n;

	run(s, port, now_ns);
	n = at->ops->tx(at, 0, pkts, max_pkts, now_ns);
	run(s, port, now_ns);
	take_wakes(s, port);
	return n;
}

/* The crossbar's next time is that of port 0. */
static uint64_t
server_next_ns(const struct node *node, uint16_t port)
{
	const struct server *s = server_of(node);
	const struct server_nic *at = &s->ports[port].at;
	uint64_t of_nic = min_u64(at->node->ops->next_ns(at->node, 0), nic_jobs_next_ns(at->nic));

	return port == 0 ? min_u64(of_nic, next_ns(s)) : of_nic;
}

static uint64_t
server_control(struct node *node, uint64_t now_ns)
{
	struct server *s = server_of(node);
	uint64_t soonest_ns = NEVER_NS;

	for (uint16_t i = 0; i < s->n_ports; i++) {
		struct port *p = &s->ports[i];

		if (p->control_ns <= now_ns) {
			p->control_ns = p->at.node->ops->control(p->at.node, now_ns);
			take_wakes(s, i);
		}
		soonest_ns = min_u64(soonest_ns, p->control_ns);
	}
	return soonest_ns;
}

static const struct node_ops server_ops = {
	.rx = server_rx,
	.tx = server_tx,
	.next_ns = server_next_ns,
	.control = server_control,
};

struct node *
server_create(const struct server_params *params)
{
	struct server *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	assert(params->n_nics >= 1 && params->n_nics <= NODE_WAKE_PORTS);
	*s = (struct server){.node = {.ops = &server_ops},
			     .n_ports = params->n_nics,
			     .rate_bps = params->rate_bps,
			     .delay_ns = params->delay_ns,
			     .seed = params->seed,
			     .max_ranks = params->n_ranks,
			     .n_items = params->n_messages,
			     .free = params->n_messages > 0 ? 0 : NONE};
	s->ports = calloc(s->n_ports, sizeof(*s->ports));
	s->ranks = calloc(params->n_ranks + 1ull, sizeof(*s->ranks));
	s->items = calloc(params->n_messages + 1ull, sizeof(*s->items));
	s->heap = calloc(params->n_messages + 1ull, sizeof(*s->heap));
	if (s->ports == NULL || s->ranks == NULL || s->items == NULL || s->heap == NULL) {
		server_destroy(&s->node);
		errno = ENOMEM;
		return NULL;
	}
	for (uint16_t i = 0; i < s->n_ports; i++)
		s->ports[i].at = params->nics[i];
	for (uint32_t i = 0; i < s->n_items; i++)
		s->items[i].next = i + 1 < s->n_items ? i + 1 : NONE;
	return &s->node;
}

void
server_destroy(struct node *node)
{
	struct server *s = server_of(node);

	if (node == NULL)
		return;
	free(s->heap);
	free(s->items);
	free(s->ranks);
	free(s->ports);
	free(s);
}

struct server_rank *
server_add_rank(struct node *node, uint32_t job, uint32_t number, uint16_t nic)
{
	struct server *s = server_of(node);
	uint32_t i = s->n_ranks++;
	struct server_rank *r = &s->ranks[i];
	bool follows = i > 0 && s->ranks[i - 1].job == job;

	assert(i < s->max_ranks && nic < s->n_ports);
	assert(!follows || s->ranks[i - 1].number + 1 == number);
	*r = (struct server_rank){.server = s,
				  .job = job,
				  .number = number,
				  .first = follows ? s->ranks[i - 1].first : i,
				  .nic = nic,
				  .held = NONE,
				  .held_tail = NONE};
	return r;
}

void
server_set_index(struct server_rank *rank, uint32_t index)
{
	rank->index = index;
}

void
server_pieces(struct node *node, struct node_pieces *to)
{
	node_piece(to, &server_of(node)->stats, sizeof(struct server_stats));
}

const struct server_stats *
server_stats(const struct node *node)
{
	return &server_of(node)->stats;
}
