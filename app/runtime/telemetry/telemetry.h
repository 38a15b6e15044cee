/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The /quench/... commands of DPDK's telemetry socket: registration, parameters, errors, and an end
 * before what they read goes away.
 *
 * Each client has a thread of DPDK's, and several may be in a reply at once. What a reply reads is
 * counters (single writer, relaxed) and what does not change while the program runs; anything else
 * it reads, and all that it changes, is work for the main lcore (telemetry_on_main()).
 */
#ifndef QUENCH_APP_RUNTIME_TELEMETRY_TELEMETRY_H
#define QUENCH_APP_RUNTIME_TELEMETRY_TELEMETRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/telemetry/live.h"
#include "ctl/output/telemetry.h"

#define TELEMETRY_ARGS 4
/* One parameter, commas and all. */
#define TELEMETRY_WHOLE UINT32_MAX
/* As much as DPDK puts into one text. */
#define TELEMETRY_ERROR_CHARS 127
/* Beyond that: lines that name file, section, key and value. */
#define TELEMETRY_REST_CHARS 1023

struct run_app;
struct run_result;
struct tsc_clock;
struct telemetry;

/* One request. */
struct telemetry_call {
	const struct telemetry *telemetry;
	const struct live_version *version; /* of telemetry's live: as it was when the call came */
	unsigned int n_args;
	const char *args[TELEMETRY_ARGS];
	char error[TELEMETRY_ERROR_CHARS + 1];    /* what is wrong */
	char expected[TELEMETRY_ERROR_CHARS + 1]; /* and what would be right */
	char rest[TELEMETRY_REST_CHARS + 1];      /* of an error that is longer */
};

struct telemetry_endpoint {
	const char *path;      /* "/quench/port" */
	const char *usage;     /* what follows the path, ",PORT[,FIRST]"; "": nothing */
	const char *help;      /* begins with "Returns" or "Sets" */
	unsigned int max_args; /* or TELEMETRY_WHOLE */
	/* @return the reply, or NULL with call->error and call->expected filled in. */
	json_t *(*reply)(struct telemetry_call *call);
};

struct telemetry {
	/* of the program */
	const struct telemetry_endpoint *endpoints;
	unsigned int n_endpoints;
	const void *program;
	struct live *live; /* its configurations; NULL: there is one, and it stays */
	/* of run_node() */
	atomic_bool *stop;
	const struct run_app *app;
	const struct run_result *result;
	const struct tsc_clock *clock;
	struct mailbox mailbox;
};

/** Answer from now on. One at a time. @return 0 or -errno. */
int telemetry_open(struct telemetry *t);

/** On the main lcore: answer no more; waits for replies that have begun. Without an open:
 * nothing. */
void telemetry_close(struct telemetry *t);

/** Time of the run. */
uint64_t telemetry_now_ns(const struct telemetry_call *call);

/** Let the main lcore do it, and wait. @return false: it did not; call says why. */
bool telemetry_on_main(struct telemetry_call *call, void (*work)(void *arg, uint64_t now_ns),
		       void *arg);

/** Fill in what is wrong and what would be right. @return NULL, for the reply. */
json_t *telemetry_refuse(struct telemetry_call *call, const char *expected, const char *error, ...)
	__attribute__((format(printf, 3, 4)));

/** Fill in a whole line that says both. @return NULL, for the reply. */
json_t *telemetry_refuse_line(struct telemetry_call *call, const char *line);

/** The i-th parameter as a number in [min, max]. @return false: it is not; call says why. */
bool telemetry_number(struct telemetry_call *call, unsigned int i, const char *name, uint64_t min,
		      uint64_t max, uint64_t *value);
/** The i-th parameter as on or off. */
bool telemetry_switch(struct telemetry_call *call, unsigned int i, const char *name, bool *value);
/** telemetry_number(), but value stays as it is when the parameter is missing. */
bool telemetry_optional_number(struct telemetry_call *call, unsigned int i, const char *name,
			       uint64_t min, uint64_t max, uint64_t *value);

#endif
