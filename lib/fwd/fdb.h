/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding database of a bridge: (VLAN, MAC) -> port, learned from source addresses.
 * IEEE 802.1Q 8.7 (learning), 8.8 (filtering database): an address that moves is found on its new
 * port at once; one that is not heard of again is forgotten.
 *
 * Ageing counts from the last frame seen, rounded up to 1/256 of the ageing time, because an entry
 * is not written for every frame: an address is known for at least ageing_ns and at most ageing_ns
 * * 257 / 256. An aged entry answers like an absent one; fdb_sweep() gives its place back, a
 * bounded step at a time.
 *
 * In a full table a new address takes the place of one that has aged, or of one of a port that
 * holds at least two more than its own, the fullest port first, or of one of its own port that was
 * not heard for a quarter of the ageing time. So a flood of made-up sources on one port leaves the
 * others their share, and a port may fill the table as long as the others need no place. Else the
 * frame's source is not learned: frames to it flood, which is counted.
 *
 * A static entry neither ages nor moves. A port may be given a limit of learned addresses: beyond
 * it its new addresses are not learned, nor do known ones move to it, so that a flood of made-up
 * sources evicts nobody; their frames still go on, and are counted.
 *
 * The hash has a key (fwd/half_sip.h), so that nobody can make addresses that belong in one place,
 * and an address stands at most FDB_MAX_PROBES buckets from its own: a bound on what any frame can
 * cost.
 *
 * Buckets of a cache line hold four addresses each, so that one line is read for an address, and a
 * burst's lines can be asked for ahead (fdb_prefetch()). rte_hash reads two, and our entries after
 * it.
 *
 * One owner: no call may run beside another. Or shared: learning, lookups and sweeps of several
 * lcores run beside each other, and none waits. Who wants to write while another does leaves it: an
 * address is then learned from its next frame (learn_busy). A lookup beside a writer may find
 * nothing, and the frame floods; it never finds another address's port. Memory is neither given
 * back nor moved, so that nobody has to know who still reads (no RCU).
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

#include "fwd/half_sip.h"

#define FDB_UNKNOWN UINT16_MAX
#define FDB_MIN_ENTRIES 8u
#define FDB_MAX_ENTRIES (1u << 20)
#define FDB_MAX_PORTS 256u
#define FDB_MAX_DOMAINS (1u << 15) /* VLAN identifiers, and numbers beyond them for owners' use */

struct fdb_params {
	uint32_t entries;        /* addresses: FDB_MIN_ENTRIES..FDB_MAX_ENTRIES */
	uint64_t ageing_ns;      /* 0: never forgotten; less than 2^54 */
	int socket;              /* NUMA node, or SOCKET_ID_ANY */
	bool shared;             /* by several lcores, after set-up */
	struct half_sip_key key; /* of the hash; a secret, where frames come from strangers */
};

struct fdb_stats {
	uint64_t learned;        /* new addresses, relearned after ageing included */
	uint64_t moved;          /* known addresses heard on another port */
	uint64_t aged;           /* entries given back by fdb_sweep() */
	uint64_t displaced;      /* entries that gave their place in a full table to another */
	uint64_t learn_failures; /* frames whose source found no place in the table */
	uint64_t learn_limited;  /* frames whose source was beyond its port's limit */
	uint64_t static_kept;    /* frames from a static address on another port */
	uint64_t learn_busy;     /* shared: frames not learned from, as another lcore wrote */
};

struct fdb;

/** @return the table, owned by the caller, or NULL with rte_errno set. params are copied. */
struct fdb *fdb_create(const struct fdb_params *params);
void fdb_destroy(struct fdb *fdb);

/*
 * One table in place of another, for owners that go over to it one by one: fdb_reset() a table that
 * nobody uses, shared; fdb_take_over() what the other has learned; let the owners go over; then, as
 * nobody uses the other any more, fdb_take_over() what it has learned meanwhile, fdb_set_shared()
 * back to what it is to be, and fdb_release() the other. Counters of both go on, and may be read
 * all the while.
 */

/** Reset a table that nobody uses: empty and without limits. @return 0, or -errno: it is
 * released. */
int fdb_reset(struct fdb *fdb, const struct fdb_params *params);
/** Give back a table's memory but its counters: until fdb_reset() it may only be asked for
 * these. */
void fdb_release(struct fdb *fdb);
/** Beside owners that go on, but no other call of this kind. */
void fdb_set_shared(struct fdb *fdb, bool shared);

/**
 * Learn what another table has learned, as it was learned there: what is not known here, or was
 * heard here before; not what is static here or is beyond a limit. A bounded step; beside owners of
 * both, if to is shared.
 *
 * @param members  For each domain that has keys, mask of the ports, all below 64, on which its
 *                 addresses are taken over.
 * @param at       0, then what the last call left.
 * @return         false: that was all.
 */
bool fdb_take_over(struct fdb *to, const struct fdb *from, const uint64_t members[], uint32_t *at);

/**
 * Key of an address in a bridging domain: a VLAN (0: untagged), or any number below
 * FDB_MAX_DOMAINS. mac is in wire order.
 */
static inline uint64_t
fdb_key(uint16_t domain, const uint8_t mac[6])
{
	uint32_t high;
	uint16_t low;

	memcpy(&high, mac, sizeof(high));
	memcpy(&low, mac + 4, sizeof(low));
	return (uint64_t)(domain & (FDB_MAX_DOMAINS - 1)) << 48 | (uint64_t)be32toh(high) << 16 |
	       be16toh(low);
}

/** fdb_key() of an address in an Ethernet header: what stands in the two bytes after it may be
 * read too. */
static inline uint64_t
fdb_key_in_header(uint16_t domain, const uint8_t mac[8])
{
	uint64_t word;

	memcpy(&word, mac, sizeof(word));
	return (uint64_t)(domain & (FDB_MAX_DOMAINS - 1)) << 48 | be64toh(word) >> 16;
}

/** Group address (multicast and broadcast): the first bit on the wire. */
static inline bool
fdb_key_is_group(uint64_t key)
{
	return key >> 40 & 1;
}

/**
 * A frame with this source came in on port: enter, move or refresh the address. Group addresses are
 * ignored.
 *
 * @param port  Below FDB_MAX_PORTS.
 * @return      Whether the table holds the address on this port now.
 */
bool fdb_learn(struct fdb *fdb, uint64_t key, uint16_t port, uint64_t now_ns);

/** Enter an address for good, over one that was learned. @return 0, -EINVAL (group), -ENOSPC. */
int fdb_add_static(struct fdb *fdb, uint64_t key, uint16_t port);

/** Most addresses that are learned on a port from now on; 0: no limit. From any thread. */
void fdb_set_limit(struct fdb *fdb, uint16_t port, uint32_t addresses);

/** @return the port behind which the address was last heard, or FDB_UNKNOWN. */
uint16_t fdb_lookup(struct fdb *fdb, uint64_t key, uint64_t now_ns);

/**
 * For bursts: where n keys belong. Their places are on their way into the cache; fdb_learn_at() and
 * fdb_lookup_at() are then fdb_learn(), of no group address, and fdb_lookup() of a key with its
 * home. Keys are hashed four at a time: both arrays have room for the next multiple of four, and
 * what stands in keys after n is read.
 */
static inline void fdb_homes(const struct fdb *fdb, const uint64_t keys[], uint32_t homes[],
			     unsigned int n);
static inline bool fdb_learn_at(struct fdb *fdb, uint64_t key, uint32_t home, uint16_t port,
				uint64_t now_ns);
static inline uint16_t fdb_lookup_at(struct fdb *fdb, uint64_t key, uint32_t home, uint64_t now_ns);

/**
 * Give back aged entries among the next few hundred places.
 *
 * @return  When to call again so that the table is gone through four times per ageing time;
 * NEVER_NS when nothing ages.
 */
uint64_t fdb_sweep(struct fdb *fdb, uint64_t now_ns);

/** Forget all that was learned; static addresses stay. Counted as aged. No other lcore writes. */
void fdb_forget_learned(struct fdb *fdb);

/** Pause between two steps of fdb_sweep(); NEVER_NS when nothing ages. */
uint64_t fdb_sweep_interval_ns(const struct fdb *fdb);

/** Entries in use; aged ones that were not swept yet are among them. */
uint32_t fdb_entries(const struct fdb *fdb);
/** Of these, the ones that were learned on port. */
uint32_t fdb_port_entries(const struct fdb *fdb, uint16_t port);
const struct fdb_stats *fdb_stats(const struct fdb *fdb);

/* Inline definitions */

/* One cache line. */
#define FDB_SLOTS 4u

/* What is known of an address, in one word: when it was heard last (416 days until this wraps, far
 * more than between two sweeps), and where. */
#define FDB_SEEN_BITS 55
#define FDB_SEEN_MASK ((1ull << FDB_SEEN_BITS) - 1)
#define FDB_STATIC_BIT (1ull << 63)
/* No key has all bits set: a domain has 15. */
#define FDB_FREE_KEY UINT64_MAX
/* Buckets looked at by one step of those that go through all: about a microsecond. */
#define FDB_STEP_BUCKETS 128u
/* An address stands in its home bucket or in one of the next. At half load random ones need no more
 * than three. */
#define FDB_MAX_PROBES 8u

struct fdb_bucket {
	uint64_t key[FDB_SLOTS]; /* all ones: not in use */
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
	uint8_t *passed; /* per bucket: addresses that had no room here and stand further on */
	uint32_t mask;
	uint32_t probes;
	struct half_sip_key hash_key;
	uint64_t refresh_ns;  /* less than 2^54 */
	uint64_t lifetime_ns; /* NEVER_NS: no ageing */
	bool shared;
	/* per address */
	uint64_t quiet_ns; /* not heard for so long, an address may make room for one of its port */
	uint32_t used;
	rte_spinlock_t writer; /* if shared */
	struct fdb_stats stats;
	struct fdb_port ports[FDB_MAX_PORTS];
	/* sweep, set-up */
	uint32_t entries;
	uint32_t next_bucket;
	uint64_t sweep_interval_ns;
};

/** Where an address stands that is not in its home, or NULL. */
uint64_t *fdb_find_beyond(struct fdb *fdb, uint64_t key, uint32_t home);
/** What learning has to write. @return as fdb_learn(). */
bool fdb_learn_write(struct fdb *fdb, uint64_t key, uint32_t home, uint16_t port, uint64_t now_ns);

static inline uint32_t
fdb_home(const struct fdb *fdb, uint64_t key)
{
	return half_sip_u64(&fdb->hash_key, key) & fdb->mask;
}

static inline void
fdb_homes(const struct fdb *fdb, const uint64_t keys[], uint32_t homes[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i += HALF_SIP_LANES) {
		half_sip_u64_x4(&fdb->hash_key, &keys[i], &homes[i]);
		for (unsigned int k = i; k < i + HALF_SIP_LANES; k++) {
			homes[k] &= fdb->mask;
			rte_prefetch0(&fdb->buckets[homes[k]]);
		}
	}
}

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

/* Clocks of several lcores are read one after the other: what was heard later than now is fresh. */
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

/* Changes while other lcores are at it: fdb_set_shared(). */
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

/* The state of the address that has this key in a bucket, or NULL. */
#ifdef QUENCH_TSAN
/* ThreadSanitizer takes a load of a vector for one that is not atomic. */
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
 * All four are compared at once: which of them it is cannot be foretold. The halves of a vector are
 * loaded each at once (8 bytes at least, on x86-64), and the state, whose place they say, after
 * them.
 */
static inline uint64_t *
fdb_find_in(struct fdb_bucket *b, uint64_t key)
{
	const __m128i *keys = (const __m128i *)b->key;
	__m128i want = _mm_set1_epi64x((long long)key);
	__m128i low = _mm_cmpeq_epi64(_mm_load_si128(&keys[0]), want);
	__m128i high = _mm_cmpeq_epi64(_mm_load_si128(&keys[1]), want);
	/* All ones or none: four halves of 64 bits become four of 32. */
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

static inline bool
fdb_learn_at(struct fdb *fdb, uint64_t key, uint32_t home, uint16_t port, uint64_t now_ns)
{
	const uint64_t *at = fdb_find(fdb, key, home);
	uint64_t state;

	assert(port < FDB_MAX_PORTS);
	if (unlikely(at == NULL))
		return fdb_learn_write(fdb, key, home, port, now_ns);
	state = __atomic_load_n(at, __ATOMIC_RELAXED) & ~FDB_STATIC_BIT;
	/* Of another port, the bits above the age make it more than refresh_ns; a difference of
	 * both words would carry from one into the other when the time wraps. */
	if (likely((fdb_age_ns(state, now_ns) |
		    (fdb_state_of(port, 0) ^ (state & ~FDB_SEEN_MASK))) < fdb->refresh_ns))
		return true;
	return fdb_learn_write(fdb, key, home, port, now_ns);
}

static inline uint16_t
fdb_lookup_at(struct fdb *fdb, uint64_t key, uint32_t home, uint64_t now_ns)
{
	const uint64_t *at = fdb_find(fdb, key, home);
	uint64_t state;

	if (at == NULL)
		return FDB_UNKNOWN;
	state = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	if (unlikely(fdb_aged(fdb, state, now_ns)))
		return FDB_UNKNOWN;
	/* The place may have got another address: an unknown one floods. */
	if (fdb_is_shared(fdb) && __atomic_load_n(fdb_key_of(at), __ATOMIC_RELAXED) != key)
		return FDB_UNKNOWN;
	return fdb_port_of(state);
}

#endif
