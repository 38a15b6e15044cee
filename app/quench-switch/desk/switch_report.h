/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch's counters, as the last words of a statistics line and as the JSON object of
 * doc/interface.md. */
#ifndef QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_REPORT_H
#define QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_REPORT_H

#include <jansson.h>

#include "runtime/run/run.h"
#include "switch/sw.h"

/** For struct run_app. Reads counters only. */
void switch_stats(const struct run_app *app, struct run_traffic *traffic, char *text,
		  unsigned int text_size);

/** All counters, after the loop has ended. @return a new object, or NULL without memory. */
json_t *switch_report(const struct run_app *app, const struct sw_params *params,
		      const struct run_result *result);

#endif
