/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ends of an RDMA READ (RC transport; IBTA 9.4.4, 9.7.5.1.9 and 9.7.7, Linux rxe_resp.c).
 *
 * The requester accepts responses in order only. At a gap, or when its timer fires, it sends no
 * NAK. It requests the rest again, from the first missing response on: with the PSN of that
 * response, and the address and length of the rest.
 *
 * The responder stores the last READs of a QP (answers/reads.h). For a duplicate request it goes
 * back, and answers all later READs again too, because the requester also repeats those.
 *
 * Invariant: acked_seq of a requester advances by 1 per response, and a response is counted once.
 */
#ifndef QUENCH_NIC_TRANSPORT_READ_H
#define QUENCH_NIC_TRANSPORT_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/params/nic_counters.h"

struct nic;
struct roce_view;
struct rte_mbuf;

#define NIC_MAX_MESSAGE_BYTES (1u << 31)

/** Handle an ACK or NAK for a requester of READs. */
enum nic_drop nic_on_read_ack(struct nic *nic, uint32_t item, const struct roce_view *v,
			      uint64_t now_ns);
/** Handle a READ response. wire: its wire bytes. */
enum nic_drop nic_on_read_response(struct nic *nic, uint32_t item, const struct roce_view *v,
				   uint32_t wire, uint64_t now_ns);
/** Can this request, whose PSN is the expected one, be served? */
bool nic_read_fits(struct nic *nic, uint32_t item, const struct roce_view *v);
/** Accept a request after nic_read_fits(): its responses are sent in their turn. */
void nic_read_take(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
		   uint64_t now_ns);
/** Answer a duplicate request again. Its PSN is before the expected one. */
void nic_read_again(struct nic *nic, uint32_t item, const struct roce_view *v, uint64_t now_ns);
/** Build the next request or response. */
void nic_read_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m);
/** The request or response built last has left. */
void nic_read_sent(struct nic *nic, uint32_t item, uint64_t now_ns);

#endif
