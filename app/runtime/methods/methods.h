/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of the front desk that several programs have (doc/interface.md). */
#ifndef QUENCH_APP_RUNTIME_METHODS_METHODS_H
#define QUENCH_APP_RUNTIME_METHODS_METHODS_H

#include "runtime/desk/desk.h"

/* Show and change the configuration of a program with a struct active_config. */
desk_result config_change_result, config_result, config_changes_result, config_file_result;
desk_reply config_reload_reply, config_set_reply, config_reply, config_changes_reply,
	config_file_reply;

/** Reply of a program's own method that removes sections, one name a line. The program has an
 * operation remove(). */
json_t *config_remove_reply(struct desk_call *call, const char *sections);

extern const struct desk_param config_file_params[], config_set_params[];

/* Rows for a program's table of methods. */
/* clang-format off */
#define CONFIG_METHODS                                                                               \
	{"reload", config_file_params, "Sets the configuration to that of the file", config_reload_reply, config_change_result}, \
	{"set", config_set_params, "Sets keys of the configuration, all or none", config_set_reply, config_change_result}, \
	{"config", NULL, "Returns active keys that differ from the defaults", config_reply, config_result}, \
	{"config_changes", NULL, "Returns active keys that differ from the file", config_changes_reply, config_changes_result}, \
	{"config_file", NULL, "Returns the active configuration as a file, with the comments of the last one read", config_file_reply, config_file_result}
/* clang-format on */

/* Begin a capture of a port (runtime/capture/capture.h). */
desk_reply capture_reply;
desk_result capture_result;

extern const struct desk_param capture_params_of_method[];

/* A row for a program's table of methods. */
/* clang-format off */
#define CAPTURE_METHOD                                                                               \
	{"capture", capture_params_of_method, "Captures a port, and returns the socket of the capture", capture_reply, capture_result}
/* clang-format on */

/**
 * Mbufs in use of each pool, which shows leaks: rows of pool, mbufs and in_use.
 *
 * in_use is the pool's size less the mbufs in its ring and in the caches of all lcores. It is
 * exact while the lcores are idle. Otherwise, the error is the number of mbufs that move while it
 * is read.
 */
desk_reply mempools_reply;
desk_result mempools_result;

#endif
