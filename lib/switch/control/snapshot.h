/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading tables that belong to an owner of the data path, from other threads: the reader requests
 * rows, and the owner copies a bounded number of them before its next frame.
 * - Addresses: at most SW_SNAPSHOT_ROWS from the next few hundred entries, about a microsecond.
 * - Neighbours: at most SW_SNAPSHOT_ROWS.
 * - Watermarks of a kind, read and cleared: `at` is the port; for pools it is the shard, and the
 *   pool's watermark is the highest over all shards.
 * - A queue (control/queue_look.h), its marks (control/mark_look.h), and the way of a flow
 *   (control/route_look.h).
 *
 * Invariant: at most one request is pending. A reader may withdraw its request instead of waiting.
 */
#ifndef QUENCH_SWITCH_CONTROL_SNAPSHOT_H
#define QUENCH_SWITCH_CONTROL_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "fwd/fdb_read.h"
#include "fwd/neigh.h"
#include "switch/control/mark_look.h"
#include "switch/control/queue_look.h"
#include "switch/control/route_look.h"
#include "tm/buffer/mmu_params.h"

struct node;
struct sw;

#define SW_SNAPSHOT_ROWS 64u
/* Value of `at` after the last row. */
#define SW_SNAPSHOT_END UINT32_MAX

enum sw_snapshot_table {
	SW_SNAPSHOT_FDB,
	SW_SNAPSHOT_NEIGH,
	SW_SNAPSHOT_WATERMARKS,
	SW_SNAPSHOT_LOOK,
	SW_SNAPSHOT_MARKS,
	SW_SNAPSHOT_ROUTE,
};

struct sw_snapshot {
	enum sw_snapshot_table table;
	/*
	 * where to begin: first 0, then unchanged from the last snapshot; SW_SNAPSHOT_END: no more
	 * rows
	 */
	uint32_t at;
	uint32_t n; /* rows copied; may be 0 before the end */
	uint32_t done;
	struct sw *owner;        /* the shard that serves the request */
	enum mmu_watermark kind; /* SW_SNAPSHOT_WATERMARKS */
	union {
		struct fdb_entry fdb[SW_SNAPSHOT_ROWS];
		struct neigh neigh[SW_SNAPSHOT_ROWS];
		uint64_t watermark_bytes[TM_CLASSES]; /* n entries, by group, queue or pool */
		struct sw_look *look;                 /* of the caller */
		struct sw_mark_look *marks;           /* of the caller */
		struct sw_route_look *route;          /* of the caller */
	};
};

/** Request the rows from s->at on. s belongs to the owner until it is done or withdrawn. */
void sw_snapshot_ask(struct node *node, struct sw_snapshot *s);
bool sw_snapshot_is_done(const struct sw_snapshot *s);
/** Withdraw a request. @return false: too late, it is being served. */
bool sw_snapshot_withdraw(struct sw_snapshot *s);

/** Serve the pending request; by the owner. */
void sw_do_snapshot(struct sw *sw, uint64_t now_ns);

#endif
