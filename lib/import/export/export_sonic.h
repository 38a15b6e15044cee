/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_IMPORT_EXPORT_EXPORT_SONIC_H
#define QUENCH_IMPORT_EXPORT_EXPORT_SONIC_H

#include "import/conversion/import.h"

/**
 * Write a switch as a config_db.json. Settings without a counterpart go to the log's lost list.
 *
 * @return 0, or -EINVAL with log->error filled in and nothing written: SONiC's tables cannot
 *         represent the switch at all.
 */
int export_sonic(const struct import_switch *sw, FILE *out, struct import_log *log);

#endif
