/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a QP's trace as the program has them: asked for page by page, and as events. */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_TRACE_ROWS_H
#define QUENCH_APP_QUENCHCTL_SHOW_TRACE_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "quenchctl/socket/client.h"
#include "ctl/results/explain.h"

/* Where a reader of a trace stands. */
struct trace_reader {
	struct client *client;
	const char *id;   /* of the QP: its number, FLOW or FLOW#I */
	uint64_t next;    /* number of the row that comes next */
	json_int_t trace; /* which of the QP's traces; 0: any */
};

/**
 * Ask for the next rows.
 *
 * @param reply  Set to the reply to /quench/trace, the caller's: "rows" may be missing, "lost" rows
 *               before "first" are gone; without "traced" there is nothing but the QP.
 *               NULL after an error.
 * @return       0, or an exit code after an error line.
 */
int trace_read(struct trace_reader *r, json_t **reply);

/** Has the reply just read left rows that were written by then? */
bool trace_has_more(const json_t *reply);

/**
 * Ask for all rows that are held now, or the newest of them if they come faster than they are read.
 * @param reply  As of trace_read(), with all rows; "lost" is how many are gone, the first ones.
 */
int trace_read_all(struct client *c, const char *id, json_t **reply);

/** A row as an event; before is not filled in. */
struct explain_event trace_event(const json_t *row);

/** All of them, with it. @return NULL: no memory. To be freed by the caller. */
struct explain_event *trace_events(const json_t *rows);

#endif
