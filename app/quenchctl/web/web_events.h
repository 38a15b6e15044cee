/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened between two readings of a program, in words: the list of last events on the
 * page. */
#ifndef QUENCH_APP_QUENCHCTL_WEB_WEB_EVENTS_H
#define QUENCH_APP_QUENCHCTL_WEB_WEB_EVENTS_H

#include <jansson.h>
#include <stdint.h>

#include "quenchctl/top/snapshot.h"

#define WEB_EVENTS 100u

/**
 * Put an event at the end of a list that keeps the last WEB_EVENTS.
 *
 * @param at_ms  Unix time.
 * @param alarm  Something is wrong.
 */
void web_event(json_t *events, int64_t at_ms, int alarm, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** Put "N of what" there; if the same went on until now, its event grows in place of another
 * one. */
void web_event_count(json_t *events, int64_t at_ms, double n, const char *what);

/**
 * Add links that came or went, storms, drops that began, and on a NIC QPs that gave up, peers that
 * do not answer and CNPs for nobody.
 */
void web_events_between(json_t *events, int64_t at_ms, const struct snapshot *now,
			const struct snapshot *before);

#endif
