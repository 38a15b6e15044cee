/* SPDX-License-Identifier: BSD-3-Clause */
#include "fwd/fdb_read.h"

#include "base/numbers/fixed.h"

static struct fdb_entry
entry_of(uint64_t key, uint64_t state, uint64_t now_ns)
{
	struct fdb_entry e = {
		.domain = fdb_key_domain(key),
		.port = fdb_port_of(state),
		.is_static = state & FDB_STATIC_BIT,
		.age_ns = fdb_age_ns(state, now_ns),
	};

	/* If the entry's time is from a clock ahead of ours, its age is 0. */
	if (e.is_static || e.age_ns >> (FDB_SEEN_BITS - 1) != 0)
		e.age_ns = 0;
	for (unsigned int i = 0; i < sizeof(e.mac); i++)
		e.mac[i] = (uint8_t)(key >> (40 - 8 * i));
	return e;
}

uint32_t
fdb_read(const struct fdb *fdb, uint32_t *at, struct fdb_entry out[], uint32_t n, uint64_t now_ns)
{
	uint64_t all = (fdb->mask + 1ull) * FDB_SLOTS;
	uint64_t end = min_u64((uint64_t)*at + FDB_STEP_BUCKETS * FDB_SLOTS, all);
	uint32_t found = 0;

	if (*at == FDB_READ_END)
		return 0;
	for (; *at < end && found < n; ++*at) {
		const struct fdb_bucket *b = &fdb->buckets[*at / FDB_SLOTS];
		const uint64_t *place = &b->key[*at % FDB_SLOTS];
		uint64_t key = __atomic_load_n(place, __ATOMIC_ACQUIRE);
		uint64_t state = __atomic_load_n(&b->state[*at % FDB_SLOTS], __ATOMIC_ACQUIRE);

		/* A slot whose key changes meanwhile is skipped. */
		if (key != FDB_FREE_KEY && !fdb_aged(fdb, state, now_ns) &&
		    __atomic_load_n(place, __ATOMIC_RELAXED) == key)
			out[found++] = entry_of(key, state, now_ns);
	}
	if (*at >= all)
		*at = FDB_READ_END;
	return found;
}
