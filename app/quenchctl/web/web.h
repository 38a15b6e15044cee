/* SPDX-License-Identifier: BSD-3-Clause */
/* "web": a page that shows running programs. */
#ifndef QUENCH_APP_QUENCHCTL_WEB_WEB_H
#define QUENCH_APP_QUENCHCTL_WEB_WEB_H

#include "quenchctl/command/command.h"

command_run_files command_web;

#endif
