/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_APP_QUENCH_LAB_EAL_START_H
#define QUENCH_APP_QUENCH_LAB_EAL_START_H

#include <stdbool.h>

/**
 * Leave out of the start of EAL what a program without devices has no use for:
 *  - the sleep in which EAL measures the frequency of the TSC is 1 ms, not 0.1 s: the lab's time is
 *    virtual;
 *  - the drivers of DPDK's plugin folder, a hundred libraries, are not loaded. The lab is linked
 *    with the one that it needs, the ring of packet pools.
 *
 * @param starts  true before rte_eal_init(), false after it.
 */
void eal_start_short(bool starts);

#endif
