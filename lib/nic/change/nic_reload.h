/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reload: new parameters, flows added and flows removed while the node runs.
 *
 * The change takes effect for all QPs at one instant. The owner cannot visit a million QPs at that
 * instant, so a QP is updated the next time it is touched (rate/version.h). Each call also updates
 * a few more, so that QPs that nothing touches are updated too. See doc/architecture.md, "A change
 * while it runs".
 *
 * Invariant: when a change begins, all QPs have the node's version.
 */
#ifndef QUENCH_NIC_CHANGE_NIC_RELOAD_H
#define QUENCH_NIC_CHANGE_NIC_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/params/nic_params.h"
#include "node/node.h"

struct nic;
struct nic_awaits;
struct nic_frames_update;

struct nic_reload {
	struct nic_params params;            /* only live fields are read */
	const struct nic_flow_update *flows; /* by flow_id; not owned */
	uint32_t n_flows;
	/* flow_ids, only after nic_reserve_flows(); not owned */
	const uint32_t *removed, *added;
	uint32_t n_removed, n_added;
	const struct nic_frames_update *streams; /* of each stream; NULL: no change; not owned */
	/* NULL: no flow waits for others; valid until the next change is done; not owned */
	const struct nic_awaits *awaits;
};

/**
 * Request a change, from any thread, one at a time. The owner puts the new parameters in force for
 * all QPs in its next rx() or tx().
 *
 * A stopped flow begins no message, and completes those that it has begun. A flow that is no
 * longer stopped begins its next message within max(1 ms, 1 us per QP of the node). In an open
 * loop, messages that have arrived stay queued, none arrive during a stop, and later ones arrive at
 * the new load. If the change makes a QP's wait for tokens or for a message shorter, that applies
 * when the QP is visited.
 *
 * @param r  Valid until nic_reload_is_done() returns true. params: after nic_params_check().
 *           flows[] is not read for the flows of removed[].
 */
void nic_reload(struct node *node, const struct nic_reload *r);
/** From any thread. */
bool nic_reload_is_done(const struct node *node);

/* Inside lib/nic. */

struct nic_reloading {
	uint32_t item, items;        /* the next QP to visit; number of QPs when the change began */
	uint32_t n_removed, n_added; /* flows of removed[] and of added[] processed so far */
	bool begun;
};

/** Process the next QPs of the requested change. */
void nic_reload_step(struct nic *nic, uint64_t now_ns);

#endif
