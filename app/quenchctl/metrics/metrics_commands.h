/* SPDX-License-Identifier: BSD-3-Clause */
/* "show metrics" and "serve-metrics". */
#ifndef QUENCH_APP_QUENCHCTL_METRICS_METRICS_COMMANDS_H
#define QUENCH_APP_QUENCHCTL_METRICS_METRICS_COMMANDS_H

#include "quenchctl/command/command.h"

command_run_files command_show_metrics, command_serve_metrics;

#endif
