/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Versions of parameters. The node's version is one bit, which flips at the instant of a change. A
 * QP records the version of its state. nic_touch() brings a QP along: it advances the state to the
 * instant of the change under the old parameters, and then applies the new ones. See
 * doc/architecture.md, "A change while it runs".
 *
 * Invariant: qp->version == nic->version whenever code uses state that a change may affect, so no
 * call combines new parameters with old state.
 */
#ifndef QUENCH_NIC_RATE_VERSION_H
#define QUENCH_NIC_RATE_VERSION_H

#include <stdint.h>
#include <rte_branch_prediction.h>

#include "nic/core/core.h"

/** As nic_touch(), for a QP of the old version. */
void nic_bring_along(struct nic *nic, uint32_t item);

/** Call before using state of a QP that a change of parameters may affect. */
static inline void
nic_touch(struct nic *nic, uint32_t item, const struct nic_qp *qp)
{
	if (unlikely(qp->version != nic->version))
		nic_bring_along(nic, item);
}

#endif
