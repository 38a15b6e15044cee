/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "clear counters": what counters were, kept by their reader, and subtracted from what they are.
 * The program's counters go on, for everybody else and for the sums that they are part of.
 *
 * A file for each user and process, in $XDG_CACHE_HOME/quenchctl or ~/.cache/quenchctl. One of a
 * process that is gone counts for nothing, also when its number is in use again.
 */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_BASELINE_H
#define QUENCH_APP_QUENCHCTL_SHOW_BASELINE_H

#include <jansson.h>

#include "quenchctl/socket/client.h"

/** That of the client's program; NULL: there is none. @return a new object. */
json_t *baseline_load(const struct client *c);

/**
 * Keep replies.
 *
 * @param replies   An object: by command, what was replied.
 * @param counters  A list of names: what counts, in any of them.
 * @return          0, or an exit code after an error line.
 */
int baseline_keep(const struct client *c, json_t *replies, json_t *counters);

/** Subtract from a reply what was kept of this command, if it was. */
void baseline_subtract(const json_t *baseline, const char *command, json_t *reply);

#endif
