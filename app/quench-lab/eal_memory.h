/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_APP_QUENCH_LAB_EAL_MEMORY_H
#define QUENCH_APP_QUENCH_LAB_EAL_MEMORY_H

#include <stdbool.h>

/**
 * Have EAL take memory that transparent huge pages can back. Without hugepages it maps a file
 * (memfd_create()), so that other processes may share it; nobody shares the lab's. EAL clears each
 * packet pool's caches of 128 lcores, 1.6 MB: with pages of 4 KB that is 400 page faults a pool.
 *
 * @param starts  true before rte_eal_init(), false after it.
 */
void eal_memory_private(bool starts);
/** Ask for huge pages, after rte_eal_init(). A failure is ignored. */
void eal_memory_use_huge_pages(void);

#endif
