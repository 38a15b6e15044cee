/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of a printed section, for sections that hold several tables. Private to lib/ctl. */
#ifndef QUENCH_CTL_CONFIG_ROWS_H
#define QUENCH_CTL_CONFIG_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/field.h"

void config_print_head(FILE *out, const char *section);
void config_print_rows(FILE *out, const struct field *fields, unsigned int n, const void *object);

void config_print_reference_head(FILE *out, const char *section);
void config_print_reference_rows(FILE *out, const struct field *fields, unsigned int n, bool fixed);

#endif
