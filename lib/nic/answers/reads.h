/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READs: the limit of outstanding READs of a requester, and the READs that a responder has
 * accepted.
 *
 * The responder stores the last max_rd_atomic READs of a QP in a ring, by number. The ring has a
 * power of two places: the number wraps at 2^32, and the places must follow each other there too.
 * READs from next_msg on wait to be answered, in order.
 *
 * Invariant: received - next_msg <= max_rd_atomic.
 */
#ifndef QUENCH_NIC_ANSWERS_READS_H
#define QUENCH_NIC_ANSWERS_READS_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_common.h>

#include "nic/core/core.h"

/* State of a QP that serves READs, in addition to struct nic_qp. */
struct nic_reads {
	uint64_t tx_packets, tx_messages, tx_payload_bytes; /* without retransmissions */
	uint64_t rx_gap_psns; /* packet numbers that READs consumed, less one per request */
	uint64_t received;    /* READs accepted; the next one gets this number */
	uint32_t seq;         /* protects rx_gap_psns and the QP's rx_seq: base/threads/seq.h */
};

/* A READ to be answered, or to be answered again. */
struct nic_read {
	uint32_t start_seq;
	uint32_t bytes;
};

/**
 * Allocate the state of QPs that serve READs. @return 0 or -ENOMEM; nic_reads_free() in both cases.
 */
int nic_reads_prepare(struct nic *nic);
void nic_reads_free(struct nic *nic);
/** May the requester send one more READ request now? */
bool nic_read_may_ask(const struct nic *nic, const struct nic_qp *qp);
/** Responder between two READs: begin to answer the next one, else queue the deferred answer. */
void nic_read_next(struct nic *nic, uint32_t item);

/* Inline definitions */

/** Is the QP a responder that is configured to serve READs? */
static inline bool
nic_serves_reads(const struct nic *nic, const struct nic_qp *qp)
{
	return !(qp->flags & QP_REQUESTER) && nic_flow_of(nic, qp)->params.verb == NIC_READ;
}

static inline uint32_t
nic_read_places(const struct nic *nic)
{
	return rte_align32pow2(nic->params.max_rd_atomic);
}

/** A READ that the QP has accepted, by its number. */
static inline struct nic_read *
nic_read_at(const struct nic *nic, uint32_t item, uint32_t number)
{
	uint32_t places = nic_read_places(nic);

	return &nic->read_ring[(size_t)item * places + (number & (places - 1))];
}

#endif
