/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of quench-nic, summed over all lcores. */
#ifndef QUENCH_APP_QUENCH_NIC_NODES_TOTALS_H
#define QUENCH_APP_QUENCH_NIC_NODES_TOTALS_H

#include "runtime/run/run.h"
#include "nic/nic.h"

/** Any thread, also while the NIC runs. */
struct nic_stats nic_total_stats(const struct run_app *app);

#endif
