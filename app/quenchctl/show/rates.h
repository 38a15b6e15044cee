/* SPDX-License-Identifier: BSD-3-Clause */
/* Present rates of flows: two replies of a program, and the time between them. */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_RATES_H
#define QUENCH_APP_QUENCHCTL_SHOW_RATES_H

#include <jansson.h>
#include <stdint.h>

#include "quenchctl/socket/client.h"

/**
 * Ask for flows twice, half a second apart. Each row of the reply gets present_wire_rate_bps: its
 * rate on the wire in between. A flow of the second reply alone has none.
 *
 * @param elapsed_ns  Set to the run time of the program.
 * @return            As client_ask().
 */
int rates_ask(struct client *c, const char *command, json_t **reply, uint64_t *elapsed_ns);

#endif
