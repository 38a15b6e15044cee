/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that becomes due at a time: QPs in the wheel, retransmission timers, windows of the
 * notification point.
 *
 * Invariant: if nic_release() returns false, nothing is due at now_ns any more.
 */
#ifndef QUENCH_NIC_IO_NIC_RELEASE_H
#define QUENCH_NIC_IO_NIC_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/**
 * Release due QPs from the wheel, run due timers, NP windows and delayed CNPs. A call handles up to
 * NIC_BURST QPs and NIC_BURST timers, and all windows and CNPs that are due.
 * @return true: more may be due.
 */
bool nic_release(struct nic *nic, uint64_t now_ns);

#endif
