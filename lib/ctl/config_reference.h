/* SPDX-License-Identifier: BSD-3-Clause */
/* All keys of both roles in one document: doc/parameters.md, and --help-config of a program. */
#ifndef QUENCH_CTL_CONFIG_REFERENCE_H
#define QUENCH_CTL_CONFIG_REFERENCE_H

#include <stdio.h>

/** Print the reference of quench-switch and quench-nic, in Markdown. */
void config_reference_print(FILE *out);

#endif
