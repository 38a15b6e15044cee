/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is where: asking for the MAC addresses of peers, answering about ours, and echo.
 *
 * Invariant: a QP whose peer was given by IP address alone has a neighbour in the table until
 * its flow leaves; while QP_UNRESOLVED it sends nothing.
 */
#ifndef QUENCH_NIC_TRANSPORT_RESOLVE_H
#define QUENCH_NIC_TRANSPORT_RESOLVE_H

#include <stdint.h>
#include <rte_branch_prediction.h>

#include "fwd/neigh.h"
#include "nic/core/core.h"
#include "node/pkt_fifo.h"

struct nic_neighbours {
	struct neigh_table *table;
	struct pkt_fifo answers; /* to ARP, solicitations and echo requests */
	uint32_t scan_item;      /* the next QP to get its neighbour's address */
	uint32_t scan_left;      /* QPs to look at */
	uint8_t plain_queue;     /* of DSCP 0, where all of this leaves */
	struct token_bucket answer_budget;
};

/** Give a new QP its neighbour if its peer has no MAC address yet. @return 0 or -ENOMEM. */
int nic_resolve_qp(struct nic *nic, uint32_t item, uint64_t now_ns);
/** The QP no longer needs its neighbour, which nic_resolve_qp() gave it. */
void nic_resolve_release(struct nic *nic, uint32_t item);
/** A frame that is neither MAC control nor UDP. NIC_KEPT: m was taken. */
unsigned int nic_on_other(struct nic *nic, struct rte_mbuf *m, const struct frame_view *eth,
			  uint64_t now_ns);
/** A valid frame of the peer came before the answer to our question: its source will do. */
void nic_resolve_from(struct nic *nic, uint32_t item, const uint8_t mac[6], uint64_t now_ns);
/** Run what is due and give new addresses to QPs; bounded work. */
void nic_resolve_run(struct nic *nic, uint64_t now_ns);
/** The next answer or question, or NULL. */
struct rte_mbuf *nic_resolve_frame(struct nic *nic, uint64_t now_ns);
/** @return 0 or -ENOMEM; nic_resolve_free() in both cases. */
int nic_resolve_init(struct nic *nic);
/** Free answers and neighbours. */
void nic_resolve_free(struct nic *nic);

/* Inline definitions */

/** May nic_resolve_frame() have one? */
static inline bool
nic_resolve_has_frame(const struct nic *nic)
{
	return nic->neighbours->answers.head != NULL || neigh_has_ask(nic->neighbours->table);
}

/** When nic_resolve_run() has something to do; before, it does nothing. */
static inline uint64_t
nic_resolve_run_ns(const struct nic *nic)
{
	return unlikely(nic->neighbours->scan_left > 0) ? 0 : neigh_next_ns(nic->neighbours->table);
}

#endif
