/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that belong to the owner of the data path (addresses, neighbours), read by others: they
 * ask, the owner copies a bounded number of rows before its next frame, and they go on from there.
 * Addresses: at most SW_SNAPSHOT_ROWS of the next few hundred places, about a microsecond.
 * Watermarks of a kind, read and cleared at once: those of port number at; or of a pool, those
 * of shard number at, of which the highest is the pool's.
 *
 * The reader waits as it likes: one that has waited long enough withdraws. One reader at a time.
 */
#ifndef QUENCH_SWITCH_CONTROL_SNAPSHOT_H
#define QUENCH_SWITCH_CONTROL_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "fwd/fdb_read.h"
#include "fwd/neigh.h"
#include "tm/mmu.h"

struct node;
struct sw;

#define SW_SNAPSHOT_ROWS 64u
/* There is nothing after this. */
#define SW_SNAPSHOT_END UINT32_MAX

enum sw_snapshot_table { SW_SNAPSHOT_FDB, SW_SNAPSHOT_NEIGH, SW_SNAPSHOT_WATERMARKS };

struct sw_snapshot {
	enum sw_snapshot_table table;
	uint32_t at; /* 0, then as the last one left it; SW_SNAPSHOT_END: that was all */
	uint32_t n;  /* rows found; 0 does not mean that there are no more */
	uint32_t done;
	struct sw *owner;        /* who was asked */
	enum mmu_watermark kind; /* SW_SNAPSHOT_WATERMARKS */
	union {
		struct fdb_entry fdb[SW_SNAPSHOT_ROWS];
		struct neigh neigh[SW_SNAPSHOT_ROWS];
		uint64_t watermark_bytes[TM_CLASSES]; /* n of them, by index */
	};
};

/** Ask for the rows from s->at on. s belongs to the owner until it is done or withdrawn. */
void sw_snapshot_ask(struct node *node, struct sw_snapshot *s);
bool sw_snapshot_is_done(const struct sw_snapshot *s);
/** Do not wait any longer. @return false: too late, it will be done in a moment. */
bool sw_snapshot_withdraw(struct sw_snapshot *s);

/** Read what another thread waits for; by the owner. */
void sw_do_snapshot(struct sw *sw, uint64_t now_ns);

#endif
