/* SPDX-License-Identifier: BSD-3-Clause */
/* Pool use: exchanged between parts of the buffer, and summed over all. */
#include <string.h>

#include "base/threads/counter.h"
#include "tm/buffer/mmu_part.h"

static void
copy_word(uint64_t *to, const uint64_t *from)
{
	__atomic_store_n(to, *from, __ATOMIC_RELAXED);
}

/*
 * Each word has one writer and is read separately, so a sum may combine values from before and
 * after a burst. This is harmless: parts see each other's use with a delay anyway.
 */
static void
add_use(struct mmu_use *sum, const struct mmu_use *use)
{
	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		sum->shared_used_bytes[i] +=
			__atomic_load_n(&use->shared_used_bytes[i], __ATOMIC_RELAXED);
		sum->used_bytes[i] += __atomic_load_n(&use->used_bytes[i], __ATOMIC_RELAXED);
	}
	sum->headroom_used_bytes += __atomic_load_n(&use->headroom_used_bytes, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < MMU_INGRESS_POOLS; i++)
		sum->shared_packets[i] +=
			__atomic_load_n(&use->shared_packets[i], __ATOMIC_RELAXED);
}

void
mmu_part_read_others(struct mmu *mmu, uint16_t part, uint64_t versions)
{
	struct mmu_part *p = &mmu->parts[part];
	struct mmu_use now = {0};

	p->seen_versions = versions;
	for (uint16_t i = 0; i < mmu->n_parts; i++) {
		if (i != part)
			add_use(&now, &mmu->parts[i].own);
	}
	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		p->pools[i].shared_used_bytes +=
			now.shared_used_bytes[i] - p->others.shared_used_bytes[i];
		p->pools[i].used_bytes += now.used_bytes[i] - p->others.used_bytes[i];
	}
	p->headroom_used_bytes += now.headroom_used_bytes - p->others.headroom_used_bytes;
	for (unsigned int i = 0; i < MMU_INGRESS_POOLS; i++)
		p->pools[i].shared_packets += now.shared_packets[i] - p->others.shared_packets[i];
	p->others = now;
}

static struct mmu_use
own_use(const struct mmu_part *p)
{
	struct mmu_use own = {.version = p->own.version};

	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		own.shared_used_bytes[i] =
			p->pools[i].shared_used_bytes - p->others.shared_used_bytes[i];
		own.used_bytes[i] = p->pools[i].used_bytes - p->others.used_bytes[i];
	}
	own.headroom_used_bytes = p->headroom_used_bytes - p->others.headroom_used_bytes;
	for (unsigned int i = 0; i < MMU_INGRESS_POOLS; i++)
		own.shared_packets[i] = p->pools[i].shared_packets - p->others.shared_packets[i];
	return own;
}

/* Is a sum of own and others' use close to what was published and read? */
static inline bool
is_near(uint64_t all, uint64_t others, const uint64_t *published, uint64_t near)
{
	return all - others - *published + near <= 2 * near;
}

void
mmu_part_publish_lazily(struct mmu *mmu, uint16_t part)
{
	const struct mmu_part *p = &mmu->parts[part];
	bool near = is_near(p->headroom_used_bytes, p->others.headroom_used_bytes,
			    &p->own.headroom_used_bytes, 0);

	for (unsigned int i = 0; i < MMU_POOLS; i++)
		near &= is_near(p->pools[i].shared_used_bytes, p->others.shared_used_bytes[i],
				&p->own.shared_used_bytes[i], p->lag_bytes[i]);
	for (unsigned int i = 0; i < MMU_INGRESS_POOLS; i++)
		near &= is_near(p->pools[i].shared_packets, p->others.shared_packets[i],
				&p->own.shared_packets[i], p->lag_packets[i]);
	if (!near)
		mmu_part_publish(mmu, part);
}

bool
mmu_part_is_published(const struct mmu *mmu, uint16_t part)
{
	const struct mmu_part *p = &mmu->parts[part];
	struct mmu_use own = own_use(p);

	return memcmp(&own, &p->own, sizeof(own)) == 0;
}

void
mmu_part_publish(struct mmu *mmu, uint16_t part)
{
	struct mmu_part *p = &mmu->parts[part];
	struct mmu_use own = own_use(p);

	if (memcmp(&own, &p->own, sizeof(own)) == 0)
		return;
	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		copy_word(&p->own.shared_used_bytes[i], &own.shared_used_bytes[i]);
		copy_word(&p->own.used_bytes[i], &own.used_bytes[i]);
	}
	copy_word(&p->own.headroom_used_bytes, &own.headroom_used_bytes);
	for (unsigned int i = 0; i < MMU_INGRESS_POOLS; i++)
		copy_word(&p->own.shared_packets[i], &own.shared_packets[i]);
	__atomic_store_n(&p->own.version, own.version + 1, __ATOMIC_RELEASE);
}

static struct mmu_use
all_use(const struct mmu *mmu)
{
	struct mmu_use sum = {0};

	if (mmu->n_parts == 1)
		return own_use(&mmu->parts[0]);
	for (uint16_t i = 0; i < mmu->n_parts; i++)
		add_use(&sum, &mmu->parts[i].own);
	return sum;
}

uint64_t
mmu_used_bytes(const struct mmu *mmu)
{
	struct mmu_use use = all_use(mmu);

	return use.used_bytes[MMU_INGRESS_LOSSLESS] + use.used_bytes[MMU_INGRESS_LOSSY];
}

uint64_t
mmu_headroom_used_bytes(const struct mmu *mmu)
{
	return all_use(mmu).headroom_used_bytes;
}

uint64_t
mmu_pool_used_bytes(const struct mmu *mmu, enum mmu_pool_id pool)
{
	return all_use(mmu).used_bytes[pool];
}

uint64_t
mmu_pool_size_bytes(const struct mmu *mmu, enum mmu_pool_id pool)
{
	return counter_read(&mmu->parts[0].pools[pool].size_bytes);
}

uint64_t
mmu_pool_used_packets(const struct mmu *mmu, enum mmu_pool_id pool)
{
	return pool < MMU_INGRESS_POOLS ? all_use(mmu).shared_packets[pool] : 0;
}

static bool
agrees(const struct mmu_use *a, const struct mmu_use *b)
{
	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		if (a->shared_used_bytes[i] != b->shared_used_bytes[i] ||
		    a->used_bytes[i] != b->used_bytes[i])
			return false;
	}
	for (unsigned int i = 0; i < MMU_INGRESS_POOLS; i++) {
		if (a->shared_packets[i] != b->shared_packets[i])
			return false;
	}
	return a->headroom_used_bytes == b->headroom_used_bytes;
}

/*
 * A single part exceeds no ingress pool, except by the bytes in use when the pool was made smaller.
 * Egress is not checked: in queues without a limit, copies of flooded frames may exceed the buffer.
 */
static bool
is_within(const struct mmu_part *p, const struct mmu_use *sum)
{
	for (unsigned int i = 0; i <= MMU_INGRESS_LOSSY; i++) {
		if (sum->shared_used_bytes[i] >
		    max_u64(p->pools[i].size_bytes, p->at_change.shared_used_bytes[i]))
			return false;
		if (sum->shared_packets[i] >
		    max_u64(p->pools[i].size_packets, p->at_change.shared_packets[i]))
			return false;
	}
	return sum->headroom_used_bytes <=
	       max_u64(p->headroom_size_bytes, p->at_change.headroom_used_bytes);
}

bool
mmu_balanced(const struct mmu *mmu)
{
	struct mmu_use sum = {0}, use = all_use(mmu);

	for (unsigned int i = 0; i < mmu->n_ports * TM_CLASSES; i++) {
		const struct mmu_pg *pg = &mmu->pgs[i];
		const struct mmu_queue *q = &mmu->queues[i];
		unsigned int in = mmu_pool_of(pg->rule), out = mmu_pool_of(q->rule);

		if (pg->headroom_bytes > pg->headroom_size_bytes ||
		    pg->headroom_packets > pg->headroom_size_packets)
			return false;
		sum.shared_packets[in] += mmu_pg_shared_packets(pg);
		sum.headroom_used_bytes += pg->headroom_bytes;
		sum.used_bytes[in] += pg->used_bytes;
		sum.shared_used_bytes[in] += mmu_pg_shared(pg);
		sum.used_bytes[out] += q->used_bytes;
		sum.shared_used_bytes[out] += sub_sat(q->used_bytes, q->rule->reserved_bytes);
	}
	return agrees(&sum, &use) && (mmu->n_parts > 1 || is_within(&mmu->parts[0], &sum));
}
