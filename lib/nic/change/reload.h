/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New parameters while the node runs, in force from one instant on. With a million QPs the owner
 * cannot visit each of them then: QPs are brought along when they are touched next
 * (place/version.h), and steps of a few QPs in each call visit those that nothing touches.
 * doc/architecture.md, "A change while it runs".
 *
 * Invariant: the next change begins after all QPs are of the new version.
 */
#ifndef QUENCH_NIC_CHANGE_RELOAD_H
#define QUENCH_NIC_CHANGE_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/params/params.h"
#include "node/node.h"

struct nic;

struct nic_reload {
	struct nic_params params;            /* only members whose fields are live count */
	const struct nic_flow_update *flows; /* by flow_id; not owned */
	uint32_t n_flows;
	/* with nic_take_flows(), flow_ids, not owned */
	const uint32_t *removed, *added;
	uint32_t n_removed, n_added;
};

/**
 * Other params while the node runs: from any thread, one at a time. The owner puts them in force in
 * its next rx() or tx(), from that instant on for all QPs (doc/architecture.md, "A change while it
 * runs"); some of those that nothing touches are visited in each call.
 *
 * A flow that is stopped begins no message; what it has begun it ends. One that goes on begins
 * within a millisecond, or a microsecond for each QP of the node if that is more. Messages of an
 * open loop that had come stay, none come while it is stopped, and those to come do so at the new
 * load. What waits for tokens or for a message waits no longer than the change allows, within a
 * turn of all QPs.
 *
 * @param r  params after nic_params_check(). It must outlive nic_reload_is_done(). Of a flow that
 *           goes, flows[] is not read.
 */
void nic_reload(struct node *node, const struct nic_reload *r);
/** From any thread. */
bool nic_reload_is_done(const struct node *node);

/* Inside lib/nic. */

struct nic_reloading {
	uint32_t item, items; /* the next QP to visit, of those that existed at the instant */
	uint32_t n_removed, n_added; /* flows of removed[] and of added[] processed so far */
	bool begun;
};

/** Continue with the change that is asked for: some QPs in each call. */
void nic_reload_step(struct nic *nic, uint64_t now_ns);

#endif
