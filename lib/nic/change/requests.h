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
#include "nic/change/nic_reload.h"
#include "nic/change/reset.h"
#include "nic/core/core.h"
#include "nic/measure/trace.h"

/** Serve the next part of each pending request. */
void nic_serve_requests(struct nic *nic, uint64_t now_ns);

/** When to serve the pending requests next: now, or when to look again for the ends that flows
 * wait for. */
uint64_t nic_requests_next_ns(const struct nic *nic);

/* Inline definitions */

/** Is a request pending? */
static inline bool
nic_has_requests(const struct nic *nic)
{
	return __atomic_load_n(&nic->requests.pending, __ATOMIC_RELAXED) != 0;
}

/** Serve the next part of the pending requests, and of the flows being removed. */
static inline void
nic_do_requests(struct nic *nic, uint64_t now_ns)
{
	if (unlikely(nic_has_requests(nic)))
		nic_serve_requests(nic, now_ns);
	if (unlikely(nic->removing->head != FLOW_NONE) && now_ns >= nic->removing->look_ns)
		nic_remove_step(nic, now_ns);
}

#endif
