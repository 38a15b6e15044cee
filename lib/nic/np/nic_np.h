/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification point of a NIC: turns CE marks into pending CNPs.
 *
 * Each unit of moderation has a window of length N. With moderation per QP, the node stores the
 * windows; running windows are in a FIFO, ordered by their ends because all last N. Other units are
 * in np_units.h. When a window allows a CNP, the QP owes one, which enters the queue of CNPs at
 * once or after np_cnp_delay. If the ring of delayed CNPs is full, no CNP is added: one that the QP
 * already owes answers the mark.
 *
 * An algorithm with a notification point of its own (cc_ops.notify) decides for the QPs of its
 * flows, in place of the windows.
 *
 * Invariants: a window is in the FIFO if and only if it runs. A QP is in the queue of CNPs at most
 * once. CNPs of one QP in the delay ring <= delay / N + 1, or 1 if N = 0.
 *
 * N is the minimum time between two decisions to send a CNP. Delays after the decision (a pause,
 * the port's minimum interval) may bring two CNPs closer together on the wire, but never add a CNP.
 */
#ifndef QUENCH_NIC_NP_NIC_NP_H
#define QUENCH_NIC_NP_NIC_NP_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_branch_prediction.h>

#include "base/numbers/fixed.h"
#include "cc/cc.h"
#include "cc/points/np.h"
#include "nic/np/np_units.h"
#include "nic/qp/qp.h"

struct nic;

/* A CNP that waits for the end of np_cnp_delay. */
struct nic_np_delayed {
	uint64_t due_ns;
	uint32_t item;
	bool is_only_cnp; /* N = 0: QP_RX_OWES_CNP is set, so this is the QP's only CNP */
};

/* Of a QP, for an algorithm with a notification point of its own. */
struct nic_np_told {
	struct cc_np state;
	uint32_t value; /* of the next CNP */
};

struct nic_np {
	uint64_t interval_ns; /* N of the parameters in force */
	/* per QP */
	struct np *windows;
	uint32_t first, last;      /* FIFO of windows, by nic_qp.window_link */
	struct nic_np_units units; /* per pair, or port */
	/* ring of delayed CNPs; with np_cnp_delay only */
	struct nic_np_delayed *delayed;
	uint64_t delayed_capacity, delayed_first, delayed_n;
	/* per QP; NULL: no algorithm has a notification point of its own */
	struct nic_np_told *told;
	struct cc_np_node all[CC_ALGORITHMS];
	uint64_t gate_ns; /* no CNP leaves the port before this time, as far as this node knows */
};

/** @return 0 or -ENOMEM. Call nic_np_free() in both cases. */
int nic_np_init(struct nic *nic);
void nic_np_free(struct nic *nic);
/** Take over the intervals of the NIC's parameters. */
void nic_np_take_params(struct nic *nic);

/** Assign a new flow to its unit. @return 0 or -ENOMEM. */
int nic_np_add_flow(struct nic *nic, struct qp_flow *flow);

/** Reserve memory for n_flows flows, so that adding them allocates nothing. @return 0 or
 * -ENOMEM. */
int nic_np_reserve(struct nic *nic, uint32_t n_flows);
/** Release the unit of a removed flow. */
void nic_np_remove_flow(struct nic *nic, const struct qp_flow *flow);
/** @return true if no window, unit or delayed CNP refers to this hidden QP any more. */
bool nic_np_is_quiet(const struct nic *nic, const struct qp_flow *flow, uint32_t item);

/** Handle a valid data packet with CE; or one without, for an algorithm that hears of it. */
void nic_np_on_ce(struct nic *nic, uint32_t item, uint64_t now_ns);
void nic_np_on_unmarked(struct nic *nic, uint32_t item, uint64_t now_ns);

/** End the windows that are over, and queue the CNPs whose delay is over. */
void nic_np_run(struct nic *nic, uint64_t now_ns);

/** The number in the next CNP of a QP; 0: a standard CNP. */
static inline uint32_t
nic_np_value(const struct nic_np *np, uint32_t item)
{
	return unlikely(np->told != NULL) ? np->told[item].value : 0;
}

/** Next time at which nic_np_run() has something to do. */
static inline uint64_t
nic_np_next_ns(const struct nic_np *np)
{
	uint64_t next_ns = NEVER_NS;

	if (np->first != QP_NONE)
		next_ns = np_next_ns(&np->windows[np->first], np->interval_ns);
	if (unlikely(np->units.n_due > 0))
		next_ns = nic_np_units_next_ns(&np->units);
	if (unlikely(np->delayed_n > 0))
		next_ns = min_u64(next_ns, np->delayed[np->delayed_first].due_ns);
	return next_ns;
}

/**
 * May a CNP leave the port now? If true, the port's interval between CNPs starts, so call it only
 * when a CNP is ready to leave.
 */
bool nic_np_may_leave(struct nic *nic, uint64_t now_ns);

#endif
