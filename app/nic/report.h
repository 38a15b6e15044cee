/* SPDX-License-Identifier: BSD-3-Clause */
/* What a NIC has counted: the end of a statistics line, and the JSON object of doc/interface.md. */
#ifndef QUENCH_APP_NIC_REPORT_H
#define QUENCH_APP_NIC_REPORT_H

#include <jansson.h>

#include "common/run.h"
#include "nic/flows.h"
#include "nic/nic.h"

/** For struct run_app. Reads counters only. */
void nic_stats_line(const struct run_app *app, struct run_traffic *traffic, char *text,
		    unsigned int text_size);

/** Counters of all lcores together. */
struct nic_stats nic_total_stats(const struct run_app *app);

/** All counters and QPs, after the loop has ended. @return a new object. */
json_t *nic_report(const struct run_app *app, const struct run_result *result, struct flows *flows);

#endif
