/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of jobs on the terminal (doc/jobs.md). */
#ifndef QUENCH_APP_RUNTIME_REPORT_JOB_TABLE_H
#define QUENCH_APP_RUNTIME_REPORT_JOB_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "nic/jobs/job_spread.h"

struct job_line {
	const char *name;
	uint32_t n_ranks, ended;
	struct job_spread jct;
	uint64_t mean_ns;
	uint64_t bound_ns, alg_bps, bus_bps; /* 0: it has none */
	uint32_t waits_rank;                 /* JOB_NONE: no rank waits */
	const char *waits_for;
};

/** ranks: what the column ranks counts, in its second line. */
void job_table_head(FILE *out, const char *ranks);
void job_table_line(FILE *out, const struct job_line *line);
/** Which rank is behind, if one is. */
void job_table_waits(FILE *out, const struct job_line *line);

#endif
