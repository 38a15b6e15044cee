/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared buffer of one switch: who may occupy how many bytes, and when a priority group must pause its peer.
 *
 * Rules of SAI and Broadcom (reserved, shared with a static or dynamic threshold, headroom): a frame is
 * charged to its ingress (port, PG) once and to each egress (port, queue) that holds a copy. PFC is decided
 * from the ingress side only.
 *
 *   ingress: reserved first (a frame may straddle into shared); else shared while headroom is empty and
 *            shr + s <= limit and the pool has room; else headroom if lossless and it fits; else drop.
 *   limit:   static_th, or 2^dynamic_th * (free shared bytes of the pool).
 *   release: headroom first, then shared, then reserved.
 *   XOFF:    headroom in use, or shr >= limit.  XON: headroom empty and shr <= max(xon, limit - xon_offset).
 *
 * Invariants (tested): sum of PGs = pool use; admitted = occupied + released; no counter goes negative.
 */
#ifndef QUENCH_TM_MMU_H
#define QUENCH_TM_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "tm/qos_map.h"

/* SONiC's BUFFER_PROFILE. Used for PGs (ingress) and queues (egress). */
struct buffer_profile {
	uint64_t size_bytes;       /* reserved */
	int8_t dynamic_th;         /* limit = 2^n x free shared; -8..7 */
	bool dynamic;              /* false: static_th_bytes is the limit */
	uint64_t static_th_bytes;  /* 0: unlimited */
	uint64_t xon_bytes;
	uint64_t xon_offset_bytes;
	uint64_t xoff_bytes;       /* headroom of one PG; lossless PGs only */
};

extern const struct field buffer_profile_fields[];
extern const unsigned int buffer_profile_fields_n;

struct mmu_params {
	uint64_t buffer_bytes;               /* all of it, reserved and headroom included */
	uint64_t shared_headroom_pool_bytes; /* 0: headroom is dedicated to each PG */
	uint16_t cell_bytes;                 /* 0: byte exact; else frames are rounded up to cells */
	struct buffer_profile lossless;      /* ingress PGs in lossless_pgs */
	struct buffer_profile lossy;         /* the other PGs */
	struct buffer_profile egress_lossless; /* queues of lossless traffic: static_th 0 = the whole pool */
	struct buffer_profile egress_lossy;
	uint8_t lossless_pgs;                /* mask */
	uint8_t lossless_queues;             /* mask */
	uint16_t n_ports;
};

/** @return 0, or -EINVAL with a clause in why (reserved + headroom must fit the buffer, and so on). */
int mmu_params_check(const struct mmu_params *params, char *why, unsigned int why_size);

enum mmu_verdict {
	MMU_ADMIT,
	MMU_ADMIT_HEADROOM,
	MMU_DROP_PG_LIMIT,     /* lossy PG at its limit */
	MMU_DROP_NO_HEADROOM,  /* lossless PG with its headroom exhausted: a configuration or peer fault */
	MMU_DROP_POOL,         /* no free shared bytes */
	MMU_DROP_QUEUE_LIMIT,  /* egress queue at its limit */
};

struct mmu;

/** @return the MMU, owned by the caller, or NULL with errno set. params are copied. */
struct mmu *mmu_create(const struct mmu_params *params);
void mmu_destroy(struct mmu *mmu);

/** Bytes that a frame (with FCS) is charged: rounded up to cells. */
uint32_t mmu_charge_bytes(const struct mmu *mmu, uint32_t frame_bytes);

/** Decide and, if admitted, charge. */
enum mmu_verdict mmu_ingress_admit(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes);
void mmu_ingress_release(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes);
enum mmu_verdict mmu_egress_admit(struct mmu *mmu, uint16_t port, uint8_t queue, uint32_t bytes);
void mmu_egress_release(struct mmu *mmu, uint16_t port, uint8_t queue, uint32_t bytes);

/**
 * Should this PG's peer be paused? Given its present state, so that XOFF and XON have their hysteresis.
 * Always false for a lossy PG. Ask after every admission and every release of the PG.
 */
bool mmu_pg_wants_xoff(const struct mmu *mmu, uint16_t port, uint8_t pg, bool xoff_now);

struct mmu_pg_state {
	uint64_t reserved_bytes, shared_bytes, headroom_bytes;
	uint64_t watermark_bytes, headroom_watermark_bytes; /* peaks since creation */
};

struct mmu_pg_state mmu_pg_state(const struct mmu *mmu, uint16_t port, uint8_t pg);
uint64_t mmu_queue_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue);
uint64_t mmu_queue_watermark_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue);
/** Bytes charged on the ingress side, all PGs. */
uint64_t mmu_used_bytes(const struct mmu *mmu);
uint64_t mmu_used_watermark_bytes(const struct mmu *mmu);
/** Limit on a PG's shared bytes at this moment. */
uint64_t mmu_pg_limit_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg);
/** Recompute sums from parts; true when they agree. For tests and a running switch's self-check. */
bool mmu_balanced(const struct mmu *mmu);

#endif
