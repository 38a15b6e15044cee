/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of ports for people, in texts of a switch that have numbers: "port 3", "queue 3|1", "pg
 * 3|1", and lists such as "0-3,7".
 */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_PORT_TEXTS_H
#define QUENCH_APP_QUENCHCTL_SHOW_PORT_TEXTS_H

#include "quenchctl/socket/client.h"

/**
 * Replace numbers by names in these keys of the rows, separated by blanks. Ports without a name
 * keep their numbers; a NIC has no ports.
 *
 * @return 0, or an exit code after an error line.
 */
int port_texts_name(struct client *c, const char *keys, json_t *rows);

#endif
