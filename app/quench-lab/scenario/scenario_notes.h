/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes on a scenario: comments in the output of --check-config, and warnings about values that are
 * allowed, but have no effect or lose frames.
 */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_NOTES_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_NOTES_H

#include <stdio.h>

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

/**
 * Print the addresses and QP numbers of the hosts, as comments of a scenario file: for frames that
 * are made outside the lab, such as CNPs. Of a large fabric, only the first are printed.
 */
void scenario_print_addresses(FILE *out, const struct scenario *s);
/** Print the headroom of xoff_bytes = auto, as a comment. */
void scenario_print_headroom(FILE *out, const struct scenario *s);
/** Warn of groups with too little headroom, at the start or after an event that changes them. */
void scenario_warn_headroom(const struct scenario *s);

#endif
