/* SPDX-License-Identifier: BSD-3-Clause */
/* quench-switch --thresholds, and the warnings from it at every start. */
#ifndef QUENCH_APP_QUENCH_SWITCH_CONFIG_THRESHOLD_ADVICE_H
#define QUENCH_APP_QUENCH_SWITCH_CONFIG_THRESHOLD_ADVICE_H

#include <stdio.h>

#include "switch/sw.h"

/** Print the headroom of each port and the thresholds that the buffer allows. */
void thresholds_print(FILE *out, const struct sw_params *params);

/** Warn of each lossless queue whose senders may be paused before its marking begins. */
void thresholds_warn(const struct sw_params *params);

#endif
