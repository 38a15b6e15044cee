/* SPDX-License-Identifier: BSD-3-Clause */
/* "import" and "export". */
#ifndef QUENCH_APP_QUENCHCTL_CONVERT_CONVERT_COMMANDS_H
#define QUENCH_APP_QUENCHCTL_CONVERT_CONVERT_COMMANDS_H

#include "quenchctl/command/command.h"

command_run_files command_import_nxos, command_import_sonic, command_import_mlnx;
command_run_files command_export_sonic;

#endif
