/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_APP_QUENCH_LAB_EAL_CLOCK_H
#define QUENCH_APP_QUENCH_LAB_EAL_CLOCK_H

#include <stdbool.h>

/**
 * Shorten the sleep in which EAL measures the frequency of the TSC, from 0.1 s to 1 ms: the lab's
 * time is virtual, so it has no use for a precise frequency. Without this, the sleep is half of the
 * time before the first event.
 *
 * @param starts  true before rte_eal_init(), false after it.
 */
void eal_clock_hurry(bool starts);

#endif
