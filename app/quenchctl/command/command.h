/* SPDX-License-Identifier: BSD-3-Clause */
/* A command of quenchctl: its words, its request to the program, and the format of the reply. */
#ifndef QUENCH_APP_QUENCHCTL_COMMAND_COMMAND_H
#define QUENCH_APP_QUENCHCTL_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "quenchctl/socket/client.h"

#define COMMAND_PARAMS 16
#define COMMAND_PARAM_CHARS 64
#define COMMAND_CHARS 256 /* longest path with parameters */

/* Bounds of the metrics: flows and QPs with the lowest numbers. */
struct metrics_bounds {
	unsigned int flows, qps;
};

struct ctl_options {
	bool json;
	double watch_s;     /* interval; 0: once */
	bool since_start;   /* do not subtract the baseline */
	bool all;           /* idle rows too */
	const char *output; /* of import and export; NULL: standard output */
	const char *ports;  /* of import; NULL: all */
	char capture[768];  /* options of capture: " KEY=VALUE KEY=VALUE" */
	/* of metrics */
	const char *path, *prefix; /* as for client_open() */
	const char *listen;
	/* of web */
	bool control;             /* the page may change programs */
	const char *control_file; /* with the token; NULL: a random one */
	struct metrics_bounds bounds;
};

struct command;

/* Run a command. @return 0, or an exit code after an error line. */
typedef int command_run(const struct command *command, struct client *c,
			const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
typedef int command_run_files(const struct ctl_options *o,
			      const char *const params[COMMAND_PARAMS]);

struct command {
	/* Words; parameters are in capitals, an optional last one is in brackets; one that ends
	 * with ... may be repeated. */
	const char *words;
	const char *help;
	const char *program; /* program that supports the command; NULL: both */
	command_run *run;
	/* Instead of run: for commands without a program, or that find programs themselves. */
	command_run_files *run_files;
	/* of show: the request, and the format of the reply */
	const char *path;
	const char *list;                     /* key of the rows; NULL: none */
	const char *columns;                  /* of the rows, for table_rows() */
	const char *members;                  /* for table_members(); "": none, NULL: all */
	json_t *(*shape)(const json_t *rows); /* make rows for people; NULL: as replied */
	/* Counters of a row; a table hides rows in which all are 0. NULL: it shows all. */
	const char *active;
	const char *row_noun; /* plural, with active */
	/* Keys of rows with numbers of ports in their text, which a table replaces by names. */
	const char *port_texts;
	bool by_port;
	bool rates;                    /* rows of flows get their present rates */
	void (*print_keys)(FILE *out); /* for its --help: the KEY=VALUE words; NULL: none */
	bool watchable;                /* --watch runs it repeatedly */
	bool goes_on;                  /* the command repeats itself; --watch sets its interval */
};

/* Shared by several commands. */

/** Refuse commas, which separate parameters. @return 0, or APP_BAD_USAGE after an error line. */
int check_params(const char *const params[COMMAND_PARAMS]);

/** Write a text to --output, which is then complete or unchanged, or to standard output. */
int write_output(const struct ctl_options *o, const char *text, size_t size);

#endif
