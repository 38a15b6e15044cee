/* SPDX-License-Identifier: BSD-3-Clause */
/* Two scenarios of one fabric, key by key: may one follow the other in the middle of a run, and who
 * has to be told. */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_ROWS_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_ROWS_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/**
 * Refuse what differs and is not live.
 * @param path  What the error line begins with.
 * @return      0, -EINVAL or -ENOMEM with err filled in.
 */
int scenario_refuse_fixed(const char *path, const struct scenario *now, const struct scenario *next,
			  struct config_error *err);

/** Is anything different for that switch? */
bool scenario_switch_differs(const struct scenario *now, const struct scenario *next, uint32_t sw);

/** Is anything different for hosts, or for flows? */
bool scenario_hosts_differ(const struct scenario *now, const struct scenario *next);

#endif
