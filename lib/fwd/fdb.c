/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>
#include <rte_spinlock.h>

#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "fwd/fdb.h"

AES_HASH_TARGET static uint32_t
home_by_aes(const struct fdb *fdb, uint64_t key)
{
	return aes_hash(&fdb->aes_key, key) & fdb->mask;
}

uint32_t
fdb_home(const struct fdb *fdb, uint64_t key)
{
	return fdb->aes ? home_by_aes(fdb, key) : half_sip_u64(&fdb->hash_key, key) & fdb->mask;
}

AES_HASH_TARGET static void
homes_by_aes(const struct fdb *fdb, const uint64_t keys[], uint32_t homes[], unsigned int n)
{
	/* Copied, because the compiler cannot know that the stores do not change it. */
	const struct aes_hash_key key = fdb->aes_key;
	const struct fdb_bucket *buckets = fdb->buckets;
	uint32_t mask = fdb->mask;

	for (unsigned int i = 0; i < n; i++) {
		homes[i] = aes_hash(&key, keys[i]) & mask;
		rte_prefetch0(&buckets[homes[i]]);
	}
}

void
fdb_homes(const struct fdb *fdb, const uint64_t keys[], uint32_t homes[], unsigned int n)
{
	if (likely(fdb->aes)) {
		homes_by_aes(fdb, keys, homes, n);
		return;
	}
	for (unsigned int i = 0; i < n; i += HALF_SIP_LANES) {
		half_sip_u64_x4(&fdb->hash_key, &keys[i], &homes[i]);
		for (unsigned int k = i; k < i + HALF_SIP_LANES; k++) {
			homes[k] &= fdb->mask;
			rte_prefetch0(&fdb->buckets[homes[k]]);
		}
	}
}

uint64_t *
fdb_find_beyond(struct fdb *fdb, uint64_t key, uint32_t home)
{
	uint32_t at = home;

	for (uint32_t i = 1; i < fdb->probes; i++) {
		uint64_t *state;

		if (fdb_passed(fdb, at) == 0)
			return NULL;
		at = (at + 1) & fdb->mask;
		state = fdb_find_in(&fdb->buckets[at], key);
		if (state != NULL)
			return state;
	}
	return NULL;
}

uint64_t *
fdb_recall_search(struct fdb *fdb, uint32_t at[FDB_MEMO_WAYS], uint64_t key)
{
	uint64_t *state = fdb_find(fdb, key, fdb_home(fdb, key));

	if (state != NULL) {
		at[1] = at[0];
		at[0] = (uint32_t)(state - fdb->buckets->key);
	}
	return state;
}

/*
 * Writing to a shared table. There is one writer at a time, and a second one gives up instead of
 * waiting. Readers run concurrently. A writer stores a key after its state, and clears the key
 * before the slot gets another state. So a state that was read belongs to the key if the slot still
 * has the key afterwards.
 */
static inline bool
begin_write(struct fdb *fdb, bool *locks)
{
	*locks = fdb_is_shared(fdb);
	return !*locks || rte_spinlock_trylock(&fdb->writer);
}

/* Unlock what begin_write() locked, even if the table has changed its shared flag since. */
static inline void
end_write(struct fdb *fdb, bool locks)
{
	if (locks)
		rte_spinlock_unlock(&fdb->writer);
}

static void
set_state(uint64_t *state, uint64_t value)
{
	__atomic_store_n(state, value, __ATOMIC_RELAXED);
}

static void
count_learned(struct fdb *fdb, uint16_t port, int32_t change)
{
	uint32_t *learned = &fdb->ports[port].learned;

	__atomic_store_n(learned, *learned + (uint32_t)change, __ATOMIC_RELAXED);
}

static void
count_used(struct fdb *fdb, int32_t change)
{
	__atomic_store_n(&fdb->used, fdb->used + (uint32_t)change, __ATOMIC_RELAXED);
}

/*
 * An address enters or leaves a slot that is `steps` buckets after its home: update the counts of
 * its home and of the buckets between.
 */
static void
count_passed(struct fdb *fdb, uint32_t home, uint32_t steps, int change)
{
	for (uint32_t i = 0; i < steps; i++) {
		uint8_t *passed = &fdb->passed[(home + i) & fdb->mask];

		__atomic_store_n(passed, (uint8_t)(*passed + change), __ATOMIC_RELAXED);
	}
}

/* @return false: the table is full, or the buckets of this key are. */
static bool
enter(struct fdb *fdb, uint64_t key, uint64_t state)
{
	uint32_t home = fdb_home(fdb, key);

	if (fdb->used >= fdb->entries)
		return false;
	for (uint32_t i = 0; i < fdb->probes; i++) {
		struct fdb_bucket *b = &fdb->buckets[(home + i) & fdb->mask];

		for (unsigned int slot = 0; slot < FDB_SLOTS; slot++) {
			if (b->key[slot] != FDB_FREE_KEY)
				continue;
			set_state(&b->state[slot], state);
			count_passed(fdb, home, i, 1);
			count_used(fdb, 1);
			__atomic_store_n(&b->key[slot], key, __ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

static bool
port_at_limit(const struct fdb *fdb, uint16_t port)
{
	return fdb->ports[port].learned >=
	       __atomic_load_n(&fdb->ports[port].limit, __ATOMIC_RELAXED);
}

static void
forget(struct fdb *fdb, uint32_t at, unsigned int slot, uint64_t *counter)
{
	struct fdb_bucket *b = &fdb->buckets[at];
	uint32_t home = fdb_home(fdb, b->key[slot]);

	__atomic_store_n(&b->key[slot], FDB_FREE_KEY, __ATOMIC_RELAXED);
	/* The key is cleared before the slot gets another state. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	count_passed(fdb, home, (at - home) & fdb->mask, -1);
	count_learned(fdb, fdb_port_of(b->state[slot]), -1);
	count_used(fdb, -1);
	counter_inc(counter);
}

/*
 * How suitable an address is for eviction when a new address is learned on port; 0: it must stay.
 * First an aged address; then one of a port that has at least two more than the new address's port
 * (with one more, the two ports would evict each other's entries forever); last, an address of the
 * same port that has been silent for quiet_ns.
 */
static uint64_t
victim_rank(const struct fdb *fdb, uint64_t state, uint16_t port, uint64_t now_ns)
{
	uint16_t holder = fdb_port_of(state);
	uint64_t age_ns = fdb_age_ns(state, now_ns);

	if (state & FDB_STATIC_BIT)
		return 0;
	if (fdb_aged(fdb, state, now_ns))
		return UINT64_MAX;
	if (fdb->ports[holder].learned > fdb->ports[port].learned + 1)
		return fdb->ports[holder].learned;
	return holder == port && age_ns >= fdb->quiet_ns && age_ns >> (FDB_SEEN_BITS - 1) == 0;
}

/*
 * Evict the best victim among the slots where a new address of port could be stored.
 * @return false: there is none.
 */
static bool
displace(struct fdb *fdb, uint32_t home, uint16_t port, uint64_t now_ns)
{
	uint64_t best_rank = 0, best_age_ns = 0;
	uint32_t best_at = 0;
	unsigned int best_slot = 0;

	for (uint32_t i = 0; i < fdb->probes; i++) {
		uint32_t at = (home + i) & fdb->mask;
		const struct fdb_bucket *b = &fdb->buckets[at];

		for (unsigned int slot = 0; slot < FDB_SLOTS; slot++) {
			uint64_t rank, age_ns = fdb_age_ns(b->state[slot], now_ns);

			if (b->key[slot] == FDB_FREE_KEY)
				continue;
			rank = victim_rank(fdb, b->state[slot], port, now_ns);
			if (rank < best_rank || rank == 0 ||
			    (rank == best_rank && age_ns <= best_age_ns))
				continue;
			best_rank = rank;
			best_age_ns = age_ns;
			best_at = at;
			best_slot = slot;
		}
	}
	if (best_rank == 0)
		return false;
	forget(fdb, best_at, best_slot,
	       best_rank == UINT64_MAX ? &fdb->stats.aged : &fdb->stats.displaced);
	return true;
}

static bool
learn_new(struct fdb *fdb, uint64_t key, uint16_t port, uint64_t now_ns)
{
	uint64_t state = fdb_state_of(port, now_ns);

	if (port_at_limit(fdb, port)) {
		counter_inc(&fdb->stats.learn_limited);
		return false;
	}
	if (!enter(fdb, key, state) &&
	    !(displace(fdb, fdb_home(fdb, key), port, now_ns) && enter(fdb, key, state))) {
		counter_inc(&fdb->stats.learn_failures);
		return false;
	}
	count_learned(fdb, port, 1);
	counter_inc(&fdb->stats.learned);
	return true;
}

/* Account for the move of a known address to another port. @return false: it may not move. */
static bool
move(struct fdb *fdb, uint64_t state, uint16_t port)
{
	if (state & FDB_STATIC_BIT) {
		counter_inc(&fdb->stats.static_kept);
		return false;
	}
	if (port_at_limit(fdb, port)) {
		counter_inc(&fdb->stats.learn_limited);
		return false;
	}
	count_learned(fdb, fdb_port_of(state), -1);
	count_learned(fdb, port, 1);
	return true;
}

static bool
refresh(struct fdb *fdb, uint64_t *state, uint16_t port, uint64_t now_ns)
{
	bool was_aged = fdb_aged(fdb, *state, now_ns), moves = fdb_port_of(*state) != port;

	if (moves && !move(fdb, *state, port))
		return false;
	if (was_aged)
		counter_inc(&fdb->stats.learned);
	else if (moves)
		counter_inc(&fdb->stats.moved);
	set_state(state, (*state & FDB_STATIC_BIT) | fdb_state_of(port, now_ns));
	return true;
}

bool
fdb_learn_write(struct fdb *fdb, uint64_t key, uint32_t home, uint16_t port, uint64_t now_ns)
{
	uint64_t *state;
	bool known, locks;

	if (!begin_write(fdb, &locks)) {
		__atomic_fetch_add(&fdb->stats.learn_busy, 1, __ATOMIC_RELAXED);
		return false;
	}
	state = fdb_find(fdb, key, home);
	known = state == NULL ? learn_new(fdb, key, port, now_ns)
			      : refresh(fdb, state, port, now_ns);
	end_write(fdb, locks);
	return known;
}

bool
fdb_learn(struct fdb *fdb, uint64_t key, uint16_t port, uint64_t now_ns)
{
	if (fdb_key_is_group(key))
		return false;
	return fdb_learn_at(fdb, key, fdb_home(fdb, key), port, now_ns);
}

int
fdb_add_static(struct fdb *fdb, uint64_t key, uint16_t port)
{
	uint64_t *state;

	assert(port < FDB_MAX_PORTS);
	if (fdb_key_is_group(key))
		return -EINVAL;
	state = fdb_find(fdb, key, fdb_home(fdb, key));
	if (state == NULL)
		return enter(fdb, key, FDB_STATIC_BIT | fdb_state_of(port, 0)) ? 0 : -ENOSPC;
	if (!(*state & FDB_STATIC_BIT))
		count_learned(fdb, fdb_port_of(*state), -1);
	set_state(state, FDB_STATIC_BIT | fdb_state_of(port, 0));
	return 0;
}

void
fdb_set_limit(struct fdb *fdb, uint16_t port, uint32_t addresses)
{
	assert(port < FDB_MAX_PORTS);
	__atomic_store_n(&fdb->ports[port].limit, addresses == 0 ? UINT32_MAX : addresses,
			 __ATOMIC_RELAXED);
}

uint32_t
fdb_port_entries(const struct fdb *fdb, uint16_t port)
{
	return __atomic_load_n(&fdb->ports[port].learned, __ATOMIC_RELAXED);
}

uint16_t
fdb_lookup(struct fdb *fdb, uint64_t key, uint64_t now_ns)
{
	return fdb_lookup_at(fdb, key, fdb_home(fdb, key), now_ns);
}

static void
sweep_bucket(struct fdb *fdb, uint32_t at, uint64_t now_ns)
{
	const struct fdb_bucket *b = &fdb->buckets[at];

	for (unsigned int slot = 0; slot < FDB_SLOTS; slot++) {
		if (b->key[slot] != FDB_FREE_KEY && fdb_aged(fdb, b->state[slot], now_ns))
			forget(fdb, at, slot, &fdb->stats.aged);
	}
}

uint64_t
fdb_sweep(struct fdb *fdb, uint64_t now_ns)
{
	bool locks;

	if (fdb->sweep_interval_ns == NEVER_NS)
		return NEVER_NS;
	if (!begin_write(fdb, &locks))
		return now_ns;
	for (uint32_t i = 0; i < FDB_STEP_BUCKETS && i <= fdb->mask; i++) {
		sweep_bucket(fdb, fdb->next_bucket, now_ns);
		fdb->next_bucket = (fdb->next_bucket + 1) & fdb->mask;
	}
	end_write(fdb, locks);
	return add_sat(now_ns, fdb->sweep_interval_ns);
}

void
fdb_forget_learned(struct fdb *fdb)
{
	for (uint32_t at = 0; at <= fdb->mask; at++) {
		const struct fdb_bucket *b = &fdb->buckets[at];

		for (unsigned int slot = 0; slot < FDB_SLOTS; slot++)
			if (b->key[slot] != FDB_FREE_KEY && !(b->state[slot] & FDB_STATIC_BIT))
				forget(fdb, at, slot, &fdb->stats.aged);
	}
}

/*
 * Add an address of another table with its time. If the address is known, keep the later of the two
 * times.
 */
static void
merge(struct fdb *fdb, uint64_t key, uint64_t state)
{
	uint64_t *known = fdb_find(fdb, key, fdb_home(fdb, key));
	uint16_t port = fdb_port_of(state);

	if (known == NULL) {
		if (!port_at_limit(fdb, port) && enter(fdb, key, state))
			count_learned(fdb, port, 1);
		return;
	}
	/*
	 * With a state in place of now_ns, fdb_age_ns() gives the time of state less that of
	 * *known, modulo 2^FDB_SEEN_BITS: at least half of that range means that state is the
	 * earlier one.
	 */
	if (*known & FDB_STATIC_BIT || fdb_age_ns(*known, state) >> (FDB_SEEN_BITS - 1) != 0)
		return;
	if (fdb_port_of(*known) != port) {
		if (port_at_limit(fdb, port))
			return;
		count_learned(fdb, fdb_port_of(*known), -1);
		count_learned(fdb, port, 1);
	}
	set_state(known, state);
}

bool
fdb_take_over(struct fdb *to, const struct fdb *from, const uint64_t members[], uint16_t words,
	      uint32_t *at)
{
	bool locks = fdb_is_shared(to);

	/* Unlike learning, this may wait for another writer. */
	if (locks)
		rte_spinlock_lock(&to->writer);
	for (uint32_t end = *at + FDB_STEP_BUCKETS; *at < end && *at <= from->mask; ++*at) {
		const struct fdb_bucket *b = &from->buckets[*at];

		for (unsigned int slot = 0; slot < FDB_SLOTS; slot++) {
			uint64_t key = __atomic_load_n(&b->key[slot], __ATOMIC_ACQUIRE);
			uint64_t state = __atomic_load_n(&b->state[slot], __ATOMIC_ACQUIRE);

			/* A slot whose key changes meanwhile is skipped. */
			if (key != FDB_FREE_KEY && !(state & FDB_STATIC_BIT) &&
			    __atomic_load_n(&b->key[slot], __ATOMIC_RELAXED) == key &&
			    members[fdb_key_domain(key) * words + fdb_port_of(state) / 64] >>
					    (fdb_port_of(state) % 64) &
				    1)
				merge(to, key, state);
		}
	}
	end_write(to, locks);
	return *at <= from->mask;
}

void
fdb_set_shared(struct fdb *fdb, bool shared)
{
	__atomic_store_n(&fdb->shared, shared, __ATOMIC_RELEASE);
}

uint64_t
fdb_sweep_interval_ns(const struct fdb *fdb)
{
	return fdb->sweep_interval_ns;
}

uint32_t
fdb_entries(const struct fdb *fdb)
{
	return __atomic_load_n(&fdb->used, __ATOMIC_RELAXED);
}

const struct fdb_stats *
fdb_stats(const struct fdb *fdb)
{
	return &fdb->stats;
}
