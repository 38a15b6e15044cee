/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The /quench/... commands of DPDK's telemetry socket: registration, parameters, errors, and an end
 * of all replies before the data that they read is freed.
 *
 * DPDK has a thread for each client, so several replies may be made at once. A reply itself reads
 * only counters (single writer, relaxed) and constant data; all other reads and all changes are
 * work for the main lcore (telemetry_on_main()).
 *
 * Invariant: after telemetry_close() no reply runs.
 */
#ifndef QUENCH_APP_RUNTIME_TELEMETRY_TELEMETRY_H
#define QUENCH_APP_RUNTIME_TELEMETRY_TELEMETRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/telemetry/active_config.h"
#include "ctl/output/telemetry.h"

#define TELEMETRY_ARGS 4
/* One parameter, which may contain commas. */
#define TELEMETRY_WHOLE UINT32_MAX
/* Longest text in a DPDK reply. */
#define TELEMETRY_ERROR_CHARS 127
/* For longer lines, which name file, section, key and value. */
#define TELEMETRY_REST_CHARS 1023

struct run_app;
struct run_result;
struct tsc_clock;
struct telemetry;

/* One request. */
struct telemetry_call {
	const struct telemetry *telemetry;
	const struct config_version
		*version; /* of telemetry->active: active when the call arrived */
	unsigned int n_args;
	const char *args[TELEMETRY_ARGS];
	char error[TELEMETRY_ERROR_CHARS + 1];    /* what is wrong */
	char expected[TELEMETRY_ERROR_CHARS + 1]; /* what was expected */
	char rest[TELEMETRY_REST_CHARS + 1];      /* rest of a longer error */
};

/* @return the reply, or NULL with call->error and call->expected filled in. */
typedef json_t *telemetry_reply(struct telemetry_call *call);

struct telemetry_endpoint {
	const char *path;      /* "/quench/port" */
	const char *usage;     /* parameters after the path, ",PORT[,FIRST]"; "": none */
	const char *help;      /* begins with "Returns" or "Sets" */
	unsigned int max_args; /* or TELEMETRY_WHOLE */
	telemetry_reply *reply;
};

struct telemetry {
	/* set by the program */
	const struct telemetry_endpoint *endpoints;
	unsigned int n_endpoints;
	const void *program;
	struct active_config *active; /* configurations of the program; NULL: they cannot change */
	/* set by run_node() */
	atomic_bool *stop;
	const struct run_app *app;
	const struct run_result *result;
	const struct tsc_clock *clock;
	struct mailbox mailbox;
};

/** Answer commands from now on. Only one may be open. @return 0 or -errno. */
int telemetry_open(struct telemetry *t);

/** On the main lcore: stop answering, and wait for replies in progress. May be closed already. */
void telemetry_close(struct telemetry *t);

/** Time since the start of the run. */
uint64_t telemetry_now_ns(const struct telemetry_call *call);

/** Have the main lcore do the work, and wait. @return false: not done; the reason is in call. */
bool telemetry_on_main(struct telemetry_call *call, void (*work)(void *arg, uint64_t now_ns),
		       void *arg);

/** Fill in the error and the expectation. @return NULL, for the reply. */
json_t *telemetry_refuse(struct telemetry_call *call, const char *expected, const char *error, ...)
	__attribute__((format(printf, 3, 4)));

/** Fill in a complete line that says both. @return NULL, for the reply. */
json_t *telemetry_refuse_line(struct telemetry_call *call, const char *line);

/** Replace what is not printable ASCII: lines quote the client's bytes, but JSON must be UTF-8. */
void telemetry_make_plain(char *text);

/** Parse parameter i as a number in [min, max]. @return false: refused, with the reason in call. */
bool telemetry_number(struct telemetry_call *call, unsigned int i, const char *name, uint64_t min,
		      uint64_t max, uint64_t *value);
/** Parse parameter i as on or off. @return as telemetry_number(). */
bool telemetry_switch(struct telemetry_call *call, unsigned int i, const char *name, bool *value);
/** As telemetry_number(), but a missing parameter leaves value unchanged. */
bool telemetry_optional_number(struct telemetry_call *call, unsigned int i, const char *name,
			       uint64_t min, uint64_t max, uint64_t *value);

/* A paged list. Its rows have numbers from first to end - 1; some numbers may have no row. */
struct telemetry_list {
	uint64_t first, end;
	uint64_t max_first;    /* of parameter FIRST */
	unsigned int n_before; /* parameters before FIRST */
	/* Called in ascending order. @return NULL: no row has this number. */
	json_t *(*row)(struct telemetry_call *call, void *arg, uint64_t number);
	void *arg;
};

/**
 * Add the rows from FIRST on, at most COUNT numbers, that fit; with COLUMNS, names separated by
 * '+', only these members of them. All three parameters may be missing.
 *
 * @param o  The rest of the reply; takes ownership.
 * @return   The reply, or NULL: refused, with the reason in call.
 */
json_t *telemetry_list_add(struct telemetry_call *call, const struct telemetry_list *list,
			   json_t *o);

/** The same, to an object with the total number of rows, which is end. */
json_t *telemetry_list_reply(struct telemetry_call *call, const struct telemetry_list *list);

#endif
