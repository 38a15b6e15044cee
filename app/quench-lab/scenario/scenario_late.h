/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings about times in a scenario after its end. */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_LATE_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_LATE_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/**
 * Warn of each event and flow that starts after the end of the run, one line each. A late start is
 * not an error: --duration shortens a run, and variants of an experiment omit a flow by starting it
 * late.
 */
void scenario_warn_late(const struct config *cfg, const struct scenario *s);

#endif
