/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of objects as a table for people. */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_TABLE_H
#define QUENCH_APP_QUENCHCTL_SHOW_TABLE_H

#include <jansson.h>
#include <stdio.h>

/**
 * Print rows, aligned, under headings.
 *
 * @param columns  Keys in order, with optional headings: "port queue tx_packets=packets".
 */
void table_rows(FILE *out, const json_t *rows, const char *columns);

/** Print "key value" for the scalars of an object in the order of keys; with keys NULL for all
 * scalars, those of nested objects as "object key". */
void table_members(FILE *out, const json_t *object, const char *keys);

#endif
