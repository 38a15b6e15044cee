/* SPDX-License-Identifier: BSD-3-Clause */
/* quenchctl top: a live view of a program on a terminal. */
#ifndef QUENCH_APP_QUENCHCTL_TOP_TOP_H
#define QUENCH_APP_QUENCHCTL_TOP_TOP_H

#include "quenchctl/command/command.h"

/**
 * Show rates, queues and pauses until q. If the program ends, wait for one at the same socket.
 * Needs a terminal.
 */
command_run command_top;

#endif
