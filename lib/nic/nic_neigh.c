/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/nic_neigh.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/fixed.h"
#include "base/units.h"

struct neigh_table {
	struct neigh_params params;
	struct neigh *entries;
	uint32_t n, room;
	uint32_t unresolved;
	/* Open addressing: indices into entries, a power of two, at most half full. */
	uint32_t *slots;
	uint32_t mask;
	uint32_t asks_head, asks_tail;
	uint64_t next_ns; /* not later than any entry's */
};

/* FNV-1a over what tells neighbours apart. */
static uint32_t
hash(const struct neigh_key *key)
{
	uint32_t h = 2166136261u;

	for (unsigned int i = 0; i < sizeof(key->ip.addr); i++)
		h = (h ^ key->ip.addr[i]) * 16777619u;
	h = (h ^ key->ip.version) * 16777619u;
	return (h ^ key->vlan_id) * 16777619u;
}

static bool
same(const struct neigh_key *a, const struct neigh_key *b)
{
	return a->ip.version == b->ip.version && a->vlan_id == b->vlan_id &&
	       memcmp(a->ip.addr, b->ip.addr, a->ip.version == 4 ? 4 : 16) == 0;
}

struct neigh_table *
neigh_table_create(const struct neigh_params *params)
{
	struct neigh_table *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->params = *params;
	t->asks_head = NEIGH_NONE;
	t->next_ns = NEVER_NS;
	return t;
}

void
neigh_table_destroy(struct neigh_table *t)
{
	if (t == NULL)
		return;
	free(t->entries);
	free(t->slots);
	free(t);
}

static uint32_t
slot_of(const struct neigh_table *t, const struct neigh_key *key)
{
	uint32_t s = hash(key) & t->mask;

	while (t->slots[s] != NEIGH_NONE && !same(&t->entries[t->slots[s]].key, key))
		s = (s + 1) & t->mask;
	return s;
}

uint32_t
neigh_find(const struct neigh_table *t, const struct neigh_key *key)
{
	return t->n == 0 ? NEIGH_NONE : t->slots[slot_of(t, key)];
}

/* Room for twice as many. Only neigh_add() grows a table, before traffic. */
static int
grow(struct neigh_table *t)
{
	uint32_t room = t->room == 0 ? 16 : 2 * t->room;
	struct neigh *entries = realloc(t->entries, room * sizeof(*entries));
	uint32_t *slots;

	if (entries == NULL)
		return -ENOMEM;
	t->entries = entries;
	slots = realloc(t->slots, 2ull * room * sizeof(*slots));
	if (slots == NULL)
		return -ENOMEM;
	t->slots = slots;
	t->room = room;
	t->mask = 2 * room - 1;
	memset(slots, 0xFF, 2ull * room * sizeof(*slots));
	for (uint32_t i = 0; i < t->n; i++)
		slots[slot_of(t, &entries[i].key)] = i;
	return 0;
}

int64_t
neigh_add(struct neigh_table *t, const struct neigh_key *key, uint64_t now_ns)
{
	uint32_t index = neigh_find(t, key);

	if (index != NEIGH_NONE)
		return index;
	if (t->n == t->room && grow(t) != 0)
		return -ENOMEM;
	index = t->n++;
	t->slots[slot_of(t, key)] = index;
	t->entries[index] = (struct neigh){.key = *key, .next_ns = now_ns};
	t->unresolved++;
	t->next_ns = min_u64(t->next_ns, now_ns);
	return index;
}

const struct neigh *
neigh_get(const struct neigh_table *t, uint32_t index)
{
	assert(index < t->n);
	return &t->entries[index];
}

uint32_t
neigh_count(const struct neigh_table *t)
{
	return t->n;
}

uint32_t
neigh_unresolved(const struct neigh_table *t)
{
	return __atomic_load_n(&t->unresolved, __ATOMIC_RELAXED);
}

bool
neigh_on_learnt(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		const uint8_t mac[6], uint64_t now_ns)
{
	struct neigh *e = &t->entries[index];
	bool changed = !e->has_mac || memcmp(e->mac, mac, 6) != 0;

	if (!e->has_mac) {
		counter_inc(&stats->neigh_learnt);
		__atomic_store_n(&t->unresolved, t->unresolved - 1, __ATOMIC_RELAXED);
	} else if (changed) {
		counter_inc(&stats->neigh_changed);
	}
	memcpy(e->mac, mac, 6);
	e->has_mac = true;
	e->state = NEIGH_REACHABLE;
	e->tries = 0;
	/* Later than the table's next_ns: that one is put right when it comes. */
	e->next_ns =
		t->params.reachable_ns == NEVER_NS ? NEVER_NS : now_ns + t->params.reachable_ns;
	t->next_ns = min_u64(t->next_ns, e->next_ns);
	return changed;
}

static void
ask(struct neigh_table *t, uint32_t index)
{
	struct neigh *e = &t->entries[index];

	if (e->asked)
		return;
	e->asked = true;
	e->ask_link = NEIGH_NONE;
	if (t->asks_head == NEIGH_NONE)
		t->asks_head = index;
	else
		t->entries[t->asks_tail].ask_link = index;
	t->asks_tail = index;
}

/* The state that follows when time has run out in this one. */
static uint8_t
next_state(const struct neigh *e)
{
	if (e->state == NEIGH_REACHABLE)
		return NEIGH_PROBE;
	if (e->tries < NEIGH_TRIES || e->state == NEIGH_FAILED)
		return e->state;
	return e->state == NEIGH_PROBE ? NEIGH_INCOMPLETE : NEIGH_FAILED;
}

static void
on_time(struct neigh_table *t, struct neigh_stats *stats, uint32_t index, uint64_t now_ns)
{
	struct neigh *e = &t->entries[index];
	uint8_t state = next_state(e);

	if (state != e->state) {
		e->state = state;
		e->tries = 0;
		if (state == NEIGH_FAILED)
			counter_inc(&stats->neigh_failed);
	}
	if (e->tries < UINT8_MAX)
		e->tries++;
	e->next_ns =
		now_ns + t->params.retrans_ns * (state == NEIGH_FAILED ? NEIGH_FAILED_FACTOR : 1);
	ask(t, index);
}

void
neigh_run(struct neigh_table *t, struct neigh_stats *stats, uint64_t now_ns)
{
	uint64_t next_ns = NEVER_NS;

	if (now_ns < t->next_ns)
		return;
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->entries[i].next_ns <= now_ns)
			on_time(t, stats, i, now_ns);
		next_ns = min_u64(next_ns, t->entries[i].next_ns);
	}
	t->next_ns = next_ns;
}

bool
neigh_has_ask(const struct neigh_table *t)
{
	return t->asks_head != NEIGH_NONE;
}

uint32_t
neigh_pop_ask(struct neigh_table *t)
{
	uint32_t index = t->asks_head;

	if (index != NEIGH_NONE) {
		t->asks_head = t->entries[index].ask_link;
		t->entries[index].asked = false;
	}
	return index;
}

uint64_t
neigh_next_ns(const struct neigh_table *t)
{
	return t->next_ns;
}
