/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and reset of a forwarding database. */
#include <errno.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_common.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_spinlock.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "base/numbers/units.h"
#include "fwd/fdb.h"

/* An entry is refreshed when its time is older than this fraction of the ageing time. */
#define REFRESH_PARTS 256u
#define SWEEPS_PER_AGEING 4u
/* An address silent for this fraction of the ageing time may be replaced by one of its own port. */
#define QUIET_PARTS 4u

static void
init_times(struct fdb *fdb, uint64_t ageing_ns)
{
	uint64_t steps = ((uint64_t)fdb->mask + FDB_STEP_BUCKETS) / FDB_STEP_BUCKETS;

	fdb->refresh_ns = FDB_SEEN_MASK >> 1;
	fdb->lifetime_ns = NEVER_NS;
	fdb->quiet_ns = NEVER_NS;
	fdb->sweep_interval_ns = NEVER_NS;
	if (ageing_ns == 0)
		return;
	fdb->refresh_ns = ageing_ns / REFRESH_PARTS;
	fdb->quiet_ns = ageing_ns / QUIET_PARTS;
	fdb->lifetime_ns = add_sat(ageing_ns, fdb->refresh_ns);
	fdb->sweep_interval_ns = max_u64(1, ageing_ns / (SWEEPS_PER_AGEING * steps));
}

static void
init_limits(struct fdb *fdb)
{
	for (uint16_t port = 0; port < FDB_MAX_PORTS; port++)
		fdb_set_limit(fdb, port, 0);
}

static bool
params_fit(const struct fdb_params *params)
{
	return params->entries >= FDB_MIN_ENTRIES && params->entries <= FDB_MAX_ENTRIES;
}

static size_t
bucket_bytes(const struct fdb *fdb)
{
	return (fdb->mask + 1ull) * sizeof(*fdb->buckets);
}

int
fdb_reset(struct fdb *fdb, const struct fdb_params *params)
{
	/* At least twice as many slots as entries. */
	uint32_t buckets = rte_align32pow2(params->entries * 2 / FDB_SLOTS);

	fdb_release(fdb);
	if (!params_fit(params))
		return -EINVAL;
	fdb->mask = buckets - 1;
	fdb->probes = RTE_MIN(buckets, FDB_MAX_PROBES);
	fdb->entries = params->entries;
	fdb->shared = params->shared;
	fdb->hash_key = params->key;
	aes_hash_key_init(&fdb->aes_key, &params->key);
	fdb->aes = aes_hash_works();
	fdb->next_bucket = 0;
	rte_spinlock_init(&fdb->writer);
	fdb->buckets = pages_alloc(bucket_bytes(fdb));
	fdb->passed = rte_zmalloc_socket("fdb", buckets, RTE_CACHE_LINE_SIZE, params->socket);
	if (fdb->buckets == NULL || fdb->passed == NULL) {
		fdb_release(fdb);
		return -ENOMEM;
	}
	/*
	 * A program with hugepages usually drives hardware ports, whose lcores must not be delayed
	 * by page faults.
	 */
	if (rte_eal_has_hugepages())
		memset(fdb->buckets, 0, bucket_bytes(fdb));
	init_limits(fdb);
	init_times(fdb, params->ageing_ns);
	return 0;
}

void
fdb_release(struct fdb *fdb)
{
	pages_free(fdb->buckets, bucket_bytes(fdb));
	rte_free(fdb->passed);
	fdb->buckets = NULL;
	fdb->passed = NULL;
	__atomic_store_n(&fdb->used, 0, __ATOMIC_RELAXED);
	for (uint16_t port = 0; port < FDB_MAX_PORTS; port++)
		__atomic_store_n(&fdb->ports[port].learned, 0, __ATOMIC_RELAXED);
}

struct fdb *
fdb_create(const struct fdb_params *params)
{
	struct fdb *fdb;
	int rc;

	if (!params_fit(params)) {
		rte_errno = EINVAL;
		return NULL;
	}
	fdb = rte_zmalloc_socket("fdb", sizeof(*fdb), RTE_CACHE_LINE_SIZE, params->socket);
	rc = fdb == NULL ? -ENOMEM : fdb_reset(fdb, params);
	if (rc == 0)
		return fdb;
	rte_free(fdb);
	rte_errno = -rc;
	return NULL;
}

void
fdb_destroy(struct fdb *fdb)
{
	if (fdb == NULL)
		return;
	fdb_release(fdb);
	rte_free(fdb);
}
