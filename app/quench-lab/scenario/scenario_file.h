/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario file into struct scenario: sections of the fabric, of all switches and of all
 * hosts. */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_FILE_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_SCENARIO_FILE_H

#include <stdio.h>

#include "ctl/config/kinds.h"
#include "fabric/scenario/scenario.h"

#define SCENARIO_MAX_TRACES 16u

/* Sections of a scenario that come in any number, in the order in which they are printed: what
 * nodes are joined by, then what they do. */
enum {
	SCENARIO_LINKS,
	SCENARIO_STATIC_ROUTES,
	SCENARIO_FLOWS,
	SCENARIO_RECORDS,
	SCENARIO_EVENTS,
	SCENARIO_KINDS,
};
extern const struct config_kind scenario_kinds[SCENARIO_KINDS];

/* What the command line says instead of the file; 0 is "nothing said" for the duration. */
struct scenario_override {
	bool has_seed;
	uint64_t seed;
	uint64_t duration_ns;
	const char *traces[SCENARIO_MAX_TRACES]; /* flows whose QPs are traced */
	unsigned int n_traces;
};

/**
 * Read and check the whole file, but for what its events make of it (event_set.h): their changes
 * stay empty. On success scenario owns its flows: scenario_free().
 * @return 0, or -EINVAL with err filled in.
 */
int scenario_file_read(struct config *cfg, const struct scenario_override *override,
		       struct scenario *s, struct config_error *err);
/** Of scenario_read() too. */
void scenario_free(struct scenario *s);

/** Print the configuration in force as a file that reads back the same. */
void scenario_print(FILE *out, const struct scenario *s);

/** Print every key that a scenario may hold. */
void scenario_print_reference(FILE *out);

#endif
