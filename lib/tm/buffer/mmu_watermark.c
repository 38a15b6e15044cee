// SPDX-License-Identifier: BSD-3-Clause
/* Watermarks of the buffer: read and cleared by kind. */
#include "base/threads/counter.h"
#include "tm/buffer/mmu_part.h"

static const char *const watermark_names[MMU_WATERMARKS] = {
	[MMU_WATERMARK_PG] = "pg",
	[MMU_WATERMARK_PG_SHARED] = "pg_shared",
	[MMU_WATERMARK_PG_HEADROOM] = "pg_headroom",
	[MMU_WATERMARK_QUEUE] = "queue",
	[MMU_WATERMARK_POOL] = "buffer_pool",
	[MMU_WATERMARK_HEADROOM_POOL] = "headroom_pool",
};

static const char *const pool_names[MMU_POOLS] = {
	[MMU_INGRESS_LOSSLESS] = "ingress_lossless_pool",
	[MMU_INGRESS_LOSSY] = "ingress_lossy_pool",
	[MMU_EGRESS_LOSSLESS] = "egress_lossless_pool",
	[MMU_EGRESS_LOSSY] = "egress_lossy_pool",
};

const char *
mmu_watermark_name(enum mmu_watermark kind)
{
	return (unsigned int)kind < MMU_WATERMARKS ? watermark_names[kind] : "unknown";
}

const char *
mmu_pool_name(enum mmu_pool_id pool)
{
	return (unsigned int)pool < MMU_POOLS ? pool_names[pool] : "unknown";
}

/* index: port * TM_CLASSES + class, or a pool number, or 0. Pools: as this part sees them. */
static struct mmu_peak *
peak_at(struct mmu *mmu, struct mmu_part *part, enum mmu_watermark kind, unsigned int index)
{
	switch (kind) {
	case MMU_WATERMARK_PG:
		return &mmu->pgs[index].peak;
	case MMU_WATERMARK_PG_SHARED:
		return &mmu->pgs[index].shared_peak;
	case MMU_WATERMARK_PG_HEADROOM:
		return &mmu->pgs[index].headroom_peak;
	case MMU_WATERMARK_QUEUE:
		return &mmu->queues[index].peak;
	case MMU_WATERMARK_POOL:
		return &part->pools[index].peak;
	case MMU_WATERMARK_HEADROOM_POOL:
	case MMU_WATERMARKS:
		break;
	}
	return &part->headroom_peak;
}

/* Current value of a watermark's quantity. By the part's owner. */
static uint64_t
bytes_at(const struct mmu *mmu, const struct mmu_part *part, enum mmu_watermark kind,
	 unsigned int index)
{
	switch (kind) {
	case MMU_WATERMARK_PG:
		return mmu->pgs[index].used_bytes;
	case MMU_WATERMARK_PG_SHARED:
		return mmu_pg_shared(&mmu->pgs[index]);
	case MMU_WATERMARK_PG_HEADROOM:
		return mmu->pgs[index].headroom_bytes;
	case MMU_WATERMARK_QUEUE:
		return mmu->queues[index].used_bytes;
	case MMU_WATERMARK_POOL:
		return part->pools[index].used_bytes;
	case MMU_WATERMARK_HEADROOM_POOL:
	case MMU_WATERMARKS:
		break;
	}
	return part->headroom_used_bytes;
}

static unsigned int
gauges(const struct mmu *mmu, enum mmu_watermark kind)
{
	if (kind == MMU_WATERMARK_POOL)
		return MMU_POOLS;
	return kind == MMU_WATERMARK_HEADROOM_POOL ? 1 : mmu->n_ports * TM_CLASSES;
}

/* Index of a gauge among those of its kind. */
static unsigned int
gauge_index(const struct mmu *mmu, enum mmu_watermark kind, uint16_t port, uint8_t index)
{
	unsigned int i = index;

	if (kind < MMU_WATERMARK_POOL)
		i += port * TM_CLASSES;
	else if (kind == MMU_WATERMARK_HEADROOM_POOL)
		i = 0;
	assert(i < gauges(mmu, kind));
	return i;
}

/* The peak of a pool is the highest that any part has seen. */
static struct mmu_peak
peak_of(const struct mmu *mmu, enum mmu_watermark kind, uint16_t port, uint8_t index)
{
	unsigned int i = gauge_index(mmu, kind, port, index);
	struct mmu_peak highest = {0};

	for (uint16_t part = 0; part < mmu->n_parts; part++) {
		const struct mmu_peak *peak =
			peak_at((struct mmu *)mmu, &mmu->parts[part], kind, i);

		mmu_peak_raise(&highest, counter_read(&peak->bytes));
		highest.past_bytes = max_u64(highest.past_bytes, counter_read(&peak->past_bytes));
	}
	return highest;
}

uint64_t
mmu_watermark_bytes(const struct mmu *mmu, enum mmu_watermark kind, uint16_t port, uint8_t index)
{
	return peak_of(mmu, kind, port, index).bytes;
}

uint64_t
mmu_persistent_watermark_bytes(const struct mmu *mmu, enum mmu_watermark kind, uint16_t port,
			       uint8_t index)
{
	struct mmu_peak peak = peak_of(mmu, kind, port, index);

	return max_u64(peak.bytes, peak.past_bytes);
}

static void
restart_peak(struct mmu_peak *peak, uint64_t now_bytes)
{
	__atomic_store_n(&peak->past_bytes, max_u64(peak->past_bytes, peak->bytes),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&peak->bytes, now_bytes, __ATOMIC_RELAXED);
}

uint64_t
mmu_part_take_watermark_bytes(struct mmu *mmu, uint16_t part, enum mmu_watermark kind,
			      uint16_t port, uint8_t index)
{
	unsigned int i = gauge_index(mmu, kind, port, index);
	struct mmu_peak *peak = peak_at(mmu, &mmu->parts[part], kind, i);
	uint64_t peak_bytes = peak->bytes;

	restart_peak(peak, bytes_at(mmu, &mmu->parts[part], kind, i));
	return peak_bytes;
}

void
mmu_part_clear_watermarks(struct mmu *mmu, uint16_t part, enum mmu_watermark kind)
{
	struct mmu_part *p = &mmu->parts[part];

	for (unsigned int i = 0; i < gauges(mmu, kind); i++) {
		/* Each part has its own pool peaks. */
		if (kind >= MMU_WATERMARK_POOL || mmu->part_of_port[i / TM_CLASSES] == part)
			restart_peak(peak_at(mmu, p, kind, i), bytes_at(mmu, p, kind, i));
	}
}
