/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dependencies between QPs, for collectives: a host sends a message after it has received one.
 *
 * Invariant: a QP begins message m only after the QP that it depends on has received m messages.
 */
#ifndef QUENCH_NIC_MESSAGES_DEPENDS_H
#define QUENCH_NIC_MESSAGES_DEPENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

/**
 * Make a requester wait for messages that another QP of the node receives: message m (from 0 on)
 * begins when m messages have been received completely. Call before the first rx/tx. A QP can wait
 * for one QP only, and only one QP can wait for it.
 *
 * @param index  Index of the requester, which has arrival = closed and is not one of READs. QPs are
 *               numbered in the order in which they were added.
 * @param after  Index of the QP that receives: a responder of WRITE or SEND.
 * @return       0, -EINVAL or -ENOMEM.
 */
int nic_depends(struct node *node, uint32_t index, uint32_t after);

/* Inside lib/nic, where nic->chains is not NULL. */

/** Has the QP that this one depends on, if any, received enough to begin this message? */
bool nic_depends_may_begin(const struct nic *nic, uint32_t item, uint64_t message);
/** The QP that depends on this one, if it is blocked; else QP_NONE. */
uint32_t nic_depends_waiting(const struct nic *nic, uint32_t item);

void nic_depends_free(struct nic *nic);

#endif
