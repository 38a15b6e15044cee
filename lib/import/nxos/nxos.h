/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_IMPORT_NXOS_NXOS_H
#define QUENCH_IMPORT_NXOS_NXOS_H

#include "import/conversion/import.h"

/**
 * Read a running-config of NX-OS, or a part of one.
 *
 * @param text  size bytes.
 * @param out   Large (do not put it on the stack). Filled in completely, and checked.
 * @return      0, or -EINVAL with log->error filled in.
 */
int import_nxos(const char *text, size_t size, struct import_switch *out, struct import_log *log);

#endif
