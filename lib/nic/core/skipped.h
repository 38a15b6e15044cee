/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet numbers that a QP has skipped. Packet numbers only grow: a QP that starts again skips to
 * the next number with number mod 2^24 = its initial PSN, and counters exclude the skipped numbers.
 */
#ifndef QUENCH_NIC_CORE_SKIPPED_H
#define QUENCH_NIC_CORE_SKIPPED_H

#include <stdint.h>

#include "wire/roce/roce.h"

struct nic;

struct nic_skipped {
	uint64_t sent, acked, received;
	uint32_t seq; /* protects these and the QP's own numbers: base/threads/seq.h */
};

/** Make nic->skipped, unless it is there. From any thread, one at a time. @return 0 or -ENOMEM. */
int nic_skipped_reserve(struct nic *nic);

/** Distance from seq to the next number with this PSN. */
static inline uint32_t
nic_to_psn(uint32_t psn, uint64_t seq)
{
	return (psn - (uint32_t)seq) & PSN_MASK;
}

#endif
