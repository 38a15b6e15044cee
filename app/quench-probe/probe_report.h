/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of quench-probe: JSON (doc/probe.md), and lines for people. */
#ifndef QUENCH_APP_QUENCH_PROBE_PROBE_REPORT_H
#define QUENCH_APP_QUENCH_PROBE_PROBE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "base/field/walk.h"
#include "probe/prober.h"

/** New object with the parameters, the counters and a line for each question. */
json_t *probe_report(const struct node *prober, const struct prober_params *params,
		     uint64_t elapsed_ns);
/** Visit the names of all its members. */
void probe_report_names(struct walk *w);
/** Print the lines that have a verdict. */
void probe_print(FILE *out, const struct node *prober);

#endif
