/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of quenchctl: their words, and what each asks of the program. */
#ifndef QUENCH_APP_CTL_COMMANDS_H
#define QUENCH_APP_CTL_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/client.h"
#include "ctl/metrics.h"

#define COMMAND_PARAMS 4

/* Of "clear counters". */
#define CLEAR_KINDS "interface, queue, priority-group, pfc, pfcwd, drop, router, nic, flow, qp"

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

struct command {
	/* Words, with parameters in capitals, the last in brackets if it may be missing. */
	const char *words;
	const char *help;
	const char *program; /* that has it; NULL: both */
	int (*run)(const struct command *command, struct client *c, const struct ctl_options *o,
		   const char *const params[COMMAND_PARAMS]);
	/* In place of run, of a command that asks no program, or finds programs by itself. */
	int (*run_files)(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
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

extern const struct command commands[];
extern const unsigned int commands_n;

/**
 * Find the command of these words.
 *
 * @param program  "quench-switch" or "quench-nic", or NULL: not known yet, any will do.
 * @param params   Its parameters; NULL where there is none.
 * @return         The command, or NULL after an error line that says what would be right.
 */
const struct command *command_find(int argc, char **argv, const char *program,
				   const char *params[COMMAND_PARAMS]);

/** Print all of them. */
void commands_print(FILE *out);

/* Of struct command's run. */
int command_show(const struct command *command, struct client *c, const struct ctl_options *o,
		 const char *const params[COMMAND_PARAMS]);
int command_send(const struct command *command, struct client *c, const struct ctl_options *o,
		 const char *const params[COMMAND_PARAMS]);
int command_reload(const struct command *command, struct client *c, const struct ctl_options *o,
		   const char *const params[COMMAND_PARAMS]);
int command_set_key(const struct command *command, struct client *c, const struct ctl_options *o,
		    const char *const params[COMMAND_PARAMS]);
int command_clear_counters(const struct command *command, struct client *c,
			   const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);

/** A comma would begin another parameter. @return 0, or APP_BAD_USAGE after an error line. */
int check_params(const char *const params[COMMAND_PARAMS]);

/* In trace.c and explain.c. */
int command_trace(const struct command *command, struct client *c, const struct ctl_options *o,
		  const char *const params[COMMAND_PARAMS]);
int command_show_trace(const struct command *command, struct client *c, const struct ctl_options *o,
		       const char *const params[COMMAND_PARAMS]);
int command_explain(const struct command *command, struct client *c, const struct ctl_options *o,
		    const char *const params[COMMAND_PARAMS]);

/* Of its run_files, in export.c. */
int command_show_metrics(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
int command_serve_metrics(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
/** Write a text to --output, which is whole or what it was before, or to standard output. */
int write_output(const struct ctl_options *o, const char *text, size_t size);

/* Of its run_files, in import.c. */
int command_import_nxos(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
int command_import_sonic(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
int command_import_mlnx(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
int command_export_sonic(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);

/* In web.c. */
int command_web(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);

#endif
