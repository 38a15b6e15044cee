/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses and QP numbers that a scenario's hosts have, for frames that are made outside the
 * lab, such as CNPs.
 */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_ADDRESSES_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_ADDRESSES_H

#include <stdio.h>

#include "fabric/scenario/scenario.h"

/** Print them as comments of a scenario file, of large fabrics only the first. */
void scenario_print_addresses(FILE *out, const struct scenario *s);

#endif
