// SPDX-License-Identifier: BSD-3-Clause
#include "tm/mmu_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"

#define UNLIMITED (UINT64_MAX / 2)

/* A profile makes four rules: of a lossy and of a lossless group, and of such queues. */
enum { RULE_PG, RULE_QUEUE, RULE_SIDES };
#define RULES_PER_PROFILE (2 * RULE_SIDES)

static struct mmu_rule
make_rule(const struct buffer_profile *b, struct mmu_part *part, enum mmu_pool_id pool,
	  bool lossless)
{
	struct mmu_rule r = {
		.pool = &part->pools[pool],
		.part = part,
		.reserved_bytes = b->size_bytes,
		.headroom_bytes = lossless ? b->xoff_bytes : 0,
		.xon_bytes = b->xon_bytes,
		.xon_offset_bytes = max_u64(b->xon_offset_bytes, 1),
		.lossless = lossless,
		.unlimited = !b->dynamic && b->static_th_bytes == 0,
	};

	if (b->dynamic)
		r.alpha_q8 = 1u << (b->dynamic_th + MMU_ALPHA_BITS);
	else
		r.fixed_bytes = r.unlimited ? UNLIMITED : b->static_th_bytes;
	return r;
}

static void
make_pools(struct mmu_part *part, const struct mmu_params *params)
{
	struct mmu_budget b = mmu_params_budget(params);

	part->pools[MMU_INGRESS_LOSSLESS].size_bytes = b.shared_bytes;
	part->pools[MMU_INGRESS_LOSSY].size_bytes = b.lossy_bytes;
	part->pools[MMU_EGRESS_LOSSLESS].size_bytes = b.egress_shared_bytes;
	part->pools[MMU_EGRESS_LOSSY].size_bytes = b.egress_lossy_bytes;
	part->headroom_size_bytes = params->shared_headroom_pool_bytes > 0
					    ? params->shared_headroom_pool_bytes
					    : UINT64_MAX;
}

static uint32_t
rules_of_part(const struct mmu_params *p)
{
	return (p->n_profiles + 1u) * RULES_PER_PROFILE;
}

static struct mmu_rule *
rule_at(struct mmu_rule *rules, uint8_t profile, unsigned int side, bool lossless)
{
	return &rules[profile * RULES_PER_PROFILE + 2 * side + lossless];
}

static void
make_rules(struct mmu_rule *rules, struct mmu_part *part, const struct mmu_params *p)
{
	enum mmu_pool_id lossy = p->lossy_pool_bytes > 0 ? MMU_INGRESS_LOSSY : MMU_INGRESS_LOSSLESS;
	enum mmu_pool_id egress_lossy =
		p->egress_lossy_pool_bytes > 0 ? MMU_EGRESS_LOSSY : MMU_EGRESS_LOSSLESS;

	for (unsigned int i = 0; i <= p->n_profiles; i++) {
		const struct buffer_profile *own = i > 0 ? &p->profiles[i - 1] : NULL;
		uint8_t n = (uint8_t)i;

		*rule_at(rules, n, RULE_PG, false) =
			make_rule(own != NULL ? own : &p->lossy, part, lossy, false);
		*rule_at(rules, n, RULE_PG, true) = make_rule(own != NULL ? own : &p->lossless,
							      part, MMU_INGRESS_LOSSLESS, true);
		*rule_at(rules, n, RULE_QUEUE, false) =
			make_rule(own != NULL ? own : &p->egress_lossy, part, egress_lossy, false);
		*rule_at(rules, n, RULE_QUEUE, true) = make_rule(
			own != NULL ? own : &p->egress_lossless, part, MMU_EGRESS_LOSSLESS, false);
	}
}

static void
bind_rules(struct mmu *mmu, const struct mmu_params *p, const uint8_t part_of_port[])
{
	for (unsigned int i = 0; i < p->n_ports * TM_CLASSES; i++) {
		unsigned int port = i / TM_CLASSES, n = i % TM_CLASSES;
		struct mmu_rule *rules = &mmu->rules[part_of_port[port] * rules_of_part(p)];

		assert(part_of_port[port] < mmu->n_parts);
		mmu->pgs[i].rule =
			rule_at(rules, p->pg_profile[port][n], RULE_PG, p->lossless_pgs >> n & 1);
		mmu->queues[i].rule = rule_at(rules, p->queue_profile[port][n], RULE_QUEUE,
					      p->lossless_queues >> n & 1);
	}
}

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
	mmu->rules = calloc((size_t)n_parts * rules_of_part(params), sizeof(mmu->rules[0]));
	if (mmu->parts == NULL || mmu->queues == NULL || mmu->rules == NULL) {
		mmu_destroy(mmu);
		return NULL;
	}
	mmu->n_parts = n_parts;
	mmu->n_ports = params->n_ports;
	mmu->cell_bytes = params->cell_bytes;
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
	for (uint16_t i = 0; i < n_parts; i++) {
		make_pools(&mmu->parts[i], params);
		make_rules(&mmu->rules[i * rules_of_part(params)], &mmu->parts[i], params);
	}
	bind_rules(mmu, params, part_of_port);
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
	const struct mmu_pg *pg = pg_at(mmu, port, pg_index);
	uint64_t used_bytes = counter_read(&pg->used_bytes);
	/* Beside the owner one may have moved before the other is read. */
	uint64_t headroom_bytes = min_u64(counter_read(&pg->headroom_bytes), used_bytes);
	uint64_t shared_bytes = sub_sat(used_bytes - headroom_bytes, pg->rule->reserved_bytes);

	return (struct mmu_pg_state){
		.reserved_bytes = used_bytes - headroom_bytes - shared_bytes,
		.shared_bytes = shared_bytes,
		.headroom_bytes = headroom_bytes,
	};
}

uint64_t
mmu_queue_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue)
{
	return queue_at(mmu, port, queue)->used_bytes;
}

uint64_t
mmu_pg_limit_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	return mmu_limit(pg_at(mmu, port, pg)->rule);
}
