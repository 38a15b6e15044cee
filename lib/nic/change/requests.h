/* SPDX-License-Identifier: BSD-3-Clause */
/* What other threads ask of the owner, done a part at a time in its rx() and tx(). */
#ifndef QUENCH_NIC_CHANGE_REQUESTS_H
#define QUENCH_NIC_CHANGE_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/change/live.h"
#include "nic/change/reload.h"
#include "nic/change/reset.h"
#include "nic/core/core.h"
#include "nic/measure/trace.h"

/** Trace what nic_set_traces() was given. */
void nic_take_traces(struct nic *nic, uint64_t now_ns);

/* Inline definitions */

static inline bool
nic_has_requests(const struct nic *nic)
{
	return __atomic_load_n(&nic->requests.reload, __ATOMIC_RELAXED) != NULL ||
	       __atomic_load_n(&nic->requests.traces, __ATOMIC_RELAXED) != NULL ||
	       __atomic_load_n(&nic->requests.reset, __ATOMIC_RELAXED) != 0;
}

/** Do the next part of what others ask of the node, if there is anything. */
static inline void
nic_do_requests(struct nic *nic, uint64_t now_ns)
{
	if (unlikely(__atomic_load_n(&nic->requests.reload, __ATOMIC_RELAXED) != NULL))
		nic_reload_step(nic, now_ns);
	if (unlikely(__atomic_load_n(&nic->requests.traces, __ATOMIC_RELAXED) != NULL))
		nic_take_traces(nic, now_ns);
	if (unlikely(__atomic_load_n(&nic->requests.reset, __ATOMIC_RELAXED) != 0))
		nic_reset_step(nic, now_ns);
	if (unlikely(nic->removing->head != FLOW_NONE) && now_ns >= nic->removing->look_ns)
		nic_remove_step(nic, now_ns);
}

#endif
