/* SPDX-License-Identifier: BSD-3-Clause */
/* Params prepared for the data path: rules of groups and queues, and pool sizes. */
#include "tm/buffer/mmu_part.h"

#define UNLIMITED (UINT64_MAX / 2)

enum { RULE_PG, RULE_QUEUE };

/* Packets in proportion to bytes, rounded down, plus 1. */
static uint64_t
packets_of(const struct mmu_params *params, uint64_t bytes)
{
	return mul_div(bytes, params->packets, params->buffer_bytes) + 1;
}

static void
set_packets(struct mmu_rule *r, const struct mmu_params *params)
{
	r->reserved_packets = mmu_params_most_packets(params, r->reserved_bytes);
	r->xon_offset_packets = packets_of(params, r->xon_offset_bytes);
	if (r->unlimited)
		r->fixed_packets = UNLIMITED;
	else if (r->fixed_bytes > 0)
		r->fixed_packets = packets_of(params, r->fixed_bytes);
}

static struct mmu_rule
make_rule(const struct mmu_params *params, const struct buffer_profile *b, struct mmu_part *part,
	  enum mmu_pool_id pool, bool lossless)
{
	struct mmu_rule r = {
		.pool = &part->pools[pool],
		.part = part,
		.reserved_bytes = b->size_bytes,
		.xon_bytes = b->xon_bytes,
		.xon_offset_bytes = max_u64(b->xon_offset_bytes, 1),
		.lossless = lossless,
		.unlimited = !b->dynamic && b->static_th_bytes == 0,
	};

	if (b->dynamic)
		r.free_factor_q8 = 1u << (b->dynamic_th + MMU_FREE_FACTOR_BITS);
	else
		r.fixed_bytes = r.unlimited ? UNLIMITED : b->static_th_bytes;
	set_packets(&r, params);
	return r;
}

/* Atomically, because other threads read the sizes. */
static void
set_size(uint64_t *size, uint64_t bytes)
{
	__atomic_store_n(size, bytes, __ATOMIC_RELAXED);
}

static void
set_lags(struct mmu_part *part, uint16_t n_parts)
{
	for (unsigned int i = 0; i < MMU_POOLS; i++)
		part->lag_bytes[i] =
			mmu_part_lag(part->pools[i].size_bytes, n_parts, MMU_MIN_LAG_BYTES);
	for (unsigned int i = 0; i < MMU_INGRESS_POOLS; i++)
		part->lag_packets[i] =
			mmu_part_lag(part->pools[i].size_packets, n_parts, MMU_MIN_LAG_PACKETS);
}

static void
set_pools(struct mmu_part *part, const struct mmu_params *params)
{
	struct mmu_budget b = mmu_params_budget(params);

	set_size(&part->pools[MMU_INGRESS_LOSSLESS].size_bytes, b.shared_bytes);
	set_size(&part->pools[MMU_INGRESS_LOSSY].size_bytes, b.lossy_bytes);
	set_size(&part->pools[MMU_EGRESS_LOSSLESS].size_bytes, b.egress_shared_bytes);
	set_size(&part->pools[MMU_EGRESS_LOSSY].size_bytes, b.egress_lossy_bytes);
	set_size(&part->pools[MMU_INGRESS_LOSSLESS].size_packets, b.shared_packets);
	set_size(&part->pools[MMU_INGRESS_LOSSY].size_packets, b.lossy_packets);
	part->headroom_size_bytes = params->shared_headroom_pool_bytes > 0
					    ? params->shared_headroom_pool_bytes
					    : UINT64_MAX;
}

static struct mmu_rule *
rule_at(struct mmu_rule *rules, unsigned int profile, unsigned int side, bool lossless)
{
	return &rules[profile * MMU_PROFILE_RULES + 2 * side + lossless];
}

static void
set_rules(struct mmu_rule *rules, struct mmu_part *part, const struct mmu_params *p)
{
	enum mmu_pool_id lossy = p->lossy_pool_bytes > 0 ? MMU_INGRESS_LOSSY : MMU_INGRESS_LOSSLESS;
	enum mmu_pool_id egress_lossy =
		p->egress_lossy_pool_bytes > 0 ? MMU_EGRESS_LOSSY : MMU_EGRESS_LOSSLESS;

	for (unsigned int i = 0; i <= p->n_profiles; i++) {
		const struct buffer_profile *profile = i > 0 ? &p->profiles[i - 1] : NULL;

		*rule_at(rules, i, RULE_PG, false) =
			make_rule(p, profile != NULL ? profile : &p->lossy, part, lossy, false);
		*rule_at(rules, i, RULE_PG, true) =
			make_rule(p, profile != NULL ? profile : &p->lossless, part,
				  MMU_INGRESS_LOSSLESS, true);
		*rule_at(rules, i, RULE_QUEUE, false) = make_rule(
			p, profile != NULL ? profile : &p->egress_lossy, part, egress_lossy, false);
		*rule_at(rules, i, RULE_QUEUE, true) =
			make_rule(p, profile != NULL ? profile : &p->egress_lossless, part,
				  MMU_EGRESS_LOSSLESS, false);
	}
}

/* Headroom use is at most the bytes beyond reserved, and at most the headroom. */
static void
bind_pg(struct mmu_pg *pg, struct mmu_rule *rule, const struct mmu_params *params,
	uint64_t headroom_bytes, struct mmu_use *part_use)
{
	uint64_t beyond_bytes = sub_sat(pg->used_bytes, rule->reserved_bytes);

	pg->rule = rule;
	pg->headroom_size_bytes = headroom_bytes;
	pg->headroom_size_packets = mmu_params_headroom_packets(params, headroom_bytes);
	pg->headroom_bytes = min_u64(pg->headroom_bytes, min_u64(headroom_bytes, beyond_bytes));
	pg->headroom_packets = (uint32_t)min_u64(
		pg->headroom_packets,
		min_u64(pg->headroom_size_packets, sub_sat(pg->packets, rule->reserved_packets)));
	mmu_peak_raise(&pg->shared_peak, mmu_pg_shared(pg));
	part_use->shared_packets[mmu_pool_of(rule)] += mmu_pg_shared_packets(pg);
	part_use->headroom_used_bytes += pg->headroom_bytes;
	part_use->used_bytes[mmu_pool_of(rule)] += pg->used_bytes;
	part_use->shared_used_bytes[mmu_pool_of(rule)] += mmu_pg_shared(pg);
}

static void
bind_queue(struct mmu_queue *q, struct mmu_rule *rule, struct mmu_use *part_use)
{
	q->rule = rule;
	part_use->used_bytes[mmu_pool_of(rule)] += q->used_bytes;
	part_use->shared_used_bytes[mmu_pool_of(rule)] +=
		sub_sat(q->used_bytes, rule->reserved_bytes);
}

/* Bind the part's groups and queues to their new rules. @return their use under these rules. */
static struct mmu_use
bind_ports(struct mmu *mmu, uint16_t part, struct mmu_rule *rules, const struct mmu_params *p)
{
	struct mmu_use part_use = {0};

	for (unsigned int i = 0; i < p->n_ports * TM_CLASSES; i++) {
		unsigned int port = i / TM_CLASSES, n = i % TM_CLASSES;

		if (mmu->part_of_port[port] != part)
			continue;
		bind_pg(&mmu->pgs[i],
			rule_at(rules, p->pg_profile[port][n], RULE_PG,
				p->lossless_pgs[port] >> n & 1),
			p, mmu_pg_headroom(p, (uint16_t)port, (uint8_t)n), &part_use);
		bind_queue(&mmu->queues[i],
			   rule_at(rules, p->queue_profile[port][n], RULE_QUEUE,
				   p->lossless_queues[port] >> n & 1),
			   &part_use);
	}
	return part_use;
}

void
mmu_part_set_params(struct mmu *mmu, uint16_t part, const struct mmu_params *wanted)
{
	struct mmu_params with_packets = *wanted;
	const struct mmu_params *params = &with_packets;
	struct mmu_part *p = &mmu->parts[part];
	struct mmu_rule *rules = &mmu->rules[part * MMU_PART_RULES];
	struct mmu_use part_use;

	with_packets.packets = mmu->packets;
	assert(params->n_ports == mmu->n_ports && params->cell_bytes == mmu->cell_bytes);
	set_pools(p, params);
	set_lags(p, mmu->n_parts);
	set_rules(rules, p, params);
	part_use = bind_ports(mmu, part, rules, params);
	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		p->pools[i].shared_used_bytes =
			part_use.shared_used_bytes[i] + p->others.shared_used_bytes[i];
		p->pools[i].used_bytes = part_use.used_bytes[i] + p->others.used_bytes[i];
		mmu_peak_raise(&p->pools[i].peak, p->pools[i].used_bytes);
	}
	for (unsigned int i = 0; i < MMU_INGRESS_POOLS; i++)
		p->pools[i].shared_packets =
			part_use.shared_packets[i] + p->others.shared_packets[i];
	p->headroom_used_bytes = part_use.headroom_used_bytes + p->others.headroom_used_bytes;
	p->at_change = part_use;
	mmu_part_publish(mmu, part);
}
