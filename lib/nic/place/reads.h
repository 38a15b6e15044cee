/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READs: how many a requester may have outstanding, and those that a responder has taken.
 *
 * The responder keeps the last max_rd_atomic READs of a QP in a ring, by their numbers. Those
 * from next_msg on wait to be answered, in order.
 */
#ifndef QUENCH_NIC_PLACE_READS_H
#define QUENCH_NIC_PLACE_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/core/core.h"

/* What a QP that has served READs keeps beside its struct. */
struct nic_reads {
	uint64_t tx_packets, tx_messages, tx_payload_bytes; /* each response once */
	uint64_t rx_gap_psns; /* numbers that READs took beyond that of their request */
	uint32_t received;    /* READs taken: the next goes to this place of the ring */
	uint32_t seq;         /* of rx_gap_psns and the QP's rx_seq: base/seq.h */
};

/* One READ, in a ring of the last max_rd_atomic: to be answered, or to be answered again. */
struct nic_read {
	uint32_t start_seq;
	uint32_t bytes;
};

/** There will be QPs that serve READs. @return 0 or -ENOMEM; nic_reads_free() in both cases. */
int nic_reads_prepare(struct nic *nic);
void nic_reads_free(struct nic *nic);
/** May the QP ask for one more READ now? */
bool nic_read_may_ask(const struct nic *nic, const struct nic_qp *qp);
/** Between two READs of a responder: begin to answer the next one, if there is one. */
void nic_read_next(struct nic *nic, uint32_t item);

/* Inline definitions */

/** Is it a responder that is configured to serve READs? */
static inline bool
nic_serves_reads(const struct nic *nic, const struct nic_qp *qp)
{
	return !(qp->flags & QP_REQUESTER) && nic_flow_of(nic, qp)->params.verb == NIC_READ;
}

/** A READ that the QP has taken, by its number. */
static inline struct nic_read *
nic_read_at(const struct nic *nic, uint32_t item, uint32_t number)
{
	uint32_t places = nic->params.max_rd_atomic;

	return &nic->read_ring[(size_t)item * places + number % places];
}

#endif
