/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles, classes, groups and queues of a switch as rows to compare. Private to lib/ctl. */
#ifndef QUENCH_CTL_SWITCH_CONFIG_SWITCH_CLASSES_ROWS_H
#define QUENCH_CTL_SWITCH_CONFIG_SWITCH_CLASSES_ROWS_H

#include "ctl/config/config_compare.h"
#include "switch/sw.h"

/** Named profiles. */
void switch_profiles_rows(const struct sw_params *params, struct config_rows *rows);

/** Groups and queues of each port, whatever sections the file has for them. */
void switch_classes_add_rows(const struct sw_params *params, struct config_rows *rows);

/**
 * As switch_classes_add_rows(), for one switch among several, by its section, such as "switch
 * T4". Without profiles, because all switches share them.
 */
void switch_classes_add_rows_one(const char *section, const struct sw_params *params,
				 struct config_rows *rows);

#endif
