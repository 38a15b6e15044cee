/* SPDX-License-Identifier: BSD-3-Clause */
/* QPs that share messages (qp/qp_shared.h): which one takes the next message, and when. */
#ifndef QUENCH_NIC_MESSAGES_NIC_SHARED_H
#define QUENCH_NIC_MESSAGES_NIC_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/qp/qp_shared.h"

struct nic;

/** Begin with the QPs first to first + n - 1, not settled yet. @return 0 or -ENOMEM. */
int nic_shared_begin(struct nic *nic, uint32_t first, uint32_t n, const struct open_loop *loops,
		     uint32_t n_loops);
/**
 * A QP of the flow starts: it takes the next message.
 * @return another one to be settled, which awaits the message after it; or QP_NONE.
 */
uint32_t nic_shared_take(struct nic *nic, uint32_t item, uint64_t now_ns);
/**
 * Between two messages: does the QP begin the one that it has taken? If not, and nothing is in
 * flight, it rests from now on.
 * @return true, with the arrival of the message.
 */
bool nic_shared_next(struct nic *nic, uint32_t item, uint64_t *arrived_ns, uint64_t now_ns);
void nic_shared_free(struct nic *nic);

#endif
