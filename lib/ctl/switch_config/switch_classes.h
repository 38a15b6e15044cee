/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of a switch's configuration for single classes. Private to lib/ctl.
 *
 *   [wred NAME] [buffer_profile NAME]   profiles that the next sections may name
 *   [tc N]                              a traffic class
 *   [queue N] [pg N]                    a queue, a priority group of every port
 *   [queue P|N] [pg P|N]                those of port P, which override the sections above
 */
#ifndef QUENCH_CTL_SWITCH_CONFIG_SWITCH_CLASSES_H
#define QUENCH_CTL_SWITCH_CONFIG_SWITCH_CLASSES_H

#include "ctl/config/config_sections.h"
#include "switch/sw.h"

/** @return as config_read(). */
int switch_classes_read(struct config *cfg, struct sw_params *out, struct config_error *err);

/**
 * Read the sections of one switch among several into out: [switch NAME tc N], [switch NAME queue N]
 * and so on. `of`, here and below: "switch NAME"; NULL: the sections common to all switches.
 */
int switch_classes_read_over(struct config *cfg, const char *of, struct sw_params *out,
			     struct config_error *err);

/** Read the common sections over the active configuration in out. @return as config_read(). */
int switch_classes_set(struct config *cfg, struct sw_params *out, struct config_error *err);

/** Refuse sections of ports that do not exist. @return 0 or -EINVAL with err filled in. */
int switch_classes_check_ports(const struct config *cfg, const char *of,
			       const struct sw_params *params, struct config_error *err);

/** Add rows for the sections of these kinds in cfg, for config_rows_refuse(). */
void switch_classes_list(const struct config *cfg, const char *of, const struct sw_params *params,
			 struct config_rows *rows);

/** Print the sections that differ from the defaults. */
void switch_classes_print(FILE *out, const struct sw_params *params);
/** Print the sections of one switch among several that differ from common. */
void switch_classes_print_over(FILE *out, const char *of, const struct sw_params *params,
			       const struct sw_params *common);

void switch_classes_print_reference(FILE *out);

#endif
