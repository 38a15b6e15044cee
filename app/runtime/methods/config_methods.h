/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods that show and change the configuration of a program with a struct active_config. */
#ifndef QUENCH_APP_RUNTIME_METHODS_CONFIG_METHODS_H
#define QUENCH_APP_RUNTIME_METHODS_CONFIG_METHODS_H

#include "runtime/desk/desk.h"

desk_reply config_reload_reply, config_set_reply, config_reply, config_changes_reply;

/** Reply of a program's own method that removes sections, one name a line. The program has an
 * operation remove(). */
json_t *config_remove_reply(struct desk_call *call, const char *sections);

extern const struct desk_param config_file_params[], config_set_params[];

/* Rows for a program's table of methods. */
/* clang-format off */
#define CONFIG_METHODS                                                                               \
	{"reload", config_file_params, "Sets the configuration to that of the file", config_reload_reply}, \
	{"set", config_set_params, "Sets keys of the configuration, all or none", config_set_reply}, \
	{"config", NULL, "Returns active keys that differ from the defaults", config_reply},         \
	{"config_changes", NULL, "Returns active keys that differ from the file", config_changes_reply}
/* clang-format on */

#endif
