/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a NIC: the end of a statistics line, and the JSON object of doc/interface.md. */
#ifndef QUENCH_APP_QUENCH_NIC_DESK_NIC_REPORT_H
#define QUENCH_APP_QUENCH_NIC_DESK_NIC_REPORT_H

#include <jansson.h>

#include "runtime/run/run.h"
#include "quench-nic/flows/flows.h"
#include "quench-nic/jobs/jobs.h"
#include "base/field/walk.h"
#include "nic/nic.h"

/** For struct run_app. Reads counters only. */
void nic_stats_line(const struct run_app *app, struct run_traffic *traffic, char *text,
		    unsigned int text_size);

/** All counters and QPs, after the loop has ended. @return a new object. */
json_t *nic_report(const struct run_app *app, const struct run_result *result, struct flows *flows,
		   const struct jobs *jobs);
/** Its names. */
void nic_report_names(struct walk *w);

/* Parts of the report. Any thread, also while the NIC runs. All is NULL with names_only. */

/** The port and its pause counters. */
void nic_walk_port(struct walk *w, const struct run_app *app, const struct run_result *result,
		   const struct nic_params *params, uint64_t now_ns);

/**
 * Every counter of the NIC, its congestion control and its notification point, summed over all
 * lcores.
 */
void nic_walk_all_counters(struct walk *w, const struct run_app *app,
			   const struct run_result *result);

/** The QP whose local number is first_qpn + number. */
void nic_walk_qp_of(struct walk *w, const struct run_app *app, const struct nic_config *config,
		    const struct nic_flow *flow, uint32_t number, uint64_t elapsed_ns);

/** A QP's hold (why it does not send now) and its limits. */
void nic_walk_wait(struct walk *w, const struct run_app *app, const struct nic_config *config,
		   uint32_t number, uint64_t now_ns);

/** What the NIC does now, over all lcores. */
void nic_walk_state(struct walk *w, const struct run_app *app, const struct nic_config *config);

#endif
