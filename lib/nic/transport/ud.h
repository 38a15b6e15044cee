/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UD SEND: one packet for each message, nothing acknowledged, nothing sent again (IBTA 9.8.3).
 *
 * The receiver takes packets with the right key, in any order. PSNs only show missing packets:
 * those passed over are counted, and so are packets after a later one, late or twice. At least
 * the difference is lost.
 */
#ifndef QUENCH_NIC_TRANSPORT_UD_H
#define QUENCH_NIC_TRANSPORT_UD_H

#include <stdint.h>

#include "nic/params/counters.h"

struct nic;
struct roce_view;
struct rte_mbuf;

void nic_ud_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m);
enum nic_drop nic_on_ud(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
			uint64_t now_ns);

#endif
