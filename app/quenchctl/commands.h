/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the command for words on the command line. */
#ifndef QUENCH_APP_QUENCHCTL_COMMANDS_H
#define QUENCH_APP_QUENCHCTL_COMMANDS_H

#include <stdio.h>

#include "quenchctl/command/command.h"

/**
 * Find the command of these words.
 *
 * @param program  "quench-switch" or "quench-nic"; NULL: not known yet, so either one.
 * @param params   Its parameters; NULL where there is none.
 * @return         The command, or NULL after an error line with the expected words.
 */
const struct command *command_find(int argc, char **argv, const char *program,
				   const char *params[COMMAND_PARAMS]);

/** Print all commands with their help. */
void commands_print(FILE *out);

/**
 * Print the commands that begin with these words, with the keys that they take.
 * @return 0, or APP_BAD_USAGE after an error line: there is none.
 */
int commands_help(FILE *out, int argc, char **argv);

#endif
