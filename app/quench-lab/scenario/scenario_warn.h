/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings about what is allowed in a scenario, and does nothing. */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_WARN_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_WARN_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/**
 * One line each for:
 * - an event or flow that starts after the end of the run. That is not an error: --duration
 *   shortens a run, and variants of an experiment omit a flow by starting it late;
 * - a flow whose sender hears nothing that the congestion control acts on;
 * - a given value with which the congestion control cannot work as it should.
 */
void scenario_warn(const struct config *cfg, const struct scenario *s);

#endif
