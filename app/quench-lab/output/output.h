/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of a run: results.json, CSV time series, the table on the terminal (doc/interface.md).
 *
 * Invariant: a run that fails leaves the result files of earlier runs unchanged.
 */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <jansson.h>

#include "base/field/walk.h"
#include "fabric/results/probe.h"
#include "fabric/server/server.h"
#include "quench-lab/output/output_fluid.h"
#include "quench-lab/output/output_dump.h"
#include "quench-lab/output/output_file.h"

struct lab_run {
	const char *scenario_name;
	const char *switch_name;    /* of --switch, beside a scenario; NULL: none */
	const char *const *changes; /* of --set: SECTION.KEY=VALUE */
	unsigned int n_changes;
	const struct scenario *scenario;
	struct net *net;
	struct run_result result;
	struct lab_fluid fluid;
	struct dumps dumps;
	bool records_jobs;               /* the operations of all jobs */
	struct explain_job *explain_job; /* NULL: none */
	struct job_result *alone;        /* by job; NULL: they did not run alone */
	double wall_seconds;
};

/** All results as one object; the caller owns the reference. NULL: no memory. */
json_t *output_json(const struct lab_run *run);
/** The names of all that it may have. */
void output_names(struct walk *w);
/** The results of the fluid model alone: the first members of output_json(), and fluid. */
json_t *output_fluid_json(const struct lab_run *run);

/* Parts of output_json(): lists of these names. run is NULL with names_only. */
void output_walk_servers(struct walk *w, const struct lab_run *run);
void output_walk_streams(struct walk *w, const struct lab_run *run);
void output_walk_jobs(struct walk *w, const struct lab_run *run);
void output_walk_ports(struct walk *w, const struct lab_run *run);
void output_walk_drops(struct walk *w, const struct lab_run *run);
void output_walk_warnings(struct walk *w, const struct lab_run *run);
void output_walk_cable_faults(struct walk *w, const struct lab_run *run);
/** pause_tree, deadlock and hot_queues. */
void output_walk_pauses(struct walk *w, const struct lab_run *run);
/** Lengths of a queue in the measured window; with or without the median. */
void output_walk_lengths(struct walk *w, const struct queue_result *q, bool median);
/** Thresholds of a queue's marking; both are 0 if it has no curve. */
void output_walk_curve(struct walk *w, const struct wred_curve *curve);

/** r is NULL with names_only. */
void output_walk_fast_forward(struct walk *w, const struct fast_forward_result *r);
/** What was left out, the error that replays found, and why the rest was simulated. */
void output_fast_forward_table(FILE *out, const struct fast_forward_result *r);
/** A line for each stream. */
void output_streams_table(FILE *out, const struct lab_run *run);
/** A line for each server; none without servers. */
void output_servers_table(FILE *out, const struct lab_run *run);
/**
 * Write servers.csv, under its name with ".part". No file without servers.
 * @return as output_jobs_csv().
 */
int output_servers_csv(const struct lab_run *run, const char *dir);
/** What makes the run's results doubtful, as sentences: [ "...", ... ]. */
json_t *output_warnings(const struct lab_run *run);

/** Lines for each job. */
void output_jobs_table(FILE *out, const struct lab_run *run);
/**
 * Write the CSV files of jobs, under their names with ".part". No file without a job.
 * @return 0, or -errno after an error line.
 */
int output_jobs_csv(const struct lab_run *run, const char *dir);
/** As output_csv_keep(), of these files. */
int output_jobs_keep(const char *dir, bool keep);

/** Who paused whom, from which root, and which flows it delayed: about 30 lines, or all. */
void output_explain_pauses(FILE *out, const struct lab_run *run, bool all);
/** The longest queues, and the flows that fill them. */
void output_explain_hot(FILE *out, const struct lab_run *run, bool all);

/** Most physical memory that the program has had so far. */
uint64_t output_most_bytes(void);
/** Print the main results as tables. */
void output_table(FILE *out, const struct lab_run *run);

struct output_csv {
	FILE *flows, *queues, *pfc, *pgs;
	FILE *messages;             /* NULL: not wanted */
	struct nic_times **earlier; /* per flow, at the previous sample; NULL: none yet */
	struct nic_times *interval;
	struct output_listed {
		bool *has;        /* per flow */
		uint32_t n, most; /* flows with rows; flow_rows */
	} listed;
	bool *ended; /* per flow: its last row is written */
};

/**
 * Open the four time series in dir and write their headings.
 * @return 0, or -errno after an error line. Call output_csv_close() in both cases.
 */
int output_csv_open(struct output_csv *csv, const char *dir, const struct net *net);
/** Rows of messages.csv. */
void output_csv_messages(struct output_csv *csv, const struct net *net,
			 const struct nic_message *messages, uint32_t n);
/** One sample of the other series. */
void output_csv_sample(struct output_csv *csv, const struct probe *p, uint64_t now_ns);
/** @return 0, or -errno after an error line, e.g. if the disk is full. */
int output_csv_close(struct output_csv *csv, const char *dir, const struct net *net);
/**
 * Write times.csv, the histograms of all flows, under its name with ".part".
 * @return 0, or -errno after an error line.
 */
int output_times(const struct lab_run *run, const char *dir);
/**
 * Write counters.csv, every counter of every node, under its name with ".part".
 * @return 0, or -errno after an error line.
 */
int output_counters(const struct lab_run *run, const char *dir);
/**
 * Give the closed files their names or, without keep (the run failed), remove them; older files
 * then stay as they were.
 * @return 0, or -errno after an error line.
 */
int output_csv_keep(const char *dir, bool keep);
/** The same for the fluid model's series alone. */
int output_fluid_keep(const char *dir, bool keep);

/**
 * Write trace.csv into dir, under its name with ".part" until output_csv_keep(): the QPs selected
 * by trace_qps. No file if there are none.
 * @return 0, or -errno after an error line.
 */
int output_trace(const struct lab_run *run, const char *dir);

#endif
