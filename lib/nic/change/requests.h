/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of other threads, which the owner serves in its rx() and tx(), a bounded part in each
 * call.
 *
 * Invariant: a request stays in nic->requests until all of it is done.
 */
#ifndef QUENCH_NIC_CHANGE_REQUESTS_H
#define QUENCH_NIC_CHANGE_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/change/flow_life.h"
#include "nic/change/reload.h"
#include "nic/change/reset.h"
#include "nic/core/core.h"
#include "nic/measure/trace.h"

/** Serve a request of nic_set_traces(). */
void nic_take_traces(struct nic *nic, uint64_t now_ns);

/* Inline definitions */

/** Is a request pending? */
static inline bool
nic_has_requests(const struct nic *nic)
{
	return __atomic_load_n(&nic->requests.reload, __ATOMIC_RELAXED) != NULL ||
	       __atomic_load_n(&nic->requests.traces, __ATOMIC_RELAXED) != NULL ||
	       __atomic_load_n(&nic->requests.reset, __ATOMIC_RELAXED) != 0;
}

/** Serve the next part of the pending requests, and of the flows being removed. */
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
