/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_IMPORT_SONIC_SONIC_H
#define QUENCH_IMPORT_SONIC_SONIC_H

#include "import/conversion/import.h"

/** Read SONiC's config_db.json. Arguments and result: as import_nxos(). */
int import_sonic(const char *text, size_t size, struct import_switch *out, struct import_log *log);

#endif
