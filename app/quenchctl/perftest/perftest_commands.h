/* SPDX-License-Identifier: BSD-3-Clause */
/* "connect perftest" and "listen perftest": a run with ib_send_bw, ib_write_bw or ib_read_bw. */
#ifndef QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_COMMANDS_H
#define QUENCH_APP_QUENCHCTL_PERFTEST_PERFTEST_COMMANDS_H

#include "quenchctl/command/command.h"

command_run command_connect_perftest, command_listen_perftest;

#endif
