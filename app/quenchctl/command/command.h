/* SPDX-License-Identifier: BSD-3-Clause */
/* A command of quenchctl: its words, what it asks of the program, and how it is printed. */
#ifndef QUENCH_APP_QUENCHCTL_COMMAND_COMMAND_H
#define QUENCH_APP_QUENCHCTL_COMMAND_COMMAND_H

#include <stdbool.h>

#include "quenchctl/socket/client.h"

#define COMMAND_PARAMS 4
#define COMMAND_CHARS 256 /* of a path with its parameters */

/* Bounds of the metrics: flows and QPs with the lowest numbers. */
struct metrics_bounds {
	unsigned int flows, qps;
};

struct ctl_options {
	bool json;
	double watch_s;     /* between two pictures; 0: one */
	bool since_start;   /* do not subtract what was cleared */
	const char *output; /* of import and export; NULL: standard output */
	/* of metrics */
	const char *path, *prefix; /* as for client_open() */
	const char *listen;
	struct metrics_bounds bounds;
};

struct command;

/* What runs a command. @return 0, or an exit code after an error line. */
typedef int command_run(const struct command *command, struct client *c,
			const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
typedef int command_run_files(const struct ctl_options *o,
			      const char *const params[COMMAND_PARAMS]);

struct command {
	/* Words, with parameters in capitals, the last in brackets if it may be missing. */
	const char *words;
	const char *help;
	const char *program; /* that has it; NULL: both */
	command_run *run;
	/* In place of run, of a command that asks no program, or finds programs by itself. */
	command_run_files *run_files;
	/* show: what is asked, and what is printed of it */
	const char *path;
	const char *list;                     /* key of the rows; NULL: none */
	const char *columns;                  /* of them, for table_rows() */
	const char *members;                  /* for table_members(): "" none, NULL all */
	json_t *(*shape)(const json_t *rows); /* other rows for people; NULL: those */
	bool by_port;
	bool watchable; /* with --watch it is run again and again */
	bool goes_on;   /* it goes on by itself; --watch is its interval */
};

/* What runs of several commands need. */

/** A comma would begin another parameter. @return 0, or APP_BAD_USAGE after an error line. */
int check_params(const char *const params[COMMAND_PARAMS]);

/** Write a text to --output, which is whole or what it was before, or to standard output. */
int write_output(const struct ctl_options *o, const char *text, size_t size);

#endif
