/* SPDX-License-Identifier: BSD-3-Clause */
/* Headroom of the switches of a scenario: as much as xoff_bytes = auto gives, or too little. */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_HEADROOM_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_HEADROOM_H

#include <stdio.h>

#include "fabric/scenario/scenario.h"

/** Print the bytes of xoff_bytes = auto, as a comment. */
void scenario_print_headroom(FILE *out, const struct scenario *s);

/** Warn of groups with too little headroom, at the start or after an event that changes them. */
void scenario_warn_headroom(const struct scenario *s);

#endif
