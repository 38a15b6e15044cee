/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resets QPs while the node runs. Both ends of a connection must be reset after one of them has
 * restarted. A reset takes a QP through the IBTA's states from RESET to RTS, with the initial PSN
 * of the configuration. The owner resets some QPs in each call.
 *
 * Invariants: packet numbers only grow (core/skipped.h). A message that is not fully acknowledged
 * is sent again from its first packet.
 */
#ifndef QUENCH_NIC_CHANGE_RESET_H
#define QUENCH_NIC_CHANGE_RESET_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

/**
 * Reset the QPs of a flow while the node runs, because its peer lost their state. Each QP, even one
 * that gave up, restarts with its initial PSN and sends again all messages that are not fully
 * acknowledged; one of a job drops them. A responder forgets the part of a message that it has
 * received; one of nic_job_hear() stays as it is. Rates and counters stay. UD QPs are not reset.
 * Reset the responder's end first: a QP that has been reset answers the peer's frames with its new
 * state at once.
 *
 * From any thread, one at a time, not at the same time as nic_reload(). The owner resets some QPs
 * in each of its next calls.
 *
 * @return 0 or -ENOMEM.
 */
int nic_reset_flow(struct node *node, uint32_t flow_id);
/** From any thread. */
bool nic_reset_is_done(const struct node *node);

/* Inside lib/nic. */

struct nic_resetting {
	uint32_t item; /* the flow's next QP */
};

/** Do what nic_job_ask() requests. */
void nic_ask_step(struct nic *nic, uint64_t now_ns);

/** Reset some more QPs. */
void nic_reset_step(struct nic *nic, uint64_t now_ns);

#endif
