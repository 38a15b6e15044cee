/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_malloc.h>

#include "base/counter.h"
#include "base/fixed.h"
#include "base/units.h"
#include "fwd/fdb.h"

/* Places looked at by one step of fdb_sweep(): about a microsecond. */
#define SWEEP_PLACES 256u
/* A refresh is written when the last one is older than this part of the ageing time. */
#define REFRESH_PARTS 256u
#define SWEEPS_PER_AGEING 4u

/* No key has all bits set: a VLAN identifier has 12. */
#define FREE_KEY UINT64_MAX

struct fdb_entry {
	uint64_t key; /* FREE_KEY: not in use */
	uint64_t seen_ns;
	uint16_t port;
};

struct fdb {
	/* per packet */
	uint32_t *front; /* by the key's mix: the entry to try first; any number is harmless */
	struct fdb_entry *entries; /* by position in the hash */
	struct rte_hash *hash;
	uint32_t front_mask;
	uint32_t used;
	uint64_t refresh_ns;
	uint64_t lifetime_ns; /* NEVER_NS: no ageing */
	struct fdb_stats stats;
	/* sweep, set-up */
	uint32_t places;
	uint32_t next_place;
	uint64_t sweep_interval_ns;
};

/* Multiplications by odd constants with a fold between (MurmurHash3's finaliser): every key bit
 * reaches every bit. */
static inline uint64_t
mix(uint64_t key)
{
	key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
	return (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
}

static inline bool
aged(const struct fdb *fdb, const struct fdb_entry *e, uint64_t now_ns)
{
	return now_ns - e->seen_ns >= fdb->lifetime_ns;
}

/* The entry in use that holds the key, or NULL. */
static inline struct fdb_entry *
find(struct fdb *fdb, uint64_t key)
{
	uint64_t h = mix(key);
	uint32_t *slot = &fdb->front[h & fdb->front_mask];
	struct fdb_entry *e = &fdb->entries[*slot];
	int place;

	if (likely(e->key == key))
		return e;
	place = rte_hash_lookup_with_hash(fdb->hash, &key, (hash_sig_t)(h >> 32));
	if (place < 0)
		return NULL;
	*slot = (uint32_t)place;
	return &fdb->entries[place];
}

static bool
enter(struct fdb *fdb, uint64_t key, uint16_t port, uint64_t now_ns)
{
	uint64_t h = mix(key);
	int place = -ENOSPC;

	if (fdb->used < fdb->places)
		place = rte_hash_add_key_with_hash(fdb->hash, &key, (hash_sig_t)(h >> 32));
	if (place < 0) {
		counter_inc(&fdb->stats.learn_failures);
		return false;
	}
	fdb->entries[place] = (struct fdb_entry){.key = key, .seen_ns = now_ns, .port = port};
	fdb->front[h & fdb->front_mask] = (uint32_t)place;
	__atomic_store_n(&fdb->used, fdb->used + 1, __ATOMIC_RELAXED);
	counter_inc(&fdb->stats.learned);
	return true;
}

bool
fdb_learn(struct fdb *fdb, uint64_t key, uint16_t port, uint64_t now_ns)
{
	struct fdb_entry *e;

	assert(port != FDB_UNKNOWN);
	if (unlikely(fdb_key_is_group(key)))
		return false;
	e = find(fdb, key);
	if (unlikely(e == NULL))
		return enter(fdb, key, port, now_ns);
	if (likely(e->port == port && now_ns - e->seen_ns < fdb->refresh_ns))
		return true;
	if (aged(fdb, e, now_ns))
		counter_inc(&fdb->stats.learned);
	else if (e->port != port)
		counter_inc(&fdb->stats.moved);
	e->port = port;
	e->seen_ns = now_ns;
	return true;
}

uint16_t
fdb_lookup(struct fdb *fdb, uint64_t key, uint64_t now_ns)
{
	const struct fdb_entry *e = find(fdb, key);

	if (e == NULL || aged(fdb, e, now_ns))
		return FDB_UNKNOWN;
	return e->port;
}

static void
forget(struct fdb *fdb, struct fdb_entry *e)
{
	int place = rte_hash_del_key_with_hash(fdb->hash, &e->key, (hash_sig_t)(mix(e->key) >> 32));

	assert(place == (int)(e - fdb->entries));
	(void)place;
	e->key = FREE_KEY;
	__atomic_store_n(&fdb->used, fdb->used - 1, __ATOMIC_RELAXED);
	counter_inc(&fdb->stats.aged);
}

uint64_t
fdb_sweep(struct fdb *fdb, uint64_t now_ns)
{
	if (fdb->sweep_interval_ns == NEVER_NS)
		return NEVER_NS;
	for (uint32_t i = 0; i < SWEEP_PLACES && i < fdb->places; i++) {
		struct fdb_entry *e = &fdb->entries[fdb->next_place];

		if (e->key != FREE_KEY && aged(fdb, e, now_ns))
			forget(fdb, e);
		fdb->next_place = fdb->next_place + 1 == fdb->places ? 0 : fdb->next_place + 1;
	}
	return add_sat(now_ns, fdb->sweep_interval_ns);
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

static struct rte_hash *
create_hash(const struct fdb_params *params)
{
	static unsigned int created; /* rte_hash wants a name that is unique in the process */
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters hp = {
		.name = name,
		.entries = params->entries,
		.key_len = sizeof(uint64_t),
		.socket_id = params->socket,
		/* Chained buckets: every configured entry can be used, whatever the addresses. */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	snprintf(name, sizeof(name), "fdb_%u", __atomic_add_fetch(&created, 1, __ATOMIC_RELAXED));
	return rte_hash_create(&hp);
}

static void
init_times(struct fdb *fdb, uint64_t ageing_ns)
{
	uint64_t steps = (fdb->places + SWEEP_PLACES - 1) / SWEEP_PLACES;

	fdb->refresh_ns = NEVER_NS;
	fdb->lifetime_ns = NEVER_NS;
	fdb->sweep_interval_ns = NEVER_NS;
	if (ageing_ns == 0)
		return;
	fdb->refresh_ns = ageing_ns / REFRESH_PARTS;
	fdb->lifetime_ns = add_sat(ageing_ns, fdb->refresh_ns);
	fdb->sweep_interval_ns = max_u64(1, ageing_ns / (SWEEPS_PER_AGEING * steps));
}

struct fdb *
fdb_create(const struct fdb_params *params)
{
	struct fdb *fdb;
	uint32_t front = 2 * FDB_MIN_ENTRIES;

	if (params->entries < FDB_MIN_ENTRIES || params->entries > FDB_MAX_ENTRIES) {
		rte_errno = EINVAL;
		return NULL;
	}
	/* Twice the entries: at full load most addresses have a slot of their own. */
	while (front < 2 * params->entries)
		front *= 2;
	fdb = rte_zmalloc_socket("fdb", sizeof(*fdb), RTE_CACHE_LINE_SIZE, params->socket);
	if (fdb == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	fdb->front_mask = front - 1;
	fdb->places = params->entries;
	fdb->front = rte_zmalloc_socket("fdb", front * sizeof(*fdb->front), RTE_CACHE_LINE_SIZE,
					params->socket);
	fdb->entries = rte_malloc_socket("fdb", fdb->places * sizeof(*fdb->entries),
					 RTE_CACHE_LINE_SIZE, params->socket);
	if (fdb->front == NULL || fdb->entries == NULL) {
		rte_errno = ENOMEM;
		goto fail;
	}
	fdb->hash = create_hash(params);
	if (fdb->hash == NULL)
		goto fail;
	for (uint32_t i = 0; i < fdb->places; i++)
		fdb->entries[i].key = FREE_KEY;
	init_times(fdb, params->ageing_ns);
	return fdb;
fail:
	fdb_destroy(fdb);
	return NULL;
}

void
fdb_destroy(struct fdb *fdb)
{
	if (fdb == NULL)
		return;
	rte_hash_free(fdb->hash);
	rte_free(fdb->entries);
	rte_free(fdb->front);
	rte_free(fdb);
}
