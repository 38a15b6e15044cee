/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows for people, made from the program's replies. Each function returns a new list. */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_ROWS_H
#define QUENCH_APP_QUENCHCTL_SHOW_ROWS_H

#include <jansson.h>

/* Columns of rows_of_pauses(). */
#define PAUSE_COLUMNS                                                                              \
	"port prio rx_pause rx_pause_transition=rx_xon rx_pause_duration_us=rx_paused_us "         \
	"tx_pause tx_pause_transition=tx_xon tx_pause_duration_us=tx_paused_us"

/** A row for each port and priority that was paused or paused its peer; prio "link" with 802.3x. */
json_t *rows_of_pauses(const json_t *rows);
/** Rows of port, reason, packets, without zeros; for a NIC from all its counters, without port. */
json_t *rows_of_drops(const json_t *rows);
json_t *rows_of_nic_drops(const json_t *counters);
/** The same rows with marked_pct. */
json_t *rows_of_marks(const json_t *rows);

#endif
