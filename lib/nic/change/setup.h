/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows and QPs: making them, with all that sending and answering need. */
#ifndef QUENCH_NIC_CHANGE_SETUP_H
#define QUENCH_NIC_CHANGE_SETUP_H

#include <stdint.h>

#include "nic/params/params.h"
#include "node/node.h"

struct nic;

/** Add a QP before the first rx/tx. @return its local QPN, or -EINVAL, -ENOSPC, -ENOMEM. */
int64_t nic_add_qp(struct node *node, const struct nic_qp_params *params, uint64_t now_ns);

/* Which QPs of the node a flow has, side by side. */
struct nic_flow_place {
	uint32_t first_number; /* in the NIC, of the flow's first QP, counted from first_qpn */
	uint32_t first_item, n_qps;
};

/**
 * Take the memory that a flow needs; nic_reload() then adds it. From one thread at a time,
 * which need not be the owner. No flow has this number or these QPs.
 *
 * @param params  Of the QP with first_number; the peer's QPN of each other counts on from it.
 * @return        0, -EINVAL or -ENOMEM; nic_forget_flow() in each case.
 */
int nic_prepare_flow(struct node *node, const struct nic_qp_params *params,
		     const struct nic_flow_place *place);

/* Inside lib/nic. */

/** Make a QP of a flow. nic_flush() follows. @return 0 or -ENOMEM. */
int nic_qp_begin(struct nic *nic, uint32_t item, uint32_t flow, const struct nic_qp_params *params,
		 uint64_t now_ns);

#endif
