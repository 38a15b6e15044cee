/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the rows of a QP's trace page by page, and converts them to events. */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_TRACE_ROWS_H
#define QUENCH_APP_QUENCHCTL_SHOW_TRACE_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "quenchctl/socket/client.h"
#include "ctl/results/explain.h"

/* Position of a reader of a trace. */
struct trace_reader {
	struct client *client;
	const char *id;   /* of the QP: its number, FLOW or FLOW#I */
	uint64_t next;    /* number of the next row */
	json_int_t trace; /* which of the QP's traces; 0: any */
};

/**
 * Ask for the next rows.
 *
 * @param reply  Set to the reply to /quench/trace, owned by the caller; NULL after an error. "rows"
 *               may be missing; "lost" rows before "first" were overwritten. If "traced" is false,
 *               the reply only describes the QP.
 * @return       0, or an exit code after an error line.
 */
int trace_read(struct trace_reader *r, json_t **reply);

/** Had more rows been written than the reply contains? */
bool trace_has_more(const json_t *reply);

/**
 * Ask for all stored rows, or for the newest if they are written faster than read.
 * @param reply  As of trace_read(), with all rows; "lost" is the number of missing first rows.
 */
int trace_read_all(struct client *c, const char *id, json_t **reply);

/**
 * Convert a row to an event. Does not fill in the event's member `before` (the state before it).
 */
struct explain_event trace_event(const json_t *row);

/**
 * Convert all rows, and fill in `before` of each event.
 * @return owned by the caller, or NULL: no memory.
 */
struct explain_event *trace_events(const json_t *rows);

#endif
