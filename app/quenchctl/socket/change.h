/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a running program, for commands and for the page. */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_CHANGE_H
#define QUENCH_APP_QUENCHCTL_SOCKET_CHANGE_H

#include "quenchctl/socket/client.h"

/**
 * Change keys of the active configuration, as one change.
 *
 * @param keys   n of "SECTION.KEY=VALUE", without a newline.
 * @param reply  As that of client_ask(): "changed", "in_force", "waited_us", the changes as rows of
 *               "section", "key", "from" and "to", and "warnings".
 * @return       0, or an exit code after an error line: APP_BAD_USAGE: it is refused.
 */
int change_set(struct client *c, const char *const *keys, unsigned int n, json_t **reply);

/** Change a key of a flow, which must exist: "stopped" or another one. @return as change_set(). */
int change_flow(struct client *c, const char *flow, const char *key, const char *value,
		json_t **reply);

/** Send a request whose length the caller does not know. @return as client_ask(). */
int change_ask(struct client *c, const char *request, json_t **reply);

#endif
