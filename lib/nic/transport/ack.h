/* SPDX-License-Identifier: BSD-3-Clause */
/* ACK, NAK and RNR NAK, received by a requester. */
#ifndef QUENCH_NIC_TRANSPORT_ACK_H
#define QUENCH_NIC_TRANSPORT_ACK_H

#include <stdint.h>

#include "nic/params/nic_counters.h"

struct nic;
struct roce_view;

/** Handle an ACK or NAK for a QP. @return NIC_USED or why it is dropped. */
enum nic_drop nic_on_ack(struct nic *nic, uint32_t item, const struct roce_view *v,
			 uint64_t now_ns);

#endif
