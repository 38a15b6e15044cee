/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ends of an RDMA READ (RC transport; IBTA 9.4.4, 9.7.5.1.9 and 9.7.7, Linux rxe_resp.c).
 *
 * The requester takes responses in order only. At a gap, or when its timer fires, it goes back and
 * asks again from the first missing response on: the request names the PSN, and the address and the
 * length of the rest. No NAK exists for this.
 *
 * The responder keeps the last READs of a QP (place/reads.h). To a request that it has taken before
 * it goes back, and answers all later ones again, as the requester asks for them again.
 */
#ifndef QUENCH_NIC_TRANSPORT_READ_H
#define QUENCH_NIC_TRANSPORT_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/params/counters.h"

struct nic;
struct roce_view;
struct rte_mbuf;

#define NIC_MAX_MESSAGE_BYTES (1u << 31)

/** An answer to a requester of READs that is no response. */
enum nic_drop nic_on_read_ack(struct nic *nic, uint32_t item, const struct roce_view *v,
			      uint64_t now_ns);
enum nic_drop nic_on_read_response(struct nic *nic, uint32_t item, const struct roce_view *v,
				   uint32_t wire, uint64_t now_ns);
/** Can this request, whose PSN is the expected one, be served? */
bool nic_read_fits(struct nic *nic, uint32_t item, const struct roce_view *v);
/** It can: its responses are sent in their turn. */
void nic_read_take(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
		   uint64_t now_ns);
/** A request with a PSN before the expected one: answer it again. */
void nic_read_again(struct nic *nic, uint32_t item, const struct roce_view *v, uint64_t now_ns);
/** Build the next request, or the next response. */
void nic_read_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m);
/** It has left. */
void nic_read_sent(struct nic *nic, uint32_t item, uint64_t now_ns);

#endif
