/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification point of a NIC: marks in, CNPs owed.
 *
 * Each unit of moderation (a QP, a pair of addresses, the port) has a window of its own; a window
 * that runs is in a FIFO, in order of their ends since all last N. A decision to send makes the QP
 * owe a CNP, which joins the queue of CNPs now or np_cnp_delay later. A QP owes one at most, so
 * both lists are bounded by the number of QPs, and a mark meanwhile is answered by the one on its
 * way.
 *
 * With several nodes on one port each has a notification point of its own: a pair, or the port, is
 * then that of a node's QPs.
 *
 * The intervals are those of decisions. What holds a CNP up afterwards (a pause, the port's least
 * interval) may bring two of them closer together on the wire, never more of them.
 */
#ifndef QUENCH_NIC_NIC_NP_H
#define QUENCH_NIC_NIC_NP_H

#include <stdint.h>

#include "cc/np.h"
#include "nic/nic.h"

struct nic;

/* A CNP on its way through np_cnp_delay. */
struct nic_np_delayed {
	uint64_t due_ns;
	uint32_t item;
};

struct nic_np {
	struct np *units; /* by QP, by pair, or one */
	uint32_t *links;  /* of units: FIFO of windows; NULL per QP, which have links of their own */
	uint32_t first, last;
	uint32_t *marked; /* of units: QP marked last; NULL per QP */
	/* per pair only */
	uint32_t *unit_of;      /* of QPs */
	struct field_ip *peers; /* of units */
	uint32_t *table;        /* hash of the peer's address to unit + 1; 0: free */
	uint32_t table_mask;
	uint32_t n_units;
	/* with np_cnp_delay only: a ring of max_qps */
	struct nic_np_delayed *delayed;
	uint32_t delayed_first, delayed_n;
	uint64_t gate_ns; /* no CNP leaves the port before */
};

/** @return 0 or -ENOMEM; nic_np_free() in both cases. */
int nic_np_init(struct nic *nic);
void nic_np_free(struct nic *nic);

/** A QP is added: find the unit that it belongs to. */
void nic_np_add_qp(struct nic *nic, uint32_t item, const struct field_ip *peer_ip);

/** A valid data packet with CE came. */
void nic_np_on_ce(struct nic *nic, uint32_t item, uint64_t now_ns);

/** End the windows that are over, and let the CNPs go that have waited long enough. */
void nic_np_run(struct nic *nic, uint64_t now_ns);

/** When nic_np_run() has something to do. */
uint64_t nic_np_next_ns(const struct nic *nic);

#endif
