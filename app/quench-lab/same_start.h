/* SPDX-License-Identifier: BSD-3-Clause */
/* Have all ranks read the same scenario, with the same options? */
#ifndef QUENCH_APP_QUENCH_LAB_SAME_START_H
#define QUENCH_APP_QUENCH_LAB_SAME_START_H

#include <stdint.h>

#include "fabric/scenario/scenario.h"
#include "quench-lab/lab_opts.h"

/**
 * A number for all that ranks must have in common: the build, the options that decide what they
 * exchange, the scenario, and what it has read from other files.
 * @return below 2^63.
 */
uint64_t same_start_number(const struct lab_opts *o, const struct scenario *s);

#endif
