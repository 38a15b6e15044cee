/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows for people, made from the program's replies. Each function returns a new list. */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_ROWS_H
#define QUENCH_APP_QUENCHCTL_SHOW_ROWS_H

#include <jansson.h>

/* Columns of rows_of_pauses() and rows_of_pause_times(). */
#define PAUSE_COLUMNS                                                                              \
	"port frames pfc0=PFC0 pfc1=PFC1 pfc2=PFC2 pfc3=PFC3 pfc4=PFC4 pfc5=PFC5 pfc6=PFC6 "       \
	"pfc7=PFC7 link"
#define PAUSE_TIME_COLUMNS                                                                         \
	"port prio rx_pause_transition=rx_pauses rx_pause_duration_ns=rx_paused "                  \
	"tx_pause_transition=tx_pauses tx_pause_duration_ns=tx_paused"

/** Name of the port of a row; NULL: it has none. */
const char *rows_port_name(const json_t *row);
/** Copy the port of an object, by number and by name if it has one, to a row. */
void rows_set_port(json_t *row, const json_t *of);
/** Two rows for each port: pause frames received and sent, by priority; link: 802.3x. */
json_t *rows_of_pauses(const json_t *rows);
/** A row for each port and priority that was paused or paused its peer; prio "link" with 802.3x. */
json_t *rows_of_pause_times(const json_t *rows);
/** The rows of which a counter of keys, separated by blanks, is not 0. */
json_t *rows_in_use(const json_t *rows, const char *keys);
/** Rows of port, reason, packets, without zeros; for a NIC from all its counters, without port. */
json_t *rows_of_drops(const json_t *rows);
json_t *rows_of_nic_drops(const json_t *counters);
/**
 * The same rows, without the times of storms that never were, with pairs of counters in one column,
 * and the action in the status of a storm.
 */
json_t *rows_of_storms(const json_t *rows);
/** The same rows with marked_pct. */
json_t *rows_of_marks(const json_t *rows);

#endif
