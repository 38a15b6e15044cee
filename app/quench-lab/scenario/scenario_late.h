/* SPDX-License-Identifier: BSD-3-Clause */
/* What a scenario says of times after its own end. */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_LATE_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_LATE_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/**
 * Warn of each event and flow that the run ends before, in a line each. It is no error: --duration
 * makes a run shorter, and a variant of an experiment leaves a flow out by a late start.
 */
void scenario_warn_late(const struct config *cfg, const struct scenario *s);

#endif
