/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of quench-lab (doc/interface.md). */
#ifndef QUENCH_APP_QUENCH_LAB_LAB_OPTS_H
#define QUENCH_APP_QUENCH_LAB_LAB_OPTS_H

#include <stdbool.h>

#include "quench-lab/scenario/scenario_file.h"

#define LAB_MAX_SETS 64u

/* What --explain is about. */
enum lab_explains {
	LAB_EXPLAINS_NOTHING,
	LAB_EXPLAINS_FLOW,
	LAB_EXPLAINS_JOB,
	LAB_EXPLAINS_PAUSES,
	LAB_EXPLAINS_HOT
};

struct lab_opts {
	const char *scenario;    /* or switch_file, if there is no scenario */
	const char *switch_file; /* NULL: none */
	const char *json, *out_dir;
	const char *explain; /* its argument, the name of a flow, or a word; NULL: none */
	enum lab_explains explains;
	const char *goal; /* name of the job to print; NULL: none */
	bool explain_all; /* every event, one line each */
	struct scenario_override override;
	const char *sets[LAB_MAX_SETS]; /* section.key=value; override the file */
	unsigned int n_sets;
	uint32_t threads; /* 0: as many as make the run faster */
	bool check_config, fluid, quiet, no_progress;
	bool alone; /* each job runs alone, too */
	bool fast_forward;
};

/** @return -1: run; else the exit code, after help or an error line. */
int lab_opts_parse(int argc, char **argv, struct lab_opts *o);

#endif
