/* SPDX-License-Identifier: BSD-3-Clause */
/* quench-switch --thresholds, and what of it is said at every start. */
#ifndef QUENCH_APP_QUENCH_SWITCH_THRESHOLDS_H
#define QUENCH_APP_QUENCH_SWITCH_THRESHOLDS_H

#include <stdio.h>

#include "switch/sw.h"

/** Print headroom by port, and the thresholds that the buffer allows. params: resolved. */
void thresholds_print(FILE *out, const struct sw_params *params);

/** A warning for each lossless queue whose marking may begin after its senders are paused. */
void thresholds_warn(const struct sw_params *params);

#endif
