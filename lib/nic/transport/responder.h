/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests, received by a responder (RC transport; IBTA 9.7.1, Linux rxe_resp.c).
 *
 * Invariant: rx_seq advances only by requests whose PSN is the expected one, so each is delivered
 * once and in order. The count starts again with a reset; at a QP by which a peer says that it is
 * alive (nic_job_hears()), also when the first packet comes again.
 */
#ifndef QUENCH_NIC_TRANSPORT_RESPONDER_H
#define QUENCH_NIC_TRANSPORT_RESPONDER_H

#include <stdint.h>

#include "nic/params/nic_counters.h"

struct nic;
struct roce_view;

/** Handle a request to a QP. @param wire  Wire bytes of the frame. */
enum nic_drop nic_on_request(struct nic *nic, uint32_t item, const struct roce_view *v,
			     uint32_t wire, uint64_t now_ns);

/**
 * Expect the first packet, as after the start: the requester starts again. nic->skipped is there,
 * and the caller protects the QP's numbers by its seq.
 */
void nic_expect_first(struct nic *nic, uint32_t item);

#endif
