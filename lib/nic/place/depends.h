/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that wait for what another QP receives: collectives, in which a host passes on. */
#ifndef QUENCH_NIC_PLACE_DEPENDS_H
#define QUENCH_NIC_PLACE_DEPENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

/**
 * Let the messages of a requester wait for those that another QP of the node receives: message m is
 * begun when m messages have come in whole, so the first at once. Before the first rx/tx, once for
 * either QP.
 *
 * @param index, after  QPs in the order in which they were added: a requester with arrival =
 * closed, and one that answers WRITE or SEND.
 * @return              0, -EINVAL or -ENOMEM.
 */
int nic_depends(struct node *node, uint32_t index, uint32_t after);

/* Inside lib/nic, where nic->chains is not NULL. */

/** May the QP begin this message, or has another one not received enough? */
bool nic_depends_may_begin(const struct nic *nic, uint32_t item, uint64_t message);
/** The QP that waits for the messages which this one receives, if it is blocked; else QP_NONE. */
uint32_t nic_depends_waiting(const struct nic *nic, uint32_t item);

void nic_depends_free(struct nic *nic);

#endif
