/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a quench-switch as a scenario: one switch with a host at each port. Its
 * sections become those of the scenario, as they are. What describes devices is left out.
 */
#ifndef QUENCH_APP_QUENCH_LAB_SECTIONS_SWITCH_FILE_H
#define QUENCH_APP_QUENCH_LAB_SECTIONS_SWITCH_FILE_H

#include "ctl/config/config.h"

/* The file of a scenario that a switch is put into if there is no other. */
#define SWITCH_FILE_ALONE "[fabric]\nduration_ns = 50ms\nmeasure_from_ns = 25ms\n"

/**
 * Put a switch into a scenario, before it is read. Sections of switches and ports of the scenario
 * itself are removed. A line on standard error says what was removed, and what of the switch the
 * lab does not have.
 *
 * @param path   File of the switch.
 * @param alone  cfg is SWITCH_FILE_ALONE: add an incast over the switch's lossless class.
 * @return       0, or -errno with err filled in.
 */
int switch_file_take(struct config *cfg, const char *path, bool alone, struct config_error *err);

#endif
