/* SPDX-License-Identifier: BSD-3-Clause */
/* What the shared buffer of a switch may be told: its size, its pools, and the profiles of groups
 * and queues. lib/tm/mmu.h has the rules. */
#ifndef QUENCH_TM_MMU_PARAMS_H
#define QUENCH_TM_MMU_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "tm/qos_map.h"

#define MMU_MAX_PORTS 64
#define MMU_MAX_PROFILES 32
#define MMU_PROFILE_NAME 40 /* characters */
#define MMU_SHORTEST_FRAME_BYTES 64u
/* Frames that are admitted together before XOFF is asked for: a group without shared packets left
 * begins its headroom with them. */
#define MMU_BURST_PACKETS 32u
/* Packets of all kinds are fewer than this. */
#define MMU_MAX_PACKETS (1u << 24)

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
	uint64_t lossy_pool_bytes;           /* what lossy PGs share; 0: the pool of all PGs */
	uint64_t egress_lossy_pool_bytes;    /* what lossy queues share; 0: that of all queues */
	uint16_t cell_bytes;            /* 0: byte exact; else frames are rounded up to cells */
	struct buffer_profile lossless; /* ingress PGs in lossless_pgs */
	struct buffer_profile lossy;    /* the other PGs */
	struct buffer_profile egress_lossless; /* queues in lossless_queues */
	struct buffer_profile egress_lossy;    /* the other queues */
	uint8_t lossless_pgs;                  /* mask */
	uint8_t lossless_queues;               /* mask */
	uint16_t n_ports;
	/* Packet buffers that frames may occupy together while they wait, of whoever makes them; 0:
	 * they are no resource, as when a lab's frames are all in one pool. */
	uint32_t packets;
	/* Single groups and queues: 0: the profile of their class, n: profiles[n - 1]. */
	struct buffer_profile profiles[MMU_MAX_PROFILES];
	char profile_names[MMU_MAX_PROFILES][MMU_PROFILE_NAME + 1];
	uint8_t n_profiles;
	uint8_t pg_profile[MMU_MAX_PORTS][TM_CLASSES];
	uint8_t queue_profile[MMU_MAX_PORTS][TM_CLASSES];
};

/* Tables over struct mmu_params (its own members) and over struct buffer_profile. The four profiles
 * have the same keys as far as they apply, and defaults of their own; buffer_profile_fields is
 * lossless's, buffer_profile_named_fields has all keys, for profiles of single groups and
 * queues. */
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
extern const struct field buffer_profile_named_fields[];
extern const unsigned int buffer_profile_named_fields_n;

/** Defaults of all tables but the last; n_ports, lossless_pgs and lossless_queues are 0. */
void mmu_params_default(struct mmu_params *params);

/** Profile in force for one group, or for one queue. */
const struct buffer_profile *mmu_pg_profile(const struct mmu_params *params, uint16_t port,
					    uint8_t pg);
const struct buffer_profile *mmu_queue_profile(const struct mmu_params *params, uint16_t port,
					       uint8_t queue);

/* How buffer_bytes is divided. */
struct mmu_budget {
	uint64_t reserved_bytes; /* of all PGs */
	uint64_t headroom_bytes; /* of all lossless PGs, or the shared headroom pool */
	uint64_t lossy_bytes;    /* lossy_pool_bytes */
	uint64_t shared_bytes;   /* what remains; 0 when the others exceed the buffer */
	uint64_t egress_reserved_bytes;
	uint64_t egress_shared_bytes;
	uint64_t egress_lossy_bytes;
	/* of packets; 0 without them */
	uint64_t reserved_packets, headroom_packets, lossy_packets, shared_packets;
};

struct mmu_budget mmu_params_budget(const struct mmu_params *params);

/** Most frames that bytes of the buffer can be: of the shortest frames, as they are charged. */
uint64_t mmu_params_most_packets(const struct mmu_params *params, uint64_t bytes);
/** Packets of a lossless group's headroom: the same of xoff_bytes, and one burst. */
uint64_t mmu_params_headroom_packets(const struct mmu_params *params, uint64_t xoff_bytes);

/**
 * Packets to be made for a buffer: one for each frame_bytes of what is shared, and as many as there
 * can be in what is reserved and in the headroom of each group, so that no class takes those.
 */
uint64_t mmu_params_packets(const struct mmu_params *params, uint32_t frame_bytes);

/** @return 0, or -EINVAL with a clause in why (reserved + headroom must fit the buffer, and so
 * on). */
int mmu_params_check(const struct mmu_params *params, char *why, unsigned int why_size);

#endif
