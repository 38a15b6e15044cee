/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry commands that show and change the configuration of a program with a struct
 * active_config. */
#ifndef QUENCH_APP_RUNTIME_REPORT_TELEMETRY_CONFIG_H
#define QUENCH_APP_RUNTIME_REPORT_TELEMETRY_CONFIG_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply config_reload_reply, config_set_reply, config_reply, config_changes_reply;

/** Reply of a program's own command that removes a section, as config_set_reply() of one that sets
 * keys. The program has an operation remove(). */
json_t *config_remove_reply(struct telemetry_call *call, const char *section);

/* Rows for a program's table of endpoints. */
/* clang-format off */
#define CONFIG_ENDPOINTS                                                                             \
	{"/quench/reload", "[,FILE]", "Sets the configuration to that of the file",          \
	 TELEMETRY_WHOLE, config_reload_reply},                                                      \
	{"/quench/set", ",SECTION.KEY=VALUE", "Sets keys of the configuration, one a line",                   \
	 TELEMETRY_WHOLE, config_set_reply},                                                         \
	{"/quench/config", "[,FIRST]", "Returns active keys that differ from the defaults", 1,      \
	 config_reply},                                                                       \
	{"/quench/config_changes", "[,FIRST]", "Returns active keys that differ from the file",\
	 1, config_changes_reply}
/* clang-format on */

#endif
