/* SPDX-License-Identifier: BSD-3-Clause */
/* Warns once of a loop whose late polls take a tenth of the rate of shaped ports. */
#ifndef QUENCH_APP_RUNTIME_POLL_POLL_WATCH_H
#define QUENCH_APP_RUNTIME_POLL_POLL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/poll/poll_gap.h"

/* Time over which the loss is looked at. */
#define POLL_WATCH_NS 1000000000u
/* Loss that is worth a warning, in percent of that time. */
#define POLL_WATCH_PCT 10u

struct poll_watch {
	uint64_t since_ns, lost_ns; /* as of the last look */
	bool said;
};

/**
 * Look at a loop, from the control thread; POLL_WATCH_NS or more after the last time.
 * @return percent of the time since then that was lost, if a warning is due now; else 0.
 */
unsigned int poll_watch_look(struct poll_watch *w, const struct poll_gap *g, uint64_t now_ns);

/** The warning. */
void poll_watch_say(const struct poll_gap *g, unsigned int lcore, unsigned int lost_pct);

#endif
