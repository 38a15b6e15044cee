/* SPDX-License-Identifier: BSD-3-Clause */
/* The command that words on the command line mean. */
#ifndef QUENCH_APP_QUENCHCTL_COMMANDS_H
#define QUENCH_APP_QUENCHCTL_COMMANDS_H

#include <stdio.h>

#include "quenchctl/command/command.h"

/**
 * Find the command of these words.
 *
 * @param program  "quench-switch" or "quench-nic", or NULL: not known yet, any will do.
 * @param params   Its parameters; NULL where there is none.
 * @return         The command, or NULL after an error line that says what would be right.
 */
const struct command *command_find(int argc, char **argv, const char *program,
				   const char *params[COMMAND_PARAMS]);

/** Print all of them. */
void commands_print(FILE *out);

#endif
