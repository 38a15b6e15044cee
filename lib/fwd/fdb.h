/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding database of a bridge: (VLAN, MAC) -> port, learned from source addresses. IEEE 802.1Q
 * 8.7 (learning), 8.8 (filtering database): an address that moves is found on its new port at once;
 * an address that is silent is forgotten.
 *
 * Ageing: an entry is not written for every frame, so the age of an address counts from its last
 * frame rounded up to 1/256 of the ageing time:
 *   ageing_ns <= lifetime of a silent address <= ageing_ns * 257 / 256.
 * Lookups ignore an aged entry; fdb_sweep() frees it, in bounded steps.
 *
 * Full table: among the slots that it may use, a new address replaces an aged one; else one of the
 * fullest port, if that holds at least two more than its own port; else one of its own port that
 * was silent for a quarter of the ageing time. So a flood of forged sources on one port leaves the
 * other ports their share, yet a port may fill the table while the others need no space. Otherwise
 * the source is not learned: frames to it are flooded, and learn_failures counts it.
 *
 * Static entries neither age nor move. A port may have a limit of learned addresses. Beyond it, new
 * addresses are not learned and known ones do not move to the port, so a flood of forged sources
 * evicts no other address. Their frames are still forwarded, and counted.
 *
 * The hash is keyed (fwd/aes_hash.h, or base/numbers/half_sip.h on a CPU without AES instructions),
 * so a sender cannot construct addresses that share a bucket.
 * An address is stored less than FDB_MAX_PROBES buckets from its home, which bounds the cost of a
 * frame.
 *
 * A bucket is one cache line with four addresses, so a lookup reads one line, and the lines of a
 * burst can be prefetched (fdb_homes()). A lookup in rte_hash would read two lines, and then our
 * entry.
 *
 * Threads: with one owner, calls must not overlap. A shared table allows learning, lookups and
 * sweeps on several lcores at once, and none of them waits. A learning lcore that finds another one
 * writing gives up, and the address is learned from its next frame (learn_busy). A lookup during a
 * write may find nothing, and its frame is flooded; it never finds another address's port. Memory
 * is neither freed nor moved while the table is in use, so readers need no RCU.
 */
#ifndef QUENCH_FWD_FDB_H
#define QUENCH_FWD_FDB_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>
#include <rte_spinlock.h>
#include <rte_vect.h>

#include "fwd/aes_hash.h"
#include "fwd/fdb_params.h"

struct fdb;

/** @return the table, owned by the caller, or NULL with rte_errno set. params are copied. */
struct fdb *fdb_create(const struct fdb_params *params);
void fdb_destroy(struct fdb *fdb);

/*
 * Replacing one table by another while its users switch over one by one:
 *   1. fdb_reset() the new table, as a shared one, before it is used;
 *   2. fdb_take_over() copies the addresses that the old one has learned;
 *   3. each user switches to the new table;
 *   4. fdb_take_over() again, for addresses that the old one has learned meanwhile;
 *   5. fdb_set_shared() to the final value, and fdb_release() the old table.
 * Counters of both are kept, and may be read at any time.
 */

/**
 * Reset an unused table: empty, and without limits. @return 0, or -errno, and then it is released.
 */
int fdb_reset(struct fdb *fdb, const struct fdb_params *params);
/** Free a table's memory except its counters. Until fdb_reset(), only the counters may be used. */
void fdb_release(struct fdb *fdb);
/**
 * Change the shared flag. The table may be in use during this call, but no other function of this
 * group may run.
 */
void fdb_set_shared(struct fdb *fdb, bool shared);

/**
 * Copy learned addresses from another table, with their ages. An address is taken if `to` does not
 * know it or saw it earlier than `from`. It is not taken if it is static in `to`, exceeds a limit,
 * or finds no room. Works in bounded steps, concurrently with users of both tables if `to` is
 * shared.
 *
 * @param members  Per domain with keys, `words` words each: the ports whose addresses are taken;
 *                 port p is bit p % 64 of word p / 64.
 * @param at       0 at first, then unchanged from the last call.
 * @return         false when done.
 */
bool fdb_take_over(struct fdb *to, const struct fdb *from, const uint64_t members[], uint16_t words,
		   uint32_t *at);

/* This bit is set in every key. */
#define FDB_KEY_BIT (1ull << 63)

/** Bridging domain of a key. */
static inline uint16_t
fdb_key_domain(uint64_t key)
{
	return key >> 48 & (FDB_MAX_DOMAINS - 1);
}

/**
 * Key of an address in a bridging domain: a VLAN (0: untagged), or another number below
 * FDB_MAX_DOMAINS. mac is in wire order.
 */
static inline uint64_t
fdb_key(uint16_t domain, const uint8_t mac[6])
{
	uint32_t high;
	uint16_t low;

	memcpy(&high, mac, sizeof(high));
	memcpy(&low, mac + 4, sizeof(low));
	return FDB_KEY_BIT | (uint64_t)(domain & (FDB_MAX_DOMAINS - 1)) << 48 |
	       (uint64_t)be32toh(high) << 16 | be16toh(low);
}

/**
 * fdb_key() of an address in an Ethernet header; also reads (but ignores) the two bytes after it.
 */
static inline uint64_t
fdb_key_in_header(uint16_t domain, const uint8_t mac[8])
{
	uint64_t word;

	memcpy(&word, mac, sizeof(word));
	return FDB_KEY_BIT | (uint64_t)(domain & (FDB_MAX_DOMAINS - 1)) << 48 | be64toh(word) >> 16;
}

/** Is it a group address (multicast or broadcast)? That is the first bit on the wire. */
static inline bool
fdb_key_is_group(uint64_t key)
{
	return key >> 40 & 1;
}

/**
 * A frame with this source arrived on port: add, move or refresh the address. Group addresses are
 * ignored.
 *
 * @param port  Below FDB_MAX_PORTS.
 * @return      Does the table now hold the address on this port? Also false if the table had to be
 *              written and another lcore was writing (learn_busy).
 */
bool fdb_learn(struct fdb *fdb, uint64_t key, uint16_t port, uint64_t now_ns);

/**
 * Add a static address, replacing a learned one. No other lcore may write.
 * @return 0, -EINVAL (group address), or -ENOSPC: the table, or the buckets of this address, are
 *         full.
 */
int fdb_add_static(struct fdb *fdb, uint64_t key, uint16_t port);

/** Limit the addresses learned on a port from now on; 0: no limit. From any thread. */
void fdb_set_limit(struct fdb *fdb, uint16_t port, uint32_t addresses);

/** @return the port of a static address, or on which it was last seen, or FDB_UNKNOWN. */
uint16_t fdb_lookup(struct fdb *fdb, uint64_t key, uint64_t now_ns);

/**
 * Home buckets of n keys of a burst, which are also prefetched. A home is an argument of
 * fdb_learn_at() (not for group addresses) and fdb_lookup_at(), which do the same as fdb_learn()
 * and fdb_lookup(). Keys may be hashed four at a time, so both arrays need room up to the next
 * multiple of four: keys after the n-th are read, too.
 */
void fdb_homes(const struct fdb *fdb, const uint64_t keys[], uint32_t homes[], unsigned int n);
static inline bool fdb_learn_at(struct fdb *fdb, uint64_t key, uint32_t home, uint16_t port,
				uint64_t now_ns);
static inline uint16_t fdb_lookup_at(struct fdb *fdb, uint64_t key, uint32_t home, uint64_t now_ns);

struct fdb_memo;

/**
 * Find the state of an address, for fdb_is_fresh() and fdb_port_at(), or NULL. Where an address was
 * found before, it is found without the keyed hash.
 */
static inline uint64_t *fdb_recall(struct fdb *fdb, struct fdb_memo *memo, uint64_t key);

/**
 * Free aged entries in the next few hundred slots.
 *
 * @return  Time of the next call, such that the table is swept four times per ageing time; now_ns
 *          if another lcore was writing; NEVER_NS when nothing ages.
 */
uint64_t fdb_sweep(struct fdb *fdb, uint64_t now_ns);

/** Forget all learned addresses, counted as aged; static ones stay. No other lcore may write. */
void fdb_forget_learned(struct fdb *fdb);

/** Time between two calls of fdb_sweep(); NEVER_NS when nothing ages. */
uint64_t fdb_sweep_interval_ns(const struct fdb *fdb);

/** Entries in use, including aged ones that have not been swept. */
uint32_t fdb_entries(const struct fdb *fdb);
/** Entries in use that were learned on port. */
uint32_t fdb_port_entries(const struct fdb *fdb, uint16_t port);
const struct fdb_stats *fdb_stats(const struct fdb *fdb);

/* Inline definitions */

/* Addresses per bucket, which is one cache line. */
#define FDB_SLOTS 4u

/*
 * State of an address in one word: port, and time last seen. The time wraps after 208 days, far
 * longer than the time between two sweeps.
 */
#define FDB_SEEN_BITS 54
#define FDB_SEEN_MASK ((1ull << FDB_SEEN_BITS) - 1)
#define FDB_STATIC_BIT (1ull << 63)
/*
 * Not a valid key. As it is 0, a new table consists of zeros, and its pages are not touched before
 * they are used.
 */
#define FDB_FREE_KEY 0
/* Buckets per step of a walk over the table: about a microsecond. */
#define FDB_STEP_BUCKETS 128u
/*
 * An address is stored in its home bucket or one of the next. With random addresses at half load
 * the longest distance is three.
 */
#define FDB_MAX_PROBES 8u

struct fdb_bucket {
	uint64_t key[FDB_SLOTS]; /* FDB_FREE_KEY: not in use */
	uint64_t state[FDB_SLOTS];
} __rte_cache_aligned;
static_assert(offsetof(struct fdb_bucket, state) == FDB_SLOTS * sizeof(uint64_t), "fdb_key_of()");

struct fdb_port {
	uint32_t learned;
	uint32_t limit; /* UINT32_MAX: none */
};

struct fdb {
	/* per packet */
	struct fdb_bucket *buckets;
	/*
	 * per bucket: number of addresses stored in a later bucket than this one, from their home
	 * on
	 */
	uint8_t *passed;
	uint32_t mask;
	uint32_t probes;
	bool aes; /* the hash is aes_hash(), else half_sip() */
	struct half_sip_key hash_key;
	struct aes_hash_key aes_key;
	uint64_t refresh_ns;  /* less than 2^53 */
	uint64_t lifetime_ns; /* NEVER_NS: no ageing */
	bool shared;
	/* per address */
	/* an address silent for this long may be replaced by one of its own port */
	uint64_t quiet_ns;
	uint32_t used;
	rte_spinlock_t writer; /* used if shared */
	struct fdb_stats stats;
	struct fdb_port ports[FDB_MAX_PORTS];
	/* sweep, set-up */
	uint32_t entries;
	uint32_t next_bucket;
	uint64_t sweep_interval_ns;
};

/** The home bucket of a key. */
uint32_t fdb_home(const struct fdb *fdb, uint64_t key);
/** Search the buckets after the home. @return the state of the address, or NULL. */
uint64_t *fdb_find_beyond(struct fdb *fdb, uint64_t key, uint32_t home);
/** Slow path of learning: the table must be written. @return as fdb_learn(). */
bool fdb_learn_write(struct fdb *fdb, uint64_t key, uint32_t home, uint16_t port, uint64_t now_ns);

static inline uint64_t
fdb_state_of(uint16_t port, uint64_t seen_ns)
{
	return (uint64_t)port << FDB_SEEN_BITS | (seen_ns & FDB_SEEN_MASK);
}

static inline uint16_t
fdb_port_of(uint64_t state)
{
	return state >> FDB_SEEN_BITS & (FDB_MAX_PORTS - 1);
}

static inline uint64_t
fdb_age_ns(uint64_t state, uint64_t now_ns)
{
	return (now_ns - state) & FDB_SEEN_MASK;
}

/*
 * lcores read their clocks at different times, so an entry may be newer than now_ns. Such an entry
 * is not aged.
 */
static inline bool
fdb_aged(const struct fdb *fdb, uint64_t state, uint64_t now_ns)
{
	uint64_t age = fdb_age_ns(state, now_ns);

	return age >= fdb->lifetime_ns && !(state & FDB_STATIC_BIT) &&
	       age >> (FDB_SEEN_BITS - 1) == 0;
}

static inline const uint64_t *
fdb_key_of(const uint64_t *state)
{
	return state - FDB_SLOTS;
}

/* May change while other lcores use the table: fdb_set_shared(). */
static inline bool
fdb_is_shared(const struct fdb *fdb)
{
	return __atomic_load_n(&fdb->shared, __ATOMIC_RELAXED);
}

static inline uint8_t
fdb_passed(const struct fdb *fdb, uint32_t at)
{
	return __atomic_load_n(&fdb->passed[at], __ATOMIC_RELAXED);
}

/* The state of the address with this key in a bucket, or NULL. */
#ifdef QUENCH_TSAN
/* ThreadSanitizer treats a vector load as not atomic. */
static inline uint64_t *
fdb_find_in(struct fdb_bucket *b, uint64_t key)
{
	for (unsigned int slot = 0; slot < FDB_SLOTS; slot++) {
		if (__atomic_load_n(&b->key[slot], __ATOMIC_RELAXED) == key)
			return &b->state[slot];
	}
	return NULL;
}
#else
/*
 * Compare all four keys at once, because a branch on the match would be unpredictable. Each half of
 * a vector is loaded atomically (at least 8 bytes, on x86-64). The state is loaded after the keys,
 * as its address depends on them.
 */
static inline uint64_t *
fdb_find_in(struct fdb_bucket *b, uint64_t key)
{
	const __m128i *keys = (const __m128i *)b->key;
	__m128i want = _mm_set1_epi64x((long long)key);
	__m128i low = _mm_cmpeq_epi64(_mm_load_si128(&keys[0]), want);
	__m128i high = _mm_cmpeq_epi64(_mm_load_si128(&keys[1]), want);
	/* Each lane is all ones or zero: pack four of 64 bits into four of 32. */
	int slots = _mm_movemask_ps(_mm_castsi128_ps(_mm_packs_epi32(low, high)));

	return slots == 0 ? NULL : &b->state[__builtin_ctz((unsigned int)slots)];
}
#endif

static inline uint64_t *
fdb_find(struct fdb *fdb, uint64_t key, uint32_t home)
{
	uint64_t *state = fdb_find_in(&fdb->buckets[home], key);

	if (likely(state != NULL) || likely(fdb_passed(fdb, home) == 0))
		return state;
	return fdb_find_beyond(fdb, key, home);
}

/*
 * Did the address in a slot arrive on this port so recently that the slot need not be written? If
 * the port differs, the bits above the age make the value exceed refresh_ns. Do not subtract whole
 * words: when the time wraps, the carry would change the port.
 */
static inline bool
fdb_is_fresh(const struct fdb *fdb, const uint64_t *at, uint16_t port, uint64_t now_ns)
{
	uint64_t state = __atomic_load_n(at, __ATOMIC_RELAXED) & ~FDB_STATIC_BIT;

	assert(port < FDB_MAX_PORTS);
	return (fdb_age_ns(state, now_ns) | (fdb_state_of(port, 0) ^ (state & ~FDB_SEEN_MASK))) <
	       fdb->refresh_ns;
}

static inline bool
fdb_learn_at(struct fdb *fdb, uint64_t key, uint32_t home, uint16_t port, uint64_t now_ns)
{
	const uint64_t *at = fdb_find(fdb, key, home);

	if (likely(at != NULL) && likely(fdb_is_fresh(fdb, at, port, now_ns)))
		return true;
	return fdb_learn_write(fdb, key, home, port, now_ns);
}

/* The port of the address in a slot. */
static inline uint16_t
fdb_port_at(const struct fdb *fdb, const uint64_t *at, uint64_t key, uint64_t now_ns)
{
	uint64_t state = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	if (unlikely(fdb_aged(fdb, state, now_ns)))
		return FDB_UNKNOWN;
	/* The slot may have been reused for another address meanwhile: then this one is unknown. */
	if (fdb_is_shared(fdb) && __atomic_load_n(fdb_key_of(at), __ATOMIC_RELAXED) != key)
		return FDB_UNKNOWN;
	return fdb_port_of(state);
}

static inline uint16_t
fdb_lookup_at(struct fdb *fdb, uint64_t key, uint32_t home, uint64_t now_ns)
{
	const uint64_t *at = fdb_find(fdb, key, home);

	return at == NULL ? FDB_UNKNOWN : fdb_port_at(fdb, at, key, now_ns);
}

#define FDB_MEMO_BITS 9
#define FDB_MEMO_WAYS 2u

/*
 * Slots in which addresses were found, as the distance of their state from the first bucket, by an
 * unkeyed hash of the address. A slot that is no longer right is not used, since its key differs.
 * So the memo is valid for every table, and zeros are an empty one. One owner.
 */
struct fdb_memo {
	uint32_t state_at[1u << FDB_MEMO_BITS][FDB_MEMO_WAYS]; /* the newest first */
};

/** Slow path of fdb_recall(): search, and remember the slot. at: the address's entry in a memo. */
uint64_t *fdb_recall_search(struct fdb *fdb, uint32_t at[FDB_MEMO_WAYS], uint64_t key);

/* fdb_find(), by the memo if possible. */
static inline uint64_t *
fdb_recall(struct fdb *fdb, struct fdb_memo *memo, uint64_t key)
{
	/* 2^64 / golden ratio */
	uint32_t *at = memo->state_at[key * 0x9E3779B97F4A7C15ull >> (64 - FDB_MEMO_BITS)];

	for (unsigned int i = 0; i < FDB_MEMO_WAYS; i++) {
		struct fdb_bucket *b = &fdb->buckets[at[i] / (2 * FDB_SLOTS) & fdb->mask];
		uint64_t *state = &b->state[at[i] % FDB_SLOTS];

		if (likely(__atomic_load_n(fdb_key_of(state), __ATOMIC_ACQUIRE) == key))
			return state;
	}
	return fdb_recall_search(fdb, at, key);
}

#endif
