/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared buffer of one switch: who may occupy how many bytes, and when a priority group must pause
 * its peer.
 *
 * Rules of SAI and Broadcom (reserved, shared with a static or dynamic threshold, headroom): a
 * frame is charged to its ingress (port, PG) once and to each egress (port, queue) that holds a
 * copy. PFC is decided from the ingress side only.
 *
 *   pool:    buffer - reserved of all PGs - headroom (dedicated: of each lossless PG; or one shared
 *            headroom pool) is what PGs share. Egress has a budget of its own, the buffer less the
 *            queues' reserved bytes; queues without a limit do not ask it.
 *   ingress: reserved first (a frame may straddle); else shared while headroom is empty and
 *            shr + s <= limit and the pool has room; else headroom if lossless and it fits;
 *            else drop.
 *   limit:   static_th, or 2^dynamic_th * (free shared bytes of the pool).
 *   release: headroom first, then shared, then reserved.
 *   XON:     headroom empty and shr <= max(xon, limit - xon_offset), the XON mark.
 *   XOFF:    headroom in use, or shr >= limit and above the XON mark.
 *
 * One greedy PG under alpha = 2^dynamic_th settles at alpha/(1 + alpha) of the shared pool, k of
 * them at alpha/(1 + k alpha) each.
 *
 * Invariants (tested): sum of PGs = pool use; admitted = occupied + released; no counter goes
 * negative.
 */
#ifndef QUENCH_TM_MMU_H
#define QUENCH_TM_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "tm/qos_map.h"

/* SONiC's BUFFER_PROFILE. Used for PGs (ingress) and queues (egress). */
struct buffer_profile {
	uint64_t size_bytes;      /* reserved */
	int8_t dynamic_th;        /* limit = 2^n x free shared; -8..7 */
	bool dynamic;             /* false: static_th_bytes is the limit */
	uint64_t static_th_bytes; /* 0: unlimited */
	uint64_t xon_bytes;
	uint64_t xon_offset_bytes;
	uint64_t xoff_bytes; /* headroom of one PG; lossless PGs only */
};

struct mmu_params {
	uint64_t buffer_bytes;               /* all of it, reserved and headroom included */
	uint64_t shared_headroom_pool_bytes; /* 0: headroom is dedicated to each PG */
	uint16_t cell_bytes;            /* 0: byte exact; else frames are rounded up to cells */
	struct buffer_profile lossless; /* ingress PGs in lossless_pgs */
	struct buffer_profile lossy;    /* the other PGs */
	struct buffer_profile egress_lossless; /* queues in lossless_queues */
	struct buffer_profile egress_lossy;    /* the other queues */
	uint8_t lossless_pgs;                  /* mask */
	uint8_t lossless_queues;               /* mask */
	uint16_t n_ports;
};

/* Tables over struct mmu_params (its own members) and over struct buffer_profile. The four profiles
 * have the same keys as far as they apply, and defaults of their own; buffer_profile_fields is
 * lossless's. */
extern const struct field mmu_fields[];
extern const unsigned int mmu_fields_n;
extern const struct field buffer_profile_fields[];
extern const unsigned int buffer_profile_fields_n;
extern const struct field buffer_profile_lossy_fields[];
extern const unsigned int buffer_profile_lossy_fields_n;
extern const struct field buffer_profile_egress_lossless_fields[];
extern const unsigned int buffer_profile_egress_lossless_fields_n;
extern const struct field buffer_profile_egress_lossy_fields[];
extern const unsigned int buffer_profile_egress_lossy_fields_n;

/* How buffer_bytes is divided. */
struct mmu_budget {
	uint64_t reserved_bytes; /* of all PGs */
	uint64_t headroom_bytes; /* of all lossless PGs, or the shared headroom pool */
	uint64_t shared_bytes;   /* what remains; 0 when the others exceed the buffer */
	uint64_t egress_reserved_bytes;
	uint64_t egress_shared_bytes;
};

struct mmu_budget mmu_params_budget(const struct mmu_params *params);

/** @return 0, or -EINVAL with a clause in why (reserved + headroom must fit the buffer, and so on).
 */
int mmu_params_check(const struct mmu_params *params, char *why, unsigned int why_size);

enum mmu_verdict {
	MMU_ADMIT,
	MMU_ADMIT_HEADROOM,
	MMU_DROP_PG_LIMIT,    /* lossy PG at its limit */
	MMU_DROP_NO_HEADROOM, /* lossless PG with its headroom exhausted: a configuration or peer
				 fault */
	MMU_DROP_POOL,        /* no free shared bytes */
	MMU_DROP_QUEUE_LIMIT, /* egress queue at its limit */
};

static inline bool
mmu_admitted(enum mmu_verdict v)
{
	return v <= MMU_ADMIT_HEADROOM;
}

struct mmu;

/** @return the MMU, owned by the caller, or NULL with errno set. params are copied. */
struct mmu *mmu_create(const struct mmu_params *params);
void mmu_destroy(struct mmu *mmu);

/** Bytes that a frame (with FCS) is charged: rounded up to cells. */
uint32_t mmu_charge_bytes(const struct mmu *mmu, uint32_t frame_bytes);

/** Decide and, if admitted, charge. bytes are those of mmu_charge_bytes(), here and below. */
enum mmu_verdict mmu_ingress_admit(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes);
void mmu_ingress_release(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes);
enum mmu_verdict mmu_egress_admit(struct mmu *mmu, uint16_t port, uint8_t queue, uint32_t bytes);
void mmu_egress_release(struct mmu *mmu, uint16_t port, uint8_t queue, uint32_t bytes);

/**
 * Should this PG's peer be paused? Given its present state, so that XOFF and XON have their
 * hysteresis. Always false for a lossy PG. Ask after every admission and every release of the PG:
 * under a dynamic threshold the limit moves with the use of others.
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
/** Bytes of headroom in use, all PGs. */
uint64_t mmu_headroom_used_bytes(const struct mmu *mmu);
/** Limit on a PG's shared bytes at this moment; UINT64_MAX / 2 or more when there is none. */
uint64_t mmu_pg_limit_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg);
/** Recompute sums from parts; true when they agree. For tests and a running switch's self-check. */
bool mmu_balanced(const struct mmu *mmu);

#endif
