/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/topology/topology_routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_common.h>

#define NO_PEER UINT32_MAX
/* Searches that run together: bits of a mask. */
#define SEARCHES 64u

struct routes {
	const struct topology *t;
	uint32_t n_subnets;
	uint32_t *subnet_of; /* by switch */
	uint16_t words;      /* port_words() of the largest switch */
	uint64_t *ports;     /* by switch and subnet: this many words */
};

/*
 * Breadth-first searches from the switches of up to SEARCHES subnets, a step of all of them at
 * once: in a large fabric, one search after the other would read each cable once for each subnet.
 */
struct search {
	const struct topology *t;
	uint32_t *first;             /* by switch: of its ports in peer */
	uint32_t *peer;              /* switch at the other end of a port, or NO_PEER */
	uint64_t *seen, *now, *next; /* by switch: searches that have reached it so far, in the
				      * previous step, and in this one */
};

static uint64_t *
words_of(const struct routes *r, uint32_t sw, uint32_t subnet)
{
	return &r->ports[((size_t)sw * r->n_subnets + subnet) * r->words];
}

static void
search_free(struct search *s)
{
	free(s->first);
	free(s->peer);
	free(s->seen);
	free(s->now);
	free(s->next);
}

/* @return 0 or -ENOMEM; search_free() in both cases. */
static int
search_prepare(struct search *s, const struct topology *t, const uint8_t *down)
{
	uint32_t n = 0;

	*s = (struct search){.t = t, .first = malloc((t->n_switches + 1ull) * sizeof(*s->first))};
	for (uint32_t sw = 0; s->first != NULL && sw < t->n_switches; sw++) {
		s->first[sw] = n;
		n += t->switches[sw].n_ports;
	}
	s->peer = malloc((n + 1ull) * sizeof(*s->peer));
	s->seen = malloc((t->n_switches + 1ull) * sizeof(*s->seen));
	s->now = malloc((t->n_switches + 1ull) * sizeof(*s->now));
	s->next = malloc((t->n_switches + 1ull) * sizeof(*s->next));
	if (s->first == NULL || s->peer == NULL || s->seen == NULL || s->now == NULL ||
	    s->next == NULL)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		for (uint16_t p = 0; p < t->switches[sw].n_ports; p++) {
			uint32_t peer = topology_peer(t, sw, p).node;
			bool is_up = down == NULL || down[t->switches[sw].link[p]] == 0;

			s->peer[s->first[sw] + p] =
				topology_is_switch(t, peer) && is_up ? peer : NO_PEER;
		}
	return 0;
}

/* Which of the wanted searches reach a switch in this step: through ports to switches that were
 * reached in the previous one, so these ports are on shortest paths. */
static uint64_t
arrive(const struct search *s, struct routes *r, uint32_t sw, uint64_t wanted, uint32_t subnet)
{
	const uint32_t *peer = &s->peer[s->first[sw]];
	uint64_t found = 0;

	for (uint16_t p = 0; p < s->t->switches[sw].n_ports; p++) {
		uint64_t through = peer[p] == NO_PEER ? 0 : s->now[peer[p]] & wanted;

		found |= through;
		for (; through != 0; through &= through - 1)
			words_of(r, sw, subnet + (uint32_t)__builtin_ctzll(through))[p / 64] |=
				1ull << p % 64;
	}
	return found;
}

/* Find the ports to n subnets, from this one on. */
static void
search_from(struct search *s, struct routes *r, uint32_t subnet, uint32_t n)
{
	uint64_t all = n < SEARCHES ? (1ull << n) - 1 : UINT64_MAX, found = all;
	uint32_t n_switches = s->t->n_switches;

	for (uint32_t sw = 0; sw < n_switches; sw++) {
		uint32_t own = r->subnet_of[sw] - subnet; /* also beyond n, for no subnet */

		s->seen[sw] = s->now[sw] = own < n ? 1ull << own : 0;
	}
	while (found != 0) {
		uint64_t *before = s->now;

		found = 0;
		for (uint32_t sw = 0; sw < n_switches; sw++) {
			uint64_t wanted = all & ~s->seen[sw];

			s->next[sw] = wanted == 0 ? 0 : arrive(s, r, sw, wanted, subnet);
			found |= s->next[sw];
		}
		for (uint32_t sw = 0; sw < n_switches; sw++)
			s->seen[sw] |= s->next[sw];
		s->now = s->next;
		s->next = before;
	}
}

static int
fill(struct routes *r, const uint8_t *down)
{
	struct search s;
	int rc = search_prepare(&s, r->t, down);

	for (uint32_t subnet = 0; rc == 0 && subnet < r->n_subnets; subnet += SEARCHES)
		search_from(&s, r, subnet, RTE_MIN(SEARCHES, r->n_subnets - subnet));
	search_free(&s);
	return rc;
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

static bool
is_none(const uint64_t *ports, uint16_t words)
{
	uint64_t any = 0;

	for (uint16_t i = 0; i < words; i++)
		any |= ports[i];
	return any == 0;
}

/*
 * Do all subnets of a block have the same ports? The switch's own subnet, and numbers beyond the
 * last, are ignored. An unreachable subnet is never merged with others, because it would get their
 * route.
 * @param ports  Those of the first subnet that has some; NULL: none has.
 */
static bool
share_ports(const struct routes *r, uint32_t sw, uint32_t first, uint64_t end,
	    const uint64_t **ports)
{
	*ports = NULL;
	for (uint32_t subnet = first; subnet < end && subnet < r->n_subnets; subnet++) {
		const uint64_t *these = words_of(r, sw, subnet);
		bool none = is_none(these, r->words);

		if (none && subnet != r->subnet_of[sw] && end - first > 1)
			return false;
		if (none ||
		    (*ports != NULL && memcmp(these, *ports, r->words * sizeof(*these)) == 0))
			continue;
		if (*ports != NULL)
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
	const uint64_t *ports;
	int rc;

	if (!share_ports(r, sw, first, first + (1ull << bits), &ports)) {
		rc = merge_block(r, sw, first, bits - 1, m);
		return rc < 0 ? rc : merge_block(r, sw, first + (1u << (bits - 1)), bits - 1, m);
	}
	if (ports == NULL)
		return 0;
	if (m->n == m->capacity)
		return -ENOSPC;
	m->out[m->n] = (struct routes_block){.first = first, .bits = bits};
	memcpy(m->out[m->n++].ports.word, ports, r->words * sizeof(*ports));
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
