/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/results/pauses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

/* A pause soon after another one of its group waits for the same queue, if that holds frames. */
#define SAME_NS (100 * NS_PER_US)
/* For how long a queue may have been paused before it filled up. */
#define FILL_NS NS_PER_MS

const char *const pause_root_words[] = {"queue", "host", "buffer"};

struct pause {
	uint64_t begin_ns, end_ns; /* end_ns: NEVER_NS while it lasts */
	uint32_t port;             /* index of the port in all ports */
	struct sw_holder holder;   /* of a switch */
	/* With ranks, of a pause in force at the end: the queue in which the frames wait then. */
	struct sw_holder last_holder;
	uint8_t prio;
};

struct pauses_port {
	struct pauses_node *node;
	struct topology_end at;
	uint32_t index; /* in ports */
	/* by priority: index of the pause in force, and of the one whose queue was looked for */
	uint32_t open[TM_CLASSES], latest[TM_CLASSES];
};

/* Written by the thread of the node. */
struct pauses_node {
	struct pauses *all;
	struct pause *list;
	uint32_t n, room;
	uint64_t lost;
};

struct pauses {
	struct net *net;
	struct pauses_node *nodes;
	struct pauses_port *ports; /* of all nodes */
	uint32_t *first_port;      /* by node */
	uint32_t n_nodes, n_ports;
};

static const struct topology *
topology_of(const struct pauses *p)
{
	return net_scenario(p->net)->topology;
}

static struct pause *
add(struct pauses_node *node)
{
	if (node->n == PAUSES_MOST)
		return NULL;
	if (node->n == node->room) {
		uint32_t room = node->room == 0 ? 64 : 2 * node->room;
		struct pause *more = realloc(node->list, room * sizeof(*more));

		if (more == NULL)
			return NULL;
		node->list = more;
		node->room = room;
	}
	return &node->list[node->n++];
}

static struct sw_holder
holder_of(const struct pauses *p, struct topology_end by, uint8_t prio)
{
	if (!topology_is_switch(topology_of(p), by.node))
		return (struct sw_holder){0};
	return sw_find_holder(net_switch(p->net, by.node), by.port, prio);
}

/* The queue for which the group waits now. */
static struct sw_holder
holder_now(const struct pauses_port *port, uint8_t prio, uint64_t now_ns)
{
	const struct pauses *p = port->node->all;
	const struct pause *previous;

	if (port->latest[prio] != PAUSES_NONE) {
		previous = &port->node->list[port->latest[prio]];
		if (previous->holder.bytes > 0 && now_ns - previous->begin_ns < SAME_NS &&
		    sw_queue_bytes(net_switch(p->net, port->at.node), previous->holder.port,
				   previous->holder.queue) > 0)
			return previous->holder;
	}
	return holder_of(p, port->at, prio);
}

static void
on_pause(void *arg, uint8_t prio, bool xoff, uint64_t now_ns)
{
	struct pauses_port *port = arg;
	struct pauses_node *node = port->node;
	struct sw_holder holder;
	struct pause *pause;

	if (!xoff) {
		if (port->open[prio] != PAUSES_NONE)
			node->list[port->open[prio]].end_ns = now_ns;
		port->open[prio] = PAUSES_NONE;
		return;
	}
	holder = holder_now(port, prio, now_ns);
	pause = add(node);
	if (pause == NULL) {
		node->lost++;
		return;
	}
	*pause = (struct pause){.begin_ns = now_ns,
				.end_ns = NEVER_NS,
				.port = port->index,
				.holder = holder,
				.prio = prio};
	port->open[prio] = node->n - 1;
	if (holder.bytes == 0 || port->latest[prio] == PAUSES_NONE ||
	    now_ns - node->list[port->latest[prio]].begin_ns >= SAME_NS)
		port->latest[prio] = node->n - 1;
}

static void
watch(struct pauses *p, uint32_t node, uint16_t port)
{
	struct pauses_port *at = &p->ports[p->first_port[node] + port];

	*at = (struct pauses_port){
		.node = &p->nodes[node], .at = {node, port}, .index = p->first_port[node] + port};
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		at->open[i] = at->latest[i] = PAUSES_NONE;
	net_watch_pauses(p->net, at->at, (struct pfc_tx_watch){on_pause, at});
}

struct pauses *
pauses_create(struct net *net)
{
	const struct topology *t = net_scenario(net)->topology;
	struct pauses *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->net = net;
	p->n_nodes = t->n_switches + t->n_hosts;
	p->nodes = calloc(p->n_nodes, sizeof(*p->nodes));
	p->first_port = malloc((p->n_nodes + 1) * sizeof(*p->first_port));
	if (p->nodes != NULL && p->first_port != NULL) {
		for (uint32_t i = 0; i < p->n_nodes; i++) {
			p->nodes[i].all = p;
			p->first_port[i] = p->n_ports;
			p->n_ports += topology_is_switch(t, i) ? t->switches[i].n_ports : 1;
		}
		p->ports = malloc((p->n_ports + 1) * sizeof(*p->ports));
	}
	if (p->ports == NULL) {
		pauses_destroy(p);
		return NULL;
	}
	for (uint32_t i = 0; i < p->n_nodes; i++)
		for (uint16_t port = 0;
		     port < (topology_is_switch(t, i) ? t->switches[i].n_ports : 1); port++)
			watch(p, i, port);
	return p;
}

void
pauses_destroy(struct pauses *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; p->nodes != NULL && i < p->n_nodes; i++)
		free(p->nodes[i].list);
	free(p->nodes);
	free(p->ports);
	free(p->first_port);
	free(p);
}

/* The other end of a port's cable. */
static struct topology_end
peer_of(const struct pauses *p, struct topology_end at)
{
	const struct topology *t = topology_of(p);
	const struct topology_link *l = &t->links[topology_link_at(t, at)];

	return l->a.node == at.node && l->a.port == at.port ? l->b : l->a;
}

static uint32_t
port_index(const struct pauses *p, struct topology_end at)
{
	return p->first_port[at.node] + at.port;
}

/* The pauses of a node of this rank, with what waits now. */
static void
pack_node(const struct pauses *p, uint32_t node, struct rank_bytes *to)
{
	const struct pauses_node *of = &p->nodes[node];

	rank_bytes_add(to, &of->n, sizeof(of->n));
	rank_bytes_add(to, &of->lost, sizeof(of->lost));
	rank_bytes_add(to, of->list, of->n * sizeof(*of->list));
}

static int
unpack_node(struct pauses_node *of, struct rank_reader *from)
{
	struct pause *list;

	rank_reader_copy(from, &of->n, sizeof(of->n));
	rank_reader_copy(from, &of->lost, sizeof(of->lost));
	if (of->n > PAUSES_MOST) {
		of->n = 0;
		return -EIO;
	}
	list = realloc(of->list, (of->n + 1ul) * sizeof(*list));
	if (list == NULL) {
		of->n = 0;
		return -ENOMEM;
	}
	of->list = list;
	of->room = of->n + 1;
	rank_reader_copy(from, list, of->n * sizeof(*list));
	return 0;
}

/* Of the pauses in force: what waits now. */
static void
set_last_holders(struct pauses *p, uint32_t node)
{
	for (uint32_t i = 0; i < p->nodes[node].n; i++) {
		struct pause *pause = &p->nodes[node].list[i];

		if (pause->end_ns == NEVER_NS)
			pause->last_holder = holder_of(p, p->ports[pause->port].at, pause->prio);
	}
}

int
pauses_gather(struct pauses *p)
{
	struct ranks *ranks = net_ranks(p->net);
	int rc = 0;

	if (ranks == NULL)
		return 0;
	ranks_begin(ranks);
	for (uint32_t i = 0; i < p->n_nodes; i++) {
		if (!net_owns(p->net, i))
			continue;
		set_last_holders(p, i);
		if (ranks->self != 0)
			pack_node(p, i, &ranks->out[0]);
	}
	if (ranks_to_first(ranks) < 0)
		return -ENOMEM;
	for (uint32_t q = 1; ranks->self == 0 && q < ranks->n; q++) {
		struct rank_reader from = rank_reader_of(&ranks->in[q]);

		for (uint32_t i = 0; rc == 0 && i < p->n_nodes; i++)
			if (net_rank_of(p->net, i) == q)
				rc = unpack_node(&p->nodes[i], &from);
		rc = from.bad ? -EIO : rc;
	}
	return rc;
}

/* A pause with its place in the trees. */
struct placed {
	struct pause pause;
	uint32_t branch;
};

struct builder {
	const struct pauses *p;
	uint64_t now_ns;
	struct placed *list; /* in order of begins */
	uint32_t *last;      /* by port and priority: index in list */
	uint32_t n, roots_room, branches_room;
	struct pause_tree *out;
};

static int
by_begin(const void *a, const void *b)
{
	const struct pause *x = &((const struct placed *)a)->pause,
			   *y = &((const struct placed *)b)->pause;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (x->prio > y->prio) - (x->prio < y->prio);
}

static int
gather(struct builder *b)
{
	const struct pauses *p = b->p;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_nodes; i++) {
		n += p->nodes[i].n;
		b->out->lost += p->nodes[i].lost;
	}
	b->list = malloc((n + 1ull) * sizeof(*b->list));
	b->last = malloc(((size_t)p->n_ports + 1) * TM_CLASSES * sizeof(*b->last));
	if (b->list == NULL || b->last == NULL)
		return -ENOMEM;
	memset(b->last, 0xFF, ((size_t)p->n_ports + 1) * TM_CLASSES * sizeof(*b->last));
	for (uint32_t i = 0; i < p->n_nodes; i++)
		for (uint32_t k = 0; k < p->nodes[i].n; k++)
			b->list[b->n++] = (struct placed){p->nodes[i].list[k], PAUSES_NONE};
	qsort(b->list, b->n, sizeof(*b->list), by_begin);
	return 0;
}

/* The pause of the queue in which the frames wait, or PAUSES_NONE. */
static uint32_t
find_parent(const struct builder *b, const struct pause *pause)
{
	const struct pauses *p = b->p;
	struct topology_end by = p->ports[pause->port].at;
	uint64_t since_ns = sub_sat(pause->begin_ns, FILL_NS);
	uint32_t own = b->last[(size_t)pause->port * TM_CLASSES + pause->prio], parent;
	struct topology_end out = {by.node, pause->holder.port};

	if (pause->holder.bytes == 0)
		return PAUSES_NONE;
	if (own != PAUSES_NONE)
		since_ns = max_u64(since_ns, b->list[own].pause.end_ns);
	parent = b->last[(size_t)port_index(p, peer_of(p, out)) * TM_CLASSES + pause->prio];
	if (parent == PAUSES_NONE || b->list[parent].pause.end_ns <= since_ns)
		return PAUSES_NONE;
	return parent;
}

static bool
grow(void **list, uint32_t n, uint32_t *room, size_t size)
{
	void *more;

	if (n < *room)
		return true;
	*room = *room == 0 ? 32 : 2 * *room;
	more = realloc(*list, *room * size);
	if (more != NULL)
		*list = more;
	return more != NULL;
}

/* @return the index of the pause's root, or PAUSES_NONE: no memory. */
static uint32_t
root_of(struct builder *b, const struct pause *pause)
{
	struct topology_end by = b->p->ports[pause->port].at;
	struct pause_tree *t = b->out;
	struct pause_root root = {.at = {by.node, 0}, .prio = pause->prio};

	if (!topology_is_switch(topology_of(b->p), by.node)) {
		root.kind = PAUSE_ROOT_HOST;
	} else if (pause->holder.bytes == 0) {
		root.kind = PAUSE_ROOT_BUFFER;
	} else {
		root.kind = PAUSE_ROOT_QUEUE;
		root.at.port = pause->holder.port;
		root.queue = pause->holder.queue;
	}
	for (uint32_t i = 0; i < t->n_roots; i++)
		if (t->roots[i].kind == root.kind && t->roots[i].at.node == root.at.node &&
		    t->roots[i].at.port == root.at.port && t->roots[i].queue == root.queue &&
		    t->roots[i].prio == root.prio)
			return i;
	if (!grow((void **)&t->roots, t->n_roots, &b->roots_room, sizeof(*t->roots)))
		return PAUSES_NONE;
	t->roots[t->n_roots] = root;
	return t->n_roots++;
}

static bool
is_branch(const struct pause_branch *a, const struct pause_branch *b)
{
	return a->root == b->root && a->parent == b->parent && a->by.node == b->by.node &&
	       a->by.port == b->by.port && a->prio == b->prio;
}

/* The branch of the port's previous pause is mostly that of the next one, too. */
static uint32_t
find_branch(const struct builder *b, const struct pause_branch *branch, uint32_t previous)
{
	const struct pause_tree *t = b->out;
	uint32_t i = 0;

	if (previous != PAUSES_NONE && is_branch(&t->branches[b->list[previous].branch], branch))
		return b->list[previous].branch;
	while (i < t->n_branches && !is_branch(&t->branches[i], branch))
		i++;
	return i;
}

static int
place(struct builder *b, struct placed *at)
{
	const struct pause *pause = &at->pause;
	struct pause_tree *t = b->out;
	uint32_t *last = &b->last[(size_t)pause->port * TM_CLASSES + pause->prio];
	uint32_t parent = find_parent(b, pause), i;
	uint64_t end_ns = min_u64(pause->end_ns, b->now_ns);
	struct pause_branch branch = {
		.parent = parent == PAUSES_NONE ? PAUSES_NONE : b->list[parent].branch,
		.by = b->p->ports[pause->port].at,
		.prio = pause->prio,
	};

	branch.held = peer_of(b->p, branch.by);
	branch.root = parent == PAUSES_NONE ? root_of(b, pause) : t->branches[branch.parent].root;
	if (branch.root == PAUSES_NONE)
		return -ENOMEM;
	i = find_branch(b, &branch, *last);
	if (i == t->n_branches) {
		if (!grow((void **)&t->branches, i, &b->branches_room, sizeof(*t->branches)))
			return -ENOMEM;
		t->branches[t->n_branches++] = branch;
	}
	t->branches[i].time_ns += end_ns - pause->begin_ns;
	t->branches[i].pauses++;
	t->roots[branch.root].time_ns += end_ns - pause->begin_ns;
	t->roots[branch.root].pauses++;
	at->branch = i;
	*last = (uint32_t)(at - b->list);
	return 0;
}

/* The pause that holds the queue in which the frames behind this one wait now, or PAUSES_NONE. */
static uint32_t
holds_on(const struct builder *b, uint32_t i)
{
	const struct pause *pause = &b->list[i].pause;
	struct topology_end by = b->p->ports[pause->port].at, out = {by.node, 0};
	struct sw_holder holder = net_ranks(b->p->net) != NULL ? pause->last_holder
							       : holder_of(b->p, by, pause->prio);
	uint32_t next;

	out.port = holder.port;
	if (holder.bytes == 0)
		return PAUSES_NONE;
	next = b->last[(size_t)port_index(b->p, peer_of(b->p, out)) * TM_CLASSES + pause->prio];
	return next != PAUSES_NONE && b->list[next].pause.end_ns == NEVER_NS ? next : PAUSES_NONE;
}

/* From each pause in force, follow what it waits for: a circle is a deadlock. */
static int
find_deadlock(struct builder *b)
{
	struct pause_tree *t = b->out;
	uint32_t room = 0;

	for (uint32_t i = 0; i < b->n && t->n_deadlock == 0; i++) {
		uint32_t at = i, steps = 0;

		if (b->list[i].pause.end_ns != NEVER_NS)
			continue;
		do {
			at = holds_on(b, at);
		} while (at != PAUSES_NONE && at != i && ++steps < b->p->n_ports);
		if (at != i)
			continue;
		do {
			struct topology_end by = b->p->ports[b->list[at].pause.port].at;

			if (!grow((void **)&t->deadlock, t->n_deadlock, &room,
				  sizeof(*t->deadlock)))
				return -ENOMEM;
			t->deadlock[t->n_deadlock++] = (struct pause_branch){
				.root = PAUSES_NONE,
				.parent = PAUSES_NONE,
				.by = by,
				.held = peer_of(b->p, by),
				.prio = b->list[at].pause.prio,
				.time_ns = b->now_ns - b->list[at].pause.begin_ns,
				.pauses = 1};
			at = holds_on(b, at);
		} while (at != i);
	}
	return 0;
}

/* Roots in falling order of time; branches by root. */
static int
sort(struct pause_tree *t)
{
	uint32_t *rank = malloc((t->n_roots + 1) * sizeof(*rank));
	uint32_t *moved = malloc((t->n_branches + 1) * sizeof(*moved));
	struct pause_root *roots = malloc((t->n_roots + 1) * sizeof(*roots));
	struct pause_branch *branches = malloc((t->n_branches + 1) * sizeof(*branches));
	uint32_t n = 0;

	if (rank == NULL || moved == NULL || roots == NULL || branches == NULL) {
		free(rank);
		free(moved);
		free(roots);
		free(branches);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->n_roots; i++) {
		rank[i] = 0;
		for (uint32_t k = 0; k < t->n_roots; k++)
			rank[i] += t->roots[k].time_ns > t->roots[i].time_ns ||
				   (t->roots[k].time_ns == t->roots[i].time_ns && k < i);
		roots[rank[i]] = t->roots[i];
	}
	for (uint32_t r = 0; r < t->n_roots; r++)
		for (uint32_t i = 0; i < t->n_branches; i++) {
			struct pause_branch branch = t->branches[i];

			if (rank[branch.root] != r)
				continue;
			branch.root = r;
			if (branch.parent != PAUSES_NONE)
				branch.parent = moved[branch.parent];
			moved[i] = n;
			branches[n++] = branch;
		}
	free(rank);
	free(moved);
	free(t->roots);
	free(t->branches);
	t->roots = roots;
	t->branches = branches;
	return 0;
}

int
pauses_tree(const struct pauses *p, uint64_t now_ns, struct pause_tree *out)
{
	struct builder b = {.p = p, .now_ns = now_ns, .out = out};
	int rc;

	*out = (struct pause_tree){0};
	rc = gather(&b);
	for (uint32_t i = 0; rc == 0 && i < b.n; i++)
		rc = place(&b, &b.list[i]);
	if (rc == 0)
		rc = find_deadlock(&b);
	if (rc == 0)
		rc = sort(out);
	free(b.list);
	free(b.last);
	return rc;
}

void
pause_tree_free(struct pause_tree *t)
{
	free(t->roots);
	free(t->branches);
	free(t->deadlock);
}
