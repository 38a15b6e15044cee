/* SPDX-License-Identifier: BSD-3-Clause */
/* What a responder does with a request (RC transport; IBTA 9.7.1, Linux rxe_resp.c). */
#ifndef QUENCH_NIC_TRANSPORT_RESPONDER_H
#define QUENCH_NIC_TRANSPORT_RESPONDER_H

#include <stdint.h>

#include "nic/params/counters.h"

struct nic;
struct roce_view;

/** A request to a QP. @param wire  The frame's bytes on the wire. */
enum nic_drop nic_on_request(struct nic *nic, uint32_t item, const struct roce_view *v,
			     uint32_t wire, uint64_t now_ns);

#endif
