/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UD SEND: one packet per message, no acknowledgement, no retransmission (IBTA 9.8.3).
 *
 * The receiver accepts packets with the right key in any order. The PSN decides nothing. It only
 * feeds two counters: missed packets (their PSNs were skipped) and late packets (they came after a
 * higher PSN), which may be duplicates.
 *
 * Invariant: packets lost >= missed - late.
 */
#ifndef QUENCH_NIC_TRANSPORT_UD_H
#define QUENCH_NIC_TRANSPORT_UD_H

#include <stdint.h>

#include "nic/params/nic_counters.h"

struct nic;
struct roce_view;
struct rte_mbuf;

void nic_ud_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m);
enum nic_drop nic_on_ud(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
			uint64_t now_ns);

#endif
