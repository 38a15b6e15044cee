/* SPDX-License-Identifier: BSD-3-Clause */
#include "fwd/neigh.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_branch_prediction.h>

#include "base/threads/counter.h"
#include "base/threads/pages.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

#define START_ROOM 16u
#define SLOTS_PER_NEIGHBOUR 4u
/* Limit of the neighbours that are examined to find one to replace. */
#define VICTIM_SEARCH 16u

/* Hash of the members that identify a neighbour. A router computes it for every packet. */
static inline uint32_t
hash_of(const struct neigh_table *t, const struct neigh_key *key)
{
	uint32_t words[5] = {(uint32_t)key->vlan_id << 8 | key->ip.version};

	static_assert(sizeof(key->ip.addr) == 16, "an address is four words");
	memcpy(&words[1], key->ip.addr, 16);
	return half_sip(&t->key, words, key->ip.version == 4 ? 2 : 5);
}

static bool
same_key(const struct neigh_key *a, const struct neigh_key *b)
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
	t->key = params->key;
	t->ask_head = t->free_head = NEIGH_NONE;
	t->next_ns = NEVER_NS;
	return t;
}

void
neigh_table_destroy(struct neigh_table *t)
{
	if (t == NULL)
		return;
	free(t->entries);
	free(t->hashes);
	free(t->slots);
	pages_free_sparse(t->known, t->n_interfaces * sizeof(*t->known));
	free(t->wanted);
	free(t);
}

/* The neighbour in a slot, or NEIGH_NONE. */
static inline uint32_t
in_slot(const struct neigh_table *t, uint32_t slot)
{
	return t->slots[slot] - 1;
}

/* index: a neighbour, or NEIGH_NONE. */
static inline void
set_slot(struct neigh_table *t, uint32_t slot, uint32_t index)
{
	static_assert(NEIGH_NONE + 1 == 0, "a slot without neighbour is 0");
	t->slots[slot] = index + 1;
}

/* The slot of a neighbour, or NEIGH_NONE if it is not in the table. */
static uint32_t
slot_of(const struct neigh_table *t, const struct neigh_key *key, uint32_t hash)
{
	for (uint32_t i = 0; i <= t->longest_probe; i++) {
		uint32_t s = (hash + i) & t->mask, index = in_slot(t, s);

		if (index == NEIGH_NONE)
			return NEIGH_NONE;
		if (same_key(&t->entries[index].key, key))
			return s;
	}
	return NEIGH_NONE;
}

uint32_t
neigh_find(const struct neigh_table *t, const struct neigh_key *key)
{
	uint32_t s = t->n == 0 ? NEIGH_NONE : slot_of(t, key, hash_of(t, key));

	return s == NEIGH_NONE ? NEIGH_NONE : in_slot(t, s);
}

/* Distance from the home slot of a hash to the first free slot. */
static uint32_t
distance_of(const struct neigh_table *t, uint32_t hash)
{
	uint32_t i = 0;

	while (in_slot(t, (hash + i) & t->mask) != NEIGH_NONE)
		i++;
	return i;
}

static void
enter_slot(struct neigh_table *t, uint32_t index)
{
	uint32_t hash = t->hashes[index], i = distance_of(t, hash);

	set_slot(t, (hash + i) & t->mask, index);
	if (i > t->longest_probe)
		t->longest_probe = i;
}

/*
 * capacity is a power of two. Slots are zeroed by calloc(), so that those of a large table take
 * memory only where they are used.
 */
static int
grow(struct neigh_table *t, uint32_t capacity)
{
	struct neigh *entries = realloc(t->entries, capacity * sizeof(*entries));
	uint32_t *hashes, *slots;

	if (entries == NULL)
		return -ENOMEM;
	t->entries = entries;
	hashes = realloc(t->hashes, capacity * sizeof(*hashes));
	if (hashes == NULL)
		return -ENOMEM;
	t->hashes = hashes;
	slots = calloc((size_t)SLOTS_PER_NEIGHBOUR * capacity, sizeof(*slots));
	if (slots == NULL)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->capacity = capacity;
	t->mask = SLOTS_PER_NEIGHBOUR * capacity - 1;
	t->longest_probe = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		if (entries[i].key.ip.version != 0)
			enter_slot(t, i);
	}
	return 0;
}

int
neigh_reserve(struct neigh_table *t, uint32_t n)
{
	uint32_t capacity = START_ROOM;

	while (capacity < n)
		capacity *= 2;
	return capacity > t->capacity ? grow(t, capacity) : 0;
}

int
neigh_limit(struct neigh_table *t, uint32_t entries, uint32_t interfaces, uint16_t ports)
{
	assert(t->n == 0 && t->known == NULL);
	t->n_interfaces = interfaces;
	t->known = pages_alloc_sparse(interfaces * sizeof(*t->known));
	t->wanted = calloc(ports + 1u, sizeof(*t->wanted));
	if (t->known == NULL || t->wanted == NULL)
		return -ENOMEM;
	t->limit = entries;
	t->n_ports = ports;
	return neigh_reserve(t, entries);
}

static uint32_t
count_free(const struct neigh_table *t)
{
	uint32_t used = t->n - t->n_freed;

	return used < t->limit ? t->limit - used : 0;
}

bool
neigh_is_full(const struct neigh_table *t)
{
	return count_free(t) == 0;
}

/* The list to which a neighbour in this state belongs, or NULL. */
static struct neigh_list *
list_of(const struct neigh_table *t, const struct neigh *e)
{
	if (t->known == NULL || e->fixed || e->pinned)
		return NULL;
	return e->has_mac ? &t->known[e->key.vlan_id] : &t->wanted[e->port];
}

static void
link_last(struct neigh_table *t, uint32_t index)
{
	struct neigh *e = &t->entries[index];
	struct neigh_list *list = list_of(t, e);

	if (list == NULL)
		return;
	e->prev = list->n == 0 ? NEIGH_NONE : list->last;
	e->next = NEIGH_NONE;
	if (list->n == 0)
		list->first = index;
	else
		t->entries[list->last].next = index;
	list->last = index;
	list->n++;
}

/* Call before a change of a member that list_of() depends on. */
static void
unlink_entry(struct neigh_table *t, uint32_t index)
{
	const struct neigh *e = &t->entries[index];
	struct neigh_list *list = list_of(t, e);

	if (list == NULL)
		return;
	if (e->prev == NEIGH_NONE)
		list->first = e->next;
	else
		t->entries[e->prev].next = e->next;
	if (e->next == NEIGH_NONE)
		list->last = e->prev;
	else
		t->entries[e->next].prev = e->prev;
	list->n--;
}

/* Insert a neighbour that is not in the table. @return its index, or -ENOMEM. */
static int64_t
insert(struct neigh_table *t, uint32_t hash, const struct neigh *e)
{
	uint32_t index;

	if (t->free_head != NEIGH_NONE) {
		index = t->free_head;
		t->free_head = t->entries[index].ask_link;
		t->n_freed--;
	} else if (t->n == t->capacity &&
		   grow(t, t->capacity == 0 ? START_ROOM : 2 * t->capacity) != 0) {
		return -ENOMEM;
	} else {
		index = t->n++;
	}
	t->entries[index] = *e;
	t->hashes[index] = hash;
	enter_slot(t, index);
	link_last(t, index);
	__atomic_store_n(&t->unresolved, t->unresolved + 1, __ATOMIC_RELAXED);
	t->next_ns = min_u64(t->next_ns, e->next_ns);
	return index;
}

int64_t
neigh_add(struct neigh_table *t, const struct neigh_key *key, uint64_t now_ns)
{
	uint32_t index = neigh_find(t, key);

	if (index != NEIGH_NONE) {
		t->entries[index].users++;
		return index;
	}
	return insert(
		t, hash_of(t, key),
		&(struct neigh){.key = *key, .port = t->n_ports, .users = 1, .next_ns = now_ns});
}

/* May this neighbour be replaced? */
static bool
is_idle(const struct neigh *e, uint64_t now_ns)
{
	if (e->asked)
		return false;
	return e->state == NEIGH_FAILED || now_ns >= (e->has_mac ? e->idle_ns : e->next_ns);
}

/* Remove an idle neighbour of a list. @return false: none of the oldest is idle. */
static bool
displace(struct neigh_table *t, const struct neigh_list *list, uint64_t now_ns)
{
	for (uint32_t i = 0; i < VICTIM_SEARCH && i < list->n; i++) {
		uint32_t index = list->first;

		if (is_idle(&t->entries[index], now_ns)) {
			neigh_remove(t, index);
			return true;
		}
		unlink_entry(t, index);
		link_last(t, index);
	}
	return false;
}

uint32_t
neigh_claim(struct neigh_table *t, struct neigh_claim_stats *stats, const struct neigh_key *key,
	    struct neigh_claim claim, uint64_t now_ns)
{
	const struct neigh_list *known = &t->known[key->vlan_id], *wanted = &t->wanted[claim.port];
	const struct neigh_list *full = NULL;
	uint32_t hash = hash_of(t, key), n_free;
	uint32_t slot = t->n == 0 ? NEIGH_NONE : slot_of(t, key, hash);

	if (likely(slot != NEIGH_NONE))
		return in_slot(t, slot);
	n_free = count_free(t);
	if (known->n >= n_free)
		full = known;
	else if (!claim.heard && wanted->n > n_free / 4)
		full = wanted;
	if (distance_of(t, hash) >= NEIGH_MAX_PROBES ||
	    (full != NULL && !displace(t, full, now_ns))) {
		counter_inc(full == wanted ? &stats->neigh_unresolved_full
					   : &stats->neigh_table_full);
		return NEIGH_NONE;
	}
	if (full != NULL)
		counter_inc(&stats->neigh_displaced);
	return (uint32_t)insert(t, hash,
				&(struct neigh){
					.key = *key,
					.port = claim.heard ? t->n_ports : claim.port,
					.users = 1,
					.next_ns = now_ns,
					.idle_ns = now_ns + (claim.heard ? 0 : NEIGH_IDLE_NS),
				});
}

int64_t
neigh_add_fixed(struct neigh_table *t, const struct neigh_key *key, const uint8_t mac[6])
{
	int64_t index = neigh_add(t, key, NEVER_NS);
	struct neigh *e;

	if (index < 0)
		return index;
	e = &t->entries[index];
	unlink_entry(t, (uint32_t)index);
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
	link_last(t, index);
	t->next_ns = min_u64(t->next_ns, now_ns);
}

void
neigh_pin(struct neigh_table *t, uint32_t index, bool pinned)
{
	unlink_entry(t, index);
	t->entries[index].pinned = pinned;
	link_last(t, index);
}

void
neigh_set_params(struct neigh_table *t, const struct neigh_params *params)
{
	t->params = *params;
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

/* @return true if the address has changed. */
static bool
take_mac(struct neigh_table *t, struct neigh_stats *stats, uint32_t index, const uint8_t mac[6])
{
	struct neigh *e = &t->entries[index];
	bool changed = !e->has_mac || memcmp(e->mac, mac, 6) != 0;

	if (!e->has_mac) {
		counter_inc(&stats->neigh_learnt);
		__atomic_store_n(&t->unresolved, t->unresolved - 1, __ATOMIC_RELAXED);
		unlink_entry(t, index);
		e->has_mac = true;
		link_last(t, index);
	} else if (changed) {
		counter_inc(&stats->neigh_changed);
	}
	memcpy(e->mac, mac, 6);
	e->tries = 0;
	return changed;
}

bool
neigh_on_learnt(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		const uint8_t mac[6], uint64_t now_ns)
{
	struct neigh *e = &t->entries[index];
	bool changed;

	if (e->fixed)
		return false;
	changed = take_mac(t, stats, index, mac);
	e->state = NEIGH_REACHABLE;
	e->contested = false;
	/*
	 * The table's next_ns may now be earlier than every neighbour's; neigh_run() corrects it.
	 */
	e->next_ns =
		t->params.reachable_ns == NEVER_NS ? NEVER_NS : now_ns + t->params.reachable_ns;
	t->next_ns = min_u64(t->next_ns, e->next_ns);
	return changed;
}

bool
neigh_on_claimed(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		 const uint8_t mac[6], uint64_t now_ns)
{
	struct neigh *e = &t->entries[index];
	uint64_t answered_ns = now_ns;

	if (e->fixed || !e->has_mac || memcmp(e->mac, mac, 6) == 0 ||
	    (e->state != NEIGH_REACHABLE && e->state != NEIGH_PROBE))
		return neigh_on_learnt(t, stats, index, mac, now_ns);
	counter_inc(&stats->neigh_contested);
	if (e->state == NEIGH_PROBE || e->contested)
		return false;
	e->contested = true;
	if (e->next_ns != NEVER_NS && t->params.reachable_ns != NEVER_NS)
		answered_ns = sub_sat(e->next_ns, t->params.reachable_ns);
	e->next_ns = min_u64(e->next_ns, max_u64(now_ns, answered_ns + t->params.retrans_ns));
	t->next_ns = min_u64(t->next_ns, e->next_ns);
	return false;
}

bool
neigh_on_heard(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
	       const uint8_t mac[6], uint64_t now_ns)
{
	struct neigh *e = &t->entries[index];
	bool changed;

	/* A repeated announcement changes nothing, unless the neighbour was given up. */
	if (e->fixed || (e->has_mac && e->state != NEIGH_FAILED && memcmp(e->mac, mac, 6) == 0))
		return false;
	changed = take_mac(t, stats, index, mac);
	e->state = NEIGH_STALE;
	e->next_ns = now_ns;
	t->next_ns = min_u64(t->next_ns, now_ns);
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
	if (t->ask_head == NEIGH_NONE)
		t->ask_head = index;
	else
		t->entries[t->ask_tail].ask_link = index;
	t->ask_tail = index;
}

/* State after the timer of this state has expired. */
static uint8_t
next_state(const struct neigh *e)
{
	if (e->state == NEIGH_REACHABLE || e->state == NEIGH_STALE)
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
neigh_touch(struct neigh_table *t, struct neigh_stats *stats, uint32_t index, uint64_t now_ns)
{
	struct neigh *e = &t->entries[index];

	if (now_ns >= e->next_ns)
		on_time(t, stats, index, now_ns);
	if (e->idle_ns < now_ns + NEIGH_IDLE_NS - NEIGH_IDLE_STEP_NS)
		e->idle_ns = now_ns + NEIGH_IDLE_NS;
	return e->has_mac && e->state != NEIGH_FAILED;
}

/*
 * Free a neighbour's slot, and move later neighbours up so that each can still be found from its
 * home.
 */
static void
vacate(struct neigh_table *t, uint32_t index)
{
	uint32_t hole = slot_of(t, &t->entries[index].key, t->hashes[index]);

	for (uint32_t s = (hole + 1) & t->mask; in_slot(t, s) != NEIGH_NONE;
	     s = (s + 1) & t->mask) {
		uint32_t home = t->hashes[in_slot(t, s)];

		if (((s - home) & t->mask) < ((s - hole) & t->mask))
			continue;
		set_slot(t, hole, in_slot(t, s));
		hole = s;
	}
	set_slot(t, hole, NEIGH_NONE);
}

/* Remove a neighbour from any position in the queue of requests. */
static void
dequeue_ask(struct neigh_table *t, uint32_t index)
{
	uint32_t *link = &t->ask_head, prev = NEIGH_NONE;

	while (*link != index) {
		prev = *link;
		link = &t->entries[prev].ask_link;
	}
	*link = t->entries[index].ask_link;
	if (t->ask_tail == index)
		t->ask_tail = prev;
	t->entries[index].asked = false;
}

void
neigh_remove(struct neigh_table *t, uint32_t index)
{
	struct neigh *e = &t->entries[index];

	assert(e->key.ip.version != 0);
	if (e->asked)
		dequeue_ask(t, index);
	vacate(t, index);
	unlink_entry(t, index);
	if (!e->has_mac)
		__atomic_store_n(&t->unresolved, t->unresolved - 1, __ATOMIC_RELAXED);
	*e = (struct neigh){.next_ns = NEVER_NS, .ask_link = t->free_head};
	t->free_head = index;
	t->n_freed++;
}

void
neigh_release(struct neigh_table *t, uint32_t index)
{
	struct neigh *e = &t->entries[index];

	assert(!e->fixed && e->users > 0);
	if (--e->users == 0)
		neigh_remove(t, index);
}

void
neigh_forget_learned(struct neigh_table *t, uint64_t now_ns)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct neigh *e = &t->entries[i];

		if (e->fixed || e->key.ip.version == 0)
			continue;
		unlink_entry(t, i);
		if (e->has_mac)
			__atomic_store_n(&t->unresolved, t->unresolved + 1, __ATOMIC_RELAXED);
		e->has_mac = false;
		link_last(t, i);
		e->state = NEIGH_INCOMPLETE;
		e->tries = 0;
		e->next_ns = now_ns;
		t->next_ns = min_u64(t->next_ns, now_ns);
	}
}

uint32_t
neigh_pop_ask(struct neigh_table *t)
{
	uint32_t index = t->ask_head;

	if (index != NEIGH_NONE) {
		t->ask_head = t->entries[index].ask_link;
		t->entries[index].asked = false;
	}
	return index;
}

const char *
neigh_state_text(const struct neigh *n)
{
	static const char *const states[] = {"incomplete", "reachable", "probe", "failed", "stale"};

	return n->fixed ? "permanent" : states[n->state];
}
