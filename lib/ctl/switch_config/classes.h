/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of a switch's configuration that are about single classes. Private to lib/ctl.
 *
 *   [wred NAME] [buffer_profile NAME]   profiles that the next ones name
 *   [tc N]                              a traffic class
 *   [queue N] [pg N]                    a queue, a priority group of every port
 *   [queue P|N] [pg P|N]                those of port P, over that
 */
#ifndef QUENCH_CTL_SWITCH_CONFIG_CLASSES_H
#define QUENCH_CTL_SWITCH_CONFIG_CLASSES_H

#include "ctl/config/sections.h"
#include "switch/sw.h"

/** @return as config_read(). */
int switch_classes_read(struct config *cfg, struct sw_params *out, struct config_error *err);

/**
 * Of one switch among several, over what out holds: [switch NAME tc N], [switch NAME queue N] and
 * on. of here and below: "switch NAME", or NULL: the sections of all.
 */
int switch_classes_read_over(struct config *cfg, const char *of, struct sw_params *out,
			     struct config_error *err);

/** The sections of all, over what out holds. @return as config_read(). */
int switch_classes_set(struct config *cfg, struct sw_params *out, struct config_error *err);

/** Refuse sections of ports that there are not. @return 0 or -EINVAL with err filled in. */
int switch_classes_check_ports(const struct config *cfg, const char *of, uint16_t n_ports,
			       struct config_error *err);

/** Rows of the sections that cfg has of these kinds, for config_rows_refuse(). */
void switch_classes_list(const struct config *cfg, const char *of, const struct sw_params *params,
			 struct config_rows *rows);

/** What is not as if nobody had said a word of it. */
void switch_classes_print(FILE *out, const struct sw_params *params);
/** What is otherwise than in common, of one switch among several. */
void switch_classes_print_over(FILE *out, const char *of, const struct sw_params *params,
			       const struct sw_params *common);

void switch_classes_print_reference(FILE *out);

#endif
