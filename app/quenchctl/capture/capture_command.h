/* SPDX-License-Identifier: BSD-3-Clause */
/* capture: the frames of a port of a running program as a pcapng file. */
#ifndef QUENCH_APP_QUENCHCTL_CAPTURE_CAPTURE_COMMAND_H
#define QUENCH_APP_QUENCHCTL_CAPTURE_CAPTURE_COMMAND_H

#include "quenchctl/command/command.h"

command_run command_capture;

#endif
