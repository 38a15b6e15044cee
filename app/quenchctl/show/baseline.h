/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "clear counters": quenchctl saves the values of counters as a baseline, and subtracts them from
 * later values. The program's counters do not change, because other readers and sums depend on
 * them.
 *
 * There is a file for each user and process, in $XDG_CACHE_HOME/quenchctl or ~/.cache/quenchctl.
 * The file of a process that has ended is ignored, even if its pid is reused.
 *
 * Invariant: a baseline affects only its user's output.
 */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_BASELINE_H
#define QUENCH_APP_QUENCHCTL_SHOW_BASELINE_H

#include <jansson.h>

#include "quenchctl/socket/client.h"

/** Load the baseline of the client's program. @return a new object, or NULL: none. */
json_t *baseline_load(const struct client *c);

/**
 * Save replies as the baseline.
 *
 * @param replies   An object: the reply by command.
 * @param counters  A list of the names of counters, in any of them.
 * @param elapsed_ns  Run time of the program, an integer.
 * @return          0, or an exit code after an error line.
 */
int baseline_keep(const struct client *c, json_t *replies, json_t *counters, json_t *elapsed_ns);

/** Subtract the baseline of this command, if there is one, from a reply. */
void baseline_subtract(const json_t *baseline, const char *command, json_t *reply);

/**
 * Make the mean rates of flows those since the clear, after baseline_subtract(). A flow that
 * started later keeps its rates since its start. Without a baseline of this command, nothing
 * changes.
 *
 * @param elapsed_ns  Run time of the program when it replied.
 */
void baseline_mean_rates(const json_t *baseline, const char *command, json_t *reply,
			 uint64_t elapsed_ns);

#endif
