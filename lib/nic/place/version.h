/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of parameters, one version at a time. The node's version flips at the instant of the
 * change. A QP is of the version whose parameters its state belongs to; doc/architecture.md, "A
 * change while it runs".
 *
 * Invariant: nothing of a QP that a change may concern is used before nic_touch(), so no call
 * sees new parameters with old state.
 */
#ifndef QUENCH_NIC_PLACE_VERSION_H
#define QUENCH_NIC_PLACE_VERSION_H

#include <stdint.h>
#include <rte_branch_prediction.h>

#include "nic/core/core.h"

/** Of a QP whose version is not the node's: nic_touch(). */
void nic_bring_along(struct nic *nic, uint32_t item);

/** Before anything of a QP is used that a change of parameters may concern: it is of this version
 * then. */
static inline void
nic_touch(struct nic *nic, uint32_t item, const struct nic_qp *qp)
{
	if (unlikely(qp->version != nic->version))
		nic_bring_along(nic, item);
}

#endif
