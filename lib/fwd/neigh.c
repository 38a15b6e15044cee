/* SPDX-License-Identifier: BSD-3-Clause */
#include "fwd/neigh.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/fixed.h"
#include "base/units.h"

struct neigh_table {
	struct neigh_head head;
	struct neigh_params params;
	struct neigh *entries;
	uint32_t n, room;
	uint32_t unresolved;
	uint32_t gaps; /* the first place that was given back, or NEIGH_NONE */
	/* Open addressing: indices into entries, a power of two, at most half full. */
	uint32_t *slots;
	uint32_t mask;
	uint32_t asks_tail;
};

static inline uint64_t
mix(uint64_t h)
{
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
	return h ^ h >> 33;
}

/* Over what tells neighbours apart: a router asks for every packet. */
static inline uint32_t
hash(const struct neigh_key *key)
{
	uint64_t half[2];

	static_assert(sizeof(half) == sizeof(key->ip.addr), "an address is two words");
	memcpy(half, key->ip.addr, sizeof(half));
	return (uint32_t)mix(mix(half[0] ^ (uint64_t)key->vlan_id << 48 ^ key->ip.version) ^
			     half[1]);
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
	t->head.asks = t->gaps = NEIGH_NONE;
	t->head.next_ns = NEVER_NS;
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

/* room is a power of two. Only neigh_add() grows a table, before traffic. */
static int
grow(struct neigh_table *t, uint32_t room)
{
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
	for (uint32_t i = 0; i < t->n; i++) {
		if (entries[i].key.ip.version != 0)
			slots[slot_of(t, &entries[i].key)] = i;
	}
	return 0;
}

int
neigh_reserve(struct neigh_table *t, uint32_t n)
{
	uint32_t room = 16;

	while (room < n)
		room *= 2;
	return room > t->room ? grow(t, room) : 0;
}

int64_t
neigh_add(struct neigh_table *t, const struct neigh_key *key, uint64_t now_ns)
{
	uint32_t index = neigh_find(t, key);

	if (index != NEIGH_NONE) {
		t->entries[index].users++;
		return index;
	}
	if (neigh_has_gap(t)) {
		index = t->gaps;
		t->gaps = t->entries[index].ask_link;
	} else if (t->n == t->room && grow(t, t->room == 0 ? 16 : 2 * t->room) != 0) {
		return -ENOMEM;
	} else {
		index = t->n++;
	}
	t->slots[slot_of(t, key)] = index;
	t->entries[index] = (struct neigh){.key = *key, .users = 1, .next_ns = now_ns};
	__atomic_store_n(&t->unresolved, t->unresolved + 1, __ATOMIC_RELAXED);
	t->head.next_ns = min_u64(t->head.next_ns, now_ns);
	return index;
}

int64_t
neigh_add_fixed(struct neigh_table *t, const struct neigh_key *key, const uint8_t mac[6])
{
	int64_t index = neigh_add(t, key, NEVER_NS);
	struct neigh *e;

	if (index < 0)
		return index;
	e = &t->entries[index];
	if (!e->has_mac)
		__atomic_store_n(&t->unresolved, t->unresolved - 1, __ATOMIC_RELAXED);
	memcpy(e->mac, mac, 6);
	e->has_mac = e->fixed = true;
	e->state = NEIGH_REACHABLE;
	e->next_ns = NEVER_NS;
	return index;
}

void
neigh_unfix(struct neigh_table *t, uint32_t index, uint64_t now_ns)
{
	struct neigh *e = &t->entries[index];

	e->fixed = false;
	e->tries = 0;
	e->next_ns = now_ns;
	t->head.next_ns = min_u64(t->head.next_ns, now_ns);
}

void
neigh_pin(struct neigh_table *t, uint32_t index, bool pinned)
{
	t->entries[index].pinned = pinned;
}

bool
neigh_has_gap(const struct neigh_table *t)
{
	return t->gaps != NEIGH_NONE;
}

void
neigh_set_params(struct neigh_table *t, const struct neigh_params *params)
{
	t->params = *params;
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

	if (e->fixed)
		return false;
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
	t->head.next_ns = min_u64(t->head.next_ns, e->next_ns);
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
	if (t->head.asks == NEIGH_NONE)
		t->head.asks = index;
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

	if (now_ns < t->head.next_ns)
		return;
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->entries[i].next_ns <= now_ns)
			on_time(t, stats, i, now_ns);
		next_ns = min_u64(next_ns, t->entries[i].next_ns);
	}
	t->head.next_ns = next_ns;
}

bool
neigh_touch(struct neigh_table *t, struct neigh_stats *stats, uint32_t index, uint64_t now_ns)
{
	const struct neigh *e = &t->entries[index];

	if (now_ns >= e->next_ns)
		on_time(t, stats, index, now_ns);
	return e->has_mac && e->state != NEIGH_FAILED;
}

/* Take a neighbour out of the slots; those behind it move up, so that each is found from its own.
 */
static void
vacate(struct neigh_table *t, uint32_t index)
{
	uint32_t hole = slot_of(t, &t->entries[index].key);

	for (uint32_t s = (hole + 1) & t->mask; t->slots[s] != NEIGH_NONE; s = (s + 1) & t->mask) {
		uint32_t home = hash(&t->entries[t->slots[s]].key) & t->mask;

		if (((s - home) & t->mask) < ((s - hole) & t->mask))
			continue;
		t->slots[hole] = t->slots[s];
		hole = s;
	}
	t->slots[hole] = NEIGH_NONE;
}

void
neigh_replace(struct neigh_table *t, uint32_t index, const struct neigh_key *key, uint64_t now_ns)
{
	struct neigh *e = &t->entries[index];

	assert(!e->fixed && !e->pinned && !e->asked && neigh_find(t, key) == NEIGH_NONE);
	vacate(t, index);
	if (e->has_mac)
		__atomic_store_n(&t->unresolved, t->unresolved + 1, __ATOMIC_RELAXED);
	*e = (struct neigh){.key = *key, .next_ns = now_ns};
	t->slots[slot_of(t, key)] = index;
	t->head.next_ns = min_u64(t->head.next_ns, now_ns);
}

void
neigh_remove(struct neigh_table *t, uint32_t index)
{
	struct neigh *e = &t->entries[index];

	assert(!e->asked && e->key.ip.version != 0);
	vacate(t, index);
	if (!e->has_mac)
		__atomic_store_n(&t->unresolved, t->unresolved - 1, __ATOMIC_RELAXED);
	*e = (struct neigh){.next_ns = NEVER_NS, .ask_link = t->gaps};
	t->gaps = index;
}

/* Not to be asked any more, whose turn may be anywhere. */
static void
unask(struct neigh_table *t, uint32_t index)
{
	uint32_t *link = &t->head.asks, before = NEIGH_NONE;

	while (*link != index) {
		before = *link;
		link = &t->entries[before].ask_link;
	}
	*link = t->entries[index].ask_link;
	if (t->asks_tail == index)
		t->asks_tail = before;
	t->entries[index].asked = false;
}

void
neigh_release(struct neigh_table *t, uint32_t index)
{
	struct neigh *e = &t->entries[index];

	assert(!e->fixed && e->users > 0);
	if (--e->users > 0)
		return;
	if (e->asked)
		unask(t, index);
	neigh_remove(t, index);
}

void
neigh_forget_learned(struct neigh_table *t, uint64_t now_ns)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct neigh *e = &t->entries[i];

		if (e->fixed || e->key.ip.version == 0)
			continue;
		if (e->has_mac)
			__atomic_store_n(&t->unresolved, t->unresolved + 1, __ATOMIC_RELAXED);
		e->has_mac = false;
		e->state = NEIGH_INCOMPLETE;
		e->tries = 0;
		e->next_ns = now_ns;
		t->head.next_ns = min_u64(t->head.next_ns, now_ns);
	}
}

uint32_t
neigh_pop_ask(struct neigh_table *t)
{
	uint32_t index = t->head.asks;

	if (index != NEIGH_NONE) {
		t->head.asks = t->entries[index].ask_link;
		t->entries[index].asked = false;
	}
	return index;
}
