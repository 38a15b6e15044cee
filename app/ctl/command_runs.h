/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs the commands: run and run_files of struct command. */
#ifndef QUENCH_APP_CTL_COMMAND_RUNS_H
#define QUENCH_APP_CTL_COMMAND_RUNS_H

#include "ctl/command.h"

/* Of "clear counters". */
#define CLEAR_KINDS "interface, queue, priority-group, pfc, pfcwd, drop, router, nic, flow, qp"

/* In show.c and change.c. */
int command_show(const struct command *command, struct client *c, const struct ctl_options *o,
		 const char *const params[COMMAND_PARAMS]);
int command_send(const struct command *command, struct client *c, const struct ctl_options *o,
		 const char *const params[COMMAND_PARAMS]);
int command_reload(const struct command *command, struct client *c, const struct ctl_options *o,
		   const char *const params[COMMAND_PARAMS]);
int command_set_key(const struct command *command, struct client *c, const struct ctl_options *o,
		    const char *const params[COMMAND_PARAMS]);
int command_clear_counters(const struct command *command, struct client *c,
			   const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);

/* In trace.c and explain.c. */
int command_trace(const struct command *command, struct client *c, const struct ctl_options *o,
		  const char *const params[COMMAND_PARAMS]);
int command_show_trace(const struct command *command, struct client *c, const struct ctl_options *o,
		       const char *const params[COMMAND_PARAMS]);
int command_explain(const struct command *command, struct client *c, const struct ctl_options *o,
		    const char *const params[COMMAND_PARAMS]);

/* In export.c. */
int command_show_metrics(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
int command_serve_metrics(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
/* In import.c. */
int command_import_nxos(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
int command_import_sonic(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
int command_import_mlnx(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);
int command_export_sonic(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);

/* In web.c. */
int command_web(const struct ctl_options *o, const char *const params[COMMAND_PARAMS]);

#endif
