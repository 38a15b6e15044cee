/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that read, print and change a running program. */
#ifndef QUENCH_APP_QUENCHCTL_SHOW_SHOW_H
#define QUENCH_APP_QUENCHCTL_SHOW_SHOW_H

#include "quenchctl/command/command.h"

/* The kinds that "clear counters" takes. */
#define CLEAR_KINDS                                                                                \
	"interface, queue, priority-group, pfc, pfcwd, drop, router, nic, flow, times, qp"

command_run command_show, command_send, command_clear_counters;
command_run command_reload, command_set_key, command_remove_flow;
command_run command_start_flow, command_stop_flow;
command_run command_trace, command_show_trace, command_explain, command_show_times;

#endif
