/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resetting QPs while the node runs, as both ends of a connection do after one of them
 * restarted: RESET to RTS of the IBTA's QP states, with the initial PSN of the configuration.
 * The owner does it, some QPs in each call.
 *
 * Invariant: packet numbers only grow. A reset skips the rest of the PSN's 24 bits, so that the
 * next packet is sent, or expected, with the initial PSN; counters leave out the skipped
 * numbers. A message that was not acknowledged whole begins again with its first packet.
 */
#ifndef QUENCH_NIC_CHANGE_RESET_H
#define QUENCH_NIC_CHANGE_RESET_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

/**
 * Reset the QPs of a flow while the node runs, because its peer lost them: each begins again with
 * its initial PSN, one that gave up too, and sends the messages again that were not acknowledged
 * whole. What a responder had received of a message is forgotten. Rates and counters stay. Of UD
 * nothing is reset. What the peer does meanwhile is answered by the new state as soon as it is
 * there: reset the end that answers first.
 *
 * From any thread, one at a time, not beside nic_reload(). The owner does it in its next calls,
 * some QPs in each.
 *
 * @return 0 or -ENOMEM.
 */
int nic_reset_flow(struct node *node, uint32_t flow_id);
/** From any thread. */
bool nic_reset_is_done(const struct node *node);

/* Inside lib/nic. */

/* Numbers of packets that resets have passed over, of a QP. */
struct nic_skipped {
	uint64_t sent, acked, received;
	uint32_t seq; /* of these and the QP's own numbers: base/seq.h */
};

struct nic_resetting {
	uint32_t item;               /* the flow's next QP */
	struct nic_skipped *skipped; /* of each QP; NULL: no QP was reset yet */
};

/** Reset some more QPs. */
void nic_reset_step(struct nic *nic, uint64_t now_ns);

#endif
