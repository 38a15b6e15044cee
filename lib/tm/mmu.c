// SPDX-License-Identifier: BSD-3-Clause
#include "tm/mmu_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/words.h"

/* Zeros that begin on a cache line, or NULL with errno set. */
static void *
alloc_lines(size_t bytes)
{
	size_t whole = (bytes + MMU_LINE_BYTES - 1) / MMU_LINE_BYTES * MMU_LINE_BYTES;
	void *p = aligned_alloc(MMU_LINE_BYTES, whole);

	if (p != NULL)
		memset(p, 0, whole);
	return p;
}

static struct mmu *
alloc_mmu(const struct mmu_params *params, uint16_t n_parts)
{
	size_t n = (size_t)params->n_ports * TM_CLASSES;
	struct mmu *mmu = alloc_lines(sizeof(*mmu) + n * sizeof(mmu->pgs[0]));

	if (mmu == NULL)
		return NULL;
	mmu->parts = alloc_lines(n_parts * sizeof(mmu->parts[0]));
	mmu->queues = alloc_lines(n * sizeof(mmu->queues[0]));
	mmu->rules = calloc((size_t)n_parts * MMU_PART_RULES, sizeof(mmu->rules[0]));
	if (mmu->parts == NULL || mmu->queues == NULL || mmu->rules == NULL) {
		mmu_destroy(mmu);
		return NULL;
	}
	mmu->n_parts = n_parts;
	mmu->n_ports = params->n_ports;
	mmu->cell_bytes = params->cell_bytes;
	mmu->packets = params->packets;
	return mmu;
}

struct mmu *
mmu_create_parts(const struct mmu_params *params, uint16_t n_parts, const uint8_t part_of_port[])
{
	char why[256];
	struct mmu *mmu;

	if (n_parts == 0 || n_parts > MMU_MAX_PARTS ||
	    mmu_params_check(params, why, sizeof(why)) < 0) {
		errno = EINVAL;
		return NULL;
	}
	mmu = alloc_mmu(params, n_parts);
	if (mmu == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	for (uint16_t i = 0; i < params->n_ports; i++) {
		assert(part_of_port[i] < n_parts);
		mmu->part_of_port[i] = part_of_port[i];
	}
	for (uint16_t i = 0; i < n_parts; i++)
		mmu_part_set_params(mmu, i, params);
	return mmu;
}

struct mmu *
mmu_create(const struct mmu_params *params)
{
	static const uint8_t all_in_one[MMU_MAX_PORTS];

	return mmu_create_parts(params, 1, all_in_one);
}

void
mmu_destroy(struct mmu *mmu)
{
	if (mmu == NULL)
		return;
	free(mmu->parts);
	free(mmu->queues);
	free(mmu->rules);
	free(mmu);
}

/* What reserved does not hold goes to headroom, the PG's own or of the shared headroom pool. */
enum mmu_verdict
mmu_admit_headroom(struct mmu_pg *pg, uint32_t bytes, uint64_t beyond_bytes)
{
	struct mmu_part *part = pg->rule->part;

	if (pg->headroom_bytes + beyond_bytes > pg->rule->headroom_bytes ||
	    part->headroom_used_bytes + beyond_bytes > part->headroom_size_bytes)
		return MMU_DROP_NO_HEADROOM;
	part->headroom_used_bytes += beyond_bytes;
	mmu_peak_raise(&part->headroom_peak, part->headroom_used_bytes);
	pg->headroom_bytes += beyond_bytes;
	mmu_peak_raise(&pg->headroom_peak, pg->headroom_bytes);
	pg->used_bytes += bytes;
	mmu_peak_raise(&pg->peak, pg->used_bytes);
	mmu_pool_charge(pg->rule->pool, bytes, 0);
	return MMU_ADMIT_HEADROOM;
}

static const struct mmu_pg *
pg_at(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	assert(port < mmu->n_ports && pg < TM_CLASSES);
	return &mmu->pgs[port * TM_CLASSES + pg];
}

static const struct mmu_queue *
queue_at(const struct mmu *mmu, uint16_t port, uint8_t queue)
{
	assert(port < mmu->n_ports && queue < TM_CLASSES);
	return &mmu->queues[port * TM_CLASSES + queue];
}

struct mmu_pg_state
mmu_pg_state(const struct mmu *mmu, uint16_t port, uint8_t pg_index)
{
	uint64_t headroom_bytes, shared_bytes;
	struct mmu_rule rule;
	struct mmu_pg pg;

	words_read(&pg, pg_at(mmu, port, pg_index), sizeof(pg));
	words_read(&rule, pg.rule, sizeof(rule));
	/* Beside the owner one may have moved before the other is read. */
	headroom_bytes = min_u64(pg.headroom_bytes, pg.used_bytes);
	shared_bytes = sub_sat(pg.used_bytes - headroom_bytes, rule.reserved_bytes);
	return (struct mmu_pg_state){
		.reserved_bytes = pg.used_bytes - headroom_bytes - shared_bytes,
		.shared_bytes = shared_bytes,
		.headroom_bytes = headroom_bytes,
		.packets = pg.packets,
	};
}

uint64_t
mmu_queue_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue)
{
	return queue_at(mmu, port, queue)->used_bytes;
}

/* What is in force now, for a reader beside the owner. */
static uint64_t
read_limit(const struct mmu *mmu, uint16_t port, uint8_t pg_index, struct mmu_rule *rule)
{
	struct mmu_pool pool;
	struct mmu_pg pg;

	words_read(&pg, pg_at(mmu, port, pg_index), sizeof(pg));
	words_read(rule, pg.rule, sizeof(*rule));
	words_read(&pool, rule->pool, sizeof(pool));
	return mmu_limit_at(rule, mmu_pool_free(&pool));
}

uint64_t
mmu_pg_limit_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	struct mmu_rule rule;

	return read_limit(mmu, port, pg, &rule);
}

uint64_t
mmu_pg_xon_mark_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	struct mmu_rule rule;
	uint64_t limit_bytes = read_limit(mmu, port, pg, &rule);

	return mmu_xon_mark(&rule, limit_bytes);
}
