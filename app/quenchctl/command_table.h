/* SPDX-License-Identifier: BSD-3-Clause */
/* All commands of quenchctl. */
#ifndef QUENCH_APP_QUENCHCTL_COMMAND_TABLE_H
#define QUENCH_APP_QUENCHCTL_COMMAND_TABLE_H

#include "quenchctl/command/command.h"

extern const struct command commands[];
extern const unsigned int commands_n;

#endif
