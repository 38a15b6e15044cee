/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of QPs as CSV: one row for each event that moved a rate (doc/interface.md). */
#ifndef QUENCH_CTL_RESULTS_TRACE_CSV_H
#define QUENCH_CTL_RESULTS_TRACE_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nic/measure/trace.h"

/* All words at once. */
#define TRACE_REASON_CHARS 95

/** The first line. */
void trace_csv_head(FILE *out);

/** Words of a cc_did mask, joined by '+'; of 0 "state". @return text, cut at its end. */
const char *trace_reason(uint32_t did, char *text, size_t size);

/** The rows of one QP. @param flow  How the file calls its flow. @param qp  Which QP of that
 * flow. */
void trace_csv_rows(FILE *out, const char *flow, uint32_t qp, const struct nic_trace *trace);

#endif
