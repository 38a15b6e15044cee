/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a fabric's life share. */
#ifndef QUENCH_TEST_LIFE_FABRIC_LIFE_H
#define QUENCH_TEST_LIFE_FABRIC_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl/config/config.h"
#include "fabric/results/probe.h"
#include "life.h"

/* What a scenario says of its own run. */
struct fabric_plan {
	uint64_t calm_ns;  /* all that hinders is over, and the file's parameters are in force;
			    * NEVER_NS: not in this run */
	uint64_t stop_ns;  /* then all flows are stopped; NEVER_NS: some are not */
	uint64_t grace_ns; /* so long after calm_ns every flow goes on */
	bool is_lossless;  /* nothing may be lost, neither in a buffer nor on a cable */
};

/** Read a script as quench-lab reads its file. @return false: it is refused, as err says. */
bool fabric_read(const struct script *script, struct scenario *s, struct config_error *err);
struct fabric_plan fabric_plan(const struct scenario *s);

/** Is the link down at that time, by an event before it? */
bool fabric_link_is_down(const struct scenario *s, uint32_t link, uint64_t at_ns);

void fabric_make(struct prng *r, FILE *out);

/** Look at every cable of a net that has not run. */
void fabric_watch(struct net *net, const struct fabric_plan *plan);
/** These parameters are in force from now_ns on. */
void fabric_watch_set(const struct scenario *next, uint64_t now_ns);
/** All that must hold at any time. */
void fabric_watch_look(const struct events *events, uint64_t now_ns);
/** The last look before the flows are stopped. */
void fabric_watch_progress(uint64_t now_ns);
/** All flows were stopped, and there was time for what had begun. */
void fabric_watch_rest(void);
void fabric_watch_end(void);

#endif
