/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares two scenarios of one fabric, key by key: may one follow the other during a run, and
 * which nodes does the change affect?
 */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_ROWS_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_ROWS_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/**
 * Refuse a change of a key that is not live.
 * @param cfg  That of next: its path begins the error line, and a key that it gives is named first.
 * @return     0, -EINVAL or -ENOMEM with err filled in.
 */
int scenario_refuse_fixed(const struct config *cfg, const struct scenario *now,
			  const struct scenario *next, struct config_error *err);

/** Does any key of that switch differ? */
bool scenario_switch_differs(const struct scenario *now, const struct scenario *next, uint32_t sw);

/** Does any key of hosts or flows differ? */
bool scenario_hosts_differ(const struct scenario *now, const struct scenario *next);

#endif
