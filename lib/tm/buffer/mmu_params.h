/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of a switch's shared buffer: its size, its pools, and the profiles of groups and
 * queues. lib/tm/buffer/mmu.h has the rules.
 *
 * Invariant (mmu_params_check): reserved of all PGs + headroom + lossy pool <= buffer_bytes.
 */
#ifndef QUENCH_TM_BUFFER_MMU_PARAMS_H
#define QUENCH_TM_BUFFER_MMU_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "tm/classes/qos_map.h"

#define MMU_MAX_PORTS 512
#define MMU_MAX_PROFILES 32
#define MMU_PROFILE_NAME 40 /* characters */
#define MMU_SHORTEST_FRAME_BYTES 64u
/*
 * Frames that may be admitted in one burst before XOFF is sent. A group without shared packets
 * needs as many packet buffers in its headroom.
 */
#define MMU_BURST_PACKETS 32u
/* Limit, exclusive, of the number of packet buffers. */
#define MMU_MAX_PACKETS (1u << 24)

/* Kinds of watermarks, with their indices. */
enum mmu_watermark {
	MMU_WATERMARK_PG,          /* port, pg: all bytes held */
	MMU_WATERMARK_PG_SHARED,   /* port, pg: its shared bytes */
	MMU_WATERMARK_PG_HEADROOM, /* port, pg */
	MMU_WATERMARK_QUEUE,       /* port, queue */
	MMU_WATERMARK_POOL,        /* index is enum mmu_pool_id: mmu_pool_used_bytes() */
	MMU_WATERMARK_HEADROOM_POOL,
	MMU_WATERMARKS
};

enum mmu_pool_id {
	MMU_INGRESS_LOSSLESS, /* for all PGs, unless lossy_pool_bytes is set */
	MMU_INGRESS_LOSSY,
	MMU_EGRESS_LOSSLESS, /* for all queues, unless egress_lossy_pool_bytes is set */
	MMU_EGRESS_LOSSY,
	MMU_POOLS
};

/* SONiC's BUFFER_PROFILE, used for PGs (ingress) and queues (egress). */
struct buffer_profile {
	uint64_t size_bytes;      /* reserved */
	int8_t dynamic_th;        /* limit = 2^n x free shared; -8..7 */
	bool dynamic;             /* false: static_th_bytes is the limit */
	uint64_t static_th_bytes; /* 0: unlimited */
	uint64_t xon_bytes;
	uint64_t xon_offset_bytes;
	/* headroom of one PG; only for lossless PGs; or MMU_XOFF_AUTO */
	uint64_t xoff_bytes;
};

/* As much headroom as the link of the group's port needs. */
#define MMU_XOFF_AUTO UINT64_MAX

struct mmu_params {
	uint64_t buffer_bytes;               /* total, including reserved and headroom */
	uint64_t shared_headroom_pool_bytes; /* 0: headroom is dedicated to each PG */
	/* shared by lossy PGs; 0: they use the pool of all PGs */
	uint64_t lossy_pool_bytes;
	/* shared by lossy queues; 0: they use the pool of all queues */
	uint64_t egress_lossy_pool_bytes;
	/* 0: byte exact; else frames are rounded up to cells of this size */
	uint16_t cell_bytes;
	struct buffer_profile lossless;         /* ingress PGs in lossless_pgs */
	struct buffer_profile lossy;            /* the other PGs */
	struct buffer_profile egress_lossless;  /* queues in lossless_queues */
	struct buffer_profile egress_lossy;     /* the other queues */
	uint8_t lossless_pgs[MMU_MAX_PORTS];    /* masks by port */
	uint8_t lossless_queues[MMU_MAX_PORTS]; /* masks by port */
	uint16_t n_ports;
	/* headroom of a group with MMU_XOFF_AUTO, by port: from the code that knows links */
	uint64_t auto_xoff_bytes[MMU_MAX_PORTS];
	/*
	 * Packet buffers that waiting frames may occupy in total; set by the program that allocates
	 * them. 0: not limited, as in the lab, where all frames come from one pool.
	 */
	uint32_t packets;
	/* Profile of a single group or queue: 0 for that of its class, else profiles[n - 1]. */
	struct buffer_profile profiles[MMU_MAX_PROFILES];
	char profile_names[MMU_MAX_PROFILES][MMU_PROFILE_NAME + 1];
	uint8_t n_profiles;
	uint8_t pg_profile[MMU_MAX_PORTS][TM_CLASSES];
	uint8_t queue_profile[MMU_MAX_PORTS][TM_CLASSES];
};

/*
 * Tables for struct mmu_params (its own members) and for struct buffer_profile. The four profiles
 * have the same keys where they apply, with different defaults. buffer_profile_fields is the table
 * of the lossless profile; buffer_profile_named_fields has all keys, for profiles of single groups
 * and queues.
 */
FIELD_TABLE(mmu_fields);
FIELD_TABLE(buffer_profile_fields);
FIELD_TABLE(buffer_profile_lossy_fields);
FIELD_TABLE(buffer_profile_egress_lossless_fields);
FIELD_TABLE(buffer_profile_egress_lossy_fields);
FIELD_TABLE(buffer_profile_named_fields);

/** Active profile of one group. */
const struct buffer_profile *mmu_pg_profile(const struct mmu_params *params, uint16_t port,
					    uint8_t pg);

/** Headroom of one group; 0: it is lossy. */
uint64_t mmu_pg_headroom(const struct mmu_params *params, uint16_t port, uint8_t pg);

/** Number of lossless groups of the port that has most of them. */
unsigned int mmu_params_most_lossless(const struct mmu_params *params);

/* Division of buffer_bytes. */
struct mmu_budget {
	uint64_t reserved_bytes; /* sum over PGs */
	uint64_t headroom_bytes; /* sum over lossless PGs, or the shared headroom pool */
	uint64_t lossy_bytes;    /* lossy_pool_bytes */
	uint64_t shared_bytes;   /* the remainder; 0 when the others exceed the buffer */
	uint64_t egress_reserved_bytes;
	uint64_t egress_shared_bytes;
	uint64_t egress_lossy_bytes;
	/* packet buffers; without params.packets, lossy_packets and shared_packets are 0 */
	uint64_t reserved_packets, headroom_packets, lossy_packets, shared_packets;
};

struct mmu_budget mmu_params_budget(const struct mmu_params *params);

/**
 * Largest number of frames that fit into these bytes, which is that of shortest frames, as they are
 * charged; rounded up.
 */
uint64_t mmu_params_most_packets(const struct mmu_params *params, uint64_t bytes);
/**
 * Packets of a lossless group's headroom: mmu_params_most_packets() of xoff_bytes, plus one burst;
 * without headroom, 0.
 */
uint64_t mmu_params_headroom_packets(const struct mmu_params *params, uint64_t xoff_bytes);

/**
 * Number of packet buffers to allocate for a switch buffer: one for each frame_bytes > 0 of its
 * shared part, plus the largest number of frames that fits into the reserved bytes and headroom of
 * each group, because no other class can use these.
 */
uint64_t mmu_params_packets(const struct mmu_params *params, uint32_t frame_bytes);

/**
 * @return 0, or -EINVAL with a clause in why that names the rule (such as: reserved + headroom must
 *         fit into the buffer).
 */
int mmu_params_check(const struct mmu_params *params, char *why, unsigned int why_size);

#endif
