/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of jobs on the terminal (doc/jobs.md), as JSON, metrics and CSV (doc/interface.md). */
#ifndef QUENCH_APP_RUNTIME_REPORT_JOB_REPORT_H
#define QUENCH_APP_RUNTIME_REPORT_JOB_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "base/field/walk.h"
#include "nic/jobs/job_results.h"

/* On the terminal. ranks: what the column ranks counts, in its second line. */
void job_table_head(FILE *out, const char *ranks);
void job_table_line(FILE *out, const char *name, uint32_t n_ranks, const struct job_result *r);
/** Which rank is behind, if one is. */
void job_table_waits(FILE *out, const char *name, const struct job_result *r);

/* Values. keys, r and info are NULL with names_only. */
void job_walk_keys(struct walk *w, const struct job_keys *keys);
void job_walk_result(struct walk *w, const struct job_result *r);
/** Of an iteration, by its number from 0 on. */
void job_walk_iteration(struct walk *w, const struct job_iteration *it, uint32_t number);
void job_walk_rank(struct walk *w, const struct nic_job_info *info);

#define JOB_COUNT_COLUMNS                                                                          \
	"rp_cnp_handled,ce_packets,retransmitted_packets,out_of_sequence,paused_ns"
#define JOB_CSV_COLUMNS                                                                            \
	"job,iteration,begin_ns,end_ns,jct_ns,last_rank,rank_p50_ns,rank_p99_ns,rank_max_ns,"      \
	"rank_cv,rank_jain," JOB_COUNT_COLUMNS
/** A row for each iteration. */
void job_csv_iterations(FILE *out, const char *name, const struct job_result *r);
/** The rest of a row, after a comma: JOB_COUNT_COLUMNS. */
void job_csv_counts(FILE *out, const struct nic_job_counts *c);

#endif
