/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_APP_QUENCH_LAB_EAL_CORES_H
#define QUENCH_APP_QUENCH_LAB_EAL_CORES_H

#include <stdbool.h>

/**
 * Leave the process on the CPUs that it may use. EAL pins it to those of its options, so that all
 * concurrent runs would share one, and knows no CPU from its 128th (RTE_MAX_LCORE) on: a run that
 * may use those alone would not start.
 *
 * @param starts  true before rte_eal_init(), false after it.
 */
void eal_cores_keep(bool starts);

#endif
