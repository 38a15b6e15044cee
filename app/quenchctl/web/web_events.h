/* SPDX-License-Identifier: BSD-3-Clause */
/* Events between two snapshots of a program, in words: the list of last events on the page. */
#ifndef QUENCH_APP_QUENCHCTL_WEB_WEB_EVENTS_H
#define QUENCH_APP_QUENCHCTL_WEB_WEB_EVENTS_H

#include <jansson.h>
#include <stdint.h>

#include "quenchctl/top/snapshot.h"

#define WEB_EVENTS 100u

/**
 * Append an event to a list that keeps the last WEB_EVENTS.
 *
 * @param at_ms  Unix time.
 * @param alarm  Something is wrong.
 */
void web_event(json_t *events, int64_t at_ms, int alarm, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** Append an event "N what", or increase N of the last such event if it is recent. */
void web_event_count(json_t *events, int64_t at_ms, double n, const char *what);

/**
 * Add events: links up or down, storms, drops, and for a NIC QPs that gave up, timeouts, wrong
 * ICRCs, peers that do not answer, and ignored CNPs.
 */
void web_events_between(json_t *events, int64_t at_ms, const struct snapshot *now,
			const struct snapshot *before);

#endif
