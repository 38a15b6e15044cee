/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of QPs as CSV: one row for each action of congestion control (doc/interface.md). */
#ifndef QUENCH_CTL_RESULTS_TRACE_CSV_H
#define QUENCH_CTL_RESULTS_TRACE_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nic/measure/trace.h"

/* Length of all reasons together. */
#define TRACE_REASON_CHARS 95

/** Print the heading. */
void trace_csv_head(FILE *out);

/** Words of a cc_did mask, joined by '+'; "state" for 0. @return text, truncated if too long. */
const char *trace_reason(uint32_t did, char *text, size_t size);

/** Print the rows of one QP. @param flow  Name of the flow in the file. @param qp  Index of the QP
 * in that flow. */
void trace_csv_rows(FILE *out, const char *flow, uint32_t qp, const struct nic_trace *trace);

#endif
