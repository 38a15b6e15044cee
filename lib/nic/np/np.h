/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification point of a NIC: CE marks in, CNPs owed.
 *
 * Each unit of moderation has a window. Where the unit is a QP, the node keeps its window; windows
 * that run are in a FIFO, in the order of their ends, since all last N. Other units are in
 * np_units.h. A decision to send makes the QP owe a CNP, which joins the queue of CNPs now or
 * np_cnp_delay later. Marks that come while the lists are full are answered by a CNP that is
 * already owed.
 *
 * Invariants: a window is in the FIFO just as long as it runs. A QP is in the queue of CNPs at most
 * once; on the way there it has one CNP for each N of the delay, or one if N is 0.
 *
 * The intervals are those of decisions. A delay after that (a pause, the port's least interval) may
 * bring two CNPs closer together on the wire, but never makes more of them.
 */
#ifndef QUENCH_NIC_NP_NP_H
#define QUENCH_NIC_NP_NP_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_branch_prediction.h>

#include "base/fixed.h"
#include "cc/np.h"
#include "nic/np/np_units.h"
#include "nic/qp/qp.h"

struct nic;

/* A CNP on its way through np_cnp_delay. */
struct nic_np_delayed {
	uint64_t due_ns;
	uint32_t item;
	bool alone; /* the QP has no other one, and owes this one already */
};

struct nic_np {
	/* per QP */
	struct np *windows;
	uint32_t first, last;      /* FIFO of windows, by nic_qp.window_link */
	struct nic_np_units units; /* per pair, or port */
	/* with np_cnp_delay only: a ring */
	struct nic_np_delayed *delayed;
	uint64_t delayed_room, delayed_first, delayed_n;
	uint64_t gate_ns; /* the port's least interval, as last seen: no CNP leaves before */
};

/** @return 0 or -ENOMEM; nic_np_free() in both cases. */
int nic_np_init(struct nic *nic);
void nic_np_free(struct nic *nic);

/** A flow is added: find the unit that it belongs to. @return 0 or -ENOMEM. */
int nic_np_add_flow(struct nic *nic, struct qp_flow *flow);

/** Room for n_flows flows: adding one of them takes no memory. @return 0 or -ENOMEM. */
int nic_np_reserve(struct nic *nic, uint32_t n_flows);
/** A flow is removed. */
void nic_np_remove_flow(struct nic *nic, const struct qp_flow *flow);
/** Is there nothing that a hidden QP of the flow would still send a CNP for? */
bool nic_np_is_quiet(const struct nic *nic, const struct qp_flow *flow, uint32_t item);

/** A valid data packet with CE came. */
void nic_np_on_ce(struct nic *nic, uint32_t item, uint64_t now_ns);

/** End the windows that are over, and let the CNPs go that have waited long enough. */
void nic_np_run(struct nic *nic, uint64_t now_ns);

/** When nic_np_run() has something to do; before, it does nothing. */
static inline uint64_t
nic_np_next_ns(const struct nic_np *np)
{
	uint64_t next_ns = NEVER_NS;

	if (np->first != QP_NONE)
		next_ns = np_next_ns(&np->windows[np->first]);
	if (unlikely(np->units.n_due > 0))
		next_ns = nic_np_units_next_ns(&np->units);
	if (unlikely(np->delayed_n > 0))
		next_ns = min_u64(next_ns, np->delayed[np->delayed_first].due_ns);
	return next_ns;
}

/** May a CNP leave the port now? It counts as sent: call when one is there to leave. */
bool nic_np_may_leave(struct nic *nic, uint64_t now_ns);

#endif
