/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_IMPORT_MLX5_MLNX_H
#define QUENCH_IMPORT_MLX5_MLNX_H

#include "import/conversion/import.h"

/**
 * Read DCQCN settings of an mlx5 adapter: the output of mlxconfig query, or names and values from
 * sysfs or debugfs.
 *
 * @param out  On success the caller frees it with nic_config_free().
 * @return     As import_nxos().
 */
int import_mlnx(const char *text, size_t size, struct nic_config *out, struct import_log *log);

#endif
