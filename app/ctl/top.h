/* SPDX-License-Identifier: BSD-3-Clause */
/* quenchctl top: what a program does now, on a terminal. */
#ifndef QUENCH_APP_CTL_TOP_H
#define QUENCH_APP_CTL_TOP_H

#include "ctl/client.h"
#include "ctl/command.h"

/**
 * Show rates, queues and pauses until q; of struct command's run. A program that ends is waited
 * for, at the same socket. Needs a terminal.
 */
int command_top(const struct command *command, struct client *c, const struct ctl_options *o,
		const char *const params[COMMAND_PARAMS]);

#endif
