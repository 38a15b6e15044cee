/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router tells a sender why its packet was dropped: time exceeded, packet too big (RFC 1812
 * 4.3.2, RFC 4443 2.4).
 *
 * Invariant: in t seconds, a router sends at most (1 + t) icmp_errors_per_s errors.
 */
#ifndef QUENCH_SWITCH_INGRESS_ICMP_ERROR_H
#define QUENCH_SWITCH_INGRESS_ICMP_ERROR_H

#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

/**
 * Build the error about a dropped frame, for SW_DROP_TTL, and for SW_DROP_MTU if the frame was
 * routed. It is sent after the burst (sw_own_send()). The caller keeps the frame and counts the
 * drop.
 *
 * @param mtu_bytes  SW_DROP_MTU: the largest IP packet that fits.
 */
void sw_icmp_error(struct sw *sw, const struct arrival *a, enum sw_drop reason, uint32_t mtu_bytes);

#endif
