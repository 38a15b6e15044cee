/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of QPs as CSV: one row for each event that moved a rate (doc/interface.md). */
#ifndef QUENCH_CTL_TRACE_CSV_H
#define QUENCH_CTL_TRACE_CSV_H

#include <stdio.h>

#include "nic/nic_trace.h"

/** The first line. */
void trace_csv_head(FILE *out);

/** The rows of one QP. @param flow  How the file calls its flow. @param qp  Which QP of that flow.
 */
void trace_csv_rows(FILE *out, const char *flow, uint32_t qp, const struct nic_trace *trace);

#endif
