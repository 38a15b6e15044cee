/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/port/port_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4u

/* FNV-1a over version and address. */
static uint32_t
hash_ip(uint32_t h, const struct field_ip *ip)
{
	unsigned int n = ip->version == 4 ? 4 : sizeof(ip->addr);

	h = (h ^ ip->version) * 16777619u;
	for (unsigned int i = 0; i < n; i++)
		h = (h ^ ip->addr[i]) * 16777619u;
	return h;
}

static uint32_t
hash(const struct nic_ip_pair *pair)
{
	return hash_ip(hash_ip(2166136261u, &pair->local), &pair->peer);
}

static bool
same_ip(const struct field_ip *a, const struct field_ip *b)
{
	return a->version == b->version &&
	       memcmp(a->addr, b->addr, a->version == 4 ? 4 : sizeof(a->addr)) == 0;
}

static bool
same_pair(const struct nic_ip_pair *a, const struct nic_ip_pair *b)
{
	return same_ip(&a->local, &b->local) && same_ip(&a->peer, &b->peer);
}

/* The entry of a pair, or the free entry for it. At least half of the entries are free. */
static uint32_t *
place_of(const struct nic_units *u, const struct nic_ip_pair *pair)
{
	for (uint32_t at = hash(pair);; at++) {
		uint32_t *place = &u->table[at & (2 * u->capacity - 1)];

		if (*place == 0 || same_pair(&u->pairs[*place - 1], pair))
			return place;
	}
}

/* Rebuild the table from the units that have flows. */
static void
fill_table(struct nic_units *u)
{
	memset(u->table, 0, 2 * u->capacity * sizeof(*u->table));
	for (uint32_t i = 0; i < u->n; i++)
		if (u->users[i] > 0)
			*place_of(u, &u->pairs[i]) = i + 1;
}

static int
grow(struct nic_units *u, uint32_t capacity)
{
	uint64_t *gates_ns = realloc(u->gates_ns, capacity * sizeof(*gates_ns));
	struct nic_ip_pair *pairs = realloc(u->pairs, capacity * sizeof(*pairs));
	uint32_t *users = realloc(u->users, capacity * sizeof(*users));
	uint32_t *table = malloc(2 * capacity * sizeof(*table));

	u->gates_ns = gates_ns != NULL ? gates_ns : u->gates_ns;
	u->pairs = pairs != NULL ? pairs : u->pairs;
	u->users = users != NULL ? users : u->users;
	if (gates_ns == NULL || pairs == NULL || users == NULL || table == NULL) {
		free(table);
		return -ENOMEM;
	}
	free(u->table);
	u->table = table;
	u->capacity = capacity;
	fill_table(u);
	return 0;
}

int
nic_units_reserve(struct nic_units *units, uint32_t n)
{
	uint32_t capacity = FIRST_ROOM;

	while (capacity < n)
		capacity *= 2;
	return capacity > units->capacity ? grow(units, capacity) : 0;
}

/* A unit without flows. @return n: none. */
static uint32_t
find_unused(const struct nic_units *u)
{
	uint32_t i = 0;

	while (i < u->n && u->users[i] > 0)
		i++;
	return i;
}

int64_t
nic_units_find(struct nic_units *units, const struct nic_ip_pair *pair)
{
	uint32_t unit = units->n;
	uint32_t *place = units->capacity > 0 ? place_of(units, pair) : NULL;

	if (place != NULL && *place != 0) {
		units->users[*place - 1]++;
		return *place - 1;
	}
	if (units->n == units->capacity)
		unit = find_unused(units);
	if (unit == units->capacity && grow(units, unit == 0 ? FIRST_ROOM : 2 * unit) != 0)
		return -ENOMEM;
	units->pairs[unit] = *pair;
	units->users[unit] = 1;
	units->gates_ns[unit] = 0;
	if (unit < units->n) {
		fill_table(units);
	} else {
		units->n++;
		*place_of(units, pair) = unit + 1;
	}
	return unit;
}

void
nic_units_release(struct nic_units *units, uint32_t unit)
{
	units->users[unit]--;
}

void
nic_port_state_free(struct nic_port_state *port)
{
	free(port->units.gates_ns);
	free(port->units.pairs);
	free(port->units.users);
	free(port->units.table);
}
