/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command line of quench-nic and quench-switch: PROGRAM [EAL options] -- [program options].
 *
 * Without "--" all options are the program's, so that --help and --check-config need no EAL.
 */
#ifndef QUENCH_APP_RUNTIME_RUN_OPTS_H
#define QUENCH_APP_RUNTIME_RUN_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl/output/json_schema.h"
#include "runtime/desk/desk_peer.h"

enum opts_action {
	OPTS_RUN,
	OPTS_CHECK_CONFIG, /* read the file, print the resulting configuration */
	OPTS_THRESHOLDS,   /* read the file, print its buffer's thresholds */
	OPTS_HELP,
	OPTS_HELP_CONFIG,
	OPTS_HELP_RESULTS,
	OPTS_VERSION,
};

/* Default of --json-qps: a few megabytes of JSON. */
#define OPTS_JSON_QPS 4096u

struct opts_program {
	const char *name;
	const char *purpose;    /* one line for --help */
	const char *stay_help;  /* NULL: the program has no --stay */
	const char *trace_help; /* NULL: the program has no --trace */
	void (*help_config)(FILE *out);
	walk_names *results;       /* names of the JSON; NULL: the program has no --help-results */
	const char *csv_help;      /* NULL: the program has no --csv */
	const char *json_qps_help; /* NULL: the program has no --json-qps */
	const char *thresholds_help; /* NULL: the program has no --thresholds */
	const char *json_help;       /* NULL: --json writes all counters */
	bool is_fixed;               /* SIGHUP does not reload the file */
};

struct opts {
	enum opts_action action;
	const char *config;
	const char *json;           /* NULL: no file; "-" standard output */
	const char *trace;          /* NULL: no file */
	const char *csv;            /* folder; NULL: no files */
	uint64_t stats_interval_ns; /* 0: no statistics line */
	uint64_t duration_ns;       /* NEVER_NS: until a signal */
	uint64_t idle_sleep_ns;     /* 0: never sleep */
	uint32_t json_qps;          /* most QPs in the JSON */
	bool stay;
	struct desk_groups groups; /* of --read-group and --change-group */
	int eal_argc;              /* EAL's arguments, including the program's name */
	char **eal_argv;           /* NULL-terminated */
};

/**
 * Parse the command line.
 *
 * @param opts  Call opts_free() whatever the result.
 * @return      0, or APP_BAD_USAGE after an error line on standard error.
 */
int opts_parse(const struct opts_program *program, int argc, char **argv, struct opts *opts);

void opts_free(struct opts *opts);

/**
 * Answer --help, --help-config, --help-results and --version.
 * @return false: the action is another one.
 */
bool opts_answer(const struct opts_program *program, const struct opts *opts);

#endif
