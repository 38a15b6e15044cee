/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/topology/topology_routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_common.h>

#define UNSEEN UINT16_MAX

struct routes {
	const struct topology *t;
	uint32_t n_subnets;
	uint32_t *subnet_of; /* by switch */
	uint16_t words;      /* port_words() of the largest switch */
	uint64_t *ports;     /* by switch and subnet: this many words */
};

/*
 * The switch at the other end of a port; TOPOLOGY_MAX_SWITCHES: the link is down, or leads to a
 * host.
 */
static uint32_t
peer_switch(const struct topology *t, const uint8_t *down, uint32_t sw, uint16_t port)
{
	uint32_t next = topology_peer(t, sw, port).node;

	if (!topology_is_switch(t, next) || (down != NULL && down[t->switches[sw].link[port]] != 0))
		return TOPOLOGY_MAX_SWITCHES;
	return next;
}

/* Breadth-first search: distance of each switch from one switch, in cables. */
static void
measure(const struct topology *t, const uint8_t *down, uint32_t from, uint16_t *hops,
	uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < t->n_switches; i++)
		hops[i] = UNSEEN;
	hops[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t sw = queue[head++];

		for (uint16_t p = 0; p < t->switches[sw].n_ports; p++) {
			uint32_t next = peer_switch(t, down, sw, p);

			if (next == TOPOLOGY_MAX_SWITCHES || hops[next] != UNSEEN)
				continue;
			hops[next] = (uint16_t)(hops[sw] + 1);
			queue[tail++] = next;
		}
	}
}

/* A port is on a shortest path if its peer is one cable nearer. */
static struct port_set
nearer_ports(const struct topology *t, const uint8_t *down, uint32_t sw, const uint16_t *hops)
{
	struct port_set ports = {0};

	for (uint16_t p = 0; p < t->switches[sw].n_ports; p++) {
		uint32_t next = peer_switch(t, down, sw, p);

		if (next != TOPOLOGY_MAX_SWITCHES && hops[sw] != UNSEEN &&
		    hops[next] + 1 == hops[sw])
			port_set_add(&ports, p);
	}
	return ports;
}

static int
fill(struct routes *r, const uint8_t *down)
{
	const struct topology *t = r->t;
	uint16_t *hops = malloc(t->n_switches * sizeof(*hops));
	uint32_t *queue = malloc(t->n_switches * sizeof(*queue));

	for (uint32_t to = 0; hops != NULL && queue != NULL && to < t->n_switches; to++) {
		uint32_t subnet = r->subnet_of[to];

		if (subnet == ROUTES_NO_SUBNET)
			continue;
		measure(t, down, to, hops, queue);
		for (uint32_t sw = 0; sw < t->n_switches; sw++) {
			struct port_set ports = nearer_ports(t, down, sw, hops);

			routes_set_ports(r, sw, subnet, &ports);
		}
	}
	free(hops);
	free(queue);
	return hops != NULL && queue != NULL ? 0 : -ENOMEM;
}

struct routes *
routes_create(const struct topology *t, const uint8_t *down)
{
	struct routes *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->t = t;
	r->subnet_of = malloc(t->n_switches * sizeof(*r->subnet_of));
	for (uint32_t sw = 0; r->subnet_of != NULL && sw < t->n_switches; sw++)
		r->subnet_of[sw] = t->switches[sw].n_hosts > 0 ? r->n_subnets++ : ROUTES_NO_SUBNET;
	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		r->words = RTE_MAX(r->words, port_words(t->switches[sw].n_ports));
	r->ports = calloc((size_t)t->n_switches * r->n_subnets * r->words + 1, sizeof(*r->ports));
	if (r->subnet_of == NULL || r->ports == NULL || fill(r, down) < 0) {
		routes_destroy(r);
		return NULL;
	}
	return r;
}

void
routes_destroy(struct routes *r)
{
	if (r == NULL)
		return;
	free(r->ports);
	free(r->subnet_of);
	free(r);
}

uint32_t
routes_subnet(const struct routes *r, uint32_t sw)
{
	return r->subnet_of[sw];
}

uint32_t
routes_n_subnets(const struct routes *r)
{
	return r->n_subnets;
}

static uint64_t *
words_of(const struct routes *r, uint32_t sw, uint32_t subnet)
{
	return &r->ports[((size_t)sw * r->n_subnets + subnet) * r->words];
}

struct port_set
routes_ports(const struct routes *r, uint32_t sw, uint32_t subnet)
{
	struct port_set ports = {0};

	memcpy(ports.word, words_of(r, sw, subnet), r->words * sizeof(ports.word[0]));
	return ports;
}

void
routes_set_ports(struct routes *r, uint32_t sw, uint32_t subnet, const struct port_set *ports)
{
	memcpy(words_of(r, sw, subnet), ports->word, r->words * sizeof(ports->word[0]));
}

/*
 * Do all subnets of a block have the same ports? The switch's own subnet, and numbers beyond the
 * last, are ignored. An unreachable subnet is never merged with others, because it would get their
 * route.
 */
static bool
share_ports(const struct routes *r, uint32_t sw, uint32_t first, uint64_t end,
	    struct port_set *ports)
{
	*ports = (struct port_set){0};
	for (uint32_t subnet = first; subnet < end && subnet < r->n_subnets; subnet++) {
		struct port_set these = routes_ports(r, sw, subnet);
		bool none = port_set_is_empty(&these);

		if (none && subnet != r->subnet_of[sw] && end - first > 1)
			return false;
		if (none || port_set_equal(&these, ports))
			continue;
		if (!port_set_is_empty(ports))
			return false;
		*ports = these;
	}
	return true;
}

struct merge {
	struct routes_block *out;
	uint32_t n, capacity;
};

static int
merge_block(const struct routes *r, uint32_t sw, uint32_t first, uint8_t bits, struct merge *m)
{
	struct port_set ports;
	int rc;

	if (!share_ports(r, sw, first, first + (1ull << bits), &ports)) {
		rc = merge_block(r, sw, first, bits - 1, m);
		return rc < 0 ? rc : merge_block(r, sw, first + (1u << (bits - 1)), bits - 1, m);
	}
	if (port_set_is_empty(&ports))
		return 0;
	if (m->n == m->capacity)
		return -ENOSPC;
	m->out[m->n++] = (struct routes_block){.first = first, .bits = bits, .ports = ports};
	return 0;
}

int32_t
routes_merged(const struct routes *r, uint32_t sw, struct routes_block *out, uint32_t n)
{
	struct merge m = {.out = out, .capacity = n};
	uint8_t bits = 0;
	int rc;

	while ((1ull << bits) < r->n_subnets)
		bits++;
	rc = merge_block(r, sw, 0, bits, &m);
	return rc < 0 ? rc : (int32_t)m.n;
}
