/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a scenario file into struct scenario: the fabric, all switches and all hosts. */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_FILE_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_FILE_H

#include <stdio.h>

#include "ctl/config/config_kinds.h"
#include "fabric/scenario/scenario.h"

#define SCENARIO_MAX_TRACES 16u

/* Kinds of sections that may occur any number of times, in the order in which they are printed. */
enum {
	SCENARIO_LINKS,
	SCENARIO_HOSTS,
	SCENARIO_STATIC_ROUTES,
	SCENARIO_FLOWS,
	SCENARIO_JOBS,
	SCENARIO_STREAMS,
	SCENARIO_RECORDS,
	SCENARIO_EVENTS,
	SCENARIO_KINDS,
};
extern const struct config_kind scenario_kinds[SCENARIO_KINDS];

/* Values of the command line that override the file; duration_ns 0: not given. */
struct scenario_override {
	bool has_seed;
	uint64_t seed;
	uint64_t duration_ns;
	const char *traces[SCENARIO_MAX_TRACES]; /* flows whose QPs are traced */
	unsigned int n_traces;
};

/**
 * Read and check the whole file, without the changes of its events (event_set.h), which stay empty.
 * On success the scenario owns its flows: call scenario_free().
 *
 * @param s  All zero, but for before.
 * @return   0, or -EINVAL with err filled in.
 */
int scenario_file_read(struct config *cfg, const struct scenario_override *override,
		       struct scenario *s, struct config_error *err);
/** Also frees the result of scenario_read(). */
void scenario_free(struct scenario *s);

/** Print the active configuration as a file that reads back the same. */
void scenario_print(FILE *out, const struct scenario *s);

/** Print every key that a scenario may contain. */
void scenario_print_reference(FILE *out);

#endif
