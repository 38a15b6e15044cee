/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a running program that the page may change: read from it, and changed. */
#ifndef QUENCH_APP_QUENCHCTL_WEB_WEB_SETTINGS_H
#define QUENCH_APP_QUENCHCTL_WEB_WEB_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

#include "quenchctl/socket/client.h"

/**
 * Read the settings in force.
 *
 * Of a switch {"queues": [...]}, the queues with a WRED curve: "port", "queue", "name" (as a bar's
 * key), "profile" (its NAME in [wred NAME]; "": [wred]), "sharing" (the number of queues with this
 * profile, itself included), "Kmin" and "Kmax" (bytes), and "Pmax" (ppm) of the curve that marks.
 * Of a NIC {"flows": [...]}: "flow", "cap" (of each QP, b/s; 0: none) and "stopped".
 *
 * @param settings  Set to an object owned by the caller; NULL after an error.
 * @return          0, or an exit code with the error in the client.
 */
int web_settings(struct client *c, json_t **settings);

/* New values of a curve, as in a configuration file. NULL: as it is. */
struct web_curve {
	const char *kmin, *kmax, *pmax;
};

/**
 * Change the curve of a queue, all values as one change.
 *
 * @param only   Of this queue only: if other queues have its profile, it gets one of its own,
 *               [wred web-PORT-QUEUE], in the same change; -2, -3, ... is added to a name in use.
 * @param reply  As that of change_set().
 */
int web_settings_curve(struct client *c, json_int_t port, json_int_t queue, bool only,
		       const struct web_curve *curve, json_t **reply);

#endif
