/* SPDX-License-Identifier: BSD-3-Clause */
/* What is due: QPs out of the wheel, retransmission timers, windows of the notification point. */
#ifndef QUENCH_NIC_IO_RELEASE_H
#define QUENCH_NIC_IO_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/**
 * Take due QPs out of the wheel, run due timers and NP windows; bounded work.
 * @return true: more may be due.
 */
bool nic_release(struct nic *nic, uint64_t now_ns);

#endif
