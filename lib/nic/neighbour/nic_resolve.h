/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address resolution: ARP and neighbour discovery for the MAC addresses of peers, answers to
 * requests for ours, and echo.
 *
 * Invariant: a QP whose peer is configured by IP address alone (QP_RX_BY_ADDRESS) has a neighbour
 * in the table until it is hidden; while QP_UNRESOLVED is set it sends nothing.
 */
#ifndef QUENCH_NIC_NEIGHBOUR_NIC_RESOLVE_H
#define QUENCH_NIC_NEIGHBOUR_NIC_RESOLVE_H

#include <stdint.h>
#include <rte_branch_prediction.h>

#include "fwd/neigh.h"
#include "nic/core/core.h"
#include "node/pkt_fifo.h"

/* Source of the requests for a neighbour. */
struct nic_asker {
	uint32_t flow;      /* FLOW_NONE: it was removed; the scan finds another one */
	struct field_ip ip; /* version 0: the NIC, also until then */
	uint8_t mac[6];
};

struct nic_neighbours {
	struct neigh_table *table;
	struct nic_asker *askers; /* by neighbour; none: the NIC asks for all */
	uint32_t n_askers;
	struct pkt_fifo answers; /* to ARP requests, solicitations and echo requests */
	uint32_t scan_item;      /* the next QP to scan */
	uint32_t scan_left;      /* QPs left to update with their neighbours' addresses */
	uint8_t plain_queue;     /* queue of DSCP 0, by which all these frames leave */
	struct token_bucket answer_budget;
};

/** Add a neighbour for a new QP whose peer has no configured MAC address. @return 0 or -ENOMEM. */
int nic_resolve_qp(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Make room for the neighbours of n flows, for nic_resolve_qp(). @return 0 or -ENOMEM. */
int nic_resolve_reserve(struct nic *nic, uint32_t n);
/** Release the neighbour that nic_resolve_qp() added. */
void nic_resolve_release(struct nic *nic, uint32_t item);
/**
 * No QP of the flow is left, and its address is no longer ours: answers to it would be dropped.
 * Another flow of its neighbour asks from now on.
 */
void nic_resolve_drop_asker(struct nic *nic, uint32_t flow_id);
/** Handle a frame that is neither MAC control nor UDP. NIC_KEPT: m was taken. */
unsigned int nic_on_other(struct nic *nic, struct rte_mbuf *m, const struct frame_view *eth,
			  uint64_t now_ns);
/**
 * A valid frame of the peer arrived before the answer to our request: use its source address. With
 * next_hop, only for this QP's flow, and until the answer.
 */
void nic_resolve_from(struct nic *nic, uint32_t item, const uint8_t mac[6], uint64_t now_ns);
/** Run the timers of the table and update QPs with new addresses; bounded work. */
void nic_resolve_run(struct nic *nic, uint64_t now_ns);
/** The next answer or request to send, or NULL. */
struct rte_mbuf *nic_resolve_frame(struct nic *nic, uint64_t now_ns);
/** @return 0 or -ENOMEM; nic_resolve_free() in both cases. */
int nic_resolve_init(struct nic *nic);
/** Free answers and neighbours. */
void nic_resolve_free(struct nic *nic);

/* Inline definitions */

/** May nic_resolve_frame() return a frame? */
static inline bool
nic_resolve_has_frame(const struct nic *nic)
{
	return nic->neighbours->answers.head != NULL || neigh_has_ask(nic->neighbours->table);
}

/** Next time at which nic_resolve_run() has something to do. */
static inline uint64_t
nic_resolve_run_ns(const struct nic *nic)
{
	return unlikely(nic->neighbours->scan_left > 0) ? 0 : neigh_next_ns(nic->neighbours->table);
}

#endif
