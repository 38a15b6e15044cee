/* SPDX-License-Identifier: BSD-3-Clause */
/* The experiments, in the order in which they run. */
#ifndef QUENCH_PROBE_EXPERIMENTS_EXPERIMENTS_H
#define QUENCH_PROBE_EXPERIMENTS_EXPERIMENTS_H

#include "probe/core/prober_core.h"

extern const struct prober_experiment prober_experiments[];
extern const unsigned int prober_experiments_n;

#endif
