/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/nic_common.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4u

/* FNV-1a over version and address. */
static uint32_t
hash(const struct field_ip *ip)
{
	uint32_t h = (2166136261u ^ ip->version) * 16777619u;
	unsigned int n = ip->version == 4 ? 4 : sizeof(ip->addr);

	for (unsigned int i = 0; i < n; i++)
		h = (h ^ ip->addr[i]) * 16777619u;
	return h;
}

static bool
same_ip(const struct field_ip *a, const struct field_ip *b)
{
	return a->version == b->version &&
	       memcmp(a->addr, b->addr, a->version == 4 ? 4 : sizeof(a->addr)) == 0;
}

/* Where a peer is in the table, or belongs. Half of the places are free. */
static uint32_t *
place_of(const struct nic_units *u, const struct field_ip *peer_ip)
{
	for (uint32_t at = hash(peer_ip);; at++) {
		uint32_t *place = &u->table[at & (2 * u->room - 1)];

		if (*place == 0 || same_ip(&u->peers[*place - 1], peer_ip))
			return place;
	}
}

static int
grow(struct nic_units *u)
{
	uint32_t room = u->room == 0 ? FIRST_ROOM : 2 * u->room;
	uint64_t *gates_ns = realloc(u->gates_ns, room * sizeof(*gates_ns));
	struct field_ip *peers = realloc(u->peers, room * sizeof(*peers));
	uint32_t *table = calloc(2 * room, sizeof(*table));

	u->gates_ns = gates_ns != NULL ? gates_ns : u->gates_ns;
	u->peers = peers != NULL ? peers : u->peers;
	if (gates_ns == NULL || peers == NULL || table == NULL) {
		free(table);
		return -ENOMEM;
	}
	free(u->table);
	u->table = table;
	u->room = room;
	for (uint32_t i = 0; i < u->n; i++)
		*place_of(u, &peers[i]) = i + 1;
	return 0;
}

int64_t
nic_units_find(struct nic_units *units, const struct field_ip *peer_ip)
{
	uint32_t *place;

	if (units->n == units->room && grow(units) != 0)
		return -ENOMEM;
	place = place_of(units, peer_ip);
	if (*place == 0) {
		units->gates_ns[units->n] = 0;
		units->peers[units->n] = *peer_ip;
		*place = ++units->n;
	}
	return *place - 1;
}

void
nic_common_free(struct nic_common *common)
{
	free(common->units.gates_ns);
	free(common->units.peers);
	free(common->units.table);
}
