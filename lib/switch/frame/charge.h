/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ingress charge of frames: bytes << 24 | packets in one word, so that both are added and released
 * together.
 *
 * Invariant: a group holds less than 2^24 packets and 2^40 bytes (mmu_params_check()), so the
 * difference of two sums is correct even if the sums have wrapped.
 */
#ifndef QUENCH_SWITCH_FRAME_CHARGE_H
#define QUENCH_SWITCH_FRAME_CHARGE_H

#include <assert.h>
#include <stdint.h>

#include "tm/buffer/mmu.h"

#define SW_CHARGE_PACKET_BITS 24
static_assert(1u << SW_CHARGE_PACKET_BITS >= MMU_MAX_PACKETS, "packets of a charge");

/** Charge of one frame. */
static inline uint64_t
sw_charge(uint32_t charged_bytes)
{
	return (uint64_t)charged_bytes << SW_CHARGE_PACKET_BITS | 1;
}

static inline uint64_t
sw_charge_bytes(uint64_t charge)
{
	return charge >> SW_CHARGE_PACKET_BITS;
}

static inline uint32_t
sw_charge_packets(uint64_t charge)
{
	return charge & ((1u << SW_CHARGE_PACKET_BITS) - 1);
}

#endif
